from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.device_sim import Phone
from agent_eval.device_sim.adb.sync import MOST_DATA, REQUESTS, Room, SyncSession
from agent_eval.device_sim.files import Files
from agent_eval.types import PhoneSetup
from tests.wire.fakes import sync_request as request

TMP = "/data/local/tmp"
MTIME = 1_700_000_000


@pytest.fixture
def files() -> Files:
    made = Phone(PhoneSetup(seed=1)).files
    made.write(f"{TMP}/a.txt", b"hello", mode=0o644, mtime_s=MTIME)
    made.make_folder(f"{TMP}/d")
    return made


def ask(files: Files, *data: bytes) -> bytes:
    """Send requests and return all answers."""
    session = SyncSession(files)
    said = b""
    for part in data:
        session.receive(part)
        while answer := session.take():
            said += answer
    return said


def send_1(path: str, *parts: bytes, mode: str = "33188", mtime: int = MTIME) -> bytes:
    data = b"".join(b"DATA" + struct.pack("<I", len(part)) + part for part in parts)
    return request(b"SEND", f"{path},{mode}") + data + b"DONE" + struct.pack("<I", mtime)


def send_2(path: str, content: bytes, *, mode: int = 0o100755, flags: int = 0) -> bytes:
    setup = b"SND2" + struct.pack("<II", mode, flags)
    data = b"DATA" + struct.pack("<I", len(content)) + content
    return request(b"SND2", path) + setup + data + b"DONE" + struct.pack("<I", MTIME)


def failure(text: str) -> bytes:
    return b"FAIL" + struct.pack("<I", len(text)) + text.encode()


def data(*parts: bytes) -> bytes:
    return b"".join(b"DATA" + struct.pack("<I", len(part)) + part for part in parts) + b"DONE\x00\x00\x00\x00"


OKAY = b"OKAY\x00\x00\x00\x00"


def test_stat_is_one_answer_of_sixteen_bytes(files: Files) -> None:
    session = SyncSession(files)
    session.receive(request(b"STAT", f"{TMP}/a.txt"))
    assert session.take() == b"STAT" + struct.pack("<3I", 0o100644, 5, MTIME)


def test_stat_of_a_missing_file_is_zeros(files: Files) -> None:
    assert ask(files, request(b"STAT", "/nope")) == b"STAT" + bytes(12)


@pytest.mark.parametrize("name", [b"STA2", b"LST2"])
def test_stat_2_answers_with_72_bytes(files: Files, name: bytes) -> None:
    answer = ask(files, request(name, f"{TMP}/a.txt"))
    assert answer[:4] == name
    error, dev, ino, mode, links, uid, gid, size, *times = struct.unpack("<I2Q4IQ3q", answer[4:])
    assert (error, mode, links, uid, gid, size) == (0, 0o100644, 1, 2000, 2000, 5)
    assert dev
    assert ino
    assert times == [MTIME] * 3


@pytest.mark.parametrize("name", [b"STA2", b"LST2"])
def test_stat_2_of_a_missing_file_says_enoent(files: Files, name: bytes) -> None:
    assert ask(files, request(name, "/nope")) == name + struct.pack("<I", 2) + bytes(64)


def entries(answer: bytes, name: bytes, size: int) -> dict[str, tuple[int, int]]:
    """Return mode and size of each entry of a listing."""
    found = {}
    while answer[:4] == name:
        fields = answer[4:size]
        length = struct.unpack("<I", fields[-4:])[0]
        mode = struct.unpack_from("<I", fields, 0 if name == b"DENT" else 20)[0]
        length_of_file = struct.unpack_from("<I" if name == b"DENT" else "<Q", fields, 4 if name == b"DENT" else 36)[0]
        found[answer[size : size + length].decode()] = (mode, length_of_file)
        answer = answer[size + length :]
    assert answer == b"DONE" + bytes(size - 4)
    return found


@pytest.mark.parametrize(("name", "entry", "size"), [(b"LIST", b"DENT", 20), (b"LIS2", b"DNT2", 76)])
def test_a_listing_has_dots_files_and_folders(files: Files, name: bytes, entry: bytes, size: int) -> None:
    found = entries(ask(files, request(name, TMP)), entry, size)
    assert set(found) == {".", "..", "a.txt", "d"}
    assert found["a.txt"] == (0o100644, 5)
    assert all(found[folder][0] & 0o170000 == 0o040000 for folder in (".", "..", "d"))


