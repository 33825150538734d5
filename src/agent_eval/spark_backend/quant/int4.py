"""Products with codes in four-bit containers by torch's own kernels, where the compiled ones are absent.

Few rows go through ``aten::_weight_int4pack_mm_for_cpu``, which reads half a byte per weight. For many rows that kernel
does the unpacking once per row, so the weight is widened to float32 once, some channels at a time, and multiplied. The
packed layout differs between CPUs (blocks of 64 channels with AVX-512, 32 with AVX2), so nothing here reads it:
widening starts from a second, row-major copy of the codes. Knows no activations' format and no scheme.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
import torch.nn.functional as F  # noqa: N812  the field's name for it
from torch import Tensor, nn

from agent_eval.spark_backend.quant.groups import GroupedWeight

PACKED_ROWS = 64
"""Up to so many rows the packed kernel is the faster one: torch 2.13, AVX-512, one thread, widths 192 and 2048."""

_CHANNELS = 16  # the kernel wants a multiple of 16 output channels
_REPACK_CHANNELS = 2048  # packing takes int32 codes, eight times the packed size; a multiple of every block width
_WIDENED_CHANNELS = 2048  # channels in float32 at a time: 16 MiB at a width of 2048


class Int4Product(nn.Module):
    """Multiplies by one weight of shape (N, K) with codes of at most four bits.

    Args:
        parts: The weight in runs of rows.
        shape: (N, K).
    """

    _packed: Tensor
    _scales_and_zeros: Tensor
    _rows: Tensor

    def __init__(self, parts: Iterable[GroupedWeight], shape: tuple[int, int]) -> None:
        super().__init__()
        self._channels, self._width = shape
        self._group = 0
        half, padded = self._width // 2, -(-self._channels // _CHANNELS) * _CHANNELS
        # Row-major copy: byte k of a row holds column k in its low half and column k + K / 2 in its high half.
        rows = torch.empty(self._channels, half, dtype=torch.uint8)
        grids, at = [], 0
        for part in parts:
            rows[at : at + len(part.codes)] = part.codes[:, :half] | (part.codes[:, half:] << 4)
            zero = torch.zeros_like(part.scale) if part.zero is None else part.zero
            grids.append(torch.stack((part.scale.t(), zero.t()), dim=-1))  # (K / group, rows, 2)
            at += len(part.codes)
            self._group = part.group
        self.register_buffer("_rows", rows)
        self.register_buffer(
            "_scales_and_zeros", F.pad(torch.cat(grids, dim=1), (0, 0, 0, padded - self._channels)).contiguous()
        )
        packed = torch.empty(padded, half, dtype=torch.uint8)
        for start in range(0, padded, _REPACK_CHANNELS):
            end = min(start + _REPACK_CHANNELS, padded)
            codes = self._codes(start, min(end, self._channels))
            codes = F.pad(codes, (0, 0, 0, end - start - len(codes)), value=8)
            packed[start:end] = torch.ops.aten._convert_weight_to_int4pack_for_cpu(codes.int(), 1)
        self.register_buffer("_packed", packed)

    def forward(self, x: Tensor) -> Tensor:
        """Map (R, K) bfloat16 to (R, N): bfloat16 through the packed kernel, float32 for many rows."""
        if x.shape[0] <= PACKED_ROWS:
            out = torch.ops.aten._weight_int4pack_mm_for_cpu(x, self._packed, self._group, self._scales_and_zeros)
            return out[:, : self._channels]  # type: ignore[no-any-return]
        wide, out = x.float(), torch.empty(x.shape[0], self._channels)
        for start in range(0, self._channels, _WIDENED_CHANNELS):
            end = min(start + _WIDENED_CHANNELS, self._channels)
            out[:, start:end] = F.linear(wide, self._widened(start, end))
        return out

    def picked(self, ids: Tensor) -> GroupedWeight:
        """Return the rows of the weight that ids (R) name."""
        halves, grids = self._rows[ids], self._scales_and_zeros[:, ids]
        scale, zero = grids[..., 0].t(), grids[..., 1].t()
        return GroupedWeight(torch.cat((halves & 15, halves >> 4), dim=1), scale, zero, self._group, 4)

    def _codes(self, start: int, end: int) -> Tensor:
        rows = self._rows[start:end]
        return torch.cat((rows & 15, rows >> 4), dim=1)

    def _widened(self, start: int, end: int) -> Tensor:
        grids = self._scales_and_zeros[:, start:end].float().transpose(0, 1)  # (rows, K / group, 2)
        scale, zero = grids[..., :1], grids[..., 1:]
        codes = self._codes(start, end).view(end - start, -1, self._group).float()
        return codes.mul_(scale).add_(zero - 8 * scale).view(end - start, self._width)
