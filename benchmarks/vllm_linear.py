"""From how many rows on weights of four bits are better widened than multiplied as they lie: vLLM's two paths.

    python benchmarks/vllm_linear.py --rows 1,16,32,64,128,512 --threads 1

Runs in the environment that ``make vllm`` makes. One line for each shape and number of rows, in milliseconds: the
median, and in brackets the quartiles. All kinds take turns within a pass, so that a neighbour on the machine disturbs
all alike; before each product the caches are swept, as the other layers of a model would do. ``ratio`` is the time of
the packed product over that of the widened one, above 1 where widening is the faster, by passes: median and quartiles.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor
from vllm import _custom_ops as vllm_ops
from vllm.model_executor.layers.quantization.utils.quant_utils import pack_quantized_values_into_int32
from vllm.scalar_type import scalar_types

from agent_eval.spark_backend.kernels import library
from agent_eval.spark_backend.probe import probe_machine
from agent_eval.spark_backend.quant.formats import CpuInt4
from agent_eval.spark_backend.quant.grouped import Grouped
from agent_eval.spark_backend.quant.groups import GroupedWeight
from agent_eval.spark_backend.quant.name import ActivationBits, GroupedName
from agent_eval.spark_backend.quant.rows import WholeGroups
from agent_eval.spark_backend.vllm.grouped_layer import Form, Layout, TwoPathLinear

GROUP = 128
SWEPT = 64 * 2**20
"""Bytes that are read before each product."""


def layer_of(weight: GroupedWeight, layout: Layout, activation: ActivationBits) -> TwoPathLinear:
    """Return a weight as vLLM's layers hold it."""
    scheme = Grouped(
        GroupedName(4, activation, weight.symmetric), GROUP, compiled=layout == "blocks", quantised_folder=True
    )
    form = Form(CpuInt4(GROUP), activation, layout, dequant_threshold=1)
    return TwoPathLinear(scheme.linear("layer", WholeGroups(weight)), weight.shape, form)


def of_vllm(weight: GroupedWeight) -> Callable[[Tensor], Tensor]:
    """Return vLLM's own product with 16-bit activations, which takes the symmetric part of a weight."""
    rows, width = weight.shape
    words = pack_quantized_values_into_int32(weight.codes.t().int().contiguous(), scalar_types.uint4b8, 1)
    blocked = words.view(width, -1, 2).permute(1, 0, 2).reshape(-1, width * 2).contiguous()
    scales = weight.scale.t().contiguous()

    def product(x: Tensor) -> Tensor:
        return vllm_ops.cpu_gemm_wna16(  # type: ignore[no-any-return]
            input=x, q_weight=blocked, scales=scales, zeros=None, bias=None, pack_factor=8, isa_hint="vec"
        )

    assert product(torch.zeros(1, width, dtype=torch.bfloat16)).shape == (1, rows)
    return product


def kinds(rows: int, width: int) -> dict[str, Callable[[Tensor], Tensor]]:
    """Return name to product for one shape."""
    codes = torch.randint(0, 16, (rows, width), dtype=torch.uint8)
    scale = torch.rand(rows, width // GROUP).mul_(0.01).bfloat16()
    free = GroupedWeight(codes, scale, scale.clone(), GROUP, 4)
    symmetric = GroupedWeight(codes, scale, None, GROUP, 4)
    blocks, tinygemm = layer_of(free, "blocks", 16), layer_of(free, "tinygemm", 16)
    integers = layer_of(symmetric, "blocks", 8)
    return {
        "blocks": lambda x: blocks.by_packed(x).bfloat16(),
        "widened": blocks.by_widening,
        "tinygemm": tinygemm.by_packed,
        "tinygemm widened": tinygemm.by_widening,
        "vLLM wna16": of_vllm(symmetric),
        "w4a8": lambda x: integers.by_packed(x).bfloat16(),
    }


def quartiles(values: list[float]) -> str:
    """Return the median, and in brackets the quartiles."""
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.3g} [{low:.3g}, {high:.3g}]"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", default="2048x2048,2048x13312,6656x2048", help="K x N")
    parser.add_argument("--rows", default="1,2,4,8,16,32,64,128,256,512")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--passes", type=int, default=9)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    library.load().set_threads(asked.threads)
    torch.manual_seed(0)
    print(f"{probe_machine().cpu_model}, {library.load().isa}, {asked.threads} threads, torch {torch.__version__}")
    swept = torch.zeros(SWEPT // 4)
    for shape in asked.shapes.split(","):
        width, rows = map(int, shape.split("x"))
        table = kinds(rows, width)
        print(f"\n{shape:>12}  " + "  ".join(f"{name:>24}" for name in table) + "   blocks ratio   tinygemm ratio")
        for count in map(int, asked.rows.split(",")):
            x = torch.randn(count, width).bfloat16()
            spent: dict[str, list[float]] = {name: [] for name in table}
            for turn in range(asked.passes + 1):
                for name, product in table.items():
                    swept.sum()
                    began = time.perf_counter()
                    product(x)
                    if turn:  # the first pass fetches code and memory
                        spent[name].append(1000 * (time.perf_counter() - began))
            ratios = [
                quartiles([a / b for a, b in zip(spent[packed], spent[wide], strict=True)])
                for packed, wide in (("blocks", "widened"), ("tinygemm", "tinygemm widened"))
            ]
            times = [f"{quartiles(spent[name]):>24}" for name in table]
            print(f"{count:>12}  " + "  ".join(times) + "   " + "   ".join(ratios), flush=True)


if __name__ == "__main__":
    with torch.inference_mode():
        main()
