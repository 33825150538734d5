"""What one ``agent-eval fidelity`` measured: every number by position, nothing computed from it. One JSON file.

Log-probabilities are natural. Numbers by position are written with six digits, which is more than two machines agree
on.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator

from agent_eval.reports.record_file import FileRecord, RecordPart
from agent_eval.types import MachineProbe


def _six_digits(value: float) -> float:
    return float(f"{value:.6g}")


Number = Annotated[float, AfterValidator(_six_digits)]
Numbers = tuple[Number, ...]

PART_LETTERS = {"d": "declaration", "n": "name", "a": "arguments", "t": "thought", "r": "rest"}
"""Letter of a part of a reply to its name. ``declaration``: the name of a tool that declares the task done or
impossible. ``name``: of any other tool. ``arguments``: names and values of arguments. ``rest``: tags, the end of the
turn, and text that is no call."""

ActionKind = Literal["same", "other argument", "other tool", "declared", "malformed"]
"""What a build would do where the reference did something. ``same``: the same call, or both malformed. ``declared``: it
declares and the reference does not. ``malformed``: its reply is no call and the reference's is."""


# ----------------------------------------------------------------------------------------------------------------------
# the episodes of the reference


class ReferenceEpisode(RecordPart):
    """The replies of the reference in one episode, one behind the other."""

    episode: str
    replies: tuple[int, ...]
    """Tokens of each, the one that ended it included."""
    written_again: tuple[bool, ...]
    """Per reply: the reference chose each of its tokens again. Elsewhere its tokens are those of the recorded text."""
    parts: str
    """Per token: a letter of ``PART_LETTERS``."""
    log_probabilities: Numbers
    """Per token, with the reference."""


class DecisionRecord(RecordPart):
    """The choice between stopping and going on, behind the reference's thought, where the goal first held."""

    step: int
    """From 0."""
    called: str
    """Tool that the reference called there; empty where its call was malformed."""
    reference: Number
    """Log-odds of ``task_complete`` against all other tools together, with the reference."""
    build: Number
    """The same with the build."""
    reference_covered: Number
    """Probability of all tools together, with the reference; the rest is anything but a call of a tool."""
    build_covered: Number
    own: str | None = None
    """Tool that the build itself would call there, its own thought included; None where it was not asked."""


class ActionRecord(RecordPart):
    """What a build would do at one step of an episode of the reference."""

    step: int
    """From 0."""
    kind: ActionKind
    reference: str = ""
    """The call, or what the reply was instead; empty for the same one."""
    build: str = ""


class FollowedEpisode(RecordPart):
    """One episode of the reference, followed by a build."""

    episode: str
    kl: Numbers
    """Per token: KL(reference || build) over the whole vocabulary, nats."""
    same_top: str
    """Per token: 1 where both hold the same token for the most probable, else 0."""
    log_probabilities: Numbers
    """Per token, with the build."""
    decision: DecisionRecord | None = None
    """None where the reference never reached the goal, did not go on from there, or made no call there."""
    actions: tuple[ActionRecord, ...] | None = None
    """Per step; None where the build was not asked."""


# ----------------------------------------------------------------------------------------------------------------------
# texts


class TextRecord(RecordPart):
    """A text in windows, each read from an empty memory; the first token of a window is not predicted."""

    source: str
    """Its file, or what it is."""
    sha256: str
    tokens: int
    window: int
    """Tokens of a window; the last one may be shorter."""
    pass_tokens: int
    """Tokens that were computed at once: texts are read by the kernels that read prompts."""
    log_probabilities: tuple[float, ...]
    """Per window: the sum over its predicted tokens, with the reference."""


class ReadWindow(RecordPart):
    """One window, read by a build."""

    kl: Numbers
    """Per predicted token."""
    same_top: int
    """Predicted tokens at which both hold the same token for the most probable."""
    log_probability: float
    """The sum over the predicted tokens, with the build."""


# ----------------------------------------------------------------------------------------------------------------------
# greedy continuations


class PartingRecord(RecordPart):
    """Where two continuations differ for the first time. Probabilities are at that place."""

    reference_token: str
    build_token: str
    reference_of_reference: Number
    """Of the reference's token with the reference, and so on."""
    reference_of_build: Number
    build_of_reference: Number
    build_of_build: Number


class CompletionRecord(RecordPart):
    """One prompt, continued greedily."""

    prompt: str
    """How it is called."""
    prompt_tokens: int
    tokens: int
    """That the reference wrote, the one that ended it included."""
    kept: int
    """That the build wrote too before it first wrote another one."""
    reference: str
    """What the reference wrote."""
    build: str
    parting: PartingRecord | None
    """None where both wrote the same."""


# ----------------------------------------------------------------------------------------------------------------------
# what the run itself shows


class DivergenceRecord(RecordPart):
    """One instance that both played for themselves."""

    instance: str
    steps: int
    """Of the reference."""
    first: int | None
    """First step, from 0, at which the actions differ; None where they never do."""


# ----------------------------------------------------------------------------------------------------------------------


class BuildFidelity(RecordPart):
    """Everything about one build."""

    build: str
    notes: str
    """What is quantised and how, and which kernels compute."""
    episodes: tuple[FollowedEpisode, ...] = ()
    """In the order of the reference's."""
    windows: tuple[ReadWindow, ...] = ()
    completions: tuple[CompletionRecord, ...] = ()
    divergences: tuple[DivergenceRecord, ...] = ()
    """Empty where the run does not have the build."""


class FidelityRecord(FileRecord):
    """Builds beside their reference."""

    called: ClassVar[str] = "record of a fidelity measurement"
    written_by: ClassVar[str] = "`agent-eval fidelity RUN --json FILE`"
    indent: ClassVar[int | None] = None

    schema_version: Literal[1] = 1
    created: str
    """UTC, ISO 8601."""
    run: str
    run_created: str
    run_digest: str
    """SHA-256 of the model that the run was played with."""
    model: str
    model_digest: str
    """SHA-256 of the model that was measured."""
    model_kind: str
    """``embedded``, ``published``, ``synthetic`` or ``constructed``."""
    vocabulary: int
    """Number of tokens that the model knows."""
    reference: str
    reference_notes: str
    build_digests: dict[str, str]
    """Per build that is taken from a checkpoint of its own: SHA-256 over its config and weights."""
    thinking: bool
    machine: MachineProbe
    threads: int
    versions: dict[str, str]
    recorded_episodes: int
    """Judged episodes of the reference in the run, of which ``episodes`` are some or all."""
    episodes: tuple[ReferenceEpisode, ...]
    text: TextRecord | None
    new_tokens: int
    """Most tokens of a greedy continuation."""
    builds: tuple[BuildFidelity, ...]
