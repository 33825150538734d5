"""What the adb services ask of the rest of the phone, and of the server that carries them. Holds no behaviour."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from agent_eval.device_sim.phone import Phone
from agent_eval.device_sim.streams import Stream


class Process(Protocol):
    """One process of the phone."""

    @property
    def pid(self) -> int: ...

    @property
    def name(self) -> str: ...

    @property
    def debuggable(self) -> bool:
        """Whether a debugger may attach to it."""
        ...


class Session(Protocol):
    """One command line, or one interactive shell."""

    notify: Callable[[], object]
    """Set by the transport; called when another session or process changed this one."""

    @property
    def code(self) -> int | None:
        """Exit status once it is over."""
        ...

    @property
    def wake_ms(self) -> int | None:
        """Virtual time at which it wants ``resume``."""
        ...

    def feed(self, data: bytes) -> None:
        """Take bytes for the standard input."""
        ...

    def close_input(self) -> None:
        """End the standard input."""
        ...

    def hang_up(self) -> None:
        """Take the terminal away."""
        ...

    def resize(self, rows: int, columns: int) -> None:
        """Tell the terminal's new size in characters."""
        ...

    def take(self) -> list[tuple[int, bytes]]:
        """Return new output: 1 for the standard output or 2 for the error output, and bytes."""
        ...

    def resume(self) -> None:
        """Go on: the time that it waited for has come."""
        ...


class PhoneSystem(Protocol):
    """What runs on the phone besides its screens."""

    @property
    def phone(self) -> Phone: ...

    @property
    def ports(self) -> Mapping[int, Callable[[], Stream]]:
        """Who listens on the phone's own TCP ports."""
        ...

    def open_session(self, line: str, *, tty: bool = False) -> Session:
        """Start a command line; an empty one is an interactive shell."""
        ...

    def processes(self) -> Sequence[Process]:
        """Return what runs."""
        ...

    @property
    def wake_ms(self) -> int | None:
        """Virtual time at which something that nobody waits for wants ``resume``, such as a job left in background."""
        ...

    def resume(self) -> None:
        """Let what was left in background go on."""
        ...

    on_restart: Callable[[], object]
    """Set by the transport; called when the phone was restarted, which ends all connections."""

    def restart(self) -> None:
        """Restart the phone: what runs ends with all that it had not saved."""
        ...

    def getprop(self, name: str) -> str:
        """Return a system property, empty when there is none."""
        ...


class Link(Protocol):
    """The connection that asked for a service, as far as a service may use it."""

    def dial(self, destination: str, stream: Stream) -> None:
        """Ask the peer for a service of its own, and connect a stream to it; a refusal hangs the stream up."""
        ...

    def drop(self) -> None:
        """End this connection once all is sent."""
        ...

    def restart(self) -> None:
        """Restart the phone, which ends all its connections; the port goes on listening."""
        ...
