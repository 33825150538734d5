"""uiautodev: the server behind a web inspector, asked through its REST interface."""

from __future__ import annotations

import io
import json
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from PIL import Image

from agent_eval.agent.adb import free_port
from agent_eval.device_sim.shell.apk import read_manifest
from tests.peers.conftest import Desk

pytest.importorskip("uiautodev", reason="the peers group is not installed: make peers")
pytestmark = pytest.mark.peers

START_S = 30.0
PLAIN, U2 = "android_adb", "android"
"""What the server drives a phone with: adb's commands alone, or uiautomator2."""


class Inspector:
    """The server's REST interface.

    Args:
        base: Its address.
        desk: The phone.
    """

    def __init__(self, base: str, desk: Desk) -> None:
        self.base = base
        self.desk = desk

    def fetch(self, path: str, body: dict[str, Any] | None = None) -> bytes:
        """Return what the server answers; a refusal raises."""
        request = urllib.request.Request(  # noqa: S310  the address is a loopback one of ours
            self.base + path,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=20) as reply:  # noqa: S310  the same
            content: bytes = reply.read()
            return content

    def command(self, name: str, *, driver: str = U2, **parameters: Any) -> Any:
        """Post a command to the phone."""
        return json.loads(self.fetch(f"/api/{driver}/{self.desk.serial}/command/{name}", parameters))

    def tree(self, driver: str = U2) -> dict[str, Any]:
        """Return the elements on the screen."""
        found: dict[str, Any] = json.loads(self.fetch(f"/api/{driver}/{self.desk.serial}/hierarchy"))
        return found

    def now(self, path: str) -> Any:
        """Return a value of the phone's state."""
        return self.desk[path]


@pytest.fixture(scope="module")
def server(served: Desk) -> Iterator[str]:
    """The server's address."""
    port = free_port()
    process = served.start("-m", "uiautodev", "server", "--port", str(port), "--no-browser")
    base = f"http://127.0.0.1:{port}"
    try:
        _await(base, process)
        yield base
    finally:
        process.terminate()
        process.communicate()


def _await(base: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while True:
        try:
            with urllib.request.urlopen(f"{base}/api/info", timeout=5):  # noqa: S310  the same
                return
        except OSError:
            assert process.poll() is None, "the server ended before it answered"
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.1)  # another program starts; there is nothing to be told by


@pytest.fixture
def inspector(server: str, desk: Desk) -> Inspector:
    return Inspector(server, desk)


