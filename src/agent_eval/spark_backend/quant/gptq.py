"""GPTQ: codes that keep a layer's output, not its weights. Knows no model and no files.

Columns are rounded one after another, and what is lost on one is made up for by those that follow, in proportion to
how their inputs go together (Frantar et al., 2022, "GPTQ", algorithm 1; its lazy batches of 128 columns). Columns keep
their order, so that groups stay neighbours. The grid of a group is placed when its first column is reached, on the
weights as they are then.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from agent_eval.errors import OperatorError
from agent_eval.spark_backend.quant.groups import GroupedWeight, centre_of
from agent_eval.spark_backend.quant.rounding import Grid, Placed, Rounding, levels_of, place, value_of, zero_of
from agent_eval.spark_backend.quant.rows import RowSource, chunks

BLOCK = 128
"""Columns that are rounded before what they lost reaches the rest of the matrix; a multiple of every group."""

DAMPING = 0.01
"""Share of the mean diagonal that is added to it: directions without inputs stay as they are (the paper's value)."""

_ROWS_AT_ONCE = 2048  # rows of a weight do not depend on each other; a block of them in float32 is 1 MiB


class Hessian:
    """How the inputs of a layer go together: the mean of x x^T over tokens.

    Args:
        width: K, the inputs of the layer.
    """

    def __init__(self, width: int) -> None:
        self.sum = torch.zeros(width, width)
        self.tokens = 0

    def add(self, x: Tensor) -> None:
        """Take in inputs (..., K)."""
        rows = x.reshape(-1, x.shape[-1]).float()
        self.sum.addmm_(rows.t(), rows)
        self.tokens += len(rows)

    def mean(self) -> Tensor:
        """Return the mean: (K, K) float32."""
        return self.sum / max(self.tokens, 1)

    def factor(self) -> Tensor:
        """Return the upper Cholesky factor of the inverse, with damping: (K, K) float32.

        Raises:
            OperatorError: the inputs were not finite.
        """
        damped = self.mean()
        mean = float(damped.diagonal().mean())
        damped.diagonal().add_(DAMPING * mean if mean > 0 else 1.0)
        lower, failed = torch.linalg.cholesky_ex(damped)
        del damped
        inverse = torch.cholesky_inverse(lower)
        del lower
        upper, failed_too = torch.linalg.cholesky_ex(inverse, upper=True)
        if int(failed) or int(failed_too) or not bool(upper.isfinite().all()):
            raise OperatorError(
                f"the calibration of {self.tokens} tokens gives a layer inputs that cannot be factored",
                hint="give more and other text, or quantise with --method search",
            )
        return torch.as_tensor(upper)


def gptq(source: RowSource, factor: Tensor, grid: Grid, rounding: Rounding = "search") -> Iterator[GroupedWeight]:
    """Yield a quantised weight in chunks of rows.

    Args:
        source: The weight (N, K); K divides into groups.
        factor: ``Hessian.factor`` of its inputs.
        grid: What to round to.
        rounding: How the grid of each group is placed.
    """
    for start, end in chunks(source.shape[0], _ROWS_AT_ONCE):
        with torch.no_grad():
            yield _quantised(source.rows(start, end), factor, grid, rounding)


def _quantised(weight: Tensor, factor: Tensor, grid: Grid, rounding: Rounding) -> GroupedWeight:
    rows, width = weight.shape
    left = weight.t().float().contiguous()  # (K, N): what is still to be rounded, a column of the weight in a row
    codes = torch.empty(width, rows, dtype=torch.uint8)
    scale = torch.empty(width // grid.group, rows, dtype=torch.bfloat16)
    zero = torch.empty_like(scale)
    placed = Placed(torch.empty(0), None, None)
    for block in range(0, width, BLOCK):
        end = min(block + BLOCK, width)
        mine = left[block:end]
        inside = factor[block:end, block:end]
        lost = torch.empty_like(mine)
        for j in range(end - block):
            if (block + j) % grid.group == 0:
                group = mine[j : j + grid.group].t().unsqueeze(1).contiguous()  # (N, 1, group)
                placed = Placed(*(None if part is None else part.view(-1) for part in place(group, grid, rounding)))  # type: ignore[arg-type]
                at = (block + j) // grid.group
                scale[at], zero[at] = placed.scale, zero_of(placed)
            levels = levels_of(mine[j], placed, grid)
            codes[block + j] = levels + centre_of(grid.bits)
            lost[j] = (mine[j] - value_of(levels, placed)) / inside[j, j]
            if j + 1 < end - block:
                mine[j + 1 :].addr_(inside[j, j + 1 :], lost[j], alpha=-1)
        if end < width:
            left[end:].addmm_(factor[block:end, end:].t(), lost, alpha=-1)
    return GroupedWeight(
        codes.t().contiguous(),
        scale.t().contiguous(),
        None if grid.form == "symmetric" else zero.t().contiguous(),
        grid.group,
        grid.bits,
    )
