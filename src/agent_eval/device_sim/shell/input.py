"""The command ``input``: fingers and keys (InputShellCommand)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from agent_eval.device_sim.shell.context import Command, Context

_SOURCES = ("touchscreen", "keyboard", "dpad", "gamepad", "touchpad", "mouse", "stylus", "touchnavigation", "joystick",
            "trackball", "rotaryencoder")  # fmt: skip
_SWIPE_MS, _LONGEST_MS = 300, 600_000
_MOST_KEYS, _WORK_PER_KEY = 1000, 40
"""Keys that one command presses, and what each costs (see ``process.WORK_PER_TURN``)."""
_TYPED: Mapping[int, str] = MappingProxyType(
    {
        17: "*", 18: "#", 55: ",", 56: ".", 62: " ", 68: "`", 69: "-", 70: "=", 71: "[", 72: "]", 73: "\\", 74: ";",
        75: "'", 76: "/", 77: "@", 81: "+", 154: "/", 155: "*", 156: "-", 157: "+", 158: ".", 159: ",", 161: "=",
        162: "(", 163: ")", **{144 + digit: str(digit) for digit in range(10)},
    }
)  # fmt: skip
"""Key codes that write a character, beside letters and digits (android.view.KeyEvent)."""
_NAMES: Mapping[str, int] = MappingProxyType(
    {
        "SOFT_LEFT": 1, "SOFT_RIGHT": 2, "HOME": 3, "BACK": 4, "CALL": 5, "ENDCALL": 6,
        **{str(digit): 7 + digit for digit in range(10)},
        "STAR": 17, "POUND": 18, "DPAD_UP": 19, "DPAD_DOWN": 20, "DPAD_LEFT": 21, "DPAD_RIGHT": 22, "DPAD_CENTER": 23,
        "VOLUME_UP": 24, "VOLUME_DOWN": 25, "POWER": 26, "CAMERA": 27, "CLEAR": 28,
        **{chr(65 + place): 29 + place for place in range(26)},
        "COMMA": 55, "PERIOD": 56, "ALT_LEFT": 57, "ALT_RIGHT": 58, "SHIFT_LEFT": 59, "SHIFT_RIGHT": 60, "TAB": 61,
        "SPACE": 62, "SYM": 63, "EXPLORER": 64, "ENVELOPE": 65, "ENTER": 66, "DEL": 67, "GRAVE": 68, "MINUS": 69,
        "EQUALS": 70, "LEFT_BRACKET": 71, "RIGHT_BRACKET": 72, "BACKSLASH": 73, "SEMICOLON": 74, "APOSTROPHE": 75,
        "SLASH": 76, "AT": 77, "NUM": 78, "HEADSETHOOK": 79, "FOCUS": 80, "PLUS": 81, "MENU": 82, "NOTIFICATION": 83,
        "SEARCH": 84, "MEDIA_PLAY_PAUSE": 85, "MEDIA_STOP": 86, "MEDIA_NEXT": 87, "MEDIA_PREVIOUS": 88,
        "MEDIA_REWIND": 89, "MEDIA_FAST_FORWARD": 90, "MUTE": 91, "PAGE_UP": 92, "PAGE_DOWN": 93, "ESCAPE": 111,
        "FORWARD_DEL": 112, "CTRL_LEFT": 113, "CTRL_RIGHT": 114, "CAPS_LOCK": 115, "SCROLL_LOCK": 116,
        "META_LEFT": 117, "META_RIGHT": 118, "FUNCTION": 119, "MOVE_HOME": 122, "MOVE_END": 123, "INSERT": 124,
        "MEDIA_PLAY": 126, "MEDIA_PAUSE": 127, **{f"F{place}": 130 + place for place in range(1, 13)},
        **{f"NUMPAD_{digit}": 144 + digit for digit in range(10)}, "NUMPAD_ENTER": 160, "VOLUME_MUTE": 164,
        "SETTINGS": 176, "APP_SWITCH": 187, "CALCULATOR": 210, "ASSIST": 219, "BRIGHTNESS_DOWN": 220,
        "BRIGHTNESS_UP": 221, "SLEEP": 223, "WAKEUP": 224, "SOFT_SLEEP": 276, "CUT": 277, "COPY": 278, "PASTE": 279,
        "ALL_APPS": 284,
    }
)  # fmt: skip
_LAST_CODE = 320


def code_of(word: str) -> int | None:
    """Return the number of a key, given by number or name, or None when there is no such key."""
    if re.fullmatch("[0-9]{1,4}", word):
        return int(word) if int(word) <= _LAST_CODE else None
    if re.fullmatch("0[xX][0-9a-fA-F]{1,4}", word):
        return int(word, 16) if int(word, 16) <= _LAST_CODE else None
    return _NAMES.get(word.upper().removeprefix("KEYCODE_"))


def _number(word: str) -> float:
    if len(word) > 24 or not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", word):
        raise ValueError(word)
    value = float(word)
    return max(min(value, 1e6), -1e6)


def _points(arguments: Sequence[str], count: int) -> list[float]:
    if len(arguments) < count:
        raise IndexError
    return [_number(word) for word in arguments[:count]]


def _tap(context: Context, arguments: Sequence[str]) -> None:
    x, y = _points(arguments, 2)
    context.phone.tap(x, y)


def _swipe(context: Context, arguments: Sequence[str]) -> None:
    x1, y1, x2, y2 = _points(arguments, 4)
    milliseconds = min(int(arguments[4]) if len(arguments) > 4 else _SWIPE_MS, _LONGEST_MS)
    context.phone.swipe(x1, y1, x2, y2, (_SWIPE_MS if milliseconds < 0 else milliseconds) / 1000)


def _text(context: Context, arguments: Sequence[str]) -> None:
    out: list[str] = []
    escaped = False
    for character in arguments[0]:
        if escaped and character == "s":
            out[-1] = " "
            escaped = False
            continue
        escaped = character == "%"
        out.append(character)
    context.phone.type_text("".join(out))


def _key(context: Context, arguments: Sequence[str]) -> None:
    words, held = [], False
    queue = iter(arguments)
    for word in queue:
        if word in ("--delay", "--duration"):
            next(queue, None)
        elif word == "--longpress":
            held = True
        elif not word.startswith("--"):
            words.append(word)
    if not 0 < len(words) <= _MOST_KEYS:
        raise ValueError(f"{len(words)} keys")
    codes = [code_of(word) for word in words]
    if None in codes:
        raise ValueError(words)
    context.shell.host.spend(len(codes) * _WORK_PER_KEY)
    for code in codes:
        if code is not None:
            _press(context, code, held=held)


def _press(context: Context, code: int, *, held: bool = False) -> None:
    if held:
        context.phone.advance(0.5)
    if code in _TYPED:
        context.phone.type_text(_TYPED[code])
    else:
        context.phone.key(code)


def _combination(context: Context, arguments: Sequence[str]) -> None:
    words = [word for word in arguments if not word.startswith("-")]
    if arguments[:1] == ["-t"]:
        words = words[1:]
    codes = [code_of(word) for word in words]
    if len(codes) < 2 or None in codes:
        raise ValueError(words)
    shortcut = _COMBINATIONS.get(frozenset(code for code in codes if code is not None))
    if shortcut is not None:
        shortcut(context)
    elif codes[0] in (59, 60) and len(codes) == 2 and 29 <= (codes[1] or 0) <= 54:
        context.phone.type_text(chr(65 + (codes[1] or 0) - 29))


_COMBINATIONS: Mapping[frozenset[int], Callable[[Context], object]] = MappingProxyType(
    {
        frozenset({113, 29}): lambda context: _select_all(context),
        frozenset({113, 50}): lambda context: context.phone.key(279),
        frozenset({61, 57}): lambda context: context.phone.key(187),
    }
)
"""Ctrl+A, Ctrl+V and Alt+Tab, by their key codes."""


def _select_all(context: Context) -> None:
    if context.phone.focused() is not None:
        context.phone.tell_page({"selected": True})


def _motion(context: Context, arguments: Sequence[str]) -> None:
    actions = {"DOWN": 0, "UP": 1, "MOVE": 2, "CANCEL": 3}
    action = actions[arguments[0].upper()]
    x, y = (0.0, 0.0) if action == 3 and len(arguments) < 3 else _points(arguments[1:], 2)
    context.phone.fingers.touch(action, x, y)


def _center(context: Context, _: Sequence[str]) -> None:
    context.phone.key("center")


def _roll(context: Context, arguments: Sequence[str]) -> None:
    _points(arguments, 2)
    context.phone.advance(0.005)


def _scroll(context: Context, arguments: Sequence[str]) -> None:
    words = [word for word in arguments if not word.startswith("--")]
    x, y = _points([word for word in words if "," not in word], 2)
    turns = next((_number(word.partition(",")[2]) for word in arguments if word.startswith("VSCROLL,")), 0.0)
    if turns:
        context.phone.swipe(x, y, x, y + turns * 128, 0.1)


_VERBS: Mapping[str, Callable[[Context, Sequence[str]], None]] = MappingProxyType(
    {
        "draganddrop": _swipe,
        "keycombination": _combination,
        "keyevent": _key,
        "motionevent": _motion,
        "press": _center,
        "roll": _roll,
        "scroll": _scroll,
        "swipe": _swipe,
        "tap": _tap,
        "text": _text,
    }
)


def input_command(context: Context, arguments: list[str]) -> int:
    """Run ``input`` or ``cmd input``."""
    words = list(arguments)
    if words and words[0] in _SOURCES:
        words = words[1:]
    if words[:1] == ["-d"]:
        words = words[2:]
    if not words:
        context.err("Error: Insufficient arguments")
        return 255
    if words[0] in ("help", "-h", "--help"):
        context.line(
            "Usage: input [<source>] [-d DISPLAY_ID] <command> [<arg>...]\n\nThe commands and default sources are:"
        )
        context.lines(f"      {name}" for name in sorted(_VERBS))
        return 0
    verb = _VERBS.get(words[0])
    if verb is None:
        context.err(f"Error: Unknown command: {words[0][:200]}")
        return 255
    try:
        verb(context, words[1:])
    except (ValueError, IndexError, KeyError, OverflowError):
        context.err(f"Error: Invalid arguments for command: {words[0]}")
        return 255
    return 0


INPUT: Mapping[str, Command] = MappingProxyType({"input": Command(input_command, toybox=False, work=40)})
