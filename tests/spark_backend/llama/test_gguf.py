from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.errors import OperatorError
from agent_eval.spark_backend.llama.gguf import BlockType, PlannedTensor, write_gguf
from tests.spark_backend.llama.reading import read_gguf


def planned(name: str, data: bytes, shape: tuple[int, ...], type_: BlockType = BlockType.F32) -> PlannedTensor:
    return PlannedTensor(name, shape, type_, lambda: [data])


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        (True, 7),
        (5, 4),
        (2**32 - 1, 4),
        (0.5, 6),
        ("spark2_5", 8),
        ("", 8),
        ("<｜start▁of▁sentence｜>", 8),
        ([True, False], 107),
        ([1, -3], 105),
        (["a", "b c"], 108),
    ],
)
def test_a_value_of_each_kind_comes_back(value: Any, type_: int, tmp_path: Path) -> None:
    path = tmp_path / "one.gguf"
    write_gguf(path, {"first": 1, "key": value, "last": "end"}, [])
    read = read_gguf(path)
    assert (read.metadata["key"], read.types["key"]) == (value, type_)
    assert (read.metadata["first"], read.metadata["last"]) == (1, "end")


VALUES = st.one_of(
    st.booleans(),
    st.integers(0, 2**32 - 1),
    st.floats(width=32, allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1),
    st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1),
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), VALUES))
def test_any_metadata_comes_back(tmp_path_factory: pytest.TempPathFactory, metadata: dict[str, Any]) -> None:
    path = tmp_path_factory.mktemp("gguf") / "any.gguf"
    write_gguf(path, metadata, [])
    assert read_gguf(path).metadata == metadata


@given(st.lists(st.integers(1, 40), max_size=6))
def test_every_tensor_begins_at_a_multiple_of_the_alignment(
    tmp_path_factory: pytest.TempPathFactory, widths: list[int]
) -> None:
    path = tmp_path_factory.mktemp("gguf") / "tensors.gguf"
    data = [struct.pack(f"<{width}f", *range(width)) for width in widths]
    write_gguf(path, {}, [planned(str(i), part, (len(part) // 4,)) for i, part in enumerate(data)])
    read = read_gguf(path)
    for i, part in enumerate(data):
        assert read.tensors[str(i)].offset % 32 == 0
        assert read.bytes_of(str(i), len(part)) == part
    assert path.stat().st_size % 32 == 0


def test_the_width_of_a_row_comes_first_and_parts_follow_each_other(tmp_path: Path) -> None:
    path = tmp_path / "two.gguf"

    def rows() -> Iterator[bytes]:
        for row in range(5):
            yield struct.pack("<3f", *(10 * row + column for column in range(3)))

    write_gguf(path, {}, [PlannedTensor("weight", (5, 3), BlockType.F32, rows)])
    read = read_gguf(path)
    assert read.tensors["weight"].sizes == (3, 5)
    assert struct.unpack("<15f", read.bytes_of("weight", 60)) == tuple(10 * r + c for r in range(5) for c in range(3))


@pytest.mark.parametrize(
    ("type_", "bits"),
    [("F32", 32), ("F16", 16), ("BF16", 16), ("Q8_0", 8.5), ("Q5_0", 5.5), ("Q4_K", 4.5), ("Q6_K", 6.5625)],
)
def test_blocks_take_the_bits_that_the_format_says(type_: str, bits: float) -> None:
    block = BlockType[type_]
    assert block.bytes_of((3, 512)) == math.prod((3, 512)) * bits / 8


def test_a_row_of_no_whole_blocks_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(AssertionError, match="no whole blocks"):
        BlockType.Q4_K.bytes_of((4, 300))


def test_a_file_that_was_not_finished_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"

    def broken() -> Iterator[bytes]:
        yield bytes(4)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_gguf(path, {}, [PlannedTensor("weight", (2,), BlockType.F32, broken)])
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OperatorError, match=r"file/model\.gguf cannot be written"):
        write_gguf(tmp_path / "file" / "model.gguf", {}, [])
