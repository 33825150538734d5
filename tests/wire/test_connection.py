from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agent_eval.device_sim.adb as package
from agent_eval.device_sim.adb.connection import (
    STREAM,
    Accepted,
    Closed,
    Connected,
    Connection,
    Drained,
    Event,
    Opened,
    Received,
    Signal,
    State,
    stream_table,
)
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
from agent_eval.device_sim.adb.services import service_table

HELLO = Packet(Command.CNXN, VERSION, MAX_DATA, b"host::features=shell_v2\x00")
OPEN = Packet(Command.OPEN, 5, 0, b"shell:ls\x00")


class Talk:
    """A connection and its peer, who sees what is sent to it."""

    def __init__(self, *first: Packet, most_streams: int = 8) -> None:
        self.connection = Connection("device::features=cmd", most_streams=most_streams)
        self.said: list[Packet] = []
        self._reader = PacketReader()
        for packet in first:
            self.hear(packet)
        self.said.clear()

    def hear(self, packet: Packet, *, checksum: bool = False) -> list[Event]:
        return self.hear_bytes(encode(packet, checksum=checksum))

    def hear_bytes(self, data: bytes) -> list[Event]:
        self.connection.receive(data)
        events: list[Event] = []
        while (event := self.connection.next_event()) is not None:
            events.append(event)
        self.listen()
        return events

    def listen(self) -> list[Packet]:
        self._reader.feed(self.connection.data_to_send())
        self.said += list(iter(self._reader.next, None))
        return self.said

    def answers(self) -> list[tuple[str, int, int, bytes]]:
        self.listen()
        said, self.said = self.said, []
        return [(Command(packet.command).name, packet.arg0, packet.arg1, packet.data) for packet in said]


@pytest.fixture
def talk() -> Talk:
    """A greeted connection with stream 1 of the phone, 5 of the peer, open."""
    made = Talk(HELLO, OPEN)
    made.connection.accept(1)
    made.answers()
    return made


def test_a_greeting_is_answered_with_the_banner_and_the_limits() -> None:
    talk = Talk()
    assert talk.hear(HELLO) == [Connected("host::features=shell_v2", VERSION, MAX_DATA)]
    assert talk.answers() == [("CNXN", VERSION, MAX_DATA, b"device::features=cmd")]


@pytest.mark.parametrize(
    ("version", "max_data", "spoken", "taken"),
    [
        (VERSION, MAX_DATA, VERSION, MAX_DATA),
        (0x01000000, 4096, 0x01000000, 4096),
        (0x02000000, 1 << 31, VERSION, MAX_DATA),
        (VERSION, 1, VERSION, 1),
    ],
)
def test_the_lower_version_and_the_smaller_packet_win(version: int, max_data: int, spoken: int, taken: int) -> None:
    hello = Packet(Command.CNXN, version, max_data, b"host::")
    assert Talk().hear(hello, checksum=True) == [Connected("host::", spoken, taken)]


def test_an_old_peer_gets_sums_and_a_new_one_gets_none() -> None:
    for version, expected in ((0x01000000, True), (VERSION, False)):
        talk = Talk()
        talk.hear(Packet(Command.CNXN, version, 4096, b"host::"), checksum=True)
        assert (talk.said[0].checksum == talk.said[0].sum) is expected


def test_an_old_peer_must_send_right_sums() -> None:
    talk = Talk()
    talk.hear(Packet(Command.CNXN, 0x01000000, 4096, b"host::"), checksum=True)
    with pytest.raises(RemoteProtocolError, match="sums"):
        talk.hear(OPEN, checksum=False)


def test_a_peer_that_takes_no_data_at_all_is_refused() -> None:
    with pytest.raises(RemoteProtocolError, match="0 bytes"):
        Talk().hear(Packet(Command.CNXN, VERSION, 0, b"host::"))


@pytest.mark.parametrize("command", sorted(set(Command) - {Command.CNXN}))
def test_nothing_counts_before_the_greeting(command: Command) -> None:
    talk = Talk()
    assert talk.hear(Packet(command, 5, 1, b"")) == []
    assert talk.answers() == []


