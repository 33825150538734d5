"""The selector: from a machine, a priority and the evidence of a run to the build that may be shipped. Needs no torch.

It reads evidence and computes none. First each build gets a standing (``STANDINGS``), then the first rule of ``RULES``
that fires gives the advice. A build is eligible only if its outcomes are no worse than the reference's at the margin of
the run, and its harm (reversal or over_execution) is known to stay under the cap: the reference's own upper bound plus
that margin. Whatever is not known keeps the safer build and is not conclusive. Every number in a reason is in the
evidence or follows from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, get_args

from agent_eval.errors import UnknownName
from agent_eval.types import BuildEvidence, Evidence, Interval, MachineProbe, PairedEvidence, Priority, Recommendation

REFERENCE = "bf16"
"""The build that is kept where nothing is known."""
FAULT_LIMIT = 0.10
"""Share of a build's episodes lost to the harness above which the rest is not taken for the whole."""
NOT_IN_SIGHT = 10_000
"""From this many further pairs on, a verdict is said to be not in sight."""

# ----------------------------------------------------------------------------------------------------------------------
# what to expect where nothing was measured


@dataclass(frozen=True)
class Expectation:
    """What the reference study leads one to expect of a class of machines."""

    fastest: str
    """The build expected to decode fastest."""
    why: str


_TINYGEMM = "the int4 kernel of PyTorch serves w4a16 on any x86 processor, and decoding is bound by reading the weights"

EXPECTATIONS: Mapping[str, Expectation] = {
    "x86-amx": Expectation("w4a8", "the int8 tiles of AMX serve 4-bit weights with 8-bit activations directly"),
    "x86-avx512": Expectation("w4a16", _TINYGEMM),
    "x86-avx2": Expectation("w4a16", _TINYGEMM),
    "x86-other": Expectation("w4a16", _TINYGEMM),
    "arm64": Expectation("w4a16", "decoding is bound by reading the weights; the study itself did not verify arm64"),
    "other": Expectation(REFERENCE, "nothing is known of this class of machines"),
}
"""Device class to expectation. None of this is evidence, and no advice that rests on it is conclusive."""

# ----------------------------------------------------------------------------------------------------------------------
# the standing of a build

Standing = Literal["worse", "harmful", "undecided", "eligible"]


@dataclass(frozen=True)
class Candidate:
    """A build other than the reference, with all that the run shows of it."""

    outcome: BuildEvidence
    pair: PairedEvidence
    harm_cap: float
    """Share of episodes that harm must be known to stay under."""
    speed_counts: bool
    """The speeds were measured on this class of machines."""
    in_flight: int
    """Episodes that were in flight together."""
    needed: int
    """Further pairs until outcome and harm are both decided, at the rates seen; 0 when they are."""

    @property
    def build(self) -> str:
        """Its name."""
        return self.pair.build

    @property
    def standing(self) -> Standing:
        """The first standing of ``STANDINGS`` that holds."""
        return next(standing for standing, holds in STANDINGS.items() if holds(self))

    @property
    def faster(self) -> bool:
        """It was measured faster than the reference on this class of machines."""
        return self.speed_counts and self.pair.speed_verdict == "faster" and self.pair.speed_ratio is not None

    @property
    def timed(self) -> bool:
        """There is a verdict on its speed on this class of machines."""
        return self.speed_counts and self.pair.speed_verdict != "not measured"

    @property
    def ratio(self) -> Interval:
        """Its speed over the reference's; 1 where no difference was measured."""
        ratio = self.pair.speed_ratio
        return ratio if ratio is not None and self.timed else _EQUAL_SPEED


_EQUAL_SPEED = Interval(1.0, 1.0, 1.0, 0)


def _faulty(outcome: BuildEvidence) -> bool:
    """Too many of a build's episodes were lost to the harness."""
    return outcome.harness_errors > FAULT_LIMIT * (outcome.success.n + outcome.harness_errors)


STANDINGS: Mapping[Standing, Callable[[Candidate], bool]] = {
    "worse": lambda c: c.pair.verdict == "worse",
    "harmful": lambda c: c.outcome.harm.n > 0 and c.outcome.harm.low > c.harm_cap,
    "undecided": lambda c: (
        c.pair.verdict == "insufficient evidence" or c.outcome.harm.high > c.harm_cap or _faulty(c.outcome)
    ),
    "eligible": lambda _: True,
}
"""Standing to test; the first that holds is the standing of a build."""

# ----------------------------------------------------------------------------------------------------------------------
# what a priority prefers


