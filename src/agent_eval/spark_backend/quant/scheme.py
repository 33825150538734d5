"""What a build does to a linear layer. Says nothing about which layers there are."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import nn

from agent_eval.spark_backend.quant.rows import RowSource


class Scheme(Protocol):
    """Turns the weights of a checkpoint into layers that compute."""

    @property
    def activation(self) -> torch.dtype:
        """Type of the activations between the layers, of the embedding table and of the output gate's weights."""
        ...

    def linear(self, name: str, source: RowSource) -> nn.Module:
        """Return a layer without bias that multiplies by a weight of shape (N, K).

        It maps (..., K) of the activation type to (..., N) of that type or of float32.

        Args:
            name: The layer's place in the model, such as ``model.layers.0.mlp.down_proj``.
            source: Its rows; a ``GroupedSource`` where the checkpoint is quantised already.

        Raises:
            CheckpointError: a weight of this shape or form cannot be represented.
        """
        ...
