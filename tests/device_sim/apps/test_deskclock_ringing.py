from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from agent_eval.device_sim.apps.deskclock import CITIES, next_ring_ms
from tests.device_sim.conftest import Finger

CLOCK = "com.android.deskclock:id/"
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def soon(make: Callable[..., Finger], minutes: int = 2, **more: object) -> Finger:
    """Return a phone with one alarm, so many minutes from now."""
    at = make().phone.local_time + timedelta(minutes=minutes)
    state = {"hour": at.hour, "minute": at.minute, "label": "Tea", "enabled": True, **more}
    return make(**{f"clock__alarm__1__{name}": value for name, value in state.items()})


def rings(finger: Finger) -> bool:
    return finger.sees(text="Snooze", packageName="com.android.systemui")


def test_an_alarm_rings_on_top_of_any_app_at_its_minute_and_not_before(make: Callable[..., Finger]) -> None:
    finger = soon(make)
    finger.phone.open_app("com.android.calculator2")
    before = finger.phone.snapshot().persisted
    left = 120 - finger.phone.local_time.second
    finger.phone.advance(left - 1)
    assert not rings(finger)
    finger.phone.advance(1)
    assert rings(finger)
    assert finger.sees(text="Tea")
    assert finger.phone.front.package == "com.android.calculator2"
    assert finger.phone.snapshot().persisted == before  # the ringing itself is nobody's doing
    assert finger.phone.world["clock/rang"] == "1"


def test_a_dismissed_alarm_is_silent_and_switched_off(make: Callable[..., Finger]) -> None:
    finger = soon(make)
    finger.phone.advance(121)
    finger.tap(text="Dismiss")
    assert not rings(finger)
    assert finger.phone.state["clock/alarm/1/enabled"] is False
    finger.phone.advance(3 * 24 * 3600)
    assert not rings(finger)


def test_a_snoozed_alarm_rings_again_after_ten_minutes(make: Callable[..., Finger]) -> None:
    finger = soon(make)
    finger.phone.advance(121)
    finger.tap(text="Snooze")
    assert not rings(finger)
    assert finger.phone.state["clock/alarm/1/enabled"] is True
    finger.phone.advance(598)
    assert not rings(finger)
    finger.phone.advance(3)
    assert rings(finger)


def test_an_alarm_that_nobody_answers_is_missed_after_ten_minutes(make: Callable[..., Finger]) -> None:
    finger = soon(make)
    finger.phone.advance(121 + 600)
    assert not rings(finger)
    assert finger.phone.state["clock/alarm/1/enabled"] is False
    finger.phone.open_shade()
    assert finger.sees(textContains="Tea")
    assert finger.sees(text="Missed alarm")


def test_a_repeating_alarm_rings_on_its_days_only_and_stays_on(make: Callable[..., Finger]) -> None:
    day = DAYS[make().phone.local_time.weekday()]
    finger = soon(make, minutes=5, days=day)
    rung = []
    for hours in range(8):
        finger.phone.advance(5 * 60 if not hours else 24 * 3600)
        rung.append(rings(finger))
        if rung[-1]:
            finger.tap(text="Dismiss")
    assert rung == [True, False, False, False, False, False, False, True]
    assert finger.phone.state["clock/alarm/1/enabled"] is True


def test_switching_an_alarm_off_or_moving_it_moves_its_ringing(make: Callable[..., Finger]) -> None:
    finger = soon(make)
    first = next_ring_ms(finger.phone)
    assert first is not None
    finger.phone.put("clock/alarm/1/enabled", False)
    finger.phone.advance(150)
    assert not rings(finger)
    later = finger.phone.local_time + timedelta(minutes=3)
    finger.phone.put("clock/alarm/1/hour", later.hour)
    finger.phone.put("clock/alarm/1/minute", later.minute)
    finger.phone.put("clock/alarm/1/enabled", True)
    finger.phone.advance(180)
    assert rings(finger)


def test_a_deleted_alarm_does_not_ring(make: Callable[..., Finger]) -> None:
    finger = soon(make)
    finger.phone.remove("clock/alarm/1")
    finger.phone.advance(200)
    assert not rings(finger)


def test_with_the_screen_off_an_alarm_fills_the_screen(make: Callable[..., Finger]) -> None:
    finger = soon(make)
    finger.phone.key("power")
    finger.phone.advance(121)
    assert finger.phone.world["screen/on"] is True
    assert finger.phone.front.screen == "clock/ringing"
    assert finger.sees(text="Tea")
    finger.tap(resourceId=CLOCK + "dismiss")
    assert finger.phone.front.screen == "clock/alarms"
    assert not rings(finger)


