from __future__ import annotations

from dataclasses import replace

import pytest

from agent_eval.actions import Action, Tap, Wait
from agent_eval.outcome import Label, SubKind
from agent_eval.tasks import TASKS
from agent_eval.tasks.families.clock_expert import Alarm, TimeOfDay, alarms_of
from agent_eval.tasks.task import TaskInstance
from agent_eval.types import Element, Observation, Scalar, Skin, Snapshot
from tests.tasks.families.playing import Stage, Step, back, facts, launch, tap, told, write

AMONG_OTHERS = ("AlarmToggle", "AlarmAlready", "AlarmDelete", "AlarmVibrates")
START, STOPWATCH, TIMER = tap("Start", "button"), tap("Stopwatch", "row"), tap("Timer", "row")


def draw(name: str, seed: int = 0, **wanted: object) -> TaskInstance:
    """Draw the first instance from a seed on whose parameters are as wanted."""
    for number in range(seed, seed + 100):
        instance = TASKS[name].draw(number)
        if all(instance.parameters[key] == value for key, value in wanted.items()):
            return instance
    raise AssertionError(f"{name} never draws {wanted}")


def alarms(instance: TaskInstance) -> tuple[Alarm, ...]:
    return alarms_of(Snapshot(tuple(sorted(instance.setup.state.items()))))


def target(instance: TaskInstance) -> Alarm:
    return next(alarm for alarm in alarms(instance) if alarm.time.text == instance.parameters["time"])


def neighbour(instance: TaskInstance) -> Alarm:
    """Return the alarm that is a minute off the one that is meant."""
    meant = minutes(target(instance).time)
    return next(one for one in alarms(instance) if (minutes(one.time) - meant) % (24 * 60) in (1, 24 * 60 - 1))


def minutes(time: TimeOfDay) -> int:
    return 60 * time.hour + time.minute


def in_card(time: str, label: str = "", role: str = "button") -> Step:
    """Tap a part of the card of an alarm, by default its arrow or its switch; wait where there is none."""

    def step(screen: Observation) -> Action:
        found: Element | None = None
        inside = False
        for element in screen.elements:
            if element.role == "row":
                inside = element.label.startswith(time)
            if inside and element.role == role and (not label or element.label == label):
                found = found or element
        return Wait() if found is None else Tap(index=found.index)

    return step


def flip(time: str) -> Step:
    return in_card(time, role="switch")


def create(time: TimeOfDay) -> tuple[Step, ...]:
    hour, minute = write("hour", str(time.hour_12)), write("minute", f"{time.minute:02d}")
    return launch("Clock"), tap("Add alarm"), hour, minute, tap(time.half, "radio"), tap("OK")


# ----------------------------------------------------------------------------------------------------------------------
# one alarm among look-alikes


@pytest.mark.parametrize("name", AMONG_OTHERS)
def test_there_is_always_an_alarm_one_minute_off(name: str) -> None:
    for seed in range(30):
        instance = TASKS[name].draw(seed)
        assert neighbour(instance).id != target(instance).id


def test_switching_the_alarm_a_minute_off_does_not_count(stage: Stage) -> None:
    instance = draw("AlarmToggle")
    record = stage.play(instance, launch("Clock"), flip(neighbour(instance).time.text))
    assert record.outcome.label == "premature_completion", told(record)
    assert facts(record).side_effects == (f"clock/alarm/{neighbour(instance).id}/enabled",)


def test_switching_the_look_alike_as_well_is_too_much(stage: Stage) -> None:
    instance = draw("AlarmToggle")
    both = flip(target(instance).time.text), flip(neighbour(instance).time.text)
    record = stage.play(instance, launch("Clock"), *both)
    assert record.outcome.label == "over_execution", told(record)


def test_deleting_the_alarm_a_minute_off_does_not_count_and_is_noticed(stage: Stage) -> None:
    instance = next(
        one for seed in range(50) if neighbour(one := TASKS["AlarmDelete"].draw(seed)).time == alarms_by_time(one)[0]
    )
    near = neighbour(instance)
    record = stage.play(instance, launch("Clock"), in_card(near.time.text, "Expand alarm"), tap("Delete"))
    assert record.outcome.label == "premature_completion", told(record)
    assert {path.rpartition("/")[0] for path in facts(record).side_effects} == {f"clock/alarm/{near.id}"}


def alarms_by_time(instance: TaskInstance) -> list[TimeOfDay]:
    return sorted(alarm.time for alarm in alarms(instance))


# ----------------------------------------------------------------------------------------------------------------------
# a new alarm


