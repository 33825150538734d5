from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from agent_eval.errors import OperatorError
from agent_eval.spark_backend.quant.gptq import Hessian, gptq
from agent_eval.spark_backend.quant.groups import GroupedWeight, stacked
from agent_eval.spark_backend.quant.rounding import Form, Grid, round_groups
from agent_eval.spark_backend.quant.rows import StackedRows
from tests.spark_backend.reference import Array

FORMS: tuple[Form, ...] = ("symmetric", "zero", "point")


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def correlated(tokens: int, width: int) -> Tensor:
    """Inputs that go together, as a transformer's do: most of them in a few directions."""
    return drawn(tokens, 8, seed=1) @ drawn(8, width, seed=2) + 0.5 * drawn(tokens, width, seed=3)


def hessian_of(x: Tensor) -> Hessian:
    hessian = Hessian(x.shape[-1])
    for part in x.split(100):  # type: ignore[no-untyped-call]
        hessian.add(part)
    return hessian


def quantised(weight: Tensor, hessian: Hessian, grid: Grid) -> GroupedWeight:
    return stacked(list(gptq(StackedRows([weight]), hessian.factor(), grid)))


def output_error(x: Tensor, weight: Tensor, found: GroupedWeight) -> float:
    return float((x @ (found.dequantised() - weight).T).square().sum())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("bits", [2, 3, 4, 8])
def test_it_keeps_the_outputs_of_inputs_that_go_together_far_better_than_rounding(form: Form, bits: int) -> None:
    weight, x, grid = drawn(48, 256), correlated(600, 256), Grid(bits, form, 64)
    found, plain = quantised(weight, hessian_of(x), grid), round_groups(weight, grid, "search")
    assert output_error(x, weight, found) < 0.4 * output_error(x, weight, plain)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("rounding", ["rtn", "search"])
def test_with_inputs_that_have_nothing_in_common_it_is_rounding(form: Form, bits: int, rounding: str) -> None:
    weight, grid = drawn(40, 320), Grid(bits, form, 64)
    how = "rtn" if rounding == "rtn" else "search"
    hessian = Hessian(320)
    hessian.add(torch.eye(320))
    found = stacked(list(gptq(StackedRows([weight]), hessian.factor(), grid, how)))  # type: ignore[arg-type]
    plain = round_groups(weight, grid, how)  # type: ignore[arg-type]
    assert torch.equal(found.codes, plain.codes)
    assert torch.equal(found.scale, plain.scale)
    assert (found.zero is None) == (plain.zero is None)
    if found.zero is not None and plain.zero is not None:
        assert torch.equal(found.zero, plain.zero)


def slow_gptq(weight: Array, inverse: Array, scale: Array, group: int) -> Array:
    """The paper's loop in float64, one column at a time, on given symmetric grids; returns the levels."""
    left, inverse, levels = weight.copy(), inverse.copy(), np.zeros_like(weight)
    for k in range(weight.shape[1]):
        step = scale[:, k // group]
        levels[:, k] = np.clip(np.round(left[:, k] / step), -8, 7)
        lost = (left[:, k] - levels[:, k] * step) / inverse[k, k]
        left[:, k:] -= np.outer(lost, inverse[k, k:])
        inverse -= np.outer(inverse[:, k], inverse[k]) / inverse[k, k]  # the inverse without this row and column
    return levels


def test_the_blocked_form_gives_the_codes_of_the_papers_loop() -> None:
    weight, x = drawn(20, 384), correlated(900, 384)
    hessian = hessian_of(x)
    found = quantised(weight, hessian, Grid(4, "symmetric", 128))
    damped = hessian.mean().double().numpy()
    damped += 0.01 * np.diag(damped).mean() * np.eye(384)
    levels = slow_gptq(weight.double().numpy(), np.linalg.inv(damped), found.scale.double().numpy(), 128)
    # in float32 now and then a value falls on the other side of a tie, and what follows it moves with it
    assert np.mean(found.codes.numpy().astype(float) - 8 == levels) > 0.98


def test_rows_do_not_depend_on_each_other_and_leave_no_seam() -> None:
    weight, hessian, grid = drawn(2100, 64), hessian_of(correlated(300, 64)), Grid(4, "zero", 32)
    whole, tail = quantised(weight, hessian, grid), quantised(weight[2000:], hessian, grid)
    assert float((whole.codes[2000:] == tail.codes).float().mean()) > 0.999


def test_inputs_are_averaged_over_everything_that_was_read() -> None:
    x = correlated(250, 32)
    hessian = hessian_of(x.view(5, 50, 32))
    assert hessian.tokens == 250
    torch.testing.assert_close(hessian.mean(), x.T @ x / 250)


def test_a_layer_that_was_never_given_anything_is_rounded() -> None:
    weight, grid = drawn(8, 64), Grid(4, "symmetric", 32)
    assert torch.equal(quantised(weight, Hessian(64), grid).codes, round_groups(weight, grid, "search").codes)


def test_inputs_that_are_always_zero_do_no_harm() -> None:
    weight, x = drawn(16, 64), correlated(300, 64)
    x[:, 10:20] = 0
    found = quantised(weight, hessian_of(x), Grid(4, "symmetric", 32))
    assert output_error(x, weight, found) < output_error(
        x, weight, round_groups(weight, Grid(4, "symmetric", 32), "search")
    )


def test_inputs_that_are_not_finite_are_refused() -> None:
    hessian = Hessian(8)
    hessian.add(torch.full((4, 8), torch.inf))
    with pytest.raises(OperatorError, match="4 tokens gives a layer inputs that cannot be factored"):
        hessian.factor()
