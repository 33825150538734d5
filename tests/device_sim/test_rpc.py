from __future__ import annotations

import json
from typing import Any

import pytest

from agent_eval.device_sim import Phone
from agent_eval.device_sim.u2.rpc import METHODS, Rpc, RpcError, RpcResult
from agent_eval.types import PhoneSetup


@pytest.fixture
def rpc() -> Rpc:
    phone = Phone(PhoneSetup(seed=1))
    phone.open_app("com.android.settings")
    return Rpc(phone)


CLOCK = {"mask": 1, "childOrSibling": [], "childOrSiblingSelector": [], "text": "Battery"}
ABSENT = {**CLOCK, "text": "Absent"}


def value(answer: RpcResult | RpcError) -> Any:
    assert isinstance(answer, RpcResult), answer
    return answer.value


def test_calls_without_arguments_send_an_empty_object(rpc: Rpc) -> None:
    assert value(rpc.call("deviceInfo", {}))["displayHeight"] == 1280
    assert value(rpc.call("getClipboard", {})) == ""


def test_what_is_not_found_names_the_class_that_clients_look_for(rpc: Rpc) -> None:
    for method in ("objInfo", "getText", "clearTextField", "click"):
        answer = rpc.call(method, [ABSENT])
        assert isinstance(answer, RpcError)
        assert answer.code == -32001
        assert answer.message == "androidx.test.uiautomator.UiObjectNotFoundException"


@pytest.mark.parametrize("params", [[], [1], ["x", "y"], [None, None], [{}, {}, {}, {}, {}], [[], []]])
def test_no_parameters_make_a_call_raise(rpc: Rpc, params: list[object]) -> None:
    for method in METHODS:
        assert isinstance(rpc.call(method, params), RpcResult | RpcError)


def test_results_are_json(rpc: Rpc) -> None:
    calls: list[tuple[str, list[Any]]] = [
        ("dumpWindowHierarchy", [False, 50]), ("objInfo", [CLOCK]), ("objInfoOfAllInstances", [CLOCK]),
        ("count", [CLOCK]), ("exist", [ABSENT]), ("waitForExists", [CLOCK, 1000]), ("takeScreenshot", [1, 80]),
        ("swipe", [360, 900, 360, 500, 20]), ("pressKey", ["back"]), ("setClipboard", [None, "x"]),
    ]  # fmt: skip
    for method, params in calls:
        json.dumps(value(rpc.call(method, params)))


def test_a_click_may_be_fractional_and_may_last(rpc: Rpc) -> None:
    bounds = value(rpc.call("objInfo", [CLOCK]))["bounds"]
    assert value(rpc.call("click", [bounds["left"] + 0.5, bounds["top"] + 0.5])) is True
    assert rpc.phone.front.screen == "settings/battery"
    before = rpc.phone.now_ms
    rpc.call("click", [5.0, 700.0, 700])
    assert rpc.phone.now_ms - before == 700


def test_raw_touch_events_make_a_tap_or_a_swipe(rpc: Rpc) -> None:
    bounds = value(rpc.call("objInfo", [CLOCK]))["bounds"]
    x, y = bounds["left"] + 5, bounds["top"] + 5
    rpc.call("injectInputEvent", [0, x, y, 0])
    rpc.call("injectInputEvent", [2, x, y - 150, 0])
    rpc.call("injectInputEvent", [1, x, y - 150, 0])
    assert value(rpc.call("objInfo", [CLOCK]))["bounds"]["top"] == bounds["top"] - 150
    rpc.call("injectInputEvent", [0, x, y - 150, 0])
    rpc.call("injectInputEvent", [1, x, y - 150, 0])
    assert rpc.phone.front.screen == "settings/battery"


def test_a_swipe_takes_five_milliseconds_per_step(rpc: Rpc) -> None:
    before = rpc.phone.now_ms
    rpc.call("swipe", [360, 900, 360, 500, 40])
    assert rpc.phone.now_ms - before == 200
