"""What a run shows of each build, sorted for one question: the standing of each, and what a priority prefers.

Reads evidence and computes none. A build is eligible only if its outcomes are no worse than the reference's at the
margin of the run, and its harm (reversal or over_execution) is known to stay under the cap: the one that was asked for,
else the reference's own upper bound plus that margin.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

from agent_eval.types import BuildEvidence, Evidence, Interval, MachineProbe, PairedEvidence, Priority

FAULT_LIMIT = 0.10
"""Share of a build's episodes lost to the harness above which the rest is not taken for the whole."""
NOT_IN_SIGHT = 10_000
"""From this many further pairs on, a verdict is said to be not in sight."""

# ----------------------------------------------------------------------------------------------------------------------
# the standing of a build

Standing = Literal["worse", "harmful", "undecided", "eligible"]


@dataclass(frozen=True)
class Candidate:
    """A build other than the reference, with all that the run shows of it."""

    outcome: BuildEvidence
    pair: PairedEvidence
    outcome_at: int
    """Its place in ``Evidence.builds``."""
    pair_at: int
    """Its place in ``Evidence.pairs``."""
    harm_cap: float
    """Share of episodes that harm must be known to stay under."""
    speed_counts: bool
    """The speeds were measured on this class of devices."""
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
        """It was measured faster than the reference on this class of devices."""
        return self.speed_counts and self.pair.speed_verdict == "faster" and self.pair.speed_ratio is not None

    @property
    def timed(self) -> bool:
        """There is a verdict on its speed on this class of devices."""
        return self.speed_counts and self.pair.speed_verdict != "not measured"

    @property
    def ratio(self) -> Interval:
        """Its speed over the reference's; 1 where no difference was measured."""
        ratio = self.pair.speed_ratio
        return ratio if ratio is not None and self.timed else _EQUAL_SPEED


_EQUAL_SPEED = Interval(1.0, 1.0, 1.0, 0)


def faulty(outcome: BuildEvidence) -> bool:
    """Tell whether too many of a build's episodes were lost to the harness."""
    return outcome.harness_errors > FAULT_LIMIT * (outcome.success.n + outcome.harness_errors)


STANDINGS: Mapping[Standing, Callable[[Candidate], bool]] = {
    "worse": lambda c: c.pair.verdict == "worse",
    "harmful": lambda c: c.outcome.harm.n > 0 and c.outcome.harm.low > c.harm_cap,
    "undecided": lambda c: (
        c.pair.verdict == "insufficient evidence" or c.outcome.harm.high > c.harm_cap or faulty(c.outcome)
    ),
    "eligible": lambda _: True,
}
"""Standing to test; the first that holds is the standing of a build."""

# ----------------------------------------------------------------------------------------------------------------------
# one question


@dataclass(frozen=True)
class Case:
    """One question to the selector, with its evidence sorted."""

    probe: MachineProbe
    priority: Priority
    evidence: Evidence
    reference: BuildEvidence
    reference_at: int
    """Its place in ``Evidence.builds``."""
    candidates: tuple[Candidate, ...]
    margin: float
    harm_cap: float
    """Share of episodes that the reference's own harm must be known to stay under."""
    cap_asked_for: bool
    """The cap was asked for, and does not follow from the reference."""

    def of(self, *standings: Standing) -> tuple[Candidate, ...]:
        """Return the builds of these standings, in the order of the run."""
        return tuple(candidate for candidate in self.candidates if candidate.standing in standings)

    @property
    def here(self) -> bool:
        """The evidence was measured on this class of devices."""
        return self.evidence.device_class == self.probe.device_class

    @property
    def reference_harmful(self) -> bool:
        """The reference itself does more harm than the cap that was asked for."""
        return self.cap_asked_for and self.reference.harm.n > 0 and self.reference.harm.low > self.harm_cap

    @property
    def reference_needed(self) -> int:
        """Further episodes until the reference's own harm is decided against the cap that was asked for."""
        return needed_for_harm(self.reference.harm, lambda _: self.harm_cap) if self.cap_asked_for else 0

    @property
    def fallback(self) -> str | None:
        """What is kept where nothing else may be advised: the reference, unless it is known to be harmful."""
        return None if self.reference_harmful else self.reference.build

    @property
    def pick(self) -> Candidate | None:
        """The eligible build that the priority prefers; None for the reference."""
        return _PREFERENCES[self.priority](self)

    @property
    def kept(self) -> str | None:
        """What is kept until more is known: the pick, else what there is to fall back on."""
        return self.pick.build if self.pick else self.fallback

    @property
    def open(self) -> tuple[Candidate, ...]:
        """The undecided builds that the priority might prefer to the pick if they were eligible."""
        return tuple(candidate for candidate in self.of("undecided") if _could_win(self, candidate))

    @property
    def untimed(self) -> tuple[Candidate, ...]:
        """The eligible builds between which only a missing measurement of speed could decide."""
        if self.priority == "fidelity" or (self.priority == "agentic" and better(self)):
            return ()
        among = self.of("eligible") if self.priority == "speed" else _level(self)
        return tuple(candidate for candidate in among if not candidate.timed)


