"""Phones for other people's clients: behind the genuine adb server, each client a program of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_eval.agent.adb import attach, binary, client, private_server
from agent_eval.device_sim import Phone
from agent_eval.device_sim.serve import ServedPhone
from agent_eval.types import PhoneSetup, Scalar

SETUP = PhoneSetup(
    seed=1,
    state={"settings/wifi_on": True, "settings/airplane_mode_on": False, "settings/dark_theme": False},
)


class Desk:
    """A phone and the environment in which a client finds it and no other.

    Args:
        phone: The phone, served.
        adb_port: Where the adb server listens that knows the phone.
        home: A folder that clients may write to.
    """

    def __init__(self, phone: ServedPhone, adb_port: int, home: Path) -> None:
        self.phone = phone
        self.adb_port = adb_port
        self.serial = attach(adb_port, phone.port)
        commands = home / "bin"
        commands.mkdir()
        (commands / "adb").symlink_to(binary())
        self.environment = {
            **os.environ,
            "HOME": str(home),
            "TMPDIR": str(home),
            "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
            "ADBUTILS_ADB_PATH": binary(),
            "ANDROID_ADB_SERVER_PORT": str(adb_port),
            "ANDROID_SERIAL": self.serial,
        }

    def __getitem__(self, path: str) -> Scalar:
        """Return the value at a path of the phone's state, as it is now."""
        return self.phone.snapshot()[path]

    def shell(self, line: str) -> str:
        """Run a command line on the phone by the adb binary, and return what it printed."""
        done = subprocess.run(
            [binary(), "-s", self.serial, "shell", line],
            env=self.environment,
            capture_output=True,
            timeout=20,
            check=True,
        )
        return done.stdout.decode()

    def run(self, *arguments: str, code: int = 0) -> str:
        """Run a Python program to its end, require its exit status, and return what it printed."""
        done = subprocess.run(
            [sys.executable, *arguments],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == code, (arguments, done.stdout, done.stderr)
        return done.stdout

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a Python program that is spoken to through its pipes; what it logs is not kept."""
        return subprocess.Popen(
            [sys.executable, *arguments],
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )


@pytest.fixture(scope="session")
def adb_port() -> Iterator[int]:
    """Port of an adb server of our own."""
    with private_server() as port:
        yield port


@pytest.fixture(scope="module")
def served(adb_port: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """The phone of a module; for the servers that stay on it from test to test."""
    with ServedPhone(Phone(SETUP)) as phone:
        desk = Desk(phone, adb_port, tmp_path_factory.mktemp("home"))
        yield desk
        client(adb_port).disconnect(desk.serial)
        assert phone.failures == ()


@pytest.fixture
def desk(served: Desk) -> Desk:
    """The phone, fresh for this test."""
    served.phone.reset(SETUP)
    return served
