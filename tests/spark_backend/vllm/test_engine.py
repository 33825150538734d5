"""The engine over vLLM, beside what every engine promises (tests/contracts): the process, the memory, the model."""

from __future__ import annotations

import gc
import json
import os
import random
import subprocess
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vllm")
import numpy as np
import torch
from safetensors.torch import load_file, save_file

from agent_eval import environment
from agent_eval.errors import CheckpointError, EngineFault
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.vllm.engine import VllmEngine
from agent_eval.spark_backend.vllm.model import split_fused
from agent_eval.spark_backend.vllm.room import BLOCK_TOKENS, vllm_room
from agent_eval.types import Sampling
from tests.fakes import tiny_checkpoint

pytestmark = pytest.mark.vllm

NEVER: frozenset[int] = frozenset()
CONTEXT = 256


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("engine") / "tiny"
    tiny_checkpoint(made, seed=1)
    return made


@pytest.fixture(scope="module")
def engine(folder: Path) -> VllmEngine:
    return VllmEngine(folder, dtype="bfloat16", threads=1, context=CONTEXT)


def prompt_of(length: int, seed: int = 0) -> list[int]:
    draw = random.Random(seed)
    return [draw.randrange(320) for _ in range(length)]


def test_loading_and_running_leave_the_process_as_it_was(folder: Path) -> None:
    random.seed(5)
    np.random.seed(5)
    torch.manual_seed(5)
    wanted = (random.random(), np.random.random(), torch.rand(1).item())
    random.seed(5)
    np.random.seed(5)
    torch.manual_seed(5)
    before, set_threads = environment.for_child({}), torch.set_num_threads
    engine = VllmEngine(folder, dtype="bfloat16", threads=1, context=64)
    assert (random.random(), np.random.random(), torch.rand(1).item()) == wanted
    engine.generate(prompt_of(10), NEVER, Sampling(max_tokens=2))
    assert environment.for_child({}) == before
    assert torch.set_num_threads is set_threads


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="only Linux tells the children of a process")
def test_everything_is_computed_in_this_process(engine: VllmEngine) -> None:
    engine.generate(prompt_of(10), NEVER, Sampling(max_tokens=2))
    children = "".join(file.read_text() for file in Path("/proc/self/task").glob("*/children"))
    assert children.split() == []
    engine.begin()


def test_an_engine_that_goes_leaves_the_others_and_its_memory(folder: Path, engine: VllmEngine) -> None:
    prompt, sampling = prompt_of(40), Sampling(max_tokens=5)
    wanted = engine.generate(prompt, NEVER, sampling).ids
    another = VllmEngine(folder, dtype="bfloat16", threads=1, context=64)
    weights = weakref.ref(another.model)
    del another
    gc.collect()
    assert weights() is None
    engine.begin()
    assert engine.generate(prompt, NEVER, sampling).ids == wanted
    assert VllmEngine(folder, dtype="bfloat16", threads=1, context=64).generate(prompt, NEVER, sampling).ids == wanted


def test_keys_and_values_get_the_memory_that_the_context_takes(folder: Path, engine: VllmEngine) -> None:
    config = SparkConfig.from_folder(folder)
    room = vllm_room(config, CONTEXT, sequences=1, value_bytes=2).bytes
    page = BLOCK_TOKENS * 2 * config.key_width * 2  # one layer to a group: one full layer, three sliding ones
    blocks = engine._pool.num_gpu_blocks
    assert blocks == room // page


BLOCKS = """
import sys
from pathlib import Path
from agent_eval.spark_backend.vllm.engine import VllmEngine
print(VllmEngine(Path(sys.argv[1]), dtype="bfloat16", threads=1, context=256)._pool.num_gpu_blocks)
"""


def test_the_variable_that_would_replace_the_budget_is_kept_from_vllm(folder: Path, engine: VllmEngine) -> None:
    variables = {**os.environ, "VLLM_CPU_KVCACHE_SPACE": "1"}
    command = [sys.executable, "-c", BLOCKS, str(folder)]
    run = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    assert int(run.stdout) == engine._pool.num_gpu_blocks


def test_a_context_can_be_filled_again_and_again(engine: VllmEngine) -> None:
    for seed in range(4):
        engine.begin(prompt_of(100))
        prompt = [*prompt_of(100), *prompt_of(CONTEXT - 108, seed)]
        made = engine.generate(prompt, NEVER, Sampling(max_tokens=50))
        assert (len(made.ids), made.finish) == (8, "length")
    engine.begin()


