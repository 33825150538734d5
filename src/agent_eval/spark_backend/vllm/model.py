"""Spark-X2.5 as a model of vLLM: the forward pass of ``facts`` in vLLM's layers, and the way from checkpoint to them.

Reads top to bottom like ``spark_backend/model.py``, whose numbers it must give. What differs is vLLM's: the residual
stream has the type of the weights, a norm multiplies by its weight after rounding, attention reads paged keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import torch
from torch import Tensor, nn
from vllm.compilation.decorators import support_torch_compile
from vllm.config import VllmConfig
from vllm.distributed import get_pp_group, get_tensor_model_parallel_rank, get_tensor_model_parallel_world_size
from vllm.model_executor.layers.activation import GeluAndMul
from vllm.model_executor.layers.attention import Attention
from vllm.model_executor.layers.layernorm import RMSNorm
from vllm.model_executor.layers.linear import MergedColumnParallelLinear, QKVParallelLinear, RowParallelLinear
from vllm.model_executor.layers.logits_processor import LogitsProcessor
from vllm.model_executor.layers.rotary_embedding import get_rope
from vllm.model_executor.layers.vocab_parallel_embedding import (
    ParallelLMHead,
    UnquantizedEmbeddingMethod,
    VocabParallelEmbedding,
)
from vllm.model_executor.models.interfaces import SupportsPP
from vllm.model_executor.models.utils import (
    AutoWeightsLoader,
    PPMissingLayer,
    WeightsMapper,
    make_empty_intermediate_tensors_factory,
    make_layers,
    maybe_prefix,
)
from vllm.sequence import IntermediateTensors

from agent_eval.spark_backend.vllm.aot import keep_apart
from agent_eval.spark_backend.vllm.config import SLIDING, SparkVllmConfig
from agent_eval.spark_backend.vllm.gate import few_tokens, head_gate

FUSED = ".self_attn.q_k_v_proj."
"""In the name of a tensor that holds the rows of queries, keys and values in one."""

PUBLISHED_NAMES = WeightsMapper(
    orig_to_new_prefix={"model.embedding.": "model.embed_tokens."},
    orig_to_new_substr={".self_attn.g_proj.weight": ".self_attn.g_weight"},
    orig_to_new_stacked={
        ".self_attn.q_proj": (".self_attn.qkv_proj", "q"),
        ".self_attn.k_proj": (".self_attn.qkv_proj", "k"),
        ".self_attn.v_proj": (".self_attn.qkv_proj", "v"),
        ".gate_proj": (".gate_up_proj", 0),
        ".up_proj": (".gate_up_proj", 1),
    },
)
"""From a checkpoint's names, with queries, keys and values apart, to those of the modules here."""


class SparkMlp(nn.Module):
    """``down(gelu(gate(x)) * up(x))`` with the exact GELU."""

    def __init__(self, config: SparkVllmConfig, vllm_config: VllmConfig, prefix: str) -> None:
        super().__init__()
        quant, hidden, inner = vllm_config.quant_config, config.hidden_size, config.intermediate_size
        self.gate_up_proj = MergedColumnParallelLinear(
            hidden, [inner, inner], bias=False, quant_config=quant, prefix=f"{prefix}.gate_up_proj"
        )
        self.down_proj = RowParallelLinear(inner, hidden, bias=False, quant_config=quant, prefix=f"{prefix}.down_proj")
        self.activation = GeluAndMul(approximate="none")

    def forward(self, x: Tensor) -> Tensor:
        """Map (T, H) to (T, H)."""
        both, _ = self.gate_up_proj(x)
        out, _ = self.down_proj(self.activation(both))
        return out  # type: ignore[no-any-return]


