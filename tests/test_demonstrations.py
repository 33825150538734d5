"""What the embedded model learns from: the oracle's replies, only ever of the training split."""

from __future__ import annotations

import random
from difflib import SequenceMatcher

import pytest

from agent_eval.actions import PressKey, Tap, TaskComplete, ToolCall, TypeText
from agent_eval.agent import ModelPolicy, tool_schemas
from agent_eval.contracts import Decision, Device, PhoneControl
from agent_eval.curriculum import lesson_weights
from agent_eval.demonstrations import (
    MOST_MISTAKES,
    Demonstration,
    Noise,
    demonstrations,
    drills,
    play,
    taught_instances,
)
from agent_eval.errors import ContextOverflow
from agent_eval.tasks import SPLITS, TASKS
from agent_eval.tasks.families.clock import time_key
from agent_eval.tasks.families.clock_expert import TimeOfDay
from agent_eval.tasks.split import split_of
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


LABELS = ["Wi-Fi", "Display", "OK", "Battery", "Apps", "Bluetooth", "Dark theme"]


def drilled() -> list[tuple[str, str, str, ToolCall]]:
    """Return verb and object of the goal, the screen, and the reply, of many drills."""
    found = []
    for made in drills(range(400), LABELS):
        screens = [message.content for message in made.messages if message.role in ("user", "tool")]
        for screen, expert in zip(screens, made.expert, strict=True):
            assert expert is not None
            verb, thing = screen.split("\n")[0].removeprefix("Task: ").removesuffix(".").split(" ", 1)
            found.append((verb, thing, screen, expert))
    return found


def test_a_drill_asks_for_the_number_before_a_label() -> None:
    looked_up = [(thing, screen, reply) for verb, thing, screen, reply in drilled() if verb == "Tap"]
    assert len(looked_up) > 100
    for thing, screen, reply in looked_up:
        assert isinstance(reply.action, Tap)
        assert f"[{reply.action.index}] {thing}" in screen


def test_a_drill_taps_a_switch_only_when_it_is_not_as_wanted() -> None:
    compared = [(thing, screen, reply) for verb, thing, screen, reply in drilled() if verb == "Put"]
    assert {type(reply.action) for _, _, reply in compared} == {Tap, TaskComplete}
    for thing, screen, reply in compared:
        label, wanted = thing.rsplit(" ", 1)
        as_wanted = f"{label} (switch, {wanted})" in screen
        assert isinstance(reply.action, TaskComplete) == as_wanted
        assert reply.thought.startswith(f"{label}: ")
        assert reply.thought.endswith(f", want {wanted}")


def test_a_drill_reads_a_value_off_the_screen() -> None:
    read = [(thing, screen, reply) for verb, thing, screen, reply in drilled() if verb == "Read"]
    assert len(read) > 10
    for thing, screen, reply in read:
        assert isinstance(reply.action, TaskComplete)
        assert f"{thing}: {reply.action.answer} (row)" in screen


def test_a_drill_types_what_its_sentence_says_into_the_field_that_it_names() -> None:
    typed = [(screen, reply) for _, _, screen, reply in drilled() if isinstance(reply.action, TypeText)]
    assert len(typed) > 50
    for screen, reply in typed:
        assert isinstance(reply.action, TypeText)
        assert reply.action.text in screen.split("\n")[0]
        assert f"[{reply.action.index}] {reply.thought} (field)" in screen


def test_what_a_drill_asks_for_often_stands_among_names_that_differ_in_one_part() -> None:
    def alike(screen: str, thing: str) -> int:
        labels = {line.partition("] ")[2].partition(" (")[0] for line in screen.split("\n") if line.startswith("[")}
        return sum(SequenceMatcher(None, label, thing).ratio() > 0.6 for label in labels - {thing})

    tapped = [alike(screen, thing) for verb, thing, screen, _ in drilled() if verb == "Tap"]
    assert sum(count > 0 for count in tapped) > len(tapped) / 4


def test_no_drill_asks_for_a_time_of_day_of_the_evaluation() -> None:
    times = [TimeOfDay.parse(thing.removesuffix(" on").removesuffix(" off")) for _, thing, _, _ in drilled()]
    asked = [time for time in times if time is not None]
    assert len(asked) > 30
    assert {split_of(time_key(time)) for time in asked} == {"training"}


def test_no_drill_uses_a_sentence_of_a_task() -> None:
    goals_of_tasks = {task.draw(seed, split).goal for task in TASKS.values() for split in SPLITS for seed in range(40)}
    assert goals_of_tasks.isdisjoint(f"{verb} {thing}." for verb, thing, _, _ in drilled())
