from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.checkpoints.digest import checkpoint_digest, text_digest, weights_digest
from agent_eval.spark_backend.checkpoints.synthetic import synthetic_checkpoint
from tests.spark_backend.configs import SMALL

TEXT = ["tokenizer.json", "chat_template.jinja"]


@pytest.fixture
def folder(checkpoint: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(checkpoint, tmp_path / "copy"))


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", *TEXT])
def test_every_file_that_decides_counts(checkpoint: Path, folder: Path, name: str) -> None:
    assert checkpoint_digest(folder) == checkpoint_digest(checkpoint)
    with (folder / name).open("ab") as file:
        file.write(b" ")
    assert checkpoint_digest(folder) != checkpoint_digest(checkpoint)


@pytest.mark.parametrize(
    ("name", "old", "new", "same"),
    [
        ("config.json", "}", " }", True),
        ("tokenizer.json", '"<unused3>"', '"<unusual>"', False),
        ("tokenizer.json", '"truncation"', '"truncation" ', True),
        ("tokenizer.json", '"padding":null', '"padding":{"strategy":"BatchLongest"}', True),
        ("chat_template.jinja", "role", "name", False),
        ("chat_template.jinja", "{%- endif %}\n", "{%- endif %}", True),
        ("chat_template.jinja", "{%- endif %}\n", "{%- endif %}\n\n", False),
    ],
)
def test_the_text_of_two_checkpoints_is_the_same_if_it_makes_the_same_prompts(
    checkpoint: Path, folder: Path, name: str, old: str, new: str, same: bool
) -> None:
    content = (folder / name).read_text("utf-8")
    assert old in content
    (folder / name).write_text(content.replace(old, new), "utf-8")
    assert (text_digest(folder) == text_digest(checkpoint)) == same


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", *TEXT])
def test_weights_have_a_digest_without_the_text(checkpoint: Path, folder: Path, name: str) -> None:
    with (folder / name).open("ab") as file:
        file.write(b" ")
    assert (weights_digest(folder) == weights_digest(checkpoint)) == (name in TEXT)
    for text in TEXT:
        (folder / text).unlink()
    assert weights_digest(folder)


def test_a_gguf_counts_beside_weights_and_by_itself(checkpoint: Path, folder: Path) -> None:
    (folder / "model.gguf").write_bytes(b"GGUF")
    both = checkpoint_digest(folder)
    assert both != checkpoint_digest(checkpoint)
    (folder / "model.safetensors").unlink()
    assert checkpoint_digest(folder) not in (both, checkpoint_digest(checkpoint))


def test_the_card_does_not_count(checkpoint: Path, folder: Path) -> None:
    (folder / "card.json").unlink()
    assert checkpoint_digest(folder) == checkpoint_digest(checkpoint)


def test_every_shard_counts(tmp_path: Path) -> None:
    synthetic_checkpoint(tmp_path, SMALL, seed=7, shard_bytes=100_000)
    before = checkpoint_digest(tmp_path)
    with sorted(tmp_path.glob("model-*"))[-1].open("ab") as file:
        file.write(b" ")
    assert checkpoint_digest(tmp_path) != before


def test_a_missing_file_is_named(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    for digest in (checkpoint_digest, text_digest):
        with pytest.raises(CheckpointError, match=r"tokenizer\.json cannot be read"):
            digest(folder)
