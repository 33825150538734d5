"""mobly, the test framework of Android's own teams: one of its tests, by its own runner."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.peers.conftest import Desk

pytest.importorskip("mobly", reason="the peers group is not installed: make peers")
pytestmark = pytest.mark.peers

CONFIG = """\
TestBeds:
- Name: desk
  Controllers:
    AndroidDevice:
    - serial: {serial}
MoblyParams:
  LogPath: {folder}
"""


def test_a_mobly_test_passes_on_the_phone(desk: Desk, tmp_path: Path) -> None:
    config = tmp_path / "config.yml"
    config.write_text(CONFIG.format(serial=desk.serial, folder=tmp_path))
    said = desk.run(str(Path(__file__).with_name("mobly_errand.py")), "-c", str(config))
    totals = {name: int(count) for name, count in re.findall(r"(\w+) (\d+)", said.strip().splitlines()[-1])}
    assert totals == {"Error": 0, "Executed": 7, "Failed": 0, "Passed": 7, "Requested": 7, "Skipped": 0}, said
    assert desk["settings/wifi_on"] is False
    assert desk["ui/package"] == "com.android.settings"
