"""The settings provider, and the command ``settings``: what Settings' pages show, and keys that no page shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from agent_eval.device_sim.shell.context import Command, Context
from agent_eval.errors import TaskFault
from agent_eval.types import Scalar

if TYPE_CHECKING:
    from agent_eval.device_sim.shell.system import System

NAMESPACES = ("system", "secure", "global")
_MOST_KEYS = 5000
_LONGEST = 1 << 16


class Shown(NamedTuple):
    """How a setting of the provider stands in the phone's state."""

    path: str
    read: Callable[[Scalar], str]
    write: Callable[[str], Scalar]
    """ValueError for what the phone does not take."""


def _yes(value: str) -> bool:
    return value.strip() not in ("0", "false", "")


def _flag(path: str) -> Shown:
    return Shown(path, lambda value: str(int(value)), _yes)


def _number(path: str, scale: int = 1) -> Shown:
    return Shown(path, lambda value: str(int(value) * scale), lambda text: int(text) // scale)


def _either(path: str, on: str, off: str) -> Shown:
    return Shown(path, lambda value: on if value else off, lambda text: text.strip() == on)


_SHOWN: Mapping[tuple[str, str], Shown] = MappingProxyType(
    {
        ("global", "adb_enabled"): _flag("settings/developer/usb_debugging"),
        ("global", "airplane_mode_on"): _flag("settings/airplane_mode_on"),
        ("global", "auto_time"): _flag("settings/auto_time"),
        ("global", "auto_time_zone"): _flag("settings/auto_time_zone"),
        ("global", "bluetooth_on"): _flag("settings/bluetooth_on"),
        ("global", "data_roaming"): _flag("settings/roaming_on"),
        ("global", "device_name"): Shown("settings/device_name", str, str),
        ("global", "low_power"): _flag("settings/battery_saver"),
        ("global", "mobile_data"): _flag("settings/mobile_data_on"),
        ("global", "stay_on_while_plugged_in"): Shown(
            "settings/developer/stay_awake", lambda value: "7" if value else "0", _yes
        ),
        ("global", "wifi_on"): _flag("settings/wifi_on"),
        ("global", "wifi_scan_always_enabled"): _flag("settings/wifi_scanning"),
        ("global", "zen_mode"): _flag("settings/do_not_disturb"),
        ("secure", "accessibility_display_inversion_enabled"): _flag("settings/accessibility/color_inversion"),
        ("secure", "accessibility_display_magnification_enabled"): _flag("settings/accessibility/magnification"),
        ("secure", "accessibility_enabled"): _flag("settings/accessibility/talkback"),
        ("secure", "bluetooth_name"): Shown("settings/device_name", str, str),
        ("secure", "location_mode"): _either("settings/location_on", "3", "0"),
        ("secure", "night_display_activated"): _flag("settings/night_light"),
        ("secure", "ui_night_mode"): _either("settings/dark_theme", "2", "1"),
        ("system", "accelerometer_rotation"): _flag("settings/auto_rotate"),
        ("system", "font_scale"): Shown(
            "settings/font_percent", lambda value: str(int(value) / 100), lambda text: round(float(text) * 100)
        ),
        ("system", "haptic_feedback_enabled"): _flag("settings/touch_vibration"),
        ("system", "screen_brightness"): _number("settings/brightness"),
        ("system", "screen_brightness_mode"): _flag("settings/adaptive_brightness"),
        ("system", "screen_off_timeout"): _number("settings/screen_timeout_s", 1000),
        ("system", "show_touches"): _flag("settings/developer/show_taps"),
        ("system", "sound_effects_enabled"): _flag("settings/touch_sounds"),
        ("system", "status_bar_show_battery_percent"): _flag("settings/battery_percentage"),
        ("system", "vibrate_when_ringing"): _flag("settings/vibrate_on_ring"),
        ("system", "volume_alarm"): _number("settings/volume_alarm"),
        ("system", "volume_music"): _number("settings/volume_media"),
        ("system", "volume_ring"): _number("settings/volume_ring"),
    }
)  # fmt: skip


def read(system: System, namespace: str, key: str) -> str | None:
    """Return a setting as the provider holds it, or None."""
    shown = _SHOWN.get((namespace, key))
    if shown is not None and shown.path in system.phone.state:
        return shown.read(system.phone.state[shown.path])
    if (namespace, key) == ("system", "user_rotation"):
        return str(system.phone.display.rotation)
    return system.memory.settings.get((namespace, key))


def write(system: System, namespace: str, key: str, value: str) -> None:
    """Change a setting; the provider stores anything, what listens to it ignores a value out of range."""
    memory = system.memory
    shown = _SHOWN.get((namespace, key))
    if shown is not None and shown.path in system.phone.state:
        try:
            system.phone.put(shown.path, shown.write(value))
        except (TaskFault, ValueError, OverflowError):
            return
        return
    if len(memory.settings) < _MOST_KEYS:
        memory.settings[(namespace, key[:1000])] = value[:_LONGEST]
    if (namespace, key) == ("system", "user_rotation") and value in ("0", "1", "2", "3"):
        system.phone.rotate(int(value))


def delete(system: System, namespace: str, key: str) -> bool:
    """Remove a setting; tell whether it was there."""
    return system.memory.settings.pop((namespace, key), None) is not None


def listed(system: System, namespace: str) -> dict[str, str]:
    """Return all settings of a namespace by key, sorted."""
    keys = {key for space, key in (*_SHOWN, *system.memory.settings) if space == namespace}
    values = {key: read(system, namespace, key) for key in sorted(keys)}
    return {key: value for key, value in values.items() if value is not None}


def settings_command(context: Context, arguments: list[str]) -> int:
    """Run ``settings`` or ``cmd settings`` (SettingsService)."""
    words: list[str] = []
    queue = iter(arguments)
    for word in queue:
        if word == "--user":
            next(queue, None)
        elif word not in ("--lineage",):
            words.append(word)
    verb = words[0] if words else "help"
    if verb in ("help", "-h", "--help"):
        context.line("Settings provider (settings) commands:\n  help\n      Print this help text.")
        context.lines(
            f"  {line}"
            for line in ("get NAMESPACE KEY", "put NAMESPACE KEY VALUE", "delete NAMESPACE KEY", "list NAMESPACE")
        )
        return 0
    if verb not in ("get", "put", "delete", "list", "reset"):
        context.err(f"Invalid command: {verb}")
        return 255
    if len(words) < 2:
        context.err("Bad arguments")
        return 255
    namespace, rest = words[1], words[2:]
    if namespace not in NAMESPACES:
        context.err(f"Invalid namespace '{namespace[:200]}'")
        return 255
    return _act(context, verb, namespace, rest)


def _act(context: Context, verb: str, namespace: str, rest: list[str]) -> int:
    system = context.system
    needed = {"get": 1, "put": 2, "delete": 1, "list": 0, "reset": 1}[verb]
    if len(rest) < needed:
        context.err("Bad arguments")
        return 255
    extra = [word for word in rest[needed:] if not (verb == "put" and word in ("default", "true", "false"))]
    if extra and not (verb == "put" and re.fullmatch(r"[\w.]+", extra[0]) and len(extra) == 1):
        context.err("Too many arguments")
        return 255
    match verb:
        case "list":
            context.lines(f"{key}={value}" for key, value in listed(system, namespace).items())
        case "get":
            value = read(system, namespace, rest[0])
            context.line("null" if value is None else value)
        case "put":
            write(system, namespace, rest[0], rest[1])
        case "delete":
            context.line(f"Deleted {int(delete(system, namespace, rest[0]))} rows")
    return 0


SETTINGS: Mapping[str, Command] = MappingProxyType({"settings": Command(settings_command, toybox=False)})
