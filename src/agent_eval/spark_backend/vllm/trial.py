"""What vLLM says when it is loaded: whether it starts, where it computes, what its own products are. Loads no model."""

from __future__ import annotations

from typing import Any

from agent_eval import environment
from agent_eval.errors import OperatorError
from agent_eval.spark_backend.kernels import library

FOUR_BITS = ("cpu_gemm_wna16", "int4_scaled_mm_cpu")
"""vLLM's own products with 4-bit weights: for 16-bit activations, for 8-bit ones."""


def facts() -> dict[str, Any]:
    """Load vLLM as the engine does, with Spark registered.

    Returns:
        ``version``; ``device``, empty where it finds none that it was built for; ``operators`` of ``FOUR_BITS``; and
        ``builds``, what would compute each build of the main job.

    Raises:
        OperatorError: it does not take the model.
    """
    with environment.lent_to_vllm():
        from vllm import LLM, ModelRegistry, __version__
        from vllm.platforms import current_platform

        from agent_eval.spark_backend.vllm.config import ARCHITECTURE
        from agent_eval.spark_backend.vllm.registration import register

        assert LLM, "the name that most code imports; its imports are where a clash shows"
        device = str(current_platform.device_type or "")
        said: dict[str, Any] = {"version": __version__, "device": device, "operators": [], "builds": {}}
        if not device:
            return said
        current_platform.import_kernels()
        register()
        if ARCHITECTURE not in ModelRegistry.get_supported_archs():
            raise OperatorError(
                f"vLLM {__version__} does not take the model {ARCHITECTURE}", hint="run `make vllm` in a checkout"
            )
        import torch  # after vLLM, so that it is vLLM that finds what is wrong with it

        said["operators"] = [name for name in FOUR_BITS if hasattr(torch.ops._C, name)]
        said["builds"] = _builds()
    return said


def _builds() -> dict[str, str]:
    """Say what would compute each build, in the formats that ``agent-eval build`` writes for it."""
    from agent_eval.spark_backend.vllm.quantisation import default_threshold, kernel_owner, vllm_has_int4

    gptq = {"quant_method": "gptq", "sym": True}
    theirs = kernel_owner(gptq, activation_bits=8, vllm_has_int4=vllm_has_int4()) == "vLLM"
    threshold = default_threshold("blocks" if library.available() else "tinygemm")
    return {
        "bf16": "vLLM's bfloat16 linear",
        "w4a16": f"{_own(16)}, linear over widened weights from {threshold} rows on",
        "w4a8": "vLLM's int4_scaled_mm_cpu" if theirs else _own(8),
    }


def _own(activation: int) -> str:
    if not library.available():
        return "torch's packed 4-bit product"
    from agent_eval.spark_backend.kernels.linear import serving

    return serving(library.Kind.INT4, activation, library.load().isa)
