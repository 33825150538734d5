"""The windows that the system always shows: status bar and navigation bar. Knows no app."""

from __future__ import annotations

from collections.abc import Callable

from agent_eval.device_sim.screen import App, Host, Page, Screen, Ui
from agent_eval.device_sim.ui import WRAP, View, dp
from agent_eval.device_sim.widgets import (
    CENTER,
    FRAME,
    GROUP,
    IMAGE,
    LINEAR,
    MIDDLE,
    activity,
    column,
    frame,
    image,
    image_button,
    label,
    row,
    seek_bar,
)
from agent_eval.types import Bounds

PACKAGE = "com.android.systemui"
STATUS_HEIGHT = dp(24)
NAVIGATION_HEIGHT = dp(48)


def status_key(host: Host) -> tuple[object, ...]:
    """Return what the status bar shows; while it is equal, so is the window."""
    state = host.state
    return (
        host.local_time.strftime("%H:%M"),
        state["settings/wifi_on"],
        state["settings/airplane_mode_on"],
        state["settings/bluetooth_on"],
        state["settings/dark_theme"],
        host.world["battery/level"],
        any(value for path, value in state.items() if path.startswith("clock/alarm/") and path.endswith("/enabled")),
    )


def status_bar(host: Host) -> View:
    """Build the status bar (status_bar.xml)."""
    ui = Ui(host, Page("systemui/status"), Bounds(0, 0, 0, 0), Bounds(0, 0, 0, 0))
    now = host.local_time
    symbols = []
    if any(ui.flag(f"clock/alarm/{alarm}/enabled") for alarm in ui.ids("clock/alarm")):
        symbols.append(image("alarm", desc="Alarm set.", size=dp(16), id=f"{PACKAGE}:id/alarm"))
    if ui.flag("settings/bluetooth_on"):
        symbols.append(image("bluetooth", desc="Bluetooth on.", size=dp(16), id=f"{PACKAGE}:id/bluetooth"))
    if ui.flag("settings/airplane_mode_on"):
        symbols.append(image("airplane", desc="Airplane mode.", size=dp(16), id=f"{PACKAGE}:id/airplane"))
    if ui.flag("settings/wifi_on"):
        symbols.append(image("wifi", desc="Wi-Fi signal full.", size=dp(16), id=f"{PACKAGE}:id/wifi_signal"))
    level = int(host.world["battery/level"])
    symbols.append(image("battery", desc=f"Battery {level} percent.", size=dp(16), id=f"{PACKAGE}:id/battery"))
    time = f"{now.hour % 12 or 12}:{now.minute:02d}"
    hand = f"{time} {'PM' if now.hour >= 12 else 'AM'}"
    return frame(
        row(
            label(time, id=f"{PACKAGE}:id/clock", desc=hand, size=dp(13), align=MIDDLE, weight=1),
            row(*symbols, id=f"{PACKAGE}:id/system_icons", width=WRAP, gap=dp(4), align=MIDDLE),
            id=f"{PACKAGE}:id/status_bar_contents",
            height=STATUS_HEIGHT,
            pad=(dp(12), 0, dp(12), 0),
        ),
        id=f"{PACKAGE}:id/status_bar_launch_animation_container",
        height=STATUS_HEIGHT,
    )


def navigation_bar(
    on_back: Callable[[], object], on_home: Callable[[], object], on_recent: Callable[[], object]
) -> View:
    """Build the navigation bar with three buttons (navigation_bar.xml); the phone passes what they do."""

    def key(icon: str, desc: str, name: str, action: Callable[[], object]) -> View:
        view = image_button(
            icon, desc, action, id=f"{PACKAGE}:id/{name}", cls=IMAGE, size=dp(48), ink="text", align=CENTER
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
            id=f"{PACKAGE}:id/navigation_bar_view",
            height=NAVIGATION_HEIGHT,
        ),
        id=f"{PACKAGE}:id/navigation_bar_frame",
        height=NAVIGATION_HEIGHT,
        fill="bar",
    )


