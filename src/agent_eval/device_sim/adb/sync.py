"""File transfer as adb's sync service does it: requests in, answers out, over the phone's files. Knows no transport.

AOSP packages/modules/adb, SYNC.TXT and daemon/file_sync_service.cpp: a request is four letters and a length, then its
path. Listings, stat and transfers exist in a first version with 32-bit fields and a second one with 64-bit fields.
After a failure the service ends, as adbd's does.
"""

from __future__ import annotations

import posixpath
import struct
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from agent_eval.device_sim.files import MOST_BYTES, PROBLEMS, SHARED, FileProblem, Files, Stat, resolve

MOST_DATA = 64 * 1024
"""Most bytes in one DATA message (SYNC_DATA_MAX)."""
MOST_PATH = 1024
_MOST_ANSWERS = 1024
"""Parts of answers that are held before a client that only asks is read no further."""
ENOENT = 2
_LINK = 0o120000
_TYPE = 0o170000
_NUMBER = struct.Struct("<I")
_REQUEST = struct.Struct("<4sI")
_STAT_1 = struct.Struct("<3I")  # mode, size, mtime
_STAT_2 = struct.Struct("<I2Q4IQ3q")  # error, dev, ino, mode, nlink, uid, gid, size, atime, mtime, ctime
_SETUP_SEND = struct.Struct("<4s2I")  # SND2, mode, flags
_SETUP_RECEIVE = struct.Struct("<4sI")  # RCV2, flags
_DEVICE, _SHARED_DEVICE = 0xFD05, 0x7A
_SHELL, _MEDIA = 2000, 1023
"""Owners (android_filesystem_config.h): AID_SHELL, and AID_MEDIA_RW for the shared storage."""


