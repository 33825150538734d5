"""Checkpoints that the tests of this package share."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.synthetic import synthetic_checkpoint
from tests.spark_backend.configs import SMALL


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def small() -> SparkConfig:
    """A model whose widths suit every build, with a window much shorter than the texts of the tests."""
    return SMALL


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``SMALL`` in bfloat16. Tests must not write to it."""
    folder = tmp_path_factory.mktemp("checkpoints") / "small"
    synthetic_checkpoint(folder, SMALL, seed=7)
    return folder
