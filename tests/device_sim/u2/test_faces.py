"""The in-process device and the server behind HTTP are one phone: equal calls, equal answers, equal states."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from uiautomator2 import Selector
from uiautomator2.exceptions import RPCError

from agent_eval.device_sim import Phone
from agent_eval.device_sim.streams import Stream
from agent_eval.device_sim.u2.device import SimDevice
from agent_eval.device_sim.u2.http import service
from agent_eval.device_sim.u2.rpc import METHODS, Rpc
from agent_eval.types import PhoneSetup

SETUP = PhoneSetup(seed=7, keep_alarms=True)
PACKAGES = ("com.android.settings", "com.android.deskclock", "com.android.contacts", "com.android.calculator2")


def over_http(phone: Phone, stream: Stream, method: str, params: list[Any]) -> dict[str, Any]:
    """Call a method by the bytes that the client sends; time passes as a transport in virtual time lets it pass."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}).encode()
    stream.receive(b"POST /jsonrpc/0 HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body))
    stream.receive(body)
    progress = stream.poll()
    while progress.wake_ms is not None:
        phone.advance((progress.wake_ms - phone.clock.now_ms) / 1000)
        progress = stream.poll()
    head, _, answer = progress.data.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200")
    found: dict[str, Any] = json.loads(answer)
    return found


def in_process(device: SimDevice, method: str, params: list[Any]) -> Any:
    try:
        return json.loads(json.dumps(device.jsonrpc_call(method, params or {})))
    except RPCError as error:
        return type(error).__name__


def selector(rng: random.Random, texts: list[str]) -> Selector:
    kind = rng.randrange(6)
    if kind == 0:
        return Selector(scrollable=True)
    if kind == 1:
        return Selector(className="android.widget.TextView", instance=rng.randrange(8))
    if kind == 2:
        return Selector(resourceIdMatches=".*:id/(title|summary)")
    if kind == 3:
        return Selector(clickable=True).child(textContains=rng.choice(["a", "e", "On"]))
    return Selector(text=rng.choice(texts or ["Absent"]))


def call(rng: random.Random, texts: list[str], names: list[str]) -> tuple[str, list[Any]]:
    """Draw a method with parameters that fit one of its forms."""
    method = rng.choice(sorted(METHODS))
    if rng.random() < 0.4:
        method = rng.choice(["click", "pressKey", "scrollForward", "objInfo", "setText", "waitForExists"])
    kinds = rng.choice(METHODS[method]).kinds
    params: list[Any] = []
    for kind in kinds:
        if kind == "object":
            params.append(rng.choice(names) if names and rng.random() < 0.1 else selector(rng, texts))
        elif kind in ("int", "float"):
            params.append(rng.choice([0, 1, 2, 5, 20, rng.randrange(720), rng.randrange(1280)]))
        elif kind == "long":
            params.append(rng.choice([0, 100, 700, 3000]))
        elif kind == "bool":
            params.append(rng.random() < 0.7)
        elif kind == "text":
            params.append(rng.choice(["back", "home", "recent", "left", "natural", "up", "words", None, *texts[:3]]))
        elif kind == "points":
            params.append([rng.randrange(720) for _ in range(6)])
        else:
            params.append({"x": rng.randrange(720), "y": rng.randrange(1280)})
    return method, params


@pytest.mark.parametrize("seed", range(5))
def test_random_calls_get_equal_answers_and_leave_equal_phones(seed: int) -> None:
    rng = random.Random(seed)
    near, far = Phone(SETUP), Phone(SETUP)
    device, stream = SimDevice(near), service(Rpc(far))()
    names: list[str] = []
    errors = 0
    for step in range(120):
        if step % 20 == 0:
            package = rng.choice(PACKAGES)
            near.open_app(package)
            far.open_app(package)
        texts = [view.text for view in near.active_window.root.visible() if view.text]
        method, params = call(rng, texts, names)
        mine, theirs = in_process(device, method, params), over_http(far, stream, method, params)
        if "error" in theirs:
            errors += 1
            assert isinstance(mine, str), (method, params)
            assert mine.endswith("Error"), (method, params)
        else:
            assert mine == theirs["result"], (method, params)
            if method.startswith("childBy"):
                names.append(mine)
        assert near.snapshot() == far.snapshot(), (method, params)
        assert near.hierarchy_xml() == far.hierarchy_xml()
    assert errors < 60
