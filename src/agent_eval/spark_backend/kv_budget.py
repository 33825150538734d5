"""How many bytes attention remembers, by arithmetic from a config. Allocates nothing and knows no weights.

Two layouts are told apart. A *flat* one keeps every token in every layer, as engines do that know one kind of layer. A
*hybrid* one keeps in a sliding layer only what it can still see. What this project's own cache takes, which is hybrid
with room to go back, is ``cache_bytes``.

The rules of the first two (blocks of 16 tokens, a quarter more to be safe) are those of vLLM's block manager as the
published edge study of Spark-X2.5 uses it, so that its figures can be compared.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent_eval.spark_backend.checkpoints.config import SparkConfig

BLOCK = 16
"""Tokens that are given room together."""
HEADROOM = 1.25
"""What is asked for, over what is needed: partly filled blocks and blocks in passing need room too."""
BF16 = 2
"""Bytes of a bfloat16."""
FP32 = 4
"""Bytes of a float32."""


@dataclass(frozen=True)
class KvBudget:
    """Memory for keys and values of ``sequences`` sequences of ``context`` tokens. All sizes are bytes."""

    context: int
    sequences: int
    full_layers: int
    sliding_layers: int
    window: int
    token_layer_bytes: int
    """Keys and values of one token in one layer."""

    @property
    def layers(self) -> int:
        """All layers."""
        return self.full_layers + self.sliding_layers

    @property
    def token_bytes(self) -> int:
        """One token in every layer."""
        return self.layers * self.token_layer_bytes

    @property
    def flat(self) -> int:
        """Every token in every layer."""
        return self.sequences * _rounded(self.context) * self.token_bytes

    @property
    def hybrid(self) -> int:
        """Every token in full layers, a window of them in sliding layers."""
        seen = _rounded(min(self.window, self.context))
        token_layers = self.full_layers * _rounded(self.context) + self.sliding_layers * seen
        return self.sequences * token_layers * self.token_layer_bytes

    @property
    def flat_with_headroom(self) -> int:
        """What to grant an engine whose layout is not known."""
        return int(self.flat * HEADROOM)

    @property
    def saving(self) -> float:
        """How many times smaller hybrid is than flat."""
        return self.flat / self.hybrid


def kv_budget(config: SparkConfig, context: int, *, sequences: int = 1, value_bytes: int = BF16) -> KvBudget:
    """Compute the memory for keys and values.

    Args:
        config: The model.
        context: Tokens of one sequence.
        sequences: Sequences at a time.
        value_bytes: Bytes of one number, ``BF16`` or ``FP32``.
    """
    full = sum(kind == "full_attention" for kind in config.layer_types)
    return KvBudget(
        context=context,
        sequences=sequences,
        full_layers=full,
        sliding_layers=config.num_hidden_layers - full,
        window=config.sliding_window,
        token_layer_bytes=2 * config.num_key_value_heads * config.head_dim * value_bytes,
    )


def cache_bytes(config: SparkConfig, context: int, *, marks: int = 0) -> int:
    """Return what this project's cache takes when its context is full: float32, one sequence.

    A full layer has room for the context. A sliding layer has room for what it sees and for going back by a window,
    and for a window of new tokens before the oldest are dropped (see ``cache``).

    Args:
        config: The model.
        context: Most tokens of the sequence.
        marks: Positions that are kept to come back to; each is a window of the sliding layers.
    """
    budget = kv_budget(config, context, value_bytes=FP32)
    window = config.sliding_window
    sliding = 3 * window - 1 + marks * min(window - 1, context)
    return (budget.full_layers * context + budget.sliding_layers * sliding) * budget.token_layer_bytes


def _rounded(tokens: int) -> int:
    return -(-tokens // BLOCK) * BLOCK
