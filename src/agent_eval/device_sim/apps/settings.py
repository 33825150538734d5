"""Settings: the pages of AOSP's com.android.settings that a person changes a phone with.

Structure and labels follow res/xml of platform/packages/apps/Settings (network_provider_internet.xml,
network_provider_settings.xml, display_settings.xml, sound_settings.xml). Knows no other app.
"""

from __future__ import annotations

from collections.abc import Callable

from agent_eval.device_sim.profile import TIMEOUTS
from agent_eval.device_sim.schema import TEXT, YES_NO, Kind
from agent_eval.device_sim.screen import App, Screen, Ui
from agent_eval.device_sim.ui import MATCH, Field, View, dp
from agent_eval.device_sim.widgets import (
    BODY,
    CENTER,
    FRAME,
    GROUP,
    MIDDLE,
    RELATIVE,
    SCROLL,
    TITLE,
    activity,
    app_bar,
    cancel_and_ok,
    category,
    choice,
    column,
    dialog,
    edit_text,
    frame,
    image,
    image_button,
    label,
    main_switch,
    opener,
    preference,
    radio_row,
    row,
    scroll_column,
    seek_bar,
    setter,
)

PACKAGE = "com.android.settings"
_ID = f"{PACKAGE}:id/"


def page(ui: Ui, title: str, *rows: View) -> View:
    """Show a page of Settings: a toolbar with the title, and a list of preferences."""
    bar = frame(app_bar(ui, title), id=f"{_ID}app_bar", cls=RELATIVE)
    content = column(
        frame(
            scroll_column(ui, rows, id=f"{_ID}recycler_view"),
            id="android:id/list_container",
            height=MATCH,
        ),
        id=f"{_ID}main_content",
        height=MATCH,
    )
    return activity(ui, column(bar, frame(content, id=f"{_ID}content_frame", weight=1), height=MATCH))


def percent(value: int, most: int) -> str:
    """Format a share as Settings does."""
    return f"{round(100 * value / most)}%"


# ----------------------------------------------------------------------------------------------------------------------
# home


def _network_summary(ui: Ui) -> str:
    return f"Mobile, {ui.wifi}, hotspot"


Summary = str | Callable[[Ui], str]

HOME_ROWS: tuple[tuple[str, Summary, str, str], ...] = (
    ("Network & internet", _network_summary, "wifi", "settings/network"),
    ("Connected devices", "Bluetooth, pairing", "devices", "settings/connected"),
    ("Apps", "Recent apps, default apps", "apps", "settings/apps"),
    ("Notifications", "Notification history, conversations", "bell", "settings/notifications"),
    ("Battery", lambda ui: f"{ui.known('battery/level')}%", "battery", "settings/battery"),
    ("Storage", lambda ui: f"{ui.known('storage/used')}% used", "storage", "settings/storage"),
    ("Sound & vibration", "Volume, vibration", "sound", "settings/sound"),
    ("Display", "Dark theme, font size, brightness", "brightness", "settings/display"),
    ("Wallpaper & style", "Colors, themed icons, app grid", "palette", "settings/wallpaper"),
    ("Accessibility", "Display, interaction, audio", "person", "settings/accessibility"),
    ("Security & privacy", "App security, device lock, permissions", "lock", "settings/security"),
    ("Location", "On", "pin", "settings/location"),
    ("System", "Languages, gestures, time, backup", "info", "settings/system"),
    ("About phone", lambda ui: ui.words("settings/device_name"), "phone", "settings/about"),
)
"""Title, summary, icon and page, in the order of top_level_settings.xml."""


