"""How an expert finds its way through Settings: which page holds what, and which row leads there. Knows no goal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agent_eval.actions import Swipe
from agent_eval.tasks.families import launcher_expert
from agent_eval.tasks.families.launcher_expert import SYSTEM_UI
from agent_eval.tasks.moves import Move, go_back, open_app, plain, scroll_for, shown, tap, type_into, wait, wish
from agent_eval.tasks.view import View
from agent_eval.types import Element, Scalar

SETTINGS = "com.android.settings"
HOME = "settings/home"
INTERNET = "settings/internet"
PASSWORD = "settings/wifi_password"  # noqa: S105  the name of a page
TIMEOUTS = "settings/screen_timeout"
RENAME = "settings/rename"
BRIGHTNESS_DIALOG = "systemui/brightness"

_LEADS_TO: dict[str, tuple[str, str]] = {
    "settings/network": (HOME, "Network & internet"),
    INTERNET: ("settings/network", "Internet"),
    "settings/data_saver": ("settings/network", "Data Saver"),
    "settings/connected": (HOME, "Connected devices"),
    "settings/bluetooth": ("settings/connected", "Bluetooth"),
    "settings/connection_preferences": ("settings/connected", "Connection preferences"),
    "settings/battery": (HOME, "Battery"),
    "settings/sound": (HOME, "Sound & vibration"),
    "settings/notifications": (HOME, "Notifications"),
    "settings/dnd": ("settings/notifications", "Do Not Disturb"),
    "settings/display": (HOME, "Display"),
    TIMEOUTS: ("settings/display", "Screen timeout"),
    "settings/location": (HOME, "Location"),
    "settings/about": (HOME, "About phone"),
    RENAME: ("settings/about", "Device name"),
}
"""Page to the page and row that open it."""

_ORDER: dict[str, tuple[str, ...]] = {
    HOME: (
        "Network & internet",
        "Connected devices",
        "Apps",
        "Notifications",
        "Battery",
        "Storage",
        "Sound & vibration",
        "Display",
        "Wallpaper & style",
        "Accessibility",
        "Security & privacy",
        "Location",
        "System",
        "About phone",
    ),
    "settings/network": (
        "Internet",
        "Calls & SMS",
        "SIMs",
        "Airplane mode",
        "Hotspot & tethering",
        "Data Saver",
        "VPN",
        "Private DNS",
        "Adaptive connectivity",
    ),
    "settings/display": (
        "Brightness level",
        "Adaptive brightness",
        "Lock screen",
        "Screen timeout",
        "Dark theme",
        "Font size",
        "Display size",
        "Auto-rotate screen",
        "Screen saver",
    ),
    "settings/notifications": (
        "App settings",
        "Notification history",
        "Conversations",
        "Bubbles",
        "Device & app notifications",
        "Notifications on lock screen",
        "Do Not Disturb",
        "Notification dot on app icon",
    ),
    "settings/sound": (
        "Media volume",
        "Ring & notification volume",
        "Alarm volume",
        "Do Not Disturb",
        "Phone ringtone",
        "Default notification sound",
        "Default alarm sound",
        "Vibrate for calls",
        "Vibration & haptics",
    ),
    "settings/about": (
        "Device name",
        "Phone number",
        "Legal information",
        "Regulatory labels",
        "SIM status",
        "Model",
        "IMEI",
        "Android version",
        "IP address",
        "Build number",
    ),
    INTERNET: ("Wi-Fi", "Add network", "Network preferences", "Saved networks", "Non-carrier data usage"),
    "settings/bluetooth": ("Use Bluetooth", "Device name", "Pair new device"),
}
"""Rows of the pages that scroll, from the top (AOSP top_level_settings.xml and its like)."""

_REORDERED = frozenset({HOME, "settings/network", "settings/display"})
"""Pages whose rows a vendor may put in an order of its own."""


@dataclass(frozen=True)
class Spot:
    """One row of one page."""

    page: str
    label: str


@dataclass(frozen=True)
class Toggle:
    """A switch of the phone: the state behind it, and where it can be flipped."""

    path: str
    spot: Spot | None
    """Its row in Settings."""
    tile: str = ""
    """What quick settings call it."""


WIFI = Toggle("settings/wifi_on", Spot(INTERNET, "Wi-Fi"), "Internet")
BLUETOOTH = Toggle("settings/bluetooth_on", Spot("settings/bluetooth", "Use Bluetooth"), "Bluetooth")
AIRPLANE = Toggle("settings/airplane_mode_on", Spot("settings/network", "Airplane mode"), "Airplane mode")
DO_NOT_DISTURB = Toggle("settings/do_not_disturb", Spot("settings/dnd", "Use Do Not Disturb"), "Do Not Disturb")
DARK_THEME = Toggle("settings/dark_theme", Spot("settings/display", "Dark theme"), "Dark theme")
TORCH = Toggle("settings/torch_on", None, "Flashlight")

TOGGLES = (
    AIRPLANE,
    WIFI,
    BLUETOOTH,
    DARK_THEME,
    DO_NOT_DISTURB,
    TORCH,
    Toggle("settings/adaptive_brightness", Spot("settings/display", "Adaptive brightness")),
    Toggle("settings/battery_saver", Spot("settings/battery", "Battery Saver"), "Battery Saver"),
    Toggle("settings/vibrate_on_ring", Spot("settings/sound", "Vibrate for calls")),
    Toggle("settings/data_saver", Spot("settings/data_saver", "Use Data Saver"), "Data Saver"),
    Toggle("settings/location_on", Spot("settings/location", "Use location"), "Location"),
    Toggle("settings/auto_rotate", None, "Auto-rotate"),
    Toggle("settings/hotspot_on", None, "Hotspot"),
    Toggle("settings/mobile_data_on", None, "Mobile data"),
    Toggle("settings/night_light", None, "Night Light"),
    Toggle("settings/microphone_access", None, "Mic access"),
    Toggle("settings/camera_access", None, "Camera access"),
    Toggle("settings/accessibility/color_inversion", None, "Color inversion"),
)
"""Switches that can be put back, in the order in which damage to them is undone: airplane mode drags radios along."""

NETWORK = "settings/wifi_network"
TIMEOUT = "settings/screen_timeout_s"
DEVICE_NAME = "settings/device_name"


# ----------------------------------------------------------------------------------------------------------------------
# the way


def locate(view: View, spot: Spot) -> Element | Move:
    """Return the row if it is on the screen, else the move that leads towards it."""
    move = to_page(view, spot.page)
    return move if move is not None else row(view, spot.page, spot.label)


def to_page(view: View, page: str) -> Move | None:
    """Return the next move to a page of Settings; None once it is in front."""
    if view.screen == page:
        return None
    if view.package != SETTINGS:
        return go_back() if view.package == SYSTEM_UI else open_app("Settings")
    label = ""
    while page != view.screen:
        if page not in _LEADS_TO:
            return go_back()
        page, label = _LEADS_TO[page]
    found = row(view, page, label)
    return found if isinstance(found, Move) else tap(found)


def row(view: View, page: str, label: str) -> Element | Move:
    """Return a row of the page in front, or the move that brings it onto the screen."""
    found = view.find(label, "row", "switch", "radio") or _switch_beside(view, label)
    if found is not None:
        return found
    known = () if page in _REORDERED and view.now.get("skin/row_order") else _ORDER.get(page, ())
    seen = list(_places(view, known))
    if label in known and seen:
        return scroll_for(view.say(label), further_down=min(seen) < known.index(label))
    return view.scroll(view.say(label))


def _switch_beside(view: View, label: str) -> Element | None:
    """Return the switch in whose line a text stands, where the two are not one row."""
    for text in view.labelled(label, "text"):
        for element in view.observation.elements:
            if element.role == "switch" and element.bounds.top < text.bounds.center[1] < element.bounds.bottom:
                return element
    return None


def _places(view: View, order: tuple[str, ...]) -> Iterator[int]:
    """Yield where in the order of a page the rows on the screen stand."""
    names = {view.say(name): place for place, name in enumerate(order)}
    for element in view.observation.elements:
        place = names.get(plain(element.label))
        if place is not None:
            yield place


# ----------------------------------------------------------------------------------------------------------------------
# what stands there


def set_toggle(view: View, toggle: Toggle, wanted: Scalar, *, by_tile: bool = False) -> Element | Move:
    """Return the switch once it is as wanted and on the screen, else the next move towards that.

    Args:
        view: What is looked at.
        toggle: The switch.
        wanted: What it shall be.
        by_tile: Go to its tile rather than to its row in Settings.
    """
    tile = launcher_expert.find_tile(view, toggle.tile) if toggle.tile else None
    if tile is not None:
        found: Element | Move = tile
    elif by_tile or toggle.spot is None:
        found = launcher_expert.tile(view, toggle.tile)
    else:
        found = locate(view, toggle.spot)
    if isinstance(found, Move):
        return found
    if view.now.get(toggle.path) != wanted:
        return tap(found, wanted)
    if ("off" if wanted else "on") in found.states:
        return wait(f"{wish(wanted)}{plain(found.label)} soon")
    return found


def choose_timeout(view: View, seconds: int) -> Element | Move:
    """Return the choice of a screen timeout once it is made, else the next move towards that."""
    found = locate(view, Spot(TIMEOUTS, timeout_label(view, seconds)))
    if isinstance(found, Move) or view.now.get(TIMEOUT) == seconds:
        return found
    return tap(found)


def timeout_label(view: View, seconds: int) -> str:
    """Return what Settings calls a screen timeout."""
    if seconds == 60:
        return view.say("1 minute")
    if seconds < 60:
        return view.say("{count} seconds", count=seconds)
    return view.say("{count} minutes", count=seconds // 60)


def join(view: View, ssid: str, password: str) -> Element | Move:
    """Return the network's row once the phone is in it, else the next move towards that."""
    joined = view.now.get(NETWORK) == ssid
    if not joined and view.now.get(WIFI.path) is not True:
        return set_toggle(view, WIFI, True)
    if view.screen == PASSWORD and not joined and view.variable("ssid") == ssid:
        entry = next((element for element in view.observation.elements if element.role == "field"), None)
        if entry is not None and view.variable("text/password") != password:
            return type_into(entry, password)
        return view.tap_on("Connect", "button")
    move = to_page(view, INTERNET)
    if move is not None:
        return move
    # to the letter: the name of another network may differ in the case of one
    rows = (element for element in view.observation.elements if element.role == "row")
    found = next((one for one in rows if plain(one.label) == ssid), None)
    if found is None:
        return scroll_for(ssid, further_down=False) if joined else view.scroll(ssid)  # what is joined heads the list
    return found if joined else tap(found)


