from __future__ import annotations

import subprocess
import sys

import pytest

from agent_eval.tasks import SUITES, TASKS, find_task, suite_digest
from agent_eval.tasks.families.clock_expert import TimeOfDay
from agent_eval.tasks.families.switches import toggle_sentences

TRAITS = {"already_true", "answer", "guard", "infeasible", "multi_app"}


def test_tasks_are_filed_under_their_own_name() -> None:
    assert [task.name for task in TASKS.values()] == list(TASKS)


def test_suites_name_tasks_that_exist() -> None:
    assert SUITES["default"].tasks == tuple(TASKS)
    for suite in SUITES.values():
        assert [find_task(name).name for name in suite.tasks] == list(suite.tasks)


@pytest.mark.parametrize("name", TASKS)
def test_a_task_says_what_it_is(name: str) -> None:
    task = TASKS[name]
    assert task.summary
    assert set(task.traits) <= TRAITS
    steps = [task.draw(seed).draft.oracle_steps for seed in range(20)]
    assert max(steps) <= {1: 4, 2: 8, 3: 15}[task.tier]
    assert all(task.draw(seed).budget == max(8, 2 * task.draw(seed).draft.oracle_steps + 2) for seed in range(5))


@pytest.mark.parametrize("wanted", [True, False])
def test_a_switch_has_at_least_a_dozen_sentences_per_direction(wanted: bool) -> None:
    sentences = toggle_sentences("Wi-Fi", wanted)
    assert len(set(sentences)) == len(sentences) >= 12
    assert not set(sentences) & set(toggle_sentences("Wi-Fi", not wanted))


def test_the_digest_of_a_suite_depends_on_its_instances_and_not_on_their_order() -> None:
    instances = [TASKS[name].draw(seed) for name in TASKS for seed in range(2)]
    assert suite_digest(instances) == suite_digest(reversed(instances))
    assert suite_digest(instances) != suite_digest(instances[1:])
    assert suite_digest([TASKS["WifiSet"].draw(0)]) != suite_digest([TASKS["WifiSet"].draw(1)])


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("12:00 AM", TimeOfDay(0, 0)),
        ("12:05 PM", TimeOfDay(12, 5)),
        ("1:30 PM", TimeOfDay(13, 30)),
        ("11:59 PM", TimeOfDay(23, 59)),
        ("13:00 PM", None),
        ("7:5 AM", None),
        ("Alarm", None),
    ],
)
def test_a_time_reads_as_the_clock_shows_it(text: str, time: TimeOfDay | None) -> None:
    assert TimeOfDay.parse(text) == time
    if time is not None:
        assert time.text == text


def test_the_tasks_load_no_client_and_no_model() -> None:
    code = (
        "import sys, agent_eval.tasks; heavy = {'torch', 'uiautomator2', 'adbutils', 'rich'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
