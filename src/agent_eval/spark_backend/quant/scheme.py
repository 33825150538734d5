"""What a build does to a linear layer. Says nothing about which layers there are."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor, nn


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
        """Return a layer without bias that multiplies by a weight of shape (N, K).

        It maps (..., K) of the activation type to (..., N) of that type or of float32.

        Raises:
            CheckpointError: a weight of this shape cannot be represented.
        """
        ...
