"""The guide to a new task is run as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

GUIDE = Path(__file__).parent.parent.parent / "docs" / "guides" / "adding-a-task.md"


def test_the_task_of_the_guide_passes_every_gate(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 2
    names: dict[str, Any] = {"__name__": "sound"}
    for block in blocks:
        exec(compile(block, str(GUIDE), "exec", dont_inherit=True), names)  # noqa: S102 - our own text
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) > 10
    assert all(line.endswith("passed") for line in printed)
