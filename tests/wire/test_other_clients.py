"""Clients by other people, unchanged: adb-shell without an adb server, pure-python-adb and adbutils with one."""

from __future__ import annotations

import gc
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import adbutils
import pytest
from adb_shell.adb_device import AdbDeviceTcp
from adb_shell.exceptions import AdbCommandFailureException, PushFailedError
from ppadb.client import Client

from tests.wire.conftest import AdbPhone

pytestmark = pytest.mark.peers

sloppy = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
"""pure-python-adb, and adbutils for a framebuffer, leave sockets to the garbage collector."""

CONTENT = bytes(range(256)) * 600


@pytest.fixture
def direct(phone: AdbPhone) -> Iterator[Any]:
    """A connection of adb-shell, past the adb server."""
    device = AdbDeviceTcp("127.0.0.1", phone.port, default_transport_timeout_s=5)
    assert device.connect(rsa_keys=[], auth_timeout_s=1)
    yield device
    device.close()


@pytest.fixture
def pure(phone: AdbPhone) -> Iterator[Any]:
    """The phone as pure-python-adb sees it."""
    device = Client(port=phone.adb.port).device(phone.serial)
    assert device is not None
    yield device
    gc.collect()


@pytest.fixture
def utils(phone: AdbPhone) -> Any:
    """The phone as adbutils sees it."""
    return adbutils.AdbClient(port=phone.adb.port).device(phone.serial)


def test_adb_shell_runs_commands(direct: Any) -> None:
    assert direct.shell("echo hi") == "hi\n"
    assert direct.exec_out("echo out") == "out\n"
    assert list(direct.streaming_shell("echo one; echo two"))[-1].endswith("two\n")
    assert direct.shell("cat /data/local/tmp/nope") == "cat: /data/local/tmp/nope: No such file or directory\n"


def test_adb_shell_moves_files(direct: Any, tmp_path: Path) -> None:
    (tmp_path / "here").write_bytes(CONTENT)
    direct.push(str(tmp_path / "here"), "/sdcard/Download/there", mtime=1_600_000_000)
    assert direct.stat("/sdcard/Download/there")[1:] == (len(CONTENT), 1_600_000_000)
    assert b"there" in {bytes(entry.filename) for entry in direct.list("/sdcard/Download")}
    direct.pull("/sdcard/Download/there", str(tmp_path / "back"))
    assert (tmp_path / "back").read_bytes() == CONTENT


def test_adb_shell_hears_of_failures(direct: Any) -> None:
    with pytest.raises(PushFailedError):
        direct.push(io.BytesIO(b"x"), "/system/x")
    with pytest.raises(AdbCommandFailureException):
        direct.pull("/sdcard/nope", io.BytesIO())
    assert direct.shell("echo alive") == "alive\n"


def test_adb_shell_is_closed_by_the_phone_without_a_wait(direct: Any) -> None:
    for number in range(20):
        assert direct.shell(f"echo {number}") == f"{number}\n"
    direct.root()


@sloppy
def test_pure_python_adb_runs_commands(pure: Any) -> None:
    assert pure.shell("echo hi") == "hi\n"
    assert pure.get_state() == "device"
    assert "com.android.settings" in pure.list_packages()
    assert pure.is_installed("com.android.settings")
    assert pure.wm_size() == (720, 1280)
    assert pure.screencap().startswith(b"\x89PNG")


@sloppy
def test_pure_python_adb_moves_files(pure: Any, tmp_path: Path) -> None:
    (tmp_path / "here").write_bytes(CONTENT)
    pure.push(str(tmp_path / "here"), "/sdcard/pure")
    pure.pull("/sdcard/pure", str(tmp_path / "back"))
    assert (tmp_path / "back").read_bytes() == CONTENT


@sloppy
def test_pure_python_adb_forwards(pure: Any) -> None:
    pure.forward("tcp:0", "tcp:7")
    assert list(pure.list_forward().values()) == ["tcp:7"]
    pure.killforward_all()


def test_adbutils_runs_commands_of_both_shell_protocols(utils: Any) -> None:
    assert utils.shell("echo hi") == "hi"
    assert utils.shell(["echo", "a b", "'q'", "中文"]) == "a b 'q' 中文"
    first = utils.shell2("echo out; echo err >&2; (exit 3)")
    assert first.returncode == 3
    second = utils.shell2("echo out; echo err >&2; exit 3", v2=True)
    assert (second.stdout, second.stderr, second.returncode) == ("out\n", "err\n", 3)
    assert "shell_v2" in utils.get_features()


def test_adbutils_moves_files(utils: Any, tmp_path: Path) -> None:
    assert utils.sync.push(CONTENT, "/sdcard/utils/file") == len(CONTENT)
    assert utils.sync.stat("/sdcard/utils/file").size == len(CONTENT)
    assert utils.sync.exists("/sdcard/utils/file")
    assert not utils.sync.exists("/sdcard/utils/none")
    assert utils.sync.read_bytes("/sdcard/utils/file") == CONTENT
    assert [entry.path for entry in utils.sync.list("/sdcard/utils")] == [".", "..", "file"]
    utils.sync.pull_dir("/sdcard/utils", str(tmp_path / "back"))
    assert (tmp_path / "back" / "file").read_bytes() == CONTENT
    with pytest.raises(adbutils.AdbError):
        utils.sync.read_bytes("/sdcard/none")


@sloppy
def test_adbutils_sees_the_screen_without_a_shell(utils: Any, phone: AdbPhone) -> None:
    picture = utils.framebuffer()
    assert picture.size == (720, 1280)
    expected = phone.serving.call(phone.system.phone.screenshot)
    assert picture.convert("RGB").tobytes() == expected.tobytes()
    gc.collect()


def test_adbutils_connects_to_ports_of_the_phone(utils: Any) -> None:
    with utils.create_connection(adbutils.Network.TCP, 7) as connection:
        connection.sendall(b"hello")
        assert connection.recv(100) == b"HELLO"
    with pytest.raises(adbutils.AdbError, match="closed"):
        utils.create_connection(adbutils.Network.TCP, 4321)


def test_adbutils_lists_and_reverses(utils: Any, phone: AdbPhone) -> None:
    client = adbutils.AdbClient(port=phone.adb.port)
    assert phone.serial in {device.serial for device in client.device_list()}
    utils.reverse("tcp:6300", "tcp:7300")
    assert ("tcp:6300", "tcp:7300") in {(item.remote, item.local) for item in utils.reverse_list()}
    assert "production builds" in utils.root()


def test_adbutils_reads_a_shell_as_it_goes(utils: Any) -> None:
    stream = utils.shell("echo one; cat", stream=True)
    with stream:
        assert stream.read(4) == b"one\n"
        stream.send(b"typed\n")
        assert stream.read(6) == b"typed\n"
