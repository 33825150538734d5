"""The GPTQ format, versions 1 and 2: groups along K, packed along K. Knows no file.

Per matrix (N, K): ``qweight`` int32 (K / 8, N), code i of a word is column 8k + i; ``qzeros`` int32 (K / group, N / 8);
``scales`` (K / group, N); ``g_idx`` int32 (K), the group of each column. ``w = (code - zero) * scale``, and a symmetric
matrix has zero 8 throughout. Version 1 (``checkpoint_format`` "gptq", the default) stores zero - 1, version 2 zero
itself (ModelCloud/GPTQModel, ``convert_gptq_v1_to_v2_format``). Some writers of symmetric folders store 8 under the
name of version 1: as the section says that the matrix is symmetric, 7 and 8 both mean 8 there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import torch
from torch import Tensor

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.checkpoints.tensor_file import Planned
from agent_eval.spark_backend.quant.formats.format import BITS, field, read_group
from agent_eval.spark_backend.quant.formats.nibbles import WORD, pack_words, unpack_words
from agent_eval.spark_backend.quant.groups import GroupedWeight, centre_of

_CENTRE = centre_of(BITS)
_ROWS_AT_ONCE = 4096  # of stored zeros, while they are looked at


@dataclass(frozen=True)
class Gptq:
    """The format with one group size and form."""

    group: int
    symmetric: bool = True
    version: Literal[1, 2] = 1
    lm_head: bool = True
    """Whether the head is quantised, for the folder's section."""
    method: str = "gptq"
    main: str = "qweight"
    rows_axis: int = 1
    rows_to_a_word: int = 8
    fused: bool = False

    @classmethod
    def read(cls, section: Mapping[str, Any]) -> Self:
        """Read a ``quantization_config``.

        Raises:
            CheckpointError: it asks for what is not read.
        """
        field(section, "bits", None, (BITS,), "8-bit and other GPTQ folders are not read")
        field(section, "desc_act", False, (False,), "columns in order of activation (act-order) are not read")
        stored = field(section, "checkpoint_format", "gptq", ("gptq", "gptq_v2"), "other layouts are not read")
        if section.get("dynamic"):
            raise CheckpointError(
                "config.json: quantization_config.dynamic gives some layers other bits or groups, expected one format "
                "for all of them",
                hint="quantise every layer alike",
            )
        symmetric = bool(field(section, "sym", True, (True, False), "it says whether zeros are used"))
        return cls(read_group(section, 128), symmetric, 1 if stored == "gptq" else 2)

    def section(self) -> dict[str, Any]:
        """Return the ``quantization_config`` of a folder."""
        return {
            "quant_method": self.method,
            "bits": BITS,
            "group_size": self.group,
            "desc_act": False,
            "sym": self.symmetric,
            "lm_head": self.lm_head,
            "checkpoint_format": "gptq" if self.version == 1 else "gptq_v2",
        }

    def layout(self, rows: int, width: int) -> dict[str, Planned]:
        """Return the tensors of a matrix."""
        groups = width // self.group
        return {
            "qweight": Planned(torch.int32, (width // WORD, rows)),
            "qzeros": Planned(torch.int32, (groups, rows // WORD)),
            "scales": Planned(torch.bfloat16, (groups, rows)),
            "g_idx": Planned(torch.int32, (width,)),
        }

    def check(self, name: str, tensors: Mapping[str, Tensor]) -> None:
        """Refuse act-order, and zeros where there should be none."""
        order = tensors["g_idx"]
        plain = torch.arange(len(order), dtype=torch.int32) // self.group
        if not torch.equal(order, plain):
            raise CheckpointError(
                f"{name}.g_idx puts columns into groups out of their order (act-order), expected column k in group "
                f"k // {self.group}",
                hint="quantise again with desc_act false",
            )
        if self.symmetric:
            words = tensors["qzeros"]
            seen: set[int] = set()
            for part in torch.split(words, _ROWS_AT_ONCE):
                seen |= set(np.unique(part.numpy()).tolist())
            codes = set(unpack_words(torch.tensor(sorted(seen), dtype=torch.int32)).tolist())
            if not codes <= {_CENTRE - 1, _CENTRE}:
                raise CheckpointError(
                    f"{name}.qzeros holds {sorted(codes)}, expected {_CENTRE - 1} or {_CENTRE} throughout: "
                    "quantization_config.sym is true",
                    hint="set sym to false if the folder was quantised with zeros",
                )

    def source(self, tensors: Mapping[str, Tensor]) -> _Source:
        """Return a matrix to be read row by row."""
        offset = 1 if self.version == 1 else 0
        zeros = None if self.symmetric else tensors["qzeros"]
        return _Source(tensors["qweight"], tensors["scales"], zeros, offset, self.group)

    def tensors(self, weight: GroupedWeight) -> dict[str, Tensor]:
        """Return the tensors of a quantised symmetric matrix."""
        assert weight.symmetric
        assert self.symmetric
        rows, width = weight.shape
        groups = width // self.group
        stored = torch.full((groups, rows), _CENTRE - (1 if self.version == 1 else 0), dtype=torch.uint8)
        return {
            "qweight": packed_along_columns(weight.codes),
            "qzeros": pack_words(stored),
            "scales": weight.scale.t().contiguous(),
            "g_idx": torch.arange(width, dtype=torch.int32) // self.group,
        }


def packed_along_columns(codes: Tensor) -> Tensor:
    """Pack codes (N, K) eight columns to a word: int32 (K / 8, N)."""
    return pack_words(codes).t().contiguous()


class _Source:
    bits = BITS

    def __init__(self, words: Tensor, scales: Tensor, zeros: Tensor | None, offset: int, group: int) -> None:
        self._words, self._scales, self._zeros = words, scales, zeros
        self._offset = offset
        self.group, self.symmetric = group, zeros is None
        self.shape = (words.shape[1], WORD * words.shape[0])

    def rows(self, start: int, end: int) -> Tensor:
        return self.grouped(start, end).dequantised()

    def grouped(self, start: int, end: int) -> GroupedWeight:
        codes = unpack_words(self._words[:, start:end].t())
        scale = self._scales[:, start:end].t().bfloat16().contiguous()
        zero = None
        if self._zeros is not None:
            first = start // WORD  # zeros are packed along N: whole words are read, and cut
            points = unpack_words(self._zeros[:, first : -(-end // WORD)])[:, start - first * WORD : end - first * WORD]
            zero = zero_values(points.t().float() + self._offset, scale)
        return GroupedWeight(codes, scale, zero, self.group, BITS)


def zero_values(points: Tensor, scale: Tensor) -> Tensor:
    """Return the value of the central code, given the code that stands for 0: bfloat16.

    The kernels take the zero as one number in bfloat16; where it has more digits than that, the whole group shifts by
    at most 1/32 of a step.
    """
    return ((_CENTRE - points) * scale.float()).bfloat16()
