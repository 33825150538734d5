from __future__ import annotations

from collections import Counter

import pytest

from tests.device_sim.walkthroughs import coverage
from tests.device_sim.walkthroughs.hand import Hand
from tests.device_sim.walkthroughs.table import LONGER, MOST_STEPS, TASKS, WALKS
from tests.device_sim.walkthroughs.walk import Walk, problems

by_name = pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.name)
TASK = {task.name: task for task in TASKS}


@by_name
def test_a_script_does_what_the_task_asks_for_and_nothing_else(walk: Walk) -> None:
    phone = walk.phone()
    before = phone.snapshot()
    assert before["ui/screen"] == "launcher/home"
    hand = Hand(phone)
    answer = walk.script(hand)
    assert problems(walk, before, phone.snapshot(), answer) == []
    assert hand.steps == walk.steps


@by_name
def test_a_phone_that_is_left_alone_is_right_only_where_the_task_asks_for_no_change(walk: Walk) -> None:
    start = walk.phone().snapshot()
    done = problems(walk, start, start, None) == []
    assert done == (TASK[walk.task].asks_for_no_change or walk.variant == "already")


def test_every_task_that_is_not_out_of_reach_has_a_script() -> None:
    assert Counter(task.suite for task in TASKS) == {"template": 60, "AndroidWorld": 116}
    assert [task.name for task in TASKS if task.suite == "template"] == [str(number) for number in range(1, 61)]
    assert sum(not task.reason for task in TASKS if task.suite == "AndroidWorld") == 107
    assert {walk.task for walk in WALKS} == {task.name for task in TASKS if not task.reason}
    assert len({walk.name for walk in WALKS}) == len(WALKS)


def test_no_script_takes_more_actions_than_the_tier_of_its_template_allows() -> None:
    over = {
        walk.task: walk.steps - MOST_STEPS[TASK[walk.task].level]
        for walk in WALKS
        if TASK[walk.task].suite == "template" and walk.steps > MOST_STEPS[TASK[walk.task].level]
    }
    assert over == dict.fromkeys(LONGER, 1)


def test_the_page_of_what_is_covered_is_what_the_tables_say() -> None:
    assert coverage.PAGE.read_text("utf-8") == coverage.page(), "run python -m tests.device_sim.walkthroughs.coverage"
