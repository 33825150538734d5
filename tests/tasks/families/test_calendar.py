from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from agent_eval.actions import Action, LongPress, Tap
from agent_eval.agent.misbehaving import Spoiled
from agent_eval.conditions import ConditionedPhone, Conditions
from agent_eval.contracts import Policy
from agent_eval.device_sim.locales import LOCALES
from agent_eval.episode import EpisodeKey, run_episode
from agent_eval.records import EpisodeRecord
from agent_eval.tasks import TASKS
from agent_eval.tasks.families.calendar_expert import Event, events_of
from agent_eval.tasks.language import moment_of
from agent_eval.tasks.task import TaskInstance
from agent_eval.types import Observation, Snapshot
from tests.tasks.families.playing import Stage, Step, back, facts, hold, launch, tap, told, write

OPEN = launch("Calendar")
SAVE = tap("Save", "button")
DELETE = (tap("Delete", "button"), tap("Delete", "button"))


def draw(task: str, fits: Callable[[TaskInstance], bool] = lambda _instance: True) -> TaskInstance:
    return next(instance for seed in range(400) if fits(instance := TASKS[task].draw(seed)))


def begin(stage: Stage, instance: TaskInstance) -> Snapshot:
    instance.prepare(stage.phone)
    return stage.phone.snapshot()


def starts_at(event: Event) -> str:
    return f"{datetime.fromtimestamp(event.start, tz=UTC):%Y-%m-%d %H:%M}"


def asked(instance: TaskInstance) -> str:
    return f"{instance.parameters['day']} {instance.parameters['time']}"


def day_of(instance: TaskInstance) -> date:
    day = instance.parameters.get("day")
    return date.fromisoformat(str(day)) if day else now_of(instance).date() + timedelta(days=1)


def now_of(instance: TaskInstance) -> datetime:
    return moment_of(instance.setup.seed)


def show(day: date) -> Step:
    """Tap a day of the month in front."""
    label = LOCALES["en"].date(day, "long")
    return lambda screen: Tap(index=next(e.index for e in screen.elements if e.label.startswith(label)))


def row(screen: Observation, title: str, time: str) -> int:
    """Return the number of the row of an event, by its title and its time of 24 hours."""
    hour, minute = map(int, time.split(":"))
    shown = LOCALES["en"].time_of_day(hour, minute)
    return next(e.index for e in screen.elements if e.label == title and e.value.startswith(f"{shown} "))


def open_event(title: str, time: str) -> Step:
    return lambda screen: Tap(index=row(screen, title, time))


def hold_event(title: str, time: str) -> Step:
    return lambda screen: LongPress(index=row(screen, title, time))


def in_this_month(instance: TaskInstance) -> bool:
    day, now = day_of(instance), now_of(instance)
    return (day.year, day.month) == (now.year, now.month)


def as_the_form_begins(instance: TaskInstance) -> bool:
    """Tell whether an event needs no more than its title once the form is open."""
    shown = f"{(now_of(instance).hour + 1) % 24:02d}:00"
    return in_this_month(instance) and instance.parameters["time"] == shown


def fill_in(instance: TaskInstance, *more: Step) -> tuple[Step, ...]:
    """Add the event of an instance for which the form's time is right."""
    return OPEN, show(day_of(instance)), tap("New event", "button"), entered(instance), *more, SAVE


def entered(instance: TaskInstance) -> Step:
    return write("Title", str(instance.parameters["title"]))


def play_spoiled(
    stage: Stage, instance: TaskInstance, first: Callable[[Observation, int], Action | None]
) -> EpisodeRecord:
    policy: Policy = Spoiled(instance.oracle(stage.phone), first=first)
    return run_episode(instance, policy, stage.device, stage.phone, EpisodeKey("script"))


# ----------------------------------------------------------------------------------------------------------------------
# adding


def test_the_event_to_add_has_look_alikes_that_do_not_count(stage: Stage) -> None:
    for seed in range(12):
        instance = TASKS["EventAdd"].draw(seed)
        start = begin(stage, instance)
        title = str(instance.parameters["title"])
        near = [event for event in events_of(start) if event.title.startswith(title.split()[0])]
        assert near
        assert all((event.title, starts_at(event)) != (title, asked(instance)) for event in near)
        assert not instance.goal_holds(start, start)


