from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from agent_eval.errors import CheckpointError, UnknownName
from agent_eval.spark_backend.builds import BUILDS, load_build
from agent_eval.spark_backend.config import SparkConfig
from agent_eval.spark_backend.loader import Weights, synthetic_checkpoint
from agent_eval.spark_backend.model import Spark, initial_weights
from agent_eval.spark_backend.quant.dense import Dense
from agent_eval.spark_backend.quant.groups import quantise
from agent_eval.spark_backend.quant.w4a8 import W4A8Linear, quantise_rows
from agent_eval.spark_backend.quant.w4a16 import W4A16Linear
from tests.spark_backend.configs import SMALL

IDS = torch.randint(0, SMALL.vocab_size, (1, 90), generator=torch.Generator().manual_seed(0))


def logits(model: Spark) -> Tensor:
    with torch.inference_mode():
        return model.logits(model(IDS))[0]


def snr_db(actual: Tensor, expected: Tensor) -> float:
    return float(10 * torch.log10(expected.square().sum() / (actual - expected).square().sum()))


class PlainW4A8(nn.Module):
    """W4A8 by dequantising everything and multiplying in float64."""

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        self.weight = weight.double()

    def forward(self, x: Tensor) -> Tensor:
        rows = quantise_rows(x.reshape(-1, x.shape[-1]))
        product = rows.values.double() @ self.weight.T * rows.scale.double()
        return product.float().view(*x.shape[:-1], -1)


class PlainW4A16(nn.Module):
    """W4A16 by dequantising everything and multiplying in float64."""

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        self.weight = weight.double()

    def forward(self, x: Tensor) -> Tensor:
        return (x.double() @ self.weight.T).to(torch.bfloat16)


@dataclass(frozen=True)
class Plain:
    """The slow twin of a 4-bit scheme."""

    build: str
    activation: torch.dtype = torch.bfloat16
    notes: str = "slow twin"

    def linear(self, name: str, weight: Tensor) -> nn.Module:
        if self.build == "w4a16":
            return PlainW4A16(quantise(name, weight, "asymmetric").dequantised())
        return PlainW4A8(quantise(name, weight, "symmetric").dequantised())


@pytest.mark.parametrize("build", ["w4a16", "w4a8"])
def test_a_whole_4_bit_model_computes_what_its_slow_twin_computes(checkpoint: Path, build: str) -> None:
    weights = Weights(checkpoint, SMALL)
    fast, slow = Spark(SMALL, weights, BUILDS[build]()), Spark(SMALL, weights, Plain(build))
    exact = logits(Spark(SMALL, weights))
    # Both round to bfloat16 at the same places, and now and then fall on different sides of a tie.
    assert snr_db(logits(fast), logits(slow)) > snr_db(logits(slow), exact) + 15


@pytest.mark.parametrize(("build", "least"), [("fp32", 300.0), ("bf16", 28.0), ("w4a16", 3.0), ("w4a8", 3.0)])
def test_every_build_stays_near_the_checkpoint(checkpoint: Path, build: str, least: float) -> None:
    weights = Weights(checkpoint, SMALL)
    exact = logits(Spark(SMALL, weights))
    actual = logits(Spark(SMALL, weights, BUILDS[build]()))
    if build == "fp32":
        assert torch.equal(actual, exact)
    else:
        assert least < snr_db(actual, exact) < least + 25


@pytest.mark.parametrize(("build", "layer"), [("w4a16", W4A16Linear), ("w4a8", W4A8Linear)])
def test_projections_and_head_are_quantised_gate_norms_and_embedding_are_not(
    checkpoint: Path, build: str, layer: type[nn.Module]
) -> None:
    weights = Weights(checkpoint, SMALL)
    model = Spark(SMALL, weights, BUILDS[build]())
    quantised = {name for name, module in model.named_modules() if isinstance(module, layer)}
    names = ("self_attn.q_k_v_proj", "self_attn.out_proj", "mlp.gate_up_proj", "mlp.down_proj")
    assert quantised == {"head"} | {f"layers.{i}.{name}" for i in range(4) for name in names}
    kept = dict(model.named_parameters())
    assert torch.equal(kept["embedding"], weights["model.embedding.weight"])
    assert torch.equal(kept["norm.weight"], weights["model.norm.weight"].float())
    for i in range(4):
        gate = weights[f"model.layers.{i}.self_attn.g_proj.weight"]
        assert torch.equal(kept[f"layers.{i}.self_attn.g_proj"], gate.float())
    assert not any(isinstance(module, Dense) for module in model.modules())


def test_gate_and_embedding_of_a_float32_checkpoint_are_rounded_like_published_ones() -> None:
    weights = initial_weights(SMALL, torch.Generator().manual_seed(0))
    kept = dict(Spark(SMALL, weights, BUILDS["w4a16"]()).named_parameters())
    assert torch.equal(kept["embedding"], weights["model.embedding.weight"].bfloat16())
    gate = weights["model.layers.1.self_attn.g_proj.weight"]
    assert torch.equal(kept["layers.1.self_attn.g_proj"], gate.bfloat16().float())


def test_an_untied_head_is_quantised_too(tmp_path: Path) -> None:
    config = replace(SMALL, tie_word_embeddings=False)
    synthetic_checkpoint(tmp_path / "untied", config, seed=1)
    weights = Weights(tmp_path / "untied", config)
    exact = logits(Spark(config, weights))
    assert 3 < snr_db(logits(Spark(config, weights, BUILDS["w4a16"]())), exact) < 28


@pytest.mark.parametrize("build", BUILDS)
def test_a_build_is_loaded_with_its_config_and_notes(checkpoint: Path, build: str) -> None:
    loaded = load_build(checkpoint, build, threads=1)
    assert loaded.name == build
    assert loaded.config == SMALL
    assert "decode" in loaded.notes
    assert "prefill" in loaded.notes
    assert loaded.engine.context == SMALL.max_position_embeddings
    assert torch.get_num_threads() == 1


def test_a_shorter_context_may_be_asked_for(checkpoint: Path) -> None:
    assert load_build(checkpoint, "bf16", threads=1, context=100).engine.context == 100


def test_an_unknown_build_is_named_with_those_that_exist(checkpoint: Path) -> None:
    with pytest.raises(UnknownName) as caught:
        load_build(checkpoint, "int4", threads=1)
    assert "unknown build 'int4'; expected one of: bf16, w4a16, w4a8, fp32" in caught.value.message


def test_a_checkpoint_whose_widths_do_not_suit_a_build_is_named(tmp_path: Path) -> None:
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
    with pytest.raises(CheckpointError, match=r"model\.layers\.0\.self_attn\.q_k_v_proj\.weight has 48 columns"):
        load_build(tmp_path / "odd", "w4a8", threads=1)
