"""Commands for the device itself: the display, the screen's picture, radios, and what a build without it refuses."""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from agent_eval.device_sim.apps import systemui
from agent_eval.device_sim.shell.context import Command, Context
from agent_eval.device_sim.shell.packages import Package
from agent_eval.device_sim.shell.process import WORK_PER_TURN, Forever, Steps
from agent_eval.errors import TaskFault
from agent_eval.types import Scalar

DENSITIES = (72, 2000)
SIZES = (200, 4000)
"""Smallest and largest that ``wm`` takes here."""
_MOST_KEPT, _LONGEST_KEPT = 2000, 4096
"""Entries of what ``appops`` and ``device_config`` keep, and characters of their keys and values."""


def put(context: Context, path: str, value: Scalar) -> bool:
    """Set a persisted value; tell whether the phone has it and takes it."""
    if path not in context.phone.state:
        return False
    try:
        context.phone.put(path, value)
    except TaskFault:
        return False
    return True


# ----------------------------------------------------------------------------------------------------------------------
# the display


def window_command(context: Context, arguments: list[str]) -> int:
    """Run ``wm`` or ``cmd window`` (WindowManagerShellCommand)."""
    words = [
        word for place, word in enumerate(arguments) if word != "-d" and arguments[max(place - 1, 0) : place] != ["-d"]
    ]
    verb = words[0] if words else "help"
    run = _WINDOW_VERBS.get(verb)
    if run is not None:
        return run(context, words[1:])
    if verb in ("help", "-h", "--help"):
        context.line("Window manager (window) commands:\n  help\n      Print this help text.")
        context.lines(f"  {name}" for name in sorted(_WINDOW_VERBS))
        return 0
    context.system.count_unknown(f"wm {verb}")
    context.err(f"Unknown command: {verb}")
    return 255


def _size(context: Context, words: Sequence[str]) -> int:
    phone, physical = context.phone, context.system.memory.physical
    display = phone.display
    if not words:
        context.line(f"Physical size: {physical.natural_width}x{physical.natural_height}")
        if (display.natural_width, display.natural_height) != (physical.natural_width, physical.natural_height):
            context.line(f"Override size: {display.natural_width}x{display.natural_height}")
        return 0
    width, height = physical.natural_width, physical.natural_height
    if words[0] != "reset":
        match = re.fullmatch("([0-9]{1,5})(dp)?x([0-9]{1,5})(dp)?", words[0])
        if match is None:
            context.err(f"Error: bad size {words[0][:40]}")
            return 255
        scale = display.density / 160 if match[2] else 1
        width, height = round(int(match[1]) * scale), round(int(match[3]) * scale)
        if not all(SIZES[0] <= side <= SIZES[1] for side in (width, height)):
            context.err(f"Error: bad size {words[0]}")
            return 255
    phone.show_on(replace(display, natural_width=width, natural_height=height))
    return 0


def _density(context: Context, words: Sequence[str]) -> int:
    phone, physical = context.phone, context.system.memory.physical
    if not words:
        context.line(f"Physical density: {physical.density}")
        if phone.display.density != physical.density:
            context.line(f"Override density: {phone.display.density}")
        return 0
    density = physical.density
    if words[0] != "reset":
        if not re.fullmatch("[0-9]{1,5}", words[0]):
            context.err(f"Error: bad number {words[0][:40]}")
            return 255
        density = int(words[0])
        if not DENSITIES[0] <= density <= DENSITIES[1]:
            context.err("Error: density must be >= 72")
            return 255
    if not put(context, "settings/density", density):
        phone.show_on(replace(phone.display, density=density))
    if phone.display.density != density:
        phone.show_on(replace(phone.display, density=density))
    return 0


def _user_rotation(context: Context, words: Sequence[str]) -> int:
    mode = words[0] if words else ""
    if not mode:
        free = context.phone.state.get("settings/auto_rotate", False)
        context.line("free" if free else f"lock {context.phone.display.rotation}")
        return 0
    if mode not in ("free", "lock", "-d"):
        context.err(f"Error: argument needs to be either -d, free or lock, but we get {mode}")
        return 255
    put(context, "settings/auto_rotate", mode == "free")
    turn = words[1] if len(words) > 1 else str(context.phone.display.rotation)
    if mode == "lock":
        if turn not in ("0", "1", "2", "3"):
            context.err(f"Error: rotation is out of range: {turn}")
            return 255
        context.phone.rotate(int(turn))
    return 0


