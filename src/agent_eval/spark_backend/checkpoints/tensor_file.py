"""One safetensors file: its header checked, its tensors mapped; and written tensor by tensor. Knows no model.

Format (huggingface/safetensors, README): eight bytes with the header's length, little-endian; the header, a JSON object
from names to ``{"dtype", "shape", "data_offsets"}``, padded with spaces; then the tensors without gaps. Everything the
header says is held against the size of the file before a tensor is touched. A mapped tensor takes no memory of its own:
its pages are the file's, read when they are used, and dropped by the system when it needs room.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import mmap
import os
import shutil
import struct
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from agent_eval.errors import CheckpointError, OperatorError

DTYPES: dict[str, torch.dtype] = {
    "BF16": torch.bfloat16,
    "F16": torch.float16,
    "F32": torch.float32,
    "F64": torch.float64,
    "I8": torch.int8,
    "I16": torch.int16,
    "I32": torch.int32,
    "I64": torch.int64,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
"""Names of element types in the format that torch can compute with here."""

MAX_HEADER_BYTES = 100_000_000
"""The format's own limit (safetensors, src/tensor.rs)."""

_ALIGNMENT = 64  # of the first tensor: a cache line, so that kernels may read mapped rows with aligned loads
_LFS_POINTER = b"version "  # git-lfs, docs/spec.md; as a length it would be 2.3e18
_NAMES = {dtype: name for name, dtype in DTYPES.items()}


class Entry(NamedTuple):
    """Where one tensor lies."""

    dtype: str
    """Name in the format; one that ``DTYPES`` lacks can be named in a message, not read."""
    shape: tuple[int, ...]
    start: int
    """Bytes from the begin of the file."""
    end: int


