"""The commands with another engine than torch: which is refused, and, where vLLM is installed, what a run leaves."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from agent_eval.bench import ArmBuild, arms_of
from agent_eval.cli import main
from agent_eval.errors import AgentEvalError
from agent_eval.records import RunFolder
from agent_eval.wiring import choose_engine
from tests.fakes import tiny_checkpoint

HAS_VLLM = importlib.util.find_spec("vllm") is not None
needs_vllm = pytest.mark.skipif(not HAS_VLLM, reason="needs the vLLM environment: make vllm")


def refused(**asked: Any) -> str:
    with pytest.raises(AgentEvalError) as caught:
        choose_engine(**asked)
    assert "hint: " in str(caught.value)
    return str(caught.value)


def test_an_engine_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    assert "torch, vllm" in refused(name="fast")


@pytest.mark.parametrize("asked", [{"concurrency": 2}, {"constrained": True}], ids=["in flight", "constrained"])
def test_what_only_vllm_can_is_refused_with_another_engine(asked: dict[str, Any]) -> None:
    assert "--engine vllm" in refused(name="torch", **asked)


@needs_vllm
@pytest.mark.parametrize("asked", [{"concurrency": 2}, {"constrained": True}], ids=["in flight", "constrained"])
def test_what_only_vllm_can_is_refused_for_builds_of_llama_cpp(asked: dict[str, Any]) -> None:
    assert "q4_k_m" in refused(name="vllm", builds=("bf16", "q4_k_m"), **asked)


@pytest.mark.skipif(HAS_VLLM, reason="vLLM is installed here")
def test_a_run_in_vllm_says_how_to_get_it_where_it_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--engine", "vllm", "--tasks", "smoke", "--out", str(tmp_path / "run")]) == 2
    shown = capsys.readouterr().err
    assert "make vllm" in shown
    assert "Traceback" not in shown
    assert not (tmp_path / "run").exists()


def test_a_bench_of_several_engines_measures_every_build_in_each_and_those_of_llama_cpp_once(tmp_path: Path) -> None:
    arms = arms_of({"bf16": tmp_path, "q4_k_m": tmp_path}, ["torch", "vllm"])
    assert arms == {
        "bf16": ArmBuild("bf16", tmp_path, "torch"),
        "bf16@vllm": ArmBuild("bf16", tmp_path, "vllm"),
        "q4_k_m": ArmBuild("q4_k_m", tmp_path, "torch"),
    }
    assert list(arms_of({"bf16": tmp_path}, ["vllm"])) == ["bf16"]


# ----------------------------------------------------------------------------------------------------------------------
# with vLLM, each in a process of its own, as a person starts it


def command(out: Path, *more: str, model: str = "nano") -> list[str]:
    asked = [
        "run",
        "--engine",
        "vllm",
        "--model",
        model,
        "--builds",
        "bf16,w4a8",
        "--tasks",
        "smoke",
        "--out",
        str(out),
    ]
    return [sys.executable, "-m", "agent_eval", *asked, *more]


def ran(out: Path, *more: str, model: str = "nano") -> str:
    done = subprocess.run(command(out, *more, model=model), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    return done.stdout


def untimed(out: Path) -> dict[str, dict[str, Any]]:
    return {record.episode: record.untimed() for record in RunFolder.open(out).episodes()}


@needs_vllm
@pytest.mark.vllm
class TestWithVllm:
    """What a run leaves."""

    def test_the_kernels_that_served_stand_in_the_manifest_and_equal_commands_give_equal_records(
        self, tmp_path: Path
    ) -> None:
        shown = ran(tmp_path / "first")
        ran(tmp_path / "second")
        assert untimed(tmp_path / "first") == untimed(tmp_path / "second")
        run = RunFolder.open(tmp_path / "first")
        assert (run.manifest.configuration.engine, run.manifest.configuration.concurrency) == ("vllm", 1)
        assert "vLLM's bfloat16 linear" in run.manifest.build_notes["bf16"]
        assert "head: " in run.manifest.build_notes["w4a8"]
        assert "vllm" in shown
        assert {record.outcome.label for record in run.episodes()}.isdisjoint({"harness_error"})

    def test_a_killed_run_with_several_in_flight_comes_to_the_records_of_one_that_was_not(self, tmp_path: Path) -> None:
        more = ("--concurrency", "2", "--instances", "6")
        ran(tmp_path / "whole", *more)
        episodes = tmp_path / "killed" / "episodes.jsonl"
        child = subprocess.Popen(
            command(tmp_path / "killed", *more), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while child.poll() is None and (not episodes.exists() or len(episodes.read_text().splitlines()) < 5):
            time.sleep(0.02)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        before = len(episodes.read_text().splitlines())
        assert 5 <= before < 24, "it was killed in the midst"
        shown = ran(tmp_path / "killed", *more)
        assert untimed(tmp_path / "killed") == untimed(tmp_path / "whole")
        assert "2 in flight" in shown

    def test_a_run_is_not_resumed_with_another_engine(self, tmp_path: Path) -> None:
        ran(tmp_path / "run")
        other = [word if word != "vllm" else "torch" for word in command(tmp_path / "run")]
        done = subprocess.run(other, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "engine=" in done.stderr

    def test_constrained_replies_are_calls_even_of_a_model_that_knows_none(self, tmp_path: Path) -> None:
        tiny_checkpoint(tmp_path / "model")
        ran(tmp_path / "free", "--no-thinking", model=str(tmp_path / "model"))
        ran(tmp_path / "held", "--no-thinking", "--constrain", model=str(tmp_path / "model"))
        free, held = (RunFolder.open(tmp_path / name) for name in ("free", "held"))
        assert all(step.tool is None for record in free.episodes() for step in record.steps)
        called = [step.tool is not None for record in held.episodes() for step in record.steps]
        assert any(called)
        assert held.manifest.configuration.constrained

    def test_a_bench_times_builds_in_both_engines(self, tmp_path: Path) -> None:
        tiny_checkpoint(tmp_path / "model")
        asked = ["bench", "--engine", "torch,vllm", "--model", str(tmp_path / "model"), "--builds", "w4a8"]
        more = ["--passes", "1", "--prompt", "64", "--tokens", "8", "--json", str(tmp_path / "bench.json")]
        done = subprocess.run([sys.executable, "-m", "agent_eval", *asked, *more], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        arms = json.loads((tmp_path / "bench.json").read_text())["arms"]
        assert [(arm["build"], arm["twin"]) for arm in arms] == [("w4a8", False), ("w4a8@vllm", False), ("w4a8", True)]
        assert all(sample["tokens"] > 0 for arm in arms for sample in arm["decode"])
