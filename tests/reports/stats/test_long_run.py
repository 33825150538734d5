"""What verdicts are worth in the long run: played out many times on builds whose true difference is known."""

from __future__ import annotations

import numpy as np
import pytest

from agent_eval.reports.stats import Pairs, effective_pairs, non_inferiority, sequential_test
from tests.reports.stats.simulators import dirichlet_pairs, ordered_pairs

MARGIN = 0.10


@pytest.mark.parametrize(("lost", "gained"), [(0.20, 0.10), (0.30, 0.20)])
def test_a_build_that_loses_the_margin_is_seldom_called_no_worse_however_often_one_looks(
    lost: float, gained: float
) -> None:
    rng = np.random.default_rng(1)
    wrong = sum(
        sequential_test(ordered_pairs(rng, 120, lost, gained), MARGIN).verdict == "no worse" for _ in range(400)
    )
    assert wrong / 400 <= 0.10


@pytest.mark.parametrize(("lost", "gained"), [(0.125, 0.075), (0.175, 0.125)])
def test_a_build_within_the_margin_is_hardly_ever_called_worse_however_often_one_looks(
    lost: float, gained: float
) -> None:
    rng = np.random.default_rng(2)
    wrong = sum(sequential_test(ordered_pairs(rng, 120, lost, gained), MARGIN).verdict == "worse" for _ in range(400))
    assert wrong / 400 <= 0.03


def test_a_build_that_is_much_worse_is_still_found_early() -> None:
    rng = np.random.default_rng(3)
    found = [sequential_test(ordered_pairs(rng, 120, 0.35, 0.05), MARGIN) for _ in range(200)]
    assert np.mean([each.verdict == "worse" for each in found]) > 0.88
    assert np.mean([each.pairs for each in found]) < 80


@pytest.mark.parametrize("icc", [0.0, 0.7])
def test_pairs_counted_for_what_they_are_worth_keep_the_error_where_losses_come_by_task(icc: float) -> None:
    rng = np.random.default_rng(4)
    plain = careful = 0
    for _ in range(2000):
        pairs = dirichlet_pairs(rng, 60, 2, 0.20, 0.10, icc)
        lost, gained = sum(each.lost for each in pairs), sum(each.gained for each in pairs)
        plain += non_inferiority(lost, gained, 120, MARGIN) == "no worse"
        careful += non_inferiority(lost, gained, 120, MARGIN, worth=effective_pairs(pairs)) == "no worse"
    assert careful / 2000 <= 0.07
    assert careful <= plain
    if icc > 0:
        assert plain / 2000 > 0.07


def test_simulated_differences_correlate_as_they_were_drawn() -> None:
    rng = np.random.default_rng(5)
    pairs = dirichlet_pairs(rng, 20_000, 2, 0.2, 0.1, 0.45)
    worth = effective_pairs(pairs)
    assert worth == pytest.approx(40_000 / 1.45, rel=0.03)
    assert sum(each.lost for each in pairs) / 40_000 == pytest.approx(0.2, abs=0.01)
    assert effective_pairs([Pairs(1, 0, 2)] * 10) <= 20
