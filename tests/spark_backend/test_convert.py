from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from torch import Tensor

from agent_eval.errors import CheckpointError, OperatorError, UnknownName
from agent_eval.spark_backend.builds import describe_build, load_build
from agent_eval.spark_backend.calibration import Calibration
from agent_eval.spark_backend.checkpoints.loader import read_card
from agent_eval.spark_backend.checkpoints.synthetic import synthetic_checkpoint
from agent_eval.spark_backend.convert import METHODS, Conversion, conversion_of, convert
from agent_eval.spark_backend.quant.name import parse_build
from tests.spark_backend.configs import SMALL

IDS = torch.randint(0, SMALL.vocab_size, (1, 40), generator=torch.Generator().manual_seed(0))
FORMATS = {"w4a8": "gptq", "w4a16-sym": "gptq", "w4a16": "cpu_int4", "w4a8-asym": "awq"}
DRAWN = torch.randint(0, SMALL.vocab_size, (6, 100), generator=torch.Generator().manual_seed(1))
CALIBRATION = Calibration(tuple(tuple(row) for row in DRAWN.tolist()), "drawn")


def asked(build: str, method: str = "search", **options: Any) -> Conversion:
    return conversion_of(parse_build(build), **{"group": None, "method": method, **options})


def logits(folder: Path, build: str, **options: Any) -> Tensor:
    model = load_build(folder, build, threads=1, **options).engine.model
    with torch.inference_mode():
        return model.logits(model(IDS))[0]


@pytest.mark.parametrize("method", ["rtn", "search"])
@pytest.mark.parametrize("build", FORMATS)
def test_a_written_folder_computes_bit_for_bit_what_the_same_rounding_computes_on_the_fly(
    checkpoint: Path, tmp_path: Path, build: str, method: str
) -> None:
    report = convert(checkpoint, tmp_path / "out", asked(build, method, keep_embedding=True))
    assert report.format == FORMATS[build]
    assert torch.equal(logits(tmp_path / "out", build), logits(checkpoint, build, rounding=method))


def test_rounding_the_table_too_changes_what_the_model_reads(checkpoint: Path, tmp_path: Path) -> None:
    convert(checkpoint, tmp_path / "out", asked("w4a16"))
    assert "projections, head and embedding 4-bit, asymmetric" in describe_build(tmp_path / "out", "w4a16").notes
    assert not torch.equal(logits(tmp_path / "out", "w4a16"), logits(checkpoint, "w4a16"))


@pytest.mark.parametrize("build", FORMATS)
def test_gptq_keeps_outputs_better_than_the_search_does(checkpoint: Path, tmp_path: Path, build: str) -> None:
    report = convert(checkpoint, tmp_path / "out", asked(build, "gptq"), calibration=CALIBRATION)
    assert report.calibration == "drawn: 6 sequences, 600 tokens"
    table = {"model.embedding"} if build == "w4a16" else set()
    by_method = {tensor.name: tensor for tensor in report.quantised}
    assert {name for name, tensor in by_method.items() if tensor.method == "search"} == table
    for name, tensor in by_method.items():
        if name not in table:
            assert tensor.output_snr_db is not None
            assert tensor.snr_db is not None
            assert tensor.output_snr_db > tensor.snr_db
    assert logits(tmp_path / "out", build).isfinite().all()


@pytest.mark.parametrize("build", ["w4a8", "w4a16", "w4a8-asym"])
def test_gptq_makes_a_model_that_is_nearer_to_the_checkpoint(checkpoint: Path, tmp_path: Path, build: str) -> None:
    exact = logits(checkpoint, "fp32")
    lost = {}
    for method in METHODS:
        out = tmp_path / method
        convert(checkpoint, out, asked(build, method, keep_embedding=True), calibration=CALIBRATION)
        lost[method] = float((logits(out, build) - exact).square().sum())
    assert lost["gptq"] < lost["search"]
    assert lost["gptq"] < lost["rtn"]


def names_in(folder: Path) -> dict[str, tuple[str, list[int]]]:
    found: dict[str, tuple[str, list[int]]] = {}
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, framework="pt") as file:
            for name in file.keys():  # noqa: SIM118  a safetensors file is no mapping
                part = file.get_slice(name)
                found[name] = (part.get_dtype(), part.get_shape())
    return found


AT = "model.layers.0."


