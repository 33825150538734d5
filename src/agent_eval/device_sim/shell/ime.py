"""Input methods: the command ``ime``, and the same behind ``cmd input_method``."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from agent_eval.device_sim import keyboard
from agent_eval.device_sim.shell.context import Command, Context

DEFAULT = f"{keyboard.PACKAGE}/.LatinIME"
_CURRENT = ("secure", "default_input_method")


def current(context: Context) -> str:
    """Return the id of the input method in use."""
    return context.system.memory.settings.get(_CURRENT, DEFAULT)


def ime_command(context: Context, arguments: list[str]) -> int:
    """Run ``ime`` or ``cmd input_method`` (InputMethodManagerService)."""
    words = [
        word for place, word in enumerate(arguments) if word != "--user" and arguments[place - 1 : place] != ["--user"]
    ]
    verb = words[0] if words else "help"
    names = [word for word in words[1:] if not word.startswith("-")]
    match verb:
        case "list":
            return _list(context, {word for word in words[1:] if word.startswith("-")})
        case "reset":
            context.system.memory.enabled_input_methods = {DEFAULT}
            context.system.memory.settings[_CURRENT] = DEFAULT
            context.line(f"Reset current and enabled IMEs for user #0\n  Newly enabled IMEs:\n    {DEFAULT}")
            return 0
        case "enable" | "disable" | "set":
            if not names:
                context.err("Error: Unknown input method null")
                return 255
            return _change(context, verb, names[0])
        case "help" | "-h" | "--help":
            context.line("ime <command>:\n  list [-a] [-s]\n  enable <ID>\n  disable <ID>\n  set <ID>\n  reset")
            return 0
        case "tracing":
            return 0
        case _:
            context.err(f"Unknown command: {verb}")
            return 255


def _list(context: Context, flags: set[str]) -> int:
    enabled = context.system.memory.enabled_input_methods
    for name in context.phone.input_methods:
        if "-a" not in flags and name not in enabled:
            continue
        if "-s" in flags:
            context.line(name)
            continue
        package, _, activity = name.partition("/")
        context.line(f"{name}:")
        context.line(f"  mId={name} mSettingsActivityName={package}.SettingsActivity mIsVrOnly=false")
        context.line("  mIsDefaultResId=0x7f050000\n  Service:")
        context.line(f"    ServiceInfo:\n      name={package + activity}\n      packageName={package}")
    return 0


def _change(context: Context, verb: str, name: str) -> int:
    memory = context.system.memory
    if name not in context.phone.input_methods:
        wanted = {"enable": "enabled", "disable": "disabled", "set": "selected"}[verb]
        context.err(f"Unknown input method {name} cannot be {wanted} for user #0")
        return 255
    if verb == "enable":
        state = "already" if name in memory.enabled_input_methods else "now"
        memory.enabled_input_methods.add(name)
        context.line(f"Input method {name}: {state} enabled for user #0")
    elif verb == "disable":
        state = "now" if name in memory.enabled_input_methods else "already"
        memory.enabled_input_methods.discard(name)
        if memory.settings.get(_CURRENT) == name:
            memory.settings[_CURRENT] = DEFAULT
        context.line(f"Input method {name}: {state} disabled for user #0")
    else:
        if name not in memory.enabled_input_methods:
            context.err(f"Unknown input method {name} cannot be selected for user #0")
            return 255
        memory.settings[_CURRENT] = name
        context.line(f"Input method {name} selected for user #0")
    return 0


IME: Mapping[str, Command] = MappingProxyType({"ime": Command(ime_command, toybox=False)})
