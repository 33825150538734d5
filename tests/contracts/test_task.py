"""What every ``Task`` and ``Instance`` promises. Implementations: the templates of the suite."""

from __future__ import annotations

import pytest

from agent_eval.contracts import Trace
from agent_eval.tasks import TASKS
from agent_eval.wiring import open_sim


@pytest.mark.parametrize("name", TASKS)
def test_an_instance_is_fixed_by_its_task_and_seed(name: str) -> None:
    first, again = TASKS[name].draw(3), TASKS[name].draw(3)
    assert (first.id, first.goal, dict(first.parameters), first.budget) == (
        again.id,
        again.goal,
        dict(again.parameters),
        again.budget,
    )
    assert first.id == f"{name}/3"
    assert first.budget >= 8


@pytest.mark.parametrize("name", TASKS)
def test_seeds_differ(name: str) -> None:
    _, phone = open_sim()
    starts = set()
    for seed in range(4):
        TASKS[name].draw(seed).prepare(phone)
        starts.add(phone.snapshot())
    assert len(starts) == 4


@pytest.mark.parametrize("name", TASKS)
def test_preparing_twice_gives_the_same_phone(name: str) -> None:
    _, phone = open_sim()
    instance = TASKS[name].draw(5)
    instance.prepare(phone)
    first = phone.snapshot()
    instance.prepare(phone)
    assert phone.snapshot() == first


ONE_MORE = ("TakePhoto",)
"""Tasks that want something new, wherever the phone starts."""


@pytest.mark.parametrize("name", TASKS)
def test_the_goal_holds_at_the_start_only_where_the_task_says_so(name: str) -> None:
    _, phone = open_sim()
    for seed in range(5):
        instance = TASKS[name].draw(seed)
        instance.prepare(phone)
        start, wanted = instance.parameters.get("start"), instance.parameters.get("wanted")
        as_wanted = start is not None and start == wanted and name not in ONE_MORE
        true_already = "already_true" in TASKS[name].traits or as_wanted
        assert instance.goal_holds(phone.snapshot(), phone.snapshot()) == true_already


@pytest.mark.parametrize("name", TASKS)
def test_an_episode_without_steps_is_no_success(name: str) -> None:
    _, phone = open_sim()
    instance = TASKS[name].draw(0)
    instance.prepare(phone)
    outcome = instance.judge(Trace(phone.snapshot(), (), "time_budget"))
    assert outcome.label == "no_completion"
    assert not instance.loop_stops(())
