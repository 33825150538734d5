"""What a number of pairs can show: the power of the exact test and of non-inferiority, computed without simulation."""

from __future__ import annotations

import math

import numpy as np

from agent_eval.reports.stats.pairs import POWER, lower_bound
from agent_eval.reports.stats.resampling import CONFIDENCE

ALPHA = round(1 - CONFIDENCE, 10)
MOST = 1000
"""``pairs_for_mcnemar`` looks no further."""


def mcnemar_power(n: int, lost_rate: float, gained_rate: float, alpha: float = ALPHA) -> float:
    """Return the chance that the two-sided exact McNemar test of n pairs finds a difference.

    Args:
        n: Pairs.
        lost_rate: Chance of a pair that only the reference passes.
        gained_rate: Chance of a pair that only the build passes.
        alpha: Largest p-value that counts as a finding.

    Raises:
        ValueError: n is below 1, or the rates are no chances.
    """
    _require(n, lost_rate, gained_rate)
    from scipy.stats import binom

    discordance = lost_rate + gained_rate
    if discordance == 0:
        return 0.0
    discordant = np.arange(n + 1)
    chance = binom.pmf(discordant, n, discordance)
    # the largest count in the rarer cell that is still a finding; -1 where none is
    least = binom.ppf(alpha / 2, discordant, 0.5)
    least = np.where(2 * binom.cdf(least, discordant, 0.5) <= alpha * (1 + 1e-12), least, least - 1)
    share = lost_rate / discordance
    found = binom.cdf(least, discordant, share) + binom.sf(discordant - least - 1, discordant, share)
    return float((chance * np.where(least >= 0, found, 0.0)).sum())


def pairs_for_mcnemar(lost_rate: float, gained_rate: float, power: float = POWER, alpha: float = ALPHA) -> int | None:
    """Return the fewest pairs from which on the exact test has the power; None where ``MOST`` do not suffice.

    The power of an exact test does not rise evenly with n: the answer is the first n from which it never falls below.

    Raises:
        ValueError: the rates are no chances.
    """
    enough = None
    most = 50
    while most < MOST and mcnemar_power(most, lost_rate, gained_rate, alpha) < (1 + power) / 2:
        most *= 2  # well above it, where it no longer dips below
    for n in range(min(most, MOST), 0, -1):
        if mcnemar_power(n, lost_rate, gained_rate, alpha) < power:
            return enough
        enough = n
    return enough


def non_inferiority_power(n: int, lost_rate: float, gained_rate: float, margin: float) -> float:
    """Return the chance that n pairs show a build to be no worse than the reference by the margin.

    Raises:
        ValueError: n is below 1, or the rates are no chances.
    """
    _require(n, lost_rate, gained_rate)
    from scipy.stats import binom

    discordance = lost_rate + gained_rate
    chances = binom.pmf(np.arange(n + 1), n, discordance)
    share = lost_rate / discordance if discordance else 0.0
    total = 0.0
    for discordant, chance in enumerate(chances):
        # with more lost among as many discordant pairs the bound only falls
        low, high = -1, discordant
        while low < high:
            middle = math.ceil((low + high) / 2)
            if lower_bound(middle, discordant - middle, n) > -margin:
                low = middle
            else:
                high = middle - 1
        total += float(chance) * float(binom.cdf(low, discordant, share)) if low >= 0 else 0.0
    return total


def _require(n: int, lost_rate: float, gained_rate: float) -> None:
    if n < 1 or lost_rate < 0 or gained_rate < 0 or lost_rate + gained_rate > 1:
        raise ValueError(
            "power needs n >= 1 and rates that are chances of one pair; "
            f"received n={n}, lost {lost_rate}, gained {gained_rate}"
        )