def home(ui: Ui) -> View:
    """Build the home page."""
    rows = [
        preference(title, summary if isinstance(summary, str) else summary(ui), icon=icon, on_tap=opener(ui, screen))
        for title, summary, icon, screen in HOME_ROWS
    ]
    search = frame(
        row(
            image("search", align=MIDDLE),
            label("Search settings", id=f"{_ID}search_action_bar_title", size=TITLE, ink="soft", align=MIDDLE),
            id=f"{_ID}search_action_bar",
            cls=GROUP,
            height=dp(48),
            pad=(dp(16), 0, dp(16), 0),
            gap=dp(12),
            fill="card",
            on_tap=opener(ui, "settings/search"),
        ),
        id=f"{_ID}search_bar",
        pad=(dp(16), dp(4), dp(16), dp(8)),
    )
    content = column(
        frame(scroll_column(ui, rows, id=f"{_ID}recycler_view"), id="android:id/list_container", height=MATCH),
        id=f"{_ID}container_material",
        height=MATCH,
    )
    return activity(
        ui,
        frame(
            column(
                label("Settings", id=f"{_ID}homepage_title", size=dp(22), pad=(dp(24), dp(12), 0, dp(8)), width=MATCH),
                search,
                frame(
                    frame(content, id=f"{_ID}main_content", height=MATCH),
                    cls=SCROLL,
                    id=f"{_ID}main_content_scrollable_container",
                    weight=1,
                ),
                id=f"{_ID}homepage_container",
                height=MATCH,
            ),
            id=f"{_ID}settings_homepage_container",
            height=MATCH,
        ),
    )


SEARCHABLE: tuple[tuple[str, str], ...] = (
    *((title, screen) for title, _, _, screen in HOME_ROWS),
    ("Internet", "settings/internet"),
    ("Bluetooth", "settings/bluetooth"),
    ("Airplane mode", "settings/network"),
    ("Dark theme", "settings/display"),
    ("Brightness level", "settings/display"),
    ("Screen timeout", "settings/screen_timeout"),
    ("Battery Saver", "settings/battery"),
    ("Media volume", "settings/sound"),
    ("Android version", "settings/about"),
    ("Device name", "settings/about"),
    ("Data Saver", "settings/data_saver"),
)


def search(ui: Ui) -> View:
    """Build the search page: titles that hold every word typed."""
    words = ui.typed("query").lower().replace("-", "\u2011").split()
    titles = [(title.replace("Wi-Fi", ui.wifi), screen) for title, screen in SEARCHABLE]
    found = [(title, screen) for title, screen in titles if words and all(word in title.lower() for word in words)]
    rows = [preference(title, on_tap=opener(ui, screen)) for title, screen in found]
    if words and not found:
        rows = [label("No results", id=f"{_ID}no_results", size=TITLE, ink="soft", pad=(dp(24), dp(24), 0, 0))]
    field = edit_text(
        ui, Field("query"), id="android:id/search_src_text", hint="Search settings", weight=1, align=MIDDLE
    )
    bar = row(image_button("back", "Navigate up", ui.close), field, cls=GROUP, height=dp(56), pad=(dp(4), 0, dp(8), 0))
    return activity(ui, bar, scroll_column(ui, rows, id=f"{_ID}list_results", height=0, weight=1))


# ----------------------------------------------------------------------------------------------------------------------
# network


def network(ui: Ui) -> View:
    """Build "Network & internet" (network_provider_internet.xml)."""
    on = ui.flag("settings/wifi_on")
    return page(
        ui,
        "Network & internet",
        preference(
            "Internet",
            (ui.words("settings/wifi_network") or "Networks available") if on else "Off",
            icon="wifi",
            on_tap=opener(ui, "settings/internet"),
        ),
        preference("Calls & SMS", "T-Mobile", icon="call", on_tap=_plain(ui, "Calls & SMS")),
        preference("SIMs", "T-Mobile", icon="sim", on_tap=_plain(ui, "SIMs")),
        preference(
            "Airplane mode",
            icon="airplane",
            checked=ui.flag("settings/airplane_mode_on"),
            on_tap=lambda: ui.toggle("settings/airplane_mode_on"),
        ),
        preference("Hotspot & tethering", "Off", icon="hotspot", on_tap=_plain(ui, "Hotspot & tethering")),
        preference(
            "Data Saver",
            "On" if ui.flag("settings/data_saver") else "Off",
            icon="data",
            on_tap=opener(ui, "settings/data_saver"),
        ),
        preference("VPN", "None", icon="vpn", on_tap=_plain(ui, "VPN")),
        preference("Private DNS", "Automatic", icon="dns", on_tap=_plain(ui, "Private DNS")),
        preference("Adaptive connectivity", icon="data", on_tap=_plain(ui, "Adaptive connectivity")),
    )