def test_a_service_is_asked_for_and_granted() -> None:
    talk = Talk(HELLO)
    assert talk.hear(OPEN) == [Opened(1, "shell:ls")]
    talk.connection.accept(1)
    assert talk.answers() == [("OKAY", 1, 5, b"")]


def test_a_service_is_asked_for_and_refused() -> None:
    talk = Talk(HELLO, OPEN)
    talk.connection.refuse(1)
    assert talk.answers() == [("CLSE", 0, 5, b"")]
    assert talk.connection.streams == ()


@pytest.mark.parametrize("packet", [Packet(Command.OPEN, 0, 0, b"shell:"), Packet(Command.OPEN, 5, 99, b"shell:")])
def test_an_open_without_a_number_or_with_delayed_acknowledgement_opens_nothing(packet: Packet) -> None:
    talk = Talk(HELLO)
    assert talk.hear(packet) == []
    assert talk.answers() == ([("CLSE", 0, 5, b"")] if packet.arg0 else [])


def test_streams_beyond_the_limit_are_refused() -> None:
    talk = Talk(HELLO, most_streams=2)
    for number in (5, 6, 7):
        for event in talk.hear(Packet(Command.OPEN, number, 0, b"sync:")):
            assert isinstance(event, Opened)
            talk.connection.accept(event.stream)
    assert talk.answers() == [("OKAY", 1, 5, b""), ("OKAY", 2, 6, b""), ("CLSE", 0, 7, b"")]


def test_one_packet_is_under_way_at_a_time(talk: Talk) -> None:
    talk.connection.send(1, b"one")
    talk.connection.send(1, b"two")
    talk.connection.send(1, b"three")
    assert talk.answers() == [("WRTE", 1, 5, b"one")]
    assert talk.connection.backlog(1) == talk.connection.held == 8
    assert talk.hear(Packet(Command.OKAY, 5, 1)) == []
    assert talk.answers() == [("WRTE", 1, 5, b"twothree")]
    assert talk.hear(Packet(Command.OKAY, 5, 1)) == [Drained(1)]
    assert talk.answers() == []


def test_packets_are_no_larger_than_the_peer_takes() -> None:
    talk = Talk(Packet(Command.CNXN, VERSION, 4, b"host::"), OPEN)
    talk.connection.accept(1)
    talk.connection.send(1, b"123456789")
    for _ in range(2):
        talk.hear(Packet(Command.OKAY, 5, 1))
    assert [answer[3] for answer in talk.answers()] == [b"", b"1234", b"5678", b"9"]


def test_the_stream_is_closed_only_when_the_peer_has_taken_everything(talk: Talk) -> None:
    talk.connection.send(1, b"last")
    talk.connection.finish(1)
    assert talk.answers() == [("WRTE", 1, 5, b"last")]
    talk.hear(Packet(Command.OKAY, 5, 1))
    assert talk.answers() == [("CLSE", 1, 5, b"")]
    assert talk.hear(Packet(Command.CLSE, 5, 1)) == []
    assert talk.answers() == []


def test_a_stream_without_data_is_closed_at_once(talk: Talk) -> None:
    talk.connection.finish(1)
    assert talk.answers() == [("CLSE", 1, 5, b"")]


def test_a_close_of_the_peer_is_always_answered(talk: Talk) -> None:
    talk.connection.send(1, b"never taken")
    talk.answers()
    assert talk.hear(Packet(Command.CLSE, 5, 1)) == [Closed(1)]
    assert talk.answers() == [("CLSE", 1, 5, b"")]


def test_a_close_with_0_for_the_peers_number_closes_too(talk: Talk) -> None:
    assert talk.hear(Packet(Command.CLSE, 0, 1)) == [Closed(1)]


def test_data_is_acknowledged_when_this_side_says_so(talk: Talk) -> None:
    assert talk.hear(Packet(Command.WRTE, 5, 1, b"hi")) == [Received(1, b"hi")]
    assert talk.answers() == []
    talk.connection.acknowledge(1)
    talk.connection.acknowledge(1)
    assert talk.answers() == [("OKAY", 1, 5, b"")]


