"""Slow exact twins of ggml's blocks: bytes to numbers, one weight at a time, as ``ggml-common.h`` lays them out."""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from agent_eval.spark_backend.llama.gguf import BlockType

Array = NDArray[np.float64]


def dequantised(data: bytes, type_: BlockType, shape: tuple[int, int]) -> Array:
    """Return what rows of blocks stand for."""
    blocks = [data[at : at + type_.size] for at in range(0, len(data), type_.size)]
    return np.array([weight for block in blocks for weight in READERS[type_](block)]).reshape(shape)


def _half(block: bytes, at: int) -> float:
    return float(struct.unpack_from("<e", block, at)[0])


def _q8_0(block: bytes) -> list[float]:
    return [_half(block, 0) * code for code in struct.unpack_from("<32b", block, 2)]


def _q5_0(block: bytes) -> list[float]:
    scale, (fifth,), nibbles = _half(block, 0), struct.unpack_from("<I", block, 2), block[6:]
    low = [nibbles[j] & 15 | (fifth >> j & 1) << 4 for j in range(16)]
    high = [nibbles[j] >> 4 | (fifth >> j + 16 & 1) << 4 for j in range(16)]
    return [scale * (code - 16) for code in low + high]


def _q4_k(block: bytes) -> list[float]:
    scale, least, packed, nibbles = _half(block, 0), _half(block, 2), block[4:16], block[16:]
    out = []
    for part in range(8):  # of 32 weights, each with six bits of scale and six of minimum
        if part < 4:
            of_scale, of_least = packed[part] & 63, packed[part + 4] & 63
        else:
            of_scale = packed[part + 4] & 15 | packed[part - 4] >> 6 << 4
            of_least = packed[part + 4] >> 4 | packed[part] >> 6 << 4
        for j in range(32):
            code = nibbles[part // 2 * 32 + j] >> 4 * (part % 2) & 15
            out.append(scale * of_scale * code - least * of_least)
    return out


def _q6_k(block: bytes) -> list[float]:
    low, high, scales, scale = block[:128], block[128:192], struct.unpack_from("<16b", block, 192), _half(block, 208)
    out = []
    for i in range(256):
        half, quarter, j = i // 128, i % 128 // 32, i % 32
        nibble = low[64 * half + 32 * (quarter % 2) + j] >> 4 * (quarter // 2) & 15
        code = nibble | (high[32 * half + j] >> 2 * quarter & 3) << 4
        out.append(scale * scales[i // 16] * (code - 32))
    return out


READERS: dict[BlockType, Callable[[bytes], list[float]]] = {
    BlockType.Q4_K: _q4_k,
    BlockType.Q5_0: _q5_0,
    BlockType.Q6_K: _q6_k,
    BlockType.Q8_0: _q8_0,
}
