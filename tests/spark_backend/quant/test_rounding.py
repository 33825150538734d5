from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.quant.groups import GroupedWeight, stacked
from agent_eval.spark_backend.quant.rounding import Form, Grid, round_groups, rounded
from agent_eval.spark_backend.quant.rows import StackedRows

FORMS: tuple[Form, ...] = ("symmetric", "zero", "point")
BITS = (2, 3, 4, 8)


def bf16(value: float) -> float:
    """Round to bfloat16 by arithmetic on the bits of a float32: nearest, ties to even."""
    bits = int(np.float32(value).view(np.uint32))
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return float(np.uint32(bits).view(np.float32))


def candidate_errors(group: list[float], grid: Grid) -> list[float]:
    """The squared error of every candidate grid of one group, by loops, the plain one first.

    Grids are computed in float32 like the shipped ones: near a tie of bfloat16 the last bit decides. Errors are not.
    """
    half, errors = 2 ** (grid.bits - 1), []
    low, high = np.float32(min(group)), np.float32(max(group))
    if grid.form == "point":
        low, high = min(low, np.float32(0)), max(high, np.float32(0))
    largest = np.float32(max(map(abs, group)))
    middle, reach = (low + high) / np.float32(2), (high - low) / np.float32(2)
    for factor in grid.factors:
        zero = point = 0.0
        if grid.form == "symmetric":
            exact = np.float32(factor / half) * largest
        else:
            exact = np.float32(2 * factor / (2 * half - 1)) * reach
        scale = bf16(max(float(exact), 1e-9))
        if grid.form == "zero":
            zero = bf16(float(middle - np.float32(factor) * reach + np.float32(half) * exact))
        elif grid.form == "point":
            point = round(float((middle - np.float32(factor) * reach) / np.float32(scale))) + half
            point = min(half, max(1 - half, point))
        total = 0.0
        for value in group:
            level = min(half - 1, max(-half, round((value - zero) / scale) - point))
            total += ((level + point) * scale + zero - value) ** 2
        errors.append(total)
    return errors


