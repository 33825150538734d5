"""What is asked of Calendar. Knows where events are kept in the phone's state, and how to word the goal.

Every phone has look-alikes of the event that is meant: the same title on another day or at another hour, a title that
is a letter longer at the same hour, and, for a meeting, one with a namesake.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime, timedelta
from random import Random

from agent_eval.device_sim.apps.calendar import EVENT
from agent_eval.device_sim.locales import LOCALES
from agent_eval.device_sim.moments import day_of
from agent_eval.tasks import answers
from agent_eval.tasks.families import calendar_expert
from agent_eval.tasks.families.calendar_entries import (
    HOURS,
    LENGTHS,
    PLACES,
    Entry,
    draw_ordinary,
    draw_phone,
    draw_titles,
    enter,
    in_series,
    near_title,
    other_minute,
    write_day,
    write_time,
)
from agent_eval.tasks.families.calendar_expert import CALENDAR, Appointment, Event, events_of
from agent_eval.tasks.families.people import draw_name, near_names
from agent_eval.tasks.families.repair import mending
from agent_eval.tasks.judge import Criteria, Goal, Writes, any_writes, only
from agent_eval.tasks.moves import Move, finish, repairing
from agent_eval.tasks.oracle import Plan
from agent_eval.tasks.task import Draft, Language, Template, wordings
from agent_eval.tasks.view import View
from agent_eval.types import Scalar, Snapshot

_FRAMES = ("{}.", "Please {}.", "I want you to {}.")
_ADD = (
    'add an event called "{title}" to the calendar, on {day} at {time}, {minutes} minutes long',
    'create a {minutes}-minute calendar event with the title "{title}" that starts on {day} at {time}',
    'put "{title}" into the calendar on {day} from {time} to {end}',
    'schedule "{title}" in the calendar for {day}, {time}; it takes {minutes} minutes',
    'enter a new event in the calendar: "{title}", {day}, {time} to {end}',
)
_ADD_TOMORROW = (
    'add "{title}" to the calendar for tomorrow at {time}',
    'create a calendar event called "{title}" that starts tomorrow at {time}',
    'put an event with the title "{title}" into the calendar, tomorrow at {time}',
    'schedule "{title}" in the calendar for {time} tomorrow',
)
_DELETE = (
    'delete the event "{title}" on {day} at {time} from the calendar',
    'remove "{title}" at {time} on {day} from the calendar',
    'take "{title}", which starts on {day} at {time}, off the calendar',
    'get rid of the calendar event "{title}" on {day} at {time}',
)
_DELETE_DAY = (
    "delete every event that takes place {when} from the calendar",
    "delete all calendar events that are {when}",
    "remove whatever the calendar has {when}",
    "take every event off the calendar that starts {when}",
)
_NEXT: dict[Language, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "en": (
        (
            "what is the next event in my calendar",
            "which event comes up next in the calendar",
            "according to the calendar, what do I have on next",
            "which calendar event is coming up first",
            "what does the calendar have for me next",
            "what is the first event in my calendar that is still to come",
        ),
        (
            "{}? Answer with its title.",
            "{}? Give the title only.",
            "{}? I only need the title.",
            "{}? The title is enough.",
            "{}? Tell me what it is called.",
        ),
    ),
    "de": (
        (
            "welcher Termin steht in meinem Kalender als Nächstes an",
            "was ist der nächste Termin in meinem Kalender",
            "welcher Termin kommt laut Kalender als Nächstes",
            "was habe ich laut Kalender als Nächstes vor",
            "was steht in meinem Kalender als Nächstes an",
            "welcher Termin im Kalender beginnt als Nächster",
        ),
        (
            "{}? Antworte mit dem Titel.",
            "{}? Nenne nur den Titel.",
            "{}? Mir reicht der Titel.",
            "{}? Ich brauche nur den Titel.",
            "{}? Sag mir, wie er heißt.",
        ),
    ),
    "zh": (
        (
            "我日历里的下一个活动是什么",
            "日历上接下来是哪个活动",
            "日历里最先要开始的活动是哪个",
            "根据日历，我接下来有什么活动",
            "看一下日历，我的下一个活动是哪个",
            "按照日历上的安排，接下来是什么活动",
        ),
        (
            "{}？请回答活动的标题。",
            "{}？只要标题。",
            "{}？告诉我标题就行。",
            "{}？我只需要标题。",
            "{}？请说出它的标题。",
        ),
    ),
}
_MEETING = (
    "when is my next meeting with {person}",
    "on which day and at what time do I next meet {person}",
    "when does the calendar have the next meeting with {person}",
    "when do I have a meeting with {person} next",
)
_MEETING_FRAMES = ("{}? Give the date and the time.", "{}? Answer with date and time.", "{}? Tell me date and time.")

_MOST_AHEAD = 27
"""Days ahead that surely lie in the phone's month or the next one."""
_CLEAR = 20
"""Minutes before and after the phone's start in which no event starts or ends: what comes next stays the same."""


