"""Finding phones over adb: by the user's own server, or by a private one that ends with its user. Knows no screens."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import adbutils

from agent_eval import environment
from agent_eval.errors import DeviceFault, OperatorError

_HOST = "127.0.0.1"
_START_S = 20.0


class _QuickConnection(adbutils.AdbConnection):  # type: ignore[misc]  # adbutils ships no types
    """A connection to adb's server that neither gathers small packets nor rests before it closes."""

    _shut = False

    def _create_socket(self) -> socket.socket:
        made: socket.socket = super()._create_socket()
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made

    @property
    def closed(self) -> bool:
        return self._shut

    def close(self) -> None:
        if not self._shut:
            self._shut = True
            with contextlib.suppress(OSError):
                self.conn.shutdown(socket.SHUT_WR)
            self.conn.close()


class QuickClient(adbutils.AdbClient):  # type: ignore[misc]  # adbutils ships no types
    """adbutils for a phone on this machine: the same requests, without the waits that a cable and a network ask for.

    adbutils rests 10 ms whenever it closes a connection, and a request that is written in two pieces waits 40 ms for a
    delayed acknowledgement; together that is nearly all the time of a call.

    Args:
        port: Where adb's server listens.
    """

    def __init__(self, port: int) -> None:
        super().__init__(host=_HOST, port=port)
        self._server_port = port
        self._version = 0

    def make_connection(self, timeout: float | None = None) -> _QuickConnection:
        """Connect to adb's server."""
        made = _QuickConnection(_HOST, self._server_port)
        if timeout:
            made.conn.settimeout(timeout)
        return made

    def server_version(self) -> int:
        """Return the version of adb's server, which is asked for once."""
        self._version = self._version or int(super().server_version())
        return self._version


def client(adb_port: int) -> adbutils.AdbClient:
    """Return adbutils for the adb server on a port of this machine."""
    return adbutils.AdbClient(host=_HOST, port=adb_port)


def phones(adb_port: int) -> list[str]:
    """Return the serials of the phones that an adb server has and that are ready; none where no server runs.

    Raises:
        OperatorError: something else than an adb server answers.
    """
    with contextlib.suppress(OSError), socket.create_connection((_HOST, adb_port), timeout=1):
        try:
            return [device.serial for device in client(adb_port).device_list()]
        except (adbutils.AdbError, OSError) as error:
            raise OperatorError(
                f"what listens on port {adb_port} is no adb server: {error}", hint="is another program there?"
            ) from error
    return []


@contextlib.contextmanager
def private_server() -> Iterator[int]:
    """Run an adb server of our own, from the binary inside adbutils, and yield its port; it ends with the block.

    The user's server is left alone: another version would be asked to give way, and its phones would drop out.

    Raises:
        DeviceFault: the server does not start.
    """
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="agent-eval-adb-") as home:
        private = environment.for_child({"HOME": home, "ANDROID_USER_HOME": home, "ADB_MDNS": "0"})
        server = subprocess.Popen(  # noqa: S603  fixed arguments, no shell
            [binary(), "-P", str(port), "server", "nodaemon"],
            env=private,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _await_answer(server, port)
            yield port
        finally:
            server.terminate()
            server.wait()


def binary() -> str:
    """Return the path of the adb that comes with adbutils; where there is none for this machine, of the one on PATH."""
    bundled = Path(adbutils.__file__).parent / "binaries" / "adb"
    return str(bundled) if bundled.exists() else str(adbutils.adb_path())


def attach(adb_port: int, port: int) -> str:
    """Make an adb server know the phone that listens on a port of this machine; return its serial.

    Raises:
        DeviceFault: the phone does not answer.
    """
    serial = f"{_HOST}:{port}"
    server = client(adb_port)
    try:
        server.connect(serial, timeout=10)
        server.wait_for(serial, state="device", timeout=10)
    except (adbutils.AdbError, OSError) as error:
        raise DeviceFault(f"adb cannot connect to {serial}: {error}", hint="does the phone listen there?") from error
    return serial


def free_port() -> int:
    """Return a port of the loopback interface that nobody uses."""
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        return int(probe.getsockname()[1])


def _await_answer(server: subprocess.Popen[bytes], port: int) -> None:
    server_client = client(port)
    deadline = time.monotonic() + _START_S
    while True:
        if server.poll() is not None:
            raise DeviceFault(f"adb's server ended with status {server.returncode}", hint=f"run {binary()} by hand")
        with contextlib.suppress(OSError), socket.create_connection((_HOST, port), timeout=1):
            server_client.server_version()
            return
        if time.monotonic() > deadline:
            raise DeviceFault(f"adb's server did not answer within {_START_S:.0f} s", hint="is the machine overloaded?")
        time.sleep(0.05)  # a process of another program is awaited; there is nothing to be told by
