"""Measures builds against each other on this machine: each in a process of its own, taking turns within a pass.

A process of its own, because only then the memory of a build is its own and a start is a start. Whoever waits for a
turn sleeps. The first build is measured twice in each pass, as two arms: what differs between them is noise.

Decode: tokens after a prompt of one token. Prompt: computing a prompt of random tokens, up to the first token. Both
greedy, without stop tokens, and nothing is reused from one generation to the next.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple, Protocol

from agent_eval import __version__, wiring
from agent_eval.errors import OperatorError
from agent_eval.reports.bench_record import (
    ArmRecord,
    BenchRecord,
    Disturbance,
    HeadRecord,
    LoadRecord,
    MemoryRecord,
    PartRecord,
    Timed,
)

CONTEXT_SLACK = 64
"""Tokens of context beyond what is asked for."""


@dataclass(frozen=True)
class BenchOptions:
    """What a person may have an opinion on; the options of ``agent-eval bench``."""

    builds: tuple[str, ...]
    """By name; ``BUILD=CHECKPOINT`` for one that is taken from a checkpoint of its own."""
    model: str
    prompt: int = 512
    """Tokens of the prompt that is timed."""
    tokens: int = 128
    """Tokens whose decoding is timed."""
    passes: int = 5
    threads: int | None = None
    """As many as a run would use by default."""
    engines: tuple[str, ...] = ("torch",)
    """What computes; with several, every build is measured in each of them."""


class ArmBuild(NamedTuple):
    """What one arm measures."""

    build: str
    folder: Path
    engine: str


class Opened(NamedTuple):
    """What an arm says once its build is loaded."""

    load_s: float
    first_token_s: float
    memory_before: int | None
    """Anonymous bytes, as the next two."""
    memory_peak: int | None
    memory_settled: int | None
    notes: str
    kernels: str
    compiled: bool
    size_bytes: int | None
    read_per_token: int | None
    parts: tuple[PartRecord, ...]
    head: HeadRecord | None


class Used(NamedTuple):
    """Memory while a build computed."""

    peak: int | None
    mapped: int | None


class Bandwidth(NamedTuple):
    """How fast an arm's threads read memory."""

    bytes_per_s: float
    by: str


class Arm(Protocol):
    """One build, ready to be measured."""

    def open(self) -> Opened:
        """Load the build; called once, first.

        Raises:
            AgentEvalError: the build cannot be loaded.
        """
        ...

    def prefill(self, prompt: Sequence[int]) -> Timed:
        """Compute a prompt, often enough for the clock."""
        ...

    def decode(self, prompt: Sequence[int], tokens: int) -> Timed:
        """Decode tokens after a prompt, often enough for the clock."""
        ...

    def use(self, prompt: Sequence[int], tokens: int) -> Used:
        """Do both once while watching the memory; nothing is timed."""
        ...

    def stream(self) -> Bandwidth:
        """Measure how fast the threads read memory."""
        ...

    def processor_time(self) -> float:
        """Return how long the arm has computed on all its threads, seconds of one core."""
        ...

    def close(self) -> None:
        """Give everything back; may be called twice."""
        ...


class Machine(Protocol):
    """What the measuring asks of the machine."""

    def forget(self, build: str) -> float | None:
        """Make the system forget the files of a build; return the share that is still in memory."""
        ...

    def resident(self, build: str) -> float | None:
        """Return the share of a build's files that is in memory."""
        ...

    def busy(self) -> tuple[float, float] | None:
        """Return processor time so far, seconds of one core: of all processes, and stolen; None if not told."""
        ...

    def now(self) -> float:
        """Return a wall clock, seconds."""
        ...

    @property
    def cores(self) -> int:
        """Processors of the machine."""
        ...


class Measured(NamedTuple):
    """All samples of a bench."""

    arms: tuple[ArmRecord, ...]
    streams: tuple[float, ...]
    bandwidth_by: str
    disturbances: tuple[Disturbance | None, ...]


