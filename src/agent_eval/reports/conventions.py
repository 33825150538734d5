"""What the same episodes score under published conventions. Reads facts and steps; judges nothing anew.

Benchmarks disagree on what success is: on whether the agent must say that it is done, whether a goal that was undone
counts, whether other damage does. Each convention here is a function of the record alone, so that a number can be laid
beside a published one.

Some tasks have no goal on the phone: pure answers, and what cannot be done. They are decided by the declaration, which
every convention here then asks for; conventions that end an episode or its judging early never see a later one. Of a
task that asks for both, the answer must be right as well. An episode that the harness broke passes nothing, and no
summary counts it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from agent_eval.outcome import Facts
from agent_eval.records import EpisodeRecord, RunManifest, StepRecord
from agent_eval.reports.selection import builds_of, judged, latest
from agent_eval.reports.stats import wilson
from agent_eval.types import Interval

Mark = Literal["FN", "FP", "FC", "OT", "USE", "FORMAT_ERROR"]
"""What a benchmark notes besides pass or fail, in its own abbreviation."""
MARKS: tuple[Mark, ...] = get_args(Mark)

MOST_REPETITIONS = 5
"""AndroidLab stops judging when one action is repeated more often than this, in a row."""


@dataclass(frozen=True)
class Score:
    """What one convention says of one episode."""

    passed: bool
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class Convention:
    """How one benchmark scores an episode."""

    name: str
    source: str
    """Where the rule was read."""
    rule: str
    """The rule in one sentence."""
    scores: Callable[[EpisodeRecord, Facts], Score]

    def score(self, record: EpisodeRecord) -> Score:
        """Score an episode; one that the harness broke does not pass."""
        facts = record.outcome.facts
        if facts is None or record.outcome.label == "harness_error":
            return Score(passed=False)
        return self.scores(record, facts)


def _android_world(_record: EpisodeRecord, facts: Facts) -> Score:
    """Ask for the goal at the end and for any declaration: giving up ends an episode as well as claiming it does."""
    return Score(facts.declared != "none" and facts.goal_final and facts.answer_ok is not False)


def _android_lab(record: EpisodeRecord, facts: Facts) -> Score:
    """Ask for the goal after the last step that left one of the task's apps in front; no declaration is needed.

    Replies that are no calls are no lines of its trace: they are neither judged, nor do they break a repetition. Where
    a record does not say which apps are the task's, every step is judged.
    """
    seen = _until_repetition([step for step in record.steps if step.tool is not None])
    if facts.by_declaration:
        return Score(facts.goal_final and bool(seen) and seen[-1] is record.steps[-1])
    pages = [step for step in seen if step.in_task_app is not False]
    return Score(bool(pages) and pages[-1].goal and facts.answer_ok is not False)


def _mobile_world(record: EpisodeRecord, facts: Facts) -> Score:
    """Ask for the goal in the last state, whatever was declared; the first reply that is no call ends the episode."""
    turn = _first_malformed(record)
    if turn is None:
        return Score(facts.goal_final and facts.answer_ok is not False)
    return Score(record.steps[turn].goal and facts.answer_ok is None)


def _mobile_agent_bench(_record: EpisodeRecord, facts: Facts) -> Score:
    """Ask for the goal in any state: once finished, always finished.

    FN: the agent did not stop on the goal, or not at once; where the goal held from the start, looking at it is no
    delay. FP: it stopped without ever having had the goal.
    """
    finished = facts.goal_final if facts.by_declaration else facts.first_reach is not None
    passed = finished and facts.answer_ok is not False
    if not finished:
        return Score(passed, ("FP",) if facts.declared != "none" else ())
    late = bool(facts.first_reach) and (facts.steps_after_reach or 0) > 1
    return Score(passed, ("FN",) if late or facts.declared == "none" else ())


def _mobile_gym(record: EpisodeRecord, facts: Facts) -> Score:
    """Ask for the goal at the end, rightly declared, and nothing else changed.

    FC: declared done without the goal or with a wrong answer. OT: the goal held at the end, and nothing was declared.
    USE: something else was changed. FORMAT_ERROR: a reply that is no call ended the episode; of side effects, those
    that were made before it and stayed to the end of the record are known.
    """
    turn = _first_malformed(record)
    if turn is not None:
        before = {change.path for step in record.steps[:turn] for change in step.changes or ()}
        damaged = not before.isdisjoint(facts.side_effects)
        return Score(passed=False, marks=("FORMAT_ERROR", "USE") if damaged else ("FORMAT_ERROR",))
    reached = facts.goal_final and facts.answer_ok is not False
    marks: list[Mark] = []
    if facts.declared == "complete" and not reached:
        marks.append("FC")
    if facts.declared == "none" and facts.goal_final:
        marks.append("OT")
    if facts.side_effects:
        marks.append("USE")
    return Score(reached and facts.declared == facts.right_ending and not facts.side_effects, tuple(marks))


CONVENTIONS: tuple[Convention, ...] = (
    Convention(
        "AndroidWorld",
        "google-research/android_world, suite_utils.py: the task's success counts only if the agent is done",
        "the goal holds at the end and the agent declared an end",
        _android_world,
    ),
    Convention(
        "AndroidLab",
        "THUDM/Android-Lab, evaluation/task.py: the last judged page wins, judging ends at a repetition",
        "the goal holds at the last step in one of the task's apps, before the sixth repetition of one action",
        _android_lab,
    ),
    Convention(
        "MobileWorld",
        "Tongyi-MAI/MobileWorld, core/runner.py: the state is scored whatever ended the episode",
        "the goal holds in the last state; the first reply that cannot be parsed ends the episode",
        _mobile_world,
    ),
    Convention(
        "MobileAgentBench",
        "MobileAgentBench/mobile-agent-bench, task_orchestrator.py: once a task is finished, it stays so",
        "the goal held after any step",
        _mobile_agent_bench,
    ),
    Convention(
        "MobileGym",
        "Purewhiter/mobilegym, bench_env/runner/base.py: completed, judged a success, and clean",
        "the goal holds at the end, was declared, and nothing else was changed; a format error ends the episode",
        _mobile_gym,
    ),
)
"""The published conventions, in the order of tables."""


@dataclass(frozen=True)
class ConventionShare:
    """How many episodes of one build pass under one convention."""

    convention: str
    passed: Interval | None
    """Wilson 95 %; None where no episode was judged."""
    marks: Mapping[Mark, int]
    """Count of each mark that occurs."""


@dataclass(frozen=True)
class BuildConventions:
    """One build's judged episodes under every convention."""

    build: str
    shares: tuple[ConventionShare, ...]


