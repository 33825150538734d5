from __future__ import annotations

import struct

import pytest

from agent_eval.device_sim.adb import reverse
from agent_eval.device_sim.adb.banner import FEATURES, banner
from agent_eval.device_sim.adb.services import Services
from agent_eval.device_sim.streams import Stream
from tests.wire.fakes import EchoStream, FakeProcess, FakeSystem, sync_request


class FakeLink:
    def __init__(self) -> None:
        self.dialled: list[tuple[str, Stream]] = []
        self.done: list[str] = []

    def dial(self, destination: str, stream: Stream) -> None:
        self.dialled.append((destination, stream))

    def drop(self) -> None:
        self.done.append("drop")

    def restart(self) -> None:
        self.done.append("restart")


@pytest.fixture
def system() -> FakeSystem:
    return FakeSystem()


@pytest.fixture
def services(system: FakeSystem) -> Services:
    return Services(system)


@pytest.fixture
def link() -> FakeLink:
    return FakeLink()


def opened(services: Services, destination: str, link: FakeLink | None = None) -> Stream:
    stream = services.open(destination, link or FakeLink())
    assert stream is not None, f"{destination} was refused"
    return stream


def all_of(stream: Stream) -> bytes:
    said = b""
    while True:
        progress = stream.poll()
        said += progress.data
        if progress.over or not progress.data:
            return said


def frame(kind: int, data: bytes) -> bytes:
    return struct.pack("<BI", kind, len(data)) + data


SAID = [
    ("shell:echo hi", b"hi\n"),
    ("shell:both", b"out\nerr\n"),
    ("shell:tty", b"pipe"),
    ("shell,v2,TERM=xterm,raw:both", frame(1, b"out\n") + frame(2, b"err\n") + frame(3, b"\x03")),
    ("shell,v2:tty", frame(1, b"pipe") + frame(3, b"\x00")),
    ("shell,v2,pty:tty", frame(1, b"tty") + frame(3, b"\x00")),
    ("shell,pty:tty", b"tty"),
    ("shell,v2,pty,raw:tty", frame(1, b"pipe") + frame(3, b"\x00")),
    ("shell,v2,unknown:nope", frame(2, b"/system/bin/sh: nope: inaccessible or not found\n") + frame(3, b"\x7f")),
    ("exec:many 512", bytes(range(256)) * 2),
    ("exec:tty", b"pipe"),
    ("root:", b"adbd cannot run as root in production builds\n"),
    ("unroot:", b"adbd not running as root\n"),
    ("remount:", b'Not running as root. Try "adb root" first.\n'),
    ("disable-verity:", b"verity cannot be disabled/enabled - USER build\n"),
    ("tcpip:5555", b"restarting in TCP mode port: 5555\n"),
    ("tcpip:x", b"invalid port\n"),
    ("usb:", b"restarting in USB mode\n"),
    ("jdwp", b"1234\n"),
]


@pytest.mark.parametrize(("destination", "said"), SAID)
def test_a_service_says_what_the_table_says_and_is_over(services: Services, destination: str, said: bytes) -> None:
    stream = opened(services, destination)
    heard = b""
    while not (progress := stream.poll()).over:
        heard += progress.data
    assert heard + progress.data == said


REFUSED = [
    "", ":", "nope", "nope:", "abb:settings\x00get", "abb_exec:package\x00install", "localabstract:x", "local:x",
    "localreserved:x", "localfilesystem:/x", "dev:/dev/null", "vsock:1", "host:version", "host:kill", "jdwp:1234",
    "exec:", "sync:x", "framebuffer:x", "tcp:", "tcp:x", "tcp:0", "tcp:65536", "tcp:-1", "tcp:\u00b2", "tcp:22",
    "tcp:80:10.0.0.1", "reverse:", "reverse:nope", "sync,v2:", "tcp,v2:9008", "track-jdwp:1", "track-app:x", "SHELL:ls",
]  # fmt: skip


@pytest.mark.parametrize("destination", REFUSED)
def test_what_the_phone_does_not_serve_is_refused(services: Services, link: FakeLink, destination: str) -> None:
    assert services.open(destination, link) is None
    assert link.dialled == []


