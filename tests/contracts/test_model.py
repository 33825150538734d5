"""What every ``Model`` and ``Policy`` promises. Implementations: Spark on its engine, and the script of the tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agent_eval.actions import Malformed, ToolCall
from agent_eval.agent import ModelPolicy, tool_schemas
from agent_eval.contracts import Model
from agent_eval.spark_backend.spark import SparkModel
from agent_eval.types import Bounds, Element, Message, Observation, Sampling
from tests.fakes import ScriptedModel, call, tiny_checkpoint

TALK = (Message("system", "s"), Message("user", "Task: x"))


def spark(folder: Path) -> Model:
    tiny_checkpoint(folder, seed=1)
    return SparkModel.load(folder, "bf16", threads=1)


MODELS: dict[str, Callable[[Path], Model]] = {
    "spark": spark,
    "script": lambda _: ScriptedModel([call("wait"), "nothing", call("task_complete")]),
}


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Model:
    made = MODELS[request.param](tmp_path)
    made.begin()
    return made


def test_a_generation_counts_its_tokens_and_its_time(model: Model) -> None:
    made = model.generate(TALK, tool_schemas(), Sampling(max_tokens=5))
    assert made.tokens > 0
    assert made.timing is not None
    assert made.timing.prefill_tokens <= made.timing.prompt_tokens
    assert made.timing.first_token_s >= 0


def test_an_episode_depends_on_nothing_before_it(model: Model) -> None:
    def episode() -> list[str]:
        model.begin()
        first = model.generate(TALK, (), Sampling(max_tokens=4)).text
        longer = (*TALK, Message("assistant", first.replace("<", "")), Message("user", "more"))
        return [first, model.generate(longer, (), Sampling(max_tokens=4)).text]

    first = episode()
    model.begin()
    model.generate((Message("user", "something else entirely"),), (), Sampling(max_tokens=4))
    assert episode() == first


def test_a_policy_turns_every_reply_into_a_call_or_a_malformed_one(model: Model) -> None:
    policy = ModelPolicy(model, tool_schemas(), Sampling(max_tokens=4))
    screen = Observation((Element(0, "switch", "Wi-Fi", Bounds(0, 0, 1, 1), ("off",)),), "Settings")
    policy.begin("Turn on Wi-Fi.")
    for _ in range(3):
        decision = policy.decide(screen, None)
        assert isinstance(decision.reply, ToolCall | Malformed)
        assert decision.generation is not None
        assert decision.prompt.startswith("Task: Turn on Wi-Fi.\n")
