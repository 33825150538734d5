"""Integer weights in groups: what a quantised weight says. Knows no kernel, no file and not how codes are chosen.

A weight (N, K) is cut into groups of neighbours along K. ``w = (code - centre) * scale + zero``, with scale and zero in
bfloat16, the form in which the kernels take them. Codes of 2, 3 and 4 bits lie about 8 in a container of 4 bits (2
bits: 6 to 9, 3 bits: 4 to 11), so that one kernel serves them; codes of 8 bits lie about 128.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class GroupedWeight:
    """A weight of shape (N, K) in few bits."""

    codes: Tensor
    """(N, K) uint8: from ``centre - half`` to ``centre + half - 1``, where half is ``2 ** (bits - 1)``."""
    scale: Tensor
    """(N, K / group) bfloat16."""
    zero: Tensor | None
    """(N, K / group) bfloat16: the value of the central code; None where it is 0 everywhere."""
    group: int
    bits: int

    @property
    def shape(self) -> tuple[int, int]:
        """(N, K)."""
        return self.codes.shape[0], self.codes.shape[1]

    @property
    def centre(self) -> int:
        """The code that stands for ``zero``."""
        return centre_of(self.bits)

    @property
    def symmetric(self) -> bool:
        """Whether the central code stands for 0."""
        return self.zero is None

    def dequantised(self) -> Tensor:
        """Return the weight that the codes stand for: (N, K) float32."""
        rows, width = self.shape
        values = self.codes.view(rows, -1, self.group).float().sub_(self.centre).mul_(self.scale.float()[..., None])
        if self.zero is not None:
            values.add_(self.zero.float()[..., None])
        return values.view(rows, width)

    def rows(self, start: int, end: int) -> GroupedWeight:
        """Return some of the rows, as views."""
        zero = None if self.zero is None else self.zero[start:end]
        return GroupedWeight(self.codes[start:end], self.scale[start:end], zero, self.group, self.bits)


def centre_of(bits: int) -> int:
    """Return the middle of the container that codes of so many bits lie in."""
    return 128 if bits == 8 else 8


def stacked(parts: list[GroupedWeight]) -> GroupedWeight:
    """Return weights of one width, form and group as one, one above the other."""
    if len(parts) == 1:
        return parts[0]
    zeros = [part.zero for part in parts if part.zero is not None]
    return GroupedWeight(
        torch.cat([part.codes for part in parts]),
        torch.cat([part.scale for part in parts]),
        torch.cat(zeros) if zeros else None,
        parts[0].group,
        parts[0].bits,
    )
