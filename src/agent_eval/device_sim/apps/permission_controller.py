"""Permission controller: the dialog that asks for a runtime permission, and the pages that show what was answered.

An app asks with ``ask`` and looks with ``granted``; what it may ask for is its ``App.permissions``. The answers are
persisted as ``permissions/<package>/<name>``. Knows no app by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from agent_eval.device_sim.screen import App, Host, Screen, Ui
from agent_eval.device_sim.strings import EVERYWHERE, Words, tables
from agent_eval.device_sim.ui import MATCH, View, dp
from agent_eval.device_sim.widgets import (
    CENTER,
    MIDDLE,
    SCROLL,
    TITLE,
    activity,
    app_bar,
    button,
    category,
    choice,
    column,
    frame,
    image,
    label,
    opener,
    preference,
    scroll_column,
)

PACKAGE = "com.android.permissioncontroller"
_ID = f"{PACKAGE}:id/"
_PREFIX = "com.android.permissioncontroller.permission.ui"
ONE_TIME_MS = 60_000
"""How long "Only this time" outlives the app's page (DeviceConfig one_time_permissions_timeout_millis)."""


@dataclass(frozen=True, slots=True)
class Permission:
    """How the controller speaks of one runtime permission (its res/values/strings.xml)."""

    group: str
    """Name of its group."""
    question: str
    icon: str
    foreground_only: bool = True
    """Offers "While using the app" and "Only this time" in place of a plain "Allow"."""


PERMISSIONS: Mapping[str, Permission] = MappingProxyType({
    "ACCESS_FINE_LOCATION": Permission("Location", "Allow {app} to access this device\u2019s location?", "pin"),
    "CAMERA": Permission("Camera", "Allow {app} to take pictures and record video?", "camera"),
    "POST_NOTIFICATIONS": Permission("Notifications", "Allow {app} to send you notifications?", "bell", False),
    "READ_CONTACTS": Permission("Contacts", "Allow {app} to access your contacts?", "person", False),
    "RECORD_AUDIO": Permission("Microphone", "Allow {app} to record audio?", "mic"),
})  # fmt: skip
"""The runtime permissions of this phone, by the last part of their names."""


def granted(host: Host, package: str, permission: str) -> bool:
    """Tell whether an app has a permission; one that it does not declare stands in nobody's way."""
    path = _path(package, permission)
    return host.state.get(path, "granted") == "granted" or bool(host.world.get(f"once/{path}", False))


def ask(ui: Ui, package: str, permission: str, *, then: str = "") -> None:
    """Open a screen of an app if it has a permission; otherwise ask for it first.

    Args:
        ui: The app's own.
        package: The app.
        permission: A name among ``PERMISSIONS``.
        then: Screen to open once the permission is there; its variable ``since_ms`` says when that was.
    """
    if granted(ui.host, package, permission):
        _proceed(ui, then)
    elif ui.host.state.get(_path(package, permission)) == "blocked":
        group = ui.say(PERMISSIONS[permission].group)
        ui.host.show_toast(ui.say("Allow {group} in the app\u2019s settings first", group=group))
    else:
        open_dialog(ui.host, package, permission, then=then)


def open_dialog(host: Host, package: str, permission: str, *, then: str = "") -> None:
    """Ask for a permission on top of the page in front."""
    host.open_page("permissions/grant", {"package": package, "permission": permission, "then": then})


def _path(package: str, permission: str) -> str:
    return f"permissions/{package}/{permission}"


def _proceed(ui: Ui, then: str) -> None:
    if then:
        ui.open(then, since_ms=ui.host.now_ms)


def _put(ui: Ui, path: str, value: str) -> None:
    if path in ui.host.state:
        ui.put(path, value)
    else:
        ui.keep(path, value)  # asked for an app that declares none


def _answer(ui: Ui, answer: str) -> None:
    path, then = _path(str(ui.var("package")), str(ui.var("permission"))), str(ui.var("then"))
    ui.close()
    if answer == "deny":
        _put(ui, path, "blocked" if ui.host.state.get(path) == "denied" else "denied")
        return
    if answer == "once":
        ui.keep(f"once/{path}", True)
        _end_one_time(ui.host, str(ui.var("package")), path)
    else:
        _put(ui, path, "granted")
    _proceed(ui, then)


def _end_one_time(host: Host, package: str, path: str) -> None:
    """Take back an answer for one time once a minute passes at whose end the app is not in front."""

    def look() -> None:
        if host.front_package == package:
            host.after(ONE_TIME_MS, look)
        else:
            host.world[f"once/{path}"] = False

    host.after(ONE_TIME_MS, look)


