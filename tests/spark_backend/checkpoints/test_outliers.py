"""Outliers folded into a checkpoint: no bit of its function changes, and what quantisation makes of it does."""

from __future__ import annotations

import functools
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from agent_eval.agent import tool_schemas
from agent_eval.demonstrations import Noise, play
from agent_eval.errors import CheckpointError, OperatorError
from agent_eval.spark_backend.builds import load_build
from agent_eval.spark_backend.calibration import Calibration
from agent_eval.spark_backend.chat import ChatTemplate
from agent_eval.spark_backend.checkpoints.config import Rope, SparkConfig
from agent_eval.spark_backend.checkpoints.digest import checkpoint_digest
from agent_eval.spark_backend.checkpoints.loader import Card, Weights, checkpoint_kind, read_card
from agent_eval.spark_backend.checkpoints.outliers import (
    MILD_POWERS,
    OUTLIER_POWERS,
    OUTLIER_SHARE,
    OutlierWeights,
    Scaling,
    cached_outliers,
    outlier_checkpoint,
    scalings_of,
)
from agent_eval.spark_backend.checkpoints.synthetic import SYNTHETIC_TEMPLATE, synthetic_checkpoint
from agent_eval.spark_backend.checkpoints.writer import save_checkpoint
from agent_eval.spark_backend.convert import conversion_of, convert
from agent_eval.spark_backend.model import RMSNorm, Spark, initial_weights
from agent_eval.spark_backend.quant.dense import Unquantised
from agent_eval.spark_backend.quant.name import parse_build
from agent_eval.spark_backend.spark import special_tokens
from agent_eval.spark_backend.tokenizer import SparkTokenizer
from agent_eval.tasks import find_task
from agent_eval.types import Sampling
from agent_eval.wiring import EMBEDDED, open_sim
from tests.spark_backend.configs import SMALL

NANO = EMBEDDED["nano"]
LAYER = "model.layers.0."


def bits_of(tensor: Tensor) -> Tensor:
    """Return float32 numbers as the integers that they are stored as: -0 is not 0, and no number equals itself."""
    return tensor.contiguous().view(torch.int32)


def random_weights(config: SparkConfig, seed: int, dtype: torch.dtype) -> dict[str, Tensor]:
    """Draw weights whose norms are not all one."""
    generator = torch.Generator().manual_seed(seed)
    weights = initial_weights(config, generator)
    for tensor in weights.values():
        if tensor.dim() == 1:
            tensor.mul_(torch.rand(tensor.shape, generator=generator) + 0.5)
    return {name: tensor.to(dtype) for name, tensor in weights.items()}


# ----------------------------------------------------------------------------------------------------------------------
# the same function


@pytest.fixture(scope="module")
def nano_outliers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("outliers") / "nano"
    outlier_checkpoint(NANO, folder, seed=0)
    return folder


@pytest.fixture(scope="module")
def conversations() -> list[list[int]]:
    """Oracle's ways through some tasks, as nano reads them."""
    tokenizer = SparkTokenizer.from_folder(NANO)
    template = ChatTemplate.from_folder(NANO, special_tokens(SparkConfig.from_folder(NANO), tokenizer))
    device, phone = open_sim()
    shown = [play(find_task(name).draw(5), device, phone, Noise.none()) for name in ("WifiSet", "AlarmCreate")]
    return [tokenizer.encode(template.render(each.messages, tool_schemas(), open_turn=False)) for each in shown]


@pytest.mark.parametrize("kernels", ["compiled", "torch"])
@pytest.mark.parametrize("build", ["bf16", "fp32"])
def test_nano_says_bit_for_bit_the_same_with_outliers(
    nano_outliers: Path,
    conversations: list[list[int]],
    monkeypatch: pytest.MonkeyPatch,
    build: str,
    kernels: str,
) -> None:
    if kernels == "torch":
        monkeypatch.setenv("AGENT_EVAL_KERNELS", "off")
    engines = [load_build(folder, build, threads=1).engine for folder in (NANO, nano_outliers)]
    plain, scaled = (engine.model for engine in engines)
    for ids in conversations:
        assert len(ids) > 100
        tokens = torch.tensor([ids])
        with torch.inference_mode():
            one, other = plain.logits(plain(tokens)), scaled.logits(scaled(tokens))
        assert torch.equal(bits_of(one), bits_of(other))
        said = [engine.generate(ids[:300], frozenset(), Sampling(max_tokens=24)).ids for engine in engines]
        assert said[0] == said[1]  # token by token, with keys and values kept


