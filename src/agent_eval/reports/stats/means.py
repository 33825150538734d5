"""Means and quantiles of numbers that come in clusters, such as the tokens of one episode.

Percentile bootstrap over whole clusters; within a cluster nothing is assumed to be independent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agent_eval.reports.stats.resampling import CONFIDENCE, around, draws
from agent_eval.types import Interval

Numbers = Sequence[float] | NDArray[np.float64]

QUANTILE_RESAMPLES = 2_000
"""Fewer than for means: each sorts every number anew."""

_ROWS = 64  # resamples that are weighed at once; bounds the memory


def clustered_mean(clusters: Sequence[Numbers], seed: int, confidence: float = CONFIDENCE) -> Interval:
    """Return the mean over all numbers, with an interval that resamples whole clusters.

    Where all clusters have the same mean, such as none, the interval is that mean: unlike a share's, nothing bounds
    what another cluster could have had.

    Raises:
        ValueError: there is no number, or one is not finite.
    """
    used = _used(clusters)
    sums = np.array([float(each.sum()) for each in used])
    sizes = np.array([len(each) for each in used], dtype=np.int64)
    rows = draws(len(used), seed)
    resampled = sums[rows].sum(axis=1) / sizes[rows].sum(axis=1)
    return around(float(sums.sum() / sizes.sum()), resampled, int(sizes.sum()), confidence)


def clustered_quantiles(
    clusters: Sequence[Numbers], shares: Sequence[float], seed: int, confidence: float = CONFIDENCE
) -> tuple[Interval, ...]:
    """Return quantiles over all numbers, each with an interval that resamples whole clusters.

    A quantile is the least number that so large a share of all numbers does not exceed (``inverted_cdf`` in NumPy): one
    of the numbers, never between two.

    Args:
        clusters: The numbers.
        shares: Which quantiles, such as 0.95.
        seed: Of the bootstrap.
        confidence: Of the two-sided intervals.

    Raises:
        ValueError: there is no number, or one is not finite.
    """
    used = _used(clusters)
    numbers = np.concatenate(used)
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    cluster_of = np.repeat(np.arange(len(used)), [len(each) for each in used])[order]
    rows = draws(len(used), seed)[:QUANTILE_RESAMPLES]
    found = [
        _weighted(ordered, cluster_of, _times(rows[start : start + _ROWS], len(used)), shares)
        for start in range(0, len(rows), _ROWS)
    ]
    resampled = np.concatenate(found)
    estimates = _weighted(ordered, cluster_of, np.ones((1, len(used)), dtype=np.int64), shares)[0]
    return tuple(
        around(float(estimate), resampled[:, place], len(numbers), confidence)
        for place, estimate in enumerate(estimates)
    )


def _used(clusters: Sequence[Numbers]) -> list[NDArray[np.float64]]:
    used = [np.asarray(each, dtype=np.float64) for each in clusters if len(each)]
    if not used:
        raise ValueError("a mean needs at least one number; received none")
    if not all(np.isfinite(each).all() for each in used):
        raise ValueError("a mean needs finite numbers; received one that is not")
    return used


def _times(rows: NDArray[np.int64], clusters: int) -> NDArray[np.int64]:
    """Return how often each resample drew each cluster, (resamples, clusters)."""
    return np.stack([np.bincount(row, minlength=clusters) for row in rows])


def _weighted(
    ordered: NDArray[np.float64], cluster_of: NDArray[np.int64], times: NDArray[np.int64], shares: Sequence[float]
) -> NDArray[np.float64]:
    """Return quantiles of numbers in order, each counted as often as its cluster was drawn, (resamples, shares)."""
    up_to = times[:, cluster_of].cumsum(axis=1)  # (resamples, numbers)
    found = np.empty((len(times), len(shares)))
    for place, share in enumerate(shares):
        # the first number at which enough have been counted; a little less than enough is rounding
        needed = share * up_to[:, -1:] - 1e-9
        found[:, place] = ordered[(up_to >= needed).argmax(axis=1)]
    return found
