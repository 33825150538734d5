"""The builds that llama.cpp computes: what they are, where their file is, and a folder to a running engine.

A checkpoint is converted once, into the user's cache (``derived.py``). A folder may bring the file of a build itself,
as ``agent-eval build`` writes it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agent_eval.errors import CheckpointError, OperatorError
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.folder import (
    CARD_NAME,
    CONFIG_NAME,
    GGUF_NAME,
    TEMPLATE_NAME,
    TOKENIZER_NAME,
)
from agent_eval.spark_backend.derived import derived_folder
from agent_eval.spark_backend.description import BuildDescription, Stored, size
from agent_eval.spark_backend.ledger import HEAD, Entry, Ledger
from agent_eval.spark_backend.llama import library, mixture
from agent_eval.spark_backend.llama.convert import convert
from agent_eval.spark_backend.llama.engine import BATCH_TOKENS, LlamaEngine
from agent_eval.spark_backend.llama.gguf import BlockType
from agent_eval.spark_backend.llama.mixture import MIXTURES, Mixture

REVISION = 1
"""Raised when the conversion writes other bytes: files of earlier revisions are then not found any more."""

PADDING = 256
"""llama.cpp rounds the cells of its caches up to a multiple of it."""


@dataclass(frozen=True)
class MixtureDescription(BuildDescription):
    """What a build of llama.cpp is."""

    mixture: str = ""
    """What it stores how, and what it computes otherwise than the published model."""

    @property
    def notes(self) -> str:
        """All of it as a line for the record."""
        return "; ".join((self.mixture, size(self.size_bytes), self.kernels, *self.remarks))


@dataclass(frozen=True)
class LlamaBuild:
    """A build that is ready to run."""

    name: str
    config: SparkConfig
    engine: LlamaEngine
    description: MixtureDescription

    @property
    def notes(self) -> str:
        """What it is and what computes."""
        return self.description.notes


def describe_llama(folder: Path, name: str) -> MixtureDescription:
    """Tell what a build of a checkpoint is without loading it.

    Raises:
        CheckpointError: the folder has no config that llama.cpp computes.
        OperatorError: llama.cpp is not installed, or cannot be used.
    """
    config, build = SparkConfig.from_folder(folder), MIXTURES[name]
    mixture.metadata(config, build, name)  # refuses what llama.cpp has not
    sizes = _sizes(config, build)
    types = {tensor.name.split(".")[-2]: tensor.type for tensor in mixture.tensors(config, build)}
    embedding = _stored(types["token_embd"])
    llama = library.load()
    narrow = {type_.name for type_ in types.values()} & {"Q5_0", "Q8_0", "F16"}
    remarks = (f"rows that are no whole blocks of 256 are in {', '.join(sorted(narrow))}",) if narrow else ()
    return MixtureDescription(
        name=name,
        layers=_stored(types["ffn_up"]),
        head=_stored(types.get("output", types["token_embd"])),
        embedding=embedding,
        form="asymmetric" if build.block is BlockType.Q4_K else "",
        group=32 if build.block is BlockType.Q4_K else None,
        activations="8-bit in blocks" if build.block is BlockType.Q4_K else str(_stored(build.block)),
        origin="llama.cpp's quantiser, without a matrix of importance",
        kernels=f"{llama.name}, {llama.instructions}",
        size_bytes=sum(sizes.values()),
        mixture=build.notes,
        remarks=remarks,
    )


def gguf_file(folder: Path, name: str) -> Path:
    """Return where the file of a build is, or will be when it is made.

    Raises:
        CheckpointError: the folder is no checkpoint.
    """
    own = folder / GGUF_NAME
    if own.is_file():
        return own
    return derived_folder(folder, "gguf", REVISION) / f"{name}.gguf"


def make_gguf(folder: Path, name: str, *, threads: int, tell: Callable[[str], None] | None = None) -> Path:
    """Return the file of a build, converted now if it was not before.

    Raises:
        CheckpointError: the folder cannot be loaded, or llama.cpp has no such model.
        OperatorError: llama.cpp is not installed, or the file cannot be written.
    """
    path = gguf_file(folder, name)
    if not path.exists():
        convert(folder, MIXTURES[name], path, threads=threads, tell=tell)
    return path


def write_llama_folder(
    folder: Path, name: str, out: Path, *, threads: int, tell: Callable[[str], None] | None = None
) -> None:
    """Write a build as a folder of its own: ``model.gguf`` and what describes the checkpoint.

    Args:
        folder: The checkpoint.
        name: A key of ``MIXTURES``.
        out: Made if it is not there; files of the same names are replaced.
        threads: Threads that quantise.
        tell: Gets a line of progress now and then.

    Raises:
        CheckpointError: the folder cannot be loaded, or llama.cpp has no such model.
        OperatorError: llama.cpp is not installed, or the folder is not empty of weights or cannot be written.
    """
    if any(out.glob("*.safetensors")):
        raise OperatorError(f"{out} holds other weights already", hint="name an empty folder")
    convert(folder, MIXTURES[name], out / GGUF_NAME, threads=threads, tell=tell)
    try:
        for part in (TOKENIZER_NAME, TEMPLATE_NAME, CARD_NAME, CONFIG_NAME):  # the config last: then it is whole
            if part != CARD_NAME or (folder / part).is_file():
                shutil.copyfile(folder / part, out / part)
    except OSError as error:
        raise OperatorError(f"{error.filename} cannot be copied: {error.strerror}", hint=f"look at {folder}") from None


def load_llama(folder: Path, name: str, *, threads: int, context: int) -> LlamaBuild:
    """Load a build that llama.cpp computes.

    Args:
        folder: The checkpoint, or a folder that brings the build's file.
        name: A key of ``MIXTURES``.
        threads: Threads that convert and compute.
        context: Most tokens of prompt and generation together.

    Raises:
        CheckpointError: the folder cannot be loaded, or its file is of another build or model.
        OperatorError: llama.cpp is not installed, or the file cannot be written.
        EngineFault: there is no room for the context.
    """
    from agent_eval.spark_backend.builds import compiled_kernels

    config = SparkConfig.from_folder(folder)
    description = describe_llama(folder, name)
    path = make_gguf(folder, name, threads=threads)
    context = min(context, config.max_position_embeddings)
    engine = LlamaEngine(path, threads=threads, context=context, kernels=compiled_kernels())
    build = MIXTURES[name]
    found = (engine.metadata("general.architecture"), engine.metadata("general.file_type"), engine.parameters)
    wanted = (mixture.ARCHITECTURE, str(build.file_type), config.parameters)
    if found != wanted:
        raise CheckpointError(
            f"{path} is {found[0]!r} of file type {found[1]} with {found[2]} weights; "
            f"expected {wanted[0]!r} of file type {wanted[1]} ({name}) with {wanted[2]}, as config.json says",
            hint="name the build that the file is, or delete the file and pass the safetensors checkpoint",
        )
    return LlamaBuild(name, config, engine, description)


def llama_ledger(config: SparkConfig, name: str, context: int) -> Ledger:
    """Compute what a build of llama.cpp takes, in the parts that the other builds are told in.

    Its weights lie mapped in its file; matrices in Q4_K are laid out anew for the processor, in memory of their own.
    """
    build = MIXTURES[name]
    sizes = _sizes(config, build)
    copied = _sizes(config, build, repacked=True)
    context = min(context, config.max_position_embeddings)

    def of(part: str) -> Entry:
        return Entry(part, copied[part], sizes[part] - copied[part], sizes[part])

    tied = HEAD not in sizes  # then the head is the embedding itself, read whole for each token
    entries = [
        Entry("embedding", 0, sizes["embedding"], sizes["embedding"] // config.vocab_size),
        of("attention projections"),
        of("MLP projections"),
        Entry(HEAD, 0, 0, sizes["embedding"]) if tied else of(HEAD),
        of("gates and norms"),
        Entry("keys and values", cache_bytes(config, context), 0, 0),
        Entry("rotary tables", 0, 0, 0),
        Entry("activations of a prefill", _rows_bytes(config, context), 0, 0),
    ]
    return Ledger(name, context, tuple(entries))


def cache_bytes(config: SparkConfig, context: int) -> int:
    """Return the bytes of keys and values: two bytes each; sliding layers hold a window and one pass."""
    long = -(-context // PADDING) * PADDING
    short = min(long, -(-(config.sliding_window + BATCH_TOKENS) // PADDING) * PADDING)
    cells = sum(long if config.window(kind) is None else short for kind in config.layer_types)
    return cells * 2 * config.key_width * 2


def _rows_bytes(config: SparkConfig, context: int) -> int:
    rows = min(BATCH_TOKENS, context)
    return rows * (2 * config.hidden_size + 3 * config.intermediate_size + config.query_width) * 4


_PARTS = {
    "token_embd": "embedding",
    "output": HEAD,
    "attn_qkv": "attention projections",
    "attn_output": "attention projections",
    "ffn_gate": "MLP projections",
    "ffn_up": "MLP projections",
    "ffn_down": "MLP projections",
}


def _sizes(config: SparkConfig, build: Mixture, *, repacked: bool = False) -> dict[str, int]:
    """Return the bytes of each part, or of what of it is laid out anew."""
    sizes = dict.fromkeys(("embedding", "attention projections", "MLP projections", "gates and norms"), 0)
    for tensor in mixture.tensors(config, build):
        part = _PARTS.get(tensor.name.split(".")[-2], "gates and norms")
        counts = not repacked or tensor.type is BlockType.Q4_K
        sizes[part] = sizes.get(part, 0) + (tensor.type.bytes_of(tensor.shape) if counts else 0)
    return sizes


def _stored(type_: BlockType) -> Stored:
    return Stored(_BITS[type_], 8 * type_.size / type_.weights)


_BITS = {
    BlockType.Q4_K: 4,
    BlockType.Q5_0: 5,
    BlockType.Q6_K: 6,
    BlockType.Q8_0: 8,
    BlockType.F16: 16,
    BlockType.BF16: 16,
    BlockType.F32: 32,
}
