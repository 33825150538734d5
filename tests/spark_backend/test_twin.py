"""Every way through the model against the float64 twin, for architectures of every kind that a checkpoint may have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from agent_eval.spark_backend.cache import Cache
from agent_eval.spark_backend.checkpoints.config import Rope, SparkConfig
from agent_eval.spark_backend.kernels import library
from agent_eval.spark_backend.kernels.decode import Decoder
from agent_eval.spark_backend.model import Spark, initial_weights
from agent_eval.spark_backend.quant.dense import Unquantised
from tests.spark_backend import reference

LIKE_4B = SparkConfig(
    hidden_size=40,
    intermediate_size=160,
    num_hidden_layers=8,  # two periods
    num_attention_heads=16,
    num_key_value_heads=4,
    head_dim=16,  # the queries of all heads are 256 wide, as 4096 stand against 2560
    vocab_size=300,
    max_position_embeddings=1024,
    sliding_window=12,
    initializer_range=0.15,
)
FOUR = replace(LIKE_4B, num_hidden_layers=4, layer_types=())  # one period
ARCHITECTURES = {
    "1.7B": replace(LIKE_4B, hidden_size=64, num_attention_heads=8, num_key_value_heads=2, head_dim=8),
    "4B": LIKE_4B,
    "untied": replace(FOUR, tie_word_embeddings=False),
    "silu gate": replace(FOUR, gate_activation="silu"),
    "other rotary": replace(FOUR, full_rope=Rope(50.0, 0.5), sliding_rope=Rope(9.0, 0.25)),
    "full first": replace(FOUR, layer_types=("full_attention", "sliding_attention") * 2),
    "a window of one": replace(FOUR, sliding_window=1),
    "a coarse norm": replace(FOUR, rms_norm_eps=1e-2),
    "odd widths": replace(FOUR, hidden_size=38, intermediate_size=51, head_dim=24, vocab_size=301),
}
LENGTH = 50  # four windows
PREFILLED = 37  # of those, in passes of CHUNK
CHUNK = 20


def weights_of(config: SparkConfig) -> dict[str, Tensor]:
    """Random weights whose norms are not all ones."""
    generator = torch.Generator().manual_seed(17)
    weights = initial_weights(config, generator)
    return {
        name: 1 + 0.3 * torch.randn(value.shape, generator=generator) if value.ndim == 1 else value
        for name, value in weights.items()
    }


@pytest.fixture(scope="module", params=ARCHITECTURES)
def config(request: pytest.FixtureRequest) -> SparkConfig:
    return ARCHITECTURES[request.param]


@pytest.fixture(scope="module")
def ids(config: SparkConfig) -> list[int]:
    drawn = torch.randint(0, config.vocab_size, (LENGTH,), generator=torch.Generator().manual_seed(1))
    return [int(token) for token in drawn]


@pytest.fixture(scope="module")
def expected(config: SparkConfig, ids: list[int]) -> reference.Array:
    exact = {name: value.numpy().astype(np.float64) for name, value in weights_of(config).items()}
    rows = reference.logits(config, exact, ids)
    assert rows.std() > 0.3, "a vanishing model would agree with anything"
    return rows


@pytest.fixture(autouse=True)
def _no_grad() -> Iterator[None]:
    with torch.inference_mode():
        yield


def model_of(config: SparkConfig, *, compiled: bool) -> Spark:
    with torch.no_grad():
        return Spark(config, weights_of(config), Unquantised(torch.float32, compiled=compiled))


def same(actual: Tensor, expected: reference.Array) -> None:
    np.testing.assert_allclose(actual.numpy(), expected, atol=1e-4, rtol=1e-4)


def prefilled(model: Spark, ids: list[int], cache: Cache) -> Tensor:
    """Logits (PREFILLED, V) of the prompt, computed in parts."""
    parts = [torch.tensor([ids[at : min(at + CHUNK, PREFILLED)]]) for at in range(0, PREFILLED, CHUNK)]
    return torch.cat([model.logits(model(part, cache))[0] for part in parts])


def test_a_whole_text_in_one_pass(config: SparkConfig, ids: list[int], expected: reference.Array) -> None:
    model = model_of(config, compiled=False)
    same(model.logits(model(torch.tensor([ids])))[0], expected)


def test_a_prompt_in_parts_and_tokens_through_the_modules(
    config: SparkConfig, ids: list[int], expected: reference.Array
) -> None:
    model, cache = model_of(config, compiled=False), Cache(config, limit=64)
    same(prefilled(model, ids, cache), expected[:PREFILLED])
    for i in range(PREFILLED, LENGTH):
        same(model.logits(model(torch.tensor([ids[i : i + 1]]), cache))[0, 0], expected[i])


@pytest.mark.skipif(not library.available(), reason="the kernels are not built")
def test_a_prompt_in_parts_and_tokens_through_the_compiled_step(
    config: SparkConfig, ids: list[int], expected: reference.Array
) -> None:
    model, cache = model_of(config, compiled=True), Cache(config, limit=64)
    decoder = Decoder(model, library.load())
    same(prefilled(model, ids, cache), expected[:PREFILLED])
    for i in range(PREFILLED, LENGTH):
        same(decoder.step(ids[i], cache), expected[i])


@pytest.mark.skipif(not library.available(), reason="the kernels are not built")
def test_every_token_through_the_compiled_step(config: SparkConfig, ids: list[int], expected: reference.Array) -> None:
    cache = Cache(config, limit=64)
    decoder = Decoder(model_of(config, compiled=True), library.load())
    for token, row in zip(ids, expected, strict=True):
        same(decoder.step(token, cache), row)
