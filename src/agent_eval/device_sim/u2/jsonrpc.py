"""JSON-RPC 2.0 around the server's methods: the bytes of a request in, those of a response out. Knows no HTTP.

Codes and messages are those of jsonrpc4j, which the server uses: what is no request gets an answer, never a traceback.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, NoReturn

from agent_eval.device_sim.u2.rpc import Pending, Rpc, RpcError, RpcResult

PARSE_ERROR, INVALID_REQUEST = -32700, -32600
_NO_ID = object()


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request whose answer depends on what the screen will show."""

    id: Any
    pending: Pending


def begin(rpc: Rpc, body: bytes) -> bytes | Waiting:
    """Carry out one request, or the part of it before it waits; a notification is answered with nothing."""
    try:
        request = json.loads(body.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return _error(None, RpcError(PARSE_ERROR, "JSON parse error"))
    if isinstance(request, list):
        return _error(None, RpcError(INVALID_REQUEST, "invalid request", "batches are not taken"))
    if not isinstance(request, dict):
        return _error(None, RpcError(INVALID_REQUEST, "invalid request"))
    number = request.get("id", _NO_ID)
    method = request.get("method")
    if not isinstance(method, str) or not (number is _NO_ID or _can_be_id(number)):
        return _error(number if _can_be_id(number) else None, RpcError(INVALID_REQUEST, "invalid request"))
    if request.get("jsonrpc", "2.0") != "2.0":
        return _error(None if number is _NO_ID else number, RpcError(INVALID_REQUEST, "invalid request"))
    answer = rpc.begin(method, request.get("params"))
    if number is _NO_ID:
        return b""
    return Waiting(number, answer) if isinstance(answer, Pending) else _response(number, answer)


def settle(rpc: Rpc, waiting: Waiting) -> bytes | None:
    """Return the response to a request that waits, or None as long as there is none."""
    answer = rpc.settled(waiting.pending)
    return None if answer is None else _response(waiting.id, answer)


def _response(number: Any, answer: RpcResult | RpcError) -> bytes:
    if isinstance(answer, RpcError):
        return _error(number, answer)
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": answer.value}).encode("ascii")


def _error(number: Any, error: RpcError) -> bytes:
    described: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data:
        described["data"] = error.data
    return json.dumps({"jsonrpc": "2.0", "id": number, "error": described}).encode("ascii")


def _can_be_id(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or (isinstance(value, str | int) and not isinstance(value, bool))


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
