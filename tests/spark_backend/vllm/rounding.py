"""The forward pass once more, rounding where one is told: what an engine's bfloat16 makes of the exact numbers.

Engines that compute the same model in bfloat16 differ in where they round, and then in the order of their sums. This
computes a whole text in float32 or float64 and rounds at the places of a table, so that what comes of the places alone
can be told from everything else. It shares the config with the code under test and nothing else; ``test_rounding.py``
holds it to the twin of ``tests/peers/parity``, which never rounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import torch
from torch import Tensor

from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.probe import probe_machine
from tests.peers.parity.twin import exact_gelu, published_angles

Place = Literal[
    "stream",  # the residual stream, after each addition
    "norm",  # a normed row, before its weight
    "normed",  # the same behind it: what projections read
    "linear",  # what projections give
    "angles",  # the tables of cosines and sines
    "turned",  # queries and keys behind the rotation; so what is kept of keys
    "mixed",  # what attention gives
    "scores",  # of the output gate
    "gate",  # the output gate
    "gated",  # what the output projection reads
    "gelu",  # the GELU of the MLP
    "inner",  # what the down projection reads
    "logits",
]
PLACES: tuple[Place, ...] = get_args(Place)

When = Literal["prompt", "always", "cut"]
"""In the tokens of the prompt, which are computed many at a time, or in all; ``cut``: in all, and towards zero."""

Rounds = Mapping[Place, When]

EXACT: Rounds = {}

CUTS = probe_machine().device_class == "x86-avx2"
"""vLLM 0.32's own operators, compiled for AVX2, drop the bits that bfloat16 lacks; compiled for AVX-512 they round."""

VLLM: Rounds = {
    **dict.fromkeys(PLACES, "always"),
    "scores": "prompt",
    **(dict.fromkeys(("turned", "mixed"), "cut") if CUTS else {}),
}
"""vLLM: every operator takes and gives bfloat16; only the gate of a token or two is a sum in float32 (``gate.py``)."""


def torch_rounds(*, compiled: bool, native: bool) -> Rounds:
    """Return where this project's engine rounds: where a projection reads, and where torch's product gives bfloat16.

    Args:
        compiled: Whether the compiled kernels serve.
        native: Whether torch multiplies bfloat16 in hardware.
    """
    read: Rounds = {"normed": "always", "gated": "always", "inner": "always"}
    if compiled:
        return {**read, "linear": "prompt"} if native else read
    return {**read, "linear": "always", "gelu": "always", "logits": "always"}


def cut(x: Tensor) -> Tensor:
    """Return float32 numbers without the bits that bfloat16 lacks: rounded towards zero."""
    return (x.contiguous().view(torch.int32) & -(2**16)).view(torch.float32)


class Computed(NamedTuple):
    """What a text gives."""

    streams: tuple[Tensor, ...]
    """After each layer, before it is rounded, (T, H) each."""
    logits: Tensor
    """(T, V)."""