def rename(view: View, name: str) -> Element | Move:
    """Return the row with the phone's name once it is as wanted, else the next move towards that."""
    if view.now.get(DEVICE_NAME) == name:
        return locate(view, Spot("settings/about", "Device name"))
    move = to_page(view, RENAME)
    if move is not None:
        return move
    entry = next((element for element in view.observation.elements if element.role == "field"), None)
    if entry is not None and entry.value != name:
        return type_into(entry, name)
    return view.tap_on("OK", "button")


def slider(view: View) -> Element | None:
    """Return the first slider on the screen."""
    return next((element for element in view.observation.elements if element.role == "slider"), None)


def slide(element: Element, *, to_the_right: bool) -> Move:
    """Drag a slider to one of its ends."""
    return Move(Swipe(direction="right" if to_the_right else "left", index=element.index), shown(element))


# ----------------------------------------------------------------------------------------------------------------------
# damage


def undo(view: View) -> Move | None:
    """Return the next move that puts something back which the task has no business with; None if there is none."""
    changed = {change.path: change.before for change in view.damage if change.before is not None}
    for toggle in TOGGLES:
        if toggle.path in changed:
            found = set_toggle(view, toggle, changed[toggle.path])
            return found if isinstance(found, Move) else None
    return _undo_choice(view, changed)


def _undo_choice(view: View, changed: dict[str, Scalar]) -> Move | None:
    """Return the next move that puts back what is no switch."""
    found: Element | Move | None = None
    if TIMEOUT in changed:
        found = choose_timeout(view, int(changed[TIMEOUT]))
    elif DEVICE_NAME in changed:
        found = rename(view, str(changed[DEVICE_NAME]))
    elif changed.get(NETWORK) in _saved(view) and view.now.get(WIFI.path) is True:
        found = join(view, str(changed[NETWORK]), "")
    return found if isinstance(found, Move) else None


def _saved(view: View) -> list[str]:
    """Return the networks that the phone joins without asking for a password."""
    return str(view.now.get("wifi/saved", "")).split("|")
