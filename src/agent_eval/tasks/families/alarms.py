"""What is asked of Clock's alarms. Knows where alarms are kept in the phone's state, and how to word the goal.

Every draft names all alarms of the phone, so an alarm that is not in the draft was added by the agent. Among the others
there are look-alikes of the one that is meant: a minute off, the same time in the other half of the day, an hour off.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from random import Random

from agent_eval.device_sim.locales import LOCALES
from agent_eval.device_sim.profile import DAYS
from agent_eval.tasks import answers
from agent_eval.tasks.families import clock_expert
from agent_eval.tasks.families.alarm_words import (
    CREATE,
    CREATE_LABELLED,
    DELETE,
    FRAMES,
    LABELS,
    SWITCH,
    VIBRATES,
    draw_label,
)
from agent_eval.tasks.families.clock_expert import CLOCK, Alarm, TimeOfDay, alarms_of
from agent_eval.tasks.families.repair import mending, undo
from agent_eval.tasks.judge import Criteria, Goal, Writes, every, only
from agent_eval.tasks.moves import Move, complete, finish
from agent_eval.tasks.oracle import Plan
from agent_eval.tasks.task import Draft, Template, wordings
from agent_eval.tasks.view import View
from agent_eval.types import Scalar, Snapshot

_DAY_NAMES = dict(zip(DAYS, (LOCALES["en"].weekdays[-1], *LOCALES["en"].weekdays[:-1]), strict=True))

_FRESH: Mapping[str, Scalar] = {"label": "", "days": "", "vibrate": False}
"""What a new alarm has unless it is given something else."""


def time_key(time: TimeOfDay) -> str:
    """Return the split key of a time of day."""
    return f"time {time.hour:02d}:{time.minute:02d}"


def draw_time(rng: Random) -> TimeOfDay:
    """Draw a time of day; most people's alarms ring at a multiple of five minutes."""
    minute = 5 * rng.randrange(12) if rng.random() < 0.7 else rng.randrange(60)
    return TimeOfDay(rng.randrange(24), minute)


def _a_minute_off(time: TimeOfDay, rng: Random) -> TimeOfDay:
    """Return the time just before or after one."""
    minutes = (60 * time.hour + time.minute + rng.choice((-1, 1))) % (24 * 60)
    return TimeOfDay(*divmod(minutes, 60))


def _look_alikes(time: TimeOfDay, rng: Random) -> list[TimeOfDay]:
    """Return times that are easily taken for another: one a minute off, then the rest in random order."""
    hour, minute = time
    near = [
        TimeOfDay((hour + 12) % 24, minute),
        TimeOfDay((hour + 1) % 24, minute),
        TimeOfDay((hour + 23) % 24, minute),
        TimeOfDay(hour, (minute + 5) % 60),
        TimeOfDay(hour, (minute + 30) % 60),
    ]
    rng.shuffle(near)
    return [_a_minute_off(time, rng), *near]


def _draw_others(time: TimeOfDay, count: int, look_alikes: int, rng: Random) -> list[TimeOfDay]:
    """Draw times of other alarms, all different from each other and from the one that is meant."""
    others = _look_alikes(time, rng)[:look_alikes]
    while len(others) < count:
        other = draw_time(rng)
        if other != time and other not in others:
            others.append(other)
    return others


def _draw_days(rng: Random, count: int) -> frozenset[str]:
    return frozenset(rng.sample(DAYS, count))


def _draw_alarms(times: Sequence[TimeOfDay], rng: Random) -> list[Alarm]:
    """Draw an alarm for each time, numbered in random order."""
    shuffled = list(times)
    rng.shuffle(shuffled)
    return [
        Alarm(
            number,
            time,
            enabled=rng.random() < 0.5,
            label=rng.choice(LABELS),
            days=_draw_days(rng, rng.randint(1, 5)) if rng.random() < 0.3 else frozenset(),
            vibrate=rng.random() < 0.5,
        )
        for number, time in enumerate(shuffled, start=1)
    ]


def _state_of(alarms: Sequence[Alarm]) -> dict[str, Scalar]:
    return {path: value for alarm in alarms for path, value in alarm.state.items()}


def _ids(alarms: Sequence[Alarm]) -> frozenset[int]:
    return frozenset(alarm.id for alarm in alarms)