@dataclass(frozen=True)
class Case:
    """One question to the selector, with its evidence sorted."""

    probe: MachineProbe
    priority: Priority
    evidence: Evidence
    reference: BuildEvidence
    candidates: tuple[Candidate, ...]
    margin: float

    def of(self, *standings: Standing) -> tuple[Candidate, ...]:
        """Return the builds of these standings, in the order of the run."""
        return tuple(candidate for candidate in self.candidates if candidate.standing in standings)

    @property
    def here(self) -> bool:
        """The evidence was measured on this class of machines."""
        return self.evidence.device_class == self.probe.device_class

    @property
    def pick(self) -> Candidate | None:
        """The eligible build that the priority prefers; None for the reference."""
        return _PREFERENCES[self.priority](self)

    @property
    def open(self) -> tuple[Candidate, ...]:
        """The undecided builds that the priority might prefer to the pick if they were eligible."""
        return tuple(candidate for candidate in self.of("undecided") if _could_win(self, candidate))

    @property
    def untimed(self) -> tuple[Candidate, ...]:
        """The eligible builds between which only a missing measurement of speed could decide."""
        if self.priority == "fidelity" or (self.priority == "agentic" and _better(self)):
            return ()
        among = self.of("eligible") if self.priority == "speed" else _level(self)
        return tuple(candidate for candidate in among if not candidate.timed)


def _fastest(among: Sequence[Candidate]) -> Candidate | None:
    """Return the fastest, or of those that overlap with it the one with the best outcomes; None if none is faster."""
    faster = [candidate for candidate in among if candidate.faster]
    if not faster:
        return None
    best = max(faster, key=lambda c: c.ratio.estimate)
    tied = [candidate for candidate in faster if candidate.ratio.high >= best.ratio.low]
    return max(tied, key=lambda c: (c.pair.difference.estimate, -c.outcome.harm.estimate, c.ratio.estimate))


def _closest(case: Case) -> Candidate | None:
    """Return the build whose success has the highest lower bound, of those seen to succeed more than the reference.

    What cannot be told from the reference is tied with it, and a tie keeps the reference: it has lost nothing.
    """
    above = _better(case)
    return max(above, key=lambda c: (c.outcome.success.low, -c.pair.lost, c.ratio.estimate), default=None)


def _best(case: Case) -> Candidate | None:
    """Return the build with better outcomes than the reference, else the fastest of those level with it."""
    better = _better(case)
    if better:
        return max(better, key=lambda c: (c.pair.difference.estimate, -c.outcome.harm.estimate, c.ratio.estimate))
    return _fastest(_level(case))


def _behind(case: Case, candidate: Candidate) -> bool:
    """Its outcomes are behind the reference's, even if by less than the margin."""
    return candidate.pair.difference.high < 0 or candidate.outcome.harm.low > case.reference.harm.high


def _better(case: Case) -> tuple[Candidate, ...]:
    return tuple(c for c in case.of("eligible") if c.pair.difference.low > 0 and not _behind(case, c))


def _level(case: Case) -> tuple[Candidate, ...]:
    return tuple(c for c in case.of("eligible") if not _behind(case, c))


def _could_win(case: Case, candidate: Candidate) -> bool:
    pick = case.pick
    not_slower = not candidate.timed or (candidate.faster and (pick is None or candidate.ratio.high >= pick.ratio.low))
    match case.priority:
        case "speed":
            return not_slower
        case "fidelity":
            return not _behind(case, candidate)
        case "agentic":
            return not _behind(case, candidate) and (not_slower or candidate.pair.difference.low > 0)


_PREFERENCES: Mapping[Priority, Callable[[Case], Candidate | None]] = {
    "speed": lambda case: _fastest(case.of("eligible")),
    "fidelity": _closest,
    "agentic": _best,
}

# ----------------------------------------------------------------------------------------------------------------------
# the rules


@dataclass(frozen=True)
class Advice:
    """What a rule says, before the sentences on each build are added."""

    build: str | None
    conclusive: bool
    because: str
    pairs_needed: int = 0


@dataclass(frozen=True)
class Rule:
    """When it fires, in words and as a test, and what it then says."""

    name: str
    when: str
    fires: Callable[[Case], bool]
    advise: Callable[[Case], Advice]


def _reference_failed(case: Case) -> Advice:
    return Advice(
        None,
        False,
        f"No episode of {case.reference.build} was judged: the harness failed in all "
        f"{case.reference.harness_errors} of them, so nothing may be advised for this machine.",
    )


def _nothing_to_compare(case: Case) -> Advice:
    return Advice(
        case.reference.build,
        False,
        f"The run holds no build besides {case.reference.build}, so there is nothing to compare.",
    )