class TensorFile:
    """A safetensors file that is read by mapping it.

    Args:
        path: The file.

    Raises:
        CheckpointError: on construction, if the header and the size of the file do not fit together.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                self._size = os.fstat(file.fileno()).st_size
                self.entries = _read_header(file.read, self._size)
        except _Pointer:
            raise CheckpointError(
                f"{path} cannot be read as safetensors: it is a pointer of Git LFS, not the weights",
                hint="run `git lfs pull` in the folder, or download the file by itself",
            ) from None
        except OSError as error:
            raise unreadable(path, error.strerror or str(error)) from None
        except _Damaged as error:
            raise unreadable(path, str(error)) from None
        self._bytes: Tensor | None = None

    def tensor(self, name: str) -> Tensor:
        """Return a tensor whose data is the mapped file; writing to it changes no file.

        Raises:
            CheckpointError: its type is none that can be read, or the file has changed or cannot be mapped.
        """
        return self._read(name, self.entries[name])

    def stacked(self, names: Sequence[str]) -> Tensor | None:
        """Return tensors that lie one behind the other in the file as one tensor; None if they do not.

        Raises:
            CheckpointError: as for ``tensor``.
        """
        entries = [self.entries[name] for name in names]
        first, last = entries[0], entries[-1]
        if any(
            before.end != after.start or (before.dtype, before.shape[1:]) != (after.dtype, after.shape[1:])
            for before, after in pairwise(entries)
        ):
            return None
        rows = sum(entry.shape[0] for entry in entries)
        return self._read(names[0], Entry(first.dtype, (rows, *first.shape[1:]), first.start, last.end))

    def release(self, held: Iterable[Tensor] = ()) -> None:
        """Let go of the pages that were read; whoever touches one again gets it from the file, as at first.

        A program that converts a checkpoint needs each page once. Until the system wants the room the pages count as
        the program's, and whoever looks at it sees a program that holds the whole checkpoint.

        Args:
            held: Tensors whose pages stay, since they are about to be used. Those of other memory do not matter. A
                tensor of this file that was written to must be among them.
        """
        if self._bytes is None or not sys.platform.startswith("linux"):
            return
        base = self._bytes.data_ptr()
        spans = sorted((tensor.data_ptr() - base, tensor.data_ptr() - base + tensor.nbytes) for tensor in held)
        at = 0
        for start, end in [*(span for span in spans if 0 <= span[0] < self._size), (self._size, self._size)]:
            first = -(-at // mmap.PAGESIZE) * mmap.PAGESIZE
            last = start if start == self._size else start // mmap.PAGESIZE * mmap.PAGESIZE
            if first < last:  # madvise(2); what it cannot do it leaves, and nothing depends on it
                advise = ctypes.CDLL(None).madvise
                advise(ctypes.c_void_p(base + first), ctypes.c_size_t(last - first), ctypes.c_int(mmap.MADV_DONTNEED))
            at = max(at, end)

    def _read(self, name: str, entry: Entry) -> Tensor:
        dtype = DTYPES.get(entry.dtype)
        if dtype is None:
            raise CheckpointError(
                f"tensor {name} in {self.path} is of type {entry.dtype}, expected one of: {', '.join(DTYPES)}",
                hint="this program cannot read the type; convert the checkpoint to bfloat16",
            )
        if entry.start == entry.end:
            return torch.empty(entry.shape, dtype=dtype)
        data = self._mapped()[entry.start : entry.end]
        if entry.start % dtype.itemsize:  # a header of odd length, which the format allows
            data = data.clone()
        return data.view(dtype).view(entry.shape)

    def _mapped(self) -> Tensor:
        if self._bytes is None:
            try:
                if self.path.stat().st_size != self._size:  # a mapping past the end would end the process
                    raise unreadable(self.path, "it has changed since it was opened")
                self._bytes = torch.from_file(str(self.path), shared=False, size=self._size, dtype=torch.uint8)
            except (OSError, RuntimeError) as error:
                raise unreadable(self.path, str(error)) from None
        return self._bytes


class Planned(NamedTuple):
    """A tensor that is to be written."""

    dtype: torch.dtype
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """Bytes that its data takes."""
        return math.prod(self.shape) * self.dtype.itemsize


def write_tensors(path: Path, plan: Mapping[str, Planned], parts: Callable[[str], Iterable[Tensor]]) -> None:
    """Write one file, a part of a tensor at a time, so that no more than a part is ever in memory.

    The file appears under its name when it is whole.

    Args:
        path: The file; one of that name is replaced.
        plan: Every tensor, in the order in which they are to lie.
        parts: Given a name, the tensor's rows from first to last, in pieces of any height.

    Raises:
        OperatorError: the file cannot be written.
        ValueError: the parts of a tensor are not what was planned.
    """
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name, planned in plan.items():
        header[name] = {
            "dtype": _NAMES[planned.dtype],
            "shape": list(planned.shape),
            "data_offsets": [at, at + planned.nbytes],
        }
        at += planned.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % _ALIGNMENT)
    partial = path.with_name(path.name + ".partial")
    try:
        _require_room(path.parent, at + len(text))
        with partial.open("wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            for name, planned in plan.items():
                written = 0
                for part in parts(name):
                    if part.dtype != planned.dtype:
                        raise ValueError(f"{name}: a part is of type {part.dtype}, planned was {planned.dtype}")
                    data = part.detach().contiguous().reshape(-1).view(torch.uint8)
                    written += file.write(data.numpy().data)
                if written != planned.nbytes:
                    raise ValueError(f"{name}: the parts have {written} bytes, planned were {planned.nbytes}")
        partial.replace(path)
    except OSError as error:
        raise OperatorError(
            f"{path} cannot be written: {error.strerror or error}", hint="choose a folder with room that you may write"
        ) from None
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)


def _require_room(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise OperatorError(
            f"{folder} has {free / 1e9:.1f} GB free, expected at least {needed / 1e9:.1f} GB",
            hint="free some room or choose another folder",
        )


def unreadable(path: Path, why: str) -> CheckpointError:
    """Return the error for a weight file that is not what it should be."""
    return CheckpointError(
        f"{path} cannot be read as safetensors: {why}",
        hint="the file is cut off or damaged; download it again and compare its size",
    )


class _Damaged(ValueError):
    """What a header says cannot be."""


class _Pointer(_Damaged):
    """The file stands for another one, which was not downloaded."""


def _read_header(read: Callable[[int], bytes], size: int) -> dict[str, Entry]:
    if size < 8:
        raise _Damaged(f"it has {size} bytes, expected at least 8")
    begin = read(8)
    if begin == _LFS_POINTER:
        raise _Pointer
    (length,) = struct.unpack("<Q", begin)
    if length > min(size - 8, MAX_HEADER_BYTES):
        raise _Damaged(f"its header has {length} bytes, expected at most {min(size - 8, MAX_HEADER_BYTES)}")
    try:
        header = json.loads(read(length).decode("utf-8"), object_pairs_hook=_object)
    except _Damaged:
        raise
    except (ValueError, RecursionError) as error:  # no UTF-8, no JSON, a number of thousands of digits, deep nesting
        raise _Damaged(f"its header is no JSON: {error}") from None
    if not isinstance(header, dict):
        raise _Damaged(f"its header is a {type(header).__name__}, expected an object")
    header.pop("__metadata__", None)
    entries = {name: _entry(name, value, 8 + length) for name, value in header.items()}
    at = 8 + length
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].start, item[1].end)):
        if entry.start != at:
            raise _Damaged(f"tensor {name} begins at byte {entry.start}, expected {at}, where the one before ends")
        if entry.end > size:
            raise _Damaged(f"tensor {name} ends at byte {entry.end}, the file has {size}")
        at = entry.end
    if at != size:
        raise _Damaged(f"its tensors end at byte {at}, the file has {size}")
    return entries


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise _Damaged(f"its header has {max(names, key=names.count)!r} twice")
    return found


def _entry(name: str, value: object, data_start: int) -> Entry:
    try:
        dtype, shape, (start, end) = value["dtype"], value["shape"], value["data_offsets"]  # type: ignore[index]
    except (TypeError, KeyError, ValueError):
        raise _Damaged(f"tensor {name} has no dtype, shape and two data_offsets") from None
    whole = isinstance(shape, list) and all(_is_size(number) for number in [*shape, start, end])
    if not (whole and isinstance(dtype, str) and start <= end):
        raise _Damaged(f"tensor {name} has dtype {dtype!r}, shape {shape!r} and data_offsets {[start, end]!r}")
    known = DTYPES.get(dtype)
    if known is not None and end - start != math.prod(shape) * known.itemsize:
        raise _Damaged(f"tensor {name} has shape {shape} of {dtype} in {end - start} bytes")
    return Entry(dtype, tuple(shape), data_start + start, data_start + end)


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
