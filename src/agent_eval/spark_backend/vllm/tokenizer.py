"""The tokenizer that vLLM is given where replies are constrained: the checkpoint's, with the tags of calls as text.

vLLM never writes or reads text with it. llguidance looks in it for the letters of each token; of a token in angle
brackets it says that it has none, and that it is a name. Some vocabularies have single tokens for more than one tag.
So tags, what is made of them, and all other text that was added to the vocabulary are moved to the ordinary tokens.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.checkpoints.config import MODEL_TYPE
from agent_eval.spark_backend.checkpoints.folder import CONFIG_NAME, TOKENIZER_NAME
from agent_eval.spark_backend.constrain import TAGS
from agent_eval.spark_backend.tokenizer import SparkTokenizer


def tags_as_text(content: str) -> str:
    """Return a ``tokenizer.json`` in which tokens that hold a tag are ordinary ones; ids stay as they are."""
    read = json.loads(content)
    vocabulary: dict[str, int] = read["model"]["vocab"]
    kept: list[dict[str, Any]] = []
    for token in read["added_tokens"]:
        text = token["content"]
        if token["special"] and text not in TAGS:
            kept.append(token)
            vocabulary[text] = token["id"]  # a token that is only added is given the next id when it is read
        else:
            vocabulary.pop(text, None)
            vocabulary[_letters(text)] = token["id"]
    read["added_tokens"] = kept
    return json.dumps(read, ensure_ascii=False)


@contextmanager
def for_grammars(text: Path, end: int) -> Iterator[Mapping[str, Any]]:
    """Yield arguments by which vLLM takes grammars; they name a folder with such a tokenizer, gone afterwards.

    Args:
        text: Folder with the checkpoint's tokenizer.
        end: The token that ends a reply.

    Raises:
        CheckpointError: there is no tokenizer, or none of the kind that Spark has, or it has no such token.
    """
    closing = SparkTokenizer.from_folder(text).token(end)
    path = text / TOKENIZER_NAME
    content = path.read_text(encoding="utf-8")
    if closing is None or json.loads(content)["model"].get("type") != "BPE":
        raise CheckpointError(
            f"{path} is not of a byte-level vocabulary with token {end}, expected Spark's",
            hint="run without the constraint",
        )
    with TemporaryDirectory(prefix="agent-eval-tokenizer-") as made:
        folder = Path(made)
        (folder / TOKENIZER_NAME).write_text(tags_as_text(content), encoding="utf-8")
        settings = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": closing}
        (folder / "tokenizer_config.json").write_text(json.dumps(settings, ensure_ascii=False), encoding="utf-8")
        (folder / CONFIG_NAME).write_text(json.dumps({"model_type": MODEL_TYPE}), encoding="utf-8")  # or it waits
        yield {
            "skip_tokenizer_init": False,
            "tokenizer": str(folder),
            "structured_outputs_config": {"backend": "guidance"},
        }


def _letters(text: str) -> str:
    """Return a text as byte-level vocabularies write it: one letter for each byte."""
    return "".join(_letter(byte) for byte in text.encode())


def _letter(byte: int) -> str:
    """Return the letter of a byte: itself where it is printable in Latin-1, else the next free one from U+0100 on."""
    if _is_printable(byte):
        return chr(byte)
    return chr(0x100 + sum(not _is_printable(lower) for lower in range(byte)))


def _is_printable(byte: int) -> bool:
    return 0x21 <= byte <= 0x7E or 0xA1 <= byte <= 0xAC or 0xAE <= byte <= 0xFF  # of GPT-2's bytes_to_unicode
