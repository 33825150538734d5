"""Four-bit weights in groups: what a quantised weight says. Knows no kernel and no layer.

A weight (N, K) is cut into groups of neighbours along K. Each holds codes 0 to 15, and
``w = (code - 8) * scale + zero`` with scale and zero in bfloat16, the form in which the kernels take them. Both are
rounded before the codes are chosen, so the error that the searches minimise is the error that is shipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from agent_eval.errors import CheckpointError

GROUP = 32
"""Weights per group: 4 bits each and 16 or 32 more per group. Divides every width of every checkpoint."""

# Published edge study of Spark-X2.5: factors on (max - min) for asymmetric groups, on amax / 8 for symmetric ones.
# 8/7 is added: it alone keeps a positive largest value, which falls on code 15.
SHRINK_FACTORS = (1.0, 0.98, 0.96, 0.94, 0.92, 0.90, 0.88, 0.85)
SCALE_FACTORS = (8 / 7, 1.06, 1.0, 0.95, 0.9, 0.875, 0.85, 0.8, 0.75)

_SMALLEST = 1e-9  # scale of a group that holds one value only; dividing by it must stay finite
_WEIGHTS_AT_ONCE = 2**17  # 512 KiB in float32: the search goes over each part some sixty times, so it stays in cache


@dataclass(frozen=True)
class Int4Groups:
    """A weight of shape (N, K) in four bits."""

    codes: Tensor
    """(N, K) uint8, 0 to 15."""
    scale: Tensor
    """(N, K / group) bfloat16."""
    zero: Tensor
    """(N, K / group) bfloat16: the value of code 8."""
    group: int

    def dequantised(self) -> Tensor:
        """Return the weight that the codes stand for: (N, K) float32."""
        rows, width = self.codes.shape
        codes = self.codes.view(rows, -1, self.group).float() - 8
        return (codes * self.scale.float()[..., None] + self.zero.float()[..., None]).view(rows, width)


def quantise(name: str, weight: Tensor, form: Literal["asymmetric", "symmetric"], group: int = GROUP) -> Int4Groups:
    """Quantise a weight of shape (N, K), group by group, with the least squared error among a few candidate grids.

    Raises:
        CheckpointError: K is no multiple of the group size.
    """
    rows, width = weight.shape
    if width % group:
        raise CheckpointError(
            f"{name}.weight has {width} columns, expected a multiple of the group size {group}",
            hint="4-bit builds need widths that divide into groups; run bf16 for this checkpoint",
        )
    candidates = _asymmetric if form == "asymmetric" else _symmetric
    step = max(1, _WEIGHTS_AT_ONCE // width)
    parts = [
        _best(weight[at : at + step].float().view(-1, width // group, group), candidates) for at in range(0, rows, step)
    ]
    codes, scale, zero = (torch.cat(column) for column in zip(*parts, strict=True))
    return Int4Groups(codes.view(rows, width), scale, zero, group)


Grid = tuple[Tensor, Tensor]  # scale and zero, each (N, G, 1) float32
Candidates = Callable[[Tensor], Iterable[Grid]]


def _asymmetric(weight: Tensor) -> Iterable[Grid]:
    low, high = weight.aminmax(dim=-1, keepdim=True)
    middle, reach = (low + high) / 2, (high - low) / 2
    for factor in SHRINK_FACTORS:
        scale = (2 * factor / 15) * reach
        yield scale, middle - factor * reach + 8 * scale


def _symmetric(weight: Tensor) -> Iterable[Grid]:
    largest = weight.abs().amax(dim=-1, keepdim=True)
    for factor in SCALE_FACTORS:
        yield (factor / 8) * largest, torch.zeros_like(largest)


def _best(weight: Tensor, candidates: Candidates) -> tuple[Tensor, Tensor, Tensor]:
    """Return codes, scale and zero of the best grid for each group of a weight of shape (N, G, group)."""
    best_error = weight.new_full((*weight.shape[:2], 1), torch.inf)
    best_scale, best_zero = torch.ones_like(best_error), torch.zeros_like(best_error)
    for exact_scale, exact_zero in candidates(weight):
        scale = exact_scale.clamp_min(_SMALLEST).bfloat16().float()
        zero = exact_zero.bfloat16().float()
        centred = weight - zero
        missed = _levels(centred, scale).mul_(scale).sub_(centred)
        error = missed.square_().sum(dim=-1, keepdim=True)
        better = error < best_error
        best_error = torch.where(better, error, best_error)
        best_scale = torch.where(better, scale, best_scale)
        best_zero = torch.where(better, zero, best_zero)
    codes = (_levels(weight - best_zero, best_scale) + 8).to(torch.uint8)
    return codes, best_scale[..., 0].bfloat16(), best_zero[..., 0].bfloat16()


def _levels(centred: Tensor, scale: Tensor) -> Tensor:
    return (centred / scale).round_().clamp_(-8, 7)
