"""What a checkpoint's ``config.json`` says about a Spark-X2.5 model, checked field by field. Knows nothing of tensors.

Field names are those of the published checkpoints (``Spark2_5ForCausalLM``), so that one folder serves every reader.
Fields that this implementation does not read, such as ``auto_map``, are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.checkpoints.folder import CONFIG_NAME, not_there, read_json

ARCHITECTURE = "Spark2_5ForCausalLM"
MODEL_TYPE = "spark2_5"

LayerType = Literal["sliding_attention", "full_attention"]
GateActivation = Literal["sigmoid", "silu"]

LAYER_TYPES: tuple[LayerType, ...] = get_args(LayerType)
FULL_ATTENTION_PERIOD = 4  # published checkpoints: every fourth layer is full


@dataclass(frozen=True)
class Rope:
    """Rotary position embedding of one layer type."""

    theta: float
    partial_rotary_factor: float
    """Share of each head that is rotated; the rest passes through."""

    def rotary_dim(self, head_dim: int) -> int:
        """Return how many of a head's dimensions are rotated."""
        return int(head_dim * self.partial_rotary_factor)


def default_layer_types(layers: int) -> tuple[LayerType, ...]:
    """Return the published pattern: three sliding layers, then a full one."""
    return tuple(
        "full_attention" if (i + 1) % FULL_ATTENTION_PERIOD == 0 else "sliding_attention" for i in range(layers)
    )


