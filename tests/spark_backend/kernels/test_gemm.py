"""Many rows at once and widening, every variant that this processor runs, against products written out in NumPy."""

from __future__ import annotations

from ctypes import byref

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from agent_eval.spark_backend.kernels import library
from agent_eval.spark_backend.kernels.linear import PackedLinear
from agent_eval.spark_backend.quant.groups import GroupedWeight
from tests.spark_backend.kernels.twins import exact_product, int8_product, random_weight

pytestmark = pytest.mark.skipif(not library.available(), reason="the kernels are not built")

VARIANTS = library.load().usable() if library.available() else []
FORMS = [(bits, symmetric) for bits in (4, 8) for symmetric in (True, False)]
SHAPES = [(1, 32, 32), (16, 64, 64), (17, 256, 128), (70, 96, 32), (33, 384, 128), (130, 512, 512)]
"""Rows, columns and group: one block and several, whole and not, an odd number of pairs of blocks."""
COUNTS = [1, 2, 3, 4, 5, 8, 11, 12, 13, 16, 25, 33, 49]
"""Rows of inputs: one below, at and above what each variant takes at a time."""


def packed(weight: GroupedWeight, activation: int) -> PackedLinear:
    return PackedLinear.grouped([weight], weight.shape, activation, weight.group, weight.symmetric)


def inputs(rows: int, width: int, seed: int = 1) -> Tensor:
    return torch.randn(rows, width, generator=torch.Generator().manual_seed(seed)).bfloat16().float()


def same_bits(a: Tensor, b: Tensor) -> bool:
    return torch.equal(a.contiguous().view(torch.int32), b.contiguous().view(torch.int32))


def written_out(weight: GroupedWeight, x: Tensor) -> Tensor:
    return torch.from_numpy(np.stack([int8_product(weight, row.numpy()) for row in x]))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("bits", "symmetric"), FORMS)
@pytest.mark.parametrize("isa", VARIANTS)
def test_int8_inputs_give_the_bits_of_the_written_out_product_for_any_number_of_rows(
    isa: str, bits: int, symmetric: bool, shape: tuple[int, int, int]
) -> None:
    rows, width, group = shape
    weight = random_weight(rows, width, bits=bits, group=group, symmetric=symmetric)
    x = inputs(max(COUNTS), width)
    expected = written_out(weight, x)
    with library.using(isa):
        layer = packed(weight, 8)
        for count in COUNTS:
            assert same_bits(layer.multiply(x[:count], blocked=True), expected[:count]), count


@settings(max_examples=100, deadline=None)
@given(
    isa=st.sampled_from(VARIANTS or ["generic"]),
    bits=st.sampled_from([4, 8]),
    symmetric=st.booleans(),
    extreme=st.booleans(),
    rows=st.integers(1, 70),
    groups=st.integers(1, 4),
    group=st.sampled_from([32, 64, 96, 128, 256]),
    count=st.integers(1, 40),
    threads=st.integers(1, 4),
    seed=st.integers(0, 2**32 - 1),
    inputs_of=st.sampled_from(["normal", "largest", "zeros"]),
)
def test_int8_inputs_give_the_bits_of_the_written_out_product_whatever_the_numbers(
    isa: str,
    bits: int,
    symmetric: bool,
    extreme: bool,
    rows: int,
    groups: int,
    group: int,
    count: int,
    threads: int,
    seed: int,
    inputs_of: str,
) -> None:
    width = groups * group
    weight = random_weight(rows, width, bits=bits, group=group, symmetric=symmetric, seed=seed, extreme=extreme)
    normal = inputs(count, width, seed)
    # every input +-127: the largest sums that 16 bits must hold
    x = {"normal": normal, "largest": torch.sign(normal) * 127, "zeros": torch.zeros_like(normal)}[inputs_of]
    with library.using(isa) as loaded:
        loaded.set_threads(threads)
        assert same_bits(packed(weight, 8).multiply(x, blocked=True), written_out(weight, x))


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("isa", VARIANTS)
def test_codes_and_inputs_that_are_all_at_one_end_overflow_nothing(isa: str, bits: int) -> None:
    rows, width = 16, 512
    extremes = []
    for code in (0, 2**bits - 1):
        codes = torch.full((rows, width), code, dtype=torch.uint8)
        scale = torch.full((rows, 1), 0.5).bfloat16()
        extremes.append(GroupedWeight(codes, scale, None, width, bits))
    x = torch.stack([torch.full((width,), 127.0), torch.full((width,), -127.0)])
    with library.using(isa):
        for weight in extremes:
            assert same_bits(packed(weight, 8).multiply(x, blocked=True), written_out(weight, x))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("bits", "symmetric"), FORMS)
@pytest.mark.parametrize("isa", VARIANTS)
def test_bfloat16_inputs_give_the_product_up_to_float32_rounding(
    isa: str, bits: int, symmetric: bool, shape: tuple[int, int, int]
) -> None:
    rows, width, group = shape
    weight = random_weight(rows, width, bits=bits, group=group, symmetric=symmetric)
    x = inputs(max(COUNTS), width)
    value, terms = exact_product(weight.dequantised().double().numpy(), x.numpy().T)
    with library.using(isa):
        layer = packed(weight, 16)
        for count in COUNTS:
            got = layer.multiply(x[:count], blocked=True).numpy()
            assert (np.abs(got - value.T[:count]) <= 2e-6 * terms.T[:count] + 1e-6).all(), count


