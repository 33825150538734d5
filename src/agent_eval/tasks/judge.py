"""Derive the facts of an episode, from which ``taxonomy`` makes its one label. Knows no phone, no app and no task.

It reads states, never a UI. The facts are independent of each other and of the label.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from agent_eval.actions import GiveUp, Malformed, Reply, TaskComplete, Wait
from agent_eval.contracts import Trace, TraceStep
from agent_eval.errors import TaskFault
from agent_eval.outcome import Declaration, Facts, Outcome, SubGoal
from agent_eval.tasks.loops import as_loop_steps, find_loop, pending
from agent_eval.taxonomy import label_of
from agent_eval.types import OWN_PREFIX, Change, Snapshot

Goal = Callable[[Snapshot, Snapshot], bool]
"""Tells, from the prepared phone and the state now, whether the goal holds."""

Writes = Callable[[Snapshot, Snapshot], tuple[str, ...]]
"""Names, from the prepared phone and the state at the end, the path patterns that the task may have changed."""

Answer = Callable[[Snapshot, str], bool]
"""Tells, from the prepared phone, whether a declared answer is right."""

Acts = Callable[[TraceStep], bool]
"""Tells whether what changed during a step may be the agent's doing."""

NEUTRAL_PACKAGES = frozenset(
    {
        "com.android.launcher3",
        "com.google.android.apps.nexuslauncher",
        "com.android.systemui",  # the shade, and dialogs that other apps open
        "com.android.permissioncontroller",  # asks on behalf of the app below it
        "android",  # dialogs of the framework: an app that does not respond, a chooser
    }
)
"""Packages whose foreground says nothing about the app that an agent works in."""

VOLATILE_PATHS = ("clock/now", "clock/now_ms", "clock/pending_timers", "battery", "recents", "ui/recents")
"""Transient paths, or their parents, that change by themselves or say only what was in front before."""


@dataclass(frozen=True)
class Criteria:
    """What an instance asks for, in terms of states."""

    goal: Goal | None
    """None for a task that is decided at the declaration only: a pure answer, or one that cannot be done."""
    allowed: Writes
    apps: tuple[str, ...]
    """Packages in which the task is done."""
    answer: Answer | None = None
    """None where no answer is asked for."""
    infeasible: bool = False
    """The right ending is to give up."""
    sub_goals: Mapping[str, Goal] = field(default_factory=dict)
    """The parts of a compound goal, by name; ``goal`` must be ``every`` of them."""


def every(sub_goals: Mapping[str, Goal]) -> Goal:
    """Return the goal that all parts hold."""
    return lambda start, now: all(goal(start, now) for goal in sub_goals.values())


def any_writes(*writes: Writes) -> Writes:
    """Allow whatever one of several allows."""
    return lambda start, end: tuple(pattern for one in writes for pattern in one(start, end))


def judge(criteria: Criteria, trace: Trace) -> Outcome:
    """Return the label of an episode and the facts behind it.

    Raises:
        TaskFault: the trace contradicts itself.
    """
    if trace.stop == "harness_error":
        return Outcome("harness_error", "", trace.stop, None, fault="the episode ended in a fault of the harness")
    facts = facts_of(criteria, trace)
    verdict = label_of(facts, trace.stop)
    return Outcome(verdict.label, verdict.sub_kind, trace.stop, facts)


def acts(step: TraceStep) -> bool:
    """Tell whether what changed during a step may be the agent's doing.

    Waiting, declaring and writing what is no call change nothing by themselves, unless time passes and lets something
    finish that an earlier action began.
    """
    return _touches(step.reply) or pending(step.before)


def _touches(reply: Reply) -> bool:
    return not isinstance(reply, Malformed) and not isinstance(reply.action, Wait | TaskComplete | GiveUp)