class SparkAttention(nn.Module):
    """Grouped-query attention, over everything or a window, with one gate for each query head."""

    def __init__(self, config: SparkVllmConfig, vllm_config: VllmConfig, layer: int, prefix: str) -> None:
        super().__init__()
        quant, ranks = vllm_config.quant_config, get_tensor_model_parallel_world_size()
        kind, self.head_dim = config.layer_types[layer], config.head_dim
        self.heads = config.num_attention_heads // ranks
        self.kv_heads = max(1, config.num_key_value_heads // ranks)
        self.qkv_proj = QKVParallelLinear(
            config.hidden_size,
            config.head_dim,
            config.num_attention_heads,
            config.num_key_value_heads,
            bias=False,
            quant_config=quant,
            prefix=f"{prefix}.qkv_proj",
        )
        self.out_proj = RowParallelLinear(
            config.num_attention_heads * config.head_dim,
            config.hidden_size,
            bias=False,
            quant_config=quant,
            prefix=f"{prefix}.out_proj",
        )
        # A plain parameter: as a linear layer its few outputs would go to a packed product whose rule for shapes is
        # wrong for so few, and quantisation would reach it.
        self.g_weight = nn.Parameter(torch.empty(self.heads, config.hidden_size), requires_grad=False)
        self.g_weight.weight_loader = load_own_heads  # type: ignore[attr-defined]  # vLLM looks for it there
        self.few_tokens = few_tokens(vllm_config)
        self.rotary_emb = get_rope(
            config.head_dim,
            max_position=served_length(vllm_config),
            is_neox_style=True,
            rope_parameters=dict(config.rope_parameters[kind]),
        )
        self.attn = Attention(
            self.heads,
            config.head_dim,
            config.head_dim**-0.5,
            num_kv_heads=self.kv_heads,
            cache_config=vllm_config.cache_config,
            quant_config=quant,
            per_layer_sliding_window=config.sliding_window if kind == SLIDING else None,
            prefix=f"{prefix}.attn",
        )

    def forward(self, positions: Tensor, x: Tensor) -> Tensor:
        """Map (T, H) at positions (T) to (T, H)."""
        qkv, _ = self.qkv_proj(x)
        width, kv_width = self.heads * self.head_dim, self.kv_heads * self.head_dim
        q, k, v = qkv.split([width, kv_width, kv_width], dim=-1)
        q, k = self.rotary_emb(positions, q, k)
        out = self.attn(q, k, v)  # (T, heads * D)
        gate = torch.sigmoid(head_gate(x, self.g_weight, self.few_tokens)).to(out.dtype)  # (T, heads)
        # unflatten keeps the symbolic number of tokens, which view(-1, ...) would derive anew
        out = (out.unflatten(-1, (self.heads, self.head_dim)) * gate.unsqueeze(-1)).flatten(-2)
        out, _ = self.out_proj(out)
        return out  # type: ignore[no-any-return]


class SparkLayer(nn.Module):
    """Attention and MLP, each behind a norm."""

    def __init__(self, config: SparkVllmConfig, vllm_config: VllmConfig, prefix: str) -> None:
        super().__init__()
        layer = int(prefix.rpartition(".")[2])
        self.input_layernorm = RMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.self_attn = SparkAttention(config, vllm_config, layer, f"{prefix}.self_attn")
        self.post_attention_layernorm = RMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.mlp = SparkMlp(config, vllm_config, f"{prefix}.mlp")

    def forward(self, positions: Tensor, x: Tensor, residual: Tensor | None) -> tuple[Tensor, Tensor]:
        """Map the last sublayer's output and the residual stream, each (T, H), to the next ones."""
        if residual is None:
            residual, x = x, self.input_layernorm(x)
        else:
            x, residual = self.input_layernorm(x, residual)
        x = self.self_attn(positions, x)
        x, residual = self.post_attention_layernorm(x, residual)
        return self.mlp(x), residual


class TableMethod(UnquantizedEmbeddingMethod):  # type: ignore[misc]
    """An embedding table that is not the head.

    vLLM packs every table on a CPU for the product of a head, beside the rows: 512 MiB of the 1.7B model for nothing
    where the head is a matrix of its own, as in every quantised folder that keeps its table.
    """

    def process_weights_after_loading(self, layer: nn.Module) -> None:
        """Leave the rows as they are."""


@support_torch_compile(
    dynamic_arg_dims={"input_ids": 0, "positions": -1, "intermediate_tensors": 0, "inputs_embeds": 0}
)
class SparkDecoder(nn.Module):
    """Embedding, layers, last norm."""

    def __init__(self, *, vllm_config: VllmConfig, prefix: str = "") -> None:
        super().__init__()
        config: SparkVllmConfig = vllm_config.model_config.hf_config
        self.embed_tokens = PPMissingLayer()
        if get_pp_group().is_first_rank:
            self.embed_tokens = VocabParallelEmbedding(
                config.vocab_size,
                config.hidden_size,
                quant_config=vllm_config.quant_config,
                prefix=f"{prefix}.embed_tokens",
            )
            if not config.tie_word_embeddings and type(self.embed_tokens.quant_method) is UnquantizedEmbeddingMethod:
                self.embed_tokens.quant_method = TableMethod()
        self.start_layer, self.end_layer, self.layers = make_layers(
            config.num_hidden_layers,
            lambda prefix: SparkLayer(config, vllm_config, prefix),
            prefix=f"{prefix}.layers",
        )
        self.norm = PPMissingLayer()
        if get_pp_group().is_last_rank:
            self.norm = RMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.make_empty_intermediate_tensors = make_empty_intermediate_tensors_factory(
            ["hidden_states", "residual"], config.hidden_size
        )

    def embed_input_ids(self, input_ids: Tensor) -> Tensor:
        """Map ids (T) to (T, H)."""
        return self.embed_tokens(input_ids)  # type: ignore[no-any-return]

    def forward(
        self,
        input_ids: Tensor | None,
        positions: Tensor,
        intermediate_tensors: IntermediateTensors | None = None,
        inputs_embeds: Tensor | None = None,
    ) -> Tensor | IntermediateTensors:
        """Map ids (T), or embeddings (T, H), to what the head reads: (T, H)."""
        residual: Tensor | None = None
        if not get_pp_group().is_first_rank:
            assert intermediate_tensors is not None
            x, residual = intermediate_tensors["hidden_states"], intermediate_tensors["residual"]
        elif inputs_embeds is not None:
            x = inputs_embeds
        else:
            assert input_ids is not None
            x = self.embed_input_ids(input_ids)
        for layer in islice(self.layers, self.start_layer, self.end_layer):
            x, residual = layer(positions, x, residual)
        if not get_pp_group().is_last_rank:
            return IntermediateTensors({"hidden_states": x, "residual": residual})
        x, _ = self.norm(x, residual)
        return x


class SparkForVllm(nn.Module, SupportsPP):  # type: ignore[misc]
    """The model that vLLM runs for the architecture ``Spark2_5ForCausalLM``."""

    packed_modules_mapping = {  # noqa: RUF012  vLLM reads it from the class
        "qkv_proj": ["q_proj", "k_proj", "v_proj"],
        "gate_up_proj": ["gate_proj", "up_proj"],
    }
    hf_to_vllm_mapper = PUBLISHED_NAMES

    def __init__(self, *, vllm_config: VllmConfig, prefix: str = "") -> None:
        super().__init__()
        keep_apart(vllm_config)
        self.config: SparkVllmConfig = vllm_config.model_config.hf_config
        self.quant_config = vllm_config.quant_config
        self.model = SparkDecoder(vllm_config=vllm_config, prefix=maybe_prefix(prefix, "model"))
        self.lm_head: nn.Module = PPMissingLayer()
        if get_pp_group().is_last_rank:
            self.lm_head = self.model.embed_tokens
            if not self.config.tie_word_embeddings:
                self.lm_head = ParallelLMHead(
                    self.config.vocab_size,
                    self.config.hidden_size,
                    quant_config=self.quant_config,
                    prefix=maybe_prefix(prefix, "lm_head"),
                )
        self.logits_processor = LogitsProcessor(self.config.vocab_size)
        self.make_empty_intermediate_tensors = self.model.make_empty_intermediate_tensors

    def embed_input_ids(self, input_ids: Tensor) -> Tensor:
        """Map ids (T) to (T, H)."""
        return self.model.embed_input_ids(input_ids)

    def forward(
        self,
        input_ids: Tensor | None,
        positions: Tensor,
        intermediate_tensors: IntermediateTensors | None = None,
        inputs_embeds: Tensor | None = None,
    ) -> Tensor | IntermediateTensors:
        """Map ids (T) at positions (T) to what the head reads: (T, H)."""
        return self.model(input_ids, positions, intermediate_tensors, inputs_embeds)

    def compute_logits(self, hidden_states: Tensor) -> Tensor | None:
        """Map (R, H) to (R, V)."""
        return self.logits_processor(self.lm_head, hidden_states)  # type: ignore[no-any-return]

    def load_weights(self, weights: Iterable[tuple[str, Tensor]]) -> set[str]:
        """Load a checkpoint's tensors and return the names of the parameters that got theirs."""
        config = self.config
        rows = [
            heads * config.head_dim
            for heads in (config.num_attention_heads, config.num_key_value_heads, config.num_key_value_heads)
        ]
        apart = split_fused(weights, rows)
        if config.tie_word_embeddings:
            apart = ((name, tensor) for name, tensor in apart if not name.startswith("lm_head."))
        loaded: set[str] = AutoWeightsLoader(self).load_weights(apart, mapper=self.hf_to_vllm_mapper)
        return loaded


def split_fused(weights: Iterable[tuple[str, Tensor]], rows: list[int]) -> Iterator[tuple[str, Tensor]]:
    """Yield tensors with queries, keys and values apart.

    Args:
        weights: Names and tensors of a checkpoint; one of the fused projection has all three one above the other, or
            side by side in the formats that have rows along the second dimension.
        rows: How many rows queries, keys and values have; in tensors that pack several into a word, as many words.
    """
    for name, tensor in weights:
        if FUSED not in name:
            yield name, tensor
            continue
        if name.endswith(".g_idx"):
            continue  # of columns, not of rows, and vLLM drops it from others
        axis = 1 if name.endswith((".qweight", ".qzeros", ".scales")) else 0
        cuts = [part * tensor.shape[axis] // sum(rows) for part in rows]
        for part, cut in zip("qkv", torch.split(tensor, cuts, dim=axis), strict=True):
            yield name.replace(FUSED, f".self_attn.{part}_proj."), cut


def load_own_heads(parameter: nn.Parameter, loaded: Tensor) -> None:
    """Load the rows of the gate that belong to this rank's query heads."""
    heads = parameter.shape[0]
    parameter.data.copy_(loaded.narrow(0, get_tensor_model_parallel_rank() * heads, heads))


def served_length(vllm_config: VllmConfig) -> int:
    """Return for how many positions rotary tables are made: as many as are served.

    The published models name 1,048,576, for which the two tables of the 1.7B model take 640 MiB in bfloat16.
    """
    model: Any = vllm_config.model_config
    return int(min(model.hf_config.max_position_embeddings, model.max_model_len))
