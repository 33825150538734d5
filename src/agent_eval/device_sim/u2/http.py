"""The uiautomator2 server's HTTP side without a socket: requests as bytes in any pieces, responses as bytes.

Routes and answers are those of the server's NanoHTTPD (openatx/android-uiautomator-server-jar, AutomatorHttpServer).
Connections stay open unless the client says otherwise; a call that waits holds up its own connection only.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from types import MappingProxyType
from urllib.parse import parse_qs, unquote, urlsplit

from agent_eval.device_sim.streams import Progress, Stream, silent
from agent_eval.device_sim.u2 import jsonrpc
from agent_eval.device_sim.u2.rpc import Rpc

MAX_HEAD, MAX_BODY, MAX_AHEAD = 8192, 4 << 20, 1 << 16
"""Bytes of a request's head (NanoHTTPD's own limit), of its body, and of what may follow while a call waits."""
_REQUESTS_PER_TURN, _BYTES_PER_TURN = 8, 1 << 14
"""Requests answered, and bytes of answers, before other connections get their turn."""

_REASONS: Mapping[int, str] = MappingProxyType({
    200: "OK", 400: "Bad Request", 404: "Not Found", 413: "Payload Too Large", 500: "Internal Server Error",
})  # fmt: skip
_METHODS = frozenset({"GET", "PUT", "POST", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "PATCH"})
_PLAIN, _HTML, _JSON, _PNG = "text/plain", "text/html", "application/json", "image/png"


def service(rpc: Rpc, stop: Callable[[], object] = silent) -> Callable[[], Stream]:
    """Return what opens connections to the server.

    Args:
        rpc: The methods, on one phone.
        stop: Called when a client asks the server to end.
    """
    return _Service(rpc, stop).open


class _Service:
    """All connections to one server."""

    def __init__(self, rpc: Rpc, stop: Callable[[], object]) -> None:
        self.rpc = rpc
        self.stop = stop
        self.waiting: dict[int, HttpStream] = {}

    def open(self) -> HttpStream:
        return HttpStream(self)

    def look_again(self, acted: HttpStream) -> None:
        """Tell those that wait that another connection may have changed the screen."""
        for stream in list(self.waiting.values()):
            if stream is not acted:
                stream.notify()


class _Refused(ValueError):
    """A request that is none."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True, slots=True)
class _Head:
    """What comes before the body of a request."""

    method: str
    path: str
    query: str
    length: int
    keep_alive: bool
    expects_continue: bool