def test_a_peer_that_does_not_wait_for_okay_loses_the_stream(talk: Talk) -> None:
    talk.hear(Packet(Command.WRTE, 5, 1, b"hi"))
    assert talk.hear(Packet(Command.WRTE, 5, 1, b"again")) == [Closed(1)]
    assert talk.answers() == [("CLSE", 1, 5, b"")]


def test_data_that_crosses_the_end_is_acknowledged_and_dropped(talk: Talk) -> None:
    talk.connection.send(1, b"last")
    talk.connection.finish(1)
    talk.answers()
    assert talk.hear(Packet(Command.WRTE, 5, 1, b"\x04\x00\x00\x00\x00")) == []
    assert talk.answers() == [("OKAY", 1, 5, b"")]


def test_finishing_acknowledges_what_was_received(talk: Talk) -> None:
    talk.hear(Packet(Command.WRTE, 5, 1, b"bye"))
    talk.connection.finish(1)
    assert talk.answers() == [("OKAY", 1, 5, b""), ("CLSE", 1, 5, b"")]


STRANGE: list[tuple[str, Packet, list[tuple[str, int, int, bytes]]]] = [
    ("okay for an unknown stream is answered with its close", Packet(Command.OKAY, 8, 77), [("CLSE", 77, 8, b"")]),
    ("okay of another peer stream is ignored", Packet(Command.OKAY, 8, 1), []),
    ("okay that nobody waits for is ignored", Packet(Command.OKAY, 5, 1), []),
    ("okay with a zero is ignored", Packet(Command.OKAY, 0, 1), []),
    ("data for an unknown stream are ignored", Packet(Command.WRTE, 8, 77, b"x"), []),
    ("data of another peer stream are ignored", Packet(Command.WRTE, 8, 1, b"x"), []),
    ("close of an unknown stream is ignored", Packet(Command.CLSE, 8, 77), []),
    ("close of another peer stream is ignored", Packet(Command.CLSE, 8, 1), []),
    ("authentication is ignored", Packet(Command.AUTH, 2, 0, b"signature"), []),
    ("encryption is ignored", Packet(Command.STLS, 0x01000000, 0), []),
    ("an unknown command is ignored", Packet(0x21212121, 1, 1, b"?"), []),
]


@pytest.mark.parametrize(("packet", "answers"), [row[1:] for row in STRANGE], ids=[row[0] for row in STRANGE])
def test_a_strange_packet_is_treated_as_by_a_real_adbd(
    talk: Talk, packet: Packet, answers: list[tuple[str, int, int, bytes]]
) -> None:
    assert talk.hear(packet) == []
    assert talk.answers() == answers
    assert talk.connection.streams == (1,)


def test_a_second_greeting_ends_all_streams(talk: Talk) -> None:
    assert talk.hear(HELLO) == [Closed(1), Connected("host::features=shell_v2", VERSION, MAX_DATA)]
    assert talk.connection.streams == ()


def test_this_side_can_ask_the_peer_for_a_service(talk: Talk) -> None:
    number = talk.connection.open("tcp:7100")
    assert talk.answers() == [("OPEN", number, 0, b"tcp:7100\x00")]
    assert talk.hear(Packet(Command.OKAY, 9, number)) == [Accepted(number)]
    talk.connection.send(number, b"hi")
    assert talk.answers() == [("WRTE", number, 9, b"hi")]


@pytest.mark.parametrize("remote", [0, 9])
def test_the_peer_can_refuse_what_this_side_asks_for(talk: Talk, remote: int) -> None:
    number = talk.connection.open("tcp:7100")
    talk.answers()
    assert talk.hear(Packet(Command.CLSE, remote, number)) == [Closed(number)]
    assert talk.answers() == []


