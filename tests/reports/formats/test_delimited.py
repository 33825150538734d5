from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.reports.formats import FORMATS
from agent_eval.reports.formats.delimited import csv_text
from agent_eval.reports.formats.tidy import Measure, measures_of
from tests.reports.formats.showings import HOSTILE, compared, hostile, whole


def test_what_is_read_back_are_the_same_numbers() -> None:
    for showing in (whole(), compared()):
        measures = measures_of(showing.report, showing.run_of)
        read = list(csv.DictReader(io.StringIO(FORMATS["csv"](showing).decode(), newline="")))
        assert len(read) == len(measures) > 100
        for row, measure in zip(read, measures, strict=True):
            for name, value in measure._asdict().items():
                assert (type(value)(row[name]) if value is not None else row[name] or None) == value, name


def test_no_text_is_taken_for_a_formula() -> None:
    text = FORMATS["csv"](hostile()).decode()
    cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
    builds = {row["build"] for row in csv.DictReader(io.StringIO(text, newline=""))}
    assert {"'@b", "'+c", "'-d"} <= builds
    assert any(HOSTILE[:6] in build and build.startswith("'=") for build in builds)
    assert [cell for cell in cells if cell.startswith(("=", "+", "@", "\t", "\r"))] == []
    assert all(float(cell) < 0 for cell in cells if cell.startswith("-"))


@pytest.mark.parametrize("sign", ["=", "+", "-", "@"])
def test_negative_numbers_stay_numbers(sign: str) -> None:
    measure = Measure("r", f"{sign}b", "", "m", None, 3, -0.25, -0.5, 0.0, "share", "x")
    (row,) = csv.DictReader(io.StringIO(csv_text([measure]), newline=""))
    assert row["build"] == f"'{sign}b"
    assert (float(row["estimate"]), float(row["low"]), float(row["high"])) == (-0.25, -0.5, 0.0)


@given(st.text(), st.text())
def test_any_text_stays_in_its_cell(build: str, metric: str) -> None:
    measure = Measure("run", build, "", metric, 1, 2, 0.5, 0.1, 0.9, "share", "wilson")
    (row,) = csv.DictReader(io.StringIO(csv_text([measure]), newline=""))
    assert row["build"].removeprefix("'") == build.removeprefix("'")
    assert row["metric"].removeprefix("'") == metric.removeprefix("'")
    assert (row["numerator"], row["method"]) == ("1", "wilson")
