"""The tidy table of a report as CSV (RFC 4180), which no spreadsheet takes for formulas."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from agent_eval.reports.formats.tidy import Measure

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes a cell for a formula by (OWASP, CSV injection)."""


def csv_text(measures: Iterable[Measure]) -> str:
    """Return the table with a line of names above it; numbers in full, nothing where there is none.

    A text that begins like a formula has an apostrophe before it, which spreadsheets do not show.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(Measure._fields)
    for measure in measures:
        writer.writerow(_safe(value) if isinstance(value, str) else value for value in measure)
    return stream.getvalue()


def _safe(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
