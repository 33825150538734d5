"""What a run leaves behind: one manifest, and one JSON line per episode. Knows how to write, read and resume them.

Records are append-only and carry ``schema_version``. A torn last line, left by a killed process, is
set aside, never parsed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, ValidationError, model_serializer

from agent_eval.errors import RunFolderError
from agent_eval.outcome import Outcome
from agent_eval.types import Change, FiredFault, MachineProbe, Timing

SCHEMA_VERSION = 6
"""Of what is written.

2 added to 1: task versions, what each step changed, sub-goals, reference agents, scripts. 3 added to 2: builds that are
taken from checkpoints of their own, and the commits of those from a hub. 4 added to 3: the engine and how it is used,
how many episodes are in flight, constrained replies. 5 added to 4: the split that instances come from. 6 added to 5: a
reference that runs twice, runs that end when their comparisons are decided, and memory.
"""
READABLE_VERSIONS = (1, 2, 3, 4, 5, 6)
MANIFEST_NAME = "manifest.json"
EPISODES_NAME = "episodes.jsonl"


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class StepRecord(_Record):
    """One step of an episode."""

    prompt: str
    """What the agent was shown at this step: the new part of the conversation only."""
    text: str
    """The model's reply as written, special tokens included."""
    tool: str | None
    """Tool called; None when the reply was malformed."""
    arguments: dict[str, str | int]
    source: str
    """Form of call that the parser found, or the reason why the reply was malformed."""
    thought: str
    result: str
    """The sentence returned to the agent."""
    target: str
    """Role and label of the element acted on, or empty."""
    goal: bool
    """The goal held after this step."""
    package: str
    """App in front after this step."""
    in_task_app: bool | None = None
    """It is one of the apps in which the task is done; None in records of before this was noted."""
    changes: tuple[Change, ...] | None = None
    """What changed of the phone's persisted state during this step; None in records of before this was noted."""
    snapshot: str
    """Digest of the phone after this step; a replay must reach it again."""
    tokens: int
    """Tokens generated."""
    timing: Timing | None
    """Wall-clock figures; the only fields that differ between equal runs, with ``wall_s``."""


class EpisodeRecord(_Record):
    """One build's attempt at one instance."""

    schema_version: Literal[1, 2, 3, 4, 5, 6] = 6
    episode: str
    """``build/task/seed``: unique in a run."""
    block: int
    """The interleaving block that the episode ran in; one instance per block."""
    build: str
    task: str
    task_version: int = 1
    """Version of the task; results of two versions never compare."""
    seed: int
    attempt: int
    """0, or how often a fault of the harness made this episode run again."""
    goal: str
    parameters: dict[str, bool | int | str]
    budget: int
    """Most steps that the episode may take."""
    start_snapshot: str
    steps: tuple[StepRecord, ...]
    outcome: Outcome
    faults: tuple[FiredFault, ...] = ()
    """Faults of the phone that showed, in order."""
    wall_s: float
    """Wall-clock seconds of the whole episode."""
    anonymous_bytes: int | None = None
    """Anonymous memory (RssAnon) of the process when the episode ended, with every build that the run holds; None where
    the system does not tell, and in records of before this was noted."""

    def untimed(self) -> dict[str, Any]:
        """Return the record without what was measured of time and memory: equal for equal runs."""
        data = self.model_dump(mode="json")
        del data["wall_s"], data["anonymous_bytes"]
        for step in data["steps"]:
            del step["timing"]
        return data


