from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.device_sim.adb.shell_frames import Frame, FrameReader, Kind, WindowSize, encode, window_size


def joined(frames: list[Frame]) -> list[Frame]:
    """Put the pieces of the standard input together."""
    whole: list[Frame] = []
    for frame in frames:
        if whole and frame.kind == whole[-1].kind == Kind.STDIN:
            whole[-1] = Frame(Kind.STDIN, whole[-1].data + frame.data)
        else:
            whole.append(frame)
    return whole


TABLE = [
    (b"\x00\x02\x00\x00\x00hi", [Frame(Kind.STDIN, b"hi")]),
    (b"\x00\x00\x00\x00\x00", []),
    (b"\x04\x00\x00\x00\x00", [Frame(Kind.CLOSE_STDIN, b"")]),
    (b"\x05\x0a\x00\x00\x0024x80,0x0\x00", [Frame(Kind.WINDOW_SIZE, b"24x80,0x0\x00")]),
    (b"\x09\x01\x00\x00\x00?\x04\x00\x00\x00\x00", [Frame(9, b"?"), Frame(Kind.CLOSE_STDIN, b"")]),
]


@pytest.mark.parametrize(("data", "frames"), TABLE)
def test_frames_are_read_as_in_the_table_wherever_they_are_split(data: bytes, frames: list[Frame]) -> None:
    for split in range(len(data) + 1):
        reader = FrameReader()
        assert joined(reader.feed(data[:split]) + reader.feed(data[split:])) == frames


@pytest.mark.parametrize(
    ("kind", "data", "written"),
    [
        (Kind.STDOUT, b"hi", b"\x01\x02\x00\x00\x00hi"),
        (Kind.EXIT, b"\x7f", b"\x03\x01\x00\x00\x00\x7f"),
        (Kind.STDERR, b"", b"\x02\x00\x00\x00\x00"),
    ],
)
def test_frames_are_written_as_in_the_table(kind: Kind, data: bytes, written: bytes) -> None:
    assert encode(kind, data) == written


def test_large_output_is_cut_into_frames_of_64_kilobytes() -> None:
    written = encode(Kind.STDOUT, bytes(70000))
    assert written[:5] == b"\x01\x00\x00\x01\x00"
    assert len(written) == 70010


def test_a_frame_that_announces_four_gigabytes_is_passed_on_as_it_comes() -> None:
    reader = FrameReader()
    assert reader.feed(b"\x00\xff\xff\xff\xffabc") == [Frame(Kind.STDIN, b"abc")]
    assert reader.feed(b"def") == [Frame(Kind.STDIN, b"def")]


def test_of_a_huge_window_size_only_the_beginning_is_held() -> None:
    reader = FrameReader()
    assert reader.feed(b"\x05\x00\x00\x10\x00" + bytes(0x0FFFFF)) == []
    (frame,) = reader.feed(b"\x00")
    assert len(frame.data) == 64


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (b"24x80,0x0", WindowSize(24, 80)),
        (b"50x132,1000x2000\x00", WindowSize(50, 132)),
        (b"24x80", WindowSize(24, 80)),
        (b"", None),
        (b"x", None),
        (b"-1x80,0x0", None),
        (b"999999999999x80", None),
        (b"\xb2x80", None),
    ],
)
def test_a_window_size_is_read_or_none(text: bytes, size: WindowSize | None) -> None:
    assert window_size(text) == size


@given(st.lists(st.binary(max_size=40), max_size=8))
def test_any_bytes_in_any_pieces_give_the_same_frames(parts: list[bytes]) -> None:
    reader, at_once = FrameReader(), FrameReader()
    found = [frame for part in parts for frame in reader.feed(part)]
    assert joined(found) == joined(at_once.feed(b"".join(parts)))
