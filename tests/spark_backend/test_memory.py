"""Loading is lean: the peak of anonymous memory stays near what the build weighs, whatever the checkpoint weighs."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agent_eval.spark_backend.builds import describe_build
from agent_eval.spark_backend.checkpoints.shapes import SHAPES
from agent_eval.spark_backend.checkpoints.synthetic import synthetic_checkpoint
from agent_eval.spark_backend.convert import conversion_of, convert
from agent_eval.spark_backend.quant.name import parse_build

MIDDLE = replace(SHAPES["mid"], hidden_size=1024, intermediate_size=3072, vocab_size=16384)
"""120 million weights: 0.24 GB in bfloat16, enough that what a conversion holds at a time is small beside it."""

LOAD = """
import json, sys
from pathlib import Path
from agent_eval.spark_backend.builds import load_build
from agent_eval.spark_backend.meter import PeakMemory, memory_of

first, folder, build = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
load_build(first, build, threads=1)  # libraries, kernels and their scratch, whatever the model
before = memory_of()
with PeakMemory() as watch:
    loaded = load_build(folder, build, threads=1)
after = memory_of()
print(json.dumps({"peak": watch.peak - before.anonymous, "mapped": after.mapped - before.mapped}))
"""


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not sys.platform.startswith("linux"), reason="only Linux tells anonymous memory from mapped files"
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``MIDDLE`` in bfloat16 and in public formats, and a small checkpoint to begin with."""
    folder = tmp_path_factory.mktemp("memory")
    synthetic_checkpoint(folder / "nano", SHAPES["nano"], seed=0)
    synthetic_checkpoint(folder / "bfloat16", MIDDLE, seed=0, shard_bytes=100_000_000)
    for name, build in FORMATS.items():
        wanted = conversion_of(parse_build(build), group=None, method="rtn")
        convert(folder / "bfloat16", folder / name, wanted)
    return folder


FORMATS = {"cpu_int4": "w4a16", "gptq": "w4a8", "awq": "w4a8-asym"}
FROM_BFLOAT16 = ["bf16", "fp32", "w4a16", "w4a8", "w8a8"]


def load(folder: Path, name: str, build: str) -> dict[str, int]:
    """Return the anonymous bytes at the peak of loading and the mapped ones after it, beyond those of a small build."""
    command = [sys.executable, "-c", LOAD, str(folder / "nano"), str(folder / name), build]
    found: dict[str, int] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found


@pytest.mark.parametrize(
    ("name", "build"), [*(("bfloat16", build) for build in FROM_BFLOAT16), *FORMATS.items()], ids=str
)
def test_the_peak_of_loading_stays_below_1_3_times_the_build(folder: Path, name: str, build: str) -> None:
    assert load(folder, name, build)["peak"] < 1.3 * describe_build(folder / name, build).size_bytes


@pytest.mark.parametrize(("name", "build"), [("bfloat16", "w4a8"), ("bfloat16", "fp32"), *FORMATS.items()], ids=str)
def test_a_checkpoint_that_was_converted_does_not_stay_in_memory(folder: Path, name: str, build: str) -> None:
    read = sum(path.stat().st_size for path in (folder / name).glob("*.safetensors"))
    assert load(folder, name, build)["mapped"] < 0.05 * read + 2**20