@pytest.mark.parametrize("activation", [8, 16])
@pytest.mark.parametrize("isa", VARIANTS)
def test_the_number_of_threads_changes_no_bit(isa: str, activation: int) -> None:
    weight = random_weight(200, 256, bits=4, group=64, symmetric=False)
    x = inputs(70, 256)
    with library.using(isa) as loaded:
        layer = packed(weight, activation)
        results = []
        for threads in (1, 2, 3, 4, 8):
            loaded.set_threads(threads)
            results.append(layer.multiply(x, blocked=True))
    assert all(same_bits(result, results[0]) for result in results[1:])


@pytest.mark.parametrize("isa", VARIANTS)
def test_more_rows_than_are_taken_at_a_time_are_taken_in_turns(isa: str) -> None:
    weight = random_weight(20, 64, bits=4, group=32, symmetric=False)
    x = inputs(600, 64)
    with library.using(isa) as loaded:
        loaded.set_threads(2)
        assert same_bits(packed(weight, 8).multiply(x, blocked=True), written_out(weight, x))


@pytest.mark.parametrize("activation", [8, 16])
@pytest.mark.parametrize("isa", VARIANTS)
def test_bfloat16_and_float32_rows_of_the_same_numbers_give_the_same(isa: str, activation: int) -> None:
    weight = random_weight(40, 128, bits=4, group=64, symmetric=False)
    x = inputs(9, 128)
    with library.using(isa):
        layer = packed(weight, activation)
        assert same_bits(layer.multiply(x.bfloat16(), blocked=True), layer.multiply(x, blocked=True))


@pytest.mark.parametrize("activation", [8, 16])
@pytest.mark.parametrize("isa", VARIANTS)
def test_rows_lie_as_far_apart_as_is_said_and_nothing_else_is_written(isa: str, activation: int) -> None:
    rows, width, count = 37, 64, 14
    weight = random_weight(rows, width, bits=4, group=32, symmetric=True)
    wide = inputs(count, width + 5)
    out = torch.full((count, rows + 3), 12345.0)
    with library.using(isa) as loaded:
        layer = packed(weight, activation)
        native = loaded.native
        said = native.sk_multiply_rows(
            byref(layer.weight), wide.data_ptr(), library.Kind.F32, count, width + 5, out.data_ptr(), rows + 3
        )
        assert said == 0
        assert same_bits(out[:, :rows], layer.multiply(wide[:, :width], blocked=True))
    assert (out[:, rows:] == 12345).all()


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize(("bits", "activation"), [(4, 8), (4, 16), (8, 8), (8, 16)])
@pytest.mark.parametrize("isa", VARIANTS)
def test_a_row_that_is_no_number_spoils_no_other_row(isa: str, bits: int, activation: int, bad: float) -> None:
    weight = random_weight(33, 128, bits=bits, group=64, symmetric=False)
    x = inputs(15, 128)
    with library.using(isa):
        layer = packed(weight, activation)
        clean = layer.multiply(x, blocked=True)
        x[6, 77] = bad
        spoilt = layer.multiply(x, blocked=True)
    others = [row for row in range(15) if row != 6]
    assert same_bits(spoilt[others], clean[others])
    assert not torch.isfinite(spoilt[6]).any()


def test_dense_weights_have_no_blocked_product() -> None:
    loaded = library.load()
    weight = library.SkWeight(kind=library.Kind.F32, activation=32, rows=16, cols=32)
    x, out = torch.zeros(2, 32), torch.zeros(2, 16)
    assert (
        loaded.native.sk_multiply_rows(byref(weight), x.data_ptr(), library.Kind.F32, 2, 32, out.data_ptr(), 16) == -1
    )


@settings(max_examples=100, deadline=None)
@given(
    isa=st.sampled_from(VARIANTS or ["generic"]),
    bits=st.sampled_from([4, 8]),
    symmetric=st.booleans(),
    rows=st.integers(1, 70),
    groups=st.integers(1, 3),
    group=st.sampled_from([32, 64, 96, 128, 256]),
    seed=st.integers(0, 2**32 - 1),
    data=st.data(),
)
def test_any_rows_widen_to_what_their_codes_stand_for(
    isa: str, bits: int, symmetric: bool, rows: int, groups: int, group: int, seed: int, data: st.DataObject
) -> None:
    weight = random_weight(rows, groups * group, bits=bits, group=group, symmetric=symmetric, seed=seed)
    start = data.draw(st.integers(0, rows - 1))
    end = data.draw(st.integers(start + 1, rows))
    expected = weight.dequantised()[start:end]
    with library.using(isa):
        layer = packed(weight, 16)
        assert torch.equal(layer.widened(start, end, torch.float32), expected)
        assert torch.equal(layer.widened(start, end, torch.bfloat16), expected.bfloat16())
