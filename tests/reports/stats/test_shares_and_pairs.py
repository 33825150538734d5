from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta
from statsmodels.stats.contingency_tables import mcnemar as their_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from agent_eval.reports.stats import (
    ASSUMED_DISCORDANCE,
    MOST_PAIRS,
    Count,
    bonett_price,
    bootstrap_median,
    clustered_share,
    cost_per_event,
    holm,
    lower_bound,
    mcnemar,
    non_inferiority,
    pairs_needed,
    upper_bound,
    wilson,
)

MARGINS = st.sampled_from([0.05, 0.1, 0.15, 0.2])


@st.composite
def tables(draw: st.DrawFn, most: int = 300) -> tuple[int, int, int]:
    n = draw(st.integers(1, most))
    lost = draw(st.integers(0, n))
    return lost, draw(st.integers(0, n - lost)), n


# --- wilson


@pytest.mark.parametrize(("n", "upper"), [(60, 0.060), (120, 0.031), (240, 0.016)])
def test_no_event_among_n_bounds_the_share_as_the_closed_form_says(n: int, upper: float) -> None:
    z2 = 1.959964**2
    assert wilson(0, n).high == pytest.approx(z2 / (n + z2), abs=1e-6)
    assert wilson(0, n).high == pytest.approx(upper, abs=5e-4)
    assert wilson(0, n).low == 0.0


