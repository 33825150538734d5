"""Why two engines chose different tokens: whether rounding explains it. Knows logits, and neither engine.

That two engines differ by no more than their own errors is true of any two engines, broken ones too: what an engine is
off by is what moved its choice. So errors are held to a yardstick that no engine has a part in: what rounding alone
makes of the exact logits at that token, computed by the twin of ``rounding.py`` that rounds where the engine does.

A mistake may be too small to move a choice. So errors are compared over all tokens too, where the twin says quite
precisely how large they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

CONTENDERS = 32
"""The likeliest tokens, among which errors are measured: those of the rest are smaller, as their logits are."""

REACH = 4.0
"""A near tie: the exact logits lie within so many times of what rounding moves a difference of two logits by."""

SPREAD = 2.0
"""An engine's error is rounding's while it is no more than so many times what the twin has at the same token."""

USUAL = 1.25
"""Over many tokens the same, where chance evens out. On the embedded model an engine with a window too short by one, or
a layer's weights larger by 3 %, errs 1.4 to 3.3 times as much as its twin, a sound one 1.0 times."""


class Errors(NamedTuple):
    """What differences of contenders' logits are off by over many tokens, root mean square, in nats."""

    found: float
    expected: float
    """Of the twin."""

    @property
    def usual(self) -> bool:
        """Whether they are as large as rounding makes them."""
        return self.found <= USUAL * self.expected


class Side(NamedTuple):
    """One engine at the token at which the choices part; each is (V,) logits."""

    logits: Tensor
    twin: Tensor
    """Of the twin that rounds where the engine does."""


class Part(NamedTuple):
    """One engine's part in a divergence."""

    token: int
    """What it chose."""
    gap: float
    """By how much it preferred that to the other's choice, in nats."""
    error: float
    """What a difference of two contenders' logits is typically off by, in nats."""
    expected: float
    """The same of its twin."""
    moved: bool
    """Whether the exact logits choose otherwise."""

    @property
    def usual(self) -> bool:
        """Whether the error is as large as rounding makes it."""
        return self.error <= SPREAD * self.expected


class Divergence(NamedTuple):
    """The first token at which two engines part, after one and the same text."""

    gap: float
    """By how much the exact logits prefer their own choice to the farther one of the engines', in nats."""
    parts: tuple[Part, Part]

    @property
    def near_tie(self) -> bool:
        """Whether rounding moves logits far enough, in the engine whose choice it moved."""
        reach = max((part.expected for part in self.parts if part.moved), default=0.0)
        return self.gap <= REACH * reach

    @property
    def explained(self) -> bool:
        """Whether it is a near tie, between engines that err as rounding does."""
        return self.near_tie and all(part.usual for part in self.parts)


def divergence(exact: Tensor, one: Side, other: Side) -> Divergence:
    """Examine a token at which two engines chose differently.

    Args:
        exact: (V,) logits in exact arithmetic.
        one: An engine.
        other: The other.

    Raises:
        ValueError: they chose the same.
    """
    tokens = [int(side.logits.argmax()) for side in (one, other)]
    if tokens[0] == tokens[1]:
        raise ValueError(f"both choose token {tokens[0]}, expected two tokens")
    best = int(exact.argmax())

    def part(side: Side, mine: int, theirs: int) -> Part:
        gap = float(side.logits[mine] - side.logits[theirs])
        return Part(mine, gap, error(side.logits, exact), error(side.twin, exact), mine != best)

    gap = float(exact[best] - exact[tokens].min())
    return Divergence(gap, (part(one, *tokens), part(other, *reversed(tokens))))


def error(logits: Tensor, exact: Tensor) -> float:
    """Return what a difference of two logits is typically off by, among the likeliest tokens, in nats.

    A number that is added to all changes no choice and does not count.
    """
    likeliest = exact.topk(min(CONTENDERS, len(exact))).indices
    return float(2**0.5 * (logits.double() - exact.double())[likeliest].std())


def errors(logits: Sequence[Tensor], twin: Sequence[Tensor], exact: Sequence[Tensor]) -> Errors:
    """Compare what an engine is off by with what its twin is.

    Args:
        logits: (tokens, V) of each of several texts, an engine's.
        twin: Of the twin that rounds where the engine does.
        exact: In exact arithmetic.
    """
    found, expected = (
        [error(row, x) for rows, exacts in zip(some, exact, strict=True) for row, x in zip(rows, exacts, strict=True)]
        for some in (logits, twin)
    )
    return Errors(root_mean_square(found), root_mean_square(expected))


def root_mean_square(values: Sequence[float]) -> float:
    """Return the root of the mean of squares."""
    return math.sqrt(sum(value**2 for value in values) / len(values))


def first_difference(one: Sequence[int], other: Sequence[int]) -> int | None:
    """Return where two generations of one length part; None if they are the same."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a != b), None)


def relative(one: Tensor, other: Tensor) -> float:
    """Return the root mean square of the difference of two tensors, as a share of the second's."""
    one, other = one.double(), other.double()
    return float(torch.linalg.vector_norm(one - other) / torch.linalg.vector_norm(other))
