"""How the next token is chosen from logits. Knows no model; its randomness is a generator that the caller seeds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from agent_eval.spark_backend.kernels.decode import Choice


def choose(
    logits: Tensor, temperature: float, top_p: float, generator: torch.Generator, kernels: Choice | None = None
) -> int:
    """Return the next token, or -1 if a logit is not a number or the largest is not finite.

    Args:
        logits: (V,) float32.
        temperature: 0 takes ``greedy``'s token, anything above draws as ``sample`` does.
        top_p: See ``sample``.
        generator: Draws one number per call unless greedy.
        kernels: Choose the same token without a copy of the logits and without sorting them; where a sum falls on the
            edge between two tokens, rounding may decide otherwise.
    """
    if kernels is not None and logits.is_contiguous():
        if temperature == 0:
            return kernels.greedy(logits)
        return kernels.sample(logits, temperature, top_p, _draw(generator))
    best = greedy(logits)
    if not math.isfinite(logits[best].item()):  # the maximum is not a number if any logit is not
        return -1
    return best if temperature == 0 else sample(logits, temperature, top_p, generator)


def greedy(logits: Tensor) -> int:
    """Return the most probable token of logits (V,); of equals the lowest id."""
    return int(logits.argmax())  # torch documents: the first of equal maxima


def sample(logits: Tensor, temperature: float, top_p: float, generator: torch.Generator) -> int:
    """Draw a token from the smallest set of most probable tokens that together reach ``top_p``.

    Args:
        logits: (V,) float32.
        temperature: 0 is greedy; below 1 sharpens, above 1 flattens.
        top_p: 1 keeps every token; at least one token is always kept.
        generator: Draws one number per call, so that equal seeds give equal texts.

    Returns:
        The token's id. Equal logits are ordered by id, so the draw depends on the numbers only.
    """
    if temperature <= 0:
        return greedy(logits)
    ordered, ids = logits.sort(descending=True, stable=True)
    probabilities = (ordered.double() / temperature).softmax(dim=-1)
    reached = probabilities.cumsum(dim=-1)
    kept = int((reached - probabilities < top_p).sum()) if top_p < 1 else probabilities.numel()
    kept = max(kept, 1)
    draw = _draw(generator) * reached[kept - 1]
    place = int(torch.searchsorted(reached[:kept], draw, right=True))
    return int(ids[min(place, kept - 1)])


def _draw(generator: torch.Generator) -> float:
    return float(torch.rand((), dtype=torch.float64, generator=generator))


def is_valid(temperature: float, top_p: float) -> bool:
    """Tell whether the parameters of a draw make sense."""
    return math.isfinite(temperature) and temperature >= 0 and 0 < top_p <= 1