def nodes(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield tree
    for child in tree["children"]:
        yield from nodes(child)


def texts(tree: dict[str, Any]) -> set[str]:
    return {node["properties"].get("text", "") for node in nodes(tree)}


def test_it_lists_the_phone(inspector: Inspector) -> None:
    (phone,) = json.loads(inspector.fetch("/api/android/list"))
    assert phone["serial"] == inspector.desk.serial
    assert phone["enabled"] is True
    assert phone["model"] == inspector.now("about/model").replace(" ", "_")


@pytest.mark.parametrize("driver", [PLAIN, U2])
def test_it_shows_the_elements_on_the_screen(inspector: Inspector, driver: str) -> None:
    tree = inspector.tree(driver)
    assert {"Settings", "Camera"} <= texts(tree)
    (settings,) = (node for node in nodes(tree) if node["properties"].get("text") == "Settings")
    assert settings["name"] == "android.widget.TextView"
    assert 0 < settings["bounds"][0] < settings["bounds"][2] < 1
    xml = inspector.fetch(f"/api/{driver}/{inspector.desk.serial}/hierarchy?format=xml")
    assert xml.count(b"<node ") == sum(1 for _ in nodes(tree)) - 1


@pytest.mark.parametrize("driver", [PLAIN, U2])
def test_it_shows_a_picture_of_the_screen(inspector: Inspector, driver: str) -> None:
    picture = Image.open(io.BytesIO(inspector.fetch(f"/api/{driver}/{inspector.desk.serial}/screenshot/0")))
    assert picture.size == (720, 1280)
    assert len(picture.convert("RGB").getcolors(1 << 20) or ()) > 100


@pytest.mark.parametrize("driver", [PLAIN, U2])
def test_it_opens_an_app_and_taps_what_it_finds(inspector: Inspector, driver: str) -> None:
    inspector.command("appLaunch", driver=driver, package="com.android.settings")
    assert inspector.command("findElements", driver=driver, by="text", value="Network & internet")["count"] == 1
    inspector.command("clickElement", driver=driver, by="text", value="Network & internet")
    assert inspector.now("ui/screen") == "settings/network"
    inspector.command("clickElement", driver=driver, by="className", value="android.widget.Switch")
    assert inspector.now("settings/airplane_mode_on") is True
    current = json.loads(inspector.fetch(f"/api/{driver}/{inspector.desk.serial}/command/currentApp"))
    assert current["package"] == "com.android.settings"
    assert current["pid"] > 0
    inspector.command("appTerminate", driver=driver, package="com.android.settings")
    assert inspector.now("ui/screen") == "launcher/home"


def test_it_taps_a_part_of_the_screen(inspector: Inspector) -> None:
    (settings,) = (node for node in nodes(inspector.tree()) if node["properties"].get("text") == "Settings")
    left, top, right, bottom = settings["bounds"]
    inspector.command("tap", x=(left + right) / 2, y=(top + bottom) / 2, isPercent=True)
    assert inspector.now("ui/package") == "com.android.settings"


def test_it_presses_keys(inspector: Inspector) -> None:
    inspector.command("appLaunch", package="com.android.settings")
    volume = inspector.now("settings/volume_media")
    inspector.command("volumeUp" if volume == 0 else "volumeDown")
    assert inspector.now("settings/volume_media") != volume
    inspector.command("clickElement", by="text", value="Network & internet")
    inspector.command("back")
    assert inspector.now("ui/screen") == "settings/home"
    inspector.command("appSwitch")
    assert inspector.now("ui/screen") == "launcher/recents"
    inspector.command("home")
    assert inspector.now("ui/screen") == "launcher/home"


def test_it_types(inspector: Inspector) -> None:
    inspector.command("appLaunch", package="com.example.u2testdemo")
    inspector.command("clickElement", by="text", value="Addition")
    inspector.command("clickElement", by="className", value="android.widget.EditText")
    inspector.command("sendKeys", text="42")
    assert "42" in texts(inspector.tree())
    inspector.command("clearText")
    assert "42" not in texts(inspector.tree())


def test_it_lists_apps(inspector: Inspector) -> None:
    apps = {app["packageName"]: app for app in inspector.command("appList")}
    assert apps["org.tasks"]["versionName"]
    assert "com.android.settings" not in apps  # it asks for apps that are no part of the system
    size = inspector.command("getWindowSize")
    assert (size["width"], size["height"]) == (720, 1280)


def test_it_runs_commands(inspector: Inspector) -> None:
    path = f"/api/android/{inspector.desk.serial}/shell"
    done = json.loads(inspector.fetch(path, {"command": "settings put global airplane_mode_on 1; echo done"}))
    assert done == {"output": "done", "error": None}
    failed = json.loads(inspector.fetch(path, {"command": "(exit 3)"}))
    assert failed["error"].startswith("exit:3")


def test_it_keeps_a_copy_of_an_app(inspector: Inspector) -> None:
    content = inspector.fetch(f"/api/android/{inspector.desk.serial}/backupApp?packageName=org.tasks")
    found = read_manifest(content)
    assert found is not None
    assert found.package == "org.tasks"


def test_it_refuses_another_display_and_goes_on(inspector: Inspector) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        inspector.fetch(f"/api/android/{inspector.desk.serial}/screenshot/1")
    refused.value.close()
    assert inspector.command("wakeUp") is None
