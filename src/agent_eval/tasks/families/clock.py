"""What is asked of the Clock app's alarms. Knows where alarms are kept in the phone's state, and how to word the goal.

Every draft names all alarms of the phone, so an alarm that is not in the draft was added by the agent. Among the others
there are look-alikes of the one that is meant: the same time in the other half of the day, the same minute an hour off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from agent_eval.actions import TaskComplete
from agent_eval.tasks.families import clock_expert
from agent_eval.tasks.families.clock_expert import CLOCK, Alarm, TimeOfDay, alarms_of
from agent_eval.tasks.families.repair import undo
from agent_eval.tasks.judge import Criteria, Goal, Writes, only
from agent_eval.tasks.moves import Move
from agent_eval.tasks.oracle import Plan
from agent_eval.tasks.task import Draft, Template, wordings
from agent_eval.tasks.view import View
from agent_eval.types import Element, Scalar, Snapshot

_FRAMES = ("{}.", "Please {}.", "On this phone, {}.", "I want you to {}.")
_LABELS = ("", "", "", "Work", "School", "Gym", "Medicine", "Weekend")

_CREATE = (
    "set an alarm for {t}",
    "add an alarm for {t}",
    "create an alarm at {t}",
    "make a new alarm for {t}",
    "set a new alarm at {t}",
    "add a new alarm at {t}",
)
_SWITCH = {
    True: (
        "turn on the {t} alarm",
        "turn the {t} alarm on",
        "switch on the alarm at {t}",
        "switch the alarm at {t} on",
        "enable the {t} alarm",
        "make sure the {t} alarm is on",
    ),
    False: (
        "turn off the {t} alarm",
        "turn the {t} alarm off",
        "switch off the alarm at {t}",
        "switch the alarm at {t} off",
        "disable the {t} alarm",
        "make sure the {t} alarm is off",
    ),
}
_DELETE = (
    "delete the {t} alarm",
    "delete the alarm at {t}",
    "remove the {t} alarm",
    "remove the alarm at {t}",
    "delete the alarm set for {t}",
    "get rid of the {t} alarm",
)


def time_key(time: TimeOfDay) -> str:
    """Return the split key of a time of day."""
    return f"time {time.hour:02d}:{time.minute:02d}"


def draw_time(rng: Random) -> TimeOfDay:
    """Draw a time of day; most people's alarms ring at a multiple of five minutes."""
    minute = 5 * rng.randrange(12) if rng.random() < 0.7 else rng.randrange(60)
    return TimeOfDay(rng.randrange(24), minute)


def _look_alikes(time: TimeOfDay, rng: Random) -> list[TimeOfDay]:
    """Return times that are easily taken for another, in random order."""
    hour, minute = time
    near = [
        TimeOfDay((hour + 12) % 24, minute),
        TimeOfDay((hour + 1) % 24, minute),
        TimeOfDay((hour + 23) % 24, minute),
        TimeOfDay(hour, (minute + 5) % 60),
        TimeOfDay(hour, (minute + 30) % 60),
    ]
    rng.shuffle(near)
    return near


def _draw_others(time: TimeOfDay, count: int, look_alikes: int, rng: Random) -> list[TimeOfDay]:
    """Draw times of other alarms, all different from each other and from the one that is meant."""
    others = _look_alikes(time, rng)[:look_alikes]
    while len(others) < count:
        other = draw_time(rng)
        if other != time and other not in others:
            others.append(other)
    return others


def _alarm_state(alarms: Sequence[Alarm], rng: Random) -> dict[str, Scalar]:
    state: dict[str, Scalar] = {}
    for alarm in alarms:
        prefix = f"clock/alarm/{alarm.id}"
        state |= {
            f"{prefix}/hour": alarm.time.hour,
            f"{prefix}/minute": alarm.time.minute,
            f"{prefix}/enabled": alarm.enabled,
            f"{prefix}/label": rng.choice(_LABELS),
        }
    return state


def _number(times: Sequence[TimeOfDay], rng: Random) -> list[Alarm]:
    """Give alarms ids in random order, and switch each on or off."""
    shuffled = list(times)
    rng.shuffle(shuffled)
    return [Alarm(place + 1, time, rng.random() < 0.5) for place, time in enumerate(shuffled)]


def _seen(time: TimeOfDay, switch: Element, wanted: bool) -> Move:
    """Declare the task done on seeing an alarm's switch."""
    return Move(TaskComplete(), clock_expert.standing(time, switch, wanted))


# ----------------------------------------------------------------------------------------------------------------------
# a new alarm


def _new_alarms(snapshot: Snapshot, old: frozenset[int]) -> tuple[Alarm, ...]:
    return tuple(alarm for alarm in alarms_of(snapshot) if alarm.id not in old)


def _wanted_new(snapshot: Snapshot, old: frozenset[int], time: TimeOfDay) -> Alarm | None:
    """Return the new alarm that was asked for: the first one at the time, one that is on before one that is off."""
    at_time = [alarm for alarm in _new_alarms(snapshot, old) if alarm.time == time]
    return min(at_time, key=lambda alarm: (not alarm.enabled, alarm.id), default=None)


def _create_goal(old: frozenset[int], time: TimeOfDay) -> Goal:
    def holds(_start: Snapshot, now: Snapshot) -> bool:
        wanted = _wanted_new(now, old, time)
        return wanted is not None and wanted.enabled

    return holds