@pytest.mark.parametrize("minutes_ahead", [0, 1])
def test_an_alarm_for_the_minute_that_runs_already_waits_for_tomorrow(
    make: Callable[..., Finger], minutes_ahead: int
) -> None:
    finger = soon(make, minutes=minutes_ahead)
    due = next_ring_ms(finger.phone)
    assert due is not None
    assert (due - finger.phone.now_ms > 60_000) is (minutes_ahead == 0)


def test_a_timer_that_ends_while_another_app_is_in_front_can_be_stopped_or_prolonged(
    make: Callable[..., Finger],
) -> None:
    finger = make()
    finger.phone.open_app("com.android.deskclock")
    finger.tap(description="Timer", packageName="com.android.deskclock")
    for key in "100":
        finger.tap(text=key)
    finger.tap(description="Start")
    finger.phone.open_app("com.android.calculator2")
    finger.phone.open_shade()
    assert finger.sees(textStartsWith="Ends at")
    finger.phone.key("back")
    finger.phone.advance(61)
    assert finger.sees(text="Time\u2019s up", packageName="com.android.systemui")
    finger.tap(text="Add 1 minute")
    assert finger.phone.state["clock/timer/state"] == "running"
    finger.phone.advance(61)
    finger.tap(text="Stop")
    assert finger.phone.state["clock/timer/state"] == "set"
    assert finger.phone.windows[-1].kind == "navigation"


def test_a_timer_that_was_keyed_in_and_not_started_is_known_to_the_snapshot_only(make: Callable[..., Finger]) -> None:
    finger = make()
    before = finger.phone.snapshot().persisted
    finger.phone.open_app("com.android.deskclock")
    finger.tap(description="Timer", packageName="com.android.deskclock")
    for key in "11530":
        finger.tap(text=key)
    assert finger.sees(text="01h 15m 30s")
    assert finger.phone.snapshot()["clock/timer/entry_s"] == 3600 + 15 * 60 + 30
    assert finger.phone.snapshot().persisted == before
    finger.tap(description="Delete")
    assert finger.phone.snapshot()["clock/timer/entry_s"] == 11 * 60 + 53
    finger.tap(description="Start")
    assert finger.phone.snapshot()["clock/timer/entry_s"] == 0


def test_laps_are_listed_latest_first_and_reset_forgets_them(make: Callable[..., Finger]) -> None:
    finger = make()
    finger.phone.open_app("com.android.deskclock")
    finger.tap(description="Stopwatch", packageName="com.android.deskclock")
    finger.tap(description="Start")
    for seconds in (10, 7):
        finger.phone.advance(seconds - 0.1)  # touching takes the tenth that is left
        finger.tap(text="Lap")
    laps = [node.view.text for node in finger.all(resourceId=CLOCK + "lap_time")]
    totals = [node.view.text for node in finger.all(resourceId=CLOCK + "lap_total")]
    assert (laps, totals) == (["00:07.00", "00:10.00"], ["00:17.00", "00:10.00"])
    finger.tap(text="Reset")
    assert not finger.all(resourceId=CLOCK + "lap_time")


def test_a_city_shows_its_own_time(make: Callable[..., Finger]) -> None:
    finger = make()
    finger.phone.open_app("com.android.deskclock")
    finger.tap(description="Clock", packageName="com.android.deskclock")
    finger.tap(description="Cities")
    finger.tap(resourceId=CLOCK + "search_src_text")
    finger.phone.type_text("tok")
    finger.phone.key("back")
    finger.tap(text="Tokyo")
    finger.phone.key("back")
    assert finger.phone.state["clock/cities"] == "Tokyo"
    there = finger.phone.local_time + timedelta(hours=CITIES["Tokyo"])
    assert finger.sees(text=finger.phone.locale.time_of_day(there.hour, there.minute))


def test_a_phone_with_24_hours_has_no_halves_of_the_day(make: Callable[..., Finger]) -> None:
    finger = make(settings__time_format="24")
    finger.phone.open_app("com.android.deskclock")
    finger.tap(description="Add alarm")
    assert not finger.sees(text="PM")
    for name, text in (("hour", "18"), ("minute", "05")):
        finger.tap(resourceId=f"android:id/input_{name}")
        finger.phone.clear_text()
        finger.phone.type_text(text)
    finger.tap(text="OK")
    assert finger.phone.state["clock/alarm/1/hour"] == 18
    assert finger.sees(text="18:05")
