"""Counts and rates per build, and what changed between two builds on the same instances. Knows no speed, no verdict.

Only the last attempt of an episode counts. Episodes in which the harness failed are in no rate, and are listed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from agent_eval.outcome import LABELS, Facts, Label, Outcome, SubKind
from agent_eval.records import EpisodeRecord, RunManifest
from agent_eval.reports.selection import (
    Match,
    Pair,
    builds_of,
    facts_of,
    faulted,
    judged,
    latest,
    models_of,
    pairs_of,
    passed,
    reference_of,
    require_one_version,
)
from agent_eval.reports.stats import (
    Count,
    Pairs,
    bootstrap_median,
    clustered_share,
    cost_per_event,
    effective_pairs,
    wilson,
)
from agent_eval.types import Interval

LEAST_BUDGET = 8
"""Steps that an episode may take at least, however few the oracle needs (docs/concepts/episode.md)."""

RateName = Literal[
    "success",
    "harm",
    "reach",
    "goal_at_end",
    "recognition",
    "reversal",
    "false_complete",
    "false_toggle",
    "over_execution",
    "loop",
    "wrong_app",
]


@dataclass(frozen=True)
class Rate:
    """A share of episodes: what counts, and among which."""

    counts: str
    """The event, in words."""
    among: str
    """The episodes it is counted among, in words."""
    test: Callable[[Outcome, Facts], bool | None]
    """True or False for an episode that is counted among; None for one that is not."""


def _reach(_: Outcome, facts: Facts) -> bool | None:
    return facts.reached if facts.answer_ok is None else None


def _recognition(outcome: Outcome, facts: Facts) -> bool | None:
    # first_reach, not reached: a goal that exists only in the declaration says nothing of recognising one on the screen
    return outcome.label in ("success", "over_execution") if facts.first_reach is not None else None


def _reversal(_: Outcome, facts: Facts) -> bool | None:
    return facts.reversals > 0 if facts.first_reach is not None else None


def _false_complete(outcome: Outcome, facts: Facts) -> bool | None:
    return outcome.label == "premature_completion" if facts.declared == "complete" else None


def _false_toggle(_: Outcome, facts: Facts) -> bool | None:
    return facts.reversals > 0 if facts.first_reach == 0 else None


RATES: Mapping[RateName, Rate] = {
    "success": Rate("labelled success", "judged episodes", lambda outcome, _: outcome.label == "success"),
    "harm": Rate(
        "labelled reversal or over_execution",
        "judged episodes",
        lambda outcome, _: outcome.label in ("reversal", "over_execution"),
    ),
    "reach": Rate("the goal held after some step", "judged episodes that ask for no answer", _reach),
    "goal_at_end": Rate(
        "the goal held at the stop, declared or not", "judged episodes", lambda _, facts: facts.goal_final
    ),
    "recognition": Rate("rightly declared the end", "episodes that reached the goal on the phone", _recognition),
    "reversal": Rate("left the goal again", "episodes that reached the goal on the phone", _reversal),
    "false_complete": Rate("labelled premature_completion", "episodes declared complete", _false_complete),
    "false_toggle": Rate("undid a goal that held at the start", "episodes that began at the goal", _false_toggle),
    "over_execution": Rate(
        "labelled over_execution", "judged episodes", lambda outcome, _: outcome.label == "over_execution"
    ),
    "loop": Rate("a loop was seen", "judged episodes", lambda _, facts: facts.loop is not None),
    "wrong_app": Rate("labelled wrong_app", "judged episodes", lambda outcome, _: outcome.label == "wrong_app"),
}
"""Every rate over episodes, in the order of tables."""


@dataclass(frozen=True)
class BuildSummary:
    """What the judged episodes of one build say."""

    build: str
    recorded: int
    """Episodes with a record."""
    judged: int
    """Episodes in the rates."""
    harness_errors: tuple[EpisodeRecord, ...]
    """Episodes left out of every rate because the harness failed, in the order of records."""
    labels: Mapping[Label, int]
    """Count of each label; every label is a key."""
    sub_kinds: Mapping[SubKind, int]
    """Count of each sub-kind that occurs."""
    rates: Mapping[RateName, Interval | None]
    """Wilson 95 %; None where no episode is counted among. Every rate is a key."""
    invalid_calls_per_turn: Interval | None
    """Malformed replies among all turns; the interval resamples episodes; n is turns."""
    no_effect_share: Interval | None
    """Actions that changed neither state nor screen, declarations left out; the interval resamples episodes."""
    first_invalid_turn: Interval | None
    """Median turn, from 0, of the first malformed reply, over the episodes that had one; 95 % bootstrap."""
    budget_use: Interval | None
    """Median share of the step budget that successful episodes used; 95 % bootstrap."""
    path_efficiency: Interval | None
    """Median of the oracle's actions over the agent's, of successful episodes whose budget tells the oracle's; 95 %
    bootstrap. 1 is the oracle's way; above 1 is a shorter one."""
    tokens: int
    """Tokens generated in judged episodes, failed ones included."""
    seconds: float
    """Wall-clock seconds of judged episodes, failed ones included."""
    tokens_per_success: Interval | None
    """Tokens generated in judged episodes over those that succeeded; the 95 % interval resamples episodes and is open
    above where few succeeded; n is successes. None without any."""
    seconds_per_success: Interval | None
    """Wall-clock seconds, likewise."""