def sort_evidence(
    probe: MachineProbe, priority: Priority, evidence: Evidence, harm_cap: float | None = None
) -> Case | None:
    """Sort the evidence; None where it holds no episode of the reference, judged or faulted.

    Args:
        probe: The machine that the build is to run on.
        priority: What matters most.
        evidence: Of a run.
        harm_cap: Share of episodes; by default the reference's upper bound plus the margin.
    """
    places = {build.build: place for place, build in enumerate(evidence.builds)}
    if evidence.reference not in places:
        return None
    reference = evidence.builds[places[evidence.reference]]
    if reference.success.n + reference.harness_errors == 0:
        return None
    candidates = []
    for pair_at, pair in enumerate(evidence.pairs):
        outcome = evidence.builds[places[pair.build]]
        candidates.append(
            Candidate(
                outcome=outcome,
                pair=pair,
                outcome_at=places[pair.build],
                pair_at=pair_at,
                harm_cap=_cap(reference.harm, pair, harm_cap)(0),
                speed_counts=evidence.device_class == probe.device_class,
                in_flight=evidence.in_flight,
                needed=max(pair.pairs_needed, needed_for_harm(outcome.harm, _cap(reference.harm, pair, harm_cap))),
            )
        )
    margin = max((pair.margin for pair in evidence.pairs), default=0.0)
    return Case(
        probe=probe,
        priority=priority,
        evidence=evidence,
        reference=reference,
        reference_at=places[evidence.reference],
        candidates=tuple(candidates),
        margin=margin,
        harm_cap=reference.harm.high + margin if harm_cap is None else harm_cap,
        cap_asked_for=harm_cap is not None,
    )


# ----------------------------------------------------------------------------------------------------------------------
# how many more


def _cap(reference: Interval, pair: PairedEvidence, harm_cap: float | None) -> Callable[[int], float]:
    """Return the cap as it would be after so many further pairs, at the rates seen."""
    if harm_cap is not None:
        return lambda _: harm_cap
    return lambda further: (
        (wilson_high(reference.estimate, reference.n + further) if further else reference.high) + pair.margin
    )


def needed_for_harm(harm: Interval, cap: Callable[[int], float]) -> int:
    """Return how many further episodes bring the upper bound of a build's harm under the cap, at the rates seen.

    Args:
        harm: Of the build.
        cap: What the cap is after so many further episodes.
    """
    if harm.n == 0 or harm.low > cap(0) or harm.high <= cap(0):
        return 0
    enough = (n for n in range(1, NOT_IN_SIGHT) if wilson_high(harm.estimate, harm.n + n) <= cap(n))
    return next(enough, NOT_IN_SIGHT)


_Z = NormalDist().inv_cdf(0.975)


def wilson_high(share: float, n: int) -> float:
    """Return the upper end of the 95 % Wilson interval."""
    centre = share + _Z**2 / (2 * n)
    reach = _Z * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    return (centre + reach) / (1 + _Z**2 / n)


# ----------------------------------------------------------------------------------------------------------------------
# what a priority prefers


def _fastest(among: Sequence[Candidate]) -> Candidate | None:
    """Return the fastest, or of those that overlap with it the one with the best outcomes; None if none is faster."""
    tied = _not_slower(among)
    return max(
        tied, key=lambda c: (c.pair.difference.estimate, -c.outcome.harm.estimate, c.ratio.estimate), default=None
    )


def _not_slower(among: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Return the fastest of those that are faster than the reference, and those that overlap with it in speed."""
    faster = [candidate for candidate in among if candidate.faster]
    best = max(faster, key=lambda c: c.ratio.estimate, default=None)
    return tuple(candidate for candidate in faster if best is not None and candidate.ratio.high >= best.ratio.low)


def _closest(case: Case) -> Candidate | None:
    """Return the build whose success has the highest lower bound, of those seen to succeed more than the reference.

    What cannot be told from the reference is tied with it, and a tie keeps the reference: it has lost nothing.
    """
    above = better(case)
    return max(above, key=lambda c: (c.outcome.success.low, -c.pair.lost, c.ratio.estimate), default=None)


def _best(case: Case) -> Candidate | None:
    """Return the build with better outcomes than the reference, else the fastest of those level with it."""
    above = better(case)
    if above:
        return max(above, key=lambda c: (c.pair.difference.estimate, -c.outcome.harm.estimate, c.ratio.estimate))
    return _fastest(_level(case))


def _behind(case: Case, candidate: Candidate) -> bool:
    """Its outcomes are behind the reference's, even if by less than the margin."""
    return candidate.pair.difference.high < 0 or candidate.outcome.harm.low > case.reference.harm.high


def better(case: Case) -> tuple[Candidate, ...]:
    """Return the eligible builds with better outcomes than the reference."""
    return tuple(c for c in case.of("eligible") if c.pair.difference.low > 0 and not _behind(case, c))


def _level(case: Case) -> tuple[Candidate, ...]:
    return tuple(c for c in case.of("eligible") if not _behind(case, c))


def _could_win(case: Case, candidate: Candidate) -> bool:
    among = case.of("eligible") if case.priority == "speed" else _level(case)
    not_slower = not candidate.timed or candidate in _not_slower((*among, candidate))
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
