"""A report in the formats that other programs read. Writes no file itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from agent_eval.reports.formats.data import json_text
from agent_eval.reports.formats.delimited import csv_text
from agent_eval.reports.formats.markdown import markdown_text
from agent_eval.reports.formats.parquet import parquet_bytes
from agent_eval.reports.formats.tidy import measures_of
from agent_eval.reports.report import Report
from agent_eval.reports.sections.section import Section

FormatName = Literal["markdown", "json", "csv", "parquet"]
FORMAT_NAMES: tuple[FormatName, ...] = get_args(FormatName)


@dataclass(frozen=True)
class Showing:
    """A report and how it is shown."""

    title: str
    report: Report
    sections: tuple[Section, ...]
    run_of: Mapping[str, str] = field(default_factory=dict)
    """Name of each build's run, where the report is of several runs."""
    instead: Mapping[str, Any] = field(default_factory=dict)
    """What data formats have in place of keys of the report; None leaves a key out."""


def _markdown(showing: Showing) -> bytes:
    return markdown_text(showing.sections, showing.title).encode()


def _json(showing: Showing) -> bytes:
    return json_text(showing.report, showing.run_of, showing.instead).encode("ascii")


def _csv(showing: Showing) -> bytes:
    return csv_text(measures_of(showing.report, showing.run_of)).encode()


def _parquet(showing: Showing) -> bytes:
    return parquet_bytes(measures_of(showing.report, showing.run_of))


FORMATS: Mapping[FormatName, Callable[[Showing], bytes]] = {
    "markdown": _markdown,
    "json": _json,
    "csv": _csv,
    "parquet": _parquet,
}
"""Every format by its name: what to write; ``parquet`` raises OperatorError where pyarrow is missing."""
