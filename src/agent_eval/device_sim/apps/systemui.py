"""The windows of the system: status bar, navigation bar, notification shade, quick settings, heads-up notifications.

Knows of apps only what they are called, which page of Settings belongs to a tile, and what they report as ongoing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent_eval.device_sim.schema import MOMENT, TEXT
from agent_eval.device_sim.screen import App, Draw, Host, Notice, Page, Screen, Ui
from agent_eval.device_sim.strings import EVERYWHERE, Words, tables
from agent_eval.device_sim.ui import MATCH, NOWHERE, WRAP, Direction, View, dp
from agent_eval.device_sim.widgets import (
    CENTER,
    FRAME,
    GROUP,
    IMAGE,
    LINEAR,
    MIDDLE,
    SMALL,
    activity,
    button,
    column,
    frame,
    image,
    image_button,
    label,
    row,
    scroll_column,
    seek_bar,
)

PACKAGE = "com.android.systemui"
STATUS_HEIGHT = dp(24)
NAVIGATION_HEIGHT = dp(48)
SHADE = "systemui/shade"
QUICK_SETTINGS = "systemui/quick_settings"
NOTICES = "notifications"
"""Prefix of the records of posted notifications."""
_ID = f"{PACKAGE}:id/"
_SETTINGS = "com.android.settings"


# ----------------------------------------------------------------------------------------------------------------------
# status bar and navigation bar

_SYMBOLS: tuple[tuple[str, str, str, str], ...] = (
    ("settings/do_not_disturb", "dnd", "Do Not Disturb on.", "zen"),
    ("settings/hotspot_on", "hotspot", "Hotspot on.", "hotspot"),
    ("settings/bluetooth_on", "bluetooth", "Bluetooth on.", "bluetooth"),
    ("settings/airplane_mode_on", "airplane", "Airplane mode.", "airplane"),
    ("settings/wifi_on", "wifi", "Wi-Fi signal full.", "wifi_signal"),
)
"""Persisted path, symbol, description and id of what the status bar shows while it is on."""


def status_key(host: Host) -> tuple[object, ...]:
    """Return what the status bar shows; while it is equal, so is the window."""
    state = host.state
    return (
        host.local_time.strftime("%H:%M"),
        *(state[path] for path, _, _, _ in _SYMBOLS),
        state["settings/battery_percentage"],
        state["settings/dark_theme"],
        host.world["battery/level"],
        any(state[f"clock/alarm/{alarm}/enabled"] for alarm in state.numbers("clock/alarm")),
    )


def status_bar(host: Host) -> View:
    """Build the status bar (status_bar.xml)."""
    ui = _ui(host)
    now = host.local_time
    symbols = []
    if any(ui.flag(f"clock/alarm/{alarm}/enabled") for alarm in ui.ids("clock/alarm")):
        symbols.append(image("alarm", desc=ui.say("Alarm set."), size=dp(16), id=f"{_ID}alarm"))
    for path, icon, desc, name in _SYMBOLS:
        if ui.flag(path):
            symbols.append(image(icon, desc=ui.say(desc), size=dp(16), id=f"{_ID}{name}"))
    level = int(host.world["battery/level"])
    if ui.flag("settings/battery_percentage"):
        symbols.append(label(f"{level}%", id=f"{_ID}battery_percentage_view", size=dp(13), align=MIDDLE))
    symbols.append(
        image("battery", desc=ui.say("Battery {level} percent.", level=level), size=dp(16), id=f"{_ID}battery")
    )
    hand = ui.time_of_day(now.hour, now.minute)
    return frame(
        row(
            label(host.locale.face(now.hour, now.minute), id=f"{_ID}clock", desc=hand, size=dp(13), align=MIDDLE,
                  weight=1),
            row(*symbols, id=f"{_ID}system_icons", width=WRAP, gap=dp(4), align=MIDDLE),
            id=f"{_ID}status_bar_contents",
            height=STATUS_HEIGHT,
            pad=(dp(12), 0, dp(12), 0),
        ),
        id=f"{_ID}status_bar_launch_animation_container",
        height=STATUS_HEIGHT,
    )  # fmt: skip


def navigation_bar(
    host: Host, on_back: Callable[[], object], on_home: Callable[[], object], on_recent: Callable[[], object]
) -> View:
    """Build the navigation bar with three buttons (navigation_bar.xml); the phone passes what they do."""
    ui = _ui(host)

    def key(icon: str, desc: str, name: str, action: Callable[[], object]) -> View:
        view = image_button(
            icon, ui.say(desc), action, id=f"{_ID}{name}", cls=IMAGE, size=dp(48), ink="text", align=CENTER
        )
        view.width = dp(80)
        view.long_clickable = True
        return view

    keys = (
        key("nav_back", "Back", "back", on_back),
        key("nav_home", "Home", "home", on_home),
        key("nav_recent", "Overview", "recent_apps", on_recent),
    )
    return frame(
        frame(
            row(
                *[frame(part, cls=LINEAR, weight=1, height=NAVIGATION_HEIGHT) for part in keys],
                height=NAVIGATION_HEIGHT,
            ),
            id=f"{_ID}navigation_bar_view",
            height=NAVIGATION_HEIGHT,
        ),
        id=f"{_ID}navigation_bar_frame",
        height=NAVIGATION_HEIGHT,
        fill="bar",
    )


def _ui(host: Host) -> Ui:
    return Ui(host, Page("systemui/status"), NOWHERE, NOWHERE)


# ----------------------------------------------------------------------------------------------------------------------
# quick settings


@dataclass(frozen=True, slots=True)
class Tile:
    """One tile of quick settings."""

    title: str
    icon: str
    path: str
    """The persisted switch that it flips."""
    page: str
    """Page of Settings that holding it opens."""
    name: str = ""
    """Persisted text that says what it is connected to, shown in place of "On"."""


TILES: tuple[Tile, ...] = (
    Tile("Internet", "wifi", "settings/wifi_on", "settings/internet", "settings/wifi_network"),
    Tile("Bluetooth", "bluetooth", "settings/bluetooth_on", "settings/bluetooth"),
    Tile("Airplane mode", "airplane", "settings/airplane_mode_on", "settings/network"),
    Tile("Battery Saver", "battery", "settings/battery_saver", "settings/battery"),
    Tile("Data Saver", "data", "settings/data_saver", "settings/data_saver"),
    Tile("Dark theme", "dark", "settings/dark_theme", "settings/display"),
    Tile("Flashlight", "torch", "settings/torch_on", "settings/display"),
    Tile("Do Not Disturb", "dnd", "settings/do_not_disturb", "settings/dnd"),
    Tile("Auto-rotate", "turn", "settings/auto_rotate", "settings/auto_rotate"),
    Tile("Location", "pin", "settings/location_on", "settings/location"),
    Tile("Hotspot", "hotspot", "settings/hotspot_on", "settings/hotspot"),
    Tile("Mobile data", "sim", "settings/mobile_data_on", "settings/sim"),
    Tile("Night Light", "dark", "settings/night_light", "settings/night_light"),
    Tile("Mic access", "mic", "settings/microphone_access", "settings/privacy"),
    Tile("Camera access", "camera", "settings/camera_access", "settings/privacy"),
    Tile("Color inversion", "palette", "settings/accessibility/color_inversion", "settings/color_motion"),
)
"""In order, eight to a page."""
_SHORT_ROW = ("Internet", "Bluetooth", "Flashlight", "Do Not Disturb")
"""The tiles above the notifications."""
_PER_PAGE = 8


def _tile(ui: Ui, tile: Tile) -> View:
    checked = ui.flag(tile.path)
    title = ui.say(tile.title)
    name = ui.words(tile.name) if tile.name else ""
    state = (name or ui.say("On")) if checked else ui.say("Off")

    def hold() -> None:
        ui.host.open_app(_SETTINGS)
        ui.host.open_page(tile.page, {})

    return View(
        "android.widget.Switch",
        (
            image(tile.icon, id=f"{_ID}icon", align=MIDDLE, ink="on_primary" if checked else "icon"),
            column(
                label(title, id=f"{_ID}tile_label", ink="on_primary" if checked else "text", bold=True),
                label(state, ink="on_primary" if checked else "soft", size=dp(12)),
                weight=1,
                align=MIDDLE,
            ),
        ),
        desc=f"{title}, {name}" if checked and name else title,
        arrange="row",
        gap=dp(8),
        weight=1,
        height=dp(72),
        pad=(dp(12), 0, dp(8), 0),
        clickable=True,
        long_clickable=True,
        focusable=True,
        checkable=True,
        checked=checked,
        on_tap=lambda: ui.toggle(tile.path),
        on_hold=hold,
        fill="accent" if checked else "card",
    )


def _rows(ui: Ui, tiles: Sequence[Tile]) -> list[View]:
    views = [_tile(ui, tile) for tile in tiles]
    return [row(*views[i : i + 2], gap=dp(8), height=dp(72)) for i in range(0, len(views), 2)]


def quick_settings(ui: Ui) -> View:
    """Build all of quick settings, in pages that a sideways swipe turns (qs_panel.xml)."""
    pages = -(-len(TILES) // _PER_PAGE)
    here = int(ui.var("page", 0))

    def turn(direction: Direction) -> bool:
        if direction in ("up", "down"):
            return False
        ui.set("page", min(max(here + (1 if direction == "left" else -1), 0), pages - 1))
        return True

    def settings() -> None:
        ui.host.open_app(_SETTINGS)

    tiles = column(
        *_rows(ui, TILES[here * _PER_PAGE : (here + 1) * _PER_PAGE]),
        cls="androidx.viewpager.widget.ViewPager",
        id=f"{_ID}qs_pager",
        gap=dp(8),
    )
    tiles.on_swipe = turn
    footer = row(
        label(ui.say("Page {page} of {pages}", page=here + 1, pages=pages), id=f"{_ID}footer_page_indicator",
              size=SMALL, ink="soft", align=MIDDLE, weight=1),
        image_button("gear", ui.say("Open settings"), settings, id=f"{_ID}settings_button_container"),
        height=dp(48),
    )  # fmt: skip
    return activity(
        ui,
        column(
            _brightness(ui),
            tiles,
            footer,
            id=f"{_ID}quick_settings_panel",
            pad=(dp(16), dp(16), dp(16), dp(16)),
            gap=dp(12),
            cls=FRAME,
        ),
        fill="shade",
    )


def _brightness(ui: Ui) -> View:
    return seek_bar(
        ui.number("settings/brightness"),
        255,
        lambda value: ui.put("settings/brightness", value),
        id=f"{_ID}slider",
        desc=ui.say("Display brightness"),
    )


def brightness_dialog(ui: Ui) -> View:
    """Build the brightness slider that Settings opens (quick_settings_brightness_dialog.xml)."""
    slider = _brightness(ui)
    return frame(
        column(slider, id=f"{_ID}brightness_mirror_container", pad=(dp(16), dp(12), dp(16), dp(12)), cls=FRAME),
        fill="dialog",
        align=(0.5, 0.0),
    )


# ----------------------------------------------------------------------------------------------------------------------
# notifications


def posted(ui: Ui) -> list[int]:
    """Return the numbers of the notifications that can be dismissed, the latest first."""
    return sorted(ui.ids(NOTICES), key=lambda number: (-ui.number(f"{NOTICES}/{number}/posted"), -number))


def ongoing(host: Host) -> list[tuple[App, Notice]]:
    """Return what apps are busy with, in the order in which they are installed."""
    return [
        (app, notice)
        for app in host.apps.values()
        if app.ongoing is not None
        for notice in app.ongoing(Ui(host, Page(app.home), NOWHERE, NOWHERE))
    ]


def shade(ui: Ui) -> View:
    """Build the notification shade: a short row of tiles and the notifications (status_bar_expanded.xml)."""
    numbers = posted(ui)
    rows = [_ongoing_row(ui, app, notice) for app, notice in ongoing(ui.host)]
    rows += [_posted_row(ui, number) for number in numbers]

    def clear_all() -> None:
        for number in numbers:
            ui.remove(f"{NOTICES}/{number}")
        ui.close()

    def manage() -> None:
        ui.host.open_app(_SETTINGS)
        ui.host.open_page("settings/notifications", {})

    if rows:
        foot = row(
            button(ui.say("Manage"), manage, id=f"{_ID}manage_text"),
            View("android.widget.Space", weight=1),
            *([button(ui.say("Clear all"), clear_all, id=f"{_ID}dismiss_text")] if numbers else []),
            height=dp(48),
        )
        rows.append(foot)
    else:
        rows.append(
            label(ui.say("No notifications"), id=f"{_ID}no_notifications", pad=(dp(12), dp(24), 0, 0), ink="soft")
        )
    short = [tile for tile in TILES if tile.title in _SHORT_ROW]
    page = activity(
        ui,
        column(
            column(*_rows(ui, short), cls=GROUP, id=f"{_ID}quick_qs_panel", gap=dp(8)),
            scroll_column(
                ui,
                rows,
                name="notices",
                cls=GROUP,
                id=f"{_ID}notification_stack_scroller",
                gap=dp(4),
                weight=1,
                height=0,
            ),
            id=f"{_ID}notification_panel",
            pad=(dp(16), dp(16), dp(16), dp(16)),
            gap=dp(12),
            cls=FRAME,
            height=MATCH,
        ),
        fill="shade",
    )

    def swipe(direction: Direction) -> bool:
        if direction != "down" or int(ui.var("scroll/notices", 0)):
            return False
        ui.host.open_shade(settings=True)
        return True

    page.on_swipe = swipe
    return page


def _notice(
    ui: Ui,
    app: App,
    title: str,
    text: str,
    *,
    on_tap: Callable[[], object],
    when: str = "",
    actions: Sequence[View] = (),
    dismiss: Callable[[], object] | None = None,
) -> View:
    """Show one notification (notification_template_material_base.xml)."""
    head = row(
        View(IMAGE, icon=f"app:{app.package}", id="android:id/icon", width=dp(24), height=dp(24), align=MIDDLE),
        label(ui.host.say(app.label, app.home), id="android:id/app_name_text", size=SMALL, ink="soft", align=MIDDLE),
        label(when, id="android:id/time", size=SMALL, ink="soft", align=MIDDLE),
        gap=dp(8),
    )
    parts = [head, label(title, id="android:id/title", bold=True, width=MATCH)]
    if text:
        parts.append(label(text, id="android:id/text", ink="soft", width=MATCH))
    if actions:
        parts.append(row(*actions, id="android:id/actions", gap=dp(8)))
    view = frame(
        column(
            *parts, id="android:id/status_bar_latest_event_content", pad=(dp(16), dp(10), dp(16), dp(10)), gap=dp(2)
        ),
        id=f"{_ID}expandableNotificationRow",
        fill="card",
        on_tap=on_tap,
    )
    if dismiss is not None:

        def swipe(direction: Direction) -> bool:
            if direction in ("left", "right"):
                dismiss()
                return True
            return False

        view.on_swipe = swipe
    return view


def _ongoing_row(ui: Ui, app: App, notice: Notice) -> View:
    def then(action: Callable[[], object]) -> Callable[[], object]:
        def act() -> None:
            ui.close()
            action()

        return act

    actions = [button(text, then(action), id="android:id/action0", height=dp(40)) for text, action in notice.actions]
    return _notice(ui, app, notice.title, notice.text, on_tap=then(notice.on_tap), actions=actions)


def _posted_row(ui: Ui, number: int) -> View:
    path = f"{NOTICES}/{number}"
    package = ui.words(f"{path}/package")
    app = ui.host.apps.get(package, APP)

    def open_app() -> None:
        ui.host.remove(path)
        ui.close()
        ui.host.open_app(package)

    return _notice(
        ui,
        app,
        _told(ui, f"{path}/title"),
        _told(ui, f"{path}/text"),
        when=_ago(ui, ui.number(f"{path}/posted")),
        on_tap=open_app,
        dismiss=lambda: ui.remove(path),
    )


def _told(ui: Ui, path: str) -> str:
    """Return a text of a notification; what a fresh phone came with is in the phone's language."""
    text = ui.words(path)
    return ui.say(text) if text in NEWS_WORDS else text


