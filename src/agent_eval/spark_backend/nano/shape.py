"""The embedded model's shape: every part of the architecture, at 1.8 million weights."""

from __future__ import annotations

from tokenizers import Tokenizer

from agent_eval.spark_backend.checkpoints.config import Rope, SparkConfig
from agent_eval.spark_backend.nano.vocabulary import END, PAD


def nano_config(tokenizer: Tokenizer) -> SparkConfig:
    """Return the config of a model that reads a tokenizer of the project's own."""
    vocabulary = tokenizer.get_vocab()
    return SparkConfig(
        hidden_size=192,
        intermediate_size=512,
        num_hidden_layers=4,
        num_attention_heads=6,
        num_key_value_heads=2,
        head_dim=32,
        vocab_size=-(-tokenizer.get_vocab_size() // 64) * 64,  # kernels want whole blocks of rows
        max_position_embeddings=8192,
        sliding_window=256,  # about two screens: what lies further back only the full layer sees
        full_rope=Rope(theta=100_000.0, partial_rotary_factor=0.25),
        sliding_rope=Rope(theta=10_000.0, partial_rotary_factor=1.0),
        bos_token_id=vocabulary[END],
        eos_token_ids=(vocabulary[END],),
        pad_token_id=vocabulary[PAD],
    )
