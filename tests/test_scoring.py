"""The scores of a trained model: on instances that no training draws, in ordinary runs that go on after a kill."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Self

import pytest

from agent_eval.command_line import command_line
from agent_eval.conditions import SKINS
from agent_eval.curriculum import CONDITIONS, HELD_OUT_TASKS, Condition, Use, lesson_weights, seeds
from agent_eval.demonstrations import taught_instances
from agent_eval.errors import OperatorError
from agent_eval.matrix import WorkUnit
from agent_eval.records import EpisodeRecord, RunFolder
from agent_eval.reports.score_record import ScoreRecord
from agent_eval.scoring import (
    INSTANCES,
    MAX_TOKENS,
    MODEL_CARD,
    SCORES,
    SHARE,
    card_text,
    default_out,
    instances_of,
    score,
)
from agent_eval.spark_backend import checkpoint_digest
from agent_eval.tasks import TASKS, TaskInstance
from agent_eval.tasks.split import Split, split_of
from agent_eval.tasks.task import goal_key
from agent_eval.types import Skin
from tests.fakes import tiny_checkpoint

PLAN_SEED = 3
DRAWN = 400
"""Instances of each use that are looked at."""

# ----------------------------------------------------------------------------------------------------------------------
# what the conditions draw, and what training draws


def of_use(use: Use, split: Split = "training") -> list[TaskInstance]:
    return list(taught_instances(seeds(use, PLAN_SEED, 0, DRAWN), lesson_weights(), split))


@pytest.fixture(scope="module")
def taught() -> list[TaskInstance]:
    """What is demonstrated, and what the model plays and is corrected in."""
    return [*of_use("demonstrations"), *of_use("rollouts")]


@pytest.fixture(scope="module")
def watched() -> list[TaskInstance]:
    """What a training is watched by."""
    return of_use("validation", "validation")


def tried(name: str) -> list[TaskInstance]:
    """Return the instances of a condition, each once."""
    condition = CONDITIONS[name]
    chosen = seeds("scores", PLAN_SEED, 0, instances_of(name, INSTANCES))
    return [TASKS[task].draw(seed, condition.split) for task in condition.tasks for seed in chosen]


def goals(instances: Iterable[TaskInstance]) -> set[str]:
    return {goal_key(instance.goal) for instance in instances}


def keys(instances: Iterable[TaskInstance]) -> set[str]:
    return {key for instance in instances for key in instance.draft.split_keys}


def sources(instances: Iterable[TaskInstance]) -> set[tuple[str, int]]:
    """Return what each instance is drawn from, whatever the split."""
    return {(instance.task, instance.seed) for instance in instances}


@pytest.mark.parametrize("name", CONDITIONS)
def test_no_condition_draws_from_a_source_that_training_draws_from(
    name: str, taught: list[TaskInstance], watched: list[TaskInstance]
) -> None:
    assert sources(tried(name)).isdisjoint(sources([*taught, *watched]))


@pytest.mark.parametrize("name", [name for name, condition in CONDITIONS.items() if condition.split == "evaluation"])
def test_what_is_called_unseen_shares_no_sentence_and_no_parameter_with_training(
    name: str, taught: list[TaskInstance], watched: list[TaskInstance]
) -> None:
    seen, found = [*taught, *watched], tried(name)
    assert goals(found).isdisjoint(goals(seen))
    assert keys(found).isdisjoint(keys(seen))
    assert {split_of(key) for key in goals(found) | keys(found)} == {"evaluation"}


def test_in_distribution_is_of_what_is_taught_and_of_nothing_that_training_is_watched_by(
    taught: list[TaskInstance], watched: list[TaskInstance]
) -> None:
    found = tried("in distribution")
    assert {instance.task for instance in found} == {instance.task for instance in taught}
    assert goals(found) & goals(taught), "sentences of simple tasks are few"
    assert goals(found).isdisjoint(goals(watched))
    assert keys(found).isdisjoint(keys(watched))


def test_no_lesson_is_on_a_skin_that_is_called_unseen(taught: list[TaskInstance], watched: list[TaskInstance]) -> None:
    shown = {instance.setup.skin for instance in (*taught, *watched)}
    assert len(shown) > 20
    for name in CONDITIONS["unseen layout"].skins:
        skin = SKINS[name]
        assert skin not in shown
        density, order = skin.density != Skin().density, skin.row_order != Skin().row_order
        assert density or order
        assert not any(density and one.density == skin.density for one in shown)
        assert not any(order and one.row_order == skin.row_order for one in shown)


def test_no_lesson_is_of_a_task_that_is_called_unseen(taught: list[TaskInstance], watched: list[TaskInstance]) -> None:
    assert CONDITIONS["unseen template"].tasks == HELD_OUT_TASKS
    assert {instance.task for instance in (*taught, *watched)}.isdisjoint(HELD_OUT_TASKS)


def test_a_scoring_is_about_two_thousand_episodes_of_every_condition() -> None:
    assert SHARE.keys() == CONDITIONS.keys()
    units = {n: len(c.tasks) * len(c.skins) * instances_of(n, INSTANCES) for n, c in CONDITIONS.items()}
    assert 1800 < 3 * sum(units.values()) < 2200
    assert min(units.values()) >= 50
    assert all(instances_of(name, 1) >= 1 for name in CONDITIONS)


# ----------------------------------------------------------------------------------------------------------------------
# playing them

FEW = {
    "in distribution": Condition("training", ("WifiSet",), ("default",)),
    "unseen layout": Condition("evaluation", ("WifiSetAlready",), ("small-screen", "vendor")),
}
EPISODES = 6
"""Of two builds, with one instance of each."""
BUILDS = ("bf16", "w4a8")


class Counting:
    """Counts records, and breaks off after some of them."""

    def __init__(self, most: int) -> None:
        self.left = most

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        pass

    def record(self, record: EpisodeRecord) -> None:
        """Count a record."""
        del record
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt


def trained(folder: Path, **training: object) -> Path:
    """Write a checkpoint with random weights and the card of a training."""
    tiny_checkpoint(folder)
    card = {"name": folder.name, "kind": "embedded", "training": {"seed": PLAN_SEED, "steps": 5, **training}}
    (folder / "card.json").write_text(json.dumps(card), encoding="utf-8")
    return folder


def scored(folder: Path, out: Path, most: int = 100, tell: Callable[[str], None] = lambda _: None) -> ScoreRecord:
    counting = Counting(most)

    def watch(units: Sequence[WorkUnit], recorded: Sequence[EpisodeRecord]) -> Counting:
        del units, recorded
        return counting

    return score(folder, out, tell, watch, builds=BUILDS, instances=1, conditions=FEW)


def untimed(out: Path) -> list[dict[str, object]]:
    runs = sorted(file.parent for file in out.rglob("manifest.json"))
    return [record.untimed() for run in runs for record in RunFolder.open(run).episodes()]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = trained(tmp_path_factory.mktemp("checkpoints") / "small")
    scored(folder, default_out(folder))
    return folder


def test_every_condition_is_an_ordinary_run_of_its_split_and_skin(finished: Path) -> None:
    out = default_out(finished)
    assert out == finished.parent / "small-scores"
    found = {}
    for file in out.rglob("manifest.json"):
        run = RunFolder.open(file.parent)
        configuration = run.manifest.configuration
        found[str(file.parent.relative_to(out))] = (configuration.split, configuration.skin, configuration.tasks)
        assert configuration.seed == seeds("scores", PLAN_SEED, 0, 1).start
        assert configuration.max_tokens == command_line().parse_args(["run"]).max_tokens == MAX_TOKENS
        for record in run.episodes():
            instance = TASKS[record.task].draw(record.seed, configuration.split)
            assert (record.goal, record.parameters) == (instance.goal, dict(instance.parameters))
    assert found == {
        "in-distribution": ("training", "default", ("WifiSet",)),
        "unseen-layout/small-screen": ("evaluation", "small-screen", ("WifiSetAlready",)),
        "unseen-layout/vendor": ("evaluation", "vendor", ("WifiSetAlready",)),
    }


def test_scores_and_card_lie_beside_the_weights_and_are_of_them(finished: Path) -> None:
    scores = ScoreRecord.read(finished / SCORES)
    assert scores.model_digest == checkpoint_digest(finished)
    assert (scores.plan_seed, scores.first_seed) == (PLAN_SEED, seeds("scores", PLAN_SEED, 0, 1).start)
    assert [condition.name for condition in scores.conditions] == list(FEW)
    assert sum(build.judged for condition in scores.conditions for build in condition.builds) == EPISODES
    card = (finished / MODEL_CARD).read_text("utf-8")
    assert card == card_text(finished)
    assert "| unseen layout | all |" in card


def test_repeating_a_scoring_plays_nothing_more_and_writes_the_same(finished: Path) -> None:
    before = (finished / SCORES).read_bytes(), (finished / MODEL_CARD).read_bytes()
    scored(finished, default_out(finished), most=0)
    assert before == ((finished / SCORES).read_bytes(), (finished / MODEL_CARD).read_bytes())


def test_a_scoring_that_is_broken_off_goes_on_to_the_records_of_an_unbroken_one(finished: Path, tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            scored(finished, tmp_path, most=1)
    assert 0 < len(untimed(tmp_path)) < EPISODES
    scored(finished, tmp_path)
    assert untimed(tmp_path) == untimed(default_out(finished))


def test_runs_of_other_weights_are_not_gone_on_with(finished: Path, tmp_path: Path) -> None:
    other = trained(tmp_path / "other")
    tiny_checkpoint(other, seed=1)
    with pytest.raises(OperatorError, match="has no training manifest") as caught:
        scored(other, default_out(finished))
    assert "agent-eval run" in caught.value.hint
    (other / "card.json").write_bytes((finished / "card.json").read_bytes())
    with pytest.raises(OperatorError, match="was recorded with model"):
        scored(other, default_out(finished))


def test_scores_of_other_weights_are_put_on_no_card(finished: Path, tmp_path: Path) -> None:
    tiny_checkpoint(tmp_path, seed=1)
    (tmp_path / SCORES).write_bytes((finished / SCORES).read_bytes())
    with pytest.raises(OperatorError, match="is of the weights") as caught:
        card_text(tmp_path)
    assert "agent-eval score" in caught.value.hint


def test_an_unfinished_training_is_not_scored(tmp_path: Path) -> None:
    folder = trained(tmp_path / "half", unfinished=True)
    with pytest.raises(OperatorError, match="holds an unfinished training"):
        scored(folder, tmp_path / "runs")
    assert not (tmp_path / "runs").exists()
