"""W4A8: four-bit weights in symmetric groups, activations in eight bits per token.

The arithmetic that is meant is an integer kernel's: per token a scale ``a = amax / 127`` and integers
``x = round(h / a)``; per group of weights an int32 sum of ``x * (code - 8)``; then ``a`` times the sum over groups of
``scale * int32 sum``.

It is computed by floating-point kernels on integer-valued inputs, because no integer product in torch serves both a
4-bit weight and every CPU. Nothing is lost before the last sum: ``|x| <= 127`` has 7 significant bits and is exact in
bfloat16, ``|code - 8| <= 8`` has 4, a bfloat16 scale has 8, so each term ``x * (code - 8) * scale`` has at most 19 and
is exact in float32, whatever the group. What rounds is the float32 accumulator, where the integer kernel rounds only
between groups: both stay within ``K * 2^-24`` of the sum of the terms' magnitudes, far below the ``2^-8`` with which
the packed kernel hands out bfloat16. The tests hold this against integer arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from agent_eval.spark_backend.quant.groups import GROUP, quantise
from agent_eval.spark_backend.quant.int4 import KERNEL, PACKED_ROWS, Int4Product

_SMALLEST = 1e-30  # scale of a row of zeros


class QuantisedRows(NamedTuple):
    """Activations in eight bits."""

    values: Tensor  # (R, K) bfloat16 holding whole numbers from -127 to 127
    scale: Tensor  # (R, 1) float32


def quantise_rows(x: Tensor) -> QuantisedRows:
    """Quantise each row of (R, K) by its own largest magnitude; halves are rounded to even."""
    scale = (x.abs().amax(dim=-1, keepdim=True).float() / 127).clamp_min_(_SMALLEST)
    return QuantisedRows((x / scale).round_().to(torch.bfloat16), scale)


class W4A8Linear(nn.Module):
    """Quantises its input row by row and multiplies it by a four-bit weight."""

    def __init__(self, product: Int4Product) -> None:
        super().__init__()
        self._product = product

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., K) to (..., N) float32."""
        rows = quantise_rows(x.reshape(-1, x.shape[-1]))
        return (self._product(rows.values) * rows.scale).view(*x.shape[:-1], -1)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class W4A8:
    """Every projection and the head in four bits and their inputs in eight; norms, gates and the embedding are not."""

    group: int = GROUP
    activation: torch.dtype = torch.bfloat16

    @property
    def notes(self) -> str:
        """Say what is quantised and which kernels compute."""
        return (
            f"projections and head 4-bit, symmetric, groups of {self.group}; gate, norms and embedding bfloat16; "
            f"activations 8-bit per token, symmetric; decode: {KERNEL} on integer-valued rows; "
            f"prefill: float32 linear over widened weights above {PACKED_ROWS} rows"
        )

    def linear(self, name: str, weight: Tensor) -> nn.Module:
        """Quantise a weight and return its layer.

        Raises:
            CheckpointError: its width does not divide into groups.
        """
        return W4A8Linear(Int4Product(quantise(name, weight, "symmetric", self.group)))
