"""Writing GGUF files: named values, then tensors, each streamed in parts. Knows no model and no quantiser.

The layout is that of ``docs/gguf.md`` in ggml's repository, version 3: little-endian; a header, the metadata, one
entry per tensor, then the tensors' bytes, each from a multiple of the alignment. What a block of each type holds is in
``ggml-common.h`` of llama.cpp.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import BinaryIO

from agent_eval.errors import OperatorError

MAGIC = b"GGUF"
VERSION = 3
ALIGNMENT = 32
"""Bytes; the format's default, so that it need not be stated in the file."""

Scalar = bool | int | float | str
Value = Scalar | Sequence[bool] | Sequence[int] | Sequence[str]
"""What metadata holds. A whole number is written as uint32, in a list as int32; a fraction as float32."""


class BlockType(Enum):
    """How a tensor's weights are stored: ggml's number of the type, weights in a block, bytes of a block."""

    F32 = (0, 1, 4)
    F16 = (1, 1, 2)
    Q5_0 = (6, 32, 22)
    Q8_0 = (8, 32, 34)
    Q4_K = (12, 256, 144)
    Q6_K = (14, 256, 210)
    BF16 = (30, 1, 2)

    def __init__(self, number: int, weights: int, size: int) -> None:
        self.number = number
        self.weights = weights
        self.size = size

    def bytes_of(self, shape: Sequence[int]) -> int:
        """Return the bytes of a tensor; its rows must be whole blocks."""
        assert shape[-1] % self.weights == 0, f"rows of {shape[-1]} are no whole blocks of {self.name}"
        return math.prod(shape) // self.weights * self.size


@dataclass(frozen=True)
class PlannedTensor:
    """A tensor that a file is to hold."""

    name: str
    shape: tuple[int, ...]
    """As torch writes it: the width of a row last."""
    type: BlockType
    parts: Callable[[], Iterable[bytes | memoryview]]
    """Yields its bytes, from the first row to the last, when the tensor's turn comes."""

    @property
    def size(self) -> int:
        """Bytes of its data."""
        return self.type.bytes_of(self.shape)


def write_gguf(path: Path, metadata: Mapping[str, Value], tensors: Sequence[PlannedTensor]) -> None:
    """Write a file; it appears under its name when it is whole.

    Raises:
        OperatorError: it cannot be written.
    """
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")  # two processes may convert the same model
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = unfinished.open("wb")
        try:
            with file:
                file.write(_header(metadata, tensors))
                for tensor in tensors:
                    _write_tensor(file, tensor)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise OperatorError(
            f"{path} cannot be written: {error.strerror}", hint="free some space, or name another folder"
        ) from None


def _header(metadata: Mapping[str, Value], tensors: Sequence[PlannedTensor]) -> bytes:
    parts = [MAGIC, struct.pack("<IQQ", VERSION, len(tensors), len(metadata))]
    parts += [_string(name) + _value(value) for name, value in metadata.items()]
    offset = 0
    for tensor in tensors:
        sizes = tensor.shape[::-1]  # ggml names the width of a row first
        parts.append(_string(tensor.name) + struct.pack("<I", len(sizes)) + struct.pack(f"<{len(sizes)}Q", *sizes))
        parts.append(struct.pack("<IQ", tensor.type.number, offset))
        offset += tensor.size + _padding(tensor.size)
    header = b"".join(parts)
    return header + bytes(_padding(len(header)))


def _write_tensor(file: BinaryIO, tensor: PlannedTensor) -> None:
    written = sum(file.write(part) for part in tensor.parts())
    assert written == tensor.size, f"{tensor.name}: {written} bytes were written, {tensor.size} announced"
    file.write(bytes(_padding(tensor.size)))


def _padding(size: int) -> int:
    return -size % ALIGNMENT


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value: Value) -> bytes:
    number, data = _typed(value)
    return struct.pack("<I", number) + data


def _typed(value: Value) -> tuple[int, bytes]:
    """Return gguf_metadata_value_type and the bytes of a value."""
    match value:
        case bool():
            return 7, struct.pack("<?", value)
        case int():
            return 4, struct.pack("<I", value)
        case float():
            return 6, struct.pack("<f", value)
        case str():
            return 8, _string(value)
        case _:
            entries = [(5, struct.pack("<i", entry)) if type(entry) is int else _typed(entry) for entry in value]
            assert entries, "an empty list says nothing of the type of its entries"
            return 9, struct.pack("<IQ", entries[0][0], len(entries)) + b"".join(data for _, data in entries)
