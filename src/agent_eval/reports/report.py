"""Everything that is computed from one run, in one frozen value: what ``tables`` draws. Draws nothing itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent_eval.records import EpisodeRecord, RunManifest
from agent_eval.reports.by_task import RunByTask, by_task_of
from agent_eval.reports.conventions import BuildConventions, conventions_of
from agent_eval.reports.evidence import MARGIN, join
from agent_eval.reports.speed import RunSpeed, speed_of
from agent_eval.reports.summary import RunSummary, summary_of
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


def report_of(
    manifest: RunManifest, records: Sequence[EpisodeRecord], *, margin: float = MARGIN, run: str = ""
) -> Report:
    """Compute the report of a run.

    Args:
        manifest: Of the run.
        records: Its episodes, all attempts.
        margin: Non-inferiority margin, as a positive share.
        run: Name of the run in sentences; when it was created, by default.
    """
    summary, speed = summary_of(manifest, records), speed_of(manifest, records)
    evidence = join(manifest, summary, speed, margin=margin, run=run)
    return Report(manifest, summary, by_task_of(manifest, records), speed, evidence, conventions_of(manifest, records))
