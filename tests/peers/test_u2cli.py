"""The command lines that come with uiautomator2: ``u2cli`` with its server, and ``uiautomator2`` without one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from agent_eval.agent.adb import free_port
from tests.peers.conftest import Desk

pytestmark = pytest.mark.peers

START_S = 30.0
DEMO = "com.example.u2testdemo"


class CommandLine:
    """``u2cli`` on the phone.

    Args:
        desk: The phone.
        port: Where u2cli's server listens.
    """

    def __init__(self, desk: Desk, port: int) -> None:
        self.desk = desk
        self._port = port

    def __call__(self, *arguments: str, code: int = 0) -> str:
        """Run a command and return what it printed."""
        return self.desk.run(
            "-m",
            "uiautomator2.agent_cli",
            "-s",
            self.desk.serial,
            "--server-port",
            str(self._port),
            *arguments,
            code=code,
        )

    def now(self, path: str) -> Any:
        """Return a value of the phone's state."""
        return self.desk[path]


@pytest.fixture(scope="module")
def port(served: Desk) -> Iterator[int]:
    """Where u2cli's server listens."""
    port = free_port()
    process = served.start("-m", "uiautomator2.agent_cli", "--server-port", str(port), "server")
    status = CommandLine(served, port)
    try:
        deadline = time.monotonic() + START_S
        while "running: True" not in status("server-status"):
            assert process.poll() is None, "the server ended before it answered"
            assert time.monotonic() < deadline, "the server does not answer"
        yield port
    finally:
        process.terminate()
        process.communicate()


@pytest.fixture
def u2cli(port: int, desk: Desk) -> CommandLine:
    return CommandLine(desk, port)


def test_u2cli_describes_the_phone(u2cli: CommandLine) -> None:
    assert f"model: {u2cli.now('about/model')}" in u2cli("device-info")
    assert "width: 720\nheight: 1280" in u2cli("window-size")
    assert "com.android.settings\n" in u2cli("app-list")
    assert u2cli("shell", "echo", "hi").endswith("exit_code: 0\nhi\n")


def test_u2cli_finds_and_clicks(u2cli: CommandLine) -> None:
    u2cli("app-start", "com.android.settings")
    assert "package: com.android.settings" in u2cli("app-current")
    assert '"Network & internet"' in u2cli("dump-hierarchy")
    u2cli("click", "--text", "Network & internet")
    assert u2cli.now("ui/screen") == "settings/network"
    u2cli("press", "back")
    assert u2cli.now("ui/screen") == "settings/home"
    u2cli("app-stop", "com.android.settings")
    assert u2cli.now("ui/screen") == "launcher/home"


def test_u2cli_types(u2cli: CommandLine) -> None:
    u2cli("app-start", DEMO)
    u2cli("click", "--text", "Addition")
    u2cli("click", "--class-name", "android.widget.EditText")
    u2cli("send-keys", "23")
    assert '"23"' in u2cli("dump-hierarchy")
    u2cli("clear-text")
    assert '"23"' not in u2cli("dump-hierarchy")


def test_u2cli_scrolls(u2cli: CommandLine) -> None:
    u2cli("app-start", "com.android.settings")
    assert '"About phone"' not in u2cli("dump-hierarchy")
    u2cli("scroll", "--scrollable", "--action", "toEnd")
    assert '"About phone"' in u2cli("dump-hierarchy")


def test_u2cli_opens_shades_and_pages(u2cli: CommandLine) -> None:
    u2cli("open-notification")
    assert u2cli.now("ui/screen") == "systemui/shade"
    u2cli("open-quick-settings")
    assert u2cli.now("ui/screen") == "systemui/quick_settings"
    u2cli("open-url", "https://wiki.example/Tide")
    assert u2cli.now("ui/screen") == "browser/main"


def test_u2cli_takes_a_picture(u2cli: CommandLine, tmp_path: Path) -> None:
    u2cli("screenshot", str(tmp_path / "screen.png"))
    with Image.open(tmp_path / "screen.png") as picture:
        assert picture.size == (720, 1280)


def test_uiautomator2_prepares_and_cleans_a_phone(desk: Desk) -> None:
    assert "successfully installed" in desk.run("-m", "uiautomator2", "-s", desk.serial, "init")
    assert "com.github.uiautomator/.AdbKeyboard\n" in desk.shell("ime list -s -a")
    desk.run("-m", "uiautomator2", "-s", desk.serial, "doctor")
    desk.run("-m", "uiautomator2", "-s", desk.serial, "purge")


def test_uiautomator2_starts_and_removes_apps(desk: Desk, tmp_path: Path) -> None:
    def uiautomator2(*arguments: str) -> str:
        return desk.run("-m", "uiautomator2", "-s", desk.serial, *arguments)

    uiautomator2("start", "com.android.deskclock")
    assert desk["ui/package"] == "com.android.deskclock"
    assert '"package": "com.android.deskclock"' in uiautomator2("current")
    uiautomator2("screenshot", str(tmp_path / "screen.png"))
    with Image.open(tmp_path / "screen.png") as picture:
        assert picture.size == (720, 1280)
    uiautomator2("stop", "com.android.deskclock")
    assert desk["ui/screen"] == "launcher/home"
    assert "OK" in uiautomator2("uninstall", DEMO)
    assert DEMO not in desk.shell("pm list packages")
