"""The slow exact twins: the forward pass and the quantised products written out in float64 and integers, with loops.

Only rotary angles are those of float32, since the weights were trained with them.

Nothing here calls the code under test or torch; both sides share only the config.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from agent_eval.spark_backend.checkpoints.config import LayerType, Rope, SparkConfig

Array = NDArray[np.float64]


def logits(config: SparkConfig, weights: Mapping[str, Array], ids: list[int], *, gated: bool = True) -> Array:
    """Return the logits (T, V) of a whole sequence."""
    embedding = weights["model.embedding.weight"]
    x = embedding[ids]
    for i, kind in enumerate(config.layer_types):
        at = f"model.layers.{i}."
        normed = rms_norm(x, weights[at + "input_layernorm.weight"], config.rms_norm_eps)
        x = x + attention(config, kind, weights, at + "self_attn.", normed, gated=gated)
        normed = rms_norm(x, weights[at + "post_attention_layernorm.weight"], config.rms_norm_eps)
        gate = normed @ weights[at + "mlp.gate_proj.weight"].T
        up = normed @ weights[at + "mlp.up_proj.weight"].T
        x = x + (gelu(gate) * up) @ weights[at + "mlp.down_proj.weight"].T
    head = embedding if config.tie_word_embeddings else weights["lm_head.weight"]
    return rms_norm(x, weights["model.norm.weight"], config.rms_norm_eps) @ head.T


def rms_norm(x: Array, weight: Array, eps: float) -> Array:
    """Divide each row by its root mean square."""
    rows = [row / math.sqrt(float(row @ row) / len(row) + eps) * weight for row in x]
    return np.stack(rows)


def gelu(x: Array) -> Array:
    """The exact GELU."""
    erf = np.vectorize(math.erf)
    result: Array = 0.5 * x * (1 + erf(x / math.sqrt(2)))
    return result


def attention(
    config: SparkConfig, kind: LayerType, weights: Mapping[str, Array], at: str, h: Array, *, gated: bool
) -> Array:
    """Attend with loops over heads and queries."""
    heads, kv_heads, dim = config.num_attention_heads, config.num_key_value_heads, config.head_dim
    fused = h @ weights[at + "q_k_v_proj.weight"].T
    q = fused[:, : heads * dim].reshape(-1, heads, dim)
    k = fused[:, heads * dim : (heads + kv_heads) * dim].reshape(-1, kv_heads, dim)
    v = fused[:, (heads + kv_heads) * dim :].reshape(-1, kv_heads, dim)
    k = np.stack([[rotate(config, kind, head, j) for head in k[j]] for j in range(len(h))])
    window = config.window(kind) or len(h)
    out = np.zeros((len(h), heads, dim))
    for i in range(len(h)):
        gate = h[i] @ weights[at + "g_proj.weight"].T
        opened = 1 / (1 + np.exp(-gate))
        if config.gate_activation == "silu":
            opened = opened * gate
        for n in range(heads):
            query = rotate(config, kind, q[i, n], i)
            group = n // (heads // kv_heads)
            seen = slice(max(0, i - window + 1), i + 1)  # the window counts the current token
            scores = k[seen, group] @ query / math.sqrt(dim)
            shares = np.exp(scores - scores.max())
            out[i, n] = shares / shares.sum() @ v[seen, group]
            if gated:
                out[i, n] *= opened[n]
    result: Array = out.reshape(len(h), heads * dim) @ weights[at + "out_proj.weight"].T
    return result


def rotate(config: SparkConfig, kind: LayerType, head: Array, position: int) -> Array:
    """Rotate the first dimensions of one head, pair by pair."""
    rope = config.rope(kind)
    rotated = int(config.head_dim * rope.partial_rotary_factor)
    out = head.copy()
    for pair in range(rotated // 2):
        angle = turned_by(rope, rotated, pair, position)
        a, b = head[pair], head[pair + rotated // 2]
        out[pair] = a * math.cos(angle) - b * math.sin(angle)
        out[pair + rotated // 2] = b * math.cos(angle) + a * math.sin(angle)
    return out


def turned_by(rope: Rope, rotated: int, pair: int, position: int) -> float:
    """Return the angle of one pair at one position: rounded to float32 at every step, as the published model has it."""
    exponent = np.float32(2 * pair) / np.float32(rotated)
    frequency = np.float32(1) / np.float32(rope.theta ** float(exponent))
    return float(np.float32(position) * frequency)


def integer_product(
    x: Array, codes: NDArray[np.uint8], scale: Array, group: int, *, zero: Array | None = None, centre: int = 8
) -> tuple[Array, Array]:
    """Multiply as an integer kernel does: int8 rows, int32 sums per group of columns, scales and zeros last.

    Returns:
        The product (R, N), and for each entry the sum of its terms' magnitudes, which rounding errors are measured by.
    """
    rows, channels = len(x), len(codes)
    out, magnitude = np.zeros((rows, channels)), np.zeros((rows, channels))
    for r in range(rows):
        step = max(float(np.float32(np.abs(x[r]).max()) / np.float32(127)), 1e-30)
        # Python rounds halves to even, as IEEE 754 does.
        values = [round(float(np.float32(value) / np.float32(step))) for value in x[r]]
        assert all(-127 <= value <= 127 for value in values)
        integers = np.array(values, dtype=np.int64).reshape(-1, group)
        for n in range(channels):
            weights = codes[n].astype(np.int64).reshape(-1, group) - centre
            sums = (integers * weights).sum(axis=1)
            assert np.abs(sums).max() < 2**31
            out[r, n] = step * float(scale[n] @ sums)
            magnitude[r, n] = step * float(scale[n] @ np.abs(integers * weights).sum(axis=1))
            if zero is not None:
                out[r, n] += step * float(zero[n] @ integers.sum(axis=1))
                magnitude[r, n] += step * float(np.abs(zero[n]) @ np.abs(integers).sum(axis=1))
    return out, magnitude
