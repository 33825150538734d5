"""Every product of the torch path against its slow exact twin; the compiled kernels have tests of their own."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.kernels import library
from agent_eval.spark_backend.quant.activations import quantise_rows
from agent_eval.spark_backend.quant.dense import UPCAST_ROWS, Dense, Fp32, Unquantised, WidenedBf16, dense_layer
from agent_eval.spark_backend.quant.grouped import Grouped, grid_of
from agent_eval.spark_backend.quant.groups import GroupedWeight
from agent_eval.spark_backend.quant.int4 import PACKED_ROWS, Int4Product
from agent_eval.spark_backend.quant.name import GroupedName, parse_build
from agent_eval.spark_backend.quant.rounding import Grid, round_groups
from agent_eval.spark_backend.quant.rows import StackedRows, WholeGroups
from agent_eval.spark_backend.quant.scheme import HasRows, Scheme
from tests.spark_backend import reference

FLOAT32 = 2.0**-24  # half a unit in the last place of 24 significant bits, and below of 8
BFLOAT16 = 2.0**-8
A16 = ("w4a16", "w4a16-sym", "w2a16", "w3a16", "w8a16", "w8a16-sym")
A8 = ("w4a8", "w4a8-asym", "w2a8", "w3a8-asym", "w8a8", "w8a8-asym")

SHAPES = st.tuples(
    st.sampled_from([1, 2, 5, PACKED_ROWS, PACKED_ROWS + 1, PACKED_ROWS + 9]),  # rows
    st.sampled_from([1, 15, 16, 17, 40, 80]),  # channels: tails of the packed blocks of 16, 32 and 64
    st.sampled_from([64, 128, 192]),  # width
)


def drawn(seed: int, *shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def float64(x: Tensor) -> reference.Array:
    return x.detach().float().numpy().astype(np.float64)


def grouped(text: str, group: int, *, compiled: bool = False) -> Grouped:
    name = parse_build(text)
    assert isinstance(name, GroupedName)
    return Grouped(name, group, compiled)


def codes_of(scheme: Grouped, weight: Tensor) -> GroupedWeight:
    return round_groups(weight, grid_of(scheme.name, scheme.group), scheme.rounding)


def layer_of(scheme: Scheme, weight: Tensor) -> torch.nn.Module:
    return scheme.linear("w", StackedRows([weight]))


@settings(max_examples=40, deadline=None)
@given(shape=SHAPES, seed=st.integers(0, 1000), group=st.sampled_from([32, 64]), build=st.sampled_from(A16))
def test_with_16_bit_activations_it_multiplies_by_what_the_codes_say(
    shape: tuple[int, int, int], seed: int, group: int, build: str
) -> None:
    rows, channels, width = shape
    weight, x = drawn(seed, channels, width), drawn(seed + 1, rows, width).bfloat16()
    scheme = grouped(build, group)
    groups = codes_of(scheme, weight)
    actual = float64(layer_of(scheme, weight)(x))

    step = np.repeat(float64(groups.scale), group, axis=1)
    zero = np.zeros_like(step) if groups.zero is None else np.repeat(float64(groups.zero), group, axis=1)
    levels = groups.codes.numpy().astype(np.float64) - groups.centre
    expected = float64(x) @ (levels * step + zero).T
    terms = np.abs(float64(x)) @ (np.abs(levels * step) + np.abs(zero)).T
    assert actual.shape == (rows, channels)
    assert np.all(np.abs(actual - expected) <= BFLOAT16 * np.abs(expected) * 1.01 + 2 * width * FLOAT32 * terms)


@settings(max_examples=40, deadline=None)
@given(
    shape=SHAPES,
    seed=st.integers(0, 1000),
    group=st.sampled_from([32, 64]),
    spread=st.sampled_from([1e-3, 1.0, 50]),
    build=st.sampled_from(A8),
)
def test_with_8_bit_activations_it_computes_what_an_integer_kernel_computes(
    shape: tuple[int, int, int], seed: int, group: int, spread: float, build: str
) -> None:
    rows, channels, width = shape
    weight, x = drawn(seed, channels, width), (drawn(seed + 1, rows, width) * spread).bfloat16()
    scheme = grouped(build, group)
    groups = codes_of(scheme, weight)
    actual = float64(layer_of(scheme, weight)(x))
    zero = None if groups.zero is None else float64(groups.zero)
    expected, terms = reference.integer_product(
        float64(x), groups.codes.numpy(), float64(groups.scale), group, zero=zero, centre=groups.centre
    )
    # the packed kernel hands out bfloat16
    narrowed = BFLOAT16 if rows <= PACKED_ROWS and groups.bits < 8 else FLOAT32
    assert actual.shape == (rows, channels)
    assert np.all(np.abs(actual - expected) <= narrowed * np.abs(expected) * 1.01 + 2 * width * FLOAT32 * terms)


def test_one_group_is_summed_without_any_rounding() -> None:
    x = drawn(1, PACKED_ROWS + 20, 64).bfloat16()
    groups = round_groups(drawn(0, 48, 64), Grid(4, "symmetric", 64), "search")
    rows = quantise_rows(x)
    actual = float64(Int4Product([groups], groups.shape)(rows.values))
    integers = float64(rows.values) @ (groups.codes.numpy().astype(np.float64) - 8).T
    assert np.array_equal(actual, integers * float64(groups.scale)[:, 0])


@pytest.mark.parametrize("rows", [1, 3, PACKED_ROWS + 1])
def test_rows_of_eight_bits_are_within_half_a_step(rows: int) -> None:
    x = drawn(2, rows, 96).bfloat16()
    quantised = quantise_rows(x)
    values = float64(quantised.values)
    assert np.array_equal(values, np.round(values))
    assert np.array_equal(np.abs(values).max(axis=1), np.full(rows, 127.0))
    assert np.abs(values * float64(quantised.scale) - float64(x)).max() <= 0.5001 * float(quantised.scale.max())


def test_a_row_of_zeros_gives_zeros_and_leaves_the_others() -> None:
    layer = layer_of(grouped("w4a8", 32), drawn(3, 20, 64))
    x = drawn(4, 3, 64).bfloat16()
    alone = layer(x[2:])
    x[1] = 0
    together = layer(x)
    assert torch.equal(together[1], torch.zeros(20))
    assert torch.equal(together[2:], alone)


def test_one_loud_token_does_not_drown_another() -> None:
    weight = drawn(3, 20, 64)
    layer = layer_of(grouped("w4a8", 32), weight)
    x = drawn(4, 2, 64)
    x[0] *= 1000
    exact = x @ weight.T
    relative = (layer(x.bfloat16()) - exact).norm(dim=1) / exact.norm(dim=1)
    assert relative.tolist() == pytest.approx([0.1, 0.1], abs=0.07)


SCHEMES: dict[str, Scheme] = {
    **{name: grouped(name, 32) for name in (*A16, *A8)},
    "bf16": Unquantised(torch.bfloat16, compiled=False),
    "fp32": Unquantised(torch.float32, compiled=False),
    "training": Fp32(),
}


@pytest.mark.parametrize("name", SCHEMES)
def test_leading_dimensions_are_kept_and_rows_do_not_mix(name: str) -> None:
    scheme = SCHEMES[name]
    layer = layer_of(scheme, drawn(5, 24, 64))
    x = drawn(6, 2, 3, 64).to(scheme.activation)
    with torch.inference_mode():
        out = layer(x)
        assert out.shape == (2, 3, 24)
        torch.testing.assert_close(out[1, 2].float(), layer(x[1, 2][None])[0].float(), rtol=1e-2, atol=1e-2)


@pytest.mark.skipif(not library.available(), reason="the kernels are not built")
@pytest.mark.parametrize("rows", [1, 4, 70])
@pytest.mark.parametrize("name", [*A16, *A8])
def test_the_compiled_kernels_take_the_same_codes(name: str, rows: int) -> None:
    weight, x = drawn(7, 40, 192), drawn(8, rows, 192).bfloat16()
    with torch.inference_mode():
        own, compiled = (layer_of(grouped(name, 64, compiled=flag), weight)(x).float() for flag in (False, True))
    torch.testing.assert_close(compiled, own, rtol=2e-2, atol=0.02 * float(own.abs().mean()) + 0.15)


@pytest.mark.parametrize("rows", [1, UPCAST_ROWS - 1, UPCAST_ROWS, 40])
def test_widened_bf16_computes_what_bf16_computes(rows: int) -> None:
    weight, x = drawn(7, 24, 64), drawn(8, rows, 64).bfloat16()
    source = StackedRows([weight])
    layers = [dense_layer(source, torch.bfloat16, compiled=False, native=flag) for flag in (True, False)]
    assert [type(layer) for layer in layers] == [Dense, WidenedBf16]
    with torch.inference_mode():
        native, widened = (layer(x) for layer in layers)
    assert widened.dtype == torch.bfloat16
    expected = float64(x) @ float64(weight.bfloat16()).T
    terms = np.abs(float64(x)) @ np.abs(float64(weight)).T
    for out in (native, widened):
        assert np.all(np.abs(float64(out) - expected) <= BFLOAT16 * np.abs(expected) * 1.01 + 64 * FLOAT32 * terms)


def test_a_tensor_of_the_right_type_is_used_in_place() -> None:
    weight = drawn(9, 24, 64).bfloat16()
    layer = dense_layer(StackedRows([weight]), torch.bfloat16, compiled=False)
    assert next(layer.parameters()).data_ptr() == weight.data_ptr()


def test_training_weights_can_be_trained_and_others_cannot() -> None:
    weight = drawn(9, 24, 64)
    assert next(layer_of(Fp32(), weight).parameters()).requires_grad
    assert not any(p.requires_grad for p in layer_of(SCHEMES["fp32"], weight).parameters())


@pytest.mark.parametrize("name", ["w4a16", "w8a16"])
def test_packing_in_chunks_leaves_no_seam(name: str) -> None:
    weight, x = drawn(9, 2100, 32), drawn(10, 1, 32).bfloat16()
    scheme = grouped(name, 32)
    out = layer_of(scheme, weight)(x).float()
    torch.testing.assert_close(out, x.float() @ codes_of(scheme, weight).dequantised().T, rtol=2e-2, atol=2e-2)


def test_codes_that_are_there_are_taken_and_what_a_folder_left_alone_stays_so() -> None:
    weight, x = drawn(11, 24, 64), drawn(12, 1, 64).bfloat16()
    groups = round_groups(weight, Grid(4, "symmetric", 64), "rtn")
    scheme = Grouped(GroupedName(4, 16, symmetric=True), 64, compiled=False, quantised_folder=True)
    with torch.inference_mode():
        taken, left = scheme.linear("w", WholeGroups(groups))(x), scheme.linear("w", StackedRows([weight]))(x)
    torch.testing.assert_close(taken.float(), x.float() @ groups.dequantised().T, rtol=1e-2, atol=1e-2)
    torch.testing.assert_close(left.float(), x.float() @ weight.bfloat16().float().T, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("name", [*A16, *A8])
def test_rows_that_are_asked_for_have_the_values_of_their_codes(name: str) -> None:
    weight, ids = drawn(13, 40, 192), torch.tensor([[39, 0, 7], [7, 21, 38]])
    scheme = grouped(name, 64)
    layer = layer_of(scheme, weight)
    assert isinstance(layer, HasRows)
    assert torch.equal(layer.rows(ids), codes_of(scheme, weight).dequantised().bfloat16()[ids])


@pytest.mark.parametrize(
    ("build", "group", "found"),
    [("w4a8-asym", 64, "4 bits, symmetric, groups of 64"), ("w4a8", 32, "4 bits, symmetric, groups of 64"),
     ("w8a8", 64, "4 bits, symmetric, groups of 64")],
)  # fmt: skip
def test_codes_of_another_build_are_refused(build: str, group: int, found: str) -> None:
    groups = round_groups(drawn(11, 24, 64), Grid(4, "symmetric", 64), "rtn")
    with pytest.raises(CheckpointError, match=f"w is in {found}"):
        grouped(build, group).linear("w", WholeGroups(groups))