def internet(ui: Ui) -> View:
    """Build "Internet" (network_provider_settings.xml): the switch, the networks in reach, and what follows them."""
    on = ui.flag("settings/wifi_on")
    connected = ui.words("settings/wifi_network")
    rows = [
        category("T-Mobile"),
        preference(
            "T-Mobile",
            "Airplane mode is on" if ui.flag("settings/airplane_mode_on") else "LTE",
            icon="sim",
            on_tap=_plain(ui, "T-Mobile"),
        ),
        preference(ui.wifi, checked=on, on_tap=lambda: ui.toggle("settings/wifi_on")),
    ]
    if on:
        saved = _names(ui, "wifi/saved")
        nearby = _names(ui, "wifi/nearby")
        if connected:
            rows.append(
                preference(
                    connected, "Connected", icon="wifi", on_tap=opener(ui, "settings/wifi_details", ssid=connected)
                )
            )
        for ssid in nearby:
            if ssid != connected:
                rows.append(preference(ssid, "Saved" if ssid in saved else "", icon="wifi", on_tap=_joiner(ui, ssid)))
        rows.append(preference("Add network", icon="add", on_tap=_plain(ui, "Add network")))
    summary = f"{ui.wifi} turns back on automatically"
    rows += [
        preference("Network preferences", summary, on_tap=_plain(ui, "Network preferences")),
        preference("Saved networks", f"{len(_names(ui, 'wifi/saved'))} networks", on_tap=opener(ui, "settings/saved")),
        preference("Non-carrier data usage", "1.21 GB used", on_tap=_plain(ui, "Non-carrier data usage")),
    ]
    return page(ui, "Internet", *rows)


def _names(ui: Ui, path: str) -> list[str]:
    return [name for name in str(ui.known(path)).split("|") if name]


def _joiner(ui: Ui, ssid: str) -> Callable[[], object]:
    if ssid in _names(ui, "wifi/saved") or ssid in _names(ui, "wifi/open"):
        return lambda: connect(ui, ssid)
    return opener(ui, "settings/wifi_password", ssid=ssid)


def connect(ui: Ui, ssid: str) -> None:
    """Join a network and remember it."""
    ui.put("settings/wifi_network", ssid)
    saved = _names(ui, "wifi/saved")
    if ssid not in saved:
        ui.keep("wifi/saved", "|".join([*saved, ssid]))


def wifi_password(ui: Ui) -> View:
    """Build the dialog that asks for a network's password; WPA wants eight characters."""
    ssid = str(ui.var("ssid"))
    shown = bool(ui.var("show", False))
    enough = len(ui.typed("password")) >= 8

    def ok() -> None:
        ui.close()
        connect(ui, ssid)

    return dialog(
        label("Password", size=BODY, ink="soft"),
        edit_text(ui, Field("password", max_length=63), id=f"{_ID}password", password=not shown, hint="Password"),
        choice(
            "Show password",
            shown,
            setter(ui, "show", not shown),
            id=f"{_ID}show_password",
            cls="android.widget.CheckBox",
        ),
        title=ssid,
        buttons=cancel_and_ok(ui, ok, ok="Connect", enabled=enough),
    )


def wifi_details(ui: Ui) -> View:
    """Build the page of the connected network, with the button that forgets it."""
    ssid = str(ui.var("ssid"))

    def forget() -> None:
        ui.put("settings/wifi_network", "")
        ui.keep("wifi/saved", "|".join(name for name in _names(ui, "wifi/saved") if name != ssid))
        ui.close()

    header = column(
        image("wifi", size=dp(40), align=CENTER),
        label(ssid, id=f"{_ID}entity_header_title", size=dp(20), align=CENTER),
        label("Connected", id=f"{_ID}entity_header_summary", ink="soft", align=CENTER),
        pad=(0, dp(8), 0, dp(8)),
        gap=dp(4),
    )
    forget_button = row(
        column(
            image("delete", align=CENTER),
            label("Forget", size=BODY, align=CENTER),
            on_tap=forget,
            width=dp(120),
            desc="",
            id=f"{_ID}button1",
            pad=(0, dp(12), 0, dp(12)),
        ),
        pad=(dp(24), 0, dp(24), 0),
    )
    return page(
        ui,
        "Network details",
        header,
        forget_button,
        preference("Signal strength", "Excellent"),
        preference("Frequency", "5 GHz"),
        preference("Security", "None" if ssid in _names(ui, "wifi/open") else "WPA2-Personal"),
    )


def saved_networks(ui: Ui) -> View:
    """Build the list of remembered networks."""
    names = sorted(_names(ui, "wifi/saved"))
    rows = [preference(name, icon="wifi", on_tap=opener(ui, "settings/saved_network", ssid=name)) for name in names]
    return page(ui, "Saved networks", *(rows or [preference("No saved networks")]))


