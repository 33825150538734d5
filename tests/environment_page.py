"""The page ``docs/reference/environment.md`` from the tables; this module writes it when it is run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agent_eval.environment import EXTERNAL, FOR_CHILDREN, LENT, READ, SET, Variable
from tests.markdown import table

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "environment.md"

_INTRODUCTION = """\
# Environment variables

What a person may have an opinion on is an option of a command; variables belong to the machine and to other programs.
One module looks at them, `agent_eval/environment.py`, and a test finds any other that does.

This page is made from its tables: `python -m tests.environment_page`.
"""

_SECTIONS: tuple[tuple[str, str, Sequence[Variable]], ...] = (
    ("Read by agent-eval", "A value that cannot be is an error of the command that needs it.", READ),
    (
        "Given a default before torch is loaded",
        "By every command that computes, and only where they are not set. libgomp reads them once, when it is loaded "
        "with torch; a program that has imported torch before it calls agent-eval keeps what it has.",
        SET,
    ),
    (
        "Set while vLLM is loaded",
        "Then the whole environment is put back, with what vLLM has exported meanwhile, so that no child gets it.",
        LENT,
    ),
    ("Set in a child process", "Never in this one.", FOR_CHILDREN),
    ("Read by others", "Not looked at by agent-eval itself, but they change what it does.", EXTERNAL),
)


def page() -> str:
    """Return the page as the tables have it."""
    parts = [_INTRODUCTION]
    for heading, words, variables in _SECTIONS:
        rows: list[tuple[str, ...]] = [
            (f"`{each.name}`", each.reader, each.meaning, each.default) for each in variables
        ]
        parts += [f"## {heading}\n", f"{words}\n", table(("variable", "read by", "meaning", "unless set"), rows)]
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
