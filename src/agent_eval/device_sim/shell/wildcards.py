"""Patterns of file names (``*``, ``?``, ``[a-z]``): matching in linear time, and expansion over the phone's files.

A pattern comes in runs, each quoted or not: a quoted ``*`` is an asterisk. Knows no shell.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from agent_eval.device_sim.files import LONGEST_NAME, FileProblem, Files
from agent_eval.device_sim.shell.context import UsageError

MOST_NAMES = 10_000
"""Names that one pattern may become."""
MOST_STEPS = 1_000_000
"""Characters of a text, each as often as there are ways to match up to it."""
_SIGNS = frozenset("*?[")


class TooComplex(UsageError):
    """A pattern that takes too long on a text."""

    def __init__(self) -> None:
        super().__init__("pattern too complex")


class Run(NamedTuple):
    """Characters of a word that are all quoted or all not."""

    text: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Letter:
    """One character."""

    text: str


@dataclass(frozen=True, slots=True)
class Any:
    """Any one character, or with ``many`` any number of them."""

    many: bool


@dataclass(frozen=True, slots=True)
class Among:
    """One character of a set."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool

    def holds(self, character: str) -> bool:
        """Tell whether a character belongs to the set."""
        return any(low <= character <= high for low, high in self.ranges) != self.negated


Token = Letter | Any | Among
_CLASSES = {
    "[:digit:]": (("0", "9"),), "[:alpha:]": (("a", "z"), ("A", "Z")), "[:upper:]": (("A", "Z"),),
    "[:lower:]": (("a", "z"),), "[:alnum:]": (("0", "9"), ("a", "z"), ("A", "Z")),
    "[:space:]": (("\t", "\r"), (" ", " ")),
    "[:xdigit:]": (("0", "9"), ("a", "f"), ("A", "F")), "[:punct:]": (("!", "/"), (":", "@"), ("[", "`"), ("{", "~")),
}  # fmt: skip


def is_pattern(runs: Iterable[Run]) -> bool:
    """Tell whether an unquoted run holds a wildcard."""
    return any(not run.quoted and not _SIGNS.isdisjoint(run.text) for run in runs)


def tokens(runs: Iterable[Run]) -> tuple[Token, ...]:
    """Read a pattern."""
    out: list[Token] = []
    for text, quoted in runs:
        if quoted:
            out.extend(map(Letter, text))
            continue
        position, last_close = 0, text.rfind("]")
        while position < len(text):
            character = text[position]
            if character == "*":
                if not out or out[-1] != Any(True):
                    out.append(Any(True))
            elif character == "?":
                out.append(Any(False))
            elif character == "[" and position < last_close and (found := _set(text, position)) is not None:
                out.append(found[0])
                position = found[1]
                continue
            elif character == "\\" and position + 1 < len(text):
                position += 1
                out.append(Letter(text[position]))
            else:
                out.append(Letter(character))
            position += 1
    return tuple(out)


def _set(text: str, start: int) -> tuple[Among, int] | None:
    position = start + 1
    negated = text[position : position + 1] in ("!", "^")
    position += negated
    ranges: list[tuple[str, str]] = []
    first = True
    while position < len(text):
        character = text[position]
        if character == "]" and not first:
            return Among(tuple(ranges), negated), position + 1
        first = False
        named = None
        if text.startswith("[:", position):
            named = next((name for name in _CLASSES if text.startswith(name, position)), None)
        if named is not None:
            ranges.extend(_CLASSES[named])
            position += len(named)
            continue
        if text[position + 1 : position + 2] == "-" and text[position + 2 : position + 3] not in ("]", ""):
            ranges.append((character, text[position + 2]))
            position += 3
        else:
            ranges.append((character, character))
            position += 1
    return None


def ends(pattern: Sequence[Token], text: str) -> list[int]:
    """Return the lengths of the beginnings of a text that a pattern matches, ascending.

    All ways are followed at once, so the time is at most length times tokens.

    Raises:
        TooComplex: that is too long.
    """
    steps = 0
    found: list[int] = []
    live = _spread(pattern, {0})
    if len(pattern) in live:
        found.append(0)
    for place, character in enumerate(text):
        following: set[int] = set()
        steps += len(live)
        if steps > MOST_STEPS:
            raise TooComplex
        for at in live:
            if at == len(pattern):
                continue
            token = pattern[at]
            if isinstance(token, Any):
                following.add(at if token.many else at + 1)
            elif token.text == character if isinstance(token, Letter) else token.holds(character):
                following.add(at + 1)
        if not following:
            break
        live = _spread(pattern, following)
        if len(pattern) in live:
            found.append(place + 1)
    return found


def _spread(pattern: Sequence[Token], places: set[int]) -> set[int]:
    out = set(places)
    for at in places:
        step = at
        while step < len(pattern) and pattern[step] == Any(True):
            step += 1
            out.add(step)
    return out


def matches(pattern: Sequence[Token], text: str) -> bool:
    """Tell whether a pattern matches a whole text.

    Raises:
        TooComplex: it takes too long to tell.
    """
    if pattern == (Any(True),):
        return True
    if all(isinstance(token, Letter) for token in pattern):
        return "".join(token.text for token in pattern if isinstance(token, Letter)) == text
    found = ends(pattern, text)
    return bool(found) and found[-1] == len(text)


def expand(runs: Sequence[Run], files: Files, folder: str) -> list[str]:
    """Return the paths that a pattern matches, sorted, as they would be typed from a folder; none if none match."""
    parts: list[list[Run]] = [[]]
    for text, quoted in runs:
        for place, piece in enumerate(text.split("/")):
            if place:
                parts.append([])
            if piece:
                parts[-1].append(Run(piece, quoted))
    found = [""]
    for place, part in enumerate(parts):
        last = place == len(parts) - 1
        if not part:
            found = [path + "/" for path in found] if not last or place == 0 else found
            if last and place:
                found = [path for path in found if files.is_folder(_whole(path, folder))]
            continue
        found = _matching(found, part, files, folder, last=last)
        if not last:
            found = [path + "/" for path in found if files.is_folder(_whole(path, folder))]
        if not found:
            return []
    return sorted(found)[:MOST_NAMES]


def _whole(path: str, folder: str) -> str:
    return posixpath.join(folder, path)


def _matching(bases: list[str], part: list[Run], files: Files, folder: str, *, last: bool) -> list[str]:
    if not is_pattern(part):
        name = "".join(run.text for run in part)
        return [base + name for base in bases if not last or files.exists(_whole(base + name, folder))]
    pattern = tokens(part)
    if sum(token != Any(True) for token in pattern) > LONGEST_NAME:
        return []
    hidden = part[0].text.startswith(".")
    out: list[str] = []
    for base in bases:
        try:
            names = files.names(_whole(base or ".", folder))
        except FileProblem:
            continue
        out += [base + name for name in names if (hidden or not name.startswith(".")) and matches(pattern, name)]
        if len(out) > MOST_NAMES:
            break
    return out