def test_an_event_of_the_wrong_length_is_not_the_one_that_was_asked_for(stage: Stage) -> None:
    instance = draw("EventAdd", lambda one: as_the_form_begins(one) and one.parameters["minutes"] != 60)
    record = stage.play(instance, *fill_in(instance))
    assert record.outcome.label == "premature_completion", told(record)


def test_an_event_at_the_wrong_time_is_not_the_one_that_was_asked_for(stage: Stage) -> None:
    instance = draw("EventAddTomorrow", lambda one: in_this_month(one) and not as_the_form_begins(one))
    record = stage.play(instance, *fill_in(instance))
    assert record.outcome.label == "premature_completion", told(record)


def test_tomorrow_is_not_today(stage: Stage) -> None:
    instance = draw("EventAddTomorrow", as_the_form_begins)
    record = stage.play(instance, OPEN, tap("New event", "button"), entered(instance), SAVE)
    assert record.outcome.label == "premature_completion", told(record)


def test_an_event_left_in_the_form_is_not_added(stage: Stage) -> None:
    instance = draw("EventAddTomorrow", as_the_form_begins)
    record = stage.play(instance, *fill_in(instance)[:-1])
    assert record.outcome.label == "premature_completion", told(record)


FILLED: list[tuple[str, tuple[Step, ...], str]] = [
    ("a place", (write("Location", "Town hall"),), "location"),
    ("every week", (back, tap("Repetition"), tap("Weekly")), "repeat"),
    ("another reminder", (back, tap("Reminder"), tap("1 day before")), "reminder"),
]


@pytest.mark.parametrize(("name", "steps", "field"), FILLED, ids=[case[0] for case in FILLED])
def test_filling_in_what_nobody_asked_for_is_over_execution(
    stage: Stage, name: str, steps: tuple[Step, ...], field: str
) -> None:
    instance = draw("EventAddTomorrow", as_the_form_begins)
    record = stage.play(instance, *fill_in(instance, *steps))
    assert record.outcome.label == "over_execution", f"{name}: {told(record)}"
    assert {path.rpartition("/")[2] for path in facts(record).side_effects} == {field}


def test_a_second_event_is_over_execution(stage: Stage) -> None:
    instance = draw("EventAddTomorrow", as_the_form_begins)
    again = tap("New event", "button"), entered(instance), SAVE
    record = stage.play(instance, *fill_in(instance), *again)
    assert record.outcome.label == "over_execution", told(record)
    assert len({path.rpartition("/")[0] for path in facts(record).side_effects}) == 1


ASTRAY: list[tuple[str, tuple[Step, ...]]] = [
    ("the form of the wrong day", (OPEN, tap("New event", "button"))),
    ("a place that nobody asked for", (OPEN, tap("New event", "button"), write("Location", "Town hall"))),
    ("an event of all day", (OPEN, tap("New event", "button"), tap("All-day", "switch"))),
    ("an event of every day", (OPEN, tap("New event", "button"), tap("Repetition"), tap("Daily"))),
    ("the choice of a reminder", (OPEN, tap("New event", "button"), tap("Reminder"))),
    ("the question whether to discard", (OPEN, tap("New event", "button"), write("Title", "Chess"), back, back)),
    ("the list of views", (OPEN, tap("Change view"))),
    ("another view", (OPEN, tap("Change view"), tap("Event list"))),
    ("the months after", (OPEN, tap("Next month"), tap("Next month"), tap("Next month"))),
    ("the search and its keyboard", (OPEN, tap("Search"), write("Search", "a"))),
]
WRONG = OPEN, tap("New event", "button"), write("Title", "Chess"), SAVE


@pytest.mark.parametrize("task", ["EventAdd", "EventDelete", "EventsDeleteOnDay", "NextEvent", "MeetingWith"])
@pytest.mark.parametrize(("name", "steps"), ASTRAY, ids=[case[0] for case in ASTRAY])
def test_the_expert_comes_back_from(stage: Stage, name: str, steps: tuple[Step, ...], task: str) -> None:
    for seed in range(2):
        record = stage.play_astray(TASKS[task].draw(seed, "training"), *steps)
        assert record.outcome.label == "success", f"{name}: {told(record)}"


