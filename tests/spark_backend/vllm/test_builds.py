"""Which folder vLLM loads for a build, and what is said of a build: none of it needs vLLM."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import pytest

from agent_eval.errors import OperatorError, UnknownName
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.convert import conversion_of, convert
from agent_eval.spark_backend.families import EngineChoice, VllmBuilds, family_of
from agent_eval.spark_backend.quant.name import parse_build
from agent_eval.spark_backend.vllm import builds
from agent_eval.spark_backend.vllm.room import vllm_room
from tests.fakes import tiny_checkpoint

HAS_VLLM = importlib.util.find_spec("vllm") is not None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("builds") / "tiny"
    tiny_checkpoint(made, seed=1)
    return made


def test_vllm_computes_the_grammar_and_llama_cpp_its_own_mixtures() -> None:
    choice = EngineChoice("vllm")
    assert family_of("w4a8", choice) == VllmBuilds(choice)
    assert type(family_of("q4_k_m", choice)) is type(family_of("q4_k_m"))


@pytest.mark.parametrize("name", ["bf16", "fp32"])
def test_a_build_that_quantises_nothing_is_the_checkpoint_itself(folder: Path, name: str) -> None:
    assert builds.served_folder(folder, name) == folder


@pytest.mark.parametrize("name", ["w4a16", "w4a8", "w4a8-asym"])
def test_a_quantised_folder_is_loaded_as_it_is_and_any_other_is_written_once(
    folder: Path, tmp_path: Path, name: str
) -> None:
    served = builds.served_folder(folder, name)
    assert served != folder
    assert served.name == name
    convert(folder, tmp_path / name, conversion_of(parse_build(name), group=None, method="rtn"))
    assert builds.served_folder(tmp_path / name, name) == tmp_path / name


def test_what_was_written_of_a_checkpoint_is_not_found_again_once_it_has_changed(tmp_path: Path) -> None:
    tiny_checkpoint(tmp_path / "model")
    before = builds.served_folder(tmp_path / "model", "w4a8")
    os.utime(tmp_path / "model" / "model.safetensors", ns=(1, 1))
    assert builds.served_folder(tmp_path / "model", "w4a8") != before


@pytest.mark.parametrize("name", ["w2a16", "w8a8", "w3a16"])
def test_a_build_without_a_folder_format_is_refused_and_the_other_engine_named(folder: Path, name: str) -> None:
    with pytest.raises(OperatorError, match=name) as caught:
        builds.served_folder(folder, name)
    assert "--engine torch" in caught.value.hint


def test_a_name_that_is_none_is_refused(folder: Path) -> None:
    with pytest.raises(UnknownName):
        builds.describe_vllm(folder, "w4")


@pytest.mark.skipif(HAS_VLLM, reason="vLLM is installed here")
def test_where_vllm_is_missing_the_way_to_it_is_named(folder: Path) -> None:
    with pytest.raises(OperatorError, match="not installed") as caught:
        builds.prepare(folder, "w4a8", threads=1)
    assert "make vllm" in caught.value.hint


@pytest.mark.parametrize("name", ["bf16", "fp32", "w4a16", "w4a8"])
def test_a_build_is_described_and_reckoned_without_vllm(folder: Path, name: str) -> None:
    config = SparkConfig.from_folder(folder)
    described, ledger = builds.describe_vllm(folder, name), builds.vllm_ledger(folder, name, 512, in_flight=3)
    assert described.kernels.startswith("vLLM ")
    parts = {entry.part: entry for entry in ledger.entries}
    bytes_ = 4 if name == "fp32" else 2
    assert parts["keys and values"].anonymous == vllm_room(config, 512, sequences=3, value_bytes=bytes_).bytes
    assert parts["rotary tables"].anonymous == (32 + 8) * 512 * bytes_  # sliding layers rotate all, full ones a quarter
    assert ledger.mapped == 0


@pytest.mark.vllm
@pytest.mark.skipif(not HAS_VLLM, reason="needs the vLLM environment: make vllm")
class TestLoaded:
    """With vLLM."""

    @pytest.mark.parametrize("name", ["bf16", "w4a16", "w4a8", "w4a8-asym"])
    def test_a_loaded_build_says_which_kernels_serve_it_and_its_head(self, folder: Path, name: str) -> None:
        loaded = builds.load(folder, name, threads=1, context=128)
        words = loaded.description.kernels
        assert words.startswith("vLLM ")
        assert "head: " in words
        assert ("vLLM's bfloat16 linear" in words) == (name == "bf16")
        loaded.head()
        table: Any = loaded.engine.model
        assert hasattr(table.model.embed_tokens, "cpu_linear") == (name == "bf16"), "packed only where it is the head"

    def test_a_folder_is_written_once_and_left_alone_by_the_next_command(self, folder: Path) -> None:
        first = builds.prepare(folder, "w4a8", threads=1)
        written = (first / "model.safetensors").stat().st_mtime_ns
        told: list[str] = []
        assert builds.prepare(folder, "w4a8", threads=1, tell=told.append) == first
        assert (first / "model.safetensors").stat().st_mtime_ns == written
        assert told == []
        assert [path.name for path in first.parent.iterdir() if path.name.startswith(".")] == []
