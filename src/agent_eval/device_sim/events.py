"""What happened to a phone lately, for a person who looks in: a bounded log. Knows no phone; no part of its state.

The log is never in a snapshot: two phones in equal states are equal, however they came there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from agent_eval.device_sim.tally import Tally

LIMIT = 2000
"""Events that are kept; older ones are forgotten."""
LONGEST = 400
"""Characters of a text that are kept."""


class Event(NamedTuple):
    """One thing that happened."""

    number: int
    """Counts from 1 and is never reused, so that a reader can ask for what is new."""
    at_ms: int
    """Virtual milliseconds since the epoch."""
    kind: str
    """Short word: tap, swipe, key, text, rpc, shell, gap, ..."""
    text: str


class EventLog:
    """The latest events of one phone.

    Args:
        now_ms: Returns the phone's virtual time.
        limit: Most events that are kept.
    """

    def __init__(self, now_ms: Callable[[], int], limit: int = LIMIT) -> None:
        self._now_ms = now_ms
        self._kept: deque[Event] = deque(maxlen=limit)
        self._last = 0
        self.gaps = Tally()
        """What was asked for that this phone does not have, and how often."""

    def add(self, kind: str, text: str) -> None:
        """Note that something happened just now."""
        self._last += 1
        shown = text if len(text) <= LONGEST else text[: LONGEST - 1] + "\u2026"
        self._kept.append(Event(self._last, self._now_ms(), kind, shown))

    def add_gap(self, text: str) -> None:
        """Note that something was asked for that this phone does not have; the count outlives the event."""
        self.gaps.note(text)
        self.add("gap", text)

    @property
    def last(self) -> int:
        """Number of the latest event; 0 before the first."""
        return self._last

    def since(self, number: int) -> tuple[Event, ...]:
        """Return the events after one that the reader knows, oldest first; forgotten ones are left out."""
        fresh: list[Event] = []
        for event in reversed(self._kept):
            if event.number <= number:
                break
            fresh.append(event)
        return tuple(reversed(fresh))