def _synthetic(case: Case) -> Advice:
    return Advice(
        case.reference.build,
        False,
        f"The weights of {case.evidence.model!r} are synthetic: its speeds count, its outcomes say nothing, so "
        f"{case.reference.build} is kept.",
    )


def _reference_faulty(case: Case) -> Advice:
    return Advice(
        case.reference.build,
        False,
        f"Insufficient evidence: the harness failed in {case.reference.harness_errors} episodes of "
        f"{case.reference.build} beside {case.reference.success.n} judged ones; mend that and run them again.",
    )


def _reference_too_weak(case: Case) -> Advice:
    return Advice(
        case.reference.build,
        False,
        f"Insufficient evidence: {case.reference.build} itself succeeds in {_share(case.reference.success)}, whose "
        f"lower bound is not above the margin of {_points(case.margin)} points, so no build could be seen to be worse; "
        f"this needs tasks that {case.reference.build} can do, or more of them.",
    )


def _insufficient(case: Case) -> Advice:
    kept = case.pick.build if case.pick else case.reference.build
    names = _names(case.open)
    are = "is" if len(case.open) == 1 else "are"
    needed = max(candidate.needed for candidate in case.open)
    return Advice(
        kept,
        False,
        f"Insufficient evidence: {names} {are} undecided and might be preferred for priority {case.priority}, so "
        f"{kept} is kept{' until then' if needed else ''}.",
        needed,
    )


def _speed_not_measured(case: Case) -> Advice:
    expected = EXPECTATIONS[case.probe.device_class]
    if not case.here:
        lack = "speed was not measured on this class of machines"
    elif case.evidence.in_flight > 1:
        lack = f"speed was measured with {case.evidence.in_flight} episodes in flight only"
    else:
        lack = "speed was not measured in enough blocks of this run"
    because = f"The outcomes of {_names(case.untimed)} are no worse, but {lack}; "
    if case.pick is None and expected.fastest in {candidate.build for candidate in case.untimed}:
        kept = expected.fastest
        because += f"{kept} is only expected to be fastest on {case.probe.device_class}, unverified: {expected.why}."
    else:
        kept = case.pick.build if case.pick else case.reference.build
        because += f"{kept} is kept until it is."
    return Advice(kept, False, because)


def _preferred(case: Case) -> Advice:
    pick = case.pick
    if pick is None:
        raise ValueError("the rule of the preferred build fired without one")
    rivals = [c for c in case.of("eligible") if c.faster and c.build != pick.build and _overlap(c.ratio, pick.ratio)]
    match case.priority:
        case "speed":
            because = (
                f"{pick.build} is the fastest build whose outcomes are no worse than those of {pick.pair.reference}"
            )
            if rivals:
                because += f"; {_names(rivals)} cannot be told from it in speed, and its outcomes are the better ones"
        case "fidelity":
            because = (
                f"{pick.build} succeeds more than {pick.pair.reference}, and its success has the highest lower bound"
            )
        case "agentic":
            because = (
                f"{pick.build} has better outcomes than {pick.pair.reference}"
                if pick in _better(case)
                else f"{pick.build} is level with {pick.pair.reference} in outcomes and harm, and it is faster"
            )
    return Advice(pick.build, True, because + ".")


def _keep_reference(case: Case) -> Advice:
    name = case.reference.build
    if not case.of("eligible"):
        because = f"No other build is eligible, so {name} is kept."
    else:
        lack = {
            "speed": f"is measured faster than {name}",
            "fidelity": f"is seen to succeed more than {name}, which has lost nothing",
            "agentic": f"has better outcomes than {name}, or level ones and more speed",
        }
        because = f"No eligible build {lack[case.priority]}, so {name} is kept."
    return Advice(name, True, because)


RULES: tuple[Rule, ...] = (
    Rule(
        "reference-failed",
        "no episode of the reference was judged, and the harness failed in some",
        lambda case: case.reference.success.n == 0,
        _reference_failed,
    ),
    Rule(
        "synthetic-weights",
        "the weights were drawn, not trained",
        lambda case: case.evidence.model_kind == "synthetic",
        _synthetic,
    ),
    Rule(
        "nothing-to-compare", "the run holds only the reference", lambda case: not case.candidates, _nothing_to_compare
    ),
    Rule(
        "too-many-faults",
        "the harness failed in more than a tenth of the reference's episodes",
        lambda case: _faulty(case.reference),
        _reference_faulty,
    ),
    Rule(
        "reference-too-weak",
        "the reference succeeds so rarely that no loss beyond the margin could show",
        lambda case: case.reference.success.low <= case.margin,
        _reference_too_weak,
    ),
    Rule(
        "insufficient-evidence",
        "an undecided build might be preferred to the pick",
        lambda case: bool(case.open),
        _insufficient,
    ),
    Rule(
        "speed-not-measured",
        "the priority asks for speed, and an eligible build has no verdict on it here",
        lambda case: bool(case.untimed),
        _speed_not_measured,
    ),
    Rule("preferred-build", "an eligible build is preferred", lambda case: case.pick is not None, _preferred),
    Rule("keep-reference", "nothing else holds", lambda _: True, _keep_reference),
)
"""The first rule that fires gives the advice. Without any evidence the advice is ``static-expectation``."""

