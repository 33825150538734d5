"""Writing a checkpoint folder: the weights in shards, streamed, then what describes them. Knows no model code.

``config.json`` comes last: a folder in which it stands is whole, and what is left of an interrupted write is no
checkpoint.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from agent_eval.errors import OperatorError
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.folder import (
    CARD_NAME,
    CONFIG_NAME,
    INDEX_NAME,
    TEMPLATE_NAME,
    TOKENIZER_NAME,
    WEIGHTS_NAME,
)
from agent_eval.spark_backend.checkpoints.loader import Card, check_shapes
from agent_eval.spark_backend.checkpoints.tensor_file import Planned, write_tensors

SHARD_BYTES = 4_000_000_000
"""Bytes of weights per file unless asked for otherwise; file systems of memory cards end at 4 GiB."""


def save_checkpoint(
    folder: Path,
    config: SparkConfig,
    state: Mapping[str, Tensor],
    *,
    tokenizer_json: str,
    chat_template: str,
    card: Card | None = None,
    dtype: torch.dtype = torch.bfloat16,
) -> None:
    """Write a checkpoint folder.

    Args:
        folder: Made if it is not there; files of the same names are replaced.
        config: The architecture.
        state: Tensors under checkpoint names, such as ``Spark.checkpoint_state()`` returns.
        tokenizer_json: Contents of ``tokenizer.json``.
        chat_template: Contents of ``chat_template.jinja``.
        card: Contents of ``card.json``; none is written without it.
        dtype: Type that the weights are stored in.

    Raises:
        CheckpointError: the tensors are not those of the config.
        OperatorError: the folder cannot be written.
    """
    shapes = {name: tuple(tensor.shape) for name, tensor in state.items()}
    check_shapes(shapes, config.tensor_shapes(), "the state to save")
    plan = {name: Planned(dtype, shape) for name, shape in config.tensor_shapes().items()}
    write_weights(folder, plan, lambda name: [state[name].detach().to("cpu", dtype)])
    describe_checkpoint(folder, config.to_dict(), tokenizer_json=tokenizer_json, chat_template=chat_template, card=card)


def write_weights(
    folder: Path,
    plan: Mapping[str, Planned],
    parts: Callable[[str], Iterable[Tensor]],
    *,
    shard_bytes: int = SHARD_BYTES,
    tell: Callable[[str], None] | None = None,
) -> None:
    """Write the weight files of a folder: one file, or shards with an index where one would be too large.

    Args:
        folder: Made if it is not there; weight files that it holds are replaced.
        plan: Every tensor, in the order in which they are to lie.
        parts: Given a name, the tensor's rows from first to last, in pieces of any height.
        shard_bytes: Most bytes of one file; a single larger tensor still gets a file of its own.
        tell: Gets a line when a file is written.

    Raises:
        OperatorError: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # an older description or index must not speak for new weights, nor an old shard lie beside them
        for old in (folder / CONFIG_NAME, folder / INDEX_NAME, *folder.glob("model*.safetensors")):
            old.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from None
    shards = _shards(plan, shard_bytes)
    names = _file_names(len(shards))
    for name, shard in zip(names, shards, strict=True):
        write_tensors(folder / name, {tensor: plan[tensor] for tensor in shard}, parts)
        if tell is not None:
            tell(f"{folder / name}: {len(shard)} tensors, {sum(plan[tensor].nbytes for tensor in shard) / 1e9:.2f} GB")
    if len(shards) > 1:
        where = {tensor: name for name, shard in zip(names, shards, strict=True) for tensor in shard}
        total = sum(planned.nbytes for planned in plan.values())
        _write_json(folder / INDEX_NAME, {"metadata": {"total_size": total}, "weight_map": where})


def describe_checkpoint(
    folder: Path, config: Mapping[str, Any], *, tokenizer_json: str, chat_template: str, card: Card | None = None
) -> None:
    """Write what stands beside the weights, ``config.json`` last.

    Raises:
        OperatorError: the folder cannot be written.
    """
    try:
        (folder / TOKENIZER_NAME).write_text(tokenizer_json, encoding="utf-8")
        (folder / TEMPLATE_NAME).write_text(chat_template, encoding="utf-8")
        if card is not None:
            _write_json(folder / CARD_NAME, {"name": card.name, "kind": card.kind, **card.details})
        _write_json(folder / CONFIG_NAME, config)
    except OSError as error:
        raise _unwritable(folder, error) from None


def _shards(plan: Mapping[str, Planned], limit: int) -> list[list[str]]:
    """Cut the tensors, in order, into runs of at most ``limit`` bytes each."""
    shards: list[list[str]] = [[]]
    room = limit
    for name, planned in plan.items():
        if shards[-1] and planned.nbytes > room:
            shards.append([])
            room = limit
        shards[-1].append(name)
        room -= planned.nbytes
    return shards


def _file_names(count: int) -> list[str]:
    if count == 1:
        return [WEIGHTS_NAME]
    return [f"model-{number:05}-of-{count:05}.safetensors" for number in range(1, count + 1)]


def _write_json(path: Path, data: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _unwritable(folder: Path, error: OSError) -> OperatorError:
    return OperatorError(
        f"{folder} cannot be written: {error.strerror or error}", hint="choose a folder that you may write"
    )
