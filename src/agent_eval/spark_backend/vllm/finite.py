"""Refuses scores that are no numbers, in vLLM: it would choose a token by them and say nothing.

A damaged checkpoint, or a kernel that goes wrong, is then a fault of the harness and not a failure of the model.
"""

from __future__ import annotations

import math

from torch import Tensor
from vllm.v1.sample.logits_processor import LogitsProcessor

from agent_eval.errors import EngineFault


class FiniteLogits(LogitsProcessor):  # type: ignore[misc]
    """Changes no scores; vLLM's arguments are not needed for that."""

    def __init__(self, *arguments: object) -> None:
        del arguments

    def apply(self, logits: Tensor) -> Tensor:
        """Return the scores (R, V) as they are. Tokens that a grammar rules out have minus infinity, which may be.

        Raises:
            EngineFault: one of them is no number, or infinite.
        """
        if not float(logits.max()) < math.inf:  # what is no number is the largest, for torch
            raise EngineFault(
                "the model computed logits that are not finite", hint="the weights may be damaged; check the digest"
            )
        return logits

    def is_argmax_invariant(self) -> bool:
        """Say no: vLLM leaves the others out where decoding is greedy."""
        return False

    def update_state(self, batch_update: object) -> None:
        """Do nothing: it is the same for every generation."""
