"""The bootstrap that every resampled interval here uses: percentiles, with the seed that the caller passes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agent_eval.types import Interval

CONFIDENCE = 0.95
RESAMPLES = 10_000


def draws(count: int, seed: int) -> NDArray[np.int64]:
    """Return which of so many units each resample consists of, (RESAMPLES, count)."""
    return np.random.default_rng(seed).integers(0, count, size=(RESAMPLES, count))


def around(estimate: float, resampled: NDArray[np.float64], n: int, confidence: float = CONFIDENCE) -> Interval:
    """Return an estimate with the percentile interval of its resamples; the interval holds the estimate."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail])
    return Interval(estimate, min(float(low), estimate), max(float(high), estimate), n)