def _at(alarms: Sequence[Alarm], time: TimeOfDay) -> Alarm:
    return next(alarm for alarm in alarms if alarm.time == time)


def _above(alarms: Sequence[Alarm], alarm: Alarm) -> int:
    """Return how many alarms stand above one in the list; a default phone shows three at once."""
    return sum((other.time, other.id) < (alarm.time, alarm.id) for other in alarms)


# ----------------------------------------------------------------------------------------------------------------------
# a new alarm


def _wanted_new(snapshot: Snapshot, old: frozenset[int], time: TimeOfDay) -> Alarm | None:
    """Return the new alarm that was asked for: the first one at the time, one that is on before one that is off."""
    at_time = [alarm for alarm in alarms_of(snapshot) if alarm.id not in old and alarm.time == time]
    return min(at_time, key=lambda alarm: (not alarm.enabled, alarm.id), default=None)


def _writes_of(alarm: Alarm, asked: Collection[str]) -> tuple[str, ...]:
    """Allow a new alarm with the fields that were asked for; the others must be those of a fresh one."""
    return tuple(
        path
        for path, value in alarm.state.items()
        if (name := path.rpartition("/")[2]) in asked or _FRESH.get(name, value) == value
    )


def _create_goal(old: frozenset[int], time: TimeOfDay) -> Goal:
    def holds(_start: Snapshot, now: Snapshot) -> bool:
        wanted = _wanted_new(now, old, time)
        return wanted is not None and wanted.enabled

    return holds


def _create_writes(old: frozenset[int], time: TimeOfDay) -> Writes:
    """Allow the one alarm that was asked for; a second one, at the same time or another, is a side effect."""

    def allowed(_start: Snapshot, end: Snapshot) -> tuple[str, ...]:
        wanted = _wanted_new(end, old, time)
        return () if wanted is None else _writes_of(wanted, ())

    return allowed


def _create_plan(old: frozenset[int], time: TimeOfDay) -> Plan:
    def plan(view: View) -> Move:
        wanted = _wanted_new(view.now, old, time)
        if clock_expert.adds_alarm(view) and wanted is None:
            return clock_expert.pick(view, time)  # what is begun is finished before damage is undone
        repair = undo(view)
        if repair is not None:
            return repair
        if wanted is None:
            return clock_expert.add(view, time)
        found = clock_expert.set_enabled(view, wanted, True)
        return found if isinstance(found, Move) else complete(found, wanted=True)

    return plan


def _compose_create(rng: Random) -> Draft:
    time = draw_time(rng)
    count = rng.randint(0, 3)
    alarms = _draw_alarms(_draw_others(time, count, min(count, rng.randint(1, 2)), rng), rng)
    old = _ids(alarms)
    return Draft(
        sentences={"en": wordings(CREATE, FRAMES["en"], t=time.text)},
        parameters={"time": time.text},
        state=_state_of(alarms),
        criteria=Criteria(goal=_create_goal(old, time), allowed=_create_writes(old, time), apps=(CLOCK,)),
        plan=_create_plan(old, time),
        oracle_steps=6 + (_above(alarms, Alarm(len(alarms) + 1, time, enabled=True)) > 2),
        split_keys=(time_key(time),),
        keep_alarms=False,
    )


# ----------------------------------------------------------------------------------------------------------------------
# a new alarm with a label and days


_ASKED = ("label", "days")

_PARTS: Mapping[str, Callable[[Alarm, Alarm], bool]] = {
    "time": lambda alarm, wanted: alarm.time == wanted.time and alarm.enabled,
    "label": lambda alarm, wanted: alarm.label == wanted.label,
    "days": lambda alarm, wanted: alarm.days == wanted.days,
}
"""What is asked of the new alarm, as sub-goals."""


def _likest_new(snapshot: Snapshot, old: frozenset[int], wanted: Alarm) -> Alarm | None:
    """Return the new alarm that has most of what was asked for, the first of several; None if none has anything."""

    def score(alarm: Alarm) -> int:
        return sum(holds(alarm, wanted) for holds in _PARTS.values())

    new = [
        alarm for alarm in alarms_of(snapshot) if alarm.id not in old and (score(alarm) or alarm.time == wanted.time)
    ]
    return min(new, key=lambda alarm: (-score(alarm), alarm.id), default=None)