class RunConfiguration(_Record):
    """Everything that decides what a run's records say; a resumed run must have the same."""

    builds: tuple[str, ...]
    tasks: tuple[str, ...]
    task_versions: tuple[int, ...] = ()
    """Version of each task, in the same order; empty in runs of before tasks had versions."""
    language: str = "en"
    """Language of the goals; a task that is not worded in it is put in English."""
    split: str = "evaluation"
    """Where sentences and parameters come from; ``evaluation`` in runs of before there was a choice."""
    instances: int
    """Instances per task; in a run that ends when its comparisons are decided, the most that it may play."""
    decided_at_margin: float | None = None
    """The run ends as soon as every comparison with the reference is decided at this non-inferiority margin, a positive
    share settled before the first episode; None for a run that plays all its instances."""
    noise_band: str = ""
    """Build that plays each instance twice, to measure how far a build differs from itself; empty for none. Its second
    episodes are recorded under the name ``again``."""
    seed: int
    model: str
    """Name or path as given."""
    model_digest: str
    """SHA-256 over config, weights, tokenizer and template of the checkpoint."""
    build_digests: dict[str, str] = {}
    """Per build that is taken from a checkpoint of its own: SHA-256 over its config and weights."""
    device: str
    """``sim``, ``tcp``, or the serial of a phone."""
    scripts: dict[str, str] = {}
    """Per build that follows a script: SHA-256 over its file."""
    skin: str = "default"
    """Name of the phones' skin, or ``random``."""
    faults: tuple[str, ...] = ()
    """Names of the phones' faults."""
    max_tokens: int
    """Most tokens of one reply."""
    engine: str = "torch"
    """What computes the builds that this project's own kernels can compute: ``torch`` or ``vllm``."""
    engine_settings: tuple[str, ...] = ()
    """How the engine is used otherwise than by default, as ``AGENT_EVAL_VLLM`` says it."""
    concurrency: int = 1
    """Episodes of a build that are in flight together. With more than one, speed is that of a batch."""
    constrained: bool = False
    """Replies can only be calls of the tools that there are."""
    thinking: bool
    stop_on_loop: bool
    max_episode_s: float | None
    """Wall-clock limit of an episode; None for no limit, which alone keeps runs reproducible."""
    max_episode_tokens: int | None = None
    """Most tokens that a model may generate in an episode; None for no limit."""
    suite_digest: str
    """Digest over the goals, budgets and parameters of all instances."""
    prompt_digest: str
    """Digest over the prompt rendering and the phone's screens."""

    @property
    def again(self) -> str:
        """Name under which the build of the noise band is recorded the second time; empty for none."""
        return f"{self.noise_band}-again" if self.noise_band else ""

    @model_serializer(mode="wrap")
    def _without_what_is_usual(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # a run folder is named after what is written here: runs of before there were others keep their names
        data: dict[str, Any] = write(self)
        for name in _WRITTEN_WHERE_CHOSEN:
            if getattr(self, name) == RunConfiguration.model_fields[name].default:
                del data[name]
        return data


_WRITTEN_WHERE_CHOSEN = ("split", "decided_at_margin", "noise_band")


class RunManifest(_Record):
    """Where a run's records come from."""

    schema_version: Literal[1, 2, 3, 4, 5, 6] = 6
    configuration: RunConfiguration
    model_kind: str
    """``embedded``, ``published``, ``synthetic`` or ``constructed``; one of the last two as soon as one build is."""
    model_revision: str = ""
    """Commit of the hub's repository that the model was fetched from; empty for a folder."""
    build_sources: dict[str, str] = {}
    """Per build that is taken from a checkpoint of its own: its folder, or its hub id with the commit."""
    build_notes: dict[str, str]
    """Per build: what is quantised, how, and which kernel serves it."""
    head_traps: dict[str, float] = {}
    """Per build that left its head as it is beside quantised projections: seconds of the head's product for one token,
    measured when the build was loaded."""
    loaded_bytes: dict[str, int] = {}
    """Per build of a model: anonymous memory that its loading added to the process, where the system tells."""
    agents: tuple[str, ...] = ()
    """Builds that are reference agents: no model, and nothing that could be shipped."""
    versions: dict[str, str]
    """Python, torch and this package, with the source revision where it is known."""
    machine: MachineProbe
    threads: int
    created: str
    """UTC, ISO 8601."""


class RunFolder:
    """A folder with one manifest and one append-only file of episodes."""

    def __init__(self, path: Path, manifest: RunManifest) -> None:
        self.path = path
        self.manifest = manifest

    @classmethod
    def check(cls, path: Path, manifest: RunManifest) -> RunFolder | None:
        """Refuse what ``create_or_resume`` would refuse, before a model is loaded for it; writes nothing.

        Returns:
            The run that is there already, or None where a new one can begin.

        Raises:
            RunFolderError: the folder cannot be written, holds something else, or is of another configuration.
        """
        if (path / MANIFEST_NAME).exists():
            folder = cls.open(path)
            folder._require_same(manifest)
            return folder
        require_empty(path, f"run folder {str(path)!r}", f" and holds no {MANIFEST_NAME}")
        return None

    @classmethod
    def create_or_resume(cls, path: Path, manifest: RunManifest) -> RunFolder:
        """Create the folder, or open it if it holds a run of the same configuration.

        Raises:
            RunFolderError: it cannot be written, holds something else, or is of another configuration.
        """
        folder = cls.check(path, manifest)
        if folder is not None:
            folder._set_torn_line_aside()
            return folder
        try:
            path.mkdir(parents=True, exist_ok=True)
            write_atomically(path / MANIFEST_NAME, manifest.model_dump_json(indent=2) + "\n")
        except OSError as error:
            raise _unwritable(f"run folder {str(path)!r}", error) from error
        return cls(path, manifest)

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """Open an existing run for reading.

        Raises:
            RunFolderError: there is no run, or it is of a version that this program cannot read.
        """
        file = path / MANIFEST_NAME
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise RunFolderError(
                f"no run in {str(path)!r}: there is no {MANIFEST_NAME}",
                hint="pass the folder that `agent-eval run` printed",
            ) from None
        except (OSError, ValueError) as error:
            raise RunFolderError(
                f"cannot read {str(file)!r}: {error}", hint="restore the file or start a new run"
            ) from error
        version = data.get("schema_version") if isinstance(data, dict) else None
        if version not in READABLE_VERSIONS:
            raise RunFolderError(
                f"{str(file)!r} has schema_version {version!r}; this program reads "
                f"{', '.join(map(str, READABLE_VERSIONS))}",
                hint="is this the folder of another program? otherwise use the version of agent-eval that wrote it",
            )
        try:
            return cls(path, RunManifest.model_validate_json(json.dumps(data)))
        except ValidationError as error:
            raise RunFolderError(
                f"{str(file)!r} is not a run manifest: {_first_problem(error)}", hint="start a new run"
            ) from error

    def episodes(self) -> tuple[EpisodeRecord, ...]:
        """Return all whole records, in the order in which they were written.

        Raises:
            RunFolderError: a line in the middle is damaged.
        """
        file = self.path / EPISODES_NAME
        if not file.exists():
            return ()
        text = file.read_text(encoding="utf-8", errors="replace")
        lines = text.split("\n")[:-1]  # what follows the last newline is empty or torn
        records = []
        for number, line in enumerate(lines, start=1):
            try:
                records.append(EpisodeRecord.model_validate_json(line))
            except ValidationError as error:
                raise RunFolderError(
                    f"line {number} of {str(file)!r} is not an episode record: {_first_problem(error)}",
                    hint="move that line to another file; the other records stay valid",
                ) from error
        return tuple(records)

    def sink(self) -> JsonLinesSink:
        """Open the file of episodes for appending."""
        return JsonLinesSink(self.path / EPISODES_NAME)

    def _require_same(self, manifest: RunManifest) -> None:
        """Refuse to go on with other options, or where the same options would give other numbers."""
        mine, other = _identity(self.manifest), _identity(manifest)
        for name in mine:
            if mine[name] != other[name]:
                raise RunFolderError(
                    f"run folder {str(self.path)!r} was recorded with {name}={_shown(mine[name])}; "
                    f"this command has {name}={_shown(other[name])}",
                    hint="repeat the command that began the run, where it began, or pass --out with a new folder",
                )

    def _set_torn_line_aside(self) -> None:
        """Move what a killed process left after the last newline to ``episodes.torn``, so that nothing is lost."""
        file = self.path / EPISODES_NAME
        try:
            data = file.read_bytes() if file.exists() else b""
            end = data.rfind(b"\n") + 1
            if end == len(data):
                return
            with (self.path / "episodes.torn").open("ab") as torn:
                torn.write(data[end:] + b"\n")
            with file.open("r+b") as stream:
                stream.truncate(end)
        except OSError as error:
            raise _unwritable(f"run folder {str(self.path)!r}", error) from error


class JsonLinesSink:
    """Appends records as JSON lines, each flushed to the disk before the next episode begins."""

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            self._stream = file.open("ab", buffering=0)  # nothing waits in a buffer that a kill could empty
        except OSError as error:
            raise _unwritable(f"run folder {str(file.parent)!r}", error) from error

    def append(self, record: EpisodeRecord) -> None:
        """Write one record to the disk, past every buffer."""
        try:
            line = memoryview(record.model_dump_json().encode() + b"\n")
            while line:
                line = line[self._stream.write(line) :]
            os.fsync(self._stream.fileno())
        except OSError as error:
            raise _unwritable(f"run folder {str(self._file.parent)!r}", error) from error

    def close(self) -> None:
        """Close the file; may be called twice."""
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def require_empty(path: Path, named: str, lacking: str = "") -> None:
    """Refuse a folder that holds something or cannot be written; one that is not there yet will do. Writes nothing.

    Args:
        path: The folder.
        named: What the messages call it.
        lacking: What they add of a folder that holds something.

    Raises:
        RunFolderError: the folder will not do.
    """
    there = next(place for place in (path, *path.absolute().parents) if place.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise _unwritable(named, PermissionError(f"{str(there)!r} is no folder that may be written to"))
    strangers = sorted(entry.name for entry in path.iterdir()) if there == path else []
    if strangers:
        raise RunFolderError(
            f"{named} is not empty{lacking}; found {strangers[0]!r}",
            hint="pass --out with a new folder, or empty this one",
        )


def write_atomically(file: Path, text: str) -> None:
    """Replace a file in one step, so that a reader sees the old text or the new one."""
    partial = file.with_name(file.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(file)


def _identity(manifest: RunManifest) -> dict[str, object]:
    """Return what must be equal for records of two commands to stand in one run."""
    machine = manifest.machine
    return dict(manifest.configuration) | {
        "machine": (machine.device_class, machine.cpu_model),
        "threads": manifest.threads,
        "torch": manifest.versions.get("torch"),
    }


def _unwritable(named: str, error: OSError) -> RunFolderError:
    return RunFolderError(
        f"cannot write to {named}: {error.strerror or error}",
        hint="pass --out with a folder that you may write to",
    )


def _first_problem(error: ValidationError) -> str:
    problem = error.errors()[0]
    place = ".".join(str(part) for part in problem["loc"]) or "the line"
    return f"{place}: {problem['msg']}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
