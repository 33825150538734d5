"""The page of all tasks says what the suite has."""

from __future__ import annotations

from agent_eval.tasks import TASKS
from tests.device_sim.walkthroughs.table import TASKS as WORLD
from tests.tasks.task_page import PAGE, page


def test_the_page_of_tasks_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == page(), "write it anew: python -m tests.tasks.task_page"


def test_a_task_stands_for_tasks_of_androidworld_that_this_phone_is_enough_for() -> None:
    reachable = {task.name for task in WORLD if task.suite == "AndroidWorld" and not task.reason}
    named = [world for task in TASKS.values() for world in task.android_world]
    assert set(named) <= reachable
    assert len(set(named)) == len(named), "one template stands for a task, not two"
