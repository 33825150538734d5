"""adb-shell, which needs no adb server, and pure-python-adb, which does: errands by shell commands alone."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from typing import Any

import pytest
from adb_shell.adb_device import AdbDeviceTcp
from ppadb.client import Client

from tests.peers.conftest import Desk

pytestmark = [
    pytest.mark.peers,
    pytest.mark.filterwarnings(
        "ignore::pytest.PytestUnraisableExceptionWarning"
    ),  # pure-python-adb leaves sockets open
]


@pytest.fixture(params=["adb-shell", "pure-python-adb"])
def device(desk: Desk, request: pytest.FixtureRequest) -> Iterator[Any]:
    """The phone as another client sees it; both have ``shell``, ``push`` and ``pull``."""
    if request.param == "pure-python-adb":
        made = Client(port=desk.adb_port).device(desk.serial)
        assert made is not None
        yield made
    else:
        made = AdbDeviceTcp("127.0.0.1", desk.phone.port, default_transport_timeout_s=5)
        assert made.connect(rsa_keys=[], auth_timeout_s=1)
        yield made
        made.close()
    del made
    gc.collect()


def centre(device: Any, text: str) -> str:
    """Return where an element with a text is, as two numbers for ``input tap``."""
    device.shell("uiautomator dump /sdcard/window_dump.xml")
    xml = device.shell("cat /sdcard/window_dump.xml")
    found = re.search(rf'text="{re.escape(text)}"[^>]*bounds="\[(\d+),(\d+)\]\[(\d+),(\d+)\]"', xml)
    assert found is not None, xml
    left, top, right, bottom = map(int, found.groups())
    return f"{(left + right) // 2} {(top + bottom) // 2}"


def test_it_flips_a_switch_on_a_page(device: Any, desk: Desk) -> None:
    device.shell("am start -a android.settings.SETTINGS")
    device.shell(f"input tap {centre(device, 'Network &amp; internet')}")
    assert desk["ui/screen"] == "settings/network"
    device.shell(f"input tap {centre(device, 'Airplane mode')}")
    assert desk["settings/airplane_mode_on"] is True
    assert device.shell("settings get global airplane_mode_on").strip() == "1"


def test_it_types_and_presses_keys(device: Any, desk: Desk) -> None:
    device.shell("am start -n com.example.u2testdemo/.AdditionActivity")
    device.shell("uiautomator dump /sdcard/window_dump.xml")
    device.shell(f"input tap {centre(device, 'Add')}")
    device.shell("input keyevent KEYCODE_HOME")
    assert desk["ui/screen"] == "launcher/home"
    device.shell("input swipe 360 1100 360 200 200")
    assert desk["ui/screen"] == "launcher/drawer"


def test_it_turns_radios_on_and_off(device: Any, desk: Desk) -> None:
    for command, on in (("svc wifi disable", False), ("cmd wifi set-wifi-enabled enabled", True)):
        device.shell(command)
        assert desk["settings/wifi_on"] is on
        assert f"Wifi is {'enabled' if on else 'disabled'}" in device.shell("cmd wifi status")
    device.shell("cmd bluetooth_manager disable")
    assert desk["settings/bluetooth_on"] is False


def test_it_knows_where_it_is(device: Any) -> None:
    device.shell("am start -n com.android.settings/.Settings")
    assert "com.android.settings/" in device.shell("dumpsys window | grep mCurrentFocus")
    pid = device.shell("pidof com.android.settings").strip()
    assert f"pid={pid}" in device.shell("dumpsys activity top")
    assert re.search(rf"^\S+ +{pid} .* com\.android\.settings\s*$", device.shell("ps -A"), re.MULTILINE)


def test_it_makes_and_reads_files(device: Any, desk: Desk) -> None:
    device.shell("mkdir -p /sdcard/Documents/peers; echo 'one line' > /sdcard/Documents/peers/note.txt")
    assert desk["files/Documents/peers/note.txt"] == "one line\n"
    assert device.shell("cat /storage/emulated/0/Documents/peers/note.txt") == "one line\n"
