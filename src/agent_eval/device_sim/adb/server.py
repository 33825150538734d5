"""An adbd on a TCP port of this machine: carries bytes between sockets, connections and services. Holds no protocol.

One asyncio loop owns the phone; whatever touches it runs there. The phone's clock, as its pace has it, decides when a
service that waits is asked again. Listens on 127.0.0.1 only.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from dataclasses import dataclass

from agent_eval.device_sim.adb.banner import banner
from agent_eval.device_sim.adb.connection import Accepted, Closed, Connected, Connection, Drained, Opened, Received
from agent_eval.device_sim.adb.pace import Pace, VirtualTime
from agent_eval.device_sim.adb.packets import RemoteProtocolError
from agent_eval.device_sim.adb.seams import PhoneSystem
from agent_eval.device_sim.adb.services import Services
from agent_eval.device_sim.streams import Progress, Stream, silent
from agent_eval.errors import DeviceFault

HOST = "127.0.0.1"
MOST_CONNECTIONS = 256
PATIENCE_S = 30.0
"""How long a peer may take to introduce itself, to end a packet that it began, and to read what was sent to it."""
_ACCEPT_AGAIN_S = 1.0
_BACKLOG = 256
"""Connections that may wait to be accepted."""
_ROOM = 256 * 1024
"""Bytes of one stream that wait for the peer before its service is asked for no more."""
_HIGH_WATER = 4 * 1024 * 1024
"""Bytes of one socket that wait for the peer before nothing more is read from it."""
_MOST_HELD = 256 * 1024 * 1024
"""Bytes of all streams that wait for their peers before further services are refused."""
_MOST_SERVICES = 4096
"""Services that may be open at once, of all peers together: each that waits is looked at whenever something happens."""
_CALLS_PER_TURN, _EVENTS_PER_TURN = 2, 256
"""How often a peer calls its services, and events of all kinds, before other peers get their turn."""


@dataclass(slots=True, eq=False)
class _Channel:
    """One open service and where it stands."""

    number: int
    stream: Stream
    open: bool = True
    """The peer accepted it; one that the phone dialled is not open at first."""
    wake_ms: int | None = None
    jumps: int = 0
    """How often time was moved for it since its peer last said something."""
    said_ms: int = 0
    """Virtual time of what it last did."""
    kept: Progress | None = None
    """What it said at ``said_ms`` and is held back until then."""
    scheduled: bool = False

    resting: bool = False
    """Its turn comes without anybody asking."""

    @property
    def due_ms(self) -> int | None:
        """The moment that it waits for."""
        return self.said_ms if self.kept is not None else self.wake_ms

    def rests(self, now_ms: int) -> bool:
        """Tell whether it has more to do at once, and only lets others have a turn."""
        return self.kept is None and self.wake_ms is not None and self.wake_ms <= now_ms


class _Peer(asyncio.Protocol):
    """One socket with its connection and its services.

    Args:
        server: Whom it belongs to.
    """

    def __init__(self, server: AdbServer) -> None:
        self._server = server
        self._connection = Connection(banner(server.system))
        self._channels: dict[int, _Channel] = {}
        self._socket: asyncio.Transport | None = None
        self._reading_stopped = False
        self._has_more = False
        """The peer said more than was acted on in its turn."""
        self._patience: asyncio.TimerHandle | None = None
        self._seen_packets = 0

    # ------------------------------------------------------------------ the socket

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take over a socket."""
        assert isinstance(transport, asyncio.Transport)
        self._server.admit(self)
        self._socket = transport
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        transport.set_write_buffer_limits(high=_HIGH_WATER)
        self._watch_patience()

    def data_received(self, data: bytes) -> None:
        """Act on bytes of the peer."""
        self._connection.receive(data)
        if not self._has_more:
            self._take_turn()

    def _take_turn(self) -> None:
        """Act on what the peer said, as far as one turn goes, and read no further before the rest is done."""
        if self._socket is None:
            return
        with self._server.happening():
            try:
                self._has_more = self._act()
            except RemoteProtocolError:
                self.abort()
                return
            self._flush()
            self._watch_patience()
        if self._has_more:
            asyncio.get_running_loop().call_soon(self._take_turn)
        self._read_or_not()

    def _read_or_not(self) -> None:
        if self._socket is None or self._socket.is_closing():
            return
        if self._reading_stopped or self._has_more:
            self._socket.pause_reading()
        else:
            self._socket.resume_reading()

    def pause_writing(self) -> None:
        """Read no more from a peer that does not read."""
        self._reading_stopped = True
        self._read_or_not()
        self._watch_patience()

    def resume_writing(self) -> None:
        """Go on with a peer that reads again."""
        assert self._socket is not None
        self._reading_stopped = False
        self._read_or_not()
        if not self._socket.is_closing():
            self._watch_patience()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - why it went does not matter
        """Hang up all services."""
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
        self._socket = None
        with self._server.happening():
            for channel in tuple(self._channels.values()):
                self._hang_up(channel)
            self._server.forget(self)

    @property
    def held(self) -> int:
        """Bytes that wait for the peer."""
        return self._connection.held

    @property
    def services(self) -> int:
        """Services that are open."""
        return len(self._channels)

    def abort(self) -> None:
        """Drop the connection at once."""
        if self._socket is not None:
            self._socket.abort()

    def _watch_patience(self) -> None:
        """Keep a timer while the peer owes something: its greeting, the end of a packet, or reading."""
        moved = self._connection.packets != self._seen_packets
        self._seen_packets = self._connection.packets
        owes = not self._connection.online or self._connection.incomplete or self._reading_stopped
        if self._patience is not None and (moved or not owes):
            self._patience.cancel()
            self._patience = None
        if owes and self._patience is None:
            self._patience = asyncio.get_running_loop().call_later(self._server.patience_s, self.abort)

    def _flush(self) -> None:
        if self._socket is not None and not self._socket.is_closing():
            data = self._connection.data_to_send()
            if data:
                self._socket.write(data)

    # ------------------------------------------------------------------ what services may ask for

    def dial(self, destination: str, stream: Stream) -> None:
        """Ask the peer for a service of its own and connect a stream to it."""
        if self._socket is None or not self._connection.online:
            stream.hang_up()
            return
        number = self._connection.open(destination)
        self._channels[number] = self._channel(number, stream, open=False)
        self._flush()

    def drop(self) -> None:
        """End this connection once all is sent."""
        asyncio.get_running_loop().call_soon(self.close)

    def restart(self) -> None:
        """Restart the phone once all is sent."""
        asyncio.get_running_loop().call_soon(self._server.restart)

    def close(self) -> None:
        """End this connection; what was written still goes out."""
        if self._socket is not None:
            self._flush()
            self._socket.close()

    # ------------------------------------------------------------------ services

    def _act(self) -> bool:
        """Act on events until there are none, or this turn is over; tell whether it is."""
        calls = 0
        for _ in range(_EVENTS_PER_TURN):
            if calls == _CALLS_PER_TURN:
                return True
            event = self._connection.next_event()
            if event is None:
                return False
            calls += isinstance(event, Opened | Received)
            match event:
                case Opened(number, destination):
                    self._open(number, destination)
                case Received(number, data):
                    self._received(self._channels[number], data)
                case Drained(number) if number in self._channels:
                    self._pump(self._channels[number])
                case Accepted(number):
                    self._channels[number].open = True
                    self._pump(self._channels[number])
                case Closed(number) if number in self._channels:
                    self._hang_up(self._channels[number])
                case Connected() | Closed() | Drained():
                    pass
        return True

    def _open(self, number: int, destination: str) -> None:
        before = self._server.now_ms
        stream = self._server.services.open(destination, self) if self._server.has_room else None
        if stream is None:
            self._connection.refuse(number)
            return
        self._connection.accept(number)
        channel = self._channel(number, stream, open=True)
        self._channels[number] = channel
        self._note_time(channel, before)
        self._pump(channel)

    def _channel(self, number: int, stream: Stream, *, open: bool) -> _Channel:
        channel = _Channel(number, stream, open)
        stream.notify = lambda: self._schedule(channel)
        return channel

    def _received(self, channel: _Channel, data: bytes) -> None:
        channel.jumps = 0
        before = self._server.now_ms
        channel.stream.receive(data)
        self._note_time(channel, before)
        if self._connection.backlog(channel.number) < _ROOM:
            self._connection.acknowledge(channel.number)  # before any answer, as adbd does
        self._pump(channel)

    def _note_time(self, channel: _Channel, before_ms: int) -> None:
        if self._server.now_ms > before_ms:
            channel.said_ms = self._server.now_ms

    def _schedule(self, channel: _Channel) -> None:
        if not channel.scheduled and channel.number in self._channels:
            channel.scheduled = True
            asyncio.get_running_loop().call_soon(self._notified, channel)

    def _notified(self, channel: _Channel) -> None:
        channel.scheduled = False
        with self._server.happening():
            self.pump(channel)

    def pump(self, channel: _Channel) -> None:
        """Carry what a service has to say, if it is still there; a service that fails takes the connection along."""
        if self._channels.get(channel.number) is not channel:
            return
        whole = False
        try:
            self._pump(channel)
            self._flush()
            whole = True
        finally:
            if not whole:
                self.abort()

    def _pump(self, channel: _Channel) -> None:
        number = channel.number
        while channel.open and self._connection.backlog(number) < _ROOM:
            progress = channel.kept
            if progress is None:
                before = self._server.now_ms
                progress = channel.stream.poll()
                self._note_time(channel, before)
                channel.wake_ms = progress.wake_ms
                if not progress.data and not progress.over:
                    break
            if self._server.pace.seconds_held(channel.said_ms) > 0:
                channel.kept = progress
                break
            channel.kept = None
            if progress.data:
                self._connection.send(number, progress.data)
            if progress.over:
                self._connection.finish(number)
                self._forget(channel)
                return
            if channel.rests(self._server.now_ms):
                break
        if self._connection.backlog(number) < _ROOM:
            self._connection.acknowledge(number)
            if channel.rests(self._server.now_ms):
                self._server.let_rest(self, channel)
            else:
                self._server.wait_for(self, channel)
        else:
            self._server.stop_waiting(channel)  # it goes on when the peer has taken what there is

    def _forget(self, channel: _Channel) -> None:
        channel.stream.notify = silent
        self._channels.pop(channel.number, None)
        self._server.stop_waiting(channel)

    def _hang_up(self, channel: _Channel) -> None:
        self._forget(channel)
        channel.stream.hang_up()


