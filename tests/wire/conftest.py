"""The genuine adb with a server of its own: started once, on a private port, with a home of its own."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

import pytest

from agent_eval.agent.adb import binary, free_port
from agent_eval.device_sim import Phone
from agent_eval.device_sim.adb import AdbServer, Serving, announce, serial
from agent_eval.device_sim.shell.system import System
from agent_eval.types import PhoneSetup
from tests.wire.fakes import EchoStream


class Running(NamedTuple):
    """An adb that runs."""

    stdin: IO[bytes]
    stdout: IO[bytes]


class Adb:
    """The adb binary and its server.

    Args:
        home: Where it keeps its key and its log.
    """

    def __init__(self, home: Path) -> None:
        self.port = free_port()
        self.environment = {
            **os.environ,
            "HOME": str(home),
            "TMPDIR": str(home),
            "ANDROID_ADB_SERVER_PORT": str(self.port),
            "ADBUTILS_ADB_PATH": binary(),
        }
        self.environment.pop("ANDROID_SERIAL", None)

    def run(self, *arguments: str, stdin: bytes = b"", code: int | None = 0) -> subprocess.CompletedProcess[bytes]:
        """Run adb to its end; with ``code``, require its exit status."""
        done = subprocess.run(
            [binary(), *arguments], input=stdin, capture_output=True, env=self.environment, timeout=30, check=False
        )
        assert code is None or done.returncode == code, (arguments, done)
        return done

    @contextlib.contextmanager
    def start(self, *arguments: str) -> Iterator[Running]:
        """Start adb, leave it running, and kill it at the end of the block."""
        command = [binary(), *arguments]
        with subprocess.Popen(command, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                yield Running(process.stdin, process.stdout)
            finally:
                process.kill()


class AdbPhone:
    """A phone that the adb server lists.

    Args:
        adb: The server.
        serving: The phone's server, running.
        system: What runs on the phone.
        number: Which of the phones that are served.
    """

    def __init__(self, adb: Adb, serving: Serving, system: System, number: int = 0) -> None:
        self.adb = adb
        self.serving = serving
        self.system = system
        self.port = serving.ports[number]
        self.serial = serial(self.port)
        assert announce(self.port, server_port=adb.port)
        adb.run("-s", self.serial, "wait-for-device")

    def run(self, *arguments: str, stdin: bytes = b"", code: int | None = 0) -> subprocess.CompletedProcess[bytes]:
        """Run adb on this phone."""
        return self.adb.run("-s", self.serial, *arguments, stdin=stdin, code=code)

    def start(self, *arguments: str) -> contextlib.AbstractContextManager[Running]:
        """Start adb on this phone, leave it running, and kill it at the end of the block."""
        return self.adb.start("-s", self.serial, *arguments)


def make_systems(count: int) -> Sequence[System]:
    systems = [System(Phone(PhoneSetup(seed=seed))) for seed in range(1, count + 1)]
    for system in systems:
        system.ports[7] = EchoStream
    return systems


@pytest.fixture(scope="session")
def adb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Adb]:
    made = Adb(tmp_path_factory.mktemp("adb"))
    made.run("start-server")
    yield made
    made.run("kill-server")


@pytest.fixture(scope="module")
def phone(adb: Adb) -> Iterator[AdbPhone]:
    (system,) = make_systems(1)
    with Serving(AdbServer(system)) as serving:
        yield AdbPhone(adb, serving, system)
    assert serving.failures == []
