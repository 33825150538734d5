from __future__ import annotations

from collections import defaultdict

import pytest

from agent_eval.errors import TaskFault, UnknownName
from agent_eval.tasks.split import SPLITS, Split, draw_in_split, random_of, split_of
from agent_eval.tasks.suites import TASKS
from agent_eval.tasks.task import LANGUAGES

SEEDS = range(120)
TIMED = ("AlarmCreate", "AlarmToggle", "AlarmAlready", "AlarmDelete")


def test_no_sentence_and_no_rich_parameter_is_in_both_splits() -> None:
    sentences: dict[str, set[str]] = defaultdict(set)
    rich: dict[str, set[object]] = defaultdict(set)
    for name, task in TASKS.items():
        for split in SPLITS:
            for seed in SEEDS:
                instance = task.draw(seed, split)
                sentences[split].add(instance.goal.casefold())
                if name in TIMED:
                    rich[split].add(instance.parameters["time"])
                if instance.parameters.get("asked") == "battery_level":
                    rich[split].add(instance.parameters["answer"])
    assert not sentences["evaluation"] & sentences["training"]
    assert not rich["evaluation"] & rich["training"]
    assert min(len(sentences[split]) for split in SPLITS) > 150


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", [name for name, task in TASKS.items() if "wanted" in task.draw(0).parameters])
def test_every_direction_of_a_task_occurs_in_both_splits_in_several_wordings(name: str, language: str) -> None:
    wordings: dict[tuple[str, object], set[str]] = defaultdict(set)
    for split in SPLITS:
        for seed in SEEDS:
            instance = TASKS[name].draw(seed, split, language)
            wordings[split, instance.parameters["wanted"]].add(instance.goal)
    assert len(wordings) == 4
    assert min(len(goals) for goals in wordings.values()) >= 2


@pytest.mark.parametrize("name", [name for name, task in TASKS.items() if "start" in task.draw(0).parameters])
def test_a_toggle_without_a_twin_starts_either_way_for_either_wish(name: str) -> None:
    cells = {(one.parameters["start"], one.parameters["wanted"]) for one in map(TASKS[name].draw, SEEDS)}
    if f"{name}Already" in TASKS:
        assert all(start != wanted for start, wanted in cells)
    elif "already_true" in TASKS[name].traits:
        assert all(start == wanted for start, wanted in cells)
    else:
        assert len(cells) >= 2


@pytest.mark.parametrize("name", TASKS)
def test_two_seeds_differ_and_one_seed_repeats(name: str) -> None:
    draws = [TASKS[name].draw(seed) for seed in range(12)]
    assert len({draw.setup.seed for draw in draws}) == 12
    assert len({(draw.goal, tuple(sorted(draw.setup.state.items()))) for draw in draws}) > 8
    again = TASKS[name].draw(3)
    assert (again.goal, again.setup, again.budget) == (draws[3].goal, draws[3].setup, draws[3].budget)


def test_the_same_seed_draws_another_world_in_each_split() -> None:
    assert random_of("evaluation", "WifiSet", 1).random() != random_of("training", "WifiSet", 1).random()


def test_about_a_quarter_of_all_keys_belongs_to_the_evaluation() -> None:
    share = sum(split_of(f"key {number}") == "evaluation" for number in range(4000)) / 4000
    assert 0.22 < share < 0.28


def test_an_empty_split_is_a_fault_that_names_the_task() -> None:
    key = "one sentence"
    other: Split = "training" if split_of(key) == "evaluation" else "evaluation"
    with pytest.raises(TaskFault, match=r"task 'Lone' drew .* never within split"):
        draw_in_split(
            other, "Lone", random_of(other, "Lone", 0), lambda rng: rng.random(), lambda _: split_of(key) == other
        )


def test_an_unknown_split_is_named_with_those_that_exist() -> None:
    with pytest.raises(UnknownName, match="unknown split 'test'; expected one of: evaluation, training"):
        TASKS["WifiSet"].draw(0, "test")
