"""The genuine adb, unchanged, drives the phone."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import time
import zipfile
from pathlib import Path

import pytest

from agent_eval.agent.adb import free_port
from agent_eval.device_sim.adb import AdbServer, RealTime, Serving, announce
from tests.wire.conftest import Adb, AdbPhone, make_systems

pytestmark = pytest.mark.peers


def tree(folder: Path) -> dict[str, bytes]:
    """Return the content of every file below a folder."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    draw = random.Random(5)
    made = tmp_path / "folder"
    for name, size in {
        "empty": 0,
        "one": 1,
        "deep/er/file.bin": 65536,
        "deep/just over.bin": 65537,
        "Übung 中文.txt": 300,
        "large.bin": 3_000_000,
    }.items():
        file = made / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(draw.randbytes(size))
    return made


def test_devices_lists_the_phone_with_its_names(phone: AdbPhone) -> None:
    (line,) = [
        line for line in phone.adb.run("devices", "-l").stdout.decode().splitlines() if line.startswith(phone.serial)
    ]
    getprop = phone.system.getprop
    assert f"product:{getprop('ro.product.name')}" in line
    assert f"model:{getprop('ro.product.model').replace(' ', '_')}" in line
    assert f"device:{getprop('ro.product.device')}" in line
    assert line.split()[1] == "device"
    assert phone.run("get-state").stdout == b"device\n"


def test_features_are_those_of_the_banner(phone: AdbPhone) -> None:
    features = phone.adb.run("-s", phone.serial, "features").stdout.decode().split()
    assert {"shell_v2", "cmd", "stat_v2", "ls_v2", "sendrecv_v2"} <= set(features)
    assert not {"abb", "abb_exec", "delayed_ack"} & set(features)


def test_shell_keeps_both_outputs_and_the_exit_status_apart(phone: AdbPhone) -> None:
    done = phone.run("shell", "echo out; echo err >&2; exit 7", code=7)
    assert (done.stdout, done.stderr) == (b"out\n", b"err\n")
    assert phone.run("shell", "no_such_command", code=127).stderr.endswith(b"inaccessible or not found\n")


def test_the_first_shell_protocol_mixes_outputs(phone: AdbPhone) -> None:
    done = phone.run("shell", "-x", "echo out; echo err >&2; exit 7")
    assert (done.stdout, done.stderr) == (b"out\nerr\n", b"")


def test_shell_reads_what_is_piped_to_it(phone: AdbPhone) -> None:
    assert phone.run("shell", "cat", stdin=b"line\n" * 1000).stdout == b"line\n" * 1000
    assert phone.run("shell", stdin=b"echo one\necho two\n").stdout == b"one\ntwo\n"


def test_an_interactive_shell_has_a_prompt_and_echoes(phone: AdbPhone) -> None:
    said = phone.run("shell", "-tt", stdin=b"echo $((6*7))\nexit\n").stdout
    assert said.count(b"$ ") == 2
    assert b"echo $((6*7))\r\n42\r\n" in said


def test_a_command_that_waits_is_over_at_once_in_virtual_time(phone: AdbPhone) -> None:
    assert phone.run("shell", "sleep 3600; echo rested").stdout == b"rested\n"


def test_folders_are_pushed_and_pulled_byte_for_byte(phone: AdbPhone, folder: Path, tmp_path: Path) -> None:
    assert b"6 files pushed" in phone.run("push", str(folder), "/sdcard/Download/pushed").stderr
    assert b"6 files pulled" in phone.run("pull", "/sdcard/Download/pushed", str(tmp_path / "back")).stderr
    assert tree(tmp_path / "back") == tree(folder)


def test_a_file_keeps_its_time_and_mode(phone: AdbPhone, tmp_path: Path) -> None:
    file = tmp_path / "tool.sh"
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    os.utime(file, (1_600_000_000, 1_600_000_000))
    phone.run("push", str(file), "/data/local/tmp/")
    phone.run("pull", "-a", "/data/local/tmp/tool.sh", str(tmp_path / "back.sh"))
    back = (tmp_path / "back.sh").stat()
    assert back.st_mtime == 1_600_000_000
    assert back.st_mode & 0o100
    assert b"tool.sh" in phone.run("ls", "/data/local/tmp").stdout


