"""The names of builds: one small grammar. Knows no tensors, no kernels, no checkpoint.

    bf16 | fp32 | w{2,3,4,8}a{8,16}[-sym|-asym][-g32|-g64|-g128]

``w4a8`` says weights of 4 bits and activations of 8. Left out, the form is asymmetric with 16-bit activations and
symmetric with 8-bit ones, as the published builds are, and the group is the largest that divides every width of the
checkpoint.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

from agent_eval.errors import UnknownName

FORMS = ("bf16", "fp32", "w{2,3,4,8}a{8,16}[-sym|-asym][-g32|-g64|-g128]")
"""Every name that a build of a checkpoint can have."""

GROUPS = (128, 64, 32)
"""Weights that can share a scale, the cheapest first."""

WeightBits = Literal[2, 3, 4, 8]
ActivationBits = Literal[8, 16]

_GROUPED = re.compile(r"w(?P<bits>[2348])a(?P<activation>8|16)(-(?P<form>sym|asym))?(-g(?P<group>32|64|128))?")


@dataclass(frozen=True)
class DenseName:
    """A build that keeps the weights of the checkpoint."""

    dtype: Literal["bf16", "fp32"]

    def __str__(self) -> str:
        return self.dtype


@dataclass(frozen=True)
class GroupedName:
    """A build with integer weights in groups."""

    bits: WeightBits
    activation: ActivationBits
    symmetric: bool
    group: int | None = None
    """Weights to a scale; None for the largest of ``GROUPS`` that divides every width."""

    def __str__(self) -> str:
        """Return the shortest name: what is so by default is left out."""
        form = "" if self.symmetric == _symmetric_by_default(self.activation) else self.form
        group = "" if self.group is None else f"g{self.group}"
        return "-".join(filter(None, (f"w{self.bits}a{self.activation}", form, group)))

    @property
    def form(self) -> Literal["sym", "asym"]:
        """The word of the name for whether groups have a zero."""
        return "sym" if self.symmetric else "asym"


BuildName = DenseName | GroupedName


def parse_build(text: str) -> BuildName:
    """Read the name of a build.

    Raises:
        UnknownName: it is no word of the grammar.
    """
    if text in ("bf16", "fp32"):
        return DenseName(cast("Literal['bf16', 'fp32']", text))
    match = _GROUPED.fullmatch(text)
    if match is None:
        raise UnknownName(
            "build", text, FORMS, hint="such as w4a16, w4a8-asym or w8a8-sym-g64: in this order, lower case"
        )
    activation = cast("ActivationBits", int(match["activation"]))
    return GroupedName(
        bits=cast("WeightBits", int(match["bits"])),
        activation=activation,
        symmetric=match["form"] == "sym" if match["form"] else _symmetric_by_default(activation),
        group=int(match["group"]) if match["group"] else None,
    )


def group_for(widths: Sequence[int]) -> int:
    """Return the largest group that divides every width, or the smallest there is if none does."""
    return next((group for group in GROUPS if all(width % group == 0 for width in widths)), GROUPS[-1])


def _symmetric_by_default(activation: ActivationBits) -> bool:
    return activation == 8
