"""Packed layers, every variant that this processor runs, against products written out in NumPy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.kernels import library
from agent_eval.spark_backend.kernels.linear import FEW_ROWS_TO_WIDEN, PackedLinear, serving
from agent_eval.spark_backend.quant.groups import GroupedWeight
from agent_eval.spark_backend.quant.rows import StackedRows
from tests.spark_backend.kernels.twins import exact_product, int8_product, random_weight

pytestmark = pytest.mark.skipif(not library.available(), reason="the kernels are not built")

VARIANTS = library.load().usable() if library.available() else []
FORMS = [(bits, symmetric) for bits in (4, 8) for symmetric in (True, False)]
SHAPES = [(1, 32, 32), (16, 64, 64), (17, 256, 128), (40, 96, 32), (33, 384, 128), (100, 512, 512)]
"""Rows, columns and group."""


def packed(weight: GroupedWeight, activation: int) -> PackedLinear:
    return PackedLinear.grouped([weight], weight.shape, activation, weight.group, weight.symmetric)


def inputs(rows: int, width: int, seed: int = 1, *, dtype: torch.dtype = torch.bfloat16) -> Tensor:
    return torch.randn(rows, width, generator=torch.Generator().manual_seed(seed)).to(dtype).float()


def bits_of(x: Tensor) -> list[int]:
    return x.contiguous().view(torch.int32).flatten().tolist()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("bits", "symmetric"), FORMS)
@pytest.mark.parametrize("isa", VARIANTS)
def test_int8_inputs_give_the_bits_of_the_written_out_product(
    isa: str, bits: int, symmetric: bool, shape: tuple[int, int, int]
) -> None:
    rows, width, group = shape
    weight = random_weight(rows, width, bits=bits, group=group, symmetric=symmetric)
    x = inputs(2, width)
    with library.using(isa):
        layer = packed(weight, 8)
        for row in x:
            expected = torch.from_numpy(int8_product(weight, row.numpy()))
            assert bits_of(layer.multiply(row[None], blocked=False)) == bits_of(expected)


@settings(max_examples=150, deadline=None)
@given(
    isa=st.sampled_from(VARIANTS or ["generic"]),
    bits=st.sampled_from([4, 8]),
    symmetric=st.booleans(),
    extreme=st.booleans(),
    rows=st.integers(1, 40),
    groups=st.integers(1, 4),
    group=st.sampled_from([32, 64, 96, 128, 256]),
    seed=st.integers(0, 2**32 - 1),
    inputs_of=st.sampled_from(["normal", "largest", "outlier", "tiny", "zeros", "halves"]),
)
def test_int8_inputs_give_the_bits_of_the_written_out_product_whatever_the_numbers(
    isa: str, bits: int, symmetric: bool, extreme: bool, rows: int, groups: int, group: int, seed: int, inputs_of: str
) -> None:
    width = groups * group
    weight = random_weight(rows, width, bits=bits, group=group, symmetric=symmetric, seed=seed, extreme=extreme)
    normal = inputs(1, width, seed)[0]
    x = {
        "normal": normal,
        "largest": torch.sign(normal) * 127,  # every input +-127: the largest sums that 16 bits must hold
        "outlier": normal.index_fill(0, torch.tensor([width - 1]), 1e4),
        "tiny": normal * 2**-120,
        "zeros": normal * 0,
        "halves": (normal * 40).round() / 2 * (127 / 63.5),  # quotients on the middle between two integers
    }[inputs_of]
    with library.using(isa):
        got = packed(weight, 8).multiply(x[None], blocked=False)
    assert bits_of(got) == bits_of(torch.from_numpy(int8_product(weight, x.numpy())))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("bits", "symmetric"), FORMS)
@pytest.mark.parametrize("isa", VARIANTS)
def test_bfloat16_inputs_give_the_product_up_to_float32_rounding(
    isa: str, bits: int, symmetric: bool, shape: tuple[int, int, int]
) -> None:
    rows, width, group = shape
    weight = random_weight(rows, width, bits=bits, group=group, symmetric=symmetric)
    x = inputs(1, width)
    exact, magnitude = exact_product(weight.dequantised().double().numpy(), x[0].numpy())
    # the centre is taken off after the sum by some variants, so terms count with the code's distance from 0
    scale = weight.scale.float().repeat_interleave(group, dim=1)
    magnitude = magnitude + (scale * weight.centre * 3).double().numpy() @ np.abs(x[0].double().numpy())
    with library.using(isa):
        got = packed(weight, 16).multiply(x, blocked=False)[0]
    assert np.all(np.abs(got.numpy() - exact) <= 2**-21 * magnitude)


@pytest.mark.parametrize("exponent", [-100, -70, -30, 30, 70, 110])
@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("isa", VARIANTS)
def test_bfloat16_inputs_of_any_size_are_multiplied_alike(isa: str, bits: int, exponent: int) -> None:
    weight = random_weight(16, 128, bits=bits, group=32, symmetric=False)
    x = inputs(1, 128)
    with library.using(isa):
        layer = packed(weight, 16)
        usual, scaled = layer.multiply(x, blocked=False), layer.multiply(x * 2.0**exponent, blocked=False)
    torch.testing.assert_close(scaled * 2.0**-exponent, usual, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (16, 32), (19, 77), (40, 130), (64, 512)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("isa", VARIANTS)
def test_dense_weights_of_any_shape_give_the_product_up_to_float32_rounding(
    isa: str, dtype: torch.dtype, shape: tuple[int, int]
) -> None:
    weight = inputs(*shape, seed=3).to(dtype)
    x = inputs(1, shape[1])
    exact, magnitude = exact_product(weight.double().numpy(), x[0].numpy())
    with library.using(isa):
        got = PackedLinear.dense(StackedRows([weight]), dtype).multiply(x, blocked=False)[0]
    assert np.all(np.abs(got.numpy() - exact) <= 2**-21 * magnitude)


@pytest.mark.parametrize("activation", [8, 16])
@pytest.mark.parametrize(("bits", "symmetric"), FORMS)
@pytest.mark.parametrize("isa", VARIANTS)
def test_the_number_of_threads_changes_no_bit(isa: str, bits: int, symmetric: bool, activation: int) -> None:
    weight = random_weight(150, 256, bits=bits, group=64, symmetric=symmetric)
    x = inputs(3, 256)
    results = []
    with library.using(isa) as loaded:
        layer = packed(weight, activation)
        for threads in (1, 2, 3, 7):
            loaded.set_threads(threads)
            results.append(bits_of(layer.multiply(x, blocked=False)))
            if activation == 8:
                results.append(bits_of(layer.multiply(x, blocked=True)))
    assert all(result == results[0] for result in results)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("isa", VARIANTS)
def test_the_number_of_threads_changes_no_bit_of_dense_products(isa: str, dtype: torch.dtype) -> None:
    weight = inputs(150, 77).to(dtype)
    x = inputs(2, 77)
    results = []
    with library.using(isa) as loaded:
        layer = PackedLinear.dense(StackedRows([weight]), dtype)
        for threads in (1, 2, 3, 7):
            loaded.set_threads(threads)
            results.append(bits_of(layer.multiply(x, blocked=False)))
    assert all(result == results[0] for result in results)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("activation", [8, 16])
@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("isa", VARIANTS)
def test_no_number_comes_out_where_none_went_in(isa: str, bits: int, activation: int, number: float) -> None:
    weight = random_weight(20, 64, bits=bits, group=32, symmetric=True)
    x = inputs(1, 64)
    x[0, 40] = number
    with library.using(isa):
        got = packed(weight, activation).multiply(x, blocked=False)
    assert not got.isfinite()[0, (weight.codes[:, 40] != weight.centre)].any()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("bits", "symmetric"), FORMS)
@pytest.mark.parametrize("isa", VARIANTS)
def test_a_packed_weight_widens_to_what_its_codes_stand_for(
    isa: str, bits: int, symmetric: bool, shape: tuple[int, int, int]
) -> None:
    rows, width, group = shape
    weight = random_weight(rows, width, bits=bits, group=group, symmetric=symmetric)
    expected = weight.dequantised()
    with library.using(isa):
        layer = packed(weight, 16)
        assert bits_of(layer.widened(0, rows, torch.float32)) == bits_of(expected)
        assert torch.equal(layer.widened(0, rows, torch.bfloat16), expected.bfloat16())
        low, high = rows // 3, rows - rows // 4
        assert torch.equal(layer.widened(low, high, torch.float32), expected[low:high])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("bits", "symmetric"), FORMS)
@pytest.mark.parametrize("isa", VARIANTS)
def test_rows_that_are_asked_for_are_those_of_the_widened_weight(
    isa: str, bits: int, symmetric: bool, shape: tuple[int, int, int]
) -> None:
    rows, width, group = shape
    weight = random_weight(rows, width, bits=bits, group=group, symmetric=symmetric)
    ids = torch.randint(0, rows, (3, 7), generator=torch.Generator().manual_seed(rows))
    ids[1, 2:4], ids[2, 6] = rows - 1, 0
    with library.using(isa):
        assert torch.equal(packed(weight, 16).rows(ids), weight.dequantised().bfloat16()[ids])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rows_of_a_dense_weight_are_its_own(dtype: torch.dtype) -> None:
    weight, ids = inputs(20, 33).to(dtype), torch.tensor([[19, 0, 0]])
    assert torch.equal(PackedLinear.dense(StackedRows([weight]), dtype).rows(ids), weight[ids])


@pytest.mark.parametrize("wrong", [-1, 20, 2**32 + 3])
def test_rows_that_are_not_there_are_refused(wrong: int) -> None:
    layer = packed(random_weight(20, 64, bits=4, group=32, symmetric=True), 8)
    with pytest.raises(IndexError, match="of a weight that has 20"):
        layer.rows(torch.tensor([3, wrong]))
    assert layer.rows(torch.empty(0, dtype=torch.int64)).shape == (0, 64)


@pytest.mark.parametrize(("bits", "symmetric"), FORMS)
def test_packing_in_parts_is_packing_at_once(bits: int, symmetric: bool) -> None:
    weight = random_weight(75, 128, bits=bits, group=32, symmetric=symmetric)
    whole = packed(weight, 8)
    parts = (weight.rows(start, end) for start, end in [(0, 16), (16, 64), (64, 75)])
    in_parts = PackedLinear.grouped(parts, (75, 128), 8, 32, symmetric)
    for one, other in zip(whole.buffers(), in_parts.buffers(), strict=True):
        assert torch.equal(one.view(torch.uint8), other.view(torch.uint8))


@pytest.mark.parametrize("rows", [1, 2, FEW_ROWS_TO_WIDEN, FEW_ROWS_TO_WIDEN + 1, 70])
@pytest.mark.parametrize(("bits", "activation"), [(4, 8), (4, 16), (8, 8), (8, 16)])
def test_a_layer_of_few_bits_agrees_with_torch_for_any_number_of_rows(bits: int, activation: int, rows: int) -> None:
    weight = random_weight(100, 256, bits=bits, group=64, symmetric=False)
    x = inputs(rows, 256).bfloat16()
    expected = torch.nn.functional.linear(x.float(), weight.dequantised())
    got = packed(weight, activation)(x)
    assert got.shape == (rows, 100)
    assert got.dtype == torch.float32
    assert (got - expected).norm() / expected.norm() < (0.015 if activation == 8 else 0.004)


@pytest.mark.parametrize("rows", [1, 2, FEW_ROWS_TO_WIDEN, FEW_ROWS_TO_WIDEN + 1, 70])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_dense_layer_agrees_with_torch_for_any_number_of_rows(dtype: torch.dtype, rows: int) -> None:
    weight = inputs(100, 77).to(dtype)
    x = inputs(rows, 77, dtype=dtype)
    got = PackedLinear.dense(StackedRows([weight]), dtype)(x)
    expected = torch.nn.functional.linear(x, weight.float())
    assert (got - expected).norm() / expected.norm() < (1e-6 if dtype == torch.float32 else 0.004)


def test_any_leading_shape_is_kept() -> None:
    layer = packed(random_weight(20, 64, bits=4, group=32, symmetric=True), 8)
    x = inputs(6, 64).bfloat16()
    assert torch.equal(layer(x.view(2, 3, 64)), layer(x).view(2, 3, 20))
    assert layer(x[0]).shape == (20,)


def test_no_rows_give_no_rows() -> None:
    for activation in (8, 16):
        layer = packed(random_weight(20, 64, bits=4, group=32, symmetric=True), activation)
        assert layer(torch.empty(0, 64, dtype=torch.bfloat16)).shape == (0, 20)


def test_inputs_are_rounded_to_bfloat16_unless_weights_are_float32() -> None:
    layer = packed(random_weight(20, 64, bits=4, group=32, symmetric=True), 16)
    x = torch.randn(1, 64)
    assert torch.equal(layer(x), layer(x.bfloat16()))


def test_one_tensor_of_the_right_type_is_used_where_it_lies() -> None:
    weight = torch.randn(20, 33)
    assert PackedLinear.dense(StackedRows([weight]), torch.float32).data.data_ptr() == weight.data_ptr()
    assert PackedLinear.dense(StackedRows([weight]), torch.bfloat16).data.dtype == torch.bfloat16


def test_several_tensors_of_another_type_become_one() -> None:
    parts = [torch.randn(20, 33).bfloat16(), torch.randn(7, 33).bfloat16()]
    assert torch.equal(PackedLinear.dense(StackedRows(parts), torch.float32).data, torch.cat(parts).float())


@pytest.mark.parametrize(
    ("rows", "width", "group", "said"),
    [
        (16, 48, 32, "divides the width"),
        (16, 64, 16, "a multiple of 32"),
        (16, 64, 48, "a multiple of 32"),
        (16, 64, 0, "a multiple of 32"),
        (0, 64, 32, "1 to"),
        (16, 2**21, 32, "1048576 columns"),
    ],
)
def test_shapes_that_the_kernels_do_not_have_are_refused(rows: int, width: int, group: int, said: str) -> None:
    with pytest.raises(CheckpointError, match=said) as refused:
        PackedLinear.grouped([], (rows, width), 8, group, symmetric=True)
    assert refused.value.hint


def test_rows_that_do_not_add_up_are_refused() -> None:
    weight = random_weight(40, 64, bits=4, group=32, symmetric=True)
    asymmetric = random_weight(40, 64, bits=4, group=32, symmetric=False)
    eight = random_weight(20, 64, bits=8, group=32, symmetric=True)
    for parts in (
        [weight.rows(0, 16)],  # too few
        [weight, weight],  # too many
        [weight.rows(0, 20), weight.rows(20, 40)],  # not 16 at a time
        [asymmetric],  # zeros where none were promised
        [weight.rows(0, 16), eight.rows(0, 16), weight.rows(0, 8)],  # of two kinds
    ):
        with pytest.raises(CheckpointError):
            PackedLinear.grouped(parts, (40, 64), 8, 32, symmetric=True)


def test_the_record_says_which_kernels_serve() -> None:
    isa = library.load().isa
    layer = packed(random_weight(16, 32, bits=4, group=32, symmetric=True), 8)
    assert layer.kernel == serving(library.Kind.INT4, 8, isa)
    assert layer.kernel.startswith(isa)


GUARDED = Path(__file__).with_name("guarded.py")


@pytest.mark.parametrize("isa", VARIANTS)
def test_nothing_is_touched_beyond_the_ends_of_weights_inputs_and_outputs(isa: str) -> None:
    run = subprocess.run([sys.executable, str(GUARDED), isa], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
