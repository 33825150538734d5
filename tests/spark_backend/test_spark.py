from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agent_eval.contracts import Model
from agent_eval.errors import ContextOverflow, UnknownName
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
        self.prefixes: list[list[int]] = []
        """What each episode was begun with."""

    def generate(self, prompt: object, stop: frozenset[int], sampling: Sampling) -> TokenGeneration:
        assert isinstance(prompt, list)
        assert sampling.max_tokens > 0
        self.prompts.append(prompt)
        self.stop = stop
        return TokenGeneration(tuple(self.ids), self.finish, Timing(len(prompt), len(prompt), 1.0, 2, 1.0, 1.0))

    def begin(self, prefix: Sequence[int] = ()) -> None:
        self.prefixes.append(list(prefix))


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


def test_the_engine_begins_each_episode_once(checkpoint: Path, tokenizer: SparkTokenizer) -> None:
    model, engine = scripted(checkpoint, tokenizer, "x")
    for _ in range(2):
        model.begin()
        model.generate(HELLO, [], Sampling())
        model.generate([*HELLO, Message("assistant", "x"), Message("user", "more")], [], Sampling())
    assert len(engine.prefixes) == 2


def test_a_model_on_another_engine_speaks_the_same_and_begins_for_itself(
    checkpoint: Path, tokenizer: SparkTokenizer
) -> None:
    model, engine = scripted(checkpoint, tokenizer, "x", thinking=False)
    other = WritingEngine(tokenizer.encode("y"), "stop")
    beside = model.on(other)
    assert [model.generate(HELLO, [], Sampling()).text, beside.generate(HELLO, [], Sampling()).text] == ["x", "y"]
    assert other.prompts == engine.prompts
    assert (other.stop, other.prefixes) == (engine.stop, engine.prefixes)
    assert (model.engine, beside.engine) == (engine, other)


def test_a_model_that_was_never_told_to_begin_begins_with_its_first_prompt(
    checkpoint: Path, tokenizer: SparkTokenizer
) -> None:
    model, engine = scripted(checkpoint, tokenizer, "x")
    model.generate(HELLO, [], Sampling())
    assert len(engine.prefixes) == 1


def test_episodes_share_everything_before_the_first_words_of_the_user(
    checkpoint: Path, tokenizer: SparkTokenizer
) -> None:
    model, engine = scripted(checkpoint, tokenizer, "x")
    for goal in ("Turn on Wi-Fi.", "Call Ada."):
        model.begin()
        model.generate([HELLO[0], Message("user", goal)], [], Sampling())
    assert engine.prefixes[0] == engine.prefixes[1]
    assert tokenizer.decode(engine.prefixes[0]) == "<|start|>system You hold a phone.<|end|><|start|>user "
    assert all(prompt[: len(prefix)] == prefix for prompt, prefix in zip(engine.prompts, engine.prefixes, strict=True))


def test_a_template_that_refuses_a_bare_turn_shares_nothing(tokenizer: SparkTokenizer) -> None:
    template = ChatTemplate(
        "{%- for m in messages %}{%- if not m.content %}{{ raise_exception('empty') }}{%- endif %}{{- m.content }}"
        "{%- endfor %}"
    )
    engine = WritingEngine(tokenizer.encode("x"), "stop")
    model = SparkModel(engine, tokenizer, template, stop=frozenset([1]))
    assert model.generate(HELLO, [], Sampling()).text == "x"
    assert engine.prefixes == [[]]


def test_instructions_are_computed_once_for_all_episodes(checkpoint: Path) -> None:
    model = SparkModel.load(checkpoint, "w4a8", threads=1)
    computed = []
    for goal in ("Turn on Wi-Fi.", "Call Ada."):
        model.begin()
        timing = model.generate([HELLO[0], Message("user", goal)], [], Sampling(max_tokens=1)).timing
        assert timing is not None
        computed.append((timing.prefill_tokens, timing.prompt_tokens))
    assert computed[0][0] == computed[0][1]
    assert computed[1][0] < computed[1][1] - 20


def test_a_step_computes_only_what_is_new(model: SparkModel) -> None:
    model.begin()
    first = model.generate(HELLO, [], Sampling(max_tokens=4))
    second = model.generate([*HELLO, Message("user", "Go on.")], [], Sampling(max_tokens=4))
    assert first.timing is not None
    assert second.timing is not None
    assert second.timing.prompt_tokens > first.timing.prompt_tokens
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


def test_an_unknown_build_is_named(checkpoint: Path) -> None:
    with pytest.raises(UnknownName, match="unknown build 'q4'"):
        SparkModel.load(checkpoint, "q4", threads=1)
