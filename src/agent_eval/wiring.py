"""The only place where names such as ``w4a8``, ``nano`` or ``sim`` become objects. Joins packages, decides nothing."""

from __future__ import annotations

import contextlib
import datetime
import functools
import hashlib
import json
import platform
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_eval import __version__
from agent_eval.conditions import ConditionedPhone, Conditions
from agent_eval.contracts import Device, Instance, Model, PhoneControl, Policy, Task
from agent_eval.errors import OperatorError, UnknownName
from agent_eval.records import RunConfiguration, RunManifest
from agent_eval.types import PhoneSetup, Sampling

if TYPE_CHECKING:
    from agent_eval.spark_backend.spark import SparkModel

EMBEDDED = {"nano": Path(__file__).parent / "spark_backend" / "nano" / "checkpoint"}
"""Checkpoints that come with the package."""

ADB_PORT = 5037
"""Where an adb server listens unless ``ANDROID_ADB_SERVER_PORT`` says otherwise."""

DEFAULT_INSTANCES = 2
"""Instances of each task that is named by itself."""

SIMULATED = ("sim", "tcp")
"""Devices that need nothing besides this program; any other name is the serial of a phone."""

SINGLE_THREAD_WIDTH = 1024
"""Below this hidden size a second thread costs more than it brings: a token's work is too small to share."""


@dataclass(frozen=True)
class RunOptions:
    """What a person may have an opinion on; the options of ``agent-eval run``."""

    builds: tuple[str, ...]
    tasks: tuple[str, ...]
    instances: int
    seed: int
    model: str
    max_tokens: int
    thinking: bool
    stop_on_loop: bool
    max_episode_s: float | None
    max_episode_tokens: int | None = None
    language: str = "en"
    device: str = "sim"
    """``sim``, ``tcp``, or the serial of a phone."""
    conditions: Conditions = field(default_factory=Conditions)
    adb_port: int = ADB_PORT
    """Where the adb server listens that knows the phone of that serial."""


@dataclass(frozen=True)
class Place:
    """Where the episodes of one build are played."""

    policy: Callable[[Instance], Policy]
    device: Device
    phone: PhoneControl


SCRIPTED = "scripted:"
"""Begins the name of a build that follows a script; the rest is the path of its file."""

AGENTS = {
    "oracle": "no model: an expert that sees the phone's state",
    "null": "no model: declares at once, whatever is asked",
    "random": "no model: any valid call, one in ten a declaration",
    SCRIPTED: "no model: follows the script in a file",
}
"""Builds that are no model but a reference agent, by name, with what they are."""

NO_MODEL = "none"
"""Model of a run that has reference agents only."""


class ChosenTasks(NamedTuple):
    """What a run is to play."""

    tasks: tuple[Task, ...]
    instances: int
    """Instances of each, unless a command says otherwise."""


def find_tasks(names: Sequence[str]) -> ChosenTasks:
    """Return the tasks of the given names, or of a suite if the only name is one, and how many instances of each.

    Raises:
        UnknownName: no such task or suite.
    """
    from agent_eval.tasks import SUITES, find_task

    suite = SUITES.get(names[0]) if len(names) == 1 else None
    if suite is None:
        return ChosenTasks(tuple(find_task(name) for name in dict.fromkeys(names)), DEFAULT_INSTANCES)
    return ChosenTasks(tuple(find_task(name) for name in suite.tasks), suite.instances)


def check_builds(names: Sequence[str]) -> tuple[str, ...]:
    """Return the builds without repetition.

    Raises:
        UnknownName: no such build.
        OperatorError: a script cannot be read.
    """
    from agent_eval.agent import Scripts

    for name in names:
        if name.startswith(SCRIPTED):
            Scripts(_script_of(name))
        elif not is_agent(name):
            _check_model_build(name)
    return tuple(dict.fromkeys(names))


def _check_model_build(name: str) -> None:
    from agent_eval.spark_backend.builds import BUILDS

    if name not in BUILDS:
        raise UnknownName("build", name, [*BUILDS, *AGENTS], hint=f"{SCRIPTED} is followed by the path of a file")


def is_agent(build: str) -> bool:
    """Tell whether a build is a reference agent."""
    return build in AGENTS or build.startswith(SCRIPTED)


def models_among(builds: Sequence[str]) -> tuple[str, ...]:
    """Return the builds that are a model's."""
    return tuple(build for build in builds if not is_agent(build))


def _script_of(build: str) -> Path:
    return Path(build.removeprefix(SCRIPTED))


def open_agent(build: str, phone: PhoneControl, seed: int) -> Callable[[Instance], Policy]:
    """Return who plays an instance for a reference agent.

    Raises:
        OperatorError: its script cannot be read.
    """
    from agent_eval.agent import NullAgent, RandomAgent, Scripts

    if build.startswith(SCRIPTED):
        scripts = Scripts(_script_of(build))
        return lambda instance: scripts.agent_for(instance.task, instance.id)
    if build == "oracle":
        return lambda instance: instance.oracle(phone)
    agent = NullAgent() if build == "null" else RandomAgent(seed)
    return lambda _instance: agent


