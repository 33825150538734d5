"""The tidy table of a report as Parquet, for data frames and query engines."""

from __future__ import annotations

import io
from collections.abc import Iterable

from agent_eval.errors import OperatorError
from agent_eval.reports.formats.tidy import Measure

_COUNTS = ("numerator", "denominator")
_NUMBERS = ("estimate", "low", "high")


def parquet_bytes(measures: Iterable[Measure]) -> bytes:
    """Return the file: counts as int64, numbers as float64, both null where there is none; the rest as strings.

    Raises:
        OperatorError: pyarrow is not installed.
    """
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise OperatorError(
            "the format parquet needs pyarrow, which is not installed",
            hint='install it with `pip install "agent-eval[parquet]"`, or use csv, which has the same table',
        ) from None
    kinds = {name: arrow.int64() for name in _COUNTS} | {name: arrow.float64() for name in _NUMBERS}
    schema = arrow.schema(
        [arrow.field(name, kinds.get(name, arrow.string()), nullable=name in kinds) for name in Measure._fields]
    )
    rows = [measure._asdict() for measure in measures]
    stream = io.BytesIO()
    parquet.write_table(arrow.Table.from_pylist(rows, schema=schema), stream)
    return stream.getvalue()
