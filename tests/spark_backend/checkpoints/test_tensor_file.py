"""Safetensors files: the library that defines the format is the twin, in both directions."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from torch import Tensor

from agent_eval.errors import CheckpointError, OperatorError
from agent_eval.spark_backend.checkpoints.tensor_file import DTYPES, Planned, TensorFile, write_tensors

TENSORS: dict[str, Tensor] = {
    "a": torch.arange(12.0).view(3, 4).to(torch.bfloat16),
    "b": torch.randn(5),
    "c": torch.arange(6, dtype=torch.int32).view(2, 3),
    "d": torch.tensor([[1, 2], [3, 250]], dtype=torch.uint8),
    "e": torch.randn(2, 2, 2).to(torch.float16),
    "empty": torch.empty(0, 7),
}


def plan_of(tensors: dict[str, Tensor]) -> dict[str, Planned]:
    return {name: Planned(tensor.dtype, tuple(tensor.shape)) for name, tensor in tensors.items()}


def written(path: Path, tensors: dict[str, Tensor] | None = None) -> Path:
    tensors = TENSORS if tensors is None else tensors
    write_tensors(path, plan_of(tensors), lambda name: [tensors[name]])
    return path


def file_of(header: object, data: bytes = b"", length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def refused(path: Path, content: bytes) -> CheckpointError:
    path.write_bytes(content)
    with pytest.raises(CheckpointError) as caught:
        TensorFile(path)
    assert f"{path} cannot be read as safetensors" in caught.value.message
    assert caught.value.hint
    return caught.value


def test_what_is_written_is_read_by_the_library(tmp_path: Path) -> None:
    found = load_file(written(tmp_path / "x.safetensors"))
    assert found.keys() == TENSORS.keys()
    assert all(torch.equal(found[name], tensor) for name, tensor in TENSORS.items())
    assert all(found[name].dtype == tensor.dtype for name, tensor in TENSORS.items())


def test_what_the_library_writes_is_read(tmp_path: Path) -> None:
    save_file(TENSORS, tmp_path / "x.safetensors", metadata={"format": "pt"})
    file = TensorFile(tmp_path / "x.safetensors")
    assert file.entries.keys() == TENSORS.keys()
    assert all(torch.equal(file.tensor(name), tensor) for name, tensor in TENSORS.items())


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
def test_every_type_comes_back(tmp_path: Path, dtype: torch.dtype) -> None:
    tensor = torch.tensor([[0, 1, 1], [1, 0, 1]]).to(dtype)
    assert torch.equal(TensorFile(written(tmp_path / "x", {"t": tensor})).tensor("t"), tensor)


def test_a_tensor_may_be_written_in_parts_of_any_height(tmp_path: Path) -> None:
    tensor = torch.randn(7, 3)

    def parts(_name: str) -> Iterable[Tensor]:
        yield from (tensor[:1], tensor[1:1], tensor[1:6], tensor[6:])

    write_tensors(tmp_path / "x", {"t": Planned(torch.float32, (7, 3))}, parts)
    assert torch.equal(TensorFile(tmp_path / "x").tensor("t"), tensor)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([torch.zeros(2, 3)], "24 bytes, planned were 36"),
        ([torch.zeros(4, 3)], "48 bytes, planned were 36"),
        ([torch.zeros(3, 3).bfloat16()], "type torch.bfloat16, planned was torch.float32"),
    ],
)
def test_parts_that_are_not_what_was_planned_leave_no_file(tmp_path: Path, parts: list[Tensor], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        write_tensors(tmp_path / "x", {"t": Planned(torch.float32, (3, 3))}, lambda _name: parts)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.partial").mkdir()
    with pytest.raises(OperatorError, match=r"x cannot be written: Is a directory"):
        written(tmp_path / "x")
    with pytest.raises(OperatorError, match=r"x cannot be written: No such file or directory"):
        written(tmp_path / "nowhere" / "x")


def test_more_than_fits_on_the_disk_is_refused_at_once(tmp_path: Path) -> None:
    drawn: list[str] = []

    def parts(name: str) -> list[Tensor]:
        drawn.append(name)
        return []

    with pytest.raises(OperatorError, match=r"GB free, expected at least 4000000000\.0 GB"):
        write_tensors(tmp_path / "x", {"t": Planned(torch.float32, (10**9, 10**9))}, parts)
    assert drawn == []


def test_the_first_tensor_lies_on_a_cache_line(tmp_path: Path) -> None:
    file = TensorFile(written(tmp_path / "x"))
    assert file.entries["a"].start % 64 == 0


def test_a_header_of_odd_length_is_read(tmp_path: Path) -> None:
    tensor = torch.randn(4).bfloat16()
    content = tensor.view(torch.uint8).numpy().tobytes()
    header = json.dumps({"t": {"dtype": "BF16", "shape": [4], "data_offsets": [0, 8]}}).encode()
    odd = header + b" " * (1 - len(header) % 2)
    (tmp_path / "x").write_bytes(file_of(odd, content))
    file = TensorFile(tmp_path / "x")
    assert file.entries["t"].start % 2 == 1
    assert torch.equal(file.tensor("t"), tensor)


def test_writing_to_a_tensor_changes_no_file(tmp_path: Path) -> None:
    path = written(tmp_path / "x")
    TensorFile(path).tensor("a").zero_()
    assert torch.equal(TensorFile(path).tensor("a"), TENSORS["a"])


def test_tensors_that_lie_together_are_one_in_place(tmp_path: Path) -> None:
    tensors = {name: torch.randn(rows, 3) for name, rows in (("a", 2), ("b", 4), ("c", 1))}
    tensors["wide"], tensors["narrow"] = torch.randn(2, 5), torch.randn(2, 3).bfloat16()
    file = TensorFile(written(tmp_path / "x", tensors))
    whole = file.stacked(["a", "b", "c"])
    assert whole is not None
    assert torch.equal(whole, torch.cat([tensors[name] for name in "abc"]))
    assert whole.data_ptr() == file.tensor("a").data_ptr()
    for apart in (["a", "c"], ["b", "a"], ["c", "wide"], ["c", "narrow"]):
        assert file.stacked(apart) is None


def entry(shape: object = (2,), offsets: object = (0, 8), dtype: object = "F32") -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


EIGHT = b"12345678"

DAMAGED: list[tuple[str, bytes, str]] = [
    ("nothing", b"", "it has 0 bytes, expected at least 8"),
    ("seven bytes", b"1234567", "it has 7 bytes"),
    ("a header longer than the file", file_of({}, length=3), "its header has 3 bytes, expected at most 2"),
    ("a header longer than any file", file_of({}, length=2**63), f"its header has {2**63} bytes"),
    ("no JSON", file_of(b"{"), "its header is no JSON"),
    ("no UTF-8", file_of(b"\xff\xff"), "its header is no JSON"),
    ("brackets", file_of(b"[" * 100_000), "its header is no JSON"),
    ("a long number", file_of(b'{"t": ' + b"1" * 5000 + b"}"), "its header is no JSON"),
    ("a list", file_of([]), "its header is a list, expected an object"),
    ("a name twice", file_of(b'{"t": {}, "t": {}}'), "its header has 't' twice"),
    ("an entry that is none", file_of({"t": 1}), "tensor t has no dtype, shape and two data_offsets"),
    (
        "an entry without shape",
        file_of({"t": {"dtype": "F32", "data_offsets": [0, 8]}}, EIGHT),
        "tensor t has no dtype",
    ),
    ("three offsets", file_of({"t": entry(offsets=(0, 4, 8))}, EIGHT), "tensor t has no dtype"),
    ("offsets as text", file_of({"t": entry(offsets=("0", "8"))}, EIGHT), "data_offsets ['0', '8']"),
    ("offsets backwards", file_of({"t": entry(offsets=(8, 0))}, EIGHT), "data_offsets [8, 0]"),
    ("an offset below zero", file_of({"t": entry(offsets=(-8, 0))}, EIGHT), "data_offsets [-8, 0]"),
    ("a shape that is none", file_of({"t": entry(shape="2")}, EIGHT), "shape '2'"),
    ("a size below zero", file_of({"t": entry(shape=(-2,))}, EIGHT), "shape [-2]"),
    ("a size of true", file_of({"t": entry(shape=(True, 2))}, EIGHT), "shape [True, 2]"),
    ("another size", file_of({"t": entry(shape=(3,))}, EIGHT), "tensor t has shape [3] of F32 in 8 bytes"),
    ("a wild size", file_of({"t": entry(shape=(10**30,))}, EIGHT), "of F32 in 8 bytes"),
    ("data cut off", file_of({"t": entry()}, EIGHT[:5]), "tensor t ends at byte 77, the file has 74"),
    ("data beyond any file", file_of({"t": entry((2**60,), (0, 2**62))}, EIGHT), "tensor t ends at byte"),
    ("data too long", file_of({"t": entry()}, EIGHT + b"9"), "its tensors end at byte 77, the file has 78"),
    ("a gap", file_of({"t": entry((1,), (4, 8))}, EIGHT), "tensor t begins at byte 73, expected 69"),
    ("an overlap", file_of({"t": entry(), "u": entry((1,), (4, 8))}, EIGHT), "where the one before ends"),
]


@pytest.mark.parametrize(("content", "message"), [case[1:] for case in DAMAGED], ids=[case[0] for case in DAMAGED])
def test_a_damaged_file_is_refused_with_what_is_wrong(tmp_path: Path, content: bytes, message: str) -> None:
    assert message in refused(tmp_path / "x.safetensors", content).message


def test_a_pointer_of_git_lfs_is_told_from_damage(tmp_path: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3415340672\n"
    error = refused(tmp_path / "x.safetensors", pointer)
    assert "is a pointer of Git LFS, not the weights" in error.message
    assert "git lfs pull" in error.hint


def test_every_cut_of_a_file_is_refused(tmp_path: Path) -> None:
    whole = written(tmp_path / "x").read_bytes()
    for kept in range(len(whole)):
        refused(tmp_path / "cut", whole[:kept])


def test_a_type_that_torch_lacks_is_named_when_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(file_of({"t": entry(dtype="F4")}, EIGHT))
    with pytest.raises(CheckpointError, match=r"tensor t in .*x is of type F4, expected one of: BF16"):
        TensorFile(tmp_path / "x").tensor("t")


def test_a_file_that_changes_between_opening_and_reading_is_refused(tmp_path: Path) -> None:
    file = TensorFile(written(tmp_path / "x"))
    (tmp_path / "x").write_bytes(b"")
    with pytest.raises(CheckpointError, match="it has changed since it was opened"):
        file.tensor("a")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"nowhere cannot be read as safetensors: No such file"):
        TensorFile(tmp_path / "nowhere")


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 400), byte=st.integers(0, 255))
def test_a_changed_byte_is_refused_or_gives_tensors_of_the_file_and_never_ends_the_process(
    tmp_path: Path, place: int, byte: int
) -> None:
    content = bytearray(written(tmp_path / "x").read_bytes())
    content[place % len(content)] = byte
    (tmp_path / "y").write_bytes(content)
    try:
        file = TensorFile(tmp_path / "y")
        for name in file.entries:
            assert file.tensor(name).numel() >= 0
    except CheckpointError as error:
        assert error.hint  # noqa: PT017  refusing is one of two right answers


def test_pages_that_were_read_go_when_they_are_released_and_come_back_by_themselves(tmp_path: Path) -> None:
    tensors = {name: torch.full((16 * 2**20,), fill, dtype=torch.uint8) for fill, name in enumerate("abcd", start=1)}
    path = written(tmp_path / "x", tensors)
    script = (
        "import sys; from pathlib import Path\n"
        "from agent_eval.spark_backend.checkpoints.tensor_file import TensorFile\n"
        "def mapped():\n"
        "    return next(int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('RssFile'))\n"
        "def sums():\n"
        "    return [int(file.tensor(name)[::4096].sum()) for name in 'abcd']\n"
        "file = TensorFile(Path(sys.argv[1])); file.release(); expected = [4096 * fill for fill in (1, 2, 3, 4)]\n"
        "assert sums() == expected; before = mapped()\n"
        "file.release([file.tensor('c')]); most = mapped(); file.release(); print(before - most, before - mapped())\n"
        "assert sums() == expected"
    )
    run = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    but_one, whole = map(int, run.stdout.split())
    assert abs(but_one - 48 * 1024) < 1024  # KiB
    assert abs(whole - 64 * 1024) < 1024


def test_a_tensor_that_is_held_keeps_what_was_written_to_it(tmp_path: Path) -> None:
    file = TensorFile(written(tmp_path / "x"))
    held = file.tensor("b")
    held.fill_(7)
    file.release([torch.zeros(3), held])
    assert torch.equal(held, torch.full((5,), 7.0))
    assert torch.equal(file.tensor("e"), TENSORS["e"])


def test_mapped_tensors_take_no_memory_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "x"
    tensor = torch.ones(64 * 2**20, dtype=torch.uint8)
    written(path, {"t": tensor})
    script = (
        "import sys; from pathlib import Path\n"
        "from agent_eval.spark_backend.checkpoints.tensor_file import TensorFile\n"
        "def anonymous():\n"
        "    return next(int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('RssAnon'))\n"
        "file = TensorFile(Path(sys.argv[1])); before = anonymous()\n"
        "assert int(file.tensor('t')[::4096].sum()) == 16384\n"
        "print(anonymous() - before)"
    )
    run = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 8 * 1024  # KiB, of 64 MiB that were read
