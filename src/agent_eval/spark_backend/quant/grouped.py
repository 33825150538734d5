"""Builds with integer weights in groups: every ``w*a*`` of the grammar. Knows no layers' names and no file format.

A checkpoint that is quantised already decides the weights: what comes as a ``GroupedSource`` is taken as it is, and
what such a folder left in bfloat16 stays so. From any other checkpoint the weights are rounded on the way in.

The arithmetic that is meant with 8-bit activations is an integer kernel's: per token a scale ``a = amax / 127`` and
integers ``x = round(h / a)``; per group of weights an int32 sum of ``x * (code - centre)``; then ``a`` times the sum
over groups of ``scale * int32 sum``. The compiled kernels do just that.

The torch path computes it by floating-point kernels on integer-valued inputs. Nothing is lost before the last sum:
``|x| <= 127`` has 7 significant bits and is exact in bfloat16, ``|code - 8| <= 8`` has 4, a bfloat16 scale has 8, so
each term ``x * (code - 8) * scale`` has at most 19 and is exact in float32, whatever the group (8-bit codes: 23). What
rounds is the float32 accumulator, where the integer kernel rounds only between groups: both stay within ``K * 2^-24``
of the sum of the terms' magnitudes, far below the ``2^-8`` with which the packed kernel hands out bfloat16.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.quant.activations import quantise_rows
from agent_eval.spark_backend.quant.dense import dense_layer
from agent_eval.spark_backend.quant.groups import GroupedWeight
from agent_eval.spark_backend.quant.int4 import Int4Product
from agent_eval.spark_backend.quant.int8 import Int8Product
from agent_eval.spark_backend.quant.name import GroupedName
from agent_eval.spark_backend.quant.rounding import Form, Grid, Rounding, rounded
from agent_eval.spark_backend.quant.rows import GroupedSource, RowSource, chunks

_READ = 2**18
"""Codes of a folder that are taken in at a time. Unpacking holds some copies of them, and what malloc gets back lies in
pieces between what stays: a 1.7B build of 867 MiB peaked at 1059 MiB with 1024 rows at a time, and peaks at 876 with
2^18 codes; it takes half a second longer to load, of two.
"""

_ROWS_OF_A_BLOCK = 16  # parts of a packed weight end where a block does


class FewBitsLinear(nn.Module):
    """Multiplies activations of 8 or 16 bits by a weight of few bits, by torch's own kernels.

    Args:
        product: Maps (R, K) bfloat16 to (R, N).
        activation: Bits of the activations.
    """

    def __init__(self, product: Int4Product | Int8Product, activation: int) -> None:
        super().__init__()
        self._product = product
        self._activation = activation

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., K) bfloat16 to (..., N): bfloat16 with 16-bit activations, float32 with 8-bit ones."""
        rows = x.reshape(-1, x.shape[-1])
        if self._activation == 16:
            out = self._product(rows).to(torch.bfloat16)
        else:
            quantised = quantise_rows(rows)
            out = self._product(quantised.values) * quantised.scale
        return out.view(*x.shape[:-1], -1)  # type: ignore[no-any-return]

    def rows(self, ids: Tensor) -> Tensor:
        """Return the rows of the weight that ids (...) name, as values: (..., K) bfloat16."""
        values = self._product.picked(ids.reshape(-1)).dequantised()
        return values.bfloat16().view(*ids.shape, -1)


def grid_of(name: GroupedName, group: int) -> Grid:
    """Return what the weights of a build are rounded to.

    With 8-bit activations an asymmetric group keeps 0 as one of its codes, as AWQ folders have it and integer kernels
    take it; with 16-bit ones the zero is free, as in ``cpu_int4`` folders.
    """
    form: Form = "symmetric" if name.symmetric else ("point" if name.activation == 8 else "zero")
    return Grid(name.bits, form, group)


@dataclass(frozen=True)
class Grouped:
    """Every projection and the head in few bits; norms, output gates and the embedding table are left alone.

    Args:
        name: Bits and form.
        group: Weights to a scale.
        compiled: Whether the compiled kernels are there; otherwise torch's own serve.
        rounding: How codes are chosen where the checkpoint has none.
        quantised_folder: The checkpoint is quantised: layers that it left in bfloat16 stay so.
        threads: Chunks of a weight that are rounded at the same time.
    """

    name: GroupedName
    group: int
    compiled: bool
    rounding: Rounding = "search"
    quantised_folder: bool = False
    threads: int = 1
    activation: torch.dtype = torch.bfloat16

    def linear(self, name: str, source: RowSource) -> nn.Module:
        """Return the layer of a weight.

        Raises:
            CheckpointError: its width does not divide into groups, or its codes are not of this build.
        """
        if isinstance(source, GroupedSource):
            self._require_same(name, source)
            return self._layer(_read(source), source.shape)
        if self.quantised_folder:
            return dense_layer(source, torch.bfloat16, compiled=self.compiled)
        parts = rounded(name, source, grid_of(self.name, self.group), self.rounding, self.threads)
        return self._layer(parts, source.shape)

    def _layer(self, parts: Iterable[GroupedWeight], shape: tuple[int, int]) -> nn.Module:
        if self.compiled:
            from agent_eval.spark_backend.kernels.linear import PackedLinear

            return PackedLinear.grouped(parts, shape, self.name.activation, self.group, self.name.symmetric)
        product = Int8Product(parts, shape) if self.name.bits == 8 else Int4Product(parts, shape)
        return FewBitsLinear(product, self.name.activation)

    def _require_same(self, name: str, source: GroupedSource) -> None:
        found = (source.bits, source.group, source.symmetric)
        if found != (self.name.bits, self.group, self.name.symmetric):
            form = "symmetric" if source.symmetric else "asymmetric"
            raise CheckpointError(
                f"{name} is in {source.bits} bits, {form}, groups of {source.group}; expected what {self.name} with "
                f"groups of {self.group} has",
                hint="a quantised folder decides its weights: name the build that fits them",
            )


def _read(source: GroupedSource) -> Iterator[GroupedWeight]:
    rows, width = source.shape
    for start, end in chunks(rows, max(_ROWS_OF_A_BLOCK, _READ // width // _ROWS_OF_A_BLOCK * _ROWS_OF_A_BLOCK)):
        yield source.grouped(start, end)
