from __future__ import annotations

import contextlib
import posixpath
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_eval.device_sim.files import (
    FOLDERS,
    LONGEST_TEXT,
    MOST_BYTES,
    MOST_ENTRIES,
    PROBLEMS,
    SHARED,
    FileProblem,
    Files,
    resolve,
)
from agent_eval.device_sim.paths import Paths
from agent_eval.types import Scalar


def fresh() -> tuple[Files, Paths]:
    held: dict[str, Scalar] = {"files/Download/list.txt": "milk\n", "files/Music/": "", "settings/wifi_on": True}
    state = Paths(held)
    return Files(state, lambda: 1000), state


@pytest.fixture
def files() -> Files:
    return fresh()[0]


def code_of(action: Callable[[], object]) -> str:
    with pytest.raises(FileProblem) as caught:
        action()
    assert str(caught.value).endswith(PROBLEMS[caught.value.code])
    return caught.value.code


@pytest.mark.parametrize(
    ("path", "whole"),
    [
        ("/sdcard", SHARED),
        ("/sdcard/a", f"{SHARED}/a"),
        ("/storage/self/primary/a", f"{SHARED}/a"),
        ("/mnt/sdcard/../sdcard/a", f"{SHARED}/a"),
        ("/sdcardx", "/sdcardx"),
        ("a/b", "/a/b"),
        ("//a//b/./c/..", "/a/b"),
        ("/../../etc/passwd", "/etc/passwd"),
        ("/sdcard/../../../../etc", "/etc"),
        ("", "/"),
        ("/a\x00b", "/ab"),
        ("/a\ud800", "/a?"),
    ],
)
def test_paths_are_resolved_and_never_climb_out(path: str, whole: str) -> None:
    assert resolve(path) == whole


@given(st.text(max_size=40), st.text(max_size=20))
def test_any_path_resolves_to_an_absolute_one_without_dots(path: str, base: str) -> None:
    whole = resolve(path, "/" + base)
    assert whole.startswith("/")
    assert not {"..", "."} & set(whole.split("/"))
    assert whole.encode()


def test_what_is_written_is_read_again(files: Files) -> None:
    for path in ("/sdcard/a.txt", "/data/local/tmp/a", "/sdcard/Download/b.bin"):
        for content in (b"text", b"", b"\xff\x00binary", "ümläut".encode(), b"sha256:looks like one"):
            files.write(path, content)
            assert files.read(path) == content
            assert files.is_file(path)
            assert not files.is_folder(path)


def test_the_shared_storage_is_persisted_and_the_rest_is_not() -> None:
    files, state = fresh()
    before = dict(state)
    files.write("/data/local/tmp/a", b"x")
    files.make_folder("/data/local/tmp/f")
    assert state == before
    files.write("/sdcard/a.txt", b"text")
    files.write("/sdcard/b.bin", b"\xff\xfe")
    files.make_folder("/sdcard/empty")
    assert state["files/a.txt"] == "text"
    assert str(state["files/b.bin"]).startswith("sha256:")
    assert state["files/empty/"] == ""


def test_a_folder_outlives_what_it_held() -> None:
    files, state = fresh()
    files.remove("/sdcard/Download/list.txt")
    assert files.is_folder("/sdcard/Download")
    assert state["files/Download/"] == ""
    files.write("/sdcard/Download/new", b"")
    assert "files/Download/" not in state


def test_long_texts_are_persisted_by_their_digest() -> None:
    files, state = fresh()
    files.write("/sdcard/long", b"a" * (LONGEST_TEXT + 1))
    assert str(state["files/long"]).startswith("sha256:")
    assert len(files.read("/sdcard/long")) == LONGEST_TEXT + 1