@dataclass(frozen=True)
class Discordance:
    """An instance that one of two builds passed and the other did not."""

    reference: EpisodeRecord
    build: EpisodeRecord

    @property
    def lost(self) -> bool:
        """The reference passed it and the build did not."""
        return self.reference.outcome.label == "success"


class PairOutcome(NamedTuple):
    """What became of one instance with two builds."""

    task: str
    reference_passed: bool
    build_passed: bool


@dataclass(frozen=True)
class PairSummary:
    """One build against the reference, on the instances that were judged with both."""

    build: str
    reference: str
    pairs: int
    both_passed: int
    both_failed: int
    lost: int
    gained: int
    migration: Mapping[tuple[Label, Label], int]
    """Pairs by the label of the reference, then of the build; only those that occur."""
    discordant: tuple[Discordance, ...]
    """Lost pairs first, each group in the order of blocks."""
    step_ratio: Interval | None
    """Median of steps taken over the reference's, where both passed; 95 % bootstrap."""
    in_order: tuple[PairOutcome, ...]
    """Every pair, in the order of blocks."""

    @property
    def worth(self) -> float:
        """Independent pairs that tell as much about the difference: instances of one task may resemble each other."""
        return effective_pairs(pairs_by_task(self.in_order))


@dataclass(frozen=True)
class RunSummary:
    """Every build of a run, and every build against the reference."""

    planned: int
    """Episodes per build that the run was to record."""
    reference: str
    """Build that the others are compared with; empty where the run has reference agents only."""
    builds: tuple[BuildSummary, ...]
    pairs: tuple[PairSummary, ...]
    """Every other build of a model against the reference, then any further comparison that was asked for."""


def summary_of(
    manifest: RunManifest, records: Sequence[EpisodeRecord], *, reference: str = "", further: Sequence[Match] = ()
) -> RunSummary:
    """Summarise a run.

    Args:
        manifest: Of the run.
        records: Its episodes, all attempts.
        reference: Build that the others are compared with; bf16, or the first without it, by default.
        further: Builds to compare besides, each with a reference of its own.

    Raises:
        RunFolderError: its records were made with different versions of a task.
    """
    require_one_version(records)
    builds, models = builds_of(manifest, records), models_of(manifest, records)
    reference = reference or reference_of(models)
    matches = [Match(build, reference) for build in models if build != reference]
    counted = latest(records)
    seed = manifest.configuration.seed
    return RunSummary(
        planned=len(manifest.configuration.tasks) * manifest.configuration.instances,
        reference=reference,
        builds=tuple(_build_summary(build, [r for r in counted if r.build == build], seed) for build in builds),
        pairs=tuple(_pair_summary(counted, match.reference, match.build, seed) for match in (*matches, *further)),
    )


