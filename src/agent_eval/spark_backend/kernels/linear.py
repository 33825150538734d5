"""A linear layer over one packed or mapped weight, computed by the compiled kernels. Knows no build and no model.

Few rows of inputs (decode) go row by row through ``multiply_row``. Many (prefill) go through the blocked products where
weights have few bits. Dense weights are widened block by block to the type that this processor multiplies fast, and
torch's matrix product does the rest: bfloat16 where the processor has units for it, else float32. So are weights of few
bits with 16-bit activations where torch has the tiles of AMX to itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from ctypes import byref
from itertools import chain

import torch
import torch.nn.functional as F  # noqa: N812  the field's name for it
from torch import Tensor, nn

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.kernels.library import COLUMNS, ROWS, Kind, Library, SkWeight, load
from agent_eval.spark_backend.quant.dense import has_bf16_units
from agent_eval.spark_backend.quant.groups import GroupedWeight
from agent_eval.spark_backend.quant.rows import RowSource, chunks

FEW_ROWS = 1
"""Up to so many rows of inputs, each goes through dense weights by itself where torch takes them as they lie."""

FEW_ROWS_TO_WIDEN = 8
"""The same where they would have to be widened first.

Both measured with one thread on AMD Zen 4, 2048 x 6144 of bfloat16, best of 15, in a row of rows, torch's bfloat16 and
float32 over widened weights: 9.4, 2.0 and 93 ms at 2 rows, 48, 2.9 and 124 ms at 8, 93, 12 and 127 ms at 16.
"""

BLOCKED_FROM = {"avx2": 8, "avx512": 4}
"""From so many rows of 16-bit activations on the blocked product is the faster one; 2 where nothing else is said.

``benchmarks/gemm.py``, one core of AMD Zen 4, 2048 x 13312, in blocks and row by row: 52 and 40 GFLOP/s at 8 rows
(avx2), 46 and 44 at 4 (avx512), 86 and 45 at 2 (avx512bf16).
"""

TILES_FROM = 32
"""From so many rows of 16-bit activations on a processor with AMX is left to torch's bfloat16 product. Not measured."""

WIDENED = 2**20
"""Weights that are widened at a time: 4 MiB in float32, which the next step finds in cache."""

MOST_COLUMNS = 2**20

MOST_GROUP = 2**16
"""The sum of a group's products of bytes, at most 127 * 255 each, must fit an int32."""

MOST_ROWS = 2**31 - ROWS


