"""How llama.cpp stores each tensor of Spark in each of its builds. Knows names and shapes, no weights and no files.

Names, metadata and what is fused are those of its own converter (``conversion/spark2_5.py``); the mixture of Q4_K_M is
that of its own quantiser (``llama_tensor_get_type_impl`` in ``src/llama-quant.cpp``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.llama.gguf import BlockType, Value

ARCHITECTURE = "spark2_5"
QUANTIZATION_VERSION = 2
"""GGML_QNT_VERSION in ``ggml.h``."""

_TANH = "GELU by its tanh approximation, through a table of half-precision numbers; keys and values in half precision"


@dataclass(frozen=True)
class Mixture:
    """A build that llama.cpp computes."""

    name: str
    file_type: int
    """LLAMA_FTYPE in ``llama.h``."""
    block: BlockType
    """Type of a matrix that no rule says anything else of."""
    notes: str


MIXTURES = {
    mixture.name: mixture
    for mixture in (
        Mixture(
            "q4_k_m",
            15,
            BlockType.Q4_K,
            f"llama.cpp: Q4_K; embedding and head, and half of the fused qkv and down projections in Q6_K; {_TANH}",
        ),
        Mixture("llama-bf16", 32, BlockType.BF16, f"llama.cpp: weights as stored, in bfloat16; {_TANH}"),
        Mixture("llama-fp32", 0, BlockType.F32, f"llama.cpp: weights in float32; {_TANH}"),
    )
}
"""By the name of the build; all but ``q4_k_m`` are controls."""


def is_llama(name: str) -> bool:
    """Tell whether a build is one that llama.cpp computes."""
    return name in MIXTURES


class Named(NamedTuple):
    """One tensor of the file."""

    name: str
    """In the GGUF."""
    origin: str
    """In the checkpoint."""
    shape: tuple[int, ...]
    type: BlockType


def tensors(config: SparkConfig, mixture: Mixture) -> Iterator[Named]:
    """Yield every tensor of a build, in the order in which llama.cpp reads them."""
    shapes = config.tensor_shapes()
    for origin, name, layer in _names(config):
        shape = shapes[origin]
        yield Named(name, origin, shape, _type(name, shape, layer, config, mixture))


def _names(config: SparkConfig) -> Iterator[tuple[str, str, int]]:
    yield "model.embedding.weight", "token_embd.weight", 0
    yield "model.norm.weight", "output_norm.weight", 0
    if not config.tie_word_embeddings:
        yield "lm_head.weight", "output.weight", 0
    for layer in range(config.num_hidden_layers):
        for theirs, ours in _LAYER:
            yield f"model.layers.{layer}.{theirs}.weight", f"blk.{layer}.{ours}.weight", layer


_LAYER = (
    ("input_layernorm", "attn_norm"),
    ("self_attn.q_k_v_proj", "attn_qkv"),
    ("self_attn.g_proj", "attn_gate"),
    ("self_attn.out_proj", "attn_output"),
    ("post_attention_layernorm", "ffn_norm"),
    ("mlp.gate_proj", "ffn_gate"),
    ("mlp.up_proj", "ffn_up"),
    ("mlp.down_proj", "ffn_down"),
)

_MORE_BITS = ("attn_qkv", "ffn_down")
"""What Q4_K_M keeps in Q6_K in some layers: a fused qkv counts as the values in it do."""

_NARROW = {BlockType.Q4_K: BlockType.Q5_0, BlockType.Q6_K: BlockType.Q8_0}
"""What stands in where a row is no whole number of blocks of 256."""


def _type(name: str, shape: tuple[int, ...], layer: int, config: SparkConfig, mixture: Mixture) -> BlockType:
    if len(shape) == 1:
        return BlockType.F32
    if mixture.block is not BlockType.Q4_K:
        return mixture.block
    head = name == "output.weight" or (name == "token_embd.weight" and config.tie_word_embeddings)
    raised = any(part in name for part in _MORE_BITS) and _more_bits(layer, config.num_hidden_layers)
    block = BlockType.Q6_K if head or raised else BlockType.Q4_K
    if shape[-1] % block.weights:
        block = _NARROW[block]
    return BlockType.F16 if shape[-1] % block.weights else block


def _more_bits(layer: int, layers: int) -> bool:
    """Tell whether a layer is among the first and last eighth, or the third of each three between them."""
    eighth = layers // 8
    return layer < eighth or layer >= 7 * layers // 8 or (layer - eighth) % 3 == 2


_OWN_BUILDS = "use the builds that this program computes itself, such as w4a16"


def metadata(config: SparkConfig, mixture: Mixture, name: str) -> dict[str, Value]:
    """Return what a file of a build says of the model, without its tokenizer.

    Raises:
        CheckpointError: llama.cpp has no such model.
    """
    if config.gate_activation != "sigmoid":
        raise CheckpointError(
            f"gate_attn_act_mode is {config.gate_activation!r}; llama.cpp computes this model with 'sigmoid' only",
            hint=_OWN_BUILDS,
        )
    if "sliding_attention" not in config.layer_types:
        raise CheckpointError(  # it would end the process: an input of the graph that nothing uses has no buffer
            "layer_types has full_attention only; llama.cpp computes no model of this kind without sliding layers",
            hint=_OWN_BUILDS,
        )
    of_arch: dict[str, Value] = {
        "vocab_size": config.vocab_size,
        "context_length": config.max_position_embeddings,
        "embedding_length": config.hidden_size,
        "block_count": config.num_hidden_layers,
        "feed_forward_length": config.intermediate_size,
        "attention.head_count": config.num_attention_heads,
        "attention.head_count_kv": config.num_key_value_heads,
        "attention.key_length": config.head_dim,
        "attention.value_length": config.head_dim,
        "attention.layer_norm_rms_epsilon": float(config.rms_norm_eps),
        "attention.sliding_window": config.sliding_window,
        "attention.sliding_window_pattern": [kind == "sliding_attention" for kind in config.layer_types],
        "rope.dimension_count": config.full_rope.rotary_dim(config.head_dim),
        "rope.dimension_count_swa": config.sliding_rope.rotary_dim(config.head_dim),
        "rope.freq_base": float(config.full_rope.theta),
        "rope.freq_base_swa": float(config.sliding_rope.theta),
    }
    return {
        "general.architecture": ARCHITECTURE,
        "general.type": "model",
        "general.name": name,
        "general.file_type": mixture.file_type,
        "general.quantization_version": QUANTIZATION_VERSION,
        **{f"{ARCHITECTURE}.{key}": value for key, value in of_arch.items()},
    }