def _build_summary(build: str, records: Sequence[EpisodeRecord], seed: int) -> BuildSummary:
    counted = judged(records)
    facts = [facts_of(record) for record in counted]
    labels = Counter(record.outcome.label for record in records)
    successes = [record for record in counted if passed(record)]
    return BuildSummary(
        build=build,
        recorded=len(records),
        judged=len(counted),
        harness_errors=faulted(records),
        labels={label: labels[label] for label in LABELS},
        sub_kinds=dict(Counter(r.outcome.sub_kind for r in counted if r.outcome.sub_kind)),
        rates={name: _share(rate.test(r.outcome, facts_of(r)) for r in counted) for name, rate in RATES.items()},
        invalid_calls_per_turn=_clustered([Count(f.invalid_calls, f.steps) for f in facts], seed),
        no_effect_share=_clustered([Count(f.no_effect_actions, _actions(f)) for f in facts], seed),
        first_invalid_turn=_median([f.first_invalid_turn for f in facts if f.first_invalid_turn is not None], seed),
        budget_use=_median([len(record.steps) / record.budget for record in successes], seed),
        path_efficiency=_median([e for record in successes if (e := path_efficiency(record)) is not None], seed),
        tokens=sum(step.tokens for record in counted for step in record.steps),
        seconds=sum(record.wall_s for record in counted),
        tokens_per_success=_cost(counted, [sum(step.tokens for step in record.steps) for record in counted], seed),
        seconds_per_success=_cost(counted, [record.wall_s for record in counted], seed),
    )


def _pair_summary(records: Sequence[EpisodeRecord], reference: str, build: str, seed: int) -> PairSummary:
    pairs = pairs_of(records, reference, build)
    in_order = outcomes_of(pairs)
    ends = [(each.reference_passed, each.build_passed) for each in in_order]
    discordant = [Discordance(pair.reference, pair.build) for pair, (a, b) in zip(pairs, ends, strict=True) if a != b]
    both = [pair for pair, (a, b) in zip(pairs, ends, strict=True) if a and b]
    return PairSummary(
        build=build,
        reference=reference,
        pairs=len(pairs),
        both_passed=len(both),
        both_failed=ends.count((False, False)),
        lost=ends.count((True, False)),
        gained=ends.count((False, True)),
        migration=dict(Counter((pair.reference.outcome.label, pair.build.outcome.label) for pair in pairs)),
        discordant=tuple(sorted(discordant, key=lambda d: not d.lost)),
        step_ratio=_median([len(p.build.steps) / len(p.reference.steps) for p in both if p.reference.steps], seed),
        in_order=in_order,
    )


def outcomes_of(pairs: Sequence[Pair]) -> tuple[PairOutcome, ...]:
    """Reduce pairs to what tests are made on."""
    return tuple(PairOutcome(p.build.task, passed(p.reference), passed(p.build)) for p in pairs)


def pairs_by_task(outcomes: Iterable[PairOutcome]) -> list[Pairs]:
    """Count the pairs of each task."""
    counts: dict[str, Counter[tuple[bool, bool]]] = defaultdict(Counter)
    for task, reference, build in outcomes:
        counts[task][reference, build] += 1
    return [Pairs(each[True, False], each[False, True], each.total()) for each in counts.values()]


def path_efficiency(record: EpisodeRecord) -> float | None:
    """Return the oracle's actions over the agent's, without the declaration of either; None where it is not known.

    AndroidLab's reversed redundancy ratio (Y. Xu and others, 2024, arXiv 2410.24024) with the oracle's way for the
    human one. Records hold no oracle, but a budget is twice its actions and two more, unless that is less than
    ``LEAST_BUDGET``: such short tasks say nothing here.
    """
    facts = facts_of(record)
    taken = facts.steps - (facts.declared != "none")
    return (record.budget - 2) / 2 / taken if record.budget > LEAST_BUDGET and taken > 0 else None


def _actions(facts: Facts) -> int:
    """Count the calls that were meant to change something: those that parsed, without the declaration."""
    return facts.steps - facts.invalid_calls - (facts.declared != "none")


def _share(tests: Iterable[bool | None]) -> Interval | None:
    counted = [test for test in tests if test is not None]
    return wilson(sum(counted), len(counted)) if counted else None


def _clustered(counts: Sequence[Count], seed: int) -> Interval | None:
    return clustered_share(counts, seed) if any(count.chances for count in counts) else None


def _cost(records: Sequence[EpisodeRecord], costs: Sequence[float], seed: int) -> Interval | None:
    successes = [passed(record) for record in records]
    return cost_per_event(costs, successes, seed) if any(successes) else None


def _median(values: Sequence[float], seed: int) -> Interval | None:
    return bootstrap_median(values, seed) if values else None
