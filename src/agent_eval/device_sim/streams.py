"""What every service of the phone is to a transport: bytes in, bytes out, and when to come back. Knows no socket.

A shell command, a file transfer, the uiautomator2 server behind ``tcp:9008``: each is a ``Stream``. The adb server
carries bytes between streams and sockets and never looks inside; the phone's clock decides when a stream wakes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Progress:
    """What a stream has to say after something happened to it."""

    data: bytes = b""
    """Bytes for the peer, in order."""
    over: bool = False
    """The stream will say nothing more."""
    wake_ms: int | None = None
    """Virtual time (``phone.clock.now_ms``) at which ``poll`` will have something new, None when only the peer or
    another stream can change that."""


class Stream(Protocol):
    """One open service of the phone."""

    notify: Callable[[], object]
    """Set by the transport; the stream calls it when something other than the calls below made progress possible, such
    as a process killed by another one. It may be called during any call and must not call back into the stream."""

    def receive(self, data: bytes) -> None:
        """Take bytes from the peer."""
        ...

    def end_of_input(self) -> None:
        """Know that the peer will send nothing more, but still listens."""
        ...

    def hang_up(self) -> None:
        """Know that the peer is gone; what the stream was doing ends, and nothing more is said."""
        ...

    def poll(self) -> Progress:
        """Return what is new since the last call."""
        ...


def silent() -> None:
    """Be the ``notify`` of a stream that nobody listens to."""
