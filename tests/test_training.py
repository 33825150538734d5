"""A training run, at the smallest size: its checkpoint loads, says where it comes from, and is the same again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent_eval import wiring
from agent_eval.curriculum import HELD_OUT_SKINS, HELD_OUT_TASKS, TAUGHT_TASKS
from agent_eval.errors import OperatorError, RunFolderError
from agent_eval.spark_backend.checkpoints.digest import checkpoint_digest
from agent_eval.spark_backend.checkpoints.loader import read_card
from agent_eval.training import CURVE, UNFINISHED, Report, TrainingPlan, read_curve, train_nano
from agent_eval.types import Message, Sampling

PLAN = TrainingPlan(
    steps=4,
    rounds=2,
    drill_share=0.25,
    play_from=1,
    rollouts=3,
    study_episodes=12,
    validation_episodes=4,
    validation_instances=0,
)
FILES = ("model.safetensors", "tokenizer.json", "config.json", "chat_template.jinja")


class Killed(Exception):
    """Stands for a kill: nothing of the training catches it."""


def ignore(report: Report) -> None:
    del report


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("trained") / "nano"
    train_nano(out, PLAN, ignore)
    return out


def test_the_checkpoint_runs_in_every_build(trained: Path) -> None:
    for build in ("bf16", "w4a16", "w4a8"):
        model = wiring.open_model(trained, build, thinking=True)
        model.begin()
        assert model.generate([Message("user", "Task: x")], (), Sampling(max_tokens=4)).tokens > 0


def test_the_card_says_where_the_weights_come_from(trained: Path) -> None:
    card = read_card(trained)
    manifest = card.details["training"]
    assert (card.kind, manifest["seed"], manifest["steps"]) == ("embedded", 0, 4)
    assert manifest["tokens"] > 4 * 4096
    assert manifest["decisions"] > 0
    assert tuple(manifest["held_out_tasks"]) == HELD_OUT_TASKS
    assert tuple(manifest["held_out_skins"]) == HELD_OUT_SKINS
    for name in ("data_sha256", "code_revision", "prompt_digest", "machine", "trained_minutes", "precision", "plan"):
        assert manifest[name], name


def test_the_curve_has_a_line_for_every_round_and_nothing_unfinished_is_left(trained: Path) -> None:
    curve = read_curve(trained / CURVE)
    assert [report.step for report in curve] == [2, 4]
    assert all(report.held_out_accuracy is not None for report in curve)
    assert not (trained / UNFINISHED).exists()


def test_a_killed_training_goes_on_to_the_same_checkpoint(trained: Path, tmp_path: Path) -> None:
    """It is killed once within a round, at whose start the model played, and once between two."""
    out = tmp_path / "nano"

    def killing_at(step: int) -> Iterator[None]:
        def watch(report: Report) -> None:
            if report.step == step:
                raise Killed

        with pytest.raises(Killed):
            train_nano(out, PLAN, watch, report_every=1, keep_every=1)
        assert (out / UNFINISHED).exists()
        yield

    for _ in (*killing_at(2), *killing_at(3)):
        pass
    train_nano(out, PLAN, ignore)
    for name in FILES:
        assert (out / name).read_bytes() == (trained / name).read_bytes(), name
    assert checkpoint_digest(out) == checkpoint_digest(trained)
    kept, other = (read_card(folder).details["training"] for folder in (out, trained))
    assert {name: kept[name] for name in ("data_sha256", "tokens", "decisions")} == {
        name: other[name] for name in ("data_sha256", "tokens", "decisions")
    }
    assert [report.step for report in read_curve(out / CURVE)] == [1, 2, 3, 4]


def test_an_unfinished_training_of_another_plan_is_not_gone_on_with(tmp_path: Path) -> None:
    def kill(report: Report) -> None:
        raise Killed(report)

    with pytest.raises(Killed):
        train_nano(tmp_path / "nano", PLAN, kill)
    with pytest.raises(RunFolderError, match=r"another plan .*seed 0 there, 1 here") as caught:
        train_nano(tmp_path / "nano", replace(PLAN, seed=1), ignore)
    assert "hint:" in str(caught.value)


def test_a_finished_training_of_the_same_plan_is_left_as_it_is(trained: Path) -> None:
    before = (trained / "model.safetensors").stat().st_mtime_ns
    train_nano(trained, PLAN, ignore)
    assert (trained / "model.safetensors").stat().st_mtime_ns == before


def test_a_finished_training_of_another_plan_is_not_written_over(trained: Path) -> None:
    with pytest.raises(RunFolderError, match="steps 4 there, 5 here"):
        train_nano(trained, replace(PLAN, steps=5), ignore)


def test_a_checkpoint_of_these_screens_is_not_stale_and_one_of_others_is(trained: Path) -> None:
    assert wiring.stale_reason(trained, wiring.prompt_digest()) == ""
    assert "trained on screens" in wiring.stale_reason(trained, "0123456789abcdef")


def test_a_folder_that_holds_something_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("")
    with pytest.raises(RunFolderError, match=r"mine\.txt"):
        train_nano(tmp_path, PLAN, ignore)


@pytest.mark.parametrize("seed", [-1, 100])
def test_a_seed_whose_lessons_another_training_would_share_is_refused(seed: int) -> None:
    with pytest.raises(OperatorError, match=f"{seed}, expected one from 0 to 99"):
        replace(PLAN, seed=seed)


def test_every_step_belongs_to_the_round_whose_first_step_it_follows() -> None:
    for rounds, steps in ((1, 7), (3, 10), (10, 5200), (7, 7)):
        plan = replace(PLAN, steps=steps, rounds=rounds)
        for step in range(steps):
            number = plan.round_of(step)
            assert plan.first_step(number) <= step < plan.first_step(number + 1), (rounds, steps, step)
        assert plan.first_step(rounds) == steps


def test_what_the_model_plays_is_of_taught_tasks_only(trained: Path) -> None:
    weights = json.loads(json.dumps(read_card(trained).details["training"]["validation_solved"]))
    assert set(weights) <= set(TAUGHT_TASKS)
