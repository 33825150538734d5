"""Rates of each build beside each other: by task, under published conventions, and of behaviour."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from agent_eval.reports import numbers
from agent_eval.reports.by_task import PairByTask
from agent_eval.reports.conventions import CONVENTIONS, MARKS
from agent_eval.reports.report import Report
from agent_eval.reports.sections.identity import in_flight
from agent_eval.reports.sections.section import NOTHING, Row, Section, beside
from agent_eval.reports.summary import RATES


class _OfBuild(Protocol):
    @property
    def build(self) -> str: ...


_Each = TypeVar("_Each", bound=_OfBuild)


def _models(report: Report, builds: Sequence[_Each]) -> tuple[_Each, ...]:
    """Leave reference agents out beside builds of a model: "Validity" and "Outcomes" say what they are there for."""
    models = tuple(each for each in builds if each.build not in report.manifest.agents)
    return models or tuple(builds)


def by_task(report: Report) -> tuple[Section, ...]:
    """Give the intervals that hold where instances of a task resemble each other; nothing without several of one."""
    each, builds = report.by_task.each, _models(report, report.by_task.builds)
    if not any(build.episodes > build.tasks for build in builds):
        return ()
    pairs = {pair.build: pair for pair in report.by_task.pairs}

    def paired(text: Callable[[PairByTask], str]) -> tuple[str, ...]:
        return tuple(text(pairs[build.build]) if build.build in pairs else "-" for build in builds)

    rows = [
        Row(("success", *(numbers.percent(build.success) for build in builds))),
        Row(("alike", *(f"{build.correlation:.2f}" for build in builds))),
        Row(("worth", *(f"{build.worth:.0f} of {build.episodes}" for build in builds))),
        Row((f"pass^{each}", *(numbers.median_percent(build.all_passed) for build in builds))),
    ]
    if pairs:
        rows += [
            Row(("points", *paired(lambda pair: numbers.points(pair.difference)))),
            Row(("p", *paired(lambda pair: numbers.p_value(pair.p_value)))),
        ]
    note = (
        "Instances of one task resemble each other, so these 95 % intervals resample tasks and not episodes. alike: "
        "correlation of two instances of a task; worth: independent episodes that would tell as much; "
        f"pass^{each}: tasks of which as many instances are all passed, /tasks"
    )
    if pairs:
        note += f"; points: difference of success to {report.summary.reference}; p: signs of whole tasks flipped"
    return (Section("By task", (beside([build.build for build in builds], rows),), (f"{note}.",)),)


def conventions(report: Report) -> Section:
    """Say what the same episodes score under published conventions."""
    builds, summaries = _models(report, report.conventions), _models(report, report.summary.builds)
    rows = [Row(("success, here", *(numbers.percent(build.rates["success"]) for build in summaries)))]
    for place, convention in enumerate(CONVENTIONS):
        shares = [build.shares[place] for build in builds]
        rows.append(Row((convention.name, *(numbers.percent(share.passed) for share in shares))))
        for mark in (mark for mark in MARKS if any(mark in share.marks for share in shares)):
            counts = (str(share.marks.get(mark, 0) or NOTHING) for share in shares)
            rows.append(Row((f"  {mark}", *counts), "faint"))
    note = (
        "Passed/judged episodes, share [95 %], and counts of what each benchmark notes besides. "
        "docs/concepts/conventions.md says what each asks for."
    )
    table = beside([build.build for build in builds], rows)
    return Section("The same episodes under published conventions", (table,), (note,))


def behaviour(report: Report) -> Section:
    """Give every rate but success, and what a success costs in steps, tokens and seconds."""
    builds = _models(report, report.summary.builds)
    rows = [
        Row((name.replace("_", " "), *(numbers.percent(build.rates[name]) for build in builds)))
        for name in RATES
        if name != "success"
    ]
    rows += [
        Row(("invalid per turn", *(numbers.percent(build.invalid_calls_per_turn) for build in builds))),
        Row(("first invalid", *(numbers.plain(build.first_invalid_turn) for build in builds))),
        Row(("no effect", *(numbers.percent(build.no_effect_share) for build in builds))),
        Row(("budget used", *(numbers.median_percent(build.budget_use) for build in builds))),
        Row(("path efficiency", *(numbers.times(build.path_efficiency) for build in builds))),
    ]
    reference = report.summary.reference
    ratios = {pair.build: pair.step_ratio for pair in report.summary.pairs if pair.reference == reference}
    if ratios:
        rows.append(Row((f"steps over {reference}", *(numbers.times(ratios.get(build.build)) for build in builds))))
    rows.append(Row(("tokens per success", *(numbers.cost(build.tokens_per_success) for build in builds))))
    notes = [
        "Events/chances, share [95 %]; medians [95 %] /count that they rest on. Turns count from 0; path "
        "efficiency: the oracle's steps over the build's, where it succeeded; steps over the reference where both "
        "did; per success: all tokens or seconds, of failures too, /successes. docs/concepts/outcome.md defines each."
    ]
    if report.interleaved:
        rows.append(Row(("seconds per success", *(numbers.cost(build.seconds_per_success) for build in builds))))
        together = in_flight(report.manifest.configuration)
        if together:
            notes.append(f"Seconds{together}: each episode counts those in which it waited for others.")
    return Section("Behaviour, exploratory", (beside([build.build for build in builds], rows),), (" ".join(notes),))
