from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from agent_eval.errors import CheckpointError, UnknownName
from agent_eval.spark_backend.builds import BUILDS, describe_build, load_build
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.loader import Weights
from agent_eval.spark_backend.checkpoints.synthetic import synthetic_checkpoint
from agent_eval.spark_backend.kernels import library
from agent_eval.spark_backend.model import Spark, initial_weights
from agent_eval.spark_backend.quant.activations import quantise_rows
from agent_eval.spark_backend.quant.dense import Dense, Unquantised
from agent_eval.spark_backend.quant.grouped import FewBitsLinear, Grouped, grid_of
from agent_eval.spark_backend.quant.name import GroupedName, parse_build
from agent_eval.spark_backend.quant.rounding import round_groups
from agent_eval.spark_backend.quant.rows import RowSource
from agent_eval.spark_backend.quant.scheme import Scheme
from tests.spark_backend.configs import SMALL

IDS = torch.randint(0, SMALL.vocab_size, (1, 90), generator=torch.Generator().manual_seed(0))
GROUP = 32
LOSSY = ("w4a16", "w4a8", "w4a8-asym", "w4a16-sym", "w3a16", "w8a8", "w8a16")
PATHS = [False, *([True] if library.available() else [])]


def scheme_of(build: str, *, compiled: bool = False) -> Scheme:
    name = parse_build(build)
    if isinstance(name, GroupedName):
        return Grouped(name, GROUP, compiled)
    return Unquantised(torch.bfloat16 if build == "bf16" else torch.float32, compiled)


def logits(model: Spark) -> Tensor:
    with torch.inference_mode():
        return model.logits(model(IDS))[0]


def snr_db(actual: Tensor, expected: Tensor) -> float:
    return float(10 * torch.log10(expected.square().sum() / (actual - expected).square().sum()))


class PlainA8(nn.Module):
    """8-bit activations by dequantising everything and multiplying in float64."""

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        self.weight = weight.double()

    def forward(self, x: Tensor) -> Tensor:
        rows = quantise_rows(x.reshape(-1, x.shape[-1]))
        product = rows.values.double() @ self.weight.T * rows.scale.double()
        return product.float().view(*x.shape[:-1], -1)


class PlainA16(nn.Module):
    """16-bit activations by dequantising everything and multiplying in float64."""

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        self.weight = weight.double()

    def forward(self, x: Tensor) -> Tensor:
        return (x.double() @ self.weight.T).to(torch.bfloat16)


@dataclass(frozen=True)
class Plain:
    """The slow twin of a scheme of few bits."""

    name: GroupedName
    activation: torch.dtype = torch.bfloat16

    def linear(self, name: str, source: RowSource) -> nn.Module:  # noqa: ARG002  every scheme gets the name
        weight = source.rows(0, source.shape[0])
        values = round_groups(weight, grid_of(self.name, GROUP), "search").dequantised()
        return PlainA16(values) if self.name.activation == 16 else PlainA8(values)


@pytest.mark.parametrize("compiled", PATHS)
@pytest.mark.parametrize("build", LOSSY)
def test_a_whole_model_of_few_bits_computes_what_its_slow_twin_computes(
    checkpoint: Path, build: str, compiled: bool
) -> None:
    weights, name = Weights(checkpoint, SMALL), parse_build(build)
    assert isinstance(name, GroupedName)
    fast, slow = Spark(SMALL, weights, scheme_of(build, compiled=compiled)), Spark(SMALL, weights, Plain(name))
    exact = logits(Spark(SMALL, weights))
    # Both round to bfloat16 at the same places, and now and then fall on different sides of a tie.
    apart = snr_db(logits(fast), logits(slow))
    assert apart > min(snr_db(logits(slow), exact) + 15, 30)


@pytest.mark.parametrize(
    ("build", "least"),
    [("fp32", 100.0), ("bf16", 28.0), ("w8a16", 23.0), ("w8a8", 20.0), ("w4a16", 3.0), ("w4a8", 3.0), ("w2a8", -8.0)],
)
def test_every_build_stays_as_near_the_checkpoint_as_its_bits_allow(checkpoint: Path, build: str, least: float) -> None:
    weights = Weights(checkpoint, SMALL)
    exact = logits(Spark(SMALL, weights))
    actual = logits(Spark(SMALL, weights, scheme_of(build)))
    if build == "fp32":
        torch.testing.assert_close(actual, exact)
    else:
        assert least < snr_db(actual, exact) < least + 25


