"""The table of public reports is complete, says what its tests say, and is the page that people read."""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest

from tests.tasks.failure_reports.table import PAGE, TABLE, Report, page

NUMBERS = (
    *(1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16, 18, 19, 20, 21, 24, 25, 26, 27, 28, 29, 30, 31, 32, 34, 35),
    *(36, 38, 39, 41, 43, 45, 49, 51, 54, 55, 56, 58, 59, 60),
)
"""Rows of the survey that concern the judge, the tools or the phone."""


def module_of(row: Report) -> ModuleType:
    return importlib.import_module(f"tests.tasks.failure_reports.{row.file}")


def test_every_report_of_the_survey_is_in_the_table_once() -> None:
    assert tuple(row.number for row in TABLE) == NUMBERS
    assert len({(row.file, row.test) for row in TABLE}) == len(TABLE)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: str(row.number))
def test_a_report_has_a_test_that_cites_it_and_says_what_is_right(row: Report) -> None:
    said = getattr(module_of(row), row.test).__doc__
    assert said.startswith(f"{row.reports}: ")
    assert said.endswith(".")


def test_every_test_of_a_report_is_in_the_table_or_cites_one_that_is() -> None:
    cited = {row.reports.partition("#")[0] for row in TABLE}
    for module in {module_of(row) for row in TABLE}:
        for name, test in vars(module).items():
            if name.startswith("test_"):
                assert test.__doc__.partition(": ")[0].partition("#")[0] in cited, name


def test_the_page_is_made_from_the_table() -> None:
    assert PAGE.read_text("utf-8") == page(), "run: python -m tests.tasks.failure_reports.table"
