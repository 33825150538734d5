from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from agent_eval.errors import OperatorError
from agent_eval.spark_backend.calibration import MOST_TOKENS, SEQUENCE_TOKENS, Calibration, Readings, read_texts
from agent_eval.spark_backend.chat import ChatTemplate
from agent_eval.spark_backend.checkpoints.loader import open_weights
from agent_eval.spark_backend.checkpoints.synthetic import SYNTHETIC_TEMPLATE
from agent_eval.spark_backend.model import Spark
from agent_eval.spark_backend.quant.dense import Unquantised
from agent_eval.spark_backend.quant.gptq import Hessian
from agent_eval.spark_backend.quant.rows import RowSource
from agent_eval.spark_backend.tokenizer import SparkTokenizer
from tests.spark_backend.configs import SMALL


@pytest.fixture(scope="module")
def tokenizer(checkpoint: Path) -> SparkTokenizer:
    return SparkTokenizer.from_folder(checkpoint)


def text(length: int, first: int = 0) -> str:
    return "".join(chr(97 + (first + i * i) % 26) for i in range(length))


def test_texts_are_cut_into_sequences_up_to_a_limit(tokenizer: SparkTokenizer) -> None:
    found = Calibration.of_texts((text(1200, first) for first in range(1000)), tokenizer, "here")
    assert found.tokens == MOST_TOKENS
    assert {len(part) for part in found.sequences[:-1]} <= {SEQUENCE_TOKENS, 1200 - 2 * SEQUENCE_TOKENS}
    assert found.origin == "here"


def test_what_texts_have_in_common_is_read_once(tokenizer: SparkTokenizer) -> None:
    prefix = text(SEQUENCE_TOKENS)
    found = Calibration.of_texts([prefix + text(300, 1), prefix + text(300, 2)], tokenizer, "here")
    assert [len(part) for part in found.sequences] == [SEQUENCE_TOKENS, 300, 300]


def test_too_little_text_is_refused(tokenizer: SparkTokenizer) -> None:
    with pytest.raises(OperatorError, match="the calibration 'notes' has 20 tokens, expected at least 128"):
        Calibration.of_texts([text(20)], tokenizer, "notes")


def test_a_file_is_lines_of_text_or_json_lines(tmp_path: Path) -> None:
    template = ChatTemplate(SYNTHETIC_TEMPLATE)
    plain, lines = tmp_path / "a.txt", tmp_path / "a.jsonl"
    plain.write_text('one\n\n{"text": "two"}\n', "utf-8")
    turns = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "World"}]
    lines.write_text(json.dumps({"text": "one"}) + "\n" + json.dumps({"messages": turns}) + "\n", "utf-8")
    assert read_texts(plain, template) == ["one", '{"text": "two"}']
    assert read_texts(lines, template) == ["one", "<|start|>user Hello<|end|><|start|>assistant World<|end|>"]


@pytest.mark.parametrize(
    "line", ["{", "[1]", "{}", '{"text": 3}', '{"messages": [{"role": "user"}]}', '{"messages": 4}']
)
def test_a_line_that_is_neither_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"text": "fine"}\n' + line + "\n", "utf-8")
    with pytest.raises(OperatorError, match=r"bad\.jsonl, line 2: .*expected an object with text, or messages"):
        read_texts(path, ChatTemplate(SYNTHETIC_TEMPLATE))


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "a.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(OperatorError, match=r"a\.txt cannot be read as text"):
        read_texts(path, ChatTemplate(SYNTHETIC_TEMPLATE))


class Listening(nn.Module):
    """A layer that keeps what it was given."""

    def __init__(self, weight: Tensor, heard: list[Tensor]) -> None:
        super().__init__()
        self.weight, self.heard = weight, heard

    def forward(self, x: Tensor) -> Tensor:
        self.heard.append(x)
        return nn.functional.linear(x, self.weight)


class Ear:
    """A scheme that writes down the inputs of every layer."""

    activation = torch.bfloat16

    def __init__(self) -> None:
        self.heard: dict[str, list[Tensor]] = {}

    def linear(self, name: str, source: RowSource) -> nn.Module:
        return Listening(source.rows(0, source.shape[0]).bfloat16(), self.heard.setdefault(name, []))


def test_the_inputs_that_are_collected_are_those_of_the_model(checkpoint: Path, tokenizer: SparkTokenizer) -> None:
    weights = open_weights(checkpoint, SMALL)
    calibration = Calibration.of_texts([text(90), text(70, 3)], tokenizer, "here")
    table = weights["model.embedding.weight"]
    readings = Readings(SMALL, weights, calibration, lambda ids: table[ids], compiled=False)
    collected: dict[str, Hessian] = {}
    for index in range(SMALL.num_hidden_layers):
        collected |= readings.inputs_of(index)
        readings.advance(index, Unquantised(torch.bfloat16, compiled=False))
    collected["lm_head"] = readings.inputs_of_head()

    ear = Ear()
    model = Spark(SMALL, weights, ear)
    with torch.inference_mode():
        for ids in calibration.sequences:
            model.logits(model(torch.tensor([ids])))
    assert collected.keys() == ear.heard.keys()
    for name, heard in ear.heard.items():
        x = np.concatenate([part.float().numpy().reshape(-1, part.shape[-1]) for part in heard])
        assert collected[name].tokens == len(x) == 160
        expected = x.T @ x / len(x)
        assert np.abs(collected[name].mean().numpy() - expected).max() <= 0.02 * np.abs(expected).max(), name
