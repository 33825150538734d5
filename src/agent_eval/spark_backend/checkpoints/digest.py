"""What a checkpoint is, in 64 letters: equal digests, equal behaviour. Knows bytes only."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.checkpoints.folder import (
    CONFIG_NAME,
    GGUF_NAME,
    INDEX_NAME,
    TEMPLATE_NAME,
    TOKENIZER_NAME,
    WEIGHTS_NAME,
    WHAT_IT_HOLDS,
    read_json,
    weight_files,
)


def checkpoint_digest(folder: Path) -> str:
    """Return the SHA-256 over config, weights, tokenizer and template.

    Raises:
        CheckpointError: one of the files is missing.
    """
    return _digest({folder / TOKENIZER_NAME, folder / TEMPLATE_NAME, *_without_text(folder)})


def weights_digest(folder: Path) -> str:
    """Return the SHA-256 over config and weights alone, for a folder that is read with the text of another.

    Raises:
        CheckpointError: one of the files is missing.
    """
    return _digest(_without_text(folder))


def _without_text(folder: Path) -> set[Path]:
    gguf = {folder / GGUF_NAME} if (folder / GGUF_NAME).is_file() else set()
    index = {folder / INDEX_NAME} if (folder / INDEX_NAME).is_file() else set()
    only_gguf = gguf and not index and not (folder / WEIGHTS_NAME).is_file()
    return {folder / CONFIG_NAME, *gguf, *index, *(() if only_gguf else weight_files(folder))}


def text_digest(folder: Path) -> str:
    """Return the SHA-256 over what tokenizer and template do: equal digests, equal prompts.

    Tools that convert weights write the tokenizer anew, so its JSON is compared without spaces, and without what cuts
    or pads, which is not used here.

    Raises:
        CheckpointError: one of the files is missing or cannot be read.
    """
    tokenizer = read_json(folder / TOKENIZER_NAME)
    for name in ("truncation", "padding"):
        tokenizer.pop(name, None)
    template = folder / TEMPLATE_NAME
    try:
        text = template.read_text(encoding="utf-8").removesuffix("\n")  # Jinja drops it itself
    except (OSError, UnicodeDecodeError) as error:
        raise CheckpointError(f"{template} cannot be read: {error}", hint=WHAT_IT_HOLDS) from None
    return hashlib.sha256(json.dumps([tokenizer, text]).encode()).hexdigest()


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(paths):
        try:
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise CheckpointError(f"{path} cannot be read: {error.strerror}", hint=WHAT_IT_HOLDS) from None
        digest.update(f"{path.name} {content}\n".encode())
    return digest.hexdigest()