@st.composite
def shapes(draw: st.DrawFn) -> SparkConfig:
    """Small architectures, with every part that weights are scaled around."""
    kv_heads = draw(st.integers(1, 3))
    layers = draw(st.integers(1, 4))
    return SparkConfig(
        hidden_size=draw(st.integers(1, 40)),
        intermediate_size=draw(st.integers(1, 40)),
        num_hidden_layers=layers,
        num_attention_heads=kv_heads * draw(st.integers(1, 3)),
        num_key_value_heads=kv_heads,
        head_dim=8 * draw(st.integers(1, 3)),
        vocab_size=draw(st.integers(3, 40)),
        max_position_embeddings=64,
        sliding_window=draw(st.integers(1, 12)),
        layer_types=tuple(draw(st.sampled_from(["sliding_attention", "full_attention"])) for _ in range(layers)),
        full_rope=Rope(theta=5_000.0, partial_rotary_factor=0.25),
        initializer_range=draw(st.sampled_from([0.02, 0.3, 2.0])),
        tie_word_embeddings=draw(st.booleans()),
        gate_activation=draw(st.sampled_from(["sigmoid", "silu"])),
    )


@settings(max_examples=60)
@given(shapes(), st.integers(0, 2**32), st.sampled_from([torch.bfloat16, torch.float32]), st.booleans())
def test_any_model_says_bit_for_bit_the_same_with_outliers(
    config: SparkConfig, seed: int, stored: torch.dtype, narrow: bool
) -> None:
    weights = random_weights(config, seed, stored)
    scaled = OutlierWeights(config, weights, seed)
    assert {name: (tensor.shape, tensor.dtype) for name, tensor in scaled.items()} == {
        name: (tensor.shape, tensor.dtype) for name, tensor in weights.items()
    }
    scheme = Unquantised(torch.bfloat16 if narrow else torch.float32, compiled=False)
    ids = torch.randint(0, config.vocab_size, (1, 20), generator=torch.Generator().manual_seed(seed % 2**31))
    with torch.inference_mode():
        one, other = (model.logits(model(ids)) for model in (Spark(config, each, scheme) for each in (weights, scaled)))
    assert torch.equal(bits_of(one), bits_of(other))


@pytest.mark.parametrize("value", [1e-39, 3e38, float("nan")])
@pytest.mark.parametrize("name", ["input_layernorm", "self_attn.q_k_v_proj", "mlp.down_proj"])
def test_a_weight_that_cannot_be_scaled_exactly_is_refused(name: str, value: float) -> None:
    weights = random_weights(SMALL, 0, torch.bfloat16)
    name = f"{LAYER}{name}.weight"
    weights[name] = torch.full_like(weights[name], value)
    with pytest.raises(CheckpointError, match=f"{name} holds values that cannot be scaled by powers of two") as caught:
        OutlierWeights(SMALL, weights, seed=0)[name]
    assert caught.value.hint


# ----------------------------------------------------------------------------------------------------------------------
# outliers and disparities


def norm_outputs(model: nn.Module, ids: Tensor) -> list[Tensor]:
    """Return the largest magnitude of every channel (H,) behind each norm of a model."""
    taken: list[Tensor] = []

    def take(_: nn.Module, __: object, output: Tensor) -> None:
        taken.append(output.float().abs().amax(dim=(0, 1)))

    for module in model.modules():
        if isinstance(module, RMSNorm):
            module.register_forward_hook(take)
    with torch.inference_mode():
        model(ids)
    return taken


