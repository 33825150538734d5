"""Medians with their bootstrap intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agent_eval.reports.stats.resampling import CONFIDENCE, around, draws
from agent_eval.types import Interval


def bootstrap_median(values: Sequence[float], seed: int, confidence: float = CONFIDENCE) -> Interval:
    """Return the median with its percentile bootstrap interval; with one value the interval is that value.

    Raises:
        ValueError: there is no value, or one is not finite.
    """
    if not values:
        raise ValueError("a median needs at least one value; received none")
    data = np.array(values, dtype=np.float64)
    if not np.isfinite(data).all():
        raise ValueError(f"a median needs finite values; received {list(values)}")
    resampled = np.median(data[draws(len(data), seed)], axis=1)
    return around(float(np.median(data)), resampled, len(data), confidence)