def saved_network(ui: Ui) -> View:
    """Build the page of a remembered network, with the button that forgets it."""
    ssid = str(ui.var("ssid"))

    def forget() -> None:
        if ui.words("settings/wifi_network") == ssid:
            ui.put("settings/wifi_network", "")
        ui.keep("wifi/saved", "|".join(name for name in _names(ui, "wifi/saved") if name != ssid))
        ui.close()

    return page(ui, ssid, preference("Forget", icon="delete", on_tap=forget), preference("Privacy", "Randomized MAC"))


def data_saver(ui: Ui) -> View:
    """Build "Data Saver"."""
    return page(
        ui,
        "Data Saver",
        main_switch("Use Data Saver", ui.flag("settings/data_saver"), lambda: ui.toggle("settings/data_saver")),
        preference("Unrestricted data", "1 app allowed", on_tap=_plain(ui, "Unrestricted data")),
    )


# ----------------------------------------------------------------------------------------------------------------------
# connected devices


def connected_devices(ui: Ui) -> View:
    """Build "Connected devices" (connected_devices.xml)."""
    on = ui.flag("settings/bluetooth_on")
    rows = [
        preference("Bluetooth", "On" if on else "Off", icon="bluetooth", on_tap=opener(ui, "settings/bluetooth")),
        preference("Pair new device", icon="add", on_tap=opener(ui, "settings/pair")),
    ]
    if on:
        rows.append(category("Saved devices"))
        rows += [_device(ui, name) for name in _names(ui, "bluetooth/paired")]
    rows.append(
        preference(
            "Connection preferences",
            "Bluetooth, Cast, NFC",
            icon="devices",
            on_tap=_plain(ui, "Connection preferences"),
        )
    )
    return page(ui, "Connected devices", *rows)


def _device(ui: Ui, name: str) -> View:
    return preference(name, "Saved", icon="headset", on_tap=opener(ui, "settings/device", name=name))


def bluetooth(ui: Ui) -> View:
    """Build "Bluetooth" (bluetooth_screen.xml): the main switch, and what is paired when it is on."""
    on = ui.flag("settings/bluetooth_on")
    rows = [main_switch("Use Bluetooth", on, lambda: ui.toggle("settings/bluetooth_on"))]
    if on:
        rows.append(
            preference(
                "Device name",
                ui.words("settings/device_name"),
                on_tap=opener(ui, "settings/rename", **{"text/name": ui.words("settings/device_name")}),
            )
        )
        rows.append(preference("Pair new device", icon="add", on_tap=opener(ui, "settings/pair")))
        rows.append(category("Saved devices"))
        rows += [_device(ui, name) for name in _names(ui, "bluetooth/paired")]
    else:
        rows.append(
            _note("When Bluetooth is turned on, your device can communicate with other nearby Bluetooth devices")
        )
    return page(ui, "Bluetooth", *rows)


def pair(ui: Ui) -> View:
    """Build "Pair new device"; opening it needs Bluetooth, which AOSP switches on by itself; here the page asks."""
    if not ui.flag("settings/bluetooth_on"):
        return page(ui, "Pair new device", _note("Turn on Bluetooth to pair a device"))
    return page(
        ui,
        "Pair new device",
        preference("Device name", ui.words("settings/device_name")),
        category("Available devices"),
        _note("Searching for devices\u2026"),
    )


def device(ui: Ui) -> View:
    """Build the page of a paired device."""
    name = str(ui.var("name"))

    def forget() -> None:
        ui.keep("bluetooth/paired", "|".join(other for other in _names(ui, "bluetooth/paired") if other != name))
        ui.close()

    return page(
        ui,
        "Device details",
        preference(name, "Saved", icon="headset"),
        preference("Forget", icon="delete", on_tap=forget),
    )


# ----------------------------------------------------------------------------------------------------------------------
# display, sound, battery, about


