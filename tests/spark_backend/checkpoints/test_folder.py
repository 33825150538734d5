"""Which files a checkpoint has, and what a folder is called that is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.folder import MAX_JSON_BYTES, not_there, read_json, weight_files

SHARDS = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]


def index(folder: Path, weight_map: object) -> None:
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}), encoding="utf-8")


def refused(folder: Path) -> CheckpointError:
    with pytest.raises(CheckpointError) as caught:
        weight_files(folder)
    assert caught.value.hint
    return caught.value


def test_one_file_is_found(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").touch()
    assert weight_files(tmp_path) == [tmp_path / "model.safetensors"]


def test_shards_are_found_in_order(tmp_path: Path) -> None:
    for name in SHARDS:
        (tmp_path / name).touch()
    index(tmp_path, {"b": SHARDS[1], "a": SHARDS[0], "c": SHARDS[1]})
    assert weight_files(tmp_path) == [tmp_path / name for name in SHARDS]


def test_missing_shards_are_named_and_counted(tmp_path: Path) -> None:
    index(tmp_path, {"a": SHARDS[0], "b": SHARDS[1]})
    assert (
        f"names the shard '{SHARDS[0]}', which is not in {tmp_path} (2 of 2 are missing)" in refused(tmp_path).message
    )
    (tmp_path / SHARDS[0]).touch()
    assert (
        f"names the shard '{SHARDS[1]}', which is not in {tmp_path} (1 of 2 are missing)" in refused(tmp_path).message
    )


@pytest.mark.parametrize(
    "name",
    [
        "../model.safetensors",
        "/etc/model.safetensors",
        "sub/model.safetensors",
        "..\\model.safetensors",
        "..",
        "",
        "a\0.safetensors",
        "model.bin",
    ],
)
def test_an_index_names_files_beside_it_only(tmp_path: Path, name: str) -> None:
    (tmp_path.parent / "model.safetensors").touch()
    index(tmp_path, {"a": name})
    assert f"names the shard {name!r}, expected the name of a .safetensors file beside it" in refused(tmp_path).message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "cannot be read as JSON"),
        ("[]", "holds a list, expected a JSON object"),
        ("{}", "weight_map is None, expected an object"),
        ('{"weight_map": {}}', "weight_map is {}"),
        ('{"weight_map": {"a": 1}}', "weight_map is {'a': 1}"),
        ('{"weight_map": ["a"]}', "weight_map is ['a']"),
    ],
)
def test_an_index_that_is_none_is_named(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "model.safetensors.index.json").write_text(content, encoding="utf-8")
    assert message in refused(tmp_path).message


def adapter(folder: Path) -> None:
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "XHToken/Spark-X2.5-1.7B"}', "utf-8")
    (folder / "adapter_model.safetensors").touch()


def broken_adapter(folder: Path) -> None:
    (folder / "adapter_config.json").write_text("{", "utf-8")


def pickle(folder: Path) -> None:
    (folder / "pytorch_model.bin").touch()


def gguf(folder: Path) -> None:
    (folder / "Spark-X2.5-1.7B-Q4_K_M.gguf").touch()


def inner(folder: Path) -> None:
    (folder / "snapshot").mkdir()
    (folder / "snapshot" / "config.json").touch()


def empty(folder: Path) -> None:
    assert folder.is_dir()


OTHER_FOLDERS: list[tuple[Callable[[Path], None], str, str]] = [
    (
        adapter,
        "is a LoRA adapter (adapter_config.json), expected a whole model",
        "base model, XHToken/Spark-X2.5-1.7B,",
    ),
    (broken_adapter, "is a LoRA adapter", "merge it into its base model (peft"),
    (pickle, "holds its weights as a pickle (pytorch_model.bin), expected model.safetensors", "where you trust"),
    (gguf, "holds its weights as GGUF (Spark-X2.5-1.7B-Q4_K_M.gguf), expected model.safetensors", "q4_k_m"),
    (inner, "no model.safetensors and no model.safetensors.index.json in", "pass the folder inside"),
    (empty, "no model.safetensors and no model.safetensors.index.json in", "a checkpoint folder holds config.json"),
]


@pytest.mark.parametrize(("make", "message", "hint"), OTHER_FOLDERS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_folder_that_is_something_else_is_called_what_it_is(
    tmp_path: Path, make: Callable[[Path], None], message: str, hint: str
) -> None:
    make(tmp_path)
    error = refused(tmp_path)
    assert message in error.message
    assert str(tmp_path) in error.message
    assert hint in error.hint


@pytest.mark.parametrize("make", [adapter, pickle, gguf])
def test_it_is_called_so_already_where_the_config_is_missed(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path)
    expected = refused(tmp_path).message
    with pytest.raises(CheckpointError) as caught:
        SparkConfig.from_folder(tmp_path)
    assert caught.value.message == expected


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "consolidated.00.pth", "last.ckpt", "x.pkl"])
def test_a_pickle_is_never_loaded(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    assert f"as a pickle ({name})" in refused(tmp_path).message
    assert "a pickle is never loaded" in refused(tmp_path).message


def test_what_is_no_folder_is_named(tmp_path: Path) -> None:
    assert refused(tmp_path / "nowhere").message == f"{tmp_path / 'nowhere'} is no folder"
    file = tmp_path / "Spark.gguf"
    file.touch()
    assert "GGUF (Spark.gguf)" in not_there(file, "x").message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff", "cannot be read as JSON"),
        (b"[" * 100_000, "cannot be read as JSON"),
        (b'{"a": ' + b"9" * 5000 + b"}", "cannot be read as JSON"),
        (b"1", "holds a int, expected a JSON object"),
    ],
)
def test_a_file_that_is_no_object_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(CheckpointError, match=message):
        read_json(tmp_path / "x.json")


def test_a_file_of_gigabytes_is_not_read_as_json(tmp_path: Path) -> None:
    with (tmp_path / "x.json").open("wb") as file:
        file.truncate(MAX_JSON_BYTES + 1)
    with pytest.raises(CheckpointError, match="has 67108865 bytes, expected at most 67108864"):
        read_json(tmp_path / "x.json")
