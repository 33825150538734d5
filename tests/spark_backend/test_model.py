from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from agent_eval.spark_backend.cache import Cache
from agent_eval.spark_backend.checkpoints.config import GateActivation, LayerType, Rope, SparkConfig
from agent_eval.spark_backend.kernels import library
from agent_eval.spark_backend.model import MLP, RMSNorm, Spark, TensorWeights, initial_weights
from agent_eval.spark_backend.quant.dense import Fp32, Unquantised, dense_layer
from agent_eval.spark_backend.quant.grouped import Grouped, grid_of
from agent_eval.spark_backend.quant.name import GroupedName, parse_build
from agent_eval.spark_backend.quant.rounding import round_groups
from agent_eval.spark_backend.quant.rows import RowSource
from agent_eval.spark_backend.quant.scheme import Scheme
from agent_eval.spark_backend.rotary import FIRST_ROWS, Rotary
from agent_eval.spark_backend.table import CodedTable, DenseTable
from tests.spark_backend import reference
from tests.spark_backend.coded import TABLE, CodedTableWeights
from tests.spark_backend.configs import SMALL

COMPILED = [False, *([True] if library.available() else [])]

LENGTH = 45  # nearly three windows


def weights_of(config: SparkConfig, seed: int = 3) -> dict[str, Tensor]:
    """Random weights whose norms are not all ones."""
    generator = torch.Generator().manual_seed(seed)
    weights = initial_weights(config, generator)
    for name, value in weights.items():
        if value.ndim == 1:
            weights[name] = 1 + 0.3 * torch.randn(value.shape, generator=generator)
    return weights


def ids_of(config: SparkConfig, length: int = LENGTH, seed: int = 5) -> Tensor:
    return torch.randint(0, config.vocab_size, (1, length), generator=torch.Generator().manual_seed(seed))


def as_float64(weights: dict[str, Tensor]) -> dict[str, reference.Array]:
    return {name: value.numpy().astype(np.float64) for name, value in weights.items()}


def one_layer(kind: LayerType) -> SparkConfig:
    return replace(SMALL, num_hidden_layers=1, layer_types=(kind,))


