"""Rotary position embedding of one layer type: tables of cosines and sines, and the rotation. Knows no weights.

The published models rotate all of a head in sliding layers and a quarter of it in full layers, in the NeoX manner:
within the rotated slice, dimension ``k`` of the first half turns against dimension ``k`` of the second half.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from agent_eval.spark_backend.checkpoints.config import Rope

FIRST_ROWS = 2048  # a table for the published maximum of 1,048,576 positions would take 2 GiB


class Rotation(NamedTuple):
    """Cosines and sines of some positions, as wide as a head."""

    cos: Tensor  # (T, 1, D); 1 where a dimension passes through
    sin: Tensor  # (T, 1, D); negative in the first half of the slice, 0 where a dimension passes through


class Rotary(nn.Module):
    """Tables of one layer type, made once and doubled when a sequence outgrows them.

    Args:
        rope: Base and share of the rotation.
        head_dim: Width of one head.
        positions: Most positions that will ever be asked for.
    """

    cos: Tensor
    sin: Tensor

    def __init__(self, rope: Rope, head_dim: int, positions: int) -> None:
        super().__init__()
        self._theta = rope.theta
        self._rotated = rope.rotary_dim(head_dim)
        self._head_dim = head_dim
        self._fill(min(positions, FIRST_ROWS), device=None)

    def _fill(self, rows: int, device: torch.device | None) -> None:
        with torch.inference_mode(mode=False):  # tables made while generating must still serve training
            # Float32 throughout, as the published model computes it: what counts is equality with it, not accuracy.
            # Exact angles differ by 1e-4 rad at position 1,300; sharp attention makes 1e-3 of a log-probability of it.
            frequencies = 1 / self._theta ** (torch.arange(0, self._rotated, 2).float() / self._rotated)
            angles = torch.outer(torch.arange(rows).float(), frequencies)  # (rows, R/2)
            cos, sin = angles.cos(), angles.sin()
            rest = torch.zeros(rows, self._head_dim - self._rotated)
            cos = torch.cat((cos, cos, rest + 1), dim=1)[:, None]
            sin = torch.cat((-sin, sin, rest), dim=1)[:, None]
            self.register_buffer("cos", cos.to(device), persistent=False)
            self.register_buffer("sin", sin.to(device), persistent=False)

    def at(self, start: int, end: int) -> Rotation:
        """Return the rotation of the positions from ``start`` up to, not including, ``end``."""
        if end > self.cos.shape[0]:
            rows = self.cos.shape[0]
            while rows < end:
                rows *= 2
            self._fill(rows, self.cos.device)
        return Rotation(self.cos[start:end], self.sin[start:end])

    def forward(self, x: Tensor, rotation: Rotation) -> Tensor:
        """Turn heads of shape (..., T, N, D) to their positions; float32 in and out."""
        half, end = self._rotated // 2, self._rotated
        if end == self._head_dim:
            swapped = torch.cat((x[..., half:], x[..., :half]), dim=-1)
        else:
            swapped = torch.cat((x[..., half:end], x[..., :half], x[..., end:]), dim=-1)
        return torch.addcmul(x * rotation.cos, swapped, rotation.sin)
