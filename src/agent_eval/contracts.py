"""The protocols between packages: what each promises and which exceptions an implementer may raise.

Each has one suite in ``tests/contracts`` that every implementation passes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from agent_eval.actions import Action, Reply
from agent_eval.outcome import Outcome, StopReason
from agent_eval.records import EpisodeRecord
from agent_eval.types import (
    ActionResult,
    FiredFault,
    Generation,
    Message,
    Observation,
    PhoneSetup,
    Sampling,
    Scalar,
    Snapshot,
    TokenGeneration,
)


class Device(Protocol):
    """The agent's hands and eyes."""

    def observe(self) -> Observation:
        """Return the settled screen.

        Raises:
            DeviceFault: the device does not answer or shows no screen.
        """
        ...

    def perform(self, action: Action) -> ActionResult:
        """Carry out an action; indices refer to the last observation. Declarations touch nothing.

        Raises:
            DeviceFault: the device does not answer.
        """
        ...

    def close(self) -> None:
        """Release the device; may be called twice."""
        ...


class PhoneControl(Protocol):
    """The task's back door to the phone; the agent never gets it."""

    def reset(self, setup: PhoneSetup) -> None:
        """Make the phone a fresh one that shows its launcher.

        Raises:
            TaskFault: a path or value in the setup does not exist on this phone.
        """
        ...

    def snapshot(self) -> Snapshot:
        """Return the state as it is now."""
        ...

    def schedule(self, after_s: float, changes: Mapping[str, Scalar]) -> None:
        """Change persisted paths when ``after_s`` seconds of virtual time have passed."""
        ...

    def fired(self) -> tuple[FiredFault, ...]:
        """Return the faults that showed since the last reset, in order."""
        ...


class Engine(Protocol):
    """Runs one build: token ids in, token ids out. Knows nothing of text."""

    def generate(self, prompt: Sequence[int], stop: frozenset[int], sampling: Sampling) -> TokenGeneration:
        """Continue a prompt until a stop token or ``sampling.max_tokens``.

        Reuses what the prompt shares with the call before and with the episode's prefix; the result depends neither on
        that nor on earlier episodes.

        Raises:
            ContextOverflow: the prompt leaves no room for one token.
            EngineFault: the computation failed.
        """
        ...

    def begin(self, prefix: Sequence[int] = ()) -> None:
        """Forget the episode before; called before each episode's first prompt.

        ``prefix`` is what the episode's prompts begin with. What an engine still holds of an equal prefix it need not
        compute again; a prompt is computed in the same parts, with the same numbers, whether it does or not.
        """
        ...


class ParallelEngine(Protocol):
    """Runs one build on several prompts at a time: each step brings all of them a token or more further.

    What comes out depends on what was in flight together, as numbers are rounded otherwise in other batches; it is the
    same whenever the same generations were put into flight between the same steps since ``begin``.
    """

    @property
    def in_flight(self) -> int:
        """Most generations at a time."""
        ...

    def begin(self, prefix: Sequence[int] = ()) -> None:
        """Forget everything computed before, but for a prefix that follows too; nothing may be in flight.

        Raises:
            EngineFault: something is.
        """
        ...

    def submit(self, prompt: Sequence[int], stop: frozenset[int], sampling: Sampling) -> int:
        """Put a generation into flight, and return the ticket under which ``step`` hands it out.

        Raises:
            ContextOverflow: the prompt leaves no room for one token.
            EngineFault: the prompt or the sampling is not valid.
        """
        ...

    def step(self) -> Mapping[int, TokenGeneration]:
        """Compute the next tokens of everything in flight; return what has ended, by ticket.

        Raises:
            EngineFault: the computation failed; nothing is in flight any more.
        """
        ...


class Model(Protocol):
    """A conversation in, one reply out."""

    def begin(self) -> None:
        """Forget the episode before."""
        ...

    def generate(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, object]], sampling: Sampling
    ) -> Generation:
        """Return the next assistant turn as raw text.

        Raises:
            ContextOverflow: the conversation no longer fits.
            EngineFault: the computation failed.
        """
        ...


