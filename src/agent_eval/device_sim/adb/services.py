"""Destination strings of adb's OPEN to streams: a table from the service's name to what opens it. Knows no packets.

AOSP packages/modules/adb, SERVICES.TXT and daemon/services.cpp. A destination that is not in the table, or that its
service refuses, is answered as a real adbd answers: the stream is closed before it was opened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from agent_eval.device_sim.adb import framebuffer, reverse, trackers
from agent_eval.device_sim.adb.seams import Link, PhoneSystem
from agent_eval.device_sim.adb.shell_streams import FramedShell, PlainShell
from agent_eval.device_sim.adb.sync import Room, SyncSession
from agent_eval.device_sim.streams import Progress, Stream, silent


@dataclass(frozen=True, slots=True)
class Request:
    """What a service is asked for."""

    options: tuple[str, ...]
    """What stands after commas in front of the colon."""
    argument: str
    """What stands after the first colon."""
    link: Link


class Services:
    """All services of one phone.

    Args:
        system: What runs on the phone.
    """

    def __init__(self, system: PhoneSystem) -> None:
        self.system = system
        self.room = Room()
        self.reversed = reverse.Listeners()
        self.watchers = trackers.Watchers(system)

    def open(self, destination: str, link: Link) -> Stream | None:
        """Open what a destination names; None refuses it.

        Args:
            destination: What the peer asked for, such as ``shell,v2,raw:ls``.
            link: The connection that asks.
        """
        head, _, argument = destination.partition(":")
        name, *options = head.split(",")
        opener = SERVICES.get(name)
        if opener is None or (options and name != "shell"):
            return None
        return opener(self, Request(tuple(options), argument, link))

    def now_ms(self) -> int:
        """Return the phone's virtual time."""
        return self.system.phone.clock.now_ms

    def forget(self, link: Link) -> None:
        """Know that a connection is gone, and with it what it had reversed."""
        self.reversed.forget(link)


# ----------------------------------------------------------------------------------------------------------------------
# streams that need no file of their own


class Saying:
    """A service that says one thing and is over.

    Args:
        data: What it says.
    """

    def __init__(self, data: bytes) -> None:
        self.notify: Callable[[], object] = silent
        self._data = data

    def receive(self, data: bytes) -> None:
        """Take no notice."""

    def end_of_input(self) -> None:
        """Take no notice."""

    def hang_up(self) -> None:
        """Say no more."""
        self._data = b""

    def poll(self) -> Progress:
        """Say it."""
        data, self._data = self._data, b""
        return Progress(data, over=True)


class SyncStream:
    """The sync service as a stream.

    Args:
        session: The run that answers.
    """

    def __init__(self, session: SyncSession) -> None:
        self.notify: Callable[[], object] = silent
        self._session = session

    def receive(self, data: bytes) -> None:
        """Pass requests on."""
        self._session.receive(data)

    def end_of_input(self) -> None:
        """Take no notice: whoever transfers files says QUIT."""

    def hang_up(self) -> None:
        """Drop what is under way."""
        self._session.hang_up()

    def poll(self) -> Progress:
        """Return the next part of the answers."""
        data = self._session.take()
        return Progress(data, over=self._session.over)


# ----------------------------------------------------------------------------------------------------------------------
# openers


def _shell(services: Services, request: Request) -> Stream:
    """A command line, or an interactive shell; `v2` frames its two outputs, `pty` gives it a terminal."""
    line = request.argument
    terminal = not line
    for option in request.options:
        if option in ("raw", "pty"):
            terminal = option == "pty"  # the last one counts; unknown options are ignored (shell_service.cpp)
    session = services.system.open_session(line, tty=terminal)
    now_ms = services.now_ms
    return FramedShell(session, now_ms) if "v2" in request.options else PlainShell(session, now_ms)


def _exec(services: Services, request: Request) -> Stream | None:
    """A command line whose input and output are bytes, without a terminal; its input ends when the peer closes."""
    if not request.argument:
        return None
    session = services.system.open_session(request.argument, tty=False)
    return PlainShell(session, services.now_ms, finishes_input=True)


def _sync(services: Services, request: Request) -> Stream | None:
    """File transfer."""
    if request.argument:
        return None
    return SyncStream(SyncSession(services.system.phone.files, services.room))


