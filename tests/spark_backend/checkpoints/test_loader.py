from __future__ import annotations

import json
import math
import shutil
import struct
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.loader import Card, Weights, checkpoint_kind, open_weights, read_card
from agent_eval.spark_backend.checkpoints.shapes import SHAPES
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


def test_a_source_stacks_matrices_row_by_row(checkpoint: Path) -> None:
    weights = Weights(checkpoint, SMALL)
    gate, up = "model.layers.1.mlp.gate_proj.weight", "model.layers.1.mlp.up_proj.weight"
    both = weights.source(gate, up)
    assert both.shape == (192, 64)
    assert torch.equal(both.rows(90, 100), torch.cat((weights[gate], weights[up]))[90:100])


def test_matrices_that_lie_together_are_read_in_place(checkpoint: Path) -> None:
    weights = Weights(checkpoint, SMALL)
    gate, up, down = (f"model.layers.1.mlp.{name}_proj.weight" for name in ("gate", "up", "down"))
    assert weights.source(gate, up).rows(0, 192).data_ptr() == weights[gate].data_ptr()
    scattered = weights.source(up, gate).rows(0, 192)
    assert torch.equal(scattered, torch.cat((weights[up], weights[gate])))
    assert weights.source(down).shape == (64, 96)


def test_one_matrix_is_read_in_place(checkpoint: Path) -> None:
    weights = Weights(checkpoint, SMALL)
    assert weights.source(UP).rows(0, 96).data_ptr() == weights[UP].data_ptr()


def test_weights_that_were_released_are_read_again(checkpoint: Path) -> None:
    weights, fresh = Weights(checkpoint, SMALL), Weights(checkpoint, SMALL)
    held = weights[UP]
    weights.release([held])
    assert all(torch.equal(weights[name], fresh[name]) for name in fresh)


def test_an_unquantised_folder_opens_as_its_weights(checkpoint: Path) -> None:
    opened = open_weights(checkpoint, SMALL)
    assert isinstance(opened, Weights)


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


def test_a_shard_that_is_cut_off_is_named_before_any_is_read(folder: Path) -> None:
    shard(folder)
    path = folder / "model-00002-of-00003.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    error = refused(folder)
    assert f"{path} cannot be read as safetensors: tensor" in error.message
    assert "ends at byte" in error.message


def test_a_tensor_in_two_shards_is_named(folder: Path) -> None:
    shard(folder)
    shutil.copy(folder / "model-00001-of-00003.safetensors", folder / "model-00003-of-00003.safetensors")
    assert "lies in model-00001-of-00003.safetensors and in model-00003-of-00003.safetensors" in refused(folder).message


def test_links_into_a_store_are_followed(folder: Path, tmp_path: Path) -> None:
    shard(folder)  # a snapshot of the hub's cache holds links to blobs that lie elsewhere
    (tmp_path / "blobs").mkdir()
    for i, path in enumerate(sorted(folder.glob("*.safetensors"))):
        path.rename(tmp_path / "blobs" / f"{i:064}")
        path.symlink_to(tmp_path / "blobs" / f"{i:064}")
    assert len(Weights(folder, SMALL)) == len(SMALL.tensor_shapes())


def sparse_checkpoint(folder: Path, config: SparkConfig, shards: int) -> None:
    """Write the files of a large checkpoint as holes: as long as real ones, without the gigabytes."""
    shapes = config.tensor_shapes()
    where = {
        name: f"model-{i * shards // len(shapes) + 1:05}-of-{shards:05}.safetensors" for i, name in enumerate(shapes)
    }
    for file in sorted(set(where.values())):
        header, at = {}, 0
        for name in (name for name in shapes if where[name] == file):
            size = 2 * math.prod(shapes[name])
            header[name] = {"dtype": "BF16", "shape": shapes[name], "data_offsets": [at, at + size]}
            at += size
        text = json.dumps(header).encode()
        with (folder / file).open("wb") as stream:
            stream.write(struct.pack("<Q", len(text)) + text)
            stream.truncate(8 + len(text) + at)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": where}), encoding="utf-8")


@pytest.mark.parametrize(("name", "shards"), [("1.7b", 2), ("4b", 3)])
def test_checkpoints_of_the_published_shapes_open_in_no_time_and_no_memory(
    tmp_path: Path, name: str, shards: int
) -> None:
    config = SHAPES[name]
    sparse_checkpoint(tmp_path, config, shards)
    weights = Weights(tmp_path, config)
    qkv = weights.source("model.layers.3.self_attn.q_k_v_proj.weight")
    assert qkv.shape == (config.query_width + 2 * config.key_width, config.hidden_size)
    assert weights["model.layers.3.self_attn.out_proj.weight"].shape == (config.hidden_size, config.query_width)
    assert float(qkv.rows(0, 1).abs().sum()) == 0.0


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