def facts_of(criteria: Criteria, trace: Trace, acts: Acts = acts) -> Facts:
    """Derive every fact of an episode.

    Args:
        criteria: What the instance asks for.
        trace: The episode.
        acts: Which steps' changes count as the agent's.

    Raises:
        TaskFault: the trace contradicts itself.
    """
    steps = trace.steps
    declared = _declaration(trace)
    answer_ok = _answer_ok(criteria, trace, declared)
    reach = _reach(criteria.goal, trace, acts)
    if criteria.goal is not None:
        goal_final = reach.final
    elif criteria.infeasible:
        goal_final = declared == "infeasible"
    else:
        goal_final = declared == "complete" and answer_ok is True
    invalid = [place for place, step in enumerate(steps) if isinstance(step.reply, Malformed)]
    in_task_app = sum(step.package in criteria.apps for step in steps)
    return Facts(
        reached=reach.first is not None if criteria.goal is not None else goal_final,
        first_reach=reach.first,
        reversals=len(reach.reversed_at),
        goal_final=goal_final,
        declared=declared,
        answer_ok=answer_ok,
        side_effects=_side_effects(criteria, trace, acts),
        loop=find_loop(as_loop_steps(steps)),
        apps_visited=_apps_visited(trace),
        task_app_share=in_task_app / len(steps) if steps else 0.0,
        invalid_calls=len(invalid),
        first_invalid_turn=invalid[0] if invalid else None,
        no_effect_actions=sum(_had_no_effect(trace, place) for place in range(len(steps))),
        steps=len(steps),
        steps_after_reach=None if reach.first is None else len(steps) - reach.first,
        in_wrong_app=_in_wrong_app(criteria, trace),
        right_ending="infeasible" if criteria.infeasible else "complete",
        sub_goals=tuple(_sub_goal(name, _reach(goal, trace, acts)) for name, goal in criteria.sub_goals.items()),
        reversed_at=reach.reversed_at,
    )


def matches(path: str, pattern: str) -> bool:
    """Tell whether a path fits a pattern, in which ``*`` is one part and a final ``**`` is all that follows."""
    parts, wanted = path.split("/"), pattern.split("/")
    if wanted[-1] == "**":
        wanted.pop()
        if len(parts) <= len(wanted):
            return False
        parts = parts[: len(wanted)]
    return len(parts) == len(wanted) and all(w in ("*", p) for p, w in zip(parts, wanted, strict=True))


def only(*patterns: str) -> Writes:
    """Allow the same patterns whatever the states."""
    return lambda _start, _end: patterns


class _Reach(NamedTuple):
    first: int | None
    reversed_at: tuple[int, ...]
    final: bool


def _reach(goal: Goal | None, trace: Trace, acts: Acts) -> _Reach:
    """Follow a goal along the trajectory.

    A goal that comes or goes between two steps, or by what the phone does by itself, is the world's doing; it may count
    as reached, never as a reversal.
    """
    if goal is None:
        return _Reach(None, (), final=False)
    holds = goal(trace.start, trace.start)
    first = 0 if holds else None
    reversed_at: list[int] = []
    for place, step in enumerate(trace.steps):
        held = goal(trace.start, step.before)
        holds = goal(trace.start, step.after)
        if first is None and held:
            first = place
        if first is None and holds:
            first = place + 1
        if held and not holds and acts(step) and not goal(trace.start, _without_the_phones_own(step)):
            reversed_at.append(place)
    return _Reach(first, tuple(reversed_at), final=holds)


def _without_the_phones_own(step: TraceStep) -> Snapshot:
    """Return the state after a step as it would be if the phone had done nothing by itself."""
    own = {change.path: change.before for change in step.before.diff(step.after) if _phones_own(change, step.after)}
    kept = {path: value for path, value in step.after.persisted if path not in own}
    put_back = {path: value for path, value in own.items() if value is not None}
    return replace(step.after, persisted=tuple(sorted((kept | put_back).items())))


def _sub_goal(name: str, reach: _Reach) -> SubGoal:
    reversals = len(reach.reversed_at)
    return SubGoal(name, reach.first is not None, reach.first, reversals, reach.final, reach.reversed_at)