def _ago(ui: Ui, moment: int) -> str:
    minutes = max(0, int(ui.host.local_time.timestamp()) - moment) // 60
    if minutes < 1:
        return ui.say("now")
    return ui.say("{count}m", count=minutes) if minutes < 60 else ui.say("{count}h", count=minutes // 60)


def alert(host: Host, number: int) -> View | None:
    """Build the window on top of everything: what rings, else a notification that just came, else nothing."""
    for app, notice in ongoing(host):
        if notice.urgent:
            ui = _ui(host)
            actions = [button(text, act, id="android:id/action0", height=dp(40)) for text, act in notice.actions]
            return _on_top(_notice(ui, app, notice.title, notice.text, on_tap=notice.on_tap, actions=actions))
    path = f"{NOTICES}/{number}"
    if not number or f"{path}/package" not in host.state:
        return None
    ui = _ui(host)
    package = ui.words(f"{path}/package")

    def open_app() -> None:
        host.hide_heads_up()
        host.remove(path)
        host.open_app(package)

    def dismiss() -> None:
        host.hide_heads_up()
        host.remove(path)

    view = _notice(
        ui, host.apps.get(package, APP), _told(ui, f"{path}/title"), _told(ui, f"{path}/text"), when=ui.say("now"),
        on_tap=open_app, dismiss=dismiss,
    )  # fmt: skip
    aside = view.on_swipe

    def swipe(direction: Direction) -> bool:
        if direction == "up":
            host.hide_heads_up()
            return True
        return aside is not None and aside(direction)

    view.on_swipe = swipe
    return _on_top(view)


def _on_top(notice: View) -> View:
    notice.fill = ""
    return frame(notice, id=f"{_ID}heads_up_notification", pad=(dp(4), 0, dp(4), 0), fill="dialog")


# ----------------------------------------------------------------------------------------------------------------------
# text


def text_toolbar(ui: Ui, entries: Sequence[tuple[str, Callable[[], object]]]) -> View:
    """Build the bar that holding an input field opens (floating_popup_container.xml)."""
    keys = [
        button(ui.say(text), action, id="android:id/floating_toolbar_menu_item_text", ink="text", height=dp(44))
        for text, action in entries
    ]
    return row(*keys, id="android:id/floating_popup_container", width=WRAP, fill="dialog")


# ----------------------------------------------------------------------------------------------------------------------
# a fresh phone

_NEWS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("com.android.settings", "System update available",
     ("Tap to download, 412 MB", "Version 15.0.2 is ready to install", "Restart to finish the update")),
    ("com.android.deskclock", "Missed alarm", ("6:00 AM", "7:15 AM - Gym", "5:45 AM - Train")),
    ("com.android.camera2", "Storage is getting full",
     ("Free up space to keep taking photos", "Photos are saved at a lower quality")),
    ("com.android.calendar", "Dentist", ("Tomorrow, 9:30 \u2013 10:00", "Today, 16:00 \u2013 16:45")),
    ("com.android.calendar", "Team lunch", ("Today, 12:00 \u2013 13:00, Cafe Luna", "Friday, 12:30 \u2013 13:30")),
    ("com.android.dialer", "Missed call", ("Elena Rossi", "+15550142207", "Hugo Martin (2)")),
    ("com.android.contacts", "Contacts merged", ("2 duplicates were found", "1 duplicate was found")),
    ("com.android.messaging", "New message", ("Your parcel arrives today.", "Code 493 118. Do not share it.")),
)  # fmt: skip
"""Package, title and texts of what may wait in the shade."""