MISTAKES: list[Callable[[Connection], object]] = [
    lambda connection: connection.accept(1),
    lambda connection: connection.refuse(1),
    lambda connection: connection.accept(99),
    lambda connection: connection.send(99, b""),
    lambda connection: connection.finish(99),
    lambda _: Connection("device::").open("tcp:1"),
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_this_side_may_not_do_is_its_own_fault(talk: Talk, mistake: Callable[[Connection], object]) -> None:
    with pytest.raises(LocalProtocolError):
        mistake(talk.connection)


def test_nothing_is_sent_after_the_end(talk: Talk) -> None:
    talk.connection.send(1, b"last")
    talk.connection.finish(1)
    with pytest.raises(LocalProtocolError, match="ending"):
        talk.connection.send(1, b"more")
    with pytest.raises(LocalProtocolError, match="ending"):
        talk.connection.finish(1)


def test_every_state_can_be_reached_and_left_and_nothing_leaves_gone() -> None:
    assert {state for state, _ in STREAM} == set(State) - {State.GONE}
    assert {step.state for step in STREAM.values()} == set(State) - {State.ASKED, State.ASKING}
    assert {signal for _, signal in STREAM} == set(Signal)


def test_a_conversation_may_be_split_at_every_byte() -> None:
    packets = (HELLO, OPEN, Packet(Command.WRTE, 5, 1, b"data"), Packet(Command.CLSE, 5, 1))
    data = b"".join(encode(packet, checksum=False) for packet in packets)

    def events(*parts: bytes) -> list[Event]:
        connection = Connection("device::")
        found: list[Event] = []
        for part in parts:
            connection.receive(part)
            while (event := connection.next_event()) is not None:
                found.append(event)
                if isinstance(event, Opened):
                    connection.accept(event.stream)
        return found

    whole = events(data)
    assert [type(event) for event in whole] == [Connected, Opened, Received, Closed]
    assert all(events(data[:split], data[split:]) == whole for split in range(len(data)))


NUMBERS = st.sampled_from([0, 1, 2, 3, 5, 6, 0xFFFFFFFF])
ANYTHING = st.builds(
    Packet,
    st.sampled_from([*Command, Command.OPEN, Command.OKAY, Command.WRTE, Command.CLSE, 0x20202020]),
    NUMBERS,
    NUMBERS,
    st.sampled_from([b"", b"shell:\x00", b"\xff\xfe", b"x" * 50]),
)
OWN = st.sampled_from(["send", "finish", "acknowledge", "open", "refuse"])


@given(st.lists(st.one_of(ANYTHING, OWN), max_size=60))
def test_no_sequence_of_packets_breaks_the_rules_or_grows_without_bound(steps: list[Packet | str]) -> None:
    talk = Talk(Packet(Command.CNXN, VERSION, 16, b"host::"), most_streams=3)
    connection = talk.connection
    under_way: dict[int, int] = {}
    given_to, largest = 0, 16
    for step in steps:
        if isinstance(step, Packet):
            if step.command == Command.CNXN and step.arg1 == 0:
                continue
            known = connection.streams
            connection.receive(encode(step, checksum=True))
            while (event := connection.next_event()) is not None:
                if isinstance(event, Opened):
                    connection.accept(event.stream)
            if step.command == Command.OKAY and step.arg1 in known:
                under_way[step.arg1] = 0
            if step.command == Command.CNXN:
                under_way.clear()
                largest = min(step.arg1, MAX_DATA)
        elif step == "open":
            if len(connection.streams) < 3:
                connection.open("tcp:1")
        else:
            for number in connection.streams:
                try:
                    match step:
                        case "send":
                            connection.send(number, b"y" * 40)
                            given_to += 40
                        case "finish":
                            connection.finish(number)
                        case "refuse":
                            connection.refuse(number)
                        case _:
                            connection.acknowledge(number)
                except LocalProtocolError:
                    pass
        for packet in talk.listen():
            if packet.command == Command.WRTE:
                under_way[packet.arg0] = under_way.get(packet.arg0, 0) + 1
                assert under_way[packet.arg0] == 1, "two packets under way on one stream"
                assert len(packet.data) <= largest
        talk.said.clear()
        assert len(connection.streams) <= 3
        assert connection.held <= given_to


def test_the_tables_in_the_readme_are_those_of_the_code() -> None:
    assert package.__file__ is not None
    readme = (Path(package.__file__).parent / "README.md").read_text("utf-8")
    assert stream_table() in readme
    assert service_table() in readme