def _labelled_part(part: str, old: frozenset[int], wanted: Alarm) -> Goal:
    def holds(_start: Snapshot, now: Snapshot) -> bool:
        alarm = _likest_new(now, old, wanted)
        return alarm is not None and _PARTS[part](alarm, wanted)

    return holds


def _labelled_writes(old: frozenset[int], wanted: Alarm) -> Writes:
    def allowed(_start: Snapshot, end: Snapshot) -> tuple[str, ...]:
        alarm = _likest_new(end, old, wanted)
        return () if alarm is None else _writes_of(alarm, _ASKED)

    return allowed


def _labelled_plan(old: frozenset[int], wanted: Alarm) -> Plan:
    def plan(view: View) -> Move:
        alarm = _likest_new(view.now, old, wanted)
        if clock_expert.adds_alarm(view) and alarm is None:
            return clock_expert.pick(view, wanted.time)
        repair = undo(view)
        if repair is not None:
            return repair
        if alarm is None:
            return clock_expert.add(view, wanted.time)
        move = clock_expert.make(view, alarm, wanted)
        if move is not None:
            return move
        found = clock_expert.set_enabled(view, alarm, True)
        return found if isinstance(found, Move) else complete(found, wanted=True)

    return plan


def _spoken_days(days: Collection[str]) -> str:
    names = [_DAY_NAMES[day] for day in DAYS if day in days]
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def _compose_labelled(rng: Random) -> Draft:
    time, label = draw_time(rng), draw_label(rng)
    days = _draw_days(rng, rng.randint(2, 3))
    near = Alarm(2, _a_minute_off(time, rng), enabled=True, label=label, days=days ^ _draw_days(rng, 1))
    same_time = Alarm(1, time, enabled=rng.random() < 0.5, label=rng.choice(("Work", "School", "Gym")))
    alarms = [near, same_time][: rng.randint(1, 2)]
    old = _ids(alarms)
    wanted = Alarm(max(old) + 1, time, enabled=True, label=label, days=days)
    sub_goals = {part: _labelled_part(part, old, wanted) for part in _PARTS}
    return Draft(
        sentences={"en": wordings(CREATE_LABELLED, ("{}.",), t=time.text, label=label, days=_spoken_days(days))},
        parameters={"time": time.text, "label": label, "days": ",".join(day for day in DAYS if day in days)},
        state=_state_of(alarms),
        criteria=Criteria(
            goal=every(sub_goals), allowed=_labelled_writes(old, wanted), apps=(CLOCK,), sub_goals=sub_goals
        ),
        plan=_labelled_plan(old, wanted),
        oracle_steps=10 + len(days) + (_above(alarms, wanted) > 1),
        split_keys=(time_key(time), f"alarm label {label}"),
        keep_alarms=False,
    )


# ----------------------------------------------------------------------------------------------------------------------
# an alarm that is there


def _alarm(snapshot: Snapshot, number: int) -> Alarm | None:
    return next((alarm for alarm in alarms_of(snapshot) if alarm.id == number), None)


def _switch_plan(number: int, wanted: bool, time: TimeOfDay) -> Plan:
    @mending
    def plan(view: View) -> Move:
        alarm = _alarm(view.now, number)
        if alarm is None:  # deleted by mistake: only an alarm that looks the same can be made
            return clock_expert.add(view, time)
        found = clock_expert.set_enabled(view, alarm, wanted)
        return found if isinstance(found, Move) else complete(found, wanted=wanted)

    return plan


def _switch_task(*, already: bool) -> Callable[[Random], Draft]:
    def compose(rng: Random) -> Draft:
        time, wanted = draw_time(rng), rng.random() < 0.5
        drawn = _draw_alarms([time, *_draw_others(time, rng.randint(1, 3), rng.randint(1, 2), rng)], rng)
        alarms = [replace(alarm, enabled=wanted is already) if alarm.time == time else alarm for alarm in drawn]
        target = _at(alarms, time)

        def holds(_start: Snapshot, now: Snapshot) -> bool:
            alarm = _alarm(now, target.id)
            return alarm is not None and alarm.time == time and alarm.enabled is wanted

        return Draft(
            sentences={
                language: wordings(clauses, FRAMES[language], t=time.written(language))
                for language, clauses in SWITCH[wanted].items()
            },
            parameters={"time": time.text, "wanted": "on" if wanted else "off"},
            state=_state_of(alarms),
            criteria=Criteria(goal=holds, allowed=only(f"clock/alarm/{target.id}/enabled"), apps=(CLOCK,)),
            plan=_switch_plan(target.id, wanted, time),
            oracle_steps=(1 if already else 2) + (_above(alarms, target) > 2),
            split_keys=(time_key(time),),
            keep_alarms=False,
        )

    return compose