@dataclass(frozen=True)
class RoundingTwin:
    """One model, computed slowly.

    Args:
        config: Its architecture.
        weights: Its tensors under the names of a checkpoint; a ``lm_head.weight`` is the head, if there is one.
        arithmetic: What is computed in: float32 leaves what bfloat16 rounds away far behind it.
        whole_inputs: Whether projections read rows of eight bits, as builds do that end in a8.
    """

    config: SparkConfig
    weights: Mapping[str, Tensor]
    arithmetic: torch.dtype = torch.float32
    whole_inputs: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", {name: one.to(self.arithmetic) for name, one in self.weights.items()})

    def compute(self, ids: Sequence[int], rounds: Rounds = EXACT, *, prompt: int | None = None) -> Computed:
        """Compute a text.

        Args:
            ids: Its tokens.
            rounds: Where to round to bfloat16.
            prompt: How many of them are the prompt; all if not given.
        """
        rounding = _Rounding(rounds, len(ids) if prompt is None else prompt)
        table = self.weights["model.embedding.weight"]
        x, streams = table[list(ids)], []
        whole = x  # what is added up, before it is rounded: norms read it so
        for layer in range(self.config.num_hidden_layers):
            at = f"model.layers.{layer}."
            h = self._norm(whole, at + "input_layernorm.weight", rounding)
            whole = x + self._attention(layer, at + "self_attn.", h, rounding)
            x = rounding("stream", whole)
            h = self._norm(whole, at + "post_attention_layernorm.weight", rounding)
            whole = x + self._mlp(at + "mlp.", h, rounding)
            x = rounding("stream", whole)
            streams.append(whole)
        last = self._norm(whole, "model.norm.weight", rounding)
        head = self.weights.get("lm_head.weight", table)
        return Computed(tuple(streams), rounding("logits", self._read(last) @ head.T))

    def _norm(self, x: Tensor, name: str, rounding: _Rounding) -> Tensor:
        normed = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.config.rms_norm_eps)
        return rounding("normed", rounding("norm", normed) * self.weights[name])

    def _mlp(self, at: str, h: Tensor, rounding: _Rounding) -> Tensor:
        gate, up = (self._product(h, f"{at}{name}_proj.weight", rounding) for name in ("gate", "up"))
        inner = rounding("inner", rounding("gelu", exact_gelu(gate)) * up)
        return self._product(inner, at + "down_proj.weight", rounding)

    def _attention(self, layer: int, at: str, h: Tensor, rounding: _Rounding) -> Tensor:
        config, kind, length = self.config, self.config.layer_types[layer], len(h)
        rope = config.rope(kind)
        rotated = rope.rotary_dim(config.head_dim)
        angles = published_angles(rope, rotated, length)[:, None]  # (T, 1, R/2)
        cos, sin = (rounding("angles", table.to(self.arithmetic)) for table in (angles.cos(), angles.sin()))
        widths = [config.query_width, config.key_width, config.key_width]
        fused = self._product(h, at + "q_k_v_proj.weight", rounding)
        q, k, v = (part.reshape(length, -1, config.head_dim) for part in torch.split(fused, widths, dim=-1))
        q, k = (rounding("turned", _turned(part, cos, sin)) for part in (q, k))
        k, v = (part.repeat_interleave(config.group, 1) for part in (k, v))
        scores = torch.einsum("inh,jnh->nij", q, k) / config.head_dim**0.5
        distance = torch.arange(length)[:, None] - torch.arange(length)
        window = config.window(kind) or length
        shares = scores.masked_fill((distance < 0) | (distance >= window), -torch.inf).softmax(-1)
        mixed = rounding("mixed", torch.einsum("nij,jnh->inh", shares, v))
        raised = rounding("scores", h @ self.weights[at + "g_proj.weight"].T)  # (T, N)
        opened = torch.sigmoid(raised) if config.gate_activation == "sigmoid" else raised * torch.sigmoid(raised)
        gated = rounding("gated", mixed * rounding("gate", opened)[..., None])
        return self._product(gated.flatten(1), at + "out_proj.weight", rounding)

    def _product(self, x: Tensor, name: str, rounding: _Rounding) -> Tensor:
        return rounding("linear", self._read(x) @ self.weights[name].T)

    def _read(self, x: Tensor) -> Tensor:
        """Return rows as a projection reads them."""
        if not self.whole_inputs:
            return x
        scale = (x.abs().amax(-1, keepdim=True) / 127).clamp_min(1e-30)
        return (x / scale).round() * scale


class _Rounding:
    """Rounds at the places of a table; the first dimension of what it gets are the tokens of a text."""

    def __init__(self, rounds: Rounds, prompt: int) -> None:
        self._rounds, self._prompt = rounds, prompt

    def __call__(self, place: Place, x: Tensor) -> Tensor:
        when = self._rounds.get(place)
        if when is None:
            return x
        if when == "cut":
            return cut(x.float()).to(x.dtype)
        rounded = x.bfloat16().to(x.dtype)
        return rounded if when == "always" else torch.cat((rounded[: self._prompt], x[self._prompt :]))


def _turned(heads: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate the first dimensions of heads (T, N, D), the first half of the slice against the second."""
    half = cos.shape[-1]
    first, second, rest = torch.split(heads, [half, half, heads.shape[-1] - 2 * half], dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin, rest), dim=-1)
