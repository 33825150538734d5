"""Checkpoint folders that this program writes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from agent_eval.errors import CheckpointError, OperatorError
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.loader import Card, Weights, read_card
from agent_eval.spark_backend.checkpoints.tensor_file import Planned
from agent_eval.spark_backend.checkpoints.writer import save_checkpoint, write_weights
from agent_eval.spark_backend.model import Spark
from tests.spark_backend.configs import SMALL

UP = "model.layers.2.mlp.up_proj.weight"


@pytest.fixture
def state() -> dict[str, Tensor]:
    return Spark.initialised(SMALL, torch.Generator().manual_seed(1)).checkpoint_state()


def test_what_is_saved_is_read_again(state: dict[str, Tensor], tmp_path: Path) -> None:
    card = Card("tiny", "embedded", {"steps": 12})
    folder = tmp_path / "new" / "folder"
    save_checkpoint(folder, SMALL, state, tokenizer_json="{}", chat_template="{{ 1 }}", card=card, dtype=torch.float32)
    weights = Weights(folder, SparkConfig.from_folder(folder))
    assert all(torch.equal(weights[name], state[name]) for name in state)
    assert read_card(folder) == card
    assert (folder / "chat_template.jinja").read_text(encoding="utf-8") == "{{ 1 }}"


def test_weights_are_saved_in_bfloat16_unless_asked_otherwise(state: dict[str, Tensor], tmp_path: Path) -> None:
    save_checkpoint(tmp_path, SMALL, state, tokenizer_json="{}", chat_template="")
    assert {tensor.dtype for tensor in load_file(tmp_path / "model.safetensors").values()} == {torch.bfloat16}


def test_a_state_of_another_config_is_not_saved(state: dict[str, Tensor], tmp_path: Path) -> None:
    del state[UP]
    with pytest.raises(CheckpointError, match=r"up_proj\.weight is missing from the state to save"):
        save_checkpoint(tmp_path / "x", SMALL, state, tokenizer_json="{}", chat_template="")
    assert not (tmp_path / "x").exists()


PLAN = {name: Planned(torch.float32, (rows, 4)) for name, rows in (("a", 2), ("b", 3), ("c", 9), ("d", 1), ("e", 1))}


def filled(name: str) -> Iterable[Tensor]:
    yield torch.full(PLAN[name].shape, float(ord(name)))


@pytest.mark.parametrize(
    ("limit", "shards"),
    [(10**9, ["abcde"]), (100, ["ab", "c", "de"]), (1, ["a", "b", "c", "d", "e"]), (80, ["ab", "c", "de"])],
)
def test_shards_hold_tensors_in_order_up_to_the_limit(tmp_path: Path, limit: int, shards: list[str]) -> None:
    told: list[str] = []
    write_weights(tmp_path, PLAN, filled, shard_bytes=limit, tell=told.append)
    files = sorted(tmp_path.glob("*.safetensors"))
    assert ["".join(sorted(load_file(file))) for file in files] == shards
    assert len(told) == len(shards)
    index = tmp_path / "model.safetensors.index.json"
    assert index.exists() == (len(shards) > 1)
    if index.exists():
        data = json.loads(index.read_text("utf-8"))
        assert data["metadata"] == {"total_size": 16 * 16}
        assert [data["weight_map"][name] for name in "abcde"] == [
            file.name for file, names in zip(files, shards, strict=True) for _ in names
        ]


def test_older_weights_do_not_stay_beside_new_ones(tmp_path: Path) -> None:
    write_weights(tmp_path, PLAN, filled, shard_bytes=1)
    (tmp_path / "config.json").write_text("{}", "utf-8")
    write_weights(tmp_path, PLAN, filled)
    assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]


def test_an_interrupted_write_leaves_no_config(state: dict[str, Tensor], tmp_path: Path) -> None:
    save_checkpoint(tmp_path, SMALL, state, tokenizer_json="{}", chat_template="")

    def interrupted(name: str) -> Iterable[Tensor]:
        if name == "c":
            raise KeyboardInterrupt
        return filled(name)

    with pytest.raises(KeyboardInterrupt):
        write_weights(tmp_path, PLAN, interrupted)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chat_template.jinja", "tokenizer.json"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OperatorError, match=r"file/x cannot be written: Not a directory"):
        write_weights(tmp_path / "file" / "x", PLAN, filled)
