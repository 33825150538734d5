"""Draws what the statistics are held against: outcomes whose true share, difference and correlation are known."""

from __future__ import annotations

import numpy as np

from agent_eval.reports.stats import Count, Pairs

LOST, GAINED, LEVEL = (True, False), (False, True), (True, True)
"""A pair as the sequential test takes it: whether the reference passed, and whether the build did."""


def beta_binomial(rng: np.random.Generator, clusters: int, size: int, mean: float, icc: float) -> list[Count]:
    """Draw clusters of trials that correlate so much: each has a chance of its own, drawn from a beta distribution."""
    if icc == 0:
        return [Count(int(events), size) for events in rng.binomial(size, mean, clusters)]
    total = (1 - icc) / icc
    return [Count(int(rng.binomial(size, rng.beta(mean * total, (1 - mean) * total))), size) for _ in range(clusters)]


def dirichlet_pairs(
    rng: np.random.Generator, clusters: int, size: int, lost: float, gained: float, icc: float
) -> list[Pairs]:
    """Draw clusters of pairs whose differences correlate so much.

    Each cluster has chances of its own of a pair lost, gained or level, drawn from a Dirichlet distribution around
    those given; two pairs of a cluster then correlate by 1 / (1 + the sum of its parameters).
    """
    chances = np.array([lost, gained, 1 - lost - gained])
    total = np.inf if icc == 0 else (1 - icc) / icc
    drawn = np.tile(chances, (clusters, 1)) if icc == 0 else rng.dirichlet(np.maximum(chances * total, 1e-9), clusters)
    return [Pairs(int(row[0]), int(row[1]), size) for row in rng.multinomial(size, drawn)]


def ordered_pairs(rng: np.random.Generator, n: int, lost: float, gained: float) -> list[tuple[bool, bool]]:
    """Draw independent pairs, in the order in which a run would play them."""
    return [LOST if draw < lost else GAINED if draw < lost + gained else LEVEL for draw in rng.random(n)]
