"""What vLLM calls when it starts: makes Spark known to it. An entry point of ``vllm.general_plugins``.

vLLM may call it in every process and more than once; a second call changes nothing. Nothing of vLLM is changed but
through its registries, and what torch loads for it by ``aot.py``.
"""

from __future__ import annotations

from agent_eval.spark_backend.vllm.config import ARCHITECTURE, MODEL_TYPE


def register() -> None:
    """Make the model, its configuration and the methods for weights of few bits known to vLLM."""
    from transformers import AutoConfig
    from vllm.model_executor.layers.quantization import register_quantization_config
    from vllm.model_executor.models.registry import ModelRegistry
    from vllm.transformers_utils.config import _CONFIG_REGISTRY

    from agent_eval.spark_backend.vllm import quantisation
    from agent_eval.spark_backend.vllm.config import SparkVllmConfig
    from agent_eval.spark_backend.vllm.model import SparkForVllm

    for method in (quantisation.CpuInt4Config, quantisation.OwnConfig):
        register_quantization_config(method.method)(method)
    _CONFIG_REGISTRY[MODEL_TYPE] = SparkVllmConfig
    AutoConfig.register(MODEL_TYPE, SparkVllmConfig, exist_ok=True)
    ModelRegistry.register_model(ARCHITECTURE, SparkForVllm)  # by name, vLLM would import it in a child to look at it
    _adapt_to_cpu()


def _adapt_to_cpu() -> None:
    """Make what vLLM lacks on a CPU known to it, as the switches of the environment say."""
    from agent_eval.spark_backend.vllm import aot, norms
    from agent_eval.spark_backend.vllm.switches import Switches

    norms.register()
    if Switches.from_environment().aot_shim:
        aot.install()
