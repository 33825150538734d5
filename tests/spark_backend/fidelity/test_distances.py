"""Held against SciPy in float64, and against two logits by hand."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_softmax, rel_entr

from agent_eval.errors import EngineFault
from agent_eval.spark_backend.fidelity.distances import Distances, distances


def test_two_tokens_are_as_far_apart_as_by_hand() -> None:
    # the reference gives 3/4 and 1/4, the build 1/2 each
    found = distances(torch.tensor([[log(3.0), 0.0]]), torch.tensor([[7.0, 7.0]]), torch.tensor([1]))
    assert found.kl[0] == pytest.approx(0.75 * log(1.5) + 0.25 * log(0.5), rel=1e-6)
    assert found.reference[0] == pytest.approx(log(0.25), rel=1e-6)
    assert found.build[0] == pytest.approx(log(0.5), rel=1e-6)
    assert found.same_top[0]  # of equals the lowest id


def test_the_divergence_is_from_the_reference_to_the_build() -> None:
    one, other = torch.tensor([[4.0, 0.0]]), torch.tensor([[0.0, 0.0]])
    there = distances(one, other, torch.tensor([0])).kl[0]
    back = distances(other, one, torch.tensor([0])).kl[0]
    p = 1 / (1 + exp(-4.0))
    assert there == pytest.approx(p * log(2 * p) + (1 - p) * log(2 * (1 - p)))
    assert back == pytest.approx(-0.5 * log(2 * p) - 0.5 * log(2 * (1 - p)))


LOGITS = st.lists(st.floats(-60, 60, width=32), min_size=6, max_size=6)


@given(LOGITS, LOGITS, st.integers(0, 5))
def test_any_logits_are_as_far_apart_as_scipy_says(reference: list[float], build: list[float], following: int) -> None:
    found = distances(torch.tensor([reference]), torch.tensor([build]), torch.tensor([following]))
    first, second = log_softmax(np.array(reference)), log_softmax(np.array(build))
    assert found.kl[0] == pytest.approx(max(0.0, rel_entr(np.exp(first), np.exp(second)).sum()), rel=1e-9, abs=1e-12)
    assert found.same_top[0] == (np.argmax(reference) == np.argmax(build))
    assert found.reference[0] == pytest.approx(first[following], abs=1e-12)
    assert found.build[0] == pytest.approx(second[following], abs=1e-12)


def test_a_small_divergence_over_a_large_vocabulary_keeps_its_digits() -> None:
    # a tenth of a millionth, of 131,072 tokens: in float32 nothing of it would be left
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(1, 131_072, generator=generator) * 4
    moved = logits + 5e-4 * torch.randn(1, 131_072, generator=generator)
    found = distances(logits, moved, torch.tensor([0]))
    exact = rel_entr(np.exp(log_softmax(logits.double().numpy())), np.exp(log_softmax(moved.double().numpy()))).sum()
    assert 1e-8 < exact < 1e-6
    assert found.kl[0] == pytest.approx(exact, rel=1e-6)


def test_a_model_beside_itself_is_exactly_nothing_apart() -> None:
    logits = torch.randn(5, 300, generator=torch.Generator().manual_seed(1)) * 20
    found = distances(logits, logits.clone(), torch.arange(5))
    assert (found.kl == 0.0).all()
    assert found.same_top.all()
    assert (found.reference == found.build).all()


def test_parts_are_joined_in_order() -> None:
    parts = [
        distances(torch.eye(3)[i : i + 1] * 3, torch.zeros(1, 3), torch.tensor([following]))
        for i, following in enumerate((0, 2))
    ]
    joined = Distances.joined(parts)
    assert joined.reference.tolist() == [parts[0].reference[0], parts[1].reference[0]]
    assert joined.reference[0] > joined.reference[1]
    assert joined.same_top.tolist() == [True, False]
    assert len(Distances.joined([]).kl) == 0


def test_other_vocabularies_are_refused() -> None:
    with pytest.raises(EngineFault, match="gives 3 logits, the build 4"):
        distances(torch.zeros(1, 3), torch.zeros(1, 4), torch.tensor([0]))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_logits_that_are_not_finite_are_refused(value: float) -> None:
    with pytest.raises(EngineFault, match="not finite"):
        distances(torch.zeros(1, 3), torch.tensor([[0.0, value, 0.0]]), torch.tensor([0]))
