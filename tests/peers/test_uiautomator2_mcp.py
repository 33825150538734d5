"""uiautomator2-mcp-server: an MCP server for phones, spoken to over its standard streams as an agent's host does."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from agent_eval.device_sim.shell.apk import Manifest
from agent_eval.device_sim.shell.apk_writer import write_apk
from tests.peers.conftest import Desk
from tests.peers.mcp import McpServer

pytest.importorskip("u2mcp", reason="the peers group is not installed: make peers")
pytestmark = pytest.mark.peers

NEEDS_MORE_THAN_A_PHONE = {
    "init": "broken upstream: it asks for options that it does not pass on",
    "screen_record": "minicap, which no phone of today has",
    "screen_record_start": "minicap",
    "screen_record_stop": "minicap",
    "show_toast": "makeToast, which the uiautomator2 server of 3.7 does not have",
    "start_scrcpy": "the program scrcpy",
    "stop_scrcpy": "the program scrcpy",
}
"""Tools that are not used here, and what they ask for."""
DEMO = "com.example.u2testdemo"


@pytest.fixture(scope="module")
def server(served: Desk) -> Iterator[McpServer]:
    """The MCP server, running."""
    process = served.start("-m", "u2mcp", "stdio", "--no-check-adb", "--no-print-tags", "--no-show-fastmcp-banner")
    made = McpServer(process)
    yield made
    made.close()


class Agent:
    """Uses tools on the phone.

    Args:
        server: Where the tools are.
        desk: The phone.
    """

    def __init__(self, server: McpServer, desk: Desk) -> None:
        self.server = server
        self.desk = desk

    def __call__(self, tool: str, **arguments: object) -> Any:
        """Use a tool that takes the phone's serial."""
        return self.server.use(tool, serial=self.desk.serial, **arguments)

    def tap(self, text: str) -> None:
        """Tap the element with a text, which must be there."""
        assert self("xpath_click", xpath=f'//*[@text="{text}"]', timeout=1.0) is True

    def now(self, path: str) -> Any:
        """Return a value of the phone's state."""
        return self.desk[path]


@pytest.fixture
def agent(server: McpServer, desk: Desk) -> Agent:
    return Agent(server, desk)


def size(content: bytes) -> tuple[int, int]:
    """Return the size of a picture in a file."""
    return Image.open(io.BytesIO(content)).size


def size_at(url: str) -> tuple[int, int]:
    """Return the size of a picture in a data URL."""
    return size(base64.b64decode(url.partition("base64,")[2]))


def test_it_finds_the_phone(agent: Agent) -> None:
    assert [device["serialno"] for device in agent.server.use("device_list")] == [agent.desk.serial]
    info = agent("connect")
    assert (info["model"], info["currentPackageName"]) == (agent.now("about/model"), "com.android.launcher3")
    assert agent("window_size") == {"width": 720, "height": 1280}
    assert agent("info")["screenOn"] is True
    assert agent("shell_command", command="echo hi; false") == [1, "hi\n"]


def test_it_forgets_the_phone_and_finds_it_again(agent: Agent) -> None:
    agent("connect")
    agent("disconnect")
    assert "not connected" in agent.server.complaint("disconnect", serial=agent.desk.serial)
    agent("purge")
    agent("window_size")
    agent.server.use("disconnect_all")
    agent.server.use("delay", seconds=0.0)
    assert agent("window_size") == {"width": 720, "height": 1280}


