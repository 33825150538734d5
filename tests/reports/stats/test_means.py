"""Held against NumPy and SciPy, and against a slow twin that resamples by writing every number out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from agent_eval.reports.stats import CONFIDENCE, RESAMPLES, clustered_mean, clustered_quantiles
from agent_eval.reports.stats.means import QUANTILE_RESAMPLES
from agent_eval.reports.stats.resampling import draws

NUMBERS = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=9)
CLUSTERS = st.lists(NUMBERS, min_size=1, max_size=5)
SHARES = (0.05, 0.5, 0.95, 1.0)


def drawn(clusters: list[list[float]], seed: int, resamples: int) -> list[np.ndarray]:
    """Every resample, written out number by number."""
    rows = draws(len(clusters), seed)[:resamples]
    return [np.concatenate([clusters[place] for place in row]) for row in rows]


@settings(max_examples=15)
@given(CLUSTERS, st.integers(0, 3))
def test_a_mean_is_that_of_every_number_and_its_interval_that_of_the_resamples_written_out(
    clusters: list[list[float]], seed: int
) -> None:
    found = clustered_mean(clusters, seed)
    every = np.concatenate(clusters)
    means = [resample.mean() for resample in drawn(clusters, seed, RESAMPLES)]
    low, high = np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    assert found.n == len(every)
    assert found.estimate == pytest.approx(every.mean())
    assert found.low == pytest.approx(min(low, every.mean()))
    assert found.high == pytest.approx(max(high, every.mean()))


@settings(max_examples=15)
@given(CLUSTERS, st.integers(0, 3))
def test_quantiles_are_numpys_and_their_intervals_those_of_the_resamples_written_out(
    clusters: list[list[float]], seed: int
) -> None:
    found = clustered_quantiles(clusters, SHARES, seed)
    every = np.concatenate(clusters)
    written = drawn(clusters, seed, QUANTILE_RESAMPLES)
    for share, interval in zip(SHARES, found, strict=True):
        assert interval.estimate == np.quantile(every, share, method="inverted_cdf")
        resampled = [np.quantile(numbers, share, method="inverted_cdf") for numbers in written]
        low, high = np.quantile(resampled, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
        assert interval.low == pytest.approx(min(low, interval.estimate))
        assert interval.high == pytest.approx(max(high, interval.estimate))
        assert interval.n == len(every)


def test_with_one_number_a_cluster_the_interval_is_that_of_scipys_bootstrap() -> None:
    numbers = np.random.default_rng(5).exponential(size=60)
    found = clustered_mean([[number] for number in numbers], seed=1)
    theirs = stats.bootstrap((numbers,), np.mean, n_resamples=RESAMPLES, method="percentile", rng=2).confidence_interval
    assert found.low == pytest.approx(theirs.low, abs=0.02)
    assert found.high == pytest.approx(theirs.high, abs=0.02)


def test_clusters_that_differ_make_the_interval_wider_than_as_many_numbers_that_do_not() -> None:
    generator = np.random.default_rng(3)
    numbers = (generator.normal(size=(20, 1)) + 0.1 * generator.normal(size=(20, 30))).tolist()
    clustered = clustered_mean(numbers, seed=0)
    loose = clustered_mean([[number] for cluster in numbers for number in cluster], seed=0)
    assert clustered.estimate == pytest.approx(loose.estimate)
    assert clustered.high - clustered.low > 3 * (loose.high - loose.low)


def test_intervals_hold_the_mean_of_the_population_about_as_often_as_they_say() -> None:
    generator = np.random.default_rng(11)
    held = 0
    for trial in range(200):
        clusters = generator.normal(size=(30, 1)) + generator.normal(size=(30, 4))
        interval = clustered_mean(list(clusters), seed=trial)
        held += interval.low <= 0 <= interval.high
    assert 0.89 <= held / 200 <= 0.98  # a percentile bootstrap of 30 clusters is a little narrow


def test_equal_numbers_have_an_interval_of_no_width() -> None:
    found = clustered_mean([[0.0, 0.0], [0.0]], seed=0)
    assert (found.estimate, found.low, found.high, found.n) == (0.0, 0.0, 0.0, 3)


def test_clusters_without_numbers_do_not_count() -> None:
    assert clustered_mean([[], [1.0, 3.0]], seed=0).estimate == 2.0


@pytest.mark.parametrize("clusters", [[], [[]], [[1.0, float("nan")]], [[float("inf")]]])
def test_nothing_and_numbers_that_are_none_are_refused(clusters: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="a mean needs"):
        clustered_mean(clusters, seed=0)
    with pytest.raises(ValueError, match="a mean needs"):
        clustered_quantiles(clusters, [0.5], seed=0)
