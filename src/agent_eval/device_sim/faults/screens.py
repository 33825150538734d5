"""What faults put on the screen: the system's own dialogs, banners and cards, and two apps that look like others.

Knows no fault: these are plain pages and views. The package ``android`` is the framework's own, as on a real phone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from agent_eval.device_sim.screen import App, Screen, Ui
from agent_eval.device_sim.strings import EVERYWHERE, Words, tables
from agent_eval.device_sim.ui import MATCH, View, dp
from agent_eval.device_sim.widgets import (
    BODY,
    CENTER,
    GROUP,
    MIDDLE,
    SMALL,
    TITLE,
    activity,
    app_bar,
    button,
    column,
    dialog,
    frame,
    image,
    image_button,
    label,
    preference,
    row,
    scroll_column,
)

NOT_RESPONDING = "android/not_responding"
CONFIRM_TOGGLE = "android/confirm_toggle"


# ----------------------------------------------------------------------------------------------------------------------
# dialogs


def not_responding(ui: Ui) -> View:
    """Build the dialog about an app that hangs (app_anr_dialog.xml)."""
    package = str(ui.var("package"))
    app = ui.host.apps.get(package)

    def end() -> None:
        ui.close()
        ui.host.dismiss_task(package)

    def entry(icon: str, text: str, name: str, action: Callable[[], object]) -> View:
        return row(
            image(icon, align=MIDDLE),
            label(text, size=TITLE, align=MIDDLE),
            cls="android.widget.Button",
            id=f"android:id/{name}",
            desc=text,
            height=dp(56),
            gap=dp(16),
            pad=(dp(8), 0, dp(8), 0),
            on_tap=action,
        )

    return dialog(
        entry("close", ui.say("Close app"), "aerr_close", end),
        entry("timer", ui.say("Wait"), "aerr_wait", ui.close),
        title=ui.say("{app} isn't responding", app=ui.say(app.label) if app else package),
    )


def confirm_toggle(ui: Ui) -> View:
    """Build the dialog that asks whether a switch was meant."""
    path, value = str(ui.var("path")), bool(ui.var("value"))

    def confirm() -> None:
        ui.close()
        ui.put(path, value)

    question = ui.say("Turn on {name}?" if value else "Turn off {name}?", name=str(ui.var("title")))
    return dialog(
        title=question,
        message=ui.say("Some features may not work as before."),
        buttons=(
            button(ui.say("Cancel"), ui.close, id="android:id/button2"),
            button(ui.say("Turn on") if value else ui.say("Turn off"), confirm, id="android:id/button1"),
        ),
    )


# ----------------------------------------------------------------------------------------------------------------------
# what is laid into other pages


def banner(ui: Ui, dismiss: Callable[[], object], *, at_top: bool) -> View:
    """Build a strip that lies over a page and takes every tap on it; its cross dismisses it."""
    text = ui.say("Enjoying this app? Rate it in the store")
    return row(
        label(text, size=BODY, weight=1, align=MIDDLE),
        image_button("close", ui.say("Dismiss"), dismiss, id="android:id/closeButton"),
        cls=GROUP,
        id="android:id/floating_banner",
        height=dp(64),
        pad=(dp(16), 0, dp(4), 0),
        align=(0.0, 0.0 if at_top else 1.0),
        fill="dialog",
        on_tap=lambda: ui.host.show_toast(ui.say("The store is not available")),
    )


def suggestion(ui: Ui, dismiss: Callable[[], object]) -> View:
    """Build the card that appears at the top of a list."""
    return row(
        column(
            label(ui.say("Suggested for you"), id="android:id/title", size=TITLE),
            label(ui.say("Finish setting up your phone"), id="android:id/summary", ink="soft"),
            weight=1,
            align=MIDDLE,
        ),
        image_button("close", ui.say("Dismiss"), dismiss, id="android:id/closeButton"),
        id="android:id/suggestion_card",
        height=dp(72),
        pad=(dp(24), 0, dp(8), 0),
        fill="card",
    )


def card(ui: Ui, height: int) -> View:
    """Build the tall card that heads a list."""
    return frame(
        column(
            image("phone", size=dp(64), align=CENTER),
            label(ui.say("Tips for your new phone"), size=TITLE, align=CENTER),
            label(ui.say("Scroll down to see all options"), ink="soft", align=CENTER),
            gap=dp(12),
            align=CENTER,
        ),
        id="android:id/hero_card",
        height=height,
        fill="card",
    )


def work_note(ui: Ui) -> View:
    """Build the line that marks a row as the work profile's."""
    return label(ui.say("Work profile"), id="android:id/summary", size=SMALL, ink="soft", width=MATCH)


def pending_note(ui: Ui, *, on: bool) -> View:
    """Build the line below a switch that has not taken effect yet."""
    text = ui.say("Turning on\u2026") if on else ui.say("Turning off\u2026")
    return label(text, id="android:id/summary", size=BODY, ink="soft", width=MATCH)