def test_an_interactive_shell_has_a_terminal_unless_told_otherwise(services: Services, system: FakeSystem) -> None:
    stream = opened(services, "shell:")
    stream.receive(b"typed\n")
    assert stream.poll().data == b"typed\n"
    stream.hang_up()
    assert system.sessions[0].hung_up


def test_frames_of_the_client_reach_the_command(services: Services, system: FakeSystem) -> None:
    stream = opened(services, "shell,v2,raw:cat")
    stream.receive(frame(5, b"24x80,0x0"))
    stream.receive(frame(1, b"only a phone sends this") + frame(0, b"typed"))
    assert system.sessions[0].size == (24, 80)
    assert stream.poll().data == frame(1, b"typed")
    stream.receive(frame(4, b""))
    assert stream.poll().data == frame(3, b"\x00")


def test_a_close_of_the_input_after_the_exit_is_ignored(services: Services) -> None:
    stream = opened(services, "shell,v2,raw:echo hi")
    assert stream.poll().over
    stream.receive(frame(4, b""))


def test_the_input_of_exec_ends_when_its_peer_closes(services: Services, system: FakeSystem) -> None:
    stream = opened(services, "exec:cat")
    stream.receive(b"\x00\xff")
    assert stream.poll().data == b"\x00\xff"
    stream.hang_up()
    assert system.sessions[0].hung_up


def test_a_command_that_waits_says_until_when_and_goes_on_then(services: Services, system: FakeSystem) -> None:
    stream = opened(services, "shell,v2:sleep 5000")
    due = stream.poll().wake_ms
    assert due == system.phone.clock.now_ms + 5000
    assert stream.poll().data == b""
    system.phone.advance(5)
    last = stream.poll()
    assert last.over
    assert last.wake_ms is None
    assert last.data == frame(1, b"woke at 5000\n") + frame(3, b"\x00")


def test_a_shell_tells_its_transport_when_another_one_changed_it(services: Services, system: FakeSystem) -> None:
    stream = opened(services, "shell:forever")
    calls: list[int] = []
    stream.notify = lambda: calls.append(1)
    system.sessions[0].notify()
    assert calls == [1]


def test_sync_is_a_stream(services: Services) -> None:
    stream = opened(services, "sync:")
    stream.receive(sync_request(b"STAT", "/sdcard"))
    assert len(stream.poll().data) == 16
    stream.receive(b"QUIT\x00\x00\x00\x00")
    assert stream.poll().over


def test_the_phones_own_ports_are_reached(services: Services) -> None:
    stream = opened(services, "tcp:9008")
    assert isinstance(stream, EchoStream)


def test_the_framebuffer_is_a_header_and_the_pixels(services: Services, system: FakeSystem) -> None:
    said = all_of(opened(services, "framebuffer:"))
    version, bits, size, width, height, *channels = struct.unpack_from("<13I", said)
    picture = system.phone.screenshot()
    assert (version, bits, size) == (1, 32, len(said) - 52)
    assert (width, height) == picture.size
    assert channels == [0, 8, 16, 8, 8, 8, 24, 8]
    assert said[52:] == picture.convert("RGBA").tobytes()


@pytest.mark.parametrize("destination", ["reboot:", "reboot:bootloader", "reboot:recovery"])
def test_a_reboot_restarts_the_phone(services: Services, link: FakeLink, destination: str) -> None:
    assert opened(services, destination, link).poll().over
    assert link.done == ["restart"]


def test_reconnect_drops_the_connection(services: Services, link: FakeLink) -> None:
    assert opened(services, "reconnect", link).poll().data == b"done"
    assert link.done == ["drop"]


def test_a_debuggable_build_would_become_root(services: Services, system: FakeSystem) -> None:
    system.properties["ro.debuggable"] = "1"
    assert all_of(opened(services, "root:")) == b"restarting adbd as root\n"


def test_debuggable_processes_are_tracked(services: Services, system: FakeSystem) -> None:
    stream = opened(services, "track-jdwp")
    assert stream.poll().data == b"00051234\n"
    calls: list[int] = []
    stream.notify = lambda: calls.append(1)
    services.watchers.look()
    assert calls == []
    system.running.append(FakeProcess(77, "com.example.other", True))
    services.watchers.look()
    assert calls == [1]
    progress = stream.poll()
    assert progress.data == b"00081234\n77\n"
    assert not progress.over


