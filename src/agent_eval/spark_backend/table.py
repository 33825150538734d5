"""The embedding table: a row for each token, in values or as the codes of a layer. Knows no model."""

from __future__ import annotations

import torch.nn.functional as F  # noqa: N812  the field's name for it
from torch import Tensor, nn

from agent_eval.spark_backend.quant.scheme import HasRows


class DenseTable(nn.Module):
    """A table of values, which may be trained.

    Args:
        weight: (V, H); a mapped tensor is used in place.
    """

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight)

    def forward(self, ids: Tensor) -> Tensor:
        """Map tokens (...) to their rows (..., H) of the table's type."""
        return F.embedding(ids, self.weight)


class CodedTable(nn.Module):
    """The rows of a layer of few bits, whose values are computed when they are looked up: (V, H) of them never exist.

    Args:
        layer: Holds the codes; a tied head is this same layer.
    """

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        assert isinstance(layer, HasRows), "a layer made of codes gives rows of them"
        self.layer: nn.Module = layer
        self._rows = layer.rows

    def forward(self, ids: Tensor) -> Tensor:
        """Map tokens (...) to their rows (..., H), bfloat16."""
        return self._rows(ids)
