"""Shapes of Spark-X2.5 by name: the two that are published, and two small ones. Knows no weights and no files.

The published ones are for work that depends on the shape alone, such as speed and memory, where nobody needs to
download gigabytes; the small ones for tests.
"""

from __future__ import annotations

from agent_eval.errors import UnknownName
from agent_eval.spark_backend.checkpoints.config import Rope, SparkConfig

SHAPES: dict[str, SparkConfig] = {
    # config.json of XHToken/Spark-X2.5-1.7B and -4B
    "1.7b": SparkConfig(
        hidden_size=2048,
        intermediate_size=6656,
        num_hidden_layers=28,
        num_attention_heads=8,
        num_key_value_heads=2,
        head_dim=256,
        vocab_size=131072,
        max_position_embeddings=1048576,
        sliding_window=512,
    ),
    "4b": SparkConfig(
        hidden_size=2560,
        intermediate_size=10240,
        num_hidden_layers=36,
        num_attention_heads=16,
        num_key_value_heads=4,
        head_dim=256,
        vocab_size=131072,
        max_position_embeddings=1048576,
        sliding_window=512,
        initializer_range=0.01976,
    ),
    # every part of the large ones, the published window too, at 1/60 of their weights
    "mid": SparkConfig(
        hidden_size=512,
        intermediate_size=1792,
        num_hidden_layers=8,
        num_attention_heads=8,
        num_key_value_heads=2,
        head_dim=64,
        vocab_size=8192,
        max_position_embeddings=32768,
        sliding_window=512,
        initializer_range=0.04,  # the residual stream of narrow layers stays as lively as that of wide ones
    ),
    # the embedded model's
    "nano": SparkConfig(
        hidden_size=192,
        intermediate_size=512,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=64,
        vocab_size=3008,
        max_position_embeddings=8192,
        sliding_window=256,  # about two screens: what lies further back only the full layer sees
        full_rope=Rope(theta=100_000.0, partial_rotary_factor=0.25),
        initializer_range=0.08,  # of random weights; see mid
    ),
}
"""From the name that ``--like`` takes to the architecture."""


def find_shape(name: str) -> SparkConfig:
    """Return a shape by its name.

    Raises:
        UnknownName: there is no such shape.
    """
    if name not in SHAPES:
        raise UnknownName("shape", name, SHAPES)
    return SHAPES[name]
