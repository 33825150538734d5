from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agent_eval import wiring
from agent_eval.errors import CheckpointError, OperatorError, UnknownName
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.synthetic import synthetic_checkpoint
from agent_eval.spark_backend.families import family_of
from agent_eval.spark_backend.llama.builds import (
    cache_bytes,
    gguf_file,
    llama_ledger,
    load_llama,
    make_gguf,
    write_llama_folder,
)
from agent_eval.types import Sampling
from tests.spark_backend.configs import SMALL, SPARK_1_7B


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AGENT_EVAL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_checkpoint_is_converted_once_into_the_cache(checkpoint: Path, cache: Path) -> None:
    told: list[str] = []
    path = make_gguf(checkpoint, "llama-bf16", threads=1, tell=told.append)
    assert path.is_relative_to(cache / "gguf")
    assert path.name == "llama-bf16.gguf"
    assert told
    written = path.stat().st_mtime_ns
    assert make_gguf(checkpoint, "llama-bf16", threads=1) == path
    assert path.stat().st_mtime_ns == written


def test_a_checkpoint_that_changed_is_converted_again(cache: Path, tmp_path: Path) -> None:
    del cache
    synthetic_checkpoint(tmp_path / "model", SMALL, seed=8)
    before = gguf_file(tmp_path / "model", "q4_k_m")
    synthetic_checkpoint(tmp_path / "model", SMALL, seed=9)
    assert gguf_file(tmp_path / "model", "q4_k_m") != before


def test_other_weights_have_another_place_in_the_cache(checkpoint: Path, cache: Path, tmp_path: Path) -> None:
    del cache
    synthetic_checkpoint(tmp_path / "other", SMALL, seed=8)
    assert gguf_file(checkpoint, "q4_k_m") != gguf_file(tmp_path / "other", "q4_k_m")


def test_a_folder_that_is_no_checkpoint_is_named(tmp_path: Path, cache: Path) -> None:
    del cache
    with pytest.raises(CheckpointError, match=r"no model\.safetensors"):
        gguf_file(tmp_path, "q4_k_m")


def test_the_names_are_builds_of_every_command() -> None:
    assert wiring.choose_builds(["bf16", "q4_k_m", "llama-bf16"]).names == ("bf16", "q4_k_m", "llama-bf16")
    with pytest.raises(UnknownName, match=r"unknown build 'Q4_K_M'; .*q4_k_m, llama-bf16"):
        wiring.choose_builds(["Q4_K_M"])


# The published shape with a context of 16,384: the sizes that llama.cpp logs of its own memory for such a file.
def test_the_ledger_says_what_llama_says_of_its_memory() -> None:
    mib = 2**20
    ledger = llama_ledger(SPARK_1_7B, "q4_k_m", 16_384)
    by_part = {entry.part: entry for entry in ledger.entries}
    assert cache_bytes(SPARK_1_7B, 16_384) / mib == 224 + 42
    copied = sum(by_part[part].anonymous for part in ("attention projections", "MLP projections", "gates and norms"))
    assert round(copied / mib, 2) == 622.37
    weights = sum(entry.mapped + entry.anonymous for entry in ledger.entries[:5])
    assert round(weights / mib, 2) == 1051.02
    assert ledger.read_per_token == weights + by_part["embedding"].read_per_token


def test_a_short_context_keeps_the_window_only_as_long_as_itself() -> None:
    assert cache_bytes(SPARK_1_7B, 256) == 28 * 256 * 2 * 512 * 2


_MADE_AND_LOADED = """
import sys
from pathlib import Path
from agent_eval.spark_backend.llama.builds import load_llama, make_gguf
folder = Path(sys.argv[1])
make_gguf(folder, "q4_k_m", threads=4)
load_llama(folder, "q4_k_m", threads=1, context=64)
print("loaded")
"""


@pytest.mark.peers
def test_a_process_can_load_what_its_own_threads_have_made(checkpoint: Path, cache: Path) -> None:
    pytest.importorskip("xllamacpp")
    del cache
    command = [sys.executable, "-c", _MADE_AND_LOADED, str(checkpoint)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "loaded\n"), ended.stderr


@pytest.mark.peers
class TestLoaded:
    @pytest.fixture(autouse=True)
    def _installed(self) -> None:
        pytest.importorskip("xllamacpp")

    @pytest.mark.parametrize(
        ("build", "said"),
        [
            ("q4_k_m", "rows that are no whole blocks of 256 are in Q5_0, Q8_0"),
            ("llama-bf16", "weights as stored, in bfloat16"),
            ("llama-fp32", "weights in float32"),
        ],
    )
    def test_a_build_is_opened_by_its_name_and_says_what_it_is(
        self, checkpoint: Path, cache: Path, build: str, said: str
    ) -> None:
        del cache
        opened = family_of(build).open(checkpoint, build, threads=1, context=64)
        notes = opened.description.notes
        assert said in notes
        assert "tanh approximation" in notes
        assert "xllamacpp 20" in notes
        assert notes == family_of(build).describe(checkpoint, build).notes
        assert opened.ledger == family_of(build).ledger(checkpoint, build, 64)
        assert len(opened.engine.generate([3, 4, 5], frozenset(), Sampling(max_tokens=5)).ids) == 5

    def test_a_file_in_the_folder_is_taken_as_it_is(self, checkpoint: Path, cache: Path, tmp_path: Path) -> None:
        write_llama_folder(checkpoint, "q4_k_m", tmp_path / "out", threads=1)
        names = {path.name for path in (tmp_path / "out").iterdir()}
        assert names == {"model.gguf", "config.json", "tokenizer.json", "chat_template.jinja", "card.json"}
        loaded = load_llama(tmp_path / "out", "q4_k_m", threads=1, context=64)
        assert loaded.config == SMALL
        assert not cache.exists()

    def test_a_file_of_another_build_is_refused(self, checkpoint: Path, tmp_path: Path) -> None:
        write_llama_folder(checkpoint, "llama-bf16", tmp_path / "out", threads=1)
        with pytest.raises(CheckpointError, match=r"file type 32 .* expected .* file type 15 \(q4_k_m\)"):
            load_llama(tmp_path / "out", "q4_k_m", threads=1, context=64)

    def test_a_file_of_another_model_is_refused(self, checkpoint: Path, tmp_path: Path) -> None:
        write_llama_folder(checkpoint, "q4_k_m", tmp_path / "out", threads=1)
        synthetic_checkpoint(tmp_path / "other", replace(SMALL, intermediate_size=128), seed=1)
        shutil.copyfile(tmp_path / "other" / "config.json", tmp_path / "out" / "config.json")
        expected = SparkConfig.from_folder(tmp_path / "other").parameters
        with pytest.raises(CheckpointError, match=rf"{SMALL.parameters} weights; expected .* {expected}"):
            load_llama(tmp_path / "out", "q4_k_m", threads=1, context=64)

    def test_a_folder_with_other_weights_is_not_written_to(self, checkpoint: Path) -> None:
        with pytest.raises(OperatorError, match="holds other weights already"):
            write_llama_folder(checkpoint, "q4_k_m", checkpoint, threads=1)