def _months_apart(now: datetime, day: date) -> int:
    return int((now.year, now.month) != (day.year, day.month))


# ----------------------------------------------------------------------------------------------------------------------
# a new event


_AS_THE_FORM_BEGINS: dict[str, Scalar] = {
    "minutes": 60, "location": "", "description": "", "people": "", "repeat": "none", "all_day": False, "reminder": 10,
    "skipped": "",
}  # fmt: skip


def _added(start: Snapshot, now: Snapshot, wanted: Appointment, asked: Collection[str]) -> tuple[str, ...] | None:
    """Return the paths of the new event that was asked for, but for what nobody asked to fill in; None without one."""
    old = {event.id for event in events_of(start)}
    found = [
        tuple(
            f"{EVENT}/{event.id}/{name}"
            for name, value in now.under(f"{EVENT}/{event.id}").items()
            if name in asked or _AS_THE_FORM_BEGINS.get(name) == value
        )
        for event in events_of(now)
        if event.id not in old
        and (event.title, event.start) == (wanted.title, wanted.start)
        and ("minutes" not in asked or event.minutes == wanted.minutes)
    ]
    return max(found, key=len, default=None)


def _added_goal(wanted: Appointment, asked: Collection[str]) -> Goal:
    return lambda start, now: _added(start, now, wanted, asked) is not None


def _added_writes(wanted: Appointment, asked: Collection[str]) -> Writes:
    """Allow the one event that was asked for; a second one, and whatever else is filled in, is a side effect."""
    return lambda start, end: _added(start, end, wanted, asked) or ()


def _stray(view: View, written: tuple[str, ...] | None) -> Event | None:
    """Return a new event that nobody asked for, if there is one that is deleted in one piece."""
    kept = {event.id for event in events_of(view.start)} | {int(path.split("/")[2]) for path in written or ()}
    return next((event for event in events_of(view.now) if event.id not in kept and not event.repeats), None)


def _add_plan(wanted: Appointment, asked: Collection[str]) -> Plan:
    @mending
    def plan(view: View) -> Move:
        written = _added(view.start, view.now, wanted, asked)
        stray = _stray(view, written)
        if stray is not None and (written is not None or not calendar_expert.is_adding(view)):
            return repairing(calendar_expert.delete(view, stray, day_of(stray.start)))
        if written is None:
            return calendar_expert.add(view, wanted)
        row = next(calendar_expert.rows_at(view, wanted.title, wanted.start), None)
        return finish("saved") if row is None else calendar_expert.seen(row)

    return plan


