"""Draws sections for a terminal. Computes nothing.

Each table keeps to its width, down to 80 columns, and reads without colour.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from agent_eval.records import EpisodeRecord, RunManifest
from agent_eval.reports import layout
from agent_eval.reports.report import report_of
from agent_eval.reports.sections import sections_of
from agent_eval.reports.sections.section import Block, Cell, Facts, Lines, Section, Table, Tone, spans

_STYLES: dict[Tone, str] = {
    "plain": "",
    "strong": "bold",
    "good": layout.GOOD,
    "bad": layout.BAD,
    "open": layout.OPEN,
    "faint": layout.FAINT,
}


def render_report(
    manifest: RunManifest, records: Sequence[EpisodeRecord], *, margin: float | None = None, run: str = ""
) -> RenderableType:
    """Draw everything that a run shows.

    Args:
        manifest: Of the run.
        records: Its episodes, all attempts.
        margin: Non-inferiority margin, as a positive share; the one that the run was to end by, or 0.1, if None.
        run: Name of the run; when it was created, by default.
    """
    return render_sections(sections_of(report_of(manifest, records, margin=margin, run=run)))


def render_sections(sections: Iterable[Section]) -> RenderableType:
    """Draw sections, each with an empty line behind it."""
    return Group(*(part for section in sections for part in (*_section(section), Text(""))))


def text_of(sections: Iterable[Section], width: int = 120) -> str:
    """Return what a terminal of a width would show, without colours and without blanks at the ends of lines."""
    console = Console(width=width, color_system=None, highlight=False, force_terminal=False, legacy_windows=False)
    with console.capture() as capture:
        console.print(render_sections(sections))
    return "\n".join(line.rstrip() for line in capture.get().splitlines()) + "\n"


def _section(section: Section) -> Iterable[RenderableType]:
    if section.title:
        yield layout.heading(section.title)
    yield from map(_block, section.blocks)
    yield from map(layout.note, section.notes)


def _block(block: Block) -> RenderableType:
    match block:
        case Table():
            return _FirstThatFits(tuple(block.forms()))
        case Facts():
            grid = layout.grid()
            for fact in block.facts:
                layout.row(grid, fact.name, fact.value)
            return grid
        case Lines():
            return Group(*(layout.text(f"{'  ' * line.under}{line.text}", _STYLES[line.tone]) for line in block.lines))


@dataclass(frozen=True)
class _FirstThatFits:
    """A table in the widest of its forms whose words fit unbroken; the narrowest, words broken, where none does."""

    forms: tuple[Table, ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.max_width
        for form in self.forms:
            drawn = _drawn(form, keep_whole=True)
            if Measurement.get(console, options.update(max_width=10_000), drawn).minimum <= room:
                yield drawn
                return
        yield _drawn(self.forms[-1], keep_whole=False)


def _drawn(table: Table, *, keep_whole: bool) -> RichTable:
    drawn = layout.table(*(_head(column.name, stacked=column.stacked) for column in table.columns))
    for place, (column, put) in enumerate(zip(table.columns, drawn.columns, strict=True)):
        put.justify = "left" if column.words or place == 0 else "right"
        put.min_width = column.least or None
        if column.whole and keep_whole:
            put.no_wrap = True
            put.min_width = max((_text(row.cells[place]).cell_len for row in table.rows), default=0)
        if column.words or place == 0:
            put.overflow = "fold"
        if column.stacked:
            put.vertical = "bottom"
    for row in table.rows:
        layout.row(drawn, *map(_text, row.cells), style=_STYLES[row.tone])
    return drawn


def _head(name: str, *, stacked: bool) -> str | Text:
    return Text(layout.visible(name).replace("_", "\n")) if stacked else name


def _text(cell: Cell) -> Text:
    text = Text()
    for span in spans(cell):
        text.append_text(layout.text(span.text, _STYLES[span.tone]))
    return text
