"""What several runs have in common and what not, and what a comparison of them may not be taken for."""

from __future__ import annotations

from typing import NamedTuple

from agent_eval.reports import numbers
from agent_eval.reports.compare import Comparison
from agent_eval.reports.sections.identity import facts_of
from agent_eval.reports.sections.outcomes import denominator_lines
from agent_eval.reports.sections.remarks import kind_of
from agent_eval.reports.sections.section import Column, Fact, Facts, Line, Lines, Row, Section, Span, Table

NOT_SAID = "-"
"""Of a run that has no such build, or is as usual in this."""


class Difference(NamedTuple):
    """Something in which runs differ."""

    name: str
    values: tuple[str, ...]
    """One for each run."""


def differences(comparison: Comparison) -> tuple[Difference, ...]:
    """Return what is not the same in all runs, ``NOT_SAID`` for a run that says nothing of it."""
    return tuple(Difference(name, values) for name, values in _by_name(comparison) if len(set(values)) > 1)


def runs(comparison: Comparison) -> Section:
    """Name the runs."""
    facts = (Fact(run.name, f"{run.path}, created {run.manifest.created}") for run in comparison.runs)
    return Section("Runs", (Facts(tuple(facts)),))


def what_differs(comparison: Comparison) -> Section:
    """Lay beside each other what is not the same in all runs."""
    title, found = "What differs between the runs", differences(comparison)
    if not found:
        return Section(title, (), ("Nothing but when they were run.",))
    rows = []
    for difference in found:
        for place, (run, value) in enumerate(zip(comparison.runs, difference.values, strict=True)):
            rows.append(Row((difference.name if place == 0 else "", Span(run.name, "faint"), value)))
    columns = (Column("", words=True), Column("run", words=True), Column("", words=True))
    note = "What outcomes differ by may be any of these, and not the builds." if len(found) > 1 else ""
    return Section(title, (Table(columns, tuple(rows)),), (note,) if note else ())


def what_is_the_same(comparison: Comparison) -> Section:
    """List what all runs share."""
    same = [Fact(name, values[0]) for name, values in _by_name(comparison) if len(set(values)) == 1]
    return Section("The same in all runs", (Facts(tuple(same)),) if same else (), () if same else ("Nothing.",))


def same_builds(comparison: Comparison) -> tuple[Section, ...]:
    """Say how far a build that several runs have differs from itself."""
    if not comparison.same_builds:
        return ()
    names = ("pairs", "passed in one only", "another label", "other replies")
    columns = (Column("build", words=True), Column("against", words=True), *map(Column, names))
    rows = tuple(
        Row((same.build, same.reference, *map(str, (same.pairs, same.flipped, same.relabelled, same.otherwise))))
        for same in comparison.same_builds
    )
    note = (
        "Where the runs are alike in all that decides an outcome, each of these is 0; where they are not, this is what "
        "the difference does to one build."
    )
    return (Section("The same build in two runs", (Table(columns, rows),), (note,)),)


def denominators(comparison: Comparison) -> Section:
    """Say which episodes each build's rates rest on, each build beside what its own run planned."""
    planned = {label: run.planned for run in comparison.runs for label in run.labels.values()}
    return Section("Denominators", (Lines(denominator_lines(comparison.report.summary.builds, planned)),))


def remarks(comparison: Comparison) -> Section:
    """Say what a reader must know before using the comparison."""
    said: list[str] = []
    for run in comparison.runs:
        said += kind_of(run.manifest.model_kind, run.manifest.configuration.model)
    everything = set.union(*(run.instances for run in comparison.runs))
    said = list(dict.fromkeys(said))
    if comparison.shared < len(everything):
        said.append(
            f"All runs have {comparison.shared} of {numbers.count(len(everything), 'instance')}; the paired tables are "
            "of what two builds share, rates of one build are of all of its own instances."
        )
    if comparison.began_otherwise:
        said.append(
            f"In {comparison.began_otherwise} of {numbers.count(comparison.pairs, 'pair')} the phones were not in the "
            "same state when the episode began: task, seed and goal are the same, skin or software of the phone is not."
        )
    said.append(
        "Speeds and seconds of different runs are not compared: their builds did not take turns on one machine. "
        "`agent-eval report` has those of each run."
    )
    said += [
        f"The run {run.name} ended when its comparisons were decided; here its pairs are taken as if their number had "
        "been settled before."
        for run in comparison.runs
        if run.manifest.configuration.decided_at_margin is not None
    ]
    said += [
        f"The run {run.name} is not complete: repeat its command to go on."
        for run in comparison.runs
        if run.manifest.configuration.decided_at_margin is None
        and any(len({r.episode for r in run.records if r.build == build}) < run.planned for build in run.labels)
    ]
    return Section("", (Lines(tuple(map(Line, said))),))


def _by_name(comparison: Comparison) -> list[tuple[str, tuple[str, ...]]]:
    of_runs = [{fact.name: fact.value for fact in facts_of(run.manifest)} for run in comparison.runs]
    names = dict.fromkeys(name for facts in of_runs for name in facts)
    return [(name, tuple(facts.get(name, NOT_SAID) for facts in of_runs)) for name in names]
