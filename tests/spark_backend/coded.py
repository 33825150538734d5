"""Weights in memory whose embedding table is quantised, as that of some folders is."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from agent_eval.spark_backend.model import TensorWeights
from agent_eval.spark_backend.quant.groups import GroupedWeight
from agent_eval.spark_backend.quant.rows import RowSource, WholeGroups

TABLE = "model.embedding.weight"


class CodedTableWeights(TensorWeights):
    """Tensors, but for a table of codes."""

    def __init__(self, tensors: Mapping[str, Tensor], table: GroupedWeight) -> None:
        super().__init__({**tensors, TABLE: table.dequantised().bfloat16()})
        self._table = table

    def source(self, *names: str) -> RowSource:
        """Return the table as codes, and all else as values."""
        return WholeGroups(self._table) if names == (TABLE,) else super().source(*names)
