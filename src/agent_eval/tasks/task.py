"""A goal template, and an instance drawn from it. Knows how to draw, prepare and judge; knows no app.

A template is data and one function that composes a draft from a source of randomness. Everything that an instance needs
afterwards is fixed in the draft, so an instance never draws again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal, get_args

from agent_eval.contracts import PhoneControl, Trace, TraceStep
from agent_eval.errors import UnknownName
from agent_eval.outcome import Outcome
from agent_eval.tasks.judge import Criteria, judge
from agent_eval.tasks.loops import as_loop_steps, should_stop
from agent_eval.tasks.oracle import Expert, Plan
from agent_eval.tasks.split import Split, checked_split, draw_in_split, random_of, split_of
from agent_eval.types import PhoneSetup, Scalar, Snapshot

LEAST_BUDGET = 8

Language = Literal["en", "de", "zh"]
LANGUAGES: tuple[Language, ...] = get_args(Language)

Trait = Literal["already_true", "answer", "guard", "infeasible", "multi_app"]


@dataclass(frozen=True)
class Draft:
    """Everything that one draw decides."""

    sentences: Mapping[Language, Sequence[str]]
    """By language, every sentence that asks for just this; the instance takes one of its split. English is a must."""
    parameters: Mapping[str, Scalar]
    state: Mapping[str, Scalar]
    """Persisted paths that the phone starts with; what is left out is drawn from the phone's seed."""
    criteria: Criteria
    plan: Plan
    oracle_steps: int
    """Most actions that the oracle takes from the launcher, its declaration left out."""
    split_keys: tuple[str, ...] = ()
    """What the splits must not share besides the sentences, such as a time of day or a person's name."""
    keep_alarms: bool = True
    """Keep the seeded alarms; False where the draft names all alarms itself."""
    without: tuple[str, ...] = ()
    """Prefixes of records, such as ``contacts``, of which only those in ``state`` exist."""
    phone_seed: int | None = None
    """Draws what ``state`` leaves open, and the moment at which the phone starts; drawn by the template where None."""
    faults: tuple[str, ...] = ()
    """Faults of the phone that the task is about."""
    needs: tuple[str, ...] = ()
    """Paths besides those of ``state`` that the phone must answer, or that say what it must be like."""


@dataclass(frozen=True)
class TaskInstance:
    """Implements ``contracts.Instance`` on a draft."""

    task: str
    version: int
    seed: int
    split: Split
    language: Language
    goal: str
    """The sentence that the agent is given."""
    setup: PhoneSetup
    draft: Draft = field(repr=False)

    @property
    def id(self) -> str:
        """``task/seed``: unique within a run, which never mixes splits or languages."""
        return f"{self.task}/{self.seed}"

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
        """Paths that the phone is prepared with, and those that it must answer besides."""
        return (*self.setup.state, *self.setup.without, *self.draft.needs)

    @property
    def criteria(self) -> Criteria:
        """What the judge compares with."""
        return self.draft.criteria

    def prepare(self, phone: PhoneControl) -> None:
        """Make the phone a fresh one in the state that the draft names."""
        phone.reset(self.setup)

    def oracle(self, phone: PhoneControl) -> Expert:
        """Return an expert that solves the instance from any screen; it must begin on the prepared phone."""
        return Expert(phone, self.draft.plan, self.draft.criteria.allowed, self.draft.criteria.goal)

    def goal_holds(self, start: Snapshot, now: Snapshot) -> bool:
        """Tell whether the goal holds in a state; False for a task that only asks for an answer."""
        goal = self.draft.criteria.goal
        return goal is not None and goal(start, now)

    def concerns(self, package: str) -> bool:
        """Tell whether the task is done in an app."""
        return package in self.draft.criteria.apps

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
    compose: Callable[[Random], Draft] = field(repr=False)
    traits: tuple[Trait, ...] = ()
    version: int = 1
    """Raised whenever the task asks for, allows or starts from something else: two versions never compare."""
    android_world: tuple[str, ...] = ()
    """Tasks of AndroidWorld that this one stands for."""

    def draw(self, seed: int, split: str = "evaluation", language: str = "en") -> TaskInstance:
        """Draw the instance of a seed.

        The phone and the parameters are the same in every language; a task that is not worded in one is put in English.

        Raises:
            UnknownName: there is no such split or language.
            TaskFault: the template draws nothing that belongs to the split.
        """
        checked, spoken = checked_split(split), checked_language(language)
        rng = random_of(checked, self.name, seed)
        draft = draw_in_split(checked, self.name, rng, self.compose, lambda drawn: _belongs(drawn, checked))
        if spoken not in draft.sentences:
            spoken = "en"
        words = Random(f"{checked}/{self.name}/{seed}/{spoken}")
        goal = words.choice([one for one in draft.sentences[spoken] if split_of(goal_key(one)) == checked])
        setup = PhoneSetup(
            seed=draft.phone_seed if draft.phone_seed is not None else rng.getrandbits(31),
            state=draft.state,
            keep_alarms=draft.keep_alarms,
            without=draft.without,
            faults=draft.faults,
        )
        return TaskInstance(self.name, self.version, seed, checked, spoken, goal, setup, draft)


def checked_language(name: str) -> Language:
    """Return the language of that name.

    Raises:
        UnknownName: there is no such language.
    """
    for language in LANGUAGES:
        if name == language:
            return language
    raise UnknownName("language", name, LANGUAGES)


def _belongs(draft: Draft, split: Split) -> bool:
    """Tell whether a draft may be drawn in a split: its keys lie there, and in each language some sentence does."""
    return all(split_of(key) == split for key in draft.split_keys) and all(
        any(split_of(goal_key(sentence)) == split for sentence in sentences) for sentences in draft.sentences.values()
    )


def wordings(clauses: Iterable[str], frames: Iterable[str] = ("{}.",), **words: str | int) -> tuple[str, ...]:
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