def _dismiss_keyguard(_: Context, __: Sequence[str]) -> int:
    return 0


def _scaling(context: Context, words: Sequence[str]) -> int:
    if words:
        return 0
    context.line("auto")
    return 0


_WINDOW_VERBS: Mapping[str, Callable[[Context, Sequence[str]], int]] = MappingProxyType(
    {
        "density": _density,
        "dismiss-keyguard": _dismiss_keyguard,
        "fixed-to-user-rotation": _dismiss_keyguard,
        "folded-area": _dismiss_keyguard,
        "scaling": _scaling,
        "set-fix-to-user-rotation": _dismiss_keyguard,
        "set-ignore-orientation-request": _dismiss_keyguard,
        "size": _size,
        "user-rotation": _user_rotation,
    }
)


def _screencap(context: Context, arguments: list[str]) -> int:
    words = list(arguments)
    if "-h" in words or "--help" in words:
        context.err("usage: screencap [-ahp] [-d display-id] [FILENAME]")
        return 1
    paths: list[str] = []
    png = False
    queue = iter(words)
    for word in queue:
        if word in ("-d", "--hint-for-seamless", "-a"):
            if word == "-d":
                next(queue, None)
        elif word == "-p":
            png = True
        elif word.startswith("-"):
            context.err(f"screencap: unrecognized option: {word}\nusage: screencap [-ahp] [-d display-id] [FILENAME]")
            return 1
        else:
            paths.append(word)
    png = png or (bool(paths) and paths[0].endswith(".png"))
    picture = context.phone.screenshot()
    if png:
        stream = io.BytesIO()
        picture.save(stream, "PNG", compress_level=1)
        data = stream.getvalue()
    else:
        data = struct.pack("<4I", picture.width, picture.height, 1, 1) + picture.convert("RGBA").tobytes()
    if paths:
        context.files.write(context.path(paths[0]), data)
    else:
        context.out(data)
    return 0


def _screenrecord(context: Context, arguments: list[str]) -> int:
    if not arguments or "--help" in arguments or "--version" in arguments:
        context.err("Usage: screenrecord [options] <filename>")
        return 0 if arguments else 1
    context.err("ERROR: unable to create video/avc codec instance\nUnable to get output buffers (err=-19)")
    return 1


# ----------------------------------------------------------------------------------------------------------------------
# switches


def _svc(context: Context, arguments: list[str]) -> int:
    name = arguments[0] if arguments else "help"
    verb = arguments[1] if len(arguments) > 1 else ""
    if name == "power":
        return _svc_power(context, verb, arguments[2:])
    if name == "nfc":
        return 0  # this phone has none, and the tool does not say so
    if name == "usb":
        if verb == "getFunctions":
            context.line("[]")
        return 0
    path = {"wifi": "settings/wifi_on", "bluetooth": "settings/bluetooth_on", "data": "settings/mobile_data_on"}.get(
        name
    )
    if path is None:
        context.err(
            "Available commands:\n    help     Show information about the subcommands\n"
            "    power    Control the power manager\n    data     Control mobile data connectivity\n"
            "    wifi     Control the Wi-Fi manager\n    usb      Control Usb state\n"
            "    nfc      Control NFC functions\n"
            "    bluetooth Control Bluetooth service"
        )
        return 0 if name == "help" else 255
    if verb not in ("enable", "disable", "prefer"):
        context.err(f"Control the {name} manager\n\nusage: svc {name} [enable|disable]")
        return 255
    if verb != "prefer":
        put(context, path, verb == "enable")
    return 0


def _svc_power(context: Context, verb: str, rest: Sequence[str]) -> int:
    match verb:
        case "reboot":
            context.system.restart()
        case "shutdown":
            context.phone.world["screen/on"] = False
        case "stayon":
            put(context, "settings/developer/stay_awake", bool(rest) and rest[0] != "false")
        case "forcesuspend":
            context.phone.key("sleep")
        case _:
            context.err(
                "Control the power manager\n\nusage: svc power stayon [true|false|usb|ac|wireless]\n"
                "       svc power reboot"
            )
            return 255
    return 0


def _reboot(context: Context, _: list[str]) -> int:
    context.system.restart()
    return 0


