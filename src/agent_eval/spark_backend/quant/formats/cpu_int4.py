"""The ``cpu_int4`` format of the published edge study: asymmetric groups with a free zero, row-major.

Per matrix (N, K): ``weight_packed`` uint8 (N, K / 2), byte j holds column 2j in its low half and 2j + 1 in its high
one; ``weight_scale`` and ``weight_zero`` bfloat16 (N, K / group). ``w = (code - 8) * scale + zero``. The embedding
table of a tied model is a matrix like the others, and the head is the same one. Knows no file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor

from agent_eval.spark_backend.checkpoints.tensor_file import Planned
from agent_eval.spark_backend.quant.formats.format import BITS, read_group
from agent_eval.spark_backend.quant.formats.nibbles import pack_bytes, unpack_bytes
from agent_eval.spark_backend.quant.groups import GroupedWeight

_GROUP_BY_DEFAULT = 64  # of the format, where its section names none


@dataclass(frozen=True)
class CpuInt4:
    """The format with one group size."""

    group: int
    ignore: tuple[str, ...] = ()
    """Names of matrices that are left alone, for the folder's section."""
    quantize_embedding: bool = True
    method: str = "cpu_int4"
    symmetric: bool = False
    main: str = "weight_packed"
    rows_axis: int = 0
    rows_to_a_word: int = 1
    fused: bool = True

    @classmethod
    def read(cls, section: Mapping[str, Any]) -> Self:
        """Read a ``quantization_config``.

        Raises:
            CheckpointError: it asks for what the format does not have.
        """
        return cls(read_group(section, _GROUP_BY_DEFAULT))

    def section(self) -> dict[str, Any]:
        """Return the ``quantization_config`` of a folder."""
        return {
            "quant_method": self.method,
            "bits": BITS,
            "group_size": self.group,
            "quantize_embedding": self.quantize_embedding,
            "ignore": list(self.ignore),
        }

    def layout(self, rows: int, width: int) -> dict[str, Planned]:
        """Return the tensors of a matrix."""
        grid = Planned(torch.bfloat16, (rows, width // self.group))
        return {"weight_packed": Planned(torch.uint8, (rows, width // 2)), "weight_scale": grid, "weight_zero": grid}

    def check(self, name: str, tensors: Mapping[str, Tensor]) -> None:
        """Accept everything: the layout leaves no choice."""

    def source(self, tensors: Mapping[str, Tensor]) -> _Source:
        """Return a matrix to be read row by row."""
        return _Source(tensors["weight_packed"], tensors["weight_scale"], tensors["weight_zero"], self.group)

    def tensors(self, weight: GroupedWeight) -> dict[str, Tensor]:
        """Return the tensors of a quantised matrix."""
        assert weight.zero is not None
        return {"weight_packed": pack_bytes(weight.codes), "weight_scale": weight.scale, "weight_zero": weight.zero}


class _Source:
    bits = BITS
    symmetric = False

    def __init__(self, packed: Tensor, scale: Tensor, zero: Tensor, group: int) -> None:
        self._packed, self._scale, self._zero = packed, scale, zero
        self.group = group
        self.shape = (packed.shape[0], 2 * packed.shape[1])

    def rows(self, start: int, end: int) -> Tensor:
        return self.grouped(start, end).dequantised()

    def grouped(self, start: int, end: int) -> GroupedWeight:
        scale, zero = self._scale[start:end].bfloat16(), self._zero[start:end].bfloat16()
        return GroupedWeight(unpack_bytes(self._packed[start:end]), scale, zero, self.group, BITS)
