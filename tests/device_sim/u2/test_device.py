"""Drives the phone through uiautomator2's own client code."""

from __future__ import annotations

import gc
import io
import subprocess
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest
from adbutils import AdbError
from uiautomator2.exceptions import RPCUnknownError, UiObjectNotFoundError, XPathElementNotFoundError

from agent_eval.device_sim import Phone
from agent_eval.device_sim.u2.device import SimDevice
from agent_eval.types import PhoneSetup

SETTINGS = "com.android.settings"


@pytest.fixture
def device() -> Iterator[SimDevice]:
    state = {"settings/wifi_on": False, "settings/brightness": 100, "clock/alarm/1/hour": 7}
    device = SimDevice(Phone(PhoneSetup(seed=1, state=state)))
    device.settings["wait_timeout"] = 1.0
    device.phone.world["skin/ascii_hyphen"] = True
    yield device
    assert device._dev.system.unknown == {}  # every command that the client sent exists


def test_text_selectors_click_through_settings(device: SimDevice) -> None:
    device.app_start(SETTINGS)
    device(text="Network & internet").click()
    device(text="Internet").click()
    switch = device(className="android.widget.Switch")
    assert switch.info["clickable"] is False
    before = switch.info["checked"]
    device(text="Wi-Fi").click()
    assert (before, switch.info["checked"]) == (False, True)
    assert device.phone.state["settings/wifi_on"] is True


def test_a_missing_element_is_reported_after_virtual_not_real_time(device: SimDevice) -> None:
    start = device.phone.now_ms
    assert not device(text="Absent").exists
    assert not device(text="Absent").wait(timeout=30)
    assert device.phone.now_ms - start == 30_000
    with pytest.raises(UiObjectNotFoundError):
        device(text="Absent").click(timeout=5)
    with pytest.raises(UiObjectNotFoundError):
        _ = device(text="Absent").info
    assert not device(text="Absent").click_exists(timeout=1)


def test_waiting_meets_a_scheduled_change_at_its_moment(device: SimDevice) -> None:
    device.app_start(SETTINGS, "com.android.settings.Settings$WifiSettingsActivity")
    device.phone.schedule(3, {"settings/wifi_on": True})
    start = device.phone.now_ms
    assert device(text="Connected").wait(timeout=20)
    assert device.phone.now_ms - start == 3000
    device.phone.schedule(2, {"settings/wifi_on": False})
    assert device(text="Connected").wait_gone(timeout=20)


def test_xpath_finds_clicks_and_reads(device: SimDevice) -> None:
    device.app_start(SETTINGS)
    device.xpath('//*[@text="Connected devices"]').click()
    device.xpath("//*[@text='Bluetooth']").click()
    assert device.xpath('//*[@resource-id="com.android.settings:id/switch_text"]').get_text() == "Use Bluetooth"
    assert device.xpath("@com.android.settings:id/switch_text").exists
    with pytest.raises(XPathElementNotFoundError):
        device.xpath("//*[@text='Absent']").click(timeout=0.01)


def test_counting_indexing_and_iterating(device: SimDevice) -> None:
    device.app_start(SETTINGS)
    titles = device(resourceId="android:id/title")
    assert titles.count == len(titles) == len(list(titles)) >= 6
    assert titles[1].get_text() == "Connected devices"
    assert titles[-1].get_text() == [title.get_text() for title in titles][-1]
    rows = device(resourceId="com.android.settings:id/recycler_view")
    assert rows.child(text="Battery").exists
    assert device(text="Battery").sibling(resourceId="android:id/summary").get_text().endswith("%")
    assert device(text="Battery").down(resourceId="android:id/title").get_text() == "Storage"


def test_text_is_set_cleared_and_sent_by_keys(device: SimDevice) -> None:
    device.app_start(SETTINGS)
    device(text="Search settings").click()
    field = device(className="android.widget.EditText")
    field.set_text("dark")
    assert field.get_text() == "dark"
    device.send_keys("er")
    assert field.get_text() == "darker"
    device.send_keys("sound", clear=True)
    assert field.get_text() == "sound"
    field.clear_text()
    assert field.get_text() == ""
    device.xpath("//android.widget.EditText").set_text("battery")
    assert field.get_text() == "battery"
    assert field.info["focused"] is True


def test_the_clients_own_input_method_is_installed_and_types(device: SimDevice) -> None:
    assert not device.is_input_ime_installed()
    device.set_input_ime()
    assert device.is_input_ime_installed()
    assert device.current_ime() == "com.github.uiautomator/.AdbKeyboard"
    device.app_start(SETTINGS)
    device(text="Search settings").click()
    device(className="android.widget.EditText").click()
    device.send_keys("Grüße 你好")
    assert device(className="android.widget.EditText").get_text() == "Grüße 你好"


