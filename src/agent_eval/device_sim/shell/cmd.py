"""``cmd``: the shell commands of the system's services, one function a service."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from agent_eval.device_sim.shell import settings
from agent_eval.device_sim.shell.am import ACTIVITY_MANAGER
from agent_eval.device_sim.shell.context import Command, Context
from agent_eval.device_sim.shell.device import app_operations, device_config, put, statusbar, window_command
from agent_eval.device_sim.shell.dumpsys import SERVICES, STREAMS, battery_command, wifi_info
from agent_eval.device_sim.shell.ime import ime_command
from agent_eval.device_sim.shell.input import input_command
from agent_eval.device_sim.shell.pm import package_command
from agent_eval.device_sim.shell.process import Steps
from agent_eval.device_sim.shell.process_tools import connected

Run = Callable[[Context, list[str]], "int | Steps"]
MOST_NOTIFICATIONS = 50
"""Of one package; more are dropped (NotificationManagerService.MAX_PACKAGE_NOTIFICATIONS)."""


def _networks(context: Context) -> list[str]:
    return [name for name in str(context.phone.world["wifi/nearby"]).split("|") if name]


def _saved(context: Context) -> list[str]:
    return [name for name in str(context.phone.world["wifi/saved"]).split("|") if name]


def _wifi(context: Context, words: list[str]) -> int:
    verb = words[0] if words else "help"
    run = _WIFI.get(verb)
    if run is not None:
        return run(context, words[1:])
    if verb in ("help", "-h", "--help"):
        context.line("Wi-Fi (wifi) commands:\n  help or -h\n    Print this help text.")
        context.lines(f"  {name}" for name in sorted(_WIFI))
        return 0
    context.err(f"Unknown command: {verb}")
    return 255


def _wifi_status(context: Context, _: list[str]) -> int:
    state = context.phone.state
    on = bool(state["settings/wifi_on"])
    context.line(f"Wifi is {'enabled' if on else 'disabled'}")
    always = state.get("settings/wifi_scanning", True)
    context.line(f"Wifi scanning is {'always available' if always else 'only available when wifi is enabled'}")
    if on:
        context.line("==== Primary ClientModeManager instance ====")
        if connected(context):
            context.line(f'Wifi is connected to "{state["settings/wifi_network"]}"')
            context.line(f"WifiInfo: {wifi_info(context)}")
            context.line("successfulTxPackets: 120\nsuccessfulTxPacketsPerSecond: 1.5\nretriedTxPackets: 0")
        else:
            context.line("Wifi is not connected")
    return 0


def _wifi_switch(context: Context, words: list[str]) -> int:
    if words[:1] not in (["enabled"], ["disabled"]):
        context.err(
            f"Invalid args to set-wifi-enabled: expected 'enabled' or 'disabled' but got {words[0] if words else ''}"
        )
        return 255
    put(context, "settings/wifi_on", words[0] == "enabled")
    return 0


def _wifi_list(context: Context, _: list[str]) -> int:
    saved = _saved(context)
    if not saved:
        context.line("No networks")
        return 0
    context.line("Network Id      SSID                         Security type")
    is_open = str(context.phone.world["wifi/open"]).split("|")
    context.lines(
        f"{place:<15} {name:<33} {'open' if name in is_open else 'wpa2-psk'}" for place, name in enumerate(saved)
    )
    return 0


def _wifi_results(context: Context, _: list[str]) -> int:
    if not context.phone.state["settings/wifi_on"]:
        context.line("No scan results")
        return 0
    context.line(
        "    BSSID              Frequency      RSSI           Age(sec)     SSID                                 Flags"
    )
    is_open = str(context.phone.world["wifi/open"]).split("|")
    for place, name in enumerate(_networks(context)):
        flags = "[ESS]" if name in is_open else "[WPA2-PSK-CCMP-128][RSN-PSK-CCMP-128][ESS]"
        context.line(
            f"  00:13:10:85:fe:{place + 1:02x}       {5180 if place % 2 else 2437}    {-50 - 4 * place:>3} "
            f"          3.120    {name:<32}  {flags}"
        )
    return 0


def _wifi_connect(context: Context, words: list[str]) -> int:
    if len(words) < 2:
        context.err("Invalid args: connect-network <ssid> open|owe|wpa2|wpa3|wep [<passphrase>]")
        return 255
    name, kind = words[0], words[1]
    if kind not in ("open", "owe", "wpa2", "wpa3", "wep"):
        context.err(f"Unknown network type {kind}")
        return 255
    is_open = name in str(context.phone.world["wifi/open"]).split("|")
    if not context.phone.state["settings/wifi_on"] or name not in _networks(context):
        context.line(f"Connection failed with reason: 2\nConnection to {name} failed")
        return 0
    password = words[2] if len(words) > 2 else ""
    wanted = _password_of(context, name)
    if not is_open and (not password or (wanted is not None and password != wanted)):
        context.line("Connection failed with reason: 2")
        return 0
    context.line("Connection initiated ")
    context.phone.put("settings/wifi_network", name)
    if name not in _saved(context):
        context.phone.world["wifi/saved"] = "|".join([*_saved(context), name])
    return 0


def _password_of(context: Context, name: str) -> str | None:
    state = context.phone.state
    for path, value in state.items():
        if path.startswith("wifi/access_point/") and path.endswith("/ssid") and value == name:
            return str(state[path.removesuffix("ssid") + "password"])
    return None


def _wifi_forget(context: Context, words: list[str]) -> int:
    saved = _saved(context)
    if not words or not re.fullmatch("[0-9]{1,4}", words[0]) or int(words[0]) >= len(saved):
        context.err("Forget failed with reason: 0")
        return 0
    name = saved.pop(int(words[0]))
    context.phone.world["wifi/saved"] = "|".join(saved)
    if context.phone.state["settings/wifi_network"] == name:
        context.phone.put("settings/wifi_network", "")
    context.line("Forget successful")
    return 0


def _wifi_scan(_: Context, __: list[str]) -> int:
    return 0


_WIFI: Mapping[str, Callable[[Context, list[str]], int]] = MappingProxyType(
    {
        "connect-network": _wifi_connect,
        "forget-network": _wifi_forget,
        "list-networks": _wifi_list,
        "list-scan-results": _wifi_results,
        "set-wifi-enabled": _wifi_switch,
        "start-scan": _wifi_scan,
        "status": _wifi_status,
    }
)


def _bluetooth(context: Context, words: list[str]) -> int:
    verb = words[0] if words else "help"
    if verb in ("enable", "disable"):
        put(context, "settings/bluetooth_on", verb == "enable")
        return 0
    if verb.startswith("wait-for-state"):
        return 0
    context.line("Bluetooth Manager Commands:\n  help\n  enable\n  disable\n  wait-for-state:<STATE>")
    return 0 if verb in ("help", "-h") else 255


def _ui_mode(context: Context, words: list[str]) -> int:
    if words[:1] == ["night"]:
        if len(words) > 1:
            if words[1] not in ("yes", "no", "auto", "custom_schedule", "custom_bedtime"):
                context.err("Error: mode must be 'yes', 'no', or 'auto', or 'custom_schedule', or 'custom_bedtime'")
                return 255
            put(context, "settings/dark_theme", words[1] == "yes")
        context.line(f"Night mode: {'yes' if context.phone.state['settings/dark_theme'] else 'no'}")
        return 0
    if words[:1] in (["car"], ["time"]):
        context.line("Car mode: no" if words[0] == "car" else "start 22:00 end 06:00")
        return 0
    context.line(
        "UiModeManager service (uimode) commands:\n  help\n"
        "  night [yes|no|auto|custom_schedule|custom_bedtime]\n"
        "  car [yes|no]"
    )
    return 0 if words[:1] in ([], ["help"]) else 255


def _notification(context: Context, words: list[str]) -> int:
    verb = words[0] if words else "help"
    phone = context.phone
    if verb == "post":
        return _post(context, words[1:])
    if verb == "list":
        numbers = sorted(
            {path.split("/")[1] for path in phone.state if re.fullmatch(r"notifications/\d+/title", path)}, key=int
        )
        context.lines(f"0|{phone.state[f'notifications/{number}/package']}|{number}|null|10060" for number in numbers)
        return 0
    if verb in ("set_dnd", "setDnd"):
        if words[1:2] not in (["on"], ["off"], ["all"], ["none"], ["priority"], ["alarms"]):
            context.err("Usage: set_dnd [on|none (same as on)|priority|alarms|all|off (same as all)]")
            return 255
        put(context, "settings/do_not_disturb", words[1] not in ("off", "all"))
        return 0
    if verb in ("allow_listener", "disallow_listener", "allow_assistant", "allow_dnd", "disallow_dnd", "snooze", "get",
                "unsnooze", "reset_assistant_user_set", "set_bubbles", "set_bubbles_channel"):  # fmt: skip
        return 0
    context.line(
        "NOTIFICATION commands:\n  post [--help | flags] TAG TEXT\n"
        "  list\n  set_dnd [on|none (same as on)|priority|alarms|all|off (same as all)]"
    )
    return 0 if verb in ("help", "-h", "--help") else 255


def _post(context: Context, words: list[str]) -> int:
    title, rest = "", list[str]()
    queue = iter(words)
    for word in queue:
        if word in ("-t", "--title"):
            title = next(queue, "")
        elif word in (
            "-S",
            "--style",
            "-i",
            "--icon",
            "-I",
            "--large-icon",
            "-c",
            "--content-intent",
            "-m",
            "--message",
        ):
            next(queue, None)
        elif not word.startswith("-"):
            rest.append(word)
    if len(rest) < 2:
        context.err("usage: cmd notification post [flags] <tag> <text>")
        return 255
    package = "com.android.shell" if "com.android.shell" in context.phone.apps else "com.android.systemui"
    if list(context.phone.state.values()).count(package) < MOST_NOTIFICATIONS:
        context.phone.heads_up(package, title[:200] or "Shell", rest[1][:1000])
    context.line(f"posting:\n  Notification(channel=shell_cmd tag={rest[0][:100]})")
    return 0


def _connectivity(context: Context, words: list[str]) -> int:
    if words[:1] == ["airplane-mode"]:
        if len(words) == 1:
            context.line("enabled" if context.phone.state["settings/airplane_mode_on"] else "disabled")
            return 0
        if words[1] not in ("enable", "disable"):
            context.err("Connectivity service commands:\n  airplane-mode [enable|disable]")
            return 255
        put(context, "settings/airplane_mode_on", words[1] == "enable")
        return 0
    context.line("Connectivity service commands:\n  help\n    Print this help text.\n  airplane-mode [enable|disable]")
    return 0 if words[:1] in ([], ["help"]) else 255


def volume(context: Context, words: list[str]) -> int:
    """Show or set the volume of a stream (``cmd media_session volume``)."""
    options: dict[str, str] = {}
    queue = iter(words)
    for word in queue:
        if word in ("--stream", "--set", "--adj"):
            options[word] = next(queue, "")
        elif word.startswith("--"):
            options[word] = ""
    number = options.get("--stream", "3")
    if not number.isdecimal() or len(number) > 2 or int(number) not in STREAMS:
        context.err(f"Error: Invalid stream type {number[:20]}" if "--stream" in options else "Error: no stream")
        return 255
    name, path, highest = STREAMS[int(number)]
    context.line(f"[V] will control stream={number} ({name})")
    value = int(context.phone.state[path])
    if "--set" in options:
        wanted = options["--set"]
        if not re.fullmatch("-?[0-9]{1,4}", wanted) or not 0 <= int(wanted) <= highest:
            context.err(f"Error: {wanted[:20]} is not a valid volume index, valid range is [0..{highest}]")
            return 255
        context.line(f"[V] will set volume to index={wanted}")
        put(context, path, int(wanted))
    elif "--adj" in options:
        step = {"raise": 1, "lower": -1, "same": 0}.get(options["--adj"])
        if step is None:
            context.err(f"Error: invalid volume adjustment {options['--adj'][:20]}")
            return 255
        put(context, path, min(max(value + step, 0), highest))
    if "--get" in options:
        context.line("[V] will get volume")
        context.line(f"[V] volume is {context.phone.state[path]} in range [0..{highest}]")
    return 0


def _media_session(context: Context, words: list[str]) -> int:
    verb = words[0] if words else "help"
    if verb == "volume":
        return volume(context, words[1:])
    if verb == "dispatch":
        state = context.phone.state
        key = words[1] if len(words) > 1 else ""
        if "music/playing" in state and key in ("play", "pause", "play-pause", "stop"):
            put(context, "music/playing", {"play": True, "play-pause": not state["music/playing"]}.get(key, False))
        return 0
    if verb == "list-sessions":
        context.line("Sessions:")
        return 0
    context.line(
        "usage: media_session [subcommand] [options]\n       media_session dispatch KEY\n"
        "       media_session volume ..."
    )
    return 0 if verb == "help" else 255


def _location(context: Context, words: list[str]) -> int:
    verb = words[0] if words else "help"
    if verb == "is-location-enabled":
        context.line("true" if context.phone.state.get("settings/location_on", True) else "false")
        return 0
    if verb == "set-location-enabled":
        put(context, "settings/location_on", words[1:2] == ["true"])
        return 0
    if verb in ("providers", "is-automotive-gnss-suspended", "set-adas-gnss-location-enabled"):
        return 0
    context.line(
        "Location service commands:\n  is-location-enabled\n  set-location-enabled true|false\n  providers ..."
    )
    return 0 if verb == "help" else 255


def _lock(context: Context, words: list[str]) -> int:
    verb = words[0] if words else "help"
    kinds = {"set-pin": "pin", "set-password": "password", "set-pattern": "pattern"}
    if verb in kinds and len(words) > 1:
        put(context, "settings/screen_lock", kinds[verb])
        context.line(f"{kinds[verb].capitalize()} set to '{words[-1][:64]}'")
    elif verb == "clear":
        put(context, "settings/screen_lock", "none")
        context.line("Lock credential cleared")
    elif verb == "set-disabled":
        put(context, "settings/screen_lock", "none" if words[1:2] == ["true"] else "swipe")
        context.line(f"Lock screen disabled set to {words[1] if len(words) > 1 else 'false'}")
    elif verb == "get-disabled":
        context.line("true" if context.phone.state.get("settings/screen_lock", "none") == "none" else "false")
    elif verb == "verify":
        context.line("Lock credential verified successfully")
    else:
        context.line(
            "lockSettings service commands:\n  get-disabled\n"
            "  set-disabled\n  set-pin\n  set-password\n  clear\n"
            "  verify"
        )
        return 0 if verb == "help" else 255
    return 0


def _power(context: Context, words: list[str]) -> int:
    match words:
        case ["set-mode", mode, *_] if mode in ("0", "1"):
            put(context, "settings/battery_saver", mode == "1")
        case ["set-adaptive-power-saver-enabled" | "set-prohibit-screen-interactivity" | "set-face-down-detector", *_]:
            return 0
        case ["is-power-saver" | "get-mode", *_]:
            context.line(str(int(bool(context.phone.state["settings/battery_saver"]))))
        case _:
            context.line("Power manager (power) commands:\n  help\n  set-mode MODE")
            return 0 if words[:1] in ([], ["help"]) else 255
    return 0


def _net_policy(context: Context, words: list[str]) -> int:
    saver = "settings/data_saver"
    match words:
        case ["get", "restrict-background", *_]:
            context.line(f"Restrict background status: {'enabled' if context.phone.state[saver] else 'disabled'}")
        case ["set", "restrict-background", value, *_]:
            put(context, saver, value == "true")
        case ["list" | "add" | "remove" | "get" | "set" | "start-watching" | "stop-watching", *_]:
            return 0
        case _:
            context.line(
                "Network policy manager (netpolicy) commands:\n  get restrict-background\n"
                "  set restrict-background BOOLEAN"
            )
            return 0 if words[:1] in ([], ["help"]) else 255
    return 0


def _phone(context: Context, words: list[str]) -> int:
    match words:
        case ["data", "enable" | "disable" as verb, *_]:
            put(context, "settings/mobile_data_on", verb == "enable")
        case ["get-default-smsc" | "ims" | "data" | "radio" | "gba" | "src" | "cc", *_]:
            return 0
        case _:
            context.line("Telephony Commands:\n  help\n  data enable|disable\n  ims ...")
            return 0 if words[:1] in ([], ["help"]) else 255
    return 0


def _overlay(context: Context, words: list[str]) -> int:
    wanted = "gestural" if context.phone.state.get("settings/navigation_mode") == "gestures" else "threebutton"
    names = {
        "gestural": "com.android.internal.systemui.navbar.gestural",
        "threebutton": "com.android.internal.systemui.navbar.threebutton",
    }
    match words:
        case ["list", *_]:
            context.line("android")
            context.lines(f"[{'x' if mode == wanted else ' '}] {name}" for mode, name in sorted(names.items()))
        case ["enable" | "enable-exclusive", *rest] if rest:
            found = next((mode for mode, name in names.items() if name == rest[-1]), None)
            if found is None:
                context.err(f"Error: Failed to execute command: unknown overlay {rest[-1][:100]}")
                return 1
            put(context, "settings/navigation_mode", "gestures" if found == "gestural" else "buttons")
        case ["disable" | "set-priority" | "lookup" | "dump" | "fabricate", *_]:
            return 0
        case _:
            context.line(
                "Overlay manager (overlay) commands:\n  list\n  enable PACKAGE\n  enable-exclusive --category PACKAGE"
            )
            return 0 if words[:1] in ([], ["help"]) else 255
    return 0


def _display(context: Context, words: list[str]) -> int:
    match words:
        case ["set-brightness", value, *_] if re.fullmatch(r"[01](\.[0-9]{1,6})?", value):
            put(context, "settings/brightness", min(round(float(value) * 255), 255))
        case ["get-brightness", *_]:
            context.line(f"{int(context.phone.state['settings/brightness']) / 255:.6f}")
        case ["power-off" | "power-on" as verb, *_]:
            context.phone.key("sleep" if verb == "power-off" else "wakeup")
        case ["get-displays", *_]:
            context.line("Displays: [0]")
        case ["reset-brightness-configuration" | "ab-logging-enable" | "set-user-preferred-display-mode", *_]:
            return 0
        case _:
            context.line(
                "Display manager commands:\n  help\n  set-brightness BRIGHTNESS\n"
                "  power-off DISPLAY_ID\n  power-on DISPLAY_ID"
            )
            return 0 if words[:1] in ([], ["help"]) else 255
    return 0


def _activity(context: Context, words: list[str]) -> int | Steps:
    return ACTIVITY_MANAGER["am"].run(context, words)


def _audio(context: Context, words: list[str]) -> int:
    match words:
        case ["get-ringer-mode", *_]:
            context.line("Ringer mode: 2")
        case ["set-ringer-mode" | "set-force-use" | "adj-volume" | "set-volume", *_]:
            return 0
        case _:
            context.line("Audio manager (audio) commands:\n  help")
            return 0 if words[:1] in ([], ["help"]) else 255
    return 0


def _quiet(context: Context, words: list[str]) -> int:
    if words[:1] in ([], ["help"], ["-h"]):
        context.line("commands:\n  help")
    return 0


def _clipboard(context: Context, _: list[str]) -> int:
    context.err("No shell command implementation.")
    return 255


CMDS: Mapping[str, Run] = MappingProxyType(
    {
        "activity": _activity,
        "alarm": _quiet,
        "appops": app_operations,
        "audio": _audio,
        "battery": battery_command,
        "bluetooth_manager": _bluetooth,
        "clipboard": _clipboard,
        "connectivity": _connectivity,
        "device_config": device_config,
        "deviceidle": _quiet,
        "display": _display,
        "input": input_command,
        "input_method": ime_command,
        "jobscheduler": _quiet,
        "location": _location,
        "lock_settings": _lock,
        "media_session": _media_session,
        "netpolicy": _net_policy,
        "notification": _notification,
        "overlay": _overlay,
        "package": package_command,
        "phone": _phone,
        "power": _power,
        "role": _quiet,
        "settings": settings.settings_command,
        "shortcut": _quiet,
        "statusbar": statusbar,
        "thermalservice": _quiet,
        "uimode": _ui_mode,
        "usagestats": _quiet,
        "user": _quiet,
        "wifi": _wifi,
        "window": window_command,
    }
)
"""Services that take commands."""


def _cmd(context: Context, arguments: list[str]) -> int | Steps:
    if not arguments:
        context.err("cmd: No service specified; use -l to list all services")
        return 20
    if arguments[0] in ("-l", "--list"):
        context.line("Currently running services:")
        context.lines(f"  {name}" for name in sorted({*CMDS, *SERVICES}))
        return 0
    words = arguments[1:] if arguments[0] == "-w" else arguments
    run = CMDS.get(words[0]) if words else None
    if run is None:
        if words and words[0] in SERVICES:
            context.err("cmd: Failure calling service " + words[0] + ": Unknown transaction (-2147483646)")
            return 226
        context.system.count_unknown(f"cmd {words[0] if words else ''}")
        context.err(f"cmd: Can't find service: {words[0] if words else ''}")
        return 20
    return run(context, words[1:])


CMD: Mapping[str, Command] = MappingProxyType({"cmd": Command(_cmd, toybox=False, work=40)})
