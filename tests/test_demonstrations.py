"""What the embedded model learns from: the oracle's replies, only ever of the training split."""

from __future__ import annotations

import random

import pytest

from agent_eval.actions import PressKey, TaskComplete, ToolCall
from agent_eval.agent import ModelPolicy, tool_schemas
from agent_eval.contracts import Decision, Device, PhoneControl
from agent_eval.curriculum import lesson_weights
from agent_eval.demonstrations import (
    MOST_MISTAKES,
    Demonstration,
    Noise,
    demonstrations,
    play,
    taught_instances,
)
from agent_eval.errors import ContextOverflow
from agent_eval.tasks import SPLITS, TASKS
from agent_eval.types import ActionResult, Observation, Sampling
from agent_eval.wiring import open_sim
from tests.fakes import ScriptedModel, call

NOISY = Noise(episodes=1.0, moves=0.4)
OTHERS = tuple(split for split in SPLITS if split != "training")


class Full:
    """A policy that goes home, until there is no more room."""

    def __init__(self, after: int) -> None:
        self._left = after

    def begin(self, goal: str) -> None:
        del goal

    def decide(self, observation: Observation, result: ActionResult | None) -> Decision:
        del observation, result
        self._left -= 1
        if self._left < 0:
            raise ContextOverflow("full", hint="none")
        return Decision(ToolCall(PressKey(key="home"), thought="home"), "", None)


@pytest.fixture(scope="module")
def sim() -> tuple[Device, PhoneControl]:
    return open_sim()


def lessons(seeds: range, sim: tuple[Device, PhoneControl]) -> list[Demonstration]:
    return list(demonstrations(taught_instances(seeds, lesson_weights()), *sim, NOISY))


def goals(made: list[Demonstration]) -> set[str]:
    return {message.content.split("\n")[0] for one in made for message in one.messages if message.role == "user"}


def replies(made: Demonstration) -> list[tuple[str, str]]:
    return [(m.reasoning, m.tool_name) for m in made.messages if m.role == "assistant"]


def test_without_noise_the_oracles_way_is_played(sim: tuple[Device, PhoneControl]) -> None:
    made = play(TASKS["WifiSet"].draw(1, "training"), *sim, Noise.none())
    assert (made.task, made.mistakes) == ("WifiSet", 0)
    assert [(e.thought, e.action.name) for e in made.expert if e is not None] == replies(made)
    assert made.expert[-1] is not None
    assert isinstance(made.expert[-1].action, TaskComplete)


def test_with_noise_the_oracles_reply_stays_the_label_at_every_screen(sim: tuple[Device, PhoneControl]) -> None:
    made = lessons(range(20), sim)
    strayed = [
        one for one in made if replies(one) != [(e.thought, e.action.name) if e else ("", "") for e in one.expert]
    ]
    assert len(strayed) > 10
    assert all(len(one.expert) == len(replies(one)) for one in made)
    assert all(isinstance(e, ToolCall) and e.thought for one in made for e in one.expert if e is not None)


def test_no_goal_of_the_evaluation_is_ever_demonstrated(sim: tuple[Device, PhoneControl]) -> None:
    shown = goals(lessons(range(1000, 1080), sim))
    others = {f"Task: {task.draw(n, split).goal}" for task in TASKS.values() for split in OTHERS for n in range(60)}
    assert shown.isdisjoint(others)


def test_equal_seeds_give_equal_demonstrations(sim: tuple[Device, PhoneControl]) -> None:
    assert lessons(range(6), sim) == lessons(range(6), open_sim())


def test_a_model_that_plays_is_labelled_by_the_oracle(sim: tuple[Device, PhoneControl]) -> None:
    actor = ModelPolicy(
        ScriptedModel(["no call", call("press_key", key="home"), call("task_complete")]), tool_schemas(), Sampling()
    )
    instance = TASKS["WifiSet"].draw(1, "training")
    made = play(instance, *sim, Noise.none(), random.Random(0), actor)
    assert [tool for _, tool in replies(made)] == ["", "press_key", "task_complete"]
    assert [e.action.name if e else "" for e in made.expert] == ["open_app"] * 3
    assert "Not a tool call" in made.messages[3].content
    assert made.mistakes == 3


def test_a_model_that_only_makes_mistakes_stops_playing(sim: tuple[Device, PhoneControl]) -> None:
    actor = ModelPolicy(ScriptedModel(["no call"] * 20), tool_schemas(), Sampling())
    made = play(TASKS["AlarmCreate"].draw(1, "training"), *sim, Noise.none(), random.Random(0), actor)
    assert made.mistakes == len(made.expert) == MOST_MISTAKES


def test_a_model_whose_context_is_full_stops_playing(sim: tuple[Device, PhoneControl]) -> None:
    made = play(TASKS["AlarmCreate"].draw(1, "training"), *sim, Noise.none(), random.Random(0), Full(after=2))
    assert len(made.expert) == 2
    assert [message.role for message in made.messages] == ["system", "user", "assistant", "tool", "assistant"]
