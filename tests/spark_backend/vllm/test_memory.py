"""What loading freed goes back to the system, whichever allocator holds it, and only where the switch says so."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agent_eval.spark_backend.meter import memory_of, release_memory
from agent_eval.spark_backend.vllm import memory
from agent_eval.spark_backend.vllm.switches import Switches

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells RssAnon")
COMPILER = shutil.which("cc") or shutil.which("gcc")

STANDS_IN = """
static int asked;
void MallocExtension_ReleaseFreeMemory(void) { asked++; }
int times_asked(void) { return asked; }
"""


def anonymous() -> int:
    found = memory_of()
    assert found is not None
    return found.anonymous


def freed_but_kept(mib: int) -> bytes:
    """Free many small pieces below one that stays: glibc keeps them all. Returns the one."""
    pieces = [bytes([1]) * (64 << 10) for _ in range(mib * 16)]  # above this size glibc maps each by itself
    last = bytes([1]) * (64 << 10)
    del pieces
    return last


@LINUX
def test_what_was_freed_below_something_that_stays_goes_back_with_the_switch_and_stays_without() -> None:
    release_memory()
    start = anonymous()
    kept = freed_but_kept(200)
    assert anonymous() - start > 150 << 20
    assert memory.after_loading(Switches(release_memory=False)) is None
    assert anonymous() - start > 150 << 20
    released = memory.after_loading(Switches(release_memory=True))
    assert released is not None
    assert released.before is not None
    assert released.after is not None
    assert released.before - released.after > 150 << 20
    assert anonymous() - start < 50 << 20
    assert kept


def test_what_is_in_use_survives() -> None:
    pieces = [bytes([number % 256]) * 1000 for number in range(1000)]
    memory.release()
    assert pieces == [bytes([number % 256]) * 1000 for number in range(1000)]


@pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")
def test_tcmalloc_is_asked_where_it_is_mapped(tmp_path: Path) -> None:
    source, library = tmp_path / "stands_in.c", tmp_path / "stands_in.so"
    source.write_text(STANDS_IN, encoding="ascii")
    subprocess.run([str(COMPILER), "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    mapped = ctypes.CDLL(str(library))
    assert memory.release(mapped).tcmalloc
    assert mapped.times_asked() == 1


def test_a_process_without_tcmalloc_is_served_all_the_same() -> None:
    assert not memory.release(ctypes.CDLL(None)).tcmalloc