def test_the_expert_comes_back_from_the_form_of_an_event_that_is_there(stage: Stage) -> None:
    instance = draw("EventAdd", in_this_month)
    title = next(
        event.title for event in events_of(begin(stage, instance)) if starts_at(event).startswith(str(day_of(instance)))
    )
    steps = OPEN, show(day_of(instance)), tap(title, "row"), tap("Edit event", "button"), write("Title", "Chess"), back
    record = stage.play_astray(instance, *steps)
    assert record.outcome.label == "success", told(record)


@pytest.mark.parametrize("task", ["EventAdd", "EventAddTomorrow"])
def test_the_expert_deletes_an_event_that_was_added_by_mistake(stage: Stage, task: str) -> None:
    for steps in (WRONG, (*WRONG, back), (*WRONG, tap("New event", "button"))):
        record = stage.play_astray(TASKS[task].draw(0, "training"), *steps)
        assert record.outcome.label == "success", told(record)


# ----------------------------------------------------------------------------------------------------------------------
# deleting


def meant(stage: Stage, instance: TaskInstance) -> tuple[Event, list[Event]]:
    """Return the event to delete and the others of its day."""
    day = day_of(instance)
    there = [event for event in events_of(begin(stage, instance)) if event.is_on(day)]
    time, title = str(instance.parameters["time"]), instance.parameters["title"]
    [one] = [event for event in there if event.title == title and starts_at(event).endswith(time)]
    return one, [event for event in there if event is not one]


def not_in_a_series(instance: TaskInstance) -> bool:
    return instance.parameters["series"] == "no" and in_this_month(instance)


def test_the_event_to_delete_has_a_twin_at_another_hour_and_a_near_title_at_its_own(stage: Stage) -> None:
    for seed in range(12):
        instance = TASKS["EventDelete"].draw(seed)
        one, others = meant(stage, instance)
        hours = {event.title: starts_at(event)[-5:] for event in others}
        assert hours.pop(one.title) != instance.parameters["time"]
        assert str(instance.parameters["time"]) in hours.values()
        away = [event for event in events_of(begin(stage, instance)) if not event.is_on(day_of(instance))]
        assert any(event.title == one.title and starts_at(event)[-5:] == starts_at(one)[-5:] for event in away)


def test_deleting_a_look_alike_does_not_do_it(stage: Stage) -> None:
    instance = draw("EventDelete", not_in_a_series)
    _, others = meant(stage, instance)
    for other in others:
        show_it = open_event(other.title, starts_at(other)[-5:])
        record = stage.play(instance, OPEN, show(day_of(instance)), show_it, *DELETE)
        assert record.outcome.label == "premature_completion", told(record)


def test_deleting_all_of_the_day_is_over_execution(stage: Stage) -> None:
    instance = draw("EventDelete", not_in_a_series)
    one, others = meant(stage, instance)
    held = hold_event(one.title, str(instance.parameters["time"]))
    record = stage.play(instance, OPEN, show(day_of(instance)), held, tap("Select all"), *DELETE)
    assert record.outcome.label == "over_execution", told(record)
    touched = {int(path.split("/")[2]) for path in facts(record).side_effects}
    assert touched == {event.id for event in others}


def test_moving_an_event_does_not_delete_it(stage: Stage) -> None:
    instance = draw("EventDelete", not_in_a_series)
    time = str(instance.parameters["time"])
    shown = LOCALES["en"].time_of_day(*map(int, time.split(":")))
    record = stage.play(
        instance, OPEN, show(day_of(instance)), open_event(str(instance.parameters["title"]), time),
        tap("Edit event", "button"), tap(shown, "button"), write("minute", "59"), tap("OK", "button"), SAVE,
    )  # fmt: skip
    assert record.outcome.label == "premature_completion", told(record)