def test_between_episodes_nothing_is_kept_but_the_blocks_of_the_prefix(engine: VllmEngine) -> None:
    prefix = prompt_of(100, seed=9)

    def kept() -> set[int]:
        return {block.block_id for block in engine._cached()}

    engine.begin(prefix)
    engine.generate([*prefix, *prompt_of(60)], NEVER, Sampling(max_tokens=20))
    during = kept()
    engine.begin(prefix)
    pinned = kept()
    assert pinned < during
    assert {block.block_id for block in engine._pinned} == pinned
    assert len(pinned) == 4 * (100 // BLOCK_TOKENS)  # in each of four layers
    engine.begin()
    assert kept() == set()
    assert engine._pool.get_num_free_blocks() == engine._pool.num_gpu_blocks - 1  # one block is vLLM's own


def test_a_prefix_that_no_prompt_begins_with_costs_nothing(engine: VllmEngine) -> None:
    engine.begin(prompt_of(100, seed=9))
    made = engine.generate(prompt_of(40), NEVER, Sampling(max_tokens=1))
    assert made.timing.prefill_tokens == 40
    engine.begin()


def test_an_episode_cannot_begin_while_something_is_in_flight(engine: VllmEngine) -> None:
    ticket = engine.submit(prompt_of(10), NEVER, Sampling(max_tokens=3))
    with pytest.raises(EngineFault, match="in flight"):
        engine.begin()
    while ticket not in engine.step():
        pass
    engine.begin()


def test_rotary_tables_are_as_long_as_what_is_served(engine: VllmEngine) -> None:
    tables = [layer.self_attn.rotary_emb.cos_sin_cache for layer in layers(engine)]
    assert {len(table) for table in tables} == {CONTEXT}
    assert len({id(table) for table in tables}) == 2  # one for each kind of layer


def test_sliding_layers_have_their_window_and_full_ones_none(folder: Path, engine: VllmEngine) -> None:
    config = SparkConfig.from_folder(folder)
    windows = [layer.self_attn.attn.sliding_window for layer in layers(engine)]
    assert windows == [config.window(kind) for kind in config.layer_types]


def test_the_gate_is_a_plain_parameter_of_the_type_of_the_activations(engine: VllmEngine) -> None:
    gates = [layer.self_attn.g_weight for layer in layers(engine)]
    assert all(gate.dtype == torch.bfloat16 and tuple(gate.shape) == (2, 64) for gate in gates)


def layers(engine: VllmEngine) -> Any:
    model: Any = engine.model
    return model.model.layers


def test_a_fused_tensor_comes_apart_by_its_rows_and_others_stay_whole() -> None:
    fused, other = torch.arange(24.0).view(8, 3), torch.ones(2, 2)
    given = [("model.layers.0.self_attn.q_k_v_proj.weight", fused), ("model.layers.0.mlp.down_proj.weight", other)]
    got = dict(split_fused(given, [4, 2, 2]))
    assert list(got) == [f"model.layers.0.self_attn.{part}_proj.weight" for part in "qkv"] + [given[1][0]]
    assert torch.equal(torch.cat(list(got.values())[:3]), fused)
    assert got[given[1][0]] is other


def spoilt(folder: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in folder.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    described = json.loads((folder / "config.json").read_text())
    change(described)
    (copy / "config.json").write_text(json.dumps(described))
    return copy


def test_code_that_a_checkpoint_names_is_never_run(folder: Path, tmp_path: Path) -> None:
    def name_code(described: dict[str, Any]) -> None:
        described["auto_map"] = {
            "AutoConfig": "configuration_spark.SparkConfig",
            "AutoModelForCausalLM": "modeling_spark.SparkForCausalLM",
        }

    copy, trace = spoilt(folder, tmp_path, name_code), tmp_path / "was run"
    for module in ("configuration_spark", "modeling_spark"):
        (copy / f"{module}.py").write_text(f"open({str(trace)!r}, 'w').close()\n")
    engine = VllmEngine(copy, dtype="bfloat16", threads=1, context=64)
    assert len(engine.generate([1, 2, 3], NEVER, Sampling(max_tokens=2)).ids) == 2
    assert not trace.exists()


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_logits_that_are_no_numbers_are_a_fault_and_no_reply(folder: Path, tmp_path: Path, value: float) -> None:
    copy = spoilt(folder, tmp_path, lambda _: None)
    weights = load_file(copy / "model.safetensors")
    weights["model.norm.weight"][3] = value
    save_file(weights, copy / "model.safetensors")
    engine = VllmEngine(copy, dtype="bfloat16", threads=1, context=64)
    for _ in range(2):  # and again: the engine goes on after it
        engine.begin()
        with pytest.raises(EngineFault, match="not finite"):
            engine.generate([1, 2, 3], NEVER, Sampling(max_tokens=2))


def test_a_folder_that_vllm_cannot_load_is_an_error_with_a_hint(folder: Path, tmp_path: Path) -> None:
    def grow(described: dict[str, Any]) -> None:
        described["intermediate_size"] = 128

    copy = spoilt(folder, tmp_path, grow)
    with pytest.raises(CheckpointError, match="vLLM cannot load") as caught:
        VllmEngine(copy, dtype="bfloat16", threads=1, context=64)
    assert "--engine torch" in caught.value.hint
