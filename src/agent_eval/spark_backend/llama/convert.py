"""A checkpoint folder to a GGUF file, row by row, with llama.cpp's own quantiser. Knows no engine.

The quantiser is called, not rewritten: the build is a peer, and its weights are to be what its own tool would make.
Peak memory is a few thousand rows in float32, whatever the size of the model.
"""

from __future__ import annotations

import ctypes
import json
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.folder import TEMPLATE_NAME, TOKENIZER_NAME
from agent_eval.spark_backend.checkpoints.loader import Weights, read_card
from agent_eval.spark_backend.llama import library, mixture
from agent_eval.spark_backend.llama.gguf import BlockType, PlannedTensor, Value, write_gguf
from agent_eval.spark_backend.llama.mixture import Mixture, Named
from agent_eval.spark_backend.quant.rows import RowSource, chunks

START_TOKEN = "<｜start▁of▁sentence｜>"  # noqa: S105  a token of text
"""Tells the published tokenizer, whose way of splitting text llama.cpp knows, from others."""

ROWS_AT_ONCE = 256
"""Rows that one thread quantises at a time: 2 MiB of float32 at a width of 2048."""

_CONTROL, _NORMAL, _UNUSED = 3, 1, 5
"""llama_token_type in ``llama.h``."""

_PLAIN = {BlockType.F32: torch.float32, BlockType.F16: torch.float16, BlockType.BF16: torch.bfloat16}
"""Types that are a torch type; the others are quantised."""


def convert(
    folder: Path, build: Mixture, path: Path, *, threads: int = 1, tell: Callable[[str], None] | None = None
) -> None:
    """Write a build of a checkpoint as a GGUF file.

    Args:
        folder: The checkpoint.
        build: How each tensor is stored.
        path: The file; it appears when it is whole.
        threads: Threads that quantise.
        tell: Gets a line for every tenth part of the tensors.

    Raises:
        CheckpointError: the folder cannot be loaded, or llama.cpp has no such model.
        OperatorError: llama.cpp is not installed, or the file cannot be written.
    """
    config = SparkConfig.from_folder(folder)
    described = mixture.metadata(config, build, read_card(folder).name) | _tokenizer(folder, config)
    weights = Weights(folder, config)
    named = list(mixture.tensors(config, build))
    if any(tensor.type not in _PLAIN for tensor in named):
        library.load()  # before threads ask for it at once: of two, the one that is dropped takes the log with it
    with ThreadPoolExecutor(threads) as pool:
        planned = [
            PlannedTensor(tensor.name, tensor.shape, tensor.type, partial(_parts, weights, tensor, pool, threads))
            for tensor in named
        ]
        if tell is not None:
            planned = _announced(planned, path, tell)
        write_gguf(path, described, planned)


def _announced(planned: list[PlannedTensor], path: Path, tell: Callable[[str], None]) -> list[PlannedTensor]:
    """Return the tensors, some of which say how far the file is when their turn comes."""
    step = max(len(planned) // 10, 1)

    def said(i: int, tensor: PlannedTensor) -> Iterator[bytes | memoryview]:
        tell(f"{path.name}: tensor {i} of {len(planned)}")
        yield from tensor.parts()

    return [
        PlannedTensor(tensor.name, tensor.shape, tensor.type, partial(said, i, tensor)) if i % step == 0 else tensor
        for i, tensor in enumerate(planned)
    ]


def _parts(weights: Weights, tensor: Named, pool: ThreadPoolExecutor, threads: int) -> Iterator[memoryview]:
    if len(tensor.shape) == 1:
        yield _plain(weights[tensor.origin], tensor.type)
        return
    source = weights.source(tensor.origin)
    pending: deque[Future[memoryview]] = deque()
    for start, end in chunks(tensor.shape[0], ROWS_AT_ONCE):
        pending.append(pool.submit(_encoded, source, start, end, tensor))
        if len(pending) > threads:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()


def _encoded(source: RowSource, start: int, end: int, tensor: Named) -> memoryview:
    rows = source.rows(start, end)
    if not torch.isfinite(rows).all():
        raise CheckpointError(
            f"tensor {tensor.origin} holds values that are not finite", hint="the file is damaged; download it again"
        )
    return _plain(rows, tensor.type) if tensor.type in _PLAIN else quantised(rows, tensor.type)


def _plain(tensor: Tensor, type_: BlockType) -> memoryview:
    return tensor.to(_PLAIN[type_]).contiguous().view(torch.uint8).numpy().data.cast("B")


def quantised(rows: Tensor, type_: BlockType) -> memoryview:
    """Return rows (N, K) as blocks, as llama.cpp quantises them without a matrix of importance."""
    values = rows.float().contiguous()
    blocks = bytearray(type_.bytes_of(values.shape))
    written = library.load().ggml_quantize_chunk(
        type_.number,
        values.data_ptr(),
        ctypes.addressof(ctypes.c_char.from_buffer(blocks)),
        0,
        values.shape[0],
        values.shape[1],
        None,
    )
    assert written == len(blocks), f"{written} bytes of {type_.name} were written, expected {len(blocks)}"
    return memoryview(blocks)


def _tokenizer(folder: Path, config: SparkConfig) -> dict[str, Value]:
    """Return the tokenizer and template for other programs; none where llama.cpp would split text otherwise."""
    try:
        content = json.loads((folder / TOKENIZER_NAME).read_text(encoding="utf-8"))
        vocabulary: dict[str, int] = content["model"]["vocab"]
        merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in content["model"]["merges"]]
        added = {token["content"]: token["id"] for token in content["added_tokens"]}
    except (OSError, ValueError, KeyError, TypeError):
        return {"tokenizer.ggml.model": "none"}  # what reads text says what is wrong with the file
    if START_TOKEN not in vocabulary | added or not merges:
        return {"tokenizer.ggml.model": "none"}
    tokens = [f"[PAD{i}]" for i in range(config.vocab_size)]
    types = [_UNUSED] * config.vocab_size
    for token, i in (vocabulary | added).items():
        tokens[i], types[i] = token, _CONTROL if token in added else _NORMAL
    found: dict[str, Value] = {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": mixture.ARCHITECTURE,
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": types,
        "tokenizer.ggml.merges": merges,
        "tokenizer.ggml.bos_token_id": config.bos_token_id,
        "tokenizer.ggml.eos_token_id": config.eos_token_ids[0],
        "tokenizer.ggml.add_bos_token": False,
    }
    if config.pad_token_id is not None:
        found["tokenizer.ggml.padding_token_id"] = config.pad_token_id
    template = folder / TEMPLATE_NAME
    if template.exists():
        found["tokenizer.chat_template"] = template.read_text(encoding="utf-8")
    return found
