"""Agents that are no model: nothing, chance, and a script."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_eval.actions import GiveUp, Malformed, OpenApp, Reply, Tap, TaskComplete, ToolCall, Wait
from agent_eval.agent import NullAgent, RandomAgent, ScriptedAgent, Scripts
from agent_eval.agent.reference import Line
from agent_eval.errors import OperatorError
from agent_eval.types import Bounds, Element, Observation

SCREEN = Observation(
    (
        Element(0, "row", "Internet", Bounds(0, 0, 10, 10)),
        Element(1, "switch", "Wi\u2011Fi calling", Bounds(0, 10, 10, 20), ("off",)),
        Element(2, "switch", "Wi\u2011Fi", Bounds(0, 20, 10, 30), ("off",)),
    ),
    "Settings",
)


def replies(agent: ScriptedAgent, count: int) -> list[Reply]:
    agent.begin("anything")
    return [agent.decide(SCREEN, None).reply for _ in range(count)]


def test_the_null_agent_declares_whatever_it_sees() -> None:
    agent = NullAgent()
    agent.begin("Turn on Wi-Fi.")
    assert agent.decide(SCREEN, None).reply == ToolCall(TaskComplete())


def test_the_random_agent_makes_the_same_valid_calls_for_the_same_seed_and_goal() -> None:
    def drawn(seed: int, goal: str) -> list[Reply]:
        agent = RandomAgent(seed)
        agent.begin("another goal before")
        agent.begin(goal)
        return [agent.decide(SCREEN, None).reply for _ in range(200)]

    once = drawn(0, "Turn on Wi-Fi.")
    assert once == drawn(0, "Turn on Wi-Fi.")
    assert once != drawn(1, "Turn on Wi-Fi.")
    assert once != drawn(0, "Turn off Wi-Fi.")
    assert all(isinstance(reply, ToolCall) for reply in once)
    assert not any(isinstance(reply, ToolCall) and isinstance(reply.action, GiveUp) for reply in once)
    declared = sum(isinstance(reply, ToolCall) and isinstance(reply.action, TaskComplete) for reply in once)
    assert 5 <= declared <= 40


def test_a_script_names_elements_by_label_or_number_and_waits_at_its_end() -> None:
    lines: list[Line] = [
        {"tool": "open_app", "name": "Settings"},
        {"tool": "tap", "label": "wi-fi"},
        {"tool": "tap", "label": "Inter"},
        {"tool": "tap", "index": 7},
        {"tool": "task_complete", "answer": "15"},
    ]
    assert replies(ScriptedAgent(lines), 6) == [
        ToolCall(OpenApp(app="Settings")),
        ToolCall(Tap(index=2)),
        ToolCall(Tap(index=0)),
        ToolCall(Tap(index=7)),
        ToolCall(TaskComplete(answer="15")),
        ToolCall(Wait()),
    ]


def test_a_line_of_text_is_understood_as_a_models_reply() -> None:
    spoken, called = replies(ScriptedAgent(["Let me see.", "[wait]"]), 2)
    assert isinstance(spoken, Malformed)
    assert spoken.reason == "no_call"
    assert called == ToolCall(Wait(), "bare_name")


@pytest.mark.parametrize(
    "line", [{"tool": "tap", "label": "Bluetooth"}, {"tool": "tap"}, {"tool": "swipe", "index": -1}]
)
def test_a_call_that_cannot_be_made_is_malformed_and_says_why(line: dict[str, object]) -> None:
    (reply,) = replies(ScriptedAgent([line]), 1)
    assert isinstance(reply, Malformed)
    assert reply.reason == "bad_arguments"
    assert reply.detail


def test_a_file_holds_scripts_for_instances_tasks_and_all_others(tmp_path: Path) -> None:
    file = tmp_path / "scripts.json"
    file.write_text(json.dumps({"WifiSet/1": ["a"], "WifiSet": ["b", "c"], "*": ["d", "e", "f"]}))
    scripts = Scripts(file)
    lengths = [
        len(scripts.agent_for(*names).lines)
        for names in (("WifiSet", "WifiSet/1"), ("WifiSet", "WifiSet/2"), ("A", "A/0"))
    ]
    assert lengths == [1, 2, 3]
    file.write_text('["x"]')
    assert len(Scripts(file).agent_for("A", "A/0").lines) == 1
    file.write_text('{"WifiSet": []}')
    assert Scripts(file).agent_for("A", "A/0").lines == ()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("{", "cannot read the script"),
        ('{"WifiSet": "tap"}', "no list of lines for 'WifiSet'"),
        ('{"WifiSet": [{"tool": "fly"}]}', "line 0 for 'WifiSet'"),
        ('{"WifiSet": ["a", 7]}', "line 1 for 'WifiSet'"),
        ('{"WifiSet": [{"tool": ["tap"]}]}', "line 0 for 'WifiSet'"),
        ("7", "no list of lines"),
    ],
)
def test_a_file_of_another_form_is_refused_with_an_example(tmp_path: Path, text: str, named: str) -> None:
    file = tmp_path / "scripts.json"
    file.write_text(text)
    with pytest.raises(OperatorError, match=named) as caught:
        Scripts(file)
    assert '{"tool": "tap", "label": "Internet"}' in caught.value.hint


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="cannot read the script"):
        Scripts(tmp_path / "nowhere.json")
