from __future__ import annotations

import gc
import socket
import threading
from collections.abc import Iterator

import pytest

from agent_eval.device_sim.adb import AdbServer, RealTime, Serving, VirtualTime
from agent_eval.device_sim.adb.pace import FREE_JUMPS
from agent_eval.device_sim.adb.packets import VERSION, Command, Packet, encode
from agent_eval.errors import DeviceFault
from tests.wire.fakes import MINUTE_MS, EchoStream, FakeProcess, FakeSystem, Host


@pytest.fixture
def system() -> FakeSystem:
    return FakeSystem()


@pytest.fixture
def serving(system: FakeSystem) -> Iterator[Serving]:
    with Serving(AdbServer(system)) as made:
        yield made
    assert made.failures == []


@pytest.fixture
def host(serving: Serving) -> Iterator[Host]:
    with Host(serving.ports[0]) as made:
        yield made


def test_a_peer_is_greeted_with_the_banner(host: Host) -> None:
    assert host.banner.startswith(b"device::ro.product.name=sim;ro.product.model=Sim Phone;")


def test_commands_run_one_after_the_other(host: Host) -> None:
    assert host.run("shell:echo one") == b"one\n"
    assert host.run("shell,v2,raw:both").endswith(b"\x03\x01\x00\x00\x00\x03")
    assert host.open("nope:") is None


def test_data_flow_both_ways_through_a_port_of_the_phone(host: Host) -> None:
    stream = host.open("tcp:9008")
    assert stream is not None
    for word in (b"one", b"two"):
        host.send(Command.WRTE, *stream, word)
        answers = [((packet := host.packet()).command, packet.data) for _ in range(2)]
        assert answers == [(Command.OKAY, b""), (Command.WRTE, word.upper())]
        host.send(Command.OKAY, *stream)


def test_closing_a_stream_hangs_up_the_service_and_is_answered(host: Host, system: FakeSystem) -> None:
    stream = host.open("shell:forever")
    assert stream is not None
    host.send(Command.CLSE, *stream)
    answer = host.packet()
    assert (answer.command, answer.arg0, answer.arg1) == (Command.CLSE, stream[1], stream[0])
    assert system.sessions[0].hung_up


def test_a_socket_that_goes_hangs_up_its_services(serving: Serving, system: FakeSystem) -> None:
    with Host(serving.ports[0]) as host:
        host.open("shell:forever")
    with Host(serving.ports[0]) as host:
        while serving.call(lambda: serving.servers[0].connections) > 1:
            host.run("shell:echo")
    assert system.sessions[0].hung_up


def test_large_output_arrives_whole_in_packets_that_the_peer_takes(serving: Serving) -> None:
    with Host(serving.ports[0], max_data=4096, version=0x01000000) as host:
        said = host.run("exec:many 1000000")
    assert said == bytes(range(256)) * 3906


def test_a_peer_that_takes_nothing_is_told_no_more_while_others_go_on(serving: Serving) -> None:
    def greedy() -> EchoStream:
        stream = EchoStream()
        stream.receive(b"x" * 300_000)
        return stream

    serving.call(lambda: serving.servers[0].system.ports.update({7000: greedy}))  # type: ignore[attr-defined]
    with Host(serving.ports[0], max_data=4096) as lazy, Host(serving.ports[0]) as other:
        stream = lazy.open("tcp:7000")
        assert stream is not None
        assert lazy.packet().command == Command.WRTE
        for _ in range(3):
            lazy.send(Command.WRTE, *stream, b"y" * 200_000)
        # the first is acknowledged only if there is room; the second without that ends the stream
        assert lazy.packet().command == Command.CLSE
        assert other.run("shell:echo hi") == b"hi\n"


