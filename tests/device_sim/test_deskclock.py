from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.device_sim.conftest import Finger

HOUR, MINUTE = "android:id/input_hour", "android:id/input_minute"


def enter(finger: Finger, hour: str, minute: str, half: str) -> None:
    for field, text in ((HOUR, hour), (MINUTE, minute)):
        finger.tap(resourceId=field)
        finger.phone.clear_text()
        finger.phone.type_text(text)
    finger.tap(text=half)


def alarms(finger: Finger) -> dict[str, object]:
    return dict(finger.phone.snapshot().under("clock/alarm"))


def test_alarms_are_listed_by_time_with_their_names(clock: Finger) -> None:
    cards = [node.view.desc for node in clock.all(descriptionMatches=r"\d+:\d\d [AP]M.*", clickable=True)]
    assert cards == ["7:30 AM", "6:05 PM Gym"]
    switches = clock.all(resourceId="com.android.deskclock:id/onoff")
    assert [switch.view.checked for switch in switches] == [False, True]


@pytest.mark.parametrize(
    ("hour", "minute", "half", "expected"),
    [("7", "45", "AM", (7, 45)), ("12", "00", "AM", (0, 0)), ("12", "5", "PM", (12, 5)), ("11", "59", "PM", (23, 59))],
)
def test_a_new_alarm_is_saved_enabled(
    clock: Finger, hour: str, minute: str, half: str, expected: tuple[int, int]
) -> None:
    clock.tap(description="Add alarm")
    enter(clock, hour, minute, half)
    clock.tap(text="OK")
    saved = alarms(clock)
    assert (saved["3/hour"], saved["3/minute"], saved["3/enabled"], saved["3/label"]) == (*expected, True, "")
    assert clock.phone.front.screen == "clock/alarms"
    assert "Alarm set for" in str(clock.phone.toast)


@pytest.mark.parametrize(("hour", "minute"), [("0", "30"), ("13", "00"), ("7", "60"), ("", "30"), ("7", "")])
def test_an_impossible_time_is_refused_with_a_message_and_saves_nothing(clock: Finger, hour: str, minute: str) -> None:
    before = alarms(clock)
    clock.tap(description="Add alarm")
    enter(clock, hour, minute, "AM")
    clock.tap(text="OK")
    assert clock.sees(text="Type in a valid time")
    assert clock.phone.front.screen == "clock/time_picker"
    assert alarms(clock) == before
    enter(clock, "9", "09", "AM")
    clock.tap(text="OK")
    assert (alarms(clock)["3/hour"], alarms(clock)["3/minute"]) == (9, 9)


def test_the_picker_starts_at_the_current_time_and_cancel_saves_nothing(clock: Finger) -> None:
    before, now = alarms(clock), clock.phone.local_time
    clock.tap(description="Add alarm")
    assert clock.one(resourceId=HOUR).view.text == str(now.hour % 12 or 12)
    assert clock.one(resourceId=MINUTE).view.text == f"{now.minute:02d}"
    assert clock.one(text="PM").view.checked is (now.hour >= 12)
    clock.tap(text="Cancel")
    assert alarms(clock) == before


def test_typing_into_a_freshly_touched_time_field_replaces_it(clock: Finger) -> None:
    clock.tap(description="Add alarm")
    clock.tap(resourceId=HOUR)
    clock.phone.type_text("9")
    assert clock.one(resourceId=HOUR).view.text == "9"
    clock.phone.type_text("9")
    assert clock.one(resourceId=HOUR).view.text == "99"


def test_touching_the_time_of_an_alarm_edits_it_and_keeps_the_rest(clock: Finger) -> None:
    clock.tap(text="6:05 PM")
    assert clock.one(text="PM").view.checked
    enter(clock, "5", "10", "PM")
    clock.tap(text="OK")
    saved = alarms(clock)
    assert (saved["2/hour"], saved["2/minute"], saved["2/label"]) == (17, 10, "Gym")
    assert "3/hour" not in saved


def test_the_switch_of_an_alarm_turns_it_on_and_off(clock: Finger) -> None:
    for expected in (True, False):
        clock.tap(resourceId="com.android.deskclock:id/onoff")
        assert alarms(clock)["1/enabled"] is expected


