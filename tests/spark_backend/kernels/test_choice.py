"""The compiled choice of the next token against its definition in ``sampling.py``."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from agent_eval.spark_backend.kernels import library
from agent_eval.spark_backend.kernels.decode import Choice
from agent_eval.spark_backend.sampling import choose, greedy, sample

pytestmark = pytest.mark.skipif(not library.available(), reason="the kernels are not built")

COPIES = ("generic", "avx2", "avx512")  # other variants take one of these (decode.cpp)
VARIANTS = [name for name in library.load().usable() if name in COPIES] if library.available() else []


@pytest.fixture(params=VARIANTS)
def choice(request: pytest.FixtureRequest) -> Choice:
    return Choice(library.load(request.param))


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def drawn(choice: Choice, logits: Tensor, temperature: float, top_p: float, draws: int) -> tuple[list[int], list[int]]:
    ours, theirs = generator(8), generator(8)
    return (
        [choose(logits, temperature, top_p, ours, choice) for _ in range(draws)],
        [sample(logits, temperature, top_p, theirs) for _ in range(draws)],
    )


SHAPES = {
    "a peak": lambda: torch.randn(131_072, generator=generator(0)) * 3,
    "flat": lambda: torch.randn(131_072, generator=generator(1)) * 0.01,
    "all equal": lambda: torch.zeros(5003),  # prime: no share of it falls on a token's edge, where rounding decides
    "many equal": lambda: torch.randint(0, 4, (3001,), generator=generator(2)).float(),
    "mostly impossible": lambda: torch.where(
        torch.rand(2000, generator=generator(3)) < 0.99, -math.inf, torch.randn(2000, generator=generator(4))
    ),
    "one": lambda: torch.zeros(1),
    "a vector and one more": lambda: torch.randn(17, generator=generator(5)),
    "very far apart": lambda: torch.tensor([-3000.0, 0.0, -1.0, -60.0, -70.0, -800.0]),
}


@pytest.mark.parametrize("top_p", [1.0, 0.95, 0.5, 1e-9])
@pytest.mark.parametrize("temperature", [1.0, 0.3, 40.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_it_draws_the_token_of_the_definition(choice: Choice, shape: str, temperature: float, top_p: float) -> None:
    logits = SHAPES[shape]()
    ours, theirs = drawn(choice, logits, temperature, top_p, 3 if logits.numel() > 10_000 else 40)
    assert ours == theirs


@settings(max_examples=200, deadline=None)
@given(
    values=st.lists(st.one_of(st.integers(-3, 3), st.floats(-90, 90, width=32)), min_size=1, max_size=60),
    temperature=st.floats(0.05, 20),
    top_p=st.floats(0.01, 1),
    seed=st.integers(0, 2**32),
)
def test_it_draws_the_token_of_the_definition_whatever_the_logits(
    values: list[float], temperature: float, top_p: float, seed: int
) -> None:
    logits = torch.tensor(values, dtype=torch.float32)
    choice = Choice(library.load())
    ours = choose(logits, temperature, top_p, generator(seed), choice)
    assert ours == sample(logits, temperature, top_p, generator(seed))


@pytest.mark.parametrize("place", [0, 15, 16, 31, 40, 41])
def test_it_takes_the_largest_and_of_equals_the_first(choice: Choice, place: int) -> None:
    logits = torch.full((42,), -5.0)
    logits[place:] = 2.5
    assert choice.greedy(logits) == place == greedy(logits)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("place", [0, 20, 36])
def test_logits_that_are_not_finite_choose_no_token(choice: Choice, bad: float, place: int) -> None:
    logits = torch.zeros(37)
    logits[place] = bad
    assert choice.greedy(logits) == -1
    assert choice.sample(logits, 1.0, 0.9, 0.5) == -1


def test_logits_that_are_all_impossible_choose_no_token(choice: Choice) -> None:
    assert choice.greedy(torch.full((40,), -math.inf)) == -1


@pytest.mark.parametrize("draw", [0.0, 1 - 2**-53])
def test_the_ends_of_the_unit_interval_choose_the_first_and_the_last_kept_token(choice: Choice, draw: float) -> None:
    logits = torch.log(torch.tensor([0.1, 0.4, 0.3, 0.2]))
    assert choice.sample(logits, 1.0, 0.85, draw) == (1 if draw == 0 else 3)
    assert choice.sample(logits, 1.0, 1.0, draw) == (1 if draw == 0 else 0)
