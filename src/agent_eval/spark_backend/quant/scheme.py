"""What a build does to a linear layer. Says nothing about which layers there are."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from agent_eval.spark_backend.quant.rows import RowSource


@runtime_checkable
class HasRows(Protocol):
    """A layer that also hands out its weight's values, some rows at a time."""

    def rows(self, ids: Tensor) -> Tensor:
        """Return the rows that ids (...) name: (..., K) bfloat16, each value rounded from float32.

        Raises:
            IndexError: there is no such row.
        """
        ...


class Scheme(Protocol):
    """Turns the weights of a checkpoint into layers that compute."""

    @property
    def activation(self) -> torch.dtype:
        """Type of the activations between the layers, of the embedding table and of the output gate's weights."""
        ...

    def linear(self, name: str, source: RowSource) -> nn.Module:
        """Return a layer without bias that multiplies by a weight of shape (N, K).

        It maps (..., K) of the activation type to (..., N) of that type or of float32. One that is made of a
        ``GroupedSource`` also is a ``HasRows``.

        Args:
            name: The layer's place in the model, such as ``model.layers.0.mlp.down_proj``.
            source: Its rows; a ``GroupedSource`` where the checkpoint is quantised already.

        Raises:
            CheckpointError: a weight of this shape or form cannot be represented.
        """
        ...
