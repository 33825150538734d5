"""W4A16: four-bit weights in asymmetric groups, bfloat16 activations."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from agent_eval.spark_backend.quant.groups import GROUP, quantise
from agent_eval.spark_backend.quant.int4 import KERNEL, PACKED_ROWS, Int4Product


class W4A16Linear(nn.Module):
    """Multiplies bfloat16 rows by a four-bit weight."""

    def __init__(self, product: Int4Product) -> None:
        super().__init__()
        self._product = product

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., K) bfloat16 to (..., N) bfloat16."""
        rows = x.reshape(-1, x.shape[-1])
        return self._product(rows).to(torch.bfloat16).view(*x.shape[:-1], -1)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class W4A16:
    """Every projection and the head in four bits; norms, output gates and the embedding table are not quantised."""

    group: int = GROUP
    activation: torch.dtype = torch.bfloat16

    @property
    def notes(self) -> str:
        """Say what is quantised and which kernels compute."""
        return (
            f"projections and head 4-bit, asymmetric, groups of {self.group}; gate, norms and embedding bfloat16; "
            f"activations bfloat16; decode: {KERNEL}; prefill: float32 linear over widened weights above "
            f"{PACKED_ROWS} rows"
        )

    def linear(self, name: str, weight: Tensor) -> nn.Module:
        """Quantise a weight and return its layer.

        Raises:
            CheckpointError: its width does not divide into groups.
        """
        return W4A16Linear(Int4Product(quantise(name, weight, "asymmetric", self.group)))