def conventions_of(manifest: RunManifest, records: Sequence[EpisodeRecord]) -> tuple[BuildConventions, ...]:
    """Score a run's judged episodes under every convention, build by build."""
    counted = judged(latest(records))
    return tuple(_build_conventions(build, counted) for build in builds_of(manifest, records))


def _build_conventions(build: str, records: Sequence[EpisodeRecord]) -> BuildConventions:
    mine = [record for record in records if record.build == build]
    return BuildConventions(build, tuple(_share(convention, mine) for convention in CONVENTIONS))


def _share(convention: Convention, records: Sequence[EpisodeRecord]) -> ConventionShare:
    scores = [convention.score(record) for record in records]
    return ConventionShare(
        convention.name,
        wilson(sum(score.passed for score in scores), len(scores)) if scores else None,
        dict(Counter(mark for score in scores for mark in score.marks)),
    )


def _first_malformed(record: EpisodeRecord) -> int | None:
    return next((turn for turn, step in enumerate(record.steps) if step.tool is None), None)


def _until_repetition(steps: Sequence[StepRecord]) -> list[StepRecord]:
    """Keep the steps before the one that repeats its action too often, in a row."""
    kept: list[StepRecord] = []
    repetitions = 0
    for step in steps:
        same = bool(kept) and (step.tool, step.arguments) == (kept[-1].tool, kept[-1].arguments)
        repetitions = repetitions + 1 if same else 0
        if repetitions > MOST_REPETITIONS:
            break
        kept.append(step)
    return kept