def _delete_plan(number: int, time: TimeOfDay) -> Plan:
    @mending
    def plan(view: View) -> Move:
        alarm = _alarm(view.now, number)
        if alarm is not None:
            return clock_expert.delete(view, alarm)
        move = clock_expert.to_tab(view, "Alarm")
        return finish(f"no {clock_expert.clock_text(view, time)}") if move is None else move

    return plan


def _compose_delete(rng: Random) -> Draft:
    time = draw_time(rng)
    alarms = _draw_alarms([time, *_draw_others(time, rng.randint(5, 6), 3, rng)], rng)
    target = _at(alarms, time)
    return Draft(
        sentences={"en": wordings(DELETE, FRAMES["en"], t=time.text)},
        parameters={"time": time.text},
        state=_state_of(alarms),
        criteria=Criteria(
            goal=lambda _start, now: _alarm(now, target.id) is None,
            allowed=only(f"clock/alarm/{target.id}/**"),
            apps=(CLOCK,),
        ),
        plan=_delete_plan(target.id, time),
        oracle_steps=3 + (_above(alarms, target) + 1) // 2,
        split_keys=(time_key(time),),
        keep_alarms=False,
    )


# ----------------------------------------------------------------------------------------------------------------------
# a question about an alarm


def _vibrates_plan(number: int, time: TimeOfDay) -> Plan:
    @mending
    def plan(view: View) -> Move:
        alarm = _alarm(view.now, number)
        if alarm is None:
            return clock_expert.add(view, time)
        found = clock_expert.show(view, alarm, "vibrate")
        if isinstance(found, Move):
            return found
        return complete(found[0], answer="yes" if alarm.vibrate else "no")

    return plan


def _compose_vibrates(rng: Random) -> Draft:
    time, vibrates = draw_time(rng), rng.random() < 0.5
    drawn = _draw_alarms([time, *_draw_others(time, rng.randint(2, 3), rng.randint(1, 2), rng)], rng)
    alarms = [
        replace(alarm, enabled=True, vibrate=vibrates) if alarm.time == time else replace(alarm, vibrate=not vibrates)
        for alarm in drawn
    ]
    target = _at(alarms, time)
    accepts = answers.yes_no(vibrates)
    return Draft(
        sentences={
            language: wordings(clauses, frames, t=time.written(language))
            for language, (clauses, frames) in VIBRATES.items()
        },
        parameters={"time": time.text, "answer": "yes" if vibrates else "no"},
        state=_state_of(alarms),
        criteria=Criteria(goal=None, allowed=only(), apps=(CLOCK,), answer=lambda _start, answer: accepts(answer)),
        plan=_vibrates_plan(target.id, time),
        oracle_steps=2 + max(_above(alarms, target) - 1, 0),
        split_keys=(time_key(time),),
        keep_alarms=False,
    )


ALARM_CREATE = Template(
    name="AlarmCreate",
    summary="add one alarm at a time, and nothing else",
    tier=2,
    compose=_compose_create,
    version=2,
)
ALARM_CREATE_LABEL_DAYS = Template(
    name="AlarmCreateLabelDays",
    summary="add one alarm with a label that repeats on some days of the week",
    tier=3,
    compose=_compose_labelled,
)
ALARM_TOGGLE = Template(
    name="AlarmToggle",
    summary="turn one of several alarms on or off",
    tier=1,
    compose=_switch_task(already=False),
    version=2,
)
ALARM_ALREADY = Template(
    name="AlarmAlready",
    summary="turn an alarm on or off where it is so already",
    tier=1,
    traits=("already_true",),
    compose=_switch_task(already=True),
    version=2,
)
ALARM_DELETE = Template(
    name="AlarmDelete",
    summary="delete one alarm and keep its look-alikes",
    tier=2,
    traits=("guard",),
    compose=_compose_delete,
    version=2,
)
ALARM_VIBRATES = Template(
    name="AlarmVibrates",
    summary="answer whether one of several alarms vibrates",
    tier=1,
    traits=("answer",),
    compose=_compose_vibrates,
)
