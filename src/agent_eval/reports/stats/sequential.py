"""A test that may stop as soon as the pairs seen so far decide: Wald's, on discordant pairs.

A. Wald (1945), sequential probability ratio test. Under the null hypothesis a discordant pair is as likely lost as
gained; under the other, it is lost three times in four. The order of the pairs must be settled before the first.

It speaks of the discordant pairs alone: a build that loses three of five of them may pass for level, and where many are
discordant that is a large difference; and where few are, one that loses nearly all of them is still within the margin.
With a margin, either verdict also waits until the bound of the difference clears it. As the bound is looked at after
every pair, it is one of ``EARLY`` confidence.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from agent_eval.reports.stats.clusters import Pairs, effective_pairs
from agent_eval.reports.stats.pairs import lower_bound, upper_bound
from agent_eval.types import SequentialVerdict, Verdict

LOST_IF_WORSE = 0.75
"""Share of discordant pairs that are lost if the build is worse by as much as should not be missed."""
ERROR = 0.05
"""Chance of either wrong verdict, in Wald's test alone."""
EARLY = 0.995
"""One-sided confidence of the bound that a verdict with a margin waits for. With one of 95 %, looked at after every
pair, a build that loses just the margin passes for no worse in up to a quarter of runs; with this in less than a tenth
(``benchmarks/simulations.py``)."""
_BOUND = math.log((1 - ERROR) / ERROR)
_LOST = math.log(LOST_IF_WORSE / 0.5)
_GAINED = math.log((1 - LOST_IF_WORSE) / 0.5)


def sequential_test(
    pairs: Sequence[tuple[bool, bool]], margin: float | None = None, tasks: Sequence[str] = ()
) -> SequentialVerdict:
    """Test pairs in their order, and stop at the first that decides.

    Args:
        pairs: Whether the reference passed, and whether the build did; in the order settled before the first.
        margin: Non-inferiority margin, a positive share, that a verdict must clear too; None for Wald's test alone.
        tasks: Of each pair, where several are of one task and so worth less than independent ones.
    """
    seen = lost = gained = 0
    ratio = 0.0
    side: Verdict = "insufficient evidence"  # of Wald's test; what comes after does not take it back
    seen_of: dict[str, Pairs] = {}
    for (reference, build), task in zip(pairs, tasks or map(str, range(len(pairs))), strict=True):
        lose, gain = reference and not build, build and not reference
        seen, lost, gained = seen + 1, lost + lose, gained + gain
        before = seen_of.get(task, Pairs(0, 0, 0))
        seen_of[task] = Pairs(before.lost + lose, before.gained + gain, before.n + 1)
        if side == "insufficient evidence":
            ratio = lost * _LOST + gained * _GAINED
            side = "worse" if ratio >= _BOUND else "no worse" if ratio <= -_BOUND else side
        if side != "insufficient evidence" and (
            margin is None or _cleared(lost, gained, seen_of.values(), margin) == side
        ):
            return SequentialVerdict(side, seen, lost, gained, ratio, _BOUND)
    return SequentialVerdict("insufficient evidence", seen, lost, gained, ratio, _BOUND)


def _cleared(lost: int, gained: int, of_tasks: Collection[Pairs], margin: float) -> Verdict:
    """Say on which side of the margin the difference is, with the confidence of an early verdict."""
    seen, worth = sum(each.n for each in of_tasks), effective_pairs(tuple(of_tasks))
    if lower_bound(lost, gained, seen, EARLY, worth=worth) > -margin:
        return "no worse"
    if upper_bound(lost, gained, seen, EARLY, worth=worth) < -margin:
        return "worse"
    return "insufficient evidence"
