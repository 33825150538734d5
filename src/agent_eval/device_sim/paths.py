"""A phone's state by path: a dictionary that knows what changed, so that looking at all of it is cheap.

A snapshot needs every path in order, a screen the numbers of its records; both are kept from one look to the next and
brought up to date by what was written meanwhile. Knows no path by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agent_eval.types import Scalar

Items = tuple[tuple[str, Scalar], ...]


class Paths(dict[str, Scalar]):
    """State by path.

    Args:
        items: What it holds to begin with.
    """

    __slots__ = ("_changed", "_numbers", "_places", "_sorted", "version")

    def __init__(self, items: Mapping[str, Scalar] | Iterable[tuple[str, Scalar]] = ()) -> None:
        super().__init__(items)
        self.version = 0
        """Counts the writes; as long as it is equal, so is all that is here."""
        self._forget()

    def _forget(self) -> None:
        """Know that there are other paths than before."""
        self.version += 1
        self._sorted: Items | None = None
        self._places: dict[str, int] = {}
        self._changed: set[str] = set()
        self._numbers: dict[str, tuple[int, ...]] = {}

    def sorted_items(self) -> Items:
        """Return all paths with their values, in order."""
        if self._sorted is None:
            self._sorted = tuple(sorted(self.items()))
            self._places = {path: place for place, (path, _) in enumerate(self._sorted)}
        elif self._changed:
            items = list(self._sorted)
            for path in self._changed:
                items[self._places[path]] = (path, self[path])
            self._sorted = tuple(items)
        self._changed.clear()
        return self._sorted

    def numbers(self, prefix: str) -> tuple[int, ...]:
        """Return the numbers of the records stored as ``prefix/<number>/...``, ascending."""
        found = self._numbers.get(prefix)
        if found is None:
            start = prefix + "/"
            names = {path[len(start) :].split("/", 1)[0] for path in self if path.startswith(start)}
            found = tuple(sorted(int(name) for name in names if name.isdigit()))
            self._numbers[prefix] = found
        return found

    # ------------------------------------------------------------------ every way to write
    def __setitem__(self, path: str, value: Scalar) -> None:
        if path in self:
            self.version += 1
            self._changed.add(path)
        else:
            self._forget()
        super().__setitem__(path, value)

    def __delitem__(self, path: str) -> None:
        super().__delitem__(path)
        self._forget()

    def __ior__(self, other: Any) -> Paths:  # type: ignore[override,misc]
        self.update(other)
        return self

    def update(self, *others: Any, **named: Scalar) -> None:
        """Write several values."""
        for path, value in dict(*others, **named).items():
            self[path] = value

    def setdefault(self, path: str, default: Scalar = "") -> Scalar:
        """Write a value unless there is one; return the one that is there now."""
        if path not in self:
            self[path] = default
        return self[path]

    def pop(self, path: str, *default: Any) -> Any:
        """Remove a path and return its value, or the default where there is no such path."""
        if path not in self and default:
            return default[0]
        value = self[path]
        del self[path]
        return value

    def popitem(self) -> tuple[str, Scalar]:
        """Remove the latest path."""
        item = super().popitem()
        self._forget()
        return item

    def clear(self) -> None:
        """Remove everything."""
        super().clear()
        self._forget()
