"""One run, from what a person chose to its folder of records: what every command that plays runs has in common.

Joins what ``wiring`` opens. Prints nothing: lines and progress go to whoever asked. Of reports it knows the one verdict
that may end a run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol

from agent_eval import wiring
from agent_eval.contracts import Sink
from agent_eval.episode import EpisodeLimits
from agent_eval.matrix import WorkUnit, draw_instances, run_matrix, until, work_units
from agent_eval.records import EpisodeRecord, RunFolder, RunManifest
from agent_eval.reports.evidence import verdicts_in_order
from agent_eval.spark_backend.meter import memory_of
from agent_eval.tasks import find_task
from agent_eval.waves import Lanes, Watcher, blocks_of, run_waves
from agent_eval.wiring import RunOptions


class Progress(Protocol):
    """Shows how far a run is while it is entered."""

    def __enter__(self) -> Progress: ...

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None, /
    ) -> None: ...

    def record(self, record: EpisodeRecord) -> None:
        """Count a new record."""
        ...


Watch = Callable[[Sequence[WorkUnit], Sequence[EpisodeRecord]], Progress]
"""Given a run's episodes and the records of earlier commands, returns who shows its progress."""


def play_run(options: RunOptions, out: Path | None, tell: Callable[[str], None], watch: Watch) -> RunFolder:
    """Play a run, or what is left of it, into its folder.

    Args:
        options: What to play.
        out: The folder; the one of this configuration where None.
        tell: Gets a line of what a person should know.
        watch: Shows the progress.

    Returns:
        The folder, with a record for every episode, or for as many as decide.

    Raises:
        OperatorError: the options do not go together, a checkpoint cannot be had or does not fit into memory, or the
            folder holds something else; nothing is written then.
        DeviceFault: the phone or adb does not answer.
    """
    choice = wiring.choose_engine(
        options.engine, builds=options.builds, concurrency=options.concurrency, constrained=options.constrained
    )
    wiring.check_comparison(options)
    models = wiring.models_among(options.builds)
    checkpoints = wiring.find_checkpoints(options.model, options.builds, options.own_checkpoints)
    tasks = [find_task(name) for name in options.tasks]
    drawn = draw_instances(tasks, options.instances, options.seed, options.language, options.split)
    wiring.check_device(options, drawn)
    configuration = wiring.configuration_of(options, checkpoints, drawn)
    folder = out or wiring.default_run_folder(configuration)
    stale = wiring.stale_reason(checkpoints.model.folder, configuration.prompt_digest) if checkpoints else ""
    if stale:
        tell(f"warning: the model {options.model!r} does not fit this version: {stale}")
        tell("hint: `agent-eval train` makes one that does")
    manifest = wiring.manifest_of(configuration, checkpoints, choice)
    RunFolder.check(folder, manifest)
    loaded = wiring.open_models(checkpoints, models, choice, tell, thinking=options.thinking) if checkpoints else {}
    run = RunFolder.create_or_resume(folder, wiring.with_loaded(manifest, checkpoints, loaded))
    builds = options.builds
    if configuration.again:
        builds = (*builds, configuration.again)
        loaded[configuration.again] = loaded[configuration.noise_band]
    units, recorded = list(work_units(builds, drawn)), run.episodes()
    most = "at most " if options.decided_at_margin is not None else ""
    tell(f"run folder: {folder} ({len({r.episode for r in recorded})} of {most}{len(units)} episodes recorded before)")
    limits = EpisodeLimits(options.stop_on_loop, options.max_episode_s, options.max_episode_tokens)
    with wiring.open_devices(options) as devices, run.sink() as file, watch(units, recorded) as progress:
        sink = Watched(file, recorded)

        def decided(block: int) -> bool:
            return options.decided_at_margin is not None and sink.decided(run.manifest, block, tell)

        if options.concurrency == 1:

            def place(build: str) -> wiring.Place:
                return wiring.place_of(build, loaded.get(build), devices[0], options)

            run_matrix(until(decided, units), recorded, place, sink, limits, progress.record)
        else:

            def lanes(build: str) -> Lanes:
                return wiring.lanes_of(build, loaded.get(build), devices, options)

            def differs(before: EpisodeRecord, now: EpisodeRecord) -> None:
                _tell_of_difference(before, now, tell)

            wanted = until(decided, units, blocks_of(options.concurrency))
            watcher = Watcher(progress.record, differs)
            run_waves(wanted, builds, recorded, lanes, sink, limits, watcher, options.concurrency)
    return run


class Watched:
    """A sink that notes the memory of the process with each record, and keeps what a run may end by."""

    def __init__(self, sink: Sink, recorded: Sequence[EpisodeRecord]) -> None:
        self._sink = sink
        self._records = list(recorded)

    def append(self, record: EpisodeRecord) -> None:
        """Write a record."""
        memory = memory_of()
        noted = record.model_copy(update={"anonymous_bytes": memory.anonymous if memory else None})
        self._sink.append(noted)
        self._records.append(noted)

    def decided(self, manifest: RunManifest, block: int, tell: Callable[[str], None]) -> bool:
        """Return whether the blocks before this one decide every comparison of the run; says so if they do."""
        margin = manifest.configuration.decided_at_margin
        assert margin is not None
        before = [record for record in self._records if record.block < block]
        verdicts = verdicts_in_order(manifest, before, margin)
        if not all(verdict.decided for verdict in verdicts.values()):
            return False
        said = ", ".join(f"{build} is {verdict.verdict}" for build, verdict in verdicts.items())
        tell(f"decided after {block} instances: {said}")
        return True


def _tell_of_difference(before: EpisodeRecord, now: EpisodeRecord, tell: Callable[[str], None]) -> None:
    tell(f"warning: {now.episode} went otherwise when its wave was played again; the record of before stands")
    if before.outcome.label != now.outcome.label:
        tell(f"hint: it was {before.outcome.label} and is {now.outcome.label}; equal runs differ on this machine")
