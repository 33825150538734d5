"""Records grouped by task: what instances of one task share is kept together."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from agent_eval.records import EpisodeRecord
from agent_eval.reports.by_task import RunByTask, by_task_of
from agent_eval.reports.stats import Pairs, clustered_difference, sign_flip
from tests.reports.builders import LETTERS, episode, manifest


def records(letters: Mapping[str, tuple[str, ...]]) -> list[EpisodeRecord]:
    """Return a record for each letter: a string for each task, a letter for each instance; ``.`` leaves one out."""
    return [
        episode(*LETTERS[letter], build=build, task=f"Task{task}", seed=seed, block=10 * task + seed)
        for build, tasks in letters.items()
        for task, instances in enumerate(tasks)
        for seed, letter in enumerate(instances)
        if letter != "."
    ]


def grouped(**letters: tuple[str, ...]) -> RunByTask:
    return by_task_of(manifest(tuple(letters), tasks=4, instances=2), records(letters))


def test_tasks_that_are_passed_or_failed_as_a_whole_are_worth_one_episode_each() -> None:
    (build,) = grouped(bf16=("SS", "NN", "SS", "NN")).builds
    assert (build.tasks, build.episodes, build.success.estimate) == (4, 8, 0.5)
    assert build.correlation == 1
    assert build.worth == pytest.approx(4)


def test_tasks_that_are_passed_half_are_worth_all_their_episodes() -> None:
    (build,) = grouped(bf16=("SN", "NS", "SN", "NS")).builds
    assert build.correlation == 0
    assert build.worth == 8
    assert build.all_passed.estimate == 0


def test_all_instances_passed_counts_tasks_and_not_episodes() -> None:
    found = grouped(bf16=("SS", "SN", "SS", "NN"))
    assert found.each == 2
    assert (found.builds[0].all_passed.estimate, found.builds[0].all_passed.n) == (0.5, 4)


def test_with_fewer_instances_of_one_task_only_as_many_are_asked_of_all() -> None:
    found = grouped(bf16=("SS", "S."), w4a8=("SN", "SS"))
    assert found.each == 1
    assert [build.all_passed.estimate for build in found.builds] == [1.0, 0.75]


def test_pairs_are_grouped_by_task_and_harness_errors_left_out() -> None:
    (pair,) = grouped(bf16=("SS", "SS", "NN", "SE"), w4a8=("NN", "SS", "NS", "SS")).pairs
    of_tasks = [Pairs(2, 0, 2), Pairs(0, 0, 2), Pairs(0, 1, 2), Pairs(0, 0, 1)]
    assert pair.build == "w4a8"
    assert pair.difference == clustered_difference(of_tasks, manifest().configuration.seed)
    assert pair.p_value == sign_flip(of_tasks, 0)


def test_nothing_judged_groups_nothing() -> None:
    found = grouped(bf16=("EE",), w4a8=("EE",))
    assert (found.each, found.builds, found.pairs) == (0, (), ())
