"""HTTP/1.1 for the page, without sockets: bytes to requests, responses to bytes. Knows nothing of what is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from types import MappingProxyType

MOST_HEAD, MOST_BODY = 16 * 1024, 64 * 1024
"""Bytes of a request line with headers, and of a body; a browser sends far less."""


@dataclass(frozen=True)
class Request:
    """One request."""

    method: str
    path: str
    """Before the question mark, as it was sent."""
    query: str
    headers: Mapping[str, str]
    """By name in lower case; of a repeated header, the last."""
    body: bytes = b""


@dataclass(frozen=True)
class Response:
    """One answer."""

    status: HTTPStatus
    body: bytes = b""
    kind: str = "text/plain; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def encode(self, *, keep: bool) -> bytes:
        """Return the bytes to send; ``keep`` says whether the connection stays open."""
        lines = [
            f"HTTP/1.1 {self.status.value} {self.status.phrase}",
            f"Content-Type: {self.kind}",
            f"Content-Length: {len(self.body)}",
            f"Connection: {'keep-alive' if keep else 'close'}",
            *(f"{name}: {value}" for name, value in self.headers.items()),
        ]
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + self.body


class BadRequest(ValueError):
    """The peer sent what is no request that this server reads; the connection is to be closed.

    Args:
        status: What to answer.
    """

    def __init__(self, status: HTTPStatus) -> None:
        super().__init__(status.phrase)
        self.status = status


class RequestReader:
    """Collects the bytes of one connection, in pieces of any size, to requests."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Request]:
        """Take bytes; return the requests that are complete.

        Raises:
            BadRequest: these bytes can never become a request.
        """
        self._buffer += data
        found = []
        while (request := self._next()) is not None:
            found.append(request)
        return found

    def _next(self) -> Request | None:
        end = self._buffer.find(b"\r\n\r\n", 0, MOST_HEAD + 4)
        if end < 0:
            if len(self._buffer) > MOST_HEAD:
                raise BadRequest(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            return None
        first, *lines = bytes(self._buffer[:end]).decode("latin-1").split("\r\n")
        method, target = _request_line(first)
        headers = dict(_header(line) for line in lines)
        length = _body_length(headers)
        if len(self._buffer) < end + 4 + length:
            return None
        body = bytes(self._buffer[end + 4 : end + 4 + length])
        del self._buffer[: end + 4 + length]
        path, _, query = target.partition("?")
        return Request(method, path, query, headers, body)


def _request_line(line: str) -> tuple[str, str]:
    parts = line.split(" ")
    if len(parts) != 3 or not parts[0].isalpha() or not parts[1].startswith("/"):
        raise BadRequest(HTTPStatus.BAD_REQUEST)
    if parts[2] not in ("HTTP/1.1", "HTTP/1.0"):
        raise BadRequest(HTTPStatus.HTTP_VERSION_NOT_SUPPORTED)
    return parts[0], parts[1]


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or not name or name != name.strip():
        raise BadRequest(HTTPStatus.BAD_REQUEST)
    return name.lower(), value.strip()


def _body_length(headers: Mapping[str, str]) -> int:
    if "transfer-encoding" in headers:
        raise BadRequest(HTTPStatus.NOT_IMPLEMENTED)
    text = headers.get("content-length", "0")
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise BadRequest(HTTPStatus.BAD_REQUEST)
    if int(text) > MOST_BODY:
        raise BadRequest(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    return int(text)