def statusbar(context: Context, words: Sequence[str]) -> int:
    """Run ``cmd statusbar``."""
    verb = words[0] if words else "help"
    phone = context.phone
    match verb:
        case "expand-notifications":
            phone.open_shade()
        case "expand-settings":
            phone.open_shade(settings=True)
        case "collapse":
            if phone.stacks.in_focus.screen in (systemui.SHADE, systemui.QUICK_SETTINGS):
                phone.close_page()
        case "get-status-icons":
            context.lines(("wifi", "mobile", "battery", "clock"))
        case "check-support":
            context.line("true")
        case "help" | "-h" | "--help":
            context.line(
                "Status bar commands:\n  help\n  expand-notifications\n"
                "  expand-settings\n  collapse\n  get-status-icons"
            )
        case "add-tile" | "remove-tile" | "click-tile" | "disable-for-setup" | "send-disable-flag" | "tracing":
            return 0
        case _:
            context.err(f"Unknown command: {verb}")
            return 255
    return 0


def _service(context: Context, arguments: list[str]) -> int:
    from agent_eval.device_sim.shell.dumpsys import SERVICES

    verb = arguments[0] if arguments else ""
    name = arguments[1] if len(arguments) > 1 else ""
    match verb:
        case "list":
            context.line(f"Found {len(SERVICES)} services:")
            context.lines(f"{place}\t{known}: []" for place, known in enumerate(sorted(SERVICES)))
        case "check":
            context.line(f"Service {name}: {'found' if name in SERVICES else 'not found'}")
        case "call":
            if name not in SERVICES:
                context.line(f"service: Service {name} does not exist")
                return 10
            if name == "statusbar" and arguments[2:3] in (["1"], ["2"]):
                statusbar(context, ["expand-notifications" if arguments[2] == "1" else "collapse"])
            context.line("Result: Parcel(00000000    '....')")
        case _:
            context.line(
                "Usage: service [-h|-?]\n       service list\n       service check SERVICE\n"
                "       service call SERVICE CODE [i32 N | s16 STR ...] ..."
            )
            return 0 if verb in ("-h", "-?") else 10
    return 0


def app_operations(context: Context, arguments: list[str]) -> int:
    """Run ``appops`` or ``cmd appops``."""
    words = [
        word
        for place, word in enumerate(arguments)
        if word not in ("--uid", "--user") and arguments[place - 1 : place] != ["--user"]
    ]
    verb = words[0] if words else "help"
    kept = context.system.memory.app_operations
    if verb in ("get", "set", "query-op", "reset") and len(words) > 1:
        if verb == "query-op":
            context.lines(sorted(package for (package, operation), mode in kept.items() if operation == words[1]))
            return 0
        if verb == "reset":
            kept.clear()
            return 0
        package: Package | None = context.system.packages.get(words[1])
        if package is None:
            context.err(f"Error: No UID for {words[1]} in user 0")
            return 255
        if verb == "set":
            if len(words) < 4 or words[3] not in ("allow", "ignore", "deny", "default", "foreground"):
                context.err("Error: Invalid mode" if len(words) > 3 else "Error: Mode not specified.")
                return 255
            if len(kept) < _MOST_KEPT:
                kept[(words[1], words[2][:_LONGEST_KEPT])] = words[3]
            return 0
        shown = [f"{operation}: {mode}" for (name, operation), mode in sorted(kept.items()) if name == words[1]]
        if len(words) > 2:
            shown = [line for line in shown if line.startswith(words[2] + ":")]
        context.lines(shown or ["No operations."])
        return 0
    context.line("AppOps service (appops) commands:\n  get\n  set\n  query-op\n  reset")
    return 0 if verb in ("help", "-h") else 255


def _appops(context: Context, arguments: list[str]) -> int:
    return app_operations(context, arguments)


def device_config(context: Context, arguments: list[str]) -> int:
    """Run ``device_config``."""
    kept = context.system.memory.device_config
    verb = arguments[0] if arguments else "help"
    rest = arguments[1:]
    if verb == "get" and len(rest) == 2:
        context.line(kept.get((rest[0], rest[1]), "null"))
    elif verb == "put" and len(rest) >= 3:
        if len(kept) < _MOST_KEPT:
            kept[(rest[0][:_LONGEST_KEPT], rest[1][:_LONGEST_KEPT])] = rest[2][:_LONGEST_KEPT]
    elif verb == "delete" and len(rest) == 2:
        gone = kept.pop((rest[0], rest[1]), None) is not None
        context.line(f"{'Successfully deleted' if gone else 'Failed to delete'} {rest[1]} from {rest[0]}")
    elif verb == "list":
        wanted = rest[0] if rest else ""
        context.lines(
            f"{key}={value}" if wanted else f"{space}/{key}={value}"
            for (space, key), value in sorted(kept.items())
            if wanted in ("", space)
        )
    elif verb == "reset":
        kept.clear()
    elif verb in ("set_sync_disabled_for_tests", "get_sync_disabled_for_tests", "is_sync_disabled_for_tests"):
        if verb != "set_sync_disabled_for_tests":
            context.line("none")
    else:
        context.line("Device Config (device_config) commands:\n  get\n  put\n  delete\n  list\n  reset")
        return 0 if verb in ("help", "-h") else 255
    return 0


