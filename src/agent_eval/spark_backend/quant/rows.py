"""Where the rows of a weight come from: read in parts, so that no weight is held twice. Knows no files, no kernels.

A linear layer may be made of several tensors (gate over up), and its tensors may lie mapped in a file: ``RowSource``
hands out any rows of the whole, and conversions walk over them in chunks. A checkpoint that is quantised already hands
out codes: ``GroupedSource``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from agent_eval.spark_backend.quant.groups import GroupedWeight, stacked

ROWS_AT_ONCE = 1024
"""Rows that a conversion holds in float32 at a time: 8 MiB at a width of 2048. A multiple of every kernel's block."""


class RowSource(Protocol):
    """A weight of shape (N, K), row by row."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def rows(self, start: int, end: int) -> Tensor:
        """Return the rows from ``start`` up to, not including, ``end``: (end - start, K), bfloat16 or float32."""
        ...


@runtime_checkable
class GroupedSource(Protocol):
    """A weight that is in groups of integers already: a ``RowSource`` that also hands out its codes."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def bits(self) -> int: ...

    @property
    def group(self) -> int: ...

    @property
    def symmetric(self) -> bool: ...

    def rows(self, start: int, end: int) -> Tensor:
        """Return rows as the values that their codes stand for: float32."""
        ...

    def grouped(self, start: int, end: int) -> GroupedWeight:
        """Return rows as codes, scales and zeros."""
        ...


class StackedRows:
    """Tensors of one width, one above the other; nothing is copied until rows are asked for."""

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self._tensors = tuple(tensors)
        self.shape = (sum(tensor.shape[0] for tensor in tensors), tensors[0].shape[1])

    def rows(self, start: int, end: int) -> Tensor:
        """Return some rows; a view where one tensor holds them all."""
        parts = [self._tensors[i][low:high] for i, low, high in _cut([len(t) for t in self._tensors], start, end)]
        return parts[0] if len(parts) == 1 else torch.cat(parts)


class StackedGroups:
    """Quantised weights of one width, form and group, one above the other: q, k and v as one layer."""

    def __init__(self, sources: Sequence[GroupedSource]) -> None:
        first = sources[0]
        self._sources = tuple(sources)
        self.shape = (sum(source.shape[0] for source in sources), first.shape[1])
        self.bits, self.group, self.symmetric = first.bits, first.group, first.symmetric

    def rows(self, start: int, end: int) -> Tensor:
        """Return rows as the values that their codes stand for: float32."""
        return self.grouped(start, end).dequantised()

    def grouped(self, start: int, end: int) -> GroupedWeight:
        """Return rows as codes, scales and zeros."""
        lengths = [source.shape[0] for source in self._sources]
        return stacked([self._sources[i].grouped(low, high) for i, low, high in _cut(lengths, start, end)])


class WholeGroups:
    """A quantised weight in memory as a source."""

    def __init__(self, weight: GroupedWeight) -> None:
        self._weight = weight
        self.shape, self.bits, self.group, self.symmetric = weight.shape, weight.bits, weight.group, weight.symmetric

    def rows(self, start: int, end: int) -> Tensor:
        """Return rows as the values that their codes stand for: float32."""
        return self.grouped(start, end).dequantised()

    def grouped(self, start: int, end: int) -> GroupedWeight:
        """Return rows as views."""
        return self._weight.rows(start, end)


def chunks(rows: int, step: int = ROWS_AT_ONCE) -> Iterator[tuple[int, int]]:
    """Yield the bounds of chunks that cover ``rows`` rows in order."""
    for start in range(0, rows, step):
        yield start, min(start + step, rows)


def _cut(lengths: Sequence[int], start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield which rows of which part make up the rows from ``start`` to ``end``: (part, first, one past the last)."""
    at = 0
    for i, length in enumerate(lengths):
        low, high = max(start - at, 0), min(end - at, length)
        if low < high:
            yield i, low, high
        at += length