STATIC_RULE = "static-expectation"


def select(probe: MachineProbe, priority: Priority, evidence: Evidence | None) -> Recommendation:
    """Recommend a build for a machine and a priority.

    Args:
        probe: The machine that the build is to run on.
        priority: ``speed``: the fastest eligible build. ``fidelity``: of the eligible builds seen to
            succeed more than the reference the one with the highest lower bound of success, else the reference.
            ``agentic``: better outcomes first, then speed.
        evidence: Of a run; None where there is none.

    Raises:
        UnknownName: there is no such priority.
    """
    if priority not in get_args(Priority):
        raise UnknownName("priority", priority, get_args(Priority))
    case = _case(probe, priority, evidence) if evidence is not None else None
    if case is None:
        return _without_evidence(probe, priority)
    rule = next(rule for rule in RULES if rule.fires(case))
    advice = rule.advise(case)
    return Recommendation(
        build=advice.build,
        conclusive=advice.conclusive,
        rule=rule.name,
        reasons=(advice.because, *(_account(candidate) for candidate in case.candidates), *_caveats(case)),
        pairs_needed=advice.pairs_needed,
    )


def _case(probe: MachineProbe, priority: Priority, evidence: Evidence) -> Case | None:
    """Sort the evidence; None where it holds no episode of the reference, judged or faulted."""
    outcomes = {build.build: build for build in evidence.builds}
    reference = outcomes.get(evidence.reference)
    if reference is None or reference.success.n + reference.harness_errors == 0:
        return None
    candidates = []
    for pair in evidence.pairs:
        outcome = outcomes[pair.build]
        candidates.append(
            Candidate(
                outcome=outcome,
                pair=pair,
                harm_cap=reference.harm.high + pair.margin,
                speed_counts=evidence.device_class == probe.device_class,
                in_flight=evidence.in_flight,
                needed=max(pair.pairs_needed, _needed_for_harm(outcome.harm, reference.harm, pair.margin)),
            )
        )
    margin = max((pair.margin for pair in evidence.pairs), default=0.0)
    return Case(probe, priority, evidence, reference, tuple(candidates), margin)


def _without_evidence(probe: MachineProbe, priority: Priority) -> Recommendation:
    expected = EXPECTATIONS[probe.device_class]
    if priority == "speed":
        build = expected.fastest
        because = f"{build} is expected to decode fastest on {probe.device_class}: {expected.why}."
    else:
        build = REFERENCE
        because = f"{build} is kept: no other build has been shown to do the tasks no worse."
    return Recommendation(
        build=build,
        conclusive=False,
        rule=STATIC_RULE,
        reasons=(
            because,
            "Unverified: there is no evidence, only what the reference study leads one to expect of this class of "
            "machines; run the builds on this machine to know.",
        ),
    )


def _needed_for_harm(build: Interval, reference: Interval, margin: float) -> int:
    """Return how many further episodes bring a build's upper bound of harm under the cap, at the rates seen."""
    if build.n == 0 or build.low > reference.high + margin or build.high <= reference.high + margin:
        return 0

    def enough(further: int) -> bool:
        cap = _wilson_high(reference.estimate, reference.n + further) + margin
        return _wilson_high(build.estimate, build.n + further) <= cap

    return next((further for further in range(1, NOT_IN_SIGHT) if enough(further)), NOT_IN_SIGHT)


def _wilson_high(share: float, n: int) -> float:
    """Return the upper end of the 95 % Wilson interval."""
    z = NormalDist().inv_cdf(0.975)
    centre = share + z**2 / (2 * n)
    reach = z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return (centre + reach) / (1 + z**2 / n)


# ----------------------------------------------------------------------------------------------------------------------
# sentences


