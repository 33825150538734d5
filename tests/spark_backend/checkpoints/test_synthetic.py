"""Checkpoints with random weights: whole, labelled, and written without holding a model in memory."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.digest import checkpoint_digest
from agent_eval.spark_backend.checkpoints.loader import Weights, checkpoint_kind
from agent_eval.spark_backend.checkpoints.shapes import SHAPES
from agent_eval.spark_backend.checkpoints.synthetic import synthetic_checkpoint
from tests.spark_backend.configs import SMALL


def test_equal_seeds_give_equal_files(checkpoint: Path, tmp_path: Path) -> None:
    synthetic_checkpoint(tmp_path / "same", SMALL, seed=7)
    synthetic_checkpoint(tmp_path / "other", SMALL, seed=8)
    assert checkpoint_digest(tmp_path / "same") == checkpoint_digest(checkpoint)
    assert checkpoint_digest(tmp_path / "other") != checkpoint_digest(checkpoint)


def test_it_says_that_it_is_synthetic(checkpoint: Path) -> None:
    assert checkpoint_kind(checkpoint) == "synthetic"
    assert SparkConfig.from_folder(checkpoint) == SMALL


def test_shards_hold_the_same_weights(checkpoint: Path, tmp_path: Path) -> None:
    synthetic_checkpoint(tmp_path / "shards", SMALL, seed=7, shard_bytes=20_000)
    whole, parts = Weights(checkpoint, SMALL), Weights(tmp_path / "shards", SMALL)
    assert len(list((tmp_path / "shards").glob("model-*.safetensors"))) > 2
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


def test_weights_spread_as_the_config_says_and_norms_are_one(tmp_path: Path) -> None:
    config = replace(SMALL, initializer_range=0.05, vocab_size=4096)
    synthetic_checkpoint(tmp_path / "x", config, seed=1)
    weights = Weights(tmp_path / "x", config)
    assert float(weights["model.embedding.weight"].float().std()) == pytest.approx(0.05, rel=0.02)
    down = weights["model.layers.0.mlp.down_proj.weight"].float()
    assert float(down.std()) == pytest.approx(0.05 / 8**0.5, rel=0.05)
    assert torch.equal(weights["model.norm.weight"].float(), torch.ones(64))
    assert not torch.equal(down, weights["model.layers.1.mlp.down_proj.weight"].float())


def test_it_needs_room_for_its_bytes(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="at least 264 tokens, got vocab_size=263"):
        synthetic_checkpoint(tmp_path / "x", replace(SMALL, vocab_size=263), seed=0)
    assert not (tmp_path / "x").exists()


def test_writing_takes_less_memory_than_the_weights(tmp_path: Path) -> None:
    script = (
        "import resource, sys; from dataclasses import replace; from pathlib import Path\n"
        "from agent_eval.spark_backend.checkpoints.shapes import SHAPES\n"
        "from agent_eval.spark_backend.checkpoints.synthetic import synthetic_checkpoint\n"
        "config = replace(SHAPES['mid'], vocab_size=2**19)\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "synthetic_checkpoint(Path(sys.argv[1]) / 'first', SHAPES['nano'], 0); before = peak()\n"
        "synthetic_checkpoint(Path(sys.argv[1]) / 'large', replace(SHAPES['mid'], vocab_size=32768), 0)\n"
        "print(peak() - before)"
    )
    run = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    weights = sum(path.stat().st_size for path in (tmp_path / "large").glob("*.safetensors"))
    assert int(run.stdout) * 1024 < 2 * weights


@pytest.mark.parametrize("name", ["mid", "nano"])
def test_small_shapes_can_be_written(tmp_path: Path, name: str) -> None:
    synthetic_checkpoint(tmp_path / name, SHAPES[name], seed=0)
    assert len(Weights(tmp_path / name, SparkConfig.from_folder(tmp_path / name))) == len(SHAPES[name].tensor_shapes())
