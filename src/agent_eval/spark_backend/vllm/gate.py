"""The scores of the output gate as one operator that compilers do not look into.

The product has one output per query head, eight for the 1.7B model. For a token or two a sum of products over the
hidden size is faster than any matrix product; written out, though, a compiler fuses it with its neighbours and
schedules a reduction of 2,048 numbers where it hurts (``docs/measurements.md``).

How many tokens are few is an argument of the operator, fixed when a model is made: a compiled graph holds it as a
constant. So it stands in ``additional_config`` too, which is part of the key that vLLM keeps compiled graphs under.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from agent_eval.spark_backend.vllm.switches import Switches

if TYPE_CHECKING:
    from vllm.config import VllmConfig

FEW_TOKENS = 2
"""Up to so many tokens the scores are sums of products, beyond a matrix product."""

NAME = "agent_eval::head_gate"

KEY = "agent_eval_gate_tokens"
"""In ``additional_config``: up to how many tokens this model's scores are sums of products."""


def engine_arguments(switches: Switches) -> dict[str, Any]:
    """Return what vLLM's ``EngineArgs`` must be given for the switch ``gate-sum``."""
    return {"additional_config": {KEY: FEW_TOKENS if switches.gate_sum else 0}}


def few_tokens(vllm_config: VllmConfig) -> int:
    """Return up to how many tokens a model's scores are sums of products, and leave it in vLLM's configuration.

    Where the engine was not given the arguments above, as by vLLM's own server, the environment says it.
    """
    additional = vllm_config.additional_config
    if not isinstance(additional, dict):  # an object with a hash of its own: nothing can be added to the key
        return FEW_TOKENS
    if KEY not in additional:
        additional |= engine_arguments(Switches.from_environment())["additional_config"]
    return int(additional[KEY])


@torch.library.custom_op(NAME, mutates_args=())
def head_gate(hidden: Tensor, weight: Tensor, few_tokens: int) -> Tensor:
    """Return the scores before the sigmoid, float32.

    Args:
        hidden: (T, H), the input of the attention's projections.
        weight: (heads, H).
        few_tokens: Up to so many tokens they are sums of products; 0 for never.
    """
    if hidden.shape[0] <= few_tokens:
        return reduced(hidden, weight)
    return multiplied(hidden, weight)


@head_gate.register_fake
def _(hidden: Tensor, weight: Tensor, few_tokens: int) -> Tensor:  # noqa: ARG001  the operator's arguments
    return hidden.new_empty(hidden.shape[0], weight.shape[0], dtype=torch.float32)


def reduced(hidden: Tensor, weight: Tensor) -> Tensor:
    """Return the scores as sums of products in float32."""
    return (hidden.float().unsqueeze(1) * weight.float()).sum(-1)  # (T, heads, H) to (T, heads)


def multiplied(hidden: Tensor, weight: Tensor) -> Tensor:
    """Return the scores as a matrix product of the inputs' type."""
    return torch.nn.functional.linear(hidden, weight).float()