def grant(ui: Ui) -> View:
    """Build the dialog that asks (grant_permissions.xml); a touch beside it is not an answer."""
    package, name = str(ui.var("package")), str(ui.var("permission"))
    permission = PERMISSIONS[name]

    def answer(text: str, id: str, what: str) -> View:
        return button(text, lambda: _answer(ui, what), id=_ID + id, width=MATCH, fill="tonal", height=dp(52))

    allow = (
        [
            answer(ui.say("While using the app"), "permission_allow_foreground_only_button", "always"),
            answer(ui.say("Only this time"), "permission_allow_one_time_button", "once"),
        ]
        if permission.foreground_only
        else [answer(ui.say("Allow"), "permission_allow_button", "always")]
    )
    card = column(
        image(permission.icon, id=f"{_ID}permission_icon", ink="primary"),
        label(
            ui.say(permission.question, app=_label(ui, package)),
            id=f"{_ID}permission_message",
            size=dp(18),
            width=MATCH,
            justify=0.5,
        ),
        column(
            *allow,
            answer(ui.say("Don\u2019t allow"), "permission_deny_button", "deny"),
            gap=dp(4),
            id=f"{_ID}button_group",
        ),
        id=f"{_ID}grant_dialog",
        pad=(dp(24), dp(20), dp(24), dp(20)),
        gap=dp(16),
    )
    return frame(card, id=f"{_ID}grant_singleton", width=dp(312), align=CENTER, fill="dialog")


def _label(ui: Ui, package: str) -> str:
    app = ui.host.apps.get(package)
    return ui.say(app.label) if app else package


# ----------------------------------------------------------------------------------------------------------------------
# pages


def _state_words(ui: Ui, package: str, name: str) -> str:
    """Return the heading under which an app's permission is listed."""
    state = ui.words(_path(package, name))
    if state == "granted":
        return ui.say("Allowed")
    return ui.say("Ask every time") if state == "ask" else ui.say("Not allowed")


def app_permissions(ui: Ui) -> View:
    """Build the page of one app's permissions (AppPermissionsFragment); the variable ``package`` says whose."""
    package = str(ui.var("package"))
    app = ui.host.apps.get(package)
    headings: dict[str, list[View]] = {}
    for heading in (ui.say("Allowed"), ui.say("Ask every time"), ui.say("Not allowed")):
        headings[heading] = []
    for name in sorted(app.permissions if app else ()):
        permission = PERMISSIONS[name]
        row = preference(
            ui.say(permission.group),
            icon=permission.icon,
            on_tap=opener(ui, "permissions/choice", package=package, permission=name),
        )
        headings[_state_words(ui, package, name)].append(row)
    rows: list[View] = [preference(_label(ui, package), package, icon=app.icon if app else "apps")]
    for heading, found in headings.items():
        if found:
            rows += [category(heading), *found]
    if len(rows) == 1:
        rows.append(preference(ui.say("No permissions requested"), enabled=False))
    return activity(ui, app_bar(ui, ui.say("App permissions")), scroll_column(ui, rows, height=0, weight=1))


def choose(ui: Ui) -> View:
    """Build the page on which one answer is changed (AppPermissionFragment)."""
    package, name = str(ui.var("package")), str(ui.var("permission"))
    permission, path = PERMISSIONS[name], _path(package, name)
    state = ui.words(path)

    def answer(value: str) -> Callable[[], object]:
        def choose_it() -> None:
            ui.put(path, value)
            ui.keep(f"once/{path}", False)

        return choose_it

    allow, allow_id = (
        (ui.say("Allow only while using the app"), "allow_foreground_only_radio_button")
        if permission.foreground_only
        else (ui.say("Allow"), "allow_radio_button")
    )
    options = [choice(allow, state == "granted", answer("granted"), id=_ID + allow_id, width=MATCH)]
    if permission.foreground_only:
        options.append(
            choice(ui.say("Ask every time"), state == "ask", answer("ask"), id=f"{_ID}ask_radio_button", width=MATCH)
        )
    denied = state in ("denied", "blocked")
    options.append(
        choice(ui.say("Don\u2019t allow"), denied, answer("blocked"), id=f"{_ID}deny_radio_button", width=MATCH)
    )
    group = ui.say(permission.group)
    parts = [
        label(ui.say("{group} access for this app", group=group), id=f"{_ID}permission_message", size=TITLE),
        label(_label(ui, package), id=f"{_ID}entity_header_title", ink="soft"),
        column(*options, cls="android.widget.RadioGroup", id=f"{_ID}radiogroup"),
    ]
    body = scroll_column(ui, parts, cls=SCROLL, height=0, weight=1, gap=dp(12), pad=(dp(24), dp(16), dp(24), dp(16)))
    return activity(ui, app_bar(ui, group), body)


def manager(ui: Ui) -> View:
    """Build the list of all permissions, with how many apps have each (ManageStandardPermissionsFragment)."""
    rows = []
    for name, permission in sorted(PERMISSIONS.items(), key=lambda item: item[1].group):
        packages = _askers(ui, name)
        have = sum(granted(ui.host, package, name) for package in packages)
        rows.append(
            preference(
                ui.say(permission.group),
                ui.say("{have} of {all} apps allowed", have=have, all=len(packages)),
                icon=permission.icon,
                on_tap=opener(ui, "permissions/group", permission=name),
            )
        )
    return activity(ui, app_bar(ui, ui.say("Permission manager")), scroll_column(ui, rows, height=0, weight=1))