@pytest.mark.parametrize(("n", "half_width"), [(60, 0.12), (120, 0.088), (240, 0.063)])
def test_the_half_width_at_one_half_is_that_of_published_tables(n: int, half_width: float) -> None:
    interval = wilson(n // 2, n)
    assert (interval.high - interval.low) / 2 == pytest.approx(half_width, abs=3e-3)


@given(st.integers(1, 500), st.data())
def test_wilson_contains_its_estimate_and_mirrors(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    interval, mirrored = wilson(k, n), wilson(n - k, n)
    assert 0 <= interval.low <= interval.estimate == k / n <= interval.high <= 1
    assert interval.n == n
    assert mirrored.low == pytest.approx(1 - interval.high, abs=1e-9)


@pytest.mark.parametrize(("k", "n"), [(0, 0), (-1, 3), (4, 3)])
def test_a_share_of_nothing_is_an_error_and_no_number(k: int, n: int) -> None:
    with pytest.raises(ValueError, match=f"received k={k}, n={n}"):
        wilson(k, n)


# --- clustered shares


def test_clusters_that_differ_widen_the_interval_beyond_wilson() -> None:
    alike_inside = [Count(10, 10)] * 5 + [Count(0, 10)] * 5
    clustered, plain = clustered_share(alike_inside, seed=1), wilson(50, 100)
    assert clustered.estimate == plain.estimate == 0.5
    assert clustered.high - clustered.low > 2 * (plain.high - plain.low)
    assert clustered.n == 100


@pytest.mark.parametrize("events", [0, 8])
def test_without_spread_the_interval_counts_clusters_as_trials(events: int) -> None:
    interval = clustered_share([Count(events, 8)] * 12, seed=1)
    trials = wilson(0 if events == 0 else 12, 12)
    assert (interval.low, interval.high, interval.n) == (trials.low, trials.high, 96)


def test_clusters_with_the_same_share_are_not_taken_for_certain() -> None:
    found, plain = clustered_share([Count(1, 2)] * 60, seed=1), wilson(30, 60)
    assert (found.estimate, found.low, found.high, found.n) == (0.5, plain.low, plain.high, 120)


def test_the_clustered_interval_depends_on_the_seed_only() -> None:
    counts = [Count(i % 4, 5 + i % 7) for i in range(20)]
    assert clustered_share(counts, seed=3) == clustered_share(counts, seed=3)
    assert clustered_share(counts, seed=3) != clustered_share(counts, seed=4)


@pytest.mark.parametrize("counts", [[], [Count(0, 0)], [Count(2, 1)], [Count(-1, 1)]])
def test_impossible_clusters_are_errors(counts: list[Count]) -> None:
    with pytest.raises(ValueError, match="needs"):
        clustered_share(counts, seed=0)


# --- mcnemar and holm


@pytest.mark.parametrize(
    ("lost", "gained", "p"),
    [
        (0, 0, 1.0),
        (3, 0, 0.25),
        (5, 0, 0.0625),
        (6, 0, 0.03125),
        (7, 0, 0.015625),
        (5, 1, 0.21875),
        (8, 2, 0.109375),
        (4, 4, 1.0),
    ],
)
def test_exact_mcnemar_is_the_two_sided_binomial_tail(lost: int, gained: int, p: float) -> None:
    assert mcnemar(lost, gained) == pytest.approx(p)
    assert mcnemar(gained, lost) == pytest.approx(p)


def test_mcnemar_refuses_negative_counts() -> None:
    with pytest.raises(ValueError, match="lost=-1"):
        mcnemar(-1, 2)


@pytest.mark.parametrize(
    ("raw", "adjusted"),
    [
        ((), ()),
        ((0.04,), (0.04,)),
        ((0.01, 0.04), (0.02, 0.04)),
        ((0.04, 0.01), (0.04, 0.02)),
        ((0.03, 0.02), (0.04, 0.04)),
        ((0.01, 0.02, 0.03), (0.03, 0.04, 0.04)),
        ((0.9, 0.8), (1.0, 1.0)),
    ],
)
def test_holm_steps_down(raw: tuple[float, ...], adjusted: tuple[float, ...]) -> None:
    assert holm(raw) == pytest.approx(adjusted)


def test_three_comparisons_need_seven_to_nothing() -> None:
    assert holm([mcnemar(6, 0), 1.0, 1.0])[0] > 0.05
    assert holm([mcnemar(7, 0), 1.0, 1.0])[0] < 0.05


@given(st.lists(st.floats(0, 1), max_size=6))
def test_holm_keeps_the_order_and_never_lowers_a_p_value(values: list[float]) -> None:
    adjusted = holm(values)
    assert all(raw <= new <= 1 for raw, new in zip(values, adjusted, strict=True))
    ranked = sorted(zip(values, adjusted, strict=True))
    assert [new for _, new in ranked] == sorted(adjusted)


# --- Bonett-Price


def test_bonett_price_is_the_adjusted_wald_interval() -> None:
    # by hand: n + 2 = 62, (9 + 3) discordant after adding one to each, d = (3 - 9) / 62
    d, discordance = -6 / 62, 12 / 62
    error = math.sqrt((discordance - d * d) / 62)
    interval = bonett_price(8, 2, 60)
    assert interval.estimate == -0.1
    assert interval.low == pytest.approx(d - 1.959964 * error, abs=1e-6)
    assert interval.high == pytest.approx(d + 1.959964 * error, abs=1e-6)
    assert lower_bound(8, 2, 60) == pytest.approx(d - 1.644854 * error, abs=1e-6)
    assert upper_bound(8, 2, 60) == pytest.approx(d + 1.644854 * error, abs=1e-6)


@given(tables())
def test_the_interval_holds_its_estimate_and_mirrors_when_the_builds_are_swapped(table: tuple[int, int, int]) -> None:
    lost, gained, n = table
    interval, swapped = bonett_price(lost, gained, n), bonett_price(gained, lost, n)
    assert -1 <= interval.low <= interval.estimate <= interval.high <= 1
    assert interval.low <= lower_bound(lost, gained, n) <= upper_bound(lost, gained, n) <= interval.high
    assert (swapped.low, swapped.high) == pytest.approx((-interval.high, -interval.low))


@pytest.mark.parametrize("table", [(0, 0, 0), (-1, 0, 5), (3, 3, 5)])
def test_impossible_pairs_are_errors(table: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="0 <= lost"):
        bonett_price(*table)


def test_no_pair_leaves_the_bounds_open() -> None:
    assert (lower_bound(0, 0, 0), upper_bound(0, 0, 0)) == (-1.0, 1.0)


@pytest.mark.parametrize(("discordance", "difference"), [(0.1, 0.0), (0.2, -0.1), (0.3, 0.1)])
def test_simulated_intervals_cover_the_true_difference(discordance: float, difference: float) -> None:
    draw = random.Random(11)
    n, covered, below, runs = 60, 0, 0, 2000
    p_lost, p_gained = (discordance - difference) / 2, (discordance + difference) / 2
    for _ in range(runs):
        draws = [draw.random() for _ in range(n)]
        lost = sum(value < p_lost for value in draws)
        gained = sum(p_lost <= value < p_lost + p_gained for value in draws)
        interval = bonett_price(lost, gained, n)
        covered += interval.low <= difference <= interval.high
        below += lower_bound(lost, gained, n) > difference
    assert 0.94 <= covered / runs <= 0.995  # cautious where few pairs are discordant
    assert below / runs <= 0.065


# --- non-inferiority


@pytest.mark.parametrize(
    ("table", "margin", "verdict"),
    [
        ((0, 0, 0), 0.10, "insufficient evidence"),
        ((0, 0, 12), 0.10, "insufficient evidence"),
        ((0, 0, 22), 0.10, "no worse"),
        ((3, 3, 120), 0.10, "no worse"),
        ((9, 3, 60), 0.10, "insufficient evidence"),
        ((24, 1, 60), 0.10, "worse"),
        ((24, 1, 60), 0.60, "no worse"),
    ],
)
def test_verdicts_at_a_margin(table: tuple[int, int, int], margin: float, verdict: str) -> None:
    assert non_inferiority(*table, margin) == verdict


@given(tables(), MARGINS, MARGINS)
def test_a_wider_margin_never_makes_a_build_worse(table: tuple[int, int, int], one: float, other: float) -> None:
    order = ["worse", "insufficient evidence", "no worse"]
    narrow, wide = sorted((one, other))
    assert order.index(non_inferiority(*table, narrow)) <= order.index(non_inferiority(*table, wide))


@given(tables(), MARGINS)
def test_one_more_lost_pair_never_helps(table: tuple[int, int, int], margin: float) -> None:
    lost, gained, n = table
    order = ["worse", "insufficient evidence", "no worse"]
    if gained:
        worse_off = non_inferiority(lost + 1, gained - 1, n, margin)
        assert order.index(worse_off) <= order.index(non_inferiority(lost, gained, n, margin))


@pytest.mark.parametrize("margin", [0.0, 1.0, -0.1, 10])
def test_a_margin_is_a_share(margin: float) -> None:
    with pytest.raises(ValueError, match="margin"):
        non_inferiority(1, 1, 10, margin)


# --- pairs needed


@given(tables(), MARGINS)
def test_no_more_pairs_are_needed_exactly_when_there_is_a_verdict(table: tuple[int, int, int], margin: float) -> None:
    needed = pairs_needed(*table, margin)
    assert (needed == 0) == (non_inferiority(*table, margin) != "insufficient evidence")
    assert 0 <= needed <= MOST_PAIRS


@given(tables(most=60), MARGINS, st.integers(2, 5))
def test_more_pairs_at_the_same_rates_never_raise_the_need(
    table: tuple[int, int, int], margin: float, times: int
) -> None:
    lost, gained, n = table
    assert pairs_needed(times * lost, times * gained, times * n, margin) <= pairs_needed(lost, gained, n, margin)


@given(st.integers(0, 20), st.integers(0, 20), st.integers(45, 120), MARGINS)
def test_more_discordance_never_lowers_the_need(one: int, other: int, n: int, margin: float) -> None:
    few, many = sorted((one, other))
    assert pairs_needed(few, few, n, margin) <= pairs_needed(many, many, n, margin)


@given(tables(most=60), MARGINS)
def test_the_needed_pairs_at_the_same_rates_bring_a_verdict(table: tuple[int, int, int], margin: float) -> None:
    lost, gained, n = table
    needed = pairs_needed(lost, gained, n, margin)
    if 0 < needed < MOST_PAIRS:
        times = -(-(n + needed) // n)  # whole multiples keep the rates
        assert non_inferiority(times * lost, times * gained, times * n, margin) != "insufficient evidence"


def test_a_difference_on_the_margin_is_never_decided() -> None:
    assert pairs_needed(2, 0, 20, 0.1) == MOST_PAIRS


def test_planned_pairs_decide_four_times_in_five_when_the_builds_are_equal() -> None:
    # the plan before the first pair, played out at the discordance that it assumes
    n = pairs_needed(0, 0, 0, 0.10)
    draw = random.Random(5)
    decided, runs = 0, 1000
    for _ in range(runs):
        draws = [draw.random() for _ in range(n)]
        lost = sum(value < ASSUMED_DISCORDANCE / 2 for value in draws)
        gained = sum(ASSUMED_DISCORDANCE / 2 <= value < ASSUMED_DISCORDANCE for value in draws)
        decided += non_inferiority(lost, gained, n, 0.10) == "no worse"
    assert 0.75 <= decided / runs <= 0.87
    assert 110 <= n <= 140


# --- medians


def test_the_median_of_many_lies_in_the_order_statistic_interval() -> None:
    values = [float(value) for value in range(1, 102)]
    interval = bootstrap_median(values, seed=1)
    assert interval.estimate == 51
    # distribution-free: ranks that hold the median with 95 %, give or take one for the resampling
    assert interval.low == pytest.approx(beta.ppf(0.025, 51, 51) * 101, abs=2)
    assert interval.high == pytest.approx(beta.ppf(0.975, 51, 51) * 101, abs=2)


@settings(max_examples=20)
@given(st.lists(st.floats(0.1, 1e4), min_size=1, max_size=12), st.integers(0, 5))
def test_the_median_stays_within_the_values_and_repeats_by_seed(values: list[float], seed: int) -> None:
    interval = bootstrap_median(values, seed)
    assert min(values) <= interval.low <= interval.estimate <= interval.high <= max(values)
    assert interval.n == len(values)
    assert interval == bootstrap_median(values, seed)


def test_one_value_is_its_own_interval_and_says_n_is_one() -> None:
    interval = bootstrap_median([2.5], seed=0)
    assert (interval.estimate, interval.low, interval.high, interval.n) == (2.5, 2.5, 2.5, 1)


@pytest.mark.parametrize("values", [[], [1.0, math.nan], [math.inf]])
def test_a_median_of_nothing_is_an_error_and_no_number(values: list[float]) -> None:
    with pytest.raises(ValueError, match="median needs"):
        bootstrap_median(values, seed=0)


# --- another package's


@given(tables(60))
def test_shares_and_tests_are_those_of_statsmodels(table: tuple[int, int, int]) -> None:
    lost, gained, n = table
    low, high = proportion_confint(lost, n, method="wilson")
    interval = wilson(lost, n)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-9)
    theirs = their_mcnemar([[n - lost - gained, lost], [gained, 0]], exact=True)
    assert mcnemar(lost, gained) == pytest.approx(theirs.pvalue, abs=1e-9)


@settings(max_examples=30)  # theirs collects garbage each time
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_adjusted_values_are_those_of_statsmodels(values: list[float]) -> None:
    assert holm(values) == pytest.approx(tuple(multipletests(values, method="holm")[1]))


# --- what an event costs


def test_a_cost_per_event_counts_the_trials_without_one() -> None:
    cost = cost_per_event([2.0, 4.0, 6.0, 8.0] * 10, [True, False, True, False] * 10, seed=1)
    assert (cost.estimate, cost.n) == (10.0, 20)
    assert 6 < cost.low < 8 < 13 < cost.high < 17


def test_a_cost_per_few_events_has_no_upper_end() -> None:
    assert cost_per_event([1.0] * 50, [True] * 2 + [False] * 48, seed=1).high == math.inf
    assert math.isfinite(cost_per_event([1.0] * 50, [True] * 8 + [False] * 42, seed=1).high)
    with pytest.raises(ValueError, match="at least one event"):
        cost_per_event([1.0], [False], seed=1)


def test_the_interval_of_a_cost_covers_what_it_should() -> None:
    rng = random.Random(11)
    covered = 0
    for trial in range(300):
        events = [rng.random() < 0.6 for _ in range(80)]
        costs = [rng.uniform(1, 3) if event else rng.uniform(2, 6) for event in events]
        cost = cost_per_event(costs, events, seed=trial)
        covered += cost.low <= (0.6 * 2 + 0.4 * 4) / 0.6 <= cost.high
    assert 0.91 <= covered / 300 <= 0.98


@given(tables())
def test_pairs_that_are_worth_what_they_are_change_nothing(table: tuple[int, int, int]) -> None:
    assert bonett_price(*table, worth=table[2]) == bonett_price(*table)
    assert pairs_needed(*table, 0.1, worth=table[2]) == pairs_needed(*table, 0.1)


@given(tables(), st.floats(0.3, 1.0))
def test_pairs_that_are_worth_less_widen_the_interval_and_need_more(table: tuple[int, int, int], each: float) -> None:
    plain, less = bonett_price(*table), bonett_price(*table, worth=each * table[2])
    assert less.estimate == plain.estimate
    if less.low > -1 and less.high < 1:
        assert less.high - less.low >= plain.high - plain.low - 1e-9
