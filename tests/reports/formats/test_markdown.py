from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from agent_eval.reports import numbers
from agent_eval.reports.formats import FORMATS, Showing
from agent_eval.reports.formats.markdown import markdown_text
from agent_eval.reports.layout import visible
from agent_eval.reports.sections.section import Column, Fact, Facts, Line, Lines, Row, Section, Table, words
from tests.reports.formats.showings import HOSTILE, compared, empty, hostile, whole

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
"""An independent reader of Markdown."""


def tokens(text: str) -> Sequence[Token]:
    return PARSER.parse(text)


def told(inline: Token) -> str:
    """Return the text that a reader sees of a paragraph or a cell."""
    return "".join(child.content for child in inline.children or ())


def tables(text: str) -> list[list[list[str]]]:
    found: list[list[list[str]]] = []
    parsed = tokens(text)
    for place, token in enumerate(parsed):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type in ("th_open", "td_open"):
            found[-1][-1].append(told(parsed[place + 1]))
    return found


@pytest.mark.parametrize("make", [whole, compared, hostile, empty])
def test_every_table_is_read_back_cell_by_cell(make: object) -> None:
    showing = make() if callable(make) else None
    assert isinstance(showing, Showing)
    blocks = [block for section in showing.sections for block in section.blocks]
    wanted = [
        [[column.name for column in block.columns], *([words(cell) for cell in row.cells] for row in block.rows)]
        if isinstance(block, Table)
        else [["", ""], *([fact.name, fact.value] for fact in block.facts)]
        for block in blocks
        if not isinstance(block, Lines)
    ]
    read = tables(FORMATS["markdown"](showing).decode())
    assert read == [[[visible(cell).strip() for cell in row] for row in table] for table in wanted]


def test_headings_are_the_titles_of_sections() -> None:
    parsed = tokens(FORMATS["markdown"](whole()).decode())
    heads = [told(parsed[place + 1]) for place, token in enumerate(parsed) if token.type == "heading_open"]
    assert heads == ["Report of runs/one", *(section.title for section in whole().sections if section.title)]


def test_the_numbers_are_those_of_the_other_formats() -> None:
    showing = whole()
    cells = {cell for table in tables(FORMATS["markdown"](showing).decode()) for row in table for cell in row}
    for build in showing.report.summary.builds:
        assert {numbers.percent(rate) for rate in build.rates.values()} <= cells


def test_nothing_that_a_model_or_a_person_wrote_means_anything() -> None:
    parsed = tokens(FORMATS["markdown"](hostile()).decode())
    inner = {child.type for token in parsed for child in token.children or ()}
    assert inner <= {"text", "strong_open", "strong_close", "text_special"}
    assert {"html_block", "code_block", "fence", "hr", "blockquote_open"}.isdisjoint(token.type for token in parsed)
    assert HOSTILE not in FORMATS["markdown"](hostile()).decode()


@given(st.text(min_size=1))
@example("| a |")
@example("1) one")
@example("2. two")
@example("- item")
@example("+ item")
@example("===")
@example("---")
@example("# head #")
@example("~~~")
@example("> quote")
@example("    code")
@example("a  \nb")
@example("<script>alert(1)</script>")
@example("![x](y) [z]: /u")
@example("&lt; &#35;")
@example("snake_case _emphasis_ __init__")
@example("http://a.b www.a.b a@b.c @name")
def test_any_text_is_shown_as_it_is_wherever_it_stands(text: str) -> None:
    section = Section(
        text,
        (
            Table((Column(text), Column("n")), (Row((text, "1")),)),
            Facts((Fact("name", text),)),
            Lines((Line(f"{text}"), Line(text, under=True))),
        ),
        (text,),
    )
    shown = re.sub(r"\s+", " ", visible(text)).strip()
    parsed = tokens(markdown_text([section], text))
    said = [re.sub(r"\s+", " ", told(token)).strip() for token in parsed if token.type == "inline"]
    # title, heading, table, facts, two lines of a list, note; a heading of blanks alone is none
    wanted = [shown, shown, shown, "n", shown, "1", "", "", "name", shown, shown, shown, shown]
    assert [each for each in said if each] == [each for each in wanted if each]