def _tcp(services: Services, request: Request) -> Stream | None:
    """A TCP port of the phone itself; refused when nobody listens. Other hosts are out of reach."""
    port = _port(request.argument)
    if port is None:
        return None
    listener = services.system.ports.get(port)
    return listener() if listener is not None else services.reversed.connect(f"tcp:{port}")


def _framebuffer(services: Services, request: Request) -> Stream | None:
    """What the screen shows, as raw pixels."""
    return None if request.argument else Saying(framebuffer.picture(services.system.phone))


def _reverse(services: Services, request: Request) -> Stream | None:
    """Ports of the phone that lead to the peer: `forward:`, `list-forward`, `killforward:`, `killforward-all`."""
    taken = services.system.ports
    answer = services.reversed.answer(request.argument, request.link, lambda port: port in taken)
    return None if answer is None else Saying(answer)


def _root(services: Services, _request: Request) -> Stream:
    """The shell stays the user `shell`: a phone that one buys is a production build, and does not know `su`."""
    if services.system.getprop("ro.debuggable") == "1":
        return Saying(b"restarting adbd as root\n")
    return Saying(b"adbd cannot run as root in production builds\n")


def _unroot(_services: Services, _request: Request) -> Stream:
    """There is no root to leave."""
    return Saying(b"adbd not running as root\n")


def _remount(_services: Services, _request: Request) -> Stream:
    """System partitions stay read-only."""
    return Saying(b'Not running as root. Try "adb root" first.\n')


def _verity(_services: Services, _request: Request) -> Stream:
    """Verified boot stays as it is."""
    return Saying(b"verity cannot be disabled/enabled - USER build\n")


def _tcpip(_services: Services, request: Request) -> Stream | None:
    """Says what adbd says; the phone listens where it was started."""
    port = _port(request.argument)
    if port is None:
        return Saying(b"invalid port\n")
    return Saying(f"restarting in TCP mode port: {port}\n".encode())


def _usb(_services: Services, _request: Request) -> Stream:
    """Says what adbd says; the phone goes on listening."""
    return Saying(b"restarting in USB mode\n")


def _reboot(_services: Services, request: Request) -> Stream:
    """Ends all connections and starts the phone anew, whatever the target; it listens again at once."""
    request.link.restart()
    return Saying(b"")


def _reconnect(_services: Services, request: Request) -> Stream:
    """Ends the connection; the peer may come again."""
    request.link.drop()
    return Saying(b"done")


def _jdwp(services: Services, request: Request) -> Stream | None:
    """Process ids of what can be debugged, one per line; attaching to one is refused."""
    return None if request.argument else Saying(trackers.debuggable_pids(services.system))


def _track_jdwp(services: Services, request: Request) -> Stream | None:
    """The same list, anew whenever it changes."""
    return None if request.argument else services.watchers.watch(trackers.debuggable_pids)


def _track_app(services: Services, request: Request) -> Stream | None:
    """Apps that can be debugged, as protocol buffers, anew whenever they change."""
    return None if request.argument else services.watchers.watch(trackers.debuggable_apps)


SERVICES: Mapping[str, Callable[[Services, Request], Stream | None]] = MappingProxyType({
    "shell": _shell,
    "exec": _exec,
    "sync": _sync,
    "tcp": _tcp,
    "framebuffer": _framebuffer,
    "reverse": _reverse,
    "root": _root,
    "unroot": _unroot,
    "remount": _remount,
    "disable-verity": _verity,
    "enable-verity": _verity,
    "tcpip": _tcpip,
    "usb": _usb,
    "reboot": _reboot,
    "reconnect": _reconnect,
    "jdwp": _jdwp,
    "track-jdwp": _track_jdwp,
    "track-app": _track_app,
})  # fmt: skip
"""Every service; ``abb``, ``localabstract``, ``dev``, ``vsock``, ``host`` and the like are absent and so refused."""


def service_table() -> str:
    """Return ``SERVICES`` as a Markdown table, for the README."""
    rows = [f"| `{name}` | {(opener.__doc__ or '').splitlines()[0]} |" for name, opener in SERVICES.items()]
    return "\n".join(["| service | what it is |", "|---|---|", *rows])


def _port(text: str) -> int | None:
    if not (text.isascii() and text.isdigit() and len(text) <= 5):
        return None
    return int(text) if 0 < int(text) < 65536 else None
