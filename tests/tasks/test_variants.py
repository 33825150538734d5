"""A variant is a task under a condition of its own, and its name brings it back."""

from __future__ import annotations

import pytest

from agent_eval.conditions import SKINS
from agent_eval.contracts import Task
from agent_eval.device_sim.faults import FAULTS
from agent_eval.errors import TaskFault, UnknownName
from agent_eval.tasks import SUITES, TASKS, find_task
from agent_eval.tasks.variants import Variant


def test_a_plain_name_is_the_template_itself() -> None:
    assert find_task("WifiSet") is TASKS["WifiSet"]


def test_a_name_says_what_is_fixed_and_what_the_phone_has() -> None:
    variant: Task = find_task("AirplaneSet[start=off;wanted=on]+async_toggle+vendor")
    assert variant.name == "AirplaneSet[start=off;wanted=on]+async_toggle+vendor"
    assert (variant.tier, variant.version) == (TASKS["AirplaneSet"].tier, TASKS["AirplaneSet"].version)
    for seed in range(6):
        instance = variant.draw(seed)
        assert instance.id == f"{variant.name}/{seed}"
        assert (instance.parameters["start"], instance.parameters["wanted"]) == ("off", "on")
    assert isinstance(variant, Variant)
    drawn = variant.draw(0)
    assert (drawn.setup.faults, drawn.setup.skin) == (("async_toggle",), SKINS["vendor"])
    again = find_task(variant.name).draw(0)
    assert (again.goal, again.setup) == (drawn.goal, drawn.setup)


def test_what_the_template_itself_asks_of_the_phone_stays() -> None:
    assert find_task("OpenApp+heads_up").draw(0).setup.faults == (*TASKS["OpenApp"].draw(0).setup.faults, "heads_up")


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("WifiSett", "unknown task 'WifiSett'"),
        ("WifiSet[wanted=on", "unknown task"),
        ("WifiSet+", "unknown task"),
        ("WifiSet+cold", "unknown fault or skin 'cold'"),
        ("", "unknown task ''"),
    ],
)
def test_a_name_that_nothing_answers_to_is_refused_with_those_that_exist(name: str, named: str) -> None:
    with pytest.raises(UnknownName) as caught:
        find_task(name)
    assert named in str(caught.value)


def test_a_parameter_that_is_never_drawn_is_refused_with_one_that_is() -> None:
    with pytest.raises(TaskFault, match="never drew") as caught:
        find_task("WifiSet[wanted=purple]").draw(0)
    assert "wanted" in caught.value.hint


def test_the_robustness_suite_has_every_task_once_and_every_fault() -> None:
    names = [name.partition("+") for name in SUITES["robustness"].tasks]
    assert [task for task, _, _ in names] == list(TASKS)
    assert {fault for _, _, fault in names} == set(FAULTS)


def test_the_reference_suite_has_the_studys_six_tasks_in_five_variants() -> None:
    suite = SUITES["reference"]
    assert len(suite.tasks) == 30
    for name in suite.tasks:
        assert find_task(name).draw(0).goal
