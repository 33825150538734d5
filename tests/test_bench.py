"""How builds are measured against each other: whose turn it is, what is cold, what others did meanwhile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_eval.bench import TWIN, Arm, ArmBuild, BenchOptions, Measured, measure, run_bench
from agent_eval.bench_arm import ProcessArm
from agent_eval.errors import AgentEvalError, OperatorError
from agent_eval.reports.bench import bench_report
from agent_eval.reports.bench_record import BenchRecord
from agent_eval.reports.bench_tables import render_bench
from tests.bench_arms import FakeArm, FakeMachine
from tests.fakes import tiny_checkpoint
from tests.reports.golden import rendered

SPEEDS = {"bf16": 0.2, "w4a16": 0.1, "w4a8": 0.05}


def measured(machine: FakeMachine, *, passes: int = 5, **options: Any) -> Measured:
    def open_arm(build: str) -> Arm:
        return FakeArm(machine, build, SPEEDS[build], **options)

    return measure(
        tuple(SPEEDS), open_arm, machine, vocabulary=50, prompt=8, tokens=4, passes=passes, tell=machine.log.append
    )


def test_every_build_is_started_cold_and_closed_before_any_is_started_warm() -> None:
    machine = FakeMachine()
    arms = measured(machine).arms
    starts = [line for line in machine.log if line.startswith(("forget", "open", "close"))]
    cold = [line for build in SPEEDS for line in (f"forget {build}", f"open {build}", f"close {build}")]
    assert starts == [*cold, *(f"open {build}" for build in SPEEDS), *(f"close {build}" for build in SPEEDS)]
    first = arms[0]
    assert first.cold is not None
    assert first.warm is not None
    assert (first.cold.resident, first.cold.load_s) == (0, 3)
    assert (first.warm.resident, first.warm.load_s) == (1, 1)


def test_the_builds_take_turns_and_each_pass_begins_with_another() -> None:
    machine = FakeMachine()
    measured(machine, passes=3)
    turns = [line.removeprefix("decode ") for line in machine.log if line.startswith("decode")]
    order = ["bf16", "w4a16", "w4a8", "bf16"]  # the last is the first once more
    assert [turns[at : at + 4] for at in range(0, 16, 4)] == [order[at:] + order[:at] for at in range(4)]


def test_one_more_pass_is_made_than_counts_and_the_memory_is_read_in_each() -> None:
    machine = FakeMachine()
    found = measured(machine, passes=3)
    assert len(found.streams) == len(found.disturbances) == 4
    assert all(len(arm.decode) == len(arm.prefill) == 4 for arm in found.arms)
    assert machine.log.count("stream bf16") == 4
    assert "pass 0 of 3, discarded" in machine.log


def test_the_first_build_is_measured_twice() -> None:
    arms = measured(FakeMachine()).arms
    assert [(arm.build, arm.twin) for arm in arms] == [
        ("bf16", False), ("w4a16", False), ("w4a8", False), ("bf16", True)
    ]  # fmt: skip
    assert arms[3].decode == arms[0].decode
    assert TWIN not in SPEEDS


def test_what_a_build_is_and_takes_comes_with_it() -> None:
    arm = measured(FakeMachine()).arms[1]
    assert arm.memory is not None
    assert arm.memory.model_dump() == {"before": 100, "peak": 300, "settled": 200, "in_use": 250, "mapped": 50}
    assert (arm.notes, arm.read_per_token) == ("the fake w4a16", 1000)


@pytest.mark.parametrize(("foreign", "stolen"), [(0.0, 0.0), (1.5, 0.0), (0.25, 0.5)])
def test_what_others_do_is_told_apart_from_what_the_builds_do(foreign: float, stolen: float) -> None:
    for others in measured(FakeMachine(foreign=foreign, stolen=stolen)).disturbances:
        assert others is not None
        assert others.foreign_cores == pytest.approx(foreign, abs=0.2)  # this process computes a little too
        assert others.stolen == pytest.approx(stolen / 2)


def test_a_system_that_does_not_tell_disturbs_nothing() -> None:
    assert set(measured(FakeMachine(tells=False)).disturbances) == {None}


def test_a_build_that_cannot_be_loaded_ends_the_bench_and_leaves_nothing_open() -> None:
    machine = FakeMachine()
    with pytest.raises(AgentEvalError, match="cut off"):
        measured(machine, broken=True)
    assert machine.log[-1] == "close bf16"


# ----------------------------------------------------------------------------------------------------------------------
# real builds, in processes


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("bench") / "tiny"
    tiny_checkpoint(made)
    return made


@pytest.fixture(scope="module")
def record(folder: Path) -> BenchRecord:
    options = BenchOptions(("bf16", "w4a8"), str(folder), prompt=70, tokens=8, passes=1)
    return run_bench(options, lambda _line: None)


@pytest.mark.slow
def test_real_builds_are_measured_in_every_way(record: BenchRecord) -> None:
    assert [(arm.build, arm.twin) for arm in record.arms] == [("bf16", False), ("w4a8", False), ("bf16", True)]
    for arm in record.arms:
        assert all(sample.seconds >= 0.25 and sample.tokens % 70 == 0 for sample in arm.prefill)
        assert all(sample.seconds >= 0.25 and sample.tokens % 8 == 0 for sample in arm.decode)
    for arm in record.arms[:2]:
        assert arm.read_per_token == sum(part.read_per_token for part in arm.parts)
        assert arm.head is not None
        assert arm.cold is not None
        assert arm.warm is not None
        assert min(arm.head.seconds, arm.cold.load_s, arm.warm.load_s, arm.warm.first_token_s) > 0
        if sys.platform.startswith("linux"):
            assert arm.memory is not None
            assert 0 < arm.memory.before <= arm.memory.peak
            assert arm.memory.settled <= arm.memory.in_use
    assert record.model_kind == "synthetic"
    assert (record.passes, record.prompt, record.tokens) == (1, 70, 8)


@pytest.mark.slow
def test_a_real_bench_is_drawn(record: BenchRecord) -> None:
    drawn = rendered(render_bench(record), 120)
    assert "SYNTHETIC weights" in drawn
    assert len(bench_report(record).builds) == 2


def test_an_error_in_the_process_of_a_build_is_an_error_here(tmp_path: Path) -> None:
    arm = ProcessArm(ArmBuild("bf16", tmp_path / "nowhere", "torch"), threads=1, context=64)
    try:
        with pytest.raises(OperatorError, match="nowhere") as told:
            arm.open()
    finally:
        arm.close()
    assert told.value.hint
    arm.close()


def test_a_process_that_dies_is_named_with_what_it_ended_with(folder: Path) -> None:
    arm = ProcessArm(ArmBuild("bf16", folder, "torch"), threads=1, context=64)
    try:
        with pytest.raises(OperatorError, match="the process of bf16 ended with 1 when it was asked to decode"):
            arm.decode([0], 4)  # it was never opened
    finally:
        arm.close()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--builds", "bf16,oracle"], "oracle computes nothing"),
        (["--builds", "w5a5"], "unknown build 'w5a5'"),
        (["--model", "/nowhere"], "/nowhere"),
        (["--prompt", "1000000"], "do not fit the model's 8192 positions"),
        (["--passes", "0"], "'0' is not a whole number from 1"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_is_started(words: list[str], said: str) -> None:
    command = [sys.executable, "-m", "agent_eval", "bench", *words]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert said in run.stderr


@pytest.mark.slow
def test_the_command_prints_tables_and_writes_every_sample(folder: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "agent_eval", "bench", "--model", str(folder), "--builds", "w4a16",
               "--prompt", "8", "--tokens", "4", "--passes", "1", "--json", str(tmp_path / "out.json")]  # fmt: skip
    run = subprocess.run(command, env={**os.environ, "COLUMNS": "80"}, capture_output=True, text=True, check=True)
    assert "Decode: 4 tokens" in run.stdout
    assert "cold start" in run.stderr
    assert json.loads((tmp_path / "out.json").read_text())["schema_version"] == 1
