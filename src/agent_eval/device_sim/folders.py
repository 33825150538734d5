"""Which names each folder holds, so that looking into one does not cost a look at every path. Knows no files.

A path is there because somebody put it there, or because something below it is; the latter kind goes with the last of
what is below.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator


class Folders:
    """Paths by the folder they are in.

    Args:
        paths: What is there to begin with.
    """

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._own: set[str] = set()
        self._names: dict[str, set[str]] = {}
        for path in paths:
            self.add(path)

    def add(self, path: str) -> None:
        """Put a path there."""
        self._own.add(path)
        while path != "/":
            above, name = posixpath.split(path)
            names = self._names.setdefault(above, set())
            if name in names:
                return
            names.add(name)
            path = above

    def discard(self, path: str) -> None:
        """Take a path away; it stays as long as something is below it."""
        self._own.discard(path)
        while path != "/" and path not in self._own and path not in self._names:
            above, name = posixpath.split(path)
            names = self._names.get(above, set())
            names.discard(name)
            if names:
                return
            self._names.pop(above, None)
            path = above

    def holds(self, path: str) -> bool:
        """Tell whether something is in a path."""
        return path in self._names

    def names(self, path: str) -> list[str]:
        """Return the names of what is in a path, sorted."""
        return sorted(self._names.get(path, ()))

    def below(self, path: str) -> Iterator[str]:
        """Yield everything below a path, folders before what they hold."""
        waiting = [posixpath.join(path, name) for name in reversed(self.names(path))]
        while waiting:
            found = waiting.pop()
            yield found
            if found in self._names:
                waiting += [posixpath.join(found, name) for name in reversed(self.names(found))]
