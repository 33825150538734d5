"""The scores of the output gate as one operator that compilers do not look into.

The product has one output per query head, eight for the 1.7B model. For a token or two a sum of products over the
hidden size is faster than any matrix product; written out, though, a compiler fuses it with its neighbours and
schedules a reduction of 2,048 numbers where it hurts (``docs/measurements.md``).
"""

from __future__ import annotations

import torch
from torch import Tensor

FEW_TOKENS = 2
"""Up to so many tokens the scores are sums of products, beyond a matrix product."""

NAME = "agent_eval::head_gate"


@torch.library.custom_op(NAME, mutates_args=())
def head_gate(hidden: Tensor, weight: Tensor) -> Tensor:
    """Return the scores before the sigmoid, float32.

    Args:
        hidden: (T, H), the input of the attention's projections.
        weight: (heads, H).
    """
    if hidden.shape[0] <= FEW_TOKENS:
        return reduced(hidden, weight)
    return multiplied(hidden, weight)


@head_gate.register_fake
def _(hidden: Tensor, weight: Tensor) -> Tensor:
    return hidden.new_empty(hidden.shape[0], weight.shape[0], dtype=torch.float32)


def reduced(hidden: Tensor, weight: Tensor) -> Tensor:
    """Return the scores as sums of products in float32."""
    return (hidden.float().unsqueeze(1) * weight.float()).sum(-1)  # (T, heads, H) to (T, heads)


def multiplied(hidden: Tensor, weight: Tensor) -> Tensor:
    """Return the scores as a matrix product of the inputs' type."""
    return torch.nn.functional.linear(hidden, weight).float()
