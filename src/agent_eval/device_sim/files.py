"""The phone's file system, in memory. The shared storage is part of the persisted state; the rest dies with the phone.

Paths are absolute POSIX paths of the phone and never reach this machine's. ``/sdcard``, ``/storage/self/primary`` and
``/mnt/sdcard`` are the shared storage ``/storage/emulated/0``, whose files are persisted as ``files/<path>``: a text as
itself, anything else as ``sha256:<digest>:<size>`` with its bytes kept beside. An empty folder is persisted as
``files/<path>/``. Knows no shell and no app.
"""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from stat import S_IFDIR, S_IFREG

from agent_eval.device_sim.folders import Folders
from agent_eval.device_sim.paths import Paths
from agent_eval.device_sim.schema import FILES
from agent_eval.types import Scalar

SHARED = "/storage/emulated/0"
_ALIASES = ("/sdcard", "/storage/self/primary", "/mnt/sdcard", "/mnt/user/0/primary", "/data/media/0")
FOLDERS = ("/", "/data", "/data/app", "/data/data", "/data/local", "/data/local/tmp", "/dev", "/mnt", "/proc",
           "/storage", "/storage/emulated", SHARED, "/system", "/system/bin", "/tmp", "/vendor")  # fmt: skip  # noqa: S108
"""Folders that every phone has beside those of the shared storage."""
READ_ONLY = ("/system", "/vendor", "/proc", "/dev")
_BINARY = "sha256:"
MOST_BYTES = 256 * 1024 * 1024
"""All files together; a client that sends more is told that the device is full."""
MOST_ENTRIES = 4000
"""Files and folders together; the same for more of them."""
LONGEST_NAME, LONGEST_PATH = 255, 4096
"""Bytes (NAME_MAX, PATH_MAX)."""
LONGEST_TEXT = 1 << 16
"""Bytes of a text that is persisted as itself; a longer one is persisted by its digest."""


PROBLEMS = {
    "EACCES": "Permission denied",
    "EEXIST": "File exists",
    "EINVAL": "Invalid argument",
    "EISDIR": "Is a directory",
    "ENAMETOOLONG": "File name too long",
    "ENOENT": "No such file or directory",
    "ENOSPC": "No space left on device",
    "ENOTDIR": "Not a directory",
    "ENOTEMPTY": "Directory not empty",
    "EROFS": "Read-only file system",
}
"""Name of an error number to what ``strerror`` says of it."""


class FileProblem(Exception):
    """What the kernel would answer instead.

    Args:
        code: Name of the error number, such as ``ENOENT``.
        path: The path as asked for.
    """

    def __init__(self, code: str, path: str) -> None:
        self.code = code
        self.path = path
        self.reason = PROBLEMS[code]
        super().__init__(f"{path}: {self.reason}")


@dataclass(frozen=True, slots=True)
class Stat:
    """What ``stat`` says of a file or folder."""

    mode: int
    """Type and permission bits."""
    size: int
    mtime_s: int
    """Seconds since the epoch, of the phone's clock."""

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.mode & 0o170000 == S_IFDIR


def resolve(path: str, base: str = "/") -> str:
    """Return a path without aliases, dots and doubled slashes; ``..`` stops at the root, as on any POSIX system."""
    if not path.isascii():
        path = path.encode(errors="replace").decode()  # a name in UTF-8, whatever the client sent
    whole = posixpath.normpath(posixpath.join(base, path.replace("\x00", "")))
    if whole.startswith("//"):
        whole = whole[1:]
    for alias in _ALIASES:
        if whole == alias or whole.startswith(alias + "/"):
            return SHARED + whole[len(alias) :]
    return whole


@dataclass(slots=True)
class _Index:
    """What follows from all files together, as of one version of the state."""

    folders: Folders
    used: int
    """Bytes in all files."""
    shared: int
    """Files and empty folders of the shared storage."""
    version: int