def test_a_new_alarm_with_more_than_was_asked_for_is_too_much(stage: Stage) -> None:
    instance = next(one for seed in range(50) if not alarms(one := TASKS["AlarmCreate"].draw(seed)))
    time = wanted_time(instance)
    plain = stage.play(instance, *create(time))
    assert plain.outcome.label == "success", told(plain)
    repeats = stage.play(instance, *create(time), tap("Expand alarm"), tap("M", "checkbox"))
    assert repeats.outcome.label == "over_execution", told(repeats)
    assert [path.rpartition("/")[2] for path in facts(repeats).side_effects] == ["days"]


def wanted_time(instance: TaskInstance) -> TimeOfDay:
    every_time = (TimeOfDay(hour, minute) for hour in range(24) for minute in range(60))
    return next(time for time in every_time if time.text == instance.parameters["time"])


def test_moving_an_old_alarm_to_the_time_is_no_new_alarm(stage: Stage) -> None:
    instance = next(one for seed in range(50) if len(alarms(one := TASKS["AlarmCreate"].draw(seed))) == 1)
    (old,), time = alarms(instance), wanted_time(instance)
    picker = in_card(old.time.text, old.time.text)
    record = stage.play(instance, launch("Clock"), picker, *create(time)[2:])
    assert record.outcome.label == "premature_completion", told(record)
    assert f"clock/alarm/{old.id}/minute" in facts(record).side_effects


def labelled(instance: TaskInstance, **changed: object) -> Alarm:
    """Return the new alarm that an instance asks for, but for what is changed."""
    days = frozenset(str(instance.parameters["days"]).split(","))
    asked = Alarm(50, wanted_time(instance), enabled=True, label=str(instance.parameters["label"]), days=days)
    return replace(asked, **changed)  # type: ignore[arg-type]  # the tests name fields of Alarm


def held_with(stage: Stage, instance: TaskInstance, *added: Alarm) -> list[str]:
    """Return which sub-goals hold on a phone that has some alarms more; ``goal`` stands for the whole."""
    instance.prepare(stage.phone)
    start = stage.phone.snapshot()
    more: dict[str, Scalar] = {path: value for alarm in added for path, value in alarm.state.items()}
    stage.phone.reset(replace(instance.setup, state={**instance.setup.state, **more}))
    criteria, now = instance.criteria, stage.phone.snapshot()
    held = [name for name, goal in criteria.sub_goals.items() if goal(start, now)]
    return [*held, "goal"] if instance.goal_holds(start, now) else held


def test_time_label_and_days_are_sub_goals_of_one_and_the_same_alarm(stage: Stage) -> None:
    instance = draw("AlarmCreateLabelDays")
    other_day = labelled(instance).days ^ {"Sun"}
    assert held_with(stage, instance) == []
    assert held_with(stage, instance, labelled(instance)) == ["time", "label", "days", "goal"]
    assert held_with(stage, instance, labelled(instance, days=other_day)) == ["time", "label"]
    assert held_with(stage, instance, labelled(instance, enabled=False)) == ["label", "days"]
    apart = labelled(instance, label=""), labelled(instance, id=51, days=frozenset())
    assert held_with(stage, instance, *apart) == ["time", "days"]


def test_an_old_alarm_has_the_same_label_a_minute_off_on_almost_the_same_days() -> None:
    for seed in range(20):
        instance = TASKS["AlarmCreateLabelDays"].draw(seed)
        near = next(alarm for alarm in alarms(instance) if alarm.label == instance.parameters["label"])
        assert abs(minutes(near.time) - minutes(wanted_time(instance))) in (1, 24 * 60 - 1)
        assert len(near.days ^ labelled(instance).days) == 1


# ----------------------------------------------------------------------------------------------------------------------
# a question


def test_the_other_alarms_vibrate_the_other_way() -> None:
    for seed in range(20):
        instance = TASKS["AlarmVibrates"].draw(seed)
        ways = {alarm.vibrate for alarm in alarms(instance) if alarm.id != target(instance).id}
        assert ways == {instance.parameters["answer"] == "no"}


@pytest.mark.parametrize(
    ("answer", "label"),
    [("Yes, it does.", "success"), ("是", "success"), ("no", "premature_completion"), ("", "premature_completion"),
     ("yes or no", "premature_completion")],
)  # fmt: skip
def test_only_the_one_right_answer_counts(stage: Stage, answer: str, label: Label) -> None:
    record = stage.play(draw("AlarmVibrates", answer="yes"), launch("Clock"), answer=answer)
    assert record.outcome.label == label, told(record)


def test_a_right_answer_after_changing_what_was_asked_about_is_too_much(stage: Stage) -> None:
    instance = next(
        one
        for seed in range(100)
        if target(one := TASKS["AlarmVibrates"].draw(seed)).time == alarms_by_time(one)[0]
        and one.parameters["answer"] == "no"
    )
    time = target(instance).time.text
    steps = launch("Clock"), in_card(time, "Expand alarm"), in_card(time, "Vibrate", "checkbox")
    record = stage.play(instance, *steps, answer="no")
    assert record.outcome.label == "over_execution", told(record)