@pytest.mark.parametrize(
    ("action", "code"),
    [
        (lambda files: files.read("/nope"), "ENOENT"),
        (lambda files: files.read("/sdcard"), "EISDIR"),
        (lambda files: files.names("/nope"), "ENOENT"),
        (lambda files: files.names("/sdcard/Download/list.txt"), "ENOTDIR"),
        (lambda files: files.write("/nope/a", b""), "ENOENT"),
        (lambda files: files.write("/sdcard", b""), "EISDIR"),
        (lambda files: files.write("/sdcard/Download/list.txt/a", b""), "ENOTDIR"),
        (lambda files: files.write("/system/bin/ls", b""), "EROFS"),
        (lambda files: files.write("/", b""), "EROFS"),
        (lambda files: files.write("/sdcard/big", bytes(MOST_BYTES + 1)), "ENOSPC"),
        (lambda files: files.write("/sdcard/" + "n" * 256, b""), "ENAMETOOLONG"),
        (lambda files: files.make_folder("/sdcard/Music"), "EEXIST"),
        (lambda files: files.make_folder("/sdcard/Download/list.txt"), "EEXIST"),
        (lambda files: files.make_folder("/sdcard/x/y"), "ENOENT"),
        (lambda files: files.make_folder("/system/x", parents=True), "EROFS"),
        (lambda files: files.remove("/nope"), "ENOENT"),
        (lambda files: files.remove("/sdcard/Download"), "ENOTEMPTY"),
        (lambda files: files.remove("/sdcard", whole_tree=True), "EACCES"),
        (lambda files: files.remove("/dev/null"), "EROFS"),
        (lambda files: files.rename("/nope", "/sdcard/a"), "ENOENT"),
        (lambda files: files.rename("/sdcard/Download", "/sdcard/Download/in"), "EINVAL"),
        (lambda files: files.rename("/sdcard/Download/list.txt", "/sdcard/Music"), "EISDIR"),
        (lambda files: files.rename("/sdcard/Music", "/sdcard/Download/list.txt"), "ENOTDIR"),
        (lambda files: files.rename("/sdcard/Music", "/sdcard/Download"), "ENOTEMPTY"),
        (lambda files: files.rename("/data/local/tmp", "/sdcard/tmp"), "EACCES"),
        (lambda files: files.rename("/sdcard/Music", "/nope/Music"), "ENOENT"),
        (lambda files: files.copy("/sdcard/Download", "/sdcard/Download/in"), "EINVAL"),
        (lambda files: files.copy("/nope", "/sdcard/a"), "ENOENT"),
        (lambda files: files.change_mode("/nope", 0o644), "ENOENT"),
        (lambda files: files.change_mode("/system/bin", 0o644), "EROFS"),
        (lambda files: files.touch("/system/bin"), "EROFS"),
    ],
)
def test_refusals_have_the_kernels_names(files: Files, action: Callable[[Files], object], code: str) -> None:
    assert code_of(lambda: action(files)) == code


def test_a_refused_rename_changes_nothing() -> None:
    files, state = fresh()
    before = dict(state)
    code_of(lambda: files.rename("/sdcard/Music", "/sdcard/Download"))
    code_of(lambda: files.rename("/sdcard/Download", "/system/Download"))
    assert state == before


def test_a_folder_moves_with_all_that_it_holds_and_its_times() -> None:
    files, state = fresh()
    files.write("/sdcard/Download/b.bin", b"\xff", mode=0o600, mtime_s=7)
    files.make_folder("/sdcard/Download/deep/deeper", parents=True)
    files.rename("/sdcard/Download", "/data/local/tmp/moved")
    assert files.read("/data/local/tmp/moved/b.bin") == b"\xff"
    assert files.mtime_s("/data/local/tmp/moved/b.bin") == 7
    assert files.is_folder("/data/local/tmp/moved/deep/deeper")
    assert not files.exists("/sdcard/Download")
    assert not any(path.startswith("files/Download") for path in state)
    files.rename("/data/local/tmp/moved", "/sdcard/back")
    assert list(files.walk("/sdcard/back")) == [
        f"{SHARED}/back", f"{SHARED}/back/b.bin", f"{SHARED}/back/deep", f"{SHARED}/back/deep/deeper",
        f"{SHARED}/back/list.txt",
    ]  # fmt: skip


def test_a_copy_is_a_file_of_its_own(files: Files) -> None:
    files.copy("/sdcard/Download", "/sdcard/copy")
    files.write("/sdcard/copy/list.txt", b"bread\n")
    assert files.read("/sdcard/Download/list.txt") == b"milk\n"


