"""The phone's log: what was noted, and the chatter of a phone in the background, one line every second.

The chatter follows from the clock alone, so that equal phones log equal lines. Knows no formats.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from agent_eval.device_sim.phone import Phone

KEPT = 2000
"""Lines that are kept, as a ring buffer does."""
CHATTER_MS = 1000
_MOST_CHATTER = 60
"""Lines of chatter that a first look finds at most."""


class LogLine(NamedTuple):
    """One line of the log."""

    moment_ms: int
    pid: int
    thread: int
    level: str
    """One of ``V D I W E F``."""
    tag: str
    text: str


_CHATTER: tuple[tuple[int, int, str, str, str], ...] = (
    (610, 702, "D", "WifiNl80211Manager", "Scan result ready event"),
    (610, 640, "I", "ActivityManager", "Background concurrent copying GC freed 11 MB"),
    (341, 350, "D", "netd", "getTetherStats() -> {[]} <0.5ms>"),
    (610, 711, "D", "BatteryService", "Processing new values: info unchanged"),
    (355, 380, "W", "SurfaceFlinger", "Present fence took long, but not too long"),
    (610, 655, "V", "AlarmManager", "Time tick"),
)


class LogBook:
    """The log of one phone.

    Args:
        phone: The phone.
    """

    def __init__(self, phone: Phone) -> None:
        self._phone = phone
        self._noted: deque[LogLine] = deque(maxlen=KEPT)
        self._from_ms = phone.boot_ms
        self._note(phone.boot_ms, 1, 1, "I", "init", "starting service 'adbd'...")
        self._note(phone.boot_ms, 610, 610, "I", "SystemServer", "Entered the Android system server!")
        self._note(phone.boot_ms, 610, 610, "I", "ActivityManager", "System now ready")

    def _note(self, moment_ms: int, pid: int, thread: int, level: str, tag: str, text: str) -> None:
        self._noted.append(LogLine(moment_ms, pid, thread, level, tag, text))

    def note(self, level: str, tag: str, text: str, *, pid: int = 610, thread: int | None = None) -> None:
        """Add a line."""
        self._note(self._phone.clock.now_ms, pid, thread or pid, level, tag[:128], text[:4000])

    def clear(self) -> None:
        """Forget all lines so far."""
        self._noted.clear()
        self._from_ms = self._phone.clock.now_ms + 1

    def since(self, moment_ms: int) -> list[LogLine]:
        """Return the lines from a moment up to now, in order."""
        start = max(moment_ms, self._from_ms)
        noted = [line for line in self._noted if line.moment_ms >= start]
        return sorted([*noted, *self._chatter(start)], key=lambda line: line.moment_ms)

    @property
    def next_chatter_ms(self) -> int:
        """When the next line of chatter comes."""
        return (self._phone.clock.now_ms // CHATTER_MS + 1) * CHATTER_MS

    def _chatter(self, start: int) -> list[LogLine]:
        now = self._phone.clock.now_ms
        first = max(
            -(-start // CHATTER_MS), now // CHATTER_MS - _MOST_CHATTER + 1, self._phone.boot_ms // CHATTER_MS + 1
        )
        return [
            LogLine(second * CHATTER_MS, *_CHATTER[second % len(_CHATTER)])
            for second in range(first, now // CHATTER_MS + 1)
        ]
