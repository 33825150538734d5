from __future__ import annotations

import functools
import io
import json
from http import HTTPStatus
from importlib import resources
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from agent_eval.device_sim import Phone, view
from agent_eval.device_sim.view import PhoneView
from agent_eval.device_sim.view.handlers import MOST_TEXT, Handlers
from agent_eval.device_sim.view.requests import Request, Response
from agent_eval.types import PhoneSetup

TOKEN, PORT = "the-token", 4321
HOST = f"127.0.0.1:{PORT}"


class Page:
    """What the browser does, without a socket."""

    def __init__(self) -> None:
        self.phone = Phone(PhoneSetup(seed=1, state={"settings/dark_theme": False}))
        self.handlers = Handlers(PhoneView(self.phone), TOKEN, PORT)

    def get(self, name: str, query: str = "", **headers: str) -> Response:
        return self.handlers.answer(Request("GET", f"/{TOKEN}/{name}", query, {"host": HOST, **headers}))

    def post(self, name: str, body: object, **headers: str) -> Response:
        sent = {"host": HOST, "content-type": "application/json", **headers}
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.handlers.answer(Request("POST", f"/{TOKEN}/{name}", "", sent, data))

    def state(self, since: int = 0) -> dict[str, Any]:
        response = self.get("state", f"since={since}")
        assert response.status == HTTPStatus.OK
        loaded: dict[str, Any] = json.loads(response.body)
        return loaded


@pytest.fixture
def page() -> Page:
    return Page()


# ----------------------------------------------------------------------------------------------------------------------
# looking


@pytest.mark.parametrize(
    ("name", "kind", "start"),
    [
        ("", "text/html", b"<!doctype html>"),
        ("page.css", "text/css", b":root"),
        ("page.js", "text/javascript", b"//"),
        ("screen.png", "image/png", b"\x89PNG"),
        ("tree.xml", "text/xml", b"<?xml"),
    ],
)
def test_the_page_and_its_parts_are_served(page: Page, name: str, kind: str, start: bytes) -> None:
    response = page.get(name)
    assert response.status == HTTPStatus.OK
    assert response.kind.partition(";")[0] == kind
    assert response.body.startswith(start)


def test_the_picture_is_what_the_phone_shows(page: Page) -> None:
    shown = Image.open(io.BytesIO(page.get("screen.png").body))
    assert shown.convert("RGB").tobytes() == page.phone.screenshot().tobytes()


def test_the_version_changes_with_the_screen_and_only_then(page: Page) -> None:
    before = page.state()["version"]
    assert page.state()["version"] == before
    page.phone.open_app("com.android.settings")
    opened = page.state()
    assert opened["version"] != before
    assert opened["title"].startswith("com.android.settings/")
    page.phone.rotate(1)
    assert page.state()["version"] != opened["version"]
    assert (page.state()["width"], page.state()["height"]) == (1280, 720)


def test_time_that_nobody_sees_is_no_change_and_a_minute_is(page: Page) -> None:
    before = page.state()
    page.phone.advance(0.3)
    assert page.state()["version"] == before["version"]
    assert page.state()["now_ms"] == before["now_ms"] + 300
    page.phone.advance(61)
    assert page.state()["version"] != before["version"]


def test_events_are_told_once_and_gaps_are_counted(page: Page) -> None:
    page.phone.events.add("rpc", "deviceInfo")
    for _ in range(2):
        page.phone.events.add_gap("shell: <b>frob</b>")
    state = page.state()
    assert [(event["kind"], event["text"]) for event in state["events"]] == [
        ("rpc", "deviceInfo"),
        ("gap", "shell: <b>frob</b>"),
        ("gap", "shell: <b>frob</b>"),
    ]
    assert state["gaps"] == [["shell: <b>frob</b>", 2]]
    assert page.state(state["events"][-1]["number"])["events"] == []


@pytest.mark.parametrize("since", ["-1", "x", "1" * 13, "\u00b2"])
def test_since_is_a_number(page: Page, since: str) -> None:
    assert page.get("state", f"since={since}").status == HTTPStatus.BAD_REQUEST


# ----------------------------------------------------------------------------------------------------------------------
# touching


def test_a_tap_a_key_and_text_reach_the_phone(page: Page) -> None:
    icon = next(view for view in page.phone.active_window.root.visible() if view.icon == "app:com.android.settings")
    assert icon.bounds is not None
    x, y = icon.bounds.center
    assert page.post("tap", {"x": x, "y": y}).status == HTTPStatus.OK
    assert page.phone.front.package == "com.android.settings"
    assert page.post("swipe", {"x1": 360, "y1": 900, "x2": 360, "y2": 400, "ms": 300}).status == HTTPStatus.OK
    assert page.post("key", {"name": "home"}).status == HTTPStatus.OK
    assert page.phone.front.package == "com.android.launcher3"
    assert page.post("long_press", {"x": x, "y": y}).status == HTTPStatus.OK
    assert page.phone.active_window.kind == "dialog"
    assert [event["kind"] for event in page.state()["events"]] == ["tap", "swipe", "key", "long press"]


