from __future__ import annotations

import base64
import json
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from uiautomator2 import Selector

from agent_eval.device_sim import Phone
from agent_eval.device_sim.apps import APPS
from agent_eval.device_sim.schema import COUNT
from agent_eval.device_sim.screen import App, Screen, Ui
from agent_eval.device_sim.u2.rpc import METHODS, Pending, Rpc, RpcError, RpcResult
from agent_eval.device_sim.ui import MATCH, Field, View
from agent_eval.device_sim.widgets import activity, button, edit_text, label, seek_bar
from agent_eval.types import PhoneSetup

NOT_FOUND = "androidx.test.uiautomator.UiObjectNotFoundException"
BATTERY = Selector(text="Battery")
ABSENT = Selector(text="Absent")


@pytest.fixture
def rpc() -> Rpc:
    phone = Phone(PhoneSetup(seed=1))
    phone.open_app("com.android.settings")
    return Rpc(phone)


def bench(ui: Ui) -> View:
    """A page with what the apps of a phone have rarely: a picture that zooms, a toast, a coloured slider."""
    return activity(
        ui,
        label(f"Scale: {ui.number('bench/percent') / 100:.2f}"),
        View(
            "android.widget.ImageView", desc="picture", width=MATCH, height=400,
            on_pinch=lambda ratio: ui.put("bench/percent", min(max(round(100 * ratio), 50), 300)),
        ),
        button("Say", lambda: ui.host.show_toast("Said")),
        seek_bar(ui.number("bench/level"), 100, lambda value: ui.put("bench/level", value), desc="level"),
        edit_text(ui, Field("note"), desc="note"),
    )  # fmt: skip


@pytest.fixture
def bench_rpc() -> Rpc:
    app = App(
        "com.example.bench", "Bench", "bench/main", {"bench/main": Screen(bench, "com.example.bench.Main")},
        paths={"bench/percent": COUNT, "bench/level": COUNT},
        draw=lambda draw: draw.state.update({"bench/percent": 100, "bench/level": 0}),
    )  # fmt: skip
    phone = Phone(PhoneSetup(seed=1), {**APPS, app.package: app})
    phone.open_app(app.package)
    return Rpc(phone)


def value(answer: RpcResult | RpcError) -> Any:
    assert isinstance(answer, RpcResult), answer
    return answer.value


def error(answer: RpcResult | RpcError) -> RpcError:
    assert isinstance(answer, RpcError), answer
    return answer


# ----------------------------------------------------------------------------------------------------------------------
# the envelope


def test_calls_without_arguments_send_an_empty_object(rpc: Rpc) -> None:
    assert value(rpc.call("deviceInfo", {}))["displayHeight"] == 1280
    assert value(rpc.call("getClipboard", {})) is None
    assert value(rpc.call("ping", None)) == "pong"


def test_what_is_not_found_names_the_class_that_clients_look_for(rpc: Rpc) -> None:
    for method in ("objInfo", "getText", "clearTextField", "click"):
        answer = error(rpc.call(method, [ABSENT]))
        assert (answer.code, answer.message, answer.data) == (-32001, NOT_FOUND, "UiSelector[TEXT=Absent]")


HOSTILE = [
    [], [1], ["x", "y"], [None, None], [{}, {}, {}, {}, {}], [[], []], {"a": 1}, "text", 5, [10**400],
    [float("nan"), 1], [True, True], [{"mask": "x"}], [{"mask": 4, "textMatches": "("}, 5], [{}, {}, "x"],
]  # fmt: skip


@pytest.mark.parametrize("params", HOSTILE)
def test_no_parameters_make_a_call_raise(rpc: Rpc, params: object) -> None:
    for method in METHODS:
        assert isinstance(rpc.call(method, params), RpcResult | RpcError)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


PHONE = Phone(PhoneSetup(seed=2))


@given(st.sampled_from(sorted(METHODS)), st.lists(JSON, max_size=5))
def test_any_json_gets_a_json_answer(method: str, params: list[Any]) -> None:
    answer = Rpc(PHONE).begin(method, params)
    if isinstance(answer, RpcResult):
        json.dumps(answer.value)


