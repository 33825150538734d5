"""What is taught and what is kept away: skins, seeds, and the shares of tasks."""

from __future__ import annotations

import random
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.conditions import SKINS
from agent_eval.curriculum import (
    HELD_OUT_SKINS,
    HELD_OUT_TASKS,
    MOST_PLANS,
    SEEDS_OF_A_PLAN,
    SKINNED,
    TAUGHT_TASKS,
    Use,
    lesson_weights,
    mistakes_by_task,
    seeds,
    training_skin,
)
from agent_eval.tasks import TASKS
from agent_eval.types import Skin


def test_every_task_is_either_taught_or_held_out() -> None:
    assert sorted([*TAUGHT_TASKS, *HELD_OUT_TASKS]) == sorted(TASKS)
    assert {TASKS[name].tier for name in HELD_OUT_TASKS} == {1, 2, 3}


def test_no_taught_skin_has_a_density_or_an_order_of_rows_that_is_held_out() -> None:
    drawn = [training_skin(random.Random(number)) for number in range(4000)]
    held_out = [SKINS[name] for name in HELD_OUT_SKINS]
    assert {skin.density for skin in drawn}.isdisjoint({s.density for s in held_out} - {Skin().density})
    assert {skin.row_order for skin in drawn}.isdisjoint({s.row_order for s in held_out} - {Skin().row_order})
    assert {skin.locale for skin in drawn} == {"en"}
    assert sum(skin != Skin() for skin in drawn) / len(drawn) == pytest.approx(SKINNED, abs=0.04)


@given(st.integers(0, MOST_PLANS - 1), st.integers(0, MOST_PLANS - 1), st.data())
def test_no_two_uses_and_no_two_trainings_share_a_seed(one: int, other: int, data: st.DataObject) -> None:
    uses = st.sampled_from(get_args(Use))
    first, second = (data.draw(uses), one), (data.draw(uses), other)
    if first == second:
        return
    # all that a training may take of one use, short of the few that the scores begin behind
    room = SEEDS_OF_A_PLAN - 100_000
    mine, theirs = (seeds(use, plan, 0, room) for use, plan in (first, second))
    assert mine.stop <= theirs.start or theirs.stop <= mine.start


def test_what_the_model_does_badly_is_taught_more_and_nothing_is_dropped() -> None:
    weights = lesson_weights({"WifiSet": 0.0, "AlarmCreate": 1.0})
    assert 0 < weights["WifiSet"] < 1 < weights["AlarmCreate"]
    assert set(weights) == set(TAUGHT_TASKS)
    assert set(lesson_weights().values()) == {1.0}


def test_mistakes_are_counted_by_task_and_drawn_towards_one_half_where_there_are_few() -> None:
    played = [("WifiSet", True), ("WifiSet", False), ("OpenApp", True)] + [("AlarmCreate", False)] * 98
    assert mistakes_by_task(played) == pytest.approx({"WifiSet": 1 / 2, "OpenApp": 2 / 3, "AlarmCreate": 1 / 100})
    assert mistakes_by_task([]) == {}