class HttpStream:
    """One connection.

    Args:
        server: What it is a connection to.
    """

    def __init__(self, server: _Service) -> None:
        self.notify: Callable[[], object] = silent
        self._server = server
        self._input = bytearray()
        self._output = bytearray()
        self._head: _Head | None = None
        self._waiting: jsonrpc.Waiting | None = None
        self._has_more = False
        """There are requests for the next turn."""
        self._ended = False
        self._over = False

    # ------------------------------------------------------------------ Stream
    def receive(self, data: bytes) -> None:
        """Take bytes of requests."""
        if self._over:
            return
        self._input += data
        ahead = MAX_AHEAD if self._waiting is not None else MAX_BODY if self._has_more else None
        if ahead is not None and len(self._input) > ahead:
            self._close()
            return
        self._go_on()

    def end_of_input(self) -> None:
        """Know that there will be no further request; those that came are still answered."""
        self._ended = True
        if self._waiting is None and not self._has_more:
            self._close()

    def hang_up(self) -> None:
        """Forget everything."""
        self._output.clear()
        self._close()

    def poll(self) -> Progress:
        """Return the responses since the last call."""
        wake_ms = None
        if self._waiting is not None:
            self._settle(self._waiting)
        elif self._has_more:
            self._take_turn()
        if self._waiting is not None:
            wake_ms = self._server.rpc.wake_ms(self._waiting.pending)
        elif self._has_more:
            wake_ms = self._server.rpc.phone.clock.now_ms
        data = bytes(self._output)
        self._output.clear()
        return Progress(data, self._over, wake_ms)

    # ------------------------------------------------------------------ requests
    def _take_turn(self) -> None:
        self._go_on()
        if self._ended and self._waiting is None and not self._has_more:
            self._close()

    def _go_on(self) -> None:
        """Answer the requests that are complete, up to one that waits, or to the end of this turn."""
        self._has_more = False
        left, enough = _REQUESTS_PER_TURN, len(self._output) + _BYTES_PER_TURN
        try:
            while self._waiting is None and not self._over:
                if not left or len(self._output) > enough:
                    self._has_more = bool(self._input)
                    return
                if self._head is None:
                    self._head = self._take_head()
                    if self._head is None:
                        return
                    if self._head.expects_continue and len(self._input) < self._head.length:
                        self._output += b"HTTP/1.1 100 Continue\r\n\r\n"
                if len(self._input) < self._head.length:
                    return
                body = bytes(self._input[: self._head.length])
                del self._input[: self._head.length]
                self._route(self._head, body)
                left -= 1
        except _Refused as refused:
            self._respond(refused.status, _PLAIN, str(refused).encode(), keep_alive=False)

    def _take_head(self) -> _Head | None:
        """Take the head of a request off the input, or return None while it is incomplete."""
        while self._input and self._input[0] in b"\r\n":  # some clients end a body with an empty line
            del self._input[0]
        window = bytes(self._input[: MAX_HEAD + 4])
        ends = [(place, len(mark)) for mark in (b"\r\n\r\n", b"\n\n") if (place := window.find(mark)) >= 0]
        if not ends:
            if len(self._input) > MAX_HEAD:
                raise _Refused(400, "BAD REQUEST: Syntax error. The header is too long.")
            return None
        end, mark_length = min(ends)
        lines = window[:end].decode("latin-1").replace("\r\n", "\n").split("\n")
        del self._input[: end + mark_length]
        return _parse_head(lines)

    def _route(self, head: _Head, body: bytes) -> None:
        path = unquote(head.path)
        if path == "/ping":
            self._respond(200, _HTML, b"pong")
        elif path == "/jsonrpc/0":
            self._call(body or unquote(head.query).encode("utf-8", "replace"))
        elif path == "/screenshot/0":
            self._respond(200, _PNG, self._screenshot(head.query))
        elif path == "/stop":
            self._respond(200, _HTML, b"Server stopped!!!", keep_alive=False)
            self._server.stop()
        else:
            self._respond(404, _PLAIN, b"Not Found!!!")

    def _call(self, body: bytes) -> None:
        if not body:
            self._respond(500, _PLAIN, b"Invalid http post data!")
            return
        answer = jsonrpc.begin(self._server.rpc, body)
        self._server.look_again(self)
        if isinstance(answer, jsonrpc.Waiting):
            self._waiting = answer
            self._server.waiting[id(self)] = self
            self._settle(answer)
        else:
            self._respond(200, _JSON, answer)

    def _settle(self, waiting: jsonrpc.Waiting) -> None:
        answer = jsonrpc.settle(self._server.rpc, waiting)
        if answer is None:
            return
        self._stop_waiting()
        self._respond(200, _JSON, answer)
        if self._ended:
            self._close()
        else:
            self._go_on()

    def _screenshot(self, query: str) -> bytes:
        words = parse_qs(query, max_num_fields=20) if query.count("&") < 20 else {}
        try:
            scale = float(words.get("scale", ["1"])[0])
        except ValueError:
            scale = 1.0
        picture = self._server.rpc.phone.screenshot()
        if 0 < scale < 1:
            picture = picture.resize((max(1, round(picture.width * scale)), max(1, round(picture.height * scale))))
        stream = io.BytesIO()
        picture.save(stream, "PNG", compress_level=1)
        return stream.getvalue()

    # ------------------------------------------------------------------ responses
    def _respond(self, status: int, kind: str, body: bytes, *, keep_alive: bool = True) -> None:
        head, self._head = self._head, None
        keep_alive = keep_alive and (head is None or head.keep_alive)
        date = format_datetime(datetime.fromtimestamp(self._server.rpc.phone.clock.now_ms // 1000, UTC), usegmt=True)
        lines = (
            f"HTTP/1.1 {status} {_REASONS[status]} ",
            f"Content-Type: {kind}",
            f"Date: {date}",
            f"Connection: {'keep-alive' if keep_alive else 'close'}",
            f"Content-Length: {len(body)}",
        )
        self._output += "\r\n".join((*lines, "", "")).encode("ascii")
        if head is None or head.method != "HEAD":
            self._output += body
        if not keep_alive:
            self._close()

    def _close(self) -> None:
        self._over = True
        self._has_more = False
        self._input.clear()
        self._stop_waiting()

    def _stop_waiting(self) -> None:
        self._waiting = None
        self._server.waiting.pop(id(self), None)


def _parse_head(lines: list[str]) -> _Head:
    """Return the head of a request.

    Raises:
        _Refused: it is none.
    """
    words = lines[0].split()
    if len(words) < 2:
        raise _Refused(400, "BAD REQUEST: Syntax error. Usage: GET /example/file.html")
    if words[0] not in _METHODS:
        raise _Refused(400, f"BAD REQUEST: Syntax error. HTTP verb {words[0]:.20} unhandled.")
    version = words[2] if len(words) > 2 else "HTTP/1.0"
    headers: dict[str, str] = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    if "transfer-encoding" in headers:
        raise _Refused(400, "BAD REQUEST: Transfer-Encoding is not taken.")
    length = headers.get("content-length", "0")
    if not (length.isascii() and length.isdigit()) or len(length) > 12:
        raise _Refused(400, "BAD REQUEST: Syntax error. Content-Length is no number.")
    if int(length) > MAX_BODY:
        raise _Refused(413, "The body is too long.")
    connection = headers.get("connection", "").lower()
    try:
        target = urlsplit(words[1])
    except ValueError as error:
        raise _Refused(400, "BAD REQUEST: Syntax error. Usage: GET /example/file.html") from error
    return _Head(
        method=words[0],
        path=target.path,
        query=target.query,
        length=int(length),
        keep_alive="keep-alive" in connection if version != "HTTP/1.1" else "close" not in connection,
        expects_continue=headers.get("expect", "").lower() == "100-continue",
    )