def test_several_phones_answer_on_their_own_ports() -> None:
    systems = [FakeSystem(seed) for seed in (1, 2, 3)]
    for number, system in enumerate(systems):
        system.properties["ro.product.model"] = f"phone {number}"
    with Serving(*map(AdbServer, systems)) as serving:
        assert len(set(serving.ports)) == 3
        for number, port in enumerate(serving.ports):
            with Host(port) as host:
                assert f"model=phone {number};".encode() in host.banner


def test_virtual_time_jumps_to_what_a_command_waits_for(host: Host, system: FakeSystem) -> None:
    before = system.phone.clock.now_ms
    assert host.run("shell:sleep 3600000") == b"woke at 3600000\n"
    assert system.phone.clock.now_ms == before + 3_600_000


def test_who_waits_for_the_earlier_moment_is_served_first(host: Host) -> None:
    later = Packet(Command.OPEN, 11, 0, b"shell:sleep 9000\x00")
    earlier = Packet(Command.OPEN, 12, 0, b"shell:sleep 5000\x00")
    host.socket.sendall(encode(later, checksum=False) + encode(earlier, checksum=False))
    order: list[tuple[int, bytes]] = []
    while len(order) < 2:
        packet = host.packet()
        if packet.command == Command.WRTE:
            order.append((packet.arg1, packet.data))
            host.send(Command.OKAY, packet.arg1, packet.arg0)
    assert order == [(12, b"woke at 5000\n"), (11, b"woke at 9000\n")]


def test_a_command_that_never_ends_does_not_race_through_virtual_time(host: Host, system: FakeSystem) -> None:
    start = system.phone.clock.now_ms
    stream = host.open("shell:tick")
    assert stream is not None
    said = b""
    while len(said) < FREE_JUMPS * len(b"tick\n"):
        said += host.read(stream) or b""
    assert said == b"tick\n" * FREE_JUMPS
    host.socket.settimeout(0.2)
    with pytest.raises(TimeoutError):
        host.packet()
    assert system.phone.clock.now_ms == start + FREE_JUMPS * MINUTE_MS


def test_a_job_in_background_goes_on_when_time_has_passed_but_does_not_move_it(host: Host, system: FakeSystem) -> None:
    system.background_ms = system.phone.clock.now_ms + 1000
    host.run("shell:echo hi")
    assert system.resumed == 0
    host.run("shell:sleep 2000")
    assert system.resumed == 1


def test_in_real_time_a_swipe_takes_as_long_as_a_swipe(system: FakeSystem) -> None:
    class Wall:
        seconds = 0.0

        def __call__(self) -> float:
            self.seconds += 0.01  # every look at this clock takes 10 ms
            return self.seconds

    wall = Wall()
    with Serving(AdbServer(system, pace=RealTime(system.phone, wall))) as serving, Host(serving.ports[0]) as host:
        began = wall.seconds
        assert host.run("shell:swipe 300") == b"swiped\n"
        assert wall.seconds - began >= 0.3


def test_the_owner_acts_between_two_events_and_the_clients_notice(serving: Serving, system: FakeSystem) -> None:
    with Host(serving.ports[0]) as host:
        stream = host.open("track-jdwp")
        assert stream is not None
        assert host.read(stream) == b"00051234\n"
        serving.call(lambda: system.running.append(FakeProcess(77, "com.example.other", True)))
        assert host.read(stream) == b"00081234\n77\n"


