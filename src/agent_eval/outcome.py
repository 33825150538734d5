"""What became of an episode: the facts, and the one label derived from them. Knows nothing of how they are found.

``tasks.judge`` finds the facts; ``taxonomy`` says which facts make which label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Label = Literal[
    "harness_error",
    "success",
    "over_execution",
    "reversal",
    "premature_completion",
    "invalid_call",
    "wrong_app",
    "looping",
    "no_completion",
]

LABELS: tuple[Label, ...] = (
    "success",
    "over_execution",
    "reversal",
    "premature_completion",
    "invalid_call",
    "wrong_app",
    "looping",
    "no_completion",
    "harness_error",
)
"""All labels, in the order of tables."""

SubKind = Literal["", "unstable", "gave_up", "undeclared", "stuck"]

StopReason = Literal[
    "declared", "step_budget", "token_budget", "time_budget", "loop_stop", "invalid_stop", "harness_error"
]

Declaration = Literal["none", "complete", "infeasible"]


@dataclass(frozen=True)
class Loop:
    """A cycle of actions on unchanged states."""

    period: int
    """Number of actions in one round, 1 to 4."""
    first_step: int
    """Step, from 0, at which the first round began."""
    at_end: bool
    """The cycle still held when the episode ended."""


@dataclass(frozen=True)
class SubGoal:
    """One part of a compound goal, followed by itself; the label uses the whole."""

    name: str
    reached: bool
    """It held after some step, or at the start."""
    first_reach: int | None
    """Number of actions after which it first held; None if never."""
    reversals: int
    """How many actions took the phone from a state with it to one without."""
    final: bool
    """It held at the end."""
    reversed_at: tuple[int, ...] = ()
    """Steps, from 0, of the reversals; empty in records of before they were noted."""


@dataclass(frozen=True)
class Facts:
    """What is true of an episode, whatever its label."""

    reached: bool
    """The goal held after some step, or at the start."""
    first_reach: int | None
    """Number of actions after which it first held; 0 if it held at the start; None if never or not applicable."""
    reversals: int
    """How many actions took the phone from a state with the goal to one without."""
    goal_final: bool
    declared: Declaration
    answer_ok: bool | None
    """None where the task asks for no answer."""
    side_effects: tuple[str, ...]
    """Persisted paths changed outside the allowed writes, sorted."""
    loop: Loop | None
    apps_visited: tuple[str, ...]
    """Packages that held the foreground, in order of first visit; launcher included."""
    task_app_share: float
    """Share of steps that ended with one of the task's apps in front."""
    invalid_calls: int
    first_invalid_turn: int | None
    """Step, from 0, of the first malformed reply."""
    no_effect_actions: int
    """Actions that left the persisted state and the screen as they were."""
    steps: int
    steps_after_reach: int | None
    """Steps taken after the goal was first reached; None if it never was."""
    in_wrong_app: bool = False
    """Other apps than the task's held the foreground in the last third of the steps, or the task's never did."""
    right_ending: Declaration = "complete"
    """What a person who had done the task would declare: ``infeasible`` for one that this phone cannot do."""
    sub_goals: tuple[SubGoal, ...] = ()
    """The parts of a compound goal; empty for a goal of one part."""
    reversed_at: tuple[int, ...] = ()
    """Steps, from 0, of the reversals; empty in records of before they were noted."""

    @property
    def by_declaration(self) -> bool:
        """Only the declaration decides: the task cannot be done, or asks for an answer and no goal was ever seen."""
        return self.right_ending == "infeasible" or (self.answer_ok is not None and self.first_reach is None)


@dataclass(frozen=True)
class Outcome:
    """The one label of an episode and the facts behind it."""

    label: Label
    sub_kind: SubKind
    stop: StopReason
    facts: Facts | None
    """None only for a ``harness_error``."""
    fault: str = ""
    """Of a ``harness_error``: where it happened and what was said."""
