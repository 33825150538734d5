"""The twin is held to the definition, and this project's own float32 build to the twin."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import agent_eval.spark_backend.nano
from agent_eval.spark_backend.builds import load_build
from agent_eval.spark_backend.config import GateActivation, SparkConfig
from agent_eval.spark_backend.loader import Weights
from agent_eval.spark_backend.model import Spark, initial_weights
from tests.peers.parity.twin import Twin, exact_gelu, tanh_gelu
from tests.spark_backend import reference
from tests.spark_backend.configs import SMALL

NANO = Path(agent_eval.spark_backend.nano.__file__).parent / "checkpoint"


@pytest.mark.parametrize("gate", ["sigmoid", "silu"])
def test_the_twin_computes_what_the_loops_compute(gate: GateActivation) -> None:
    config = replace(SMALL, gate_activation=gate)
    weights = initial_weights(config, torch.Generator().manual_seed(2))
    ids = torch.randint(0, config.vocab_size, (40,), generator=torch.Generator().manual_seed(1)).tolist()
    loops = reference.logits(config, {name: tensor.double().numpy() for name, tensor in weights.items()}, ids)
    np.testing.assert_allclose(Twin(config, weights).logits(ids).numpy(), loops, rtol=1e-9, atol=1e-9)


def test_the_two_gelus_differ_by_no_more_than_the_approximation() -> None:
    x = torch.linspace(-6, 6, 1001, dtype=torch.float64)
    assert 1e-4 < (exact_gelu(x) - tanh_gelu(x)).abs().max() < 5e-4


def test_the_fp32_build_of_nano_is_the_twin_with_the_exact_gelu() -> None:
    config = SparkConfig.from_folder(NANO)
    weights = Weights(NANO, config)
    ids = torch.randint(0, config.vocab_size, (600,), generator=torch.Generator().manual_seed(1)).tolist()
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