def display(ui: Ui) -> View:
    """Build "Display" (display_settings.xml)."""
    return page(
        ui,
        "Display",
        category("Brightness"),
        preference(
            "Brightness level", percent(ui.number("settings/brightness"), 255), on_tap=opener(ui, "systemui/brightness")
        ),
        preference(
            "Adaptive brightness",
            checked=ui.flag("settings/adaptive_brightness"),
            on_tap=lambda: ui.toggle("settings/adaptive_brightness"),
        ),
        category("Lock display"),
        preference("Lock screen", "Show all notification content", on_tap=_plain(ui, "Lock screen")),
        preference(
            "Screen timeout",
            timeout_name(ui.number("settings/screen_timeout_s")),
            on_tap=opener(ui, "settings/screen_timeout"),
        ),
        category("Appearance"),
        preference(
            "Dark theme",
            "Will never turn off automatically"
            if ui.flag("settings/dark_theme")
            else "Will never turn on automatically",
            checked=ui.flag("settings/dark_theme"),
            on_tap=lambda: ui.toggle("settings/dark_theme"),
        ),
        preference("Font size", "Default", on_tap=_plain(ui, "Font size")),
        preference("Display size", "Default", on_tap=_plain(ui, "Display size")),
        category("Other display controls"),
        preference("Auto-rotate screen", "Off", on_tap=_plain(ui, "Auto-rotate screen")),
        preference("Screen saver", "Clock", on_tap=_plain(ui, "Screen saver")),
    )


def timeout_name(seconds: int) -> str:
    """Name a screen timeout as Settings does."""
    if seconds < 60:
        return f"{seconds} seconds"
    return "1 minute" if seconds == 60 else f"{seconds // 60} minutes"


def screen_timeout(ui: Ui) -> View:
    """Build the radio list of screen timeouts."""
    now = ui.number("settings/screen_timeout_s")

    def choose(seconds: int) -> Callable[[], object]:
        return lambda: ui.put("settings/screen_timeout_s", seconds)

    return page(
        ui,
        "Screen timeout",
        *[radio_row(timeout_name(seconds), seconds == now, choose(seconds)) for seconds in TIMEOUTS],
    )


def sound(ui: Ui) -> View:
    """Build "Sound & vibration" (sound_settings.xml)."""

    def volume(title: str, path: str, most: int, icon: str) -> View:
        return row(
            frame(image(icon, id="android:id/icon", align=MIDDLE), id=f"{_ID}icon_frame", width=dp(56), align=MIDDLE),
            column(
                label(title, id="android:id/title", size=TITLE),
                seek_bar(ui.number(path), most, lambda value: ui.put(path, value), desc=title),
                weight=1,
                align=MIDDLE,
            ),
            height=dp(88),
            pad=(dp(24), dp(4), dp(16), dp(4)),
        )

    return page(
        ui,
        "Sound & vibration",
        volume("Media volume", "settings/volume_media", 15, "note"),
        volume("Ring & notification volume", "settings/volume_ring", 7, "bell"),
        volume("Alarm volume", "settings/volume_alarm", 7, "alarm"),
        preference("Do Not Disturb", "Off", on_tap=_plain(ui, "Do Not Disturb")),
        preference("Phone ringtone", "Flutey Phone", on_tap=_plain(ui, "Phone ringtone")),
        preference("Default notification sound", "Pixie Dust", on_tap=_plain(ui, "Default notification sound")),
        preference("Default alarm sound", "Oxygen", on_tap=_plain(ui, "Default alarm sound")),
        preference(
            "Vibrate for calls",
            checked=ui.flag("settings/vibrate_on_ring"),
            on_tap=lambda: ui.toggle("settings/vibrate_on_ring"),
        ),
    )


def battery(ui: Ui) -> View:
    """Build "Battery" (power_usage_summary.xml)."""
    level = int(ui.known("battery/level"))
    saver = ui.flag("settings/battery_saver")
    header = column(
        label(f"{level}%", id=f"{_ID}usage_summary", size=dp(36)),
        label(f"About {max(1, level // 5)} hr left", id=f"{_ID}total_summary", ink="soft"),
        View(
            "android.widget.ProgressBar", id="android:id/progress", text=f"{level}.0", height=dp(16), level=level / 100
        ),
        pad=(dp(24), dp(8), dp(24), dp(16)),
        gap=dp(4),
    )
    return page(
        ui,
        "Battery",
        header,
        preference("Battery usage", "View usage from past 24 hours", on_tap=_plain(ui, "Battery usage")),
        preference(
            "Battery Saver", "On" if saver else "Off", checked=saver, on_tap=lambda: ui.toggle("settings/battery_saver")
        ),
        preference("Adaptive preferences", "Adaptive Battery", on_tap=_plain(ui, "Adaptive preferences")),
        preference(
            "Battery percentage", "Show battery percentage in status bar", on_tap=_plain(ui, "Battery percentage")
        ),
    )


