"""Loading the compiled library, choosing a variant, and what happens where one is missing or wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agent_eval.environment import KERNEL_CHOICES
from agent_eval.errors import OperatorError, UnknownName
from agent_eval.spark_backend.kernels import library
from agent_eval.spark_backend.kernels.library import PLAIN, SIGNATURES, VERSION, Library, opened

needs_library = pytest.mark.skipif(not library.available(), reason="the kernels are not built")


class FakeNative:
    """A library of three variants and one for tests, of which a processor runs some and some compute rightly."""

    def __init__(self, runs: str, right: str) -> None:
        self._variants, self._runs, self._right = ["emulated", "generic", "avx2", "avx512"], runs.split(), right.split()
        self.selected = b"generic"

    def sk_variant(self, index: int) -> bytes | None:
        return self._variants[index].encode() if index < len(self._variants) else None

    def sk_runs(self, name: bytes) -> int:
        return int(name.decode() in self._runs)

    def sk_check(self, name: bytes) -> int:
        return int(name.decode() in self._right)

    def sk_select(self, name: bytes) -> int:
        self.selected = name
        return 1

    def sk_isa(self) -> bytes:
        return self.selected


@pytest.mark.parametrize(
    ("runs", "right", "most", "serves", "noted"),
    [
        ("generic avx2 avx512", "generic avx2 avx512", None, "avx512", ""),
        ("generic avx2", "generic avx2 avx512", None, "avx2", ""),
        ("generic", "generic", None, "generic", ""),
        ("generic avx2 avx512", "generic avx2", None, "avx2", "avx512"),
        ("generic avx2 avx512", "generic", None, "generic", "avx512 and avx2"),
        ("generic avx2 avx512", "generic avx2 avx512", "avx2", "avx2", ""),
        ("generic", "generic avx2 avx512", "avx2", "generic", ""),
        ("generic avx2 avx512", "generic avx2 avx512", "generic", "generic", ""),
    ],
)
def test_the_best_variant_that_runs_here_and_computes_rightly_serves(
    runs: str, right: str, most: str | None, serves: str, noted: str
) -> None:
    chosen = Library(FakeNative(runs, right), most)
    assert chosen.isa == serves
    assert noted in chosen.note
    assert bool(noted) == bool(chosen.note)


@pytest.mark.parametrize(
    ("isa", "error", "said"),
    [
        ("sse9", UnknownName, "'sse9'"),
        ("avx512", OperatorError, "does not run"),
        ("avx2", OperatorError, "do not compute"),
    ],
)
def test_a_variant_that_cannot_serve_is_refused_by_name(isa: str, error: type[OperatorError], said: str) -> None:
    chosen = Library(FakeNative("generic avx2", "generic"))
    with pytest.raises(error, match=said) as refused:
        chosen.use(isa)
    assert refused.value.hint
    assert chosen.isa == "generic"


def test_no_file_and_foreign_files_are_no_library(tmp_path: Path) -> None:
    text = tmp_path / "text.so"
    text.write_text("not a library")
    assert opened(tmp_path / "absent.so") is None
    assert opened(text) is None
    assert opened(tmp_path) is None


@needs_library
def test_a_library_without_the_functions_is_no_library() -> None:
    import _ctypes

    assert opened(Path(_ctypes.__file__)) is None


@needs_library
def test_every_variant_that_runs_here_computes_what_the_plain_one_does() -> None:
    loaded = library.load()
    assert PLAIN in loaded.usable()
    assert [name for name in loaded.usable() if not loaded.native.sk_check(name.encode())] == []
    assert loaded.note == ""


@needs_library
def test_the_library_is_of_the_version_that_is_expected() -> None:
    assert library.load().native.sk_version() == VERSION
    assert len(SIGNATURES) >= 10


@needs_library
def test_a_variant_is_used_for_a_while() -> None:
    before = library.load().isa
    with library.using("generic") as loaded:
        assert loaded.isa == library.load().isa == "generic"
    assert loaded.isa == before


SAYS_WHAT_SERVES = """
from agent_eval.spark_backend.kernels import library
print(library.load().isa if library.available() else "none")
"""


@needs_library
def test_the_choices_of_the_environment_are_the_variants() -> None:
    known = library.load().known
    assert list(KERNEL_CHOICES) == ["off", *known[known.index(PLAIN) :]]


@needs_library
@pytest.mark.parametrize("allowed", [*KERNEL_CHOICES, None])
def test_the_environment_bounds_the_choice(allowed: str | None) -> None:
    loaded = library.load()
    usable = loaded.usable()
    if allowed == "off":
        expected = "none"
    elif allowed is None:
        expected = usable[-1]
    else:
        bound = loaded.known.index(allowed)
        expected = [name for name in usable if loaded.known.index(name) <= bound][-1]
    command = ["env", "-u", "AGENT_EVAL_KERNELS", *([f"AGENT_EVAL_KERNELS={allowed}"] if allowed else [])]
    run = subprocess.run([*command, sys.executable, "-c", SAYS_WHAT_SERVES], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == expected


@needs_library
def test_importing_loads_nothing() -> None:
    script = "import agent_eval.spark_backend.kernels.linear\nprint('_kernels.so' in open('/proc/self/maps').read())\n"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


@needs_library
def test_the_reading_speed_is_a_number_of_bytes_per_second() -> None:
    assert library.load().stream_read(2**24, 1) > 2**20
