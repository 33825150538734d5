"""The task's back door to a phone that only adb reaches: what its shell can answer and set. Knows no transport.

A real phone answers less than the simulator: its settings, but not its alarms or messages. What it cannot answer or set
is refused by name, so that no task is judged on half of what it asked for. ``playable`` tells beforehand.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from agent_eval.errors import DeviceFault, TaskFault
from agent_eval.types import FiredFault, PhoneSetup, Scalar, Skin, Snapshot

Shell = Callable[[str], str]
"""Runs a command line on the phone and returns what it printed."""

_MARK = "@@agent-eval@@"
_TRIES = 10
_APPS = ("com.android.settings", "com.android.deskclock", "com.google.android.deskclock")
"""Apps that are closed before an episode, so that it does not begin in the middle of something."""


@dataclass(frozen=True)
class Answer:
    """How one path is read from a shell, and written where it can be."""

    read: str
    """Command line."""
    parse: Callable[[str], Scalar]
    """From what it printed; ValueError when that is not understood."""
    write: Callable[[Scalar], str] | None = None
    """Command line that sets a value."""


def _flag(text: str) -> bool:
    if text not in ("0", "1"):
        raise ValueError(text)
    return text == "1"


def _after(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    if match is None:
        raise ValueError(text)
    return match[1]


def _setting(namespace: str, key: str, parse: Callable[[str], Scalar], *, writable: bool = True) -> Answer:
    def write(value: Scalar) -> str:
        shown = int(value) if isinstance(value, bool) else value
        return f"settings put {namespace} {key} {shlex.quote(str(shown))}"

    return Answer(f"settings get {namespace} {key}", parse, write if writable else None)


def _switched(namespace: str, key: str, on: str, off: str) -> Answer:
    return Answer(f"settings get {namespace} {key}", _flag, lambda value: on if value else off)


def _volume(stream: int) -> Answer:
    return Answer(
        f"cmd media_session volume --stream {stream} --get",
        lambda text: int(_after(r"volume is (\d+)", text)),
        lambda value: f"cmd media_session volume --stream {stream} --set {int(value)}",
    )


ANSWERS: Mapping[str, Answer] = {
    "about/android_version": Answer("getprop ro.build.version.release", str),
    "about/model": Answer("getprop ro.product.model", str),
    "settings/adaptive_brightness": _setting("system", "screen_brightness_mode", _flag),
    "settings/airplane_mode_on": _switched(
        "global", "airplane_mode_on", "cmd connectivity airplane-mode enable", "cmd connectivity airplane-mode disable"
    ),
    "settings/battery_saver": _switched("global", "low_power", "cmd power set-mode 1", "cmd power set-mode 0"),
    "settings/bluetooth_on": _switched("global", "bluetooth_on", "svc bluetooth enable", "svc bluetooth disable"),
    "settings/brightness": _setting("system", "screen_brightness", int),
    "settings/dark_theme": Answer(
        "cmd uimode night",
        lambda text: {"yes": True, "no": False}[_after(r"Night mode: (yes|no)", text)],
        lambda value: f"cmd uimode night {'yes' if value else 'no'}",
    ),
    "settings/data_saver": Answer(
        "cmd netpolicy get restrict-background",
        lambda text: _after(r"status: (enabled|disabled)", text) == "enabled",
        lambda value: f"cmd netpolicy set restrict-background {'true' if value else 'false'}",
    ),
    "settings/device_name": _setting("global", "device_name", str),
    "settings/do_not_disturb": Answer(
        "settings get global zen_mode",
        lambda text: int(text) != 0,
        lambda value: f"cmd notification set_dnd {'on' if value else 'off'}",
    ),
    "settings/screen_timeout_s": Answer(
        "settings get system screen_off_timeout",
        lambda text: int(text) // 1000,
        lambda value: f"settings put system screen_off_timeout {int(value) * 1000}",
    ),
    "settings/volume_alarm": _volume(4),
    "settings/volume_media": _volume(3),
    "settings/volume_ring": _volume(2),
    "settings/wifi_on": _switched("global", "wifi_on", "svc wifi enable", "svc wifi disable"),
}
"""Persisted path to how a phone's shell answers and sets it; formats of AOSP's SettingsService and shell commands."""


def playable(paths: Iterable[str]) -> bool:
    """Tell whether a phone behind adb can be given, and asked for, these persisted paths."""
    return all(path in ANSWERS and ANSWERS[path].write is not None for path in paths)


class AdbPhone:
    """Implements ``contracts.PhoneControl`` over a shell.

    Args:
        shell: Runs a command line on the phone.
    """

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    def reset(self, setup: PhoneSetup) -> None:
        """Set what the setup asks for and show the launcher; all else stays as the phone's owner has it.

        Raises:
            TaskFault: the setup asks for something that a shell cannot set, or the phone did not take it.
        """
        if setup.without:
            raise TaskFault(
                f"a phone behind adb keeps what its owner has below {', '.join(setup.without)}",
                hint="use --device sim or tcp for tasks that name all records themselves",
            )
        if setup.skin != Skin() or setup.faults:
            raise TaskFault(
                "a phone behind adb has its own skin and no faults to switch on", hint="use --device sim or tcp"
            )
        lines = [self._writing(path, value) for path, value in setup.state.items()]
        for package in _APPS:
            self._shell(f"am force-stop {package}")
        self._shell("; ".join([*lines, "input keyevent WAKEUP", "input keyevent HOME"]))
        missing = dict(setup.state)
        for _ in range(_TRIES):
            now = dict(self.snapshot().persisted)
            missing = {path: value for path, value in missing.items() if now.get(path) != value}
            if not missing:
                return
            self._shell("sleep 1")  # radios take their time
        path, value = next(iter(missing.items()))
        raise TaskFault(
            f"the phone did not take {path!r} = {value!r}; it says {now.get(path)!r}",
            hint="does the phone allow its shell to change this?",
        )

    @staticmethod
    def _writing(path: str, value: Scalar) -> str:
        answer = ANSWERS.get(path)
        if answer is None or answer.write is None:
            raise TaskFault(
                f"a phone behind adb cannot be given {path!r} = {value!r}",
                hint=f"its shell can set {', '.join(name for name, known in ANSWERS.items() if known.write)}",
            )
        return answer.write(value)

    def snapshot(self) -> Snapshot:
        """Return what the phone's shell answers; paths that this phone does not know are absent.

        Raises:
            DeviceFault: the phone did not answer.
        """
        line = f"; echo {_MARK}; ".join(f"{answer.read} 2>/dev/null" for answer in ANSWERS.values())
        parts = self._shell(line).split(_MARK)
        if len(parts) != len(ANSWERS):
            raise DeviceFault(
                f"the phone's shell answered {len(parts)} of {len(ANSWERS)} questions", hint="is it still connected?"
            )
        found: dict[str, Scalar] = {}
        for (path, answer), text in zip(ANSWERS.items(), parts, strict=True):
            try:
                found[path] = answer.parse(text.strip())
            except (ValueError, KeyError):
                continue
        return Snapshot(persisted=tuple(sorted(found.items())))

    def schedule(self, after_s: float, changes: Mapping[str, Scalar]) -> None:
        """Refuse: nothing can be planned on a phone behind adb.

        Raises:
            TaskFault: always.
        """
        raise TaskFault(
            f"a phone behind adb cannot change {', '.join(changes)} by itself after {after_s} s",
            hint="use --device sim or tcp for tasks with changes of their own",
        )

    def fired(self) -> tuple[FiredFault, ...]:
        """Return nothing: no faults can be switched on."""
        return ()