def _declaration(trace: Trace) -> Declaration:
    endings: list[tuple[int, Declaration]] = []
    for place, step in enumerate(trace.steps):
        if isinstance(step.reply, Malformed):
            continue
        if isinstance(step.reply.action, TaskComplete):
            endings.append((place, "complete"))
        elif isinstance(step.reply.action, GiveUp):
            endings.append((place, "infeasible"))
    declared = trace.stop == "declared"
    if declared != bool(endings) or (endings and endings[0][0] != len(trace.steps) - 1):
        raise TaskFault(
            f"the trace stopped with {trace.stop!r} and has declarations at steps {[place for place, _ in endings]}; "
            "expected one declaration, at the last step, exactly when it stopped with 'declared'"
        )
    return endings[0][1] if endings else "none"


def _answer_ok(criteria: Criteria, trace: Trace, declared: Declaration) -> bool | None:
    if criteria.answer is None:
        return None
    if declared != "complete":
        return False
    reply = trace.steps[-1].reply
    if isinstance(reply, Malformed) or not isinstance(reply.action, TaskComplete):
        return False
    return criteria.answer(trace.start, reply.action.answer)


def _side_effects(criteria: Criteria, trace: Trace, acts: Acts) -> tuple[str, ...]:
    """Return what the agent's actions changed for good outside the allowed writes.

    Answering an app's question for a permission is part of working in that app.
    """
    if not trace.steps:
        return ()
    end = trace.steps[-1].after
    touched = {change.path for step in trace.steps if acts(step) for change in step.before.diff(step.after)}
    patterns = (*criteria.allowed(trace.start, end), *(f"permissions/{app}/*" for app in criteria.apps))
    return tuple(
        change.path
        for change in trace.start.diff(end)
        if change.path in touched
        and not _phones_own(change, end)
        and not any(matches(change.path, pattern) for pattern in patterns)
    )


def _phones_own(change: Change, end: Snapshot) -> bool:
    """Tell whether a change is what the phone does by itself, even when it comes during an agent's step.

    A notification comes; an alarm that rang and does not repeat is off once it was dismissed or missed.
    """
    if change.before is None:
        return change.path.startswith(OWN_PREFIX)
    rang = str(end.get("clock/rang", "")).split(",")
    return change.after is False and change.path in {f"clock/alarm/{alarm}/enabled" for alarm in rang}


def _apps_visited(trace: Trace) -> tuple[str, ...]:
    opening = trace.start.get("ui/package", "")
    packages = [opening if isinstance(opening, str) else "", *(step.package for step in trace.steps)]
    return tuple(dict.fromkeys(package for package in packages if package))


def _in_wrong_app(criteria: Criteria, trace: Trace) -> bool:
    """Tell whether the agent worked in other apps in the last third of the steps, or never in the task's.

    A foreground that is unknown or neutral, such as the launcher, is no evidence either way.
    """
    packages = [step.package for step in trace.steps]
    last_third = packages[len(packages) - -(-len(packages) // 3) :]
    for stretch in (last_third, packages):
        telling = [name for name in stretch if name in criteria.apps or (name and name not in NEUTRAL_PACKAGES)]
        if telling:
            return not any(name in criteria.apps for name in telling)
    return False


def _had_no_effect(trace: Trace, place: int) -> bool:
    step = trace.steps[place]
    if isinstance(step.reply, Malformed) or isinstance(step.reply.action, TaskComplete | GiveUp):
        return False
    if step.before.persisted_digest != step.after.persisted_digest:
        return False
    if place + 1 < len(trace.steps):
        return _page(trace.steps[place + 1]) == _page(step)
    return _steady(step.before) == _steady(step.after)  # no decision was made on the last screen


def _page(step: TraceStep) -> str:
    return step.outline or step.screen


def _steady(snapshot: Snapshot) -> list[tuple[str, object]]:
    return [
        (path, value)
        for path, value in snapshot.transient
        if not any(path == name or path.startswith(name + "/") for name in VOLATILE_PATHS)
    ]
