"""How vLLM computes a layer with weights of few bits: read as the folder has them, then packed for this machine's CPU.

While vLLM loads, a layer has the tensors of its format as parameters, so that vLLM's own loaders stack and shard them.
Then they are packed, by what packs them for the torch engine (``quant/grouped.py``), and given up. The product and the
look-up of rows are operators that compilers do not look into. Knows no section of ``config.json``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, cast
from weakref import WeakValueDictionary

import torch
import torch.nn.functional as F  # noqa: N812  the field's name for it
from torch import Tensor, nn
from vllm.model_executor.layers.linear import LinearMethodBase, register_weight_loader_v2_supported_method
from vllm.model_executor.layers.vocab_parallel_embedding import VocabParallelEmbedding
from vllm.model_executor.parameter import GroupQuantScaleParameter, PackedvLLMParameter

from agent_eval.spark_backend.kernels import library
from agent_eval.spark_backend.kernels.linear import PackedLinear
from agent_eval.spark_backend.quant.dense import has_bf16_units
from agent_eval.spark_backend.quant.formats import Format
from agent_eval.spark_backend.quant.grouped import FewBitsLinear, Grouped
from agent_eval.spark_backend.quant.name import ActivationBits, GroupedName
from agent_eval.spark_backend.quant.rows import chunks

Layout = Literal["blocks", "tinygemm"]
"""How weights lie: in the blocks of the compiled kernels, or in those of torch's ``_weight_int4pack_mm_for_cpu``."""

WIDENED = 2**22
"""Weights that are widened at a time: 8 MiB in bfloat16.

One thread of AMD Zen 5, 1,024 rows by 2048 x 13312 and 6656 x 2048: 132 and 70 ms with 2^20 of them, 130 and 66 with
2^22, 149 and 65 with 2^25.
"""


@dataclass(frozen=True)
class Form:
    """What all layers of a model have in common."""

    format: Format
    """How the folder has them."""
    activation: ActivationBits
    layout: Layout
    dequant_threshold: int
    """From so many rows of 16-bit activations on, weights are widened and torch multiplies."""


