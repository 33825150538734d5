"""Records of one file, written and read with a message for a person where that fails. Knows no particular record."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from agent_eval.errors import OperatorError

Record = TypeVar("Record", bound=BaseModel)


def write_record(record: BaseModel, path: Path, *, hint: str, indent: int | None = 2) -> None:
    """Write a record.

    Args:
        record: Which.
        path: The file.
        hint: What to do where it cannot be written.
        indent: Columns; None for one line, where nobody reads thousands of numbers.

    Raises:
        OperatorError: the file cannot be written.
    """
    try:
        path.write_text(record.model_dump_json(indent=indent) + "\n", encoding="utf-8")
    except OSError as error:
        raise OperatorError(f"{path} cannot be written: {error.strerror}", hint=hint) from None


def read_record(kind: type[Record], path: Path, *, hint: str, otherwise: str, expected: str) -> Record:
    """Read a record.

    Args:
        kind: Which.
        path: The file.
        hint: What to do where it cannot be read.
        otherwise: What a file of something else is, such as ``holds no scores``.
        expected: What the file should have been.

    Raises:
        OperatorError: the file cannot be read, or is none of this version.
    """
    try:
        return kind.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise OperatorError(f"{path} cannot be read: {error}", hint=hint) from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise OperatorError(
            f"{path} {otherwise}: {where or 'the file'}: {first['msg']}",
            hint=f"expected {expected}, with schema_version {kind.model_fields['schema_version'].default}",
        ) from None
