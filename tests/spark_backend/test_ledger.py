"""What a build takes, by arithmetic: held against builds that are loaded, and against the published figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from torch import Tensor

from agent_eval.errors import OperatorError
from agent_eval.spark_backend.builds import describe_build, load_build
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.shapes import SHAPES
from agent_eval.spark_backend.checkpoints.synthetic import synthetic_checkpoint
from agent_eval.spark_backend.convert import conversion_of, convert
from agent_eval.spark_backend.description import describe, grouped
from agent_eval.spark_backend.ledger import HEAD, Ledger, ledger, require_room, rotary_bytes
from agent_eval.spark_backend.quant.name import parse_build
from tests.spark_backend.configs import SMALL

SPARK = SHAPES["1.7b"]


def of(name: str, config: SparkConfig = SPARK, context: int = 16_384) -> Ledger:
    build = describe(config, parse_build(name), group=None if name in ("bf16", "fp32") else 128, origin="", kernels="")
    return ledger(config, build, context)


def part(entries: Ledger, name: str) -> int:
    return next(entry.anonymous + entry.mapped for entry in entries.entries if entry.part == name)


@pytest.mark.parametrize(
    ("build", "gigabytes"),
    # 28 layers and the head: (8 * 256 * 2048 + 2 * 2 * 256 * 2048 + 2048 * 2048 + 3 * 2048 * 6656) weights a layer
    [("bf16", 3.416), ("w4a16", 0.909), ("w4a8", 0.883), ("w4a8-asym", 0.909), ("w8a8", 1.736), ("fp32", 6.831)],
)
def test_a_token_reads_every_weight_once(build: str, gigabytes: float) -> None:
    assert of(build).read_per_token / 1e9 == pytest.approx(gigabytes, abs=0.001)


def test_a_table_that_is_also_the_head_is_held_once_and_read_whole() -> None:
    head = next(entry for entry in of("bf16").entries if entry.part == HEAD)
    assert head.anonymous + head.mapped == 0
    assert head.read_per_token == part(of("bf16"), "embedding") == 131072 * 2048 * 2
    assert of("bf16").head_share == pytest.approx(0.157, abs=0.001)


def test_a_table_of_codes_that_is_also_the_head_is_held_once_and_read_whole() -> None:
    four = grouped(4, 128, symmetric=False)
    build = describe(SPARK, parse_build("w4a16"), group=128, origin="", kernels="", embedding=four)
    reckoned = ledger(SPARK, build, 16_384)
    table, head = (next(entry for entry in reckoned.entries if entry.part == each) for each in ("embedding", HEAD))
    assert table.anonymous == head.read_per_token == 131072 * 2048 * 17 // 32
    assert table.mapped == head.anonymous == head.mapped == reckoned.mapped == 0
    assert reckoned.read_per_token == of("w4a16").read_per_token - 2 * 2048 + 2048 * 17 // 32


def test_rotary_tables_follow_what_is_served_not_what_the_model_was_made_for() -> None:
    whole = SPARK.max_position_embeddings * SPARK.head_dim * 4 * 4
    assert whole == 4 * 2**30
    assert rotary_bytes(SPARK, 2048) == 8 * 2**20
    assert rotary_bytes(SPARK, 16_384) == 64 * 2**20
    assert rotary_bytes(SPARK, 3000) == rotary_bytes(SPARK, 4096)


def test_a_context_beyond_the_model_is_reckoned_as_the_model_serves_it() -> None:
    assert of("w4a8", SHAPES["nano"], 10**9).context == SHAPES["nano"].max_position_embeddings


@pytest.mark.parametrize("name", ["bf16", "fp32", "w4a16", "w4a8", "w8a8", "w2a16-g32"])
def test_the_weights_of_a_loaded_build_take_what_was_reckoned(checkpoint: Path, name: str) -> None:
    require_as_reckoned(checkpoint, name)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("name", ["w4a16", "w4a8"])
def test_the_weights_of_a_quantised_folder_take_what_was_reckoned(
    tmp_path: Path, name: str, keep: bool, tied: bool
) -> None:
    synthetic_checkpoint(tmp_path / "from", replace(SMALL, tie_word_embeddings=tied), seed=2)
    wanted = conversion_of(parse_build(name), group=None, method="rtn", keep_embedding=keep)
    convert(tmp_path / "from", tmp_path / "to", wanted)
    require_as_reckoned(tmp_path / "to", name)


def require_as_reckoned(folder: Path, name: str) -> None:
    loaded = load_build(folder, name, threads=1, context=64)
    reckoned = ledger(loaded.config, describe_build(folder, name), 64)
    held = {
        tensor.data_ptr(): tensor.nbytes for module in loaded.engine.model.modules() for tensor in tensors_of(module)
    }
    parts = ("embedding", "attention projections", "MLP projections", HEAD, "gates and norms", "rotary tables")
    assert sum(held.values()) == pytest.approx(sum(part(reckoned, each) for each in parts), rel=0.01)


def tensors_of(module: object) -> list[Tensor]:
    found = [value for value in vars(module).values() if isinstance(value, Tensor)]
    for table in ("_parameters", "_buffers"):
        found += [value for value in getattr(module, table, {}).values() if isinstance(value, Tensor)]
    return found


def test_what_does_not_fit_is_refused_with_what_it_would_take_and_what_is_free() -> None:
    with pytest.raises(
        OperatorError, match=r"w4a8 with a context of 1,048,576 tokens would take .* MiB of memory, "
    ) as told:
        require_room(of("w4a8", context=10**9), 8 * 2**30)
    assert "for keys and values; 8,192 MiB are free" in told.value.message
    assert told.value.hint


def test_what_fits_is_not_refused_and_an_unknown_room_refuses_nothing() -> None:
    require_room(of("w4a8"), 8 * 2**30)
    require_room([of("w4a8"), of("w4a16")], 8 * 2**30)
    require_room(of("fp32"), 0)


def test_builds_that_are_held_together_need_room_together() -> None:
    one = of("w4a8").anonymous
    require_room(of("w4a8"), one)
    with pytest.raises(OperatorError, match="w4a8, w4a16"):
        require_room([of("w4a8"), of("w4a16")], one)