def test_what_cannot_be_pushed_or_pulled_is_said(phone: AdbPhone, folder: Path, tmp_path: Path) -> None:
    assert b"Read-only file system" in phone.run("push", str(folder / "one"), "/system/one", code=1).stderr
    done = phone.run("pull", "/sdcard/nope", str(tmp_path / "x"), code=1)
    assert b"failed to stat remote object '/sdcard/nope': No such file or directory" in done.stderr


def test_push_sync_skips_what_is_there(phone: AdbPhone, folder: Path) -> None:
    phone.run("push", "--sync", str(folder), "/data/local/tmp/")
    again = phone.run("push", "--sync", str(folder), "/data/local/tmp/")
    assert b"0 files pushed, 6 skipped" in again.stderr


def test_exec_out_and_exec_in_are_clean_of_any_translation(phone: AdbPhone) -> None:
    content = bytes(range(256)) * 100
    phone.run("exec-in", "cat > /data/local/tmp/raw", stdin=content)
    assert phone.run("exec-out", "cat /data/local/tmp/raw").stdout == content
    assert phone.run("shell", "cat /data/local/tmp/raw").stdout == content


def test_a_screenshot_comes_as_a_picture(phone: AdbPhone) -> None:
    assert phone.run("exec-out", "screencap", "-p").stdout.startswith(b"\x89PNG\r\n\x1a\n")


def test_a_forwarded_port_reaches_a_service_of_the_phone(phone: AdbPhone) -> None:
    port = int(phone.run("forward", "tcp:0", "tcp:7").stdout)
    assert f"{phone.serial} tcp:{port} tcp:7" in phone.run("forward", "--list").stdout.decode()
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        client.sendall(b"hello")
        assert client.recv(100) == b"HELLO"
    phone.run("forward", "--remove", f"tcp:{port}")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=10)


def test_a_forwarded_port_where_nobody_listens_is_closed(phone: AdbPhone) -> None:
    port = int(phone.run("forward", "tcp:0", "tcp:4321").stdout)
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        assert client.recv(100) == b""


def test_a_reversed_port_leads_back_to_this_machine(phone: AdbPhone) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(10)
        here = listener.getsockname()[1]
        phone.run("reverse", "tcp:6100", f"tcp:{here}")
        assert f"host tcp:6100 tcp:{here}" in phone.run("reverse", "--list").stdout.decode()
        port = int(phone.run("forward", "tcp:0", "tcp:6100").stdout)
        with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
            server, _ = listener.accept()
            with server:
                client.sendall(b"there")
                assert server.recv(100) == b"there"
                server.sendall(b"and back")
                assert client.recv(100) == b"and back"
            assert client.recv(100) == b""
    assert int(phone.run("reverse", "tcp:0", "tcp:1").stdout) > 0
    phone.run("reverse", "--remove", "tcp:6100")
    assert b"listener 'tcp:6100' not found" in phone.run("reverse", "--remove", "tcp:6100", code=1).stderr
    phone.run("reverse", "--remove-all")
    assert phone.run("reverse", "--list").stdout.strip() == b""


def test_logcat_prints_what_there_is_and_ends(phone: AdbPhone) -> None:
    assert b"beginning of main" in phone.run("logcat", "-d").stdout


def test_logcat_follows_until_the_client_goes(phone: AdbPhone) -> None:
    with phone.start("logcat") as logcat:
        assert logcat.stdout.readline()
    assert phone.run("shell", "echo alive").stdout == b"alive\n"


