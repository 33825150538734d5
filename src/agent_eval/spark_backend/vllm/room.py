"""How much memory vLLM is granted for keys and values. Allocates nothing and imports no vLLM.

vLLM gives out blocks of tokens. A layer that attends to everything needs blocks for the whole context; a sliding layer
for what it still sees and for what one step adds, before the oldest are taken back. The prefix that episodes share is
pinned in every layer.
"""

from __future__ import annotations

from typing import NamedTuple

from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.kv_budget import kv_budget

BLOCK_TOKENS = 32
"""Tokens to a block: what a prompt shares with others is found in whole blocks. vLLM's own choice for CPUs is 128; its
kernels ask for a multiple of 32."""

BATCH_TOKENS = 2048
"""Most tokens that one step computes."""

PREFIX_TOKENS = 2048
"""A longer prefix is not pinned: every episode computes it anew."""

SPARE_BLOCKS = 4
"""For each kind of layer: partly filled blocks, and the one that vLLM never gives out."""


class VllmRoom(NamedTuple):
    """What is granted."""

    bytes: int
    prefix_tokens: int
    """Longest prefix that it has room to pin."""


def vllm_room(config: SparkConfig, context: int, *, sequences: int, value_bytes: int) -> VllmRoom:
    """Return what sequences of a context take in vLLM.

    Args:
        config: The model.
        context: Most tokens of one sequence.
        sequences: Most sequences at a time.
        value_bytes: Of one number.
    """
    budget = kv_budget(config, context, value_bytes=value_bytes)
    prefix = min(PREFIX_TOKENS, context)
    long = _blocks(context)
    short = min(long, _blocks(config.sliding_window - 1 + BATCH_TOKENS) + 1)
    full = sequences * long + SPARE_BLOCKS
    sliding = sequences * short + _blocks(prefix) + SPARE_BLOCKS
    # vLLM puts layers into groups of one size, which a pool of equal pages serves
    group = budget.full_layers or budget.sliding_layers
    groups = -(-budget.sliding_layers // group)
    pages = (full if budget.full_layers else 0) + groups * sliding
    return VllmRoom(pages * group * BLOCK_TOKENS * budget.token_layer_bytes, prefix)


def _blocks(tokens: int) -> int:
    return -(-tokens // BLOCK_TOKENS)
