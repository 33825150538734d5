"""Products with four-bit weights on a CPU, by torch's own kernels. Knows no activations' format and no scheme.

Few rows go through ``aten::_weight_int4pack_mm_for_cpu``, which reads half a byte per weight. For many rows that kernel
does the unpacking once per row, so the weight is widened to float32 once and multiplied as a whole. The packed layout
differs between CPUs (blocks of 64 channels with AVX-512, 32 with AVX2), so nothing here reads it: widening starts from
a second, row-major copy of the codes.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812  the field's name for it
from torch import Tensor, nn

from agent_eval.spark_backend.quant.groups import Int4Groups

KERNEL = "aten::_weight_int4pack_mm_for_cpu"
PACKED_ROWS = 64
"""Up to so many rows the packed kernel is the faster one: torch 2.13, AVX-512, one thread, widths 192 and 2048."""

_CHANNELS = 16  # the kernel wants a multiple of 16 output channels
_REPACK_CHANNELS = 2048  # packing takes int32 codes, eight times the packed size; a multiple of every block width


class Int4Product(nn.Module):
    """Multiplies by one four-bit weight of shape (N, K)."""

    _packed: Tensor
    _scales_and_zeros: Tensor
    _rows: Tensor

    def __init__(self, weight: Int4Groups) -> None:
        super().__init__()
        self._channels, self._width = weight.codes.shape
        self._group = weight.group
        padding = -self._channels % _CHANNELS
        codes = F.pad(weight.codes, (0, 0, 0, padding), value=8)
        both = torch.stack((weight.scale.t(), weight.zero.t()), dim=-1)  # (K / group, N, 2)
        half = self._width // 2
        self.register_buffer("_packed", _pack(codes))
        self.register_buffer("_scales_and_zeros", F.pad(both, (0, 0, 0, padding)).contiguous())
        # Row-major copy: byte k of a row holds column k in its low half and column k + K / 2 in its high half.
        self.register_buffer("_rows", weight.codes[:, :half] | (weight.codes[:, half:] << 4))

    def forward(self, x: Tensor) -> Tensor:
        """Map (R, K) bfloat16 to (R, N): bfloat16 through the packed kernel, float32 for many rows."""
        if x.shape[0] <= PACKED_ROWS:
            out = torch.ops.aten._weight_int4pack_mm_for_cpu(x, self._packed, self._group, self._scales_and_zeros)
            return out[:, : self._channels]  # type: ignore[no-any-return]
        return F.linear(x.float(), self._widened())

    def _widened(self) -> Tensor:
        grids = self._scales_and_zeros[:, : self._channels].float().transpose(0, 1)  # (N, K / group, 2)
        scale, zero = grids[..., :1], grids[..., 1:]
        codes = torch.cat((self._rows & 15, self._rows >> 4), dim=1).view(self._channels, -1, self._group).float()
        return codes.mul_(scale).add_(zero - 8 * scale).view(self._channels, self._width)


def _pack(codes: Tensor) -> Tensor:
    parts = [
        torch.ops.aten._convert_weight_to_int4pack_for_cpu(codes[at : at + _REPACK_CHANNELS].int(), 1)
        for at in range(0, codes.shape[0], _REPACK_CHANNELS)
    ]
    return torch.cat(parts)