def test_a_gptq_folder_is_what_engines_read(checkpoint: Path, tmp_path: Path) -> None:
    convert(checkpoint, tmp_path / "out", asked("w4a8"))
    found = names_in(tmp_path / "out")
    assert found[AT + "self_attn.q_proj.qweight"] == ("I32", [8, 96])
    assert found[AT + "self_attn.k_proj.qzeros"] == ("I32", [2, 6])
    assert found[AT + "mlp.down_proj.scales"] == ("BF16", [3, 64])
    assert found[AT + "mlp.down_proj.g_idx"] == ("I32", [96])
    assert found["lm_head.qweight"] == ("I32", [8, 320])
    assert found["model.embedding.weight"] == ("BF16", [320, 64])
    assert found[AT + "self_attn.g_proj.weight"] == ("BF16", [4, 64])
    config = json.loads((tmp_path / "out" / "config.json").read_text("utf-8"))
    assert config["tie_word_embeddings"] is False
    assert config["quantization_config"] == {
        "quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": False, "sym": True, "lm_head": True,
        "checkpoint_format": "gptq",
    }  # fmt: skip


def test_an_awq_folder_is_what_engines_read(checkpoint: Path, tmp_path: Path) -> None:
    convert(checkpoint, tmp_path / "out", asked("w4a8-asym"))
    found = names_in(tmp_path / "out")
    assert found[AT + "self_attn.v_proj.qweight"] == ("I32", [64, 6])
    assert found[AT + "mlp.up_proj.qzeros"] == ("I32", [2, 12])
    assert found[AT + "mlp.up_proj.scales"] == ("BF16", [2, 96])
    assert not any(name.endswith("g_idx") for name in found)
    section = json.loads((tmp_path / "out" / "config.json").read_text("utf-8"))["quantization_config"]
    assert (section["quant_method"], section["zero_point"], section["version"]) == ("awq", True, "gemm")
    assert AT + "self_attn.g_proj" in section["modules_to_not_convert"]


@pytest.mark.parametrize(("keep", "table"), [(False, "U8"), (True, "BF16")])
def test_a_cpu_int4_folder_shares_the_table_with_the_head_unless_told_otherwise(
    checkpoint: Path, tmp_path: Path, keep: bool, table: str
) -> None:
    convert(checkpoint, tmp_path / "out", asked("w4a16", keep_embedding=keep))
    found = names_in(tmp_path / "out")
    assert found[AT + "self_attn.q_k_v_proj.weight_packed"] == ("U8", [192, 32])
    assert found[AT + "mlp.gate_proj.weight_zero"] == ("BF16", [96, 2])
    name = "model.embedding.weight" if keep else "model.embedding.weight_packed"
    assert found[name][0] == table
    assert ("lm_head.weight_packed" in found) == keep
    config = json.loads((tmp_path / "out" / "config.json").read_text("utf-8"))
    assert config["tie_word_embeddings"] is not keep
    assert config["quantization_config"]["quantize_embedding"] is not keep


def test_the_report_names_every_tensor_with_its_bits_and_its_noise(checkpoint: Path, tmp_path: Path) -> None:
    report = convert(checkpoint, tmp_path / "out", asked("w4a8"))
    data = json.loads((tmp_path / "out" / "quantization_report.json").read_text("utf-8"))
    assert data == json.loads(json.dumps(report.to_dict()))
    assert len(data["quantised"]) == 4 * 7 + 1
    assert {entry["method"] for entry in data["quantised"]} == {"search"}
    # 4 bits, a bfloat16 scale and a 4-bit zero for 32 weights, and the order of columns
    down = next(entry for entry in data["quantised"] if entry["name"] == AT + "mlp.down_proj")
    assert down == {"name": AT + "mlp.down_proj", "shape": [64, 96], "bits": 5.125, "method": "search",
                    "snr_db": down["snr_db"]}  # fmt: skip
    assert all(18 < entry["snr_db"] < 25 for entry in data["quantised"])
    assert report.worst.snr_db == min(tensor.snr_db or 0 for tensor in report.quantised)
    kept = {entry["name"] for entry in data["not_quantised"]}
    assert {"model.embedding", "model.norm", AT + "self_attn.g_proj", AT + "input_layernorm"} <= kept
    assert len(kept) == 2 + 3 * 4
    on_disk = sum(path.stat().st_size for path in (tmp_path / "out").glob("*.safetensors"))
    assert 0 <= on_disk - data["weight_bytes"] < 20_000  # the header


