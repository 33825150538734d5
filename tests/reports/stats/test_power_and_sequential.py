"""Power against published tables and simulations; the sequential test against its bounds."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multinomial

from agent_eval.reports.stats import (
    lower_bound,
    mcnemar,
    mcnemar_power,
    non_inferiority_power,
    pairs_for_mcnemar,
    sequential_test,
)

LOST, GAINED, BOTH = (True, False), (False, True), (True, True)


def by_enumeration(n: int, lost_rate: float, gained_rate: float, margin: float | None) -> float:
    """Add up the chances of every table that is a finding."""
    law = multinomial(n, [lost_rate, gained_rate, 1 - lost_rate - gained_rate])
    return sum(
        float(law.pmf([lost, gained, n - lost - gained]))
        for lost in range(n + 1)
        for gained in range(n - lost + 1)
        if (mcnemar(lost, gained) <= 0.05 if margin is None else lower_bound(lost, gained, n) > -margin)
    )


@pytest.mark.parametrize(("n", "lost", "gained"), [(1, 0.5, 0.1), (12, 0.3, 0.05), (25, 0.2, 0.2), (30, 0.4, 0.0)])
def test_power_is_the_chance_of_every_table_that_is_a_finding(n: int, lost: float, gained: float) -> None:
    assert mcnemar_power(n, lost, gained) == pytest.approx(by_enumeration(n, lost, gained, None), abs=1e-9)
    assert non_inferiority_power(n, lost, gained, 0.1) == pytest.approx(by_enumeration(n, lost, gained, 0.1), abs=1e-9)


@pytest.mark.parametrize(
    ("n", "powers"),
    [
        (60, (0.28, 0.31, 0.58, 0.80, 0.92)),
        (120, (0.67, 0.63, 0.90, 0.99)),
        (180, (0.87, 0.83, 0.98)),
        (240, (0.95, 0.93)),
    ],
)
def test_power_of_the_exact_test_is_that_of_the_simulated_table(n: int, powers: tuple[float, ...]) -> None:
    rates = [(0.10, 0.02), (0.15, 0.05), (0.20, 0.05), (0.25, 0.05), (0.30, 0.05)]
    for (lost, gained), power in zip(rates, powers, strict=False):
        assert mcnemar_power(n, lost, gained) == pytest.approx(power, abs=0.02)


@pytest.mark.parametrize(
    ("n", "margin", "powers"),
    [
        (60, 0.05, (0.27, 0.20, 0.16)),
        (60, 0.10, (0.76, 0.54, 0.42)),
        (120, 0.10, (0.96, 0.79, 0.64)),
        (120, 0.15, (1.00, 0.98, 0.91)),
        (240, 0.05, (0.78, 0.53, 0.40)),
        (240, 0.10, (1.00, 0.96, 0.89)),
    ],
)
def test_power_of_non_inferiority_is_that_of_the_simulated_table(
    n: int, margin: float, powers: tuple[float, ...]
) -> None:
    for discordance, power in zip((0.1, 0.2, 0.3), powers, strict=True):
        assert non_inferiority_power(n, discordance / 2, discordance / 2, margin) == pytest.approx(power, abs=0.025)


@pytest.mark.parametrize(
    ("lost", "gained", "pairs"),
    [(0.10, 0.02, 160), (0.15, 0.05, 170), (0.20, 0.05, 97), (0.25, 0.05, 62), (0.30, 0.05, 47), (0.30, 0.10, 85)],
)
def test_pairs_for_a_power_are_those_of_the_simulated_table(lost: float, gained: float, pairs: int) -> None:
    found = pairs_for_mcnemar(lost, gained)
    assert found is not None
    assert abs(found - pairs) <= 0.06 * pairs
    assert mcnemar_power(found, lost, gained) >= 0.8


def test_a_difference_that_no_number_of_pairs_shows_has_no_answer() -> None:
    assert pairs_for_mcnemar(0.05, 0.05) is None
    assert mcnemar_power(200, 0.0, 0.0) == 0.0


@pytest.mark.parametrize(("n", "lost", "gained"), [(0, 0.1, 0.1), (5, -0.1, 0.1), (5, 0.6, 0.6)])
def test_rates_that_are_no_chances_are_errors(n: int, lost: float, gained: float) -> None:
    with pytest.raises(ValueError, match="received n="):
        mcnemar_power(n, lost, gained)
    with pytest.raises(ValueError, match="received n="):
        non_inferiority_power(n, lost, gained, 0.1)


# --- sequential


def test_eight_lost_in_a_row_decide_and_five_gained() -> None:
    worse = sequential_test([LOST] * 20)
    assert (worse.verdict, worse.pairs, worse.lost) == ("worse", 8, 8)
    level = sequential_test([GAINED] * 20)
    assert (level.verdict, level.pairs, level.gained) == ("no worse", 5, 5)


def test_pairs_that_agree_tell_nothing() -> None:
    verdict = sequential_test([BOTH, (False, False)] * 500)
    assert verdict.verdict == "insufficient evidence"
    assert not verdict.decided
    assert (verdict.pairs, verdict.lost, verdict.gained, verdict.log_ratio) == (1000, 0, 0, 0.0)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=120), st.data())
def test_what_comes_after_the_decision_changes_nothing(pairs: list[tuple[bool, bool]], data: st.DataObject) -> None:
    more = data.draw(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=20))
    verdict = sequential_test(pairs)
    assert abs(verdict.log_ratio) < verdict.bound + math.log(2)
    if verdict.decided:
        assert sequential_test(pairs + more) == verdict
    else:
        assert verdict.pairs == len(pairs)


@pytest.mark.parametrize(("lost_share", "wrong"), [(0.5, "worse"), (0.75, "no worse")])
def test_a_wrong_verdict_is_as_rare_as_it_should_be_and_comes_soon(lost_share: float, wrong: str) -> None:
    rng = random.Random(5)
    errors, discordant = 0, []
    for _ in range(2000):
        verdict = sequential_test([LOST if rng.random() < lost_share else GAINED for _ in range(400)])
        assert verdict.decided
        errors += verdict.verdict == wrong
        discordant.append(verdict.lost + verdict.gained)
    assert errors / 2000 < 0.06
    assert 14 < sum(discordant) / 2000 < 24


def test_either_verdict_also_waits_for_the_margin() -> None:
    gained_then_level = [GAINED] * 5 + [BOTH] * 5
    assert sequential_test(gained_then_level).pairs == 5
    many = [LOST, GAINED] * 60
    without, with_margin = sequential_test(many), sequential_test(many, 0.1)
    assert (without.verdict, without.pairs) == ("no worse", 22)
    assert with_margin.verdict == "insufficient evidence"
    assert with_margin.log_ratio == without.log_ratio, "Wald's test has ended"
    assert sequential_test(many + [BOTH] * 300, 0.1).verdict == "no worse"
    seldom_lost = ([LOST] + [BOTH] * 19) * 8  # five points, all of them lost
    assert sequential_test(seldom_lost).verdict == "worse"
    assert sequential_test(seldom_lost, 0.1).verdict == "insufficient evidence"


def test_pairs_of_one_task_take_longer_to_clear_the_margin() -> None:
    pairs = [GAINED, GAINED, GAINED, GAINED, GAINED, *[BOTH] * 20, LOST, LOST, *[BOTH] * 80]
    apart = sequential_test(pairs, 0.05)
    together = sequential_test(pairs, 0.05, [f"task {place // 8}" for place in range(len(pairs))])
    assert apart.verdict == together.verdict == "no worse"
    assert together.pairs >= apart.pairs


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=120))
def test_a_margin_never_makes_a_verdict_that_was_not(pairs: list[tuple[bool, bool]]) -> None:
    plain, careful = sequential_test(pairs), sequential_test(pairs, 0.1)
    assert careful.log_ratio == plain.log_ratio
    if careful.decided:
        assert careful.verdict == plain.verdict
        assert careful.pairs >= plain.pairs