# ----------------------------------------------------------------------------------------------------------------------
# timer and stopwatch


def keys(instance: TaskInstance) -> list[Step]:
    seconds = int(instance.parameters["seconds"])
    digits = f"{seconds // 3600}{seconds // 60 % 60:02d}{seconds % 60:02d}".lstrip("0")
    return [tap(digit, "button") for digit in digits]


def test_a_timer_is_keyed_in_and_not_started(stage: Stage) -> None:
    instance = draw("TimerCreate")
    typed = launch("Clock"), TIMER, *keys(instance)
    assert stage.play(instance, *typed).outcome.label == "success"
    assert stage.play(instance, *typed[:-1]).outcome.label == "premature_completion"
    started = stage.play(instance, *typed, START)
    assert started.outcome.label == "over_execution", told(started)
    assert facts(started).side_effects == ("clock/timer/seconds", "clock/timer/state")


def test_a_timer_that_was_started_by_mistake_is_deleted_and_keyed_in_again(stage: Stage) -> None:
    record = stage.play_astray(draw("TimerCreate"), launch("Clock"), TIMER, tap("5", "button"), START)
    assert record.outcome.label == "success", told(record)


@pytest.mark.parametrize(
    ("wanted", "steps", "label", "sub_kind"),
    [
        ("running", (START,), "success", ""),
        ("running", (), "premature_completion", ""),
        ("running", (START, tap("Pause", "button")), "reversal", ""),
        ("paused", (), "success", ""),
        ("paused", (START,), "reversal", ""),
        ("paused", (tap("Reset", "button"),), "reversal", ""),
        ("paused", (START, tap("Pause", "button")), "success", "unstable"),
    ],
)
def test_the_stopwatch_is_left_as_wanted(
    stage: Stage, wanted: str, steps: tuple[Step, ...], label: Label, sub_kind: SubKind
) -> None:
    record = stage.play(draw("StopwatchRun", wanted=wanted), launch("Clock"), STOPWATCH, *steps)
    assert (record.outcome.label, record.outcome.sub_kind) == (label, sub_kind), told(record)


def test_a_stopwatch_that_is_paused_at_the_start_has_counted_something(stage: Stage) -> None:
    draw("StopwatchRun", wanted="paused").prepare(stage.phone)
    for step in (launch("Clock"), STOPWATCH):
        stage.device.perform(step(stage.device.observe()))
    labels = [element.label for element in stage.device.observe().elements]
    assert "Reset" in labels
    assert "00:00" not in labels


# ----------------------------------------------------------------------------------------------------------------------
# the expert


@pytest.mark.parametrize("hours", ["12", "24"])
@pytest.mark.parametrize("locale", ["en", "de", "zh"])
def test_the_expert_reads_and_enters_times_as_the_phone_writes_them(stage: Stage, locale: str, hours: str) -> None:
    for name in ("AlarmCreate", "AlarmToggle", "AlarmDelete"):
        for seed in range(4):
            instance = TASKS[name].draw(seed, "training")
            state = {**instance.setup.state, "settings/time_format": hours}
            other = replace(instance, setup=replace(instance.setup, state=state, skin=Skin(locale=locale)))
            record = stage.play_astray(other)
            assert record.outcome.label == "success", told(record)


ASTRAY: list[tuple[str, str, tuple[Step, ...]]] = [
    ("a running stopwatch", "AlarmToggle", (launch("Clock"), STOPWATCH, START)),
    ("a running timer", "AlarmAlready", (launch("Clock"), TIMER, tap("9", "button"), START, back)),
    ("days of another alarm", "AlarmToggle", (launch("Clock"), tap("Expand alarm"), tap("W", "checkbox"))),
    ("the label dialog of another alarm", "AlarmVibrates", (launch("Clock"), tap("Expand alarm"), tap("Add label"))),
    ("a vibrating alarm too many", "AlarmCreate", (launch("Clock"), tap("Expand alarm"), tap("Vibrate"))),
    ("a wrong day", "AlarmCreateLabelDays", (*create(TimeOfDay(3, 33)), tap("Expand alarm"), tap("F", "checkbox"))),
    ("wrong digits", "TimerCreate", (launch("Clock"), TIMER, *[tap(digit, "button") for digit in "909090"])),
    ("a stopwatch reset", "StopwatchRun", (launch("Clock"), STOPWATCH, tap("Reset", "button"))),
]


@pytest.mark.parametrize(("name", "task", "steps"), ASTRAY, ids=[row[0] for row in ASTRAY])
def test_the_expert_puts_right(stage: Stage, name: str, task: str, steps: tuple[Step, ...]) -> None:
    for seed in range(4):
        record = stage.play_astray(TASKS[task].draw(seed, "training"), *steps)
        assert record.outcome.label == "success", f"{name}: {told(record)}"
