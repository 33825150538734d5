"""Builds of several runs, on the instances that the runs share. Draws nothing.

The records of all runs are put together under names that are unique, and then summarised as those of one run are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from agent_eval.errors import OperatorError, RunFolderError, UnknownName
from agent_eval.records import EpisodeRecord, RunManifest
from agent_eval.reports.report import Report, report_of
from agent_eval.reports.selection import (
    InstanceKey,
    Match,
    builds_of,
    instance_of,
    models_of,
    pairs_of,
    reference_of,
    require_one_version,
)

_EXAMPLE = "`--reference bf16`, or `--reference bf16@RUN` where several runs have it"


@dataclass(frozen=True)
class ComparedRun:
    """One run among those compared."""

    name: str
    """The shortest end of its path that no other run has."""
    path: str
    manifest: RunManifest
    records: tuple[EpisodeRecord, ...]
    """Of all attempts; beside other runs, without those that only measure noise."""
    labels: Mapping[str, str]
    """Each build of the run to its name in the comparison: its own, or ``build@run`` where several runs have it."""

    @property
    def planned(self) -> int:
        """Episodes per build that the run was to record."""
        configuration = self.manifest.configuration
        return len(configuration.tasks) * configuration.instances

    @property
    def instances(self) -> set[InstanceKey]:
        """Instances of which the run has a record."""
        return {instance_of(record) for record in self.records}


@dataclass(frozen=True)
class SameBuild:
    """One build in two runs: what should be the same if the runs are."""

    build: str
    reference: str
    pairs: int
    flipped: int
    """Instances that it passed in one run only."""
    relabelled: int
    """Instances that ended with another label."""
    otherwise: int
    """Instances in which it wrote something else."""


@dataclass(frozen=True)
class Comparison:
    """Builds of one or several runs against one of them."""

    runs: tuple[ComparedRun, ...]
    report: Report
    """Of all builds together; its manifest is that of the first run, with the names of all builds."""
    run_of: Mapping[str, str]
    """Name of each build's run."""
    same_builds: tuple[SameBuild, ...]
    """Every build that several runs have: each later run against the first."""
    shared: int
    """Instances that all runs have."""
    pairs: int
    """Pairs of all comparisons together."""
    began_otherwise: int
    """Of those, the ones whose two phones were not in the same state when the episode began."""


class _Source(NamedTuple):
    path: Path
    manifest: RunManifest
    records: tuple[EpisodeRecord, ...]


def comparison_of(
    runs: Sequence[tuple[Path, RunManifest, Sequence[EpisodeRecord]]],
    *,
    reference: str = "",
    margin: float | None = None,
) -> Comparison:
    """Compare the builds of runs.

    Args:
        runs: The folder, the manifest and the episodes of each run, all attempts.
        reference: Build that the others are compared with, as ``build`` or ``build@run``; bf16 of the first run, or its
            first build of a model, by default.
        margin: Non-inferiority margin, as a positive share; the one that the run was to end by, or 0.1, if None.

    Raises:
        OperatorError: a run is named twice, or the reference is no build of a model.
        UnknownName: the reference is no build of the runs.
        RunFolderError: a run shares no instance with that of the reference, or has another version of a task.
    """
    several = len(runs) > 1
    named = _named(
        [
            _Source(path, manifest, _counted(manifest, records) if several else tuple(records))
            for path, manifest, records in runs
        ]
    )
    merged, records = _merged_manifest(named), _merged_records(named)
    models = models_of(merged, records)
    chosen = _chosen(named, reference, models) if reference else _default(named)
    require_one_version(records)
    if several:
        _require_pairs(named, chosen)
    matches = [match for match in _same_builds(named, models) if chosen not in match]
    report = report_of(
        merged,
        records,
        margin=margin,
        run=", ".join(run.path for run in named),
        reference=chosen,
        further=matches,
        interleaved=not several,
    )
    compared = [Match(pair.build, pair.reference) for pair in report.summary.pairs]
    return Comparison(
        runs=named,
        report=report,
        run_of={label: run.name for run in named for label in run.labels.values()},
        same_builds=tuple(_same(records, match) for match in _same_builds(named, models)),
        shared=len(set.intersection(*(run.instances for run in named))),
        pairs=sum(pair.pairs for pair in report.summary.pairs),
        began_otherwise=sum(
            pair.build.start_snapshot != pair.reference.start_snapshot
            for match in compared
            for pair in pairs_of(records, match.reference, match.build)
        ),
    )


def short_names(paths: Sequence[Path]) -> tuple[str, ...]:
    """Return the shortest end of each path that no other has.

    Raises:
        OperatorError: two paths lead to the same folder.
    """
    places = [path.resolve() for path in paths]
    for place, path in zip(places, paths, strict=True):
        if places.count(place) > 1:
            raise OperatorError(
                f"the run {str(path)!r} is named twice; expected different runs", hint="name each run folder once"
            )
    return tuple(_short(place, [other for other in places if other != place]) for place in places)