def run_bench(options: BenchOptions, tell: Callable[[str], None]) -> BenchRecord:
    """Measure the builds of a checkpoint.

    Args:
        options: What to measure.
        tell: Gets a line of progress now and then.

    Raises:
        AgentEvalError: a name or a checkpoint cannot be, a build cannot be loaded, or the builds do not fit.
    """
    from agent_eval.bench_arm import ProcessArm, ThisMachine
    from agent_eval.spark_backend import launcher
    from agent_eval.spark_backend.checkpoints.config import SparkConfig
    from agent_eval.spark_backend.probe import probe_machine

    builds, own_checkpoints = wiring.choose_builds(options.builds)
    agents = [build for build in builds if wiring.is_agent(build)]
    if agents:
        raise OperatorError(
            f"{', '.join(agents)} computes nothing that could be timed", hint="bench the builds of a model"
        )
    checkpoints = wiring.find_checkpoints(options.model, builds, own_checkpoints)
    assert checkpoints is not None, "every build is a model's"
    folder = checkpoints.model.folder
    choices = [wiring.choose_engine(engine) for engine in dict.fromkeys(options.engines)]
    config = SparkConfig.from_folder(folder)
    threads = options.threads or wiring.threads_for(folder)
    context = max(options.prompt, options.tokens) + CONTEXT_SLACK
    if context > config.max_position_embeddings:
        raise OperatorError(
            f"a prompt of {options.prompt} and {options.tokens} tokens do not fit the model's "
            f"{config.max_position_embeddings} positions",
            hint="pass a smaller --prompt or --tokens",
        )
    wiring.check_room(checkpoints, builds, context, *choices)
    for choice in choices:
        wiring.prepare_builds(checkpoints, builds, choice, tell)
    arms = arms_of({build: checkpoints.of(build).folder for build in builds}, [choice.name for choice in choices])
    load_before = _load()
    measured = measure(
        list(arms),
        lambda arm: ProcessArm(arms[arm], threads=threads, context=context),
        ThisMachine(arms),
        vocabulary=config.vocab_size,
        prompt=options.prompt,
        tokens=options.tokens,
        passes=options.passes,
        tell=tell,
    )
    return BenchRecord(
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        model=options.model,
        model_kind=wiring.kind_of(checkpoints),
        parameters=config.parameters,
        machine=probe_machine(),
        versions={"agent-eval": __version__, "revision": wiring.source_revision(), **wiring.library_versions()},
        threads=threads,
        wait_policy=launcher.wait_policy(),
        prompt=options.prompt,
        tokens=options.tokens,
        passes=options.passes,
        bandwidth_by=measured.bandwidth_by,
        streams=measured.streams,
        disturbances=measured.disturbances,
        load_before=load_before,
        load_after=_load(),
        arms=measured.arms,
    )


def arms_of(folders: Mapping[str, Path], engines: Sequence[str]) -> dict[str, ArmBuild]:
    """Return the arms by name: the build's, and ``BUILD@ENGINE`` in all engines but the first.

    Args:
        folders: From build to its checkpoint.
        engines: What computes; llama.cpp's builds are measured once.
    """
    from agent_eval.spark_backend.llama.mixture import is_llama

    found = {}
    for build, folder in folders.items():
        for engine in engines[:1] if is_llama(build) else engines:
            found[build if engine == engines[0] else f"{build}@{engine}"] = ArmBuild(build, folder, engine)
    return found


def measure(
    builds: Sequence[str],
    open_arm: Callable[[str], Arm],
    machine: Machine,
    *,
    vocabulary: int,
    prompt: int,
    tokens: int,
    passes: int,
    tell: Callable[[str], None],
) -> Measured:
    """Start every build cold and warm, then let them take turns.

    Args:
        builds: By name; the first is what the others are compared with.
        open_arm: Makes an arm for a build.
        machine: Where it happens.
        vocabulary: Token ids end below this.
        prompt: Tokens of the prompt that is timed.
        tokens: Tokens whose decoding is timed.
        passes: Counted passes; one more is made before them.
        tell: Gets a line of progress now and then.
    """
    cold = {build: _cold_start(build, open_arm, machine, tell) for build in builds}
    arms: dict[str, Arm] = {}
    try:
        records: dict[str, ArmRecord] = {}
        for build in builds:
            arms[build] = open_arm(build)
            tell(f"{build}: warm start")
            records[build] = _warm_start(build, arms[build], machine, prompt, tokens).model_copy(
                update={"cold": cold[build]}
            )
        samples = _passes(arms, machine, vocabulary, prompt, tokens, passes, tell)
    finally:
        for arm in arms.values():
            arm.close()
    first = builds[0]
    done = [
        records[build].model_copy(update={"prefill": samples.prefill[build], "decode": samples.decode[build]})
        for build in builds
    ]
    twin = ArmRecord(build=first, twin=True, prefill=samples.prefill[TWIN], decode=samples.decode[TWIN])
    return Measured((*done, twin), samples.streams, samples.bandwidth_by, samples.disturbances)