@pytest.mark.parametrize(
    "config",
    [
        SMALL,
        replace(SMALL, num_attention_heads=6, num_key_value_heads=1, gate_activation="silu"),
        replace(SMALL, full_rope=Rope(100.0, 1.0), sliding_rope=Rope(7.0, 0.5), num_key_value_heads=4),
    ],
)
def test_the_model_computes_what_the_float64_twin_computes(config: SparkConfig) -> None:
    weights, ids = weights_of(config), ids_of(config)
    with torch.inference_mode():
        model = Spark(config, weights)
        actual = model.logits(model(ids))[0]
    expected = reference.logits(config, as_float64(weights), ids[0].tolist())
    assert np.abs(expected).max() > 1, "a vanishing model would agree with anything"
    np.testing.assert_allclose(actual.numpy(), expected, atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_sequences_of_a_batch_do_not_see_each_other(seed: int) -> None:
    model = Spark(SMALL, weights_of(SMALL))
    one, other = ids_of(SMALL, seed=seed), ids_of(SMALL, seed=seed + 10)
    with torch.inference_mode():
        together = model(torch.cat((one, other)))
        torch.testing.assert_close(together[:1], model(one), atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(together[1:], model(other), atol=1e-5, rtol=1e-5)


def changed_by(config: SparkConfig, changed: int, seen_from: int) -> bool:
    """Tell whether the hidden state of one position depends on the token of another."""
    model = Spark(config, weights_of(config))
    ids = ids_of(config)
    other = ids.clone()
    other[0, changed] = (other[0, changed] + 1) % config.vocab_size
    with torch.inference_mode():
        return not torch.equal(model(ids)[0, seen_from], model(other)[0, seen_from])


def test_the_window_counts_the_current_token() -> None:
    sliding, window = one_layer("sliding_attention"), SMALL.sliding_window
    assert changed_by(sliding, 40, seen_from=40)
    assert changed_by(sliding, 40 - (window - 1), seen_from=40)
    assert not changed_by(sliding, 40 - window, seen_from=40)


def test_a_full_layer_sees_the_first_token_and_none_that_follows() -> None:
    full = one_layer("full_attention")
    assert changed_by(full, 0, seen_from=40)
    assert not changed_by(full, 41, seen_from=40)


def test_a_gate_of_zero_lets_half_of_each_head_through() -> None:
    weights = weights_of(SMALL)
    for name in weights:
        if name.endswith("g_proj.weight"):
            weights[name] = torch.zeros_like(weights[name])
    ids = ids_of(SMALL)
    with torch.inference_mode():
        model = Spark(SMALL, weights)
        actual = model.logits(model(ids))[0]
    halved = {
        name: value / 2 if name.endswith("out_proj.weight") else value for name, value in as_float64(weights).items()
    }
    expected = reference.logits(SMALL, halved, ids[0].tolist(), gated=False)
    np.testing.assert_allclose(actual.numpy(), expected, atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("activation", ["sigmoid", "silu"])
def test_both_gate_activations_are_told_apart(activation: GateActivation) -> None:
    config = replace(one_layer("full_attention"), gate_activation=activation)
    weights, ids = weights_of(config), ids_of(config, 6)
    with torch.inference_mode():
        actual = Spark(config, weights)
        logits = actual.logits(actual(ids))[0].numpy()
    wrong = replace(config, gate_activation="silu" if activation == "sigmoid" else "sigmoid")
    assert np.abs(logits - reference.logits(wrong, as_float64(weights), ids[0].tolist())).max() > 1e-2


def test_the_mlp_uses_the_exact_gelu() -> None:
    identity = torch.eye(3)
    weights = {"gate_proj.weight": identity, "up_proj.weight": torch.ones(3, 3), "down_proj.weight": identity}
    x = torch.tensor([[[0.7, -1.3, 2.1]]])
    out = MLP(TensorWeights(weights), "", Fp32())(x)[0, 0].tolist()
    total = 0.7 - 1.3 + 2.1
    exact = [0.5 * value * (1 + math.erf(value / math.sqrt(2))) * total for value in (0.7, -1.3, 2.1)]
    assert out == pytest.approx(exact, abs=1e-6)  # the tanh form is off by 1e-4 here


def test_the_norm_applies_its_weight_before_it_narrows() -> None:
    generator = torch.Generator().manual_seed(0)
    x, weight = torch.randn(1, 400, generator=generator), 1 + 0.3 * torch.randn(400, generator=generator)
    normed = x / (x.square().mean() + 1e-6).sqrt()
    out = RMSNorm(weight, 1e-6, torch.bfloat16)(x)
    assert (out != (normed * weight).bfloat16()).float().mean() < 0.01  # float32 may fall on the other side of a tie
    assert (out != normed.bfloat16() * weight.bfloat16()).float().mean() > 0.1


class TestRotary:
    def test_dimensions_beyond_the_rotated_share_pass_through(self) -> None:
        rotary = Rotary(Rope(5e6, 0.25), head_dim=24, positions=64)
        x = torch.randn(1, 64, 2, 24, generator=torch.Generator().manual_seed(0))
        out = rotary(x, rotary.at(0, 64))
        assert torch.equal(out[..., 6:], x[..., 6:])
        assert not torch.allclose(out[:, 1:, :, :6], x[:, 1:, :, :6])
        assert torch.equal(out[:, 0], x[:, 0])

    @pytest.mark.parametrize("share", [0.25, 1.0])
    def test_scores_depend_on_the_distance_only(self, share: float) -> None:
        rotary = Rotary(Rope(100.0, share), head_dim=24, positions=512)
        generator = torch.Generator().manual_seed(0)
        q, k = torch.randn(1, 1, 1, 24, generator=generator), torch.randn(1, 1, 1, 24, generator=generator)

        def score(i: int, j: int) -> float:
            return float((rotary(q, rotary.at(i, i + 1)) * rotary(k, rotary.at(j, j + 1))).sum())

        assert score(13, 4) == pytest.approx(score(209, 200), abs=1e-4)
        assert score(13, 4) != pytest.approx(score(13, 5), abs=1e-3)

    def test_angles_have_the_roundings_of_the_published_model(self) -> None:
        rope, position = Rope(5e6, 0.25), 1303
        turned = Rotary(rope, head_dim=256, positions=2048).at(position, position + 1).sin[0, 0, 32:64].double()
        rounded = [math.sin(reference.turned_by(rope, 64, pair, position)) for pair in range(32)]
        exact = [math.sin(position * 5e6 ** (-pair / 32)) for pair in range(32)]
        assert (turned - torch.tensor(rounded)).abs().median() < 1e-7
        assert (turned - torch.tensor(exact)).abs().max() > 1e-5, "the roundings show"

    def test_the_table_grows_with_the_sequence_and_keeps_its_rows(self) -> None:
        rotary = Rotary(Rope(5e6, 0.25), head_dim=16, positions=1_048_576)
        assert rotary.cos.shape[0] == FIRST_ROWS
        before = rotary.at(0, 8)
        with torch.inference_mode():
            far = rotary.at(3 * FIRST_ROWS, 3 * FIRST_ROWS + 2)
        assert far.cos.shape == (2, 1, 16)
        assert float(far.cos[0, 0, 1]) == pytest.approx(math.cos(3 * FIRST_ROWS * 5e6**-0.5), abs=1e-6)
        assert torch.equal(rotary.at(0, 8).sin, before.sin)
        assert not rotary.cos.is_inference()


CHUNKS = [
    [1] * LENGTH,
    [LENGTH],
    [15, 1, 1, 1, 27],
    [16, 16, 13],
    [17, 1, 17, 10],
    [1, 40, 4],
    [3, 5, 8, 13, 16],
]


@pytest.mark.parametrize("chunks", CHUNKS, ids=str)
def test_new_tokens_with_a_cache_give_what_the_whole_sequence_gives(chunks: list[int]) -> None:
    assert sum(chunks) == LENGTH
    model, ids = Spark(SMALL, weights_of(SMALL)), ids_of(SMALL)
    with torch.inference_mode():
        whole = model.logits(model(ids))
        cache = Cache(SMALL, limit=64, slack=3)
        edges = [sum(chunks[:i]) for i in range(len(chunks) + 1)]
        parts = [model.logits(model(ids[:, start:end], cache)) for start, end in pairwise(edges)]
    torch.testing.assert_close(torch.cat(parts, dim=1), whole, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("chunks", [[400], [130, 270], [1, 127, 129, 143], [300, 100]], ids=str)
def test_windows_cut_into_blocks_of_queries_give_what_the_whole_sequence_gives(chunks: list[int]) -> None:
    config = replace(SMALL, sliding_window=150)
    model, ids = Spark(config, weights_of(config)), ids_of(config, 400)
    with torch.inference_mode():
        whole = model.logits(model(ids))
        cache = Cache(config, limit=512)
        edges = [sum(chunks[:i]) for i in range(len(chunks) + 1)]
        parts = [model.logits(model(ids[:, start:end], cache)) for start, end in pairwise(edges)]
    torch.testing.assert_close(torch.cat(parts, dim=1), whole, atol=2e-4, rtol=1e-4)


def test_masks_of_long_sequences_are_cut_and_change_nothing() -> None:
    config = replace(one_layer("full_attention"), max_position_embeddings=40_000)
    model, cache = Spark(config, weights_of(config)), Cache(config, limit=40_000)
    with torch.inference_mode():
        entries = torch.randn(2, SMALL.num_key_value_heads, 29_600, SMALL.head_dim)
        cache.take(29_600)
        cache.extend(0, entries[0], entries[1])
        tail = ids_of(config, 400)
        together = model(tail, cache)  # 400 x 30,000 cells are more than one call may mask
        assert cache.rewind(29_600)
        apart = torch.cat([model(part, cache) for part in (tail[:, at : at + 100] for at in range(0, 400, 100))], dim=1)
    torch.testing.assert_close(together, apart, atol=1e-5, rtol=1e-5)


def test_a_cache_that_went_back_gives_what_a_fresh_one_gives() -> None:
    model, ids = Spark(SMALL, weights_of(SMALL)), ids_of(SMALL)
    with torch.inference_mode():
        whole = model(ids)
        cache = Cache(SMALL, limit=64)
        model(ids[:, :30], cache)
        model((ids[:, 30:40] + 1) % SMALL.vocab_size, cache)
        assert cache.rewind(30)
        torch.testing.assert_close(model(ids[:, 30:], cache), whole[:, 30:], atol=1e-4, rtol=1e-4)


def test_every_weight_is_trained() -> None:
    model = Spark.initialised(SMALL, torch.Generator().manual_seed(0))
    ids = ids_of(SMALL).expand(2, -1)
    logits = model.logits(model(ids))
    loss = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    torch.autograd.backward(loss)
    assert all(p.grad is not None and bool(p.grad.abs().sum() > 0) for p in model.parameters())
    assert sum(p.numel() for p in model.parameters()) == SMALL.parameters


def table_of(model: Spark) -> Tensor:
    return dict(model.named_parameters())["embedding.weight"]


def test_equal_seeds_give_equal_models() -> None:
    one, same, other = (Spark.initialised(SMALL, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2))
    assert torch.equal(table_of(one), table_of(same))
    assert not torch.equal(table_of(one), table_of(other))


@pytest.mark.parametrize("tied", [True, False])
def test_the_state_of_a_trained_model_is_that_of_its_checkpoint(tied: bool) -> None:
    config = replace(SMALL, tie_word_embeddings=tied)
    weights = weights_of(config)
    state = Spark(config, weights).checkpoint_state()
    assert state.keys() == weights.keys() == config.tensor_shapes().keys()
    assert all(torch.equal(state[name], weights[name]) for name in weights)


def test_an_untied_head_is_used() -> None:
    config = replace(SMALL, tie_word_embeddings=False)
    weights, ids = weights_of(config), ids_of(config, 5)
    with torch.inference_mode():
        model = Spark(config, weights)
        hidden = model(ids)
        torch.testing.assert_close(model.logits(hidden), hidden @ weights["lm_head.weight"].T)


def test_a_layer_of_two_matrices_is_never_made_of_one_copy() -> None:
    """The gate and the up projection reach the scheme as rows of where they lie."""
    seen: list[RowSource] = []

    @dataclass(frozen=True)
    class Watching(Fp32):
        def linear(self, name: str, source: RowSource) -> nn.Module:
            if name.endswith("gate_up_proj"):
                seen.append(source)
            return super().linear(name, source)

    weights = weights_of(SMALL)
    Spark(SMALL, weights, Watching())
    gate, up = weights["model.layers.2.mlp.gate_proj.weight"], weights["model.layers.2.mlp.up_proj.weight"]
    rows = SMALL.intermediate_size
    assert seen[2].shape == (2 * rows, SMALL.hidden_size)
    assert seen[2].rows(3, 9).data_ptr() == gate[3:].data_ptr()
    assert seen[2].rows(rows, rows + 5).data_ptr() == up.data_ptr()


def test_the_embedding_and_a_tied_head_are_one_tensor_of_the_checkpoint() -> None:
    weights = {name: value.bfloat16() for name, value in weights_of(SMALL).items()}
    model = Spark(SMALL, weights, TorchBf16(native=True))
    assert model.head is not None
    table = weights["model.embedding.weight"].data_ptr()
    assert table_of(model).data_ptr() == table
    assert [parameter.data_ptr() for parameter in model.head.parameters()] == [table]


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("compiled", COMPILED)
@pytest.mark.parametrize("build", ["w4a16", "w4a8", "w8a8-asym"])
def test_a_table_of_codes_gives_the_logits_of_the_values_that_they_stand_for(
    build: str, compiled: bool, tied: bool
) -> None:
    config, name = replace(SMALL, tie_word_embeddings=tied), parse_build(build)
    assert isinstance(name, GroupedName)
    scheme = Grouped(name, 32, compiled, rounding="rtn")
    codes = round_groups(weights_of(config)[TABLE], grid_of(name, 32), "rtn")
    ids = ids_of(config, 40)
    with torch.inference_mode():
        model = Spark(config, CodedTableWeights(weights_of(config), codes), scheme)
        assert isinstance(model.embedding, CodedTable)
        assert (model.embedding.layer is model.head) == tied
        actual = model.logits(model(ids))
        model.embedding = DenseTable(codes.dequantised().bfloat16())
        assert torch.equal(model.logits(model(ids)), actual)


@pytest.mark.parametrize("compiled", COMPILED)
def test_a_token_that_the_table_lacks_is_refused(compiled: bool) -> None:
    name = parse_build("w4a16")
    assert isinstance(name, GroupedName)
    codes = round_groups(weights_of(SMALL)[TABLE], grid_of(name, 32), "rtn")
    model = Spark(SMALL, CodedTableWeights(weights_of(SMALL), codes), Grouped(name, 32, compiled, rounding="rtn"))
    with pytest.raises(IndexError):
        model(torch.tensor([[1, SMALL.vocab_size]]))


def test_a_quantised_model_cannot_be_saved_as_a_checkpoint() -> None:
    build = parse_build("w4a16")
    assert isinstance(build, GroupedName)
    with pytest.raises(ValueError, match="without quantisation"):
        Spark(SMALL, weights_of(SMALL), Grouped(build, 32, compiled=False)).checkpoint_state()


@dataclass(frozen=True)
class TorchBf16:
    """The bf16 build on torch's kernels, as on a CPU with bfloat16 units or as on one without."""

    native: bool
    activation: torch.dtype = torch.bfloat16

    def linear(self, name: str, source: RowSource) -> nn.Module:  # noqa: ARG002  every scheme gets the name
        return dense_layer(source, torch.bfloat16, compiled=False, native=self.native)


@pytest.mark.parametrize(
    "scheme",
    [
        TorchBf16(native=True),
        TorchBf16(native=False),
        pytest.param(
            Unquantised(torch.bfloat16, compiled=True),
            marks=pytest.mark.skipif(not library.available(), reason="the kernels are not built"),
        ),
    ],
    ids=["bfloat16 units", "no bfloat16 units", "compiled kernels"],
)
def test_bf16_stays_near_the_twin_on_every_kind_of_cpu(scheme: Scheme) -> None:
    weights, ids = weights_of(SMALL), ids_of(SMALL)
    with torch.inference_mode():
        model = Spark(SMALL, weights, scheme)
        actual = model.logits(model(ids))[0].numpy()
    expected = reference.logits(SMALL, as_float64(weights), ids[0].tolist())
    noise = np.square(actual - expected).mean() / np.square(expected).mean()
    assert 1e-7 < noise < 1e-3  # about 2^-9 per operation; zero would mean that nothing was rounded
