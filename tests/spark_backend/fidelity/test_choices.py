from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest
import torch

from agent_eval.actions import TOOLS
from agent_eval.agent import tool_schemas
from agent_eval.spark_backend.fidelity.choices import tool_paths
from agent_eval.spark_backend.fidelity.follower import Follower
from agent_eval.spark_backend.spark import SparkModel
from agent_eval.spark_backend.tokenizer import SparkTokenizer
from agent_eval.wiring import EMBEDDED


@pytest.fixture(scope="module", params=["nano", "bytes"])
def tokenizer(request: pytest.FixtureRequest, checkpoint: Path) -> SparkTokenizer:
    """One whose tokens hold names and tags at once, and one of single bytes."""
    return SparkTokenizer.from_folder(EMBEDDED["nano"] if request.param == "nano" else checkpoint)


def test_every_tool_has_sequences_and_each_writes_its_name(tokenizer: SparkTokenizer) -> None:
    paths = tool_paths(tokenizer, tool_schemas())
    assert list(paths) == list(TOOLS)
    for name, several in paths.items():
        assert several
        assert all(tokenizer.decode(path).startswith(f"<tool_call>{name}") for path in several)


def test_no_sequence_is_the_beginning_of_another(tokenizer: SparkTokenizer) -> None:
    every = [path for several in tool_paths(tokenizer, tool_schemas()).values() for path in several]
    assert not any(one == other[: len(one)] for one, other in permutations(every, 2))


def test_names_that_begin_alike_are_told_apart_by_what_follows(checkpoint: Path) -> None:
    tokenizer = SparkTokenizer.from_folder(checkpoint)
    tools = [
        {"type": "function", "function": {"name": name, "parameters": {"properties": {"x": {}}, "required": ["x"]}}}
        for name in ("tap", "tap_twice")
    ]
    paths = tool_paths(tokenizer, tools)
    assert [tokenizer.decode(path) for path in paths["tap"]] == ["<tool_call>tap<"]
    assert [tokenizer.decode(path) for path in paths["tap_twice"]] == ["<tool_call>tap_twice"]


def test_tokens_that_hold_a_name_with_its_first_argument_are_all_found() -> None:
    tokenizer = SparkTokenizer.from_folder(EMBEDDED["nano"])
    paths = tool_paths(tokenizer, tool_schemas())
    found = {tokenizer.decode(path) for path in paths["task_complete"]}
    assert found == {
        "<tool_call>task_complete</tool_call>",
        "<tool_call>task_complete<arg_key>answer</arg_key><arg_value>",
    }


def test_the_probability_of_a_tool_is_that_of_its_sequences_computed_one_by_one(checkpoint: Path) -> None:
    follower = Follower(SparkModel.load(checkpoint, "fp32", threads=1))
    tokenizer, engine = follower.model.tokenizer, follower.engine
    paths = tool_paths(tokenizer, tool_schemas())
    prompt = tokenizer.encode("What now? ")
    first = follower.follow(prompt, [0])[0]
    found = follower.log_probabilities(prompt, first, paths)
    for name, several in paths.items():
        chances = []
        for path in several:
            engine.begin()
            rows = engine.logits([*prompt, *path]).double().log_softmax(dim=-1)
            taken = [rows[len(prompt) - 1 + place, token] for place, token in enumerate(path)]
            chances.append(torch.stack(taken).sum())
        assert found[name] == pytest.approx(float(torch.logsumexp(torch.stack(chances), 0)), abs=1e-3)
