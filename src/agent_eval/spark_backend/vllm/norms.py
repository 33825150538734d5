"""vLLM's compiled norms as an implementation that can be chosen on a CPU.

vLLM computes a norm by the implementation that ``kernel_config.ir_op_priority`` ranks first; on a CPU it knows only the
one that is written in torch, though its library has compiled ones for the processor. They are made known here in any
case, and ranked first only where the switch says so.

The numbers differ in bfloat16: torch's rounds before it multiplies by the weight, the compiled ones multiply and round
once, as ``spark_backend/model.py`` does.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from agent_eval.spark_backend.vllm.switches import Switches

PROVIDER = "agent_eval_cpu"
"""Name of the implementation, as ``ir_op_priority`` takes it."""

OPERATORS = ("rms_norm", "fused_add_rms_norm")
"""vLLM's names, the same in its registry and in its library."""

VECTOR = 8
"""Numbers that the compiled norms take at a time. They refuse a row that this does not divide."""


def engine_arguments(switches: Switches) -> dict[str, Any]:
    """Return what vLLM's ``EngineArgs`` must be given for the switch ``fused-norms``.

    vLLM appends its own choice to each list. The ranking is the whole process's: the engine that was made last rules.
    """
    return {"ir_op_priority": {name: [PROVIDER] for name in OPERATORS}} if switches.fused_norms else {}


def register() -> None:
    """Make the compiled norms known to vLLM; a second call changes nothing."""
    from vllm import ir
    from vllm.platforms import current_platform

    if PROVIDER in ir.ops.rms_norm.impls:
        return
    supported = bool(current_platform.is_cpu())
    if supported:
        current_platform.import_kernels()
        supported = all(hasattr(torch.ops._C, name) for name in OPERATORS)
    ir.ops.rms_norm.register_impl(PROVIDER, supports_args=can_norm, supported=supported)(norm)
    ir.ops.fused_add_rms_norm.register_impl(PROVIDER, supports_args=can_add, supported=supported, inplace=True)(add)


# vLLM compares the arguments with its own implementation's, name by name: each function below has all of them.


def can_norm(
    x: Tensor,
    weight: Tensor | None,
    epsilon: float,  # noqa: ARG001  vLLM's arguments
    variance_size: int | None = None,
) -> bool:
    """Return whether the compiled norm takes these arguments."""
    return (
        variance_size is None
        and (weight is None or weight.dtype == x.dtype)
        and x.is_contiguous()
        and x.shape[-1] % VECTOR == 0
    )


def can_add(
    x: Tensor, x_residual: Tensor, weight: Tensor | None, epsilon: float, variance_size: int | None = None
) -> bool:
    """Return whether the compiled norm of a sum takes these arguments."""
    return can_norm(x, weight, epsilon, variance_size) and x_residual.dtype == x.dtype and x_residual.is_contiguous()


def norm(
    x: Tensor,
    weight: Tensor | None,
    epsilon: float,
    variance_size: int | None = None,  # noqa: ARG001  None, as asked above
) -> Tensor:
    """Norm rows: (..., H) to the same."""
    out = torch.empty_like(x)
    torch.ops._C.rms_norm(out, x, weight, epsilon)
    return out


def add(
    x: Tensor,
    x_residual: Tensor,
    weight: Tensor | None,
    epsilon: float,
    variance_size: int | None = None,  # noqa: ARG001  None, as asked above
) -> tuple[Tensor, Tensor]:
    """Add to the residual stream and norm the sum, each in its own place: (..., H) twice to the same."""
    torch.ops._C.fused_add_rms_norm(x, x_residual, weight, epsilon)
    return x, x_residual
