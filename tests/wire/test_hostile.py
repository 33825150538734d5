"""Peers that break the rules: the phone survives, others do not notice, and nothing grows without bound."""

from __future__ import annotations

import gc
import random
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_eval.device_sim.adb import AdbServer, Serving
from agent_eval.device_sim.adb.packets import HEADER, MAX_DATA, VERSION, Command, Packet, encode
from tests.wire.fakes import FakeSystem, Host, sync_request


@pytest.fixture
def serving() -> Iterator[Serving]:
    with Serving(AdbServer(FakeSystem())) as made:
        yield made
        with Host(made.ports[0]) as host:
            assert host.run("shell:echo alive") == b"alive\n"
    assert made.failures == []


HELLO = encode(Packet(Command.CNXN, VERSION, MAX_DATA, b"host::"), checksum=True)
GARBAGE = [
    ("text", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("zeros", bytes(100)),
    ("a wrong magic", HEADER.pack(Command.CNXN, VERSION, MAX_DATA, 0, 0, 0)),
    ("an oversized length", HEADER.pack(Command.CNXN, VERSION, MAX_DATA, 1 << 31, 0, Command.CNXN ^ 0xFFFFFFFF)),
    ("an oversized length later", HELLO + HEADER.pack(Command.WRTE, 1, 1, MAX_DATA + 1, 0, Command.WRTE ^ 0xFFFFFFFF)),
    ("a wrong sum", HEADER.pack(Command.CNXN, 0x01000000, 4096, 2, 1, Command.CNXN ^ 0xFFFFFFFF) + b"xx"),
]


@pytest.mark.parametrize("data", [row[1] for row in GARBAGE], ids=[row[0] for row in GARBAGE])
def test_what_is_not_adb_is_hung_up_on(serving: Serving, data: bytes) -> None:
    with Host(serving.ports[0], greet=False) as host:
        host.socket.sendall(data)
        assert host.hung_up()


def test_a_hundred_random_conversations_leave_the_phone_alive(serving: Serving) -> None:
    draw = random.Random(3)
    destinations = [b"shell:cat\0", b"sync:\0", b"tcp:9008\0", b"reverse:forward:tcp:1;tcp:2\0", b"tcp:1\0", b"",
                    b"track-app\0", b"shell,v2:sleep 50\0", b"exec:many 512\0", b"\xff\xfe", b"jdwp\0"]  # fmt: skip
    for _ in range(100):
        with Host(serving.ports[0], greet=False) as host:
            parts = [HELLO] if draw.random() < 0.9 else []
            for _ in range(10):
                command = draw.choice([*Command, Command.OPEN, Command.WRTE, draw.getrandbits(32)])
                numbers = (draw.choice((0, 1, 2, 3, draw.getrandbits(32))), draw.choice((0, 1, 2, 3)))
                data = draw.choice(destinations) if command == Command.OPEN else draw.randbytes(draw.randrange(60))
                parts.append(encode(Packet(command, *numbers, data), checksum=draw.random() < 0.5))
            whole = b"".join(parts)
            try:
                host.socket.sendall(whole[: draw.randrange(len(whole))])
                if draw.random() < 0.3:
                    host.socket.sendall(draw.randbytes(40))
            except ConnectionError:
                pass  # hung up on meanwhile


def test_two_hundred_connections_are_served_at_once_and_leave_nothing_open(serving: Serving) -> None:
    with Host(serving.ports[0]) as other:
        other.run("shell:echo warm")
        gc.collect()
        before = len(list(Path("/proc/self/fd").iterdir())), threading.active_count()
        hosts = [Host(serving.ports[0]) for _ in range(200)]
        streams = [host.open("tcp:9008") for host in hosts]
        assert all(streams)
        assert serving.call(lambda: serving.servers[0].connections) == 201
        for number, host in enumerate(hosts):
            assert host.run(f"shell:echo {number}") == f"{number}\n".encode()
        for host in hosts:
            host.socket.close()
        while serving.call(lambda: serving.servers[0].connections) > 1:
            other.run("shell:echo")
        assert (len(list(Path("/proc/self/fd").iterdir())), threading.active_count()) == before


def test_half_open_peers_are_hung_up_on_after_a_while_and_others_are_not() -> None:
    with Serving(AdbServer(FakeSystem(), patience_s=0.1)) as serving, Host(serving.ports[0]) as fine:
        with Host(serving.ports[0], greet=False) as silent:
            assert silent.hung_up()
        with Host(serving.ports[0]) as slow:
            slow.socket.sendall(HEADER.pack(Command.OPEN, 1, 0, 100, 0, Command.OPEN ^ 0xFFFFFFFF) + b"shell:")
            assert slow.hung_up()
        assert fine.run("shell:echo patient") == b"patient\n"
    assert serving.failures == []


def test_a_peer_that_asks_and_never_reads_is_hung_up_on_while_others_are_served() -> None:
    system = FakeSystem()
    with Serving(AdbServer(system, patience_s=0.3)) as serving, Host(serving.ports[0]) as fine:
        with Host(serving.ports[0]) as deaf:
            flood = HELLO * 1_000_000  # the answer to a greeting is several times as long as the greeting
            with pytest.raises(OSError):  # noqa: PT011 - reset or broken pipe, as the race has it
                deaf.socket.sendall(flood)
        assert fine.run("shell:echo served") == b"served\n"
    assert serving.failures == []


def test_a_peer_that_opens_more_streams_than_allowed_is_refused_the_rest(serving: Serving) -> None:
    with Host(serving.ports[0]) as host:
        answers = [host.open("shell:forever") for _ in range(600)]
        assert answers.count(None) == 600 - 512
    with Host(serving.ports[0]) as host:
        assert host.run("shell:echo fine") == b"fine\n"


def test_a_file_sent_to_a_path_that_climbs_out_lands_on_the_phone(serving: Serving, tmp_path: Path) -> None:
    target = tmp_path / "owned"
    path = f"/sdcard/../../../../../..{target},33188".encode()
    with Host(serving.ports[0]) as host:
        stream = host.open("sync:")
        assert stream is not None
        host.send(Command.WRTE, *stream, sync_request(b"SEND", path) + b"DATA\x01\0\0\0xDONE\0\0\0\0")
        assert host.packet().command == Command.OKAY
        assert host.packet().data == b"OKAY\0\0\0\0"
    assert not target.exists()
