"""What is compared with other implementations: checkpoints, and the prompts that they continue.

Three architectures: the embedded model on texts of its own kind, a synthetic one with every part of the published ones
and their window, and one that differs from them wherever a checkpoint may. All have prompts longer than two windows.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from agent_eval.curriculum import lesson_weights
from agent_eval.demonstrations import Noise, demonstrations, taught_instances
from agent_eval.spark_backend.chat import ChatTemplate
from agent_eval.spark_backend.checkpoints.config import Rope, SparkConfig
from agent_eval.spark_backend.checkpoints.loader import Card
from agent_eval.spark_backend.checkpoints.shapes import SHAPES
from agent_eval.spark_backend.checkpoints.synthetic import SYNTHETIC_TEMPLATE
from agent_eval.spark_backend.checkpoints.writer import save_checkpoint
from agent_eval.spark_backend.model import initial_weights
from agent_eval.spark_backend.tokenizer import SparkTokenizer
from agent_eval.wiring import EMBEDDED, open_sim

Tokens = tuple[int, ...]

NANO = EMBEDDED["nano"]

LENGTHS = (7, 300, 1300)
"""Tokens of the prompts: within one window, and beyond two of them."""

MID = replace(
    SHAPES["mid"],
    hidden_size=320,  # the queries of all heads are wider, as in the 4B
    intermediate_size=896,
    vocab_size=2048,  # mlx's Linux build multiplies with the reference BLAS, at 2 GFLOP/s
)
UNTIED = replace(
    MID,
    num_hidden_layers=4,
    layer_types=("full_attention", "sliding_attention", "sliding_attention", "full_attention"),
    sliding_window=640,
    full_rope=Rope(theta=50_000.0, partial_rotary_factor=0.5),
    sliding_rope=Rope(theta=700.0, partial_rotary_factor=0.75),
    num_attention_heads=6,
    num_key_value_heads=3,
    rms_norm_eps=1e-5,
    tie_word_embeddings=False,
)


@dataclass(frozen=True)
class Case:
    """One checkpoint and what it is given."""

    name: str
    folder: Path
    prompts: tuple[Tokens, ...]
    wild: Tokens
    """Tokens drawn at random; to a trained model a text unlike any other, which it is most sensitive to."""

    @property
    def read(self) -> tuple[Tokens, ...]:
        """What is compared after every token: the prompts, and the wild one where it is none of them."""
        return self.prompts if self.wild in self.prompts else (*self.prompts, self.wild)

    @property
    def together(self) -> tuple[Tokens, ...]:
        """Prompts of one length, to be computed in one pass."""
        return tuple(self.wild[start : start + 90] for start in (0, 90, 180))


def make_case(name: str, folder: Path) -> Case:
    """Write the checkpoint of a case, or find it, and draw its prompts."""
    rng = random.Random(f"parity/{name}")
    if name == "nano":
        return Case(name, NANO, _conversations(LENGTHS), _drawn(rng, 1280, max(LENGTHS)))
    config = {"mid": MID, "untied": UNTIED}[name]
    _write(folder, config, seed=11)
    prompts = tuple(_drawn(rng, config.vocab_size, length) for length in LENGTHS)
    return Case(name, folder, prompts, prompts[-1])


def _drawn(rng: random.Random, vocabulary: int, length: int) -> Tokens:
    return tuple(rng.randrange(vocabulary) for _ in range(length))


def _conversations(lengths: tuple[int, ...]) -> tuple[Tokens, ...]:
    """Return conversations about the phone, cut to lengths."""
    tokenizer, template = SparkTokenizer.from_folder(NANO), ChatTemplate.from_folder(NANO)

    def texts() -> Iterator[Tokens]:
        drawn = taught_instances(itertools.count(), lesson_weights())
        for made in demonstrations(drawn, *open_sim(), Noise(episodes=1.0, moves=0.4)):
            yield tuple(tokenizer.encode(template.render(made.messages, open_turn=False)))

    found = texts()
    return tuple(next(text for text in found if len(text) >= length)[:length] for length in lengths)


def _write(folder: Path, config: SparkConfig, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    weights = initial_weights(config, generator)
    for name, value in weights.items():
        if value.ndim == 1:  # norms at one would hide where a norm is applied
            weights[name] = 1 + 0.3 * torch.randn(value.shape, generator=generator)
    save_checkpoint(
        folder,
        config,
        weights,
        tokenizer_json=(NANO / "tokenizer.json").read_text(encoding="utf-8"),
        chat_template=SYNTHETIC_TEMPLATE,
        card=Card(name=folder.name, kind="synthetic"),
    )
