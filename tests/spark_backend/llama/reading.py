"""A small reader of GGUF files, written from the format's description and sharing nothing with the writer."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


class Found(NamedTuple):
    """A tensor's entry."""

    sizes: tuple[int, ...]
    """The width of a row first."""
    type: int
    offset: int
    """From the begin of the data."""


@dataclass(frozen=True)
class GgufFile:
    metadata: dict[str, Any]
    types: dict[str, int]
    """Of metadata, by key; 100 + the type of an entry for lists."""
    tensors: dict[str, Found]
    data: bytes

    def bytes_of(self, name: str, size: int) -> bytes:
        start = self.tensors[name].offset
        return self.data[start : start + size]


class _Cursor:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, form: str) -> Any:
        value = struct.unpack_from("<" + form, self.data, self.at)[0]
        self.at += struct.calcsize("<" + form)
        return value

    def text(self) -> str:
        length = self.take("Q")
        self.at += length
        return self.data[self.at - length : self.at].decode()

    def value(self, type_: int) -> Any:
        if type_ == 8:
            return self.text()
        return self.take(_SCALARS[type_])


def read_gguf(path: Path) -> GgufFile:
    cursor = _Cursor(path.read_bytes())
    assert (cursor.take("I"), cursor.take("I")) == (0x46554747, 3)
    tensors, values = cursor.take("Q"), cursor.take("Q")
    metadata, types = {}, {}
    for _ in range(values):
        key, type_ = cursor.text(), cursor.take("I")
        if type_ == 9:
            inner, count = cursor.take("I"), cursor.take("Q")
            metadata[key], types[key] = [cursor.value(inner) for _ in range(count)], 100 + inner
        else:
            metadata[key], types[key] = cursor.value(type_), type_
    found = {}
    for _ in range(tensors):
        name, dimensions = cursor.text(), cursor.take("I")
        sizes = tuple(cursor.take("Q") for _ in range(dimensions))
        found[name] = Found(sizes, cursor.take("I"), cursor.take("Q"))
    start = -(-cursor.at // 32) * 32
    return GgufFile(metadata, types, found, cursor.data[start:])
