"""Settings, "Security & privacy" and "Location" (security_dashboard_settings.xml, location_settings.xml).

The screen lock is kept and named; this phone never shows a lock screen.
"""

from __future__ import annotations

from collections.abc import Callable

from agent_eval.device_sim.apps.settings.page import (
    action,
    app_title,
    ask,
    head_switch,
    heading,
    link,
    listed_apps,
    note,
    on_off,
    page,
    sub,
    toggle,
)
from agent_eval.device_sim.apps.settings.state import LOCKS
from agent_eval.device_sim.screen import Ui
from agent_eval.device_sim.ui import Field, View
from agent_eval.device_sim.widgets import cancel_and_ok, dialog, edit_text, label, opener, preference, radio_row

_LOCK_NAMES = {"none": "None", "swipe": "Swipe", "pattern": "Pattern", "pin": "PIN", "password": "Password"}
_MANAGER = "permissions/manager"


def security(ui: Ui) -> View:
    """Build "Security & privacy" (security_dashboard_settings.xml)."""
    return page(
        ui,
        "Security & privacy",
        link(ui, "App security", "settings/app_security", ui.say("No harmful apps found")),
        link(ui, "Device lock", "settings/device_lock", ui.say(_LOCK_NAMES[ui.words("settings/screen_lock")])),
        link(ui, "Privacy", "settings/privacy", ui.say("Permissions, account activity")),
        link(ui, "More security & privacy", "settings/more_security"),
    )


def app_security(ui: Ui) -> View:
    """Build "App security"."""

    def scan() -> None:
        ui.host.show_toast(ui.say("No harmful apps found"))

    count = len(listed_apps(ui))
    return page(
        ui,
        "App security",
        action(ui, "Scan", scan, ui.say("{count} apps scanned", count=count), icon="search"),
        note(ui, "No harmful apps found"),
    )


def device_lock(ui: Ui) -> View:
    """Build the choice of the screen lock (security_settings_picker.xml)."""
    now = ui.words("settings/screen_lock")

    def choose(lock: str) -> Callable[[], object]:
        if lock in ("none", "swipe"):
            return lambda: ui.put("settings/screen_lock", lock)
        return opener(ui, "settings/lock_secret", lock=lock)

    return page(ui, "Device lock", *[radio_row(ui.say(_LOCK_NAMES[lock]), lock == now, choose(lock)) for lock in LOCKS])


def lock_secret(ui: Ui) -> View:
    """Build the dialog that asks for a new PIN, password or pattern, and for the same once more."""
    lock, first = str(ui.var("lock")), str(ui.var("first"))
    typed = ui.typed("secret")
    wrong = bool(ui.var("wrong", False))

    def on_next() -> None:
        if not first:
            ui.set("first", typed)
            ui.set("text/secret", "")
        elif typed == first:
            ui.put("settings/screen_lock", lock)
            ui.close()
        else:
            ui.set("wrong", True)
            ui.set("text/secret", "")

    title = {"pin": "Set a PIN", "password": "Set a password", "pattern": "Set a pattern"}[lock]
    parts = [
        edit_text(
            ui,
            Field("secret", numeric=lock != "password", max_length=16),
            id="com.android.settings:id/password_entry",
            password=True,
            hint=ui.say("Enter it again") if first else ui.say("Must be at least 4 characters"),
        )
    ]
    if wrong:
        parts.append(label(ui.say("They don\u2019t match"), ink="error"))
    says = "Confirm" if first else "Next"
    return dialog(*parts, title=ui.say(title), buttons=cancel_and_ok(ui, on_next, ok=says, enabled=len(typed) >= 4))


def privacy(ui: Ui) -> View:
    """Build "Privacy" (privacy_dashboard_settings.xml)."""
    return page(
        ui,
        "Privacy",
        link(ui, "Permission manager", _MANAGER, ui.say("Control app access to your data")),
        toggle(ui, "Camera access", "camera_access", ui.say("For apps and services")),
        toggle(ui, "Microphone access", "microphone_access", ui.say("For apps and services")),
        toggle(
            ui, "Show clipboard access", "clipboard_access", ui.say("Show a message when apps access what you copied")
        ),
        toggle(ui, "Show passwords", "show_passwords", ui.say("Display characters briefly as you type")),
        link(ui, "Notifications on lock screen", "settings/lock_screen"),
    )


def more_security(ui: Ui) -> View:
    """Build "More security & privacy"."""
    return page(
        ui,
        "More security & privacy",
        heading(ui, "Privacy"),
        link(ui, "Notifications on lock screen", "settings/lock_screen"),
        toggle(ui, "Show passwords", "show_passwords", ui.say("Display characters briefly as you type")),
        heading(ui, "Security"),
        link(ui, "Device lock", "settings/device_lock", ui.say(_LOCK_NAMES[ui.words("settings/screen_lock")])),
    )


# ----------------------------------------------------------------------------------------------------------------------
# location


def location(ui: Ui) -> View:
    """Build "Location" (location_settings.xml)."""
    return page(
        ui,
        "Location",
        head_switch(ui, "Use location", "location_on"),
        link(ui, "See all", "settings/location_recent", ui.say("Recent access")),
        link(
            ui, "App location permissions", "permissions/group", _location_apps(ui), permission="ACCESS_FINE_LOCATION"
        ),
        link(ui, "Location services", "settings/location_services"),
    )


def _location_apps(ui: Ui) -> str:
    wanting = [name for name in ui.host.apps if f"permissions/{name}/ACCESS_FINE_LOCATION" in ui.host.state]
    having = [name for name in wanting if ui.words(f"permissions/{name}/ACCESS_FINE_LOCATION") == "granted"]
    return ui.say("{count} of {all} apps", count=len(having), all=len(wanting))


def location_recent(ui: Ui) -> View:
    """Build the list of apps that lately asked where the phone is."""
    recent = [name for name in ui.host.recents if f"permissions/{name}/ACCESS_FINE_LOCATION" in ui.host.state]
    rows = [preference(app_title(ui, package), icon="pin") for package in recent]
    return page(ui, "Recent access", *(rows or [note(ui, "No apps requested location recently")]))


def location_services(ui: Ui) -> View:
    """Build "Location services"."""
    return page(
        ui,
        "Location services",
        preference(
            ui.say("{wifi} scanning", wifi=ui.wifi),
            on_off(ui, "wifi_scanning"),
            checked=ui.flag("settings/wifi_scanning"),
            on_tap=lambda: ui.toggle("settings/wifi_scanning"),
        ),
        toggle(ui, "Bluetooth scanning", "bluetooth_scanning", on_off(ui, "bluetooth_scanning")),
    )


SCREENS = {
    "settings/security": sub(security),
    "settings/app_security": sub(app_security),
    "settings/device_lock": sub(device_lock),
    "settings/lock_secret": ask(lock_secret),
    "settings/privacy": sub(privacy),
    "settings/more_security": sub(more_security),
    "settings/location": sub(location),
    "settings/location_recent": sub(location_recent),
    "settings/location_services": sub(location_services),
}
