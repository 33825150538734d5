"""One token through the whole model in one call of the compiled library, and the choice of the next from its logits.

Knows where a model's modules keep their weights and where a cache keeps its entries; what is computed is
``Spark.forward``'s, in native/decode_body.h. Nothing is copied: the library reads the modules' own memory.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_float, c_int32, c_int64, c_void_p
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from agent_eval.spark_backend.kernels.library import ROWS, Kind, Library, SkWeight, load
from agent_eval.spark_backend.kernels.linear import PackedLinear
from agent_eval.spark_backend.table import CodedTable, DenseTable

if TYPE_CHECKING:
    from agent_eval.spark_backend.cache import Cache
    from agent_eval.spark_backend.checkpoints.config import LayerType
    from agent_eval.spark_backend.model import Layer, Spark

KINDS: tuple[LayerType, ...] = ("sliding_attention", "full_attention")
"""In the order of SK_SLIDING and SK_FULL (decode.h)."""

PHASES = ("norm", "qkv", "attention", "out", "gate_up", "gelu", "down", "head", "wait")
"""What a step's time is accounted to, in the order of decode.h."""

_SCRATCH_PER_LOGIT = 10  # bytes that sk_sample needs


class _SkLayer(ctypes.Structure):
    """``sk_layer`` of decode.h."""

    _fields_ = [
        ("input_norm", c_void_p),
        ("post_norm", c_void_p),
        ("gate", c_void_p),
        ("qkv", SkWeight),
        ("out", SkWeight),
        ("gate_up", SkWeight),
        ("down", SkWeight),
        ("kind", c_int32),
        ("place", c_int32),
    ]


class _SkModel(ctypes.Structure):
    """``sk_model`` of decode.h."""

    _fields_ = [
        ("hidden", c_int32),
        ("inner", c_int32),
        ("layers", c_int32),
        ("heads", c_int32),
        ("kv_heads", c_int32),
        ("head_dim", c_int32),
        ("vocabulary", c_int32),
        ("rounds", c_int32),
        ("silu", c_int32),
        ("rotated", c_int32 * len(KINDS)),
        ("eps", c_float),
        ("embedding", SkWeight),
        ("norm", c_void_p),
        ("layer", POINTER(_SkLayer)),
        ("head", SkWeight),
    ]


class _SkSpan(ctypes.Structure):
    """``sk_span`` of decode.h."""

    _fields_ = [
        ("store", c_void_p),
        ("layer_stride", c_int64),
        ("values_stride", c_int64),
        ("head_stride", c_int64),
        ("cos", c_void_p),
        ("sin", c_void_p),
        ("first", c_int64),
        ("slot", c_int64),
    ]


class _SkStep(ctypes.Structure):
    """``sk_step`` of decode.h."""

    _fields_ = [
        ("span", _SkSpan * len(KINDS)),
        ("token", c_int32),
        ("reserved", c_int32),
        ("scratch", c_void_p),
        ("logits", c_void_p),
        ("spent", c_void_p),
    ]


