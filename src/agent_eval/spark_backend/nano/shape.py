"""The embedded model's shape: every part of the architecture, at two million weights."""

from __future__ import annotations

from dataclasses import replace

from tokenizers import Tokenizer

from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.shapes import SHAPES
from agent_eval.spark_backend.nano.vocabulary import END, PAD


def nano_config(tokenizer: Tokenizer) -> SparkConfig:
    """Return the config of a model that reads a tokenizer of the project's own."""
    vocabulary = tokenizer.get_vocab()
    return replace(
        SHAPES["nano"],
        vocab_size=-(-tokenizer.get_vocab_size() // 64) * 64,  # kernels want whole blocks of rows
        initializer_range=SparkConfig.initializer_range,  # training draws its own first weights (initialise.py)
        bos_token_id=vocabulary[END],
        eos_token_ids=(vocabulary[END],),
        pad_token_id=vocabulary[PAD],
    )
