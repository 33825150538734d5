"""A training run, at the smallest size: its checkpoint loads, says where it comes from, and is the same again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agent_eval import wiring
from agent_eval.errors import RunFolderError
from agent_eval.spark_backend.checkpoints.digest import checkpoint_digest
from agent_eval.spark_backend.checkpoints.loader import read_card
from agent_eval.spark_backend.nano.encode import IGNORED, Sample
from agent_eval.training import OVERLAP, PIECE, TrainingPlan, pieces_of, train_nano
from agent_eval.types import Message, Sampling

PLAN = TrainingPlan(
    steps=3, rollout_at=(0.5,), rollouts=1, vocabulary_episodes=12, validation_episodes=4, scored_instances=0
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("nano")
    train_nano(out, PLAN, lambda _: None)
    return out


def test_the_checkpoint_runs_in_every_build(trained: Path) -> None:
    for build in ("bf16", "w4a16", "w4a8"):
        model = wiring.open_model(trained, build, thinking=True)
        model.begin()
        assert model.generate([Message("user", "Task: x")], (), Sampling(max_tokens=4)).tokens > 0


def test_the_card_says_where_the_weights_come_from(trained: Path) -> None:
    card = read_card(trained)
    manifest = card.details["training"]
    assert (card.kind, manifest["seed"], manifest["steps"]) == ("embedded", 0, 3)
    assert manifest["tokens"] > 3 * 2048
    assert manifest["decisions"] > 0
    for name in ("data_sha256", "code_revision", "prompt_digest", "held_out_token_accuracy", "closed_loop_solved"):
        assert name in manifest


def test_one_plan_gives_one_checkpoint(trained: Path, tmp_path: Path) -> None:
    train_nano(tmp_path / "again", PLAN, lambda _: None)
    for name in ("model.safetensors", "tokenizer.json", "config.json", "chat_template.jinja"):
        assert (tmp_path / "again" / name).read_bytes() == (trained / name).read_bytes(), name
    assert checkpoint_digest(tmp_path / "again") == checkpoint_digest(trained)


def test_a_checkpoint_of_these_screens_is_not_stale_and_one_of_others_is(trained: Path) -> None:
    assert wiring.stale_reason(trained, wiring.prompt_digest()) == ""
    assert "trained on screens" in wiring.stale_reason(trained, "0123456789abcdef")


def test_a_folder_that_holds_something_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("")
    with pytest.raises(RunFolderError, match=r"mine\.txt"):
        train_nano(tmp_path, PLAN, lambda _: None)


@pytest.mark.parametrize("length", [5, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE - OVERLAP, 2 * PIECE, 3000])
def test_a_long_conversation_is_learned_in_pieces_each_token_once(length: int) -> None:
    tokens = np.arange(length, dtype=np.int32)
    pieces = pieces_of(Sample(tokens, tokens + 1))
    assert all(len(piece.ids) == len(piece.targets) <= PIECE for piece in pieces)
    taught = [token for piece in pieces for token in piece.targets[piece.targets != IGNORED]]
    assert taught == list(range(1, length + 1))
    for piece in pieces:
        assert all(target in (token + 1, IGNORED) for token, target in zip(piece.ids, piece.targets, strict=True))
