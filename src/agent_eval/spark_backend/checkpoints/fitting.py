"""Whether the parts of a checkpoint are of one model: config, tokenizer and chat template. Opens no weights.

Nothing in the files says so outright. What can be held against each other is held: ids against the vocabulary, the
marks that the template writes against the tokens that there are, and the end of a turn against the tokens that end one.
"""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.chat import ChatTemplate
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.digest import text_digest
from agent_eval.spark_backend.checkpoints.folder import TEMPLATE_NAME, TOKENIZER_NAME
from agent_eval.spark_backend.tokenizer import SparkTokenizer
from agent_eval.types import Message

_MARK = re.compile(r"<[|｜][^<>|｜\s'\"{}]{1,60}[|｜]>")
"""A control token as this family writes them, ``<|User|>``; a template holds them to be one token each."""

_PROBE = (Message("user", "a"), Message("assistant", "b"))

_ONE_CHECKPOINT = f"config.json, {TOKENIZER_NAME} and {TEMPLATE_NAME} must be of one checkpoint"


def require_fit(config: SparkConfig, tokenizer: SparkTokenizer, template: ChatTemplate, stop: frozenset[int]) -> None:
    """Refuse a tokenizer or a template of another model.

    Args:
        config: The checkpoint's.
        tokenizer: The checkpoint's.
        template: The checkpoint's.
        stop: Tokens that end a turn.

    Raises:
        CheckpointError: says which parts do not fit, and how that shows.
    """
    if tokenizer.largest_id >= config.vocab_size:
        raise CheckpointError(
            f"{TOKENIZER_NAME} has {tokenizer.size} tokens with ids up to {tokenizer.largest_id}, expected ids below "
            f"vocab_size, {config.vocab_size}",
            hint=_ONE_CHECKPOINT,
        )
    named = {"bos_token_id": [config.bos_token_id], "eos_token_id": list(config.eos_token_ids)}
    for name, ids in named.items():
        for token_id in ids:
            if tokenizer.token(token_id) is None:
                raise CheckpointError(
                    f"config.json: {name} is {token_id}, and {TOKENIZER_NAME} has no token of this id",
                    hint=_ONE_CHECKPOINT,
                )
    for mark in sorted(set(_MARK.findall(template.source))):
        pieces = tokenizer.encode(mark)
        if len(pieces) != 1:
            raise CheckpointError(
                f"{TEMPLATE_NAME} writes {mark}, expected one token; {TOKENIZER_NAME} makes {len(pieces)} of it",
                hint=_ONE_CHECKPOINT,
            )
    # the turn that the model itself is to end: rendered closed, it must hold a token that closes it
    opened, closed = (tokenizer.encode(template.render(turns, open_turn=False)) for turns in (_PROBE[:1], _PROBE))
    if stop.isdisjoint(closed[len(opened) :] if closed[: len(opened)] == opened else closed):
        ends = ", ".join(f"{tokenizer.token(token_id)!r} ({token_id})" for token_id in sorted(stop))
        raise CheckpointError(
            f"a finished turn of {TEMPLATE_NAME} holds none of the tokens that end one: {ends}", hint=_ONE_CHECKPOINT
        )


_MAY_DIFFER = {"tie_word_embeddings", "initializer_range", "max_position_embeddings", "eos_token_ids", "pad_token_id"}
"""Fields of a config that quantising tools set anew; none changes what the layers compute."""


def require_same_model(name: str, folder: Path, model: Path) -> None:
    """Refuse a checkpoint that is not the model in another form: builds compare only where they read the same text.

    Args:
        name: What the messages call it.
        folder: The checkpoint.
        model: The model's.

    Raises:
        CheckpointError: the architecture, the tokenizer or the template differ.
    """
    own, other = SparkConfig.from_folder(folder), SparkConfig.from_folder(model)
    for field in fields(SparkConfig):
        mine, theirs = getattr(own, field.name), getattr(other, field.name)
        if mine != theirs and field.name not in _MAY_DIFFER:
            raise CheckpointError(
                f"{name} is another model than {model}: {field.name} is {mine}, expected {theirs}", hint=_OTHER_MODEL
            )
    if not (folder / TOKENIZER_NAME).exists() and not (folder / TEMPLATE_NAME).exists():
        return  # weights alone: the model's text serves
    if text_digest(folder) != text_digest(model):
        raise CheckpointError(
            f"{name} has another {TOKENIZER_NAME} or {TEMPLATE_NAME} than {model}, expected the same prompts for all "
            "builds of a run",
            hint=_OTHER_MODEL,
        )


_OTHER_MODEL = "run it by itself, with --model, or name the checkpoint that it was made from with --model"