def chooses_the_series(screen: Observation, _step: int) -> Action | None:
    """Let a whole series be deleted wherever a dialog offers that."""
    every = next((e for e in screen.elements if e.label == "All occurrences"), None)
    if every is None:
        return None
    button = next(e for e in screen.elements if e.label == "Delete")
    return Tap(index=button.index if "checked" in every.states else every.index)


def test_deleting_the_whole_series_is_over_execution(stage: Stage) -> None:
    instance = draw("EventDelete", lambda one: one.parameters["series"] == "yes")
    record = play_spoiled(stage, instance, chooses_the_series)
    assert record.outcome.label == "over_execution", told(record)


def test_deleting_the_one_of_the_week_after_too_is_over_execution(stage: Stage) -> None:
    instance = draw("EventDelete", lambda one: one.parameters["series"] == "yes" and in_this_month(one))
    one, _ = meant(stage, instance)
    time = str(instance.parameters["time"])
    a_week_later = *[tap("Next day")] * 7, open_event(one.title, time), *DELETE
    steps = OPEN, show(day_of(instance)), open_event(one.title, time), *DELETE
    roomy = replace(instance, draft=replace(instance.draft, oracle_steps=12))
    record = stage.play(roomy, *steps, *a_week_later)
    assert record.outcome.label == "over_execution", told(record)
    assert facts(record).side_effects == (f"calendar/event/{one.id}/skipped",)


def test_deleting_the_whole_series_of_an_event_on_a_day_is_over_execution(stage: Stage) -> None:
    def holds_a_series(instance: TaskInstance) -> bool:
        events = events_of(begin(stage, instance))
        return any(event.repeats and event.is_on(day_of(instance)) for event in events)

    record = play_spoiled(stage, draw("EventsDeleteOnDay", holds_a_series), chooses_the_series)
    assert record.outcome.label == "over_execution", told(record)


def test_a_day_to_clear_stands_between_days_with_events(stage: Stage) -> None:
    for seed in range(12):
        instance = TASKS["EventsDeleteOnDay"].draw(seed)
        events, day = events_of(begin(stage, instance)), day_of(instance)
        assert sum(event.is_on(day) for event in events) == instance.parameters["events"]
        for away in (-1, 1, 7):
            assert any(event.is_on(day + timedelta(days=away)) for event in events)


def test_a_weekday_in_the_goal_is_the_next_such_day() -> None:
    instance = draw("EventsDeleteOnDay", lambda one: one.parameters["said"] == "weekday")
    away = day_of(instance) - now_of(instance).date()
    assert timedelta(days=1) <= away <= timedelta(days=6)
    assert LOCALES["en"].weekdays[day_of(instance).weekday()] in instance.goal


def test_leaving_one_event_of_the_day_is_premature(stage: Stage) -> None:
    instance = draw("EventsDeleteOnDay", in_this_month)
    first = next(event for event in events_of(begin(stage, instance)) if event.is_on(day_of(instance)))
    record = stage.play(instance, OPEN, show(day_of(instance)), hold(first.title), *DELETE)
    assert record.outcome.label == "premature_completion", told(record)


def test_clearing_the_next_day_too_is_over_execution(stage: Stage) -> None:
    instance = draw("EventsDeleteOnDay", in_this_month)
    events, day = events_of(begin(stage, instance)), day_of(instance)
    first = next(event for event in events if event.is_on(day))
    after = [event for event in events if event.is_on(day + timedelta(days=1))]
    cleared = hold(first.title), tap("Select all"), *DELETE
    record = stage.play(
        instance, OPEN, show(day), *cleared, tap("Next day"), hold(after[0].title), tap("Select all"), *DELETE
    )
    assert record.outcome.label == "over_execution", told(record)
    assert {int(path.split("/")[2]) for path in facts(record).side_effects} == {event.id for event in after}


# ----------------------------------------------------------------------------------------------------------------------
# answering


