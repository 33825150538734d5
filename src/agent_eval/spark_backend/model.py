"""The Spark-X2.5 architecture, top to bottom. Knows no files, no tokens as text, and not how a linear layer computes.

One implementation serves training and every build: a forward pass over whole sequences under autograd, and the same
pass over new tokens only, with a cache. What differs between builds is the ``Scheme`` that makes the linear layers.

Letters in shapes: B sequences, T new tokens, S visible tokens, H hidden size, N query heads, KV key-value heads,
D head width, F width of the MLP, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol, runtime_checkable

import torch
import torch.nn.functional as F  # noqa: N812  the field's name for it
from torch import Tensor, nn

from agent_eval.spark_backend.cache import Cache
from agent_eval.spark_backend.checkpoints.config import LayerType, SparkConfig
from agent_eval.spark_backend.quant.dense import Fp32
from agent_eval.spark_backend.quant.rows import GroupedSource, RowSource, StackedRows
from agent_eval.spark_backend.quant.scheme import Scheme
from agent_eval.spark_backend.rotary import Rotary, Rotation
from agent_eval.spark_backend.table import CodedTable, DenseTable

WINDOW_ROWS = 128
"""Queries of a sliding layer that attend together in a prefill. A pass of 512 with a window of 512 then computes five
eighths of the pairs that one block would: with torch 2.13 on AVX-512 at 8 heads of 256, a quarter to a third less time.
In full layers blocks cost more than they save once the sequence is long."""

MASK_CELLS = 2**23
"""Pairs of query and key that one call may mask: torch widens a mask to float32, 32 MiB of it. A pass of 512 stays
whole up to 16,384 tokens."""

_TABLE = "model.embedding.weight"

DOWNSCALED_AT_START = ("out_proj", "down_proj")  # what writes to the residual starts smaller: GPT-2's initialisation


@runtime_checkable
class CheckpointWeights(Protocol):
    """Weights under the names of a checkpoint: whole tensors for what is small, rows for what layers are made of."""

    def __getitem__(self, name: str, /) -> Tensor: ...

    def source(self, *names: str) -> RowSource:
        """Return the rows of the named matrices, one above the other, as one weight."""
        ...


class TensorWeights(Mapping[str, Tensor]):
    """Weights that are in memory already: those of training and of tests."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        self._tensors = tensors

    def __getitem__(self, name: str) -> Tensor:
        return self._tensors[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def source(self, *names: str) -> RowSource:
        """Return the rows of the named matrices, one above the other, as one weight."""
        return StackedRows([self._tensors[name] for name in names])


class Block(NamedTuple):
    """Queries that attend together, and the keys that any of them sees."""

    queries: slice
    keys: slice
    mask: Tensor | None  # (queries, keys), True where a query may look; None: queries and keys are the same, causally


class Span(NamedTuple):
    """Where the new tokens of one pass stand, the same for all layers of one type."""

    rotation: Rotation
    blocks: tuple[Block, ...]  # none for a single token, which sees all that is returned


class RMSNorm(nn.Module):
    """Root-mean-square norm in float32; the weight is applied before the result is narrowed."""

    def __init__(self, weight: Tensor, eps: float, out: torch.dtype) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight.float())
        self._eps = eps
        self._out = out

    def forward(self, x: Tensor) -> Tensor:
        """Norm the last dimension: (..., H) float32 to (..., H) of the activation type."""
        return F.rms_norm(x, self.weight.shape, self.weight, self._eps).to(self._out)