def _dial_steps(shown: int, wanted: int) -> int:
    """Count the actions that change a time of day in its dialog, on a phone that counts to twelve."""
    if shown == wanted:
        return 0
    hour, other = shown // 60, wanted // 60
    return 2 + (hour % 12 != other % 12) + (shown % 60 != wanted % 60) + (hour // 12 != other // 12)


def _add_steps(now: datetime, wanted: Appointment) -> int:
    """Count the actions: the app, the page of the month, day, button, title, start, end, and the button that saves."""
    shown = (now.hour + 1) % 24 * 60
    start = _dial_steps(shown, wanted.minute)
    end = _dial_steps(wanted.minute + 60, wanted.minute + wanted.minutes)
    keyboard = int(start == 0 < end)  # it goes with the first dialog; over the line of the end it must be closed
    return 5 + _months_apart(now, wanted.day) + start + keyboard + end


def _draw_added_state(wanted: Appointment, rng: Random) -> dict[str, Scalar]:
    """Draw what is easily taken for the new event: its title the day after and at another hour, its time under another.

    The other events of the phone are those of its seed.
    """
    day, minute, title = wanted.day, wanted.minute, wanted.title
    entries = [
        Entry(title, day + timedelta(days=1), minute),
        Entry(title, day, other_minute(minute, rng)),
        Entry(near_title(title, rng), day, minute),
    ]
    return enter(rng.sample(entries, rng.randint(1, 3)), rng)[0]


def _compose_add(rng: Random) -> Draft:
    seed, now = draw_phone(rng)
    day = now.date() + timedelta(days=rng.randint(2, _MOST_AHEAD))
    wanted = Appointment(draw_titles(1, rng)[0], day, 60 * rng.choice(HOURS), rng.choice(LENGTHS))
    asked, style = ("title", "start", "minutes"), rng.randrange(3)
    return Draft(
        sentences={
            "en": wordings(
                _ADD,
                _FRAMES,
                title=wanted.title,
                day=write_day(day, rng),
                time=write_time(wanted.minute, style),
                end=write_time(wanted.minute + wanted.minutes, style),
                minutes=wanted.minutes,
            )
        },
        parameters={
            "title": wanted.title,
            "day": day.isoformat(),
            "time": write_time(wanted.minute, 1),
            "minutes": wanted.minutes,
        },
        state=_draw_added_state(wanted, rng),
        criteria=Criteria(goal=_added_goal(wanted, asked), allowed=_added_writes(wanted, asked), apps=(CALENDAR,)),
        plan=_add_plan(wanted, asked),
        oracle_steps=_add_steps(now, wanted),
        split_keys=(f"event {wanted.title}",),
        phone_seed=seed,
    )


def _compose_add_tomorrow(rng: Random) -> Draft:
    seed, now = draw_phone(rng)
    day = now.date() + timedelta(days=1)
    wanted = Appointment(draw_titles(1, rng)[0], day, 60 * rng.choice(HOURS))
    asked, style = ("title", "start"), rng.randrange(3)
    return Draft(
        sentences={"en": wordings(_ADD_TOMORROW, _FRAMES, title=wanted.title, time=write_time(wanted.minute, style))},
        parameters={"title": wanted.title, "time": write_time(wanted.minute, 1)},
        state=_draw_added_state(wanted, rng),
        criteria=Criteria(goal=_added_goal(wanted, asked), allowed=_added_writes(wanted, asked), apps=(CALENDAR,)),
        plan=_add_plan(wanted, asked),
        oracle_steps=_add_steps(now, wanted),
        split_keys=(f"event {wanted.title}",),
        phone_seed=seed,
    )


# ----------------------------------------------------------------------------------------------------------------------
# events that go


def _event(snapshot: Snapshot, number: int) -> Event | None:
    return next((event for event in events_of(snapshot) if event.id == number), None)


def _is_gone(now: Snapshot, number: int, day: date) -> bool:
    """Tell whether an event was deleted, or the one of a day was from its series; one that was moved is still there."""
    event = _event(now, number)
    return event is None or (event.repeats and day.isoformat() in event.skipped)


def _deletion(number: int, entry: Entry, day: date) -> Writes:
    """Allow what deleting an event writes; of a series only the one of the day is to go."""

    def allowed(_start: Snapshot, end: Snapshot) -> tuple[str, ...]:
        if entry.repeat == "none":
            return (f"{EVENT}/{number}/**",)
        event = _event(end, number)
        return (f"{EVENT}/{number}/skipped",) if event is not None and event.skipped == (day.isoformat(),) else ()

    return allowed


def _delete_plan(number: int, day: date, minute: int, title: str) -> Plan:
    @mending
    def plan(view: View) -> Move:
        event = _event(view.now, number)
        if event is None or _is_gone(view.now, number, day):
            return finish(f"no {title} at {view.speech.time_of_day(*divmod(minute, 60))}")
        return calendar_expert.delete(view, event, day)

    return plan


def _compose_delete(rng: Random) -> Draft:
    seed, now = draw_phone(rng)
    today = now.date()
    day, minute = today + timedelta(days=rng.randint(2, _MOST_AHEAD)), 60 * rng.choice(HOURS)
    title, *others = draw_titles(8, rng)
    meant, near = Entry(title, day, minute, rng.choice(LENGTHS)), near_title(title, rng)
    series = rng.random() < 0.3
    if series:
        meant = in_series(meant, rng)
    away = timedelta(days=rng.choice((-1, 1)))
    entries = [
        meant,
        Entry(title, day, other_minute(minute, rng)),
        Entry(title, day + away, minute),
        Entry(near, day, minute),
        *draw_ordinary(today, {day}, [near, *others], rng),
    ]
    state, numbers = enter(entries, rng)
    time = write_time(minute, rng.randrange(3))
    return Draft(
        sentences={"en": wordings(_DELETE, _FRAMES, title=title, day=write_day(day, rng), time=time)},
        parameters={
            "title": title,
            "day": day.isoformat(),
            "time": write_time(minute, 1),
            "series": "yes" if series else "no",
        },
        state=state,
        criteria=Criteria(
            goal=lambda _start, now: _is_gone(now, numbers[0], day),
            allowed=_deletion(numbers[0], meant, day),
            apps=(CALENDAR,),
        ),
        plan=_delete_plan(numbers[0], day, minute, title),
        oracle_steps=5 + _months_apart(now, day),
        split_keys=(f"event {title}",),
        without=(EVENT,),
        phone_seed=seed,
    )


def _delete_day_plan(day: date) -> Plan:
    @mending
    def plan(view: View) -> Move:
        events = [event for event in events_of(view.now) if event.is_on(day)]
        if events:
            return calendar_expert.delete_all(view, events, day)
        return finish(f"{view.speech.date(day, 'long')}: no events")

    return plan


def _compose_delete_day(rng: Random) -> Draft:
    seed, now = draw_phone(rng)
    today = now.date()
    named = rng.random() < 0.5
    ahead = rng.randint(2, _MOST_AHEAD) if named else rng.randint(1, 6)
    day = today + timedelta(days=ahead)
    when = f"on {write_day(day, rng)}" if named else f"this coming {LOCALES['en'].weekdays[day.weekday()]}"
    titles = draw_titles(7, rng)
    minutes = rng.sample(HOURS, rng.randint(2, 3))
    there = [Entry(title, day, 60 * hour) for title, hour in zip(titles, minutes, strict=False)]
    if rng.random() < 0.3:
        there[0] = in_series(there[0], rng)
    around = [Entry(titles[0], day + timedelta(days=away), 60 * rng.choice(HOURS)) for away in (-1, 1, 7)]
    entries = [*there, *around, *draw_ordinary(today, {day}, titles[3:], rng)]
    state, numbers = enter(entries, rng)
    meant = dict(zip(numbers, there, strict=False))
    return Draft(
        sentences={"en": wordings(_DELETE_DAY, _FRAMES, when=when)},
        parameters={"day": day.isoformat(), "events": len(there), "said": "date" if named else "weekday"},
        state=state,
        criteria=Criteria(
            goal=lambda _start, now: (
                all(_is_gone(now, number, day) for number in meant)
                and not any(event.is_on(day) for event in events_of(now))
            ),
            allowed=any_writes(*(_deletion(number, entry, day) for number, entry in meant.items())),
            apps=(CALENDAR,),
        ),
        plan=_delete_day_plan(day),
        oracle_steps=6 + _months_apart(now, day),
        split_keys=(f"day {day.isoformat()}",),
        without=(EVENT,),
        phone_seed=seed,
    )


# ----------------------------------------------------------------------------------------------------------------------
# what the calendar says


def _next_plan(title: str) -> Plan:
    @mending
    def plan(view: View) -> Move:
        move = calendar_expert.to_view(view, "agenda", "Event list")
        if move is not None:
            return move
        row = view.seek(title, "row")
        return row if isinstance(row, Move) else calendar_expert.seen(row, title)

    return plan


def _draw_over(now: datetime, titles: Sequence[str], rng: Random) -> list[Entry]:
    """Draw events that are over: one of today, where there was time for it, and some of the days before."""
    last = now.hour * 60 + now.minute - _CLEAR - 60
    today = [Entry(titles[0], now.date(), rng.randrange(0, last + 1, 30))] if last >= 0 else []
    before = [Entry(title, now.date() - timedelta(days=rng.randint(1, 6)), 60 * rng.choice(HOURS)) for title in titles]
    return today + before


def _compose_next(rng: Random) -> Draft:
    seed, now = draw_phone(rng)
    titles = draw_titles(8, rng)
    title, near = titles[0], near_title(titles[0], rng)
    soonest = -(-(now.hour * 60 + now.minute + _CLEAR) // 30) * 30
    ahead = rng.choice((0, 0, 1, 2, 3) if soonest <= 21 * 60 else (1, 2, 3))
    day = now.date() + timedelta(days=ahead)
    minute = rng.randrange(soonest if ahead == 0 else 7 * 60, 21 * 60 + 1, 30)
    later = [
        Entry(near, day, minute + rng.choice((60, 90, 120))),
        Entry(title, day + timedelta(days=7), minute),
        *(
            Entry(other, day + timedelta(days=rng.randint(1, 20)), 60 * rng.choice(HOURS), location=rng.choice(PLACES))
            for other in titles[1:]
        ),
    ]
    entries = [Entry(title, day, minute, 60), *later, *_draw_over(now, [near, *titles[4:]], rng)]
    accepts = answers.title(title, [near, *titles[1:]])
    return Draft(
        sentences={language: wordings(*parts) for language, parts in _NEXT.items()},
        parameters={"answer": title, "day": day.isoformat(), "time": write_time(minute, 1)},
        state=enter(entries, rng)[0],
        criteria=Criteria(goal=None, allowed=only(), apps=(CALENDAR,), answer=lambda _start, text: accepts(text)),
        plan=_next_plan(title),
        oracle_steps=3,
        split_keys=(f"event {title}",),
        without=(EVENT,),
        phone_seed=seed,
    )


def _meeting_plan(person: str, meeting: Appointment) -> Plan:
    @mending
    def plan(view: View) -> Move:
        move = calendar_expert.to_search(view, person)
        return move or calendar_expert.tell_when(view, meeting)

    return plan


def _compose_meeting(rng: Random) -> Draft:
    seed, now = draw_phone(rng)
    today = now.date()
    person = draw_name(rng)
    namesakes = [name for name in near_names(person, 3, rng) if person not in name]  # a search must tell them apart

    def meet(name: str, ahead: int) -> Entry:
        return Entry(
            f"Meeting with {name.split()[0]}", today + timedelta(days=ahead), 30 * rng.randint(16, 40),
            rng.choice(LENGTHS), people=name,
        )  # fmt: skip

    ahead = rng.randint(2, 12)
    meeting = meet(person, ahead)
    entries = [
        meeting,
        *(meet(person, -away) for away in rng.sample(range(1, 8), rng.randint(1, 2))),
        meet(person, ahead + rng.randint(1, 10)),
        *(meet(name, rng.randint(1, ahead)) for name in namesakes),
        *(meet(name, rng.randint(-6, 12)) for name in namesakes),
    ]
    start = datetime.fromtimestamp(meeting.start, UTC)
    accepts = answers.moment(start, start + timedelta(minutes=meeting.minutes))
    return Draft(
        sentences={"en": wordings(_MEETING, _MEETING_FRAMES, person=person)},
        parameters={"person": person, "answer": f"{start:%Y-%m-%d %H:%M}"},
        state=enter(entries, rng)[0],
        criteria=Criteria(goal=None, allowed=only(), apps=(CALENDAR,), answer=lambda _start, text: accepts(text)),
        plan=_meeting_plan(person, meeting),
        oracle_steps=3,
        split_keys=(f"person {person}",),
        phone_seed=seed,
    )


EVENT_ADD = Template(
    name="EventAdd",
    summary="add one event with a title, a day, a start and a length",
    tier=3,
    compose=_compose_add,
    android_world=("SimpleCalendarAddOneEvent",),
)
EVENT_ADD_TOMORROW = Template(
    name="EventAddTomorrow",
    summary="add one event to tomorrow",
    tier=3,
    compose=_compose_add_tomorrow,
    android_world=("SimpleCalendarAddOneEventTomorrow",),
)
EVENT_DELETE = Template(
    name="EventDelete",
    summary="delete one event, or one of a series, and keep its look-alikes",
    tier=2,
    traits=("guard",),
    compose=_compose_delete,
    android_world=("SimpleCalendarDeleteOneEvent",),
)
EVENTS_DELETE_ON_DAY = Template(
    name="EventsDeleteOnDay",
    summary="delete all events of one day and none of the days around it",
    tier=2,
    compose=_compose_delete_day,
    android_world=("SimpleCalendarDeleteEvents", "SimpleCalendarDeleteEventsOnRelativeDay"),
)
NEXT_EVENT = Template(
    name="NextEvent",
    summary="answer what comes next in the calendar",
    tier=1,
    traits=("answer",),
    compose=_compose_next,
    android_world=("SimpleCalendarNextEvent",),
)
MEETING_WITH = Template(
    name="MeetingWith",
    summary="answer when the next meeting with a person is",
    tier=2,
    traits=("answer",),
    compose=_compose_meeting,
    android_world=("SimpleCalendarNextMeetingWithPerson",),
)

TEMPLATES = (EVENT_ADD, EVENT_ADD_TOMORROW, EVENT_DELETE, EVENTS_DELETE_ON_DAY, NEXT_EVENT, MEETING_WITH)