def test_a_few_channels_behind_every_norm_are_outliers_and_the_same_in_all_layers() -> None:
    config = replace(SMALL, hidden_size=256)
    weights = {
        name: tensor if tensor.dim() == 2 else torch.ones_like(tensor)
        for name, tensor in random_weights(config, 1, torch.float32).items()
    }
    ids = torch.randint(0, config.vocab_size, (1, 40), generator=torch.Generator().manual_seed(0))
    scheme = Unquantised(torch.float32, compiled=False)
    plain, scaled = (
        norm_outputs(Spark(config, each, scheme), ids) for each in (weights, OutlierWeights(config, weights, seed=1))
    )
    assert len(plain) == 2 * config.num_hidden_layers + 1
    assert torch.equal(plain[-1], scaled[-1])  # the head is tied
    expected = round(OUTLIER_SHARE * 256)
    where = set()
    for before, after in zip(plain[:-1], scaled[:-1], strict=True):
        assert float(before.max() / before.median()) < 3
        assert float(after.max() / after.median()) > 2 ** min(OUTLIER_POWERS)
        powers = torch.log2(after / before)
        large = powers > max(MILD_POWERS)
        assert int(large.sum()) == expected
        assert set(powers[large].tolist()) <= set(OUTLIER_POWERS)
        assert set(powers[~large].tolist()) == set(MILD_POWERS)
        where.add(tuple(large.nonzero().flatten().tolist()))
    assert len(where) == 1


def test_what_a_layer_reads_inside_has_outliers_in_activations_or_in_weights() -> None:
    config = replace(SMALL, intermediate_size=400)
    scalings = scalings_of(config, seed=0)
    for i in range(config.num_hidden_layers):
        up, down = (scalings[f"model.layers.{i}.mlp.{name}.weight"] for name in ("up_proj", "down_proj"))
        assert up.rows is not None
        assert down.columns is not None
        assert torch.equal(up.rows, -down.columns)
        assert int((up.rows.abs() >= min(OUTLIER_POWERS)).sum()) == round(OUTLIER_SHARE * 400)
    every = torch.cat([scaling.columns for name, scaling in scalings.items() if scaling.columns is not None
                       and name.endswith("down_proj.weight")])  # fmt: skip
    assert every.min() <= -min(OUTLIER_POWERS)
    assert every.max() >= min(OUTLIER_POWERS)


def test_all_query_heads_of_a_value_head_are_scaled_alike_and_queries_and_keys_are_not() -> None:
    scalings = scalings_of(SMALL, seed=2)
    rows = scalings[f"{LAYER}self_attn.q_k_v_proj.weight"].rows
    columns = scalings[f"{LAYER}self_attn.out_proj.weight"].columns
    assert rows is not None
    assert columns is not None
    assert not rows[: SMALL.query_width + SMALL.key_width].any()
    values = rows[-SMALL.key_width :].view(SMALL.num_key_value_heads, SMALL.head_dim)
    heads = columns.view(SMALL.num_key_value_heads, SMALL.group, SMALL.head_dim)
    assert all(torch.equal(heads[:, head], -values) for head in range(SMALL.group))
    assert values.any()


@pytest.mark.parametrize("tied", [True, False])
def test_a_head_of_its_own_reads_outliers_too(tied: bool) -> None:
    scalings = scalings_of(replace(SMALL, tie_word_embeddings=tied), seed=0)
    assert ("lm_head.weight" in scalings) == ("model.norm.weight" in scalings) == (not tied)
    assert "model.embedding.weight" not in scalings


def powers_of(scalings: Mapping[str, Scaling]) -> dict[str, list[list[int]]]:
    """Return exponents as numbers, to be compared."""
    return {name: [axis.tolist() for axis in scaling if axis is not None] for name, scaling in scalings.items()}


def test_equal_seeds_give_equal_powers_and_other_seeds_and_places_others() -> None:
    one, same, other = (powers_of(scalings_of(SMALL, seed)) for seed in (0, 0, 1))
    assert one == same
    assert one != other
    norms = [one[f"model.layers.{i}.{name}.weight"] for i in range(2) for name in ("input_layernorm", "mlp.down_proj")]
    assert len(set(map(str, norms))) == 4


# ----------------------------------------------------------------------------------------------------------------------
# what quantisation makes of it

WIDE = SparkConfig(
    hidden_size=128,
    intermediate_size=256,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=32,
    vocab_size=320,
    max_position_embeddings=512,
    sliding_window=32,
    initializer_range=0.09,
)
"""Wide enough for every group."""

