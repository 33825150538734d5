"""How an expert finds its way through Settings: which page holds what, and which row leads there. Knows no goal."""

from __future__ import annotations

from dataclasses import dataclass

from agent_eval.actions import Swipe
from agent_eval.tasks.moves import Move, go_back, open_app, plain, scroll_for, shown, tap
from agent_eval.tasks.view import View
from agent_eval.types import Element, Scalar

SETTINGS = "com.android.settings"
SYSTEM_UI = "com.android.systemui"
HOME = "settings/home"

_LEADS_TO: dict[str, tuple[str, str]] = {
    "settings/network": (HOME, "Network & internet"),
    "settings/internet": ("settings/network", "Internet"),
    "settings/data_saver": ("settings/network", "Data Saver"),
    "settings/connected": (HOME, "Connected devices"),
    "settings/bluetooth": ("settings/connected", "Bluetooth"),
    "settings/battery": (HOME, "Battery"),
    "settings/sound": (HOME, "Sound & vibration"),
    "settings/display": (HOME, "Display"),
    "settings/about": (HOME, "About phone"),
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
    "settings/internet": ("Wi-Fi", "Add network", "Network preferences", "Saved networks", "Non-carrier data usage"),
    "settings/bluetooth": ("Use Bluetooth", "Device name", "Pair new device"),
}
"""Rows of the pages that scroll, from the top (AOSP top_level_settings.xml and its like)."""


@dataclass(frozen=True)
class Spot:
    """One row of one page."""

    page: str
    label: str


@dataclass(frozen=True)
class Toggle:
    """A switch of Settings and the state behind it."""

    path: str
    spot: Spot


WIFI = Toggle("settings/wifi_on", Spot("settings/internet", "Wi-Fi"))
BLUETOOTH = Toggle("settings/bluetooth_on", Spot("settings/bluetooth", "Use Bluetooth"))
AIRPLANE = Toggle("settings/airplane_mode_on", Spot("settings/network", "Airplane mode"))
DARK_THEME = Toggle("settings/dark_theme", Spot("settings/display", "Dark theme"))
ADAPTIVE_BRIGHTNESS = Toggle("settings/adaptive_brightness", Spot("settings/display", "Adaptive brightness"))
BATTERY_SAVER = Toggle("settings/battery_saver", Spot("settings/battery", "Battery Saver"))
VIBRATE = Toggle("settings/vibrate_on_ring", Spot("settings/sound", "Vibrate for calls"))
DATA_SAVER = Toggle("settings/data_saver", Spot("settings/data_saver", "Use Data Saver"))

TOGGLES = (AIRPLANE, WIFI, BLUETOOTH, DARK_THEME, ADAPTIVE_BRIGHTNESS, BATTERY_SAVER, VIBRATE, DATA_SAVER)
"""All switches, in the order in which damage to them is undone: airplane mode drags the radios along."""

BRIGHTNESS = Spot("settings/display", "Brightness level")


def locate(view: View, spot: Spot) -> Element | Move:
    """Return the row if it is on the screen, else the move that leads towards it."""
    if view.package == SYSTEM_UI:
        return go_back()
    if view.package != SETTINGS:
        return open_app("Settings")
    page, label = spot.page, spot.label
    while page != view.screen:
        if page not in _LEADS_TO:
            return go_back()
        page, label = _LEADS_TO[page]
    row = view.find(label, "row", "switch")
    if row is None:
        return scroll_for(label, further_down=not _is_above(view, page, label))
    return row if label == spot.label and page == spot.page else tap(row)


def set_toggle(view: View, toggle: Toggle, wanted: Scalar) -> Element | Move:
    """Return the switch once it is as wanted and on the screen, else the next move towards that."""
    found = locate(view, toggle.spot)
    if isinstance(found, Move) or view.now.get(toggle.path) == wanted:
        return found
    return tap(found, wanted)


def undo(view: View) -> Move | None:
    """Return the next move that puts a switch back which the task has no business with; None if there is none."""
    for toggle in TOGGLES:
        for change in view.damage:
            if change.path == toggle.path and change.before is not None:
                found = set_toggle(view, toggle, change.before)
                return found if isinstance(found, Move) else None
    return None


def slider(view: View) -> Element | None:
    """Return the first slider on the screen."""
    return next((element for element in view.observation.elements if element.role == "slider"), None)


def slide(element: Element, *, to_the_right: bool) -> Move:
    """Drag a slider to one of its ends."""
    return Move(Swipe(direction="right" if to_the_right else "left", index=element.index), shown(element))


def _is_above(view: View, page: str, label: str) -> bool:
    """Tell whether the rows on the screen all stand below a row, as far as the order of the page is known."""
    order = _ORDER.get(page, ())
    seen = [order.index(name) for name in (plain(e.label) for e in view.observation.elements) if name in order]
    return label in order and bool(seen) and min(seen) > order.index(label)