class _Happening:
    """Something that happens to the phone: brings it to the present before, and looks at who waits after."""

    def __init__(self, server: AdbServer) -> None:
        self._server = server

    def __enter__(self) -> None:
        self._server.arrive()

    def __exit__(self, *_: object) -> None:
        self._server.settle()


class AdbServer:
    """The adbd of one phone.

    Args:
        system: What runs on the phone.
        port: Where to listen; 0 takes a free one.
        pace: How the phone's time goes by; by default it is virtual.
        host: Must be the loopback address.
        most_connections: Connections at once; further ones are hung up on.
        patience_s: How long a peer may owe something before it is hung up on.

    Raises:
        DeviceFault: the host is not the loopback address.
    """

    def __init__(
        self,
        system: PhoneSystem,
        port: int = 0,
        *,
        pace: Pace | None = None,
        host: str = HOST,
        most_connections: int = MOST_CONNECTIONS,
        patience_s: float = PATIENCE_S,
    ) -> None:
        if host != HOST:
            raise DeviceFault(
                f"a simulated phone listens on {HOST} only, not on {host!r}",
                hint="adb has no password; forward the port over ssh to reach it from another machine",
            )
        self.system = system
        self.port = port
        self.pace: Pace = pace or VirtualTime(system.phone)
        self.services = Services(system)
        self.patience_s = patience_s
        self._most_connections = most_connections
        self._peers: set[_Peer] = set()
        self._waiting: dict[_Channel, _Peer] = {}
        self._resting: deque[tuple[_Channel, _Peer]] = deque()
        self._turn_comes = False
        self._is_behind = False
        """Something in background only lets others have a turn."""
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms: int | None = None
        """What the timer is set for."""
        self._listener: socket.socket | None = None
        self._arriving: set[asyncio.Task[object]] = set()
        """Sockets that were accepted and have no peer yet."""
        self._happening = _Happening(self)

    async def start(self) -> None:
        """Listen.

        Raises:
            DeviceFault: the port is taken.
        """
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((HOST, self.port))
            listener.listen(_BACKLOG)
        except (OSError, OverflowError) as problem:
            listener.close()
            raise DeviceFault(f"cannot listen on {HOST}:{self.port}: {problem}", hint="pass another port") from problem
        listener.setblocking(False)
        self._listener = listener
        self.port = listener.getsockname()[1]
        self.system.on_restart = self._restarted
        self.pace.rebase()
        asyncio.get_running_loop().add_reader(listener, self._accept)

    async def stop(self) -> None:
        """Hang up on everybody and listen no more."""
        if self._listener is None:
            return
        asyncio.get_running_loop().remove_reader(self._listener)
        self._listener.close()
        self._listener = None
        if self._arriving:
            await asyncio.wait(self._arriving)
        for peer in tuple(self._peers):
            peer.abort()
        while self._peers:
            await asyncio.sleep(0)
        self._stop_timer()

    def _accept(self) -> None:
        """Take in one peer who knocks, unless there are too many."""
        loop = asyncio.get_running_loop()
        assert self._listener is not None
        try:
            knocking, _ = self._listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError:
            # out of file descriptors: whoever knocks waits until some are free again
            loop.remove_reader(self._listener)
            loop.call_later(_ACCEPT_AGAIN_S, self._accept_again)
            return
        if len(self._peers) + len(self._arriving) >= self._most_connections:
            knocking.close()
            return
        knocking.setblocking(False)
        task = loop.create_task(loop.connect_accepted_socket(lambda: _Peer(self), knocking))
        self._arriving.add(task)
        task.add_done_callback(self._arriving.discard)

    def _accept_again(self) -> None:
        if self._listener is not None:
            asyncio.get_running_loop().add_reader(self._listener, self._accept)

    @property
    def connections(self) -> int:
        """Peers that are connected."""
        return len(self._peers)

    @property
    def has_room(self) -> bool:
        """Whether the peers take what they are sent and have not too many services, so that more may be opened."""
        if sum(peer.services for peer in self._peers) >= _MOST_SERVICES:
            return False
        return sum(peer.held for peer in self._peers) < _MOST_HELD

    @property
    def now_ms(self) -> int:
        """The phone's virtual time."""
        return self.system.phone.clock.now_ms

    def owner_acted(self) -> None:
        """Know that the phone's owner changed it past all clients, and perhaps set its clock."""
        self.pace.rebase()
        self._go_on_in_background()
        self.settle()

    def restart(self) -> None:
        """Restart the phone: what was not saved is gone, and all connections end."""
        self.system.restart()

    def _restarted(self) -> None:
        loop = asyncio.get_running_loop()
        for peer in tuple(self._peers):
            loop.call_soon(peer.close)  # the one that asked for it is still being served

    # ------------------------------------------------------------------ what peers tell

    def admit(self, peer: _Peer) -> None:
        """Know a peer."""
        self._peers.add(peer)

    def forget(self, peer: _Peer) -> None:
        """Let a peer go."""
        self._peers.discard(peer)
        self.services.forget(peer)

    def happening(self) -> _Happening:
        """Return the context in which something happens to the phone."""
        return self._happening

    def wait_for(self, peer: _Peer, channel: _Channel) -> None:
        """Come back to a service when it wants that."""
        if channel.due_ms is None:
            self._waiting.pop(channel, None)
        else:
            self._waiting[channel] = peer

    def stop_waiting(self, channel: _Channel) -> None:
        """Come back to a service no more."""
        self._waiting.pop(channel, None)

    # ------------------------------------------------------------------ turns

    def let_rest(self, peer: _Peer, channel: _Channel) -> None:
        """Come back to a service that has more to do once everything that has arrived has been acted on."""
        self._waiting.pop(channel, None)
        if not channel.resting:
            channel.resting = True
            self._resting.append((channel, peer))
            self._await_turn()

    def _await_turn(self) -> None:
        if not self._turn_comes:
            self._turn_comes = True
            asyncio.get_running_loop().call_soon(self._take_turn)

    def _take_turn(self) -> None:
        """Give what is in background and one service that rests a turn."""
        self._turn_comes = self._is_behind = False
        with self._happening:
            if self._resting:
                channel, peer = self._resting.popleft()
                channel.resting = False
                peer.pump(channel)
        if self._resting:
            self._await_turn()

    # ------------------------------------------------------------------ time

    def arrive(self) -> None:
        """Bring the phone to the present, and with it what was left in background; that alone never moves time."""
        self.pace.catch_up()
        self._go_on_in_background()

    def _go_on_in_background(self) -> None:
        if not self._is_behind and self._has_background_work():
            self.system.resume()
            self._is_behind = self._has_background_work()
            if self._is_behind:
                self._await_turn()

    def _has_background_work(self) -> bool:
        wake_ms = self.system.wake_ms
        return wake_ms is not None and wake_ms <= self.now_ms

    def settle(self) -> None:
        """Ask everybody who waits whether what happened is what they wait for, and set the timer."""
        for channel, peer in tuple(self._waiting.items()):
            if channel in self._waiting:
                peer.pump(channel)
        self.services.watchers.look()
        self._set_timer()

    def _set_timer(self) -> None:
        waits = [(channel.due_ms, channel.jumps) for channel in self._waiting if channel.due_ms is not None]
        if not waits:
            self._stop_timer()
            return
        due_ms = min(due for due, _ in waits)
        # whoever waits least says when, and time goes no further than to the first moment that anybody waits for
        loop = asyncio.get_running_loop()
        when = loop.time() + min(self.pace.seconds_until(due, jumps) for due, jumps in waits)
        if self._timer is not None and self._timer_ms == due_ms and self._timer.when() <= when:
            return
        self._stop_timer()
        self._timer_ms = due_ms
        # a timer, even of no time, comes after everything that has already arrived at the sockets
        self._timer = loop.call_at(when, self._reach, due_ms)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._timer_ms = None, None

    def _reach(self, due_ms: int) -> None:
        self._timer, self._timer_ms = None, None
        self.pace.reach(due_ms)
        self._go_on_in_background()
        for channel in self._waiting:
            if channel.due_ms is not None and channel.due_ms <= due_ms:
                channel.jumps += 1
        self.settle()