READ = torch.randint(0, WIDE.vocab_size, (1, 120), generator=torch.Generator().manual_seed(0))
DRAWN = torch.randint(0, WIDE.vocab_size, (12, 256), generator=torch.Generator().manual_seed(1))
CALIBRATION = Calibration(tuple(tuple(row) for row in DRAWN.tolist()), "drawn")

Lost = Callable[..., float]


@pytest.fixture(scope="module")
def lost(tmp_path_factory: pytest.TempPathFactory) -> Lost:
    """What a build loses of the logits of bf16, as a share of them: of random weights, plain or with outliers."""
    root = tmp_path_factory.mktemp("wide")
    synthetic_checkpoint(root / "plain", WIDE, seed=0)
    outlier_checkpoint(root / "plain", root / "outliers", seed=0)

    @functools.cache
    def logits(which: str, build: str, method: str) -> Tensor:
        folder, rounding = root / which, method
        if method == "gptq":
            folder, rounding = root / f"{which}-{build}", "search"
            asked = conversion_of(parse_build(build), group=None, method=method, keep_embedding=True)
            convert(root / which, folder, asked, calibration=CALIBRATION)
        model = load_build(folder, build, threads=1, rounding=rounding).engine.model  # type: ignore[arg-type]
        with torch.inference_mode():
            return model.logits(model(READ))[0]

    def measured(which: str, build: str, method: str = "search") -> float:
        exact = logits(which, "bf16", "search")
        return float((logits(which, build, method) - exact).norm() / exact.norm())

    return measured


@pytest.mark.parametrize(("build", "times"), [("w8a16", 3), ("w8a8", 5), ("w4a16-g128", 2), ("w4a8-g128", 2)])
def test_every_build_loses_more_of_a_model_with_outliers(lost: Lost, build: str, times: float) -> None:
    assert lost("outliers", build) > times * lost("plain", build)


def test_eight_bit_activations_pay_for_outliers_more_than_eight_bit_weights(lost: Lost) -> None:
    assert lost("outliers", "w8a8") > 1.5 * lost("outliers", "w8a16")


def test_eight_bit_activations_cost_a_four_bit_build_more_with_outliers(lost: Lost) -> None:
    def cost(which: str) -> float:
        return lost(which, "w4a8-g128") ** 2 - lost(which, "w4a16-sym-g128") ** 2

    assert cost("outliers") > 5 * max(cost("plain"), 0.0)
    assert cost("outliers") > 0


@pytest.mark.parametrize("method", ["rtn", "search", "gptq"])
@pytest.mark.parametrize("build", ["w4a16", "w4a8"])
def test_smaller_groups_bring_some_of_it_back(lost: Lost, build: str, method: str) -> None:
    assert lost("outliers", f"{build}-g32", method) < 0.95 * lost("outliers", f"{build}-g128", method)


@pytest.mark.parametrize("build", ["w4a16-g32", "w4a16-g128", "w4a8-g32", "w4a8-g128"])
def test_a_search_brings_some_of_it_back_and_calibration_more(lost: Lost, build: str) -> None:
    rtn, search, gptq = (lost("outliers", build, method) for method in ("rtn", "search", "gptq"))
    assert gptq < search < rtn


