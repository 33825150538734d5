"""The builds that a checkpoint can be run in: a name to a scheme, and a folder to a running engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from agent_eval.errors import UnknownName
from agent_eval.spark_backend.config import SparkConfig
from agent_eval.spark_backend.loader import Weights
from agent_eval.spark_backend.model import Spark
from agent_eval.spark_backend.quant.dense import Bf16, Fp32
from agent_eval.spark_backend.quant.scheme import Scheme
from agent_eval.spark_backend.quant.w4a8 import W4A8
from agent_eval.spark_backend.quant.w4a16 import W4A16
from agent_eval.spark_backend.torch_engine import TorchEngine

BUILDS: dict[str, Callable[[], Scheme]] = {
    "bf16": Bf16,
    "w4a16": W4A16,
    "w4a8": W4A8,
    "fp32": Fp32,
}
"""Every build by its name; ``fp32`` is the control that no one ships."""

DEFAULT_CONTEXT = 16_384
"""Tokens of prompt and generation together, unless asked for otherwise or the model was made for fewer."""


@dataclass(frozen=True)
class LoadedBuild:
    """A build that is ready to run."""

    name: str
    config: SparkConfig
    engine: TorchEngine
    notes: str
    """What is quantised and how, and which kernels serve decode and prefill."""


def load_build(folder: Path, name: str, *, threads: int, context: int = DEFAULT_CONTEXT) -> LoadedBuild:
    """Load one build of a checkpoint.

    Args:
        folder: The checkpoint.
        name: A key of ``BUILDS``.
        threads: Threads that torch may use.
        context: Most tokens of prompt and generation together.

    Raises:
        UnknownName: there is no such build.
        CheckpointError: the folder cannot be loaded, or its shapes do not suit the build.
    """
    if name not in BUILDS:
        raise UnknownName("build", name, BUILDS)
    config = SparkConfig.from_folder(folder)
    scheme = BUILDS[name]()
    # quantising works on small parts: threads would wait for each other more than they compute
    torch.set_num_threads(1)
    with torch.no_grad():
        model = Spark(config, Weights(folder, config), scheme)
    torch.set_num_threads(threads)
    return LoadedBuild(name, config, TorchEngine(model, threads=threads, context=context), scheme.notes)
