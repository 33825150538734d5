from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.loader import Weights
from agent_eval.spark_backend.checkpoints.writer import save_checkpoint
from agent_eval.spark_backend.llama.convert import START_TOKEN, convert
from agent_eval.spark_backend.llama.mixture import MIXTURES, tensors
from tests.spark_backend.configs import SMALL
from tests.spark_backend.llama.blocks import dequantised
from tests.spark_backend.llama.conftest import Gguf
from tests.spark_backend.llama.reading import read_gguf


def test_the_bf16_file_holds_the_bytes_of_the_checkpoint(checkpoint: Path, gguf: Gguf) -> None:
    read, weights = read_gguf(gguf("llama-bf16")), Weights(checkpoint, SMALL)
    for tensor in tensors(SMALL, MIXTURES["llama-bf16"]):
        weight = weights[tensor.origin]
        expected = (weight.float() if weight.dim() == 1 else weight).contiguous().view(torch.uint8).numpy().tobytes()
        assert read.bytes_of(tensor.name, len(expected)) == expected, tensor.name
        assert read.tensors[tensor.name].sizes == tuple(weight.shape[::-1])


def test_the_number_of_threads_changes_nothing(checkpoint: Path, gguf: Gguf, tmp_path: Path) -> None:
    convert(checkpoint, MIXTURES["llama-fp32"], tmp_path / "three.gguf", threads=3)
    assert (tmp_path / "three.gguf").read_bytes() == gguf("llama-fp32").read_bytes()


def test_progress_is_told(checkpoint: Path, tmp_path: Path) -> None:
    told: list[str] = []
    convert(checkpoint, MIXTURES["llama-bf16"], tmp_path / "any.gguf", tell=told.append)
    assert told[0] == "any.gguf: tensor 0 of 34"
    assert 5 < len(told) < 20


@pytest.mark.peers
def test_the_quantised_file_holds_the_checkpoint_in_blocks(checkpoint: Path, gguf: Gguf) -> None:
    pytest.importorskip("xllamacpp")
    read, weights = read_gguf(gguf("q4_k_m")), Weights(checkpoint, SMALL)
    for tensor in tensors(SMALL, MIXTURES["q4_k_m"]):
        if len(tensor.shape) == 1:
            continue
        data = read.bytes_of(tensor.name, tensor.type.bytes_of(tensor.shape))
        back = torch.from_numpy(dequantised(data, tensor.type, (tensor.shape[0], tensor.shape[1])))
        weight = weights[tensor.origin].double()
        assert (back - weight).norm() < 0.06 * weight.norm(), tensor.name


def test_a_tokenizer_that_llama_would_read_otherwise_is_left_out(gguf: Gguf) -> None:
    metadata = read_gguf(gguf("llama-bf16")).metadata
    assert metadata["tokenizer.ggml.model"] == "none"
    assert "tokenizer.ggml.tokens" not in metadata


def test_the_published_tokenizer_is_written_for_other_programs(checkpoint: Path, tmp_path: Path) -> None:
    folder = tmp_path / "published"
    shutil.copytree(checkpoint, folder)
    content = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    content["added_tokens"][0]["content"] = START_TOKEN
    content["model"]["merges"] = [["a", "b"], "c d"]
    (folder / "tokenizer.json").write_text(json.dumps(content), "utf-8")
    convert(folder, MIXTURES["llama-bf16"], tmp_path / "model.gguf")
    metadata = read_gguf(tmp_path / "model.gguf").metadata
    assert (metadata["tokenizer.ggml.model"], metadata["tokenizer.ggml.pre"]) == ("gpt2", "spark2_5")
    assert len(metadata["tokenizer.ggml.tokens"]) == len(metadata["tokenizer.ggml.token_type"]) == SMALL.vocab_size
    assert (metadata["tokenizer.ggml.tokens"][0], metadata["tokenizer.ggml.token_type"][0]) == (START_TOKEN, 3)
    assert metadata["tokenizer.ggml.merges"] == ["a b", "c d"]
    assert metadata["tokenizer.chat_template"] == (folder / "chat_template.jinja").read_text("utf-8")


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_named_and_leave_no_file(
    checkpoint: Path, tmp_path: Path, wrong: float
) -> None:
    config = SparkConfig.from_folder(checkpoint)
    state = {name: tensor.clone() for name, tensor in Weights(checkpoint, config).items()}
    state["model.layers.2.mlp.up_proj.weight"][5, 7] = wrong
    texts = {name: (checkpoint / name).read_text("utf-8") for name in ("tokenizer.json", "chat_template.jinja")}
    save_checkpoint(
        tmp_path / "damaged",
        config,
        state,
        tokenizer_json=texts["tokenizer.json"],
        chat_template=texts["chat_template.jinja"],
    )
    with pytest.raises(CheckpointError, match=r"layers\.2\.mlp\.up_proj\.weight holds values that are not finite"):
        convert(tmp_path / "damaged", MIXTURES["llama-bf16"], tmp_path / "out" / "model.gguf")
    assert list((tmp_path / "out").iterdir()) == []
