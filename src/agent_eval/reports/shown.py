"""A report or a comparison, ready to be drawn or written in any format. Joins what computes with what is shown."""

from __future__ import annotations

from collections.abc import Sequence

from agent_eval.records import EpisodeRecord, RunManifest
from agent_eval.reports.compare import Comparison
from agent_eval.reports.formats import Showing
from agent_eval.reports.report import report_of
from agent_eval.reports.sections import sections_of, sections_of_comparison
from agent_eval.reports.sections.compared import differences


def showing_of_run(
    manifest: RunManifest, records: Sequence[EpisodeRecord], *, margin: float | None = None, run: str = ""
) -> Showing:
    """Return the report of a run.

    Args:
        manifest: Of the run.
        records: Its episodes, all attempts.
        margin: Non-inferiority margin, as a positive share; the one that the run was to end by, or 0.1, if None.
        run: Name of the run; when it was created, by default.
    """
    report = report_of(manifest, records, margin=margin, run=run)
    return Showing(f"Report of {report.evidence.run}", report, sections_of(report))


def showing_of_comparison(comparison: Comparison) -> Showing:
    """Return a comparison; of several runs, with the runs and what they differ by in place of one run's identity."""
    report = comparison.report
    title = f"Comparison of {report.evidence.run}"
    sections = sections_of_comparison(comparison)
    if len(comparison.runs) == 1:
        return Showing(title, report, sections)
    instead = {
        "manifest": None,
        "speed": None,
        "validity": None,
        "evidence": {"reference": report.evidence.reference, "builds": report.evidence.builds,
                     "pairs": report.evidence.pairs},
        "runs": [{"name": run.name, "path": run.path, "builds": run.labels, "planned": run.planned,
                  "manifest": run.manifest} for run in comparison.runs],
        "differences": [
            {"name": difference.name,
             "values": dict(zip((run.name for run in comparison.runs), difference.values, strict=True))}
            for difference in differences(comparison)
        ],
        "same_builds": comparison.same_builds,
        "shared_instances": comparison.shared,
        "pairs_that_began_otherwise": comparison.began_otherwise,
    }  # fmt: skip
    return Showing(title, report, sections, comparison.run_of, instead)
