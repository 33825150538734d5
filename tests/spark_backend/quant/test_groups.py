from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.quant.groups import SCALE_FACTORS, SHRINK_FACTORS, Int4Groups, quantise

Form = Literal["asymmetric", "symmetric"]


def bf16(value: float) -> float:
    """Round to bfloat16 by arithmetic on the bits of a float32: nearest, ties to even."""
    bits = int(np.float32(value).view(np.uint32))
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return float(np.uint32(bits).view(np.float32))


def candidate_errors(group: list[float], form: Form) -> list[float]:
    """The squared error of every candidate grid of one group, by loops.

    Grids are computed in float32 like the shipped ones: near a tie of bfloat16 the last bit decides. Errors are not.
    """
    errors = []
    low, high = np.float32(min(group)), np.float32(max(group))
    largest = np.float32(max(map(abs, group)))
    for factor in SHRINK_FACTORS if form == "asymmetric" else SCALE_FACTORS:
        if form == "asymmetric":
            middle, reach = (low + high) / np.float32(2), (high - low) / np.float32(2)
            exact = np.float32(2 * factor / 15) * reach
            zero = bf16(float(middle - np.float32(factor) * reach + np.float32(8) * exact))
        else:
            exact, zero = np.float32(factor / 8) * largest, 0.0
        scale = bf16(max(float(exact), 1e-9))
        total = 0.0
        for value in group:
            code = min(7, max(-8, round((value - zero) / scale)))
            total += (code * scale + zero - value) ** 2
        errors.append(total)
    return errors


def shipped_errors(weight: Tensor, groups: Int4Groups) -> list[float]:
    """The squared error of each group as its codes say, by loops in Python floats."""
    errors = []
    for n in range(weight.shape[0]):
        for g in range(weight.shape[1] // groups.group):
            scale, zero = float(groups.scale[n, g]), float(groups.zero[n, g])
            columns = range(g * groups.group, (g + 1) * groups.group)
            decoded = [(int(groups.codes[n, k]) - 8) * scale + zero for k in columns]
            errors.append(sum((a - float(weight[n, k])) ** 2 for a, k in zip(decoded, columns, strict=True)))
    return errors


@settings(max_examples=60, deadline=None)
@given(
    rows=st.integers(1, 5),
    groups=st.integers(1, 3),
    size=st.sampled_from([2, 32, 64]),
    spread=st.sampled_from([1e-6, 0.02, 3.0]),
    shift=st.sampled_from([0.0, 0.5, -40.0]),
    seed=st.integers(0, 1000),
)
@pytest.mark.parametrize("form", ["asymmetric", "symmetric"])
def test_each_group_has_the_least_error_of_all_candidate_grids(
    form: Form, rows: int, groups: int, size: int, spread: float, shift: float, seed: int
) -> None:
    noise = torch.randn(rows, groups * size, generator=torch.Generator().manual_seed(seed))
    weight = (noise * spread + shift * spread).bfloat16()
    result = quantise("w", weight, form, size)
    twins = [
        min(candidate_errors([float(value) for value in group], form)) for row in weight for group in row.view(-1, size)
    ]
    for shipped, best in zip(shipped_errors(weight, result), twins, strict=True):
        assert shipped <= best * (1 + 1e-4) + 1e-12 * spread**2


@pytest.mark.parametrize("form", ["asymmetric", "symmetric"])
def test_codes_scales_and_zeros_are_of_the_shapes_and_types_that_kernels_take(form: Form) -> None:
    result = quantise("w", torch.randn(6, 96, generator=torch.Generator().manual_seed(0)), form)
    assert (result.codes.shape, result.codes.dtype) == ((6, 96), torch.uint8)
    assert (result.scale.shape, result.scale.dtype) == ((6, 3), torch.bfloat16)
    assert (result.zero.shape, result.zero.dtype) == ((6, 3), torch.bfloat16)
    assert int(result.codes.max()) <= 15


def test_symmetric_groups_have_no_zero_and_use_all_sixteen_codes() -> None:
    result = quantise("w", torch.randn(64, 64, generator=torch.Generator().manual_seed(0)), "symmetric")
    assert bool((result.zero == 0).all())
    assert sorted(set(result.codes.flatten().tolist())) == list(range(16))


@pytest.mark.parametrize(
    ("form", "plain"), [("asymmetric", SHRINK_FACTORS.index(1.0)), ("symmetric", SCALE_FACTORS.index(8 / 7))]
)
def test_the_search_beats_the_plain_range_where_there_is_an_outlier(form: Form, plain: int) -> None:
    weight = torch.randn(16, 32, generator=torch.Generator().manual_seed(0))
    weight[:, 0] = 6.0
    found = sum(shipped_errors(weight, quantise("w", weight, form)))
    fixed = sum(candidate_errors([float(value) for value in row], form)[plain] for row in weight)
    assert found < 0.97 * fixed


@pytest.mark.parametrize("form", ["asymmetric", "symmetric"])
@pytest.mark.parametrize("value", [0.0, 0.5, -3.0])
def test_a_group_of_one_value_keeps_it(form: Form, value: float) -> None:
    result = quantise("w", torch.full((1, 32), value), form)
    assert result.dequantised().flatten().tolist() == pytest.approx([value] * 32, rel=0.01, abs=1e-7)


def test_large_weights_are_cut_without_a_seam() -> None:
    weight = torch.randn(520, 1024, generator=torch.Generator().manual_seed(0))
    whole, tail = quantise("w", weight, "asymmetric"), quantise("w", weight[100:], "asymmetric")
    assert torch.equal(whole.codes[100:], tail.codes)
    assert torch.equal(whole.scale[100:], tail.scale)


def test_a_width_that_does_not_divide_is_named() -> None:
    with pytest.raises(CheckpointError, match=r"q\.weight has 48 columns, expected a multiple of the group size 32"):
        quantise("q", torch.zeros(4, 48), "symmetric")
