"""Where the rows of a weight come from: read in parts, so that no weight is ever held twice. Knows no files, no kernels.

A linear layer may be made of several tensors (gate over up), and its tensors may lie mapped in a file: ``RowSource``
hands out any rows of the whole, and conversions walk over them in chunks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import torch
from torch import Tensor

ROWS_AT_ONCE = 1024
"""Rows that a conversion holds in float32 at a time: 8 MiB at a width of 2048. A multiple of every kernel's block."""


class RowSource(Protocol):
    """A weight of shape (N, K), row by row."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def rows(self, start: int, end: int) -> Tensor:
        """Return the rows from ``start`` up to, not including, ``end``: (end - start, K), bfloat16 or float32."""
        ...


class StackedRows:
    """Tensors of one width, one above the other; nothing is copied until rows are asked for."""

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self._tensors = tuple(tensors)
        self.shape = (sum(tensor.shape[0] for tensor in tensors), tensors[0].shape[1])

    def rows(self, start: int, end: int) -> Tensor:
        """Return some rows; a view where one tensor holds them all."""
        parts, at = [], 0
        for tensor in self._tensors:
            low, high = max(start - at, 0), min(end - at, tensor.shape[0])
            if low < high:
                parts.append(tensor[low:high])
            at += tensor.shape[0]
        return parts[0] if len(parts) == 1 else torch.cat(parts)


def chunks(rows: int, step: int = ROWS_AT_ONCE) -> Iterator[tuple[int, int]]:
    """Yield the bounds of chunks that cover ``rows`` rows in order."""
    for start in range(0, rows, step):
        yield start, min(start + step, rows)
