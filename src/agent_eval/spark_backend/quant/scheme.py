"""What a build does to a linear layer. Says nothing about which layers there are."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor, nn


class Linear(Protocol):
    """A projection without bias."""

    def __call__(self, x: Tensor) -> Tensor:
        """Map (..., K) of the scheme's activation type to (..., N) of that type or of float32."""
        ...


class Scheme(Protocol):
    """Turns the weights of a checkpoint into layers that compute."""

    @property
    def activation(self) -> torch.dtype:
        """Type of the activations between the layers, of the embedding table and of the output gate's weights."""
        ...

    @property
    def notes(self) -> str:
        """One line for the record: what is quantised and how, and which kernel computes."""
        ...

    def linear(self, name: str, weight: Tensor) -> nn.Module:
        """Return a layer, a ``Linear``, that multiplies by a weight of shape (N, K).

        Raises:
            CheckpointError: a weight of this shape cannot be represented.
        """
        ...
