"""Sections as Markdown with tables (GitHub's: CommonMark and its table extension). Computes nothing.

Whatever a model, a phone or a person wrote is text: no sign in it is left to mean something.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from agent_eval.reports.layout import visible
from agent_eval.reports.sections.section import Block, Cell, Facts, Lines, Section, Table, spans, words

_MEANING = re.compile(
    r"[\\`*\[\]<>&|~$!#]"  # emphasis, code, links, markup, entities, cells, strikes, formulas, headings
    r"|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])"  # emphasis again; within a word an underscore means nothing
    r"|(?<=[A-Za-z0-9])@(?=[A-Za-z0-9])|(?<=\w):(?=//)|(?<=www)\."  # what is made a link by itself
    r"|(?<![^\s(])@(?=\w)"  # mentions
)
_BEGINNING = re.compile(r"([+=-]|\d+(?=[.)]))")
"""What makes a list, a rule or a heading at the beginning of a line."""


def markdown_text(sections: Iterable[Section], title: str) -> str:
    """Return sections below a title, each table in its widest form."""
    return "\n\n".join([f"# {_line(title)}", *(part for section in sections for part in _section(section))]) + "\n"


def _section(section: Section) -> Iterator[str]:
    if section.title:
        yield f"## {_line(section.title)}"
    yield from filter(None, map(_block, section.blocks))
    yield from map(_line, section.notes)


def _block(block: Block) -> str:
    match block:
        case Table():
            heads = [_text(column.name) for column in block.columns]
            rules = [":--" if column.words or place == 0 else "--:" for place, column in enumerate(block.columns)]
            return "\n".join(map(_row, (heads, rules, *([_cell(cell) for cell in row.cells] for row in block.rows))))
        case Facts():
            rows = [[_text(fact.name), _text(fact.value)] for fact in block.facts]
            return "\n".join(map(_row, (["", ""], [":--", ":--"], *rows)))
        case Lines():
            return "\n".join(f"{'  ' * line.under}- {_line(line.text)}" for line in block.lines)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    text = _text(words(cell))
    return f"**{text}**" if text and all(span.tone == "strong" for span in spans(cell)) else text


def _text(words: str) -> str:
    """Return a text of which every reader of Markdown shows just what it says."""
    return _MEANING.sub(lambda match: f"\\{match[0]}", visible(words).strip())


def _line(words: str) -> str:
    """Return a text that stands at the beginning of a line."""
    text = _text(words)
    first = _BEGINNING.match(text)
    if first is None:
        return text
    sign, rest = first[0], text[first.end() :]
    return f"{sign}\\{rest}" if sign.isdigit() else f"\\{text}"
