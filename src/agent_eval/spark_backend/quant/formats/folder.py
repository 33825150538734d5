"""A quantised checkpoint folder: which format it is, every tensor checked, its matrices as sources. Knows no kernels.

Other tools name things differently: ``model.embed_tokens`` for ``model.embedding``, ``q_proj``, ``k_proj`` and
``v_proj`` for the fused ``q_k_v_proj``, ``g_weight`` for ``g_proj.weight``. All of these are read. Everything is
checked before memory is taken: shapes and types from the files' headers, then scales, zeros and orders from the mapped
files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from agent_eval.errors import CheckpointError
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.folder import CONFIG_NAME, read_json
from agent_eval.spark_backend.checkpoints.loader import locate_tensors, release_files
from agent_eval.spark_backend.checkpoints.tensor_file import DTYPES, TensorFile
from agent_eval.spark_backend.description import BFLOAT16, Stored, grouped
from agent_eval.spark_backend.quant.formats.awq import Awq
from agent_eval.spark_backend.quant.formats.cpu_int4 import CpuInt4
from agent_eval.spark_backend.quant.formats.format import BITS, FLOATS, Format
from agent_eval.spark_backend.quant.formats.gptq import Gptq
from agent_eval.spark_backend.quant.name import BuildName, GroupedName
from agent_eval.spark_backend.quant.rows import (
    ROWS_AT_ONCE,
    GroupedSource,
    RowSource,
    StackedGroups,
    StackedRows,
    chunks,
)

READERS: dict[str, Callable[[Mapping[str, Any]], Format]] = {
    "awq": Awq.read,
    "cpu_int4": CpuInt4.read,
    "gptq": Gptq.read,
}
"""From ``quant_method`` to what reads the section."""

EMBEDDING, HEAD = "model.embedding.weight", "lm_head.weight"

_SUFFIXES = {"qweight", "qzeros", "scales", "g_idx", "weight_packed", "weight_scale", "weight_zero"}
_OPTIONAL = {"g_idx"}  # without it, columns are in groups in their order
_WITHOUT_USE = (".rotary_emb.inv_freq",)  # computed from the config; old exporters store it
_ROWS_CHECKED_AT_ONCE = 4096


@dataclass(frozen=True)
class Found:
    """What a quantised folder turned out to be."""

    method: str
    group: int
    symmetric: bool
    head: Stored
    embedding: Stored
    remarks: tuple[str, ...]

    @property
    def origin(self) -> str:
        """Say where the codes come from."""
        return f"codes of the {self.method} folder"

    @property
    def fitting(self) -> list[str]:
        """The builds that this folder can be run as."""
        return [str(GroupedName(BITS, bits, self.symmetric)) for bits in (8, 16)]


def open_quantised(folder: Path, config: SparkConfig) -> QuantisedWeights:
    """Open a folder whose ``config.json`` has a ``quantization_config``.

    Raises:
        CheckpointError: the format is not known, or the folder is not what it says.
    """
    section = read_json(folder / CONFIG_NAME).get("quantization_config")
    method = section.get("quant_method") if isinstance(section, dict) else None
    if not isinstance(section, dict) or method not in READERS:
        raise CheckpointError(
            f"{folder / CONFIG_NAME}: quantization_config.quant_method is {method!r}, expected one of: "
            f"{', '.join(READERS)}",
            hint="pass the checkpoint in bfloat16 and quantise it with `agent-eval build`",
        )
    return QuantisedWeights(locate_tensors(folder), config, READERS[method](section))


class QuantisedWeights(Mapping[str, Tensor]):
    """The weights of a quantised folder, under the names of a checkpoint.

    Args:
        where: Every tensor of the folder and its file.
        config: The architecture.
        layout: How its matrices are stored.

    Raises:
        CheckpointError: on construction, if a tensor is missing, of another shape, too many, or holds what cannot be.
    """

    def __init__(self, where: Mapping[str, TensorFile], config: SparkConfig, layout: Format) -> None:
        self._where, self._config, self._layout = where, config, layout
        self._place = next((file.path.parent for file in where.values()), Path())
        self._names = tuple(config.tensor_shapes())
        self._refuse_other_formats()
        self._parts = {name: self._locate(name, shape) for name, shape in config.tensor_shapes().items()}
        self._head = self._locate_head()
        self.config = replace(config, tie_word_embeddings=self._head is self._parts[EMBEDDING])
        """The architecture as the tensors have it: some folders have a head of its own and say that it is the table."""
        for i in range(config.num_hidden_layers):  # these two are one product
            at = f"model.layers.{i}.mlp."
            self._require_alike([*self._parts[at + "gate_proj.weight"], *self._parts[at + "up_proj.weight"]])
        self._require_nothing_else()
        for part in self._all_parts():
            if part.quantised:
                self._check_shapes(part)
        for part in self._all_parts():  # cheap before dear: these read the files
            if part.quantised:
                self._check_values(part)
        self.found = self._describe()

    def __getitem__(self, name: str) -> Tensor:
        """Return a whole tensor; a quantised one as the values that its codes stand for, in bfloat16."""
        parts = self._of(name)
        if parts[0].quantised:
            return _widened(self._grouped(parts))
        tensors = [self._plain(part) for part in parts]
        return tensors[0] if len(tensors) == 1 else torch.cat(tensors)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def source(self, *names: str) -> RowSource:
        """Return matrices of one width, one above the other; a ``GroupedSource`` where they are quantised."""
        parts = [part for name in names for part in self._of(name)]
        if all(part.quantised for part in parts):
            return self._grouped(parts)
        return StackedRows([self._plain(part) for part in parts])

    def release(self, held: Iterable[Tensor]) -> None:
        """Let go of the pages of the files that were read; those of the tensors in ``held`` stay."""
        release_files(self._where.values(), held)

    def require(self, name: BuildName) -> int:
        """Return the group size if a build fits the folder.

        Raises:
            CheckpointError: it does not; names those that do.
        """
        found = self.found
        form = "symmetric" if found.symmetric else "asymmetric"
        wants = (BITS, found.symmetric)
        fits = isinstance(name, GroupedName) and (name.bits, name.symmetric) == wants
        if not fits or (isinstance(name, GroupedName) and name.group not in (None, found.group)):
            raise CheckpointError(
                f"{self._place} holds weights of {BITS} bits, {form}, in groups of {found.group} ({found.method}); "
                f"the build {name} is another",
                hint=f"run it as {' or '.join(found.fitting)}",
            )
        return found.group

    # finding ----------------------------------------------------------------------------------------------------------

    def _of(self, name: str) -> list[_Part]:
        return self._head if name == HEAD else self._parts[name]

    def _locate(self, name: str, shape: tuple[int, ...]) -> list[_Part]:
        if name == HEAD:
            return []  # looked for on its own
        spellings = list(_spellings(name, shape, self._config))
        for parts in spellings:
            present = [self._part(base, rows, shape) for base, rows in parts]
            complete = [part for part in present if part is not None]
            if len(complete) == len(present):
                self._require_alike(complete)
                return complete
        raise CheckpointError(
            f"tensor {name} is missing, quantised or not; expected shape {list(shape)}",
            hint="download every weight file; config.json and the weights must be of one checkpoint",
        )

    def _locate_head(self) -> list[_Part]:
        shape = (self._config.vocab_size, self._config.hidden_size)
        own = self._part("lm_head", shape[0], shape)
        if own is not None and (own.quantised or not self._config.tie_word_embeddings):
            return [own]
        if own is None and not self._config.tie_word_embeddings:
            raise CheckpointError(
                f"tensor {HEAD} is missing, quantised or not; expected shape {list(shape)}",
                hint="config.json says tie_word_embeddings false, so the head has weights of its own",
            )
        return self._parts[EMBEDDING]

    def _part(self, base: str, rows: int, shape: tuple[int, ...]) -> _Part | None:
        plain = base if base in self._where else f"{base}.weight"
        quantised = f"{base}.{self._layout.main}" in self._where
        if quantised and plain in self._where:
            raise _mixed(f"{base} is there quantised and as {plain}")
        if quantised:
            return _Part(base, (rows, *shape[1:]), quantised=True)
        if plain not in self._where:
            return None
        part = _Part(plain, (rows, *shape[1:]), quantised=False)
        entry = self._where[plain].entries[plain]
        if entry.shape != part.shape:
            raise CheckpointError(
                f"tensor {plain} has shape {list(entry.shape)}, expected {list(part.shape)}",
                hint="config.json and the weights must be of one checkpoint",
            )
        if DTYPES.get(entry.dtype) not in FLOATS:
            raise CheckpointError(
                f"tensor {plain} is of type {entry.dtype}, expected BF16, F16 or F32",
                hint="pass a folder in one of the formats that are read, or the checkpoint in bfloat16",
            )
        return part

    def _all_parts(self) -> Iterator[_Part]:
        seen: set[str] = set()
        for parts in (*self._parts.values(), self._head):
            for part in parts:
                if part.base not in seen:
                    seen.add(part.base)
                    yield part

    # checking ---------------------------------------------------------------------------------------------------------

    def _refuse_other_formats(self) -> None:
        mine = set(self._layout.layout(8, self._layout.group))
        for name in self._where:
            suffix = name.rpartition(".")[2]
            if suffix in _SUFFIXES - mine:
                raise _mixed(f"tensor {name} is of another format than {self._layout.method}")

    @staticmethod
    def _require_alike(parts: list[_Part]) -> None:
        if len({part.quantised for part in parts}) > 1:
            raise _mixed(f"some of {', '.join(part.base for part in parts)} are quantised and some are not")

    def _require_nothing_else(self) -> None:
        used = {f"{part.base}.{suffix}" for part in self._all_parts() if part.quantised for suffix in _SUFFIXES}
        used |= {part.base for part in self._all_parts() if not part.quantised}
        extra = [name for name in self._where if name not in used and not name.endswith(_WITHOUT_USE)]
        if self._config.tie_word_embeddings:
            extra = [name for name in extra if not name.startswith("lm_head.")]  # the embedding decides
        if extra:
            raise CheckpointError(
                f"tensor {min(extra)} is not part of this architecture ({len(extra)} such)",
                hint="config.json and the weights must be of one checkpoint; num_hidden_layers may be too low",
            )

    def _check_shapes(self, part: _Part) -> None:
        rows, width = part.shape
        group = self._layout.group
        if width % group:
            raise CheckpointError(
                f"{part.base} has {width} columns, expected a multiple of the group size {group}",
                hint="quantization_config.group_size must be the one that the folder was made with",
            )
        if rows % self._layout.rows_to_a_word:
            raise CheckpointError(
                f"{part.base} has {rows} rows, expected a multiple of 8: eight codes share a word",
                hint="run this checkpoint unquantised",
            )
        for suffix, planned in self._layout.layout(rows, width).items():
            name = f"{part.base}.{suffix}"
            if name not in self._where:
                if suffix in _OPTIONAL:
                    continue
                raise CheckpointError(
                    f"tensor {name} is missing; {self._layout.method} has it beside {self._layout.main}, expected "
                    f"shape {list(planned.shape)}",
                    hint="download every weight file",
                )
            entry = self._where[name].entries[name]
            allowed = FLOATS if planned.dtype.is_floating_point else (planned.dtype,)
            if DTYPES.get(entry.dtype) not in allowed:
                raise CheckpointError(
                    f"tensor {name} is of type {entry.dtype}, expected {' or '.join(map(str, allowed))}",
                    hint="quantise the published checkpoint again",
                )
            if entry.shape != planned.shape:
                raise CheckpointError(
                    f"tensor {name} has shape {list(entry.shape)}, expected {list(planned.shape)} with groups of "
                    f"{group}{_actual_group(entry.shape, planned.shape, width)}",
                    hint="quantization_config.group_size must be the one that the folder was made with",
                )

    def _check_values(self, part: _Part) -> None:
        tensors = self._tensors(part)
        for suffix, tensor in tensors.items():
            if not tensor.dtype.is_floating_point:
                continue
            for rows in torch.split(tensor, _ROWS_CHECKED_AT_ONCE):
                low, high = (float(value) for value in rows.aminmax())  # NaN if any is
                is_scale = "scale" in suffix
                if not (low > -torch.inf and high < torch.inf) or (is_scale and low < 0):
                    worst = low if low != low or low < 0 else high
                    raise CheckpointError(
                        f"tensor {part.base}.{suffix} holds {worst}, expected finite numbers"
                        + (" from 0" if is_scale else ""),
                        hint="the folder was quantised from broken weights, or is damaged; quantise it again",
                    )
        self._layout.check(part.base, tensors)

    # reading ----------------------------------------------------------------------------------------------------------

    def _tensors(self, part: _Part) -> dict[str, Tensor]:
        found = {}
        for suffix, planned in self._layout.layout(*part.shape).items():
            name = f"{part.base}.{suffix}"
            if name in self._where:
                found[suffix] = self._where[name].tensor(name)
            else:  # g_idx, the only one that may be left out
                found[suffix] = torch.arange(planned.shape[0], dtype=planned.dtype) // self._layout.group
        return found

    def _grouped(self, parts: list[_Part]) -> GroupedSource:
        sources = [self._layout.source(self._tensors(part)) for part in parts]
        return sources[0] if len(sources) == 1 else StackedGroups(sources)

    def _plain(self, part: _Part) -> Tensor:
        tensor = self._where[part.base].tensor(part.base)
        return tensor.bfloat16() if tensor.dtype == torch.float16 else tensor

    # telling ----------------------------------------------------------------------------------------------------------

    def _describe(self) -> Found:
        four = grouped(BITS, self._layout.group, symmetric=self._layout.symmetric)
        remarks = []
        entries = {name: file.entries[name].dtype for name, file in self._where.items()}
        if any(dtype == "F16" and name.endswith(("scales", "weight_scale")) for name, dtype in entries.items()):
            remarks.append("scales were float16 and are rounded to bfloat16")
        matrices = [name for name, shape in self._config.tensor_shapes().items() if len(shape) == 2]
        layers = [name for name in matrices if name not in (EMBEDDING, HEAD) and "g_proj" not in name]
        left = [name.removesuffix(".weight") for name in layers if not self._parts[name][0].quantised]
        if len(left) == len(layers):
            raise CheckpointError(
                f"no layer of the folder is quantised, expected tensors such as {layers[0].removesuffix('weight')}"
                f"{self._layout.main}",
                hint="remove quantization_config from config.json if the weights are not quantised",
            )
        if left:
            more = f" and {len(left) - 1} more" if len(left) > 1 else ""
            remarks.append(f"the folder left {left[0]}{more} in bfloat16")
        if self._config.tie_word_embeddings and self._head is not self._parts[EMBEDDING]:
            remarks.append("its head is quantised on its own, though config.json says that it is the embedding")
        return Found(
            method=self._layout.method,
            group=self._layout.group,
            symmetric=self._layout.symmetric,
            head=four if self._head[0].quantised else BFLOAT16,
            embedding=four if self._parts[EMBEDDING][0].quantised else BFLOAT16,
            remarks=tuple(remarks),
        )


class _Part(NamedTuple):
    """A tensor, or the tensors of one quantised matrix."""

    base: str
    """Name of the tensor; without the suffix if it is quantised."""
    shape: tuple[int, ...]
    quantised: bool


def _spellings(name: str, shape: tuple[int, ...], config: SparkConfig) -> Iterator[list[tuple[str, int]]]:
    """Yield the ways in which a tensor may be there: a name, or some one above the other, each with its rows."""
    base = name.removesuffix(".weight")
    yield [(base, shape[0])]
    if name == EMBEDDING:
        yield [("model.embed_tokens", shape[0])]
    elif base.endswith("g_proj"):
        yield [(base.replace("g_proj", "g_weight"), shape[0])]
    elif base.endswith("q_k_v_proj"):
        widths = {"q_proj": config.query_width, "k_proj": config.key_width, "v_proj": config.key_width}
        yield [(base.replace("q_k_v_proj", part), rows) for part, rows in widths.items()]


def _actual_group(found: tuple[int, ...], expected: tuple[int, ...], width: int) -> str:
    """Say which group size a shape speaks of, where one number differs that counts groups."""
    differing = [(a, b) for a, b in zip(found, expected, strict=False) if a != b]
    if len(found) == len(expected) and len(differing) == 1 and differing[0][0] and width % differing[0][0] == 0:
        actual = width // differing[0][0]
        if actual in (16, 32, 64, 128, 256, width):
            return f"; this one is of groups of {actual}"
    return ""


def _mixed(what: str) -> CheckpointError:
    return CheckpointError(
        f"the folder mixes formats: {what}, expected one format for every quantised matrix",
        hint="quantise the published checkpoint again, in one format",
    )


def _widened(source: GroupedSource) -> Tensor:
    rows, width = source.shape
    values = torch.empty(rows, width, dtype=torch.bfloat16)
    for start, end in chunks(rows, ROWS_AT_ONCE):
        values[start:end] = source.rows(start, end)
    return values
