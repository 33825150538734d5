"""Virtual time: a counter of milliseconds and the timers that fire when it passes them. Knows no wall clock."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from datetime import UTC, datetime

LAST_S = 4_102_444_800
"""Seconds since the epoch at which the year 2100 begins and the clock of every phone stands still.

Calendars end somewhere, and what clients wait for may lie beyond any of them."""


class VirtualClock:
    """A clock that moves only when told to.

    Args:
        now_ms: Milliseconds since the epoch at which it starts.
    """

    def __init__(self, now_ms: int) -> None:
        self.now_ms = now_ms
        self._order = itertools.count()  # timers due at one moment fire in the order in which they were set
        self._timers: list[tuple[int, int, Callable[[], object]]] = []

    def at(self, due_ms: int, action: Callable[[], object]) -> None:
        """Run an action once, when the clock reaches ``due_ms``."""
        heapq.heappush(self._timers, (due_ms, next(self._order), action))

    def advance(self, milliseconds: int) -> bool:
        """Move forward, firing timers on the way at their own moment; tell whether any fired."""
        end, fired = min(self.now_ms + milliseconds, max(LAST_S * 1000, self.now_ms)), False
        while self._timers and self._timers[0][0] <= end:
            due, _, action = heapq.heappop(self._timers)
            self.now_ms = max(self.now_ms, due)
            action()
            fired = True
        self.now_ms = end
        return fired

    @property
    def next_due_ms(self) -> int | None:
        """The moment of the next timer, or None when none is set."""
        return self._timers[0][0] if self._timers else None

    @property
    def pending(self) -> int:
        """Number of timers not yet fired."""
        return len(self._timers)

    @property
    def local(self) -> datetime:
        """The date and time that the phone shows; its time zone is UTC."""
        return datetime.fromtimestamp(self.now_ms // 1000, UTC)
