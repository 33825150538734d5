"""What the device suites of uiautomator2 do to the two conformance apps, through its own client in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agent_eval.device_sim import Phone
from agent_eval.device_sim.apps import APPS, api_demos, u2_test_demo
from agent_eval.device_sim.u2.device import SimDevice
from agent_eval.types import PhoneSetup
from tests.device_sim.conftest import Finger

Make = Callable[..., Finger]


@pytest.fixture
def device() -> Any:
    return SimDevice(Phone(PhoneSetup(seed=1)))


@pytest.fixture
def demos(device: Any) -> Any:
    device.app_start(api_demos.PACKAGE, stop=True)
    return device


@pytest.fixture
def u2demo(device: Any) -> Any:
    device.app_start(u2_test_demo.PACKAGE, stop=True)
    return device


def test_the_conformance_apps_start_and_have_no_icon(make: Make) -> None:
    for app in (api_demos.APP, u2_test_demo.APP):
        assert app.hidden
        finger = make()
        finger.phone.swipe(360, 1000, 360, 300)  # the drawer
        assert not finger.sees(text=app.label)
        assert finger.phone.open_app(app.package)


def test_the_main_list_of_api_demos_is_on_the_screen(demos: Any) -> None:
    rows = demos(resourceId="android:id/list").child(className="android.widget.TextView")
    assert rows[0].get_text() == "Access'ibility"
    assert demos(text="App").info["contentDescription"] == "App"
    assert len(demos.xpath("//*[@text='Media']").all()) == 1
    assert demos.xpath("%ccessibility").exists
    assert demos.xpath("App").parent("@android:id/list").info["resourceId"] == "android:id/list"


def test_the_last_row_of_a_list_is_reached_by_scrolling(demos: Any) -> None:
    demos(text="App").click()
    assert not demos(text="Voice Recognition").exists
    assert demos(scrollable=True).scroll.to(text="Voice Recognition")


def test_one_swipe_over_half_the_list_reaches_its_end(demos: Any) -> None:
    demos.xpath("App").click()
    demos.xpath("@android:id/list").get().swipe("up", 0.5)
    assert demos.xpath("Voice Recognition").exists


def test_the_rows_that_suites_tap_without_scrolling_are_visible(demos: Any) -> None:
    demos(text="App").click()
    assert demos(text="Menu").exists
    assert demos(text="Search").exists
    demos(text="Menu").click()
    assert demos(text="Inflate from XML").exists


def test_a_long_list_is_searched_by_the_client(demos: Any) -> None:
    demos.xpath("Graphics").click()
    demos.xpath("@android:id/list").scroll_to("Pictures")
    assert demos.xpath("Pictures").exists


def test_media_leads_to_the_video(demos: Any) -> None:
    demos(text="Media").click()
    demos(textContains="VideoView").click()
    assert demos.app_current()["activity"].endswith("VideoViewDemo")


def test_text_goes_into_the_search_field(demos: Any) -> None:
    demos(text="App").click()
    demos(text="Search").click()
    demos(text="Invoke Search").click()
    field = f"{api_demos.PACKAGE}:id/txt_query_prefill"
    demos(resourceId=field).click()
    demos.send_keys("hello", clear=True)
    assert demos.xpath(field).info["text"] == "hello"


def test_a_button_shows_a_short_message(demos: Any) -> None:
    demos(text="App").click()
    demos(text="Notification").click()
    demos(text="NotifyWithText").click()
    demos(text="Show Short Notification").click()
    assert demos.last_toast == "Short notification"


def test_a_dot_dragged_onto_another_is_dropped(demos: Any) -> None:
    demos(scrollable=True).scroll.to(text="Views")
    demos(text="Views").click()
    demos(text="Drag and Drop").click()
    first, second = (demos(resourceId=f"{api_demos.PACKAGE}:id/drag_dot_{place}") for place in (1, 2))
    first.drag_to(360, 900)
    assert demos(resourceId=f"{api_demos.PACKAGE}:id/drag_result_text").get_text() == "No drop"
    first.drag_to(*second.center())
    assert demos(resourceId=f"{api_demos.PACKAGE}:id/drag_result_text").get_text() == "Dropped!"


def test_dialogs_and_controls_of_api_demos_answer(demos: Any) -> None:
    demos(text="App").click()
    demos(text="Alert Dialogs").click()
    demos(text="List dialog").click()
    demos(text="Command two").click()
    assert demos(text="You selected: 1 , Command two").exists
    demos.press("back")
    demos.press("back")
    demos(scrollable=True).scroll.to(text="Views")
    demos(text="Views").click()
    demos(text="Controls").click()
    demos(text="1. Light Theme").click()
    demos(text="Checkbox 1").click()
    assert demos(text="Checkbox 1").info["checked"] is True
    assert demos(text="Checkbox 2").info["checked"] is False


def test_every_demo_and_list_of_api_demos_opens(make: Make) -> None:
    finger = make()
    finger.phone.open_app(api_demos.PACKAGE)
    for path in api_demos.LISTS:
        finger.phone.open_page("apis/list", {"path": path})
        assert finger.sees(resourceId="android:id/list")
    for path, screen in api_demos.DEMOS.items():
        assert path.rpartition("/")[2] in api_demos.LISTS[path.rpartition("/")[0]]
        finger.phone.open_page(screen, {"path": path})
        assert finger.phone.front.package == api_demos.PACKAGE
        assert finger.phone.windows


def test_starting_anew_forgets_where_a_list_was(demos: Any) -> None:
    demos(text="Graphics").click()
    demos(scrollable=True).scroll.toEnd()
    demos.app_start(api_demos.PACKAGE, stop=True)
    assert demos(text="App").exists


def test_numbers_are_typed_cleared_and_added(u2demo: Any) -> None:
    u2demo(text="Addition").click()
    first, second = (u2demo(className="android.widget.EditText", instance=place) for place in (0, 1))
    first.set_text("5")
    assert first.get_text() == "5"
    first.clear_text()
    assert first.get_text() == ""
    first.set_text("1")
    second.click()
    for text in ("1", "123abcDEF +-*/_", "你好，世界!"):
        u2demo.send_keys(text, clear=True)
        assert second.get_text() == text
    u2demo.clear_text()
    u2demo.send_keys("2")
    u2demo(text="Add").click()
    assert u2demo(className="android.widget.EditText", instance=2).get_text() == "3"


def test_a_toast_is_shown_and_cleared(u2demo: Any) -> None:
    u2demo.clear_toast()
    assert u2demo.last_toast is None
    u2demo(text="Toast").click()
    u2demo(text="Show Toast").click()
    assert u2demo.last_toast == "Button Clicked!"


def test_two_fingers_zoom_within_limits(u2demo: Any) -> None:
    u2demo(text="Pinch").click()
    picture = u2demo(description="pinch image")

    def scale() -> str:
        return str(u2demo.xpath("Scale%").get_text())

    assert scale() == "Scale: 1.00"
    picture.pinch_in(80)
    assert scale() == "Scale: 0.50"
    picture.pinch_out()
    assert scale() == "Scale: 3.00"
    u2demo().gesture((0.1, 0.5), (0.9, 0.5), (0.5, 0.5), (0.5, 0.5), steps=20)
    assert scale() == "Scale: 0.50"


def test_an_activity_is_started_by_its_short_name(u2demo: Any) -> None:
    u2demo.app_start(u2_test_demo.PACKAGE, activity=".AdditionActivity", wait=True)
    assert u2demo.app_current()["activity"].endswith(".AdditionActivity")
    assert u2demo(text="Add").exists


def test_both_apps_are_installed() -> None:
    assert {"io.appium.android.apis", "com.example.u2testdemo"} <= set(APPS)
