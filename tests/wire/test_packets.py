from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.device_sim.adb.packets import (
    HEADER,
    MAX_DATA,
    Command,
    LocalProtocolError,
    Packet,
    PacketReader,
    RemoteProtocolError,
    encode,
)

WORDS = st.integers(0, 0xFFFFFFFF)
PACKETS = st.builds(Packet, WORDS, WORDS, WORDS, st.binary(max_size=300))

TABLE = [
    (
        Packet(Command.CNXN, 0x01000001, 0x100000, b"host::"),
        "43 4e 58 4e 01 00 00 01 00 00 10 00 06 00 00 00 00 00 00 00 bc b1 a7 b1 68 6f 73 74 3a 3a",
    ),
    (Packet(Command.OKAY, 7, 9), "4f 4b 41 59 07 00 00 00 09 00 00 00 00 00 00 00 00 00 00 00 b0 b4 be a6"),
    (Packet(Command.CLSE, 0, 9), "43 4c 53 45 00 00 00 00 09 00 00 00 00 00 00 00 00 00 00 00 bc b3 ac ba"),
    (
        Packet(Command.WRTE, 1, 2, b"\xff\x01"),
        "57 52 54 45 01 00 00 00 02 00 00 00 02 00 00 00 00 00 00 00 a8 ad ab ba ff 01",
    ),
]


def read(data: bytes) -> list[Packet]:
    reader = PacketReader()
    reader.feed(data)
    return list(iter(reader.next, None))


@pytest.mark.parametrize(("packet", "written"), TABLE)
def test_a_packet_is_written_and_read_as_in_the_table(packet: Packet, written: str) -> None:
    assert encode(packet, checksum=False) == bytes.fromhex(written)
    assert read(bytes.fromhex(written)) == [packet]


def test_the_name_of_each_command_is_its_value() -> None:
    assert all(command.value.to_bytes(4, "little").decode() == command.name for command in Command)


def test_an_old_peer_gets_the_sum_of_the_bytes() -> None:
    written = encode(Packet(Command.WRTE, 1, 2, b"\xff\x01"), checksum=True)
    assert HEADER.unpack_from(written)[4] == 0x100


@pytest.mark.parametrize("split", range(sum(24 + len(packet.data) for packet, _ in TABLE) + 1))
def test_packets_may_be_split_at_every_byte(split: int) -> None:
    data = b"".join(bytes.fromhex(written) for _, written in TABLE)
    reader = PacketReader()
    found = []
    for part in (data[:split], data[split:]):
        reader.feed(part)
        found += list(iter(reader.next, None))
    assert found == [packet for packet, _ in TABLE]
    assert reader.pending == 0


@given(st.lists(PACKETS, max_size=6), st.data())
def test_what_is_written_is_read_however_it_is_cut(packets: list[Packet], data: st.DataObject) -> None:
    whole = b"".join(encode(packet, checksum=True) for packet in packets)
    reader = PacketReader()
    found: list[Packet] = []
    while whole:
        size = data.draw(st.integers(1, len(whole)))
        reader.feed(whole[:size])
        whole = whole[size:]
        found += list(iter(reader.next, None))
    assert [(p.command, p.arg0, p.arg1, p.data) for p in found] == [
        (p.command, p.arg0, p.arg1, p.data) for p in packets
    ]
    assert all(packet.checksum == packet.sum for packet in found)


def test_a_header_with_a_wrong_magic_is_the_peers_fault_each_time() -> None:
    reader = PacketReader()
    reader.feed(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
    for _ in range(2):
        with pytest.raises(RemoteProtocolError, match="magic"):
            reader.next()


def test_a_length_beyond_the_limit_is_refused_before_the_data_comes() -> None:
    reader = PacketReader()
    reader.feed(HEADER.pack(Command.WRTE, 1, 2, MAX_DATA + 1, 0, Command.WRTE ^ 0xFFFFFFFF))
    with pytest.raises(RemoteProtocolError, match=str(MAX_DATA + 1)):
        reader.next()


def test_too_much_data_in_one_packet_is_our_own_fault() -> None:
    with pytest.raises(LocalProtocolError):
        encode(Packet(Command.WRTE, 1, 2, bytes(MAX_DATA + 1)), checksum=False)


@given(st.binary(max_size=200))
def test_any_bytes_are_packets_or_the_peers_fault(data: bytes) -> None:
    try:
        found = read(data)
    except RemoteProtocolError:
        return
    assert sum(24 + len(packet.data) for packet in found) <= len(data)