def test_keys_and_their_codes(device: SimDevice) -> None:
    device.app_start(SETTINGS)
    device(text="Battery").click()
    device.press("back")
    assert device.phone.front.screen == "settings/home"
    device.press("recent")
    assert device.phone.front.screen == "launcher/recents"
    device.press(4)
    assert device.phone.front.screen == "settings/home"
    assert device.press("home") is True
    assert device.press("warp") is False
    device.keyevent("app_switch")
    assert device.phone.front.screen == "launcher/recents"


def test_coordinates_may_be_relative_and_a_long_click_holds(device: SimDevice) -> None:
    assert device.window_size() == (720, 1280)
    info = device(text="Clock").info["bounds"]
    x, y = (info["left"] + info["right"]) / 2, (info["top"] + info["bottom"]) / 2
    device.long_click(x, y)
    assert device(text="App info").exists
    device.press("back")
    device.click(x / 720, y / 1280)
    assert device.phone.front.package == "com.android.deskclock"
    device(text="8:00 AM").long_click() if device(text="8:00 AM").exists else device(text="7:00 AM").long_click()
    assert device.phone.front.screen == "clock/time_picker"


def test_swiping_dragging_and_scrolling(device: SimDevice) -> None:
    device.app_start(SETTINGS)
    device.swipe(360, 1000, 360, 600, steps=20)
    assert device.phone.snapshot()["ui/task/com.android.settings/0/settings/home/scroll/list"] == 400
    device.drag(360, 600, 360, 1000, 0.2)
    assert device.phone.snapshot()["ui/task/com.android.settings/0/settings/home/scroll/list"] == 0
    scrolling = device(scrollable=True)
    assert scrolling.scroll.to(text="About phone") is True
    assert device(text="About phone").exists
    scrolling.scroll.toBeginning()
    assert device(text="Network & internet").exists
    assert scrolling.scroll.forward() is True
    assert scrolling.fling.toEnd() is True
    assert scrolling.scroll.forward() is False
    device.swipe_ext("down", 0.5)
    device(scrollable=True).swipe("down")
    device.swipe_points([(360, 400), (360, 700), (360, 1000)], 0.2)
    assert device(text="Network & internet").exists


