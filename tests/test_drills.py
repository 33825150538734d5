"""Drills: each can be answered from what its screen shows, and none tells what is kept from training."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from agent_eval.actions import Tap, TaskComplete, ToolCall, TypeText
from agent_eval.drills import drills
from agent_eval.tasks import SPLITS, TASKS
from agent_eval.tasks.families.clock import time_key
from agent_eval.tasks.families.clock_expert import TimeOfDay
from agent_eval.tasks.split import split_of

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
        (line,) = (line for line in screen.split("\n") if line.startswith(f"[{reply.action.index}] "))
        assert thing in line
        assert reply.thought.startswith(thing)


def test_a_drill_asks_for_a_day_as_a_goal_does_without_its_weekday() -> None:
    days = [(thing, screen, reply) for _, thing, screen, reply in drilled() if re.fullmatch(r"[A-Z][a-z]+ \d+", thing)]
    assert len(days) > 10
    for thing, screen, reply in days:
        assert re.search(rf"\[\d+\] \w+day, {thing}, \d+", screen)
        assert reply.thought == thing


def test_a_drill_taps_a_switch_only_when_it_is_not_as_wanted() -> None:
    compared = [(thing, screen, reply) for verb, thing, screen, reply in drilled() if verb == "Put"]
    assert {type(reply.action) for _, _, reply in compared} == {Tap, TaskComplete}
    for thing, screen, reply in compared:
        label, wanted = thing.rsplit(" ", 1)
        as_wanted = f"{label} (switch, {wanted})" in screen
        assert isinstance(reply.action, TaskComplete) == as_wanted
        assert reply.thought.startswith(f"want {wanted}, {label} (switch, o")
        assert f"] {reply.thought.removeprefix(f'want {wanted}, ')}" in screen


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
