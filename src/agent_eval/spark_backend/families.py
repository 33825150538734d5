"""Who computes a build: this program, vLLM or llama.cpp. One set of questions for all, so that nobody else asks which.

Knows no checkpoint and computes nothing: each answer is given where the family lives, ``builds.py``, ``vllm/`` or
``llama/``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, get_args

from agent_eval.contracts import Engine
from agent_eval.spark_backend.llama.mixture import is_llama

if TYPE_CHECKING:
    from agent_eval.spark_backend.description import BuildDescription
    from agent_eval.spark_backend.ledger import Ledger

Tell = Callable[[str], None]
"""Gets a line of progress now and then."""

EngineName = Literal["torch", "vllm"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)
"""What can compute the builds of the grammar; llama.cpp computes its own mixtures, and only these."""


@dataclass(frozen=True)
class EngineChoice:
    """What computes the builds of the grammar, and how."""

    name: EngineName = "torch"
    in_flight: int = 1
    """Most generations at a time; more than one with vLLM only."""
    constrained: bool = False
    """Whether replies may be held to a grammar; with vLLM only."""
    text: Path | None = None
    """Folder with the tokenizer that grammars are for, if not the checkpoint's own."""


TORCH = EngineChoice()


@dataclass(frozen=True)
class OpenedBuild:
    """A build that is ready to run, of any family."""

    engine: Engine
    description: BuildDescription
    ledger: Ledger
    """What it takes, by arithmetic."""
    compiled: bool
    """False where torch alone computes."""
    head: Callable[[], object] | None
    """Computes the product over the vocabulary once; None where it cannot be had alone."""


class Family(Protocol):
    """The builds that one engine computes.

    Every answer may raise CheckpointError, where the folder cannot be loaded or does not suit the build, and
    OperatorError, where a library is missing, a file cannot be written, or there is no room.
    """

    def load_libraries(self) -> None:
        """Import what computes, so that loading a build can be measured without."""
        ...

    def prepare(self, folder: Path, build: str, *, threads: int, tell: Tell) -> None:
        """Make the file that the build is read from, unless it needs none or it was made before."""
        ...

    def files(self, folder: Path, build: str) -> list[Path]:
        """Return the files that the build reads its weights from."""
        ...

    def describe(self, folder: Path, build: str) -> BuildDescription:
        """Tell what a build is without loading it."""
        ...

    def ledger(self, folder: Path, build: str, context: int) -> Ledger:
        """Compute what a build takes without loading it."""
        ...

    def open(self, folder: Path, build: str, *, threads: int, context: int) -> OpenedBuild:
        """Load a build."""
        ...


class OwnBuilds:
    """The grammar of ``quant/name.py``: torch and the compiled kernels."""

    def load_libraries(self) -> None:
        """Load torch and the compiled kernels."""
        from agent_eval.spark_backend.builds import compiled_kernels

        compiled_kernels()

    def prepare(self, folder: Path, build: str, *, threads: int, tell: Tell) -> None:
        """Do nothing: the checkpoint is read as it is."""

    def files(self, folder: Path, build: str) -> list[Path]:  # noqa: ARG002  all builds read the same
        """Return the checkpoint's safetensors."""
        from agent_eval.spark_backend.checkpoints.folder import weight_files

        return weight_files(folder)

    def describe(self, folder: Path, build: str) -> BuildDescription:
        """Tell what a build is without loading it."""
        from agent_eval.spark_backend.builds import describe_build

        return describe_build(folder, build)

    def ledger(self, folder: Path, build: str, context: int) -> Ledger:
        """Compute what a build takes without loading it."""
        from agent_eval.spark_backend.checkpoints.config import SparkConfig
        from agent_eval.spark_backend.ledger import ledger

        return ledger(SparkConfig.from_folder(folder), self.describe(folder, build), context)

    def open(self, folder: Path, build: str, *, threads: int, context: int) -> OpenedBuild:
        """Load a build."""
        from agent_eval.spark_backend.builds import compiled_kernels, load_build
        from agent_eval.spark_backend.ledger import ledger
        from agent_eval.spark_backend.meter import head_alone

        loaded = load_build(folder, build, threads=threads, context=context)
        return OpenedBuild(
            engine=loaded.engine,
            description=loaded.description,
            ledger=ledger(loaded.config, loaded.description, context),
            compiled=compiled_kernels() is not None,
            head=head_alone(loaded.engine),
        )