def test_numbers_of_parameters_and_their_kinds_are_checked_as_for_java(rpc: Rpc) -> None:
    for method, params in [
        ("click", []), ("click", [1]), ("click", [1, 2, 3, 4]), ("click", ["1", 2]), ("click", [1 << 31, 2]),
        ("swipe", [1, 2, 3, 4]), ("waitForExists", [BATTERY]), ("pressKeyCode", ["home"]), ("makeToast", ["x", 1]),
    ]:  # fmt: skip
        answer = error(rpc.call(method, params))
        assert answer.code == (-32601 if method == "makeToast" else -32602)
    assert rpc.phone.events.gaps == {"rpc makeToast": 1}


def test_results_are_json(rpc: Rpc) -> None:
    calls: list[tuple[str, list[Any]]] = [
        ("dumpWindowHierarchy", [False, 50]), ("objInfo", [BATTERY]), ("objInfoOfAllInstances", [BATTERY]),
        ("count", [BATTERY]), ("exist", [ABSENT]), ("waitForExists", [BATTERY, 1000]), ("takeScreenshot", [1, 80]),
        ("swipe", [360, 900, 360, 500, 20]), ("pressKey", ["back"]), ("setClipboard", [None, "x"]), ("deviceInfo", []),
    ]  # fmt: skip
    for method, params in calls:
        json.dumps(value(rpc.call(method, params)))


def test_a_pattern_that_costs_too_much_or_is_not_evaluated_is_an_error_and_no_hang(rpc: Rpc) -> None:
    def thrown(pattern: str) -> str:
        return error(rpc.call("count", [Selector(textMatches=pattern)])).message

    assert thrown("(") == "java.util.regex.PatternSyntaxException"
    assert thrown("(a{1000}){1000}") == "java.lang.StackOverflowError"
    assert thrown(r"(a)\1") == "java.lang.UnsupportedOperationException"


# ----------------------------------------------------------------------------------------------------------------------
# waiting


def test_a_wait_that_is_settled_answers_at_once(rpc: Rpc) -> None:
    answer = rpc.begin("waitForExists", [BATTERY, 20_000])
    assert isinstance(answer, Pending)
    assert rpc.settled(answer) == RpcResult(True)
    assert value(rpc.call("waitUntilGone", [ABSENT, 20_000])) is True


def test_a_wait_holds_until_the_screen_changes_or_its_time_is_over(rpc: Rpc) -> None:
    answer = rpc.begin("waitForExists", [ABSENT, 1000])
    assert isinstance(answer, Pending)
    assert rpc.settled(answer) is None
    assert rpc.wake_ms(answer) == rpc.phone.clock.now_ms + 500
    rpc.phone.advance(0.999)
    assert rpc.settled(answer) is None
    rpc.phone.advance(0.001)
    assert rpc.settled(answer) == RpcResult(False)


def test_a_wait_looks_at_the_moment_of_the_phones_next_timer(rpc: Rpc) -> None:
    rpc.phone.after(123, lambda: rpc.phone.open_app("com.android.deskclock"))
    gone = rpc.begin("waitUntilGone", [BATTERY, 5000])
    assert isinstance(gone, Pending)
    assert rpc.wake_ms(gone) == rpc.phone.clock.now_ms + 123
    before = rpc.phone.clock.now_ms
    assert value(rpc.call("waitUntilGone", [BATTERY, 5000])) is True
    assert rpc.phone.clock.now_ms - before == 123


@pytest.mark.parametrize(("asked", "passed"), [(-5, 0), (0, 0), (1500, 1500), (1 << 62, 86_400_000)])
def test_a_wait_takes_as_long_as_asked_but_a_day_at_most(rpc: Rpc, asked: int, passed: int) -> None:
    before = rpc.phone.clock.now_ms
    assert value(rpc.call("waitForExists", [ABSENT, asked])) is False
    assert rpc.phone.clock.now_ms - before == passed


def test_what_is_wrong_with_a_selector_is_said_before_waiting(rpc: Rpc) -> None:
    assert isinstance(rpc.begin("waitForExists", [Selector(textMatches="("), 1000]), RpcError)


# ----------------------------------------------------------------------------------------------------------------------
# the two ways of finding


def test_a_plain_selector_sees_all_windows_and_a_stepwise_one_only_the_active(rpc: Rpc) -> None:
    overview = Selector(description="Overview")
    assert value(rpc.call("exist", [overview])) is True
    assert value(rpc.call("objInfo", [overview]))["resourceName"].endswith("recent_apps")
    assert value(rpc.call("count", [overview])) == 0
    assert value(rpc.call("exist", [Selector(description="Overview", index=0)])) is False


