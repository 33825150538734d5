from __future__ import annotations

import io
import json
from collections.abc import Callable
from http.client import HTTPResponse
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from agent_eval.device_sim import Phone
from agent_eval.device_sim.streams import Progress, Stream
from agent_eval.device_sim.u2.http import MAX_AHEAD, MAX_BODY, MAX_HEAD, service
from agent_eval.device_sim.u2.rpc import Rpc
from agent_eval.types import PhoneSetup

BATTERY = {"mask": 1, "text": "Battery"}


def opener(**options: Any) -> tuple[Phone, Callable[[], Stream]]:
    phone = Phone(PhoneSetup(seed=1))
    phone.open_app("com.android.settings")
    return phone, service(Rpc(phone), **options)


class _Socket:
    """What http.client reads a response from."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, _: str) -> io.BytesIO:
        return io.BytesIO(self._data)


def parsed(data: bytes, method: str = "GET") -> tuple[int, bytes, HTTPResponse]:
    """Read a response as the client's own library does."""
    response = HTTPResponse(_Socket(data), method=method)  # type: ignore[arg-type]
    response.begin()
    return response.status, response.read(), response


def post(call: object, *extra: str) -> bytes:
    return raw(json.dumps(call).encode(), *extra)


def raw(body: bytes, *extra: str) -> bytes:
    lines = ["POST /jsonrpc/0 HTTP/1.1", "Host: localhost:9008", f"Content-Length: {len(body)}", *extra, "", ""]
    return "\r\n".join(lines).encode() + body


def rpc(method: str, *params: object) -> bytes:
    return post({"jsonrpc": "2.0", "id": 1, "method": method, "params": list(params)})


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def said(stream: Stream, data: bytes) -> Progress:
    stream.receive(data)
    return stream.poll()


@pytest.mark.parametrize(
    ("request_bytes", "status", "body"),
    [
        (get("/ping"), 200, b"pong"),
        (get("/%70ing?x=1"), 200, b"pong"),
        (b"GET /ping HTTP/1.1\n\n", 200, b"pong"),
        (b"\r\n\r\nGET /ping HTTP/1.1\r\n\r\n", 200, b"pong"),
        (b"POST /ping HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", 200, b"pong"),
        (get("/nowhere"), 404, b"Not Found!!!"),
        (get("/jsonrpc/1"), 404, b"Not Found!!!"),
        (get("/jsonrpc/0"), 500, b"Invalid http post data!"),
        (b"POST /jsonrpc/0 HTTP/1.1\r\n\r\n", 500, b"Invalid http post data!"),
        (get('/jsonrpc/0?{"id":1,"method":"ping"}'), 200, b'{"jsonrpc": "2.0", "id": 1, "result": "pong"}'),
        (rpc("ping"), 200, b'{"jsonrpc": "2.0", "id": 1, "result": "pong"}'),
    ],
)
def test_routes_answer_as_on_a_phone(request_bytes: bytes, status: int, body: bytes) -> None:
    _, connect = opener()
    progress = said(connect(), request_bytes)
    assert parsed(progress.data)[:2] == (status, body)
    assert not progress.over


@pytest.mark.parametrize("request_bytes", [get("/ping"), rpc("deviceInfo"), get("/nowhere")])
def test_a_request_may_come_in_any_two_pieces(request_bytes: bytes) -> None:
    _, connect = opener()
    whole = said(connect(), request_bytes).data
    for cut in range(1, len(request_bytes)):
        stream = connect()
        assert said(stream, request_bytes[:cut]).data == b""
        assert said(stream, request_bytes[cut:]).data == whole


def test_requests_may_come_byte_by_byte_and_several_at_once() -> None:
    _, connect = opener()
    requests = rpc("ping") + b"\r\n" + get("/ping") + rpc("getLastToast")
    whole = said(connect(), requests).data
    assert whole.count(b"HTTP/1.1 200 OK") == 3
    stream = connect()
    assert b"".join(said(stream, requests[i : i + 1]).data for i in range(len(requests))) == whole


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"\x00\x01\x02\r\n\r\n", 400), (b"GET\r\n\r\n", 400), (b"BREW /pot HTTP/1.1\r\n\r\n", 400),
        (b"get /ping HTTP/1.1\r\n\r\n", 400), (b"GET http://[ HTTP/1.1\r\n\r\n", 400),
        (b"POST /jsonrpc/0 HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST /jsonrpc/0 HTTP/1.1\r\nContent-Length: \xb2\r\n\r\n", 400),
        (b"POST /jsonrpc/0 HTTP/1.1\r\nContent-Length: 1e3\r\n\r\n", 400),
        (b"POST /jsonrpc/0 HTTP/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", 400),
        (b"POST /jsonrpc/0 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (b"GET /" + b"a" * MAX_HEAD, 400), (b"X" * (2 * MAX_HEAD), 400),
        (f"POST /jsonrpc/0 HTTP/1.1\r\nContent-Length: {MAX_BODY + 1}\r\n\r\n".encode(), 413),
    ],
)  # fmt: skip
def test_what_is_no_request_is_refused_and_the_connection_closed(request_bytes: bytes, status: int) -> None:
    _, connect = opener()
    stream = connect()
    progress = said(stream, request_bytes)
    assert parsed(progress.data)[0] == status
    assert progress.over
    assert said(stream, get("/ping")) == Progress(over=True)


