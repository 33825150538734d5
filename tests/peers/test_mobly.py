"""mobly: the test framework of Android's own teams. Its AndroidDevice drives the adb binary as a program of its own."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from agent_eval.agent.adb import binary
from tests.peers.conftest import Desk

adb_module = pytest.importorskip(
    "mobly.controllers.android_device_lib.adb", reason="the peers group is not installed: make peers"
)
android_device = pytest.importorskip("mobly.controllers.android_device")
pytestmark = pytest.mark.peers


@pytest.fixture
def device(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The phone as mobly sees it; mobly finds the adb server by the environment and the binary by a setting."""
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(desk.adb_port))
    monkeypatch.setattr(adb_module, "ADB", binary())
    monkeypatch.setattr(logging, "log_path", str(tmp_path), raising=False)
    (made,) = android_device.create([{"serial": desk.serial}])
    yield made
    android_device.destroy([made])


def test_it_lists_the_phone(device: Any, desk: Desk) -> None:
    assert desk.serial in android_device.list_adb_devices()
    assert device.serial == desk.serial
    assert device.is_boot_completed()
    assert not device.is_adb_root


def test_it_reads_the_build_from_the_properties(device: Any, desk: Desk) -> None:
    build = device.build_info
    assert build["build_id"] == desk.phone.system.getprop("ro.build.id")
    assert int(build["build_version_sdk"]) >= 33
    assert device.adb.getprops(["ro.product.model"]) == {"ro.product.model": desk["about/model"]}
    assert device.adb.current_user_id == 0


def test_it_runs_commands_and_hears_of_failures(device: Any) -> None:
    assert device.adb.shell("echo hi").strip() == b"hi"
    assert device.adb.has_shell_command("ls")
    assert not device.adb.has_shell_command("nothing-of-the-kind")
    with pytest.raises(adb_module.AdbError) as failed:
        device.adb.shell("echo out; echo err >&2; exit 4")
    assert (failed.value.ret_code, failed.value.stdout, failed.value.stderr) == (4, b"out\n", b"err\n")


def test_it_changes_the_phone(device: Any, desk: Desk) -> None:
    device.adb.shell("am start -n com.android.settings/.Settings")
    assert desk["ui/package"] == "com.android.settings"
    device.adb.shell("svc wifi disable")
    assert desk["settings/wifi_on"] is False
    device.adb.shell("input keyevent HOME")
    assert desk["ui/screen"] == "launcher/home"


def test_it_gathers_the_log(device: Any) -> None:
    device.adb.shell("log -t peer said-by-a-test")
    device.services.logcat.pause()
    assert "said-by-a-test" in Path(device.services.logcat.adb_logcat_file_path).read_text()
    device.services.logcat.resume()


def test_it_takes_a_picture(device: Any, tmp_path: Path) -> None:
    saved = device.take_screenshot(str(tmp_path))
    with Image.open(saved) as picture:
        assert picture.size == (720, 1280)


def test_it_forwards_a_port(device: Any, desk: Desk) -> None:
    port = int(device.adb.forward(["tcp:0", "tcp:9008"]))
    assert f"{desk.serial} tcp:{port} tcp:9008" in device.adb.forward("--list").decode()
    device.adb.forward(["--remove", f"tcp:{port}"])
    assert f"tcp:{port} " not in device.adb.forward("--list").decode()
