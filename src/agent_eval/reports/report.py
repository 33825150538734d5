"""Everything that is computed from one run, in one frozen value: what ``tables`` draws. Draws nothing itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent_eval.records import EpisodeRecord, RunManifest
from agent_eval.reports.by_task import RunByTask, by_task_of
from agent_eval.reports.conventions import BuildConventions, conventions_of
from agent_eval.reports.evidence import join
from agent_eval.reports.selection import Match
from agent_eval.reports.speed import RunSpeed, speed_of
from agent_eval.reports.summary import RunSummary, summary_of
from agent_eval.reports.validity import Validity, validity_of
from agent_eval.types import Evidence


@dataclass(frozen=True)
class Report:
    """A run, counted, compared and timed."""

    manifest: RunManifest
    summary: RunSummary
    by_task: RunByTask
    speed: RunSpeed
    evidence: Evidence
    conventions: tuple[BuildConventions, ...]
    validity: Validity
    interleaved: bool = True
    """The builds took turns in one run. Otherwise the report is of several runs, and their seconds do not compare."""

    @property
    def decided(self) -> bool:
        """Whether the run was to end when its comparisons are decided, and they are."""
        pairs = self.evidence.pairs
        return bool(pairs) and all(pair.sequential is not None and pair.sequential.decided for pair in pairs)


def report_of(
    manifest: RunManifest,
    records: Sequence[EpisodeRecord],
    *,
    margin: float | None = None,
    run: str = "",
    reference: str = "",
    further: Sequence[Match] = (),
    interleaved: bool = True,
) -> Report:
    """Compute the report of a run.

    Args:
        manifest: Of the run.
        records: Its episodes, all attempts.
        margin: Non-inferiority margin, as a positive share; the one that the run was to end by, or 0.1, if None.
        run: Name of the run in sentences; when it was created, by default.
        reference: Build that the others are compared with; bf16, or the first without it, by default. Speeds are
            compared with the default only, and left out with any other.
        further: Builds to compare besides, each with a reference of its own.
        interleaved: The builds took turns in one run; speeds of several runs do not compare, and are left out.
    """
    summary = summary_of(manifest, records, reference=reference, further=further)
    speed = speed_of(manifest, records)
    if not interleaved or speed.reference != summary.reference:
        speed = RunSpeed(summary.reference, None, (), ())
    evidence = join(manifest, summary, speed, margin=margin, run=run)
    return Report(
        manifest,
        summary,
        by_task_of(manifest, records, reference=reference),
        speed,
        evidence,
        conventions_of(manifest, records),
        validity_of(manifest, records),
        interleaved,
    )
