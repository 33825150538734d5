from __future__ import annotations

import pytest

from agent_eval.device_sim.clock import LAST_S, VirtualClock
from agent_eval.device_sim.locales import LOCALES


def test_timers_fire_once_each_at_their_own_moment_and_in_the_order_set() -> None:
    clock = VirtualClock(1000)
    fired: list[tuple[str, int]] = []
    clock.at(1500, lambda: fired.append(("b", clock.now_ms)))
    clock.at(1200, lambda: fired.append(("a", clock.now_ms)))
    clock.at(1500, lambda: fired.append(("c", clock.now_ms)))
    due = [clock.next_due_ms]
    assert not clock.advance(100)
    assert clock.advance(1000)
    assert fired == [("a", 1200), ("b", 1500), ("c", 1500)]
    assert [*due, clock.next_due_ms] == [1200, None]
    assert (clock.now_ms, clock.pending) == (2100, 0)
    clock.advance(1000)
    assert len(fired) == 3


def test_a_timer_may_set_another_one_that_is_due_within_the_same_advance() -> None:
    clock = VirtualClock(0)
    fired: list[int] = []
    clock.at(10, lambda: clock.at(20, lambda: fired.append(clock.now_ms)))
    clock.advance(30)
    assert fired == [20]


@pytest.mark.parametrize(
    ("hour", "minute", "shown"), [(0, 0, "12:00 AM"), (7, 5, "7:05 AM"), (12, 30, "12:30 PM"), (23, 59, "11:59 PM")]
)
def test_times_of_day_are_shown_with_twelve_hours(hour: int, minute: int, shown: str) -> None:
    assert LOCALES["en"].time_of_day(hour, minute) == shown


def test_time_ends_with_the_century_and_then_stands_still() -> None:
    clock = VirtualClock(LAST_S * 1000 - 5)
    fired: list[int] = []
    clock.at(LAST_S * 1000 - 1, lambda: fired.append(clock.now_ms))
    clock.at(LAST_S * 1000 + 1, lambda: fired.append(clock.now_ms))
    clock.advance(10**15)
    assert clock.now_ms == LAST_S * 1000
    assert fired == [LAST_S * 1000 - 1]
    clock.advance(1000)
    assert clock.local.isoformat() == "2100-01-01T00:00:00+00:00"
