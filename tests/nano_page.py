"""The page ``docs/nano.md`` from the files of the embedded checkpoint; this module writes it when it is run."""

from __future__ import annotations

from pathlib import Path

from agent_eval.scoring import card_text
from agent_eval.wiring import EMBEDDED

PAGE = Path(__file__).parent.parent / "docs" / "nano.md"
CHECKPOINT = EMBEDDED["nano"]


def page() -> str:
    """Return the page as the checkpoint has it."""
    return f"{card_text(CHECKPOINT)}\nThis page is made from the checkpoint's files: `python -m tests.nano_page`.\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
