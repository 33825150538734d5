"""What a finished model scored under several conditions, as a file beside its weights. Computes nothing."""

from __future__ import annotations

from typing import ClassVar, Literal

from agent_eval.outcome import Label
from agent_eval.reports.record_file import FileRecord, RecordPart
from agent_eval.reports.summary import RateName
from agent_eval.types import Interval, MachineProbe, Verdict


class BuildScores(RecordPart):
    """What the episodes of one build say under one condition. Shares are Wilson 95 %; None where nothing is counted."""

    build: str
    planned: int
    """Episodes that were to be played."""
    recorded: int
    judged: int
    """Episodes in the rates: the recorded ones without those that the harness broke."""
    harness_errors: int
    labels: dict[Label, int]
    """Count of each label; every label is a key."""
    success: Interval | None
    tiers: dict[int, Interval | None]
    """Success by tier of the task."""
    rates: dict[RateName, Interval | None]
    """The other rates of ``reports.RATES``, under their names."""
    already_true: Interval | None
    """Passed without leaving the goal, among the judged episodes of tasks whose goal holds at the start."""


class PairScores(RecordPart):
    """One build against the reference, on the instances that were judged with both."""

    build: str
    reference: str
    pairs: int
    lost: int
    """The reference passed, the build did not."""
    gained: int
    difference: Interval | None
    """Success of the build less the reference's, Bonett-Price 95 %; None without pairs."""
    p_value: float
    """Exact McNemar, by itself."""
    verdict: Verdict


class ConditionScores(RecordPart):
    """One condition: what was drawn, and what became of it."""

    name: str
    split: str
    """Where sentences and parameters come from."""
    tasks: int
    skins: tuple[str, ...]
    instances: int
    """Of each task under each skin."""
    builds: tuple[BuildScores, ...]
    pairs: tuple[PairScores, ...]


class ScoreRecord(FileRecord):
    """Every condition."""

    called: ClassVar[str] = "record of scores"
    written_by: ClassVar[str] = "`agent-eval score`"
    indent: ClassVar[int | None] = 1

    schema_version: Literal[1] = 1
    created: str
    """When the last of the runs began; UTC, ISO 8601."""
    model_digest: str
    """SHA-256 over config, weights, tokenizer and template of the checkpoint."""
    prompt_digest: str
    """Digest over the prompt rendering and the phone's screens."""
    plan_seed: int
    """Seed of the training, which sets the seeds of the scores apart from its own."""
    first_seed: int
    """Of the instances."""
    versions: dict[str, str]
    machine: MachineProbe
    seconds: float
    """Wall-clock seconds of all judged episodes."""
    build_notes: dict[str, str]
    """Per build: what is quantised, how, and which kernel serves it."""
    conditions: tuple[ConditionScores, ...]
