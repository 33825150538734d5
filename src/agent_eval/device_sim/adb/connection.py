"""The phone's side of one adb connection: bytes in, events out, answers to send. Knows no service and no socket.

Two tables say all of it: ``TRANSPORT`` what a packet means before and after the greeting, ``STREAM`` how one stream
goes from being asked for to being gone. What a real adbd does with strange packets is read from ``handle_packet`` in
AOSP packages/modules/adb/adb.cpp.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Literal, NamedTuple

from agent_eval.device_sim.adb.packets import (
    MAX_DATA,
    VERSION,
    Command,
    LocalProtocolError,
    Packet,
    PacketReader,
    RemoteProtocolError,
    encode,
)

MOST_STREAMS = 512
"""Streams that one connection may have open; a real adbd ends at its file descriptors."""

# ----------------------------------------------------------------------------------------------------------------------
# events


@dataclass(frozen=True, slots=True)
class Connected:
    """The peer introduced itself; streams of an earlier greeting were ``Closed`` before."""

    banner: str
    version: int
    max_data: int
    """Most data per packet in either direction."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The peer asks for a service; answer with ``accept`` or ``refuse``."""

    stream: int
    destination: str


@dataclass(frozen=True, slots=True)
class Accepted:
    """The peer accepted what ``open`` asked for."""

    stream: int


@dataclass(frozen=True, slots=True)
class Received:
    """The peer sent data; answer with ``acknowledge`` when there is room for more."""

    stream: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Drained:
    """Everything given to ``send`` has reached the peer."""

    stream: int


@dataclass(frozen=True, slots=True)
class Closed:
    """The stream is gone: the peer closed it, refused it, broke its rules, or introduced itself anew."""

    stream: int


Event = Connected | Opened | Accepted | Received | Drained | Closed

# ----------------------------------------------------------------------------------------------------------------------
# the tables


class Transport(Enum):
    """What a connection is."""

    NEW = "new"
    ONLINE = "online"


Handling = Literal["greet", "open", "okay", "close", "write"]

TRANSPORT: Mapping[tuple[Transport, Command], Handling] = MappingProxyType({
    (Transport.NEW, Command.CNXN): "greet",
    (Transport.ONLINE, Command.CNXN): "greet",
    (Transport.ONLINE, Command.OPEN): "open",
    (Transport.ONLINE, Command.OKAY): "okay",
    (Transport.ONLINE, Command.CLSE): "close",
    (Transport.ONLINE, Command.WRTE): "write",
})  # fmt: skip
"""What is done with a packet; one that is not here is ignored, as adbd does (AUTH and STLS answer what nobody sent)."""


class State(Enum):
    """What one stream is."""

    ASKED = "asked"
    """The peer asked for it and waits for the answer."""
    ASKING = "asking"
    """This side asked for it and waits for the answer."""
    IDLE = "idle"
    BUSY = "busy"
    """Data of this side is under way; nothing more may be sent until the peer says OKAY."""
    ENDING = "ending"
    """This side will close as soon as all is sent."""
    ENDING_BUSY = "ending, busy"
    GONE = "gone"


class Signal(Enum):
    """What can happen to a stream."""

    ACCEPT = "accept"
    REFUSE = "refuse"
    SEND = "data to send"
    FINISH = "finish"
    EMPTY = "all is sent"
    PEER_OKAY = "peer OKAY"
    PEER_WRITE = "peer WRTE"
    PEER_CLOSE = "peer CLSE"


class Answer(Enum):
    """What is sent on the way from one state to the next."""

    NOTHING = "-"
    OKAY = "OKAY"
    DATA = "WRTE"
    CLOSE = "CLSE"
    REFUSAL = "CLSE(0)"


class Step(NamedTuple):
    """Where a signal leads."""

    state: State
    answer: Answer = Answer.NOTHING


