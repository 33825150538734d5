"""The forward pass once more, in float64 and over whole sequences, with what peers compute otherwise as an argument.

The loops of ``tests/spark_backend/reference.py`` are the definition and take minutes for a text longer than a window.
This is the same in matrix form; ``test_twin.py`` holds the two together. It shares the config with the code under test
and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from agent_eval.spark_backend.checkpoints.config import Rope, SparkConfig

Gelu = Callable[[Tensor], Tensor]
Angles = Callable[[Rope, int, int], Tensor]


def exact_gelu(x: Tensor) -> Tensor:
    """GELU by the error function, as the published model computes it."""
    return 0.5 * x * (1 + torch.erf(x / 2**0.5))


def tanh_gelu(x: Tensor) -> Tensor:
    """GELU by its tanh approximation."""
    return 0.5 * x * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)))


def published_angles(rope: Rope, rotated: int, positions: int) -> Tensor:
    """Return the angle of every pair at every position, (positions, rotated / 2), in float32 as published."""
    frequencies = 1 / rope.theta ** (torch.arange(0, rotated, 2).float() / rotated)
    return torch.outer(torch.arange(positions).float(), frequencies).double()


@dataclass(frozen=True)
class Twin:
    """One model, computed slowly.

    Args:
        config: Its architecture.
        weights: Its tensors under the names of a checkpoint.
        gelu: What the MLP computes.
        angles: What rotary positions turn by.
    """

    config: SparkConfig
    weights: Mapping[str, Tensor]
    gelu: Gelu = exact_gelu
    angles: Angles = published_angles

    def logits(self, ids: Sequence[int]) -> Tensor:
        """Return the logits (T, V) of a sequence, float64."""
        embedding = self._weight("model.embedding.weight")
        x = embedding[list(ids)]
        for layer in range(self.config.num_hidden_layers):
            at = f"model.layers.{layer}."
            x = x + self._attention(layer, at + "self_attn.", self._norm(x, at + "input_layernorm.weight"))
            h = self._norm(x, at + "post_attention_layernorm.weight")
            gate, up = (h @ self._weight(f"{at}mlp.{name}_proj.weight").T for name in ("gate", "up"))
            x = x + (self.gelu(gate) * up) @ self._weight(at + "mlp.down_proj.weight").T
        head = embedding if self.config.tie_word_embeddings else self._weight("lm_head.weight")
        return self._norm(x, "model.norm.weight") @ head.T

    def logprobs(self, ids: Sequence[int]) -> Tensor:
        """Return the log probabilities (T, V) of the token after each token."""
        return self.logits(ids).log_softmax(-1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", {name: weight.double() for name, weight in self.weights.items()})

    def _weight(self, name: str) -> Tensor:
        return self.weights[name]

    def _norm(self, x: Tensor, name: str) -> Tensor:
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.config.rms_norm_eps) * self._weight(name)

    def _attention(self, layer: int, at: str, h: Tensor) -> Tensor:
        config, kind, length = self.config, self.config.layer_types[layer], len(h)
        rope = config.rope(kind)
        rotated = rope.rotary_dim(config.head_dim)
        angles = self.angles(rope, rotated, length)[:, None]  # (T, 1, R/2)
        widths = [config.query_width, config.key_width, config.key_width]
        fused = h @ self._weight(at + "q_k_v_proj.weight").T
        q, k, v = (part.reshape(length, -1, config.head_dim) for part in torch.split(fused, widths, dim=-1))
        q, k = (_turned(part, angles, rotated).repeat_interleave(n, 1) for part, n in ((q, 1), (k, config.group)))
        scores = torch.einsum("inh,jnh->nij", q, k) / config.head_dim**0.5
        distance = torch.arange(length)[:, None] - torch.arange(length)
        window = config.window(kind) or length
        shares = scores.masked_fill((distance < 0) | (distance >= window), -torch.inf).softmax(-1)
        mixed = torch.einsum("nij,jnh->inh", shares, v.repeat_interleave(config.group, 1))
        gate = h @ self._weight(at + "g_proj.weight").T  # (T, N)
        opened = torch.sigmoid(gate) if config.gate_activation == "sigmoid" else gate * torch.sigmoid(gate)
        return (mixed * opened[..., None]).flatten(1) @ self._weight(at + "out_proj.weight").T


def _turned(heads: Tensor, angles: Tensor, rotated: int) -> Tensor:
    """Rotate the first dimensions of heads (T, N, D), the first half of the slice against the second."""
    first, second, rest = torch.split(heads, [rotated // 2, rotated // 2, heads.shape[-1] - rotated], dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat((first * cos - second * sin, second * cos + first * sin, rest), dim=-1)
