"""Quantised folders: ours and other tools', and what is wrong with the rest. Every refusal comes when a folder is
opened, before any weight is in memory."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.builds import describe_build, load_build
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.loader import open_weights
from agent_eval.spark_backend.checkpoints.synthetic import synthetic_checkpoint
from agent_eval.spark_backend.convert import Conversion, conversion_of, convert
from agent_eval.spark_backend.quant.formats import QuantisedWeights
from agent_eval.spark_backend.quant.name import parse_build
from agent_eval.spark_backend.quant.rows import GroupedSource
from agent_eval.spark_backend.table import CodedTable, DenseTable
from tests.spark_backend.configs import SMALL

Tensors = dict[str, Tensor]
Config = dict[str, Any]


class Parts(NamedTuple):
    """What a folder says, to be changed."""

    tensors: Tensors
    config: Config


Change = Callable[[Parts], None]

BUILDS = ("w4a8", "w4a16", "w4a8-asym")
IDS = torch.randint(0, SMALL.vocab_size, (1, 30), generator=torch.Generator().manual_seed(0))


def conversion(build: str, **options: bool) -> Conversion:
    return conversion_of(parse_build(build), group=None, method="rtn", **options)


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory, checkpoint: Path) -> dict[str, Path]:
    """``SMALL`` in each format. Tests must not write to them."""
    at = tmp_path_factory.mktemp("quantised")
    for build in BUILDS:
        convert(checkpoint, at / build, conversion(build))
    return {build: at / build for build in BUILDS}


def changed(source: Path, target: Path, change: Change) -> Path:
    """Copy a folder with other tensors or another config."""
    shutil.copytree(source, target)
    tensors = load_file(target / "model.safetensors")
    config = json.loads((target / "config.json").read_text("utf-8"))
    change(Parts(tensors, config))
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, target / "model.safetensors")
    (target / "config.json").write_text(json.dumps(config), "utf-8")
    return target


def logits(folder: Path, build: str) -> Tensor:
    config = SparkConfig.from_folder(folder)
    model = load_build(folder, build, threads=1).engine.model
    assert config.vocab_size == SMALL.vocab_size
    with torch.inference_mode():
        return model.logits(model(IDS))[0]


def section(config: Config, **fields: Any) -> None:
    config["quantization_config"].update(fields)


def put(name: str, value: Callable[[Tensor], Tensor]) -> Change:
    def change(parts: Parts) -> None:
        parts.tensors[name] = value(parts.tensors[name].clone())

    return change


def setting(index: tuple[int, ...], value: float) -> Callable[[Tensor], Tensor]:
    def change(tensor: Tensor) -> Tensor:
        tensor[index] = value
        return tensor

    return change


def act_order(parts: Parts) -> None:
    order = parts.tensors["model.layers.1.mlp.down_proj.g_idx"]
    parts.tensors["model.layers.1.mlp.down_proj.g_idx"] = order[torch.randperm(len(order))]


def without(base: str, *suffixes: str) -> Change:
    def change(parts: Parts) -> None:
        for suffix in suffixes:
            del parts.tensors[f"{base}.{suffix}"]

    return change


def added(name: str, tensor: Tensor) -> Change:
    return lambda parts: parts.tensors.update({name: tensor})


def config_says(**fields: Any) -> Change:
    return lambda parts: section(parts.config, **fields)


def nothing_quantised(parts: Parts) -> None:
    for name in [name for name in parts.tensors if name.rpartition(".")[2] in ("qweight", "qzeros", "scales", "g_idx")]:
        del parts.tensors[name]
    for name, shape in SMALL.tensor_shapes().items():
        parts.tensors.setdefault(name, torch.zeros(shape, dtype=torch.bfloat16))
    parts.tensors["lm_head.weight"] = torch.zeros(SMALL.vocab_size, SMALL.hidden_size, dtype=torch.bfloat16)


def half_of_qkv(parts: Parts) -> None:
    for suffix in ("qweight", "qzeros", "scales", "g_idx"):
        del parts.tensors[f"model.layers.0.self_attn.k_proj.{suffix}"]
    parts.tensors["model.layers.0.self_attn.k_proj.weight"] = torch.zeros(48, 64, dtype=torch.bfloat16)


def up_left_alone(parts: Parts) -> None:
    for suffix in ("qweight", "qzeros", "scales", "g_idx"):
        del parts.tensors[f"model.layers.0.mlp.up_proj.{suffix}"]
    parts.tensors["model.layers.0.mlp.up_proj.weight"] = torch.zeros(96, 64, dtype=torch.bfloat16)


DOWN = "model.layers.2.mlp.down_proj"
BAD: dict[str, tuple[str, Change, str]] = {
    "a group size that is not the folder's": (
        "w4a8", config_says(group_size=64),
        r"q_proj\.qzeros has shape \[2, 12\], expected \[1, 12\] with groups of 64; this one is of groups of 32"),
    "a width that does not divide": (
        "w4a8", config_says(group_size=128), r"q_proj has 64 columns, expected a multiple of the group size 128"),
    "another group in one matrix": (
        "w4a8", put("model.layers.0.self_attn.q_proj.scales", lambda s: s[:1]),
        r"q_proj\.scales has shape \[1, 96\], expected \[2, 96\] with groups of 32; this one is of groups of 64"),
    "8-bit GPTQ": ("w4a8", config_says(bits=8), r"bits is 8, expected 4"),
    "act-order by its name": ("w4a8", config_says(desc_act=True), "act-order"),
    "act-order by its columns": ("w4a8", act_order, r"layers\.1\.mlp\.down_proj\.g_idx puts columns .*act-order"),
    "zeros where there should be none": (
        "w4a8", put(f"{DOWN}.qzeros", setting((0, 0), 0x12345678)), r"down_proj\.qzeros holds .*expected 7 or 8"),
    "a NaN among the scales": (
        "w4a8", put(f"{DOWN}.scales", setting((1, 5), float("nan"))), r"down_proj\.scales holds nan, expected finite"),
    "an infinite scale": (
        "w4a8-asym", put(f"{DOWN}.scales", setting((1, 5), float("inf"))), r"down_proj\.scales holds inf"),
    "a negative scale": (
        "w4a16", put(f"{DOWN}.weight_scale", setting((5, 1), -0.25)), r"weight_scale holds -0\.25, .* from 0"),
    "a NaN among the zeros": (
        "w4a16", put(f"{DOWN}.weight_zero", setting((5, 1), float("nan"))), r"weight_zero holds nan"),
    "a missing tensor": ("w4a8", without(DOWN, "scales"), r"down_proj\.scales is missing; gptq has it beside"),
    "a missing matrix": (
        "w4a16", without(DOWN, "weight_packed", "weight_scale", "weight_zero"),
        r"down_proj\.weight is missing, quantised or not"),
    "a matrix in two formats": (
        "w4a8", added(f"{DOWN}.weight_packed", torch.zeros(64, 48, dtype=torch.uint8)),
        r"mixes formats: tensor .*weight_packed is of another format than gptq"),
    "a matrix that is there twice": (
        "w4a8", added(f"{DOWN}.weight", torch.zeros(64, 96, dtype=torch.bfloat16)),
        r"mixes formats: .*down_proj is there quantised and as"),
    "q and v quantised and k not": ("w4a8", half_of_qkv, r"mixes formats: some of .*k_proj"),
    "one of two that are multiplied together": ("w4a8", up_left_alone, r"mixes formats: some of .*up_proj"),
    "codes of another type": (
        "w4a8", put(f"{DOWN}.qweight", lambda w: w.to(torch.int64)), r"qweight is of type I64, expected torch\.int32"),
    "scales of another type": (
        "w4a8", put(f"{DOWN}.scales", lambda s: s.to(torch.int32)), r"scales is of type I32, expected"),
    "codes cut off": (
        "w4a16", put(f"{DOWN}.weight_packed", lambda p: p[:60]), r"has shape \[60, 48\], expected \[64, 48\]"),
    "a tensor too many": (
        "w4a8", added("model.layers.9.mlp.down_proj.qweight", torch.zeros(12, 64, dtype=torch.int32)),
        r"model\.layers\.9\.mlp\.down_proj\.qweight is not part of this architecture \(1 such\)"),
    "a norm of another shape": (
        "w4a8", put("model.norm.weight", lambda n: n[:60]), r"model\.norm\.weight has shape \[60\], expected \[64\]"),
    "nothing quantised": ("w4a8", nothing_quantised, "no layer of the folder is quantised"),
    "a method that is not read": (
        "w4a8", config_says(quant_method="fp8"), "'fp8', expected one of: awq, cpu_int4, gptq"),
    "no method": ("w4a8", lambda parts: parts.config.update(quantization_config=[4]), "quant_method is None"),
    "no head where it is not the embedding": (
        "w4a8", without("lm_head", "qweight", "qzeros", "scales", "g_idx"),
        r"lm_head\.weight is missing, quantised or not"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_a_folder_that_is_not_what_it_says_is_refused_when_it_is_opened(
    folders: dict[str, Path], tmp_path: Path, case: str
) -> None:
    build, change, message = BAD[case]
    folder = changed(folders[build], tmp_path / "changed", change)
    with pytest.raises(CheckpointError, match=message) as caught:
        describe_build(folder, build)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("folder", "build", "fits"),
    [
        ("w4a8", "w4a16", "w4a8 or w4a16-sym"),
        ("w4a8", "w4a8-g64", "w4a8 or w4a16-sym"),
        ("w4a8", "bf16", "w4a8 or w4a16-sym"),
        ("w4a8", "w8a8", "w4a8 or w4a16-sym"),
        ("w4a16", "w4a8", "w4a8-asym or w4a16"),
        ("w4a8-asym", "w4a16-sym", "w4a8-asym or w4a16"),
    ],
)
def test_a_build_that_does_not_fit_is_refused_with_those_that_do(
    folders: dict[str, Path], folder: str, build: str, fits: str
) -> None:
    with pytest.raises(CheckpointError, match=f"the build {build} is another") as caught:
        load_build(folders[folder], build, threads=1)
    assert caught.value.hint == f"run it as {fits}"
    for name in fits.split(" or "):
        assert describe_build(folders[folder], name).name == name


@pytest.mark.parametrize("build", BUILDS)
def test_matrices_are_sources_of_codes_and_the_rest_are_tensors(folders: dict[str, Path], build: str) -> None:
    weights = open_weights(folders[build], SparkConfig.from_folder(folders[build]))
    assert isinstance(weights, QuantisedWeights)
    at = "model.layers.1."
    for names, rows in (
        ((at + "self_attn.q_k_v_proj.weight",), 96 + 2 * 48),
        ((at + "mlp.gate_proj.weight", at + "mlp.up_proj.weight"), 2 * 96),
        (("model.embedding.weight",) if build == "w4a16" else ("lm_head.weight",), SMALL.vocab_size),
    ):
        source = weights.source(*names)
        assert isinstance(source, GroupedSource)
        assert source.shape == (rows, 64)
    assert weights[at + "self_attn.g_proj.weight"].dtype == torch.bfloat16
    assert weights["model.embedding.weight"].shape == (SMALL.vocab_size, 64)
    assert set(weights) == set(SparkConfig.from_folder(folders[build]).tensor_shapes())


@pytest.mark.parametrize("build", BUILDS)
def test_a_quantised_matrix_as_a_tensor_has_the_values_of_its_codes(
    folders: dict[str, Path], checkpoint: Path, build: str
) -> None:
    weights = open_weights(folders[build], SparkConfig.from_folder(folders[build]))
    exact = open_weights(checkpoint, SMALL)["model.layers.0.self_attn.q_k_v_proj.weight"].float()
    found = weights["model.layers.0.self_attn.q_k_v_proj.weight"].float()
    assert found.shape == exact.shape
    assert 0.001 < float((found - exact).square().sum() / exact.square().sum()) < 0.02


# other tools --------------------------------------------------------------------------------------------------------


def as_others_name_it(parts: Parts) -> None:
    for name in list(parts.tensors):
        other = name.replace("model.embedding.", "model.embed_tokens.").replace("g_proj.weight", "g_weight")
        parts.tensors[other] = parts.tensors.pop(name)


def fused(parts: Parts) -> None:
    for i in range(SMALL.num_hidden_layers):
        at = f"model.layers.{i}.self_attn."
        for suffix, axis in (("qweight", 1), ("qzeros", 1), ("scales", 1)):
            three = [parts.tensors.pop(f"{at}{part}_proj.{suffix}") for part in "qkv"]
            parts.tensors[f"{at}q_k_v_proj.{suffix}"] = torch.cat(three, dim=axis)
        parts.tensors[f"{at}q_k_v_proj.g_idx"] = parts.tensors.pop(f"{at}q_proj.g_idx")
        del parts.tensors[f"{at}k_proj.g_idx"], parts.tensors[f"{at}v_proj.g_idx"]


def split(parts: Parts) -> None:
    for i in range(SMALL.num_hidden_layers):
        at = f"model.layers.{i}.self_attn."
        for suffix in ("weight_packed", "weight_scale", "weight_zero"):
            whole = parts.tensors.pop(f"{at}q_k_v_proj.{suffix}")
            for part, rows in zip("qkv", torch.split(whole, [96, 48, 48]), strict=True):
                parts.tensors[f"{at}{part}_proj.{suffix}"] = rows


def without_order(parts: Parts) -> None:
    for name in [name for name in parts.tensors if name.endswith("g_idx")]:
        del parts.tensors[name]


def zeros_of_the_other_convention(parts: Parts) -> None:
    for name in [name for name in parts.tensors if name.endswith("qzeros")]:
        parts.tensors[name] = torch.full_like(parts.tensors[name], -2004318072)  # eight times 8


def version_2(parts: Parts) -> None:
    zeros_of_the_other_convention(parts)
    section(parts.config, checkpoint_format="gptq_v2")


def old_buffers(parts: Parts) -> None:
    parts.tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] = torch.ones(12)


SAME: dict[str, tuple[str, Change]] = {
    "names of other engines, GPTQ": ("w4a8", as_others_name_it),
    "names of other engines, AWQ": ("w4a8-asym", as_others_name_it),
    "names of other engines, cpu_int4": ("w4a16", as_others_name_it),
    "q, k and v in one": ("w4a8", fused),
    "q, k and v in three": ("w4a16", split),
    "no order of columns": ("w4a8", without_order),
    "zeros of 8 under the name of version 1": ("w4a8", zeros_of_the_other_convention),
    "version 2": ("w4a8", version_2),
    "buffers that old exporters store": ("w4a8", old_buffers),
}


@pytest.mark.parametrize("case", SAME)
def test_what_other_tools_write_differently_computes_the_same(
    folders: dict[str, Path], tmp_path: Path, case: str
) -> None:
    build, change = SAME[case]
    folder = changed(folders[build], tmp_path / "other", change)
    assert torch.equal(logits(folder, build), logits(folders[build], build))


def half_precision(parts: Parts) -> None:
    for name, tensor in list(parts.tensors.items()):
        if tensor.dtype == torch.bfloat16:
            parts.tensors[name] = tensor.to(torch.float16)


def test_scales_of_float16_are_rounded_as_engines_do_and_the_notes_say_so(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    folder = changed(folders["w4a8"], tmp_path / "half", half_precision)
    assert "scales were float16 and are rounded to bfloat16" in describe_build(folder, "w4a8").notes
    torch.testing.assert_close(logits(folder, "w4a8"), logits(folders["w4a8"], "w4a8"), rtol=0.05, atol=0.3)


def test_a_gate_that_another_tool_quantised_is_widened(folders: dict[str, Path], tmp_path: Path) -> None:
    def gate_too(parts: Parts) -> None:
        for i in range(SMALL.num_hidden_layers):
            base = f"model.layers.{i}.self_attn.g_proj"
            del parts.tensors[f"{base}.weight"]
            for suffix, part in {
                "weight_packed": torch.full((4, 32), 0x99, dtype=torch.uint8),
                "weight_scale": torch.full((4, 2), 0.5, dtype=torch.bfloat16),
                "weight_zero": torch.full((4, 2), 0.25, dtype=torch.bfloat16),
            }.items():
                parts.tensors[f"{base}.{suffix}"] = part

    folder = changed(folders["w4a16"], tmp_path / "gate", gate_too)
    weights = open_weights(folder, SparkConfig.from_folder(folder))
    assert torch.equal(weights["model.layers.0.self_attn.g_proj.weight"], torch.full((4, 64), 0.75).bfloat16())
    assert logits(folder, "w4a16").isfinite().all()


def layer_left_alone(parts: Parts) -> None:
    for suffix in ("qweight", "qzeros", "scales", "g_idx"):
        del parts.tensors[f"{DOWN}.{suffix}"]
    parts.tensors[f"{DOWN}.weight"] = torch.ones(64, 96, dtype=torch.bfloat16)


def test_a_layer_that_a_folder_left_alone_is_named(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = changed(folders["w4a8"], tmp_path / "left", layer_left_alone)
    assert f"the folder left {DOWN} in bfloat16" in describe_build(folder, "w4a8").notes
    assert logits(folder, "w4a8").isfinite().all()


# heads --------------------------------------------------------------------------------------------------------------


def test_a_table_of_codes_is_the_tied_head_itself(folders: dict[str, Path]) -> None:
    loaded = load_build(folders["w4a16"], "w4a16", threads=1)
    model, weights = loaded.engine.model, open_weights(folders["w4a16"], loaded.config)
    assert isinstance(model.embedding, CodedTable)
    assert model.embedding.layer is model.head
    assert "projections, head and embedding 4-bit" in loaded.notes
    assert loaded.description.embedding == loaded.description.head == loaded.description.layers
    with torch.inference_mode():
        actual = model.logits(model(IDS))
        model.embedding = DenseTable(weights["model.embedding.weight"])
        assert torch.equal(model.logits(model(IDS)), actual)


@pytest.mark.parametrize("build", BUILDS)
def test_a_head_that_was_left_in_bfloat16_is_flagged_with_its_measured_cost(
    checkpoint: Path, tmp_path: Path, build: str
) -> None:
    convert(checkpoint, tmp_path / "trap", conversion(build, keep_head=True))
    description = describe_build(tmp_path / "trap", build)
    assert description.head_trap
    assert "HEAD TRAP: the head is bfloat16" in description.notes
    assert "ms of every token on this machine" in description.head_cost
    assert not describe_build(checkpoint, build).head_trap
    assert logits(tmp_path / "trap", build).isfinite().all()


def test_a_head_of_its_own_in_a_folder_that_says_it_has_none_is_taken_and_named(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    folder = changed(folders["w4a8"], tmp_path / "tied", lambda parts: parts.config.update(tie_word_embeddings=True))
    assert "its head is quantised on its own" in describe_build(folder, "w4a8").notes
    assert not load_build(folder, "w4a8", threads=1).config.tie_word_embeddings
    assert torch.equal(logits(folder, "w4a8"), logits(folders["w4a8"], "w4a8"))


def test_a_stored_copy_of_a_tied_head_is_ignored(folders: dict[str, Path], tmp_path: Path) -> None:
    copy = torch.full((SMALL.vocab_size, 64), 9.0, dtype=torch.bfloat16)
    folder = changed(folders["w4a16"], tmp_path / "copy", added("lm_head.weight", copy))
    assert torch.equal(logits(folder, "w4a16"), logits(folders["w4a16"], "w4a16"))


@pytest.mark.parametrize("build", BUILDS)
def test_a_head_that_never_was_the_embedding_is_quantised_on_its_own(tmp_path: Path, build: str) -> None:
    config = replace(SMALL, tie_word_embeddings=False)
    synthetic_checkpoint(tmp_path / "untied", config, seed=1)
    convert(tmp_path / "untied", tmp_path / "out", conversion(build, keep_embedding=True))
    assert not describe_build(tmp_path / "out", build).head_trap
    fresh = load_build(tmp_path / "untied", build, threads=1, rounding="rtn").engine.model
    with torch.inference_mode():
        expected = fresh.logits(fresh(IDS))[0]
    assert torch.equal(logits(tmp_path / "out", build), expected)
