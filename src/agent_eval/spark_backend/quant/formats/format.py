"""What every format of quantised weights offers, and the reading of its section of ``config.json``. Knows no folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol

import torch
from torch import Tensor

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.checkpoints.tensor_file import Planned
from agent_eval.spark_backend.quant.groups import GroupedWeight
from agent_eval.spark_backend.quant.name import GROUPS
from agent_eval.spark_backend.quant.rows import GroupedSource

BITS: Literal[4] = 4
"""Every format here holds codes of four bits."""

FLOATS = (torch.bfloat16, torch.float16, torch.float32)
"""Types that scales and zeros may have; they are rounded to bfloat16, as engines do that run a bfloat16 model."""


class Format(Protocol):
    """One way to lay a quantised matrix out in tensors."""

    @property
    def method(self) -> str:
        """``quant_method`` in ``config.json``."""
        ...

    @property
    def group(self) -> int: ...

    @property
    def symmetric(self) -> bool: ...

    @property
    def main(self) -> str:
        """Suffix of the tensor that holds the codes: a matrix that has it is quantised."""
        ...

    @property
    def rows_axis(self) -> int:
        """Dimension along which the rows of the matrix lie in every tensor that has them."""
        ...

    @property
    def rows_to_a_word(self) -> int:
        """Rows must be a multiple of this."""
        ...

    @property
    def fused(self) -> bool:
        """Whether q, k and v are written as one matrix, as in the checkpoint, or as three, as engines take them."""
        ...

    def layout(self, rows: int, width: int) -> dict[str, Planned]:
        """Return the suffixes of the tensors of a matrix (N, K), with the types and shapes that are written."""
        ...

    def check(self, name: str, tensors: Mapping[str, Tensor]) -> None:
        """Refuse what shapes do not show, without copying: an order of columns that is not the matrix's own.

        Raises:
            CheckpointError: names the tensor.
        """
        ...

    def source(self, tensors: Mapping[str, Tensor]) -> GroupedSource:
        """Return a matrix to be read row by row from its tensors, by suffix."""
        ...

    def tensors(self, weight: GroupedWeight) -> dict[str, Tensor]:
        """Return the tensors that a quantised matrix is written as, by suffix."""
        ...

    def section(self) -> dict[str, Any]:
        """Return the ``quantization_config`` that describes a folder of this format."""
        ...


def field(section: Mapping[str, Any], name: str, default: Any, allowed: tuple[Any, ...], why: str) -> Any:
    """Return a field of ``quantization_config`` that has one of a few values.

    Raises:
        CheckpointError: it has another.
    """
    value = section.get(name, default)
    if not any(value == one and type(value) is type(one) for one in allowed):
        expected = " or ".join(repr(one) for one in allowed)
        raise CheckpointError(
            f"config.json: quantization_config.{name} is {value!r}, expected {expected}: {why}", hint=_OTHERWISE
        )
    return value


def read_group(section: Mapping[str, Any], default: int | None = None) -> int:
    """Return the group size of a folder.

    Raises:
        CheckpointError: it is none that the kernels take.
    """
    why = "a scale serves that many neighbours; -1, one scale a row, is not read"
    return int(field(section, "group_size", default, tuple(sorted(GROUPS)), why))


_OTHERWISE = "quantise the published checkpoint with `agent-eval build`, or run a build of it on the fly"
