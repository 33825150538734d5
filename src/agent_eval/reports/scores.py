"""From the runs of several conditions to scores. Counts what ``summary`` counts; knows of a task only what it is told.

A condition may have several runs of the same tasks, one for each skin. Then they are one run of more tasks, each named
as the variant that it is: ``WifiSet+vendor``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from agent_eval.records import EpisodeRecord, RunManifest
from agent_eval.reports.evidence import evidence_of
from agent_eval.reports.score_record import BuildScores, ConditionScores, PairScores, ScoreRecord
from agent_eval.reports.selection import facts_of, judged, latest
from agent_eval.reports.stats import wilson
from agent_eval.reports.summary import RATES, BuildSummary, summary_of
from agent_eval.types import Interval


class TaskKind(NamedTuple):
    """What scores need to know of a task."""

    tier: int
    already_true: bool
    """Its goal holds at the start."""


class Played(NamedTuple):
    """One finished run."""

    manifest: RunManifest
    records: tuple[EpisodeRecord, ...]
    """All attempts."""


def scores_of(conditions: Mapping[str, Sequence[Played]], kinds: Mapping[str, TaskKind], plan_seed: int) -> ScoreRecord:
    """Compute the scores of a model.

    Args:
        conditions: Per condition its runs: all of one checkpoint, one split and the same tasks, each on another skin.
        kinds: Every task by its name.
        plan_seed: Of the training.

    Raises:
        ValueError: there is no run.
    """
    runs = [run for played in conditions.values() for run in played]
    if not runs:
        raise ValueError("scores need at least one run; received none")
    newest = max((run.manifest for run in runs), key=lambda manifest: manifest.created)
    return ScoreRecord(
        created=newest.created,
        model_digest=newest.configuration.model_digest,
        prompt_digest=newest.configuration.prompt_digest,
        plan_seed=plan_seed,
        first_seed=newest.configuration.seed,
        versions=newest.versions,
        machine=newest.machine,
        seconds=round(sum(record.wall_s for run in runs for record in judged(latest(run.records))), 1),
        build_notes=newest.build_notes,
        conditions=tuple(_condition(name, played, kinds) for name, played in conditions.items()),
    )


def _condition(name: str, runs: Sequence[Played], kinds: Mapping[str, TaskKind]) -> ConditionScores:
    one, kind_of = _as_one(runs), {**kinds}
    for run in runs:
        skin = run.manifest.configuration.skin
        kind_of |= {_variant(task, skin): kinds[task] for task in run.manifest.configuration.tasks}
    summary, evidence = summary_of(*one), evidence_of(*one)
    configuration = runs[0].manifest.configuration
    return ConditionScores(
        name=name,
        split=configuration.split,
        tasks=len(configuration.tasks),
        skins=tuple(run.manifest.configuration.skin for run in runs),
        instances=configuration.instances,
        builds=tuple(_build(build, one.records, summary.planned, kind_of) for build in summary.builds),
        pairs=tuple(
            PairScores(
                build=pair.build,
                reference=pair.reference,
                pairs=pair.pairs,
                lost=pair.lost,
                gained=pair.gained,
                difference=pair.difference if pair.pairs else None,
                p_value=pair.p_value,
                verdict=pair.verdict,
            )
            for pair in evidence.pairs
        ),
    )


def _build(
    summary: BuildSummary, records: Iterable[EpisodeRecord], planned: int, kinds: Mapping[str, TaskKind]
) -> BuildScores:
    mine = judged(latest(record for record in records if record.build == summary.build))
    tiers = sorted({kinds[record.task].tier for record in mine})
    return BuildScores(
        build=summary.build,
        planned=planned,
        recorded=summary.recorded,
        judged=summary.judged,
        harness_errors=len(summary.harness_errors),
        labels=dict(summary.labels),
        success=summary.rates["success"],
        tiers={tier: _share(_passed(r) for r in mine if kinds[r.task].tier == tier) for tier in tiers},
        rates={name: share for name, share in summary.rates.items() if name != "success"},
        already_true=_share(_passed(r) and facts_of(r).reversals == 0 for r in mine if kinds[r.task].already_true),
    )


def _as_one(runs: Sequence[Played]) -> Played:
    """Return the runs of a condition as one, in which no two episodes have one name."""
    if len(runs) == 1:
        return runs[0]
    tasks: list[str] = []
    records: list[EpisodeRecord] = []
    for run in runs:
        skin = run.manifest.configuration.skin
        tasks += (_variant(task, skin) for task in run.manifest.configuration.tasks)
        for record in run.records:
            task = _variant(record.task, skin)
            named = {"task": task, "episode": f"{record.build}/{task}/{record.seed}"}
            records.append(record.model_copy(update=named))
    configuration = runs[0].manifest.configuration.model_copy(update={"tasks": tuple(tasks), "task_versions": ()})
    return Played(runs[0].manifest.model_copy(update={"configuration": configuration}), tuple(records))


def _variant(task: str, skin: str) -> str:
    return f"{task}+{skin}"


def _passed(record: EpisodeRecord) -> bool:
    return RATES["success"].test(record.outcome, facts_of(record)) is True


def _share(tests: Iterable[bool]) -> Interval | None:
    counted = list(tests)
    return wilson(sum(counted), len(counted)) if counted else None
