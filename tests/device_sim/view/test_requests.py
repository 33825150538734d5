from __future__ import annotations

import contextlib
from http import HTTPStatus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.device_sim.view.requests import MOST_BODY, MOST_HEAD, BadRequest, Request, RequestReader, Response

GET = b"GET /abc/state?since=3 HTTP/1.1\r\nHost: 127.0.0.1:80\r\nX-Empty:\r\n\r\n"
POST = b'POST /abc/key HTTP/1.1\r\nContent-Length: 15\r\ncontent-type: a/b \r\n\r\n{"name": "back"'
EXPECTED = [
    Request("GET", "/abc/state", "since=3", {"host": "127.0.0.1:80", "x-empty": ""}),
    Request("POST", "/abc/key", "", {"content-length": "15", "content-type": "a/b"}, b'{"name": "back"'),
]


@pytest.mark.parametrize("cut", range(len(GET + POST) + 1))
def test_requests_may_arrive_in_any_two_pieces(cut: int) -> None:
    reader = RequestReader()
    assert reader.feed((GET + POST)[:cut]) + reader.feed((GET + POST)[cut:]) == EXPECTED


def test_requests_may_arrive_byte_by_byte() -> None:
    reader = RequestReader()
    assert [request for byte in GET + POST for request in reader.feed(bytes([byte]))] == EXPECTED


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"hello\r\n\r\n", HTTPStatus.BAD_REQUEST),
        (b"GET  / HTTP/1.1\r\n\r\n", HTTPStatus.BAD_REQUEST),
        (b"GET http://elsewhere/ HTTP/1.1\r\n\r\n", HTTPStatus.BAD_REQUEST),
        (b"GET / HTTP/2\r\n\r\n", HTTPStatus.HTTP_VERSION_NOT_SUPPORTED),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", HTTPStatus.BAD_REQUEST),
        (b"GET / HTTP/1.1\r\n folded: x\r\n\r\n", HTTPStatus.BAD_REQUEST),
        (b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", HTTPStatus.BAD_REQUEST),
        (b"POST / HTTP/1.1\r\nContent-Length: 1e3\r\n\r\n", HTTPStatus.BAD_REQUEST),
        (b"POST / HTTP/1.1\r\nContent-Length: \xb2\r\n\r\n", HTTPStatus.BAD_REQUEST),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", HTTPStatus.NOT_IMPLEMENTED),
        (
            f"POST / HTTP/1.1\r\nContent-Length: {MOST_BODY + 1}\r\n\r\n".encode(),
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        ),
        (b"GET /" + b"a" * MOST_HEAD, HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE),
    ],
)
def test_what_is_no_request_is_refused_with_the_reason(data: bytes, status: HTTPStatus) -> None:
    with pytest.raises(BadRequest) as refused:
        RequestReader().feed(data)
    assert refused.value.status == status


@given(st.lists(st.binary(max_size=200), max_size=10))
def test_no_bytes_raise_anything_but_a_bad_request(pieces: list[bytes]) -> None:
    reader = RequestReader()
    with contextlib.suppress(BadRequest):
        for piece in pieces:
            assert len(reader.feed(piece)) <= len(piece)


def test_an_answer_says_its_length_and_whether_the_connection_stays() -> None:
    response = Response(HTTPStatus.OK, b"ok", "text/x", {"X-One": "1"})
    assert response.encode(keep=True) == (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/x\r\nContent-Length: 2\r\nConnection: keep-alive\r\nX-One: 1\r\n\r\nok"
    )
    assert b"Connection: close\r\n" in response.encode(keep=False)
