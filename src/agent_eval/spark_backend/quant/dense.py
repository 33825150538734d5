"""Builds that keep the checkpoint's weights: bf16, and fp32 as a control and for training."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812  the field's name for it
from torch import Tensor, nn

from agent_eval.spark_backend.quant.rows import RowSource

UPCAST_ROWS = 4
"""From so many rows on, a CPU without bfloat16 units is faster when it widens the weights first.

Measured with torch 2.13 on AVX2 and AVX-512 machines: at 64 rows 3 to 5 times faster, at one row 2 to 3 times slower.
"""

_WIDENED_CHANNELS = 4096  # channels in float32 at a time: 32 MiB at a width of 2048


class Dense(nn.Module):
    """A layer that computes in the type of its inputs; weights kept wider, as in training, are narrowed each time."""

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight)

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., K) to (..., N)."""
        return F.linear(x, self.weight.to(x.dtype))


class WidenedBf16(nn.Module):
    """A bfloat16 layer for CPUs without bfloat16 units: widens its weights to float32 when there are many rows."""

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight, requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., K) to (..., N), both bfloat16."""
        if x.numel() < UPCAST_ROWS * x.shape[-1]:
            return F.linear(x, self.weight)
        wide, channels = x.float(), len(self.weight)
        out = x.new_empty(*x.shape[:-1], channels)
        for start in range(0, channels, _WIDENED_CHANNELS):
            part = self.weight[start : start + _WIDENED_CHANNELS]
            out[..., start : start + len(part)] = F.linear(wide, part.float())
        return out


def has_bf16_units() -> bool:
    """Tell whether this CPU multiplies bfloat16 in hardware (AVX-512 BF16, AMX, or the Arm extension)."""
    capabilities = torch.cpu.get_capabilities()
    return any(capabilities.get(name, False) for name in ("avx512_bf16", "amx_bf16", "bf16"))


def dense_layer(source: RowSource, dtype: torch.dtype, *, compiled: bool, native: bool | None = None) -> nn.Module:
    """Return a layer for inference with weights of a type.

    Args:
        source: The weight; where it is one tensor of that type, it is used in place.
        dtype: bfloat16 or float32.
        compiled: Whether the compiled kernels are there.
        native: Whether this CPU multiplies bfloat16 in hardware; asked of it unless given.
    """
    if compiled:
        from agent_eval.spark_backend.kernels.linear import PackedLinear

        return PackedLinear.dense(source, dtype)
    weight = source.rows(0, source.shape[0]).to(dtype)
    widens = dtype == torch.bfloat16 and not (has_bf16_units() if native is None else native)
    return WidenedBf16(weight) if widens else Dense(weight).requires_grad_(requires_grad=False)


@dataclass(frozen=True)
class Fp32:
    """Float32 weights that can be trained: what training runs on, and the exact model of the tests.

    Args:
        activation: What layers compute in; with bfloat16, weights and their updates stay in float32 (mixed precision:
            Micikevicius et al., 2018).
    """

    activation: torch.dtype = torch.float32

    def linear(self, name: str, source: RowSource) -> nn.Module:  # noqa: ARG002  every scheme gets the name
        """Return a layer with trainable float32 weights."""
        return Dense(source.rows(0, source.shape[0]).float())


@dataclass(frozen=True)
class Unquantised:
    """The checkpoint as published, or in float32 throughout as a control.

    Args:
        activation: Type of weights and activations: bfloat16 or float32.
        compiled: Whether the compiled kernels are there; otherwise torch's own serve.
    """

    activation: torch.dtype
    compiled: bool

    def linear(self, name: str, source: RowSource) -> nn.Module:  # noqa: ARG002  every scheme gets the name
        """Return a layer for inference."""
        return dense_layer(source, self.activation, compiled=self.compiled)