@dataclass(frozen=True)
class Decision:
    """What a policy decided at one step, and what it cost."""

    reply: Reply
    prompt: str = ""
    """What the policy was shown at this step; empty for one that reads no text."""
    generation: Generation | None = None


class Policy(Protocol):
    """Decides one action at a time: a model behind a prompt, a script, the oracle."""

    def begin(self, goal: str) -> None:
        """Start an episode."""
        ...

    def decide(self, observation: Observation, result: ActionResult | None) -> Decision:
        """Choose the next action from the screen and the result of the action before (None at the first step).

        Raises:
            ContextOverflow: the conversation no longer fits.
            EngineFault: the engine failed.
        """
        ...


class Expert(Policy, Protocol):
    """A policy that solves its instance, and whose replies a model may learn from."""

    @property
    def repairing(self) -> bool:
        """Whether the last decision undid damage, and so depends on more than the agent was shown."""
        ...


@dataclass(frozen=True)
class TraceStep:
    """One step as the judge sees it."""

    reply: Reply
    result: ActionResult | None
    """None when the reply was malformed."""
    screen: str
    """Signature of the screen that the decision was made on."""
    before: Snapshot
    after: Snapshot
    package: str
    """Foreground package after the step; empty when unknown."""
    scrolled: bool = False
    """The step was a swipe that changed what is visible."""
    outline: str = ""
    """Outline of the page that the decision was made on: the screen without what comes and goes by itself."""


@dataclass(frozen=True)
class Trace:
    """A whole episode as the judge sees it."""

    start: Snapshot
    steps: tuple[TraceStep, ...]
    stop: StopReason


class Instance(Protocol):
    """A task with its parameters drawn from one seed."""

    @property
    def id(self) -> str:
        """``task/seed``, unique within a run."""
        ...

    @property
    def task(self) -> str:
        """Name of the task."""
        ...

    @property
    def version(self) -> int:
        """Version of the task: results of two versions never compare."""
        ...

    @property
    def seed(self) -> int: ...

    @property
    def goal(self) -> str:
        """The sentence that the agent is given."""
        ...

    @property
    def budget(self) -> int:
        """Most steps that an episode may take: max(8, 2 x oracle steps + 2)."""
        ...

    @property
    def parameters(self) -> Mapping[str, Scalar]:
        """The drawn parameters, for the record."""
        ...

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths that the phone must be able to take before the episode, or to answer during it."""
        ...

    def prepare(self, phone: PhoneControl) -> None:
        """Bring the phone to the start of the episode.

        Raises:
            TaskFault: the phone cannot be prepared.
        """
        ...

    def oracle(self, phone: PhoneControl) -> Expert:
        """Return a policy that may look at the phone's state and solves the instance from any screen."""
        ...

    def goal_holds(self, start: Snapshot, now: Snapshot) -> bool:
        """Tell, from the prepared phone and the state now, whether the goal holds; False where an answer decides."""
        ...

    def concerns(self, package: str) -> bool:
        """Tell whether the task is done in an app."""
        ...

    def loop_stops(self, steps: Sequence[TraceStep]) -> bool:
        """Tell whether the steps so far are a loop that is seen often enough to stop for."""
        ...

    def judge(self, trace: Trace) -> Outcome:
        """Derive the facts and the label.

        Raises:
            TaskFault: the judge itself failed.
        """
        ...


class Task(Protocol):
    """A goal template."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str:
        """One line for ``agent-eval tasks``."""
        ...

    @property
    def tier(self) -> int:
        """1: at most 4 oracle steps; 2: 5 to 8; 3: 9 to 15."""
        ...

    @property
    def traits(self) -> tuple[str, ...]:
        """Among: already_true, answer, guard, infeasible, multi_app."""
        ...

    @property
    def version(self) -> int:
        """Raised whenever the task asks for something else."""
        ...

    def draw(self, seed: int, split: str = "evaluation", language: str = "en") -> Instance:
        """Draw an instance. No two splits share a goal sentence or a parameter that is held apart."""
        ...


class Sink(Protocol):
    """Where records go."""

    def append(self, record: EpisodeRecord) -> None:
        """Write one record and flush it.

        Raises:
            RunFolderError: the record cannot be written.
        """
        ...