class Attention(nn.Module):
    """Grouped-query attention with rotary positions and one output gate per head."""

    def __init__(self, config: SparkConfig, index: int, weights: CheckpointWeights, at: str, scheme: Scheme) -> None:
        super().__init__()
        self._index = index
        self._heads, self._kv_heads, self._head_dim = (
            config.num_attention_heads,
            config.num_key_value_heads,
            config.head_dim,
        )
        self._gate_activation = torch.sigmoid if config.gate_activation == "sigmoid" else F.silu
        self.q_k_v_proj = scheme.linear(at + "q_k_v_proj", weights.source(at + "q_k_v_proj.weight"))  # rows Q | K | V
        # (N, H), never quantised; rounded to the activation type, held in float32: no CPU is slower at that.
        self.g_proj = nn.Parameter(weights[at + "g_proj.weight"].to(scheme.activation).float())
        self.out_proj = scheme.linear(at + "out_proj", weights.source(at + "out_proj.weight"))

    def forward(self, x: Tensor, rotary: Rotary, span: Span, cache: Cache | None) -> Tensor:
        """Map normed hidden states (B, T, H) to (B, T, H)."""
        batch, new, _ = x.shape
        heads, kv_heads, dim = self._heads, self._kv_heads, self._head_dim

        fused = self.q_k_v_proj(x).view(batch, new, heads + 2 * kv_heads, dim).float()
        rotated = rotary(fused[:, :, : heads + kv_heads], span.rotation)  # queries and keys turn together
        q = rotated[:, :, :heads].transpose(1, 2)  # (B, N, T, D)
        k = rotated[:, :, heads:].transpose(1, 2)  # (B, KV, T, D)
        v = fused[:, :, heads + kv_heads :].transpose(1, 2)  # (B, KV, T, D)
        if cache is not None:
            seen = cache.extend(self._index, k[0], v[0])
            k, v = seen.keys[None], seen.values[None]  # (1, KV, S, D)

        # Softmax of q k^T / sqrt(D) in float32; query head n reads key-value head n // (N / KV).
        if not span.blocks:
            # One token: the query heads of a group stand in for the positions of a query, and nothing is repeated.
            grouped = q.reshape(batch, kv_heads, heads // kv_heads, dim)
            mixed = F.scaled_dot_product_attention(grouped, k, v).reshape(batch, 1, heads, dim)
        else:
            parts = [
                F.scaled_dot_product_attention(
                    q[:, :, block.queries],
                    k[:, :, block.keys],
                    v[:, :, block.keys],
                    attn_mask=block.mask,
                    is_causal=block.mask is None,
                    enable_gqa=True,
                )
                for block in span.blocks
            ]
            mixed = (parts[0] if len(parts) == 1 else torch.cat(parts, dim=2)).transpose(1, 2)  # (B, T, N, D)

        gate = self._gate_activation(F.linear(x.float(), self.g_proj))  # (B, T, N)
        gated = mixed * gate[..., None]  # (B, T, N, D)
        return self.out_proj(gated.reshape(batch, new, heads * dim).to(x.dtype))  # type: ignore[no-any-return]


class MLP(nn.Module):
    """GEGLU with the exact GELU; gate and up are one product."""

    def __init__(self, weights: CheckpointWeights, at: str, scheme: Scheme) -> None:
        super().__init__()
        both = weights.source(at + "gate_proj.weight", at + "up_proj.weight")  # (2F, H)
        self.gate_up_proj = scheme.linear(at + "gate_up_proj", both)
        self.down_proj = scheme.linear(at + "down_proj", weights.source(at + "down_proj.weight"))

    def forward(self, x: Tensor) -> Tensor:
        """Map normed hidden states (B, T, H) to (B, T, H)."""
        gate, up = self.gate_up_proj(x).chunk(2, dim=-1)  # (B, T, F) each
        return self.down_proj((F.gelu(gate) * up).to(x.dtype))  # type: ignore[no-any-return]


class Layer(nn.Module):
    """One pre-norm block; the residual stream stays in float32."""

    def __init__(self, config: SparkConfig, index: int, weights: CheckpointWeights, scheme: Scheme) -> None:
        super().__init__()
        at = f"model.layers.{index}."
        eps, out = config.rms_norm_eps, scheme.activation
        self.input_layernorm = RMSNorm(weights[at + "input_layernorm.weight"], eps, out)
        self.self_attn = Attention(config, index, weights, at + "self_attn.", scheme)
        # Named as in Llama: it stands before the MLP.
        self.post_attention_layernorm = RMSNorm(weights[at + "post_attention_layernorm.weight"], eps, out)
        self.mlp = MLP(weights, at + "mlp.", scheme)

    def forward(self, x: Tensor, rotary: Rotary, span: Span, cache: Cache | None) -> Tensor:
        """Map the residual stream (B, T, H) float32 to the same."""
        x = x + self.self_attn(self.input_layernorm(x), rotary, span, cache)
        return x + self.mlp(self.post_attention_layernorm(x))  # type: ignore[no-any-return]


class Spark(nn.Module):
    """The whole model.

    Args:
        config: The architecture.
        weights: Tensors under the names of a checkpoint; see ``SparkConfig.tensor_shapes``. A plain mapping will do.
        scheme: Makes the linear layers; float32 and trainable if not given.
    """

    def __init__(
        self,
        config: SparkConfig,
        weights: CheckpointWeights | Mapping[str, Tensor],
        scheme: Scheme | None = None,
    ) -> None:
        super().__init__()
        scheme = scheme or Fp32()
        weights = weights if isinstance(weights, CheckpointWeights) else TensorWeights(weights)
        self.config = config
        self.activation = scheme.activation
        self.embedding = _table(weights, scheme)  # (V, H)
        self.layers = nn.ModuleList(Layer(config, i, weights, scheme) for i in range(config.num_hidden_layers))
        self.norm = RMSNorm(weights["model.norm.weight"], config.rms_norm_eps, scheme.activation)
        self.sliding_rotary = Rotary(config.sliding_rope, config.head_dim, config.max_position_embeddings)
        self.full_rotary = Rotary(config.full_rope, config.head_dim, config.max_position_embeddings)
        self.head: nn.Module | None = None
        """None: the embedding table itself, transposed. Builds make a layer over its memory where they can."""
        if not config.tie_word_embeddings:
            self.head = scheme.linear("lm_head", weights.source("lm_head.weight"))
        elif isinstance(self.embedding, CodedTable):
            self.head = self.embedding.layer
        elif not isinstance(scheme, Fp32):
            # the table itself where it is not quantised: one copy, and where the type is the file's, none
            self.head = scheme.linear("lm_head", StackedRows([self.embedding.weight.detach()]))

    @classmethod
    def initialised(cls, config: SparkConfig, generator: torch.Generator) -> Spark:
        """Return a trainable model with random weights."""
        return cls(config, initial_weights(config, generator))

    def forward(self, ids: Tensor, cache: Cache | None = None) -> Tensor:
        """Compute hidden states, after the last norm.

        Args:
            ids: Tokens (B, T), from position 0 or from where the cache ends.
            cache: Memory of the one sequence so far (B must be 1); without it, whole sequences are computed.

        Returns:
            (B, T, H) of the activation type.
        """
        start = 0 if cache is None else cache.length
        new = ids.shape[1]
        x = self.embedding(ids).float()  # (B, T, H)
        spans = {
            kind: self._span(kind, start, new, ids.device, whole=cache is None) for kind in set(self.config.layer_types)
        }
        if cache is not None:
            cache.take(new)
        for kind, layer in zip(self.config.layer_types, self.layers, strict=True):
            x = layer(x, self.rotary(kind), spans[kind], cache)
        return self.norm(x)  # type: ignore[no-any-return]

    def logits(self, hidden: Tensor) -> Tensor:
        """Map hidden states (..., H) to float32 logits (..., V)."""
        if self.head is not None:
            return self.head(hidden).float()  # type: ignore[no-any-return]
        assert isinstance(self.embedding, DenseTable)
        return F.linear(hidden, self.embedding.weight.to(hidden.dtype)).float()

    def rotary(self, kind: LayerType) -> Rotary:
        """Return the rotary tables of a kind of layer."""
        return self.full_rotary if kind == "full_attention" else self.sliding_rotary

    def _span(self, kind: LayerType, start: int, new: int, device: torch.device, *, whole: bool) -> Span:
        rotation = self.rotary(kind).at(start, start + new)
        if new == 1:
            return Span(rotation, ())
        window = self.config.window(kind)
        if whole and (window is None or new <= window):
            return Span(rotation, (Block(slice(0, new), slice(0, new), None),))
        before = start if window is None else min(start, window - 1)  # older tokens that the cache returns
        rows = WINDOW_ROWS if window is not None else max(1, MASK_CELLS // (before + new))
        blocks = []
        for first in range(before, before + new, rows):
            end = min(first + rows, before + new)
            low = 0 if window is None else max(0, first - (window - 1))
            query = torch.arange(first, end, device=device)[:, None]
            key = torch.arange(low, end, device=device)
            mask = key <= query
            if window is not None:
                mask &= query - key < window  # the window counts the current token
            blocks.append(Block(slice(first - before, end - before), slice(low, end), mask))
        return Span(rotation, tuple(blocks))

    def checkpoint_state(self) -> dict[str, Tensor]:
        """Return the weights of a trainable model under the names of a checkpoint, detached.

        Raises:
            ValueError: the model was built for inference; its layers no longer hold the checkpoint's weights.
        """
        own = {name: value.detach() for name, value in self.named_parameters()}
        products = [f"layers.{i}.mlp.gate_up_proj.weight" for i in range(self.config.num_hidden_layers)]
        if not own.keys() >= {"embedding.weight", *products}:
            raise ValueError("checkpoint_state() needs a model built without quantisation")
        state = {_TABLE: own["embedding.weight"], "model.norm.weight": own["norm.weight"]}
        for i in range(self.config.num_hidden_layers):
            mine, theirs = f"layers.{i}.", f"model.layers.{i}."
            state[theirs + "self_attn.g_proj.weight"] = own[mine + "self_attn.g_proj"]
            for name in (
                "input_layernorm.weight",
                "post_attention_layernorm.weight",
                "self_attn.q_k_v_proj.weight",
                "self_attn.out_proj.weight",
                "mlp.down_proj.weight",
            ):
                state[theirs + name] = own[mine + name]
            gate, up = own[mine + "mlp.gate_up_proj.weight"].chunk(2)
            state[theirs + "mlp.gate_proj.weight"] = gate
            state[theirs + "mlp.up_proj.weight"] = up
        if not self.config.tie_word_embeddings:
            state["lm_head.weight"] = own["head.weight"]
        return state


def _table(weights: CheckpointWeights, scheme: Scheme) -> DenseTable | CodedTable:
    source = weights.source(_TABLE)
    if isinstance(source, GroupedSource) and not isinstance(scheme, Fp32):
        return CodedTable(scheme.linear("model.embedding", source))
    return DenseTable(weights[_TABLE].to(torch.float32 if isinstance(scheme, Fp32) else scheme.activation))


def initial_weights(config: SparkConfig, generator: torch.Generator) -> dict[str, Tensor]:
    """Draw float32 weights: normal with the config's range, norms at one, residual writers scaled down by depth."""
    weights = {}
    for name, shape in config.tensor_shapes().items():
        if len(shape) == 1:
            weights[name] = torch.ones(shape)
            continue
        spread = config.initializer_range
        if any(part in name for part in DOWNSCALED_AT_START):
            spread /= (2 * config.num_hidden_layers) ** 0.5
        weights[name] = torch.randn(shape, generator=generator) * spread
    return weights