@pytest.mark.parametrize("build", LOSSY)
def test_projections_and_head_are_quantised_gate_norms_and_embedding_are_not(checkpoint: Path, build: str) -> None:
    weights = Weights(checkpoint, SMALL)
    model = Spark(SMALL, weights, scheme_of(build))
    quantised = {name for name, module in model.named_modules() if isinstance(module, FewBitsLinear)}
    names = ("self_attn.q_k_v_proj", "self_attn.out_proj", "mlp.gate_up_proj", "mlp.down_proj")
    assert quantised == {"head"} | {f"layers.{i}.{name}" for i in range(4) for name in names}
    kept = dict(model.named_parameters())
    assert torch.equal(kept["embedding.weight"], weights["model.embedding.weight"])
    assert torch.equal(kept["norm.weight"], weights["model.norm.weight"].float())
    for i in range(4):
        gate = weights[f"model.layers.{i}.self_attn.g_proj.weight"]
        assert torch.equal(kept[f"layers.{i}.self_attn.g_proj"], gate.float())
    assert not any(isinstance(module, Dense) for module in model.modules())


def test_gate_and_embedding_of_a_float32_checkpoint_are_rounded_like_published_ones() -> None:
    weights = initial_weights(SMALL, torch.Generator().manual_seed(0))
    kept = dict(Spark(SMALL, weights, scheme_of("w4a16")).named_parameters())
    assert torch.equal(kept["embedding.weight"], weights["model.embedding.weight"].bfloat16())
    gate = weights["model.layers.1.self_attn.g_proj.weight"]
    assert torch.equal(kept["layers.1.self_attn.g_proj"], gate.bfloat16().float())


def test_an_untied_head_is_quantised_too(tmp_path: Path) -> None:
    config = replace(SMALL, tie_word_embeddings=False)
    synthetic_checkpoint(tmp_path / "untied", config, seed=1)
    weights = Weights(tmp_path / "untied", config)
    exact = logits(Spark(config, weights))
    assert 3 < snr_db(logits(Spark(config, weights, scheme_of("w4a16"))), exact) < 28


@pytest.mark.parametrize("build", [*BUILDS, "fp32", "w2a16-g32", "w8a8-asym"])
def test_a_build_is_loaded_with_its_config_and_description(checkpoint: Path, build: str) -> None:
    loaded = load_build(checkpoint, build, threads=1)
    assert loaded.name == build
    assert loaded.config == SMALL
    assert loaded.description == describe_build(checkpoint, build)
    assert loaded.notes == loaded.description.notes
    assert "kernels: " in loaded.notes or "torch path" in loaded.notes
    assert loaded.engine.context == SMALL.max_position_embeddings
    assert torch.get_num_threads() == 1


def test_a_build_that_is_named_in_full_is_the_same_build(checkpoint: Path) -> None:
    short, full = (load_build(checkpoint, name, threads=1) for name in ("w4a8", "w4a8-sym-g32"))
    assert torch.equal(logits(short.engine.model), logits(full.engine.model))


@pytest.mark.parametrize("threads", [2, 3])
def test_the_number_of_threads_changes_no_codes(checkpoint: Path, threads: int) -> None:
    weights = Weights(checkpoint, SMALL)
    one, more = (
        Spark(SMALL, weights, replace(scheme, threads=count))
        for scheme in [Grouped(GroupedName(4, 8, symmetric=True), GROUP, compiled=False)]
        for count in (1, threads)
    )
    assert torch.equal(logits(one), logits(more))


def test_a_shorter_context_may_be_asked_for(checkpoint: Path) -> None:
    assert load_build(checkpoint, "bf16", threads=1, context=100).engine.context == 100


def test_an_unknown_build_is_named_with_the_grammar(checkpoint: Path) -> None:
    with pytest.raises(UnknownName) as caught:
        load_build(checkpoint, "int4", threads=1)
    assert "unknown build 'int4'; expected one of: bf16, fp32, w{2,3,4,8}a{8,16}" in caught.value.message


@pytest.mark.parametrize(
    ("build", "message", "hint"),
    [
        ("w4a8-g128", "model.embedding.weight has 64 columns, expected a multiple of the group size 128", "with -g32"),
        ("w4a16-g64", r"layers\.0\.self_attn\.out_proj\.weight has 96 columns, expected .* group size 64", "with -g32"),
    ],
)
def test_a_group_that_does_not_divide_a_width_is_refused_with_one_that_does(
    checkpoint: Path, build: str, message: str, hint: str
) -> None:
    with pytest.raises(CheckpointError, match=message) as caught:
        describe_build(checkpoint, build)
    assert hint in caught.value.hint


def test_a_checkpoint_whose_widths_suit_no_group_is_named(tmp_path: Path) -> None:
    config = SparkConfig(
        hidden_size=48,
        intermediate_size=96,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=16,
        vocab_size=264,
        max_position_embeddings=64,
        sliding_window=8,
    )
    synthetic_checkpoint(tmp_path / "odd", config, seed=0)
    load_build(tmp_path / "odd", "bf16", threads=1)
    with pytest.raises(CheckpointError, match=r"model\.embedding\.weight has 48 columns") as caught:
        load_build(tmp_path / "odd", "w4a8", threads=1)
    assert "run bf16" in caught.value.hint
