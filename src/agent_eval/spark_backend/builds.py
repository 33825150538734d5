"""The builds that a checkpoint can be run in: a name to a scheme, and a folder to a running engine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.loader import Weights, open_weights
from agent_eval.spark_backend.description import BuildDescription, describe
from agent_eval.spark_backend.kernels import library
from agent_eval.spark_backend.ledger import ledger, require_room
from agent_eval.spark_backend.meter import release_memory
from agent_eval.spark_backend.model import Spark
from agent_eval.spark_backend.probe import available_memory
from agent_eval.spark_backend.quant.dense import Unquantised, dense_layer
from agent_eval.spark_backend.quant.formats import Found, QuantisedWeights
from agent_eval.spark_backend.quant.grouped import Grouped
from agent_eval.spark_backend.quant.name import FORMS, GROUPS, BuildName, DenseName, GroupedName, group_for, parse_build
from agent_eval.spark_backend.quant.rounding import Rounding
from agent_eval.spark_backend.quant.scheme import Scheme
from agent_eval.spark_backend.torch_engine import TorchEngine

if TYPE_CHECKING:
    from agent_eval.spark_backend.kernels.library import Library

__all__ = [
    "BUILDS",
    "DEFAULT_CONTEXT",
    "FORMS",
    "LoadedBuild",
    "describe_build",
    "load_build",
    "parse_build",
]

BUILDS = ("bf16", "w4a16", "w4a8")
"""The builds of the main job; any other name of the grammar (``quant/name.py``) is a build too."""

_HEAD_PASSES = 4  # of the measurement; the first reads the file

DEFAULT_CONTEXT = 16_384
"""Tokens of prompt and generation together, unless asked for otherwise or the model was made for fewer."""


@dataclass(frozen=True)
class LoadedBuild:
    """A build that is ready to run."""

    name: str
    config: SparkConfig
    engine: TorchEngine
    description: BuildDescription

    @property
    def notes(self) -> str:
        """What is quantised and how, and which kernels serve."""
        return self.description.notes


def load_build(
    folder: Path, name: str, *, threads: int, context: int = DEFAULT_CONTEXT, rounding: Rounding = "search"
) -> LoadedBuild:
    """Load one build of a checkpoint.

    Args:
        folder: The checkpoint; a quantised one decides its weights, and the name must fit them.
        name: A word of the grammar (``quant/name.py``).
        threads: Threads that may compute.
        context: Most tokens of prompt and generation together.
        rounding: How codes are chosen where the checkpoint has none.

    Raises:
        UnknownName: there is no such build.
        CheckpointError: the folder cannot be loaded, or its shapes or codes do not suit the build.
        OperatorError: it does not fit into memory with that context.
    """
    plan = _plan(folder, parse_build(name), rounding)
    require_room(ledger(plan.config, plan.description(), context), available_memory())
    if plan.kernels is not None:
        plan.kernels.set_threads(threads)
    # rounding works on small parts: torch's threads would wait for each other more than they compute
    torch.set_num_threads(1)
    with torch.no_grad():
        model = Spark(plan.config, plan.weights, plan.scheme(threads))
    torch.set_num_threads(threads)
    plan.weights.release(_read_whole(model))
    release_memory()
    engine = TorchEngine(model, threads=threads, context=context, kernels=plan.kernels)
    return LoadedBuild(name, plan.config, engine, plan.description())


def describe_build(folder: Path, name: str, *, rounding: Rounding = "search") -> BuildDescription:
    """Tell what a build of a checkpoint is without loading it.

    Raises:
        UnknownName: there is no such build.
        CheckpointError: as for ``load_build``.
    """
    return _plan(folder, parse_build(name), rounding).description()


@dataclass(frozen=True)
class _Plan:
    """Everything about a build that is decided before memory is taken."""

    name: BuildName
    config: SparkConfig
    weights: Weights | QuantisedWeights
    group: int | None
    kernels: Library | None
    rounding: Rounding

    def scheme(self, threads: int) -> Scheme:
        """Return what makes the layers."""
        compiled = self.kernels is not None
        if isinstance(self.name, DenseName):
            return Unquantised(torch.bfloat16 if self.name.dtype == "bf16" else torch.float32, compiled)
        assert self.group is not None
        return Grouped(
            self.name,
            self.group,
            compiled,
            rounding=self.rounding,
            quantised_folder=isinstance(self.weights, QuantisedWeights),
            threads=threads,
        )

    def description(self) -> BuildDescription:
        """Return what the build is."""
        found = self.weights.found if isinstance(self.weights, QuantisedWeights) else None
        rounding = "plain rounding" if self.rounding == "rtn" else "rounded by search"
        return describe(
            self.config,
            self.name,
            group=self.group,
            origin="" if isinstance(self.name, DenseName) else found.origin if found else rounding,
            kernels=_kernels_note(self.kernels),
            embedding=found.embedding if found else None,
            head=found.head if found else None,
            head_cost=self._head_cost(found) if found else "",
            remarks=found.remarks if found else (),
        )

    def _head_cost(self, found: Found) -> str:
        """Measure what a head that was left in bfloat16 costs, against one like the layers; empty where it was not."""
        if found.head.bits < 16 or not isinstance(self.name, GroupedName):
            return ""
        assert self.group is not None
        compiled = self.kernels is not None
        source = self.weights.source("lm_head.weight")
        few = Grouped(self.name, self.group, compiled, rounding="rtn").linear("lm_head", source)
        layers = (dense_layer(source, torch.bfloat16, compiled=compiled), few)
        row = torch.ones(1, source.shape[1], dtype=torch.bfloat16)
        best = [float("inf"), float("inf")]
        with torch.inference_mode():
            for _ in range(_HEAD_PASSES):
                for i, layer in enumerate(layers):  # in turn, so that a busy neighbour slows both
                    began = perf_counter()
                    layer(row)
                    best[i] = min(best[i], perf_counter() - began)
        dense, packed = (f"{1000 * seconds:.3g} ms" for seconds in best)
        return f"{dense} of every token on this machine, {packed} with {self.name.bits} bits"


def _read_whole(model: Spark) -> list[Tensor]:
    """Return what each token needs of a model's memory; of a table that is no head as well, it needs one row."""
    parts = (model.layers, model.norm, *([] if model.head is None else [model.head]))
    return [tensor for part in parts for tensor in (*part.parameters(), *part.buffers())]


