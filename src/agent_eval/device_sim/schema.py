"""Which persisted paths exist and what values they may have; apps declare theirs. Knows no app and no phone.

A path is a plain one (``settings/wifi_on``), a field of a numbered record (``contacts/3/name``), or a file of the
shared storage (``files/Download/report.pdf``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from agent_eval.device_sim.clock import LAST_S
from agent_eval.errors import TaskFault
from agent_eval.types import Scalar

FILES = "files"
"""Prefix of the shared storage, ``/storage/emulated/0`` in the phone's shell: path to content, see ``files.py``."""

_RECORD_NUMBER = re.compile(r"[1-9][0-9]{0,5}")
_FILE_PATH = re.compile(r"files(/[^/\x00]+)+/?")


@dataclass(frozen=True)
class Kind:
    """The values that a persisted path may have."""

    type: type[bool] | type[int] | type[str]
    low: int = 0
    high: int = 0
    among: tuple[int | str, ...] = ()
    parts: tuple[str, ...] = ()
    """Of a text: the names of which it is a list joined by commas."""
    initial: Scalar | None = None
    """What a record has unless told otherwise."""

    def problem(self, value: object) -> str:
        """Say what is wrong with a value, or return nothing."""
        if type(value) is not self.type:
            return f"expected {self.type.__name__}, got {type(value).__name__}"
        if self.among and value not in self.among:
            return f"expected one of {', '.join(map(str, self.among))}"
        if self.type is int and not self.among and not self.low <= int(str(value)) <= self.high:
            return f"expected {self.low} to {self.high}"
        if self.parts and any(part not in self.parts for part in str(value).split(",") if part):
            return f"expected names among {','.join(self.parts)} joined by commas"
        return ""

    @property
    def start(self) -> Scalar:
        """What a record has unless told otherwise: no, the lowest number, the first choice, an empty text."""
        if self.initial is not None:
            return self.initial
        if self.among:
            return self.among[0]
        if self.type is int:
            return self.low
        return False if self.type is bool else ""


YES_NO, TEXT = Kind(bool), Kind(str)
COUNT = Kind(int, 0, 1_000_000_000)
MOMENT = Kind(int, 0, LAST_S)
"""A point in time in seconds since the epoch."""
PERMISSION = Kind(str, among=("granted", "ask", "denied", "blocked"))
"""Of an app and a runtime permission: denied once it asks again, denied twice it is blocked and never asks."""

Fields = Mapping[str, Kind]


class RecordPath(NamedTuple):
    """The path of one field of a numbered record."""

    prefix: str
    number: int
    field: str


class Schema:
    """All persisted paths of a phone.

    Args:
        paths: Paths that always exist.
        records: Prefix of numbered records to their fields; a record has all of them or does not exist.
    """

    def __init__(self, paths: Mapping[str, Kind], records: Mapping[str, Fields]) -> None:
        self.paths = dict(paths)
        self.records = {prefix: dict(fields) for prefix, fields in records.items()}

    def record_of(self, path: str) -> RecordPath | None:
        """Split the path of a record's field, or return None for any other path."""
        head, _, name = path.rpartition("/")
        prefix, _, number = head.rpartition("/")
        fields = self.records.get(prefix)
        if fields is None or name not in fields or not _RECORD_NUMBER.fullmatch(number):
            return None
        return RecordPath(prefix, int(number), name)

    def fresh_record(self, prefix: str, number: int) -> dict[str, Scalar]:
        """Return all fields of a new record at their initial values, by path."""
        return {f"{prefix}/{number}/{name}": kind.start for name, kind in self.records[prefix].items()}

    def check(self, path: str, value: object) -> None:
        """Refuse a persisted path that does not exist or a value that it cannot have.

        Raises:
            TaskFault: names the path, the value and what was expected.
        """
        record = self.record_of(path)
        kind = self.records[record.prefix][record.field] if record else self.paths.get(path)
        if kind is None and _FILE_PATH.fullmatch(path) and not {"..", "."} & set(path.split("/")):
            kind = TEXT
        if kind is None:
            raise TaskFault(
                f"this phone has no persisted path {path!r} (value {value!r})",
                hint=f"the paths are {', '.join(sorted(self.paths))}, {FILES}/<path>, and "
                + ", ".join(f"{prefix}/<id>/{'|'.join(fields)}" for prefix, fields in self.records.items()),
            )
        problem = kind.problem(value)
        if problem:
            raise TaskFault(f"{path!r} cannot be {value!r}: {problem}", hint="correct the value in PhoneSetup.state")
