"""What the same records say where the task, with all its instances, is what was drawn. Knows no labels but success.

Instances of one task resemble each other. Resampling tasks keeps what they share together, so its intervals hold where
those over episodes are too narrow; with one instance of each task there is nothing to keep together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent_eval.records import EpisodeRecord, RunManifest
from agent_eval.reports.selection import Pair, builds_of, judged, latest, models_of, pairs_of, passed, reference_of
from agent_eval.reports.stats import (
    Count,
    clustered_difference,
    clustered_pass_hat,
    clustered_share,
    effective_size,
    intraclass_correlation,
    sign_flip,
)
from agent_eval.reports.summary import outcomes_of, pairs_by_task
from agent_eval.types import Interval


@dataclass(frozen=True)
class BuildByTask:
    """One build, its episodes grouped by task."""

    build: str
    tasks: int
    """With a judged episode."""
    episodes: int
    success: Interval
    """Over episodes; the 95 % interval resamples tasks."""
    correlation: float
    """Of the success of two instances of one task, 0 to 1."""
    worth: float
    """Independent episodes that would tell as much."""
    all_passed: Interval
    """Share of tasks of which ``RunByTask.each`` instances, drawn at random, are all passed: pass^k; the 95 % interval
    resamples tasks, and n is tasks."""


@dataclass(frozen=True)
class PairByTask:
    """One build against the reference, pairs grouped by task."""

    build: str
    difference: Interval
    """Build minus reference; the 95 % interval resamples tasks."""
    p_value: float
    """Two-sided, from flipping the signs of whole tasks."""


@dataclass(frozen=True)
class RunByTask:
    """Every build of a run that has judged episodes, and every build against the reference."""

    each: int
    """The fewest judged instances that a build has of a task; 0 where nothing was judged."""
    builds: tuple[BuildByTask, ...]
    pairs: tuple[PairByTask, ...]


def by_task_of(manifest: RunManifest, records: Sequence[EpisodeRecord], *, reference: str = "") -> RunByTask:
    """Group a run's last judged attempts by task.

    Args:
        manifest: Of the run.
        records: Its episodes, all attempts.
        reference: Build that the others are compared with; bf16, or the first without it, by default.
    """
    counted = judged(latest(records))
    seed = manifest.configuration.seed
    models = models_of(manifest, records)
    reference = reference or reference_of(models)
    counts = {build: _counts(r for r in counted if r.build == build) for build in builds_of(manifest, records)}
    each = min((count.chances for of_build in counts.values() for count in of_build), default=0)
    paired = [(build, pairs_of(counted, reference, build)) for build in models if build != reference]
    return RunByTask(
        each=each,
        builds=tuple(_build(build, of_build, each, seed) for build, of_build in counts.items() if of_build),
        pairs=tuple(_pair(build, pairs, seed) for build, pairs in paired if pairs),
    )


def _counts(records: Iterable[EpisodeRecord]) -> list[Count]:
    """Count the passed instances of each task."""
    of_tasks: dict[str, list[bool]] = defaultdict(list)
    for record in records:
        of_tasks[record.task].append(passed(record))
    return [Count(sum(each), len(each)) for each in of_tasks.values()]


def _build(build: str, counts: Sequence[Count], each: int, seed: int) -> BuildByTask:
    return BuildByTask(
        build=build,
        tasks=len(counts),
        episodes=sum(count.chances for count in counts),
        success=clustered_share(counts, seed),
        correlation=intraclass_correlation(counts),
        worth=effective_size(counts),
        all_passed=clustered_pass_hat(counts, each, seed),
    )


def _pair(build: str, pairs: Sequence[Pair], seed: int) -> PairByTask:
    of_tasks = pairs_by_task(outcomes_of(pairs))
    return PairByTask(build, clustered_difference(of_tasks, seed), sign_flip(of_tasks, seed))
