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


class Mark(NamedTuple):
    """How far somebody has read the log. Not a time: much can happen while a clock stands still."""

    noted: int = 0
    """How many lines had been noted."""
    second: int = 0
    """Second of the clock whose chatter is read."""


START = Mark()
"""Where a reader begins who has read nothing."""

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
        self._count = 0
        self._cleared = phone.boot_ms // CHATTER_MS
        self._note(phone.boot_ms, 1, 1, "I", "init", "starting service 'adbd'...")
        self._note(phone.boot_ms, 610, 610, "I", "SystemServer", "Entered the Android system server!")
        self._note(phone.boot_ms, 610, 610, "I", "ActivityManager", "System now ready")

    def _note(self, moment_ms: int, pid: int, thread: int, level: str, tag: str, text: str) -> None:
        self._noted.append(LogLine(moment_ms, pid, thread, level, tag, text))
        self._count += 1

    def note(self, level: str, tag: str, text: str, *, pid: int = 610, thread: int | None = None) -> None:
        """Add a line."""
        self._note(self._phone.clock.now_ms, pid, thread or pid, level, tag[:128], text[:4000])

    def clear(self) -> None:
        """Forget all lines so far."""
        self._noted.clear()
        self._cleared = self.mark.second

    @property
    def mark(self) -> Mark:
        """Where the log ends now."""
        return Mark(self._count, self._phone.clock.now_ms // CHATTER_MS)

    def since(self, mark: Mark = START) -> list[LogLine]:
        """Return the lines that a reader who got as far as a mark has not seen, in order."""
        new = min(self._count - mark.noted, len(self._noted))
        noted = list(self._noted)[len(self._noted) - new :]
        return sorted([*noted, *self._chatter(max(mark.second, self._cleared))], key=lambda line: line.moment_ms)

    @property
    def next_chatter_ms(self) -> int:
        """When the next line of chatter comes."""
        return (self._phone.clock.now_ms // CHATTER_MS + 1) * CHATTER_MS

    def _chatter(self, read: int) -> list[LogLine]:
        now = self._phone.clock.now_ms // CHATTER_MS
        return [
            LogLine(second * CHATTER_MS, *_CHATTER[second % len(_CHATTER)])
            for second in range(max(read, now - _MOST_CHATTER) + 1, now + 1)
        ]
