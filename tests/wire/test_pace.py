from __future__ import annotations

import pytest

from agent_eval.device_sim import Phone
from agent_eval.device_sim.adb.pace import FREE_JUMPS, LONGEST_JUMP_MS, RealTime, VirtualTime
from agent_eval.types import PhoneSetup


class Wall:
    """A clock on the wall that the test moves."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def phone() -> Phone:
    return Phone(PhoneSetup(seed=1))


@pytest.fixture
def wall() -> Wall:
    return Wall()


def test_virtual_time_stands_still_and_jumps(phone: Phone) -> None:
    pace = VirtualTime(phone)
    start = phone.clock.now_ms
    pace.catch_up()
    assert phone.clock.now_ms == start
    assert pace.seconds_until(start + 60_000, 0) == 0
    assert pace.seconds_held(start + 60_000) == 0
    pace.reach(start + 60_000)
    assert phone.clock.now_ms == start + 60_000
    pace.reach(start)
    assert phone.clock.now_ms == start + 60_000


def test_a_service_that_waits_for_ever_no_longer_moves_virtual_time(phone: Phone) -> None:
    pace = VirtualTime(phone)
    now = phone.clock.now_ms
    assert pace.seconds_until(now + 1000, FREE_JUMPS - 1) == 0
    assert pace.seconds_until(now + 1000, FREE_JUMPS) == 1
    assert pace.seconds_until(now - 1000, FREE_JUMPS) > 0


def test_virtual_time_jumps_a_day_at_most(phone: Phone) -> None:
    pace = VirtualTime(phone)
    now = phone.clock.now_ms
    assert pace.seconds_until(now + LONGEST_JUMP_MS, 0) == 0
    assert pace.seconds_until(now + LONGEST_JUMP_MS + 1000, 0) == LONGEST_JUMP_MS / 1000 + 1


def test_real_time_follows_the_wall(phone: Phone, wall: Wall) -> None:
    pace = RealTime(phone, wall)
    start = phone.clock.now_ms
    wall.seconds += 1.5
    pace.catch_up()
    assert phone.clock.now_ms == start + 1500
    assert pace.seconds_until(start + 2000, 0) == 0.5
    assert pace.seconds_until(start, 0) == 0
    assert pace.seconds_until(start, FREE_JUMPS) > 0
    wall.seconds += 0.5
    pace.reach(start + 9999)
    assert phone.clock.now_ms == start + 2000


def test_what_a_gesture_brings_is_held_until_real_time_has_caught_up(phone: Phone, wall: Wall) -> None:
    pace = RealTime(phone, wall)
    phone.swipe(360, 900, 360, 500, 0.275)
    assert pace.seconds_held(phone.clock.now_ms) == pytest.approx(0.275)
    wall.seconds += 0.1
    pace.catch_up()
    assert pace.seconds_held(phone.clock.now_ms) == pytest.approx(0.175)
    wall.seconds += 0.2
    pace.catch_up()
    assert pace.seconds_held(phone.clock.now_ms) == 0


def test_what_the_owner_does_to_the_clock_holds_nothing_back(phone: Phone, wall: Wall) -> None:
    pace = RealTime(phone, wall)
    phone.advance(3600)
    pace.rebase()
    assert pace.seconds_held(phone.clock.now_ms) == 0
    wall.seconds += 1
    now = phone.clock.now_ms
    pace.catch_up()
    assert phone.clock.now_ms == now + 1000


def test_a_phone_made_anew_begins_at_its_own_time(phone: Phone, wall: Wall) -> None:
    pace = RealTime(phone, wall)
    wall.seconds += 500
    phone.reset(PhoneSetup(seed=2))
    start = phone.clock.now_ms
    pace.catch_up()
    assert phone.clock.now_ms == start