class TwoPathLinear(nn.Module):
    """One packed weight and two ways to multiply by it: as it lies, or widened, some rows of it at a time.

    Args:
        packed: Multiplies by the weight as it lies.
        shape: (N, K).
        form: Says when the weight is widened; with 8-bit activations, never.
    """

    def __init__(self, packed: nn.Module, shape: tuple[int, int], form: Form) -> None:
        super().__init__()
        assert isinstance(packed, PackedLinear | FewBitsLinear)
        self.packed = packed
        self.shape = shape
        self.form = form
        self._wide = torch.bfloat16 if has_bf16_units() else torch.float32

    @property
    def kernel(self) -> str:
        """Which kernels serve: a phrase for the record."""
        own = self.packed.kernel if isinstance(self.packed, PackedLinear) else "torch's packed 4-bit kernel"
        if self.form.activation == 8:
            return own if isinstance(self.packed, PackedLinear) else f"{own}, activations rounded to 8 bits before it"
        wide = str(self._wide).removeprefix("torch.")
        return f"{own}; from {self.form.dequant_threshold} rows on torch {wide} linear over widened weights"

    def forward(self, x: Tensor) -> Tensor:
        """Map (R, K) bfloat16 to (R, N): float32, or bfloat16 where the kernel has no more."""
        if self.form.activation == 16 and len(x) >= self.form.dequant_threshold:
            return self.by_widening(x)
        return self.by_packed(x)

    def by_packed(self, x: Tensor) -> Tensor:
        """Multiply by the weight as it lies."""
        return self.packed(x)  # type: ignore[no-any-return]

    def by_widening(self, x: Tensor) -> Tensor:
        """Multiply by the values that the codes stand for, rounded to bfloat16; the accumulators are float32."""
        channels, width = self.shape
        inputs, out = x.to(self._wide), x.new_empty(len(x), channels)
        for start, end in chunks(channels, max(library.ROWS, WIDENED // width // library.ROWS * library.ROWS)):
            if isinstance(self.packed, PackedLinear):
                weight = self.packed.widened(start, end, torch.bfloat16).to(self._wide)
            else:
                weight = self.packed.rows(torch.arange(start, end)).to(self._wide)
            out[:, start:end] = F.linear(inputs, weight)
        return out

    def rows(self, ids: Tensor) -> Tensor:
        """Return the rows of the weight that ids (...) name, as values: (..., K) bfloat16."""
        return self.packed.rows(ids)


_LAYERS: WeakValueDictionary[int, TwoPathLinear] = WeakValueDictionary()
"""From where the codes of a layer lie to the layer. An operator gets tensors; an address, unlike a name or a number of
ours, is as unique in a process with several engines, and in what was compiled by another process, as it must be."""


@torch.library.custom_op("agent_eval::few_bits_linear", mutates_args=())
def few_bits_linear(x: Tensor, codes: Tensor, channels: int, exact: bool) -> Tensor:
    """Multiply by a weight of few bits.

    Args:
        x: (..., K) bfloat16.
        codes: The tensor by which the layer is known.
        channels: N.
        exact: Give float32 instead of the type of ``x``.

    Returns:
        (..., N).
    """
    out: Tensor = _LAYERS[codes.data_ptr()](x.reshape(-1, x.shape[-1]))
    return out.to(torch.float32 if exact else x.dtype).view(*x.shape[:-1], channels)


@few_bits_linear.register_fake
def _(x: Tensor, codes: Tensor, channels: int, exact: bool) -> Tensor:  # noqa: ARG001  as the operator has it
    return x.new_empty(*x.shape[:-1], channels, dtype=torch.float32 if exact else x.dtype)


@torch.library.custom_op("agent_eval::few_bits_rows", mutates_args=())
def few_bits_rows(ids: Tensor, codes: Tensor, width: int) -> Tensor:
    """Return rows of a weight of few bits: (..., width) bfloat16 for ids (...).

    Args:
        ids: Which rows.
        codes: The tensor by which the layer is known.
        width: K.
    """
    return _LAYERS[codes.data_ptr()].rows(ids).view(*ids.shape, width)


@few_bits_rows.register_fake
def _(ids: Tensor, codes: Tensor, width: int) -> Tensor:
    return codes.new_empty(*ids.shape, width, dtype=torch.bfloat16)


@register_weight_loader_v2_supported_method
class FewBitsMethod(LinearMethodBase):  # type: ignore[misc]
    """What vLLM asks about a linear layer, a head or an embedding table with weights of few bits."""

    def __init__(self, form: Form) -> None:
        self.form = form

    def create_weights(
        self,
        layer: nn.Module,
        input_size_per_partition: int,
        output_partition_sizes: list[int],
        input_size: int,  # noqa: ARG002  vLLM passes these by name
        output_size: int,  # noqa: ARG002
        params_dtype: torch.dtype,  # noqa: ARG002  scales are bfloat16 in every format
        **extra: Any,
    ) -> None:
        """Give the layer the tensors of the format as parameters."""
        form, shape = self.form.format, (sum(output_partition_sizes), input_size_per_partition)
        loader = extra["weight_loader"]
        if isinstance(layer, VocabParallelEmbedding):
            loader = _vocabulary_loader(layer)
        out = form.rows_axis
        for suffix, planned in form.layout(*shape).items():
            if len(planned.shape) == 1:
                continue  # the order of columns: their own (``Format.check``), and vLLM does not pass it on
            data = torch.empty(planned.shape, dtype=planned.dtype)
            axes = {"data": data, "output_dim": out, "input_dim": 1 - out, "weight_loader": loader}
            packed = next((axis for axis in (0, 1) if planned.shape[axis] < _unpacked(form, suffix, shape)[axis]), None)
            if packed is None:
                parameter = GroupQuantScaleParameter(**axes)
            else:
                factor = _unpacked(form, suffix, shape)[packed] // planned.shape[packed]
                parameter = PackedvLLMParameter(**axes, packed_dim=packed, packed_factor=factor)
            layer.register_parameter(suffix, parameter)
        layer.few_bits_shape = shape  # type: ignore[assignment]  # no tensor says it once they are packed

    def process_weights_after_loading(self, layer: nn.Module) -> None:
        """Pack what was loaded, and give it up."""
        form, shape = self.form, layer.few_bits_shape
        assert isinstance(shape, tuple)
        loaded = {}
        for suffix in form.format.layout(*shape):
            parameter = layer._parameters.pop(suffix, None)
            if parameter is not None:
                loaded[suffix] = parameter.data
        compiled = form.layout == "blocks"
        if compiled:
            library.load().set_threads(torch.get_num_threads())  # where nobody else does
        scheme = Grouped(
            GroupedName(4, form.activation, form.format.symmetric),
            form.format.group,
            compiled,
            quantised_folder=True,
        )
        packed = scheme.linear(str(getattr(layer, "prefix", "")), form.format.source(loaded))
        few_bits = TwoPathLinear(packed, shape, form)
        codes = next(few_bits.buffers())
        layer.few_bits, layer.few_bits_codes = few_bits, codes
        _LAYERS[codes.data_ptr()] = few_bits

    def apply(self, layer: nn.Module, x: Tensor, bias: Tensor | None = None) -> Tensor:
        """Map (..., K) to (..., N): of the activations' type, or float32 for the scores of a head.

        The kernels have them in float32, and the sampler wants them so. Rounded to bfloat16, the two best would often
        be equal.
        """
        exact = isinstance(layer, VocabParallelEmbedding)
        channels, codes = cast("tuple[int, int]", layer.few_bits_shape)[0], cast("Tensor", layer.few_bits_codes)
        out: Tensor = few_bits_linear(x, codes, channels, exact)
        return out if bias is None else out + bias

    def embedding(self, layer: nn.Module, ids: Tensor) -> Tensor:
        """Map ids (...) to rows of the table: (..., K)."""
        width, codes = cast("tuple[int, int]", layer.few_bits_shape)[1], cast("Tensor", layer.few_bits_codes)
        found: Tensor = few_bits_rows(ids, codes, width)
        return found


def _unpacked(form: Format, suffix: str, shape: tuple[int, int]) -> tuple[int, int]:
    """Return the shape that a tensor of a format would have with one number in each place."""
    rows, width = shape
    columns = width if suffix == form.main else width // form.group
    return (rows, columns) if form.rows_axis == 0 else (columns, rows)


def _vocabulary_loader(layer: VocabParallelEmbedding) -> Callable[[nn.Parameter, Tensor], None]:
    """Return what loads a table or a head, whose rows vLLM makes more of than there are.

    vLLM's own loader takes the first dimension to be that of the rows, which is not so in GPTQ and AWQ folders.
    """
    shard = layer.shard_indices
    first, last = shard.org_vocab_start_index, shard.org_vocab_end_index

    def load(parameter: Any, loaded: Tensor) -> None:
        axis = parameter.output_dim
        rows_to_a_word = parameter.packed_factor if getattr(parameter, "packed_dim", None) == axis else 1
        cut = loaded.narrow(axis, first // rows_to_a_word, (last - first) // rows_to_a_word)
        parameter.data.zero_()  # a row without a scale is nothing but zeros
        parameter.data.narrow(axis, 0, cut.shape[axis]).copy_(cut)

    return load
