from __future__ import annotations

import io
import subprocess
import sys

import pyarrow as arrow
from pyarrow import parquet

from agent_eval.reports.formats import FORMATS
from agent_eval.reports.formats.tidy import Measure, measures_of
from tests.reports.formats.showings import compared, empty, hostile, whole


def test_what_is_read_back_are_the_same_numbers() -> None:
    for showing in (whole(), compared(), hostile(), empty()):
        table = parquet.read_table(io.BytesIO(FORMATS["parquet"](showing)))
        assert [Measure(**row) for row in table.to_pylist()] == list(measures_of(showing.report, showing.run_of))


def test_columns_have_types_whatever_is_in_them() -> None:
    schema = parquet.read_schema(io.BytesIO(FORMATS["parquet"](empty())))
    types = {field.name: field.type for field in schema}
    assert tuple(types) == Measure._fields
    assert {types[name] for name in ("numerator", "denominator")} == {arrow.int64()}
    assert {types[name] for name in ("estimate", "low", "high")} == {arrow.float64()}
    assert {types[name] for name in ("run", "build", "reference", "metric", "unit", "method")} == {arrow.string()}
    assert {field.name for field in schema if not field.nullable} == {
        "run", "build", "reference", "metric", "unit", "method",
    }  # fmt: skip


def test_without_pyarrow_the_extra_is_named() -> None:
    program = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from agent_eval.errors import OperatorError\n"
        "from agent_eval.reports.formats.parquet import parquet_bytes\n"
        "try: parquet_bytes([])\n"
        "except OperatorError as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "needs pyarrow, which is not installed" in said
    assert "agent-eval[parquet]" in said


def test_no_other_format_loads_pyarrow() -> None:
    program = (
        "import sys; from agent_eval.reports.formats import FORMATS; from tests.reports.formats.showings import whole\n"
        "[FORMATS[name](whole()) for name in ('csv', 'json', 'markdown')]\n"
        "sys.exit('pyarrow' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