def test_counting_with_an_instance_is_nought_or_one(rpc: Rpc) -> None:
    titles = value(rpc.call("count", [Selector(resourceId="android:id/title")]))
    assert titles > 5
    for instance, count in [(0, 1), (titles - 1, 1), (titles, 0)]:
        assert value(rpc.call("count", [Selector(resourceId="android:id/title", instance=instance)])) == count
    every = value(rpc.call("objInfoOfAllInstances", [Selector(resourceId="android:id/title")]))
    assert len(every) == titles
    assert {info["resourceName"] for info in every} == {None}


def test_an_object_found_stepwise_has_no_resource_name(rpc: Rpc) -> None:
    assert value(rpc.call("objInfo", [BATTERY]))["resourceName"] == "android:id/title"
    assert value(rpc.call("objInfo", [Selector(text="Battery", instance=0)]))["resourceName"] is None


# ----------------------------------------------------------------------------------------------------------------------
# touching


def test_a_click_may_be_fractional_and_may_last(rpc: Rpc) -> None:
    bounds = value(rpc.call("objInfo", [BATTERY]))["bounds"]
    assert value(rpc.call("click", [bounds["left"] + 0.5, bounds["top"] + 0.5])) is True
    assert rpc.phone.front.screen == "settings/battery"
    before = rpc.phone.clock.now_ms
    rpc.call("click", [5.0, 700.0, 700])
    assert rpc.phone.clock.now_ms - before == 700
    assert value(rpc.call("click", [-1, 5])) is False
    assert value(rpc.call("click", [5, -1, 100])) is False


def test_what_a_selector_means_is_clicked_held_and_swiped(rpc: Rpc) -> None:
    assert value(rpc.call("click", [BATTERY])) is True
    assert rpc.phone.front.screen == "settings/battery"
    rpc.call("pressKey", ["back"])
    assert value(rpc.call("swipe", [Selector(scrollable=True), "up", 20])) is True
    assert value(rpc.call("objInfo", [Selector(scrollable=True)]))
    assert not value(rpc.call("exist", [Selector(text="Network & internet")]))
    assert value(rpc.call("swipe", [Selector(scrollable=True), "sideways", 20])) is False
    rpc.phone.go_home()
    assert value(rpc.call("longClick", [Selector(text="Clock")])) is True
    assert value(rpc.call("exist", [Selector(text="App info")])) is True


def test_raw_touch_events_make_a_tap_or_a_swipe(rpc: Rpc) -> None:
    bounds = value(rpc.call("objInfo", [BATTERY]))["bounds"]
    x, y = bounds["left"] + 5, bounds["top"] + 5
    rpc.call("injectInputEvent", [0, x, y, 0])
    rpc.call("injectInputEvent", [2, x, y - 150, 0])
    rpc.call("injectInputEvent", [1, x, y - 150, 0])
    assert value(rpc.call("objInfo", [BATTERY]))["bounds"]["top"] == bounds["top"] - 150
    rpc.call("injectInputEvent", [0, x, y - 150, 0])
    rpc.call("injectInputEvent", [1, x, y - 150, 0])
    assert rpc.phone.front.screen == "settings/battery"
    assert value(rpc.call("injectInputEvent", [7, 1, 1, 0])) is False


def test_a_finger_that_is_held_down_takes_the_time_that_passes_meanwhile(rpc: Rpc) -> None:
    rpc.phone.go_home()
    bounds = value(rpc.call("objInfo", [Selector(text="Clock")]))["bounds"]
    x, y = (bounds["left"] + bounds["right"]) / 2, (bounds["top"] + bounds["bottom"]) / 2
    before = rpc.phone.clock.now_ms
    rpc.call("injectInputEvent", [0, x, y, 0])
    rpc.phone.advance(0.7)
    rpc.call("injectInputEvent", [1, x, y, 0])
    assert rpc.phone.clock.now_ms - before == 700
    assert value(rpc.call("exist", [Selector(text="App info")])) is True


