"""Which kernels serve the layers of a model that vLLM has loaded, read from the layers themselves."""

from __future__ import annotations

from torch import nn
from vllm.model_executor.layers.linear import LinearBase
from vllm.model_executor.layers.vocab_parallel_embedding import VocabParallelEmbedding

from agent_eval.spark_backend.vllm.grouped_layer import TwoPathLinear


def serving(model: nn.Module) -> tuple[str, ...]:
    """Return phrases for the record: what serves the projections, then the head, then the embedding table.

    Args:
        model: As loaded: ``VllmEngine.model``.
    """
    counts: dict[str, int] = {}
    for layer in model.modules():
        if isinstance(layer, LinearBase):
            kernel = kernel_of(layer)
            counts[kernel] = counts.get(kernel, 0) + 1
    total = sum(counts.values())
    phrases = [kernel if count == total else f"{count} of {total} layers: {kernel}" for kernel, count in counts.items()]
    tables = [layer for layer in model.modules() if isinstance(layer, VocabParallelEmbedding)]
    head = getattr(model, "lm_head", None)
    if isinstance(head, nn.Module):
        phrases.append(f"head: {kernel_of(head)}")
    phrases += [f"embedding: {_table(layer)}" for layer in tables if layer is not head]
    return tuple(phrases)


def kernel_of(layer: nn.Module) -> str:
    """Say which kernels serve the product of a linear layer or a head of vLLM."""
    few_bits = getattr(layer, "few_bits", None)
    if isinstance(few_bits, TwoPathLinear):
        return f"{few_bits.kernel}, in vLLM"
    kernel = getattr(getattr(layer, "quant_method", None), "kernel", None)
    if kernel is None:
        weight = getattr(layer, "weight", None)
        dtype = "" if weight is None else f"{str(weight.dtype).removeprefix('torch.')} "
        return f"vLLM's {dtype}linear"
    if getattr(layer, "use_w4a8", False):
        return "vLLM's int4_scaled_mm_cpu, 8-bit activations"
    if hasattr(layer, "isa_hint"):
        return f"vLLM's cpu_gemm_wna16 ({layer.isa_hint}), 16-bit activations"
    return f"vLLM's {type(kernel).__name__}"


def _table(layer: nn.Module) -> str:
    few_bits = getattr(layer, "few_bits", None)
    return "rows of 4 bits" if isinstance(few_bits, TwoPathLinear) else "rows as they are"
