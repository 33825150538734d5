"""What the launcher sets is what torch's threads go by. Each case is a process of its own: libgomp reads once."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from agent_eval.spark_backend import launcher
from agent_eval.spark_backend.probe import usable_cores

NOT_OURS = ("OMP_NUM_THREADS", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT")


def started(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in NOT_OURS}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env={**environment, **variables}, capture_output=True, text=True, check=True)


LAUNCH = "from agent_eval.spark_backend import launcher\nprint(launcher.prepare())\nimport torch\n"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="torch has libgomp on Linux only")
def test_libgomp_goes_by_what_the_launcher_set_before_torch_was_loaded() -> None:
    run = started(LAUNCH + "print(torch.get_num_threads())", OMP_DISPLAY_ENV="TRUE")
    assert "OMP_WAIT_POLICY = 'PASSIVE'" in run.stderr
    assert f"OMP_NUM_THREADS = '{usable_cores()}'" in run.stderr
    assert run.stdout.splitlines()[-1] == str(usable_cores())


def test_what_the_person_has_set_stays() -> None:
    run = started(LAUNCH + "print(torch.get_num_threads())", OMP_NUM_THREADS="1", OMP_WAIT_POLICY="ACTIVE")
    assert run.stdout.splitlines() == ["Launch(threads=1, wait_policy='ACTIVE', in_time=True)", "1"]


def test_a_process_that_has_loaded_torch_is_left_as_it_is() -> None:
    run = started("import torch\n" + LAUNCH + "import os\nprint('OMP_WAIT_POLICY' in os.environ)")
    assert "in_time=False" in run.stdout
    assert run.stdout.splitlines()[-1] == "False"


def test_the_launcher_itself_loads_no_torch() -> None:
    run = started(
        "from agent_eval.spark_backend import launcher\nlauncher.prepare()\nimport sys\nprint('torch' in sys.modules)"
    )
    assert run.stdout.strip() == "False"


@pytest.mark.parametrize(
    "command",
    [["run"], ["bench"], ["train", "--out", "/nowhere"], ["build", "nano", "--to", "w4a8", "--out", "/nowhere"]],
)
def test_a_command_that_computes_sets_up_the_threads_first(command: list[str]) -> None:
    # an impossible number of threads is found before anything else is done
    environment = {**os.environ, "OMP_NUM_THREADS": "none"}
    words = [sys.executable, "-m", "agent_eval", *command]
    run = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "OMP_NUM_THREADS is 'none'" in run.stderr


def test_an_engine_uses_the_usable_cores_unless_told_otherwise() -> None:
    assert started("from agent_eval.spark_backend import launcher\nprint(launcher.default_threads())",
                   OMP_NUM_THREADS="5").stdout.strip() == "5"  # fmt: skip
    assert launcher.default_threads() >= 1
