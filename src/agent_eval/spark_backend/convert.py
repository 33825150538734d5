"""A checkpoint to a quantised checkpoint folder in a public format, matrix by matrix. Knows no command line.

Never more than one matrix of the result is in memory; the checkpoint stays in its mapped files. With GPTQ one layer and
the hidden states of the calibration are there too.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import torch
from torch import Tensor, nn

from agent_eval.errors import CheckpointError, OperatorError, UnknownName
from agent_eval.spark_backend.builds import compiled_kernels, group_of
from agent_eval.spark_backend.calibration import Calibration, Readings
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.folder import CONFIG_NAME, TEMPLATE_NAME, TOKENIZER_NAME, read_json
from agent_eval.spark_backend.checkpoints.loader import Card, open_weights, read_card
from agent_eval.spark_backend.checkpoints.tensor_file import Planned
from agent_eval.spark_backend.checkpoints.writer import SHARD_BYTES, describe_checkpoint, write_weights
from agent_eval.spark_backend.model import CheckpointWeights
from agent_eval.spark_backend.quant.formats import Awq, CpuInt4, Format, Gptq, QuantisedWeights
from agent_eval.spark_backend.quant.gptq import Hessian, gptq
from agent_eval.spark_backend.quant.grouped import Grouped, grid_of
from agent_eval.spark_backend.quant.groups import GroupedWeight
from agent_eval.spark_backend.quant.name import BuildName, GroupedName
from agent_eval.spark_backend.quant.rounding import Rounding, round_groups, rounded
from agent_eval.spark_backend.quant.rows import RowSource, StackedGroups, StackedRows, WholeGroups

REPORT_NAME = "quantization_report.json"
GENERATION_NAME = "generation_config.json"

Method = Literal["rtn", "search", "gptq"]
METHODS: tuple[Method, ...] = get_args(Method)

_EMBEDDING, _HEAD = "model.embedding", "lm_head"


@dataclass(frozen=True)
class Conversion:
    """What a folder is to become."""

    name: GroupedName
    method: Method = "search"
    keep_embedding: bool = False
    """Leave the embedding table in bfloat16 where the format could quantise it; the head gets codes of its own."""
    keep_head: bool = False
    """Leave the head in bfloat16: the head trap, for those who want to see what it costs."""


@dataclass(frozen=True)
class TensorReport:
    """What became of one tensor."""

    name: str
    shape: tuple[int, ...]
    bits: float
    """Per weight, scales and zeros included."""
    method: str = ""
    """Empty where the tensor is not quantised."""
    snr_db: float | None = None
    """Of the weights."""
    output_snr_db: float | None = None
    """Of what the matrix makes of the calibration's inputs; with GPTQ only."""