def _short(place: Path, others: Sequence[Path]) -> str:
    for length in range(1, len(place.parts)):
        end = place.parts[-length:]
        if all(other.parts[-length:] != end for other in others):
            return "/".join(end)
    return str(place)


def _counted(manifest: RunManifest, records: Iterable[EpisodeRecord]) -> tuple[EpisodeRecord, ...]:
    """Leave out the second time of a build that ran twice to measure noise: it is no build of its own."""
    return tuple(record for record in records if record.build != manifest.configuration.again)


def _named(sources: Sequence[_Source]) -> tuple[ComparedRun, ...]:
    names = short_names([source.path for source in sources])
    builds = [builds_of(source.manifest, source.records) for source in sources]
    everywhere = [build for of_run in builds for build in of_run]
    return tuple(
        ComparedRun(
            name,
            str(source.path),
            source.manifest,
            source.records,
            {build: f"{build}@{name}" if everywhere.count(build) > 1 else build for build in of_run},
        )
        for name, source, of_run in zip(names, sources, builds, strict=True)
    )


def _merged_manifest(runs: Sequence[ComparedRun]) -> RunManifest:
    """Return the first run's manifest with the builds of all runs under their names."""
    first = runs[0].manifest
    if len(runs) == 1:
        return first
    configuration = first.configuration.model_copy(
        update={
            "builds": tuple(label for run in runs for label in run.labels.values()),
            "noise_band": "",
            "decided_at_margin": None,
        }
    )
    agents = tuple(run.labels[agent] for run in runs for agent in run.manifest.agents)
    return first.model_copy(update={"configuration": configuration, "agents": agents, "head_traps": {}})


def _merged_records(runs: Sequence[ComparedRun]) -> tuple[EpisodeRecord, ...]:
    merged = []
    for run in runs:
        for record in run.records:
            label = run.labels[record.build]
            episode = f"{label}/{record.task}/{record.seed}"
            merged.append(record.model_copy(update={"build": label, "episode": episode}))
    return tuple(merged)


def _default(runs: Sequence[ComparedRun]) -> str:
    """Return the reference of the first run that has builds of a model; none where no run has."""
    for run in runs:
        models = models_of(run.manifest, run.records)
        if models:
            return run.labels[reference_of(models)]
    return ""


def _chosen(runs: Sequence[ComparedRun], reference: str, models: Sequence[str]) -> str:
    names = {label: {label, f"{build}@{run.name}"} for run in runs for build, label in run.labels.items()}
    (found, *_) = [label for label, known in names.items() if reference in known] or [""]
    if not found:
        ambiguous = [label for label in names if label.startswith(f"{reference}@")]
        if ambiguous:
            raise OperatorError(
                f"the reference {reference!r} is a build of {len(ambiguous)} runs: {', '.join(ambiguous)}",
                hint=f"say of which run, such as `--reference {ambiguous[0]}`",
            )
        raise UnknownName("reference", reference, names, hint=f"such as {_EXAMPLE}")
    if found not in models:
        raise OperatorError(
            f"the reference {reference!r} is a reference agent, and no build that could be shipped",
            hint=f"builds of a model: {', '.join(models) or 'none'}",
        )
    return found


def _require_pairs(runs: Sequence[ComparedRun], reference: str) -> None:
    """Refuse a run of which no instance is one of the reference's run."""
    (base,) = [run for run in runs if reference in run.labels.values()] or [runs[0]]
    for run in runs:
        if not run.instances & base.instances:
            raise RunFolderError(
                f"the runs {base.path!r} and {run.path!r} have no instance in common: one has {_example(base)}, the "
                f"other {_example(run)}",
                hint="compare runs with the same --tasks, --seed, --language and --split",
            )


def _example(run: ComparedRun) -> str:
    if not run.records:
        return "no episode"
    record = run.records[0]
    return f"{record.task}/{record.seed} {record.goal!r}"


def _same_builds(runs: Sequence[ComparedRun], models: Sequence[str]) -> list[Match]:
    """Match each build that several runs have with itself in the first of them."""
    first: dict[str, str] = {}
    matches = []
    for run in runs:
        for build, label in run.labels.items():
            if label not in models:
                continue
            if build in first:
                matches.append(Match(label, first[build]))
            else:
                first[build] = label
    return matches


def _same(records: Sequence[EpisodeRecord], match: Match) -> SameBuild:
    pairs = pairs_of(records, match.reference, match.build)
    labels = [(pair.reference.outcome.label, pair.build.outcome.label) for pair in pairs]
    return SameBuild(
        build=match.build,
        reference=match.reference,
        pairs=len(pairs),
        flipped=sum((one == "success") != (other == "success") for one, other in labels),
        relabelled=sum(one != other for one, other in labels),
        otherwise=sum(_written(pair.reference) != _written(pair.build) for pair in pairs),
    )


def _written(record: EpisodeRecord) -> list[str]:
    return [step.text for step in record.steps]
