"""Every quantised product against its slow exact twin."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from agent_eval.spark_backend.quant.dense import UPCAST_ROWS, Bf16, Fp32
from agent_eval.spark_backend.quant.groups import quantise
from agent_eval.spark_backend.quant.int4 import PACKED_ROWS, Int4Product
from agent_eval.spark_backend.quant.w4a8 import W4A8, quantise_rows
from agent_eval.spark_backend.quant.w4a16 import W4A16
from tests.spark_backend import reference

FLOAT32 = 2.0**-24  # half a unit in the last place of 24 significant bits, and below of 8
BFLOAT16 = 2.0**-8

SHAPES = st.tuples(
    st.sampled_from([1, 2, 5, PACKED_ROWS, PACKED_ROWS + 1, PACKED_ROWS + 9]),  # rows
    st.sampled_from([1, 15, 16, 17, 40, 80]),  # channels: tails of the packed blocks of 16, 32 and 64
    st.sampled_from([32, 64, 96, 192]),  # width
)


def drawn(seed: int, *shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def float64(x: Tensor) -> reference.Array:
    return x.detach().float().numpy().astype(np.float64)


@settings(max_examples=40, deadline=None)
@given(shape=SHAPES, seed=st.integers(0, 1000))
def test_w4a16_multiplies_by_what_its_codes_say(shape: tuple[int, int, int], seed: int) -> None:
    rows, channels, width = shape
    weight, x = drawn(seed, channels, width), drawn(seed + 1, rows, width).bfloat16()
    groups = quantise("w", weight, "asymmetric")
    actual = float64(W4A16().linear("w", weight)(x))

    step, zero = (np.repeat(float64(part), groups.group, axis=1) for part in (groups.scale, groups.zero))
    levels = groups.codes.numpy().astype(np.float64) - 8
    expected = float64(x) @ (levels * step + zero).T
    terms = np.abs(float64(x)) @ (np.abs(levels * step) + np.abs(zero)).T
    assert actual.shape == (rows, channels)
    assert np.all(np.abs(actual - expected) <= BFLOAT16 * np.abs(expected) * 1.01 + 2 * width * FLOAT32 * terms)


@settings(max_examples=40, deadline=None)
@given(
    shape=SHAPES, seed=st.integers(0, 1000), group=st.sampled_from([32, 64]), spread=st.sampled_from([1e-3, 1.0, 50])
)
def test_w4a8_computes_what_an_integer_kernel_computes(
    shape: tuple[int, int, int], seed: int, group: int, spread: float
) -> None:
    rows, channels, width = shape
    width = width if width % group == 0 else 2 * width
    weight, x = drawn(seed, channels, width), (drawn(seed + 1, rows, width) * spread).bfloat16()
    groups = quantise("w", weight, "symmetric", group)
    actual = float64(W4A8(group).linear("w", weight)(x))
    expected, terms = reference.w4a8_product(float64(x), groups.codes.numpy(), float64(groups.scale), group)
    narrowed = BFLOAT16 if rows <= PACKED_ROWS else FLOAT32  # the packed kernel hands out bfloat16
    assert actual.shape == (rows, channels)
    assert np.all(np.abs(actual - expected) <= narrowed * np.abs(expected) * 1.01 + width * FLOAT32 * terms)


def test_one_group_is_summed_without_any_rounding() -> None:
    weight, x = drawn(0, 48, 64), drawn(1, PACKED_ROWS + 20, 64).bfloat16()
    groups = quantise("w", weight, "symmetric", 64)
    rows = quantise_rows(x)
    actual = float64(Int4Product(groups)(rows.values))
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
    layer = W4A8().linear("w", drawn(3, 20, 64))
    x = drawn(4, 3, 64).bfloat16()
    alone = layer(x[2:])
    x[1] = 0
    together = layer(x)
    assert torch.equal(together[1], torch.zeros(20))
    assert torch.equal(together[2:], alone)


def test_one_loud_token_does_not_drown_another() -> None:
    layer, weight = W4A8().linear("w", drawn(3, 20, 64)), drawn(3, 20, 64)
    x = drawn(4, 2, 64)
    x[0] *= 1000
    exact = x @ weight.T
    relative = (layer(x.bfloat16()) - exact).norm(dim=1) / exact.norm(dim=1)
    assert relative.tolist() == pytest.approx([0.1, 0.1], abs=0.07)


@pytest.mark.parametrize("scheme", [W4A16(), W4A8(), Bf16(native=False), Bf16(native=True), Fp32()], ids=type)
def test_leading_dimensions_are_kept_and_rows_do_not_mix(scheme: W4A16 | W4A8 | Bf16 | Fp32) -> None:
    layer = scheme.linear("w", drawn(5, 24, 64))
    x = drawn(6, 2, 3, 64).to(scheme.activation)
    with torch.inference_mode():
        out = layer(x)
        assert out.shape == (2, 3, 24)
        torch.testing.assert_close(out[1, 2].float(), layer(x[1, 2][None])[0].float(), rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("rows", [1, UPCAST_ROWS - 1, UPCAST_ROWS, 40])
def test_widened_bf16_computes_what_bf16_computes(rows: int) -> None:
    weight, x = drawn(7, 24, 64), drawn(8, rows, 64).bfloat16()
    with torch.inference_mode():
        native, widened = (Bf16(native=flag).linear("w", weight)(x) for flag in (True, False))
    assert widened.dtype == torch.bfloat16
    expected = float64(x) @ float64(weight.bfloat16()).T
    terms = np.abs(float64(x)) @ np.abs(float64(weight)).T
    for out in (native, widened):
        assert np.all(np.abs(float64(out) - expected) <= BFLOAT16 * np.abs(expected) * 1.01 + 64 * FLOAT32 * terms)


def test_packing_in_chunks_leaves_no_seam() -> None:
    weight, x = drawn(9, 2100, 32), drawn(10, 1, 32).bfloat16()
    groups = quantise("w", weight, "asymmetric")
    out = Int4Product(groups)(x).float()
    torch.testing.assert_close(out, x.float() @ groups.dequantised().T, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("scheme", [W4A16(), W4A8(), Bf16(), Fp32()], ids=type)
def test_the_notes_say_what_is_quantised_and_what_computes(scheme: W4A16 | W4A8 | Bf16 | Fp32) -> None:
    for word in ("quantised" if isinstance(scheme, Bf16 | Fp32) else "head 4-bit", "decode", "prefill"):
        assert word in scheme.notes