def test_a_card_expands_to_label_days_vibration_and_deletion(clock: Finger) -> None:
    clock.tap(description="Expand alarm")
    assert clock.sees(description="Collapse alarm")
    clock.tap(text="Vibrate")
    clock.tap(description="Monday")
    clock.tap(description="Friday")
    clock.tap(text="Add label")
    clock.tap(className="android.widget.EditText")
    clock.phone.type_text("Early")
    clock.tap(text="OK")
    saved = alarms(clock)
    assert (saved["1/vibrate"], saved["1/days"], saved["1/label"]) == (True, "Mon,Fri", "Early")
    assert clock.sees(text="Mon, Fri")
    clock.tap(description="Monday")
    assert alarms(clock)["1/days"] == "Fri"
    clock.tap(text="Delete")
    assert not any(path.startswith("1/") for path in alarms(clock))
    assert clock.sees(text="6:05 PM")


def test_the_id_of_a_deleted_alarm_is_never_used_again(clock: Finger) -> None:
    clock.tap(text="Today") if clock.sees(text="Today") else clock.tap(text="Tomorrow")
    clock.tap(text="Delete")
    assert not any(path.startswith("2/") for path in alarms(clock))
    clock.tap(description="Add alarm")
    clock.tap(text="OK")
    assert "3/hour" in alarms(clock)


def test_no_alarms_are_shown_as_such(clock: Finger) -> None:
    for _ in range(2):
        clock.tap(description="Expand alarm")
        clock.path("Delete")
    assert clock.sees(text="No Alarms")
    assert alarms(clock) == {}


def test_an_alarm_deleted_behind_an_open_picker_does_not_come_back(clock: Finger) -> None:
    clock.tap(text="7:30 AM")
    clock.phone.remove("clock/alarm/1")
    clock.tap(text="OK")
    assert not any(path.startswith("1/") for path in alarms(clock))


def test_the_stopwatch_runs_pauses_and_resets_on_virtual_time(clock: Finger) -> None:
    clock.tap(description="Stopwatch")
    assert clock.phone.front.screen == "clock/stopwatch"
    clock.tap(description="Start")
    clock.phone.advance(65)
    assert clock.sees(text="01:05")
    clock.tap(description="Pause")
    clock.phone.advance(60)
    assert clock.sees(text="01:05")
    assert clock.phone.state["clock/stopwatch/state"] == "paused"
    clock.tap(text="Reset")
    assert clock.sees(text="00:00")


def test_a_stopwatch_that_a_phone_starts_with_has_counted_before(make: Callable[..., Finger]) -> None:
    clock = make(clock__stopwatch__state="paused")
    clock.phone.open_app("com.android.deskclock")
    clock.tap(description="Stopwatch")
    assert not clock.sees(text="00:00")
    clock.tap(text="Reset")
    clock.tap(description="Start")
    assert clock.sees(text="00:00")


def test_a_timer_is_keyed_in_counts_down_and_expires(clock: Finger) -> None:
    clock.tap(description="Timer")
    for key in "130":
        clock.tap(text=key)
    assert clock.sees(text="00h 01m 30s")
    clock.tap(description="Start")
    clock.phone.advance(30)
    assert clock.sees(text="1:00")
    clock.phone.advance(61)
    assert clock.phone.state["clock/timer/state"] == "expired"
    assert clock.sees(text="Time\u2019s up")
    clock.tap(text="Delete")
    assert clock.phone.state["clock/timer/state"] == "none"


def test_the_stopwatch_is_up_to_date_between_full_seconds_of_the_clock(clock: Finger) -> None:
    clock.tap(description="Stopwatch")
    clock.phone.advance(0.4)
    clock.tap(description="Start")
    clock.phone.advance(0.95)
    assert clock.sees(text="00:00")
    clock.phone.advance(0.1)
    assert clock.sees(text="00:01")


def test_a_paused_timer_does_not_expire(clock: Finger) -> None:
    clock.tap(description="Timer")
    clock.tap(text="5")
    clock.tap(description="Start")
    clock.tap(description="Pause")
    clock.phone.advance(60)
    assert clock.phone.state["clock/timer/state"] == "paused"


def test_the_chosen_tab_is_marked_and_names_the_screen(clock: Finger) -> None:
    for name, screen in (("Clock", "clock/clock"), ("Timer", "clock/timer"), ("Alarm", "clock/alarms")):
        clock.tap(description=name, packageName="com.android.deskclock")
        assert clock.one(description=name, packageName="com.android.deskclock").view.selected
        assert clock.phone.front.screen == screen