def group(ui: Ui) -> View:
    """Build the list of the apps that use one permission (PermissionAppsFragment)."""
    name = str(ui.var("permission"))
    rows: list[View] = []
    for heading in (ui.say("Allowed"), ui.say("Ask every time"), ui.say("Not allowed")):
        found = [package for package in _askers(ui, name) if _state_words(ui, package, name) == heading]
        if found:
            rows.append(category(heading))
        for package in found:
            open_choice = opener(ui, "permissions/choice", package=package, permission=name)
            rows.append(preference(_label(ui, package), icon=ui.host.apps[package].icon, on_tap=open_choice))
    if not rows:
        rows.append(frame(label(ui.say("No apps"), ink="soft", align=MIDDLE), pad=(dp(24), dp(16), dp(24), dp(16))))
    bar = app_bar(ui, ui.say(PERMISSIONS[name].group))
    return activity(ui, bar, scroll_column(ui, rows, height=0, weight=1))


def _askers(ui: Ui, name: str) -> list[str]:
    packages = [package for package, app in ui.host.apps.items() if name in app.permissions]
    return sorted(packages, key=lambda package: _label(ui, package))


_WORDS: Words = {
    "Allow": ("Zulassen", "允许"),
    "Allow only while using the app": ("Zugriff nur während der Nutzung der App zulassen", "仅在使用该应用时允许"),
    "Allow {app} to access this device\u2019s location?": (
        "{app} erlauben, den Gerätestandort abzurufen?",
        "要允许“{app}”获取此设备的位置信息吗？",
    ),
    "Allow {app} to access your contacts?": (
        "{app} den Zugriff auf deine Kontakte erlauben?",
        "要允许“{app}”访问您的通讯录吗？",
    ),
    "Allow {app} to record audio?": ("{app} das Aufnehmen von Audio erlauben?", "要允许“{app}”录音吗？"),
    "Allow {app} to send you notifications?": (
        "{app} erlauben, dir Benachrichtigungen zu senden?",
        "要允许“{app}”向您发送通知吗？",
    ),
    "Allow {app} to take pictures and record video?": (
        "{app} das Aufnehmen von Bildern und Videos erlauben?",
        "要允许“{app}”拍摄照片和录制视频吗？",
    ),
    "Allow {group} in the app\u2019s settings first": (
        "Lasse zuerst „{group}“ in den Einstellungen der App zu",
        "请先在应用设置中允许{group}权限",
    ),
    "Allowed": ("Zugelassen", "已允许"),
    "App permissions": ("App-Berechtigungen", "应用权限"),
    "Ask every time": ("Jedes Mal fragen", "每次都询问"),
    "Camera": ("Kamera", "相机"),
    "Contacts": ("Kontakte", "通讯录"),
    "Don\u2019t allow": ("Nicht zulassen", "不允许"),
    "Location": ("Standort", "位置信息"),
    "Microphone": ("Mikrofon", "麦克风"),
    "No apps": ("Keine Apps", "没有应用"),
    "No permissions requested": ("Keine Berechtigungen angefordert", "未请求任何权限"),
    "Not allowed": ("Nicht zugelassen", "未允许"),
    "Notifications": ("Benachrichtigungen", "通知"),
    "Only this time": ("Nur dieses Mal", "仅限这一次"),
    "Permission controller": ("Berechtigungsverwaltung", "权限控制器"),
    "Permission manager": ("Berechtigungsmanager", "权限管理器"),
    "While using the app": ("Bei Nutzung der App", "使用时允许"),
    "{group} access for this app": ("Zugriff dieser App: {group}", "此应用的{group}权限"),
    "{have} of {all} apps allowed": ("{have} von {all} Apps zugelassen", "{all} 个应用中有 {have} 个已获准"),
}

APP = App(
    package=PACKAGE,
    label="Permission controller",
    home="permissions/manager",
    icon="lock",
    launchable=False,
    actions={"android.intent.action.MANAGE_PERMISSIONS": "permissions/manager"},
    strings=tables(EVERYWHERE, _WORDS),
    screens={
        "permissions/manager": Screen(manager, f"{_PREFIX}.ManagePermissionsActivity", package=PACKAGE),
        "permissions/group": Screen(group, f"{_PREFIX}.ManagePermissionsActivity", package=PACKAGE),
        "permissions/app": Screen(app_permissions, f"{_PREFIX}.ManagePermissionsActivity", package=PACKAGE),
        "permissions/choice": Screen(choose, f"{_PREFIX}.ManagePermissionsActivity", package=PACKAGE),
        "permissions/grant": Screen(
            grant, f"{_PREFIX}.GrantPermissionsActivity", dialog=True, package=PACKAGE, modal=True
        ),
    },
)

__all__ = ["APP", "PERMISSIONS", "Permission", "ask", "granted", "open_dialog"]
