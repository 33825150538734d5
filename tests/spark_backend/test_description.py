from __future__ import annotations

import pytest

from agent_eval.spark_backend.description import BFLOAT16, BuildDescription, describe, grouped, size
from agent_eval.spark_backend.quant.name import parse_build
from tests.spark_backend.configs import SPARK_1_7B


def described(build: str, **fields: object) -> BuildDescription:
    given = {
        "group": None if build in ("bf16", "fp32") else 128,
        "origin": "rounded by search",
        "kernels": "kernels: x",
    }
    return describe(SPARK_1_7B, parse_build(build), **{**given, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bits", "group", "symmetric", "stored"),
    [(4, 128, True, 4.125), (4, 128, False, 4.25), (4, 32, False, 5.0), (2, 64, True, 4.25), (8, 128, True, 8.125)],
)
def test_scales_and_zeros_count_and_few_bits_lie_in_four(bits: int, group: int, symmetric: bool, stored: float) -> None:
    assert grouped(bits, group, symmetric=symmetric).bits_per_weight == stored


@pytest.mark.parametrize(
    ("build", "gigabytes"),
    # 1.7 billion weights, of which 268 million are the embedding; the head of a tied model is a second matrix once it
    # is quantised, and the same one while it is not
    [("bf16", 3.417), ("fp32", 6.831), ("w4a8", 1.419), ("w4a16", 1.446), ("w8a8", 2.273), ("w2a8", 1.419)],
)
def test_the_size_of_a_build_is_known_without_loading_it(build: str, gigabytes: float) -> None:
    assert described(build).size_bytes / 1e9 == pytest.approx(gigabytes, abs=0.002)


NOTES = {
    "bf16": "nothing quantised, weights and activations bfloat16; 3.42 GB; kernels: x",
    "fp32": "nothing quantised, weights and activations float32; 6.83 GB; kernels: x",
    "w4a8": "projections and head 4-bit, symmetric, groups of 128 (4.125 bits a weight); rounded by search; gate, "
    "norms and embedding not quantised; activations 8-bit per token, symmetric; 1.42 GB; kernels: x",
    "w3a16": "projections and head 3-bit, asymmetric, groups of 128 (4.25 bits a weight); rounded by search; gate, "
    "norms and embedding not quantised; activations bfloat16; 1.45 GB; kernels: x",
}


@pytest.mark.parametrize("build", NOTES)
def test_the_notes_say_what_is_quantised_and_what_computes(build: str) -> None:
    description = described(build)
    assert description.notes == NOTES[build]
    assert description.quantised == (build.startswith("w"))
    assert not description.head_trap


def test_a_table_that_is_quantised_with_the_head_is_named_and_counted_once() -> None:
    four = grouped(4, 128, symmetric=False)
    shared = described("w4a16", embedding=four)
    assert shared.notes.startswith("projections, head and embedding 4-bit, asymmetric, groups of 128 (4.25 bits")
    assert "; gate and norms not quantised; " in shared.notes
    table = 131072 * 2048
    assert described("w4a16").size_bytes - shared.size_bytes == 2 * table
    apart = described("w4a16", embedding=four, head=BFLOAT16)
    assert "projections and embedding 4-bit" in apart.notes
    assert apart.size_bytes - shared.size_bytes == 2 * table


def test_a_head_that_is_left_alone_is_flagged() -> None:
    description = described("w4a8", head=BFLOAT16, head_cost="28 ms of every token", remarks=("it was found so",))
    assert description.head_trap
    assert "HEAD TRAP: the head is bfloat16, 28 ms of every token; " in description.notes
    assert description.notes.startswith("projections 4-bit")
    assert description.notes.endswith("; it was found so")
    assert not described("bf16", head=BFLOAT16).head_trap


@pytest.mark.parametrize(
    ("count", "said"),
    [(1_427_034_112, "1.43 GB"), (1_000_000_000, "1 GB"), (3_660_000, "3.66 MB"), (154_000, "0.154 MB")],
)
def test_a_size_is_in_gigabytes_from_one_on(count: int, said: str) -> None:
    assert size(count) == said
