"""What the embedded model learns from: the oracle's replies, only ever of the training split."""

from __future__ import annotations

import random

import pytest

from agent_eval.actions import TaskComplete, ToolCall
from agent_eval.agent import ModelPolicy, tool_schemas
from agent_eval.contracts import Device, PhoneControl
from agent_eval.demonstrations import WEIGHTS, Demonstration, Noise, demonstrations, drills, play
from agent_eval.tasks import TASKS
from agent_eval.types import Sampling
from agent_eval.wiring import open_sim
from tests.fakes import ScriptedModel, call

NOISY = Noise(episodes=1.0, moves=0.4)


@pytest.fixture(scope="module")
def sim() -> tuple[Device, PhoneControl]:
    return open_sim()


def goals(made: list[Demonstration]) -> set[str]:
    return {message.content.split("\n")[0] for one in made for message in one.messages if message.role == "user"}


def replies(made: Demonstration) -> list[tuple[str, str]]:
    return [(m.reasoning, m.tool_name) for m in made.messages if m.role == "assistant"]


def test_every_task_is_demonstrated() -> None:
    assert set(WEIGHTS) == set(TASKS)


def test_without_noise_the_oracles_way_is_played(sim: tuple[Device, PhoneControl]) -> None:
    made = play(TASKS["WifiSet"].draw(1, "training"), *sim, Noise.none())
    assert made.goal_held
    assert [(e.thought, e.action.name) for e in made.expert if e is not None] == replies(made)
    assert made.expert[-1] is not None
    assert isinstance(made.expert[-1].action, TaskComplete)


def test_with_noise_the_oracles_reply_stays_the_label_at_every_screen(sim: tuple[Device, PhoneControl]) -> None:
    made = list(demonstrations(range(20), *sim, NOISY))
    strayed = [
        one for one in made if replies(one) != [(e.thought, e.action.name) if e else ("", "") for e in one.expert]
    ]
    assert len(strayed) > 10
    assert all(len(one.expert) == len(replies(one)) for one in made)
    assert all(isinstance(e, ToolCall) and e.thought for one in made for e in one.expert if e is not None)


def test_no_goal_of_the_evaluation_is_ever_demonstrated(sim: tuple[Device, PhoneControl]) -> None:
    shown = goals(list(demonstrations(range(1000, 1080), *sim, NOISY)))
    evaluated = {f"Task: {task.draw(seed).goal}" for task in TASKS.values() for seed in range(60)}
    assert shown.isdisjoint(evaluated)


def test_equal_seeds_give_equal_demonstrations(sim: tuple[Device, PhoneControl]) -> None:
    assert list(demonstrations(range(6), *sim, NOISY)) == list(demonstrations(range(6), *open_sim(), NOISY))


def test_a_model_that_plays_is_labelled_by_the_oracle(sim: tuple[Device, PhoneControl]) -> None:
    actor = ModelPolicy(
        ScriptedModel(["no call", call("press_key", key="home"), call("task_complete")]), tool_schemas(), Sampling()
    )
    instance = TASKS["WifiSet"].draw(1, "training")
    made = play(instance, *sim, Noise.none(), random.Random(0), actor)
    assert [tool for _, tool in replies(made)] == ["", "press_key", "task_complete"]
    assert [e.action.name if e else "" for e in made.expert] == ["open_app"] * 3
    assert "Not a tool call" in made.messages[3].content


def test_a_drill_asks_for_the_number_before_a_label() -> None:
    for made in drills(range(20), ["Wi-Fi", "Display", "7:30 AM", "OK", "Battery", "Apps"] * 3):
        screens = [message.content for message in made.messages if message.role in ("user", "tool")]
        for screen, expert in zip(screens, made.expert, strict=True):
            assert expert is not None
            wanted = screen.split("\n")[0].removeprefix("Task: Tap ").removesuffix(".")
            assert f"[{expert.action.model_dump()['index']}] {wanted}" in screen