@pytest.mark.parametrize(("name", "entry", "size"), [(b"LIST", b"DENT", 20), (b"LIS2", b"DNT2", 76)])
@pytest.mark.parametrize("path", ["/nope", f"{TMP}/a.txt"])
def test_a_listing_of_what_is_no_folder_is_empty(files: Files, name: bytes, entry: bytes, size: int, path: str) -> None:
    assert entries(ask(files, request(name, path)), entry, size) == {}


def test_a_file_is_sent_and_kept_with_its_time(files: Files) -> None:
    assert ask(files, send_1(f"{TMP}/b.bin", b"\x00\xff", b"more", mode="33261")) == OKAY
    assert files.read(f"{TMP}/b.bin") == b"\x00\xffmore"
    stat = files.stat(f"{TMP}/b.bin")
    assert stat is not None
    assert (stat.mode, stat.mtime_s) == (0o100777, MTIME)


@pytest.mark.parametrize(
    ("asked", "kept"), [(0o100644, 0o666), (0o100600, 0o666), (0o100755, 0o777), (0o100444, 0o444)]
)  # fmt: skip
def test_group_and_others_get_what_the_owner_has(files: Files, asked: int, kept: int) -> None:
    assert ask(files, send_2(f"{TMP}/m", b"", mode=asked)) == OKAY
    stat = files.stat(f"{TMP}/m")
    assert stat is not None
    assert stat.mode & 0o777 == kept


def test_folders_on_the_way_are_made(files: Files) -> None:
    assert ask(files, send_2("/sdcard/x/y/z.txt", b"deep")) == OKAY
    assert files.read("/storage/emulated/0/x/y/z.txt") == b"deep"


def test_a_name_with_a_comma_is_sent_whole(files: Files) -> None:
    assert ask(files, send_1("/sdcard/a,b.txt", b"x")) == OKAY
    assert files.is_file("/sdcard/a,b.txt")


@pytest.mark.parametrize("name", [b"RECV", b"RCV2"])
def test_a_file_is_received_in_parts_of_64_kilobytes(files: Files, name: bytes) -> None:
    content = bytes(range(256)) * 300
    files.write(f"{TMP}/big", content)
    asked = request(name, f"{TMP}/big") + (b"RCV2\x00\x00\x00\x00" if name == b"RCV2" else b"")
    assert ask(files, asked) == data(content[:MOST_DATA], content[MOST_DATA:])


def test_an_empty_file_is_received(files: Files) -> None:
    files.write(f"{TMP}/empty", b"")
    assert ask(files, request(b"RECV", f"{TMP}/empty")) == data()


def test_several_requests_are_answered_in_order(files: Files) -> None:
    asked = request(b"RECV", f"{TMP}/a.txt") + request(b"STAT", "/nope") + send_1(f"{TMP}/n", b"n")
    assert ask(files, asked) == data(b"hello") + b"STAT" + bytes(12) + OKAY


def test_a_client_that_only_asks_is_read_no_further_than_its_answers_can_be_held(files: Files) -> None:
    session = SyncSession(files)
    session.receive(request(b"LIST", TMP) * 3_000)
    first = session.take()
    assert len(first) < 1_000_000
    total = first
    while part := session.take():
        total += part
    assert total.count(b"DONE") == 3_000


FAILURES: list[tuple[str, bytes, bytes]] = [
    ("a missing file", request(b"RECV", "/nope"), failure("open failed: No such file or directory")),
    ("a folder", request(b"RECV", TMP), failure("read failed: Is a directory")),
    ("unknown flags", request(b"RCV2", "/x") + b"RCV2\x01\x00\x00\x00", failure("unknown flags: 1")),
    ("no setup", request(b"RCV2", "/x") + b"STAT\x01\x00\x00\x00", failure("unexpected setup message")),
    ("a read-only place", send_1("/system/x", b"x"), failure("couldn't create file: Read-only file system")),
    (
        "a read-only folder on the way",
        send_1("/system/new/x", b"x"),
        failure("secure_mkdirs failed: Read-only file system"),
    ),
    (
        "a file on the way",
        send_1(f"{TMP}/a.txt/x", b"x"),
        failure("secure_mkdirs failed: File exists"),
    ),
    ("a folder as target", send_1(TMP, b"x"), failure("couldn't create file: Is a directory")),
    ("a link", send_1("/sdcard/l", b"target", mode="41471"), failure("symlink failed: Operation not permitted")),
    ("no mode", request(b"SEND", "/sdcard/x"), failure("missing , in ID_SEND_V1")),
    ("a bad mode", request(b"SEND", "/sdcard/x,rwx"), failure("bad mode")),
    ("compression", send_2("/sdcard/x", b"x", flags=1)[: 9 + 16 + 4], failure("unknown flags: 1")),
    ("too much data", request(b"SEND", "/x,33188") + b"DATA\x01\x00\x01\x00", failure("oversize data message")),
    ("a request among data", request(b"SEND", "/x,420") + b"STAT\x01\x00\x00\x00", failure("invalid data message")),
    ("a long path", b"STAT" + struct.pack("<I", 1025), failure("path too long")),
    ("an unknown request", request(b"HELO", "x"), failure("unknown command 4f4c4548")),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "answer"), [row[1:] for row in FAILURES], ids=[row[0] for row in FAILURES])