def shade(ui: Ui) -> View:
    """Build quick settings, which a swipe down from the status bar opens (qs_panel.xml)."""

    def tile(title: str, state: str, icon: str, path: str) -> View:
        checked = ui.flag(path)
        return View(
            "android.widget.Switch",
            (
                image(icon, id=f"{PACKAGE}:id/icon", align=MIDDLE, ink="on_primary" if checked else "icon"),
                column(
                    label(title, id=f"{PACKAGE}:id/tile_label", ink="on_primary" if checked else "text", bold=True),
                    label(state, ink="on_primary" if checked else "soft", size=dp(12)),
                    weight=1,
                    align=MIDDLE,
                ),
            ),
            desc=f"{title}, {state}" if state not in ("On", "Off") else title,
            arrange="row",
            gap=dp(8),
            weight=1,
            height=dp(72),
            pad=(dp(12), 0, dp(8), 0),
            clickable=True,
            focusable=True,
            checkable=True,
            checked=checked,
            on_tap=lambda: ui.toggle(path),
            fill="accent" if checked else "card",
        )

    def on_off(path: str) -> str:
        return "On" if ui.flag(path) else "Off"

    network = str(ui.words("settings/wifi_network")) or "On"
    tiles = [
        tile("Internet", network if ui.flag("settings/wifi_on") else "Off", "wifi", "settings/wifi_on"),
        tile("Bluetooth", on_off("settings/bluetooth_on"), "bluetooth", "settings/bluetooth_on"),
        tile("Airplane mode", on_off("settings/airplane_mode_on"), "airplane", "settings/airplane_mode_on"),
        tile("Battery Saver", on_off("settings/battery_saver"), "battery", "settings/battery_saver"),
        tile("Data Saver", on_off("settings/data_saver"), "data", "settings/data_saver"),
        tile("Dark theme", on_off("settings/dark_theme"), "dark", "settings/dark_theme"),
    ]
    rows = [row(*tiles[i : i + 2], gap=dp(8), height=dp(72)) for i in range(0, len(tiles), 2)]
    slider = seek_bar(
        ui.number("settings/brightness"),
        255,
        lambda value: ui.put("settings/brightness", value),
        id=f"{PACKAGE}:id/slider",
        desc="Display brightness",
    )
    return activity(
        ui,
        column(
            slider,
            column(*rows, cls=GROUP, id=f"{PACKAGE}:id/tile_page", gap=dp(8)),
            label("No notifications", id=f"{PACKAGE}:id/no_notifications", pad=(dp(12), dp(24), 0, 0), ink="soft"),
            id=f"{PACKAGE}:id/quick_settings_panel",
            pad=(dp(16), dp(16), dp(16), dp(16)),
            gap=dp(12),
            cls=FRAME,
        ),
        fill="shade",
    )


def brightness_dialog(ui: Ui) -> View:
    """Build the brightness slider that Settings opens (quick_settings_brightness_dialog.xml)."""
    slider = seek_bar(
        ui.number("settings/brightness"),
        255,
        lambda value: ui.put("settings/brightness", value),
        id=f"{PACKAGE}:id/slider",
        desc="Display brightness",
    )
    return frame(
        column(slider, id=f"{PACKAGE}:id/brightness_mirror_container", pad=(dp(16), dp(12), dp(16), dp(12)), cls=FRAME),
        fill="dialog",
        align=(0.5, 0.0),
    )


APP = App(
    package=PACKAGE,
    label="System UI",
    home="systemui/shade",
    launchable=False,
    screens={
        "systemui/shade": Screen(shade, "com.android.systemui.shade.NotificationShade"),
        "systemui/brightness": Screen(
            brightness_dialog,
            "com.android.systemui.settings.brightness.BrightnessDialog",
            dialog=True,
            package=PACKAGE,
        ),
    },
)
