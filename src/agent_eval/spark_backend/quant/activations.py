"""Activations in eight bits: one scale a row. The slow form of what the kernels do; knows no weights."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

_SMALLEST = 1e-30  # scale of a row of zeros


class QuantisedRows(NamedTuple):
    """Activations in eight bits."""

    values: Tensor  # (R, K) bfloat16 holding whole numbers from -127 to 127
    scale: Tensor  # (R, 1) float32


def quantise_rows(x: Tensor) -> QuantisedRows:
    """Quantise each row of (R, K) by its own largest magnitude; halves are rounded to even."""
    scale = (x.abs().amax(dim=-1, keepdim=True).float() / 127).clamp_min_(_SMALLEST)
    return QuantisedRows((x / scale).round_().to(torch.bfloat16), scale)
