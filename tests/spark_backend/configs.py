"""Small architectures for tests; every width is different where it may be, so that a mix-up of two cannot pass."""

from __future__ import annotations

from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.shapes import SHAPES

SMALL = SparkConfig(
    hidden_size=64,
    intermediate_size=96,
    num_hidden_layers=4,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=24,
    vocab_size=320,
    max_position_embeddings=512,
    sliding_window=16,
    initializer_range=0.2,  # large enough that attention is far from uniform
)

SPARK_1_7B, SPARK_4B = SHAPES["1.7b"], SHAPES["4b"]
