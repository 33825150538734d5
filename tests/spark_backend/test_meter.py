"""What the meter reads of this machine, held against what is known to have happened."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from agent_eval.spark_backend import meter

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells")
MIB = 2**20


@LINUX
def test_memory_that_is_taken_is_seen_and_memory_that_is_given_back_is_gone() -> None:
    meter.release_memory()  # what tests before have freed would be taken again unseen
    before = meter.memory_of()
    taken = torch.ones(64 * MIB, dtype=torch.uint8)
    during = meter.memory_of()
    del taken
    meter.release_memory()
    after = meter.memory_of()
    assert before is not None
    assert during is not None
    assert after is not None
    assert during.anonymous - before.anonymous > 60 * MIB
    assert during.anonymous - after.anonymous > 60 * MIB


@LINUX
def test_a_mapped_file_is_not_anonymous(tmp_path: Path) -> None:
    file = tmp_path / "weights"
    file.write_bytes(bytes(32 * MIB))
    before = meter.memory_of()
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert not any(mapped[:: mmap.PAGESIZE])  # a byte of each page
        after = meter.memory_of()
    assert before is not None
    assert after is not None
    assert after.mapped - before.mapped > 30 * MIB
    assert after.anonymous - before.anonymous < 8 * MIB


@LINUX
def test_another_process_is_read_by_its_number_and_one_that_is_gone_has_none() -> None:
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    child = subprocess.Popen([sys.executable, "-c", "print('up', flush=True); input()"], **pipes)
    try:
        assert child.stdout is not None
        child.stdout.readline()
        seen = meter.memory_of(child.pid)
        assert seen is not None
        assert seen.anonymous > MIB
    finally:
        child.communicate(b"\n")
    assert meter.memory_of(child.pid) is None


@LINUX
def test_a_peak_is_seen_though_it_was_given_back_before_the_end() -> None:
    with meter.PeakMemory() as watched:
        before = meter.memory_of()
        # of the system itself: torch might be given what tests before have freed, and the process would not grow
        with mmap.mmap(-1, 64 * MIB, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as taken:
            for page in range(0, 64 * MIB, mmap.PAGESIZE):
                taken[page] = 1
            time.sleep(20 * meter.SAMPLE_S)
    assert before is not None
    assert watched.peak is not None
    assert watched.peak - before.anonymous > 60 * MIB


@pytest.mark.parametrize("text", ["", "Name:\tx\n", "RssAnon:\nRssFile:\n", "RssAnon: many kB\nRssFile: 1 kB\n"])
def test_a_system_that_does_not_tell_gives_nothing(tmp_path: Path, text: str) -> None:
    assert meter.memory_of(7, tmp_path) is None
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "status").write_text(text)
    assert meter.memory_of(7, tmp_path) is None
    assert meter.processor_time(tmp_path) is None


@LINUX
def test_files_are_forgotten_and_come_back_when_they_are_read(tmp_path: Path) -> None:
    files = [tmp_path / "a", tmp_path / "b"]
    for file in files:
        file.write_bytes(bytes(4 * MIB))
    if meter.forget_files(files) != 0:
        pytest.skip("this file system keeps its files in memory")
    assert meter.resident_share(files) == 0
    files[0].read_bytes()
    assert meter.resident_share(files) == pytest.approx(0.5, abs=0.01)


@LINUX
def test_a_file_that_is_mapped_cannot_be_forgotten_and_the_meter_says_so(tmp_path: Path) -> None:
    file = tmp_path / "weights"
    file.write_bytes(bytes(4 * MIB))
    mapped = torch.from_file(str(file), size=4 * MIB, dtype=torch.uint8, shared=True)
    assert int(mapped.sum()) == 0
    assert meter.forget_files([file]) == 1


def test_an_empty_file_and_no_file_are_in_memory_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert meter.resident_share([tmp_path / "empty"]) == 0
    assert meter.resident_share([]) == 0


def test_processor_time_is_read_from_the_first_line_of_stat(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text("cpu  100 20 30 9000 50 6 4 200 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n")
    tick = os.sysconf("SC_CLK_TCK")
    found = meter.processor_time(tmp_path)
    assert found is not None
    assert found.busy == pytest.approx(360 / tick)
    assert found.stolen == pytest.approx(200 / tick)


def test_a_process_that_computes_uses_processor_time() -> None:
    before = meter.own_processor_time()
    until = time.process_time() + 0.05
    while time.process_time() < until:
        pass
    assert meter.own_processor_time() - before >= 0.03


@pytest.mark.parametrize("threads", [1, 2])
def test_the_bandwidth_is_that_of_memory(threads: int) -> None:
    found = meter.streaming_bandwidth(threads, size=16 * MIB, repeats=1)
    assert 1e8 < found.bytes_per_s < 1e13
    assert found.by in ("kernels", "torch")
    assert 1e8 < meter._read_with_torch(threads, 16 * MIB, 1) < 1e13