def test_text_goes_to_the_focused_field_and_is_refused_without_one(page: Page) -> None:
    assert page.post("text", {"text": "a"}).status == HTTPStatus.CONFLICT
    page.phone.open_app("com.android.messaging")
    page.phone.open_page("messages/thread", {"address": "5551234"})
    field = next(view for view in page.phone.active_window.root.visible() if view.field is not None)
    assert field.bounds is not None
    page.phone.tap(*field.bounds.center)
    assert page.post("text", {"text": "<b>\u00fc\u4f60\ud83d</b>"}).status == HTTPStatus.OK
    focused = page.phone.focused()
    assert focused is not None
    assert focused.text == "<b>\u00fc\u4f60\ufffd</b>"
    assert b"&lt;b&gt;" in page.get("tree.xml").body


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("tap", {}),
        ("tap", {"x": "1", "y": 2}),
        ("tap", {"x": True, "y": 2}),
        ("tap", b'{"x": NaN, "y": 1}'),
        ("tap", b'{"x": 1e999, "y": 1}'),
        ("tap", [1, 2]),
        ("tap", b"{"),
        ("tap", b"\xff"),
        ("tap", b"[" * 50_000),
        ("swipe", {"x1": 1, "y1": 1, "x2": 1}),
        ("key", {"name": 4}),
        ("key", {"name": "no such key"}),
        ("text", {"text": 7}),
        ("text", {"text": "a" * (MOST_TEXT + 1)}),
    ],
)
def test_a_touch_that_makes_no_sense_is_refused_and_changes_nothing(page: Page, name: str, body: object) -> None:
    before = page.phone.snapshot()
    assert page.post(name, body).status == HTTPStatus.BAD_REQUEST
    assert page.phone.snapshot() == before


def test_a_drag_that_ends_beside_the_screen_ends_at_its_edge(page: Page) -> None:
    assert page.post("swipe", {"x1": 360, "y1": 9, "x2": -50, "y2": 99999, "ms": 10**9}).status == HTTPStatus.OK
    assert page.state()["events"][-1]["text"] == "360, 9 to 0, 1280"


# ----------------------------------------------------------------------------------------------------------------------
# who may ask


@pytest.mark.parametrize(
    "host", ["", "evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", f"[::1]:{PORT}"]
)
def test_a_foreign_host_name_is_refused(page: Page, host: str) -> None:
    for name in ("", "state", "screen.png"):
        assert page.get(name, host=host).status == HTTPStatus.MISDIRECTED_REQUEST
    assert page.post("key", {"name": "home"}, host=host).status == HTTPStatus.MISDIRECTED_REQUEST


@pytest.mark.parametrize(
    "path", ["/", "//", "/state", "/the-toke/state", "/the-token", "/the-token/../x", "/the-token//", "/\xff/"]
)
def test_an_address_without_the_token_or_of_nothing_is_not_found(page: Page, path: str) -> None:
    response = page.handlers.answer(Request("GET", path, "", {"host": HOST}))
    assert response.status == HTTPStatus.NOT_FOUND


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://evil.example"}, HTTPStatus.FORBIDDEN),
        ({"origin": "null"}, HTTPStatus.FORBIDDEN),
        ({"origin": f"https://{HOST}"}, HTTPStatus.FORBIDDEN),
        ({"content-type": "text/plain"}, HTTPStatus.UNSUPPORTED_MEDIA_TYPE),
        ({"content-type": "application/x-www-form-urlencoded"}, HTTPStatus.UNSUPPORTED_MEDIA_TYPE),
        ({"origin": f"http://{HOST}"}, HTTPStatus.OK),
        ({"origin": f"http://localhost:{PORT}", "host": f"localhost:{PORT}"}, HTTPStatus.OK),
        ({"content-type": "application/json; charset=utf-8"}, HTTPStatus.OK),
    ],
)
def test_only_the_page_itself_may_touch_the_phone(page: Page, headers: dict[str, str], status: HTTPStatus) -> None:
    sent = {key.replace("_", "-"): value for key, value in headers.items()}
    assert page.post("key", {"name": "home"}, **sent).status == status
    assert bool(page.phone.events.last) == (status == HTTPStatus.OK)


def test_looking_never_touches_and_touching_needs_a_post(page: Page) -> None:
    assert page.get("key").status == HTTPStatus.METHOD_NOT_ALLOWED
    assert page.post("state", {}).status == HTTPStatus.METHOD_NOT_ALLOWED
    assert page.post("", {}).status == HTTPStatus.METHOD_NOT_ALLOWED


def test_every_answer_forbids_framing_reading_and_foreign_code(page: Page) -> None:
    for response in (page.get(""), page.get("nothing"), page.get("", host="x"), page.post("tap", {})):
        policy = response.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert "Access-Control-Allow-Origin" not in response.headers
        assert response.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("file", ["page.html", "page.css", "page.js"])
def test_the_page_loads_nothing_from_elsewhere_and_makes_no_markup_of_texts(file: str) -> None:
    text = (resources.files(view) / file).read_text()
    for forbidden in ("http://", "https://", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert forbidden not in text
    assert file != "page.html" or (" style=" not in text and " onclick=" not in text)


@given(
    st.sampled_from(["GET", "POST", "HEAD", "PUT"]),
    st.text(max_size=30),
    st.dictionaries(
        st.sampled_from(["host", "origin", "content-type"]), st.sampled_from([HOST, "x", "application/json"])
    ),
    st.one_of(
        st.binary(max_size=50),
        st.recursive(st.none() | st.floats() | st.text(), st.lists).map(json.dumps).map(str.encode),
    ),
    st.sampled_from(["", "state", "tap", "swipe", "key", "text", "tree.xml"]),
)
def test_no_request_makes_the_handlers_fail(
    method: str, path: str, headers: dict[str, str], body: bytes, name: str
) -> None:
    page = _page()
    for target in (f"/{path}", f"/{TOKEN}/{name}"):
        response = page.handlers.answer(Request(method, target, path, headers, body))
        assert 200 <= response.status < 500


@functools.cache
def _page() -> Page:
    return Page()
