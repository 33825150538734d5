"""What somebody asks of a run before a build may go on, and whether its records show it. Draws nothing.

A requirement is a name, a build in brackets and, where the name is of a number, a comparison::

    non_inferior(w4a16)       success(w4a8) >= 0.6      decode_ratio(w4a8) >= 1.2      loop(w4a16) <= 0.1

A number has an interval. A requirement is met where all of the interval is on the right side, broken where all of it is
on the wrong one, and open in between: open is not met.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from agent_eval.errors import OperatorError, UnknownName
from agent_eval.reports.report import Report
from agent_eval.reports.summary import RATES, RateName
from agent_eval.types import BuildEvidence, Interval, PairedEvidence

Standing = Literal["met", "broken", "open"]

_FORM = re.compile(r"\s*([a-z_0-9]+)\s*\(\s*([^()\s]+)\s*\)\s*(?:(>=|<=)\s*(\S+)\s*)?")
_EXAMPLE = "`non_inferior(w4a16)` or `success(w4a8) >= 0.6`"


@dataclass(frozen=True)
class Requirement:
    """One thing that is asked of a run."""

    name: str
    build: str
    sign: Literal[">=", "<=", ""] = ""
    """Empty where the name is a question by itself."""
    bound: float = 0.0

    def __str__(self) -> str:
        return f"{self.name}({self.build})" + (f" {self.sign} {self.bound:g}" if self.sign else "")


class Finding(NamedTuple):
    """What a run's records say of a requirement."""

    requirement: Requirement
    standing: Standing
    why: str


def parse_requirement(text: str) -> Requirement:
    """Read a requirement.

    Raises:
        OperatorError: it has another form, or a number that is none.
        UnknownName: nothing has its name.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise OperatorError(
            f"the requirement {text!r} is not of the form NAME(BUILD), NAME(BUILD) >= NUMBER or NAME(BUILD) <= NUMBER",
            hint=f"such as {_EXAMPLE}",
        )
    name, build, sign, number = match.groups()
    if name in QUESTIONS:
        if sign:
            raise OperatorError(
                f"the requirement {text!r} compares {name!r} with a number; it is a question by itself",
                hint=f"require `{name}({build})`",
            )
        return Requirement(name, build)
    if name not in NUMBERS:
        raise UnknownName("requirement", name, (*QUESTIONS, *NUMBERS), hint=f"such as {_EXAMPLE}")
    if not sign:
        raise OperatorError(
            f"the requirement {text!r} does not say how much; {name!r} is a number",
            hint=f"require `{name}({build}) >= NUMBER` or `{name}({build}) <= NUMBER`",
        )
    return Requirement(name, build, ">=" if sign == ">=" else "<=", _number(text, number))


def _number(text: str, number: str) -> float:
    try:
        bound = float(number)
    except ValueError:
        bound = float("nan")
    if not abs(bound) < float("inf"):
        raise OperatorError(
            f"the requirement {text!r} compares with {number!r}, expected a number",
            hint="shares are written as 0.6, ratios as 1.2",
        )
    return bound


def check(report: Report, requirement: Requirement) -> Finding:
    """Hold a requirement against a run.

    Raises:
        UnknownName: the run has no such build.
        OperatorError: the requirement compares with the reference what is not compared with it.
    """
    known = [build.build for build in report.summary.builds]
    if requirement.build not in known:
        raise UnknownName("build", requirement.build, known, hint="require something of a build of this run")
    if requirement.name in QUESTIONS:
        pair = _pair(report, requirement)
        standing, why = QUESTIONS[requirement.name](pair)
        return Finding(requirement, standing, why)
    value = NUMBERS[requirement.name](report, requirement)
    if value is None:
        return Finding(requirement, "open", "nothing was measured")
    return Finding(requirement, _standing(value, requirement), _told(value))


# ----------------------------------------------------------------------------------------------------------------------
# what can be asked


def _non_inferior(pair: PairedEvidence) -> tuple[Standing, str]:
    why = (
        f"{pair.pairs} pairs, {pair.lost} lost, {pair.gained} gained; one-sided lower bound "
        f"{100 * pair.lower_bound:+.1f} points, margin {100 * pair.margin:g}"
    )
    if pair.verdict == "no worse":
        return "met", why
    if pair.verdict == "worse":
        return "broken", why
    return "open", f"{why}; about {pair.pairs_needed} more pairs are needed"


def _faster(pair: PairedEvidence) -> tuple[Standing, str]:
    if pair.speed_ratio is None:
        return "open", "no speed was measured"
    standing: Mapping[str, Standing] = {"faster": "met", "not measured": "open"}
    return standing.get(pair.speed_verdict, "broken"), f"{pair.speed_verdict}: {_told(pair.speed_ratio)}"


def _not_slower(pair: PairedEvidence) -> tuple[Standing, str]:
    if pair.speed_ratio is None:
        return "open", "no speed was measured"
    standing: Mapping[str, Standing] = {"slower": "broken", "not measured": "open"}
    return standing.get(pair.speed_verdict, "met"), f"{pair.speed_verdict}: {_told(pair.speed_ratio)}"


QUESTIONS: Mapping[str, Callable[[PairedEvidence], tuple[Standing, str]]] = {
    "non_inferior": _non_inferior,
    "faster": _faster,
    "not_slower": _not_slower,
}
"""What is asked of a build against the reference, and has an answer without a number."""


def _rate(name: RateName) -> Callable[[Report, Requirement], Interval | None]:
    def value(report: Report, requirement: Requirement) -> Interval | None:
        (build,) = (build for build in report.summary.builds if build.build == requirement.build)
        return build.rates[name]

    return value


def _evidence(value: Callable[[BuildEvidence], Interval | None]) -> Callable[[Report, Requirement], Interval | None]:
    def of_build(report: Report, requirement: Requirement) -> Interval | None:
        found = [build for build in report.evidence.builds if build.build == requirement.build]
        return value(found[0]) if found else None

    return of_build


def _decode_ratio(report: Report, requirement: Requirement) -> Interval | None:
    return _pair(report, requirement).speed_ratio


def _difference(report: Report, requirement: Requirement) -> Interval | None:
    pair = _pair(report, requirement)
    return pair.difference if pair.pairs else None


NUMBERS: Mapping[str, Callable[[Report, Requirement], Interval | None]] = {
    **{name: _rate(name) for name in RATES},
    "difference": _difference,
    "decode": _evidence(lambda build: build.decode_tokens_per_s),
    "prefill": _evidence(lambda build: build.prefill_tokens_per_s),
    "decode_ratio": _decode_ratio,
}
"""What has a number with an interval: every rate of the report, the difference of success to the reference, tokens per
second, and decode speed over the reference's."""


def _pair(report: Report, requirement: Requirement) -> PairedEvidence:
    pairs = {pair.build: pair for pair in report.evidence.pairs}
    if requirement.build not in pairs:
        standing = "is the reference itself" if requirement.build == report.summary.reference else "is no model's build"
        raise OperatorError(
            f"the requirement `{requirement}` compares a build with the reference; {requirement.build!r} {standing}",
            hint=f"builds of this run that are compared: {', '.join(pairs) or 'none'}",
        )
    return pairs[requirement.build]


def _standing(value: Interval, requirement: Requirement) -> Standing:
    least, most = value.low, value.high
    if requirement.sign == ">=":
        return "met" if least >= requirement.bound else "broken" if most < requirement.bound else "open"
    return "met" if most <= requirement.bound else "broken" if least > requirement.bound else "open"


def _told(value: Interval) -> str:
    return f"{value.estimate:.3g} [{value.low:.3g}, {value.high:.3g}], n = {value.n}"