def draw_notices(draw: Draw) -> None:
    """Draw the notifications of a fresh phone: one each of a few apps, and at times two of one."""
    rng = draw.rng
    now = int(draw.now.timestamp())
    chosen = rng.sample(_NEWS, rng.randint(2, 4))
    for age, (package, title, texts) in zip(sorted(rng.sample(range(2, 300), len(chosen)), reverse=True), chosen,
                                            strict=True):  # fmt: skip
        draw.record(NOTICES, package=package, title=title, text=rng.choice(texts), posted=now - age * 60)


NEWS_WORDS: Words = {
    "1 duplicate was found": ("1 Duplikat wurde gefunden", "找到 1 个重复项"),
    "2 duplicates were found": ("2 Duplikate wurden gefunden", "找到 2 个重复项"),
    "Contacts merged": ("Kontakte zusammengeführt", "联系人已合并"),
    "Free up space to keep taking photos": ("Schaffe Platz für weitere Fotos", "请释放空间以继续拍照"),
    "Missed alarm": ("Verpasster Wecker", "错过的闹钟"),
    "Missed call": ("Verpasster Anruf", "未接来电"),
    "New message": ("Neue Nachricht", "新消息"),
    "Photos are saved at a lower quality": ("Fotos werden in geringerer Qualität gespeichert", "照片将以较低画质保存"),
    "Restart to finish the update": ("Zum Abschließen neu starten", "重新启动以完成更新"),
    "Storage is getting full": ("Der Speicher ist fast voll", "存储空间即将用尽"),
    "System update available": ("Systemupdate verfügbar", "有可用的系统更新"),
    "Tap to download, 412 MB": ("Zum Herunterladen tippen, 412 MB", "点按即可下载，412 MB"),
    "Version 15.0.2 is ready to install": ("Version 15.0.2 kann installiert werden", "版本 15.0.2 已可安装"),
}
"""What the phone and its apps say in the notifications of a fresh phone; the rest of them, people wrote."""

