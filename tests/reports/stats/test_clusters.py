"""Clusters of alike instances, against definitions, other packages and simulations."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap, f_oneway

from agent_eval.reports.stats import (
    Count,
    Pairs,
    bonett_price,
    clustered_difference,
    clustered_pass_hat,
    clustered_share,
    effective_size,
    intraclass_correlation,
    pass_at,
    pass_hat,
    sign_flip,
    wilson,
)
from agent_eval.types import Interval
from tests.reports.stats.simulators import beta_binomial

COUNTS = st.integers(1, 8).flatmap(lambda n: st.builds(Count, st.integers(0, n), st.just(n)))


# --- how alike


@given(st.lists(COUNTS, min_size=2, max_size=12))
def test_the_correlation_is_that_of_an_analysis_of_variance(counts: list[Count]) -> None:
    rows = [
        (cluster, float(trial < count.events)) for cluster, count in enumerate(counts) for trial in range(count.chances)
    ]
    ours = intraclass_correlation(counts)
    assert 0 <= ours <= 1
    if len(rows) == len(counts) or len({value for _, value in rows}) == 1:
        assert ours == 0
        return
    if all(count.events in (0, count.chances) for count in counts):
        assert ours == pytest.approx(1)
        return
    ratio = f_oneway(*([y for c, y in rows if c == cluster] for cluster in range(len(counts)))).statistic
    size = (len(rows) - sum(c.chances**2 for c in counts) / len(rows)) / (len(counts) - 1)
    assert ours == pytest.approx(max(0.0, (ratio - 1) / (ratio + size - 1)), abs=1e-9)


@pytest.mark.parametrize("icc", [0.1, 0.45])
def test_the_correlation_that_trials_were_drawn_with_is_found_again(icc: float) -> None:
    rng = np.random.default_rng(1)
    found = [intraclass_correlation(beta_binomial(rng, 60, 5, 0.5, icc)) for _ in range(200)]
    assert np.mean(found) == pytest.approx(icc, abs=0.03)


@pytest.mark.parametrize(("instances", "worth"), [(2, 1.38), (3, 1.58), (5, 1.79)])
def test_instances_of_a_task_are_worth_what_published_tables_say(instances: int, worth: float) -> None:
    """At a correlation of 0.45, of 60 tasks."""
    trials = 60 * instances
    assert trials / (1 + (instances - 1) * 0.45) / 60 == pytest.approx(worth, abs=0.005)
    counts = [Count(instances, instances)] * 30 + [Count(0, instances)] * 30
    assert effective_size(counts) == pytest.approx(60)  # wholly alike: one trial a task


@given(st.lists(COUNTS, min_size=1, max_size=12))
def test_clustered_trials_are_worth_no_more_than_as_many_and_no_less_than_one_a_cluster_of_one(
    counts: list[Count],
) -> None:
    trials = sum(count.chances for count in counts)
    assert 1 - 1e-9 <= effective_size(counts) <= trials + 1e-9


def test_nothing_counted_is_worth_nothing() -> None:
    assert effective_size([]) == 0


@pytest.mark.parametrize("icc", [0.2, 0.5])
def test_the_clustered_interval_covers_where_that_of_independent_trials_is_too_narrow(icc: float) -> None:
    rng = np.random.default_rng(2)
    covered = {"clustered": 0, "wilson": 0}
    for run in range(150):
        counts = beta_binomial(rng, 60, 4, 0.5, icc)
        clustered, plain = clustered_share(counts, run), wilson(sum(c.events for c in counts), 240)
        covered["clustered"] += clustered.low <= 0.5 <= clustered.high
        covered["wilson"] += plain.low <= 0.5 <= plain.high
    assert covered["clustered"] / 150 > 0.9
    assert covered["clustered"] > covered["wilson"]


# --- k of n


def drawn(count: Count, k: int) -> list[tuple[bool, ...]]:
    """Return every way to draw k instances of a task, as whether each is passed."""
    return list(itertools.combinations([True] * count.events + [False] * (count.chances - count.events), k))


@given(st.lists(st.builds(Count, st.integers(0, 5), st.just(5)), min_size=1, max_size=6), st.integers(1, 5))
def test_pass_hat_and_pass_at_count_every_draw(counts: list[Count], k: int) -> None:
    every = [drawn(count, k) for count in counts]
    all_passed = [sum(all(draw) for draw in draws) / len(draws) for draws in every]
    any_passed = [sum(any(draw) for draw in draws) / len(draws) for draws in every]
    assert pass_hat(counts, k) == pytest.approx(math.fsum(all_passed) / len(counts))
    assert pass_at(counts, k) == pytest.approx(math.fsum(any_passed) / len(counts))


@pytest.mark.parametrize(("counts", "k"), [([], 1), ([Count(1, 2)], 3), ([Count(1, 2)], 0)])
def test_more_instances_than_there_are_is_an_error(counts: list[Count], k: int) -> None:
    for share in (pass_hat, pass_at):
        with pytest.raises(ValueError, match=f"k is {k}"):
            share(counts, k)


def test_pass_hat_with_its_interval_is_the_bootstrap_of_tasks_by_scipy() -> None:
    counts = [Count(events, 3) for events in (3, 3, 2, 1, 0, 3, 3, 2, 3, 0, 1, 3, 3, 3, 2, 0, 3, 1, 3, 3)]
    found = clustered_pass_hat(counts, 2, seed=5)
    chances = [math.comb(count.events, 2) / 3 for count in counts]
    other = bootstrap((chances,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(9))
    assert found.estimate == pytest.approx(pass_hat(counts, 2))
    assert found.n == 20
    assert found.low == pytest.approx(other.confidence_interval.low, abs=0.02)
    assert found.high == pytest.approx(other.confidence_interval.high, abs=0.02)


def test_tasks_that_are_all_passed_or_all_failed_have_an_interval_of_their_number() -> None:
    assert clustered_pass_hat([Count(2, 2)] * 12, 2, seed=1) == wilson(12, 12)
    assert clustered_pass_hat([Count(0, 2)] * 12, 2, seed=1) == wilson(0, 12)
    with pytest.raises(ValueError, match="k is 3"):
        clustered_pass_hat([Count(1, 2)], 3, seed=1)


# --- two builds


def test_the_clustered_difference_is_wider_where_losses_come_by_task() -> None:
    by_task = [Pairs(4, 0, 4)] * 5 + [Pairs(0, 0, 4)] * 25
    spread = [Pairs(1, 0, 4)] * 20 + [Pairs(0, 0, 4)] * 10
    wide, narrow = clustered_difference(by_task, 1), clustered_difference(spread, 1)
    assert wide.estimate == narrow.estimate == pytest.approx(-20 / 120)
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)
    assert wide.n == 120


@pytest.mark.parametrize(
    ("pairs", "plain"),
    [
        ([Pairs(0, 0, 4)] * 60, bonett_price(0, 0, 60)),
        ([Pairs(1, 1, 4)] * 30 + [Pairs(0, 0, 4)] * 30, bonett_price(0, 0, 60)),  # what a task loses, it gains
        ([Pairs(4, 0, 4)] * 60, bonett_price(60, 0, 60)),
        ([Pairs(0, 2, 4)] * 60, bonett_price(0, 30, 60)),
    ],
)
def test_where_all_tasks_differ_alike_they_count_as_pairs(pairs: list[Pairs], plain: Interval) -> None:
    found = clustered_difference(pairs, 1)
    assert (found.estimate, found.low, found.high, found.n) == (plain.estimate, plain.low, plain.high, 240)


def test_a_difference_of_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one pair"):
        clustered_difference([Pairs(0, 0, 0)], 1)


def test_signs_are_flipped_in_every_way_where_that_can_be_done() -> None:
    six = [Pairs(1, 0, 1)] * 6
    assert sign_flip(six, 0) == pytest.approx(2 / 2**6)  # the exact McNemar test of 6 to 0
    assert sign_flip([*six, Pairs(1, 1, 2), Pairs(0, 0, 3)], 0) == pytest.approx(2 / 2**6)
    assert sign_flip([Pairs(0, 0, 4)], 0) == 1.0


def test_drawn_signs_come_near_every_way() -> None:
    rng = random.Random(3)
    pairs = [Pairs(*rng.choice([(2, 0), (1, 0), (0, 1)]), 2) for _ in range(16)]  # more than are enumerated
    means = np.array([(each.gained - each.lost) / each.n for each in pairs])
    every = np.array(list(itertools.product((-1, 1), repeat=16))) @ means
    assert sign_flip(pairs, 0) == pytest.approx((np.abs(every) >= abs(means.sum()) - 1e-9).mean(), abs=0.02)


def test_the_permutation_test_rejects_as_seldom_as_it_says_when_builds_are_alike() -> None:
    rng = random.Random(4)
    rejected = 0
    for run in range(300):
        tasks = []
        for _ in range(30):
            flips = rng.choice([0, 0, 1, 2])  # what a task loses or gains comes together
            tasks.append(Pairs(flips, 0, 2) if rng.random() < 0.5 else Pairs(0, flips, 2))
        rejected += sign_flip(tasks, run) <= 0.05
    assert rejected / 300 < 0.09