def test_a_curved_finger_is_followed_point_by_point(bench_rpc: Rpc) -> None:
    bounds = value(bench_rpc.call("objInfo", [Selector(description="level")]))["bounds"]
    y = (bounds["top"] + bounds["bottom"]) / 2
    bench_rpc.call("injectInputEvent", [0, 100, y, 0])
    for x in (300, 700, 400):
        bench_rpc.call("injectInputEvent", [2, x, y - 200 + x % 3, 0])
    bench_rpc.call("injectInputEvent", [1, 360, y, 0])
    assert bench_rpc.phone.state["bench/level"] == 50
    bench_rpc.call("swipePoints", [[100, y, 700, y, 100, y], 10])
    assert bench_rpc.phone.state["bench/level"] < 15


def test_a_move_or_a_release_without_a_finger_down_is_nothing(rpc: Rpc) -> None:
    before = rpc.phone.snapshot()
    rpc.call("injectInputEvent", [2, 10, 10, 0])
    rpc.call("injectInputEvent", [1, 10, 10, 0])
    assert rpc.phone.snapshot() == before


def test_a_swipe_takes_five_milliseconds_per_step(rpc: Rpc) -> None:
    def passed(method: str, *params: Any) -> int:
        before = rpc.phone.clock.now_ms
        rpc.call(method, list(params))
        return rpc.phone.clock.now_ms - before

    assert passed("swipe", 360, 900, 360, 500, 40) == 200
    assert passed("swipe", 360, 500, 360, 900, 0) == 5
    assert passed("swipe", 360, 500, 360, 900, (1 << 31) - 1) == 600_000
    assert passed("drag", 360, 500, 360, 900, 40) == 200
    assert passed("swipePoints", [360, 900, 360, 700, 360, 500], 20) == 200
    assert passed("flingForward", Selector(scrollable=True), True) == 25
    assert passed("scrollBackward", Selector(scrollable=True), True, 55) == 275


def test_dragging_takes_an_object_to_a_point_or_onto_another(rpc: Rpc) -> None:
    def top(text: str) -> int:
        return int(value(rpc.call("objInfo", [Selector(text=text)]))["bounds"]["top"])

    start, distance = top("Battery"), top("Battery") - top("Apps")
    assert value(rpc.call("dragTo", [BATTERY, Selector(text="Apps"), 40])) is True
    assert top("Battery") == start - distance
    bounds = value(rpc.call("objInfo", [BATTERY]))["bounds"]
    x, y = (bounds["left"] + bounds["right"]) / 2, (bounds["top"] + bounds["bottom"]) / 2
    assert value(rpc.call("dragTo", [BATTERY, x, y + 50, 40])) is True
    assert top("Battery") == start - distance + 50
    assert error(rpc.call("dragTo", [BATTERY, ABSENT, 40])).message == NOT_FOUND


def test_two_fingers_zoom_what_lies_between_them(bench_rpc: Rpc) -> None:
    def scale() -> str:
        return str(value(bench_rpc.call("getText", [Selector(textStartsWith="Scale")])))

    picture = Selector(description="picture")
    assert scale() == "Scale: 1.00"
    assert value(bench_rpc.call("pinchIn", [picture, 80, 50])) is True
    assert scale() == "Scale: 0.50"
    assert value(bench_rpc.call("pinchOut", [picture, 100, 50])) is True
    assert scale() == "Scale: 3.00"
    points = [{"x": x, "y": 400} for x in (100, 600, 350, 350)]
    assert value(bench_rpc.call("gesture", [Selector(), *points, 20])) is True
    assert scale() == "Scale: 0.50"
    assert error(bench_rpc.call("pinchIn", [ABSENT, 80, 50])).message == NOT_FOUND


def test_two_fingers_that_keep_their_distance_drag(rpc: Rpc) -> None:
    start = value(rpc.call("objInfo", [BATTERY]))["bounds"]["top"]
    points = [{"x": 200, "y": 900}, {"x": 400, "y": 900}, {"x": 200, "y": 800}, {"x": 400, "y": 800}]
    assert value(rpc.call("gesture", [Selector(scrollable=True), *points, 20])) is True
    assert value(rpc.call("objInfo", [BATTERY]))["bounds"]["top"] == start - 100


# ----------------------------------------------------------------------------------------------------------------------
# scrolling and children


LIST = Selector(scrollable=True)


