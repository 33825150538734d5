"""Ports of the phone that lead to its peer (``adb reverse``): who listens, and the tunnels behind. Knows no packets.

AOSP packages/modules/adb, adb_listeners.cpp and adb.cpp (handle_forward_request), as they answer on a device. A
listener lives as long as the connection that asked for it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from agent_eval.device_sim.adb.seams import Link
from agent_eval.device_sim.streams import Progress, Stream, silent

_FREE_PORTS = range(40000, 60000)
"""Where a port is taken from when port 0 is asked for."""
_MOST_LISTENERS, _LONGEST = 256, 1024
"""Listeners of one phone, and characters of a request for one."""
_MOST_HELD = 32 * 1024 * 1024
"""Bytes that wait in a tunnel before it breaks: one side sends, and the other does not take."""
_KINDS = ("tcp", "localabstract", "localreserved", "localfilesystem", "local")


@dataclass(frozen=True, slots=True)
class _Listener:
    destination: str
    link: Link


class End:
    """One end of a tunnel: what the other end receives, this one says."""

    def __init__(self) -> None:
        self.notify: Callable[[], object] = silent
        self.other: End | None = None
        self._parts: deque[bytes] = deque()
        self._held = 0
        self._over = False

    def receive(self, data: bytes) -> None:
        """Pass bytes to the other end."""
        other = self.other
        if other is None:
            return
        if other._held + len(data) > _MOST_HELD:
            self._over = True
            self.hang_up()
            self.notify()
            return
        other._parts.append(data)
        other._held += len(data)
        other.notify()

    def end_of_input(self) -> None:
        """Take no notice: adb closes both directions at once."""

    def hang_up(self) -> None:
        """End the tunnel; what was sent before still comes out at the other end."""
        other, self.other = self.other, None
        self._parts.clear()
        if other is not None:
            other.other = None
            other._over = True
            other.notify()

    def poll(self) -> Progress:
        """Return what came through."""
        data = b"".join(self._parts)
        self._parts.clear()
        self._held = 0
        return Progress(data, over=self._over)


class Listeners:
    """All reversed ports of one phone."""

    def __init__(self) -> None:
        self._listeners: dict[str, _Listener] = {}

    def answer(self, request: str, link: Link, in_use: Callable[[int], bool]) -> bytes | None:
        """Do what is asked and return the answer; None when it is no request.

        Args:
            request: What stands behind ``reverse:``, such as ``forward:tcp:8000;tcp:9000``.
            link: The connection that asks.
            in_use: Tells whether somebody else listens on a TCP port of the phone.
        """
        verb, _, rest = request.partition(":")
        match verb:
            case "list-forward":
                lines = "".join(f"host {name} {known.destination}\n" for name, known in self._listeners.items())
                return _text(lines)
            case "killforward-all":
                self._listeners.clear()
                return b"OKAY"
            case "killforward":
                if self._listeners.pop(rest, None) is None:
                    return _failure(f"listener '{rest}' not found")
                return b"OKAY"
            case "forward":
                return self._forward(rest, link, in_use)
        return None

    def _forward(self, rest: str, link: Link, in_use: Callable[[int], bool]) -> bytes:
        kept = rest.startswith("norebind:")
        name, semicolon, destination = rest.removeprefix("norebind:").partition(";")
        if not semicolon or not destination or name.partition(":")[0] not in _KINDS or len(rest) > _LONGEST:
            return _failure(f"bad forward: {rest[:_LONGEST]}")
        if kept and name in self._listeners:
            return _failure(f"cannot rebind existing socket {name}")
        if name not in self._listeners and len(self._listeners) >= _MOST_LISTENERS:
            return _failure("cannot bind listener: Too many open files")
        resolved = ""
        if name.startswith("tcp:"):
            port = name[4:]
            if not (port.isascii() and port.isdigit() and len(port) <= 5 and int(port) < 65536):
                return _failure(f"cannot bind listener: bad port number '{port}'")
            if in_use(int(port)):
                return _failure("cannot bind listener: Address already in use")
            if int(port) == 0:
                free = next(port for port in _FREE_PORTS if f"tcp:{port}" not in self._listeners and not in_use(port))
                name, resolved = f"tcp:{free}", str(free)
        self._listeners[name] = _Listener(destination, link)
        return b"OKAY" + (_text(resolved) if resolved else b"")

    def connect(self, name: str) -> Stream | None:
        """Return the phone's end of a new tunnel, or None when nobody listens there."""
        listener = self._listeners.get(name)
        if listener is None:
            return None
        near, far = End(), End()
        near.other, far.other = far, near
        listener.link.dial(listener.destination, far)
        return near

    def forget(self, link: Link) -> None:
        """Drop what a connection had asked for."""
        self._listeners = {name: known for name, known in self._listeners.items() if known.link is not link}


def _text(text: str) -> bytes:
    return f"{len(text):04x}{text}".encode()


def _failure(text: str) -> bytes:
    return b"FAIL" + _text(text)