def test_a_package_of_the_phone_can_be_installed_and_nonsense_cannot(phone: AdbPhone, tmp_path: Path) -> None:
    apk = tmp_path / "app.apk"
    apk.write_bytes(b"this is no archive")
    assert b"Failure [" in phone.run("install", str(apk), code=1).stderr
    with zipfile.ZipFile(apk, "w") as archive:
        archive.writestr("AndroidManifest.xml", '<manifest package="com.example.installed"/>')
        archive.writestr("classes.dex", bytes(200_000))
    assert phone.run("install", "-r", str(apk)).stdout.endswith(b"Success\n")
    assert b"package:com.example.installed\n" in phone.run("shell", "pm", "list", "packages").stdout
    assert phone.run("uninstall", "com.example.installed").stdout == b"Success\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("root",), b"adbd cannot run as root in production builds\n"),
        (("unroot",), b"adbd not running as root\n"),
        (("tcpip", "5555"), b"restarting in TCP mode port: 5555\n"),
        (("usb",), b"restarting in USB mode\n"),
    ],
)
def test_what_would_restart_adbd_says_so(phone: AdbPhone, arguments: tuple[str, ...], said: bytes) -> None:
    assert phone.run(*arguments).stdout == said


def test_debuggable_processes_are_listed(phone: AdbPhone) -> None:
    pids = {process.pid for process in phone.serving.call(phone.system.processes) if process.debuggable}
    assert {int(line) for line in phone.run("jdwp").stdout.split()} == pids


def test_a_phone_is_reached_by_its_address_too(phone: AdbPhone) -> None:
    address = f"127.0.0.1:{phone.port}"
    assert f"connected to {address}" in phone.adb.run("connect", address).stdout.decode()
    assert phone.adb.run("-s", address, "shell", "echo hi").stdout == b"hi\n"
    assert b"disconnected" in phone.adb.run("disconnect", address).stdout


def test_a_phone_comes_back_after_a_reboot(adb: Adb) -> None:
    (system,) = make_systems(1)
    with Serving(AdbServer(system)) as serving:
        phone = AdbPhone(adb, serving, system)
        serving.call(lambda: system.phone.open_app("com.android.settings"))
        phone.run("reboot")
        for _ in range(100):  # the server may not have noticed yet that the phone was gone
            phone.run("wait-for-device")
            if phone.run("shell", "echo back", code=None).stdout == b"back\n":
                break
        else:
            pytest.fail("the phone did not come back")
        assert serving.call(lambda: system.phone.front.package) == "com.android.launcher3"


def test_in_real_time_a_swipe_takes_as_long_as_a_swipe(adb: Adb) -> None:
    (system,) = make_systems(1)
    with Serving(AdbServer(system, pace=RealTime(system.phone))) as serving:
        phone = AdbPhone(adb, serving, system)
        began = time.monotonic()
        phone.run("shell", "input swipe 360 900 360 500 400")
        assert time.monotonic() - began >= 0.4


def test_several_phones_are_driven_side_by_side(adb: Adb) -> None:
    systems = make_systems(3)
    with Serving(*map(AdbServer, systems)) as serving:
        phones = [AdbPhone(adb, serving, system, number) for number, system in enumerate(systems)]
        for number, phone in enumerate(phones):
            phone.run("shell", f"echo phone {number} > /sdcard/which")
        for number, phone in enumerate(phones):
            assert phone.run("shell", "cat /sdcard/which").stdout == f"phone {number}\n".encode()


def test_many_commands_run_at_the_same_time(phone: AdbPhone) -> None:
    with contextlib.ExitStack() as stack:
        many = [stack.enter_context(phone.start("shell", f"echo {number}; cat")) for number in range(20)]
        for number, process in enumerate(many):
            assert process.stdout.readline() == f"{number}\n".encode()
        for process in many:
            process.stdin.write(b"typed\n")
            process.stdin.close()
            assert process.stdout.readline() == b"typed\n"
    assert phone.run("shell", "echo alive").stdout == b"alive\n"


def test_announcing_twice_or_to_nobody_does_no_harm(phone: AdbPhone) -> None:
    assert not announce(phone.port, server_port=free_port())
    assert announce(phone.port, server_port=phone.adb.port)
    assert phone.run("get-state").stdout == b"device\n"