class Decoder:
    """Computes single tokens of one model, with everything between the products in the library too.

    Args:
        model: A model whose every linear layer is a ``PackedLinear``; see ``can_decode``.
        library: Computes; the one that the layers use.
    """

    def __init__(self, model: Spark, library: Library | None = None) -> None:
        self._model = model  # the structs below hold addresses of its memory
        self._library = library or load()
        config = model.config
        self._layers = (_SkLayer * config.num_hidden_layers)()
        kinds = config.layer_types
        for i, kind in enumerate(kinds):
            self._layers[i] = _layer(model.layers[i], KINDS.index(kind), kinds[:i].count(kind))  # type: ignore[arg-type]
        assert isinstance(model.head, PackedLinear)
        self._struct = _SkModel(
            hidden=config.hidden_size,
            inner=config.intermediate_size,
            layers=config.num_hidden_layers,
            heads=config.num_attention_heads,
            kv_heads=config.num_key_value_heads,
            head_dim=config.head_dim,
            vocabulary=config.vocab_size,
            rounds=model.activation == torch.bfloat16,
            silu=config.gate_activation == "silu",
            rotated=tuple(config.rope(kind).rotary_dim(config.head_dim) for kind in KINDS),
            eps=config.rms_norm_eps,
            embedding=_table(model.embedding),
            norm=_address(model.norm.weight),
            layer=self._layers,
            head=model.head.weight,
        )
        room = -(-config.vocab_size // ROWS) * ROWS
        self._logits = torch.empty(room)
        self.logits = self._logits[: config.vocab_size]
        """(V,) of the last step; the next step overwrites them."""
        self._spent = torch.zeros(len(PHASES), dtype=torch.int64)
        self._step = _SkStep(logits=self._logits.data_ptr())
        self._stores: list[Tensor | None] = [None] * len(KINDS)
        self._scratch = torch.empty(0, dtype=torch.uint8)
        self._scratch_for = (0, "")

    def step(self, token: int, cache: Cache) -> Tensor:
        """Compute one token after those in the cache, append it there, and return ``self.logits``."""
        position = cache.length
        cache.take(1)
        step = self._step
        for i, kind in enumerate(KINDS):
            memory = cache.memories.get(kind)
            if memory is None:
                continue
            span, rotary, slots = step.span[i], self._model.rotary(kind), memory.slots()
            if memory.store is not self._stores[i]:
                self._stores[i] = memory.store
                span.store = memory.store.data_ptr()
                span.layer_stride, span.values_stride, span.head_stride, _, _ = memory.store.stride()
            rotation = rotary.at(position, position + 1)
            span.cos, span.sin = rotation.cos.data_ptr(), rotation.sin.data_ptr()
            span.first, span.slot = slots.first, slots.new
        step.token = token
        self._require_scratch()
        self._library.native.sk_decode(byref(self._struct), byref(step))
        return self.logits

    def _require_scratch(self) -> None:
        wanted = (self._library.threads, self._library.isa)
        if wanted == self._scratch_for:
            return
        size = self._library.native.sk_decode_scratch(byref(self._struct), wanted[0])
        self._scratch = torch.empty(size + 64, dtype=torch.uint8)
        self._step.scratch = -(-self._scratch.data_ptr() // 64) * 64
        self._scratch_for = wanted

    def profile(self, *, on: bool) -> dict[str, float]:
        """Return the seconds that steps spent in each phase since profiling began, and begin or end it.

        They are those of the calling thread; ``wait`` is for the others.
        """
        spent = {phase: ns / 1e9 for phase, ns in zip(PHASES, self._spent.tolist(), strict=True)}
        self._spent.zero_()
        self._step.spent = self._spent.data_ptr() if on else None
        return spent

    @property
    def kernel(self) -> str:
        """Which kernels compute a token: a phrase for the record."""
        return f"{self._library.isa} fused decode step"


def can_decode(model: Spark) -> bool:
    """Tell whether every linear layer of a model is the library's."""
    from agent_eval.spark_backend.model import Layer

    layers = [layer for layer in model.layers if isinstance(layer, Layer)]
    linears = [linear for layer in layers for linear in _linears(layer)]
    return len(layers) == len(model.layers) and all(isinstance(one, PackedLinear) for one in (*linears, model.head))


class Choice:
    """Chooses the next token from logits where they lie; the definition is sampling.py's."""

    def __init__(self, library: Library) -> None:
        self._native = library.native
        self._scratch = torch.empty(0, dtype=torch.uint8)

    def greedy(self, logits: Tensor) -> int:
        """Return the most probable token of contiguous float32 logits (V,), or -1 if they are not finite."""
        return int(self._native.sk_argmax(logits.data_ptr(), logits.numel()))

    def sample(self, logits: Tensor, temperature: float, top_p: float, draw: float) -> int:
        """Return the token at a place in [0, 1) of the kept mass, or -1 if the logits are not finite."""
        size = _SCRATCH_PER_LOGIT * logits.numel()
        if self._scratch.numel() < size:
            self._scratch = torch.empty(size, dtype=torch.uint8)
        scratch = self._scratch.data_ptr()
        return int(self._native.sk_sample(logits.data_ptr(), logits.numel(), temperature, top_p, draw, scratch))


def _layer(layer: Layer, kind: int, place: int) -> _SkLayer:
    qkv, out, gate_up, down = (linear.weight for linear in _linears(layer))
    return _SkLayer(
        input_norm=_address(layer.input_layernorm.weight),
        post_norm=_address(layer.post_attention_layernorm.weight),
        gate=_address(layer.self_attn.g_proj),
        qkv=qkv,
        out=out,
        gate_up=gate_up,
        down=down,
        kind=kind,
        place=place,
    )


def _table(table: DenseTable | CodedTable) -> SkWeight:
    if isinstance(table, CodedTable):
        assert isinstance(table.layer, PackedLinear)
        return table.layer.weight
    weight = table.weight
    rows, width = weight.shape
    kind = Kind.BF16 if weight.dtype == torch.bfloat16 else Kind.F32
    return SkWeight(kind=kind, activation=32, rows=rows, cols=width, data=_address(weight))


def _linears(layer: Layer) -> tuple[PackedLinear, PackedLinear, PackedLinear, PackedLinear]:
    attention, mlp = layer.self_attn, layer.mlp
    return attention.q_k_v_proj, attention.out_proj, mlp.gate_up_proj, mlp.down_proj  # type: ignore[return-value]


def _address(tensor: Tensor) -> int:
    assert tensor.is_contiguous()
    return tensor.data_ptr()