@pytest.mark.parametrize(
    ("request_bytes", "stays"),
    [
        (b"GET /ping HTTP/1.1\r\n\r\n", True), (b"GET /ping HTTP/1.1\r\nConnection: close\r\n\r\n", False),
        (b"GET /ping HTTP/1.0\r\n\r\n", False), (b"GET /ping HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", True),
        (b"GET /ping\r\n\r\n", False),
    ],
)  # fmt: skip
def test_a_connection_stays_open_unless_the_client_says_otherwise(request_bytes: bytes, stays: bool) -> None:
    _, connect = opener()
    progress = said(connect(), request_bytes)
    assert progress.over is not stays
    assert parsed(progress.data)[2].getheader("Connection") == ("keep-alive" if stays else "close")


def test_a_head_is_asked_for_without_a_body_and_a_client_may_wait_to_be_told_to_go_on() -> None:
    _, connect = opener()
    progress = said(connect(), b"HEAD /ping HTTP/1.1\r\n\r\n")
    assert progress.data.endswith(b"Content-Length: 4\r\n\r\n")
    stream = connect()
    head, _, body = rpc("ping").partition(b"\r\n\r\n")
    assert said(stream, head + b"\r\nExpect: 100-continue\r\n\r\n").data == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert parsed(said(stream, body).data)[0] == 200


def test_the_date_is_the_phones() -> None:
    phone, connect = opener()
    first = parsed(said(connect(), get("/ping")).data)[2].getheader("Date")
    phone.advance(3600)
    assert parsed(said(connect(), get("/ping")).data)[2].getheader("Date") != first


@pytest.mark.parametrize(
    ("query", "size"),
    [("", (720, 1280)), ("?scale=0.5&quality=80", (360, 640)), ("?scale=x", (720, 1280)), ("?scale=9e9", (720, 1280)),
     ("?scale=nan", (720, 1280)), ("?" + "a=1&" * 50, (720, 1280))],
)  # fmt: skip
def test_a_picture_is_a_png(query: str, size: tuple[int, int]) -> None:
    _, connect = opener()
    status, body, response = parsed(said(connect(), get("/screenshot/0" + query)).data)
    with Image.open(io.BytesIO(body)) as picture:
        assert (status, response.getheader("Content-Type"), picture.format) == (200, "image/png", "PNG")
        assert picture.size == size


def test_stopping_answers_first_and_calls_what_ends_the_server() -> None:
    stopped: list[bool] = []
    _, connect = opener(stop=lambda: stopped.append(True))
    progress = said(connect(), get("/stop"))
    assert parsed(progress.data)[1] == b"Server stopped!!!"
    assert (progress.over, stopped) == (True, [True])


def result(data: bytes) -> object:
    return json.loads(parsed(data)[1])["result"]


def test_a_call_that_waits_holds_up_its_own_connection_only() -> None:
    phone, connect = opener()
    waiting, other = connect(), connect()
    first = said(waiting, rpc("waitUntilGone", BATTERY, 20_000) + rpc("ping"))
    assert (first.data, first.over) == (b"", False)
    assert first.wake_ms is not None
    assert phone.clock.now_ms < first.wake_ms <= phone.clock.now_ms + 500
    told: list[bool] = []
    waiting.notify = lambda: told.append(True)
    assert result(said(other, rpc("pressKey", "home")).data) is True
    assert told == [True]
    answers = waiting.poll()
    assert answers.data.count(b"HTTP/1.1 200 OK") == 2
    assert answers.wake_ms is None
    said(other, rpc("pressKey", "back"))
    assert told == [True]


def test_a_call_that_waits_gives_up_when_its_time_is_over() -> None:
    phone, connect = opener()
    stream = connect()
    progress = said(stream, rpc("waitForExists", {"mask": 1, "text": "Absent"}, 20_000))
    began, looks = phone.clock.now_ms, 0
    while progress.wake_ms is not None:
        phone.advance((progress.wake_ms - phone.clock.now_ms) / 1000)
        progress = stream.poll()
        looks += 1
    assert result(progress.data) is False
    assert phone.clock.now_ms - began == 20_000
    assert looks <= 100


def test_a_client_that_has_said_all_still_gets_its_answer() -> None:
    phone, connect = opener()
    stream = connect()
    said(stream, rpc("waitUntilGone", BATTERY, 20_000))
    stream.end_of_input()
    assert not stream.poll().over
    phone.go_home()
    progress = stream.poll()
    assert (result(progress.data), progress.over) == (True, True)
    half = connect()
    half.receive(b"GET /pi")
    half.end_of_input()
    assert half.poll() == Progress(over=True)