def about(ui: Ui) -> View:
    """Build "About phone" (my_device_info.xml)."""
    name = ui.words("settings/device_name")
    return page(
        ui,
        "About phone",
        category("Basic info"),
        preference("Device name", name, on_tap=opener(ui, "settings/rename", **{"text/name": name})),
        preference("Phone number", "+1 555 010 0199", on_tap=_plain(ui, "Phone number")),
        category("Legal & regulatory"),
        preference("Legal information", on_tap=_plain(ui, "Legal information")),
        preference("Regulatory labels", on_tap=_plain(ui, "Regulatory labels")),
        category("Device details"),
        preference("SIM status", "T-Mobile", on_tap=_plain(ui, "SIM status")),
        preference("Model", ui.words("about/model"), on_tap=_plain(ui, "Model")),
        preference("IMEI", "355 010 019 921 440", on_tap=_plain(ui, "IMEI")),
        preference("Android version", ui.words("about/android_version"), on_tap=_plain(ui, "Android version")),
        category("Device identifiers"),
        preference("IP address", "192.168.1.40" if ui.flag("settings/wifi_on") else "Unavailable"),
        preference(f"{ui.wifi} MAC address", "02:15:b2:00:40:1f"),
        preference("Build number", str(ui.known("about/build"))),
    )


def rename(ui: Ui) -> View:
    """Build the dialog that changes the device's name."""
    name = ui.typed("name")

    def ok() -> None:
        ui.put("settings/device_name", name.strip())
        ui.close()

    return dialog(
        edit_text(ui, Field("name", max_length=32), id="android:id/edit"),
        title="Device name",
        buttons=cancel_and_ok(ui, ok, enabled=bool(name.strip())),
    )


# ----------------------------------------------------------------------------------------------------------------------
# pages that only inform


PLAIN: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "settings/apps": ("Apps", (("Recently opened apps", "See all apps"), ("Default apps", "Phone and Messages"),
                               ("Screen time", "18 minutes today"), ("Unused apps", "0 unused apps"),
                               ("Special app access", ""))),
    "settings/notifications": ("Notifications", (("App settings", "Control notifications from individual apps"),
                               ("Notification history", "Show recent and snoozed notifications"),
                               ("Conversations", "No priority conversations"), ("Bubbles", "On"),
                               ("Device & app notifications", ""))),
    "settings/storage": ("Storage", (("Free up space", "Go to Files"), ("Apps", "9.4 GB"), ("Images", "1.2 GB"),
                               ("Videos", "640 MB"), ("System", "14 GB"))),
    "settings/wallpaper": ("Wallpaper & style", (("Change wallpaper", ""), ("Themed icons", "Off"),
                               ("App grid", "4 \u00d7 5"))),
    "settings/accessibility": ("Accessibility", (("TalkBack", "Off"), ("Display size and text", ""),
                               ("Color and motion", ""), ("Magnification", "Off"))),
    "settings/security": ("Security & privacy", (("App security", "No harmful apps found"), ("Device lock", "None"),
                               ("Privacy", "Permissions, account activity"), ("More security & privacy", ""))),
    "settings/location": ("Location", (("See all", "Recent access"), ("App location permissions", "2 of 6 apps"),
                               ("Location services", ""))),
    "settings/system": ("System", (("Languages", "English (United States)"), ("Gestures", ""), ("Date & time", "GMT"),
                               ("Backup", "Off"), ("Reset options", ""), ("Multiple users", ""))),
}  # fmt: skip
"""Pages behind rows of the home page that change nothing on this phone."""


def _plain(ui: Ui, title: str) -> Callable[[], object]:
    return opener(ui, "settings/plain", title=title)


def _note(text: str) -> View:
    return row(
        label(text, id="android:id/title", size=BODY, ink="soft", width=MATCH),
        cls=FRAME,
        pad=(dp(24), dp(16), dp(24), dp(16)),
    )


def _plain_page(screen: str) -> Callable[[Ui], View]:
    title, rows = PLAIN[screen]

    def build(ui: Ui) -> View:
        return page(ui, title, *[preference(name, summary, on_tap=_plain(ui, name)) for name, summary in rows])

    build.__doc__ = f'Build "{title}".'
    return build