class Room:
    """How many bytes all transfers to one phone may hold before they are files."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._left = most

    def take(self, count: int) -> bool:
        """Claim bytes; tell whether there was room for them."""
        if count > self._left:
            return False
        self._left -= count
        return True

    def give_back(self, count: int) -> None:
        """Release bytes that were claimed."""
        self._left += count


@dataclass(slots=True)
class _Incoming:
    """A file on its way to the phone."""

    path: str
    mode: int
    content: bytearray
    failure: str = ""
    """Why it cannot be stored; what still comes of it is read and dropped."""


_Expecting = Literal["request", "path", "send setup", "receive setup", "message", "data", "nothing"]


class SyncSession:
    """One run of the service.

    Args:
        files: The phone's files.
        room: What all runs on the phone share.
    """

    def __init__(self, files: Files, room: Room | None = None) -> None:
        self._files = files
        self._room = room or Room()
        self._buffer = bytearray()
        self._expecting: _Expecting = "request"
        self._request = b""
        self._length = 0
        self._path = ""
        self._incoming: _Incoming | None = None
        self._said: deque[bytes] = deque()
        self._sending: Iterator[bytes] | None = None

    @property
    def over(self) -> bool:
        """Whether nothing more will be said or read."""
        return self._expecting == "nothing" and not self._said and self._sending is None

    def receive(self, data: bytes) -> None:
        """Take bytes from the peer."""
        if self._expecting == "nothing":
            return
        self._buffer += data
        self._work()

    def hang_up(self) -> None:
        """Drop what was under way; a file that did not arrive whole is not stored."""
        self._drop_incoming()
        self._expecting = "nothing"
        self._buffer.clear()
        self._said.clear()
        self._sending = None

    def take(self) -> bytes:
        """Return the next part of the answer; of a large file, a part at a time."""
        if self._said:
            answer = b"".join(self._said)
            self._said.clear()
            self._work()
            return answer
        if self._sending is None:
            return b""
        part = next(self._sending, None)
        if part is None:
            self._sending = None
            self._work()
            return self.take()
        return part

    # ------------------------------------------------------------------ reading

    def _work(self) -> None:
        """Read as far as the bytes go, and no further than answers can be held or a file is being sent."""
        while self._expecting != "nothing" and self._sending is None and len(self._said) < _MOST_ANSWERS:
            need = self._need()
            if len(self._buffer) < need:
                return
            piece = bytes(memoryview(self._buffer)[:need])
            del self._buffer[:need]
            self._step(piece)

    def _need(self) -> int:
        match self._expecting:
            case "send setup":
                return _SETUP_SEND.size
            case "path" | "data":
                return self._length
            case _:
                return _REQUEST.size

    def _step(self, piece: bytes) -> None:
        match self._expecting:
            case "request":
                self._request, self._length = _REQUEST.unpack(piece)
                if self._length > MOST_PATH:
                    self._fail("path too long")
                else:
                    self._expecting = "path"
            case "path":
                self._path = piece.decode(errors="replace")
                self._expecting = "request"
                perform = _REQUESTS.get(self._request)
                if perform is None:
                    (number,) = _NUMBER.unpack(self._request)
                    self._fail(f"unknown command {number:08x}")
                else:
                    perform(self)
            case "send setup":
                name, mode, flags = _SETUP_SEND.unpack(piece)
                if name != b"SND2" or flags:
                    self._fail(f"unknown flags: {flags}" if name == b"SND2" else "unexpected setup message")
                else:
                    self._begin(self._path, mode)
            case "receive setup":
                name, flags = _SETUP_RECEIVE.unpack(piece)
                if name != b"RCV2" or flags:
                    self._fail(f"unknown flags: {flags}" if name == b"RCV2" else "unexpected setup message")
                else:
                    self._expecting = "request"
                    self._retrieve()
            case "message":
                self._message(piece)
            case "data":
                self._store(piece)
            case "nothing":
                pass

    # ------------------------------------------------------------------ stat and list

    def _stat_1(self) -> None:
        stat = self._files.stat(self._path)
        self._said.append(b"STAT" + (_pack_1(stat) if stat else bytes(_STAT_1.size)))

    def _stat_2(self) -> None:
        stat = self._files.stat(self._path)
        missing = _STAT_2.pack(ENOENT, *[0] * 10)
        self._said.append(self._request + (_pack_2(self._path, stat) if stat else missing))

    def _list(self) -> None:
        second = self._request == b"LIS2"
        try:
            names = [".", "..", *self._files.names(self._path)]
        except FileProblem:
            names = []  # adbd ends the listing of what it cannot open, and does not say why
        for name in names:
            inside = posixpath.join(self._path, name)
            stat = self._files.stat(inside)
            if stat is None:
                continue
            described = b"DNT2" + _pack_2(inside, stat) if second else b"DENT" + _pack_1(stat)
            self._said.append(described + _NUMBER.pack(len(name.encode())) + name.encode())
        self._said.append(b"DONE" + bytes((_STAT_2 if second else _STAT_1).size + _NUMBER.size))

    # ------------------------------------------------------------------ to the phone

    def _send_1(self) -> None:
        path, comma, mode = self._path.rpartition(",")
        if not comma:
            self._fail("missing , in ID_SEND_V1")
        elif not (mode.isascii() and mode.isdigit() and len(mode) <= 10):
            self._fail("bad mode")
        else:
            self._begin(path, int(mode))

    def _send_2(self) -> None:
        self._expecting = "send setup"

    def _begin(self, path: str, mode: int) -> None:
        self._incoming = _Incoming(path, mode, bytearray())
        if mode & _TYPE == _LINK:
            self._incoming.failure = "symlink failed: Operation not permitted"
        elif self._files.is_folder(path):
            self._incoming.failure = f"couldn't create file: {PROBLEMS['EISDIR']}"
        else:
            try:
                self._files.make_folder(posixpath.dirname(resolve(path)), parents=True)
            except FileProblem as problem:
                self._incoming.failure = f"secure_mkdirs failed: {PROBLEMS[problem.code]}"
        self._expecting = "message"

    def _message(self, piece: bytes) -> None:
        name, number = _REQUEST.unpack(piece)
        if name == b"DONE":
            self._finish(number)
        elif name != b"DATA":
            self._fail("invalid data message")
        elif number > MOST_DATA:
            self._fail("oversize data message")
        else:
            self._length = number
            self._expecting = "data"

    def _store(self, piece: bytes) -> None:
        incoming = self._incoming
        assert incoming is not None
        self._expecting = "message"
        if incoming.failure:
            return
        if self._room.take(len(piece)):
            incoming.content += piece
        else:
            self._drop_incoming()
            self._incoming = _Incoming(incoming.path, incoming.mode, bytearray(), failure=_full())

    def _finish(self, mtime_s: int) -> None:
        incoming = self._incoming
        assert incoming is not None
        content, failure = bytes(incoming.content), incoming.failure
        self._drop_incoming()
        if not failure:
            # adbd gives the group what the owner may, and others what the group may (file_sync_service.cpp)
            mode = incoming.mode & 0o777
            for shift in (3, 6):
                mode |= mode >> 3 & 0o777 >> shift
            try:
                self._files.write(incoming.path, content, mode=mode, mtime_s=mtime_s)
            except FileProblem as problem:
                failure = f"couldn't create file: {PROBLEMS[problem.code]}"
                if problem.code == "ENOSPC":
                    failure = _full()
        if failure:
            self._fail(failure)
        else:
            self._expecting = "request"
            self._said.append(_REQUEST.pack(b"OKAY", 0))

    def _drop_incoming(self) -> None:
        if self._incoming is not None:
            self._room.give_back(len(self._incoming.content))
        self._incoming = None

    # ------------------------------------------------------------------ from the phone

    def _receive_2(self) -> None:
        self._expecting = "receive setup"

    def _retrieve(self) -> None:
        try:
            content = self._files.read(self._path)
        except FileProblem as problem:
            what = "read failed" if problem.code == "EISDIR" else "open failed"
            self._fail(f"{what}: {PROBLEMS[problem.code]}")
            return
        self._sending = _messages(content)

    # ------------------------------------------------------------------ the end

    def _quit(self) -> None:
        self._expecting = "nothing"
        self._buffer.clear()

    def _fail(self, text: str) -> None:
        self._drop_incoming()
        self._said.append(_REQUEST.pack(b"FAIL", len(text.encode())) + text.encode())
        self._quit()


_REQUESTS: Mapping[bytes, Callable[[SyncSession], None]] = MappingProxyType({
    b"STAT": SyncSession._stat_1,
    b"STA2": SyncSession._stat_2,
    b"LST2": SyncSession._stat_2,
    b"LIST": SyncSession._list,
    b"LIS2": SyncSession._list,
    b"SEND": SyncSession._send_1,
    b"SND2": SyncSession._send_2,
    b"RECV": SyncSession._retrieve,
    b"RCV2": SyncSession._receive_2,
    b"QUIT": SyncSession._quit,
})  # fmt: skip
"""What answers each request; the phone has no links, so that the three kinds of stat agree."""

REQUESTS = frozenset(_REQUESTS)
"""The requests that are understood."""


def _full() -> str:
    return f"write failed: {PROBLEMS['ENOSPC']}"


def _messages(content: bytes) -> Iterator[bytes]:
    for start in range(0, len(content), MOST_DATA):
        part = content[start : start + MOST_DATA]
        yield _REQUEST.pack(b"DATA", len(part)) + part
    yield _REQUEST.pack(b"DONE", 0)


def _pack_1(stat: Stat) -> bytes:
    return _STAT_1.pack(stat.mode, min(stat.size, 0xFFFFFFFF), stat.mtime_s & 0xFFFFFFFF)


def _pack_2(path: str, stat: Stat) -> bytes:
    whole = resolve(path)
    shared = whole == SHARED or whole.startswith(SHARED + "/")
    owner = _MEDIA if shared else _SHELL
    device = _SHARED_DEVICE if shared else _DEVICE
    links = 2 if stat.is_folder else 1
    times = (stat.mtime_s,) * 3
    number = zlib.crc32(whole.encode())
    return _STAT_2.pack(0, device, number, stat.mode, links, owner, owner, stat.size, *times)
