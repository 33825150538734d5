"""From two models' logits at the same positions to how far apart they are. Knows no model, no text and no statistics.

Everything is over the whole vocabulary and in float64: a divergence of a millionth is a difference of numbers that are
a million times larger, of which float32 keeps one digit.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agent_eval.errors import EngineFault


class Distances(NamedTuple):
    """One number for each position, (T,) each."""

    kl: NDArray[np.float64]
    """Kullback-Leibler divergence of the build from the reference, KL(reference || build), in nats."""
    same_top: NDArray[np.bool_]
    """Whether both hold the same token for the most probable; of equals the lowest id counts."""
    reference: NDArray[np.float64]
    """Log-probability of the token that follows, with the reference."""
    build: NDArray[np.float64]
    """The same with the build."""

    @classmethod
    def joined(cls, parts: Iterable[Distances]) -> Distances:
        """Return the positions of all parts, in order."""
        empty = np.empty(0)
        columns = zip(*[(empty, empty.astype(bool), empty, empty), *parts], strict=True)
        return cls(*(np.concatenate(column) for column in columns))


def distances(reference: Tensor, build: Tensor, following: Tensor) -> Distances:
    """Compare two models position by position.

    Args:
        reference: Logits of the reference, (T, V).
        build: Logits of the build at the same positions, (T, V).
        following: The token that follows each position, (T,).

    Raises:
        EngineFault: the two have other vocabularies, or logits are not finite.
    """
    if reference.shape != build.shape:
        raise EngineFault(
            f"the reference gives {reference.shape[-1]} logits, the build {build.shape[-1]}; expected one vocabulary",
            hint="both must be of one checkpoint",
        )
    first, second = reference.double().log_softmax(dim=-1), build.double().log_softmax(dim=-1)
    # nothing may come of a token that the reference thinks impossible, nor of rounding
    kl = (first.exp() * (first - second)).sum(dim=-1).clamp_min(0.0)
    if not bool(torch.isfinite(kl).all()):
        raise EngineFault(
            "the model computed logits that are not finite", hint="the weights may be damaged; check the digest"
        )
    rows = following.unsqueeze(-1)
    return Distances(
        kl.numpy(),
        (reference.argmax(dim=-1) == build.argmax(dim=-1)).numpy(),
        first.gather(-1, rows).squeeze(-1).numpy(),
        second.gather(-1, rows).squeeze(-1).numpy(),
    )
