"""The gate's operator: its two ways agree, a compiler does not look into it, and the switch reaches the model."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from agent_eval.spark_backend.vllm import gate
from agent_eval.spark_backend.vllm.switches import Switches

TOLERANCES = {torch.bfloat16: 2e-2, torch.float32: 1e-5}


def inputs(tokens: int, dtype: torch.dtype = torch.float32, hidden: int = 256, heads: int = 8) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(tokens)
    x = torch.randn(tokens, hidden, generator=generator)
    weight = torch.randn(heads, hidden, generator=generator) / hidden**0.5
    return x.to(dtype), weight.to(dtype)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("tokens", [1, 2, 3, 17])
@pytest.mark.parametrize("hidden", [128, 2048])
def test_a_sum_of_products_and_a_matrix_product_agree(dtype: torch.dtype, tokens: int, hidden: int) -> None:
    x, weight = inputs(tokens, dtype, hidden)
    summed, multiplied = gate.head_gate(x, weight, tokens), gate.head_gate(x, weight, 0)
    assert summed.dtype == multiplied.dtype == torch.float32
    assert summed.shape == multiplied.shape == (tokens, 8)
    torch.testing.assert_close(summed, multiplied, atol=TOLERANCES[dtype], rtol=TOLERANCES[dtype])
    exact = x.double() @ weight.double().T
    torch.testing.assert_close(summed.double(), exact, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("tokens", "few", "way"), [
    (1, 2, gate.reduced), (2, 2, gate.reduced), (3, 2, gate.multiplied), (1, 0, gate.multiplied),
])  # fmt: skip
def test_the_argument_says_up_to_how_many_tokens_are_summed(tokens: int, few: int, way: Any) -> None:
    x, weight = inputs(tokens, torch.bfloat16)  # where the two ways round differently
    other = gate.multiplied if way is gate.reduced else gate.reduced
    assert torch.equal(gate.head_gate(x, weight, few), way(x, weight))
    assert not torch.equal(gate.head_gate(x, weight, few), other(x, weight))


@pytest.mark.parametrize("few", [0, 2])
def test_one_graph_serves_every_number_of_tokens_and_holds_the_operator_whole(few: int) -> None:
    graphs = []

    def keep(graph: torch.fx.GraphModule, _: object) -> Any:
        graphs.append(graph)
        return graph.forward

    def scores(x: Tensor, weight: Tensor) -> Tensor:
        return torch.sigmoid(gate.head_gate(x, weight, few))

    compiled = torch.compile(scores, dynamic=True, fullgraph=True, backend=keep)
    for tokens in (3, 2, 5):  # 0 and 1 are always special to torch
        x, weight = inputs(tokens)
        assert torch.equal(compiled(x, weight), scores(x, weight))
    assert len(graphs) == 1
    called = [str(node.target) for node in graphs[0].graph.nodes if node.op.startswith("call")]
    assert [name for name in called if "head_gate" in name], called
    assert len(called) == 2  # the operator and the sigmoid


def test_the_operator_is_what_torch_expects_of_one() -> None:
    for few in (0, 2):
        torch.library.opcheck(gate.head_gate, (*inputs(2), few))


def test_the_switch_decides_what_the_engine_is_given() -> None:
    assert gate.engine_arguments(Switches(gate_sum=True)) == {"additional_config": {gate.KEY: gate.FEW_TOKENS}}
    assert gate.engine_arguments(Switches(gate_sum=False)) == {"additional_config": {gate.KEY: 0}}


@pytest.mark.vllm
def test_the_model_reads_it_from_vllms_configuration_and_compiled_graphs_are_kept_apart() -> None:
    config = pytest.importorskip("vllm.config")
    keys = []
    for on, few in ((True, gate.FEW_TOKENS), (False, 0)):
        made = config.VllmConfig(**gate.engine_arguments(Switches(gate_sum=on)))
        assert gate.few_tokens(made) == few
        keys.append(made.compute_hash())
    assert keys[0] != keys[1]


@pytest.mark.vllm
def test_without_arguments_the_environment_decides_and_the_configuration_then_says_so() -> None:
    config = pytest.importorskip("vllm.config")
    made = config.VllmConfig(additional_config={"of": "somebody else"})
    before = made.compute_hash()
    usual = gate.engine_arguments(Switches.from_environment())["additional_config"]
    assert gate.few_tokens(made) == usual[gate.KEY]
    assert made.additional_config == {"of": "somebody else", **usual}
    assert made.compute_hash() != before
