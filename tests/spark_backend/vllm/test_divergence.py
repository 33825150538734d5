"""Rounding explains what rounding does, and does not explain an engine that computes something else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from agent_eval.spark_backend.builds import compiled_kernels
from agent_eval.spark_backend.checkpoints.config import Rope, SparkConfig
from agent_eval.spark_backend.checkpoints.loader import Weights
from agent_eval.spark_backend.model import Spark
from agent_eval.spark_backend.quant.dense import Unquantised, has_bf16_units
from agent_eval.spark_backend.torch_engine import TorchEngine
from agent_eval.wiring import EMBEDDED
from tests.spark_backend.vllm.divergence import (
    Side,
    divergence,
    error,
    errors,
    first_difference,
    relative,
)
from tests.spark_backend.vllm.rounding import EXACT, RoundingTwin, torch_rounds
from tests.spark_backend.vllm.watched import random_prompts, watch_torch, weights_of

NANO = EMBEDDED["nano"]
OURS = torch_rounds(compiled=compiled_kernels() is not None, native=has_bf16_units())

Tensors = dict[str, Tensor]


# ----------------------------------------------------------------------------------------------------------------------
# the rule, on rows


def rows(seed: int, scale: float, *tops: float) -> Tensor:
    """Return logits of a hundred tokens: the first as given, the rest far below; all off by so much."""
    noise = torch.randn(100, generator=torch.Generator().manual_seed(seed)) * scale
    return torch.tensor([*tops, *[0.0] * (100 - len(tops))]) + noise


def sides(exact: Tensor, *, flip: float, noise: float, twin: float) -> tuple[Side, Side]:
    """Return two engines that are off by ``noise``; the second prefers token 1 by ``flip``."""
    one, other = exact + rows(1, noise, 0, 0), exact + rows(2, noise, 0, 0)
    one[0], other[1] = one[1] + 0.001, other[0] + flip
    return Side(one, exact + rows(3, twin)), Side(other, exact + rows(4, twin))


def test_a_gap_within_what_rounding_moves_is_a_near_tie() -> None:
    exact = rows(0, 0, 5.0, 4.99)
    found = divergence(exact, *sides(exact, flip=0.001, noise=0.01, twin=0.01))
    assert found.explained
    assert found.gap == pytest.approx(0.01, abs=1e-4)
    assert [part.token for part in found.parts] == [0, 1]
    assert [part.moved for part in found.parts] == [False, True]


def test_a_gap_beyond_it_is_not() -> None:
    exact = rows(0, 0, 5.0, 4.0)
    found = divergence(exact, *sides(exact, flip=0.001, noise=0.01, twin=0.01))
    assert not found.near_tie
    assert not found.explained


def test_an_engine_that_errs_more_than_rounding_does_is_not_excused_by_a_near_tie() -> None:
    exact = rows(0, 0, 5.0, 4.99)
    found = divergence(exact, *sides(exact, flip=0.001, noise=0.1, twin=0.01))
    assert found.near_tie
    assert not found.explained


def test_the_reach_is_that_of_the_engine_whose_choice_was_moved() -> None:
    exact = rows(0, 0, 5.0, 4.9)
    one, other = sides(exact, flip=0.001, noise=0.01, twin=0.01)
    coarse = one._replace(twin=exact + rows(5, 1.0))
    assert not divergence(exact, coarse, other).near_tie


def test_both_choices_count_where_neither_is_the_exact_one() -> None:
    exact = rows(0, 0, 5.0, 4.99, 6.0)
    one, other = sides(exact, flip=0.001, noise=0.0, twin=0.01)
    for side in (one, other):
        side.logits[2] = 0.0
    found = divergence(exact, one, other)
    assert found.gap == pytest.approx(1.01, abs=1e-4)
    assert all(part.moved for part in found.parts)


def test_a_number_added_to_every_logit_is_no_error() -> None:
    exact = rows(0, 1.0)
    assert error(exact + 3.0, exact) == pytest.approx(0.0, abs=1e-5)


def test_engines_that_agree_have_no_divergence() -> None:
    exact = rows(0, 0, 5.0)
    with pytest.raises(ValueError, match="both choose token 0"):
        divergence(exact, Side(exact, exact), Side(exact, exact))


def test_over_many_tokens_errors_are_compared_with_the_twins() -> None:
    exact = torch.stack([rows(seed, 1.0) for seed in range(20)])

    def off(scale: float, seed: int) -> Tensor:
        return exact + torch.randn(exact.shape, generator=torch.Generator().manual_seed(seed)) * scale

    sound = errors([off(0.1, 1)], [off(0.1, 2)], [exact])
    assert sound.usual
    assert sound.found == pytest.approx(0.1 * 2**0.5, rel=0.1)
    assert not errors([off(0.14, 1)], [off(0.1, 2)], [exact]).usual


@pytest.mark.parametrize(
    ("one", "other", "at"), [((1, 2), (1, 2), None), ((1, 2), (1, 3), 1), ((0, 2), (1, 2), 0), ((), (), None)]
)
def test_the_first_difference_is_found(one: tuple[int, ...], other: tuple[int, ...], at: int | None) -> None:
    assert first_difference(one, other) == at


def test_a_relative_distance_is_a_share_of_the_second() -> None:
    assert relative(torch.tensor([3.0, 4.4]), torch.tensor([3.0, 4.0])) == pytest.approx(0.08)


# ----------------------------------------------------------------------------------------------------------------------
# the rule, on engines that compute something else


def engine_of(config: SparkConfig, tensors: Tensors) -> TorchEngine:
    kernels = compiled_kernels()
    scheme = Unquantised(torch.bfloat16, kernels is not None)
    with torch.no_grad():
        model = Spark(config, {name: tensor.bfloat16() for name, tensor in tensors.items()}, scheme)
    return TorchEngine(model, threads=1, context=1024, kernels=kernels)


def shorter_window(config: SparkConfig, tensors: Tensors) -> SparkConfig:  # noqa: ARG001
    return replace(config, sliding_window=config.sliding_window // 2)


def another_base(config: SparkConfig, tensors: Tensors) -> SparkConfig:  # noqa: ARG001
    rope = config.full_rope
    return replace(config, full_rope=Rope(rope.theta * 0.9, rope.partial_rotary_factor))


def open_gates(config: SparkConfig, tensors: Tensors) -> SparkConfig:
    tensors["model.layers.2.self_attn.g_proj.weight"] *= 0.7
    return config


def a_layer_a_little_off(config: SparkConfig, tensors: Tensors) -> SparkConfig:
    tensors["model.layers.1.mlp.down_proj.weight"] *= 1.1
    return config


def a_norm_a_little_off(config: SparkConfig, tensors: Tensors) -> SparkConfig:
    tensors["model.norm.weight"] *= 1 + 0.05 * torch.randn(
        config.hidden_size, generator=torch.Generator().manual_seed(0)
    )
    return config


@pytest.mark.parametrize(
    "damage", [shorter_window, another_base, open_gates, a_layer_a_little_off, a_norm_a_little_off]
)
def test_an_engine_that_computes_something_else_is_found_out(
    damage: Callable[[SparkConfig, Tensors], SparkConfig],
) -> None:
    config = SparkConfig.from_folder(NANO)
    weights = {name: tensor.float() for name, tensor in Weights(NANO, config).items()}
    right = engine_of(config, weights)
    twin = RoundingTwin(config, weights_of(right.model))
    wrong = engine_of(damage(config, weights), weights)
    seen: dict[str, list[Tensor]] = {"right": [], "wrong": [], "twin": [], "exact": []}
    for prompt in random_prompts(config.vocab_size, [300] * 4, seed=5):
        one, other = watch_torch(right, prompt, 16), watch_torch(wrong, prompt, 16)
        at = first_difference(one.ids, other.ids)
        same = 16 if at is None else at + 1
        text = prompt + one.ids[: same - 1]
        exact, rounded = (twin.compute(text, rounds, prompt=300).logits[299:] for rounds in (EXACT, OURS))
        for name, rows in (("right", one.logits), ("wrong", other.logits), ("twin", rounded), ("exact", exact)):
            seen[name].append(rows[:same])
        if at is not None:
            why = divergence(exact[at], Side(one.logits[at], rounded[at]), Side(other.logits[at], rounded[at]))
            assert why.parts[0].usual  # the other part may be too, where two tokens are all but level
    assert errors(seen["right"], seen["twin"], seen["exact"]).usual
    assert not errors(seen["wrong"], seen["twin"], seen["exact"]).usual