def test_bytes_that_no_file_has_any_more_are_let_go(files: Files) -> None:
    half = bytes([255]) * (MOST_BYTES // 2)
    for _ in range(3):
        files.write("/sdcard/big", half)
        files.remove("/sdcard/big")
    files.write("/sdcard/big", half)
    files.rename("/sdcard/big", "/sdcard/bigger")
    files.write("/sdcard/bigger", b"small")
    assert files.used < 1000


def test_there_is_room_for_so_many_files_only(files: Files) -> None:
    room = MOST_ENTRIES - len(FOLDERS) - 2
    for number in range(room):
        files.write(f"/data/local/tmp/{number}", b"")
    assert code_of(lambda: files.write("/data/local/tmp/more", b"")) == "ENOSPC"
    assert code_of(lambda: files.make_folder("/sdcard/more")) == "ENOSPC"
    files.write("/data/local/tmp/0", b"overwritten")


def test_nothing_is_left_of_what_the_null_device_takes(files: Files) -> None:
    files.write("/dev/null", b"gone")
    assert files.read("/dev/null") == b""


def test_provided_files_are_made_when_read_and_cannot_be_changed(files: Files) -> None:
    count = iter(range(10))
    files.provide("/proc/count", lambda: str(next(count)).encode())
    assert files.read("/proc/count") == b"0"
    assert files.read("/proc/count") == b"1"
    assert "count" in files.names("/proc")
    assert code_of(lambda: files.write("/proc/count", b"")) == "EROFS"
    assert code_of(lambda: files.remove("/proc/count")) == "EROFS"


def test_every_change_is_told() -> None:
    told: list[int] = []
    files = Files(Paths(), lambda: 5, lambda: told.append(1))
    files.write("/sdcard/a", b"")
    files.make_folder("/sdcard/f")
    files.touch("/sdcard/a", 3)
    files.rename("/sdcard/a", "/sdcard/b")
    files.remove("/sdcard/b")
    assert len(told) == 5


NAMES = st.sampled_from(["a", "b", "f", "f/a", "f/g", "f/g/a", "h"])
ROOTS = st.sampled_from(["/sdcard", "/data/local/tmp"])
PATHS = st.builds(posixpath.join, ROOTS, NAMES)
STEPS = st.one_of(
    st.tuples(st.just("write"), PATHS, st.binary(max_size=3)),
    st.tuples(st.just("folder"), PATHS, st.booleans()),
    st.tuples(st.just("remove"), PATHS, st.booleans()),
    st.tuples(st.just("rename"), PATHS, PATHS),
    st.tuples(st.just("copy"), PATHS, PATHS),
)


def do(files: Files, kind: str, path: str, more: object) -> None:
    if kind == "write" and isinstance(more, bytes):
        files.write(path, more)
        assert files.read(path) == more
    elif kind == "folder":
        files.make_folder(path, parents=bool(more))
        assert files.is_folder(path)
    elif kind == "remove":
        files.remove(path, whole_tree=bool(more))
        assert not files.exists(path)
    elif kind == "rename":
        files.rename(path, str(more))
        assert files.exists(str(more))
        assert path == more or not files.exists(path)
    else:
        files.copy(path, str(more))
        assert files.exists(path)
        assert files.exists(str(more))


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, max_size=15))
def test_the_tree_stays_whole_whatever_is_done_to_it(steps: list[tuple[str, str, object]]) -> None:
    files, state = fresh()
    for kind, path, more in steps:
        with contextlib.suppress(FileProblem):
            do(files, kind, path, more)
        everything = list(files.walk("/"))
        assert len(everything) == len(set(everything))
        for whole in everything:
            assert files.is_file(whole) != files.is_folder(whole)
            assert files.is_folder(posixpath.dirname(whole))
            if files.is_folder(whole):
                assert [posixpath.join(whole, name) for name in files.names(whole)] == [
                    other for other in everything if posixpath.dirname(other) == whole and other != whole
                ]
        assert set(FOLDERS) <= set(everything)
        assert all(path.removesuffix("/") + "/" not in state for path in state if not path.endswith("/"))


@settings(max_examples=80, deadline=None)
@given(st.lists(STEPS, max_size=15))
def test_what_is_kept_from_one_look_to_the_next_is_what_a_fresh_look_finds(
    steps: list[tuple[str, str, object]],
) -> None:
    (forgetting, state), (keeping, _) = fresh(), fresh()
    for kind, path, more in steps:
        problems: list[str] = []
        for each in (forgetting, keeping):
            state["settings/wifi_on"] = not state["settings/wifi_on"]  # somebody else wrote to the state
            try:
                do(each, kind, path, more)
            except FileProblem as problem:
                problems.append(problem.code)
        assert len(problems) != 1
        assert len(set(problems)) < 2
        state["settings/wifi_on"] = not state["settings/wifi_on"]
        assert list(keeping.walk("/")) == list(forgetting.walk("/"))
        assert keeping.used == forgetting.used


def test_thousands_of_files_are_written_listed_and_deleted_at_once() -> None:
    state = Paths({"settings/wifi_on": True})
    files = Files(state, lambda: 1000)
    for number in range(MOST_ENTRIES - 100):
        files.write(f"/sdcard/{number}", b"x")
    assert sum(files.is_file(f"/sdcard/{name}") for name in files.names("/sdcard")) == MOST_ENTRIES - 100
    for name in files.names("/sdcard"):
        files.remove(f"/sdcard/{name}")
    assert files.names("/sdcard") == []


def test_a_path_of_a_thousand_folders_is_made_walked_and_removed() -> None:
    files, _ = fresh()
    files.make_folder("/data/local/tmp" + "/a" * 1000, parents=True)
    assert sum(1 for _ in files.walk("/data/local/tmp")) == 1001
    files.remove("/data/local/tmp/a", whole_tree=True)
    assert files.names("/data/local/tmp") == []