def test_scrolling_says_whether_it_moved_and_is_not_yet_at_an_end(rpc: Rpc) -> None:
    assert value(rpc.call("scrollBackward", [LIST, True, 55])) is False
    assert value(rpc.call("scrollToEnd", [LIST, True, 500, 55])) is True
    assert value(rpc.call("exist", [Selector(text="About phone")])) is True
    assert value(rpc.call("scrollForward", [LIST, True, 55])) is False
    assert value(rpc.call("scrollForward", [LIST, False, 55])) is False
    assert value(rpc.call("flingToBeginning", [LIST, True, 100])) is True
    assert value(rpc.call("exist", [Selector(text="Network & internet")])) is True
    assert error(rpc.call("scrollForward", [ABSENT, True, 55])).message == NOT_FOUND


def test_scrolling_to_something_searches_the_whole_list(rpc: Rpc) -> None:
    about = Selector(text="About phone")
    assert value(rpc.call("scrollTo", [LIST, about, True])) is True
    assert value(rpc.call("exist", [about])) is True
    assert value(rpc.call("scrollTo", [LIST, Selector(text="Network & internet"), True])) is True
    assert value(rpc.call("scrollTo", [LIST, ABSENT, True])) is False
    assert value(rpc.call("scrollTo", [LIST, Selector(description="Overview"), True])) is False


ROW = Selector(className="android.widget.LinearLayout", clickable=True)


def test_a_child_is_named_by_what_it_says_and_its_name_is_taken_by_later_calls(rpc: Rpc) -> None:
    name = value(rpc.call("childByText", [LIST, ROW, "Battery"]))
    assert isinstance(name, str)
    assert value(rpc.call("exist", [name])) is True
    assert value(rpc.call("objInfo", [name]))["clickable"] is True
    assert value(rpc.call("waitForExists", [name, 100])) is True
    assert value(rpc.call("click", [name])) is True
    assert rpc.phone.front.screen == "settings/battery"
    assert value(rpc.call("exist", [name])) is False
    assert error(rpc.call("getText", [name])).message == NOT_FOUND


def test_a_child_out_of_sight_is_scrolled_to_unless_that_is_forbidden(rpc: Rpc) -> None:
    assert error(rpc.call("childByText", [LIST, ROW, "About phone", False])).message == NOT_FOUND
    assert value(rpc.call("childByText", [LIST, ROW, "About phone"]))
    assert value(rpc.call("exist", [Selector(text="About phone")])) is True
    assert error(rpc.call("childByText", [LIST, ROW, "Absent", True])).message == NOT_FOUND
    assert error(rpc.call("childByDescription", [LIST, ROW, "Absent", True])).message == NOT_FOUND


def test_children_are_named_by_number_and_description(bench_rpc: Rpc) -> None:
    content = Selector(resourceId="android:id/content")
    every = Selector(className="android.widget.ImageView")
    name = value(bench_rpc.call("childByDescription", [content, every, "picture"]))
    assert value(bench_rpc.call("objInfo", [name]))["contentDescription"] == "picture"
    assert value(bench_rpc.call("childByInstance", [content, every, 0])) != name
    assert error(bench_rpc.call("childByInstance", [content, every, 1])).message == NOT_FOUND


def test_a_name_is_forgotten_after_a_minute_and_an_unknown_one_means_nothing(rpc: Rpc) -> None:
    name = value(rpc.call("childByInstance", [LIST, ROW, 0]))
    rpc.phone.advance(59)
    assert value(rpc.call("exist", [name])) is True
    rpc.phone.advance(1)
    for target in (name, "no-such-name"):
        assert value(rpc.call("exist", [target])) is False
        assert error(rpc.call("objInfo", [target])).data == f"UiObject {target} not found!"


# ----------------------------------------------------------------------------------------------------------------------
# keys, text, and the rest


def test_keys_by_name_are_those_of_the_server(rpc: Rpc) -> None:
    names = "home back left right up down center menu search enter delete del recent volume_up volume_down volume_mute"
    for name in (*names.split(), "camera", "HOME"):
        assert value(rpc.call("pressKey", [name])) is True
    for unknown in ("tab", "paste", "", None, "warp"):
        assert value(rpc.call("pressKey", [unknown])) is False
    assert value(rpc.call("pressKeyCode", [3])) is True
    assert value(rpc.call("pressKeyCode", [3, 1])) is True


