"""androidviewclient: it reads ``uiautomator dump`` and touches what it finds by text.

Not part of the ``peers`` group: it asks for another major version of ``mcp`` than uiautomator2-mcp-server does.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.peers.conftest import Desk

pytest.importorskip("com.dtmilano.android.viewclient", reason="androidviewclient is not installed (docs/peers.md)")
pytestmark = pytest.mark.peers


def test_it_finds_views_by_text_and_touches_them(desk: Desk) -> None:
    seen = json.loads(desk.run(str(Path(__file__).with_name("view_client.py")), desk.serial))
    assert seen["model"] == desk["about/model"]
    assert seen["display"] == [720, 1280, 0]
    assert (seen["on"], seen["locked"], seen["keyboard"]) == (True, False, False)
    assert {"Internet", "Airplane mode"} <= set(seen["texts"])
    assert seen["activity"] == "com.android.settings/.SubSettings"
    assert seen["picture"] == [720, 1280]
    assert desk["ui/screen"] == "settings/network"
    assert desk["settings/airplane_mode_on"] is True
