"""The rounding twin is held to the one that never rounds, and to this project's own engine."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from agent_eval.spark_backend.builds import compiled_kernels, load_build
from agent_eval.spark_backend.checkpoints.config import GateActivation
from agent_eval.spark_backend.model import initial_weights
from agent_eval.spark_backend.quant.dense import has_bf16_units
from agent_eval.types import Sampling
from agent_eval.wiring import EMBEDDED
from tests.peers.parity.twin import Twin
from tests.spark_backend.configs import SMALL
from tests.spark_backend.vllm.divergence import error, relative
from tests.spark_backend.vllm.rounding import EXACT, PLACES, VLLM, RoundingTwin, torch_rounds
from tests.spark_backend.vllm.watched import random_prompts, streams_of_torch, watch_torch, weights_of

NANO = EMBEDDED["nano"]


def text(length: int = 60) -> list[int]:
    return list(random_prompts(SMALL.vocab_size, [length], seed=3)[0])


def small_weights() -> dict[str, Tensor]:
    return initial_weights(SMALL, torch.Generator().manual_seed(2))


@pytest.mark.parametrize("gate", ["sigmoid", "silu"])
def test_without_rounding_it_is_the_twin_of_the_peers(gate: GateActivation) -> None:
    config = replace(SMALL, gate_activation=gate)
    ours = RoundingTwin(config, small_weights(), arithmetic=torch.float64).compute(text()).logits
    torch.testing.assert_close(ours, Twin(config, small_weights()).logits(text()), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("place", PLACES)
def test_each_place_rounds_something_and_only_where_it_is_asked_to(place: str) -> None:
    twin = RoundingTwin(SMALL, small_weights())
    exact = twin.compute(text()).logits
    rounded = twin.compute(text(), {place: "always"}).logits  # type: ignore[dict-item]
    assert not torch.equal(rounded, exact)
    # nothing of the prompt is asked to be rounded; the tables of angles begin with position 0, where they are exact
    assert torch.equal(twin.compute(text(), {place: "prompt"}, prompt=0).logits, exact)  # type: ignore[dict-item]
    part = twin.compute(text(), {place: "prompt"}, prompt=30).logits  # type: ignore[dict-item]
    torch.testing.assert_close(part[:30], rounded[:30], rtol=1e-5, atol=1e-5)


def test_the_engine_is_nearer_to_the_twin_that_rounds_where_it_does_than_to_any_other() -> None:
    engine = load_build(NANO, "bf16", threads=1, context=1024).engine
    prompt = random_prompts(1280, [300], seed=1)[0]
    twin = RoundingTwin(engine.model.config, weights_of(engine.model))
    ours = torch_rounds(compiled=compiled_kernels() is not None, native=has_bf16_units())
    stream = streams_of_torch(engine, prompt)[0]  # in later layers, what fell to another side of a rounding drowns all
    far = {
        name: relative(stream, twin.compute(prompt, rounds).streams[0])
        for name, rounds in (("exact", EXACT), ("ours", ours), ("vLLM", VLLM))
    }
    assert far["ours"] < far["exact"] / 4
    assert far["ours"] < far["vLLM"] / 4


def test_watching_an_engine_shows_what_it_chose_from() -> None:
    engine = load_build(NANO, "bf16", threads=1, context=1024).engine
    prompt = random_prompts(1280, [50], seed=1)[0]
    seen = watch_torch(engine, prompt, 12)
    engine.begin()
    assert seen.ids == engine.generate(prompt, frozenset(), Sampling(max_tokens=12)).ids
    assert tuple(seen.logits.argmax(-1).tolist()) == seen.ids
    twin = RoundingTwin(engine.model.config, weights_of(engine.model))
    exact = twin.compute(prompt + seen.ids[:-1]).logits[len(prompt) - 1 :]
    assert max(error(mine, x) for mine, x in zip(seen.logits, exact, strict=True)) < 0.2
