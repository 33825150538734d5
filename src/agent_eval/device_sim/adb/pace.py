"""How the phone's virtual time goes by while clients are connected. The only place of the phone with a wall clock.

In virtual time a phone with nothing else to do jumps to the moment that somebody waits for. In real time it follows
the wall clock, and when a gesture took it ahead (a click is held 100 ms, a swipe takes 5 ms per step) what the services
say is held back until real time has caught up, so that a client sees a swipe take as long as on a real phone.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Protocol

from agent_eval.device_sim.phone import Phone

FREE_JUMPS = 500
"""How often one service may pull virtual time forward without its client saying anything; from then on it waits as
long as on a real phone. It lets every wait with an end through at once, and keeps ``logcat`` from racing for ever."""
LONGEST_JUMP_MS = 86_400_000
"""How far virtual time jumps at once; what lies further off is waited for as on a real phone. A client that sleeps for
years must not make every timer of the phone fire that it would have fired until then."""
_LEAST_WAIT_S = 0.05


class Pace(Protocol):
    """A policy for the phone's clock."""

    def catch_up(self) -> None:
        """Bring the phone to the present; called before anything that happens to it."""
        ...

    def seconds_until(self, due_ms: int, jumps: int) -> float:
        """Return how long to wait, when nothing else happens, until virtual time is to be ``due_ms``.

        Args:
            due_ms: Virtual time that a service waits for.
            jumps: How often this service has been waited for since its client last said something.
        """
        ...

    def seconds_held(self, since_ms: int) -> float:
        """Return how long what was said at a virtual time must be held back."""
        ...

    def reach(self, due_ms: int) -> None:
        """Bring the phone to a moment that was waited for."""
        ...

    def rebase(self) -> None:
        """Know that the phone's owner has set its clock: what is now is the present."""
        ...


class VirtualTime:
    """Time passes when somebody waits for it, and at once.

    Args:
        phone: The phone.
    """

    def __init__(self, phone: Phone) -> None:
        self._phone = phone

    def catch_up(self) -> None:
        """Do nothing: time stands still between events."""

    def seconds_until(self, due_ms: int, jumps: int) -> float:
        """Return none, unless the service has been waited for too often, or waits for too long."""
        missing_ms = due_ms - self._phone.clock.now_ms
        if jumps < FREE_JUMPS and missing_ms <= LONGEST_JUMP_MS:
            return 0.0
        return max(missing_ms / 1000, _LEAST_WAIT_S)

    def seconds_held(self, since_ms: int) -> float:  # noqa: ARG002 - the same for every moment
        """Return none."""
        return 0.0

    def reach(self, due_ms: int) -> None:
        """Jump to the moment."""
        _advance_to(self._phone, due_ms)

    def rebase(self) -> None:
        """Do nothing: there is no other clock."""


class RealTime:
    """Time passes as on the wall.

    Args:
        phone: The phone.
        seconds: The clock on the wall, which never goes backwards.
    """

    def __init__(self, phone: Phone, seconds: Callable[[], float] = time.monotonic) -> None:
        self._phone = phone
        self._seconds = seconds
        self.rebase()

    @property
    def _present_ms(self) -> int:
        return self._base_ms + math.floor((self._seconds() - self._base_s) * 1000)

    def catch_up(self) -> None:
        """Bring the phone to the present, unless a gesture took it ahead."""
        if self._phone.clock is not self._clock:
            self.rebase()  # the phone was made anew
        _advance_to(self._phone, self._present_ms)

    def seconds_until(self, due_ms: int, jumps: int) -> float:
        """Return the difference to the present; a service that waits for the past over and over waits a little."""
        least = 0.0 if jumps < FREE_JUMPS else _LEAST_WAIT_S
        return max((due_ms - self._present_ms) / 1000, least)

    def seconds_held(self, since_ms: int) -> float:
        """Return how far a moment lies ahead of the present."""
        return max((since_ms - self._present_ms) / 1000, 0.0)

    def reach(self, due_ms: int) -> None:  # noqa: ARG002 - it is where the clock on the wall is
        """Bring the phone to the present."""
        self.catch_up()

    def rebase(self) -> None:
        """Take the phone's time for the present."""
        self._clock = self._phone.clock
        self._base_ms = self._clock.now_ms
        self._base_s = self._seconds()


def _advance_to(phone: Phone, due_ms: int) -> None:
    missing = due_ms - phone.clock.now_ms
    if missing > 0:
        phone.advance(missing / 1000)