def test_debuggable_apps_are_tracked_as_protocol_buffers(services: Services) -> None:
    entry = b"\x08\xd2\x09\x10\x01\x18\x00\x22\x05arm64"
    assert opened(services, "track-app").poll().data == b"0010" + b"\x0a\x0e" + entry


def text(said: str) -> bytes:
    return f"{len(said):04x}{said}".encode()


def ask(services: Services, request: str, link: FakeLink | None = None) -> bytes:
    return all_of(opened(services, f"reverse:{request}", link))


def test_reversed_ports_are_added_listed_and_removed(services: Services) -> None:
    assert ask(services, "forward:tcp:8000;tcp:9000") == b"OKAY"
    assert ask(services, "forward:localabstract:x;tcp:9001") == b"OKAY"
    assert ask(services, "list-forward") == text("host tcp:8000 tcp:9000\nhost localabstract:x tcp:9001\n")
    assert ask(services, "killforward:tcp:8000") == b"OKAY"
    assert ask(services, "killforward:tcp:8000") == b"FAIL" + text("listener 'tcp:8000' not found")
    assert ask(services, "killforward-all") == b"OKAY"
    assert ask(services, "list-forward") == b"0000"


def test_a_reversed_port_of_0_is_chosen_and_told(services: Services) -> None:
    assert ask(services, "forward:tcp:0;tcp:9000") == b"OKAY" + text("40000")
    assert ask(services, "forward:tcp:0;tcp:9000") == b"OKAY" + text("40001")


@pytest.mark.parametrize(
    "request_text",
    ["forward:tcp:8000", "forward:tcp:8000;", "forward:nope:1;tcp:1", "forward:tcp:x;tcp:1", "forward:tcp:70000;tcp:1",
     "forward:tcp:9008;tcp:1", "forward:norebind:tcp:7000;tcp:1", f"forward:localabstract:{'x' * 2000};tcp:1"],
)  # fmt: skip
def test_a_bad_reverse_fails_and_changes_nothing(services: Services, request_text: str) -> None:
    ask(services, "forward:tcp:7000;tcp:1")
    before = ask(services, "list-forward")
    assert ask(services, request_text).startswith(b"FAIL")
    assert ask(services, "list-forward") == before


def test_a_reversed_port_leads_to_the_peer_and_back(services: Services, link: FakeLink) -> None:
    ask(services, "forward:tcp:8000;tcp:9000", link)
    near = opened(services, "tcp:8000")
    ((destination, far),) = link.dialled
    assert destination == "tcp:9000"
    near.receive(b"ping")
    assert far.poll().data == b"ping"
    far.receive(b"pong")
    far.hang_up()
    progress = near.poll()
    assert (progress.data, progress.over) == (b"pong", True)


def test_a_tunnel_breaks_when_one_side_takes_nothing(services: Services, link: FakeLink) -> None:
    ask(services, "forward:tcp:8000;tcp:9000", link)
    near = opened(services, "tcp:8000")
    part = bytes(1 << 20)
    for _ in range(reverse._MOST_HELD // len(part)):
        near.receive(part)
        assert not near.poll().over
    near.receive(part)
    assert near.poll().over


def test_reversed_ports_go_with_the_connection_that_asked(services: Services, link: FakeLink) -> None:
    ask(services, "forward:tcp:8000;tcp:9000", link)
    ask(services, "forward:tcp:8001;tcp:9000", FakeLink())
    services.forget(link)
    assert ask(services, "list-forward") == text("host tcp:8001 tcp:9000\n")


def test_the_banner_has_the_names_and_the_features(system: FakeSystem) -> None:
    system.properties["ro.product.model"] = "a;b=c"
    assert banner(system) == (
        "device::ro.product.name=sim;ro.product.model=a_b_c;ro.product.device=sim64;features=" + ",".join(FEATURES)
    )
    assert not {"abb", "abb_exec", "delayed_ack", "sendrecv_v2_lz4"} & set(FEATURES)
