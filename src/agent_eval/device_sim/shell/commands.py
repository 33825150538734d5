"""The phone's shell: a small command line (words, quotes, ``;``, ``&&``, ``||``, ``$?``) and a table of commands.

What each prints follows the Android tool of that name. Knows no transport; bytes come back.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from agent_eval.device_sim import keyboard
from agent_eval.device_sim.apps import launcher
from agent_eval.device_sim.phone import Phone
from agent_eval.device_sim.screen import App
from agent_eval.errors import TaskFault
from agent_eval.types import Scalar


@dataclass(frozen=True, slots=True)
class ShellResult:
    """What a command line left behind."""

    stdout: bytes
    stderr: bytes
    output: bytes
    """Both streams in the order in which they were written, as a terminal shows them."""
    code: int


class _Output:
    """Collects the two streams of one command line."""

    def __init__(self) -> None:
        self.parts: list[tuple[int, bytes]] = []

    def out(self, text: str | bytes) -> None:
        self.parts.append((1, text if isinstance(text, bytes) else text.encode()))

    def line(self, text: str) -> None:
        self.out(text + "\n")

    def err(self, text: str) -> None:
        self.parts.append((2, (text + "\n").encode()))

    def result(self, code: int) -> ShellResult:
        return ShellResult(
            b"".join(part for stream, part in self.parts if stream == 1),
            b"".join(part for stream, part in self.parts if stream == 2),
            b"".join(part for _, part in self.parts),
            code,
        )


class Shell:
    """A shell on one phone.

    Args:
        phone: The phone.
    """

    def __init__(self, phone: Phone) -> None:
        self.phone = phone
        self.files: dict[str, bytes] = {}
        self.unknown: Counter[str] = Counter()
        """Commands asked for that this phone does not have, and how often."""
        self.other_settings: dict[tuple[str, str], str] = dict(_OTHER_SETTINGS)

    def run(self, line: str) -> ShellResult:
        """Run a command line."""
        output, code, skip = _Output(), 0, False
        for operator, words in split(line):
            if operator:
                skip = (operator == "&&" and code != 0) or (operator == "||" and code == 0)
            if skip or not words:
                continue
            name, *arguments = [word.replace(_STATUS, str(code)) for word in words]
            command = COMMANDS.get(name)
            if command is None:
                self.unknown[name] += 1
                output.err(f"/system/bin/sh: {name}: inaccessible or not found")
                code = 127
            else:
                code = command(self, arguments, output)
        return output.result(code)


# ----------------------------------------------------------------------------------------------------------------------
# the command line

_STATUS = "\x00status\x00"
_OPERATORS = ("&&", "||", ";", "\n")


def split(line: str) -> list[tuple[str, list[str]]]:
    """Split a line into commands, each with the operator before it; ``$?`` is kept as a mark outside single quotes."""
    commands: list[tuple[str, list[str]]] = []
    operator, words = "", list[str]()
    word: str | None = None
    position = 0
    while position < len(line):
        character = line[position]
        found = next((op for op in _OPERATORS if line.startswith(op, position)), None)
        if found:
            if word is not None:
                words.append(word)
            commands.append((operator, words))
            operator, words, word = (";" if found == "\n" else found), [], None
            position += len(found)
            continue
        if character in " \t":
            if word is not None:
                words.append(word)
                word = None
        elif character == "'":
            end = line.find("'", position + 1)
            end = len(line) if end < 0 else end
            word = (word or "") + line[position + 1 : end]
            position = end
        elif character == '"':
            position += 1
            word = word or ""
            while position < len(line) and line[position] != '"':
                if line[position] == "\\" and line[position + 1 : position + 2] in ('"', "\\", "$", "`"):
                    position += 1
                    word += line[position]
                elif line.startswith("$?", position):
                    word += _STATUS
                    position += 1
                else:
                    word += line[position]
                position += 1
        elif character == "\\" and position + 1 < len(line):
            position += 1
            word = (word or "") + line[position]
        elif line.startswith("$?", position):
            word = (word or "") + _STATUS
            position += 1
        else:
            word = (word or "") + character
        position += 1
    if word is not None:
        words.append(word)
    commands.append((operator, words))
    return commands


# ----------------------------------------------------------------------------------------------------------------------
# commands; each gets its arguments, writes to the output and returns its exit status

Arguments = Sequence[str]


def _echo(_: Shell, arguments: Arguments, output: _Output) -> int:
    output.line(" ".join(arguments))
    return 0


def _true(*_: object) -> int:
    return 0


def _input(shell: Shell, arguments: Arguments, output: _Output) -> int:
    words = list(arguments)
    if words and words[0] in ("touchscreen", "keyboard", "dpad", "stylus", "mouse"):
        words = words[1:]
    if words[:1] == ["-d"]:
        words = words[2:]
    if not words:
        output.err("Error: Insufficient arguments")
        return 255
    name, *rest = words
    try:
        return _INPUTS[name](shell.phone, rest) if name in _INPUTS else _bad_input(output, name)
    except (ValueError, IndexError):
        output.err(f"Error: Invalid arguments for command: {name}")
        return 255


def _bad_input(output: _Output, name: str) -> int:
    output.err(f"Error: Unknown command: {name}")
    return 255


def _input_tap(phone: Phone, arguments: Arguments) -> int:
    phone.tap(float(arguments[0]), float(arguments[1]))
    return 0


def _input_swipe(phone: Phone, arguments: Arguments) -> int:
    x1, y1, x2, y2 = (float(word) for word in arguments[:4])
    phone.swipe(x1, y1, x2, y2, int(arguments[4]) / 1000 if len(arguments) > 4 else 0.3)
    return 0


def _input_text(phone: Phone, arguments: Arguments) -> int:
    phone.type_text(arguments[0].replace("%s", " "))
    return 0


def _input_key(phone: Phone, arguments: Arguments) -> int:
    for word in arguments:
        if not word.startswith("--"):
            phone.key(int(word) if word.isdigit() else word)
    return 0


def _input_press(phone: Phone, _: Arguments) -> int:
    phone.key("center")
    return 0


_INPUTS: Mapping[str, Callable[[Phone, Arguments], int]] = MappingProxyType(
    {
        "draganddrop": _input_swipe,
        "keyevent": _input_key,
        "press": _input_press,
        "swipe": _input_swipe,
        "tap": _input_tap,
        "text": _input_text,
    }
)


def _wm(shell: Shell, arguments: Arguments, output: _Output) -> int:
    if arguments[:1] == ["size"]:
        output.line(f"Physical size: {shell.phone.display.natural_width}x{shell.phone.display.natural_height}")
        return 0
    if arguments[:1] == ["density"]:
        output.line(f"Physical density: {shell.phone.display.density}")
        return 0
    output.err(f"Unknown command: {' '.join(arguments)}")
    return 255


# -------------------------------------------------------------------------------------------------- activity manager


def _am(shell: Shell, arguments: Arguments, output: _Output) -> int:
    name = arguments[0] if arguments else ""
    rest = list(arguments[1:])
    if name in ("start", "start-activity"):
        return _am_start(shell, rest, output)
    if name in ("force-stop", "kill"):
        if not rest:
            output.err('Error: Argument expected after "force-stop"')
            return 255
        shell.phone.force_stop(rest[-1])
        return 0
    if name == "broadcast":
        action = _option(rest, "-a")
        output.line(f"Broadcasting: Intent {{ act={action} flg=0x400000 }}")
        output.line("Broadcast completed: result=0")
        return 0
    output.err(f"Unknown command: {name}")
    return 255


def _option(words: Sequence[str], name: str) -> str:
    return next((words[i + 1] for i, word in enumerate(words[:-1]) if word == name), "")


def _am_start(shell: Shell, words: list[str], output: _Output) -> int:
    action, component = _option(words, "-a"), _option(words, "-n")
    if "-S" in words and component:
        shell.phone.force_stop(component.partition("/")[0])
    parts = [part for part in (f"act={action}" if action else "", f"cmp={component}" if component else "") if part]
    if "-c" in words:
        parts.insert(1, f"cat=[{_option(words, '-c')}]")
    output.line(f"Starting: Intent {{ {' '.join(parts)} }}")
    if component:
        package, _, activity = component.partition("/")
        before = shell.phone.front.package
        if not shell.phone.open_app(package, activity):
            output.err("Error type 3")
            output.err(f"Error: Activity class {{{package}/{_full(package, activity)}}} does not exist.")
            return 1
        if before == package:
            output.err("Warning: Activity not started, its current task has been brought to the front")
        return 0
    for app in shell.phone.apps.values():
        if action in app.actions:
            shell.phone.open_app(app.package, action)
            return 0
    output.err(f"Error: Activity not started, unable to resolve Intent {{ {' '.join(parts)} flg=0x10000000 }}")
    return 1


def _full(package: str, activity: str) -> str:
    return package + activity if activity.startswith(".") else activity


def _monkey(shell: Shell, arguments: Arguments, output: _Output) -> int:
    package = _option(arguments, "-p")
    output.line("  bash arg: " + "\n  bash arg: ".join(arguments))
    app = shell.phone.apps.get(package)
    if app is None or not app.launchable:
        output.line("** No activities found to run, monkey aborted.")
        return 252
    shell.phone.open_app(package)
    output.line("Events injected: 1")
    output.line("## Network stats: elapsed time=21ms (0ms mobile, 0ms wifi, 21ms not connected)")
    return 0


# -------------------------------------------------------------------------------------------------- package manager


def _pm(shell: Shell, arguments: Arguments, output: _Output) -> int:
    words = [word for word in arguments if word]
    packages = sorted(shell.phone.apps)
    if words[:2] == ["list", "packages"]:
        if "-3" in words or "-d" in words:
            return 0
        wanted = next((word for word in words[2:] if not word.startswith("-")), "")
        for package in packages:
            if wanted in package:
                output.line(f"package:{_apk(package)}={package}" if "-f" in words else f"package:{package}")
        return 0
    if words[:1] == ["path"] and len(words) > 1:
        if words[1] not in packages:
            return 1
        output.line(f"package:{_apk(words[1])}")
        return 0
    if words[:1] == ["clear"] and len(words) > 1:
        if words[1] not in packages:
            output.line("Failed")
            return 1
        shell.phone.force_stop(words[1])
        output.line("Success")
        return 0
    if words[:1] == ["uninstall"]:
        output.line("Failure [DELETE_FAILED_INTERNAL_ERROR]")
        return 1
    output.err(f"Unknown command: {' '.join(arguments)}")
    return 255


def _apk(package: str) -> str:
    return f"/system/app/{package.rpartition('.')[2]}/base.apk"


def pid_of(package: str) -> int:
    """Return the process number of an app: the same on every phone, so that runs are equal."""
    return 1200 + sum(ord(character) * (place + 1) for place, character in enumerate(package)) % 20000


def _ps(shell: Shell, _: Arguments, output: _Output) -> int:
    output.line("USER           PID  PPID     VSZ    RSS WCHAN            ADDR S NAME")
    rows = [("root", 1, 0, "init"), ("root", 320, 1, "zygote64"), ("system", 610, 320, "system_server")]
    rows += [
        (f"u0_a{60 + i}", pid_of(name), 320, name) for i, name in enumerate((*shell.phone.running, keyboard.PACKAGE))
    ]
    for user, pid, parent, name in rows:
        output.line(f"{user:<12} {pid:>5} {parent:>5} 1395296 110592 0                   0 S {name}")
    return 0


# -------------------------------------------------------------------------------------------------- settings

_FLAGS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("global", "airplane_mode_on"): "settings/airplane_mode_on",
        ("global", "bluetooth_on"): "settings/bluetooth_on",
        ("global", "low_power"): "settings/battery_saver",
        ("global", "wifi_on"): "settings/wifi_on",
        ("system", "screen_brightness_mode"): "settings/adaptive_brightness",
        ("system", "vibrate_when_ringing"): "settings/vibrate_on_ring",
    }
)
_NUMBERS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("system", "screen_brightness"): "settings/brightness",
        ("system", "volume_alarm"): "settings/volume_alarm",
        ("system", "volume_music"): "settings/volume_media",
        ("system", "volume_ring"): "settings/volume_ring",
    }
)
_OTHER_SETTINGS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("global", "adb_enabled"): "1",
        ("secure", "default_input_method"): f"{keyboard.PACKAGE}/.LatinIME",
        ("system", "accelerometer_rotation"): "0",
        ("system", "font_scale"): "1.0",
        ("system", "user_rotation"): "0",
    }
)


def read_setting(shell: Shell, namespace: str, key: str) -> str | None:
    """Return a setting as the settings provider holds it, or None."""
    place = (namespace, key)
    state = shell.phone.state
    if place in _FLAGS:
        return str(int(state[_FLAGS[place]]))
    if place in _NUMBERS:
        return str(state[_NUMBERS[place]])
    if place == ("system", "screen_off_timeout"):
        return str(int(state["settings/screen_timeout_s"]) * 1000)
    if place == ("global", "device_name"):
        return str(state["settings/device_name"])
    if place == ("secure", "ui_night_mode"):
        return "2" if state["settings/dark_theme"] else "1"
    return shell.other_settings.get(place)


def _write_setting(shell: Shell, namespace: str, key: str, value: str) -> None:
    place = (namespace, key)
    change: tuple[str, Scalar] | None = None
    if place in _FLAGS:
        change = (_FLAGS[place], value.strip() not in ("0", "false", ""))
    elif place in _NUMBERS and value.strip().lstrip("-").isdigit():
        change = (_NUMBERS[place], int(value))
    elif place == ("system", "screen_off_timeout") and value.strip().isdigit():
        change = ("settings/screen_timeout_s", int(value) // 1000)
    elif place == ("global", "device_name"):
        change = ("settings/device_name", value)
    elif place == ("secure", "ui_night_mode"):
        change = ("settings/dark_theme", value.strip() == "2")
    else:
        shell.other_settings[place] = value
    if change is not None:
        try:
            shell.phone.put(*change)
        except TaskFault:
            return  # the provider stores anything; what listens to it ignores a value out of range


def _settings(shell: Shell, arguments: Arguments, output: _Output) -> int:
    words = list(arguments)
    if words[:1] == ["--user"]:
        words = words[2:]
    if len(words) < 2:
        output.err("Bad arguments")
        return 255
    verb, namespace, *rest = words
    if namespace not in ("system", "secure", "global"):
        output.err(f"Invalid namespace '{namespace}'")
        return 255
    if verb == "list":
        keys = {key for place in (_FLAGS, _NUMBERS, shell.other_settings) for space, key in place if space == namespace}
        keys |= {"global": {"device_name"}, "system": {"screen_off_timeout"}, "secure": {"ui_night_mode"}}[namespace]
        for key in sorted(keys):
            output.line(f"{key}={read_setting(shell, namespace, key)}")
        return 0
    if verb == "get" and len(rest) == 1:
        value = read_setting(shell, namespace, rest[0])
        output.line("null" if value is None else value)
        return 0
    if verb == "put" and len(rest) >= 2:
        _write_setting(shell, namespace, rest[0], rest[1])
        return 0
    if verb == "delete" and len(rest) == 1:
        gone = shell.other_settings.pop((namespace, rest[0]), None)
        output.line(f"Deleted {int(gone is not None)} rows")
        return 0
    output.err("Bad arguments")
    return 255


def _getprop(shell: Shell, arguments: Arguments, output: _Output) -> int:
    state, world = shell.phone.state, shell.phone.world
    release, build = str(state["about/android_version"]), str(world["about/build"])
    properties = {
        "dev.bootcomplete": "1",
        "init.svc.adbd": "running",
        "persist.sys.locale": "en-US",
        "persist.sys.timezone": "GMT",
        "ro.build.fingerprint": f"sim/sim/sim:{release}/{build}/1:userdebug/dev-keys",
        "ro.build.id": build,
        "ro.build.type": "userdebug",
        "ro.build.version.release": release,
        "ro.build.version.sdk": "35",
        "ro.debuggable": "1",
        "ro.hardware": "sim",
        "ro.product.brand": "sim",
        "ro.product.cpu.abi": "x86_64",
        "ro.product.device": "sim",
        "ro.product.manufacturer": "agent-eval",
        "ro.product.model": str(state["about/model"]),
        "ro.product.name": "sim",
        "ro.secure": "1",
        "ro.serialno": str(world["about/serial"]),
        "ro.sf.lcd_density": str(shell.phone.display.density),
        "sys.boot_completed": "1",
    }
    if arguments:
        output.line(properties.get(arguments[0], arguments[1] if len(arguments) > 1 else ""))
    else:
        for name, value in sorted(properties.items()):
            output.line(f"[{name}]: [{value}]")
    return 0


# -------------------------------------------------------------------------------------------------- dumpsys


def _record(app: App | None, package: str, activity: str) -> str:
    short = activity.removeprefix(package) if app is not None and activity.startswith(package + ".") else activity
    return f"{package}/{short}"


def _token(text: str) -> str:
    return f"{sum(ord(c) * 131**i for i, c in enumerate(text)) % 16**7:07x}"


def _dumpsys_window(shell: Shell, arguments: Arguments, output: _Output) -> int:
    front = shell.phone.front
    record = _record(shell.phone.apps.get(front.package), front.package, front.activity)
    output.line("WINDOW MANAGER WINDOWS (dumpsys window windows)")
    name = f"{front.package}/{front.activity}"
    output.line(f"  Window #0 Window{{{_token(name)} u0 {name}}}:")
    if arguments[:1] != ["windows"]:  # since Android 10 the focus is printed per display only
        output.line("WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)")
        output.line(f"  mCurrentFocus=Window{{{_token(name)} u0 {name}}}")
        output.line(f"  mFocusedApp=ActivityRecord{{{_token(record)} u0 {record} t12}}")
    return 0


def _dumpsys_activity(shell: Shell, arguments: Arguments, output: _Output) -> int:
    front = shell.phone.front
    record = _record(shell.phone.apps.get(front.package), front.package, front.activity)
    if arguments[:1] == ["top"]:
        if front.package != launcher.PACKAGE:
            home = launcher.APP.screens[launcher.HOME].activity
            below = _record(launcher.APP, launcher.PACKAGE, home)
            output.line(f"TASK 1: id=1 userId=0\n  ACTIVITY {below} {_token(below)} pid={pid_of(launcher.PACKAGE)}")
        output.line(
            f"TASK 12: id=12 userId=0\n  ACTIVITY {record} {_token(record)} pid={pid_of(front.package)} userId=0"
        )
        return 0
    output.line("ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)")
    output.line(f"  topResumedActivity=ActivityRecord{{{_token(record)} u0 {record} t12}}")
    output.line(f"  ResumedActivity: ActivityRecord{{{_token(record)} u0 {record} t12}}")
    return 0


def _dumpsys_display(shell: Shell, __: Arguments, output: _Output) -> int:
    display = shell.phone.display
    frame = f"Rect(0, 0 - {display.width}, {display.height})"
    output.line("DISPLAY MANAGER (dumpsys display)")
    output.line(
        "  mViewports=[DisplayViewport{type=INTERNAL, valid=true, isActive=true, displayId=0, uniqueId='local:0', "
        f"physicalPort=0, orientation={display.rotation}, logicalFrame={frame}, physicalFrame={frame}, "
        f"deviceWidth={display.width}, deviceHeight={display.height}}}]"
    )
    return 0


def _dumpsys_battery(shell: Shell, _: Arguments, output: _Output) -> int:
    level = int(shell.phone.world["battery/level"])
    output.line("Current Battery Service state:")
    for name, value in {
        "AC powered": "false",
        "USB powered": "false",
        "Wireless powered": "false",
        "Dock powered": "false",
        "Max charging current": 0,
        "Max charging voltage": 0,
        "Charge counter": level * 40000,
        "status": 3,
        "health": 2,
        "present": "true",
        "level": level,
        "scale": 100,
        "voltage": 3700 + 5 * level,
        "temperature": 250,
        "technology": "Li-ion",
    }.items():
        output.line(f"  {name}: {value}")
    return 0


def _dumpsys_package(shell: Shell, arguments: Arguments, output: _Output) -> int:
    package = arguments[0] if arguments else ""
    if package not in shell.phone.apps:
        output.line(f"Unable to find package: {package}")
        return 0
    output.line("Packages:")
    output.line(f"  Package [{package}] (3f1a2b):")
    output.line("    versionCode=35 minSdk=35 targetSdk=35\n    versionName=15")
    output.line("    signatures=PackageSignatures{4f2a1c version:3, signatures:[9a1b2c3d], past signatures:[]}")
    output.line("    pkgFlags=[ SYSTEM HAS_CODE ALLOW_CLEAR_USER_DATA ]")
    output.line("    firstInstallTime=2009-01-01 00:00:00\n    lastUpdateTime=2009-01-01 00:00:00")
    return 0


def _dumpsys_power(shell: Shell, _: Arguments, output: _Output) -> int:
    on = bool(shell.phone.world["screen/on"])
    output.line("POWER MANAGER (dumpsys power)")
    output.line(f"  mWakefulness={'Awake' if on else 'Asleep'}")
    output.line(f"  mHoldingDisplaySuspendBlocker={'true' if on else 'false'}")
    return 0


def _dumpsys_input_method(shell: Shell, _: Arguments, output: _Output) -> int:
    output.line(f"  mInputShown={'true' if shell.phone.keyboard_open else 'false'}")
    return 0


_DUMPS: Mapping[str, Callable[[Shell, Arguments, _Output], int]] = MappingProxyType(
    {
        "activity": _dumpsys_activity,
        "battery": _dumpsys_battery,
        "display": _dumpsys_display,
        "input_method": _dumpsys_input_method,
        "package": _dumpsys_package,
        "power": _dumpsys_power,
        "window": _dumpsys_window,
    }
)


def _dumpsys(shell: Shell, arguments: Arguments, output: _Output) -> int:
    name = arguments[0] if arguments else ""
    if name == "SurfaceFlinger":
        output.line('Display 4619827259835644672 (HWC display 0): port=0 pnpId=GGL displayName="EMU_display_0"')
        return 0
    dump = _DUMPS.get(name)
    if dump is None:
        output.err(f"Can't find service: {name}")
        return 20
    return dump(shell, arguments[1:], output)


# -------------------------------------------------------------------------------------------------- the rest


def _ime(shell: Shell, arguments: Arguments, output: _Output) -> int:
    if arguments[:1] == ["list"]:
        for name in shell.phone.input_methods:
            output.line(name)
        return 0
    output.line(f"Unknown input method {arguments[-1] if arguments else ''} cannot be selected for user #0")
    return 0


def _svc(shell: Shell, arguments: Arguments, output: _Output) -> int:
    path = {"wifi": "settings/wifi_on", "bluetooth": "settings/bluetooth_on"}.get(arguments[0] if arguments else "")
    if path is None or arguments[-1] not in ("enable", "disable"):
        output.err("Available commands: wifi, bluetooth: enable|disable")
        return 255
    shell.phone.put(path, arguments[-1] == "enable")
    return 0


def _uiautomator(shell: Shell, arguments: Arguments, output: _Output) -> int:
    if arguments[:1] != ["dump"]:
        output.err("Usage: uiautomator <subcommand> [options]")
        return 1
    paths = [word for word in arguments[1:] if not word.startswith("-")]
    path = paths[0] if paths else "/sdcard/window_dump.xml"
    xml = shell.phone.uiautomator_dump(compressed="--compressed" in arguments)
    if path == "/dev/tty":
        output.out(xml)
    else:
        shell.files[path] = xml.encode()
    output.line(f"UI hierchary dumped to: {path}")  # the tool's own spelling
    return 0


def _cat(shell: Shell, arguments: Arguments, output: _Output) -> int:
    code = 0
    for path in arguments:
        if path in shell.files:
            output.out(shell.files[path])
        else:
            output.err(f"cat: {path}: No such file or directory")
            code = 1
    return code


def _rm(shell: Shell, arguments: Arguments, output: _Output) -> int:
    force = any(re.fullmatch("-[rRf]*f[rR]*", word) for word in arguments)
    code = 0
    for path in arguments:
        if path.startswith("-"):
            continue
        if shell.files.pop(path, None) is None and not force:
            output.err(f"rm: {path}: No such file or directory")
            code = 1
    return code


def _screencap(shell: Shell, arguments: Arguments, output: _Output) -> int:
    stream = io.BytesIO()
    shell.phone.screenshot().save(stream, "PNG")
    words = [
        word for i, word in enumerate(arguments) if word != "-p" and word != "-d" and arguments[i - 1 : i] != ["-d"]
    ]
    if words:
        shell.files[words[0]] = stream.getvalue()
    else:
        output.out(stream.getvalue())
    return 0


def _date(shell: Shell, _: Arguments, output: _Output) -> int:
    output.line(shell.phone.local_time.strftime("%a %b %d %H:%M:%S GMT %Y"))
    return 0


def _sleep(shell: Shell, arguments: Arguments, output: _Output) -> int:
    try:
        shell.phone.advance(max(0.0, float(arguments[0])))
    except (IndexError, ValueError):
        output.err(f"sleep: bad {' '.join(arguments)}")
        return 1
    return 0


COMMANDS: Mapping[str, Callable[[Shell, Arguments, _Output], int]] = MappingProxyType(
    {
        "am": _am,
        "cat": _cat,
        "date": _date,
        "dumpsys": _dumpsys,
        "echo": _echo,
        "getprop": _getprop,
        "ime": _ime,
        "input": _input,
        "monkey": _monkey,
        "pm": _pm,
        "ps": _ps,
        "rm": _rm,
        "screencap": _screencap,
        "settings": _settings,
        "sleep": _sleep,
        "svc": _svc,
        "true": _true,
        "uiautomator": _uiautomator,
        "wm": _wm,
    }
)
"""Every command of this phone."""
