"""The twin is held to the definition, and this project's own float32 build to the twin."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

import agent_eval.spark_backend.nano
from agent_eval.spark_backend.builds import load_build
from agent_eval.spark_backend.checkpoints.config import GateActivation, Rope, SparkConfig
from agent_eval.spark_backend.checkpoints.loader import Weights
from agent_eval.spark_backend.model import Spark, initial_weights
from tests.peers.parity.twin import Twin, exact_gelu, published_angles, tanh_gelu
from tests.spark_backend import reference
from tests.spark_backend.configs import SMALL

NANO = Path(agent_eval.spark_backend.nano.__file__).parent / "checkpoint"


@pytest.mark.parametrize("gate", ["sigmoid", "silu"])
def test_the_twin_computes_what_the_loops_compute(gate: GateActivation) -> None:
    config = replace(SMALL, gate_activation=gate)
    weights = initial_weights(config, torch.Generator().manual_seed(2))
    ids = torch.randint(0, config.vocab_size, (40,), generator=torch.Generator().manual_seed(1)).tolist()
    loops = reference.logits(config, {name: tensor.double().numpy() for name, tensor in weights.items()}, ids)
    twin = Twin(config, weights, angles=angles_of_the_loops)
    np.testing.assert_allclose(twin.logits(ids).numpy(), loops, rtol=1e-9, atol=1e-9)


def angles_of_the_loops(rope: Rope, rotated: int, positions: int) -> Tensor:
    pairs = range(rotated // 2)
    return torch.tensor(
        [[reference.turned_by(rope, rotated, pair, at) for pair in pairs] for at in range(positions)],
        dtype=torch.float64,
    )


@pytest.mark.parametrize("rope", [Rope(5e6, 0.25), Rope(1e4, 1.0)])
def test_the_angles_are_those_of_the_loops_to_the_last_bit_of_a_frequency(rope: Rope) -> None:
    rotated = rope.rotary_dim(256)
    mine, loops = published_angles(rope, rotated, 2000), angles_of_the_loops(rope, rotated, 2000)
    torch.testing.assert_close(mine, loops, rtol=2.0**-22, atol=0)
    assert (mine == loops).float().mean() > 0.95


def test_the_two_gelus_differ_by_no_more_than_the_approximation() -> None:
    x = torch.linspace(-6, 6, 1001, dtype=torch.float64)
    assert 1e-4 < (exact_gelu(x) - tanh_gelu(x)).abs().max() < 5e-4


def test_the_fp32_build_of_nano_is_the_twin_with_the_exact_gelu() -> None:
    config = SparkConfig.from_folder(NANO)
    weights = Weights(NANO, config)
    ids = torch.randint(0, config.vocab_size, (1300,), generator=torch.Generator().manual_seed(1)).tolist()
    twin = Twin(config, dict(weights)).logprobs(ids)
    with torch.inference_mode():
        model = Spark(config, weights)
        ours = model.logits(model(torch.tensor([ids])))[0].log_softmax(-1)
    assert (ours - twin).abs().max() < 1e-4


def test_the_fp32_engine_of_nano_writes_what_the_twin_finds_most_probable() -> None:
    from agent_eval.types import Sampling

    config = SparkConfig.from_folder(NANO)
    prompt = torch.randint(0, config.vocab_size, (300,), generator=torch.Generator().manual_seed(4)).tolist()
    ids = load_build(NANO, "fp32", threads=1).engine.generate(prompt, frozenset(), Sampling(max_tokens=64)).ids
    likely = Twin(config, dict(Weights(NANO, config))).logits([*prompt, *ids]).argmax(-1)[len(prompt) - 1 : -1]
    assert likely.tolist() == list(ids)