class Files:
    """All files of one phone.

    Args:
        state: The phone's persisted state; this object owns the paths below ``files/``.
        now_s: The phone's clock in seconds.
        changed: Called after each change.
    """

    def __init__(
        self,
        state: Paths,
        now_s: Callable[[], int],
        changed: Callable[[], object] = lambda: None,
    ) -> None:
        self._state = state
        self._now_s = now_s
        self._changed = changed
        self._born_s = now_s()
        self._blobs: dict[str, bytes] = {}
        self._inner: dict[str, bytes] = {}
        self._provided: dict[str, Callable[[], bytes]] = {}
        self._inner_folders = set(FOLDERS)
        self._modes: dict[str, int] = {}
        self._mtimes: dict[str, int] = {}
        self._index: _Index | None = None

    # ------------------------------------------------------------------ reading

    def exists(self, path: str) -> bool:
        """Tell whether there is a file or folder."""
        return self.stat(path) is not None

    def is_folder(self, path: str) -> bool:
        """Tell whether there is a folder."""
        found = self.stat(path)
        return found is not None and found.is_folder

    def is_file(self, path: str) -> bool:
        """Tell whether there is a file."""
        found = self.stat(path)
        return found is not None and not found.is_folder

    def stat(self, path: str) -> Stat | None:
        """Describe a file or folder, or return None."""
        whole = resolve(path)
        content = self._content(whole)
        if content is not None:
            plain = 0o660 if whole.startswith(SHARED) else 0o755 if whole.startswith("/system/bin/") else 0o644
            mode = S_IFREG | self._modes.get(whole, plain)
            return Stat(mode, len(content), self.mtime_s(whole))
        if self._has_folder(whole):
            return Stat(S_IFDIR | self._modes.get(whole, 0o771), 4096, self.mtime_s(whole))
        return None

    def mtime_s(self, path: str) -> int:
        """Return when a path was last written, in seconds since the epoch."""
        return self._mtimes.get(resolve(path), self._born_s)

    def read(self, path: str) -> bytes:
        """Return the content of a file.

        Raises:
            FileProblem: ENOENT or EISDIR.
        """
        whole = resolve(path)
        content = self._content(whole)
        if content is None:
            raise FileProblem("EISDIR" if self._has_folder(whole) else "ENOENT", path)
        return content

    def names(self, path: str) -> list[str]:
        """Return the names in a folder, sorted.

        Raises:
            FileProblem: ENOENT or ENOTDIR.
        """
        whole = resolve(path)
        if not self._has_folder(whole):
            raise FileProblem("ENOTDIR" if self._content(whole) is not None else "ENOENT", path)
        return self._now.folders.names(whole)

    def walk(self, path: str) -> Iterator[str]:
        """Yield a path and everything below it, folders before what they hold."""
        whole = resolve(path)
        yield whole
        if self._has_folder(whole):
            yield from self._now.folders.below(whole)

    # ------------------------------------------------------------------ writing

    def write(self, path: str, content: bytes, *, mode: int | None = None, mtime_s: int | None = None) -> None:
        """Create or replace a file; its folder must exist.

        Raises:
            FileProblem: ENOENT, ENOTDIR, EISDIR, EROFS, ENAMETOOLONG or ENOSPC.
        """
        whole = resolve(path)
        if whole == "/dev/null":
            return
        self._check_parent(whole, path)
        if self._has_folder(whole):
            raise FileProblem("EISDIR", path)
        before = self._content(whole)
        if len(content) + self.used - len(before or b"") > MOST_BYTES or (before is None and self._is_full()):
            raise FileProblem("ENOSPC", path)
        self._store(whole, content)
        if mode is not None:
            self._modes[whole] = mode & 0o7777
        self._mtimes[whole] = self._now_s() if mtime_s is None else mtime_s
        self._changed()

    @staticmethod
    def is_writable(path: str) -> bool:
        """Tell whether a path is in a part of the file system that can be changed."""
        whole = resolve(path)
        return whole != "/" and not any(whole == root or whole.startswith(root + "/") for root in READ_ONLY)

    def append(self, path: str, content: bytes) -> None:
        """Add to the end of a file, creating it when missing.

        Raises:
            FileProblem: as ``write``.
        """
        self.write(path, (self._content(resolve(path)) or b"") + content)

    def provide(self, path: str, content: Callable[[], bytes]) -> None:
        """Put a file in place that is made when it is read, as those below ``/proc`` are; nobody can change it."""
        whole = resolve(path)
        self._provided[whole] = content
        self._index = None
        above = posixpath.dirname(whole)
        while above not in self._inner_folders:
            self._inner_folders.add(above)
            above = posixpath.dirname(above)

    def _is_full(self) -> bool:
        return self._now.shared + len(self._inner) + len(self._inner_folders) >= MOST_ENTRIES

    @property
    def used(self) -> int:
        """Bytes in all files."""
        return self._now.used

    def make_folder(self, path: str, *, parents: bool = False) -> None:
        """Create a folder.

        Raises:
            FileProblem: EEXIST, ENOENT, ENOTDIR, EROFS, ENAMETOOLONG or ENOSPC.
        """
        whole = resolve(path)
        if self._has_folder(whole):
            if parents:
                return
            raise FileProblem("EEXIST", path)
        if self._content(whole) is not None:
            raise FileProblem("EEXIST", path)
        missing = [whole]
        while parents and not self._has_folder(above := posixpath.dirname(missing[-1])):
            if self._content(above) is not None:
                raise FileProblem("EEXIST", path)
            missing.append(above)
        for folder in reversed(missing):
            self._check_parent(folder, path)
            if self._is_full():
                raise FileProblem("ENOSPC", path)
            self._store_folder(folder)
            self._mtimes[folder] = self._now_s()
        self._changed()

    def remember_times(self, times: Mapping[str, int]) -> None:
        """Know when files of the shared storage were last written: path below it to seconds since the epoch."""
        self._mtimes.update({f"{SHARED}/{path}": seconds for path, seconds in times.items()})

    def touch(self, path: str, mtime_s: int | None = None) -> None:
        """Set the time of a file, creating it when missing.

        Raises:
            FileProblem: as ``write``.
        """
        whole = resolve(path)
        if self.exists(whole):
            self._check_writable(whole, path)
            self._mtimes[whole] = self._now_s() if mtime_s is None else mtime_s
            self._changed()
        else:
            self.write(path, b"", mtime_s=mtime_s)

    def change_mode(self, path: str, mode: int) -> None:
        """Set the permission bits of a path.

        Raises:
            FileProblem: ENOENT or EROFS.
        """
        if not self.exists(path):
            raise FileProblem("ENOENT", path)
        self._check_writable(resolve(path), path)
        self._modes[resolve(path)] = mode & 0o7777

    def remove(self, path: str, *, whole_tree: bool = False) -> None:
        """Delete a file, an empty folder, or a folder with all that it holds.

        Raises:
            FileProblem: ENOENT, ENOTEMPTY, EACCES or EROFS.
        """
        whole = resolve(path)
        if not self.exists(whole):
            raise FileProblem("ENOENT", path)
        if whole in FOLDERS:
            raise FileProblem("EACCES", path)
        self._check_writable(whole, path)
        if not whole_tree and self._has_folder(whole) and self.names(whole):
            raise FileProblem("ENOTEMPTY", path)
        for inside in list(self.walk(whole)):
            self._forget(inside)
        self._keep_folder(posixpath.dirname(whole))
        self._changed()

    def rename(self, source: str, target: str) -> None:
        """Move a file or folder; a file or empty folder of the same kind at the target is replaced.

        Raises:
            FileProblem: ENOENT, ENOTDIR, EISDIR, ENOTEMPTY, EACCES, EINVAL, EROFS or ENAMETOOLONG.
        """
        start, end = resolve(source), resolve(target)
        if not self.exists(start):
            raise FileProblem("ENOENT", source)
        if start == end:
            return
        if end.startswith(start + "/"):
            raise FileProblem("EINVAL", target)
        if start in FOLDERS:
            raise FileProblem("EACCES", source)
        self._check_writable(start, source)
        self._check_parent(end, target)
        if self.exists(end):
            if self._has_folder(start) != self._has_folder(end):
                raise FileProblem("EISDIR" if self._has_folder(end) else "ENOTDIR", target)
            self.remove(end)
        for inside in list(self.walk(start)):
            place = end + inside[len(start) :]
            mode, moment = self._modes.get(inside), self.mtime_s(inside)
            content = self._content(inside)
            self._forget(inside)
            if content is None:
                self._store_folder(place)
            else:
                self._store(place, content)
            self._mtimes[place] = moment
            if mode is not None:
                self._modes[place] = mode
        self._keep_folder(posixpath.dirname(start))
        self._changed()

    def copy(self, source: str, target: str, *, keep_times: bool = False) -> None:
        """Copy a file or a folder with all that it holds to a new path.

        Raises:
            FileProblem: ENOENT, ENOTDIR, EISDIR, EINVAL, EROFS or ENOSPC.
        """
        start, end = resolve(source), resolve(target)
        if not self.exists(start):
            raise FileProblem("ENOENT", source)
        if end == start or end.startswith(start + "/"):
            raise FileProblem("EINVAL", target)
        for inside in list(self.walk(start)):
            place = end + inside[len(start) :]
            if self._has_folder(inside):
                if not self._has_folder(place):
                    self.make_folder(place)
            else:
                self.write(place, self.read(inside), mode=self._modes.get(inside))
            if keep_times:
                self._mtimes[place] = self.mtime_s(inside)

    # ------------------------------------------------------------------ where things are kept

    @staticmethod
    def _key(whole: str) -> str:
        return FILES + whole[len(SHARED) :]

    def _known(self) -> Iterator[str]:
        yield from self._inner
        yield from self._provided
        yield from self._inner_folders
        for path in self._state:
            if path.startswith(FILES + "/"):
                yield SHARED + path[len(FILES) :].rstrip("/")

    @property
    def _now(self) -> _Index:
        """What follows from all files; counted anew only where somebody else wrote to the state."""
        if self._index is None or self._index.version != self._state.version:
            shared = [str(value) for path, value in self._state.items() if path.startswith(FILES + "/")]
            contents = (*self._inner.values(), *self._blobs.values(), *shared)
            self._index = _Index(Folders(self._known()), sum(map(len, contents)), len(shared), self._state.version)
        return self._index

    def _put(self, key: str, value: str) -> Scalar | None:
        """Write to the shared storage; return what was there."""
        index, before = self._now, self._state.get(key)
        self._state[key] = value
        index.shared += before is None
        index.used += len(value) - (0 if before is None else len(str(before)))
        index.folders.add(SHARED + key[len(FILES) :].rstrip("/"))
        index.version = self._state.version
        return before

    def _pop(self, key: str) -> Scalar | None:
        """Delete from the shared storage; return what was there."""
        if key not in self._state:
            return None
        index, before = self._now, self._state[key]
        del self._state[key]
        index.shared -= 1
        index.used -= len(str(before))
        other = key[:-1] if key.endswith("/") else key + "/"
        if other not in self._state:
            index.folders.discard(SHARED + key[len(FILES) :].rstrip("/"))
        index.version = self._state.version
        return before

    def _content(self, whole: str) -> bytes | None:
        if whole == "/dev/null":
            return b""
        if not whole.startswith(SHARED + "/"):
            made = self._provided.get(whole)
            return self._inner.get(whole) if made is None else made()
        value = self._state.get(self._key(whole))
        if value is None:
            return None
        text = str(value)
        return self._blobs[text] if text in self._blobs else text.encode()

    def _has_folder(self, whole: str) -> bool:
        if whole in self._inner_folders:
            return True
        if not whole.startswith(SHARED + "/"):
            return False
        return self._key(whole) + "/" in self._state or self._now.folders.holds(whole)

    def _check_parent(self, whole: str, asked: str) -> None:
        above, name = posixpath.split(whole)
        self._check_writable(whole, asked)
        if len(name.encode()) > LONGEST_NAME or len(whole.encode()) > LONGEST_PATH:
            raise FileProblem("ENAMETOOLONG", asked)
        if not self._has_folder(above):
            raise FileProblem("ENOTDIR" if self._content(above) is not None else "ENOENT", asked)

    @staticmethod
    def _check_writable(whole: str, asked: str) -> None:
        if not Files.is_writable(whole):
            raise FileProblem("EROFS", asked)

    def _store_folder(self, whole: str) -> None:
        if whole.startswith(SHARED + "/"):
            self._put(self._key(whole) + "/", "")
            self._pop(posixpath.dirname(self._key(whole)) + "/")
        else:
            self._now.folders.add(whole)
            self._inner_folders.add(whole)

    def _store(self, whole: str, content: bytes) -> None:
        if not whole.startswith(SHARED + "/"):
            self._now.used += len(content) - len(self._inner.get(whole, b""))
            self._now.folders.add(whole)
            self._inner[whole] = content
            return
        key = self._key(whole)
        text = _BINARY
        if len(content) <= LONGEST_TEXT:
            text = content.decode(errors="replace")
        if "\x00" in text or text.startswith(_BINARY) or text.encode() != content:
            text = f"{_BINARY}{hashlib.sha256(content).hexdigest()}:{len(content)}"
            if text not in self._blobs:
                self._now.used += len(content)
                self._blobs[text] = content
        before = self._put(key, text)
        self._pop(posixpath.dirname(key) + "/")
        self._let_go(before)

    def _forget(self, whole: str) -> None:
        self._now.used -= len(self._inner.pop(whole, b""))
        self._inner_folders.discard(whole)
        if not whole.startswith(SHARED + "/") and whole not in self._provided:
            self._now.folders.discard(whole)
        self._modes.pop(whole, None)
        self._mtimes.pop(whole, None)
        if whole.startswith(SHARED + "/"):
            key = self._key(whole)
            self._let_go(self._pop(key))
            self._pop(key + "/")

    def _keep_folder(self, whole: str) -> None:
        """Let a folder of the shared storage outlive what it held."""
        if whole.startswith(SHARED + "/"):
            key = self._key(whole) + "/"
            if not self._has_folder(whole):
                self._put(key, "")

    def _let_go(self, value: Scalar | None) -> None:
        """Forget the bytes behind a digest that no file has any more."""
        if isinstance(value, str) and value in self._blobs and value not in self._state.values():
            self._now.used -= len(self._blobs.pop(value))
