"""Packets of the adb transport: bytes to packets and back. Knows no streams, no services and no socket.

A packet is a header of six little-endian 32-bit words (command, two arguments, length of the data, sum of the data's
bytes, command with all bits flipped) and its data: AOSP packages/modules/adb, protocol.txt and types.h.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

from agent_eval.errors import AgentEvalError

HEADER = struct.Struct("<6I")
MAX_DATA = 1024 * 1024
"""Most data in one packet (MAX_PAYLOAD in adb.h)."""
VERSION = 0x01000001
"""The version spoken here, from which on the sum of the bytes is neither sent nor checked (A_VERSION_SKIP_CHECKSUM)."""


class Command(IntEnum):
    """The commands of the protocol; each value is its name as four ASCII bytes."""

    SYNC = 0x434E5953
    CNXN = 0x4E584E43
    AUTH = 0x48545541
    OPEN = 0x4E45504F
    OKAY = 0x59414B4F
    CLSE = 0x45534C43
    WRTE = 0x45545257
    STLS = 0x534C5453


class ProtocolError(AgentEvalError):
    """Somebody broke the protocol; the subclasses say who."""


class LocalProtocolError(ProtocolError):
    """This side asked for something that the protocol does not allow: our own mistake."""


class RemoteProtocolError(ProtocolError):
    """The peer sent something that the protocol does not allow; its connection must be dropped."""


@dataclass(frozen=True, slots=True)
class Packet:
    """One packet."""

    command: int
    """One of ``Command``, or a number that nobody knows."""
    arg0: int
    arg1: int
    data: bytes = b""
    checksum: int = 0
    """Sum of the data's bytes as the peer stated it; not part of what is sent."""

    @property
    def sum(self) -> int:
        """The sum of the data's bytes."""
        return sum(self.data) & 0xFFFFFFFF


def encode(packet: Packet, *, checksum: bool) -> bytes:
    """Return a packet as bytes.

    Args:
        packet: What to send.
        checksum: Whether the peer is so old that it wants the sum of the data's bytes.

    Raises:
        LocalProtocolError: more data than a packet holds.
    """
    if len(packet.data) > MAX_DATA:
        raise LocalProtocolError(f"a packet with {len(packet.data)} bytes of data; expected at most {MAX_DATA}")
    total = packet.sum if checksum else 0
    flipped = packet.command ^ 0xFFFFFFFF
    return HEADER.pack(packet.command, packet.arg0, packet.arg1, len(packet.data), total, flipped) + packet.data


class PacketReader:
    """Cuts a stream of bytes into packets; holds at most one incomplete packet beside what it was last fed."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> None:
        """Take bytes as they come from the peer."""
        self._buffer += data

    @property
    def pending(self) -> int:
        """Bytes that are not yet part of a packet returned by ``next``."""
        return len(self._buffer)

    def next(self) -> Packet | None:
        """Return the next complete packet, or None while there is none.

        Raises:
            RemoteProtocolError: the header is not one, or announces too much data; it is raised again on each call.
        """
        if len(self._buffer) < HEADER.size:
            return None
        command, arg0, arg1, length, checksum, flipped = HEADER.unpack_from(self._buffer)
        if command ^ flipped != 0xFFFFFFFF:
            raise RemoteProtocolError(f"a header with command {command:#010x} and magic {flipped:#010x}, not its flip")
        if length > MAX_DATA:
            raise RemoteProtocolError(f"a packet that announces {length} bytes; expected at most {MAX_DATA}")
        end = HEADER.size + length
        if len(self._buffer) < end:
            return None
        data = bytes(memoryview(self._buffer)[HEADER.size : end])
        del self._buffer[:end]
        return Packet(command, arg0, arg1, data, checksum)