def test_a_slider_follows_touch_and_drag(device: SimDevice) -> None:
    device.app_start(SETTINGS)
    device(scrollable=True).scroll.to(text="Display")
    device(text="Display").click()
    device(text="Brightness level").click()
    slider = device(resourceId="com.android.systemui:id/slider")
    left, top, right, bottom = slider.bounds()
    slider.click(offset=(0.99, 0.5))
    assert device.phone.state["settings/brightness"] == 255
    device.swipe(right - 5, (top + bottom) / 2, left, (top + bottom) / 2)
    assert slider.get_text() == "0.0"
    slider.drag_to(right - 1, (top + bottom) // 2)
    assert device.phone.state["settings/brightness"] == 255


def test_children_by_text_scroll_to_what_they_name(device: SimDevice) -> None:
    device.app_start(SETTINGS)
    rows = device(scrollable=True)
    rows.child_by_text("System", allow_scroll_search=True, className="android.widget.LinearLayout").click()
    assert device.phone.front.screen == "settings/system"
    device.press("back")
    with pytest.raises(UiObjectNotFoundError):
        rows.child_by_text("Absent", className="android.widget.LinearLayout")


def test_apps_are_listed_started_stopped_and_told_apart(device: SimDevice) -> None:
    assert SETTINGS in device.app_list()
    assert device.app_list("deskclock") == ["com.android.deskclock"]
    device.app_start(SETTINGS, wait=True)
    current = device.app_current()
    assert (current["package"], current["activity"]) == (SETTINGS, ".homepage.SettingsHomepageActivity")
    assert current["pid"] == device._pidof_app(SETTINGS)
    assert device.wait_activity(".homepage.SettingsHomepageActivity")
    assert SETTINGS in device.app_list_running()
    device.app_stop(SETTINGS)
    assert device.app_current()["package"] == "com.android.launcher3"
    assert SETTINGS not in device.app_list_running()
    device.app_start(SETTINGS, ".homepage.SettingsHomepageActivity", stop=True, wait=True)
    assert device.app_current()["package"] == SETTINGS
    assert device.app_info(SETTINGS) == {"versionName": "15", "versionCode": 35}


def test_the_device_describes_itself(device: SimDevice) -> None:
    assert device.info["displayWidth"] == 720
    assert device.info["currentPackageName"] == "com.android.launcher3"
    device.screen_off()
    off = device.info["screenOn"]
    device.screen_on()
    assert (off, device.info["screenOn"]) == (False, True)
    assert device.device_info["version"] == 15
    assert device.orientation == "natural"
    assert device.adb_device.brightness_value == 100
    assert device.adb_device.battery().level == device.phone.world["battery/level"]


def test_dumps_and_screenshots_come_through(device: SimDevice) -> None:
    device.app_start(SETTINGS)
    assert device.dump_hierarchy() == device.phone.hierarchy_xml()
    assert device.dump_hierarchy(root_in_active=True).count("com.android.systemui") == 0
    assert device.dump_hierarchy(compressed=True, pretty=True).count("<node") > 10
    assert device.adb_device.dump_hierarchy() == device.phone.uiautomator_dump()
    for picture in (device.screenshot(), device.adb_device.screenshot(), device.screenshot(display_id=0)):
        assert picture.size == (720, 1280)


def test_files_and_folders_are_pushed_and_pulled(device: SimDevice, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\x00\xff")
    device.push(tmp_path / "a.txt", "/sdcard/Download/new/a.txt")
    device.push(io.BytesIO(b"two"), "/sdcard/Download/new/b.txt")
    device.push(str(tmp_path / "a.txt"), "/data/local/tmp")  # a folder: the file keeps its name
    assert device.shell("cat /sdcard/Download/new/b.txt").output == "two"
    sync = device.adb_device.sync
    assert sync.read_bytes("/data/local/tmp/a.txt") == b"one\x00\xff"
    assert [info.path for info in sync.list("/sdcard/Download/new")] == [".", "..", "a.txt", "b.txt"]
    assert sync.stat("/sdcard/Download/new/b.txt").size == 3
    assert not sync.exists("/sdcard/Download/old")
    device.pull("/sdcard/Download/new/a.txt", str(tmp_path / "back.txt"))
    assert (tmp_path / "back.txt").read_bytes() == b"one\x00\xff"
    assert sync.pull("/sdcard/Download/new", tmp_path / "folder") == 8
    assert (tmp_path / "folder" / "b.txt").read_bytes() == b"two"
    with pytest.raises(AdbError, match="No such file"):
        sync.read_bytes("/absent")
    with pytest.raises(AdbError, match="Read-only"):
        sync.push(b"x", "/system/x")


def test_the_phone_is_turned(device: SimDevice) -> None:
    device.orientation = "l"
    assert (device.orientation, device.window_size()) == ("left", (1280, 720))
    device.app_start(SETTINGS)
    assert device(text="Network & internet").exists
    device.freeze_rotation(False)
    assert (device.orientation, device.window_size()) == ("natural", (720, 1280))
    device.set_orientation("upsidedown")
    assert device.orientation == "natural"


def test_a_watcher_clicks_what_it_waits_for(device: SimDevice) -> None:
    device.app_start(SETTINGS)
    device.watcher("apps").when("Connected devices").click()
    assert device.watcher.run() is True
    assert device(text="Bluetooth").exists
    device.press("home")
    assert device.watcher.run() is False
    device.watcher.remove()


def test_a_toast_is_waited_for_and_forgotten(device: SimDevice) -> None:
    assert device.toast.get_message(0, default="none") == "none"
    device.app_start("com.android.deskclock")
    device(description="Add alarm").click()
    device(text="OK").click()
    assert "Alarm set" in device.toast.get_message(0)
    device.toast.reset()
    assert device.toast.get_message(0) is None


def test_raw_touches_chain_as_in_the_client(device: SimDevice) -> None:
    device.app_start(SETTINGS)
    device.touch.down(360, 1000).move(400, 900).move(360, 700).up(360, 600)
    assert device.phone.snapshot()["ui/task/com.android.settings/0/settings/home/scroll/list"] == 400


def test_the_clipboard_keeps_what_it_is_given(device: SimDevice) -> None:
    device.set_clipboard("copied")
    assert device.clipboard == "copied"


def test_quick_settings_open_and_toasts_are_readable(device: SimDevice) -> None:
    device.open_quick_settings()
    assert device(description="Bluetooth").exists
    device.press("back")
    device.app_start("com.android.deskclock")
    device(description="Add alarm").click()
    device(text="OK").click()
    assert "Alarm set" in device.last_toast
    device.sleep(3)
    assert device.phone.toast is None
    assert "Alarm set" in device.last_toast  # the server keeps the last one that it heard of
    device.clear_toast()
    assert device.last_toast is None


def test_what_the_server_lacks_is_an_error_as_on_a_phone(device: SimDevice) -> None:
    with pytest.raises(RPCUnknownError, match="method not found"):
        device.toast.show("x")
    with pytest.raises(RPCUnknownError, match="PatternSyntaxException"):
        _ = device(textMatches="(").count
    with pytest.raises(RPCUnknownError, match="method parameters invalid"):
        device.jsonrpc.click()


def test_devices_do_not_keep_their_phone_alive() -> None:
    device = SimDevice(Phone(PhoneSetup(seed=1)))
    phone = weakref.ref(device.phone)
    del device
    gc.collect()
    assert phone() is None


def test_the_package_is_imported_without_the_client() -> None:
    code = "import sys, agent_eval.device_sim; print(sorted({'uiautomator2', 'adbutils', 'PIL'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
