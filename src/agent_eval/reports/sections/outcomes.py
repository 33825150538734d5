"""What became of the episodes: labels and success of each build, and which episodes are in no rate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agent_eval.outcome import LABELS, Label
from agent_eval.reports import numbers
from agent_eval.reports.report import Report
from agent_eval.reports.sections.section import NOTHING, Cell, Column, Line, Lines, Row, Section, Span, Table, beside
from agent_eval.reports.summary import BuildSummary


def outcomes(report: Report) -> Section:
    """Count the labels of each build, with its success."""
    builds = report.summary.builds
    rows = [Row(("success, 95 %", *map(_success, builds)))]
    rows += [Row((label.replace("_", " "), *(_tally(build, label) for build in builds))) for label in LABELS]
    table = Table(
        columns=(
            Column("build"),
            Column("success, 95 %", whole=True),
            *(Column(label, stacked=True) for label in LABELS),
        ),
        rows=tuple(
            Row((build.build, _success(build), *(_tally(build, label) for label in LABELS))) for build in builds
        ),
        narrower=beside([build.build for build in builds], rows),
    )
    kinds = [
        f"{build.build} {', '.join(f'{kind} {count}' for kind, count in sorted(build.sub_kinds.items()))}"
        for build in builds
        if build.sub_kinds
    ]
    return Section("Outcomes", (table,), (f"Sub-kinds: {'; '.join(kinds)}.",) if kinds else ())


def denominators(report: Report) -> Section:
    """Say which episodes each build's rates rest on, and name those that were left out."""
    summary = report.summary
    planned = {build.build: summary.planned for build in summary.builds}
    return Section("Denominators", (Lines(denominator_lines(summary.builds, planned)),))


def denominator_lines(builds: Iterable[BuildSummary], planned: Mapping[str, int]) -> tuple[Line, ...]:
    """Return a line for each build, and one below it for each of its episodes that was left out.

    Args:
        builds: Which.
        planned: Episodes that each build was to play.
    """
    lines = []
    for build in builds:
        errors = build.harness_errors
        said = f"{build.build}: {build.judged} judged of {build.recorded} recorded of {planned[build.build]} planned"
        if errors:
            said += f"; left out of every rate, {numbers.count(len(errors), 'harness_error')}:"
        lines.append(Line(said))
        for record in errors:
            fault = record.outcome.fault or "no fault recorded"
            lines.append(Line(f"{record.episode}, attempt {record.attempt + 1}: {fault}", "open", under=True))
    return tuple(lines)


def _success(build: BuildSummary) -> Cell:
    return Span(numbers.percent(build.rates["success"]), "strong")


def _tally(build: BuildSummary, label: Label) -> str:
    return str(build.labels[label]) if build.labels[label] else NOTHING