def plain(ui: Ui) -> View:
    """Build a page that holds nothing to change."""
    title = str(ui.var("title"))
    return page(ui, title, _note(f"{title} is managed by your administrator on this phone."))


def app_info(ui: Ui) -> View:
    """Build the page of one app, with the button that stops it."""
    app = ui.host.apps.get(str(ui.var("package")))
    if app is None:
        return page(ui, "App info", _note("No app selected"))
    running = app.package in ui.host.recents
    stop = preference("Force stop", icon="delete", enabled=running, on_tap=lambda: ui.host.dismiss_task(app.package))
    return page(
        ui, "App info", preference(app.label, "Installed", icon="apps"), stop, preference("Notifications", "On")
    )


def _sub(build: Callable[[Ui], View]) -> Screen:
    return Screen(build, "com.android.settings.SubSettings")


def _ask(build: Callable[[Ui], View]) -> Screen:
    return Screen(build, "com.android.settings.SubSettings", dialog=True)


APP = App(
    package=PACKAGE,
    label="Settings",
    home="settings/home",
    color="#5f6368",
    icon="gear",
    home_row=True,
    paths={
        "about/android_version": TEXT,
        "about/model": TEXT,
        "battery/level": Kind(int, 1, 100),
        "settings/adaptive_brightness": YES_NO,
        "settings/airplane_mode_on": YES_NO,
        "settings/battery_saver": YES_NO,
        "settings/bluetooth_on": YES_NO,
        "settings/brightness": Kind(int, 0, 255),
        "settings/dark_theme": YES_NO,
        "settings/data_saver": YES_NO,
        "settings/device_name": TEXT,
        "settings/screen_timeout_s": Kind(int, among=TIMEOUTS),
        "settings/vibrate_on_ring": YES_NO,
        "settings/volume_alarm": Kind(int, 0, 7),
        "settings/volume_media": Kind(int, 0, 15),
        "settings/volume_ring": Kind(int, 0, 7),
        "settings/wifi_network": TEXT,
        "settings/wifi_on": YES_NO,
    },
    screens={
        "settings/home": Screen(home, "com.android.settings.homepage.SettingsHomepageActivity"),
        "settings/search": Screen(search, "com.android.settings.intelligence.search.SearchActivity"),
        "settings/network": _sub(network),
        "settings/internet": _sub(internet),
        "settings/wifi_password": _ask(wifi_password),
        "settings/wifi_details": _sub(wifi_details),
        "settings/saved": _sub(saved_networks),
        "settings/saved_network": _sub(saved_network),
        "settings/data_saver": _sub(data_saver),
        "settings/connected": _sub(connected_devices),
        "settings/bluetooth": _sub(bluetooth),
        "settings/pair": _sub(pair),
        "settings/device": _sub(device),
        "settings/display": _sub(display),
        "settings/screen_timeout": _sub(screen_timeout),
        "settings/sound": _sub(sound),
        "settings/battery": _sub(battery),
        "settings/about": _sub(about),
        "settings/rename": _ask(rename),
        "settings/app_info": Screen(app_info, "com.android.settings.applications.InstalledAppDetails"),
        "settings/plain": _sub(plain),
        **{screen: _sub(_plain_page(screen)) for screen in PLAIN},
    },
    actions={
        "com.android.settings.Settings": "settings/home",
        "com.android.settings.Settings$WifiSettingsActivity": "settings/internet",
        "com.android.settings.Settings$BluetoothSettingsActivity": "settings/bluetooth",
        "com.android.settings.Settings$DisplaySettingsActivity": "settings/display",
        "com.android.settings.Settings$NetworkDashboardActivity": "settings/network",
        "android.settings.SETTINGS": "settings/home",
        "android.settings.WIFI_SETTINGS": "settings/internet",
        "android.settings.WIRELESS_SETTINGS": "settings/network",
        "android.settings.AIRPLANE_MODE_SETTINGS": "settings/network",
        "android.settings.BLUETOOTH_SETTINGS": "settings/bluetooth",
        "android.settings.DISPLAY_SETTINGS": "settings/display",
        "android.settings.SOUND_SETTINGS": "settings/sound",
        "android.settings.DEVICE_INFO_SETTINGS": "settings/about",
        "android.intent.action.POWER_USAGE_SUMMARY": "settings/battery",
    },
)
