"""What a report is made of: headings, tables, lists and remarks, as data. Knows no terminal, no format and no run.

Texts are raw, also where a model or a phone wrote them: whoever draws them escapes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from agent_eval.reports import numbers

Tone = Literal["plain", "strong", "good", "bad", "open", "faint"]
"""How a text is meant: ``good``, ``bad`` and ``open`` of what is settled for, settled against, and not settled. It only
repeats what the words say."""

NOTHING = "."
"""Stands for a count of 0 in tables of many counts."""
UNKNOWN = "-"
"""Stands for what was not measured, or rests on nothing."""


class Span(NamedTuple):
    """A piece of text in one tone."""

    text: str
    tone: Tone = "plain"


Cell = str | Span | tuple[Span, ...]
"""What one place of a table holds."""


def spans(cell: Cell) -> tuple[Span, ...]:
    """Return a cell as its pieces."""
    if isinstance(cell, str):
        return (Span(cell),)
    return (cell,) if isinstance(cell, Span) else cell


def words(cell: Cell) -> str:
    """Return a cell as one text."""
    return "".join(span.text for span in spans(cell))


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str
    words: bool = False
    """It holds words, which stand at the left and may be broken anywhere; numbers stand at the right."""
    whole: bool = False
    """Its cells are not broken where another form of the table can be drawn instead."""
    least: int = 0
    """Characters that it takes at least, for words that may not be broken."""
    stacked: bool = False
    """Its name may be broken at its underscores."""


@dataclass(frozen=True)
class Row:
    """One row of a table: as many cells as there are columns."""

    cells: tuple[Cell, ...]
    tone: Tone = "plain"


@dataclass(frozen=True)
class Table:
    """Columns and rows, with the form that is drawn where this one does not fit."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    narrower: Table | None = None

    def forms(self) -> Iterator[Table]:
        """Yield the table in each of its forms, the widest first."""
        form: Table | None = self
        while form is not None:
            yield form
            form = form.narrower


class Fact(NamedTuple):
    """A name and what it is."""

    name: str
    value: str


@dataclass(frozen=True)
class Facts:
    """A list of names and what they are."""

    facts: tuple[Fact, ...]


class Line(NamedTuple):
    """One line of a list."""

    text: str
    tone: Tone = "plain"
    under: bool = False
    """It belongs to the line above it."""


@dataclass(frozen=True)
class Lines:
    """A list of lines."""

    lines: tuple[Line, ...]


Block = Table | Facts | Lines


@dataclass(frozen=True)
class Section:
    """A part of a report."""

    title: str
    """Empty for one that needs none."""
    blocks: tuple[Block, ...]
    notes: tuple[str, ...] = ()
    """Remarks on how the blocks are to be read."""


def beside(builds: Sequence[str], rows: Sequence[Row], label: str = "") -> Table:
    """Lay builds beside each other: one row for each quantity, one column for each build.

    Where that is too wide the numbers are written without blanks, then each build gets a row of its own.

    Args:
        builds: Names of the builds.
        rows: The name of a quantity, then its cell for each build.
        label: Heading of the names.
    """
    columns = (Column(label), *(Column(build, whole=True) for build in builds))
    tight = tuple(Row((row.cells[0], *map(_tight, row.cells[1:])), row.tone) for row in rows)
    narrowest = one_below_the_other(Table(columns, tuple(rows)), 1, "build")
    return Table(columns, tuple(rows), Table(columns, tight, narrowest))


def one_below_the_other(table: Table, labels: int, name: str) -> Table:
    """Return a table with a row for each cell of another: for many columns.

    Args:
        table: The other, with some columns of labels and then one for each build.
        labels: How many columns of labels.
        name: Heading of the column of builds.
    """
    columns = (*table.columns[:labels], Column(name, words=True), Column(""))
    rows = []
    for row in table.rows:
        label, cells = row.cells[:labels], row.cells[labels:]
        if all(words(cell) == UNKNOWN for cell in cells):
            rows.append(Row((*label, "", UNKNOWN), row.tone))
            continue
        for column, cell in zip(table.columns[labels:], cells, strict=True):
            if words(cell) != NOTHING:
                rows.append(Row((*label, Span(column.name, "faint"), cell), row.tone))
                label = ("",) * labels
    return Table(columns, tuple(rows))


def _tight(cell: Cell) -> Cell:
    return tuple(Span(numbers.tight(span.text), span.tone) for span in spans(cell))