def _bmgr(context: Context, arguments: list[str]) -> int:
    on = bool(context.phone.state.get("settings/backup_on", False))
    verb = arguments[0] if arguments else "help"
    match verb:
        case "enabled":
            context.line(f"Backup Manager currently {'enabled' if on else 'disabled'}")
        case "enable":
            wanted = (arguments[1] if len(arguments) > 1 else "true") == "true"
            put(context, "settings/backup_on", wanted)
            context.line(f"Backup Manager now {'enabled' if wanted else 'disabled'}")
        case "list":
            context.line("No transports available.")
        case "run" | "backupnow" | "backup":
            context.line(
                "Backup is not allowed"
                if not on
                else "Running incremental backup for 0 requested packages.\nBackup finished with result: Success"
            )
        case _:
            context.err("usage: bmgr [--user <userId>] [backup|restore|list|transport|run]")
            return 0 if verb == "help" else 1
    return 0


def _refused(context: Context, arguments: list[str]) -> int:
    """Be ``run-as``: no app of this phone is debuggable, unless a client installed it."""
    package = next((word for word in arguments if not word.startswith("-")), "")
    if not package:
        context.err("run-as: usage: run-as <package-name> [--user <uid>] <command> [<args>]")
        return 1
    if not context.system.packages.has(package):
        context.err(f"run-as: unknown package: {package}")
        return 1
    if context.system.packages.debuggable(package):
        context.err(f"run-as: couldn't stat /data/user/0/{package}: Permission denied")
        return 1
    context.err(f"run-as: package not debuggable: {package}")
    return 1


def _media(context: Context, arguments: list[str]) -> int:
    if arguments[:1] == ["volume"]:
        from agent_eval.device_sim.shell.cmd import volume

        return volume(context, arguments[1:])
    if arguments[:1] == ["dispatch"]:
        return 0
    context.err("usage: media [subcommand] [options]")
    return 1


def _getevent(context: Context, arguments: list[str]) -> int | Steps:
    context.line('add device 1: /dev/input/event2\n  name:     "touch_dev"')
    if "-p" in arguments or "-i" in arguments or "-S" in arguments:
        display = context.phone.display
        context.line(
            f"  events:\n    ABS (0003): 0035  : value 0, min 0, max {display.natural_width - 1}, "
            "fuzz 0, flat 0, resolution 0"
        )
        context.line(
            f"                0036  : value 0, min 0, max {display.natural_height - 1}, fuzz 0, flat 0, resolution 0"
        )
        return 0
    return _wait_for_events()


def _wait_for_events() -> Steps:
    yield Forever()
    return 0


def _sendevent(context: Context, arguments: list[str]) -> int:
    if len(arguments) < 4:
        context.err("use: sendevent DEVICE TYPE CODE VALUE")
        return 1
    return context.complain(f"{arguments[0]}: Permission denied")


DEVICE_COMMANDS: Mapping[str, Command] = MappingProxyType(
    {
        "appops": Command(_appops, toybox=False),
        "bmgr": Command(_bmgr, toybox=False),
        "device_config": Command(device_config, toybox=False),
        "getevent": Command(_getevent, toybox=False),
        "media": Command(_media, toybox=False),
        "reboot": Command(_reboot, toybox=False),
        "run-as": Command(_refused, toybox=False),
        "screencap": Command(_screencap, toybox=False, work=WORK_PER_TURN),
        "screenrecord": Command(_screenrecord, toybox=False),
        "sendevent": Command(_sendevent, toybox=False),
        "service": Command(_service, toybox=False),
        "svc": Command(_svc, toybox=False),
        "wm": Command(window_command, toybox=False),
    }
)
