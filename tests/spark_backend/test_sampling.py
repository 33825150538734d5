from __future__ import annotations

import math
from collections import Counter

import pytest
import torch

from agent_eval.spark_backend.sampling import choose, greedy, is_valid, sample


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize(
    ("logits", "token"), [([0.0, 2.0, 1.0], 1), ([3.0, 3.0, 3.0], 0), ([0.0, 5.0, 1.0, 5.0], 1), ([-1.0], 0)]
)
def test_greedy_takes_the_largest_and_of_equals_the_first(logits: list[float], token: int) -> None:
    assert greedy(torch.tensor(logits)) == token
    assert sample(torch.tensor(logits), 0.0, 1.0, generator()) == token


def test_of_many_equals_the_first_is_taken() -> None:
    logits = torch.zeros(131_072)
    logits[[70_001, 9_001, 130_000]] = 1.0
    assert greedy(logits) == 9_001


def shares(logits: list[float], temperature: float, top_p: float, draws: int = 4000) -> dict[int, float]:
    drawn = generator(1)
    counts = Counter(sample(torch.tensor(logits), temperature, top_p, drawn) for _ in range(draws))
    return {token: count / draws for token, count in sorted(counts.items())}


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_tokens_are_drawn_as_often_as_the_temperature_says(temperature: float) -> None:
    logits = [math.log(share) for share in (0.2, 0.5, 0.3)]
    weights = [math.exp(value / temperature) for value in logits]
    expected = {i: weight / sum(weights) for i, weight in enumerate(weights)}
    assert shares(logits, temperature, 1.0) == pytest.approx(expected, abs=0.03)  # 4 standard errors


def test_top_p_keeps_the_smallest_set_that_reaches_it() -> None:
    logits = [math.log(share) for share in (0.1, 0.4, 0.3, 0.2)]
    assert set(shares(logits, 1.0, 0.39)) == {1}
    assert shares(logits, 1.0, 0.6) == pytest.approx({1: 4 / 7, 2: 3 / 7}, abs=0.03)
    assert set(shares(logits, 1.0, 0.85)) == {1, 2, 3}
    assert set(shares(logits, 1.0, 1.0)) == {0, 1, 2, 3}


def test_a_tiny_top_p_keeps_the_most_probable_token() -> None:
    assert shares([0.0, 0.0, 0.0], 1.0, 1e-9, draws=50) == {0: 1.0}


def test_equal_probabilities_are_ordered_by_id() -> None:
    assert {sample(torch.zeros(5000), 1.0, 1e-9, generator(seed)) for seed in range(5)} == {0}
    assert {sample(torch.zeros(5000), 1.0, 3 / 5000, generator(seed)) for seed in range(60)} <= {0, 1, 2, 3}


def test_impossible_tokens_are_never_drawn() -> None:
    assert set(shares([0.0, -math.inf, 0.0], 1.0, 1.0, draws=500)) == {0, 2}


def test_equal_seeds_draw_equal_tokens() -> None:
    logits = torch.randn(50, generator=generator(3))

    def text(seed: int) -> list[int]:
        drawn = generator(seed)
        return [sample(logits, 1.0, 0.95, drawn) for _ in range(20)]

    assert text(4) == text(4)
    assert text(4) != text(5)


def test_the_global_generator_is_left_alone() -> None:
    before = torch.get_rng_state()
    sample(torch.zeros(5), 1.0, 0.9, generator())
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("temperature", "top_p", "valid"),
    [(0, 1, True), (1.0, 0.95, True), (-0.1, 1, False), (math.nan, 1, False), (math.inf, 1, False), (1, 0, False)],
)
def test_parameters_that_make_no_sense_are_told_apart(temperature: float, top_p: float, valid: bool) -> None:
    assert is_valid(temperature, top_p) is valid


@pytest.mark.parametrize(("temperature", "bad"), [(0.0, math.nan), (1.0, math.nan), (0.0, math.inf), (1.0, math.inf)])
def test_logits_that_are_not_finite_choose_no_token(temperature: float, bad: float) -> None:
    logits = torch.zeros(50)
    logits[17] = bad
    assert choose(logits, temperature, 0.9, generator()) == -1


def test_choosing_greedily_draws_no_number() -> None:
    drawn = generator(3)
    assert choose(torch.tensor([0.0, 1.0]), 0.0, 1.0, drawn) == 1
    assert torch.equal(drawn.get_state(), generator(3).get_state())
