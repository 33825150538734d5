"""The grammar of calls as a text, and who may be asked for one. What it accepts is tested beside vLLM."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agent_eval.agent import tool_schemas
from agent_eval.errors import EngineFault
from agent_eval.spark_backend.builds import load_build
from agent_eval.spark_backend.chat import ChatTemplate
from agent_eval.spark_backend.constrain import grammar
from agent_eval.spark_backend.spark import SparkModel
from agent_eval.spark_backend.tokenizer import SparkTokenizer
from agent_eval.types import Message, Sampling, Timing, TokenGeneration

TOOLS = tool_schemas()


class AskedEngine:
    """An engine that writes nothing and keeps how it was asked to choose."""

    def __init__(self) -> None:
        self.asked: list[tuple[frozenset[int], Sampling]] = []

    def begin(self, prefix: Sequence[int] = ()) -> None:
        pass

    def generate(self, prompt: Sequence[int], stop: frozenset[int], sampling: Sampling) -> TokenGeneration:
        self.asked.append((stop, sampling))
        return TokenGeneration((), "stop", Timing(len(prompt), len(prompt), 1.0, 0, 0.0, 1.0))


def tool(value: object) -> list[dict[str, Any]]:
    parameters = {"type": "object", "properties": {"key": value}}
    return [{"type": "function", "function": {"name": "press", "parameters": parameters}}]


def test_equal_tools_have_one_grammar_and_thinking_adds_to_it() -> None:
    assert grammar(TOOLS, thinking=False) == grammar(tool_schemas(), thinking=False)
    assert "\nstart: call\n" in grammar(TOOLS, thinking=False)
    assert "\nstart: thought call\n" in grammar(TOOLS, thinking=True)


def test_no_tools_can_be_called() -> None:
    with pytest.raises(EngineFault, match="there are no tools"):
        grammar([], thinking=True)


@pytest.mark.parametrize(
    "value",
    [
        {"type": "string", "pattern": "[a-z]+"},
        {"type": "string", "minLength": 1},
        {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/Key"}]},
        {},
    ],
)
def test_what_the_grammar_cannot_say_is_refused_with_the_argument_that_asks_for_it(value: object) -> None:
    with pytest.raises(EngineFault, match=r"the schema of press\.key is "):
        grammar(tool(value), thinking=False)


@pytest.mark.parametrize("thinking", [True, False])
def test_a_constrained_model_asks_for_calls_of_the_tools_and_leaves_the_rest_as_it_was(
    checkpoint: Path, *, thinking: bool
) -> None:
    engine, asked = AskedEngine(), Sampling(temperature=0.5, seed=3, max_tokens=9)
    tokenizer, template = SparkTokenizer.from_folder(checkpoint), ChatTemplate.from_folder(checkpoint)
    for constrained in (False, True):
        model = SparkModel(
            engine, tokenizer, template, stop=frozenset([1]), thinking=thinking, constrained=constrained
        ).on(engine)
        model.generate([Message("user", "Turn on Wi-Fi.")], TOOLS, asked)
    held = Sampling(temperature=0.5, seed=3, max_tokens=9, grammar=grammar(TOOLS, thinking=thinking))
    assert engine.asked == [(frozenset([1]), asked), (frozenset([1]), held)]


def test_an_engine_that_cannot_hold_a_reply_to_a_grammar_refuses_it(checkpoint: Path) -> None:
    engine = load_build(checkpoint, "bf16", threads=1, context=64).engine
    with pytest.raises(EngineFault, match="the sampling holds a grammar, expected none"):
        engine.generate([5], frozenset(), Sampling(max_tokens=1, grammar="start: /a/"))
