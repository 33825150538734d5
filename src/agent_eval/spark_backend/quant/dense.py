"""Builds that keep the checkpoint's weights: bf16, and fp32 as a control and for training."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
import torch.nn.functional as F  # noqa: N812  the field's name for it
from torch import Tensor, nn

UPCAST_ROWS = 4
"""From so many rows on, a CPU without bfloat16 units is faster when it widens the weights first.

Measured with torch 2.13 on AVX2 and AVX-512 machines: at 64 rows 3 to 5 times faster, at one row 2 to 3 times slower.
"""


class Dense(nn.Module):
    """A layer that computes in the type of its weights."""

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight)

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., K) to (..., N)."""
        return F.linear(x, self.weight)


class WidenedBf16(nn.Module):
    """A bfloat16 layer for CPUs without bfloat16 units: widens its weights to float32 when there are many rows."""

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight, requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., K) to (..., N), both bfloat16."""
        if x.numel() < UPCAST_ROWS * x.shape[-1]:
            return F.linear(x, self.weight)
        return F.linear(x.float(), self.weight.float()).to(torch.bfloat16)


@dataclass(frozen=True)
class Fp32:
    """Float32 throughout: the control build, and what training runs on."""

    activation: torch.dtype = torch.float32
    notes: str = "nothing quantised, float32 throughout; torch linear for decode and prefill"

    def linear(self, name: str, weight: Tensor) -> nn.Module:  # noqa: ARG002  every scheme gets the name
        """Return a layer with trainable float32 weights."""
        return Dense(weight.float())


def has_bf16_units() -> bool:
    """Tell whether this CPU multiplies bfloat16 in hardware (AVX-512 BF16, AMX, or the Arm extension)."""
    capabilities = torch.cpu.get_capabilities()
    return any(capabilities.get(name, False) for name in ("avx512_bf16", "amx_bf16", "bf16"))


@dataclass(frozen=True)
class Bf16:
    """The checkpoint as published.

    Args:
        native: Whether the CPU has bfloat16 units; without them, prefill widens the weights to float32.
    """

    native: bool = field(default_factory=has_bf16_units)
    activation: torch.dtype = torch.bfloat16

    @property
    def notes(self) -> str:
        """Say which kernels compute."""
        prefill = (
            "torch bfloat16 linear"
            if self.native
            else f"float32 linear over widened weights from {UPCAST_ROWS} rows on (this CPU has no bfloat16 units)"
        )
        return f"nothing quantised, weights and activations bfloat16; decode: torch bfloat16 linear; prefill: {prefill}"

    def linear(self, name: str, weight: Tensor) -> nn.Module:  # noqa: ARG002  every scheme gets the name
        """Return a bfloat16 layer."""
        weight = weight.to(torch.bfloat16)
        return Dense(weight) if self.native else WidenedBf16(weight)
