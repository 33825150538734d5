"""Reads ``*.transcript``: what follows ``$ `` (``> `` where it goes on) is a command, and then comes its output."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Exchange(NamedTuple):
    """A command line and what it prints, without its last line break."""

    line: str
    output: str


def transcript(name: str) -> list[Exchange]:
    """Return the exchanges of a transcript."""
    found: list[tuple[list[str], list[str]]] = []
    for line in (Path(__file__).parent / f"{name}.transcript").read_text("utf-8").split("\n"):
        if line.startswith("$ ") or line == "$":
            found.append(([line[2:]], []))
        elif line.startswith("> ") and not found[-1][1]:
            found[-1][0].append(line[2:])
        elif found:
            found[-1][1].append(line)
    return [Exchange("\n".join(lines), "\n".join(output).rstrip("\n")) for lines, output in found]