STRINGS: Words = {
    "Airplane mode": ("Flugmodus", "飞行模式"),
    "Airplane mode.": ("Flugmodus.", "飞行模式。"),
    "Alarm set.": ("Wecker gestellt.", "闹钟已设置。"),
    "Auto-rotate": ("Automatisch drehen", "自动旋转"),
    "Back": ("Zurück", "返回"),
    "Battery Saver": ("Energiesparmodus", "省电模式"),
    "Battery {level} percent.": ("Akku bei {level} Prozent.", "电池电量为百分之 {level}。"),
    "Bluetooth": ("Bluetooth", "蓝牙"),
    "Bluetooth on.": ("Bluetooth an.", "蓝牙已开启。"),
    "Camera access": ("Kamerazugriff", "摄像头使用权限"),
    "Clear all": ("Alle löschen", "全部清除"),
    "Color inversion": ("Farbumkehr", "颜色反转"),
    "Cut": ("Ausschneiden", "剪切"),
    "Dark theme": ("Dunkles Design", "深色主题"),
    "Data Saver": ("Datensparmodus", "流量节省程序"),
    "Display brightness": ("Helligkeit des Displays", "屏幕亮度"),
    "Do Not Disturb": ("Bitte nicht stören", "勿扰"),
    "Do Not Disturb on.": ("„Bitte nicht stören“ an.", "勿扰模式已开启。"),
    "Flashlight": ("Taschenlampe", "手电筒"),
    "Home": ("Startbildschirm", "主屏幕"),
    "Hotspot": ("Hotspot", "热点"),
    "Hotspot on.": ("Hotspot an.", "热点已开启。"),
    "Internet": ("Internet", "互联网"),
    "Location": ("Standort", "位置信息"),
    "Manage": ("Verwalten", "管理"),
    "Mic access": ("Mikrofonzugriff", "麦克风使用权限"),
    "Mobile data": ("Mobile Daten", "移动数据"),
    "Night Light": ("Nachtlicht", "夜间模式"),
    "No notifications": ("Keine Benachrichtigungen", "没有通知"),
    "Off": ("Aus", "关闭"),
    "On": ("An", "开启"),
    "Open settings": ("Einstellungen öffnen", "打开设置"),
    "Overview": ("Übersicht", "概览"),
    "Page {page} of {pages}": ("Seite {page} von {pages}", "第 {page} 页，共 {pages} 页"),
    "Paste": ("Einfügen", "粘贴"),
    "System UI": ("System-UI", "系统界面"),
    "Wi-Fi signal full.": ("Volle WLAN-Signalstärke.", "WLAN 信号满格。"),
    "now": ("jetzt", "现在"),
    "{count}h": ("{count} Std.", "{count} 小时"),
    "{count}m": ("{count} Min.", "{count} 分钟"),
}

APP = App(
    package=PACKAGE,
    label="System UI",
    home=SHADE,
    launchable=False,
    records={NOTICES: {"package": TEXT, "title": TEXT, "text": TEXT, "posted": MOMENT}},
    draw=draw_notices,
    strings=tables(EVERYWHERE, NEWS_WORDS, STRINGS),
    screens={
        SHADE: Screen(shade, "com.android.systemui.shade.NotificationShade"),
        QUICK_SETTINGS: Screen(quick_settings, "com.android.systemui.shade.NotificationShade"),
        "systemui/brightness": Screen(
            brightness_dialog,
            "com.android.systemui.settings.brightness.BrightnessDialog",
            dialog=True,
            package=PACKAGE,
        ),
    },
)
