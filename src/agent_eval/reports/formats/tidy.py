"""A report as one tidy table: a row for each number, with its counts, its interval, its unit and how it was got.

Everything that a report says in numbers is a row, so that a spreadsheet or a data frame needs no other file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import NamedTuple

from agent_eval.reports import numbers
from agent_eval.reports.conventions import ConventionShare
from agent_eval.reports.layout import visible
from agent_eval.reports.noise import NoiseBand
from agent_eval.reports.report import Report
from agent_eval.reports.summary import BuildSummary, PairSummary
from agent_eval.types import Interval, PairedEvidence


class Measure(NamedTuple):
    """One number of a report."""

    run: str
    build: str
    reference: str
    """Build that it compares with; empty for a number of one build."""
    metric: str
    numerator: int | None
    """Events counted; None for a number that counts none."""
    denominator: int | None
    """What the number rests on: the chances of a share, the values of a median, the pairs of a difference."""
    estimate: float | None
    low: float | None
    high: float | None
    """Ends of the two-sided 95 % interval; None where there is no interval, or no end on that side."""
    unit: str
    method: str
    """How the interval was got, or the number where it has none."""


class _Number(NamedTuple):
    """A measure before it is known of which build."""

    metric: str
    unit: str
    method: str
    numerator: int | None = None
    denominator: int | None = None
    estimate: float | None = None
    low: float | None = None
    high: float | None = None


def measures_of(report: Report, run_of: Mapping[str, str]) -> tuple[Measure, ...]:
    """Return every number of a report.

    Args:
        report: Of a run, or of several.
        run_of: Name of each build's run, where the report is of several; a build that is not in it is of the report's.
    """
    return tuple(_measures(report, run_of))


def _measures(report: Report, run_of: Mapping[str, str]) -> Iterator[Measure]:
    def of(build: str, reference: str, number: _Number) -> Measure:
        return Measure(
            run=visible(run_of.get(build, report.evidence.run)),
            build=visible(build),
            reference=visible(reference),
            metric=visible(number.metric),
            numerator=number.numerator,
            denominator=number.denominator,
            estimate=number.estimate,
            low=number.low,
            high=number.high,
            unit=number.unit,
            method=number.method,
        )

    if report.interleaved:
        for check in report.validity.agents:
            yield of(check.agent, "", _share("validity.passes", check.share, "wilson"))
        noise = report.validity.noise
        if noise is not None:
            for number in _of_noise(noise):
                yield of(noise.build, noise.build, number)
    for build in report.summary.builds:
        for number in _of_build(build, timed=report.interleaved):
            yield of(build.build, "", number)
    for scored in report.conventions:
        for share in scored.shares:
            for number in _of_convention(share):
                yield of(scored.build, "", number)
    for each in report.by_task.builds:
        yield of(each.build, "", _share("by_task.success", each.success, "bootstrap over tasks"))
        yield of(each.build, "", _estimate("by_task.correlation", each.correlation, each.tasks, "correlation", "anova"))
        yield of(each.build, "", _estimate("by_task.worth", each.worth, each.episodes, "episodes", "kish"))
        passed = _interval(f"by_task.pass^{report.by_task.each}", each.all_passed, "share", "bootstrap over tasks")
        yield of(each.build, "", passed)
    for speed in report.speed.builds:
        for name, value, unit in (
            ("decode", speed.decode, "tokens/s"),
            ("prefill", speed.prefill, "tokens/s"),
            ("first_token", speed.first_token_s, "s"),
        ):
            yield of(speed.build, "", _interval(f"speed.{name}", value, unit, "bootstrap of median"))
        if speed.loaded_bytes is not None:
            yield of(speed.build, "", _Number("loaded", "bytes", "measured once", estimate=float(speed.loaded_bytes)))
    if report.speed.peak_bytes is not None:
        yield of("", "", _Number("peak", "bytes", "measured after episodes", estimate=float(report.speed.peak_bytes)))
    evidence = {(pair.build, pair.reference): pair for pair in report.evidence.pairs}
    for pair in report.summary.pairs:
        for number in _of_pair(pair, evidence[pair.build, pair.reference]):
            yield of(pair.build, pair.reference, number)
    for task in report.by_task.pairs:
        difference = _interval("by_task.difference", task.difference, "share", "bootstrap over tasks")
        yield of(task.build, report.summary.reference, difference)
        p_value = _estimate("by_task.p", task.p_value, task.difference.n, "p", "sign flips of tasks")
        yield of(task.build, report.summary.reference, p_value)
    for ratio in report.speed.ratios:
        for phase, compared in (("decode", ratio.decode), ("prefill", ratio.prefill)):
            number = _interval(f"speed_ratio.{phase}", compared, "ratio", "bootstrap of median")
            yield of(ratio.build, report.speed.reference, number)


def _of_noise(noise: NoiseBand) -> Iterator[_Number]:
    yield _count("noise.pairs", noise.pairs)
    yield _count("noise.flips", len(noise.flips), noise.pairs)
    yield _count("noise.differing", noise.differing, noise.pairs)
    yield _interval("noise.decode", noise.decode, "ratio", "bootstrap of median")
    yield _interval("noise.prefill", noise.prefill, "ratio", "bootstrap of median")


def _of_build(build: BuildSummary, *, timed: bool) -> Iterator[_Number]:
    yield _count("recorded", build.recorded)
    yield _count("judged", build.judged, build.recorded)
    for label, count in build.labels.items():
        yield _count(f"label.{label}", count, build.recorded)
    for kind, count in build.sub_kinds.items():
        yield _count(f"sub_kind.{kind}", count, build.judged)
    for rate, share in build.rates.items():
        yield _share(f"rate.{rate}", share, "wilson")
    yield _share("rate.invalid_calls_per_turn", build.invalid_calls_per_turn, "bootstrap over episodes")
    yield _share("rate.no_effect", build.no_effect_share, "bootstrap over episodes")
    for name, value, unit in (
        ("median.first_invalid_turn", build.first_invalid_turn, "turn from 0"),
        ("median.budget_use", build.budget_use, "share"),
        ("median.path_efficiency", build.path_efficiency, "ratio"),
    ):
        yield _interval(name, value, unit, "bootstrap of median")
    yield _interval("per_success.tokens", build.tokens_per_success, "tokens", "bootstrap over episodes")
    if timed:
        yield _interval("per_success.seconds", build.seconds_per_success, "s", "bootstrap over episodes")


def _of_convention(share: ConventionShare) -> Iterator[_Number]:
    yield _share(f"convention.{share.convention}", share.passed, "wilson")
    for mark, count in share.marks.items():
        yield _count(f"convention.{share.convention}.{mark}", count, share.passed.n if share.passed else None)


def _of_pair(pair: PairSummary, evidence: PairedEvidence) -> Iterator[_Number]:
    yield _count("pairs", pair.pairs)
    for name in ("both_passed", "both_failed", "lost", "gained"):
        yield _count(f"pairs.{name}", getattr(pair, name), pair.pairs)
    if pair.pairs:
        yield _interval("difference", evidence.difference, "share", "bonett-price")
        bound = evidence.lower_bound
        yield _estimate("difference.bound", bound, pair.pairs, "share", "bonett-price, one-sided 95 %")
        yield _estimate("difference.worth", pair.worth, pair.pairs, "pairs", "kish")
        if evidence.sequential is None:
            yield _estimate("difference.p", evidence.p_value, pair.lost + pair.gained, "p", "exact mcnemar")
            yield _estimate("difference.p_adjusted", evidence.p_adjusted, pair.lost + pair.gained, "p", "holm")
        else:
            at = evidence.sequential
            yield _estimate("sequential.log_ratio", at.log_ratio, at.lost + at.gained, "log of a ratio", "wald")
            yield _count("sequential.pairs", at.pairs, pair.pairs)
    yield _count("pairs.needed", evidence.pairs_needed)
    yield _interval("median.step_ratio", pair.step_ratio, "ratio", "bootstrap of median")
    for (before, after), count in pair.migration.items():
        yield _count(f"migration.{before}.{after}", count, pair.pairs)


def _count(metric: str, count: int, among: int | None = None) -> _Number:
    return _Number(metric, "episodes", "count", count, among)


def _share(metric: str, share: Interval | None, method: str) -> _Number:
    found = _interval(metric, share, "share", method)
    return found._replace(numerator=numbers.events(share)) if share else found


def _interval(metric: str, value: Interval | None, unit: str, method: str) -> _Number:
    if value is None:
        return _Number(metric, unit, method, None, 0)
    high = value.high if isfinite(value.high) else None
    return _Number(metric, unit, method, None, value.n, value.estimate, value.low, high)


def _estimate(metric: str, value: float, count: int, unit: str, method: str) -> _Number:
    return _Number(metric, unit, method, None, count, value)
