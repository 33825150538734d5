"""A goal template, and an instance drawn from it. Knows how to draw, prepare and judge; knows no app.

A template is data and one function that composes a draft from a source of randomness. Everything that an instance needs
afterwards is fixed in the draft, so an instance never draws again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from agent_eval.contracts import PhoneControl, Trace, TraceStep
from agent_eval.outcome import Outcome
from agent_eval.tasks.judge import Criteria, judge
from agent_eval.tasks.loops import as_loop_steps, should_stop
from agent_eval.tasks.oracle import Expert, Plan
from agent_eval.tasks.split import Split, checked_split, draw_in_split, random_of
from agent_eval.types import PhoneSetup, Scalar, Snapshot

LEAST_BUDGET = 8


@dataclass(frozen=True)
class Draft:
    """Everything that one draw decides."""

    goal: str
    parameters: Mapping[str, Scalar]
    state: Mapping[str, Scalar]
    """Persisted paths that the phone starts with; what is left out is drawn from the setup's seed."""
    criteria: Criteria
    plan: Plan
    oracle_steps: int
    """Most actions that the oracle takes from the launcher, its declaration left out."""
    split_keys: tuple[str, ...]
    """What the splits must not share."""
    keep_alarms: bool = True
    """Keep the seeded alarms; False where the draft names all alarms itself."""


@dataclass(frozen=True)
class TaskInstance:
    """Implements ``contracts.Instance`` on a draft."""

    task: str
    seed: int
    split: Split
    setup: PhoneSetup
    draft: Draft = field(repr=False)

    @property
    def id(self) -> str:
        """``task/seed``: unique within a run, which never mixes splits."""
        return f"{self.task}/{self.seed}"

    @property
    def goal(self) -> str:
        """The sentence that the agent is given."""
        return self.draft.goal

    @property
    def budget(self) -> int:
        """Most steps that an episode may take."""
        return max(LEAST_BUDGET, 2 * self.draft.oracle_steps + 2)

    @property
    def parameters(self) -> Mapping[str, Scalar]:
        """The drawn parameters."""
        return self.draft.parameters

    @property
    def paths(self) -> tuple[str, ...]:
        """Persisted paths that the phone is prepared with."""
        return tuple(self.setup.state)

    @property
    def criteria(self) -> Criteria:
        """What the judge compares with."""
        return self.draft.criteria

    def prepare(self, phone: PhoneControl) -> None:
        """Make the phone a fresh one in the state that the draft names."""
        phone.reset(self.setup)

    def oracle(self, phone: PhoneControl) -> Expert:
        """Return an expert that solves the instance from any screen; it must begin on the prepared phone."""
        return Expert(phone, self.draft.plan, self.draft.criteria.allowed)

    def goal_holds(self, snapshot: Snapshot) -> bool:
        """Tell whether the goal holds in a state; False for a task that only asks for an answer."""
        goal = self.draft.criteria.goal
        return goal is not None and goal(snapshot)

    def loop_stops(self, steps: Sequence[TraceStep]) -> bool:
        """Tell whether the steps so far are a loop that is seen often enough to stop for."""
        return should_stop(as_loop_steps(steps))

    def judge(self, trace: Trace) -> Outcome:
        """Derive the facts and the label."""
        return judge(self.draft.criteria, trace)


@dataclass(frozen=True)
class Template:
    """Implements ``contracts.Task``: a name, a line about it, and how to compose a draft."""

    name: str
    summary: str
    tier: int
    traits: tuple[str, ...]
    compose: Callable[[Random], Draft] = field(repr=False)

    def draw(self, seed: int, split: str = "evaluation") -> TaskInstance:
        """Draw the instance of a seed.

        Raises:
            UnknownName: there is no such split.
            TaskFault: the template draws nothing that belongs to the split.
        """
        checked = checked_split(split)
        rng = random_of(checked, self.name, seed)
        draft = draw_in_split(checked, self.name, rng, self.compose, lambda drawn: drawn.split_keys)
        setup = PhoneSetup(seed=rng.getrandbits(31), state=draft.state, keep_alarms=draft.keep_alarms)
        return TaskInstance(self.name, seed, checked, setup, draft)


def wordings(clauses: Iterable[str], frames: Iterable[str], **words: str) -> tuple[str, ...]:
    """Put every clause into every frame, and fill in the words; the first letter becomes a capital.

    Args:
        clauses: Such as ``turn on {x}``.
        frames: Sentences around a clause, such as ``Please {}.``
        **words: What stands for the names in the clauses.
    """
    kept = list(frames)
    sentences = (frame.replace("{}", clause.format(**words)) for clause in clauses for frame in kept)
    return tuple(dict.fromkeys(sentence[0].upper() + sentence[1:] for sentence in sentences))


def goal_key(sentence: str) -> str:
    """Return the split key of a goal sentence."""
    return f"goal {sentence.casefold()}"