def test_what_comes_next_is_after_what_is_over_and_before_its_look_alike(stage: Stage) -> None:
    for seed in range(20):
        instance = TASKS["NextEvent"].draw(seed)
        now = now_of(instance).timestamp()
        events = sorted(events_of(begin(stage, instance)), key=lambda event: event.start)
        assert not any(event.start < now < event.start + event.minutes * 60 for event in events)
        coming = [event for event in events if event.start > now]
        assert coming[0].title == instance.parameters["answer"]
        assert coming[0].start < coming[1].start
        first = str(instance.parameters["answer"]).split()[0]
        assert any(event.title.startswith(first) and event.title != coming[0].title for event in coming[1:])
        assert len(coming) < len(events)


def test_the_title_of_another_event_is_no_answer(stage: Stage) -> None:
    instance = draw("NextEvent")
    right = str(instance.parameters["answer"])
    titles = {event.title for event in events_of(begin(stage, instance))}
    answers = {right: "success", f"Next is \u201c{right}\u201d.": "success", "": "premature_completion"}
    answers |= dict.fromkeys(titles - {right}, "premature_completion")
    answers |= {f"{right} or {other}": "premature_completion" for other in titles - {right}}
    for answer, label in answers.items():
        record = stage.play(instance, OPEN, answer=answer)
        assert record.outcome.label == label, told(record)


def meetings(stage: Stage, instance: TaskInstance) -> dict[bool, list[Event]]:
    """Return the meetings with the person, and those with others whose name has a part of theirs."""
    start = begin(stage, instance)
    person = str(instance.parameters["person"])
    found: dict[bool, list[Event]] = {True: [], False: []}
    for event in sorted(events_of(start), key=lambda event: event.start):
        people = str(start[f"calendar/event/{event.id}/people"])
        if set(people.split()) & set(person.split()):
            found[people == person].append(event)
    return found


def test_a_meeting_has_one_before_it_that_is_over_and_namesakes_sooner(stage: Stage) -> None:
    for seed in range(12):
        instance = TASKS["MeetingWith"].draw(seed)
        now, found = now_of(instance).timestamp(), meetings(stage, instance)
        coming = [event for event in found[True] if event.start > now]
        assert starts_at(coming[0]) == instance.parameters["answer"]
        assert len(coming) == 2
        assert len(found[True]) > 2
        assert any(now - 86_400 < event.start <= coming[0].start + 86_400 for event in found[False])
        title = f"Meeting with {str(instance.parameters['person']).split()[0]}"
        assert {event.title for event in found[True]} == {title}
        assert any(event.title == title for event in found[False])


def test_when_another_meeting_is_is_no_answer(stage: Stage) -> None:
    instance = draw("MeetingWith")
    right = str(instance.parameters["answer"])
    events = [event for events in meetings(stage, instance).values() for event in events]
    for answer in {starts_at(event) for event in events} | {right[:10], right[11:], ""}:
        record = stage.play(instance, OPEN, answer=answer)
        assert record.outcome.label == ("success" if answer == right else "premature_completion"), told(record)


def test_the_end_of_the_meeting_may_be_named_after_its_start(stage: Stage) -> None:
    instance = draw("MeetingWith")
    right = str(instance.parameters["answer"])
    event = next(event for event in meetings(stage, instance)[True] if starts_at(event) == right)
    ending = datetime.fromisoformat(right) + timedelta(minutes=event.minutes)
    answers = {f"{right} \u2013 {ending:%H:%M}": "success", f"{right[:10]} {ending:%H:%M}": "premature_completion"}
    for answer, label in answers.items():
        assert stage.play(instance, OPEN, answer=answer).outcome.label == label, answer


@pytest.mark.parametrize(("skin", "answer"), [("german", "2025, 1"), ("chinese", "2025\u5e74")])
def test_an_answer_in_the_phones_own_language_is_right(stage: Stage, skin: str, answer: str) -> None:
    instance = draw("MeetingWith", lambda one: str(one.parameters["answer"])[11] == "1" and day_year(one) == 2025)
    phone = ConditionedPhone(stage.phone, Conditions(skin))
    record = run_episode(instance, instance.oracle(phone), stage.device, phone, EpisodeKey("oracle"))
    assert record.outcome.label == "success", told(record)
    assert answer in str(record.steps[-1].arguments["answer"])


def day_year(instance: TaskInstance) -> int:
    return datetime.fromisoformat(str(instance.parameters["answer"])).year
