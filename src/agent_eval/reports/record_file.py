"""Records of one file, written and read with a message for a person where that fails. Knows no particular record."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from agent_eval.errors import OperatorError


class RecordPart(BaseModel):
    """What a record consists of: nothing in it changes, and nothing unknown stands in it."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class FileRecord(RecordPart):
    """A record that is a file of its own. Its field ``schema_version`` has one value."""

    called: ClassVar[str]
    """What it is, such as ``record of a bench``."""
    written_by: ClassVar[str]
    """The command that writes it."""
    indent: ClassVar[int | None] = 2
    """Columns; None for one line, where nobody reads thousands of numbers."""

    def as_json(self) -> str:
        """Return the contents of the file."""
        return self.model_dump_json(indent=self.indent) + "\n"

    def write(self, path: Path) -> None:
        """Write the record.

        Raises:
            OperatorError: the file cannot be written.
        """
        try:
            path.write_text(self.as_json(), encoding="utf-8")
        except OSError as error:
            hint = "name a file in a folder that is there with --json"
            raise OperatorError(f"{path} cannot be written: {error.strerror}", hint=hint) from None

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a record.

        Raises:
            OperatorError: the file cannot be read, or is none of this version.
        """
        try:
            return cls.model_validate_json(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            hint = f"name a file that {cls.written_by} wrote"
            raise OperatorError(f"{path} cannot be read: {error}", hint=hint) from None
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            version = cls.model_fields["schema_version"].default
            raise OperatorError(
                f"{path} is no {cls.called}: {where or 'the file'}: {first['msg']}",
                hint=f"expected what {cls.written_by} writes, with schema_version {version}",
            ) from None