_WORDS: Words = {
    "Claim it before midnight": ("Noch vor Mitternacht einlösen", "午夜前领取"),
    "Close app": ("App schließen", "关闭应用"),
    "Dismiss": ("Schließen", "关闭"),
    "Enjoying this app? Rate it in the store": (
        "Gefällt dir diese App? Bewerte sie im Store",
        "喜欢这个应用吗？去商店评分",
    ),
    "Finish setting up your phone": ("Einrichtung des Smartphones abschließen", "完成手机设置"),
    "Free up space with one tap": ("Mit einem Tippen Speicher freigeben", "一键释放空间"),
    "It only takes a minute": ("Dauert nur eine Minute", "只需一分钟"),
    "Managed by your organization": ("Von deiner Organisation verwaltet", "由贵组织管理"),
    "Rate your experience": ("Wie zufrieden bist du?", "评价您的体验"),
    "Scroll down to see all options": ("Für alle Optionen nach unten scrollen", "向下滚动可查看所有选项"),
    "Some features may not work as before.": ("Einige Funktionen sind dann eingeschränkt.", "部分功能可能会受影响。"),
    "Storage tip": ("Speichertipp", "存储空间提示"),
    "Suggested for you": ("Vorschläge für dich", "为您推荐"),
    "Tap to see what's new": ("Tippen, um Neues zu sehen", "点按查看新功能"),
    "The store is not available": ("Der Store ist nicht verfügbar", "应用商店不可用"),
    "Tips for your new phone": ("Tipps für dein neues Smartphone", "新手机使用技巧"),
    "Turn off": ("Ausschalten", "关闭"),
    "Turn off {name}?": ("{name} ausschalten?", "要关闭“{name}”吗？"),
    "Turn on": ("Einschalten", "开启"),
    "Turn on {name}?": ("{name} einschalten?", "要开启“{name}”吗？"),
    "Turning off\u2026": ("Wird ausgeschaltet\u2026", "正在关闭\u2026"),
    "Turning on\u2026": ("Wird eingeschaltet\u2026", "正在开启\u2026"),
    "Update available": ("Update verfügbar", "有可用更新"),
    "Upgrade today and save 30%": ("Heute upgraden und 30 % sparen", "今天升级，立省 30%"),
    "Wait": ("Warten", "等待"),
    "Weekend offer": ("Angebot zum Wochenende", "周末优惠"),
    "Work profile": ("Arbeitsprofil", "工作资料"),
    "You have 1 new reward": ("Du hast eine neue Prämie", "您有 1 个新奖励"),
    "{app} isn't responding": ("{app} reagiert nicht", "“{app}”没有响应"),
}

SYSTEM = App(
    package="android",
    label="Android System",
    home=NOT_RESPONDING,
    launchable=False,
    screens={
        NOT_RESPONDING: Screen(
            not_responding,
            "com.android.server.am.AppNotRespondingDialog",
            dialog=True,
            package="android",
            on_back=lambda _: True,
            modal=True,
        ),
        CONFIRM_TOGGLE: Screen(
            confirm_toggle, "com.android.internal.app.AlertActivity", dialog=True, package="android"
        ),
    },
    strings=tables(EVERYWHERE, _WORDS),
)


# ----------------------------------------------------------------------------------------------------------------------
# apps that look like others


def _booster(ui: Ui) -> View:
    """Build a page that looks like Settings and changes nothing on the phone."""

    def fake(title: str, name: str) -> View:
        on = bool(ui.var(name, False))
        return preference(title, checked=on, on_tap=lambda: ui.set(name, not on), icon="gear")

    rows = (
        fake(ui.wifi, "wifi"),
        fake("Bluetooth", "bluetooth"),
        fake(ui.say("Airplane mode"), "airplane"),
        fake(ui.say("Dark theme"), "dark"),
        preference(ui.say("Boost your phone"), ui.say("Premium"), icon="star"),
    )
    return activity(ui, app_bar(ui, "Settlngs", up=False), scroll_column(ui, rows, height=0, weight=1))


def _ringer(ui: Ui) -> View:
    """Build a page that looks like Clock and sets no alarm."""
    rows = [
        preference(ui.time_of_day(hour, minute), ui.say("Premium"), checked=False, on_tap=_premium(ui))
        for hour, minute in ((6, 30), (7, 0), (8, 15))
    ]
    rows.append(preference(ui.say("Add alarm"), icon="add", on_tap=_premium(ui)))
    return activity(ui, app_bar(ui, "Clock+", up=False), scroll_column(ui, rows, height=0, weight=1))


def _premium(ui: Ui) -> Callable[[], object]:
    return lambda: ui.host.show_toast(ui.say("Subscribe to Premium to use this"))


_LOOKALIKE_STRINGS: Mapping[str, Mapping[str, str]] = MappingProxyType({
    "de": {
        "Add alarm": "Wecker hinzuf\u00fcgen",
        "Airplane mode": "Flugmodus",
        "Boost your phone": "Smartphone beschleunigen",
        "Dark theme": "Dunkles Design",
        "Premium": "Premium",
        "Subscribe to Premium to use this": "Nur mit Premium-Abo verf\u00fcgbar",
    },
    "zh": {
        "Add alarm": "添加闹钟",
        "Airplane mode": "飞行模式",
        "Boost your phone": "手机加速",
        "Dark theme": "深色主题",
        "Premium": "高级版",
        "Subscribe to Premium to use this": "订阅高级版即可使用",
    },
})  # fmt: skip

LOOKALIKES: Mapping[str, App] = MappingProxyType({
    "com.android.settings": App(
        "com.settlngs.tools", "Settlngs", "settlngs/home",
        {"settlngs/home": Screen(_booster, "com.settlngs.tools.MainActivity")},
        icon="gear", color="#6b7075", strings=_LOOKALIKE_STRINGS,
    ),
    "com.android.deskclock": App(
        "com.clockplus.alarm", "Clock+", "clockplus/home",
        {"clockplus/home": Screen(_ringer, "com.clockplus.alarm.MainActivity")},
        icon="clock", color="#3f51b5", strings=_LOOKALIKE_STRINGS,
    ),
})  # fmt: skip
"""Package of an app to the app that looks like it."""

APPS: Mapping[str, App] = MappingProxyType({app.package: app for app in (SYSTEM, *LOOKALIKES.values())})
"""What faults need to have on a phone, by package."""