def _plan(folder: Path, name: BuildName, rounding: Rounding) -> _Plan:
    config = SparkConfig.from_folder(folder)
    weights = open_weights(folder, config)
    if isinstance(weights, QuantisedWeights):
        config, group = weights.config, weights.require(name)
    elif isinstance(name, DenseName):
        group = None
    else:
        group = group_of(config, name.group)
    return _Plan(name, config, weights, group, compiled_kernels(), rounding)


def group_of(config: SparkConfig, asked: int | None) -> int:
    """Return how many weights share a scale.

    Raises:
        CheckpointError: a width does not divide into groups of that size.
    """
    widths = {tensor: shape[1] for tensor, shape in config.tensor_shapes().items() if len(shape) == 2}
    group = asked or group_for(list(widths.values()))
    for tensor, width in widths.items():
        if width % group:
            fits = [size for size in GROUPS if all(other % size == 0 for other in widths.values())]
            raise CheckpointError(
                f"{tensor} has {width} columns, expected a multiple of the group size {group}",
                hint=f"name the build with -g{fits[0]}"
                if fits
                else "run bf16: this checkpoint has no width for groups",
            )
    return group


def compiled_kernels() -> Library | None:
    """Return the compiled kernels that serve here, as ``AGENT_EVAL_KERNELS`` allows; None if there are none."""
    return library.load() if library.available() else None


def _kernels_note(kernels: Library | None) -> str:
    if kernels is None:
        return "torch path: the compiled kernels are absent or off"
    return f"kernels: {kernels.isa}" + (f" ({kernels.note})" if kernels.note else "")