def test_text_is_set_with_a_click_first_and_cleared_without(bench_rpc: Rpc) -> None:
    note = Selector(description="note")
    assert value(bench_rpc.call("clearTextField", [note])) is None
    before = bench_rpc.phone.keyboard_open
    assert value(bench_rpc.call("setText", [note, "milk"])) is True
    assert (before, bench_rpc.phone.keyboard_open) == (False, True)
    assert value(bench_rpc.call("getText", [note])) == "milk"
    bench_rpc.call("setClipboard", ["label", ""])
    assert value(bench_rpc.call("getClipboard", {})) == ""
    bench_rpc.call("setClipboard", ["label", " and eggs"])
    assert value(bench_rpc.call("getClipboard", {})) == " and eggs"
    bench_rpc.call("pasteClipboard", {})
    assert value(bench_rpc.call("getText", [note])) == "milk and eggs"
    bench_rpc.call("clearInputText", {})
    assert value(bench_rpc.call("getText", [note])) == ""
    assert value(bench_rpc.call("setText", [note, None])) is True


def test_a_toast_is_kept_until_it_is_forgotten(bench_rpc: Rpc) -> None:
    assert value(bench_rpc.call("getLastToast", {})) is None
    bench_rpc.call("click", [Selector(text="Say")])
    bench_rpc.phone.advance(60)
    assert value(bench_rpc.call("getLastToast", {})) == "Said"
    assert value(bench_rpc.call("clearLastToast", {})) is None
    assert value(bench_rpc.call("getLastToast", {})) is None


def test_the_screen_sleeps_and_wakes(rpc: Rpc) -> None:
    rpc.call("sleep", {})
    assert value(rpc.call("isScreenOn", {})) is False
    assert value(rpc.call("deviceInfo", {}))["screenOn"] is False
    rpc.call("wakeUp", {})
    rpc.call("wakeUp", {})
    assert value(rpc.call("isScreenOn", {})) is True


@pytest.mark.parametrize(
    ("direction", "rotation"), [("left", 1), ("l", 1), ("right", 3), ("N", 0), ("natural", 0), ("upsidedown", 0)]
)
def test_the_phone_is_turned_and_says_so(rpc: Rpc, direction: str, rotation: int) -> None:
    assert value(rpc.call("setOrientation", [direction])) is None
    info = value(rpc.call("deviceInfo", {}))
    assert info["displayRotation"] == rotation
    assert info["naturalOrientation"] is (rotation == 0)
    assert (info["displayWidth"] > info["displayHeight"]) is (rotation % 2 == 1)
    assert f'<hierarchy rotation="{rotation}">' in value(rpc.call("dumpWindowHierarchy", [False]))
    rpc.call("freezeRotation", [True])
    assert value(rpc.call("deviceInfo", {}))["displayRotation"] == rotation
    rpc.call("freezeRotation", [False])
    assert value(rpc.call("deviceInfo", {}))["displayRotation"] == 0


def test_notifications_and_quick_settings_are_two_things(rpc: Rpc) -> None:
    assert value(rpc.call("openNotification", {})) is True
    shade = rpc.phone.front.screen
    rpc.call("pressKey", ["back"])
    assert value(rpc.call("openQuickSettings", {})) is True
    assert rpc.phone.front.screen != shade


def test_dumps_take_their_three_forms(rpc: Rpc) -> None:
    assert value(rpc.call("dumpWindowHierarchy", [False])) == rpc.phone.hierarchy_xml()
    assert value(rpc.call("dumpWindowHierarchy", [True, 5])) == rpc.phone.hierarchy_xml(compressed=True, max_depth=5)
    assert value(rpc.call("dumpWindowHierarchy", [False, 50, True])) == rpc.phone.hierarchy_xml(active_only=True)
    assert value(rpc.call("dumpWindowHierarchy", [False, -3])).count("<node") == len(rpc.phone.windows)


def test_a_screenshot_is_a_jpeg_of_the_asked_size(rpc: Rpc) -> None:
    for scale, size in [(1, (720, 1280)), (0.5, (360, 640)), (-1, (720, 1280)), (0, (720, 1280))]:
        with Image.open(BytesIO(base64.b64decode(value(rpc.call("takeScreenshot", [scale, 80]))))) as picture:
            assert (picture.format, picture.size) == ("JPEG", size)
    assert "\n" not in value(rpc.call("takeScreenshot", [1, 0]))
