from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.config import SparkConfig
from agent_eval.spark_backend.loader import (
    Card,
    Weights,
    checkpoint_digest,
    checkpoint_kind,
    read_card,
    save_checkpoint,
    synthetic_checkpoint,
)
from agent_eval.spark_backend.model import Spark
from tests.spark_backend.configs import SMALL

UP = "model.layers.2.mlp.up_proj.weight"


@pytest.fixture
def folder(checkpoint: Path, tmp_path: Path) -> Path:
    """A copy of the shared checkpoint that a test may break."""
    return Path(shutil.copytree(checkpoint, tmp_path / "copy"))


def refused(folder: Path, config: SparkConfig = SMALL) -> CheckpointError:
    with pytest.raises(CheckpointError) as caught:
        Weights(folder, config)
    assert caught.value.hint
    return caught.value


def tensors_of(folder: Path) -> dict[str, Tensor]:
    return dict(load_file(folder / "model.safetensors"))


def shard(folder: Path, count: int = 3) -> None:
    """Split the weights into shards with an index, as large checkpoints are published."""
    tensors = tensors_of(folder)
    (folder / "model.safetensors").unlink()
    where = {name: f"model-{i % count + 1:05}-of-{count:05}.safetensors" for i, name in enumerate(sorted(tensors))}
    for file in sorted(set(where.values())):
        save_file({name: tensor for name, tensor in tensors.items() if where[name] == file}, folder / file)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": where}), encoding="utf-8")


def test_every_tensor_of_the_config_is_read(checkpoint: Path) -> None:
    weights = Weights(checkpoint, SMALL)
    assert {name: tuple(tensor.shape) for name, tensor in weights.items()} == SMALL.tensor_shapes()
    assert len(weights) == len(SMALL.tensor_shapes())


def test_shards_read_like_one_file(checkpoint: Path, folder: Path) -> None:
    shard(folder)
    whole, parts = Weights(checkpoint, SMALL), Weights(folder, SMALL)
    assert whole.keys() == parts.keys()
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


def test_what_is_saved_is_read_again(tmp_path: Path) -> None:
    state = Spark.initialised(SMALL, torch.Generator().manual_seed(1)).checkpoint_state()
    card = Card("tiny", "embedded", {"steps": 12})
    folder = tmp_path / "new" / "folder"
    save_checkpoint(folder, SMALL, state, tokenizer_json="{}", chat_template="{{ 1 }}", card=card, dtype=torch.float32)
    weights = Weights(folder, SparkConfig.from_folder(folder))
    assert all(torch.equal(weights[name], state[name]) for name in state)
    assert read_card(folder) == card
    assert (folder / "chat_template.jinja").read_text(encoding="utf-8") == "{{ 1 }}"


def test_weights_are_saved_in_bfloat16_unless_asked_otherwise(checkpoint: Path) -> None:
    assert {tensor.dtype for tensor in tensors_of(checkpoint).values()} == {torch.bfloat16}


def test_a_state_of_another_config_is_not_saved(tmp_path: Path) -> None:
    state = Spark.initialised(SMALL, torch.Generator().manual_seed(1)).checkpoint_state()
    del state[UP]
    with pytest.raises(CheckpointError, match=r"up_proj\.weight is missing from the state to save"):
        save_checkpoint(tmp_path / "x", SMALL, state, tokenizer_json="{}", chat_template="")
    assert not (tmp_path / "x").exists()


def test_a_missing_tensor_is_named_with_its_shape(folder: Path) -> None:
    tensors = tensors_of(folder)
    del tensors[UP]
    save_file(tensors, folder / "model.safetensors")
    assert f"tensor {UP} is missing" in refused(folder).message
    assert "expected shape [96, 64]" in refused(folder).message


def test_a_tensor_of_another_shape_is_named_with_both(folder: Path) -> None:
    tensors = tensors_of(folder)
    tensors[UP] = tensors[UP][:, :32].contiguous()
    save_file(tensors, folder / "model.safetensors")
    assert f"tensor {UP} in model.safetensors has shape [96, 32], expected [96, 64]" in refused(folder).message


def test_a_tensor_of_another_type_is_named(folder: Path) -> None:
    tensors = tensors_of(folder)
    tensors[UP] = tensors[UP].to(torch.int8)
    save_file(tensors, folder / "model.safetensors")
    assert f"tensor {UP} in model.safetensors is of type I8, expected one of: BF16, F32" in refused(folder).message


def test_a_tensor_too_many_is_named(folder: Path) -> None:
    tensors = tensors_of(folder)
    tensors["model.layers.4.mlp.up_proj.weight"] = tensors[UP].clone()
    save_file(tensors, folder / "model.safetensors")
    assert "tensor model.layers.4.mlp.up_proj.weight" in refused(folder).message
    assert "not part of this architecture" in refused(folder).message