class LlamaBuilds:
    """The mixtures of ``llama/mixture.py``: llama.cpp."""

    def load_libraries(self) -> None:
        """Load llama.cpp, and the compiled kernels, which choose the next token."""
        from agent_eval.spark_backend.builds import compiled_kernels
        from agent_eval.spark_backend.llama import library

        compiled_kernels()
        library.load()

    def prepare(self, folder: Path, build: str, *, threads: int, tell: Tell) -> None:
        """Write the GGUF."""
        from agent_eval.spark_backend.llama.builds import make_gguf

        make_gguf(folder, build, threads=threads, tell=tell)

    def files(self, folder: Path, build: str) -> list[Path]:
        """Return the GGUF."""
        from agent_eval.spark_backend.llama.builds import gguf_file

        return [gguf_file(folder, build)]

    def describe(self, folder: Path, build: str) -> BuildDescription:
        """Tell what a build is without loading it."""
        from agent_eval.spark_backend.llama.builds import describe_llama

        return describe_llama(folder, build)

    def ledger(self, folder: Path, build: str, context: int) -> Ledger:
        """Compute what a build takes without loading it."""
        from agent_eval.spark_backend.checkpoints.config import SparkConfig
        from agent_eval.spark_backend.llama.builds import llama_ledger

        return llama_ledger(SparkConfig.from_folder(folder), build, context)

    def open(self, folder: Path, build: str, *, threads: int, context: int) -> OpenedBuild:
        """Load a build."""
        from agent_eval.spark_backend.llama.builds import llama_ledger, load_llama

        loaded = load_llama(folder, build, threads=threads, context=context)
        taken = llama_ledger(loaded.config, build, context)
        return OpenedBuild(loaded.engine, loaded.description, taken, compiled=True, head=None)


@dataclass(frozen=True)
class VllmBuilds:
    """The grammar of ``quant/name.py`` as far as there are folders for it: vLLM."""

    choice: EngineChoice

    def load_libraries(self) -> None:
        """Load vLLM and the compiled kernels."""
        from agent_eval.spark_backend.vllm import builds

        builds.load_libraries()

    def prepare(self, folder: Path, build: str, *, threads: int, tell: Tell) -> None:
        """Write the folder that vLLM loads."""
        from agent_eval.spark_backend.vllm import builds

        builds.prepare(folder, build, threads=threads, tell=tell)

    def files(self, folder: Path, build: str) -> list[Path]:
        """Return the safetensors of the folder that vLLM loads."""
        from agent_eval.spark_backend.vllm import builds

        return builds.files(folder, build)

    def describe(self, folder: Path, build: str) -> BuildDescription:
        """Tell what a build is without loading it."""
        from agent_eval.spark_backend.vllm.builds import describe_vllm

        return describe_vllm(folder, build)

    def ledger(self, folder: Path, build: str, context: int) -> Ledger:
        """Compute what a build takes without loading it."""
        from agent_eval.spark_backend.vllm.builds import vllm_ledger

        return vllm_ledger(folder, build, context, in_flight=self.choice.in_flight)

    def open(self, folder: Path, build: str, *, threads: int, context: int) -> OpenedBuild:
        """Load a build."""
        from agent_eval.spark_backend.builds import compiled_kernels
        from agent_eval.spark_backend.vllm import builds

        choice = self.choice
        loaded = builds.load(
            folder,
            build,
            threads=threads,
            context=context,
            in_flight=choice.in_flight,
            constrained=choice.constrained,
            text=choice.text,
        )
        compiled = compiled_kernels() is not None
        return OpenedBuild(loaded.engine, loaded.description, loaded.ledger, compiled=compiled, head=loaded.head)


def family_of(build: str, choice: EngineChoice = TORCH) -> Family:
    """Return who computes a build; a name that nobody knows is this program's to refuse."""
    if is_llama(build):
        return LlamaBuilds()
    return VllmBuilds(choice) if choice.name == "vllm" else OwnBuilds()
