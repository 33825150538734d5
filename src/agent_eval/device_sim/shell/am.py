"""The activity manager: ``am``, and ``monkey``, which clients use to start apps."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from agent_eval.device_sim.apps import launcher
from agent_eval.device_sim.shell import activities
from agent_eval.device_sim.shell.context import Command, Context, UsageError
from agent_eval.device_sim.shell.intents import Intent, full, parse_intent, short
from agent_eval.device_sim.shell.packages import ADB_KEYBOARD_ID
from agent_eval.device_sim.shell.process import Forever, Steps

_START_FLAGS = ("-D", "-N", "-W", "-S", "--streaming", "--track-allocation", "--task-overlay", "--lock-task",
                "--allow-background-activity-starts", "--splashscreen-show-icon")  # fmt: skip
_START_VALUES = ("-P", "--start-profiler", "--sampling", "-R", "--user", "--display", "--windowingMode",
                 "--activityType", "--task", "--attach-agent", "--attach-agent-bind")  # fmt: skip
_LOCKED = ("android.intent.action.BOOT_COMPLETED", "android.intent.action.BATTERY_CHANGED",
           "android.intent.action.PACKAGE_REMOVED", "android.intent.action.MEDIA_MOUNTED")  # fmt: skip
"""Broadcasts that only the system may send."""


def _start(context: Context, words: list[str]) -> int:
    intent = parse_intent(words, _START_FLAGS, _START_VALUES)
    if not (intent.action or intent.component or intent.data or intent.package):
        context.err('Error: Argument expected after "start"' if not words else "Error: No intent supplied")
        return 255
    system = context.system
    component = activities.resolve(system, intent)
    if "-S" in intent.options and component is not None:
        context.phone.force_stop(component.partition("/")[0])
    if component is not None and not intent.component and intent.package:
        intent.component = component
    context.line(f"Starting: {intent}")
    if component is None:
        return _not_started(context, intent)
    package = component.partition("/")[0]
    if not activities.is_exported(system, component):
        found = system.packages.get(package)
        context.err(
            "\nException occurred while executing 'start':\njava.lang.SecurityException: Permission Denial: starting "
            f"{intent} from null (pid={context.shell.scope.pid}, uid=2000) not exported from uid "
            f"{found.uid if found is not None else 10000}"
        )
        return 255
    before = context.phone.front
    was_running = package in context.phone.running
    activities.start(system, intent, component)
    if before == context.phone.front and "-S" not in intent.options:
        context.err(
            "Warning: Activity not started, "
            + ("intent has been delivered to currently running top-most instance."
               if intent.data
               else "its current task has been brought to the front")
        )  # fmt: skip
    if "-W" in intent.options:
        took = 130 if was_running else 412
        context.line("Status: ok")
        context.line(f"LaunchState: {'HOT' if was_running else 'COLD'}")
        context.line(f"Activity: {short(component)}")
        context.line(f"TotalTime: {took}\nWaitTime: {took + 4}\nComplete")
    return 0


def _not_started(context: Context, intent: Intent) -> int:
    if intent.component:
        context.err("Error type 3")
        context.err(f"Error: Activity class {{{full(intent.component)}}} does not exist.")
        return 1
    intent.flags |= 0x10000000
    context.err(f"Error: Activity not started, unable to resolve {intent}")
    return 1


def _start_service(context: Context, words: list[str]) -> int:
    intent = parse_intent(words, (), ("--user",))
    context.line(f"Starting service: {intent}")
    context.err("Error: Not found; no service started.")
    return 255


def _stop_service(context: Context, words: list[str]) -> int:
    intent = parse_intent(words, (), ("--user",))
    context.line(f"Stopping service: {intent}")
    context.line("Service not stopped: was not running.")
    return 0


def _broadcast(context: Context, words: list[str]) -> int:
    intent = parse_intent(words, ("--async", "--allow-background-activity-starts"), ("--user", "--receiver-permission"))
    if not intent.action and not intent.component:
        context.err("Error: No intent supplied")
        return 255
    if intent.action in _LOCKED:
        context.err(
            f"Security exception: Permission Denial: not allowed to send broadcast {intent.action} "
            f"from pid={context.shell.scope.pid}, uid=2000"
        )
        return 255
    intent.flags |= 0x400000
    context.line(f"Broadcasting: {intent}")
    result = _receive(context, intent)
    context.line(f"Broadcast completed: {result}")
    return 0


def _receive(context: Context, intent: Intent) -> str:
    if intent.action.startswith("ADB_KEYBOARD_"):
        return _keyboard(context, intent)
    if intent.action == "ADB_INPUT_TEXT" and _adb_keyboard_is_current(context):
        context.phone.type_text(intent.extras.get("msg", ""))
    return "result=0"


def _adb_keyboard_is_current(context: Context) -> bool:
    settings = context.system.memory.settings
    return (
        ADB_KEYBOARD_ID in context.phone.input_methods
        and settings.get(("secure", "default_input_method")) == ADB_KEYBOARD_ID
    )


def _keyboard(context: Context, intent: Intent) -> str:
    """Be the keyboard that uiautomator2 installs (its _input.py sends these)."""
    if not _adb_keyboard_is_current(context):
        return "result=0"
    phone = context.phone
    action = intent.action.removeprefix("ADB_KEYBOARD_")
    done, refused = 'result=-1, data="success"', 'result=0, data="fail"'
    match action:
        case "INPUT_TEXT" | "SET_TEXT":
            try:
                text = base64.b64decode(intent.extras.get("text", ""), validate=True).decode()
            except (binascii.Error, UnicodeDecodeError, ValueError):
                return refused
            if action == "SET_TEXT":
                phone.clear_text()
            return done if phone.type_text(text) else refused
        case "CLEAR_TEXT":
            return done if phone.clear_text() else refused
        case "EDITOR_CODE" | "SMART_ENTER" | "INPUT_KEYCODE":
            code = intent.extras.get("code", "66")
            if action == "INPUT_KEYCODE" and code.isdecimal() and len(code) < 6:
                phone.key(int(code))
            else:
                phone.key("enter")
            return done
        case "HIDE":
            if phone.keyboard_open:
                phone.key("back")
            return done
        case "GET_CLIPBOARD":
            return f'result=-1, data="{base64.b64encode(phone.clipboard.encode()).decode()}"'
        case _:
            return "result=0"


def _named_package(words: list[str], verb: str) -> str:
    names = [
        word for place, word in enumerate(words) if not word.startswith("-") and words[place - 1 : place] != ["--user"]
    ]
    if not names:
        raise UsageError(f'Argument expected after "{verb}"', 255)
    return names[0]


def _force_stop(context: Context, words: list[str]) -> int:
    package = _named_package(words, "force-stop")
    context.phone.force_stop(package)
    context.system.memory.log.note(
        "I", "ActivityManager", f"Force stopping {package} appid=10000 user=0: from pid 22000"
    )
    return 0


def _kill(context: Context, words: list[str]) -> int:
    package = _named_package(words, "kill")
    record = activities.front(context.system)
    if record is None or record.package != package:  # only what runs in the background is killed
        context.phone.force_stop(package)
    return 0


def _kill_all(context: Context, _: list[str]) -> int:
    record = activities.front(context.system)
    for package in context.phone.recents:
        if record is None or record.package != package:
            context.phone.force_stop(package)
    return 0


def _stack(context: Context, words: list[str]) -> int:
    if words[:1] != ["list"] and context.name != "task":
        raise UsageError(f"unknown command '{' '.join(words)}'", 255)
    display = context.phone.display
    bounds = f"[0,0][{display.width},{display.height}]"
    for place, record in enumerate(activities.tasks(context.system)):
        whole = f"{record.package}/{record.activity}"
        visible = "true" if not place else "false"
        context.line(f"RootTask id={record.task} bounds={bounds} displayId=0 userId=0")
        context.line(f"  taskId={record.task}: {whole} bounds={bounds} userId=0 visible={visible} "
                     f"topActivity=ComponentInfo{{{whole}}}")  # fmt: skip
    return 0


def _instrument(context: Context, words: list[str]) -> int:
    names = [word for word in words if "/" in word]
    if not names:
        context.err('Error: Argument expected after "instrument"')
        return 255
    package, _, runner = names[-1].partition("/")
    runner = package + runner if runner.startswith(".") else runner
    component = f"{package}/{runner}"
    context.line("INSTRUMENTATION_STATUS: id=ActivityManagerService")
    context.line(f"INSTRUMENTATION_STATUS: Error=Unable to find instrumentation info for: ComponentInfo{{{component}}}")
    context.line("INSTRUMENTATION_STATUS_CODE: -1")
    context.err(f"android.util.AndroidException: INSTRUMENTATION_FAILED: {component}")
    return 1


def _user(context: Context, _: list[str]) -> int:
    context.line("0")
    return 0


def _configuration(context: Context, _: list[str]) -> int:
    display = context.phone.display
    size = f"sw{min(display.natural_width, display.natural_height) * 160 // display.density}dp"
    language, country = context.phone.locale.tag.split("-")
    turned = "land" if display.rotation % 2 else "port"
    night = "night" if context.phone.state["settings/dark_theme"] else "notnight"
    context.line(
        f"config: mcc310-mnc260-{language}-r{country}-ldltr-{size}-w{display.width * 160 // display.density}dp-"
        f"h{display.height * 160 // display.density}dp-normal-long-notround-{turned}-{night}-{display.density}dpi-"
        f"finger-keysexposed-nokeys-navhidden-nonav-v{context.system.getprop('ro.build.version.sdk')}"
    )
    context.line("abi: x86_64")
    return 0


def _bucket(context: Context, _: list[str]) -> int:
    context.line("10")
    return 0


def _uri(context: Context, words: list[str]) -> int:
    intent = parse_intent(words)
    context.line(intent.data or f"#Intent;action={intent.action};end")
    return 0


def _wait(context: Context, _: list[str]) -> int:
    context.line("All broadcast queues are idle!")
    return 0


def _monitor(context: Context, _: list[str]) -> Steps:
    context.line("Monitoring activity manager...  available commands:\n(q)uit: finish monitoring")
    yield Forever()
    return 0


def _quiet(_: Context, __: list[str]) -> int:
    return 0


_VERBS: Mapping[str, Callable[[Context, list[str]], int | Steps]] = MappingProxyType(
    {
        "attach-agent": _quiet,
        "broadcast": _broadcast,
        "clear-debug-app": _quiet,
        "clear-watch-heap": _quiet,
        "crash": _force_stop,
        "dumpheap": _quiet,
        "force-stop": _force_stop,
        "get-config": _configuration,
        "get-current-user": _user,
        "get-standby-bucket": _bucket,
        "idle-maintenance": _quiet,
        "instrument": _instrument,
        "kill": _kill,
        "kill-all": _kill_all,
        "make-uid-idle": _quiet,
        "monitor": _monitor,
        "send-trim-memory": _quiet,
        "set-debug-app": _quiet,
        "set-inactive": _quiet,
        "set-standby-bucket": _quiet,
        "stack": _stack,
        "start": _start,
        "start-activity": _start,
        "start-foreground-service": _start_service,
        "start-service": _start_service,
        "startservice": _start_service,
        "stop-app": _force_stop,
        "stop-service": _stop_service,
        "stopservice": _stop_service,
        "switch-user": _quiet,
        "task": _stack,
        "to-intent-uri": _uri,
        "to-uri": _uri,
        "wait-for-broadcast-idle": _wait,
    }
)


def _am(context: Context, arguments: list[str]) -> int | Steps:
    if not arguments or arguments[0] in ("help", "-h", "--help"):
        context.line("Activity manager (activity) commands:\n  help\n      Print this help text.")
        context.lines(f"  {name}" for name in sorted(_VERBS))
        return 0
    verb = _VERBS.get(arguments[0])
    if verb is None:
        context.system.count_unknown(f"am {arguments[0]}")
        context.err(f"Unknown command: {arguments[0]}")
        return 255
    try:
        return verb(context, arguments[1:])
    except UsageError as error:
        context.err(f"Error: {error.text}")
        return error.code


def _monkey(context: Context, arguments: list[str]) -> int:
    packages = [arguments[place + 1] for place, word in enumerate(arguments[:-1]) if word == "-p"]
    if not arguments:
        context.line(
            "usage: monkey [-p ALLOWED_PACKAGE [-p ALLOWED_PACKAGE] ...]\n              [-c MAIN_CATEGORY] COUNT"
        )
        return 255
    if not re.fullmatch("[0-9]{1,9}", arguments[-1]):
        context.line(
            "** Error: Count not specified" if arguments[-1].startswith("-") else "** Error: Count not a number"
        )
        return 255
    for word in arguments:
        context.line(f"  bash arg: {word}")
    system = context.system
    chosen = [name for name in packages if activities.main_activity(context.phone, name) and name != launcher.PACKAGE]
    chosen = [name for name in chosen if system.packages.can_open(name)]
    if packages and not chosen:
        context.line("** No activities found to run, monkey aborted.")
        return 252
    if not packages:
        context.line("** No activities found to run, monkey aborted.")  # it presses keys at random on a real phone
        return 252
    intent = Intent(activities.MAIN, categories=[activities.LAUNCHER], package=chosen[0])
    component = activities.resolve(system, intent)
    if component is not None:
        activities.start(system, intent, component)
    context.line(f"Events injected: {arguments[-1]}")
    context.line("## Network stats: elapsed time=21ms (0ms mobile, 0ms wifi, 21ms not connected)")
    return 0


ACTIVITY_MANAGER: Mapping[str, Command] = MappingProxyType(
    {"am": Command(_am, toybox=False, work=40), "monkey": Command(_monkey, toybox=False, work=40)}
)