def shipped_errors(weight: Tensor, groups: GroupedWeight, form: Form) -> list[float]:
    """The squared error of each group as its codes say, by loops in Python floats."""
    errors, centre = [], 128 if groups.bits == 8 else 8
    for n in range(weight.shape[0]):
        for g in range(weight.shape[1] // groups.group):
            scale, zero = float(groups.scale[n, g]), 0.0 if groups.zero is None else float(groups.zero[n, g])
            if form == "point":
                zero = round(zero / scale) * scale  # what the format says; the stored zero is rounded once more
            columns = range(g * groups.group, (g + 1) * groups.group)
            decoded = [(int(groups.codes[n, k]) - centre) * scale + zero for k in columns]
            errors.append(sum((a - float(weight[n, k])) ** 2 for a, k in zip(decoded, columns, strict=True)))
    return errors


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@settings(max_examples=60, deadline=None)
@given(
    rows=st.integers(1, 4),
    groups=st.integers(1, 3),
    size=st.sampled_from([2, 32, 64]),
    spread=st.sampled_from([1e-6, 0.02, 3.0]),
    shift=st.sampled_from([0.0, 0.5, -40.0]),
    seed=st.integers(0, 1000),
    bits=st.sampled_from(BITS),
)
@pytest.mark.parametrize("form", FORMS)
def test_each_group_has_the_least_error_of_all_candidate_grids(
    form: Form, rows: int, groups: int, size: int, spread: float, shift: float, seed: int, bits: int
) -> None:
    weight = (drawn(rows, groups * size, seed=seed) * spread + shift * spread).bfloat16()
    grid = Grid(bits, form, size)
    result = round_groups(weight, grid, "search")
    twins = [min(candidate_errors([float(v) for v in part], grid)) for row in weight for part in row.view(-1, size)]
    for shipped, best in zip(shipped_errors(weight, result, form), twins, strict=True):
        assert shipped <= best * (1 + 1e-3) + 1e-11 * spread**2


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("bits", BITS)
def test_plain_rounding_takes_the_range_as_it_is(form: Form, bits: int) -> None:
    weight, grid = drawn(5, 128), Grid(bits, form, 32)
    plain = shipped_errors(weight, round_groups(weight, grid, "rtn"), form)
    twins = [candidate_errors([float(v) for v in part], grid)[0] for row in weight for part in row.view(-1, 32)]
    assert plain == pytest.approx(twins, rel=1e-3)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("bits", BITS)
def test_codes_lie_about_the_centre_of_their_container_and_all_of_them_are_used(form: Form, bits: int) -> None:
    result = round_groups(drawn(256, 128), Grid(bits, form, 32), "search")
    centre, half = (128 if bits == 8 else 8), 2 ** (bits - 1)
    assert result.codes.dtype == torch.uint8
    assert (int(result.codes.min()), int(result.codes.max())) == (centre - half, centre + half - 1)
    assert len(set(result.codes.flatten().tolist())) == 2**bits
    assert (result.scale.shape, result.scale.dtype) == ((256, 4), torch.bfloat16)
    assert (result.zero is None) == (form == "symmetric") == result.symmetric
    assert result.bits == bits


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("bits", BITS)
def test_more_bits_lose_less_and_the_search_loses_no_more_than_plain_rounding(form: Form, bits: int) -> None:
    weight = drawn(32, 128)

    def lost(bits: int, rounding: str) -> float:
        found = round_groups(weight, Grid(bits, form, 64), "rtn" if rounding == "rtn" else "search")
        return float((found.dequantised() - weight).square().sum())

    assert lost(bits, "search") <= lost(bits, "rtn") * 1.0001
    if bits < 8:
        assert lost({2: 3, 3: 4, 4: 8}[bits], "search") < 0.5 * lost(bits, "search")


@pytest.mark.parametrize("form", FORMS)
def test_the_search_beats_the_plain_range_where_there_is_an_outlier(form: Form) -> None:
    weight = drawn(16, 32)
    weight[:, 0] = 6.0
    found, plain = (
        sum(shipped_errors(weight, round_groups(weight, Grid(4, form, 32), rounding), form))
        for rounding in ("search", "rtn")
    )
    assert found < 0.97 * plain


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rounding", ["rtn", "search"])
@pytest.mark.parametrize("value", [0.0, 0.5, -3.0])
def test_a_group_of_one_value_keeps_it(form: Form, rounding: str, value: float) -> None:
    result = round_groups(torch.full((1, 32), value), Grid(4, form, 32), "rtn" if rounding == "rtn" else "search")
    assert result.dequantised().flatten().tolist() == pytest.approx([value] * 32, rel=0.02, abs=1e-7)


def test_a_point_grid_has_an_exact_zero_and_whole_zero_points() -> None:
    weight = drawn(64, 64) + 0.7
    weight[:, ::8] = 0
    result = round_groups(weight, Grid(4, "point", 32), "search")
    assert result.zero is not None
    steps = result.zero.float() / result.scale.float()
    assert float((steps - steps.round()).abs().max()) <= 1 / 32  # the zero is rounded to bfloat16 once more
    points = 8 - steps.round()
    assert (float(points.min()), float(points.max())) >= (0, 0)
    assert float(points.max()) <= 15
    assert float(result.dequantised()[:, ::8].abs().max()) <= float(result.scale.max()) / 32


def test_large_weights_are_cut_without_a_seam() -> None:
    weight = drawn(520, 1024)
    grid = Grid(4, "zero", 32)
    whole, tail = round_groups(weight, grid, "search"), round_groups(weight[100:], grid, "search")
    assert torch.equal(whole.codes[100:], tail.codes)
    assert torch.equal(whole.scale[100:], tail.scale)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_chunks_come_in_order_and_are_the_whole_for_any_number_of_threads(threads: int) -> None:
    weight, grid = drawn(2500, 64), Grid(4, "symmetric", 32)
    parts = list(rounded("w", StackedRows([weight[:1300], weight[1300:]]), grid, "search", threads))
    assert len(parts) > 2
    whole, together = round_groups(weight, grid, "search"), stacked(parts)
    assert torch.equal(together.codes, whole.codes)
    assert torch.equal(together.scale, whole.scale)


def test_a_width_that_does_not_divide_is_named() -> None:
    with pytest.raises(CheckpointError, match=r"q\.weight has 48 columns, expected a multiple of the group size 32"):
        next(rounded("q", StackedRows([torch.zeros(4, 48)]), Grid(4, "symmetric", 32), "search"))
