"""A start from which a small Spark learns to look things up. It only sets the start; every weight is trained.

A number stands a few tokens before its label, so a label's tokens must first learn which number precedes them. Heads of
the first two layers begin by attending to fixed offsets back (1, 2, 3, …), and the full layers begin with equal query
and key projections, which match equal content.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from agent_eval.spark_backend.checkpoints.config import SparkConfig

CONSTANT_DIMS = 16
"""Dimensions of the embedding that begin equal for all tokens: from them a head can make a constant query and key."""

_EMBEDDING_SPREAD = 0.1

_SHARPNESS = 6.0
"""Length of one rotary pair of the constant key; large enough that the wanted offset wins by several logits."""


def structured_weights(
    config: SparkConfig, generator: torch.Generator, alike: Sequence[tuple[int, int]] = ()
) -> dict[str, Tensor]:
    """Draw float32 weights, named as in a checkpoint.

    Args:
        config: The model's shape.
        generator: Draws the random part.
        alike: Pairs of tokens; the first begins as the second, but for a change that all first ones share. The start of
            a line and the number that calls it are such a pair: what is found is said by copying.
    """
    weights: dict[str, Tensor] = {}
    for name, shape in config.tensor_shapes().items():
        if name.endswith("norm.weight"):
            weights[name] = torch.ones(shape)
        elif name.endswith("g_proj.weight"):
            weights[name] = torch.zeros(shape)
        else:
            weights[name] = torch.randn(shape, generator=generator) * _spread(name, shape)
    table = weights["model.embedding.weight"]
    shared = torch.randn(config.hidden_size, generator=generator) * _EMBEDDING_SPREAD
    for first, second in alike:
        table[first] = table[second] + shared
    table[:, :CONSTANT_DIMS] = _EMBEDDING_SPREAD
    for layer, kind in enumerate(config.layer_types):
        fused = weights[f"model.layers.{layer}.self_attn.q_k_v_proj.weight"]
        if kind == "sliding_attention" and layer < 2:
            _attend_to_offsets(fused, config, layer)
        elif kind == "full_attention":
            _match_content(fused, config)
    return weights


def _spread(name: str, shape: tuple[int, ...]) -> float:
    """Return the standard deviation of a matrix; what writes to the residual stream begins smaller."""
    if name == "model.embedding.weight":
        return _EMBEDDING_SPREAD
    quiet = 0.3 if name.endswith(("out_proj.weight", "down_proj.weight")) else 1.0
    return quiet / math.sqrt(shape[1])


def _attend_to_offsets(fused: Tensor, config: SparkConfig, layer: int) -> None:
    """Make query head h of a sliding layer attend h + 1 tokens back; one head of each layer stays random."""
    size, heads, kv_heads = config.head_dim, config.num_attention_heads, config.num_key_value_heads
    half = size // 2
    theta = config.sliding_rope.theta
    frequencies = theta ** (-torch.arange(half, dtype=torch.float32) * 2 / size)
    sharp = frequencies > 0.05  # slower pairs cannot tell neighbours apart
    pull = _SHARPNESS / math.sqrt(CONSTANT_DIMS)
    for head in range(kv_heads):
        rows = fused[(heads + head) * size : (heads + head + 1) * size]
        rows[:half][sharp] = 0.0
        rows[half:][sharp] = 0.0
        rows[:half, :CONSTANT_DIMS][sharp] = pull / math.sqrt(CONSTANT_DIMS)
    for head in range(heads - 1):
        offset = head + 1 + (layer if head + 1 > 2 else 0)
        rows = fused[head * size : (head + 1) * size]
        angle = -offset * frequencies
        for part, wave in ((rows[:half], torch.cos(angle)), (rows[half:], torch.sin(angle))):
            part[sharp] = 0.0
            part[:, :CONSTANT_DIMS][sharp] = (pull / math.sqrt(CONSTANT_DIMS) * wave[sharp])[:, None]


def _match_content(fused: Tensor, config: SparkConfig) -> None:
    """Give each query head of a full layer the projection of its key head."""
    size, heads, kv_heads = config.head_dim, config.num_attention_heads, config.num_key_value_heads
    for head in range(heads):
        kv = head // (heads // kv_heads)
        fused[head * size : (head + 1) * size] = fused[(heads + kv) * size : (heads + kv + 1) * size]
        fused[head * size : (head + 1) * size, :CONSTANT_DIMS] = 0.0
