"""The split of a run and the scores of a trained model, as a person asks for them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_eval.cli import main
from agent_eval.command_line import command_line
from agent_eval.records import RunFolder
from agent_eval.scoring import INSTANCES
from agent_eval.tasks import SPLITS, TASKS
from tests.fakes import tiny_checkpoint

ORACLE = ["run", "--builds", "oracle", "--tasks", "WifiSet,AlarmCreate", "--instances", "2", "--seed", "5"]


def refused(capsys: pytest.CaptureFixture[str], command: list[str], *parts: str) -> None:
    assert main(command) == 2
    shown = capsys.readouterr().err
    for part in (*parts, "hint: "):
        assert part in shown
    assert "Traceback" not in shown


@pytest.mark.parametrize("split", SPLITS)
def test_a_run_draws_its_instances_from_the_split_that_was_asked_for(
    split: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    command = [*ORACLE, "--out", str(out), *(["--split", split] if split != "evaluation" else [])]
    assert main(command) == 0
    run = RunFolder.open(out)
    assert run.manifest.configuration.split == split
    drawn = {(task, seed): TASKS[task].draw(seed, split).goal for task in ("WifiSet", "AlarmCreate") for seed in (5, 6)}
    assert {(record.task, record.seed): record.goal for record in run.episodes()} == drawn
    capsys.readouterr()
    assert main(["replay", str(out), run.episodes()[0].episode]) == 0
    assert "reached all" in capsys.readouterr().out
    other = "training" if split == "evaluation" else "evaluation"
    refused(capsys, [*ORACLE, "--out", str(out), "--split", other], f"split={split!r}", f"split={other!r}")


def test_a_split_that_there_is_not_is_refused_with_those_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["run", "--split", "test"])
    assert caught.value.code == 2
    shown = capsys.readouterr().err
    assert all(split in shown for split in SPLITS)


def test_the_help_says_how_many_instances_a_scoring_has(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["score", "--help"])
    assert f"(default: {INSTANCES}," in " ".join(capsys.readouterr().out.split())
    asked = command_line().parse_args(["score", "somewhere"])
    assert (asked.folder, asked.out, asked.instances) == ("somewhere", None, None)


def test_a_folder_that_no_training_has_written_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused(capsys, ["score", str(tmp_path / "nowhere")], "has no training manifest")
    tiny_checkpoint(tmp_path / "model")
    refused(capsys, ["score", str(tmp_path / "model")], "has no training manifest", "agent-eval run --model")
    card = {"name": "nano", "kind": "embedded", "training": {"seed": 0, "unfinished": True}}
    (tmp_path / "model" / "card.json").write_text(json.dumps(card), encoding="utf-8")
    refused(capsys, ["score", str(tmp_path / "model")], "unfinished training")
    assert not (tmp_path / "model-scores").exists()


def test_a_scoring_sets_up_the_threads_first() -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "none"}
    words = [sys.executable, "-m", "agent_eval", "score", "/nowhere"]
    run = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "OMP_NUM_THREADS is 'none'" in run.stderr
