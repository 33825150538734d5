"""vLLM's compiled norms: known to it, chosen only with the switch, the numbers of the rule that rounds once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("vllm")

import torch
from torch import Tensor
from vllm import EngineArgs, ir

from agent_eval import environment, wiring
from agent_eval.spark_backend.vllm import norms
from agent_eval.spark_backend.vllm.switches import Switches
from tests.spark_backend.vllm.rounding import CUTS, cut

pytestmark = pytest.mark.vllm

EPSILON = 1e-6
DTYPES = (torch.float32, torch.bfloat16)


@pytest.fixture(scope="module", autouse=True)
def registered() -> None:
    norms.register()


@pytest.fixture
def ranked_first() -> Iterator[None]:
    order = [norms.PROVIDER, "native"]
    with ir.ops.rms_norm.set_priority(order), ir.ops.fused_add_rms_norm.set_priority(order):
        yield


def inputs(dtype: torch.dtype, *shape: int) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(sum(shape))
    x, residual = (torch.randn(*shape, generator=generator).to(dtype) for _ in range(2))
    return x, residual, (1 + torch.randn(shape[-1], generator=generator) * 0.3).to(dtype)


def written(exact: Tensor, dtype: torch.dtype) -> Tensor:
    """Return exact numbers as the compiled operators of this machine write them."""
    return cut(exact).to(dtype) if CUTS and dtype == torch.bfloat16 else exact.to(dtype)


def rounded_once(x: Tensor, weight: Tensor) -> Tensor:
    return written(torch.nn.functional.rms_norm(x.float(), weight.shape, weight.float(), EPSILON), x.dtype)


def configured(switches: Switches) -> Any:
    """Return vLLM's configuration of the ranking; no model is loaded."""
    with environment.lent_to_vllm():
        arguments = EngineArgs(
            model=str(wiring.find_checkpoint("nano")), skip_tokenizer_init=True, **norms.engine_arguments(switches)
        )
        return arguments.create_engine_config().kernel_config


def test_registering_twice_is_once() -> None:
    known = dict(ir.ops.rms_norm.impls)
    norms.register()
    assert ir.ops.rms_norm.impls == known
    assert known[norms.PROVIDER].supported


def test_they_rank_first_with_the_switch_and_not_at_all_without() -> None:
    first, usual = configured(Switches(fused_norms=True)), configured(Switches(fused_norms=False))
    for name in norms.OPERATORS:
        assert getattr(first.ir_op_priority, name) == [norms.PROVIDER, "native"]
        assert getattr(usual.ir_op_priority, name) == ["native"]
    assert first.compute_hash() != usual.compute_hash()  # compiled graphs are kept apart


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 128), (5, 2048), (2, 3, 64)])
def test_a_norm_multiplies_by_the_weight_before_it_rounds(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    x, _, weight = inputs(dtype, *shape)
    out = norms.norm(x, weight, EPSILON)
    once, native = rounded_once(x, weight), ir.ops.rms_norm.impls["native"].impl_fn(x, weight, EPSILON)
    if dtype == torch.float32:
        torch.testing.assert_close(out, once, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(out, native, atol=1e-5, rtol=1e-5)
    else:
        # a sum in another order may land on the other side of a rounding step
        assert (out == once).float().mean() > 0.99
        assert (out == native).float().mean() < 0.9
        apart = 2**-6 if CUTS else 2**-7  # each of the two loses up to a step that way, and rounds by half a step
        torch.testing.assert_close(out, native, atol=apart, rtol=apart)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_sum_and_its_norm_replace_their_inputs(dtype: torch.dtype) -> None:
    x, residual, weight = inputs(dtype, 5, 256)
    native, _ = ir.ops.fused_add_rms_norm.impls["native"].impl_fn(x, residual, weight, EPSILON)
    stream = written(x.float() + residual.float(), dtype)
    out, after = norms.add(x, residual, weight, EPSILON)
    assert out is x
    assert after is residual
    assert torch.equal(after, stream)
    tolerance = 1e-5 if dtype == torch.float32 else 2**-6  # two roundings: of the sum, of the norm
    torch.testing.assert_close(out, native, atol=tolerance, rtol=tolerance)


def refused() -> list[tuple[str, tuple[Any, ...]]]:
    x, _, weight = inputs(torch.float32, 4, 64)
    return [
        ("a row with gaps", (torch.randn(4, 128)[:, :64], weight, EPSILON)),
        ("a weight of another type", (x, weight.bfloat16(), EPSILON)),
        ("a row that does not divide", (torch.randn(4, 60), torch.ones(60), EPSILON)),
        ("a variance over a part", (x, weight, EPSILON, 32)),
    ]


@pytest.mark.parametrize(("why", "arguments"), refused())
@pytest.mark.usefixtures("ranked_first")
def test_what_the_library_cannot_norm_is_left_to_torch(why: str, arguments: tuple[Any, ...]) -> None:
    assert not norms.can_norm(*arguments), why
    out = ir.ops.rms_norm(*arguments)
    assert torch.equal(out, ir.ops.rms_norm.impls["native"].impl_fn(*arguments))


@pytest.mark.usefixtures("ranked_first")
def test_a_residual_of_another_type_is_left_to_torch() -> None:
    x, residual, weight = inputs(torch.bfloat16, 4, 64)
    assert norms.can_add(x, residual, weight, EPSILON)
    assert not norms.can_add(x, residual.float(), weight, EPSILON)
    assert not norms.can_add(x, torch.randn(4, 128).bfloat16()[:, :64], weight, EPSILON)


@pytest.mark.usefixtures("ranked_first")
def test_a_compiler_takes_them_into_its_graph_as_vllm_traces_on_a_cpu() -> None:
    def block(x: Tensor, residual: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
        x, residual = ir.ops.fused_add_rms_norm.maybe_inplace(x * 2, residual * 2, weight, EPSILON)
        return ir.ops.rms_norm(x, weight, EPSILON), residual

    with ir.enable_torch_wrap(False):
        compiled = torch.compile(block, dynamic=True, fullgraph=True, backend="aot_eager")
        for tokens in (3, 2, 5):
            given = inputs(torch.bfloat16, tokens, 64)
            for mine, theirs in zip(compiled(*given), block(*given), strict=True):
                assert torch.equal(mine, theirs)
