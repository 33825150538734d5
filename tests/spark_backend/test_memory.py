"""Loading is lean: the peak of anonymous memory stays near what the build weighs, whatever the checkpoint weighs."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agent_eval.spark_backend.builds import describe_build
from agent_eval.spark_backend.shapes import SHAPES
from agent_eval.spark_backend.synthetic import synthetic_checkpoint

MIDDLE = replace(SHAPES["mid"], hidden_size=1024, intermediate_size=3072, vocab_size=16384)
"""120 million weights: 0.24 GB in bfloat16, enough that what a conversion holds at a time is small beside it."""

LOAD = """
import json, sys
from pathlib import Path
from agent_eval.spark_backend.builds import load_build
from agent_eval.spark_backend.meter import PeakMemory, memory_of

first, folder, build = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
load_build(first, build, threads=1)  # libraries, kernels and their scratch, whatever the model
before = memory_of().anonymous
with PeakMemory() as watch:
    loaded = load_build(folder, build, threads=1)
print(json.dumps({"peak": watch.peak - before, "settled": memory_of().anonymous - before}))
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("memory")
    synthetic_checkpoint(folder / "nano", SHAPES["nano"], seed=0)
    synthetic_checkpoint(folder / "middle", MIDDLE, seed=0, shard_bytes=100_000_000)
    return folder / "nano", folder / "middle"


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells anonymous memory from mapped files")
@pytest.mark.parametrize("build", ["bf16", "fp32", "w4a16", "w4a8", "w8a8"])
def test_the_peak_of_loading_stays_below_1_3_times_the_build(folders: tuple[Path, Path], build: str) -> None:
    command = [sys.executable, "-c", LOAD, *map(str, folders), build]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    found, size = json.loads(run.stdout), describe_build(folders[1], build).size_bytes
    assert found["peak"] < 1.3 * size
