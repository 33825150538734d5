"""Solutions in Clock."""

from __future__ import annotations

from agent_eval.types import Scalar
from tests.device_sim.walkthroughs.hand import Hand
from tests.device_sim.walkthroughs.walk import Record, Script, Walk, record

ALARMS: dict[str, Scalar] = {
    f"clock/alarm/{number}/{name}": value
    for number, hour, minute, on, vibrate in (
        (1, 6, 30, False, False), (2, 6, 35, True, True), (3, 18, 30, True, False), (4, 18, 35, False, True),
    )
    for name, value in (("hour", hour), ("minute", minute), ("enabled", on), ("vibrate", vibrate))
}  # fmt: skip


def add(hour: int, minute: int) -> Script:
    """Set a new alarm."""

    def script(hand: Hand) -> None:
        hand.open("Clock")
        hand.tap("Add alarm")
        hand.type(str(hour % 12 or 12), into="hour")
        hand.type(f"{minute:02d}", into="minute")
        half = "PM" if hour >= 12 else "AM"
        if "checked" not in hand.find(half).states:
            hand.tap(half)
        hand.tap("OK")

    return script


def add_labelled(hour: int, minute: int, time: str, label: str, *days: str) -> Script:
    """Set a new alarm with a label, on some days of the week."""

    def script(hand: Hand) -> None:
        add(hour, minute)(hand)
        hand.tap("Expand alarm", beside=time)
        hand.tap("Add label")
        hand.type(label, into="Label")
        hand.tap("OK")
        for day in days:
            hand.tap(day[:1], role="checkbox")

    return script


def flip(time: str) -> Script:
    """Switch an alarm on or off."""

    def script(hand: Hand) -> None:
        hand.open("Clock")
        hand.tap(time, role="switch")

    return script


def see(time: str, state: str) -> Script:
    """See that an alarm is on or off already."""

    def script(hand: Hand) -> None:
        hand.open("Clock")
        assert state in hand.reach(time, role="switch").states

    return script


def delete(time: str) -> Script:
    """Delete an alarm."""

    def script(hand: Hand) -> None:
        hand.open("Clock")
        expand(hand, time)
        hand.tap("Delete")

    return script


def expand(hand: Hand, time: str) -> None:
    """Show all of an alarm: its card is a row that begins with the time."""
    hand.tap(time, role="row", starts=True)


def read_vibrates(time: str) -> Script:
    """Read whether an alarm vibrates."""

    def script(hand: Hand) -> str:
        hand.open("Clock")
        expand(hand, time)
        return "yes" if "checked" in hand.reach("Vibrate").states else "no"

    return script


def key_in(digits: str) -> Script:
    """Key in a timer without starting it."""

    def script(hand: Hand) -> None:
        hand.open("Clock")
        hand.tap("Timer")
        for digit in digits:
            hand.tap(digit, role="button")

    return script


def run_stopwatch(hand: Hand) -> None:
    """Start the stopwatch."""
    hand.open("Clock")
    hand.tap("Stopwatch")
    hand.tap("Start")


def see_paused(hand: Hand) -> None:
    """See that the stopwatch stands still."""
    hand.open("Clock")
    hand.tap("Stopwatch")
    assert hand.sees("Start")
    assert hand.sees("Reset")


def walks() -> list[Walk]:
    """Return the solutions."""
    running: dict[str, Scalar] = {"clock/stopwatch/state": "running"}
    paused: dict[str, Scalar] = {"clock/stopwatch/state": "paused"}

    def alarm(hour: int, minute: int, **fields: Scalar) -> tuple[Record, ...]:
        return (record("clock/alarm", hour=hour, minute=minute, enabled=True, **fields),)

    return [
        Walk("18", 6, add(19, 45), "pm", state=ALARMS, adds=alarm(19, 45, label="", days="")),
        Walk("18", 6, add(5, 15), "am", seed=4, state=ALARMS, adds=alarm(5, 15, label="", days="")),
        Walk("19", 11, add_labelled(5, 15, "5:15 AM", "Low tide", "Monday", "Friday"),
             adds=alarm(5, 15, label="Low tide", days="Mon,Fri")),
        Walk("20", 2, flip("6:30 AM"), "on", state=ALARMS, sets={"clock/alarm/1/enabled": True}),
        Walk("20", 2, flip("6:30 PM"), "off", state=ALARMS, sets={"clock/alarm/3/enabled": False}),
        Walk("21", 1, see("6:35 AM", "on"), state=ALARMS),
        Walk("22", 4, delete("6:30 PM"), state=ALARMS, gone=("clock/alarm/3",)),
        Walk("23", 8, key_in("123045"), state=ALARMS, leaves={"clock/timer/entry_s": 45_045}),
        Walk("24", 3, run_stopwatch, "run", sets=running),
        Walk("24", 2, see_paused, "already", state=paused),
        Walk("25", 2, read_vibrates("6:35 AM"), "yes", state=ALARMS, answer="yes"),
        Walk("25", 3, read_vibrates("6:30 PM"), "no", state=ALARMS, answer="no"),
        Walk("ClockStopWatchPausedVerify", 2, see_paused, seed=2, state=paused),
        Walk("ClockStopWatchRunning", 3, run_stopwatch, seed=2, sets=running),
        Walk("ClockTimerEntry", 7, key_in("20507"), leaves={"clock/timer/entry_s": 7_507}),
    ]  # fmt: skip
