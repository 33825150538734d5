"""Settings, "System" and "About phone": languages, date, gestures, reset, and what the phone is (system_dashboard)."""

from __future__ import annotations

from agent_eval.device_sim.apps.settings.devices import name_row
from agent_eval.device_sim.apps.settings.network import CARRIER
from agent_eval.device_sim.apps.settings.page import (
    ask,
    choices,
    confirm,
    fact,
    head_switch,
    heading,
    keep_names,
    link,
    note,
    on_off,
    page,
    sub,
    toggle,
)
from agent_eval.device_sim.locales import LOCALES
from agent_eval.device_sim.screen import Ui
from agent_eval.device_sim.ui import View
from agent_eval.device_sim.widgets import opener, preference, radio_row
from agent_eval.types import Scalar

_COUNTRIES = {"en": "United States", "de": "Deutschland", "zh": "中国"}


def _language(name: str) -> str:
    return f"{LOCALES[name].name} ({_COUNTRIES[name]})" if name != "zh" else LOCALES[name].name


def system(ui: Ui) -> View:
    """Build "System" (system_dashboard_fragment.xml)."""
    return page(
        ui,
        "System",
        link(ui, "Languages", "settings/languages", _language(ui.words("settings/locale"))),
        link(ui, "Gestures", "settings/gestures"),
        link(ui, "Date & time", "settings/date_time", "GMT"),
        link(ui, "Backup", "settings/backup", on_off(ui, "backup_on")),
        link(ui, "Reset options", "settings/reset"),
        link(ui, "Multiple users", "settings/users"),
        link(ui, "Developer options", "settings/developer"),
    )


def languages(ui: Ui) -> View:
    """Build "Languages": the languages of the phone; the chosen one takes effect at once."""
    now = ui.words("settings/locale")

    def choose(name: str) -> View:
        return radio_row(_language(name), name == now, lambda: ui.put("settings/locale", name))

    return page(ui, "Languages", heading(ui, "System language"), *[choose(name) for name in LOCALES])


def gestures(ui: Ui) -> View:
    """Build "Gestures" (gestures.xml)."""
    buttons = ui.words("settings/navigation_mode") == "buttons"
    return page(
        ui,
        "Gestures",
        toggle(ui, "Quickly open camera", "gesture/quick_camera", ui.say("Press the power button twice")),
        link(
            ui,
            "Navigation mode",
            "settings/navigation_mode",
            ui.say("3-button navigation") if buttons else ui.say("Gesture navigation"),
        ),
        toggle(ui, "Double-tap to check phone", "gesture/double_tap_wake"),
        toggle(ui, "Lift to check phone", "gesture/lift_to_wake"),
    )


def navigation_mode(ui: Ui) -> View:
    """Build the choice of how one goes back; the bar with three buttons stays either way on this phone."""
    options: dict[Scalar, str] = {"gestures": "Gesture navigation", "buttons": "3-button navigation"}
    return page(ui, "Navigation mode", *choices(ui, "navigation_mode", options))


def date_time(ui: Ui) -> View:
    """Build "Date & time" (date_time_prefs.xml); the clock itself cannot be set."""
    now = ui.host.local_time
    twenty_four = not ui.host.locale.twelve_hours
    by_locale = ui.words("settings/time_format") == "locale"

    def flip_hours() -> None:
        ui.put("settings/time_format", "12" if twenty_four else "24")

    def flip_locale() -> None:
        ui.put("settings/time_format", ("24" if twenty_four else "12") if by_locale else "locale")

    return page(
        ui,
        "Date & time",
        toggle(ui, "Set time automatically", "auto_time"),
        preference(ui.say("Date"), ui.date(now, "short"), enabled=False),
        preference(ui.say("Time"), ui.time_of_day(now.hour, now.minute), enabled=False),
        toggle(ui, "Set time zone automatically", "auto_time_zone"),
        preference(ui.say("Time zone"), "GMT+00:00", enabled=False),
        heading(ui, "Time format"),
        preference(ui.say("Use locale default"), checked=by_locale, on_tap=flip_locale),
        preference(ui.say("Use 24-hour format"), checked=twenty_four, on_tap=flip_hours, enabled=not by_locale),
    )


