"""Clients that keep the phone busy: it works for them in turns, and others are answered in between."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent_eval.device_sim import Phone
from agent_eval.device_sim.adb.packets import Command, Packet, encode
from agent_eval.device_sim.serve import ServedPhone
from agent_eval.types import PhoneSetup
from tests.wire.fakes import Host

START = "exec:CLASSPATH=/data/local/tmp/u2.jar app_process / com.wetest.uia2.Main -p 9008"


@pytest.fixture
def phone() -> Iterator[ServedPhone]:
    with ServedPhone(Phone(PhoneSetup(seed=1))) as made:
        yield made
    assert made.failures == ()


def first_of(host: Host) -> tuple[Command, int]:
    """Return what comes first: data of a stream, or its end."""
    while True:
        packet = host.packet()
        if packet.command in (Command.WRTE, Command.CLSE):
            return Command(packet.command), packet.arg1


def opened(number: int, destination: str) -> bytes:
    return encode(Packet(Command.OPEN, number, 0, destination.encode() + b"\0"), checksum=False)


def written(number: int, data: bytes) -> bytes:
    return encode(Packet(Command.WRTE, number, number, data), checksum=False)


@pytest.mark.parametrize(
    "line",
    [
        "while :; do :; done",
        "while echo > /sdcard/f; do :; done",
        "for i in 1 2 3 4 5; do screencap -p /sdcard/p.png; done",
        "for i in $(seq 200); do dumpsys activity > /dev/null; done",
    ],
)
def test_a_line_is_answered_while_another_one_keeps_the_phone_busy(phone: ServedPhone, line: str) -> None:
    with Host(phone.port) as host:
        host.socket.sendall(opened(1, f"shell:{line}") + opened(2, "shell:echo quick"))
        assert first_of(host) == (Command.WRTE, 2)


def test_a_call_is_answered_while_another_connection_asks_for_two_hundred_pictures(phone: ServedPhone) -> None:
    with Host(phone.port) as host:
        server = host.open(START)
        assert server is not None
        host.read(server)
        pictures = written(2, b"GET /screenshot/0?scale=0.1 HTTP/1.1\r\n\r\n" * 200 + b"GET /x HTTP/1.0\r\n\r\n")
        ping = written(3, b"GET /ping HTTP/1.0\r\n\r\n")
        host.socket.sendall(opened(2, "tcp:9008") + opened(3, "tcp:9008") + pictures + ping)
        ended: list[int] = []
        while not ended:
            packet = host.packet()
            if packet.command == Command.WRTE:
                host.send(Command.OKAY, packet.arg1, packet.arg0)
            elif packet.command == Command.CLSE:
                ended.append(packet.arg1)
        assert ended == [3]


def test_what_was_left_busy_in_background_comes_to_its_end_by_itself(phone: ServedPhone) -> None:
    with Host(phone.port) as host:
        host.run("exec:(for i in $(seq 5000); do :; done; echo done > /sdcard/f) > /dev/null 2>&1 &")
        answers = (host.run("exec:cat /sdcard/f") for _ in range(1000))
        assert next((answer for answer in answers if answer == b"done\n"), b"") == b"done\n"


def test_a_thousand_streams_in_one_breath_are_answered_one_by_one(phone: ServedPhone) -> None:
    with Host(phone.port) as host, Host(phone.port) as other:
        opens = [f"exec:echo {number}".encode() + b"\0" for number in range(1, 1001)]
        for number, destination in enumerate(opens, start=1):
            host.send(Command.OPEN, number, 0, destination)
        assert other.run("exec:echo other") == b"other\n"
        ended = 0
        while ended < 1000:
            packet = host.packet()
            if packet.command == Command.WRTE:
                host.send(Command.OKAY, packet.arg1, packet.arg0)
            ended += packet.command == Command.CLSE


def test_more_services_than_the_phone_has_room_for_are_refused(phone: ServedPhone) -> None:
    hosts = [Host(phone.port) for _ in range(9)]
    opened = [host.open("sync:") for host in hosts for _ in range(500)]
    assert opened.count(None) == 9 * 500 - 4096
    for host in hosts:
        host.socket.close()
    with Host(phone.port) as late:
        while late.open("sync:") is None:
            pass  # the phone has not heard yet that the others are gone


def test_a_shell_that_nobody_reads_stops_until_somebody_does(phone: ServedPhone) -> None:
    with Host(phone.port) as deaf, Host(phone.port) as other:
        stream = deaf.open("exec:while cat /dev/zero; do echo x >> /data/local/tmp/rounds; done")
        assert stream is not None
        rounds = {other.run("exec:wc -l /data/local/tmp/rounds") for _ in range(30)}
        assert len(rounds) < 10
