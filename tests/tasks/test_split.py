from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from itertools import combinations

import pytest

from agent_eval.errors import TaskFault, UnknownName
from agent_eval.tasks.split import SPLITS, Split, draw_in_split, random_of, split_of
from agent_eval.tasks.suites import TASKS
from agent_eval.tasks.task import LANGUAGES, TaskInstance

SEEDS = range(120)
DRAWN = range(42)
"""Seeds of the instances that are held against each other, a third of them in each language."""
TIMED = ("AlarmCreate", "AlarmToggle", "AlarmAlready", "AlarmDelete")
FEW_KINDS = (("OpenApp", "app"), ("DismissNotification", "app"), ("DeviceInfo", "asked"))
"""Tasks and the parameter that says what they ask for, where it is one of a few things that no split may miss."""

BySplit = Mapping[Split, Iterable[Hashable]]


@pytest.fixture(scope="module")
def drawn() -> dict[Split, list[TaskInstance]]:
    """Every task, drawn in every split."""
    return {
        split: [task.draw(seed, split, LANGUAGES[seed % 3]) for task in TASKS.values() for seed in DRAWN]
        for split in SPLITS
    }


def shared(by_split: BySplit) -> set[Hashable]:
    """Return what is in more than one split."""
    held = {split: set(things) for split, things in by_split.items()}
    assert set(held) == set(SPLITS)
    assert all(held.values())
    return {thing for one, other in combinations(SPLITS, 2) for thing in held[one] & held[other]}


def test_no_goal_sentence_is_in_two_splits(drawn: dict[Split, list[TaskInstance]]) -> None:
    sentences = {split: {one.goal.casefold() for one in instances} for split, instances in drawn.items()}
    assert shared(sentences) == set()
    assert min(map(len, sentences.values())) > 1000


def test_no_key_is_in_two_splits_even_of_different_tasks(drawn: dict[Split, list[TaskInstance]]) -> None:
    keys = {split: {key for one in instances for key in one.draft.split_keys} for split, instances in drawn.items()}
    assert shared(keys) == set()
    assert min(map(len, keys.values())) > 400


def test_no_rich_parameter_is_in_two_splits(drawn: dict[Split, list[TaskInstance]]) -> None:
    """Told by the parameters themselves, for tasks of which it is known what must be held apart."""
    times = {
        split: {one.parameters["time"] for one in instances if one.task in TIMED} for split, instances in drawn.items()
    }
    assert shared(times) == set()
    levels = {
        split: {one.parameters["answer"] for one in instances if one.parameters.get("asked") == "battery_level"}
        for split, instances in drawn.items()
    }
    assert shared(levels) == set()


def test_no_two_instances_share_a_source_of_randomness(drawn: dict[Split, list[TaskInstance]]) -> None:
    first = Counter(
        random_of(split, name, seed).getrandbits(64) for split in SPLITS for name in TASKS for seed in SEEDS
    )
    assert max(first.values()) == 1
    phones = {split: {(one.task, one.setup.seed) for one in instances} for split, instances in drawn.items()}
    assert shared(phones) == set()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", TASKS)
def test_every_split_asks_for_every_direction_of_a_task_in_several_wordings(name: str, language: str) -> None:
    wordings: dict[tuple[Split, object], set[str]] = defaultdict(set)
    for split in SPLITS:
        for seed in SEEDS if "wanted" in TASKS[name].draw(0).parameters else SEEDS[:24]:
            instance = TASKS[name].draw(seed, split, language)
            wordings[split, instance.parameters.get("wanted")].add(instance.goal)
    assert len(wordings) == len(SPLITS) * len({wanted for _, wanted in wordings})
    assert min(len(goals) for goals in wordings.values()) >= 2


@pytest.mark.parametrize(("name", "parameter"), FEW_KINDS)
def test_every_split_asks_for_everything_of_which_there_are_few_kinds(name: str, parameter: str) -> None:
    kinds = {split: {TASKS[name].draw(seed, split).parameters[parameter] for seed in range(400)} for split in SPLITS}
    assert kinds["evaluation"] == kinds["validation"] == kinds["training"]


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
    assert len({random_of(split, "WifiSet", 1).random() for split in SPLITS}) == len(SPLITS)


def test_a_quarter_of_all_keys_belongs_to_the_evaluation_and_a_quarter_of_the_others_to_the_validation() -> None:
    counted = Counter(split_of(f"key {number}") for number in range(8000))
    assert {split: round(16 * count / 8000) for split, count in counted.items()} == {
        "evaluation": 4,
        "validation": 3,
        "training": 9,
    }


def test_an_empty_split_is_a_fault_that_names_the_task() -> None:
    key = "one sentence"
    other: Split = "training" if split_of(key) == "evaluation" else "evaluation"
    with pytest.raises(TaskFault, match=r"task 'Lone' drew .* never within split"):
        draw_in_split(
            other, "Lone", random_of(other, "Lone", 0), lambda rng: rng.random(), lambda _: split_of(key) == other
        )


def test_an_unknown_split_is_named_with_those_that_exist() -> None:
    with pytest.raises(UnknownName, match="unknown split 'test'; expected one of: evaluation, validation, training"):
        TASKS["WifiSet"].draw(0, "test")
