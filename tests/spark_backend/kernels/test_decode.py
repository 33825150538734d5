"""The fused decode step against the model's own modules, token by token."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from agent_eval.spark_backend.cache import Cache
from agent_eval.spark_backend.checkpoints.config import Rope, SparkConfig
from agent_eval.spark_backend.kernels import library
from agent_eval.spark_backend.kernels.decode import PHASES, Decoder, can_decode
from agent_eval.spark_backend.kernels.library import Library
from agent_eval.spark_backend.model import Spark, initial_weights
from agent_eval.spark_backend.quant.dense import Fp32, Unquantised
from agent_eval.spark_backend.quant.grouped import Grouped, grid_of
from agent_eval.spark_backend.quant.name import GroupedName, parse_build
from agent_eval.spark_backend.quant.rounding import round_groups
from agent_eval.spark_backend.quant.scheme import Scheme
from agent_eval.spark_backend.table import CodedTable, DenseTable
from tests.spark_backend import reference
from tests.spark_backend.coded import TABLE, CodedTableWeights
from tests.spark_backend.configs import SMALL

pytestmark = pytest.mark.skipif(not library.available(), reason="the kernels are not built")

COPIES = ("generic", "avx2", "avx512")  # other variants take one of these (decode.cpp)
VARIANTS = [name for name in library.load().usable() if name in COPIES] if library.available() else []

GENTLE = replace(SMALL, initializer_range=0.06)  # rounding is not amplified from layer to layer
CONFIGS = {
    "small": GENTLE,  # heads of 24: no multiple of any vector
    "nano's heads": replace(GENTLE, head_dim=64, num_attention_heads=4, num_key_value_heads=2),
    "two key-value heads of six": replace(GENTLE, head_dim=32, num_attention_heads=6, num_key_value_heads=2),
    "one key-value head of six": replace(
        GENTLE, head_dim=32, num_attention_heads=6, num_key_value_heads=1, gate_activation="silu"
    ),
    "a key-value head each": replace(GENTLE, head_dim=64, num_attention_heads=3, num_key_value_heads=3),
    "published heads": replace(
        GENTLE, hidden_size=128, head_dim=256, num_attention_heads=4, num_key_value_heads=1, vocab_size=333
    ),
    "other turns": replace(GENTLE, full_rope=Rope(100.0, 1.0), sliding_rope=Rope(7.0, 0.5)),
    "an inner width of no vector": replace(GENTLE, intermediate_size=160),
    "an untied head": replace(GENTLE, tie_word_embeddings=False),
    "full layers only": replace(GENTLE, layer_types=("full_attention",) * 4),
    "sliding layers only": replace(GENTLE, layer_types=("sliding_attention",) * 4),
}


def scheme_of(build: str) -> Scheme:
    name = parse_build(build)
    if isinstance(name, GroupedName):
        return Grouped(name, 32, compiled=True, rounding="rtn")
    return Unquantised(torch.float32 if build == "fp32" else torch.bfloat16, compiled=True)


def weights_of(config: SparkConfig) -> dict[str, Tensor]:
    """Random weights whose norms are not all ones."""
    generator = torch.Generator().manual_seed(3)
    weights = initial_weights(config, generator)
    for name, value in weights.items():
        if value.ndim == 1:
            weights[name] = 1 + 0.3 * torch.randn(value.shape, generator=generator)
    return weights


def model_of(config: SparkConfig, build: str) -> Spark:
    with torch.no_grad():
        return Spark(config, weights_of(config), scheme_of(build))


def ids_of(config: SparkConfig, length: int, seed: int = 5) -> list[int]:
    ids: list[int] = torch.randint(
        0, config.vocab_size, (length,), generator=torch.Generator().manual_seed(seed)
    ).tolist()
    return ids


def by_modules(model: Spark, ids: list[int], cache: Cache) -> Tensor:
    """Logits (T, V) of tokens given one by one."""
    return torch.cat([model.logits(model(torch.tensor([[token]]), cache))[0] for token in ids])


def by_kernel(decoder: Decoder, ids: list[int], cache: Cache) -> Tensor:
    return torch.stack([decoder.step(token, cache).clone() for token in ids])


@pytest.fixture(params=VARIANTS)
def kernels(request: pytest.FixtureRequest) -> Iterator[Library]:
    chosen = library.load(request.param)
    chosen.set_threads(1)
    yield chosen
    chosen.set_threads(1)


@pytest.fixture(autouse=True)
def _no_grad() -> Iterator[None]:
    with torch.inference_mode():
        yield


@pytest.mark.parametrize("config", CONFIGS)
def test_fp32_gives_the_logits_of_the_modules(kernels: Library, config: str) -> None:
    shape = CONFIGS[config]
    model = model_of(shape, "fp32")
    ids = ids_of(shape, 60)  # beyond the ring's room of 47 slots
    expected = by_modules(model, ids, Cache(shape, limit=64))
    assert float(expected.abs().max()) > 0.5, "a vanishing model would agree with anything"
    actual = by_kernel(Decoder(model, kernels), ids, Cache(shape, limit=64))
    torch.testing.assert_close(actual, expected, atol=1e-5, rtol=1e-5)


def test_fp32_gives_the_logits_of_the_float64_twin(kernels: Library) -> None:
    weights = weights_of(GENTLE)
    ids = ids_of(GENTLE, 40)
    actual = by_kernel(Decoder(model_of(GENTLE, "fp32"), kernels), ids, Cache(GENTLE, limit=64))
    exact = {name: value.numpy().astype(np.float64) for name, value in weights.items()}
    np.testing.assert_allclose(actual.numpy(), reference.logits(GENTLE, exact, ids), atol=1e-5, rtol=1e-5)


# Inputs of products are rounded to bfloat16 at the same places, but sums are taken in another order, so a value near
# the middle between two bfloat16 numbers may fall to the other one: 2^-9 of it. Codes of 8 bits amplify that: a change
# of one in 127, whose square is 6e-5 of that row, and what follows in the text reads it again. What is compared is the
# noise over all logits of a text; on which texts a code falls to the other side depends on how torch adds up here.
@pytest.mark.parametrize("build", ["bf16", "w4a16", "w4a8", "w4a8-asym", "w4a16-sym", "w8a8", "w8a16", "w2a8", "w3a16"])
def test_other_builds_differ_by_the_rounding_of_single_activations_only(kernels: Library, build: str) -> None:
    model = model_of(GENTLE, build)
    ids = ids_of(GENTLE, 60)
    expected = by_modules(model, ids, Cache(GENTLE, limit=64))
    actual = by_kernel(Decoder(model, kernels), ids, Cache(GENTLE, limit=64))
    noise = (actual - expected).square().mean() / expected.square().mean()
    assert float(noise) < (5e-4 if "a8" in build else 1e-5)


@pytest.mark.parametrize("build", ["w4a16", "w4a8", "w8a16"])
def test_a_row_of_codes_counts_as_it_would_in_a_table_of_values(kernels: Library, build: str) -> None:
    scheme = scheme_of(build)
    assert isinstance(scheme, Grouped)
    codes = round_groups(weights_of(GENTLE)[TABLE], grid_of(scheme.name, scheme.group), "rtn")
    model, ids = Spark(GENTLE, CodedTableWeights(weights_of(GENTLE), codes), scheme), ids_of(GENTLE, 60)
    assert isinstance(model.embedding, CodedTable)
    assert model.embedding.layer is model.head
    texts = []
    for table in (model.embedding, DenseTable(codes.dequantised().bfloat16())):
        model.embedding = table
        texts.append(by_kernel(Decoder(model, kernels), ids, Cache(GENTLE, limit=64)))
        texts.append(model.logits(model(torch.tensor([ids])))[0])
    assert torch.equal(texts[0], texts[2])
    assert torch.equal(texts[1], texts[3])


@pytest.mark.parametrize("prompt", [1, 15, 16, 17, 50])
def test_it_goes_on_from_what_the_modules_prefilled(kernels: Library, prompt: int) -> None:
    model = model_of(GENTLE, "fp32")
    ids = ids_of(GENTLE, prompt + 30)
    one, other = Cache(GENTLE, limit=96), Cache(GENTLE, limit=96)
    for cache in (one, other):
        model(torch.tensor([ids[:prompt]]), cache)
    expected = by_modules(model, ids[prompt:], one)
    torch.testing.assert_close(by_kernel(Decoder(model, kernels), ids[prompt:], other), expected, atol=1e-5, rtol=1e-5)


def test_the_modules_go_on_from_what_it_wrote(kernels: Library) -> None:
    model = model_of(GENTLE, "fp32")
    ids = ids_of(GENTLE, 50)
    cache, whole = Cache(GENTLE, limit=64), model.logits(model(torch.tensor([ids])))[0]
    by_kernel(Decoder(model, kernels), ids[:40], cache)
    after = model.logits(model(torch.tensor([ids[40:]]), cache))[0]
    torch.testing.assert_close(after, whole[40:], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("build", ["fp32", "bf16", "w4a8", "w4a16"])
def test_the_numbers_do_not_depend_on_the_number_of_threads(kernels: Library, build: str) -> None:
    config = replace(GENTLE, max_position_embeddings=1024, sliding_window=150)  # attention is cut into pieces of 128
    decoder, ids = Decoder(model_of(config, build), kernels), ids_of(config, 300)
    texts = []
    for threads in (1, 2, 3):
        kernels.set_threads(threads)
        texts.append(by_kernel(decoder, ids, Cache(config, limit=512)))
    assert torch.equal(texts[0], texts[1])
    assert torch.equal(texts[0], texts[2])


def test_windows_beyond_512_and_caches_that_grow(kernels: Library) -> None:
    config = replace(GENTLE, max_position_embeddings=4096, sliding_window=700)
    model, ids = model_of(config, "fp32"), ids_of(config, 1500)
    whole = model.logits(model(torch.tensor([ids])))[0]
    cache = Cache(config, limit=4096)
    model(torch.tensor([ids[:650]]), cache)
    actual = by_kernel(Decoder(model, kernels), ids[650:], cache)
    torch.testing.assert_close(actual, whole[650:], atol=1e-5, rtol=1e-5)


def test_a_sequence_may_go_back(kernels: Library) -> None:
    model = model_of(GENTLE, "fp32")
    decoder, ids, cache = Decoder(model, kernels), ids_of(GENTLE, 60), Cache(GENTLE, limit=96)
    first = by_kernel(decoder, ids, cache)
    assert cache.rewind(48)
    by_kernel(decoder, ids_of(GENTLE, 4, seed=9), cache)
    assert cache.rewind(48)
    assert torch.equal(by_kernel(decoder, ids[48:], cache), first[48:])


def test_two_models_do_not_mix(kernels: Library) -> None:
    one, other = (Decoder(model_of(CONFIGS[name], "w4a8"), kernels) for name in ("small", "nano's heads"))
    ids = ids_of(GENTLE, 20)
    alone = by_kernel(one, ids, Cache(GENTLE, limit=64))
    mine, theirs = Cache(GENTLE, limit=64), Cache(CONFIGS["nano's heads"], limit=64)
    for token, expected in zip(ids, alone, strict=True):
        logits = one.step(token, mine)
        other.step(token, theirs)
        assert torch.equal(logits, expected)


def test_logits_that_are_not_numbers_are_handed_out_as_they_are(kernels: Library) -> None:
    weights = weights_of(GENTLE)
    weights["model.layers.1.mlp.up_proj.weight"] = torch.full_like(
        weights["model.layers.1.mlp.up_proj.weight"], math.nan
    )
    model = Spark(GENTLE, weights, scheme_of("bf16"))
    assert bool(Decoder(model, kernels).step(3, Cache(GENTLE, limit=64)).isnan().all())


def test_a_profile_accounts_for_every_phase(kernels: Library) -> None:
    decoder, cache = Decoder(model_of(GENTLE, "bf16"), kernels), Cache(GENTLE, limit=64)
    decoder.step(1, cache)
    assert set(decoder.profile(on=True).values()) == {0.0}
    decoder.step(2, cache)
    spent = decoder.profile(on=False)
    assert spent.keys() == set(PHASES)
    assert spent["head"] > 0
    decoder.step(3, cache)
    assert set(decoder.profile(on=False).values()) == {0.0}


def test_models_with_layers_of_torch_are_left_to_torch() -> None:
    assert not can_decode(Spark(GENTLE, weights_of(GENTLE), Fp32()))
    assert not can_decode(Spark(GENTLE, weights_of(GENTLE), Unquantised(torch.bfloat16, compiled=False)))
    assert can_decode(model_of(GENTLE, "w4a8"))


POINTS = np.concatenate(
    [np.linspace(-12, 12, 40_001), [0.0, -0.0, 1e-30, -1e-30, 1e30, -1e30, 5.6569, -5.6569]]
).astype(np.float32)


def test_the_gelu_is_the_exact_one(kernels: Library) -> None:
    out = np.empty_like(POINTS)
    kernels.native.sk_gelu(POINTS.ctypes.data, out.ctypes.data, len(POINTS))
    expected = np.array([0.5 * float(x) * math.erfc(-float(x) / math.sqrt(2)) for x in POINTS])
    np.testing.assert_allclose(out, expected, rtol=1e-6, atol=1e-7)


def test_the_exponential_is_right_to_some_units_in_the_last_place(kernels: Library) -> None:
    points = np.linspace(-86.9, 87.9, 40_001).astype(np.float32)
    out = np.empty_like(points)
    kernels.native.sk_exp(points.ctypes.data, out.ctypes.data, len(points))
    np.testing.assert_allclose(out, np.exp(points.astype(np.float64)), rtol=4e-7)
    edges = np.array([-88, -1e30, -math.inf, math.nan, 0], dtype=np.float32)
    out = np.empty_like(edges)
    kernels.native.sk_exp(edges.ctypes.data, out.ctypes.data, len(edges))
    np.testing.assert_array_equal(out, [0, 0, 0, math.nan, 1])
