"""What every ``Sink`` promises. Implementations: JSON lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_eval.errors import RunFolderError
from agent_eval.records import JsonLinesSink
from tests.test_records import record


def test_records_stand_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    with JsonLinesSink(tmp_path / "episodes.jsonl") as sink:
        for seed in (2, 0, 1):
            sink.append(record(seed))
    lines = (tmp_path / "episodes.jsonl").read_text().split("\n")[:-1]
    assert [f'"seed":{seed},' in line for seed, line in zip((2, 0, 1), lines, strict=True)] == [True] * 3


def test_what_was_there_stays(tmp_path: Path) -> None:
    for seed in (0, 1):
        with JsonLinesSink(tmp_path / "episodes.jsonl") as sink:
            sink.append(record(seed))
    assert len((tmp_path / "episodes.jsonl").read_text().split("\n")[:-1]) == 2


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="missing"):
        JsonLinesSink(tmp_path / "missing" / "episodes.jsonl")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_disk_is_named() -> None:
    with JsonLinesSink(Path("/dev/full")) as sink, pytest.raises(RunFolderError, match="cannot write to run folder"):
        sink.append(record(0))
