"""What every ``Engine`` promises. Implementations: torch's modules alone and with the compiled step; llama.cpp; vLLM.

What those over a core share is tested more closely in ``tests/spark_backend/test_sequence_engine.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from agent_eval.contracts import Engine
from agent_eval.errors import ContextOverflow, EngineFault
from agent_eval.spark_backend.builds import load_build
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.loader import Weights
from agent_eval.spark_backend.kernels import library
from agent_eval.spark_backend.llama.convert import convert
from agent_eval.spark_backend.llama.engine import LlamaEngine
from agent_eval.spark_backend.llama.mixture import MIXTURES
from agent_eval.spark_backend.model import Spark
from agent_eval.spark_backend.torch_engine import TorchEngine
from agent_eval.types import Sampling
from tests.fakes import tiny_checkpoint

NEVER: frozenset[int] = frozenset()
TOKENS = 320
CONTEXT = 1024


def on_modules(folder: Path) -> Engine:
    config = SparkConfig.from_folder(folder)
    return TorchEngine(Spark(config, Weights(folder, config)), threads=1, context=CONTEXT)


def on_kernels(folder: Path) -> Engine:
    return load_build(folder, "w4a8", threads=1, context=CONTEXT).engine


def on_llama(folder: Path) -> Engine:
    pytest.importorskip("xllamacpp")
    path = folder / "q4_k_m.gguf"
    if not path.exists():
        convert(folder, MIXTURES["q4_k_m"], path)
    return LlamaEngine(path, threads=1, context=CONTEXT)


def on_vllm(folder: Path) -> Engine:
    pytest.importorskip("vllm")
    from agent_eval.spark_backend.vllm.engine import VllmEngine

    return VllmEngine(folder, dtype="bfloat16", threads=1, context=CONTEXT)


ENGINES: dict[str, Callable[[Path], Engine]] = {
    "modules": on_modules,
    "kernels": on_kernels,
    "llama.cpp": on_llama,
    "vllm": on_vllm,
}
PARAMETERS = [
    "modules",
    pytest.param("kernels", marks=pytest.mark.skipif(not library.available(), reason="the kernels are not built")),
    pytest.param("llama.cpp", marks=pytest.mark.peers),
    pytest.param("vllm", marks=pytest.mark.vllm),
]
BLOCK = {"vllm": 32}
"""Tokens that are found again together; all others find each by itself."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("engines") / "tiny"
    tiny_checkpoint(made, seed=1)
    return made


@pytest.fixture(params=PARAMETERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def make(name: str, folder: Path) -> Callable[[], Engine]:
    return lambda: ENGINES[name](folder)


def prompt_of(length: int, seed: int = 0) -> list[int]:
    ids: list[int] = torch.randint(0, TOKENS, (length,), generator=torch.Generator().manual_seed(seed)).tolist()
    return ids


def test_it_generates_as_many_tokens_as_asked_and_counts_them(make: Callable[[], Engine]) -> None:
    made = make().generate(prompt_of(20), NEVER, Sampling(max_tokens=7))
    assert (len(made.ids), made.finish) == (7, "length")
    assert (made.timing.prompt_tokens, made.timing.prefill_tokens, made.timing.decode_tokens) == (20, 20, 6)


def test_a_stop_token_ends_a_text_and_is_left_out(make: Callable[[], Engine]) -> None:
    engine = make()
    ids = engine.generate(prompt_of(20), NEVER, Sampling(max_tokens=7)).ids
    stop = ids[3]
    engine.begin()
    made = engine.generate(prompt_of(20), frozenset([stop]), Sampling(max_tokens=7))
    assert (made.ids, made.finish) == (ids[: ids.index(stop)], "stop")


@pytest.mark.parametrize("prefix", [0, 5, 100], ids="{} tokens of prefix".format)
@pytest.mark.parametrize("temperature", [0.0, 1.5])
def test_an_episode_depends_on_nothing_before_it(make: Callable[[], Engine], prefix: int, temperature: float) -> None:
    instructions = prompt_of(100, seed=9)
    sampling = Sampling(temperature=temperature, top_p=0.9, max_tokens=12, seed=4)

    def episode(engine: Engine, seed: int) -> list[tuple[int, ...]]:
        engine.begin(instructions[:prefix])
        prompt = [*instructions, *prompt_of(30, seed)]
        texts = []
        for step in range(3):
            texts.append(engine.generate(prompt, NEVER, sampling).ids)
            prompt = [*prompt, *texts[-1], *prompt_of(25, seed + step)]
        return texts

    used, fresh = make(), make()
    episode(used, 1)
    used.generate(prompt_of(60, seed=3), NEVER, sampling)
    assert episode(used, 20) == episode(fresh, 20)


def test_what_a_prompt_shares_with_the_one_before_is_not_computed_again(name: str, make: Callable[[], Engine]) -> None:
    engine = make()
    engine.generate(prompt_of(50), NEVER, Sampling(max_tokens=1))
    timing = engine.generate([*prompt_of(50), 1, 2, 3], NEVER, Sampling(max_tokens=1)).timing
    block = BLOCK.get(name, 1)
    assert (timing.prompt_tokens, timing.prefill_tokens) == (53, 53 - 50 // block * block)


def test_a_prefix_may_be_kept_between_episodes_and_is_never_more_than_the_prompt(make: Callable[[], Engine]) -> None:
    engine, instructions = make(), prompt_of(100, seed=9)
    computed = []
    for seed in range(3):
        engine.begin(instructions)
        timing = engine.generate([*instructions, *prompt_of(10, seed)], NEVER, Sampling(max_tokens=1)).timing
        computed.append(timing.prefill_tokens)
    assert computed[0] == 110
    assert all(10 <= tokens <= 110 for tokens in computed[1:])


def test_equal_seeds_give_equal_texts(make: Callable[[], Engine]) -> None:
    def text(seed: int) -> tuple[int, ...]:
        engine = make()
        return engine.generate(prompt_of(20), NEVER, Sampling(temperature=2.0, seed=seed, max_tokens=8)).ids

    assert text(1) == text(1)
    assert len({text(seed) for seed in range(4)}) > 1


def test_a_prompt_without_room_for_a_token_overflows(make: Callable[[], Engine]) -> None:
    with pytest.raises(ContextOverflow):
        make().generate(prompt_of(CONTEXT), NEVER, Sampling(max_tokens=1))


@pytest.mark.parametrize("prompt", [[], [TOKENS], [-1]], ids=str)
def test_a_prompt_that_is_none_is_a_fault(make: Callable[[], Engine], prompt: list[int]) -> None:
    with pytest.raises(EngineFault):
        make().generate(prompt, NEVER, Sampling(max_tokens=1))
