"""The embedded model's shape, every part of the architecture at two million weights, and what it begins with."""

from __future__ import annotations

from dataclasses import replace

from tokenizers import Tokenizer

from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.shapes import SHAPES
from agent_eval.spark_backend.nano.initialise import Start
from agent_eval.spark_backend.nano.vocabulary import END, LINE_STARTS, PAD, TURN_STARTS, with_and_without_space


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


def nano_start(tokenizer: Tokenizer) -> Start:
    """Return what the first weights know of a tokenizer of the project's own."""
    vocabulary = tokenizer.get_vocab()
    return Start(
        line_starts=[(vocabulary[start], vocabulary[number]) for start, number in LINE_STARTS.items()],
        spaced=with_and_without_space(tokenizer),
        turn_starts=[vocabulary[start] for start in TURN_STARTS],
    )