def _account(candidate: Candidate) -> str:
    """Say in sentences how one build stands, and on what numbers."""
    pair, outcome = candidate.pair, candidate.outcome
    if pair.pairs == 0:
        return (
            f"{pair.build} has no pair with {pair.reference}: {outcome.success.n} of its episodes were judged, and the "
            f"harness failed in {outcome.harness_errors}."
        )
    stands = {
        "worse": f"is worse than {pair.reference} by more than the margin of {_points(pair.margin)} points",
        "harmful": "does more harm than the cap allows",
        "undecided": "is undecided",
        "eligible": f"is no worse than {pair.reference} at the margin of {_points(pair.margin)} points",
    }[candidate.standing]
    sentences = [
        f"{pair.build} {stands}: its success differs by {_difference(pair.difference)} points over {pair.pairs} pairs "
        f"({pair.lost} lost, {pair.gained} gained; one-sided lower bound {_signed(pair.lower_bound)})",
        f"harm {_share(outcome.harm)}, cap {_percent(candidate.harm_cap)}",
    ]
    text = ", with ".join(sentences) + "."
    if candidate.standing == "undecided":
        text += " " + _what_is_missing(candidate)
    if _faulty(outcome):
        text += f" The harness failed in {outcome.harness_errors} of its episodes, too many to leave out."
    return f"{text} {_speed(candidate)}"


def _what_is_missing(candidate: Candidate) -> str:
    if candidate.needed == 0:
        return "More pairs are not what it lacks."
    if candidate.needed >= NOT_IN_SIGHT:
        return "At the rates seen, no number of pairs worth running would decide it."
    return f"At the rates seen, it needs about {candidate.needed} further pairs."


def _speed(candidate: Candidate) -> str:
    pair, ratio = candidate.pair, candidate.pair.speed_ratio
    if not candidate.speed_counts:
        return "Its speed on this class of machines was not measured."
    if ratio is None:
        return f"Its speed {'one episode at a time ' if candidate.in_flight > 1 else ''}was not measured."
    figures = f"{ratio.estimate:.2f} times the tokens per second [{ratio.low:.2f}, {ratio.high:.2f}], {ratio.n} blocks"
    match pair.speed_verdict:
        case "faster" | "slower":
            return f"It decodes {pair.speed_verdict} than {pair.reference}: {figures}."
        case "no measured difference":
            return f"Its speed shows no measured difference from {pair.reference}: {figures}."
        case "not measured":
            return f"Its speed was timed in too few blocks for a verdict: {figures}."


def _caveats(case: Case) -> tuple[str, ...]:
    evidence = case.evidence
    caveats = [
        f"The reference {evidence.reference} succeeds in {_share(case.reference.success)}, with harm in "
        f"{_share(case.reference.harm)}."
    ]
    if not case.here:
        caveats.append(
            f"The evidence was measured on {evidence.device_class}, this machine is {case.probe.device_class}: its "
            "outcomes count, its speeds do not."
        )
    if evidence.engine == "vllm":
        caveats.append(
            "All of it was measured in vLLM, whose kernels and rounding are its own: it advises a build to be served "
            "with vLLM. For other ways to run the builds, measure them with --engine torch."
        )
    if evidence.in_flight > 1:
        caveats.append(
            f"Speed was measured with {evidence.in_flight} episodes in flight; it says nothing of one at a time. Run "
            "the same builds with --concurrency 1 in a new run folder to measure that."
        )
    if evidence.model_kind == "embedded":
        caveats.append(
            f"This is a measurement of {evidence.model}, the small embedded model, and of no other: for another "
            "checkpoint, run its own builds."
        )
    if evidence.model_kind == "constructed":
        caveats.append(
            f"{evidence.model} is CONSTRUCTED to be hard to quantise, for tests: for another checkpoint, run its own "
            "builds."
        )
    return tuple(caveats)


def _overlap(one: Interval, other: Interval) -> bool:
    return one.low <= other.high and other.low <= one.high


def _names(candidates: Sequence[Candidate]) -> str:
    names = [candidate.build for candidate in candidates]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def _points(share: float) -> str:
    return f"{100 * share:.0f}"


def _signed(share: float) -> str:
    points = round(100 * share)
    return f"{points:+d}" if points else "0"


def _percent(share: float) -> str:
    return f"{100 * min(share, 1.0):.0f} %"


def _share(interval: Interval) -> str:
    if interval.n == 0:
        return "unknown (no episode)"
    return f"{_percent(interval.estimate)} [{_points(interval.low)}, {_points(interval.high)}] of {interval.n} episodes"


def _difference(interval: Interval) -> str:
    return f"{_signed(interval.estimate)} [{_signed(interval.low)}, {_signed(interval.high)}]"