def test_a_client_that_is_gone_is_forgotten_with_what_it_waited_for() -> None:
    _, connect = opener()
    stream, other = connect(), connect()
    said(stream, rpc("waitUntilGone", BATTERY, 20_000))
    told: list[bool] = []
    stream.notify = lambda: told.append(True)
    stream.hang_up()
    said(other, rpc("pressKey", "home"))
    assert (told, stream.poll()) == ([], Progress(over=True))


def test_a_client_that_floods_while_it_waits_is_cut_off() -> None:
    _, connect = opener()
    stream = connect()
    said(stream, rpc("waitUntilGone", BATTERY, 20_000))
    for _ in range(MAX_AHEAD // 1024 + 1):
        stream.receive(b"x" * 1024)
    assert stream.poll().over


def in_turns(stream: Stream, progress: Progress, now_ms: int) -> list[Progress]:
    """Poll as a transport does, until nothing is left to do at this moment."""
    turns = [progress]
    while not turns[-1].over and turns[-1].wake_ms is not None and turns[-1].wake_ms <= now_ms:
        turns.append(stream.poll())
    return turns


def test_many_requests_at_once_are_answered_in_order_and_in_turns() -> None:
    phone, connect = opener()
    stream = connect()
    turns = in_turns(stream, said(stream, (rpc("ping") + get("/ping")) * 500), phone.clock.now_ms)
    assert b"".join(turn.data for turn in turns).count(b"pong") == 1000
    assert len(turns) > 50
    assert stream.poll() == Progress()


def test_of_many_large_answers_each_is_a_turn_of_its_own() -> None:
    phone, connect = opener()
    stream = connect()
    turns = in_turns(stream, said(stream, rpc("dumpWindowHierarchy", False, 50) * 20), phone.clock.now_ms)
    assert len(turns) >= 10
    assert max(len(turn.data) for turn in turns) < 1 << 17


def test_requests_that_came_before_the_end_of_input_are_all_answered() -> None:
    phone, connect = opener()
    stream = connect()
    stream.receive(get("/ping") * 30)
    stream.end_of_input()
    turns = in_turns(stream, stream.poll(), phone.clock.now_ms)
    assert b"".join(turn.data for turn in turns).count(b"pong") == 30
    assert turns[-1].over


def test_a_client_that_sends_more_requests_than_can_be_held_is_cut_off() -> None:
    _, connect = opener()
    stream = connect()
    for _ in range(MAX_BODY // len(get("/ping") * 3000) + 2):
        stream.receive(get("/ping") * 3000)
    assert stream.poll().over


HOSTILE = [
    '"exist","params":[{"mask":{}}]',
    '"exist","params":[{"mask":1,"text":[]}]',
    '"getText","params":[{"mask":1,"text":"x","childOrSibling":["other"],"childOrSiblingSelector":[7]}]',
    '"getText","params":[{"mask":1,"text":"x","childOrSibling":[[]],"childOrSiblingSelector":[7]}]',
    '"childByInstance","params":[{"mask":1,"text":"x"},"name",0]',
    '"\\ud800","params":[]',
    '"ping","params":[],"id":1e999',
]


@pytest.mark.parametrize("call", HOSTILE)
def test_a_hostile_call_is_answered_with_an_error_that_is_json(call: str) -> None:
    _, connect = opener()
    answer = parsed(said(connect(), raw(f'{{"jsonrpc":"2.0","id":1,"method":{call}}}'.encode())).data)[1]
    assert "error" in json.loads(answer, parse_constant=lambda constant: pytest.fail(f"{constant} is no JSON"))


@pytest.mark.parametrize("call", ['"click","params":[DEEP,1]', '"exist","params":[{"mask":DEEP}]',
                                  '"exist","params":[{"mask":1,"text":DEEP}]', '"exist","params":[DEEP]'])  # fmt: skip
def test_values_nested_to_any_depth_are_answered_with_an_error(call: str) -> None:
    _, connect = opener()
    stream = connect()
    for depth in range(1, 1100, 7):
        body = f'{{"jsonrpc":"2.0","id":1,"method":{call.replace("DEEP", "[" * depth + "]" * depth)}}}'
        assert b'"error"' in said(stream, raw(body.encode())).data


def test_half_a_surrogate_pair_is_nothing_that_the_phone_keeps() -> None:
    phone, connect = opener()
    said(connect(), rpc("setClipboard", None, "a\ud800b"))
    assert phone.clipboard == "a\ufffdb"


@given(
    st.lists(st.binary(max_size=40) | st.sampled_from([get("/ping"), rpc("ping"), rpc("exist", BATTERY)]), max_size=6)
)
def test_any_bytes_are_answered_or_refused(pieces: list[bytes]) -> None:
    stream = CONNECT()
    for piece in pieces:
        stream.receive(piece)
        stream.poll()
    stream.end_of_input()
    assert stream.poll().over


_, CONNECT = opener()
