"""The server on its phone: started by the shell as uiautomator2 starts it, reached by its port, ended in every way."""

from __future__ import annotations

import pytest

from agent_eval.device_sim import Phone
from agent_eval.device_sim.shell.session import ShellSession
from agent_eval.device_sim.shell.system import System
from agent_eval.device_sim.u2.server import provide_server
from agent_eval.types import PhoneSetup

START = "CLASSPATH=/data/local/tmp/u2.jar app_process / com.wetest.uia2.Main -p 9008"


@pytest.fixture
def system() -> System:
    system = System(Phone(PhoneSetup(seed=1)))
    provide_server(system)
    return system


def started(system: System) -> ShellSession:
    system.files.write("/data/local/tmp/u2.jar", b"PK")
    session = system.open_session(START)
    assert b"Starting Server" in b"".join(part for _, part in session.take())
    assert session.code is None
    return session


def get(system: System, path: str) -> bytes:
    stream = system.ports[9008]()
    stream.receive(f"GET {path} HTTP/1.1\r\n\r\n".encode())
    return stream.poll().data.partition(b"\r\n\r\n")[2]


def test_nobody_listens_until_the_server_is_started(system: System) -> None:
    assert 9008 not in system.ports
    started(system)
    assert get(system, "/ping") == b"pong"
    assert any(process.name == "app_process" for process in system.processes())


def test_hanging_up_the_shell_ends_the_server(system: System) -> None:
    session = started(system)
    session.hang_up()
    assert 9008 not in system.ports
    assert not any(process.name == "app_process" for process in system.processes())


def test_a_client_may_stop_the_server_which_ends_its_process(system: System) -> None:
    session = started(system)
    assert get(system, "/stop") == b"Server stopped!!!"
    assert session.code is not None
    assert 9008 not in system.ports


def test_it_may_be_started_again_after_it_was_killed(system: System) -> None:
    started(system)
    pid = next(process.pid for process in system.processes() if process.name == "app_process")
    system.run(f"kill {pid}")
    assert 9008 not in system.ports
    started(system)
    assert get(system, "/ping") == b"pong"
