"""How texts and tables are put on a terminal. Knows nothing of what they say.

Goals, faults, names and replies come from models, phones and people. All of it is shown as ``Text``, never as markup,
with control characters made visible.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

FAINT = "dim"
GOOD, BAD, OPEN = "green", "red", "yellow"
"""Styles of what is settled for or against, and of what is not settled."""

_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Unicode categories that a terminal obeys or hides: controls, formats, surrogates, private use, line separators."""


def visible(text: str) -> str:
    r"""Replace what a terminal would obey or hide by its escape, such as ``\x1b`` or ``\u202e``."""
    return "".join(_escape(char) if unicodedata.category(char) in _INVISIBLE else char for char in text)


def _escape(char: str) -> str:
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    code = ord(char)
    wide = f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    return named.get(char) or (f"\\x{code:02x}" if code < 0x100 else wide)


def text(words: str, style: str = "") -> Text:
    """Return words as they are."""
    return Text(visible(words), style=style)


def heading(words: str) -> Text:
    """Return the heading of a section."""
    return text(words, "bold underline")


def note(words: str) -> Text:
    """Return a remark below a table."""
    return text(words, FAINT)


def grid() -> Table:
    """Make a table of names and what they are."""
    made = Table.grid(padding=(0, 2))
    made.add_column(no_wrap=True, style=FAINT)
    made.add_column(overflow="fold")
    return made


def bullets(lines: Iterable[str]) -> Table:
    """Make a list of sentences."""
    made = Table.grid(padding=(0, 1))
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    for line in lines:
        row(made, "-", line)
    return made


def table(*columns: str | Text) -> Table:
    """Make a table whose first column is words and whose others are numbers."""
    made = Table(box=None, padding=(0, 1), pad_edge=False, collapse_padding=False, header_style="bold")
    for place, column in enumerate(columns):
        made.add_column(
            text(column) if isinstance(column, str) else column,
            justify="left" if place == 0 else "right",
            vertical="top",
        )
    return made


def row(onto: Table, *cells: str | Text, style: str = "") -> None:
    """Add a row whose strings are shown as they are: rich would read a plain string as markup."""
    onto.add_row(*(text(cell) if isinstance(cell, str) else cell for cell in cells), style=style)


@dataclass(frozen=True)
class WidestThatFits:
    """The first table if it fits without wrapping, else the second."""

    wide: Table
    narrow: Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.max_width
        needed = Measurement.get(console, options.update(max_width=10_000), self.wide).maximum
        yield self.wide if needed <= room else self.narrow
