"""One share: its interval, where trials are independent and where they come in clusters.

E. B. Wilson (1927), score interval, as in ``scipy.stats``; percentile bootstrap over clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from agent_eval.reports.stats.resampling import CONFIDENCE, around, draws
from agent_eval.types import Interval

UNKNOWN_SHARE = Interval(estimate=0.0, low=0.0, high=1.0, n=0)
"""What is known of a share when nothing was counted. The estimate is a placeholder: read ``n`` first."""


class Count(NamedTuple):
    """Events among chances, within one cluster such as an episode or the instances of a task."""

    events: int
    chances: int


def wilson(k: int, n: int, confidence: float = CONFIDENCE) -> Interval:
    """Return the share k/n with its Wilson score interval.

    Raises:
        ValueError: n is 0, or k is not between 0 and n.
    """
    if not 0 <= k <= n or n == 0:
        raise ValueError(f"a share needs 0 <= k <= n and n >= 1; received k={k}, n={n}")
    from scipy.stats import binomtest  # takes most of a second to import

    low, high = binomtest(k, n).proportion_ci(confidence, method="wilson")
    return Interval(k / n, max(0.0, float(low)), min(1.0, float(high)), n)


def cost_per_event(costs: Sequence[float], events: Sequence[bool], seed: int) -> Interval:
    """Return all costs over the number of events, with a percentile bootstrap interval over trials; n is events.

    Resamples without an event cost infinitely much: with three events or fewer the interval has no upper end.

    Args:
        costs: Of each trial, whether it ended in the event or not.
        events: Whether each trial did.
        seed: Of the bootstrap.

    Raises:
        ValueError: there is no event.
    """
    happened = np.array(events, dtype=np.int64)
    total = int(happened.sum())
    if total == 0:
        raise ValueError("a cost per event needs at least one event; received none")
    rows = draws(len(happened), seed)
    spent, events_in = np.array(costs, dtype=np.float64)[rows].sum(axis=1), happened[rows].sum(axis=1)
    resampled = np.divide(spent, events_in, out=np.full(len(rows), np.inf), where=events_in > 0)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail], method="higher")  # between a number and infinity lies none
    estimate = float(np.sum(np.array(costs, dtype=np.float64))) / total
    return Interval(estimate, min(float(low), estimate), max(float(high), estimate), total)


def clustered_share(counts: Sequence[Count], seed: int, confidence: float = CONFIDENCE) -> Interval:
    """Return the pooled share of events among chances, with an interval that resamples whole clusters.

    Turns of one episode are not independent, so a Wilson interval over turns would be too narrow. Where all clusters
    have the same share, such as none, resampling shows no spread; the interval is then Wilson's with one trial per
    cluster.

    Args:
        counts: One per cluster; clusters without chances are left out.
        seed: Of the bootstrap.
        confidence: Of the two-sided interval.

    Raises:
        ValueError: there is no chance at all, or a count has more events than chances.
    """
    used = [count for count in counts if count.chances > 0]
    for count in counts:
        if not 0 <= count.events <= count.chances:
            raise ValueError(f"a cluster needs 0 <= events <= chances; received {count}")
    if not used:
        raise ValueError("a share needs at least one chance; received none")
    events = np.array([count.events for count in used], dtype=np.int64)
    chances = np.array([count.chances for count in used], dtype=np.int64)
    total, of = int(events.sum()), int(chances.sum())
    if (events * chances[0] == events[0] * chances).all():
        plain = wilson(round(total / of * len(used)), len(used), confidence)
        return Interval(total / of, min(plain.low, total / of), max(plain.high, total / of), of)
    rows = draws(len(used), seed)
    return around(total / of, events[rows].sum(axis=1) / chances[rows].sum(axis=1), of, confidence)