def _create_writes(old: frozenset[int], time: TimeOfDay) -> Writes:
    """Allow the one alarm that was asked for; a second one, at the same time or another, is a side effect."""

    def allowed(_start: Snapshot, end: Snapshot) -> tuple[str, ...]:
        wanted = _wanted_new(end, old, time)
        return () if wanted is None else (f"clock/alarm/{wanted.id}/**",)

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
        return found if isinstance(found, Move) else _seen(time, found, True)

    return plan


def _compose_create(rng: Random) -> Draft:
    time = draw_time(rng)
    count = rng.randint(0, 3)
    alarms = _number(_draw_others(time, count, min(count, rng.randint(0, 1)), rng), rng)
    old = frozenset(alarm.id for alarm in alarms)
    return Draft(
        sentences={"en": wordings(_CREATE, _FRAMES, t=time.text)},
        parameters={"time": time.text},
        state=_alarm_state(alarms, rng),
        criteria=Criteria(goal=_create_goal(old, time), allowed=_create_writes(old, time), apps=(CLOCK,)),
        plan=_create_plan(old, time),
        oracle_steps=7,
        split_keys=(time_key(time),),
        keep_alarms=False,
    )


# ----------------------------------------------------------------------------------------------------------------------
# an alarm that is there


def _alarm(snapshot: Snapshot, number: int) -> Alarm | None:
    return next((alarm for alarm in alarms_of(snapshot) if alarm.id == number), None)


def _switch_plan(number: int, wanted: bool, time: TimeOfDay) -> Plan:
    def plan(view: View) -> Move:
        repair = undo(view)
        if repair is not None:
            return repair
        alarm = _alarm(view.now, number)
        if alarm is None:  # deleted by mistake: only an alarm that looks the same can be made
            return clock_expert.add(view, time)
        found = clock_expert.set_enabled(view, alarm, wanted)
        return found if isinstance(found, Move) else _seen(time, found, wanted)

    return plan


def _switch_task(*, already: bool) -> Callable[[Random], Draft]:
    def compose(rng: Random) -> Draft:
        time, wanted = draw_time(rng), rng.random() < 0.5
        others = _draw_others(time, rng.randint(1, 3), 1, rng)
        alarms = [
            Alarm(alarm.id, alarm.time, wanted if already else not wanted) if alarm.time == time else alarm
            for alarm in _number([time, *others], rng)
        ]
        number = next(alarm.id for alarm in alarms if alarm.time == time)

        def holds(_start: Snapshot, now: Snapshot) -> bool:
            alarm = _alarm(now, number)
            return alarm is not None and alarm.time == time and alarm.enabled is wanted

        return Draft(
            sentences={"en": wordings(_SWITCH[wanted], _FRAMES, t=time.text)},
            parameters={"time": time.text, "wanted": "on" if wanted else "off"},
            state=_alarm_state(alarms, rng),
            criteria=Criteria(goal=holds, allowed=only(f"clock/alarm/{number}/enabled"), apps=(CLOCK,)),
            plan=_switch_plan(number, wanted, time),
            oracle_steps=3 if already else 4,
            split_keys=(time_key(time),),
            keep_alarms=False,
        )

    return compose


def _delete_plan(number: int, time: TimeOfDay) -> Plan:
    def plan(view: View) -> Move:
        repair = undo(view)
        if repair is not None:
            return repair
        alarm = _alarm(view.now, number)
        if alarm is not None:
            return clock_expert.delete(view, alarm)
        move = clock_expert.to_alarms(view)
        if move is not None:
            return move
        return Move(TaskComplete(), f"no {time.text}")

    return plan


def _compose_delete(rng: Random) -> Draft:
    time = draw_time(rng)
    alarms = _number([time, *_draw_others(time, rng.randint(2, 3), 2, rng)], rng)
    number = next(alarm.id for alarm in alarms if alarm.time == time)
    return Draft(
        sentences={"en": wordings(_DELETE, _FRAMES, t=time.text)},
        parameters={"time": time.text},
        state=_alarm_state(alarms, rng),
        criteria=Criteria(
            goal=lambda _start, now: _alarm(now, number) is None,
            allowed=only(f"clock/alarm/{number}/**"),
            apps=(CLOCK,),
        ),
        plan=_delete_plan(number, time),
        oracle_steps=5,
        split_keys=(time_key(time),),
        keep_alarms=False,
    )


ALARM_CREATE = Template(
    name="AlarmCreate",
    summary="add one alarm at a time, and nothing else",
    tier=2,
    compose=_compose_create,
)
ALARM_TOGGLE = Template(
    name="AlarmToggle",
    summary="turn one of several alarms on or off",
    tier=1,
    compose=_switch_task(already=False),
)
ALARM_ALREADY = Template(
    name="AlarmAlready",
    summary="turn an alarm on or off where it is so already",
    tier=1,
    traits=("already_true",),
    compose=_switch_task(already=True),
)
ALARM_DELETE = Template(
    name="AlarmDelete",
    summary="delete one alarm and keep its look-alikes",
    tier=2,
    traits=("guard",),
    compose=_compose_delete,
)

TEMPLATES = (ALARM_CREATE, ALARM_TOGGLE, ALARM_ALREADY, ALARM_DELETE)