@dataclass(frozen=True)
class SparkConfig:
    """Every fact about the architecture that differs between checkpoints.

    Raises:
        CheckpointError: on construction, if a value cannot be; the message names it and what was expected.
    """

    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    vocab_size: int
    max_position_embeddings: int
    sliding_window: int
    """Tokens that a sliding layer sees, the current one included."""
    layer_types: tuple[LayerType, ...] = ()
    """One per layer; empty stands for the published pattern."""
    full_rope: Rope = field(default=Rope(theta=5_000_000.0, partial_rotary_factor=0.25))
    sliding_rope: Rope = field(default=Rope(theta=10_000.0, partial_rotary_factor=1.0))
    rms_norm_eps: float = 1e-6
    initializer_range: float = 0.02
    tie_word_embeddings: bool = True
    gate_activation: GateActivation = "sigmoid"
    bos_token_id: int = 0
    eos_token_ids: tuple[int, ...] = (1,)
    pad_token_id: int | None = 2

    def __post_init__(self) -> None:
        # first, because what follows computes with them: nothing here may take memory in proportion to a wild number
        for name, most in _MOST.items():
            value = getattr(self, name)
            _require(_is_int(value) and 0 < value <= most, name, value, f"a whole number from 1 to {most}")
        if not self.layer_types:
            object.__setattr__(self, "layer_types", default_layer_types(self.num_hidden_layers))
        _require(
            self.num_attention_heads % self.num_key_value_heads == 0,
            "num_attention_heads",
            self.num_attention_heads,
            f"a multiple of num_key_value_heads ({self.num_key_value_heads})",
        )
        _require(
            self.head_dim % 2 == 0, "head_dim", self.head_dim, "an even number: halves are rotated against each other"
        )
        _require(
            len(self.layer_types) == self.num_hidden_layers,
            "layer_types",
            f"{len(self.layer_types)} entries",
            f"{self.num_hidden_layers}, one per layer (num_hidden_layers)",
        )
        for i, kind in enumerate(self.layer_types):
            _require(kind in LAYER_TYPES, f"layer_types[{i}]", kind, f"one of {', '.join(LAYER_TYPES)}")
        for kind in LAYER_TYPES:
            self._check_rope(kind)
        _require(
            _is_number(self.rms_norm_eps) and 0 < self.rms_norm_eps < 1, "rms_norm_eps", self.rms_norm_eps, "in (0, 1)"
        )
        _require(
            _is_number(self.initializer_range) and 0 < self.initializer_range <= 100,
            "initializer_range",
            self.initializer_range,
            "a number above 0, at most 100",
        )
        _require(
            isinstance(self.tie_word_embeddings, bool), "tie_word_embeddings", self.tie_word_embeddings, "true or false"
        )
        _require(
            self.gate_activation in get_args(GateActivation),
            "gate_attn_act_mode",
            self.gate_activation,
            f"one of {', '.join(get_args(GateActivation))}",
        )
        _require(len(self.eos_token_ids) > 0, "eos_token_id", list(self.eos_token_ids), "at least one token id")
        ids = [("bos_token_id", self.bos_token_id), *(("eos_token_id", i) for i in self.eos_token_ids)]
        if self.pad_token_id is not None:
            ids.append(("pad_token_id", self.pad_token_id))
        for name, value in ids:
            _require(
                _is_int(value) and 0 <= value < self.vocab_size, name, value, f"a token id below {self.vocab_size}"
            )

    def _check_rope(self, kind: LayerType) -> None:
        rope = self.rope(kind)
        where = f"rope_parameters.{kind}"
        _require(
            _is_number(rope.theta) and 1 < rope.theta <= _MOST_THETA,
            f"{where}.rope_theta",
            rope.theta,
            f"a number above 1, at most {_MOST_THETA:.0e}",
        )
        factor = rope.partial_rotary_factor
        _require(_is_number(factor) and 0 < factor <= 1, f"{where}.partial_rotary_factor", factor, "in (0, 1]")
        dims = rope.rotary_dim(self.head_dim)
        _require(
            dims >= 2 and dims % 2 == 0,
            f"{where}.partial_rotary_factor",
            factor,
            f"a share that rotates an even number of the {self.head_dim} dimensions (this rotates {dims})",
        )

    @property
    def group(self) -> int:
        """Query heads per key-value head."""
        return self.num_attention_heads // self.num_key_value_heads

    @property
    def query_width(self) -> int:
        """Width of all query heads together; not the hidden size in every checkpoint."""
        return self.num_attention_heads * self.head_dim

    @property
    def key_width(self) -> int:
        """Width of all key heads together, and of all value heads together."""
        return self.num_key_value_heads * self.head_dim

    def rope(self, kind: LayerType) -> Rope:
        """Return the rotary parameters of a layer type."""
        return self.full_rope if kind == "full_attention" else self.sliding_rope

    def window(self, kind: LayerType) -> int | None:
        """Return how many tokens a layer of this type sees, or None for all of them."""
        return None if kind == "full_attention" else self.sliding_window

    def tensor_shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the name and shape of every tensor that a checkpoint of this config holds."""
        h, ffn, vocab = self.hidden_size, self.intermediate_size, self.vocab_size
        shapes: dict[str, tuple[int, ...]] = {"model.embedding.weight": (vocab, h), "model.norm.weight": (h,)}
        for i in range(self.num_hidden_layers):
            layer = f"model.layers.{i}."
            shapes[layer + "input_layernorm.weight"] = (h,)
            shapes[layer + "post_attention_layernorm.weight"] = (h,)
            shapes[layer + "self_attn.q_k_v_proj.weight"] = (self.query_width + 2 * self.key_width, h)
            shapes[layer + "self_attn.g_proj.weight"] = (self.num_attention_heads, h)
            shapes[layer + "self_attn.out_proj.weight"] = (h, self.query_width)
            shapes[layer + "mlp.gate_proj.weight"] = (ffn, h)
            shapes[layer + "mlp.up_proj.weight"] = (ffn, h)
            shapes[layer + "mlp.down_proj.weight"] = (h, ffn)
        if not self.tie_word_embeddings:
            shapes["lm_head.weight"] = (vocab, h)
        return shapes

    @property
    def parameters(self) -> int:
        """Number of weights of the model."""
        total = 0
        for shape in self.tensor_shapes().values():
            count = 1
            for size in shape:
                count *= size
            total += count
        return total

    def to_dict(self) -> dict[str, Any]:
        """Return the ``config.json`` of this config, as published checkpoints spell it."""
        data = asdict(self)
        rope = {kind: self.rope(kind) for kind in LAYER_TYPES}
        for name in ("full_rope", "sliding_rope", "gate_activation", "eos_token_ids"):
            del data[name]
        eos = self.eos_token_ids
        return {
            "architectures": [ARCHITECTURE],
            "model_type": MODEL_TYPE,
            **data,
            "layer_types": list(self.layer_types),
            "rope_parameters": {
                kind: {"rope_theta": r.theta, "partial_rotary_factor": r.partial_rotary_factor}
                for kind, r in rope.items()
            },
            "eos_token_id": eos[0] if len(eos) == 1 else list(eos),
            "hidden_act": "gelu",
            "attention_bias": False,
            "mlp_bias": False,
            "attention_dropout": 0.0,
            "headwise_attn_output_gate": True,
            "gate_attn_act_mode": self.gate_activation,
            "dtype": "bfloat16",
            "use_cache": True,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SparkConfig:
        """Read the fields of a ``config.json``.

        Raises:
            CheckpointError: a field is missing, of the wrong kind, or asks for what the architecture does not have.
        """
        _require(
            ARCHITECTURE in _list(data, "architectures", [ARCHITECTURE]),
            "architectures",
            data.get("architectures"),
            f"a list with {ARCHITECTURE}",
        )
        _require(data.get("rope_scaling") is None, "rope_scaling", data.get("rope_scaling"), "null: " + _NO_SCALING)
        for name, (expected, why) in _FIXED.items():
            _require(_same(data.get(name, expected), expected), name, data.get(name), f"{json.dumps(expected)}: {why}")
        sizes = {name: _number(data, name) for name in _SIZES}
        kinds = _list(data, "layer_types", [])
        heads = sizes["num_attention_heads"]
        return cls(
            **sizes,
            head_dim=_number(data, "head_dim", sizes["hidden_size"] // heads if _is_int(heads) and heads > 0 else None),
            layer_types=tuple(kinds),
            full_rope=_rope(data, "full_attention"),
            sliding_rope=_rope(data, "sliding_attention"),
            rms_norm_eps=data.get("rms_norm_eps", cls.rms_norm_eps),
            initializer_range=data.get("initializer_range", cls.initializer_range),
            tie_word_embeddings=data.get("tie_word_embeddings", cls.tie_word_embeddings),
            gate_activation=data.get("gate_attn_act_mode", cls.gate_activation),
            bos_token_id=data.get("bos_token_id", cls.bos_token_id),
            eos_token_ids=_token_ids(data.get("eos_token_id", 1)),
            pad_token_id=data.get("pad_token_id", cls.pad_token_id),
        )

    @classmethod
    def from_folder(cls, folder: Path) -> SparkConfig:
        """Read and check the ``config.json`` of a checkpoint folder.

        Raises:
            CheckpointError: it is missing, is no JSON object, or holds a value that cannot be.
        """
        path = folder / CONFIG_NAME
        if not path.is_file():
            raise not_there(folder, CONFIG_NAME)
        return cls.from_dict(read_json(path))


_MOST = {
    "hidden_size": 2**16,
    "intermediate_size": 2**18,
    "num_hidden_layers": 1024,
    "num_attention_heads": 2**12,
    "num_key_value_heads": 2**12,
    "head_dim": 2**12,
    "vocab_size": 2**22,
    "max_position_embeddings": 2**24,
    "sliding_window": 2**16,
}
"""Most of each size: at least 16 times what is published. A number beyond is damage, and would take memory."""

_SIZES = tuple(name for name in _MOST if name != "head_dim")
"""Sizes that a config must name; the head's width follows from others where it is left out."""