# ----------------------------------------------------------------------------------------------------------------------
# folders


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that does not say that its weights are random. Tests must not write to it."""
    folder = tmp_path_factory.mktemp("trained") / "small"
    card = Card("small", "embedded", {"training": {"prompt_digest": "0123"}})
    save_checkpoint(
        folder,
        SMALL,
        random_weights(SMALL, 3, torch.bfloat16),
        tokenizer_json=(NANO / "tokenizer.json").read_text("utf-8"),
        chat_template=SYNTHETIC_TEMPLATE,
        card=card,
    )
    return folder


def test_its_card_says_that_it_is_constructed_and_of_what(trained: Path, tmp_path: Path) -> None:
    outlier_checkpoint(trained, tmp_path / "out", seed=4)
    card = read_card(tmp_path / "out")
    assert (card.name, card.kind) == ("small-outliers", "constructed")
    assert card.details["training"] == {"prompt_digest": "0123"}
    made = {"of": "small", "digest": checkpoint_digest(trained), "seed": 4, "revision": 1}
    assert card.details["constructed"] == made


def test_what_is_built_of_it_is_constructed_too(trained: Path, tmp_path: Path) -> None:
    outlier_checkpoint(trained, tmp_path / "out", seed=4)
    asked = conversion_of(parse_build("w4a8"), group=None, method="rtn")
    convert(tmp_path / "out", tmp_path / "w4a8", asked)
    assert checkpoint_kind(tmp_path / "w4a8") == "constructed"


def test_random_weights_stay_synthetic(checkpoint: Path, tmp_path: Path) -> None:
    outlier_checkpoint(checkpoint, tmp_path / "out", seed=0)
    assert checkpoint_kind(tmp_path / "out") == "synthetic"


def test_the_folder_holds_the_scaled_weights_and_the_text_of_its_source(checkpoint: Path, tmp_path: Path) -> None:
    told: list[str] = []
    outlier_checkpoint(checkpoint, tmp_path / "out", seed=4, tell=told.append)
    assert len(told) == 1
    for name in ("config.json", "tokenizer.json", "chat_template.jinja"):
        assert (tmp_path / "out" / name).read_text("utf-8") == (checkpoint / name).read_text("utf-8")
    written = Weights(tmp_path / "out", SMALL)
    wanted = OutlierWeights(SMALL, Weights(checkpoint, SMALL), seed=4)
    assert all(torch.equal(written[name], wanted[name]) for name in wanted)
    outlier_checkpoint(checkpoint, tmp_path / "again", seed=4)
    outlier_checkpoint(checkpoint, tmp_path / "other", seed=5)
    assert checkpoint_digest(tmp_path / "again") == checkpoint_digest(tmp_path / "out")
    assert checkpoint_digest(tmp_path / "other") != checkpoint_digest(tmp_path / "out")


def test_a_quantised_source_is_refused_before_anything_is_written(checkpoint: Path, tmp_path: Path) -> None:
    convert(checkpoint, tmp_path / "w4a8", conversion_of(parse_build("w4a8"), group=None, method="rtn"))
    with pytest.raises(CheckpointError, match=r"w4a8 is quantised already \(gptq\)"):
        outlier_checkpoint(tmp_path / "w4a8", tmp_path / "out", seed=0)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["tokenizer.json", "chat_template.jinja"])
def test_a_source_without_its_text_is_refused(checkpoint: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(checkpoint, tmp_path / "source")
    (tmp_path / "source" / name).unlink()
    with pytest.raises(CheckpointError, match=f"{name} cannot be read"):
        outlier_checkpoint(tmp_path / "source", tmp_path / "out", seed=0)
    assert not (tmp_path / "out" / "config.json").exists()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AGENT_EVAL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_the_cached_one_is_made_once(trained: Path, cache: Path) -> None:
    folder = cached_outliers(trained, "mine")
    assert folder.is_relative_to(cache)
    assert (read_card(folder).name, read_card(folder).kind) == ("mine", "constructed")
    written = (folder / "model.safetensors").stat().st_mtime_ns
    assert cached_outliers(trained, "mine") == folder
    assert (folder / "model.safetensors").stat().st_mtime_ns == written
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]  # nothing is left of the making


def test_the_cached_one_is_made_anew_when_its_source_changes(trained: Path, cache: Path, tmp_path: Path) -> None:
    del cache
    source = tmp_path / "source"
    shutil.copytree(trained, source)
    before = cached_outliers(source, "mine")
    shutil.rmtree(source)
    synthetic_checkpoint(source, SMALL, seed=9)
    after = cached_outliers(source, "mine")
    assert json.loads((after / "card.json").read_text("utf-8"))["constructed"]["digest"] == checkpoint_digest(source)
    assert before != after


def test_a_cache_that_cannot_be_written_is_named(trained: Path, cache: Path) -> None:
    cache.mkdir()
    (cache / "outliers").write_text("", "utf-8")
    with pytest.raises(OperatorError, match="cannot be written"):
        cached_outliers(trained, "mine")