STREAM: Mapping[tuple[State, Signal], Step] = MappingProxyType({
    (State.ASKED, Signal.ACCEPT): Step(State.IDLE, Answer.OKAY),
    (State.ASKED, Signal.REFUSE): Step(State.GONE, Answer.REFUSAL),
    (State.ASKING, Signal.PEER_OKAY): Step(State.IDLE),
    (State.ASKING, Signal.PEER_CLOSE): Step(State.GONE),
    (State.IDLE, Signal.SEND): Step(State.BUSY, Answer.DATA),
    (State.IDLE, Signal.FINISH): Step(State.ENDING),
    (State.IDLE, Signal.PEER_WRITE): Step(State.IDLE),
    (State.IDLE, Signal.PEER_CLOSE): Step(State.GONE, Answer.CLOSE),
    (State.BUSY, Signal.PEER_OKAY): Step(State.IDLE),
    (State.BUSY, Signal.FINISH): Step(State.ENDING_BUSY),
    (State.BUSY, Signal.PEER_WRITE): Step(State.BUSY),
    (State.BUSY, Signal.PEER_CLOSE): Step(State.GONE, Answer.CLOSE),
    (State.ENDING, Signal.SEND): Step(State.ENDING_BUSY, Answer.DATA),
    (State.ENDING, Signal.EMPTY): Step(State.GONE, Answer.CLOSE),
    (State.ENDING_BUSY, Signal.PEER_OKAY): Step(State.ENDING),
    (State.ENDING_BUSY, Signal.PEER_WRITE): Step(State.ENDING_BUSY, Answer.OKAY),
    (State.ENDING_BUSY, Signal.PEER_CLOSE): Step(State.GONE, Answer.CLOSE),
})  # fmt: skip
"""How a stream lives. What is not here is ignored from the peer, and a ``LocalProtocolError`` from this side."""

_PEER_SIGNALS = frozenset({Signal.PEER_OKAY, Signal.PEER_WRITE, Signal.PEER_CLOSE})


def stream_table() -> str:
    """Return ``STREAM`` as a Markdown table, for the README."""
    rows = [
        f"| {state.value} | {signal.value} | {step.answer.value} | {step.state.value} |"
        for (state, signal), step in STREAM.items()
    ]
    return "\n".join(["| state | what happens | answer | next state |", "|---|---|---|---|", *rows])


# ----------------------------------------------------------------------------------------------------------------------
# the machine


@dataclass(slots=True)
class _Stream:
    local: int
    remote: int
    state: State
    queue: bytearray = field(default_factory=bytearray)
    owes_okay: bool = False
    """The peer sent data that was not acknowledged yet."""


