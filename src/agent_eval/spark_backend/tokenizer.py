"""Text to token ids and back, as the checkpoint's ``tokenizer.json`` says. Knows nothing of conversations.

Special tokens are written out in the text and kept when decoding: the chat template places them (the start token among
them), and the parser of tool calls reads them. Nothing is ever added in front.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import tokenizers

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.checkpoints.folder import TOKENIZER_NAME


class SparkTokenizer:
    """The tokenizer of one checkpoint."""

    def __init__(self, tokenizer: tokenizers.Tokenizer) -> None:
        self._tokenizer = tokenizer

    @classmethod
    def from_folder(cls, folder: Path) -> SparkTokenizer:
        """Read the tokenizer of a checkpoint folder.

        Raises:
            CheckpointError: it is missing or cannot be read.
        """
        path = folder / TOKENIZER_NAME
        try:
            content = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CheckpointError(
                f"{path} cannot be read: {error}", hint=f"download {TOKENIZER_NAME} of the same checkpoint"
            ) from None
        return cls.from_json(content, source=str(path))

    @classmethod
    def from_json(cls, content: str, source: str = TOKENIZER_NAME) -> SparkTokenizer:
        """Read the contents of a ``tokenizer.json``.

        Raises:
            CheckpointError: they are no tokenizer.
        """
        try:
            tokenizer = tokenizers.Tokenizer.from_str(content)
        except Exception as error:  # noqa: BLE001  the library raises a bare Exception for anything it cannot read
            raise CheckpointError(
                f"{source} is no tokenizer: {error}", hint=f"download {TOKENIZER_NAME} of the same checkpoint"
            ) from None
        # what the author's training cut or padded is not meant for prompts, and would change them silently
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return cls(tokenizer)

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text, in which special tokens are written out."""
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids, special tokens included."""
        return self._tokenizer.decode(list(ids), skip_special_tokens=False)

    def token_id(self, token: str) -> int | None:
        """Return the id of one token, or None if the vocabulary has no such token."""
        return self._tokenizer.token_to_id(token)

    def token(self, token_id: int) -> str | None:
        """Return the token of an id, or None if the vocabulary is smaller."""
        return self._tokenizer.id_to_token(token_id)

    @property
    def largest_id(self) -> int:
        """The largest id that a token has; ids may have gaps."""
        return max(self._tokenizer.get_vocab(with_added_tokens=True).values(), default=-1)

    @property
    def size(self) -> int:
        """Number of tokens, added ones included."""
        return self._tokenizer.get_vocab_size(with_added_tokens=True)