def check_faults(names: Sequence[str]) -> tuple[str, ...]:
    """Return the faults by their names, without repetition.

    Raises:
        TaskFault: no such fault.
    """
    from agent_eval.device_sim.faults import fault_name

    return tuple(dict.fromkeys(map(fault_name, names)))


def find_checkpoint(model: str) -> Path:
    """Return the folder of a model: an embedded one by its name, any other by its path.

    Raises:
        UnknownName: neither an embedded model nor a folder.
    """
    folder = EMBEDDED.get(model, Path(model))
    if not folder.is_dir():
        raise UnknownName(
            "model", model, [*EMBEDDED, "a path of a checkpoint folder"], hint="check the spelling of the path"
        )
    return folder


def open_sim() -> tuple[Device, PhoneControl]:
    """Start a simulated phone in this process; return the agent's hands on it and the task's back door."""
    from agent_eval.agent import UiautomatorDevice
    from agent_eval.device_sim import Phone
    from agent_eval.device_sim.u2.device import SimDevice

    phone = Phone(PhoneSetup(seed=0))
    return UiautomatorDevice(SimDevice(phone)), phone


def check_device(options: RunOptions, instances: Sequence[Instance]) -> None:
    """Refuse a device that is not there, or that cannot play one of the instances under the conditions of the run.

    Raises:
        OperatorError: names the device, and what it cannot do.
    """
    if options.device in SIMULATED:
        return
    from agent_eval.agent import adb
    from agent_eval.tasks import playable

    known = adb.phones(options.adb_port)
    if options.device not in known:
        names = [*SIMULATED, *known]
        raise UnknownName("device", options.device, names, hint="`adb devices` starts adb and lists the phones")
    if options.conditions != Conditions():
        raise OperatorError(
            f"the phone {options.device!r} has its own skin and no faults to switch on",
            hint=f"use --device {' or '.join(SIMULATED)}",
        )
    beyond = sorted({instance.task for instance in instances if not playable(instance.paths)})
    if beyond:
        able = sorted({instance.task for instance in instances} - set(beyond))
        raise OperatorError(
            f"a phone behind adb cannot be prepared for, or judged on, {', '.join(beyond)}",
            hint=f"--tasks {','.join(able)}" if able else f"use --device {' or '.join(SIMULATED)}",
        )


@contextlib.contextmanager
def open_device(name: str, conditions: Conditions, adb_port: int = ADB_PORT) -> Iterator[tuple[Device, PhoneControl]]:
    """Open the device of a run: the simulated phone in this process or over adb, or a real phone by its serial.

    Raises:
        DeviceFault: the phone or adb does not answer.
    """
    with _opened(name, adb_port) as (device, phone):
        try:
            yield device, ConditionedPhone(phone, conditions)
        finally:
            device.close()


@contextlib.contextmanager
def open_tcp() -> Iterator[tuple[Device, PhoneControl]]:
    """Start a simulated phone that listens on a port, and reach it as any other: adb, adbutils and uiautomator2."""
    from agent_eval.agent import UiautomatorDevice, adb
    from agent_eval.agent.device import connect
    from agent_eval.device_sim import Phone
    from agent_eval.device_sim.serve import ServedPhone

    with ServedPhone(Phone(PhoneSetup(seed=0))) as phone, adb.private_server() as adb_port:
        client = connect(adb.attach(adb_port, phone.port), adb.QuickClient(adb_port))
        try:
            yield UiautomatorDevice(client), phone
        finally:
            client.stop_uiautomator()


def _opened(name: str, adb_port: int) -> contextlib.AbstractContextManager[tuple[Device, PhoneControl]]:
    match name:
        case "sim":
            return contextlib.nullcontext(open_sim())
        case "tcp":
            return open_tcp()
        case _:
            return _open_real(name, adb_port)


@contextlib.contextmanager
def _open_real(serial: str, adb_port: int) -> Iterator[tuple[Device, PhoneControl]]:
    from agent_eval.agent import UiautomatorDevice, adb
    from agent_eval.agent.device import connect
    from agent_eval.tasks import AdbPhone

    client = connect(serial, adb.client(adb_port))
    yield UiautomatorDevice(client), AdbPhone(lambda line: str(client.shell(line).output))


def open_policy(model: Model, sampling: Sampling) -> Policy:
    """Put a model behind the prompt that serves every model."""
    from agent_eval.agent import ModelPolicy, tool_schemas

    return ModelPolicy(model, tool_schemas(), sampling)


def open_model(folder: Path, build: str, *, thinking: bool) -> SparkModel:
    """Load one build of a checkpoint, with the tokenizer and chat template that speak for it.

    Raises:
        CheckpointError: the folder cannot be loaded.
    """
    from agent_eval.spark_backend.spark import SparkModel

    return SparkModel.load(folder, build, threads=threads_for(folder), thinking=thinking)


