"""How fast many rows of inputs are multiplied (prefill): the compiled kernels beside torch's own products.

    python benchmarks/gemm.py --rows 8,64,512 --shapes 2048x2048,2048x13312 --threads 2
    python benchmarks/gemm.py --threads 1 --processor-time

One line per kind of layer, in GOP/s (two operations to a weight and a row): the best pass and, in brackets, the
quartiles. All kinds take turns within a pass, so that a neighbour on the machine disturbs all alike. On a busy machine
the time of the processor, which needs a single thread, tells more than the time on the wall.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812  the field's name for it
from torch import Tensor

from agent_eval.spark_backend.kernels.library import load
from agent_eval.spark_backend.kernels.linear import PackedLinear
from agent_eval.spark_backend.probe import probe_machine
from agent_eval.spark_backend.quant.groups import GroupedWeight, centre_of

MOST_BY_ROW = 16
"""Rows of inputs up to which the products of single rows are measured too."""


class Kind(NamedTuple):
    """A way to multiply."""

    variant: str | None
    """Of the kernels; None for torch."""
    product: Callable[[Tensor], Tensor]
    by_row: bool = False


def grouped(rows: int, width: int, bits: int, activation: int, group: int) -> PackedLinear:
    """Return a layer with random codes; 16-bit activations come with zeros, as the builds have it by default."""
    codes = torch.randint(0, 2 * centre_of(bits), (rows, width), dtype=torch.uint8)
    scale = torch.rand(rows, width // group).mul_(0.01).bfloat16()
    zero = None if activation == 8 else torch.rand(rows, width // group).mul_(0.01).bfloat16()
    weight = GroupedWeight(codes, scale, zero, group, bits)
    return PackedLinear.grouped([weight], (rows, width), activation, group, symmetric=zero is None)


def int8_of_torch(rows: int, width: int) -> Callable[[Tensor], Tensor]:
    """Return oneDNN's int8 product, one scale per row of the weight: torch has nothing faster for 8-bit weights."""
    weight = torch.randint(-8, 8, (rows, width), dtype=torch.int8)
    packed = torch.ops.onednn.qlinear_prepack(weight, None)
    scales, zeros = torch.full((rows,), 0.01), torch.zeros(rows, dtype=torch.int32)

    def product(x: Tensor) -> Tensor:
        scale = x.abs().amax().item() / 127
        codes = (x.float() / scale).round_().add_(128).to(torch.uint8)
        return torch.ops.onednn.qlinear_pointwise(  # type: ignore[no-any-return]
            codes, scale, 128, packed, scales, zeros, None, 1.0, 0, torch.float32, "none", [], ""
        )

    return product


def kinds(rows: int, width: int, group: int, variants: list[str]) -> dict[str, Kind]:
    """Return name to kind for weights of one shape."""
    dense = torch.randn(rows, width).mul_(0.02)
    narrow = dense.bfloat16()
    layers = {
        f"w{bits}a{activation}": grouped(rows, width, bits, activation, group)
        for bits, activation in ((4, 8), (8, 8), (4, 16))
    }
    table: dict[str, Kind] = {}
    for variant in variants:
        for name, layer in layers.items():
            table[f"{name} {variant}"] = Kind(variant, partial(layer.multiply, blocked=True))
        by_row = partial(layers["w4a16"].multiply, blocked=False)
        table[f"w4a16 {variant}, by row"] = Kind(variant, by_row, by_row=True)
    table["torch bf16"] = Kind(None, lambda x: F.linear(x, narrow))
    table["torch fp32"] = Kind(None, lambda x: F.linear(x.float(), dense))
    table["torch int8"] = Kind(None, int8_of_torch(rows, width))
    return table


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", default="2048x2048,2048x13312,6656x2048", help="K x N, with commas between")
    parser.add_argument("--rows", default="2,4,8,64,512", help="rows of inputs, with commas between")
    parser.add_argument("--group", type=int, default=128)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--passes", type=int, default=7)
    parser.add_argument("--variants", default="", help="of the kernels; all that this processor runs")
    parser.add_argument("--processor-time", action="store_true", help="of the one thread, not time on the wall")
    asked = parser.parse_args()

    torch.manual_seed(0)
    torch.set_num_threads(asked.threads)
    library = load()
    library.set_threads(asked.threads)
    clock = time.thread_time if asked.processor_time else time.perf_counter
    fast = [name for name in library.usable() if name not in ("amx-emulated", "generic")]
    variants = asked.variants.split(",") if asked.variants else fast
    print(f"{probe_machine().cpu_model}, {asked.threads} threads, groups of {asked.group}, GOP/s")
    for shape in asked.shapes.split(","):
        width, rows = map(int, shape.split("x"))
        table = kinds(rows, width, asked.group, variants)
        for count in map(int, asked.rows.split(",")):
            x = torch.randn(count, width).bfloat16()
            speeds: dict[str, list[float]] = {name: [] for name in table}
            for at in range(asked.passes + 1):
                for name, kind in table.items():
                    if kind.by_row and count > MOST_BY_ROW:
                        continue
                    library.use(kind.variant or variants[-1])
                    start = clock()
                    kind.product(x)
                    seconds = clock() - start
                    if at:  # the first pass finds caches and clocks cold
                        speeds[name].append(2e-9 * rows * width * count / seconds)
            for name, found in speeds.items():
                if found:
                    low, _, high = statistics.quantiles(found, n=4)
                    spread = f"({low:.0f} to {high:.0f})"
                    print(f"{shape:>12} {count:4d} rows  {name:<26} {max(found):6.0f}  {spread}", flush=True)


if __name__ == "__main__":
    main()
