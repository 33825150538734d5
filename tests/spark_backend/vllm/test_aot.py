"""The shim completes what torch loads, only while it is installed and only what lacks the method; vLLM then loads."""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("vllm")

import torch
from vllm.config import VllmConfig

from agent_eval import wiring
from agent_eval.spark_backend.probe import probe_machine
from agent_eval.spark_backend.vllm import aot

pytestmark = pytest.mark.vllm

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="inductor needs a C++ compiler")


@pytest.fixture(autouse=True)
def stock() -> Iterator[Any]:
    """Begin and end without the shim."""
    aot.uninstall()
    yield torch.compiler.load_compiled_function
    aot.uninstall()


def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file that torch wrote: a function that inductor compiled for the CPU."""
    file = tmp_path_factory.mktemp("compiled") / "function"
    function: Any = torch.compile(doubled, fullgraph=True)
    function.aot_compile(((torch.ones(3),), {})).save_compiled_function(str(file))
    return file


def loaded(file: Path) -> Any:
    with file.open("rb") as stream:
        return torch.compiler.load_compiled_function(stream, f_globals=globals())


def test_this_vllm_asks_for_the_method() -> None:
    assert aot.asked_for()


def test_installing_twice_is_once_and_uninstalling_puts_back_what_was(stock: Any) -> None:
    assert not aot.installed()
    assert aot.install()
    wrapper = torch.compiler.load_compiled_function
    assert wrapper is not stock
    assert aot.install()
    assert torch.compiler.load_compiled_function is wrapper
    aot.uninstall()
    assert torch.compiler.load_compiled_function is stock
    aot.uninstall()
    assert torch.compiler.load_compiled_function is stock


@needs_compiler
def test_a_function_of_inductor_lacks_the_method_without_the_shim_and_has_it_with(
    compiled: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    without = loaded(compiled)
    assert not hasattr(without._artifacts.compiled_fn, aot.METHOD)
    assert caplog.messages == []
    assert aot.install()
    complete = loaded(compiled)
    assert complete._artifacts.compiled_fn.finalize_loading(None) is None
    assert [message for message in caplog.messages if aot.METHOD in message] == caplog.messages
    assert len(caplog.messages) == 1
    assert torch.equal(complete(torch.ones(3)), without(torch.ones(3)))
    aot.uninstall()
    assert not hasattr(loaded(compiled)._artifacts.compiled_fn, aot.METHOD)


def test_a_function_that_has_the_method_keeps_it() -> None:
    class Own:
        def finalize_loading(self, vllm_config: object) -> object:
            return vllm_config

    own = Own()
    assert not aot.complete(SimpleNamespace(_artifacts=SimpleNamespace(compiled_fn=own)))
    assert own.finalize_loading("untouched") == "untouched"


@pytest.mark.parametrize(
    "strange",
    [
        None,
        SimpleNamespace(_artifacts=None),
        SimpleNamespace(_artifacts=SimpleNamespace(compiled_fn=len)),  # takes no attributes
    ],
)
def test_what_looks_otherwise_is_left_alone(strange: object) -> None:
    assert not aot.complete(strange)


def test_what_one_processor_compiled_is_kept_under_another_key_than_anothers() -> None:
    keys = []
    for flags in (("avx2",), ("avx2", "avx512f"), ("avx2",)):
        made = VllmConfig(additional_config={"of": "somebody else"})
        aot.keep_apart(made, dataclasses.replace(probe_machine(), cpu_flags=flags))
        assert made.additional_config["of"] == "somebody else"
        keys.append(made.compute_hash())
    assert keys[0] == keys[2] != keys[1]


START = """
import json, sys
from agent_eval import environment
with environment.lent_to_vllm():
    from vllm import EngineArgs, LLMEngine, SamplingParams
    from vllm.compilation.counter import compilation_counter
    engine = LLMEngine.from_engine_args(EngineArgs(
        model=sys.argv[1], dtype="float32", skip_tokenizer_init=True, generation_config="vllm", max_model_len=512,
        max_num_seqs=1, max_num_batched_tokens=512, kv_cache_memory_bytes=32 << 20, disable_log_stats=True,
        enforce_eager=sys.argv[2] == "eager",
    ))
sampling = SamplingParams(temperature=0, max_tokens=24, ignore_eos=True, detokenize=False)
engine.add_request("0", {"prompt_token_ids": list(range(3, 40))}, sampling)
while engine.has_unfinished_requests():
    outputs = engine.step()
told = {"ids": list(outputs[0].outputs[0].token_ids), "loaded": compilation_counter.num_aot_artifacts_loaded,
        "compiled": compilation_counter.num_aot_compiles}
print("TOLD" + json.dumps(told))
"""


def started(cache: Path, mode: str, switches: str) -> dict[str, Any]:
    """Start vLLM on nano in a process of its own; return what it generated and how it came by its graph."""
    run = subprocess.run(
        [sys.executable, "-c", START, str(wiring.find_checkpoint("nano")), mode],
        env={**os.environ, "AGENT_EVAL_VLLM": switches, "VLLM_CACHE_ROOT": str(cache), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in run.stdout.splitlines() if line.startswith("TOLD")]
    assert lines, run.stderr[-4000:]
    told: dict[str, Any] = json.loads(lines[0].removeprefix("TOLD"))
    return told


@pytest.mark.slow
@needs_compiler
def test_vllm_loads_what_it_compiled_with_the_shim_compiles_again_without_and_computes_the_same(tmp_path: Path) -> None:
    eager = started(tmp_path, "eager", "")
    first = started(tmp_path, "compiled", "aot-shim")
    without = started(tmp_path, "compiled", "no-aot-shim")
    with_it = started(tmp_path, "compiled", "aot-shim")
    assert [(each["compiled"], each["loaded"]) for each in (eager, first, without, with_it)] == [
        (0, 0),
        (1, 0),
        (1, 0),
        (0, 1),
    ]
    assert eager["ids"] == first["ids"] == without["ids"] == with_it["ids"]


@pytest.mark.slow
@needs_compiler
def test_what_was_compiled_for_one_gate_is_not_loaded_for_the_other(tmp_path: Path) -> None:
    summed = started(tmp_path, "compiled", "gate-sum")
    product = started(tmp_path, "compiled", "no-gate-sum")
    assert (summed["compiled"], product["compiled"], product["loaded"]) == (1, 1, 0)
    assert summed["ids"] == product["ids"]
