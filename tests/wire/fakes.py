"""A phone's system with a handful of commands, and the host's side of a connection: what the wire tests speak to."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType

from agent_eval.device_sim import Phone
from agent_eval.device_sim.adb.packets import VERSION, Command, Packet, PacketReader, encode
from agent_eval.device_sim.streams import Progress, Stream, silent
from agent_eval.types import PhoneSetup

MINUTE_MS = 60_000
"""How often the command ``tick`` says something."""


class FakeSession:
    """One command of the fake shell."""

    def __init__(self, line: str, tty: bool, phone: Phone) -> None:
        self.notify: Callable[[], object] = silent
        self.code: int | None = None
        self.wake_ms: int | None = None
        self.size: tuple[int, int] | None = None
        self.hung_up = False
        self._phone = phone
        self._output: list[tuple[int, bytes]] = []
        name, _, rest = line.partition(" ")
        self._name = name or "cat"
        rest = rest.strip("'")
        match self._name:
            case "echo":
                self._end(0, rest.encode() + b"\n")
            case "both":
                self._output = [(1, b"out\n"), (2, b"err\n")]
                self._end(3)
            case "tty":
                self._end(0, b"tty" if tty else b"pipe")
            case "many":
                self._end(0, bytes(range(256)) * (int(rest) // 256))
            case "sleep":
                self.wake_ms = phone.clock.now_ms + int(rest)
            case "tick":
                self.wake_ms = phone.clock.now_ms + MINUTE_MS
            case "swipe":
                phone.advance(int(rest) / 1000)
                self._end(0, b"swiped\n")
            case "break":
                raise ZeroDivisionError("this command is broken")
            case "cat" | "size" | "forever":
                pass
            case _:
                self._output = [(2, f"/system/bin/sh: {name}: inaccessible or not found\n".encode())]
                self._end(127)

    def _end(self, code: int, output: bytes = b"") -> None:
        if output:
            self._output.append((1, output))
        self.code = code

    def feed(self, data: bytes) -> None:
        if self._name == "cat":
            self._output.append((1, data))

    def close_input(self) -> None:
        if self._name == "cat":
            self._end(0)

    def hang_up(self) -> None:
        self.hung_up = True
        self.code = 129

    def resize(self, rows: int, columns: int) -> None:
        self.size = (rows, columns)
        if self._name == "size":
            self._end(0, f"{rows} {columns}\n".encode())

    def take(self) -> list[tuple[int, bytes]]:
        output, self._output = self._output, []
        return output

    def resume(self) -> None:
        if self._name == "tick":
            self._output.append((1, b"tick\n"))
            self.wake_ms = self._phone.clock.now_ms + MINUTE_MS
        else:
            self._end(0, f"woke at {self._phone.clock.now_ms - self._phone.boot_ms}\n".encode())
            self.wake_ms = None


@dataclass(frozen=True)
class FakeProcess:
    pid: int
    name: str
    debuggable: bool


class EchoStream:
    """Says what it hears, in capitals."""

    def __init__(self) -> None:
        self.notify: Callable[[], object] = silent
        self._heard = b""
        self.hung_up = False

    def receive(self, data: bytes) -> None:
        self._heard += data.upper()

    def end_of_input(self) -> None:
        pass

    def hang_up(self) -> None:
        self.hung_up = True

    def poll(self) -> Progress:
        heard, self._heard = self._heard, b""
        return Progress(heard)


class FakeSystem:
    def __init__(self, seed: int = 1) -> None:
        self.on_restart: Callable[[], object] = silent
        self.phone = Phone(PhoneSetup(seed=seed))
        self.ports: dict[int, Callable[[], Stream]] = {9008: EchoStream}
        self.background_ms: int | None = None
        self.resumed = 0
        self.sessions: list[FakeSession] = []
        self.running = [FakeProcess(1, "init", False), FakeProcess(1234, "com.example.debug", True)]
        self.properties = {
            "ro.product.name": "sim",
            "ro.product.model": "Sim Phone",
            "ro.product.device": "sim64",
            "ro.debuggable": "0",
        }

    def open_session(self, line: str, *, tty: bool = False) -> FakeSession:
        session = FakeSession(line, tty, self.phone)
        self.sessions.append(session)
        return session

    @property
    def wake_ms(self) -> int | None:
        return self.background_ms

    def resume(self) -> None:
        self.background_ms = None
        self.resumed += 1

    def restart(self) -> None:
        for package in self.phone.recents:
            self.phone.force_stop(package)
        self.phone.go_home()
        self.on_restart()

    def processes(self) -> list[FakeProcess]:
        return self.running

    def getprop(self, name: str) -> str:
        return self.properties.get(name, "")


class Host:
    """The host's side of a connection, over a socket, in plain steps."""

    def __init__(self, port: int, *, greet: bool = True, version: int = VERSION, max_data: int = 1 << 20) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self._reader = PacketReader()
        self._version = version
        self._numbers = 0
        self.banner = b""
        if greet:
            self.send(Command.CNXN, version, max_data, b"host::features=shell_v2")
            self.banner = self.packet().data

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.socket.close()

    def send(self, command: int, arg0: int, arg1: int, data: bytes = b"") -> None:
        old = self._version < VERSION or command == Command.CNXN
        self.socket.sendall(encode(Packet(command, arg0, arg1, data), checksum=old))

    def packet(self) -> Packet:
        """Return the next packet; EOFError when the phone hung up."""
        while (packet := self._reader.next()) is None:
            data = self.socket.recv(65536)
            if not data:
                raise EOFError
            self._reader.feed(data)
        return packet

    def open(self, destination: str) -> tuple[int, int] | None:
        """Ask for a service; return both numbers of the stream, or None when it is refused."""
        self._numbers += 1
        self.send(Command.OPEN, self._numbers, 0, destination.encode() + b"\x00")
        answer = self.packet()
        assert answer.arg1 == self._numbers
        if answer.command == Command.CLSE:
            assert answer.arg0 == 0
            return None
        assert answer.command == Command.OKAY
        return self._numbers, answer.arg0

    def write(self, stream: tuple[int, int], data: bytes) -> None:
        """Send data and wait until the phone took it."""
        self.send(Command.WRTE, *stream, data)
        answer = self.packet()
        assert (answer.command, answer.arg0, answer.arg1) == (Command.OKAY, stream[1], stream[0])

    def read(self, stream: tuple[int, int]) -> bytes | None:
        """Return the next data of a stream, or None when the phone closed it."""
        packet = self.packet()
        assert packet.arg1 == stream[0], packet
        if packet.command == Command.CLSE:
            self.send(Command.CLSE, *stream)
            return None
        assert packet.command == Command.WRTE, packet
        self.send(Command.OKAY, *stream)
        return packet.data

    def read_all(self, stream: tuple[int, int]) -> bytes:
        parts = []
        while (data := self.read(stream)) is not None:
            parts.append(data)
        return b"".join(parts)

    def run(self, destination: str) -> bytes:
        """Open a service that speaks without being spoken to, and return all that it says."""
        stream = self.open(destination)
        assert stream is not None, f"{destination} was refused"
        return self.read_all(stream)

    def hung_up(self) -> bool:
        """Wait until the phone hangs up; what it still says is dropped."""
        try:
            while True:
                self.packet()
        except (EOFError, ConnectionError):
            return True


def sync_request(name: bytes, path: bytes | str) -> bytes:
    whole = path.encode() if isinstance(path, str) else path
    return name + struct.pack("<I", len(whole)) + whole
