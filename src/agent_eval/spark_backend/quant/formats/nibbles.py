"""Codes of four bits into words and back. Knows no names and no scales.

Two orders are in use for eight codes in a word of 32 bits. GPTQ puts code i at bits 4i. AWQ's kernels unpack even and
odd halves at once, so there code ``AWQ_ORDER[i]`` is at bits 4i (casper-hansen/AutoAWQ, ``gemm.py``).
"""

from __future__ import annotations

import sys

import torch
from torch import Tensor

GPTQ_ORDER = (0, 1, 2, 3, 4, 5, 6, 7)
AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)

WORD = 8
"""Codes in a word."""


def pack_words(codes: Tensor, order: tuple[int, ...] = GPTQ_ORDER) -> Tensor:
    """Pack the last dimension, a multiple of 8, of codes 0 to 15: (..., M) uint8 to (..., M / 8) int32."""
    eights = codes.reshape(*codes.shape[:-1], -1, WORD)[..., list(order)]
    halves = eights[..., 0::2] | (eights[..., 1::2] << 4)  # (..., M / 8, 4) bytes, the lowest first
    assert sys.byteorder == "little"
    return halves.contiguous().view(torch.int32)[..., 0]


def unpack_words(words: Tensor, order: tuple[int, ...] = GPTQ_ORDER) -> Tensor:
    """Undo ``pack_words``: (..., M) int32 to (..., 8M) uint8."""
    assert sys.byteorder == "little"
    halves = words.contiguous().unsqueeze(-1).view(torch.uint8)  # (..., M, 4)
    placed = torch.stack((halves & 15, halves >> 4), dim=-1).flatten(-2)  # (..., M, 8) by place
    back = [order.index(code) for code in range(WORD)]
    return (placed if order == GPTQ_ORDER else placed[..., back]).flatten(-2)


def pack_bytes(codes: Tensor) -> Tensor:
    """Pack neighbours of the last dimension: (..., M) uint8 to (..., M / 2) uint8, the first in the low half."""
    return codes[..., 0::2] | (codes[..., 1::2] << 4)


def unpack_bytes(packed: Tensor) -> Tensor:
    """Undo ``pack_bytes``."""
    return torch.stack((packed & 15, packed >> 4), dim=-1).flatten(-2)