def threads_for(folder: Path) -> int:
    """Return how many threads an engine should use for a checkpoint on this machine."""
    from agent_eval.spark_backend.config import SparkConfig
    from agent_eval.spark_backend.probe import usable_cores

    return 1 if SparkConfig.from_folder(folder).hidden_size < SINGLE_THREAD_WIDTH else usable_cores()


def configuration_of(options: RunOptions, folder: Path | None, instances: Sequence[Instance]) -> RunConfiguration:
    """Return everything that decides what the records of a run will say; no folder where no model is run."""
    from agent_eval.tasks import find_task, suite_digest

    return RunConfiguration(
        builds=options.builds,
        tasks=options.tasks,
        task_versions=tuple(find_task(name).version for name in options.tasks),
        language=options.language,
        instances=options.instances,
        seed=options.seed,
        model=NO_MODEL if folder is None else options.model,
        model_digest="" if folder is None else _checkpoint_digest(folder),
        scripts={
            build: hashlib.sha256(_script_of(build).read_bytes()).hexdigest()
            for build in options.builds
            if build.startswith(SCRIPTED)
        },
        device=options.device,
        skin=options.conditions.skin,
        faults=options.conditions.faults,
        max_tokens=options.max_tokens,
        thinking=options.thinking,
        stop_on_loop=options.stop_on_loop,
        max_episode_s=options.max_episode_s,
        max_episode_tokens=options.max_episode_tokens,
        suite_digest=suite_digest(instances),
        prompt_digest=prompt_digest(),
    )


def _checkpoint_digest(folder: Path) -> str:
    from agent_eval.spark_backend.loader import checkpoint_digest

    return checkpoint_digest(folder)


def manifest_of(configuration: RunConfiguration, folder: Path | None) -> RunManifest:
    """Return the manifest of a run that begins now on this machine; no folder where no model is run."""
    from agent_eval.spark_backend.probe import probe_machine

    agents = tuple(build for build in configuration.builds if is_agent(build))
    notes = {build: AGENTS[SCRIPTED if build.startswith(SCRIPTED) else build] for build in agents}
    if folder is not None:
        notes |= _model_notes(models_among(configuration.builds))
    return RunManifest(
        configuration=configuration,
        model_kind=NO_MODEL if folder is None else _checkpoint_kind(folder),
        build_notes=notes,
        agents=agents,
        versions={"agent-eval": __version__, "revision": source_revision(), **library_versions()},
        machine=probe_machine(),
        threads=1 if folder is None else threads_for(folder),
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    )


def _model_notes(builds: Sequence[str]) -> dict[str, str]:
    from agent_eval.spark_backend.builds import BUILDS

    return {build: BUILDS[build]().notes for build in builds}


def _checkpoint_kind(folder: Path) -> str:
    from agent_eval.spark_backend.loader import checkpoint_kind

    return checkpoint_kind(folder)


def library_versions() -> dict[str, str]:
    """Return the versions of what decides numbers and screens."""
    found = {"python": platform.python_version()}
    for name in ("torch", "tokenizers", "uiautomator2", "adbutils"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "missing"
    return found


def source_revision() -> str:
    """Return the commit of the source, with ``+changes`` when it differs; ``unknown`` outside a checkout."""
    here = Path(__file__).parent
    commands = (["git", "rev-parse", "--short=12", "HEAD"], ["git", "status", "--porcelain", "--", str(here)])
    try:
        commit, changes = (
            subprocess.run(  # noqa: S603  fixed arguments, no shell
                command, cwd=here, capture_output=True, text=True, check=True, timeout=10
            ).stdout.strip()
            for command in commands
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return f"{commit}+changes" if changes else commit


@functools.cache
def prompt_digest() -> str:
    """Return a digest of the prompt rendering and the phone's screens: the oracle's way through every task, as text.

    A model trained on this project's phone records it; when it differs, the model has learned other screens.
    """
    from agent_eval.agent import SYSTEM_PROMPT, tool_schemas
    from agent_eval.demonstrations import Noise, play
    from agent_eval.tasks import TASKS

    device, phone = open_sim()
    shown: list[Any] = [SYSTEM_PROMPT, tool_schemas()]
    for task in TASKS.values():
        demonstration = play(task.draw(0, "training"), device, phone, Noise.none())
        shown.append([message.content for message in demonstration.messages if message.role in ("user", "tool")])
    return hashlib.sha256(json.dumps(shown, ensure_ascii=False).encode()).hexdigest()[:16]


def stale_reason(folder: Path, digest: str) -> str:
    """Return why a checkpoint no longer fits the prompts and screens of this version, or an empty string."""
    from agent_eval.spark_backend.loader import read_card

    training = read_card(folder).details.get("training")
    if not isinstance(training, dict):
        return ""
    trained = training.get("prompt_digest")
    return "" if trained == digest else f"it was trained on screens {trained}, this version shows {digest}"


def default_run_folder(configuration: RunConfiguration) -> Path:
    """Return the folder that a command writes to unless told otherwise: the same for the same configuration."""
    digest = hashlib.sha256(configuration.model_dump_json().encode()).hexdigest()[:8]
    return Path("runs") / f"{Path(configuration.model).name or 'model'}-{digest}"
