"""Repetitions on the real phone: none of the useful ones may be taken for a loop, all of the others must be."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_eval.actions import Action, OpenApp, TaskComplete
from agent_eval.agent.misbehaving import Agent
from agent_eval.contracts import Policy
from agent_eval.episode import NO_LIMITS, EpisodeLimits
from agent_eval.outcome import Loop
from agent_eval.records import EpisodeRecord
from agent_eval.tasks import TaskInstance
from agent_eval.types import Observation
from tests.tasks.looping import BENIGN, MALIGN, NO_CALL, SEED, Repetition
from tests.tasks.scenes import facts, follows, play, scene, told

STOPPING = EpisodeLimits(stop_on_loop=True)


def setting(row: Repetition, steps: int) -> TaskInstance:
    return scene(row.name, steps=steps, seed=SEED, state=row.state, without=row.without, faults=row.faults)


def agent(row: Repetition) -> Policy:
    return follows(*row.moves, then=row.then) if row.then else follows(*row.moves)


def name_of(row: object) -> str:
    assert isinstance(row, Repetition)
    return row.name


@pytest.mark.parametrize("row", BENIGN, ids=name_of)
def test_what_gets_on_is_no_loop_and_is_never_stopped(row: Repetition) -> None:
    record = play(setting(row, 40), agent(row), STOPPING)
    assert record.outcome.stop == "declared", told(record)
    assert facts(record).loop is None, told(record)
    assert len(record.steps) == len(row.moves) + 1


def played(row: Repetition, limits: EpisodeLimits = NO_LIMITS) -> EpisodeRecord:
    return play(setting(row, 26), agent(row), limits)


@pytest.mark.parametrize("row", MALIGN, ids=name_of)
def test_what_goes_round_is_a_loop_from_where_it_begins_to_the_end(row: Repetition) -> None:
    record = played(row)
    assert record.outcome.stop == "step_budget", told(record)
    assert facts(record).loop == Loop(row.period, row.first_step, at_end=True), told(record)


@pytest.mark.parametrize("row", MALIGN, ids=name_of)
def test_what_goes_round_is_stopped_after_four_equal_actions_or_three_rounds(row: Repetition) -> None:
    record = played(row, STOPPING)
    assert record.outcome.stop == "loop_stop", told(record)
    assert len(record.steps) == row.stops_after, told(record)


@pytest.mark.parametrize("row", MALIGN, ids=name_of)
def test_what_went_round_and_was_left_is_a_loop_no_more(row: Repetition) -> None:
    rounds = row.then * (row.stops_after // len(row.then) + 1)
    record = play(setting(row, 40), follows(*row.moves, *rounds, OpenApp(app="Recipes"), TaskComplete()))
    assert facts(record).loop == Loop(row.period, row.first_step, at_end=False), told(record)


def test_the_loop_under_notifications_was_found_though_the_numbers_of_the_elements_moved() -> None:
    (row,) = [row for row in MALIGN if "come and go" in row.name]
    numbers = {step.arguments["index"] for step in played(row).steps if "Legal" in step.target}
    assert len(numbers) > 1


def test_trying_once_more_after_a_dump_that_was_old_is_no_loop() -> None:
    retried = 0

    def choose(screen: Observation, step: int) -> Action:
        nonlocal retried
        if screen.app == "Settings":
            return TaskComplete()
        retried += step > 0
        return OpenApp(app="Settings")

    for seed in range(8):
        record = play(scene(seed=seed, faults=("stale_tree",)), Agent(choose), STOPPING)
        assert (record.outcome.stop, facts(record).loop) == ("declared", None), told(record)
    assert retried > 1


def test_replies_that_are_no_calls_end_an_episode_before_they_make_a_loop() -> None:
    record = play(scene(), follows(then=(NO_CALL,)), STOPPING)
    assert (record.outcome.stop, len(record.steps)) == ("invalid_stop", 3)
    assert facts(record).loop is None


PAGE = (Path(__file__).parents[2] / "docs" / "concepts" / "loops.md").read_text("utf-8")


def test_the_page_about_loops_shows_both_tables_as_they_are() -> None:
    benign = [f"| {row.name} | {row.why} |" for row in BENIGN]
    malign = [f"| {row.name} | {row.period} | {row.why} |" for row in MALIGN]
    for heading, rows in (("## What is no loop", benign), ("## What is a loop", malign)):
        lines = PAGE.partition(heading)[2].partition("\n## ")[0].splitlines()
        assert [line for line in lines if line.startswith("| ")][2:] == rows
