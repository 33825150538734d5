"""Memory for keys and values: the published study's figures, and this project's own cache."""

from __future__ import annotations

import pytest
import torch

from agent_eval.spark_backend.cache import Cache
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.shapes import SHAPES
from agent_eval.spark_backend.kv_budget import BF16, FP32, cache_bytes, kv_budget
from tests.spark_backend.configs import SMALL

MIB = 2**20
SPARK = SHAPES["1.7b"]


def test_a_token_of_the_published_model_takes_two_kibibytes_a_layer_and_56_in_all() -> None:
    budget = kv_budget(SPARK, 2048)
    assert budget.token_layer_bytes == 2048
    assert budget.token_bytes == 56 * 1024
    assert (budget.full_layers, budget.sliding_layers, budget.window) == (7, 21, 512)


@pytest.mark.parametrize(
    ("context", "flat", "hybrid", "with_headroom"), [(2048, 112, 49, 140), (32768, 1792, 469, 2240)]
)
def test_the_figures_of_the_published_study_come_out(context: int, flat: int, hybrid: int, with_headroom: int) -> None:
    budget = kv_budget(SPARK, context)
    assert (budget.flat / MIB, budget.hybrid / MIB) == (flat, hybrid)
    assert budget.flat_with_headroom / MIB == with_headroom


def test_a_long_context_is_nearly_four_times_smaller_without_what_sliding_layers_cannot_see() -> None:
    assert round(kv_budget(SPARK, 32768).saving, 2) == 3.82
    assert kv_budget(SPARK, 512).saving == 1


def test_tokens_are_given_room_sixteen_at_a_time() -> None:
    assert kv_budget(SPARK, 1).flat == kv_budget(SPARK, 16).flat == 16 * 56 * 1024
    assert kv_budget(SPARK, 17).flat == 32 * 56 * 1024


@pytest.mark.parametrize("value_bytes", [BF16, FP32])
def test_sequences_and_wider_numbers_multiply(value_bytes: int) -> None:
    one = kv_budget(SPARK, 1024, value_bytes=value_bytes)
    assert kv_budget(SPARK, 1024, sequences=3, value_bytes=value_bytes).hybrid == 3 * one.hybrid
    assert one.flat == value_bytes * kv_budget(SPARK, 1024, value_bytes=1).flat


@pytest.mark.parametrize("context", [20, 100, 256, 300, 512])
def test_a_cache_that_is_full_takes_what_was_reckoned(context: int) -> None:
    config: SparkConfig = SMALL
    cache = Cache(config, context)
    for start in range(0, context, 16):
        new = min(16, context - start)
        cache.take(new)
        for layer in range(config.num_hidden_layers):
            part = torch.zeros(config.num_key_value_heads, new, config.head_dim)
            cache.extend(layer, part, part)
    assert sum(memory.store.nbytes for memory in cache.memories.values()) == cache_bytes(config, context)
    mark = cache.mark()
    assert cache_bytes(config, context, marks=1) - cache_bytes(config, context) == mark.bytes
