"""Weights to codes, group by group: the plain range, or the best of a few. Knows no activations and no files.

A grid is what a group may be rounded to. Its scale and zero are rounded to what is stored before the codes are chosen,
so the error that the search minimises is the error that is shipped.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.quant.groups import GroupedWeight, centre_of
from agent_eval.spark_backend.quant.rows import ROWS_AT_ONCE, RowSource, chunks

Form = Literal["symmetric", "zero", "point"]
"""Where a grid may lie: about 0; about any bfloat16 (``cpu_int4``); so that 0 is one of its codes (AWQ)."""

Rounding = Literal["rtn", "search"]
"""Plain: the range of the group, its largest magnitude on the last code. Search: the best of some narrower ranges."""

# Published edge study of Spark-X2.5, 4 bits: factors on (max - min) for asymmetric groups, on amax / 8 for symmetric
# ones. 8/7 is added: it alone keeps a positive largest value, which falls on code 15. Fewer bits gain from cutting off
# more, eight from next to nothing: the other rows were chosen on normal weights.
_SHRINK_FACTORS = {
    2: (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6),
    3: (1.0, 0.96, 0.92, 0.88, 0.84, 0.8, 0.76, 0.72),
    4: (1.0, 0.98, 0.96, 0.94, 0.92, 0.90, 0.88, 0.85),
    8: (1.0, 0.995, 0.99, 0.98),
}
_SCALE_FACTORS = {
    2: (2.0, 1.7, 1.5, 1.35, 1.2, 1.1, 1.0, 0.9, 0.8, 0.7),
    3: (4 / 3, 1.2, 1.1, 1.0, 0.93, 0.87, 0.81, 0.75, 0.69),
    4: (8 / 7, 1.06, 1.0, 0.95, 0.9, 0.875, 0.85, 0.8, 0.75),
    8: (128 / 127, 1.0, 0.99, 0.98),
}

_SMALLEST = 1e-9  # scale of a group that holds one value only; dividing by it must stay finite
_WEIGHTS_AT_ONCE = 2**17  # 512 KiB in float32: the search goes over each part some sixty times, so it stays in cache
_AHEAD = 2  # chunks that are rounded while an earlier one is being used


@dataclass(frozen=True)
class Grid:
    """What the groups of a weight may be rounded to."""

    bits: int
    form: Form
    group: int

    @property
    def half(self) -> int:
        """Codes on each side of the central one; levels go from ``-half`` to ``half - 1``."""
        return int(2 ** (self.bits - 1))

    @property
    def factors(self) -> tuple[float, ...]:
        """What the search tries: the plain range first."""
        return (_SCALE_FACTORS if self.form == "symmetric" else _SHRINK_FACTORS)[self.bits]

    def require(self, name: str, width: int) -> None:
        """Refuse a width that does not divide into groups.

        Raises:
            CheckpointError: names the weight.
        """
        if width % self.group:
            raise CheckpointError(
                f"{name}.weight has {width} columns, expected a multiple of the group size {self.group}",
                hint="name a smaller group, such as w4a16-g32, or run bf16 for this checkpoint",
            )


class Placed(NamedTuple):
    """Where one grid per group lies."""

    scale: Tensor  # (N, G, 1) float32 holding bfloat16 values
    zero: Tensor | None  # (N, G, 1) float32; None where it is 0
    point: Tensor | None  # (N, G, 1) float32 whole levels that 0 lies above the central one; only for form "point"


def round_groups(weight: Tensor, grid: Grid, rounding: Rounding) -> GroupedWeight:
    """Return the codes, scales and zeros of a weight (N, K) whose width divides into groups."""
    rows, width = weight.shape
    step = max(1, _WEIGHTS_AT_ONCE // width)
    codes = torch.empty(rows, width, dtype=torch.uint8)
    scale = torch.empty(rows, width // grid.group, dtype=torch.bfloat16)
    zero = None if grid.form == "symmetric" else torch.empty_like(scale)
    for at in range(0, rows, step):
        part = weight[at : at + step].float().view(-1, width // grid.group, grid.group)
        placed = place(part, grid, rounding)
        codes[at : at + step] = levels_of(part, placed, grid).add_(centre_of(grid.bits)).view(-1, width)
        scale[at : at + step] = placed.scale[..., 0]
        if zero is not None:
            zero[at : at + step] = zero_of(placed)[..., 0]
    return GroupedWeight(codes, scale, zero, grid.group, grid.bits)


def rounded(name: str, source: RowSource, grid: Grid, rounding: Rounding, threads: int = 1) -> Iterator[GroupedWeight]:
    """Yield a weight in chunks of rows; no more than a few chunks are held at a time.

    Args:
        name: For the error.
        source: The weight.
        grid: What to round to.
        rounding: How to place the grid of each group.
        threads: Chunks that are rounded at the same time. Torch itself should use one thread meanwhile: the parts are
            small, and its threads would wait for each other more than they compute.

    Raises:
        CheckpointError: its width does not divide into groups.
    """
    rows, width = source.shape
    grid.require(name, width)

    def chunk(start: int, end: int) -> GroupedWeight:
        with torch.no_grad():
            return round_groups(source.rows(start, end), grid, rounding)

    if threads == 1:
        for start, end in chunks(rows):
            yield chunk(start, end)
        return
    with ThreadPoolExecutor(threads) as pool:
        running: deque[Future[GroupedWeight]] = deque()
        for start, end in chunks(rows, ROWS_AT_ONCE // 2):
            running.append(pool.submit(chunk, start, end))
            if len(running) >= threads + _AHEAD:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()


def place(part: Tensor, grid: Grid, rounding: Rounding) -> Placed:
    """Choose the grid of each group of a part (N, G, group) float32: the plain one, or that of least squared error."""
    if rounding == "rtn":
        return next(iter(_candidates(part, grid, (grid.factors[0],))))
    found: Placed | None = None
    least = torch.empty(0)
    for placed in _candidates(part, grid, grid.factors):
        error = _squared_error(part, placed, grid)
        if found is None:
            found, least = placed, error
            continue
        better = error < least
        least = torch.where(better, error, least)
        found = Placed(*(None if new is None else torch.where(better, new, old)  # type: ignore[arg-type]
                         for new, old in zip(placed, found, strict=True)))  # fmt: skip
    assert found is not None
    return found


def levels_of(part: Tensor, placed: Placed, grid: Grid) -> Tensor:
    """Return the nearest whole levels about the central code: float32, of the shape of the part."""
    if placed.point is not None:
        levels = part.div(placed.scale).round_().sub_(placed.point)
    elif placed.zero is not None:
        levels = part.sub(placed.zero).div_(placed.scale).round_()
    else:
        levels = part.div(placed.scale).round_()
    return levels.clamp_(-grid.half, grid.half - 1)


def value_of(levels: Tensor, placed: Placed) -> Tensor:
    """Return what levels stand for; they are overwritten."""
    if placed.point is not None:
        return levels.add_(placed.point).mul_(placed.scale)
    values = levels.mul_(placed.scale)
    return values if placed.zero is None else values.add_(placed.zero)


def zero_of(placed: Placed) -> Tensor:
    """Return the value of the central code, which a ``point`` grid puts a whole number of steps from 0: float32."""
    if placed.point is not None:
        return placed.point * placed.scale
    return torch.zeros_like(placed.scale) if placed.zero is None else placed.zero


def _candidates(part: Tensor, grid: Grid, factors: Iterable[float]) -> Iterator[Placed]:
    half, steps = grid.half, 2**grid.bits - 1
    if grid.form == "symmetric":
        largest = part.abs().amax(dim=-1, keepdim=True)
        for factor in factors:
            yield Placed(_stored((factor / half) * largest), None, None)
        return
    low, high = part.aminmax(dim=-1, keepdim=True)
    if grid.form == "point":
        low, high = low.clamp_max(0), high.clamp_min(0)  # 0 has a code, so the range must reach it
    middle, reach = (low + high) / 2, (high - low) / 2
    for factor in factors:
        exact = (2 * factor / steps) * reach
        scale = _stored(exact)
        if grid.form == "zero":
            yield Placed(scale, (middle - factor * reach + half * exact).bfloat16().float(), None)
        else:  # the lowest value falls on the lowest level: point = low / scale + half, a whole number
            point = ((middle - factor * reach) / scale).round_().add_(half).clamp_(1 - half, half)
            yield Placed(scale, None, point)


def _stored(scale: Tensor) -> Tensor:
    return scale.clamp_min(_SMALLEST).bfloat16().float()


def _squared_error(part: Tensor, placed: Placed, grid: Grid) -> Tensor:
    return value_of(levels_of(part, placed, grid), placed).sub_(part).square_().sum(dim=-1, keepdim=True)
