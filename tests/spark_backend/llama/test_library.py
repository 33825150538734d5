from __future__ import annotations

import ctypes.util
import subprocess
import sys
from pathlib import Path

import pytest

from agent_eval.errors import EngineFault, OperatorError
from agent_eval.spark_backend.llama.library import Library, computed, load


def test_a_library_of_something_else_is_refused() -> None:
    name = ctypes.util.find_library("m")
    assert name is not None
    with pytest.raises(OperatorError, match=r"the mathematics cannot be used: .*llama_backend_init") as refused:
        Library(name, "the mathematics")
    assert refused.value.hint.endswith("pip install 'agent-eval[llama]'")


def test_a_file_that_is_no_library_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "libllama.so"
    path.write_text("no library")
    with pytest.raises(OperatorError, match=r"this file cannot be used"):
        Library(str(path), "this file")


# None in sys.modules is what Python itself takes for a package that is known to be absent
WITHOUT = """
import sys
sys.modules["xllamacpp"] = None
from agent_eval.cli import main
raise SystemExit(main(["run", "--builds", "q4_k_m", "--tasks", "WifiSet", "--out", sys.argv[1]]))
"""


def test_where_it_is_not_installed_a_command_says_what_to_install(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WITHOUT, str(tmp_path / "run")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode != 0
    assert "builds of llama.cpp need the package xllamacpp" in run.stderr
    assert "hint: pip install 'agent-eval[llama]'" in run.stderr
    assert "Traceback" not in run.stderr
    assert not (tmp_path / "run").exists()


@pytest.fixture
def library() -> Library:
    pytest.importorskip("xllamacpp")
    return load()


@pytest.mark.peers
def test_it_is_loaded_once(library: Library) -> None:
    assert load() is library


@pytest.mark.peers
def test_it_says_what_it_is_and_what_it_was_built_for(library: Library) -> None:
    assert library.name.startswith("xllamacpp 20")
    assert "AVX2" in library.instructions or "NEON" in library.instructions


@pytest.mark.peers
def test_the_layout_of_its_parameters_is_the_one_known(library: Library) -> None:
    parameters = library.context_parameters(full_sliding_cache=True)
    assert (parameters.n_ctx, parameters.n_batch, parameters.n_seq_max) == (512, 2048, 1)
    assert (parameters.type_k, parameters.type_v) == (1, 1)


@pytest.mark.peers
def test_the_switch_of_sliding_caches_is_one_byte(library: Library) -> None:
    full, short = (bytes(library.context_parameters(full_sliding_cache=full).rest) for full in (True, False))
    assert [(a, b) for a, b in zip(full[:64], short[:64], strict=True) if a != b] == [(1, 0)]


@pytest.mark.peers
def test_what_it_cannot_do_is_told_in_its_own_words(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF" + bytes(20))
    handle = library.llama_model_load_from_file(str(path).encode(), library.llama_model_default_params())
    assert not handle
    with pytest.raises(EngineFault, match=r"llama\.cpp cannot load this: .*broken\.gguf"):
        computed(library, handle, "load this")


@pytest.mark.peers
def test_it_prints_nothing(library: Library, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    library.llama_model_load_from_file(str(tmp_path / "absent").encode(), library.llama_model_default_params())
    assert capfd.readouterr() == ("", "")