def test_large_folders_are_written_in_shards(checkpoint: Path, tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    convert(checkpoint, whole, asked("w4a8"))
    convert(checkpoint, parts, asked("w4a8"), shard_bytes=40_000)
    files = sorted(path.name for path in parts.glob("*.safetensors"))
    assert len(files) > 3
    index = json.loads((parts / "model.safetensors.index.json").read_text("utf-8"))
    assert set(index["weight_map"].values()) == set(files)
    assert names_in(parts) == names_in(whole)
    assert torch.equal(logits(parts, "w4a8"), logits(whole, "w4a8"))


def test_what_stands_beside_the_weights_comes_along(checkpoint: Path, tmp_path: Path) -> None:
    convert(checkpoint, tmp_path / "out", asked("w4a8"))
    for name in ("tokenizer.json", "chat_template.jinja"):
        assert (tmp_path / "out" / name).read_bytes() == (checkpoint / name).read_bytes()
    card = read_card(tmp_path / "out")
    assert card.kind == "synthetic"
    assert card.details["quantised"] == {"build": "w4a8", "format": "gptq", "method": "search"}


def test_generation_settings_come_along_and_remote_code_does_not(tmp_path: Path) -> None:
    source = tmp_path / "source"
    synthetic_checkpoint(source, SMALL, seed=2)
    (source / "generation_config.json").write_text('{"temperature": 1.0}', "utf-8")
    config = json.loads((source / "config.json").read_text("utf-8"))
    (source / "config.json").write_text(json.dumps({**config, "auto_map": {"AutoModel": "x.Y"}, "other": 3}), "utf-8")
    convert(source, tmp_path / "out", asked("w4a8", "rtn"))
    assert (tmp_path / "out" / "generation_config.json").read_text("utf-8") == '{"temperature": 1.0}'
    written = json.loads((tmp_path / "out" / "config.json").read_text("utf-8"))
    assert "auto_map" not in written
    assert written["other"] == 3


@pytest.mark.parametrize("threads", [1, 2])
def test_progress_is_told_matrix_by_matrix(checkpoint: Path, tmp_path: Path, threads: int) -> None:
    told: list[str] = []
    convert(checkpoint, tmp_path / "out", asked("w4a8"), threads=threads, tell=told.append)
    assert len(told) == 4 * 7 + 1 + 1
    assert told[0].startswith("model.layers.0.self_attn.q_proj: 96 x 64, search, ")


@pytest.mark.parametrize(
    ("build", "options", "error", "message"),
    [
        ("w8a8", {}, OperatorError, "the build w8a8 has no public folder format"),
        ("w3a16", {}, OperatorError, "the build w3a16 has no public folder format"),
        ("bf16", {}, OperatorError, "the build bf16 has no public folder format"),
        ("w4a8", {"method": "awq"}, UnknownName, "unknown method 'awq'; expected one of: rtn, search, gptq"),
        ("w4a8-g64", {"group": 32}, OperatorError, "has groups of 64, asked for 32"),
    ],
)
def test_what_cannot_be_written_is_refused(
    build: str, options: dict[str, Any], error: type[OperatorError], message: str
) -> None:
    with pytest.raises(error, match=message):
        asked(build, **options)


def test_the_group_may_be_named_either_way() -> None:
    assert asked("w4a8", group=64) == asked("w4a8-g64") == asked("w4a8-g64", group=64)


def test_gptq_without_texts_is_refused_before_anything_is_written(checkpoint: Path, tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="GPTQ needs texts to read"):
        convert(checkpoint, tmp_path / "out", asked("w4a8", "gptq"))
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_quantised_already_is_refused(checkpoint: Path, tmp_path: Path) -> None:
    convert(checkpoint, tmp_path / "once", asked("w4a8", "rtn"))
    with pytest.raises(CheckpointError, match=r"once is quantised already \(gptq\)"):
        convert(tmp_path / "once", tmp_path / "twice", asked("w4a16"))


def test_rows_that_do_not_fill_words_are_refused_where_words_go_down_the_rows(tmp_path: Path) -> None:
    config = replace(SMALL, vocab_size=322)
    synthetic_checkpoint(tmp_path / "odd", config, seed=2)
    with pytest.raises(CheckpointError, match="lm_head has 322 rows, expected a multiple of 8: awq puts so many"):
        convert(tmp_path / "odd", tmp_path / "out", asked("w4a8-asym"))
    convert(tmp_path / "odd", tmp_path / "fits", asked("w4a16", keep_embedding=True))
    assert load_build(tmp_path / "fits", "w4a16", threads=1).engine.model.config.vocab_size == 322


def test_a_folder_that_cannot_be_written_is_named(checkpoint: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(OperatorError, match="cannot be written"):
        convert(checkpoint, tmp_path / "file" / "out", asked("w4a8", "rtn"))