TWIN = "the first build once more"
"""Name of the second arm of the first build."""


def _cold_start(
    build: str, open_arm: Callable[[str], Arm], machine: Machine, tell: Callable[[str], None]
) -> LoadRecord:
    tell(f"{build}: cold start")
    resident = machine.forget(build)
    arm = open_arm(build)
    try:
        opened = arm.open()
    finally:
        arm.close()
    return LoadRecord(resident=resident, load_s=opened.load_s, first_token_s=opened.first_token_s)


def _warm_start(build: str, arm: Arm, machine: Machine, prompt: int, tokens: int) -> ArmRecord:
    resident = machine.resident(build)
    opened = arm.open()
    used = arm.use([0] * prompt, tokens)
    sizes = (opened.memory_before, opened.memory_peak, opened.memory_settled, used.peak, used.mapped)
    memory = None
    if all(size is not None for size in sizes):
        before, peak, settled, in_use, mapped = (size or 0 for size in sizes)
        memory = MemoryRecord(before=before, peak=peak, settled=settled, in_use=in_use, mapped=mapped)
    return ArmRecord(
        build=build,
        notes=opened.notes,
        kernels=opened.kernels,
        compiled=opened.compiled,
        size_bytes=opened.size_bytes,
        parts=opened.parts,
        read_per_token=opened.read_per_token,
        head=opened.head,
        warm=LoadRecord(resident=resident, load_s=opened.load_s, first_token_s=opened.first_token_s),
        memory=memory,
    )


class _Samples(NamedTuple):
    prefill: dict[str, tuple[Timed, ...]]
    decode: dict[str, tuple[Timed, ...]]
    streams: tuple[float, ...]
    bandwidth_by: str
    disturbances: tuple[Disturbance | None, ...]


def _passes(
    arms: dict[str, Arm],
    machine: Machine,
    vocabulary: int,
    prompt: int,
    tokens: int,
    passes: int,
    tell: Callable[[str], None],
) -> _Samples:
    """Let the builds take turns: each pass begins with another one."""
    first = next(iter(arms))
    turns = [*arms, TWIN]
    prefill: dict[str, list[Timed]] = {name: [] for name in turns}
    decode: dict[str, list[Timed]] = {name: [] for name in turns}
    streams: list[Bandwidth] = []
    disturbances: list[Disturbance | None] = []
    draw = Random(0)
    for number in range(passes + 1):
        tell(f"pass {number} of {passes}" + (", discarded" if not number else ""))
        ids = [draw.randrange(vocabulary) for _ in range(prompt)]
        watch = _Watch(machine, arms)
        streams.append(arms[first].stream())
        for name in (*turns[number % len(turns) :], *turns[: number % len(turns)]):
            arm = arms[first if name == TWIN else name]
            prefill[name].append(arm.prefill(ids))
            decode[name].append(arm.decode(ids[:1], tokens))
        disturbances.append(watch.disturbance())
    return _Samples(
        {name: tuple(samples) for name, samples in prefill.items()},
        {name: tuple(samples) for name, samples in decode.items()},
        tuple(stream.bytes_per_s for stream in streams),
        streams[0].by,
        tuple(disturbances),
    )


class _Watch:
    """Tells what others did to the machine since it was made."""

    def __init__(self, machine: Machine, arms: dict[str, Arm]) -> None:
        self._machine, self._arms = machine, arms
        self._busy, self._own, self._began = machine.busy(), self._own_time(), machine.now()

    def _own_time(self) -> float:
        times = os.times()
        return times.user + times.system + sum(arm.processor_time() for arm in self._arms.values())

    def disturbance(self) -> Disturbance | None:
        busy, own, took = self._machine.busy(), self._own_time() - self._own, self._machine.now() - self._began
        if busy is None or self._busy is None or took <= 0:
            return None
        all_of_it, stolen = busy[0] - self._busy[0], busy[1] - self._busy[1]
        foreign = max(0.0, all_of_it - stolen - own)
        return Disturbance(foreign_cores=foreign / took, stolen=stolen / (took * self._machine.cores))


def _load() -> float | None:
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None
