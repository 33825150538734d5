"""Products with codes of eight bits by torch's own kernels, where the compiled ones are absent.

No operator of torch multiplies few rows with 8-bit weights in groups at the speed of memory, so the weight is widened
to float32, some channels at a time: a control that computes the right thing, slowly. Knows no activations' format.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
import torch.nn.functional as F  # noqa: N812  the field's name for it
from torch import Tensor, nn

from agent_eval.spark_backend.quant.groups import GroupedWeight

_WIDENED_CHANNELS = 1024  # channels in float32 at a time: 8 MiB at a width of 2048


class Int8Product(nn.Module):
    """Multiplies by one weight of shape (N, K) with codes of eight bits.

    Args:
        parts: The weight in runs of rows.
        shape: (N, K).
    """

    _codes: Tensor
    _scale: Tensor
    _zero: Tensor | None

    def __init__(self, parts: Iterable[GroupedWeight], shape: tuple[int, int]) -> None:
        super().__init__()
        self._group = 0
        codes = torch.empty(shape, dtype=torch.uint8)
        scales, zeros, at = [], [], 0
        for part in parts:
            codes[at : at + len(part.codes)] = part.codes
            scales.append(part.scale)
            zeros += [] if part.zero is None else [part.zero]
            at += len(part.codes)
            self._group = part.group
        self.register_buffer("_codes", codes)
        self.register_buffer("_scale", torch.cat(scales))
        self.register_buffer("_zero", torch.cat(zeros) if zeros else None)

    def picked(self, ids: Tensor) -> GroupedWeight:
        """Return the rows of the weight that ids (R) name."""
        zero = None if self._zero is None else self._zero[ids]
        return GroupedWeight(self._codes[ids], self._scale[ids], zero, self._group, 8)

    def forward(self, x: Tensor) -> Tensor:
        """Map (R, K) to (R, N) float32."""
        channels = len(self._codes)
        wide, out = x.float(), torch.empty(x.shape[0], channels)
        for start in range(0, channels, _WIDENED_CHANNELS):
            end = min(start + _WIDENED_CHANNELS, channels)
            zero = None if self._zero is None else self._zero[start:end]
            part = GroupedWeight(self._codes[start:end], self._scale[start:end], zero, self._group, 8)
            out[:, start:end] = F.linear(wide, part.dequantised())
        return out