def test_it_walks_through_settings_and_flips_a_switch(agent: Agent) -> None:
    agent("app_start", package_name="com.android.settings")
    agent("app_wait", package_name="com.android.settings")
    assert agent("activity_wait_appear", activity=".homepage.SettingsHomepageActivity", timeout=1.0) is True
    agent.tap("Network & internet")
    assert agent.now("ui/screen") == "settings/network"
    airplane = '//*[@text="Airplane mode"]'
    assert agent("xpath_wait_appear", xpath=airplane, timeout=1.0) is True
    assert agent("xpath_exists", xpath=airplane) is True
    assert agent("xpath_get_text", xpath=airplane) == "Airplane mode"
    assert agent("xpath_get_attrib", xpath=airplane, key="resource-id") == "android:id/title"
    left, top, right, bottom = agent("xpath_get_bounds", xpath=airplane)
    assert agent("xpath_get_info", xpath=airplane)["bounds"] == {
        "left": left, "top": top, "right": right, "bottom": bottom,
    }  # fmt: skip
    agent("xpath_click_nowait", xpath=airplane)
    assert agent.now("settings/airplane_mode_on") is True
    agent("click", x=(left + right) // 2, y=(top + bottom) // 2)
    assert agent.now("settings/airplane_mode_on") is False
    agent("press_key", key="back")
    assert agent.now("ui/screen") == "settings/home"
    assert agent("xpath_wait_gone", xpath=airplane, timeout=1.0) is True


def test_it_scrolls_and_swipes(agent: Agent) -> None:
    agent("app_start", package_name="com.android.settings")
    about = '//*[@text="About phone"]'
    assert agent("xpath_exists", xpath=about) is False
    assert agent("xpath_scroll_to", xpath=about) is True
    assert agent("xpath_exists", xpath=about) is True
    top = '//*[@text="Network & internet"]'
    for _ in range(3):
        agent("swipe_down", scale=0.8)
    assert agent("xpath_exists", xpath=top) is True
    for gesture, arguments in (
        ("swipe_up", {"scale": 0.8}),
        ("swipe_ext", {"direction": "up", "scale": 0.8}),
        ("swipe", {"fx": 300, "fy": 1000, "tx": 300, "ty": 300}),
        ("swipe_points", {"points": [[300, 1000], [300, 600], [300, 300]]}),
        ("drag", {"sx": 300, "sy": 1000, "ex": 300, "ey": 300}),
        ("xpath_swipe", {"xpath": '//*[@scrollable="true"]', "direction": "up"}),
        ("xpath_scroll", {"xpath": '//*[@scrollable="true"]', "direction": "forward"}),
    ):
        agent("app_stop", package_name="com.android.settings")
        agent("app_start", package_name="com.android.settings")
        before = agent("xpath_get_bounds", xpath=top)
        agent(gesture, **arguments)
        gone = agent("xpath_exists", xpath=top) is False
        assert gone or agent("xpath_get_bounds", xpath=top) != before, gesture


def test_it_turns_pages_of_the_launcher_and_opens_the_drawer(agent: Agent) -> None:
    agent("swipe_up", scale=0.9)
    assert agent.now("ui/screen") == "launcher/drawer"
    agent("swipe_left", scale=0.5)
    agent("swipe_right", scale=0.5)
    agent("press_key", key="home")
    assert agent.now("ui/screen") == "launcher/home"


def test_it_types_into_fields(agent: Agent) -> None:
    first, second, result = (f"(//android.widget.EditText)[{number}]" for number in (1, 2, 3))
    agent("app_start", package_name=DEMO)
    agent.tap("Addition")
    agent("xpath_set_text", xpath=first, text="5")
    assert agent("xpath_get_text", xpath=first) == "5"
    agent("xpath_click_nowait", xpath=second)
    agent("send_text", text="7")
    agent("send_text", text="8", clear=True)
    assert agent("xpath_get_text", xpath=second) == "8"
    agent("clear_text")
    assert agent("set_focused_text", text="9") is True
    agent("hide_keyboard")
    assert agent.now("ui/keyboard") == ""
    agent.tap("Add")
    assert agent("xpath_get_text", xpath=result) == "14"


def test_it_presses_for_long_and_twice(agent: Agent) -> None:
    settings = '//*[@text="Settings"]'
    left, top, right, bottom = agent("xpath_get_bounds", xpath=settings)
    agent("long_click", x=(left + right) // 2, y=(top + bottom) // 2)
    assert agent.now("ui/screen") == "launcher/shortcuts"
    agent("press_key", key="home")
    agent("xpath_long_press", xpath=settings)
    assert agent.now("ui/screen") == "launcher/shortcuts"
    agent("app_start", package_name="com.android.settings")
    left, top, right, bottom = agent("xpath_get_bounds", xpath='//*[@text="Notifications"]')
    agent("double_click", x=(left + right) // 2, y=(top + bottom) // 2)
    opened = str(agent.now("ui/stack")).split(" > ")
    assert opened[:2] == ["settings/home", "settings/notifications"]
    assert len(opened) == 3  # the second tap hit what the first one opened


def test_it_hears_toasts(agent: Agent) -> None:
    agent("app_start", package_name=DEMO)
    agent("reset_toast")
    agent.tap("Toast")
    agent.tap("Show Toast")
    assert agent("get_toast", wait_timeout=1.0) == "Button Clicked!"
    assert agent.now("ui/toast") == "Button Clicked!"


def test_it_shares_the_clipboard(agent: Agent) -> None:
    agent("write_clipboard", text="zwölf – 十二")
    assert agent.now("clipboard/text") == "zwölf – 十二"
    assert agent("read_clipboard") == "zwölf – 十二"


def test_it_opens_the_shades(agent: Agent) -> None:
    agent("open_notification")
    assert agent.now("ui/screen") == "systemui/shade"
    agent("open_quick_settings")
    assert agent.now("ui/screen") == "systemui/quick_settings"


def test_it_turns_the_phone_and_its_screen(agent: Agent) -> None:
    agent("set_orientation", orientation="left")
    assert agent("window_size") == {"width": 1280, "height": 720}
    agent("set_orientation", orientation="natural")
    assert agent("window_size") == {"width": 720, "height": 1280}
    agent("get_orientation")
    agent("screen_off")
    assert agent.now("screen/on") is False
    agent("screen_on")
    assert agent.now("screen/on") is True
    agent("screen_off")
    agent("unlock")
    assert agent.now("screen/on") is True


def test_it_takes_pictures(agent: Agent, tmp_path: Path) -> None:
    shot = agent("screenshot", format="png")
    assert size_at(shot["image"]) == (shot["width"], shot["height"]) == (720, 1280)
    assert agent("save_screenshot", file=str(tmp_path / "whole.png")) == str(tmp_path / "whole.png")
    assert size((tmp_path / "whole.png").read_bytes()) == (720, 1280)
    settings = '//*[@text="Settings"]'
    left, top, right, bottom = agent("xpath_get_bounds", xpath=settings)
    url, height, width = agent("xpath_screenshot", xpath=settings)
    assert size_at(url) == (width, height) == (right - left, bottom - top)
    agent("xpath_save_screenshot", xpath=settings, file=str(tmp_path / "part.png"))
    assert size((tmp_path / "part.png").read_bytes()) == (width, height)


def test_it_dumps_the_screen(agent: Agent, tmp_path: Path) -> None:
    whole = agent("dump_hierarchy")
    assert 'text="Settings"' in whole
    (found,) = agent("dump_hierarchy", xpath="//*[@text='Settings']").split("===")
    assert found.count("<node") == 1
    assert 'content-desc="Settings"' in found
    agent("save_dump_hierarchy", file=str(tmp_path / "screen.xml"))
    assert 'text="Settings"' in (tmp_path / "screen.xml").read_text()


def test_it_starts_and_stops_apps(agent: Agent) -> None:
    assert "com.android.settings" in agent("app_list")
    agent("app_start", package_name="com.android.deskclock")
    assert agent("app_current")["package"] == "com.android.deskclock"
    assert "com.android.deskclock" in agent("app_list_running")
    assert agent("app_info", package_name="com.android.deskclock")["versionName"]
    agent("app_stop", package_name="com.android.deskclock")
    assert agent.now("ui/screen") == "launcher/home"
    agent("app_start", package_name="com.android.deskclock")
    agent("app_stop_all")
    assert "com.android.deskclock" not in agent("app_list_running")


def test_it_clears_and_removes_apps(agent: Agent) -> None:
    assert agent.desk.phone.snapshot().under("tasks")
    agent("app_clear", package_name="org.tasks")
    assert "org.tasks" in agent("app_list")
    agent("app_auto_grant_permissions", package_name="com.dimowner.audiorecorder")
    assert agent.now("permissions/com.dimowner.audiorecorder/RECORD_AUDIO") == "granted"
    assert agent("app_uninstall", package_name=DEMO) is True
    assert DEMO not in agent("app_list")
    removed = agent("app_uninstall_all", excludes=["org.tasks"])
    assert "org.fossify.notes" in removed
    assert "org.tasks" in agent("app_list")


def test_it_installs_an_app_from_a_file(agent: Agent, tmp_path: Path) -> None:
    (tmp_path / "made.apk").write_bytes(write_apk(Manifest("org.example.made", 7, "7.1")))
    agent("app_install", data=str(tmp_path / "made.apk"))
    assert "org.example.made" in agent("app_list")
    assert agent("app_info", package_name="org.example.made") == {"versionName": "7.1", "versionCode": 7}


def test_every_tool_that_needs_only_a_phone_was_used(server: McpServer, request: pytest.FixtureRequest) -> None:
    here = [item for item in request.session.items if item.path == request.path]
    if len(here) < 17:
        pytest.skip("only some tests of this file were asked for")
    assert set(server.tools()) - server.used == set(NEEDS_MORE_THAN_A_PHONE)