@dataclass(frozen=True)
class ConversionReport:
    """What a conversion did."""

    folder: Path
    format: str
    build: str
    group: int
    method: Method
    calibration: str
    quantised: tuple[TensorReport, ...]
    kept: tuple[TensorReport, ...]
    size_bytes: int
    head_trap: bool

    @property
    def worst(self) -> TensorReport:
        """The matrix whose weights have the lowest signal-to-noise ratio."""
        return min(self.quantised, key=lambda tensor: tensor.snr_db or 0.0)

    @property
    def bits_per_weight(self) -> float:
        """Of the quantised matrices."""
        weights = [math.prod(tensor.shape) for tensor in self.quantised]
        return sum(t.bits * n for t, n in zip(self.quantised, weights, strict=True)) / sum(weights)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``quantization_report.json`` holds."""

        def shown(tensor: TensorReport) -> dict[str, Any]:
            found: dict[str, Any] = {"name": tensor.name, "shape": list(tensor.shape), "bits": round(tensor.bits, 4)}
            if tensor.method:
                found["method"] = tensor.method
            for name in ("snr_db", "output_snr_db"):
                value = getattr(tensor, name)
                if value is not None:
                    found[name] = round(value, 2)
            return found

        return {
            "build": self.build,
            "format": self.format,
            "group_size": self.group,
            "method": self.method,
            "calibration": self.calibration,
            "weight_bytes": self.size_bytes,
            "bits_per_quantised_weight": round(self.bits_per_weight, 4),
            "head_trap": self.head_trap,
            "quantised": [shown(tensor) for tensor in self.quantised],
            "not_quantised": [shown(tensor) for tensor in self.kept],
        }


def conversion_of(
    name: BuildName, *, group: int | None, method: str, keep_embedding: bool = False, keep_head: bool = False
) -> Conversion:
    """Check what is asked for.

    Args:
        name: The build.
        group: Weights to a scale, if asked for beside the name.
        method: One of ``METHODS``.
        keep_embedding: See ``Conversion``.
        keep_head: See ``Conversion``.

    Raises:
        OperatorError: there is no folder format for it.
        UnknownName: there is no such method.
    """
    if method not in METHODS:
        raise UnknownName("method", method, METHODS)
    if not isinstance(name, GroupedName) or name.bits != 4:
        raise OperatorError(
            f"the build {name} has no public folder format; expected w4a16 or w4a8, with -sym, -asym or -g as needed",
            hint="other builds are made from the checkpoint whenever they are run",
        )
    if group is not None:
        if name.group not in (None, group):
            raise OperatorError(f"the build {name} has groups of {name.group}, asked for {group}", hint="say it once")
        name = GroupedName(name.bits, name.activation, name.symmetric, group)
    return Conversion(name, method, keep_embedding, keep_head)


class Places(NamedTuple):
    """What becomes of the two ends of the model."""

    embedding: bool
    """The table is quantised."""
    head: bool
    """The head is quantised, on its own or as the table."""
    tied: bool
    """In the folder, the head is the table."""


def places_of(conversion: Conversion, config: SparkConfig) -> Places:
    """Return what becomes of embedding and head: of the formats, only ``cpu_int4`` quantises the table."""
    free_zero = not conversion.name.symmetric and conversion.name.activation == 16
    table = free_zero and not conversion.keep_embedding
    if not config.tie_word_embeddings:
        return Places(table, not conversion.keep_head, tied=False)
    if conversion.keep_head:
        return Places(embedding=False, head=False, tied=True)
    return Places(table, head=True, tied=table)


def format_of(conversion: Conversion, config: SparkConfig, group: int) -> Format:
    """Return the format that a build is written in.

    Symmetric: GPTQ. Asymmetric: AWQ for 8-bit activations, whose kernels want whole zero points; ``cpu_int4`` else.
    """
    if conversion.name.symmetric:
        return Gptq(group, lm_head=not conversion.keep_head)
    ignore = tuple(f"model.layers.{i}.self_attn.g_proj" for i in range(config.num_hidden_layers))
    if conversion.keep_head:
        ignore = (*ignore, _HEAD)
    if conversion.name.activation == 8:
        return Awq(group, ignore, lm_head=not conversion.keep_head)
    return CpuInt4(group, ignore, quantize_embedding=places_of(conversion, config).embedding)


def convert(
    folder: Path,
    out: Path,
    conversion: Conversion,
    *,
    calibration: Calibration | None = None,
    threads: int = 1,
    shard_bytes: int = SHARD_BYTES,
    tell: Callable[[str], None] | None = None,
) -> ConversionReport:
    """Write a quantised folder.

    Args:
        folder: The checkpoint, not quantised.
        out: The folder to write; files of the same names are replaced.
        conversion: What to make.
        calibration: What GPTQ reads; needed with it, unused otherwise.
        threads: Threads that may compute.
        shard_bytes: Most bytes of one weight file.
        tell: Gets a line now and then.

    Raises:
        CheckpointError: the folder cannot be loaded, is quantised already, or its shapes do not suit the format.
        OperatorError: the calibration is missing or no use, or the folder cannot be written.
    """
    config = SparkConfig.from_folder(folder)
    weights = open_weights(folder, config)
    if isinstance(weights, QuantisedWeights):
        raise CheckpointError(
            f"{folder} is quantised already ({weights.found.method})",
            hint="convert the checkpoint that it was made from",
        )
    if conversion.method == "gptq" and calibration is None:
        raise OperatorError(
            "GPTQ needs texts to read",
            hint="add --calibration with a file, or `--calibration trajectories`",
        )
    group = group_of(config, conversion.name.group)
    layout = format_of(conversion, config, group)
    maker = _Maker(config, weights, conversion, group, layout, calibration, threads, tell)
    maker.require_room()
    kernels = compiled_kernels()
    if kernels is not None:
        kernels.set_threads(threads)
    torch.set_num_threads(threads if conversion.method == "gptq" else 1)
    with torch.no_grad():
        write_weights(out, maker.plan(), maker.parts, shard_bytes=shard_bytes, tell=tell)
    torch.set_num_threads(threads)
    report = maker.report(out)
    _write_beside(folder, out, config, conversion, layout, report)
    return report


def _write_beside(
    folder: Path, out: Path, config: SparkConfig, conversion: Conversion, layout: Format, report: ConversionReport
) -> None:
    """Write the report, what the tokenizer and the template are, and last the config."""
    section = layout.section()
    tied = places_of(conversion, config).tied
    card = read_card(folder)
    details = {**card.details, "quantised": {"build": report.build, "format": report.format, "method": report.method}}
    try:
        (out / REPORT_NAME).write_text(json.dumps(report.to_dict(), indent=1) + "\n", encoding="utf-8")
        if (folder / GENERATION_NAME).exists():
            (out / GENERATION_NAME).write_bytes((folder / GENERATION_NAME).read_bytes())
        tokenizer = (folder / TOKENIZER_NAME).read_text(encoding="utf-8")
        template = (folder / TEMPLATE_NAME).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise OperatorError(
            f"{out} cannot be completed: {error}", hint="the source folder needs its tokenizer and chat template"
        ) from None
    described = {**read_json(folder / CONFIG_NAME), "tie_word_embeddings": tied, "quantization_config": section}
    described.pop("auto_map", None)  # the remote code that it names does not come along
    describe_checkpoint(
        out,
        described,
        tokenizer_json=tokenizer,
        chat_template=template,
        card=Card(f"{card.name} {report.build}", card.kind, details),
    )


@dataclass(frozen=True)
class _Matrix:
    """A matrix that is quantised."""

    base: str
    """Its name in the folder, without suffix."""
    layer: str
    """The layer whose inputs it gets, as a scheme is asked for it."""
    source: RowSource


class _Maker:
    """Makes the tensors of the folder in the order in which they lie."""

    def __init__(
        self,
        config: SparkConfig,
        weights: CheckpointWeights,
        conversion: Conversion,
        group: int,
        layout: Format,
        calibration: Calibration | None,
        threads: int,
        tell: Callable[[str], None] | None,
    ) -> None:
        self._config, self._weights, self._layout, self._group = config, weights, layout, group
        self._conversion, self._threads, self._tell = conversion, threads, tell
        self._grid = grid_of(conversion.name, group)
        self._plain: Rounding = "rtn" if conversion.method == "rtn" else "search"
        self._kept: dict[str, Tensor] = {}
        self._matrices: dict[str, _Matrix] = {}
        self._sort()
        self._reports: dict[str, TensorReport] = {}
        self._current: tuple[str, dict[str, Tensor]] = ("", {})
        self._course = self._open_course(calibration) if conversion.method == "gptq" and calibration else None
        self._calibration = (
            ""
            if self._course is None or calibration is None
            else (f"{calibration.origin}: {len(calibration.sequences)} sequences, {calibration.tokens} tokens")
        )

    def _sort(self) -> None:
        """Decide what is quantised, and as what."""
        places = places_of(self._conversion, self._config)
        for name in self._config.tensor_shapes():
            tensor, base = self._weights[name], name.removesuffix(".weight")
            last = base.rpartition(".")[2]
            left = {_EMBEDDING: not places.embedding, _HEAD: not places.head}.get(base, last == "g_proj")
            if left or tensor.dim() == 1:
                self._kept[name] = tensor
            elif last in ("gate_proj", "up_proj"):
                self._add(base, base.replace(last, "gate_up_proj"), tensor)
            elif last == "q_k_v_proj" and not self._layout.fused:
                widths = (self._config.query_width, self._config.key_width, self._config.key_width)
                for part, rows in zip(("q_proj", "k_proj", "v_proj"), torch.split(tensor, list(widths)), strict=True):
                    self._add(base.replace(last, part), base, rows)
            else:
                self._add(base, base, tensor)
        if self._config.tie_word_embeddings and places.head and not places.tied:
            self._add(_HEAD, _HEAD, self._weights[_EMBEDDING + ".weight"])

    def _add(self, base: str, layer: str, tensor: Tensor) -> None:
        self._matrices[base] = _Matrix(base, layer, StackedRows([tensor]))

    def require_room(self) -> None:
        """Refuse matrices that the format has no room for.

        Raises:
            CheckpointError: names the first.
        """
        for base, matrix in self._matrices.items():
            if matrix.source.shape[0] % self._layout.rows_to_a_word:
                raise CheckpointError(
                    f"{base} has {matrix.source.shape[0]} rows, expected a multiple of {self._layout.rows_to_a_word}: "
                    f"{self._layout.method} puts so many to a word",
                    hint="write it as w4a16, which has no such words",
                )

    def plan(self) -> dict[str, Planned]:
        """Return every tensor of the folder."""
        plan: dict[str, Planned] = {}
        for name, tensor in self._kept.items():
            dtype = torch.bfloat16 if tensor.dim() == 2 else tensor.dtype
            plan[name] = Planned(dtype, tuple(tensor.shape))
        for base, matrix in self._matrices.items():
            for suffix, planned in self._layout.layout(*matrix.source.shape).items():
                plan[f"{base}.{suffix}"] = planned
        return plan

    def parts(self, name: str) -> Iterable[Tensor]:
        """Return a tensor of the plan; its names come in the plan's order."""
        if name in self._kept:
            tensor = self._kept[name]
            return [tensor.bfloat16() if tensor.dim() == 2 else tensor]
        base, _, suffix = name.rpartition(".")
        if self._current[0] != base:
            self._current = ("", {})  # the one before goes first
            self._current = (base, self._make(self._matrices[base]))
        return [self._current[1][suffix]]

    def _make(self, matrix: _Matrix) -> dict[str, Tensor]:
        rows, width = matrix.source.shape
        axis = self._layout.rows_axis
        found = {suffix: torch.empty(p.shape, dtype=p.dtype) for suffix, p in self._layout.layout(rows, width).items()}
        hessian = self._course.hessian(matrix.layer) if self._course else None
        method = "gptq" if hessian is not None else self._plain
        measure = _Measure(None if hessian is None else hessian.sum)
        at, keep = 0, []
        for part in self._quantised(matrix, hessian):
            measure.add(matrix.source.rows(at, at + len(part.codes)), part)
            for suffix, tensor in self._layout.tensors(part).items():
                target = found[suffix]
                if target.dim() == 1:  # g_idx, the same for every row
                    target.copy_(tensor)
                    continue
                ratio = rows // target.shape[axis]
                target.narrow(axis, at // ratio, tensor.shape[axis]).copy_(tensor)
            at += len(part.codes)
            if self._course:
                keep.append(part)
        if self._course:
            self._course.keep(matrix.layer, keep)
        bits = 8 * sum(tensor.nbytes for tensor in found.values()) / (rows * width)
        report = TensorReport(matrix.base, (rows, width), bits, method, measure.snr_db(), measure.output_snr_db())
        self._reports[matrix.base] = report
        if self._tell is None:
            return found
        said = f", of outputs {report.output_snr_db:.1f} dB" if report.output_snr_db is not None else ""
        self._tell(f"{matrix.base}: {rows} x {width}, {method}, {report.snr_db:.1f} dB{said}")
        return found

    def _quantised(self, matrix: _Matrix, hessian: Hessian | None) -> Iterator[GroupedWeight]:
        if hessian is None:
            return rounded(matrix.base, matrix.source, self._grid, self._plain, self._threads)
        assert self._course is not None
        return gptq(matrix.source, self._course.factor(matrix.layer), self._grid)

    def _open_course(self, calibration: Calibration) -> _Course:
        table = self._weights[_EMBEDDING + ".weight"]

        def embed(ids: Tensor) -> Tensor:
            rows = table[ids].bfloat16()
            if _EMBEDDING in self._matrices:
                rows = round_groups(rows, self._grid, self._plain).dequantised().bfloat16()
            return rows

        compiled = compiled_kernels() is not None
        readings = Readings(self._config, self._weights, calibration, embed, compiled=compiled)
        scheme = Grouped(self._conversion.name, self._group, compiled, quantised_folder=True)
        return _Course(readings, scheme)

    def report(self, out: Path) -> ConversionReport:
        """Return what was done."""
        plan = self.plan()
        kept = [
            TensorReport(name.removesuffix(".weight"), tuple(tensor.shape), 8 * plan[name].dtype.itemsize)
            for name, tensor in self._kept.items()
        ]
        return ConversionReport(
            folder=out,
            format=self._layout.method,
            build=str(self._conversion.name),
            group=self._group,
            method=self._conversion.method,
            calibration=self._calibration,
            quantised=tuple(self._reports.values()),
            kept=tuple(kept),
            size_bytes=sum(planned.nbytes for planned in plan.values()),
            head_trap=self._conversion.keep_head,
        )


class _Course:
    """GPTQ's way through the model: one layer's Hessians at a time, then the sequences through that layer quantised."""

    def __init__(self, readings: Readings, scheme: Grouped) -> None:
        self._readings, self._scheme = readings, scheme
        self._index = -1
        self._hessians: dict[str, Hessian] = {}
        self._factor: tuple[str, Tensor] = ("", torch.empty(0))
        self._made: dict[str, list[GroupedWeight]] = {}

    def hessian(self, layer: str) -> Hessian | None:
        """Return the Hessian of a layer's inputs; None for the embedding, which has ids for inputs.

        A table that is shared with the head is rounded plainly: what the head is given depends on it.
        """
        if layer == _EMBEDDING:
            return None
        if layer not in self._hessians:
            self._go_on(layer)
        return self._hessians[layer]

    def factor(self, layer: str) -> Tensor:
        """Return the factor of a layer's Hessian, which the matrices of the layer share."""
        if self._factor[0] != layer:
            self._factor = ("", torch.empty(0))
            self._factor = (layer, self._hessians[layer].factor())
        return self._factor[1]

    def keep(self, layer: str, parts: list[GroupedWeight]) -> None:
        """Take note of quantised rows of a layer."""
        if layer not in (_EMBEDDING, _HEAD):
            self._made.setdefault(layer, []).extend(parts)

    def _go_on(self, layer: str) -> None:
        if self._index >= 0:
            self._readings.advance(self._index, _Given(self._scheme, self._made))
        self._made, self._hessians, self._factor = {}, {}, ("", torch.empty(0))
        if layer == _HEAD:
            self._hessians = {_HEAD: self._readings.inputs_of_head()}
            return
        self._index += 1
        self._hessians = self._readings.inputs_of(self._index)
        assert layer in self._hessians, f"matrices come in the order of the layers: {layer}"


class _Given:
    """A scheme whose layers have the codes that were made for them."""

    def __init__(self, scheme: Grouped, made: Mapping[str, list[GroupedWeight]]) -> None:
        self.activation = scheme.activation
        self._scheme, self._made = scheme, made

    def linear(self, name: str, source: RowSource) -> nn.Module:  # noqa: ARG002  the rows are replaced
        return self._scheme.linear(name, StackedGroups([WholeGroups(part) for part in self._made[name]]))


class _Measure:
    """Signal and noise of a matrix, chunk by chunk."""

    def __init__(self, hessian: Tensor | None) -> None:
        self._hessian = hessian
        self._signal = self._noise = self._output_signal = self._output_noise = 0.0

    def add(self, rows: Tensor, part: GroupedWeight) -> None:
        """Take in some rows and what became of them."""
        exact = rows.float()
        missed = part.dequantised().sub_(exact)
        self._signal += float(exact.square().sum())
        self._noise += float(missed.square().sum())
        if self._hessian is not None:  # |W x|^2 over the tokens is the trace of W H W^T
            self._output_signal += float((exact @ self._hessian).mul_(exact).sum())
            self._output_noise += float((missed @ self._hessian).mul_(missed).sum())

    def snr_db(self) -> float:
        return _decibels(self._signal, self._noise)

    def output_snr_db(self) -> float | None:
        return None if self._hessian is None else _decibels(self._output_signal, self._output_noise)


def _decibels(signal: float, noise: float) -> float:
    return 10 * math.log10(max(signal, 1e-30) / max(noise, 1e-30))
