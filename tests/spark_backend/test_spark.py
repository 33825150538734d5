from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from agent_eval.contracts import Model
from agent_eval.errors import CheckpointError, ContextOverflow, UnknownName
from agent_eval.spark_backend.chat import ChatTemplate
from agent_eval.spark_backend.spark import END_OF_TURN, SparkModel, special_tokens, stop_tokens
from agent_eval.spark_backend.tokenizer import SparkTokenizer
from agent_eval.types import FinishReason, Message, Sampling, Timing, TokenGeneration
from tests.spark_backend.configs import SMALL

HELLO = [Message("system", "You hold a phone."), Message("user", "Turn on Wi-Fi.")]


class WritingEngine:
    """An engine that writes given tokens and keeps what it was asked."""

    def __init__(self, ids: list[int], finish: FinishReason) -> None:
        self.ids = ids
        self.finish = finish
        self.prompts: list[list[int]] = []
        self.stop: frozenset[int] = frozenset()
        self.resets = 0

    def generate(self, prompt: object, stop: frozenset[int], sampling: Sampling) -> TokenGeneration:
        assert isinstance(prompt, list)
        assert sampling.max_tokens > 0
        self.prompts.append(prompt)
        self.stop = stop
        return TokenGeneration(tuple(self.ids), self.finish, Timing(len(prompt), len(prompt), 1.0, 2, 1.0, 1.0))

    def reset(self) -> None:
        self.resets += 1


@pytest.fixture(scope="module")
def tokenizer(checkpoint: Path) -> SparkTokenizer:
    return SparkTokenizer.from_folder(checkpoint)


@pytest.fixture(scope="module")
def model(checkpoint: Path) -> SparkModel:
    return SparkModel.load(checkpoint, "w4a8", threads=1)


def scripted(
    checkpoint: Path, tokenizer: SparkTokenizer, text: str, finish: FinishReason = "stop", *, thinking: bool = True
) -> tuple[SparkModel, WritingEngine]:
    engine = WritingEngine(tokenizer.encode(text), finish)
    template = ChatTemplate.from_folder(checkpoint)
    return SparkModel(engine, tokenizer, template, stop=frozenset([1]), thinking=thinking), engine


def test_it_is_a_model(model: SparkModel) -> None:
    implemented: Model = model
    implemented.begin()
    generation = implemented.generate(HELLO, [], Sampling(max_tokens=5))
    assert generation.tokens <= 5
    assert generation.timing is not None


@pytest.mark.parametrize(("finish", "extra"), [("stop", 1), ("length", 0)])
def test_the_text_keeps_special_tokens_and_counts_the_one_that_ended_it(
    checkpoint: Path, tokenizer: SparkTokenizer, finish: FinishReason, extra: int
) -> None:
    text = "Wi-Fi</think><tool_call>tap</tool_call>"
    model, _ = scripted(checkpoint, tokenizer, text, finish)
    generation = model.generate(HELLO, [], Sampling())
    assert generation.text == text
    assert generation.finish == finish
    assert generation.tokens == len(tokenizer.encode(text)) + extra


@pytest.mark.parametrize(("thinking", "opening"), [(True, "<think>"), (False, "</think>")])
def test_the_prompt_is_the_rendered_conversation(
    checkpoint: Path, tokenizer: SparkTokenizer, thinking: bool, opening: str
) -> None:
    model, engine = scripted(checkpoint, tokenizer, "x", thinking=thinking)
    model.generate(HELLO, [], Sampling())
    expected = (
        "<|start|>system You hold a phone.<|end|><|start|>user Turn on Wi-Fi.<|end|><|start|>assistant " + opening
    )
    assert tokenizer.decode(engine.prompts[0]) == expected


def test_a_new_episode_resets_the_engine(checkpoint: Path, tokenizer: SparkTokenizer) -> None:
    model, engine = scripted(checkpoint, tokenizer, "x")
    model.begin()
    model.generate(HELLO, [], Sampling())
    model.generate(HELLO, [], Sampling())
    model.begin()
    assert engine.resets == 2


def test_a_step_computes_only_what_is_new(model: SparkModel) -> None:
    model.begin()
    first = model.generate(HELLO, [], Sampling(max_tokens=4))
    second = model.generate([*HELLO, Message("user", "Go on.")], [], Sampling(max_tokens=4))
    assert first.timing is not None
    assert second.timing is not None
    assert first.timing.prefill_tokens == first.timing.prompt_tokens
    assert second.timing.prefill_tokens < second.timing.prompt_tokens - 40


@pytest.mark.parametrize("build", ["bf16", "w4a16", "w4a8"])
def test_an_episode_gives_the_same_texts_again(checkpoint: Path, build: str) -> None:
    def episode(model: SparkModel) -> list[str]:
        model.begin()
        history, texts = list(HELLO), []
        for i in range(3):
            texts.append(model.generate(history, [], Sampling(max_tokens=12)).text)
            history += [Message("assistant", texts[-1]), Message("user", f"screen {i}")]
        return texts

    one, other = (SparkModel.load(checkpoint, build, threads=1) for _ in range(2))
    first = episode(one)
    one.generate([Message("user", "something else")], [], Sampling(max_tokens=3))
    assert episode(one) == first
    assert episode(other) == first


def test_a_conversation_that_does_not_fit_overflows(checkpoint: Path) -> None:
    model = SparkModel.load(checkpoint, "bf16", threads=1, context=60)
    with pytest.raises(ContextOverflow):
        model.generate([Message("user", "x" * 100)], [], Sampling())


def test_the_notes_are_those_of_the_build(model: SparkModel) -> None:
    assert "8-bit per token" in model.notes


def test_turns_end_at_the_end_of_sequence_and_at_the_end_of_turn(checkpoint: Path, tokenizer: SparkTokenizer) -> None:
    assert stop_tokens(SMALL, tokenizer) == {1}
    several = replace(SMALL, eos_token_ids=(1, 9))
    assert stop_tokens(several, tokenizer) == {1, 9}
    content = (checkpoint / "tokenizer.json").read_text(encoding="utf-8").replace("<unused3>", END_OF_TURN)
    published = SparkTokenizer.from_json(content)
    assert stop_tokens(SMALL, published) == {1, published.token_id(END_OF_TURN)}


def test_templates_get_special_tokens_by_name(tokenizer: SparkTokenizer) -> None:
    assert special_tokens(SMALL, tokenizer) == {"bos_token": "<|start|>", "eos_token": "<|end|>", "pad_token": "<pad>"}
    assert special_tokens(replace(SMALL, pad_token_id=None), tokenizer).keys() == {"bos_token", "eos_token"}


def test_a_tokenizer_with_more_tokens_than_the_model_is_named(checkpoint: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(checkpoint, tmp_path / "copy"))
    path = folder / "tokenizer.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["model"]["vocab"]["<extra>"] = 320
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(CheckpointError, match=r"tokenizer\.json has 321 tokens, expected at most vocab_size, 320"):
        SparkModel.load(folder, "bf16", threads=1)


def test_an_unknown_build_is_named(checkpoint: Path) -> None:
    with pytest.raises(UnknownName, match="unknown build 'q4'"):
        SparkModel.load(checkpoint, "q4", threads=1)