_MOST_THETA = 1e12
_NO_SCALING = "positions beyond the trained ones (YaRN and others) are not implemented"

_FIXED: dict[str, tuple[Any, str]] = {
    "model_type": (MODEL_TYPE, "no other architecture is implemented"),
    "hidden_act": ("gelu", "the MLP uses the exact-erf GELU; the tanh form is another function"),
    "attention_bias": (False, "the projections have no bias"),
    "mlp_bias": (False, "the projections have no bias"),
    "attention_dropout": (0, "nothing is dropped when a model runs"),
    "headwise_attn_output_gate": (True, "every head's output is gated"),
}
"""Fields that have one value in this architecture, and why."""


def _require(holds: bool, name: str, value: object, expected: str) -> None:
    if not holds:
        raise _cannot_be(name, value, expected)


def _cannot_be(name: str, value: object, expected: str) -> CheckpointError:
    shown = repr(value)
    shown = shown if len(shown) <= 120 else shown[:117] + "..."
    return CheckpointError(
        f"{CONFIG_NAME}: {name} is {shown}, expected {expected}",
        hint="this must be the config.json that came with the weights; it is not meant to be edited by hand",
    )


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same(value: object, expected: object) -> bool:
    # 0 == False in Python; a bias of 0 or a dropout of false would be another file's mistake.
    return value == expected and isinstance(value, bool) == isinstance(expected, bool)


def _number(data: Mapping[str, Any], name: str, default: int | None = None) -> Any:
    value = data.get(name, default)
    _require(_is_int(value), name, value, f"a whole number from 1 to {_MOST[name]}")
    return value


def _list(data: Mapping[str, Any], name: str, default: list[Any]) -> list[Any]:
    value = data.get(name, default)
    _require(isinstance(value, list), name, value, "a list")
    return list(value)


def _object(data: Mapping[str, Any], name: str, where: str, expected: str) -> dict[str, Any]:
    value = data.get(name)
    if not isinstance(value, dict):
        raise _cannot_be(where, value, expected)
    return value


def _rope(data: Mapping[str, Any], kind: LayerType) -> Rope:
    parameters = _object(data, "rope_parameters", "rope_parameters", f"an object with {' and '.join(LAYER_TYPES)}")
    where = f"rope_parameters.{kind}"
    entry = _object(parameters, kind, where, "an object with rope_theta and partial_rotary_factor")
    for name in ("rope_type", "type"):  # two spellings of transformers' releases
        scaling = entry.get(name, "default")
        _require(scaling == "default", f"{where}.{name}", scaling, f"'default': {_NO_SCALING}")
    return Rope(theta=entry.get("rope_theta"), partial_rotary_factor=entry.get("partial_rotary_factor", 1.0))  # type: ignore[arg-type]  # checked with the config


def _token_ids(value: object) -> tuple[int, ...]:
    ids = value if isinstance(value, list) else [value]
    for token in ids:
        _require(_is_int(token), "eos_token_id", value, "a token id or a list of token ids")
    return tuple(ids)