class PackedLinear(nn.Module):
    """Multiplies by a weight (N, K) that the library reads where it lies.

    Made by ``dense`` or ``grouped``. Inputs are rounded to bfloat16 but where weights are float32; results are float32.
    """

    data: Tensor
    scale: Tensor | None
    zero: Tensor | None

    def __init__(self, library: Library, kind: Kind, activation: int, shape: tuple[int, int], group: int) -> None:
        super().__init__()
        self._library = library
        self._kind = kind
        self._activation = activation
        self.shape = shape
        """(N, K)."""
        self._group = group
        self._wide = torch.bfloat16 if has_bf16_units() and kind is not Kind.F32 else torch.float32

    @classmethod
    def dense(cls, source: RowSource, dtype: torch.dtype) -> PackedLinear:
        """Return a layer with weights as they are: a source that is one tensor of that type is used in place.

        Args:
            source: The weight.
            dtype: bfloat16 or float32.
        """
        rows, width = source.shape
        _require_room("the weight", rows, width)
        layer = cls(load(), Kind.F32 if dtype == torch.float32 else Kind.BF16, 32, (rows, width), 0)
        if source.rows(0, min(1, rows)).dtype == dtype:
            weight = source.rows(0, rows).contiguous()
        else:
            weight = torch.empty(rows, width, dtype=dtype)
            for start, end in chunks(rows):
                weight[start:end] = source.rows(start, end)
        layer._keep(weight, None, None)
        return layer

    @classmethod
    def grouped(
        cls, parts: Iterable[GroupedWeight], shape: tuple[int, int], activation_bits: int, group: int, symmetric: bool
    ) -> PackedLinear:
        """Return a layer with weights of few bits, packed part by part.

        Args:
            parts: The rows in order; every part but the last holds a multiple of 16.
            shape: (N, K) of the whole.
            activation_bits: 8: inputs are quantised row by row; 16: they are bfloat16.
            group: Columns to a scale.
            symmetric: Whether there are no zeros.

        Raises:
            CheckpointError: the kernels have no form for this width or group, or the parts are not of the shape.
        """
        rows, width = shape
        _require_room("the weight", rows, width)
        if group % COLUMNS or not 0 < group <= MOST_GROUP or width % group:
            raise CheckpointError(
                f"a weight of {rows} x {width} in groups of {group}; expected groups of a multiple of {COLUMNS} that "
                "divides the width",
                hint="choose another group size, or bf16 for this checkpoint",
            )
        remaining = iter(parts)
        first = next(remaining, None)
        kind = Kind.INT8 if first is not None and first.bits == 8 else Kind.INT4
        layer = cls(load(), kind, activation_bits, shape, group)
        padded, groups, row_bytes = -(-rows // ROWS) * ROWS, width // group, width // (1 if kind is Kind.INT8 else 2)
        data = torch.empty(padded * row_bytes, dtype=torch.uint8)
        scale = torch.empty(padded * groups, dtype=torch.bfloat16)
        zero = None if symmetric else torch.empty(padded * groups, dtype=torch.bfloat16)
        at = 0
        for part in chain([first] if first is not None else [], remaining):
            layer._require_next(part, at, kind, symmetric=symmetric)
            layer._pack(
                part, data[at * row_bytes :], scale[at * groups :], None if zero is None else zero[at * groups :]
            )
            at += part.codes.shape[0]
        if at != rows:
            raise CheckpointError(
                f"a weight of {rows} x {width} came with {at} rows",
                hint="this is a mistake in the reader of the checkpoint, not in the checkpoint",
            )
        layer._keep(data, scale, zero)
        return layer

    @property
    def weight(self) -> SkWeight:
        """The weight as the library takes it. It holds addresses: valid while this layer lives and is not moved."""
        rows, width = self.shape
        return SkWeight(
            kind=self._kind,
            activation=self._activation,
            rows=rows,
            cols=width,
            group=self._group,
            data=self.data.data_ptr(),
            scale=None if self.scale is None else self.scale.data_ptr(),
            zero=None if self.zero is None else self.zero.data_ptr(),
        )

    @property
    def kernel(self) -> str:
        """Which kernels serve: a phrase for the record."""
        return serving(self._kind, self._activation, self._library.isa)

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., K) to (..., N) float32."""
        rows, width = self.shape
        inputs = x.reshape(-1, width)
        if self._kind is not Kind.F32:
            inputs = inputs.to(torch.bfloat16)
        if self._activation == 8:
            out = self.multiply(inputs, blocked=len(inputs) > 1)
        elif self._group and not (self._library.isa == "amx" and len(inputs) >= TILES_FROM):
            out = self.multiply(inputs, blocked=len(inputs) >= BLOCKED_FROM.get(self._library.isa, 2))
        elif len(inputs) <= (FEW_ROWS if self.data.dtype == self._wide else FEW_ROWS_TO_WIDEN):
            out = self.multiply(inputs, blocked=False)
        else:
            out = self._widened(inputs)
        return out.view(*x.shape[:-1], rows)

    def widened(self, start: int, end: int, dtype: torch.dtype) -> Tensor:
        """Return rows of the weight as values: (end - start, K) float32 or bfloat16."""
        rows, width = self.shape
        assert 0 <= start <= end <= rows, f"rows {start} to {end} of {rows}"
        if self._kind in (Kind.F32, Kind.BF16):
            return self.data[start:end].to(dtype)
        out = torch.empty(end - start, width, dtype=dtype)
        self._library.native.sk_widen(
            byref(self.weight), start, end - start, out.data_ptr(), int(dtype == torch.bfloat16)
        )
        return out

    def rows(self, ids: Tensor) -> Tensor:
        """Return the rows of the weight that ids (...) name, as values: (..., K) of a dense weight's type, or bfloat16.

        Raises:
            IndexError: there is no such row.
        """
        rows, width = self.shape
        if not self._group:
            return F.embedding(ids, self.data)
        if ids.numel() and not 0 <= int(ids.min()) <= int(ids.max()) < rows:
            raise IndexError(f"rows {int(ids.min())} to {int(ids.max())} of a weight that has {rows}")
        wanted = ids.to(torch.int32).contiguous()
        out = torch.empty(*ids.shape, width, dtype=torch.bfloat16)
        self._library.native.sk_pick(byref(self.weight), wanted.data_ptr(), wanted.numel(), out.data_ptr())
        return out

    def multiply(self, inputs: Tensor, *, blocked: bool) -> Tensor:
        """Multiply by the library, never by torch.

        Args:
            inputs: (R, K), as they are: only ``forward`` rounds them.
            blocked: Take all rows in one product, which there is for weights of few bits.

        Returns:
            (R, N) float32.
        """
        rows, width = self.shape
        native = self._library.native
        if blocked and self._group:
            kind = Kind.BF16 if inputs.dtype == torch.bfloat16 else Kind.F32
            inputs = (inputs if kind is Kind.BF16 else inputs.float()).contiguous()
            out = torch.empty(len(inputs), rows)
            native.sk_multiply_rows(
                byref(self.weight), inputs.data_ptr(), kind, len(inputs), width, out.data_ptr(), rows
            )
            return out
        inputs = inputs.float().contiguous()
        stride = -(-rows // ROWS) * ROWS
        out = torch.empty(len(inputs), stride)
        native.sk_multiply(byref(self.weight), inputs.data_ptr(), len(inputs), out.data_ptr(), stride, int(blocked))
        return out if stride == rows else out[:, :rows].contiguous()

    def _widened(self, inputs: Tensor) -> Tensor:
        rows, width = self.shape
        inputs = inputs.to(self._wide)
        if self.data.dtype == self._wide:
            return F.linear(inputs, self.data).float()
        out = torch.empty(len(inputs), rows)
        step = max(ROWS, WIDENED // width // ROWS * ROWS)
        for start, end in chunks(rows, step):
            out[:, start:end] = F.linear(inputs, self.widened(start, end, self._wide))
        return out

    def _keep(self, data: Tensor, scale: Tensor | None, zero: Tensor | None) -> None:
        for name, tensor in (("data", data), ("scale", scale), ("zero", zero)):
            self.register_buffer(name, tensor, persistent=False)

    def _require_next(self, part: GroupedWeight, at: int, kind: Kind, *, symmetric: bool) -> None:
        rows, width = self.shape
        found = (part.codes.shape[1], part.bits == 8, part.group, part.zero is None)
        if at % ROWS or at + part.codes.shape[0] > rows or found != (width, kind is Kind.INT8, self._group, symmetric):
            raise CheckpointError(
                f"part of {tuple(part.codes.shape)} in {part.bits} bits, groups of {part.group}, zeros: "
                f"{part.zero is not None}, at row {at} of a weight of {rows} x {width} as {kind.name}, groups of "
                f"{self._group}, zeros: {not symmetric}; expected rows in order, {ROWS} at a time",
                hint="this is a mistake in the reader of the checkpoint, not in the checkpoint",
            )

    def _pack(self, part: GroupedWeight, data: Tensor, scale: Tensor, zero: Tensor | None) -> None:
        count, width = part.codes.shape
        native = self._library.native
        codes = part.codes.contiguous()
        native.sk_pack(self._kind, codes.data_ptr(), count, width, data.data_ptr())
        for values, target in ((part.scale, scale), (part.zero, zero)):
            if values is not None and target is not None:
                packed = values.contiguous()
                native.sk_pack_scales(packed.data_ptr(), count, width // self._group, target.data_ptr())


def serving(kind: Kind, activation: int, isa: str) -> str:
    """Say which kernels serve a kind of weight: a phrase for the record.

    Args:
        kind: Of the weight.
        activation: Bits of the inputs.
        isa: The variant in use.
    """
    if activation == 8:
        return f"{isa} integer kernels, one row and in blocks"
    if kind is Kind.F32:
        return f"{isa} kernels for one row, torch float32 linear for more"
    wide = "bfloat16" if has_bf16_units() else "float32"
    if kind in (Kind.INT4, Kind.INT8):
        own = f"{isa} kernels, one row and in blocks"
        return own if isa != "amx" else f"{own}; torch {wide} linear over widened weights from {TILES_FROM} rows on"
    if kind is Kind.BF16 and wide == "bfloat16":
        return f"{isa} kernels for one row, torch bfloat16 linear for more"
    return f"{isa} kernels up to {FEW_ROWS_TO_WIDEN} rows, torch {wide} linear over widened weights beyond"


def _require_room(name: str, rows: int, width: int) -> None:
    if not 0 < width <= MOST_COLUMNS or not 0 < rows <= MOST_ROWS:
        raise CheckpointError(
            f"{name} is {rows} x {width}; expected 1 to {MOST_ROWS} rows and 1 to {MOST_COLUMNS} columns",
            hint="the checkpoint's config and its tensors disagree, or it is of another kind of model",
        )
