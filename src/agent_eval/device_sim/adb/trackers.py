"""Lists of debuggable processes, for debuggers that wait for an app: once, or anew whenever they change.

AOSP packages/modules/adb, daemon/jdwp_service.cpp and proto/app_processes.proto. Knows no connection.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable

from agent_eval.device_sim.adb.seams import PhoneSystem, Process
from agent_eval.device_sim.streams import Progress, silent


def debuggable_pids(system: PhoneSystem) -> bytes:
    """Return one process id per line."""
    return "".join(f"{process.pid}\n" for process in _debuggable(system)).encode()


def debuggable_apps(system: PhoneSystem) -> bytes:
    """Return an AppProcesses message: pid, debuggable, and an architecture per process."""
    return b"".join(_field(1, _entry(process)) for process in _debuggable(system))


def _debuggable(system: PhoneSystem) -> Iterable[Process]:
    return (process for process in system.processes() if process.debuggable)


def _entry(process: Process) -> bytes:
    return b"\x08" + _varint(process.pid) + b"\x10\x01" + b"\x18\x00" + _field(4, b"arm64")


def _field(number: int, data: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


class Watch:
    """A list that is said at once, and anew whenever it changed; it is never over.

    Args:
        draw: Returns the list as it is now.
    """

    def __init__(self, draw: Callable[[], bytes]) -> None:
        self.notify: Callable[[], object] = silent
        self._draw = draw
        self._said: bytes | None = None

    def receive(self, data: bytes) -> None:
        """Take no notice."""

    def end_of_input(self) -> None:
        """Take no notice."""

    def hang_up(self) -> None:
        """Say no more."""
        self.notify = silent

    def look(self) -> None:
        """Notice whether the list changed."""
        if self._draw() != self._said:
            self.notify()

    def poll(self) -> Progress:
        """Return the list behind four hexadecimal digits of its length, when it is new."""
        now = self._draw()[:0xFFFF]
        if now == self._said:
            return Progress()
        self._said = now
        return Progress(f"{len(now):04x}".encode() + now)


class Watchers:
    """All lists of one phone that are being watched.

    Args:
        system: What runs on the phone.
    """

    def __init__(self, system: PhoneSystem) -> None:
        self._system = system
        self._watches: weakref.WeakSet[Watch] = weakref.WeakSet()

    def watch(self, draw: Callable[[PhoneSystem], bytes]) -> Watch:
        """Return a stream of one list."""
        made = Watch(lambda: draw(self._system))
        self._watches.add(made)
        return made

    def look(self) -> None:
        """Know that something happened on the phone."""
        for watch in tuple(self._watches):
            watch.look()
