"""Pairs, the same instance with two builds: tests, intervals of the difference, non-inferiority, pairs still needed.

Q. McNemar (1947), exact; several tests: S. Holm (1979); D. G. Bonett and R. M. Price (2012), adjusted Wald interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

from agent_eval.reports.stats.resampling import CONFIDENCE
from agent_eval.types import Interval, Verdict

POWER = 0.80
"""The chance of a verdict that ``pairs_needed`` plans for."""
MOST_PAIRS = 10_000
"""``pairs_needed`` stops counting here: a verdict is not in sight."""
ASSUMED_DISCORDANCE = 0.2
"""Share of discordant pairs that ``pairs_needed`` plans with before a pair was seen, half of them lost."""

UNKNOWN_DIFFERENCE = Interval(estimate=0.0, low=-1.0, high=1.0, n=0)
"""What is known of a difference of shares when there is no pair."""


def mcnemar(lost: int, gained: int) -> float:
    """Return the two-sided p-value of the exact McNemar test; 1 when no pair is discordant.

    Args:
        lost: Pairs that only the reference passed.
        gained: Pairs that only the build passed.

    Raises:
        ValueError: a count is negative.
    """
    if lost < 0 or gained < 0:
        raise ValueError(f"counts of pairs cannot be negative; received lost={lost}, gained={gained}")
    if lost + gained == 0:
        return 1.0
    from scipy.stats import binomtest

    return float(binomtest(min(lost, gained), lost + gained, 0.5).pvalue)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return p-values adjusted by Holm's step-down procedure, in the order given; empty for none."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = highest
    return tuple(adjusted)


def bonett_price(
    lost: int, gained: int, n: int, confidence: float = CONFIDENCE, *, worth: float | None = None
) -> Interval:
    """Return the paired difference of shares, build minus reference, with its Bonett-Price interval.

    The estimate is the plain (gained - lost) / n; the interval is centred on the adjusted one.

    Args:
        lost: Pairs that only the reference passed.
        gained: Pairs that only the build passed.
        n: Pairs.
        confidence: Of the two-sided interval.
        worth: Independent pairs that tell as much as the n do (``effective_pairs``); n where None. The interval is
            that of so many pairs, lost and gained at the same rates. So in all functions here.

    Raises:
        ValueError: n is 0, or the discordant pairs exceed n.
    """
    _require_pairs(lost, gained, n)
    adjusted = _adjusted(lost, gained, n, worth)
    reach = _z((1 + confidence) / 2) * adjusted.error
    return Interval(
        (gained - lost) / n,
        max(-1.0, adjusted.difference - reach),
        min(1.0, adjusted.difference + reach),
        n,
    )


def lower_bound(lost: int, gained: int, n: int, confidence: float = CONFIDENCE, *, worth: float | None = None) -> float:
    """Return the one-sided Bonett-Price lower bound of the paired difference; -1 when there is no pair."""
    if n == 0:
        return -1.0
    _require_pairs(lost, gained, n)
    adjusted = _adjusted(lost, gained, n, worth)
    return max(-1.0, adjusted.difference - _z(confidence) * adjusted.error)


def upper_bound(lost: int, gained: int, n: int, confidence: float = CONFIDENCE, *, worth: float | None = None) -> float:
    """Return the one-sided Bonett-Price upper bound of the paired difference; 1 when there is no pair."""
    if n == 0:
        return 1.0
    _require_pairs(lost, gained, n)
    adjusted = _adjusted(lost, gained, n, worth)
    return min(1.0, adjusted.difference + _z(confidence) * adjusted.error)


def non_inferiority(lost: int, gained: int, n: int, margin: float, *, worth: float | None = None) -> Verdict:
    """Say whether a build is no worse than the reference, worse by more than the margin, or not yet known to be either.

    ``no worse``: the one-sided 95 % lower bound of the difference is above -margin. ``worse``: the one-sided 95 % upper
    bound is below it. Otherwise, and without pairs, ``insufficient evidence``.

    Raises:
        ValueError: the margin is not between 0 and 1.
    """
    _require_margin(margin)
    if lower_bound(lost, gained, n, worth=worth) > -margin:
        return "no worse"
    if upper_bound(lost, gained, n, worth=worth) < -margin:
        return "worse"
    return "insufficient evidence"


def pairs_needed(
    lost: int, gained: int, n: int, margin: float, power: float = POWER, *, worth: float | None = None
) -> int:
    """Return how many further pairs a verdict needs, if pairs go on to be lost and gained at the rates seen.

    The answer is the smallest total N, less n, at which the Bonett-Price bound clears -margin with the given power:
    ``|d(N) + margin| >= (z(0.95) + z(power)) * error(N)``, where d and error are the adjusted values at the expected
    counts of N pairs. It is 0 exactly when there is a verdict; more pairs at the same rates never raise it; it is at
    most ``MOST_PAIRS``, which is also the answer where the difference seen lies on the margin itself. Before the first
    pair it plans with ``ASSUMED_DISCORDANCE``. Where pairs are worth less than independent ones, so are further ones.

    Raises:
        ValueError: the margin is not between 0 and 1, or the discordant pairs exceed n.
    """
    if non_inferiority(lost, gained, n, margin, worth=worth) != "insufficient evidence":
        return 0
    half = ASSUMED_DISCORDANCE / 2
    lost_rate, gained_rate = (lost / n, gained / n) if n else (half, half)
    side = gained_rate - lost_rate + margin
    if side == 0:
        return MOST_PAIRS
    reach = _z(CONFIDENCE) + _z(power)
    each = worth / n if worth is not None and n else 1.0

    def enough(total: int) -> bool:
        at = _adjusted(lost_rate * total, gained_rate * total, total, each * total)
        return math.copysign(1.0, side) * (at.difference + margin) >= reach * at.error

    low, high = n, n + MOST_PAIRS  # low is never enough, or there would be a verdict
    if not enough(high):
        return MOST_PAIRS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high - n


class _Adjusted(NamedTuple):
    difference: float
    error: float


def _adjusted(lost: float, gained: float, n: float, worth: float | None = None) -> _Adjusted:
    """Add one pair to each discordant cell and two to all, as Bonett and Price do; of the pairs that n are worth."""
    pairs = n if worth is None else worth
    difference = (gained - lost) / n * pairs / (pairs + 2)
    discordance = ((lost + gained) / n * pairs + 2) / (pairs + 2)
    return _Adjusted(difference, math.sqrt(max(0.0, discordance - difference**2) / (pairs + 2)))


def _z(probability: float) -> float:
    return NormalDist().inv_cdf(probability)


def _require_pairs(lost: int, gained: int, n: int) -> None:
    if n < 1 or lost < 0 or gained < 0 or lost + gained > n:
        raise ValueError(f"pairs need n >= 1 and 0 <= lost + gained <= n; received lost={lost}, gained={gained}, n={n}")


def _require_margin(margin: float) -> None:
    if not 0 < margin < 1:
        raise ValueError(f"a margin is a share between 0 and 1, such as 0.10; received {margin}")
