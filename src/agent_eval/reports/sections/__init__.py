"""The sections of a report: each a function from what was computed to what is shown. Draws nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from agent_eval.reports.compare import Comparison
from agent_eval.reports.report import Report
from agent_eval.reports.sections import compared
from agent_eval.reports.sections.comparison import comparison
from agent_eval.reports.sections.identity import identity
from agent_eval.reports.sections.outcomes import denominators, outcomes
from agent_eval.reports.sections.rates import behaviour, by_task, conventions
from agent_eval.reports.sections.remarks import remarks
from agent_eval.reports.sections.section import Section
from agent_eval.reports.sections.speed import speed
from agent_eval.reports.sections.validity import validity

SectionFunction = Callable[[Report], Section | tuple[Section, ...]]
"""Returns one section, or those of several that this report has."""

REPORT: tuple[SectionFunction, ...] = (
    identity,
    validity,
    outcomes,
    denominators,
    comparison,
    by_task,
    conventions,
    speed,
    behaviour,
    remarks,
)
"""What a report shows, in its order."""

OF_ONE_RUN: tuple[SectionFunction, ...] = (outcomes, denominators, comparison, by_task, speed, behaviour, remarks)
"""What a comparison of the builds of one run shows."""


def sections_of(report: Report, functions: Iterable[SectionFunction] = REPORT) -> tuple[Section, ...]:
    """Return the sections of a report that have something to show, in order."""
    found: list[Section] = []
    for function in functions:
        section = function(report)
        found += [section] if isinstance(section, Section) else section
    return tuple(found)


def sections_of_comparison(compared_runs: Comparison) -> tuple[Section, ...]:
    """Return the sections of a comparison; of one run, the part of its report that compares builds."""
    report = compared_runs.report
    if len(compared_runs.runs) == 1:
        return sections_of(report, OF_ONE_RUN)
    return (
        compared.runs(compared_runs),
        compared.what_differs(compared_runs),
        compared.what_is_the_same(compared_runs),
        *compared.same_builds(compared_runs),
        outcomes(report),
        compared.denominators(compared_runs),
        *sections_of(report, (comparison, by_task, conventions, behaviour)),
        compared.remarks(compared_runs),
    )


__all__ = ["OF_ONE_RUN", "REPORT", "Section", "SectionFunction", "sections_of", "sections_of_comparison"]
