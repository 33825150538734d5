"""Find cycles of actions on unchanged states. Knows nothing of goals, labels or phones.

An action is a repetition when the page, the persisted state and the identity of the action (tool, arguments and the
element named, never its number or coordinates) are those of before. Of the page counts what an agent finds there, but
no clock that ticks on it and no notification that comes over it. Period 1 counts after four equal actions in a row;
periods 2 to 4 after two rounds for the flag and after three for stopping an episode.

Some repetition is progress: waiting while something asynchronous is pending and a swipe that only moved what is visible
are passed over, and an action that leads to a persisted state not seen before in the episode starts the search afresh.
``docs/concepts/loops.md`` has both kinds in examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agent_eval.actions import GiveUp, Malformed, Reply, TaskComplete, Wait
from agent_eval.contracts import TraceStep
from agent_eval.outcome import Loop
from agent_eval.types import OWN_PREFIX, Snapshot

LONGEST_PERIOD = 4
ROUNDS_OF_ONE = 4
"""Equal actions in a row that make a cycle of period 1, for the flag and for the stop."""
ROUNDS_TO_FLAG = 2
ROUNDS_TO_STOP = 3

PENDING_PREFIX = "pending/"
"""Transient paths that name what the phone has begun and not finished."""

Standing = Literal["counts", "passed_over", "progress"]


@dataclass(frozen=True)
class LoopStep:
    """One step as the detector sees it."""

    key: str
    """Page, persisted state and action; two steps repeat each other when their keys are equal."""
    standing: Standing = "counts"
    """``passed_over``: neither part of a cycle nor the end of one; ``progress``: no cycle spans this step."""


def pending(snapshot: Snapshot) -> bool:
    """Tell whether the phone has begun something that has not taken effect yet."""
    return any(path.startswith(PENDING_PREFIX) for path, _ in snapshot.transient)


def action_identity(reply: Reply, target: str) -> str:
    """Name an action by tool, arguments and target, without the number that the target had on that screen."""
    if isinstance(reply, Malformed):
        return f"malformed {reply.reason}"
    action = reply.action
    arguments = sorted((name, value) for name, value in action.model_dump().items() if name != "index")
    return f"{action.name} {arguments} {target}"


def as_loop_steps(steps: Sequence[TraceStep]) -> tuple[LoopStep, ...]:
    """Reduce a trace to keys and standings."""
    seen: set[str] = set()
    ever: set[str] = set()
    reduced = []
    for step in steps:
        before, after = _state(step.before, ever), _state(step.after, ever)
        seen.add(before)
        target = step.result.target if step.result is not None else ""
        standing: Standing = "counts"
        if after not in seen or _declares(step.reply):
            standing = "progress"
        elif (step.scrolled and after == before) or (_waits(step.reply) and pending(step.before)):
            standing = "passed_over"
        seen.add(after)
        page = step.outline or step.screen
        reduced.append(LoopStep(f"{page} {before} {action_identity(step.reply, target)}", standing))
    return tuple(reduced)


def _state(snapshot: Snapshot, ever: set[str]) -> str:
    """Name the persisted state; of what the phone adds by itself counts how much has gone, never what has come.

    Args:
        snapshot: The state.
        ever: What the phone had added in earlier states; what it has added in this one joins it.
    """
    own = snapshot.under(OWN_PREFIX.rstrip("/")).keys()
    ever.update(own)
    return f"{snapshot.persisted_digest} {len(ever - own)}"


def find_loop(steps: Sequence[LoopStep]) -> Loop | None:
    """Return the cycle that holds at the end of the steps, else the first one that held, else None."""
    found: Loop | None = None
    counted: list[int] = []
    held: _Cycle | None = None
    for place, step in enumerate(steps):
        if step.standing == "progress":
            counted, held = [], None
        elif step.standing == "counts":
            counted.append(place)
            held = _cycle_at_end([steps[i].key for i in counted], ROUNDS_TO_FLAG)
            if held is not None and found is None:
                found = Loop(held.period, counted[held.begin], at_end=False)
    if held is not None:
        return Loop(held.period, counted[held.begin], at_end=True)
    return found


def should_stop(steps: Sequence[LoopStep]) -> bool:
    """Tell whether the steps end in a cycle that was seen often enough to stop for."""
    if not steps or steps[-1].standing != "counts":
        return False
    keys: list[str] = []
    for step in steps:
        if step.standing == "progress":
            keys = []
        elif step.standing == "counts":
            keys.append(step.key)
    return _cycle_at_end(keys, ROUNDS_TO_STOP) is not None


@dataclass(frozen=True)
class _Cycle:
    period: int
    begin: int
    """Place of the first action of the first round."""


def _cycle_at_end(keys: Sequence[str], rounds: int) -> _Cycle | None:
    """Return the shortest cycle that the keys end with."""
    for period in range(1, LONGEST_PERIOD + 1):
        begin = len(keys) - period
        while begin > 0 and keys[begin - 1] == keys[begin - 1 + period]:
            begin -= 1
        if len(keys) - begin >= period * (ROUNDS_OF_ONE if period == 1 else rounds):
            return _Cycle(period, begin)
    return None


def _waits(reply: Reply) -> bool:
    return not isinstance(reply, Malformed) and isinstance(reply.action, Wait)


def _declares(reply: Reply) -> bool:
    return not isinstance(reply, Malformed) and isinstance(reply.action, TaskComplete | GiveUp)