def backup(ui: Ui) -> View:
    """Build "Backup"."""
    return page(
        ui,
        "Backup",
        head_switch(ui, "Back up my data", "backup_on"),
        note(ui, "Back up app data, passwords and other settings"),
    )


def users(ui: Ui) -> View:
    """Build "Multiple users"."""
    return page(
        ui,
        "Multiple users",
        head_switch(ui, "Allow multiple users", "allow_multiple_users"),
        fact(ui, "You (Owner)", icon="person"),
    )


def reset(ui: Ui) -> View:
    """Build "Reset options" (reset_dashboard_fragment.xml)."""
    return page(
        ui,
        "Reset options",
        preference(
            ui.say("Reset {wifi}, mobile & Bluetooth", wifi=ui.wifi), on_tap=opener(ui, "settings/reset_network")
        ),
        link(ui, "Reset app preferences", "settings/reset_apps"),
        link(ui, "Erase all data (factory reset)", "settings/erase"),
    )


def reset_network(ui: Ui) -> View:
    """Build the dialog that asks before networks and devices are forgotten."""

    def act() -> None:
        ui.put("settings/wifi_network", "")
        for path in ("wifi/saved", "wifi/failed", "bluetooth/paired", "bluetooth/connected"):
            keep_names(ui, path, [])
        for number in ui.ids("settings/vpn"):
            ui.remove(f"settings/vpn/{number}")
        ui.host.show_toast(ui.say("Network settings have been reset"))

    return confirm(ui, "This will reset all network settings. You can\u2019t undo this action.", "Reset settings", act)


def reset_apps(ui: Ui) -> View:
    """Build the dialog that asks before preferences of apps are reset."""

    def act() -> None:
        for name in ("disabled_apps", "muted_apps", "unrestricted_apps"):
            ui.put(f"settings/{name}", "")
        ui.host.show_toast(ui.say("App preferences have been reset"))

    return confirm(
        ui,
        "This will reset all preferences for disabled apps, notifications and background data. App data is kept.",
        "Reset apps",
        act,
        title="Reset app preferences?",
    )


def erase(ui: Ui) -> View:
    """Build "Erase all data"."""
    return page(
        ui,
        "Erase all data (factory reset)",
        note(ui, "This erases all data from your phone, including apps\u2019 data, photos, music and other files."),
        link(ui, "Erase all data", "settings/erase_confirm", icon="delete"),
    )


def erase_confirm(ui: Ui) -> View:
    """Build the dialog that asks before everything is erased."""

    def act() -> None:
        host = ui.host
        for package, app in host.apps.items():
            if app.launchable and package != "com.android.settings":
                host.clear_data(package)
        for name in ui.files.names("/sdcard"):
            ui.files.remove(f"/sdcard/{name}", whole_tree=True)
        for number in ui.ids("notifications"):
            host.remove(f"notifications/{number}")
        host.dismiss_task("com.android.settings")

    return confirm(
        ui,
        "All of your personal information and files will be deleted. You can\u2019t undo this action.",
        "Erase all data",
        act,
        title="Erase all data?",
        close=0,
    )


def developer(ui: Ui) -> View:
    """Build "Developer options" (development_settings.xml)."""
    return page(
        ui,
        "Developer options",
        toggle(ui, "Stay awake", "developer/stay_awake", ui.say("Screen will never sleep while charging")),
        toggle(ui, "USB debugging", "developer/usb_debugging", ui.say("Debug mode when USB is connected")),
        toggle(ui, "Show taps", "developer/show_taps", ui.say("Show visual feedback for taps")),
        toggle(ui, "Remove animations", "accessibility/remove_animations"),
    )


# ----------------------------------------------------------------------------------------------------------------------
# about


