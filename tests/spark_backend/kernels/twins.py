"""Products written out in NumPy: what the kernels are held against. Slow, and in the order that linear.h states."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from agent_eval.spark_backend.quant.groups import GroupedWeight

Floats = NDArray[np.float32]


def int8_product(weight: GroupedWeight, x: Floats) -> Floats:
    """Multiply a row (K,) by a weight (N, K) with inputs in eight bits, bit for bit: (N,)."""
    rows, width = weight.shape
    if not np.isfinite(x).all():
        return np.full(rows, np.nan, np.float32)
    a = max(np.float32(np.abs(x).max()) / np.float32(127), np.float32(1e-30))
    q = np.rint(x / a).astype(np.int32)
    codes = weight.codes.numpy().astype(np.int32) - weight.centre
    scale = weight.scale.float().numpy()
    zero = None if weight.zero is None else weight.zero.float().numpy()
    total = np.zeros(rows, np.float32)
    for g in range(width // weight.group):
        part = slice(g * weight.group, (g + 1) * weight.group)
        total += (codes[:, part] @ q[part]).astype(np.float32) * scale[:, g]
        if zero is not None:
            total += np.float32(q[part].sum()) * zero[:, g]
    return np.asarray(total * a, np.float32)


def exact_product(weight: NDArray[np.float64], x: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Multiply in float64 and return also the sum of the terms' magnitudes, by which float32 sums may be off."""
    terms = x.astype(np.float64)
    return weight @ terms, np.abs(weight) @ np.abs(terms)


def random_weight(
    rows: int, width: int, *, bits: int, group: int, symmetric: bool, seed: int = 0, extreme: bool = False
) -> GroupedWeight:
    """Draw a weight of few bits; an extreme one has the largest and smallest codes only."""
    generator = torch.Generator().manual_seed(seed)
    container = 8 if bits == 8 else 4
    codes = torch.randint(0, 2**container, (rows, width), generator=generator, dtype=torch.uint8)
    if extreme:
        codes = torch.where(codes % 2 == 0, 0, 2**container - 1).to(torch.uint8)
    shape = (rows, width // group)
    scale = (torch.rand(shape, generator=generator) * 0.02 + 0.001).bfloat16()
    zero = None if symmetric else (torch.randn(shape, generator=generator) * 0.01).bfloat16()
    return GroupedWeight(codes, scale, zero, group, bits)