def test_a_second_copy_of_the_tied_head_is_ignored(folder: Path) -> None:
    tensors = tensors_of(folder)
    tensors["lm_head.weight"] = torch.zeros(3, 3)
    save_file(tensors, folder / "model.safetensors")
    assert "lm_head.weight" not in Weights(folder, SMALL)


@pytest.mark.parametrize("kept", [0, 4, 100, 5000, -1])
def test_a_file_that_is_cut_off_is_named(folder: Path, kept: int) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:kept])
    error = refused(folder)
    assert f"{path} cannot be read as safetensors" in error.message
    assert "cut off" in error.hint


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "consolidated.00.pth"])
def test_a_pickle_is_never_loaded(folder: Path, name: str) -> None:
    (folder / "model.safetensors").rename(folder / name)
    error = refused(folder)
    assert f"as a pickle ({name}), expected model.safetensors" in error.message
    assert "never loaded" in error.message


def test_a_folder_without_weights_is_named(folder: Path, tmp_path: Path) -> None:
    (folder / "model.safetensors").unlink()
    assert "no model.safetensors and no model.safetensors.index.json in" in refused(folder).message
    assert f"{tmp_path / 'nowhere'} is no folder" in refused(tmp_path / "nowhere").message


def test_a_missing_shard_is_named(folder: Path) -> None:
    shard(folder)
    (folder / "model-00002-of-00003.safetensors").unlink()
    assert "names the shard 'model-00002-of-00003.safetensors', which is not in" in refused(folder).message


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ("{", "cannot be read as JSON"),
        ("[]", "holds a list, expected a JSON object"),
        ('{"weight_map": {}}', "weight_map is {}"),
        ('{"weight_map": {"a": 1}}', "weight_map is {'a': 1}"),
        ('{"weight_map": {"a": "../config.json"}}', "names the shard 'config.json'"),
    ],
)
def test_an_index_that_is_none_is_named(folder: Path, index: str, message: str) -> None:
    shard(folder)
    (folder / "model.safetensors.index.json").write_text(index, encoding="utf-8")
    assert message in refused(folder).message


class TestCard:
    def test_a_checkpoint_without_a_card_counts_as_published(self, folder: Path) -> None:
        (folder / "card.json").unlink()
        assert read_card(folder) == Card(name="copy", kind="published")
        assert checkpoint_kind(folder) == "published"

    def test_a_synthetic_checkpoint_says_so(self, checkpoint: Path) -> None:
        assert checkpoint_kind(checkpoint) == "synthetic"

    def test_an_unknown_kind_is_named(self, folder: Path) -> None:
        (folder / "card.json").write_text('{"kind": "mine"}', encoding="utf-8")
        with pytest.raises(CheckpointError, match="kind is 'mine', expected one of: embedded, published, synthetic"):
            read_card(folder)

    def test_a_card_that_is_no_json_is_named(self, folder: Path) -> None:
        (folder / "card.json").write_text("name: x", encoding="utf-8")
        with pytest.raises(CheckpointError, match=r"card\.json cannot be read as JSON"):
            read_card(folder)


class TestDigest:
    def test_equal_seeds_give_equal_digests(self, checkpoint: Path, tmp_path: Path) -> None:
        synthetic_checkpoint(tmp_path / "same", SMALL, seed=7)
        synthetic_checkpoint(tmp_path / "other", SMALL, seed=8)
        assert checkpoint_digest(tmp_path / "same") == checkpoint_digest(checkpoint)
        assert checkpoint_digest(tmp_path / "other") != checkpoint_digest(checkpoint)

    @pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json", "chat_template.jinja"])
    def test_every_file_that_decides_counts(self, checkpoint: Path, folder: Path, name: str) -> None:
        assert checkpoint_digest(folder) == checkpoint_digest(checkpoint)
        with (folder / name).open("ab") as file:
            file.write(b" ")
        assert checkpoint_digest(folder) != checkpoint_digest(checkpoint)

    def test_the_card_does_not_count(self, checkpoint: Path, folder: Path) -> None:
        (folder / "card.json").unlink()
        assert checkpoint_digest(folder) == checkpoint_digest(checkpoint)

    def test_a_missing_file_is_named(self, folder: Path) -> None:
        (folder / "tokenizer.json").unlink()
        with pytest.raises(CheckpointError, match=r"tokenizer\.json cannot be read"):
            checkpoint_digest(folder)


def test_a_synthetic_checkpoint_needs_room_for_its_bytes(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="at least 264 tokens, got vocab_size=263"):
        synthetic_checkpoint(tmp_path / "x", replace(SMALL, vocab_size=263), seed=0)