class Connection:
    """The phone's side of one connection.

    Args:
        banner: What the phone says of itself, such as ``device::ro.product.model=...;features=...``.
        most_streams: Streams that may be open at once; further ones are refused.
    """

    def __init__(self, banner: str, *, most_streams: int = MOST_STREAMS) -> None:
        self._banner = banner.encode()
        self._most_streams = most_streams
        self._reader = PacketReader()
        self._transport = Transport.NEW
        self._version = 0x01000000
        self._max_data = 4096  # MAX_PAYLOAD_V1, until the peer says what it takes
        self._streams: dict[int, _Stream] = {}
        self._numbers = itertools.count(1)
        self._events: deque[Event] = deque()
        self._to_send = bytearray()
        self.packets = 0
        """Packets taken so far."""

    # ------------------------------------------------------------------ bytes

    def receive(self, data: bytes) -> None:
        """Take bytes from the peer; what they mean is returned by ``next_event``."""
        self._reader.feed(data)

    def next_event(self) -> Event | None:
        """Return what happened next, or None when more bytes are needed.

        Raises:
            RemoteProtocolError: the peer does not speak adb, or not any more; drop the connection.
        """
        while not self._events:
            packet = self._reader.next()
            if packet is None:
                return None
            self.packets += 1
            self._take(packet)
        return self._events.popleft()

    def data_to_send(self) -> bytes:
        """Return the bytes for the peer that came together since the last call."""
        data = bytes(self._to_send)
        self._to_send.clear()
        return data

    # ------------------------------------------------------------------ what this side does

    @property
    def online(self) -> bool:
        """Whether the peer has introduced itself."""
        return self._transport is Transport.ONLINE

    @property
    def incomplete(self) -> bool:
        """Whether the peer has begun a packet and not ended it."""
        return self._reader.pending > 0

    @property
    def streams(self) -> tuple[int, ...]:
        """Streams that are asked for or open."""
        return tuple(self._streams)

    def accept(self, stream: int) -> None:
        """Grant what the peer asked for.

        Raises:
            LocalProtocolError: there is nothing to grant.
        """
        self._signal(self._known(stream), Signal.ACCEPT)

    def refuse(self, stream: int) -> None:
        """Refuse what the peer asked for.

        Raises:
            LocalProtocolError: there is nothing to refuse.
        """
        self._signal(self._known(stream), Signal.REFUSE)

    def open(self, destination: str) -> int:
        """Ask the peer for a service; ``Accepted`` or ``Closed`` follows.

        Raises:
            LocalProtocolError: the peer has not introduced itself.
        """
        if not self.online:
            raise LocalProtocolError(f"cannot ask for {destination!r} before the peer has introduced itself")
        stream = _Stream(next(self._numbers), 0, State.ASKING)
        self._streams[stream.local] = stream
        self._send(Command.OPEN, stream.local, 0, destination.encode() + b"\x00")
        return stream.local

    def send(self, stream: int, data: bytes) -> None:
        """Queue data for the peer, which is sent as fast as the peer acknowledges it.

        Raises:
            LocalProtocolError: the stream is not open.
        """
        known = self._known(stream)
        if known.state not in (State.IDLE, State.BUSY):
            raise LocalProtocolError(f"cannot send on stream {stream}, which is {known.state.value}")
        known.queue += data
        self._pump(known)

    def finish(self, stream: int) -> None:
        """Close a stream once all its data has reached the peer.

        Raises:
            LocalProtocolError: the stream is not open.
        """
        known = self._known(stream)
        if known.owes_okay:
            self.acknowledge(stream)
        self._signal(known, Signal.FINISH)
        self._pump(known)

    def acknowledge(self, stream: int) -> None:
        """Let the peer send more; does nothing when it already may, or when the stream is gone."""
        known = self._streams.get(stream)
        if known is not None and known.owes_okay:
            known.owes_okay = False
            self._send(Command.OKAY, known.local, known.remote)

    def backlog(self, stream: int) -> int:
        """Return how many bytes of a stream wait to be sent; none when it is gone."""
        known = self._streams.get(stream)
        return len(known.queue) if known else 0

    @property
    def held(self) -> int:
        """Bytes of all streams that wait to be sent."""
        return sum(len(stream.queue) for stream in self._streams.values())

    # ------------------------------------------------------------------ what the peer does

    def _take(self, packet: Packet) -> None:
        summed = self._version if packet.command != Command.CNXN else packet.arg0
        if summed < VERSION and packet.checksum != packet.sum:
            raise RemoteProtocolError(f"data that sums to {packet.sum}; the header says {packet.checksum}")
        try:
            handling = TRANSPORT.get((self._transport, Command(packet.command)))
        except ValueError:
            return  # adbd logs "what is this" and goes on
        match handling:
            case "greet":
                self._greet(packet)
            case "open":
                self._asked(packet)
            case "okay":
                self._okay(packet)
            case "close":
                found = self._streams.get(packet.arg1)
                # adbs of old close with 0 in place of their own number
                if found is not None and (packet.arg0 in (found.remote, 0) or found.state is State.ASKING):
                    self._signal(found, Signal.PEER_CLOSE)
            case "write":
                self._written(packet)
            case None:
                pass

    def _greet(self, packet: Packet) -> None:
        if packet.arg1 == 0:
            raise RemoteProtocolError("a peer that takes packets of 0 bytes; expected at least 1")
        for stream in self._streams.values():
            self._events.append(Closed(stream.local))
        self._streams.clear()
        self._transport = Transport.ONLINE
        self._version = min(packet.arg0, VERSION)
        self._max_data = min(packet.arg1, MAX_DATA)
        banner = packet.data.rstrip(b"\x00").decode(errors="replace")
        self._events.append(Connected(banner, self._version, self._max_data))
        self._send(Command.CNXN, VERSION, MAX_DATA, self._banner)

    def _asked(self, packet: Packet) -> None:
        if packet.arg0 == 0:
            return
        if packet.arg1 != 0 or len(self._streams) >= self._most_streams:
            # a second argument belongs to delayed acknowledgement, which was not offered
            self._send(Command.CLSE, 0, packet.arg0)
            return
        stream = _Stream(next(self._numbers), packet.arg0, State.ASKED)
        self._streams[stream.local] = stream
        self._events.append(Opened(stream.local, packet.data.rstrip(b"\x00").decode(errors="replace")))

    def _okay(self, packet: Packet) -> None:
        if packet.arg0 == 0 or packet.arg1 == 0:
            return
        stream = self._streams.get(packet.arg1)
        if stream is None:
            self._send(Command.CLSE, packet.arg1, packet.arg0)
        elif stream.state is State.ASKING:
            stream.remote = packet.arg0
            self._signal(stream, Signal.PEER_OKAY)
            self._events.append(Accepted(stream.local))
        elif stream.remote == packet.arg0:
            was_busy = stream.state in (State.BUSY, State.ENDING_BUSY)
            self._signal(stream, Signal.PEER_OKAY)
            self._pump(stream)
            if was_busy and stream.state is State.IDLE:
                self._events.append(Drained(stream.local))

    def _written(self, packet: Packet) -> None:
        stream = self._streams.get(packet.arg1)
        if stream is None or packet.arg0 == 0 or stream.remote != packet.arg0:
            return
        if stream.owes_okay:
            self._drop(stream)  # the peer did not wait: what it sends cannot be held without bound
            self._send(Command.CLSE, stream.local, stream.remote)
            return
        if stream.state in (State.IDLE, State.BUSY):
            stream.owes_okay = True
            self._events.append(Received(stream.local, packet.data))
        self._signal(stream, Signal.PEER_WRITE)

    # ------------------------------------------------------------------ steps

    def _known(self, stream: int) -> _Stream:
        known = self._streams.get(stream)
        if known is None:
            raise LocalProtocolError(f"no stream {stream}; there are {sorted(self._streams)}")
        return known

    def _signal(self, stream: _Stream, signal: Signal) -> None:
        step = STREAM.get((stream.state, signal))
        if step is None:
            if signal in _PEER_SIGNALS:
                return
            raise LocalProtocolError(f"cannot {signal.value} stream {stream.local}, which is {stream.state.value}")
        stream.state = step.state
        match step.answer:
            case Answer.OKAY:
                self._send(Command.OKAY, stream.local, stream.remote)
            case Answer.DATA:
                chunk = bytes(memoryview(stream.queue)[: self._max_data])
                del stream.queue[: self._max_data]
                self._send(Command.WRTE, stream.local, stream.remote, chunk)
            case Answer.CLOSE:
                self._send(Command.CLSE, stream.local, stream.remote)
            case Answer.REFUSAL:
                self._send(Command.CLSE, 0, stream.remote)
            case Answer.NOTHING:
                pass
        if step.state is State.GONE:
            if signal is Signal.PEER_CLOSE:
                self._drop(stream)
            else:
                self._streams.pop(stream.local, None)

    def _drop(self, stream: _Stream) -> None:
        stream.state = State.GONE
        self._streams.pop(stream.local, None)
        self._events.append(Closed(stream.local))

    def _pump(self, stream: _Stream) -> None:
        if stream.state in (State.IDLE, State.ENDING):
            if stream.queue:
                self._signal(stream, Signal.SEND)
            elif stream.state is State.ENDING:
                self._signal(stream, Signal.EMPTY)

    def _send(self, command: Command, arg0: int, arg1: int, data: bytes = b"") -> None:
        old = self._version < VERSION
        self._to_send += encode(Packet(command, arg0, arg1, data), checksum=old)