def test_what_the_owner_asks_runs_on_the_phones_thread_and_returns(serving: Serving) -> None:
    names = serving.call(lambda: (threading.current_thread().name, serving.call(lambda: 42)))
    assert names == ("phones", 42)
    with pytest.raises(ZeroDivisionError):
        serving.call(lambda: 1 // 0)


def test_a_reboot_ends_all_connections_and_the_phone_answers_again(serving: Serving) -> None:
    with Host(serving.ports[0]) as host, Host(serving.ports[0]) as other:
        host.open("reboot:")
        assert host.hung_up()
        assert other.hung_up()
    with Host(serving.ports[0]) as host:
        assert host.run("shell:echo again") == b"again\n"


def test_reconnect_ends_only_its_own_connection(serving: Serving) -> None:
    with Host(serving.ports[0]) as host, Host(serving.ports[0]) as other:
        host.open("reconnect")
        assert host.hung_up()
        assert other.run("shell:echo here") == b"here\n"


def test_a_reversed_port_opens_a_stream_to_the_peer(host: Host) -> None:
    assert host.run("reverse:forward:tcp:8000;tcp:9000") == b"OKAY"
    host.send(Command.OPEN, 50, 0, b"tcp:8000\x00")
    packets = {packet.command: packet for packet in (host.packet(), host.packet())}
    near = (50, packets[Command.OKAY].arg0)
    assert packets[Command.OPEN].data == b"tcp:9000\x00"
    far = (60, packets[Command.OPEN].arg0)
    host.send(Command.OKAY, *far)
    host.send(Command.WRTE, *near, b"ping")
    packets = {packet.command: packet for packet in (host.packet(), host.packet())}
    assert packets[Command.WRTE].data == b"ping"
    assert packets[Command.WRTE].arg1 == 60
    host.send(Command.OKAY, *far)
    host.send(Command.CLSE, *far)
    closed = {(packet.command, packet.arg1) for packet in (host.packet(), host.packet())}
    assert closed == {(Command.CLSE, 60), (Command.CLSE, 50)}


def test_only_the_loopback_address_is_listened_on(system: FakeSystem) -> None:
    for host in ("0.0.0.0", "", "::", "localhost", "192.168.0.1"):  # noqa: S104 - what must be refused
        with pytest.raises(DeviceFault, match=r"127\.0\.0\.1"):
            AdbServer(system, host=host)


def test_a_taken_port_is_named(serving: Serving, system: FakeSystem) -> None:
    with pytest.raises(DeviceFault, match=str(serving.ports[0])), Serving(AdbServer(system, serving.ports[0])):
        pass


def test_connections_beyond_the_limit_are_hung_up_on(system: FakeSystem) -> None:
    with (
        Serving(AdbServer(system, most_connections=2)) as serving,
        Host(serving.ports[0]) as one,
        Host(serving.ports[0]),
        Host(serving.ports[0], greet=False) as third,
    ):
        assert third.hung_up()
        assert one.run("shell:echo fine") == b"fine\n"


def test_a_broken_service_costs_its_connection_and_is_reported(system: FakeSystem) -> None:
    with Serving(AdbServer(system)) as serving, Host(serving.ports[0]) as host, Host(serving.ports[0]) as other:
        host.send(Command.OPEN, 1, 0, b"shell:break\x00")
        assert host.hung_up()
        assert other.run("shell:echo alive") == b"alive\n"
    assert [type(failure) for failure in serving.failures] == [ZeroDivisionError]


def test_nothing_is_left_behind(system: FakeSystem) -> None:
    before = threading.active_count()
    for _ in range(3):
        with Serving(AdbServer(system)) as serving:
            hosts = [Host(serving.ports[0]) for _ in range(5)]
            late = socket.create_connection(("127.0.0.1", serving.ports[0]))
        for host in hosts:
            assert host.hung_up()
            host.socket.close()
        late.close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", serving.ports[0]))
    assert threading.active_count() == before
    gc.collect()


def test_small_packets_are_not_held_back_by_the_socket(serving: Serving) -> None:
    with Host(serving.ports[0]):
        (peer,) = serving.servers[0]._peers
        assert peer._socket is not None
        assert peer._socket.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_peer_of_the_first_version_is_served(serving: Serving) -> None:
    with Host(serving.ports[0], version=VERSION - 1, max_data=4096) as host:
        assert host.run("shell:echo old") == b"old\n"


def test_virtual_time_is_the_default(system: FakeSystem) -> None:
    assert isinstance(AdbServer(system).pace, VirtualTime)
