from __future__ import annotations

import re
from pathlib import Path

import pytest

import agent_eval.device_sim

ROOT = Path(agent_eval.device_sim.__file__).parent
LISTED = ("adb", "apps", "faults", "render", "shell", "u2", "view", ".")
"""Folders whose README names every module."""


def modules(folder: Path) -> set[str]:
    """Return the modules and packages of a folder, as its README names them."""
    found = {path.name for path in folder.glob("*.py") if path.name != "__init__.py"}
    return found | {f"{path.parent.name}/" for path in folder.glob("*/__init__.py")}


@pytest.mark.parametrize("name", LISTED)
def test_every_module_has_its_line_and_no_line_is_of_a_module_that_is_gone(name: str) -> None:
    folder = ROOT / name
    rows = [line for line in (folder / "README.md").read_text("utf-8").splitlines() if line.startswith("| `")]
    named = {word for row in rows for word in re.findall(r"`([\w/]+(?:\.py|/))`", row.split("|")[1])}
    inside = {f"{path.parent.name}/{path.name}" for path in folder.glob("parts/*.py") if path.name != "__init__.py"}
    expected = (modules(folder) - {"parts/"}) | inside
    assert named >= expected, sorted(expected - named)
    assert {word for word in named if not (folder / word).exists()} == set()
