"""How fast one row of inputs is multiplied (decode): the compiled kernels beside torch's own, and beside plain reading.

    python benchmarks/kernels.py --shapes 2048x2048,2048x13312,6656x2048 --threads 2

One line per kind of layer: microseconds of the best pass and, in brackets, of the middle half; bytes of weights, scales
and zeros per second; their share of the best plain reading speed of the same run. Every kind has copies of its weight
that together exceed 80 MB, so that no cache holds them; all kinds take turns within a pass, reading included, so that a
neighbour on the machine disturbs all alike; on a busy machine, ask for many passes of one call. `--isa` names variants
to compare; tinygemm is torch's kernel for 4-bit weights, `aten::_weight_int4pack_mm_for_cpu`, and
`ATEN_CPU_CAPABILITY=avx2` makes torch use what an AVX2 machine would.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812  the field's name for it
from torch import Tensor

from agent_eval.spark_backend.kernels.library import Library, load
from agent_eval.spark_backend.kernels.linear import PackedLinear
from agent_eval.spark_backend.probe import probe_machine
from agent_eval.spark_backend.quant.groups import GroupedWeight, centre_of
from agent_eval.spark_backend.quant.rows import StackedRows

BEYOND_CACHE = 80_000_000
STREAM_BYTES = 8_000_000  # read in one go: about as much as one product reads

READING = "plain reading"

Product = Callable[[Tensor], object]


class Kind(NamedTuple):
    """One way to multiply, with copies of its weight in turn."""

    variant: str | None
    bytes: int
    products: Iterator[Product]
    copies: int


def grouped(rows: int, width: int, bits: int, activation: int, group: int) -> PackedLinear:
    """Return a layer with random codes; 16-bit activations come with zeros, as the builds have it by default."""
    codes = torch.randint(0, 2 * centre_of(bits), (rows, width), dtype=torch.uint8)
    scale = torch.rand(rows, width // group).mul_(0.01).bfloat16()
    zero = None if activation == 8 else torch.rand(rows, width // group).mul_(0.01).bfloat16()
    weight = GroupedWeight(codes, scale, zero, group, bits)
    return PackedLinear.grouped([weight], (rows, width), activation, group, symmetric=zero is None)


def size(layer: PackedLinear) -> int:
    return sum(tensor.nbytes for tensor in layer.buffers())


def multiplied(layer: PackedLinear) -> Product:
    return lambda x: layer.multiply(x, blocked=False)


def tinygemm(rows: int, width: int, group: int) -> Product:
    codes = torch.randint(0, 16, (rows, width), dtype=torch.int32)
    packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(codes, 1)
    scales = torch.rand(width // group, rows, 2).mul_(0.01).bfloat16()
    return lambda x: torch.ops.aten._weight_int4pack_mm_for_cpu(x.bfloat16(), packed, group, scales)


def torch_linear(rows: int, width: int) -> Product:
    weight = torch.randn(rows, width).bfloat16()
    return lambda x: F.linear(x.bfloat16(), weight)


def read(library: Library, buffer: Tensor) -> Product:
    return lambda _: library.native.sk_read(buffer.data_ptr(), buffer.nbytes)


def kinds(library: Library, rows: int, width: int, groups: list[int], variants: list[str]) -> dict[str, Kind]:
    """Return name to way of multiplying."""

    def copies(nbytes: int) -> int:
        return BEYOND_CACHE // nbytes + 1

    table: dict[str, Kind] = {}

    def add(name: str, make: Callable[[], PackedLinear]) -> None:
        first = make()
        count = copies(size(first))
        layers = [first, *(make() for _ in range(count - 1))]
        for at, variant in enumerate(variants):
            start = at * count // len(variants)  # apart, so that none finds in cache what another has just read
            turns = [multiplied(layer) for layer in layers[start:] + layers[:start]]
            table[f"{name} {variant}"] = Kind(variant, size(first), cycle(turns), count)

    nbytes = STREAM_BYTES
    buffers = [torch.ones(nbytes, dtype=torch.uint8) for _ in range(copies(nbytes))]
    table[READING] = Kind(None, nbytes, cycle([read(library, buffer) for buffer in buffers]), len(buffers))
    for bits, activation in ((4, 8), (4, 16), (8, 8), (8, 16)):
        for group in groups if bits == 4 else groups[-1:]:
            add(f"w{bits}a{activation} g{group}", lambda b=bits, a=activation, g=group: grouped(rows, width, b, a, g))  # type: ignore[misc]
    add("bf16", lambda: PackedLinear.dense(StackedRows([torch.randn(rows, width).bfloat16()]), torch.bfloat16))
    for group in groups:
        nbytes = rows * width // 2 + rows * width // group * 4
        count = copies(nbytes)
        table[f"w4a16 g{group} tinygemm"] = Kind(
            None, nbytes, cycle([tinygemm(rows, width, group) for _ in range(count)]), count
        )
    nbytes = rows * width * 2
    table["bf16 torch"] = Kind(
        None, nbytes, cycle([torch_linear(rows, width) for _ in range(copies(nbytes))]), copies(nbytes)
    )
    return table


def measure(library: Library, table: dict[str, Kind], x: Tensor, passes: int, calls: int) -> dict[str, list[float]]:
    """Return seconds per product, one number a pass, by name."""
    seconds: dict[str, list[float]] = {name: [] for name in table}
    for at in range(passes + 1):
        for name, kind in table.items():
            if kind.variant:
                library.use(kind.variant)
            count = min(calls, kind.copies)
            start = time.perf_counter()
            for _ in range(count):
                next(kind.products)(x)
            if at:  # the first pass finds pages and clocks cold
                seconds[name].append((time.perf_counter() - start) / count)
    return seconds


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", default="2048x2048,2048x13312,6656x2048,2048x131072", help="K x N, with commas")
    parser.add_argument("--groups", default="32,128", help="columns to a scale, with commas between")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--passes", type=int, default=15)
    parser.add_argument("--calls", type=int, default=8, help="products of one kind in a pass")
    parser.add_argument("--isa", default="", help="variants, with commas between; the best by default")
    asked = parser.parse_args()

    torch.manual_seed(0)
    torch.set_num_threads(asked.threads)
    library = load()
    library.set_threads(asked.threads)
    variants = asked.isa.split(",") if asked.isa else [library.isa]
    print(f"{probe_machine().cpu_model}, {asked.threads} threads, {asked.passes} passes")
    for shape in asked.shapes.split(","):
        width, rows = map(int, shape.split("x"))
        table = kinds(library, rows, width, [int(group) for group in asked.groups.split(",")], variants)
        x = torch.randn(1, width).bfloat16().float()
        seconds = measure(library, table, x, asked.passes, asked.calls)
        plain = STREAM_BYTES / min(seconds[READING])
        print(f"{shape}")
        for name, times in seconds.items():
            low, _, high = (1e6 * value for value in statistics.quantiles(times, n=4))
            speed = table[name].bytes / min(times)
            print(
                f"  {name:<22} {1e6 * min(times):8.0f} us  ({low:.0f} to {high:.0f})  {speed / 1e9:5.1f} GB/s  "
                f"{speed / plain:4.0%}",
                flush=True,
            )
        for ours in variants:
            for group in asked.groups.split(","):
                _ratio(seconds, f"w4a16 g{group} {ours}", f"w4a16 g{group} tinygemm")
            _ratio(seconds, f"bf16 {ours}", "bf16 torch")


def _ratio(seconds: dict[str, list[float]], ours: str, theirs: str) -> None:
    """Print how many times as fast one way is as another, pass by pass."""
    low, middle, high = statistics.quantiles([b / a for a, b in zip(seconds[ours], seconds[theirs], strict=True)], n=4)
    print(f"  {ours} is {middle:.2f} x {theirs} (middle half of the passes {low:.2f} to {high:.2f})", flush=True)


if __name__ == "__main__":
    main()
