"""From a request to an answer: who may ask, what the page gets, and what touches the phone. Knows no sockets.

The page can do anything to the phone, so only the person who was shown its address may open it. Every path begins with
a random token; the Host header must name this machine, so that no foreign name that resolves here is served (DNS
rebinding); what changes the phone must be JSON from the page's own origin; and no answer can be read, framed or run by
another site.
"""

from __future__ import annotations

import hmac
import json
import math
from collections.abc import Callable, Mapping
from http import HTTPStatus
from importlib import resources
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qs

from agent_eval.device_sim.view.requests import Request, Response
from agent_eval.device_sim.view.viewable import Viewable

MOST_TEXT = 10_000
"""Characters that may be typed at once."""
LONGEST_SWIPE_MS = 10_000

HEADERS: Mapping[str, str] = MappingProxyType({
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
})  # fmt: skip
"""Sent with every answer."""

_FILES: Mapping[str, tuple[str, str]] = MappingProxyType({
    "": ("page.html", "text/html; charset=utf-8"),
    "page.css": ("page.css", "text/css; charset=utf-8"),
    "page.js": ("page.js", "text/javascript; charset=utf-8"),
})  # fmt: skip


class _Refused(ValueError):
    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


class Handlers:
    """Answers the requests for one phone.

    Args:
        viewable: The phone.
        token: First part of every path.
        port: Where the page is served, which the Host header must name.
    """

    def __init__(self, viewable: Viewable, token: str, port: int) -> None:
        self._phone = viewable
        self._token = token
        self._hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})
        self._origins = frozenset(f"http://{host}" for host in self._hosts)
        self._looks: Mapping[str, Callable[[Request], Response]] = {
            "state": self._state,
            "screen.png": lambda _: Response(HTTPStatus.OK, self._phone.screenshot_png(), "image/png"),
            "tree.xml": lambda _: Response(HTTPStatus.OK, self._phone.tree().encode(), "text/xml; charset=utf-8"),
        }
        self._touches: Mapping[str, Callable[[Mapping[str, Any]], object]] = {
            "tap": lambda given: self._phone.tap(self._x(given, "x"), self._y(given, "y")),
            "long_press": lambda given: self._phone.long_press(self._x(given, "x"), self._y(given, "y")),
            "swipe": self._swipe,
            "key": self._key,
            "text": self._text,
        }

    def answer(self, request: Request) -> Response:
        """Answer one request."""
        try:
            response = self._answer(request)
        except _Refused as refused:
            response = Response(refused.status, f"{refused.reason}\n".encode())
        return Response(response.status, response.body, response.kind, {**HEADERS, **response.headers})

    def _answer(self, request: Request) -> Response:
        if request.headers.get("host", "").lower() not in self._hosts:
            raise _Refused(
                HTTPStatus.MISDIRECTED_REQUEST, "this page is served to this machine under its own name only"
            )
        _, token, name = (*request.path.split("/", 2), "", "")[:3]
        if not hmac.compare_digest(token.encode(), self._token.encode()):
            raise _Refused(HTTPStatus.NOT_FOUND, "the address is the one that was printed at the start")
        if name in self._touches:
            if request.method != "POST":
                raise _Refused(HTTPStatus.METHOD_NOT_ALLOWED, "what touches the phone is a POST")
            return self._touched(name, request)
        if request.method != "GET":
            raise _Refused(HTTPStatus.METHOD_NOT_ALLOWED, "what looks at the phone is a GET")
        if name in self._looks:
            return self._looks[name](request)
        if name in _FILES and request.path.count("/") == 2:
            file, kind = _FILES[name]
            return Response(HTTPStatus.OK, (resources.files(__package__) / file).read_bytes(), kind)
        raise _Refused(HTTPStatus.NOT_FOUND, "there is nothing of this name")

    # ------------------------------------------------------------------------------------------------------------------
    # looking

    def _state(self, request: Request) -> Response:
        """Return what the page asks for several times a second: whether to look again, and what happened."""
        since = parse_qs(request.query).get("since", ["0"])[0]
        if not (since.isascii() and since.isdigit() and len(since) <= 12):
            raise _Refused(HTTPStatus.BAD_REQUEST, "since is the number of an event")
        phone = self._phone
        state = {
            "version": phone.version,
            "width": phone.size.width,
            "height": phone.size.height,
            "now_ms": phone.now_ms,
            "title": phone.title,
            "events": [event._asdict() for event in phone.events(int(since))],
            "gaps": sorted(phone.gaps().items(), key=lambda gap: (-gap[1], gap[0]))[:100],
        }
        return _json(state)

    # ------------------------------------------------------------------------------------------------------------------
    # touching

    def _touched(self, name: str, request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise _Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "a touch is sent as application/json")
        origin = request.headers.get("origin")
        if origin is not None and origin.lower() not in self._origins:
            raise _Refused(HTTPStatus.FORBIDDEN, "another site may not touch the phone")
        try:
            given = json.loads(request.body)
        except (ValueError, RecursionError):
            raise _Refused(HTTPStatus.BAD_REQUEST, "the body is no JSON") from None
        if not isinstance(given, dict):
            raise _Refused(HTTPStatus.BAD_REQUEST, "the body is a JSON object")
        self._touches[name](given)
        return _json({"done": True})

    def _x(self, given: Mapping[str, Any], name: str) -> float:
        return _number(given, name, self._phone.size.width)

    def _y(self, given: Mapping[str, Any], name: str) -> float:
        return _number(given, name, self._phone.size.height)

    def _swipe(self, given: Mapping[str, Any]) -> None:
        self._phone.swipe(
            self._x(given, "x1"), self._y(given, "y1"), self._x(given, "x2"), self._y(given, "y2"),
            round(_number(given, "ms", LONGEST_SWIPE_MS)),
        )  # fmt: skip

    def _key(self, given: Mapping[str, Any]) -> None:
        name = given.get("name")
        if not isinstance(name, str) or not self._phone.key(name):
            raise _Refused(HTTPStatus.BAD_REQUEST, "the phone has no such key")

    def _text(self, given: Mapping[str, Any]) -> None:
        text = given.get("text")
        if not isinstance(text, str) or len(text) > MOST_TEXT:
            raise _Refused(HTTPStatus.BAD_REQUEST, f"text is a string of at most {MOST_TEXT} characters")
        if not self._phone.text(_whole(text)):
            raise _Refused(HTTPStatus.CONFLICT, "no field has the focus")


def _number(given: Mapping[str, Any], name: str, most: int) -> float:
    """Return a number of the request, moved into 0 to ``most``: a drag may end beside the screen."""
    value = given.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _Refused(HTTPStatus.BAD_REQUEST, f"{name} is a number")
    return min(max(float(value), 0.0), float(most))


def _whole(text: str) -> str:
    """Return a text without halves of surrogate pairs, which JSON can carry and no file can."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _json(value: object) -> Response:
    return Response(HTTPStatus.OK, json.dumps(value).encode(), "application/json")
