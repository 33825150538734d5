"""Which records count: the last attempt of each episode, the judged ones, the pairs. Knows nothing of statistics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from agent_eval.errors import RunFolderError
from agent_eval.outcome import Facts
from agent_eval.records import EpisodeRecord, RunManifest

REFERENCE_BUILD = "bf16"
"""The weights as published: what every other build is compared with."""


class Pair(NamedTuple):
    """One instance, judged with the reference and with a build."""

    reference: EpisodeRecord
    build: EpisodeRecord


class Match(NamedTuple):
    """Two builds that are compared on the same instances."""

    build: str
    reference: str


class InstanceKey(NamedTuple):
    """An instance, whichever run it is of: a seed may draw another goal in another version, language or split."""

    task: str
    task_version: int
    seed: int
    goal: str


def latest(records: Iterable[EpisodeRecord]) -> tuple[EpisodeRecord, ...]:
    """Keep the last attempt of each episode, in the order in which the episodes first appear."""
    kept: dict[str, EpisodeRecord] = {}
    for record in records:
        held = kept.get(record.episode)
        if held is None or record.attempt >= held.attempt:
            kept[record.episode] = record
    return tuple(kept.values())


def judged(records: Iterable[EpisodeRecord]) -> tuple[EpisodeRecord, ...]:
    """Leave out the episodes in which the harness failed."""
    return tuple(record for record in records if record.outcome.facts is not None and not _faulted(record))


def passed(record: EpisodeRecord) -> bool:
    """Return whether an episode ended in success."""
    return record.outcome.label == "success"


def faulted(records: Iterable[EpisodeRecord]) -> tuple[EpisodeRecord, ...]:
    """Keep only the episodes in which the harness failed."""
    return tuple(record for record in records if record.outcome.facts is None or _faulted(record))


def facts_of(record: EpisodeRecord) -> Facts:
    """Return the facts of a judged episode."""
    facts = record.outcome.facts
    if facts is None:
        raise ValueError(f"episode {record.episode!r} was not judged: its label is {record.outcome.label!r}")
    return facts


def builds_of(manifest: RunManifest, records: Iterable[EpisodeRecord]) -> tuple[str, ...]:
    """Return the builds that the run was to compare, then any other that its records name.

    The second pass of the noise band is none: it is the reference, and counting it would count that twice.
    """
    named = dict.fromkeys((*manifest.configuration.builds, *(record.build for record in records)))
    return tuple(build for build in named if build != manifest.configuration.again)


def models_of(manifest: RunManifest, records: Iterable[EpisodeRecord]) -> tuple[str, ...]:
    """Return the builds of a model: those that can be compared with each other and shipped."""
    return tuple(build for build in builds_of(manifest, records) if build not in manifest.agents)


def reference_of(builds: Sequence[str]) -> str:
    """Return the build that the others are compared with: bf16, the first where there is no bf16, or none of none."""
    return REFERENCE_BUILD if REFERENCE_BUILD in builds else next(iter(builds), "")


def require_one_version(records: Iterable[EpisodeRecord]) -> None:
    """Refuse records of which some were made with another version of their task than others.

    Raises:
        RunFolderError: names the task and both versions.
    """
    seen: dict[str, EpisodeRecord] = {}
    for record in records:
        first = seen.setdefault(record.task, record)
        if first.task_version != record.task_version:
            raise RunFolderError(
                f"{first.episode} was recorded with version {first.task_version} of task {record.task!r}, "
                f"{record.episode} with version {record.task_version}; results of two versions do not compare",
                hint="run the older episodes again in a new folder",
            )


def instance_of(record: EpisodeRecord) -> InstanceKey:
    """Return what makes two episodes attempts at the same instance, of one run or of several."""
    return InstanceKey(record.task, record.task_version, record.seed, record.goal)


def pairs_of(records: Iterable[EpisodeRecord], reference: str, build: str) -> tuple[Pair, ...]:
    """Pair the judged last attempts of two builds at the same instances, in the order of blocks."""
    counted = judged(latest(records))
    of_reference = {instance_of(record): record for record in counted if record.build == reference}
    pairs = [
        Pair(of_reference[instance_of(record)], record)
        for record in counted
        if record.build == build and instance_of(record) in of_reference
    ]
    return tuple(sorted(pairs, key=lambda pair: (pair.build.block, pair.build.task, pair.build.seed)))


def _faulted(record: EpisodeRecord) -> bool:
    return record.outcome.label == "harness_error"