def test_a_failure_is_said_and_ends_the_service(files: Files, asked: bytes, answer: bytes) -> None:
    for split in range(len(asked) + 1):
        session = SyncSession(files)
        session.receive(asked[:split])
        session.receive(asked[split:])
        assert session.take() == answer
        assert session.over


def test_data_for_a_file_that_cannot_be_kept_are_read_to_the_end(files: Files) -> None:
    session = SyncSession(files)
    session.receive(request(b"SEND", "/system/x,33188") + b"DATA\x03\x00\x00\x00abc")
    assert not session.over
    session.receive(b"DATA\x03\x00\x00\x00abcDONE\x00\x00\x00\x00")
    assert session.take() == failure("couldn't create file: Read-only file system")
    assert session.over


def test_quit_ends_the_service_and_says_nothing(files: Files) -> None:
    session = SyncSession(files)
    session.receive(b"QUIT\x00\x00\x00\x00" + request(b"STAT", TMP))
    assert session.take() == b""
    assert session.over


def test_a_file_that_breaks_off_is_not_kept_and_its_room_is_free_again(files: Files) -> None:
    room = Room(100)
    session = SyncSession(files, room)
    session.receive(request(b"SEND", "/sdcard/x,33188") + b"DATA\x50\x00\x00\x00" + bytes(80))
    assert not room.take(30)
    session.hang_up()
    assert session.over
    assert room.take(100)
    assert not files.exists("/sdcard/x")


def test_transfers_that_are_too_large_for_the_phone_are_refused(files: Files) -> None:
    room = Room(100)
    session = SyncSession(files, room)
    session.receive(send_1("/sdcard/x", bytes(60), bytes(60), bytes(60)))
    assert session.take() == failure("write failed: No space left on device")
    assert room.take(100)
    assert not files.exists("/sdcard/x")


def test_a_whole_conversation_may_be_split_at_every_byte(files: Files) -> None:
    there = "/sdcard/n/m"
    asked = request(b"LST2", TMP) + send_2(there, b"content") + request(b"RECV", there) + b"QUIT\0\0\0\0"
    whole = ask(files, asked)
    assert whole.endswith(OKAY + data(b"content"))
    assert all(ask(files, asked[:split], asked[split:]) == whole for split in range(len(asked)))


@pytest.mark.parametrize(
    "path", ["../../etc/passwd", "/sdcard/../../../../etc/passwd", f"{TMP}/../../../etc/passwd", "//etc/passwd"]
)
def test_paths_that_climb_out_end_in_the_phones_own_root(files: Files, path: str) -> None:
    before = Path("/etc/passwd").read_bytes()
    assert ask(files, request(b"RECV", path)) == failure("open failed: No such file or directory")
    ask(files, send_1(path, b"owned"))
    assert Path("/etc/passwd").read_bytes() == before


@given(
    st.lists(
        st.one_of(
            st.builds(request, st.sampled_from(sorted(REQUESTS)), st.sampled_from(["/", "/sdcard/q", "/x,420", ""])),
            st.sampled_from([b"DATA\x02\0\0\0ab", b"DONE\x01\0\0\0", b"SND2" + bytes(8), b"RCV2" + bytes(4)]),
            st.binary(max_size=12),
        ),
        max_size=12,
    )
)  # fmt: skip
def test_no_sequence_of_requests_breaks_the_service(parts: list[bytes]) -> None:
    session = SyncSession(Phone(PhoneSetup(seed=1)).files)
    for part in parts:
        session.receive(part)
        while session.take():
            pass
    session.hang_up()
    assert session.over
