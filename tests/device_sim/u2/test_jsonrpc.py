from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.device_sim import Phone
from agent_eval.device_sim.u2 import jsonrpc
from agent_eval.device_sim.u2.rpc import Rpc
from agent_eval.types import PhoneSetup

RPC = Rpc(Phone(PhoneSetup(seed=1)))


def answer(body: bytes | str | object) -> Any:
    data = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
    found = jsonrpc.begin(RPC, data)
    assert isinstance(found, bytes)
    return json.loads(found)


@pytest.mark.parametrize("number", [1, 0, -7, "a", 1.5, None])
def test_the_id_comes_back_and_the_result_is_there_even_when_it_is_null(number: object) -> None:
    call = {"jsonrpc": "2.0", "id": number, "method": "getLastToast", "params": {}}
    assert answer(call) == {"jsonrpc": "2.0", "id": number, "result": None}


def test_version_and_parameters_may_be_left_out() -> None:
    assert answer({"id": 1, "method": "ping"})["result"] == "pong"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32700), (b"{", -32700), (b"\xff\xfe", -32700), (b"[" * 100_000, -32700), (b'{"id":NaN}', -32700),
        (b'{"id":1,"method":"ping","params":[' + b"1" * 5000 + b"]}", -32700),
        (b"5", -32600), (b"null", -32600), (b"[]", -32600), (b'[{"id":1,"method":"ping"}]', -32600),
        (b"{}", -32600), (b'{"id":1}', -32600), (b'{"id":1,"method":5}', -32600),
        (b'{"id":[],"method":"ping"}', -32600),
        (b'{"id":{},"method":"ping"}', -32600), (b'{"id":true,"method":"ping"}', -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
        (b'{"id":1,"method":"makeToast","params":["x",1]}', -32601),
        (b'{"id":1,"method":"click","params":["x"]}', -32001),
        (b'{"id":1,"method":"click","params":{"x":1}}', -32602),
        (b'{"id":1,"method":"click","params":[1,1e400]}', -32602),
    ],
)  # fmt: skip
def test_what_is_no_call_is_answered_with_its_code(body: bytes, code: int) -> None:
    found = answer(body)
    assert found["error"]["code"] == code
    assert "result" not in found


def test_a_notification_is_carried_out_and_not_answered() -> None:
    call = {"jsonrpc": "2.0", "method": "setClipboard", "params": [None, "quiet"]}
    assert jsonrpc.begin(RPC, json.dumps(call).encode()) == b""
    assert RPC.phone.clipboard == "quiet"


def test_of_texts_that_no_encoding_holds_the_phone_keeps_what_one_does() -> None:
    assert answer(r'{"id":1,"method":"setClipboard","params":[null,"\ud800 \u754c"]}')["result"] is None
    assert answer({"id": 1, "method": "getClipboard"})["result"] == "\ufffd \u754c"


def test_a_call_that_waits_is_settled_later() -> None:
    selector = {"mask": 1, "text": "Absent"}
    call = {"jsonrpc": "2.0", "id": 9, "method": "waitForExists", "params": [selector, 1000]}
    waiting = jsonrpc.begin(RPC, json.dumps(call).encode())
    assert isinstance(waiting, jsonrpc.Waiting)
    assert jsonrpc.settle(RPC, waiting) is None
    RPC.phone.advance(1)
    settled = jsonrpc.settle(RPC, waiting)
    assert settled is not None
    assert json.loads(settled) == {"jsonrpc": "2.0", "id": 9, "result": False}


@given(st.binary(max_size=60) | st.text('{}[]":,0123456789aetrufnlsimhodpr ', max_size=60).map(str.encode))
def test_any_bytes_get_an_answer(body: bytes) -> None:
    assert isinstance(jsonrpc.begin(RPC, body), bytes)
