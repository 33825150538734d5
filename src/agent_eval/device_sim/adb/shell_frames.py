"""Frames of the shell protocol, version 2: one byte that says what, four of length, the data. Knows no shell.

AOSP packages/modules/adb/shell_protocol.h. Data for the standard input is passed on as it comes, so that a frame which
announces four gigabytes costs nothing.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple

_HEADER = struct.Struct("<BI")
_LARGEST_OUT = 65536
_LARGEST_SIZE = 64
"""Longest text of a window size that is looked at; a real one is below 30 bytes."""


class Kind(IntEnum):
    """What a frame carries."""

    STDIN = 0
    STDOUT = 1
    STDERR = 2
    EXIT = 3
    CLOSE_STDIN = 4
    WINDOW_SIZE = 5


class Frame(NamedTuple):
    """One frame, or a part of one whose data is for the standard input."""

    kind: int
    """One of ``Kind``, or a number that nobody knows."""
    data: bytes


class WindowSize(NamedTuple):
    """Size of a terminal in characters."""

    rows: int
    columns: int


def encode(kind: Kind, data: bytes) -> bytes:
    """Return data as frames of at most 64 KB; data of no bytes makes one frame."""
    parts = [data[start : start + _LARGEST_OUT] for start in range(0, len(data), _LARGEST_OUT)] or [b""]
    return b"".join(_HEADER.pack(kind, len(part)) + part for part in parts)


def window_size(data: bytes) -> WindowSize | None:
    """Read ``24x80,0x0``, which is rows, columns and two sizes in pixels; None when it is something else."""
    rows, _, columns = data.rstrip(b"\x00").partition(b",")[0].partition(b"x")
    if not (rows.isdigit() and columns.isdigit() and len(rows) < 6 and len(columns) < 6):
        return None
    return WindowSize(int(rows), int(columns))


class FrameReader:
    """Cuts a stream of bytes into frames, holding at most a header and a window size."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._kind: int | None = None
        self._left = 0

    def feed(self, data: bytes) -> list[Frame]:
        """Take bytes from the peer; return the frames that they complete, those for standard input in pieces."""
        frames: list[Frame] = []
        view = memoryview(data)
        while len(view) or (self._kind is not None and not self._left):
            if self._kind is None:
                missing = _HEADER.size - len(self._held)
                self._held += view[:missing]
                view = view[missing:]
                if len(self._held) < _HEADER.size:
                    break
                self._kind, self._left = _HEADER.unpack(self._held)
                self._held.clear()
                continue
            piece = bytes(view[: self._left])
            view = view[len(piece) :]
            self._left -= len(piece)
            if self._kind == Kind.STDIN:
                if piece:
                    frames.append(Frame(Kind.STDIN, piece))
            else:
                self._held += piece[: _LARGEST_SIZE - len(self._held)]
            if not self._left:
                if self._kind != Kind.STDIN:
                    frames.append(Frame(self._kind, bytes(self._held)))
                self._held.clear()
                self._kind = None
        return frames
