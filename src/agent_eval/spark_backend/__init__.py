"""Spark-X2.5 in this process: builds of a checkpoint, the model over them, the probe of the machine, the selector.

Names load their module when they are first used, so that importing the package, and what needs no torch, stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_eval.spark_backend.builds import BUILDS, LoadedBuild, load_build
    from agent_eval.spark_backend.checkpoints.config import SparkConfig
    from agent_eval.spark_backend.checkpoints.digest import checkpoint_digest
    from agent_eval.spark_backend.checkpoints.loader import Card, checkpoint_kind, read_card
    from agent_eval.spark_backend.checkpoints.shapes import SHAPES
    from agent_eval.spark_backend.checkpoints.synthetic import synthetic_checkpoint
    from agent_eval.spark_backend.checkpoints.writer import save_checkpoint
    from agent_eval.spark_backend.model import Spark
    from agent_eval.spark_backend.probe import physical_cores, probe_machine, usable_cores
    from agent_eval.spark_backend.spark import SparkModel
    from agent_eval.spark_backend.torch_engine import TorchEngine
    from agent_eval.spark_backend.weight_path import select

_HOME = {
    "BUILDS": "builds",
    "SHAPES": "checkpoints.shapes",
    "Card": "checkpoints.loader",
    "LoadedBuild": "builds",
    "Spark": "model",
    "SparkConfig": "checkpoints.config",
    "SparkModel": "spark",
    "TorchEngine": "torch_engine",
    "checkpoint_digest": "checkpoints.digest",
    "checkpoint_kind": "checkpoints.loader",
    "load_build": "builds",
    "physical_cores": "probe",
    "probe_machine": "probe",
    "read_card": "checkpoints.loader",
    "save_checkpoint": "checkpoints.writer",
    "select": "weight_path",
    "synthetic_checkpoint": "checkpoints.synthetic",
    "usable_cores": "probe",
}

__all__ = [
    "BUILDS",
    "SHAPES",
    "Card",
    "LoadedBuild",
    "Spark",
    "SparkConfig",
    "SparkModel",
    "TorchEngine",
    "checkpoint_digest",
    "checkpoint_kind",
    "load_build",
    "physical_cores",
    "probe_machine",
    "read_card",
    "save_checkpoint",
    "select",
    "synthetic_checkpoint",
    "usable_cores",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
