"""``agent-eval build``: folders that are written, what is printed about them, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_eval.cli import main
from agent_eval.spark_backend.builds import load_build
from agent_eval.spark_backend.checkpoints.loader import checkpoint_kind, read_card
from agent_eval.spark_backend.checkpoints.synthetic import synthetic_checkpoint
from tests.spark_backend.configs import SMALL


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoint") / "small"
    synthetic_checkpoint(folder, SMALL, seed=4)
    return folder


def build(checkpoint: Path, out: Path, *more: str) -> list[str]:
    return ["build", str(checkpoint), "--out", str(out), *more]


@pytest.mark.parametrize(("to", "layout"), [("w4a8", "gptq"), ("w4a16", "cpu_int4"), ("w4a8-asym", "awq")])
def test_a_folder_is_written_summed_up_and_runs(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], to: str, layout: str
) -> None:
    out = tmp_path / "out"
    assert main(build(checkpoint, out, "--to", to)) == 0
    shown = capsys.readouterr()
    assert f"format {layout}: {to}, groups of 32, method search" in shown.out
    assert "bits a weight" in shown.out
    assert "least signal to noise: " in shown.out
    assert "not quantised: 4 g_proj, 9 norms" in shown.out
    assert ("model.embedding" in shown.out.split("not quantised:")[1]) == (to != "w4a16")
    for path in out.iterdir():
        assert f"{path.stat().st_size:,}  {path}" in shown.out
    assert "model.layers.0.mlp.down_proj: 64 x 96, search, " in shown.err
    assert load_build(out, to, threads=1).name == to


def test_gptq_reads_a_file_of_texts(checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = tmp_path / "texts.jsonl"
    lines = [{"text": f"The {i}th line of a text that is read while the model is quantised."} for i in range(12)]
    texts.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    arguments = build(checkpoint, tmp_path / "out", "--to", "w4a8", "--method", "gptq", "--calibration", str(texts))
    assert main(arguments) == 0
    shown = capsys.readouterr()
    assert f"calibration {texts}: 12 sequences" in shown.out
    assert "dB, of outputs " in shown.err


@pytest.mark.slow
def test_gptq_reads_the_oracles_trajectories(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["build", "nano", "--to", "w4a16", "--method", "gptq", "--calibration", "trajectories"]
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 0
    assert "calibration trajectories: " in capsys.readouterr().out
    assert load_build(tmp_path / "out", "w4a16", threads=1).notes


def test_a_head_that_is_kept_is_called_a_trap(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(build(checkpoint, tmp_path / "out", "--to", "w4a8", "--keep-head", "--method", "rtn")) == 0
    assert "HEAD TRAP" in capsys.readouterr().out


def test_random_weights_are_labelled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "synth", "--like", "nano", "--seed", "3", "--out", str(tmp_path / "out")]) == 0
    assert "random weights in the shape nano" in capsys.readouterr().out
    assert checkpoint_kind(tmp_path / "out") == "synthetic"
    assert main(["build", str(tmp_path / "out"), "--to", "w4a8", "--out", str(tmp_path / "quantised")]) == 0
    assert checkpoint_kind(tmp_path / "quantised") == "synthetic"


def test_outliers_are_folded_into_a_model_and_the_folder_is_labelled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["build", "nano", "--to", "outliers", "--seed", "3", "--out", str(out)]) == 0
    shown = capsys.readouterr()
    assert "CONSTRUCTED: computes what nano does" in shown.out
    assert f"{out / 'model.safetensors'}" in shown.out
    card = read_card(out)
    assert (card.name, card.kind, card.details["constructed"]["seed"]) == ("nano-outliers", "constructed", 3)


def test_llama_cpps_mixture_is_written_as_gguf(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("xllamacpp")
    assert main(build(checkpoint, tmp_path / "out", "--to", "q4_k_m")) == 0
    assert "model.gguf" in capsys.readouterr().out


REFUSED: list[tuple[list[str], str]] = [
    (["nano"], "--to is missing"),
    (["nano", "--to", "w9"], "unknown build 'w9'"),
    (["nano", "--to", "w8a8"], "has no public folder format"),
    (["nano", "--to", "w4a8", "--method", "gptq"], "GPTQ needs texts to read"),
    (
        ["nano", "--to", "w4a8", "--method", "gptq", "--calibration", "nowhere.txt"],
        "nowhere.txt cannot be read as text",
    ),
    (["nano", "--to", "w4a8", "--group", "128"], "has 192 columns, expected a multiple of the group size 128"),
    (["nano", "--to", "w4a8-g32", "--group", "64"], "has groups of 32, asked for 64"),
    (["nano", "--to", "q4_k_m", "--keep-head"], "--keep-head does not apply"),
    (["nano", "--to", "q4_k_m", "--method", "rtn"], "--method does not apply"),
    (["nano", "--to", "outliers", "--method", "gptq"], "outliers quantises nothing; --method does not apply"),
    (["nano", "--to", "outliers", "--group", "32"], "outliers quantises nothing; --group does not apply"),
    (["nowhere", "--to", "outliers"], "unknown model 'nowhere'"),
    (["nowhere", "--to", "w4a8"], "unknown model 'nowhere'"),
    (["synth"], "--like is missing; expected one of: 1.7b, 4b, mid, nano"),
    (["synth", "--like", "7b"], "unknown shape '7b'"),
]


@pytest.mark.parametrize(
    ("arguments", "message"), REFUSED, ids=lambda value: "-".join(value) if isinstance(value, list) else ""
)
def test_what_cannot_be_built_is_refused_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    out = tmp_path / "out"
    assert main(["build", *arguments, "--out", str(out)]) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert "hint: " in shown
    assert "Traceback" not in shown
    assert not out.exists()


def test_a_folder_that_holds_something_is_left_alone(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").write_text("mine", "utf-8")
    assert main(build(checkpoint, tmp_path, "--to", "w4a8")) == 2
    assert "is not empty; found 'mine.txt'" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
