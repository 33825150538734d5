"""The AWQ format ("gemm"): asymmetric groups whose zero is one of the codes, packed along N. Knows no file.

Per matrix (N, K): ``qweight`` int32 (K, N / 8) and ``qzeros`` int32 (K / group, N / 8), eight outputs to a word in
AWQ's order; ``scales`` (K / group, N). ``w = (code - zero) * scale``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor

from agent_eval.spark_backend.checkpoints.tensor_file import Planned
from agent_eval.spark_backend.quant.formats.format import BITS, field, read_group
from agent_eval.spark_backend.quant.formats.gptq import zero_values
from agent_eval.spark_backend.quant.formats.nibbles import AWQ_ORDER, WORD, pack_words, unpack_words
from agent_eval.spark_backend.quant.groups import GroupedWeight, centre_of

_CENTRE = centre_of(BITS)


@dataclass(frozen=True)
class Awq:
    """The format with one group size."""

    group: int
    ignore: tuple[str, ...] = ()
    """Names of matrices that are left alone, for the folder's section."""
    lm_head: bool = True
    """Whether the head is quantised, for the folder's section."""
    method: str = "awq"
    symmetric: bool = False
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
        bits = "bits" if "bits" in section else "w_bit"  # AutoAWQ's own file has the second spelling
        field(section, bits, None, (BITS,), "only 4-bit AWQ folders are read")
        field(section, "zero_point", True, (True,), "AWQ folders without zeros are not read")
        field(section, "version", "gemm", ("gemm", "GEMM"), "other layouts are not read")
        group = "group_size" if "group_size" in section else "q_group_size"
        return cls(read_group({"group_size": section.get(group)}))

    def section(self) -> dict[str, Any]:
        """Return the ``quantization_config`` of a folder."""
        return {
            "quant_method": self.method,
            "bits": BITS,
            "group_size": self.group,
            "zero_point": True,
            "version": "gemm",
            "lm_head": self.lm_head,
            "modules_to_not_convert": list(self.ignore),
        }

    def layout(self, rows: int, width: int) -> dict[str, Planned]:
        """Return the tensors of a matrix."""
        groups = width // self.group
        return {
            "qweight": Planned(torch.int32, (width, rows // WORD)),
            "qzeros": Planned(torch.int32, (groups, rows // WORD)),
            "scales": Planned(torch.bfloat16, (groups, rows)),
        }

    def check(self, name: str, tensors: Mapping[str, Tensor]) -> None:
        """Accept everything: the layout leaves no choice."""

    def source(self, tensors: Mapping[str, Tensor]) -> _Source:
        """Return a matrix to be read row by row."""
        return _Source(tensors["qweight"], tensors["qzeros"], tensors["scales"], self.group)

    def tensors(self, weight: GroupedWeight) -> dict[str, Tensor]:
        """Return the tensors of a quantised matrix whose zeros are whole numbers of steps."""
        assert weight.zero is not None
        steps = weight.zero.float() / weight.scale.float()
        points = (_CENTRE - steps).round_()
        assert bool(((points >= 0) & (points < 2**BITS)).all()), "zeros of a grid with whole zero points"
        return {
            "qweight": pack_words(weight.codes.t(), AWQ_ORDER),
            "qzeros": pack_words(points.to(torch.uint8).t(), AWQ_ORDER),
            "scales": weight.scale.t().contiguous(),
        }


class _Source:
    bits = BITS
    symmetric = False

    def __init__(self, words: Tensor, zeros: Tensor, scales: Tensor, group: int) -> None:
        self._words, self._zeros, self._scales = words, zeros, scales
        self.group = group
        self.shape = (WORD * words.shape[1], words.shape[0])

    def rows(self, start: int, end: int) -> Tensor:
        return self.grouped(start, end).dequantised()

    def grouped(self, start: int, end: int) -> GroupedWeight:
        scale = self._scales[:, start:end].t().bfloat16().contiguous()
        codes = self._unpacked(self._words, start, end).contiguous()
        points = self._unpacked(self._zeros, start, end).float()
        return GroupedWeight(codes, scale, zero_values(points, scale), self.group, BITS)

    @staticmethod
    def _unpacked(words: Tensor, start: int, end: int) -> Tensor:
        first = start // WORD  # packed along N: whole words are read, and cut
        codes = unpack_words(words[:, first : -(-end // WORD)], AWQ_ORDER)
        return codes[:, start - first * WORD : end - first * WORD].t()
