"""The memory that vLLM is granted for keys and values: arithmetic only, so no vLLM is needed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.spark_backend.checkpoints.shapes import SHAPES
from agent_eval.spark_backend.kv_budget import kv_budget
from agent_eval.spark_backend.vllm.room import BATCH_TOKENS, BLOCK_TOKENS, PREFIX_TOKENS, SPARE_BLOCKS, vllm_room

SPARK = SHAPES["1.7b"]


def test_the_published_model_takes_half_of_what_a_layout_without_windows_takes() -> None:
    room = vllm_room(SPARK, 16_384, sequences=1, value_bytes=2)
    long, window, prefix = 16_384 // 32, (511 + BATCH_TOKENS + 31) // 32 + 1, PREFIX_TOKENS // 32
    blocks = (long + SPARE_BLOCKS) + 3 * (window + prefix + SPARE_BLOCKS)  # 7 full layers, 3 x 7 sliding
    assert room.bytes == blocks * 7 * 32 * 2048
    assert room.bytes < 0.6 * kv_budget(SPARK, 16_384).flat


@given(
    context=st.integers(1, 40_000),
    sequences=st.integers(1, 9),
    layers=st.integers(1, 12),
    value_bytes=st.sampled_from([2, 4]),
)
def test_there_is_room_for_every_sequence_and_a_prefix_at_any_length(
    context: int, sequences: int, layers: int, value_bytes: int
) -> None:
    config = replace(SPARK, num_hidden_layers=layers, layer_types=SPARK.layer_types[:layers])
    room = vllm_room(config, context, sequences=sequences, value_bytes=value_bytes)
    budget = kv_budget(config, context, sequences=sequences, value_bytes=value_bytes)
    assert room.bytes >= budget.hybrid
    assert room.bytes <= vllm_room(config, context + 1, sequences=sequences, value_bytes=value_bytes).bytes
    assert room.bytes < vllm_room(config, context, sequences=sequences + 1, value_bytes=value_bytes).bytes
    assert room.prefix_tokens <= context


@pytest.mark.parametrize("value_bytes", [2, 4])
def test_a_block_holds_whole_pages(value_bytes: int) -> None:
    page = 7 * BLOCK_TOKENS * 2 * SPARK.key_width * value_bytes
    assert vllm_room(SPARK, 1000, sequences=3, value_bytes=value_bytes).bytes % page == 0
