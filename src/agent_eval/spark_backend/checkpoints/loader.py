"""The weights of a checkpoint folder, every tensor checked when it is opened, mapped when it is asked for.

Opening reads headers only: what does not fit together is refused before memory is taken. Reading maps: a tensor is the
file's own pages. Knows no model code, and of quantised folders only that they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from torch import Tensor

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.folder import CARD_NAME, CONFIG_NAME, read_json, weight_files
from agent_eval.spark_backend.checkpoints.tensor_file import TensorFile
from agent_eval.spark_backend.quant.rows import RowSource, StackedRows

if TYPE_CHECKING:
    from agent_eval.spark_backend.quant.formats import QuantisedWeights

CheckpointKind = Literal["embedded", "published", "synthetic", "constructed"]
"""Synthetic: random weights. Constructed: another checkpoint's, made hard to quantise (``outliers.py``)."""

_TYPES = ("BF16", "F32")


@dataclass(frozen=True)
class Card:
    """What a checkpoint says about itself."""

    name: str
    kind: CheckpointKind = "published"
    details: Mapping[str, Any] = field(default_factory=dict)
    """Whatever else ``card.json`` holds, such as a training manifest."""


def read_card(folder: Path) -> Card:
    """Return the card of a checkpoint folder; one without a card counts as published under the folder's name.

    Raises:
        CheckpointError: the card cannot be read, or its kind is unknown.
    """
    path = folder / CARD_NAME
    if not path.exists():
        return Card(name=folder.resolve().name)
    data = read_json(path)
    kind = data.pop("kind", "published")
    if kind not in get_args(CheckpointKind):
        raise CheckpointError(
            f"{path}: kind is {kind!r}, expected one of: {', '.join(get_args(CheckpointKind))}",
            hint="correct the card or remove it; without a card a checkpoint counts as published",
        )
    return Card(name=str(data.pop("name", folder.resolve().name)), kind=kind, details=data)


def checkpoint_kind(folder: Path) -> CheckpointKind:
    """Return the kind that a checkpoint's card states, ``published`` without a card."""
    return read_card(folder).kind


def open_weights(folder: Path, config: SparkConfig) -> Weights | QuantisedWeights:
    """Open the weights of a checkpoint folder, quantised or not.

    Raises:
        CheckpointError: a file is missing or damaged, the weights are not of this config, or the folder is quantised
            in a way that cannot be read.
    """
    quantised = read_json(folder / CONFIG_NAME).get("quantization_config")
    if quantised is None:
        return Weights(folder, config)
    from agent_eval.spark_backend.quant import formats  # only where needed: most folders are not quantised

    return formats.open_quantised(folder, config)


class Weights(Mapping[str, Tensor]):
    """The tensors of an unquantised checkpoint folder.

    Args:
        folder: The checkpoint.
        config: Its config.

    Raises:
        CheckpointError: on construction, if a file is missing, damaged, or not of this config.
    """

    def __init__(self, folder: Path, config: SparkConfig) -> None:
        where = locate_tensors(folder)
        if config.tie_word_embeddings:
            # some exporters store the tied head a second time; the embedding decides
            where = {name: file for name, file in where.items() if not name.startswith("lm_head.")}
        for name, file in where.items():
            found = file.entries[name].dtype
            if found not in _TYPES:
                raise CheckpointError(
                    f"tensor {name} in {file.path.name} is of type {found}, expected one of: {', '.join(_TYPES)}",
                    hint="pass the checkpoint in bfloat16; a quantised one says so in its config.json",
                )
        files = ", ".join(dict.fromkeys(file.path.name for file in where.values()))
        shapes = {name: file.entries[name].shape for name, file in where.items()}
        check_shapes(shapes, config.tensor_shapes(), files)
        self._where = where

    def __getitem__(self, name: str) -> Tensor:
        return self._where[name].tensor(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._where)

    def __len__(self) -> int:
        return len(self._where)

    def source(self, *names: str) -> RowSource:
        """Return matrices of one width, one above the other, to be read row by row."""
        files = {self._where[name] for name in names}
        if len(files) == 1:
            # exporters write names in order, and gate comes before up: what lies together is not copied to be stacked
            whole = files.pop().stacked(names)
            if whole is not None:
                return StackedRows([whole])
        return StackedRows([self[name] for name in names])

    def release(self, held: Iterable[Tensor]) -> None:
        """Let go of the pages of the files that were read; those of the tensors in ``held`` stay."""
        release_files(self._where.values(), held)


def locate_tensors(folder: Path) -> dict[str, TensorFile]:
    """Open the weight files of a folder and return, for every tensor in them, its file.

    Raises:
        CheckpointError: a file is missing or damaged, or a tensor lies in two files.
    """
    where: dict[str, TensorFile] = {}
    for path in weight_files(folder):
        file = TensorFile(path)
        for name in file.entries:
            if name in where:
                raise CheckpointError(
                    f"tensor {name} lies in {where[name].path.name} and in {path.name}, expected it once",
                    hint="the shards are of two checkpoints; download all of them again",
                )
            where[name] = file
    return where


def release_files(files: Iterable[TensorFile], held: Iterable[Tensor]) -> None:
    """Let go of the pages that were read of some files, each named any number of times; see ``TensorFile.release``."""
    held = list(held)
    for file in set(files):
        file.release(held)


def check_shapes(found: Mapping[str, tuple[int, ...]], expected: Mapping[str, tuple[int, ...]], where: str) -> None:
    """Hold the names and shapes of tensors against what a config asks for.

    Args:
        found: Of the tensors that are there.
        expected: Of the tensors that there must be, no more and no less.
        where: What the messages call the place.

    Raises:
        CheckpointError: names the first tensor that is missing, of another shape, or too many.
    """
    for name, shape in expected.items():
        if name not in found:
            raise CheckpointError(
                f"tensor {name} is missing from {where}, expected shape {list(shape)}",
                hint="download every weight file; config.json and the weights must be of one checkpoint",
            )
        if found[name] != shape:
            raise CheckpointError(
                f"tensor {name} in {where} has shape {list(found[name])}, expected {list(shape)}",
                hint="config.json and the weights must be of one checkpoint",
            )
    extra = sorted(name for name in found if name not in expected)
    if extra:
        raise CheckpointError(
            f"tensor {extra[0]} in {where} is not part of this architecture ({len(extra)} such), expected "
            f"{len(expected)} tensors",
            hint="config.json and the weights must be of one checkpoint; num_hidden_layers may be too low",
        )
