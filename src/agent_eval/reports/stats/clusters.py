"""Instances of one task resemble each other: how much, what that costs, and intervals and tests that allow for it.

A cluster is the instances of one task (E. Miller, 2024, arXiv 2411.00640, on clustered errors of evaluations). Within a
cluster nothing is assumed to be independent; clusters are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import comb
from typing import NamedTuple

import numpy as np

from agent_eval.reports.stats.pairs import bonett_price
from agent_eval.reports.stats.resampling import CONFIDENCE, RESAMPLES, around, draws
from agent_eval.reports.stats.shares import Count, wilson
from agent_eval.types import Interval

MOST_ENUMERATED = 14
"""Tasks with a difference up to which ``sign_flip`` takes every combination of signs; beyond, it draws some."""


class Pairs(NamedTuple):
    """The pairs of one cluster: the same instances of one task with two builds."""

    lost: int
    """Pairs that only the reference passed."""
    gained: int
    """Pairs that only the build passed."""
    n: int


class _Cluster(NamedTuple):
    total: int
    """Sum of the values of a cluster."""
    squares: int
    """Sum of their squares."""
    n: int


def _correlation(clusters: Sequence[_Cluster]) -> float:
    """Return the ANOVA estimate of the correlation within clusters, at least 0."""
    used = [cluster for cluster in clusters if cluster.n > 0]
    trials = sum(cluster.n for cluster in used)
    if len(used) < 2 or trials == len(used):
        return 0.0
    mean = sum(cluster.total for cluster in used) / trials
    between = sum((each.total / each.n - mean) ** 2 * each.n for each in used) / (len(used) - 1)
    within = sum(each.squares - each.total**2 / each.n for each in used) / (trials - len(used))
    size = (trials - sum(each.n**2 for each in used) / trials) / (len(used) - 1)
    spread = between + (size - 1) * within
    return min(1.0, max(0.0, (between - within) / spread)) if spread > 0 else 0.0


def _worth(sizes: Sequence[int], correlation: float) -> float:
    """Return how many independent trials are worth as much as clusters of these sizes."""
    trials = sum(sizes)
    if trials == 0:
        return 0.0
    met = sum(size**2 for size in sizes) / trials
    return trials / (1 + (met - 1) * correlation)


# ----------------------------------------------------------------------------------------------------------------------
# one build


def intraclass_correlation(counts: Sequence[Count]) -> float:
    """Return how alike the trials of a cluster are, from 0 (as if independent) to 1 (one tells all).

    The ANOVA estimator for binary trials in clusters of unequal size (M. S. Ridout and others, 1999). A negative
    estimate becomes 0; so does one of a single cluster, of clusters with one trial each, or without any spread.
    """
    return _correlation([_Cluster(count.events, count.events, count.chances) for count in counts])


def effective_size(counts: Sequence[Count]) -> float:
    """Return how many independent trials are worth as much as those of the clusters.

    L. Kish (1965): n / (1 + (m - 1) * ICC), with m the size of a cluster as a trial meets it, so that it holds for
    clusters of unequal size.
    """
    return _worth([count.chances for count in counts], intraclass_correlation(counts))


def pass_hat(counts: Sequence[Count], k: int) -> float:
    """Return pass^k, the share of tasks of which k instances, drawn without replacement, are all passed.

    The mean over tasks of C(passed, k) / C(n, k) (S. Yao and others, 2024, tau-bench).

    Raises:
        ValueError: there is no task, or one has fewer than k instances.
    """
    _require_instances(counts, k)
    return sum(comb(count.events, k) / comb(count.chances, k) for count in counts) / len(counts)


def clustered_pass_hat(counts: Sequence[Count], k: int, seed: int, confidence: float = CONFIDENCE) -> Interval:
    """Return pass^k with an interval that resamples tasks; n is tasks.

    Where all tasks have the same chance resampling shows no spread; the interval is then Wilson's, with a trial a task.

    Raises:
        ValueError: there is no task, or one has fewer than k instances.
    """
    estimate = pass_hat(counts, k)
    chances = np.array([comb(count.events, k) / comb(count.chances, k) for count in counts])
    if (chances == chances[0]).all():
        plain = wilson(round(estimate * len(counts)), len(counts), confidence)
        return Interval(estimate, min(plain.low, estimate), max(plain.high, estimate), len(counts))
    return around(estimate, chances[draws(len(counts), seed)].mean(axis=1), len(counts), confidence)


def pass_at(counts: Sequence[Count], k: int) -> float:
    """Return pass@k, the share of tasks of which at least one of k instances, drawn without replacement, is passed.

    The mean over tasks of 1 - C(n - passed, k) / C(n, k) (M. Chen and others, 2021).

    Raises:
        ValueError: there is no task, or one has fewer than k instances.
    """
    _require_instances(counts, k)
    missed = sum(comb(count.chances - count.events, k) / comb(count.chances, k) for count in counts)
    return 1 - missed / len(counts)


def _require_instances(counts: Sequence[Count], k: int) -> None:
    fewest = min((count.chances for count in counts), default=0)
    if not 1 <= k <= fewest:
        raise ValueError(f"k is {k}, expected from 1 to the fewest instances of a task, {fewest}")


# ----------------------------------------------------------------------------------------------------------------------
# two builds


def effective_pairs(pairs: Sequence[Pairs]) -> float:
    """Return how many independent pairs tell as much about the difference as those of the clusters.

    As ``effective_size``, for the differences of pairs, each -1, 0 or 1: what two instances of a task share in success
    cancels in a pair, so this is mostly close to the number of pairs.
    """
    correlation = _correlation([_Cluster(each.gained - each.lost, each.gained + each.lost, each.n) for each in pairs])
    return _worth([each.n for each in pairs], correlation)


def clustered_difference(pairs: Sequence[Pairs], seed: int, confidence: float = CONFIDENCE) -> Interval:
    """Return the paired difference of shares, build minus reference, with an interval that resamples whole tasks.

    Where all tasks differ by as much, such as by nothing, resampling shows no spread; the interval is then
    Bonett-Price's with one pair a task.

    Raises:
        ValueError: there is no pair.
    """
    used = [each for each in pairs if each.n > 0]
    if not used:
        raise ValueError("a difference needs at least one pair; received none")
    net = np.array([each.gained - each.lost for each in used], dtype=np.int64)
    sizes = np.array([each.n for each in used], dtype=np.int64)
    total = int(sizes.sum())
    estimate = int(net.sum()) / total
    if (net * sizes[0] == net[0] * sizes).all():
        tasks = round(abs(estimate) * len(used))
        plain = bonett_price(tasks if estimate < 0 else 0, tasks if estimate > 0 else 0, len(used), confidence)
        return Interval(estimate, min(plain.low, estimate), max(plain.high, estimate), total)
    rows = draws(len(used), seed)
    resampled = net[rows].sum(axis=1) / sizes[rows].sum(axis=1)
    return around(estimate, resampled, total, confidence)


def sign_flip(pairs: Sequence[Pairs], seed: int) -> float:
    """Return the two-sided p-value of a permutation test over tasks: were the two builds alike, signs would be chance.

    The statistic is the sum over tasks of the mean difference within each. Every combination of signs is taken up to
    ``MOST_ENUMERATED`` tasks with a difference; beyond that many, as many as an interval has resamples are drawn, and
    the one that was seen is counted among them, so that p is never 0 (B. Phipson and G. Smyth, 2010).
    """
    means = np.array([(each.gained - each.lost) / each.n for each in pairs if each.gained != each.lost])
    if len(means) == 0:
        return 1.0
    seen = abs(means.sum()) - 1e-12  # sums of the same terms in another order differ in the last bits
    if len(means) <= MOST_ENUMERATED:
        signs = np.array(list(product((-1, 1), repeat=len(means))))
        return float((np.abs(signs @ means) >= seen).mean())
    signs = np.random.default_rng(seed).choice((-1, 1), size=(RESAMPLES, len(means)))
    return float(((np.abs(signs @ means) >= seen).sum() + 1) / (RESAMPLES + 1))
