"""What the contract (``tests/contracts/test_engine.py``) does not ask: how llama.cpp is held to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.checkpoints.synthetic import synthetic_checkpoint
from agent_eval.spark_backend.llama.convert import convert
from agent_eval.spark_backend.llama.engine import BATCH_TOKENS, LlamaEngine
from agent_eval.spark_backend.llama.mixture import MIXTURES
from agent_eval.types import Sampling
from tests.spark_backend.configs import SMALL
from tests.spark_backend.llama.conftest import Gguf

pytest.importorskip("xllamacpp")
pytestmark = pytest.mark.peers

NEVER: frozenset[int] = frozenset()
TEN = Sampling(max_tokens=10)


def prompt_of(length: int, seed: int = 0) -> list[int]:
    return torch.randint(0, SMALL.vocab_size, (length,), generator=torch.Generator().manual_seed(seed)).tolist()


def opened(path: Path, *, threads: int = 1, full_sliding_cache: bool = False) -> LlamaEngine:
    return LlamaEngine(path, threads=threads, context=512, full_sliding_cache=full_sliding_cache)


def after(engine: LlamaEngine, prefix: list[int], rest: list[int]) -> Tensor:
    """Return the logits behind a prefix that was computed, or restored."""
    engine.begin(prefix)
    engine.generate([*prefix, rest[0]], NEVER, Sampling(max_tokens=1))
    return engine.logits(rest[1:])


def test_a_restored_prefix_gives_the_same_numbers_bit_for_bit(gguf: Gguf) -> None:
    prefix, engine = prompt_of(100), opened(gguf("llama-bf16"))
    first = after(engine, prefix, prompt_of(30, seed=1))
    after(engine, prefix, prompt_of(60, seed=2))
    again = after(engine, prefix, prompt_of(30, seed=1))
    assert torch.equal(first, again)
    assert torch.equal(first, after(opened(gguf("llama-bf16")), prefix, prompt_of(30, seed=1)))


def test_a_text_longer_than_one_pass_goes_through_in_parts(tmp_path: Path) -> None:
    config = replace(SMALL, max_position_embeddings=2048)
    synthetic_checkpoint(tmp_path / "long", config, seed=5)
    convert(tmp_path / "long", MIXTURES["llama-fp32"], tmp_path / "model.gguf")
    engine = LlamaEngine(tmp_path / "model.gguf", threads=1, context=2048)
    prompt = prompt_of(2 * BATCH_TOKENS + 100)
    engine.begin(prompt[: BATCH_TOKENS + 50])
    result = engine.generate(prompt, NEVER, TEN)
    engine.begin()
    assert engine.generate(prompt, NEVER, TEN).ids == result.ids
    engine.begin()
    assert engine.logits(prompt)[-1].argmax() == result.ids[0]


# Numbers of two ways through the same text differ by what the table of its GELU makes of a last bit: steps of half
# precision, 0.04 of logits up to 8 in this model. ``tests/peers/parity/test_llama.py`` shows where they come from.
def test_sliding_layers_may_remember_everything_and_compute_the_same(gguf: Gguf) -> None:
    short, full = (opened(gguf("llama-fp32"), full_sliding_cache=switch) for switch in (False, True))
    difference = (short.logits(prompt_of(300)) - full.logits(prompt_of(300))).abs()
    assert difference.median() < 1e-3
    assert difference.max() < 0.1


@pytest.mark.parametrize("build", ["llama-bf16", "q4_k_m"])
def test_two_threads_give_the_text_of_one(gguf: Gguf, build: str) -> None:
    texts = [opened(gguf(build), threads=threads).generate(prompt_of(50), NEVER, TEN).ids for threads in (1, 2)]
    assert texts[0] == texts[1]


def test_going_back_further_than_a_window_computes_from_where_it_can(gguf: Gguf) -> None:
    engine = opened(gguf("llama-bf16"))
    engine.begin()
    engine.generate(prompt_of(400), NEVER, TEN)
    parted = [*prompt_of(400)[:50], *prompt_of(20, seed=4)]
    fresh = opened(gguf("llama-bf16")).generate(parted, NEVER, TEN)
    assert engine.generate(parted, NEVER, TEN).ids == fresh.ids


def test_a_file_that_cannot_be_loaded_is_named_with_its_reason(
    gguf: Gguf, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cut.gguf"
    path.write_bytes(gguf("llama-bf16").read_bytes()[:-5000])
    with pytest.raises(CheckpointError, match=r"cannot load .*cut\.gguf: .*"):
        opened(path)
    assert capfd.readouterr() == ("", "")


def test_the_file_says_what_it_is(gguf: Gguf) -> None:
    engine = opened(gguf("q4_k_m"))
    assert engine.parameters == SMALL.parameters
    assert engine.metadata("general.architecture") == "spark2_5"
    assert engine.metadata("general.file_type") == "15"
    assert engine.metadata("no.such.key") == ""