def about(ui: Ui) -> View:
    """Build "About phone" (my_device_info.xml)."""
    online = ui.flag("settings/wifi_on")
    return page(
        ui,
        "About phone",
        heading(ui, "Basic info"),
        name_row(ui),
        link(ui, "Phone number", "settings/phone_number", "+1 555 010 0199"),
        heading(ui, "Legal & regulatory"),
        link(ui, "Legal information", "settings/legal"),
        link(ui, "Regulatory labels", "settings/regulatory"),
        heading(ui, "Device details"),
        link(ui, "SIM status", "settings/sim_status", CARRIER),
        link(ui, "Model", "settings/model", ui.words("about/model")),
        link(ui, "IMEI", "settings/imei", "355 010 019 921 440"),
        link(ui, "Android version", "settings/android_version", ui.words("about/android_version")),
        heading(ui, "Device identifiers"),
        fact(ui, "IP address", "192.168.1.40" if online else ui.say("Unavailable")),
        preference(ui.say("{wifi} MAC address", wifi=ui.wifi), "02:15:b2:00:40:1f"),
        fact(ui, "Build number", str(ui.known("about/build"))),
    )


def phone_number(ui: Ui) -> View:
    """Build "Phone number"."""
    return page(ui, "Phone number", preference(CARRIER, "+1 555 010 0199", icon="sim"))


def legal(ui: Ui) -> View:
    """Build "Legal information"."""
    return page(
        ui,
        "Legal information",
        fact(ui, "Third-party licenses"),
        fact(ui, "System WebView licenses"),
        fact(ui, "Wallpapers"),
    )


def regulatory(ui: Ui) -> View:
    """Build "Regulatory labels"."""
    return page(ui, "Regulatory labels", fact(ui, "Model", ui.words("about/model")), preference("FCC ID", "A4RSIM01"))


def sim_status(ui: Ui) -> View:
    """Build "SIM status"."""
    flying = ui.flag("settings/airplane_mode_on")
    return page(
        ui,
        "SIM status",
        fact(ui, "Network", ui.say("Unavailable") if flying else CARRIER),
        fact(ui, "Mobile network state", ui.say("Disconnected") if flying else ui.say("Connected")),
        fact(ui, "Mobile network type", ui.words("settings/network_type")),
        fact(ui, "Roaming", on_off(ui, "roaming_on")),
    )


def model(ui: Ui) -> View:
    """Build "Model"."""
    return page(
        ui,
        "Model",
        fact(ui, "Model", ui.words("about/model")),
        fact(ui, "Serial number", str(ui.known("about/serial"))),
        fact(ui, "Hardware version", "EVT1.0"),
        fact(ui, "Up time", _up_time(ui)),
    )


def _up_time(ui: Ui) -> str:
    since = int(ui.host.world.get("about/booted_s", int(ui.host.local_time.timestamp())))
    seconds = int(ui.host.local_time.timestamp()) - since
    return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def imei(ui: Ui) -> View:
    """Build "IMEI"."""
    return page(ui, "IMEI", preference("IMEI", "355 010 019 921 440"), preference("IMEI SV", "07"))


def android_version(ui: Ui) -> View:
    """Build "Android version"."""
    return page(
        ui,
        "Android version",
        fact(ui, "Android version", ui.words("about/android_version")),
        fact(ui, "Android security update", ui.date(ui.host.local_time.replace(day=5, month=1), "short")),
        fact(ui, "Baseband version", "g5300q-241106"),
        fact(ui, "Kernel version", "6.1.84-android14-11"),
        fact(ui, "Build number", str(ui.known("about/build"))),
    )


SCREENS = {
    "settings/system": sub(system),
    "settings/languages": sub(languages),
    "settings/gestures": sub(gestures),
    "settings/navigation_mode": sub(navigation_mode),
    "settings/date_time": sub(date_time),
    "settings/backup": sub(backup),
    "settings/users": sub(users),
    "settings/reset": sub(reset),
    "settings/reset_network": ask(reset_network),
    "settings/reset_apps": ask(reset_apps),
    "settings/erase": sub(erase),
    "settings/erase_confirm": ask(erase_confirm),
    "settings/developer": sub(developer),
    "settings/about": sub(about),
    "settings/phone_number": sub(phone_number),
    "settings/legal": sub(legal),
    "settings/regulatory": sub(regulatory),
    "settings/sim_status": sub(sim_status),
    "settings/model": sub(model),
    "settings/imei": sub(imei),
    "settings/android_version": sub(android_version),
}
