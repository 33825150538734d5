"""Every figure of the golden run, worked out a second time: from its plan by hand, or by another package.

What a letter of the plan means for labels, rates and conventions stands here in tables of its own, so that nothing that
is tested is also what it is tested against.
"""

from __future__ import annotations

import itertools
import json
import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import bootstrap, f_oneway, norm, permutation_test
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from agent_eval import cli, wiring
from agent_eval.outcome import LABELS, Label, StopReason, SubKind
from agent_eval.records import EpisodeRecord, RunFolder
from agent_eval.reports import report_of
from agent_eval.reports.conventions import CONVENTIONS
from agent_eval.reports.report import Report
from agent_eval.reports.requirements import check, parse_requirement
from agent_eval.reports.summary import RATES, BuildSummary
from agent_eval.spark_backend.weight_path import select
from agent_eval.tasks import find_task
from agent_eval.types import Interval, PairedEvidence, Priority
from tests.reports.builders import MACHINE
from tests.reports.golden_run import INSTANCES, PLAN, PROMPT_TOKENS, SEED, TOKENS, Plan, only, play, rate_of, read_plan

pytestmark = pytest.mark.slow

PLANNED = read_plan()
BUILDS = pytest.mark.parametrize("build", PLANNED.builds)
CANDIDATES = pytest.mark.parametrize("build", PLANNED.builds[1:])
MARGIN = 0.10


@dataclass(frozen=True)
class Golden:
    """The run as played, and what is computed from it."""

    run: RunFolder
    plan: Plan
    records: tuple[EpisodeRecord, ...]
    report: Report
    begins_at_goal: frozenset[tuple[str, int]]

    def letters(self, build: str) -> dict[tuple[str, int], str]:
        """Return the letter of each instance that is judged."""
        return {
            (task, seed): letter
            for (of, task, seed), letter in self.plan.letters.items()
            if of == build and letter != "E"
        }

    def judged(self, build: str) -> list[EpisodeRecord]:
        """Return the last attempt of each judged episode."""
        last = {record.episode: record for record in self.records if record.build == build}
        return [record for record in last.values() if record.outcome.facts is not None]

    def summary(self, build: str) -> BuildSummary:
        """Return what the report counts of a build."""
        return next(each for each in self.report.summary.builds if each.build == build)

    def pair(self, build: str) -> PairedEvidence:
        """Return what the report compares of a build."""
        return next(each for each in self.report.evidence.pairs if each.build == build)


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Golden:
    run = play(tmp_path_factory.mktemp("golden") / "run")
    records = run.episodes()
    _, phone = wiring.open_sim()
    at_goal = set()
    for task, offset in itertools.product(PLANNED.tasks, range(INSTANCES)):
        instance = find_task(task).draw(SEED + offset)
        instance.prepare(phone)
        start = phone.snapshot()
        if instance.goal_holds(start, start):
            at_goal.add((task, SEED + offset))
    return Golden(run, PLANNED, records, report_of(run.manifest, records, margin=MARGIN), frozenset(at_goal))


def passes(letter: str) -> bool:
    """Tell whether an episode played by this letter is a success."""
    return letter in "SFU"


# ----------------------------------------------------------------------------------------------------------------------
# what was played

ENDS: Mapping[str, tuple[Label, SubKind, StopReason]] = {
    "S": ("success", "", "declared"),
    "F": ("success", "", "declared"),
    "U": ("success", "unstable", "declared"),
    "R": ("reversal", "", "declared"),
    "O": ("over_execution", "", "declared"),
    "D": ("no_completion", "undeclared", "step_budget"),
    "P": ("premature_completion", "", "declared"),
    "A": ("premature_completion", "", "declared"),
    "G": ("premature_completion", "gave_up", "declared"),
    "I": ("invalid_call", "", "invalid_stop"),
    "W": ("wrong_app", "", "step_budget"),
    "L": ("looping", "", "step_budget"),
    "E": ("harness_error", "", "harness_error"),
}


def test_the_plan_has_sixty_instances_and_uses_every_letter() -> None:
    assert len(PLANNED.letters) == 60 * len(PLANNED.builds)
    assert set(PLANNED.letters.values()) == set(ENDS)


def test_every_letter_ended_as_it_was_meant_to(golden: Golden) -> None:
    last = {record.episode: record for record in golden.records}
    assert len(last) == len(PLANNED.letters)
    ended = {
        key: (outcome.label, outcome.sub_kind, outcome.stop)
        for key in PLANNED.letters
        for outcome in [last["{}/{}/{}".format(*key)].outcome]
    }
    assert ended == {key: ENDS[letter] for key, letter in PLANNED.letters.items()}


def test_only_what_the_harness_broke_was_tried_again(golden: Golden) -> None:
    tries = Counter((record.build, record.task, record.seed) for record in golden.records)
    assert tries == {key: {"E": 3, "F": 2}.get(letter, 1) for key, letter in PLANNED.letters.items()}


def test_an_equal_run_is_equal_to_the_last_byte(tmp_path: Path) -> None:
    head, *rows = PLAN.strip().splitlines()
    text = "\n".join([head, *(row for row in rows if row.split()[0] in ("AlarmToggle", "OpenApp"))])
    written = [(play(tmp_path / name, text).path / "episodes.jsonl").read_bytes() for name in ("one", "other")]
    assert written[0] == written[1]


# ----------------------------------------------------------------------------------------------------------------------
# counts and rates

ANSWERS = ("DeviceInfo", "ContactNumber", "AlarmVibrates", "NextEvent")
"""Tasks of the plan that only ask for an answer."""
INFEASIBLE = ("NfcOn",)


@dataclass(frozen=True)
class Played:
    """An instance, and the letter that it was played by."""

    task: str
    letter: str
    at_goal: bool
    """The goal held before the first step."""

    @property
    def has_goal(self) -> bool:
        """The goal is a state of the phone."""
        return self.task not in (*ANSWERS, *INFEASIBLE)

    @property
    def reached(self) -> bool:
        """The goal held on the phone at some moment."""
        return self.has_goal and (self.at_goal or self.letter in "SFUROD")

    @property
    def declared_complete(self) -> bool:
        return self.letter in "PA" or (self.letter in "SFURO" and self.task not in INFEASIBLE)

    @property
    def holds_at_end(self) -> bool:
        return self.letter in "SFU" or (
            self.has_goal and (self.letter in "OD" or (self.at_goal and self.letter != "R"))
        )


def played(golden: Golden, build: str) -> list[Played]:
    return [
        Played(task, letter, (task, seed) in golden.begins_at_goal)
        for (task, seed), letter in golden.letters(build).items()
    ]


AMONG: Mapping[str, tuple[Callable[[Played], bool], Callable[[Played], bool]]] = {
    "success": (lambda _: True, lambda p: passes(p.letter)),
    "harm": (lambda _: True, lambda p: p.letter in "RO"),
    "reach": (lambda p: p.task not in ANSWERS, lambda p: p.reached or (p.task in INFEASIBLE and p.letter == "S")),
    "goal_at_end": (lambda _: True, lambda p: p.holds_at_end),
    "recognition": (lambda p: p.reached, lambda p: p.letter in "SFUO"),
    "reversal": (lambda p: p.reached, lambda p: p.letter in "UR"),
    "false_complete": (lambda p: p.declared_complete, lambda p: p.letter in "PA"),
    "false_toggle": (lambda p: p.at_goal, lambda p: p.letter in "UR"),
    "over_execution": (lambda _: True, lambda p: p.letter == "O"),
    "loop": (lambda _: True, lambda p: p.letter in "LDW"),
    "wrong_app": (lambda _: True, lambda p: p.letter == "W"),
}
"""Rate to what it is counted among, and what counts."""


def require_wilson(found: Interval | None, events: int, chances: int) -> None:
    if chances == 0:
        assert found is None
        return
    low, high = proportion_confint(events, chances, method="wilson")
    assert found is not None
    assert (found.estimate, found.n) == (events / chances, chances)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)


@BUILDS
def test_labels_and_denominators_are_those_of_the_letters(golden: Golden, build: str) -> None:
    summary = golden.summary(build)
    all_letters = [letter for (of, _, _), letter in PLANNED.letters.items() if of == build]
    labels, kinds = Counter(ENDS[each][0] for each in all_letters), Counter(ENDS[each][1] for each in all_letters)
    assert summary.labels == {label: labels[label] for label in LABELS}
    assert summary.sub_kinds == {kind: count for kind, count in kinds.items() if kind}
    assert (summary.recorded, summary.judged) == (60, 60 - all_letters.count("E"))
    assert len(summary.harness_errors) == all_letters.count("E")


def test_every_rate_has_a_rule_by_hand() -> None:
    assert set(AMONG) == set(RATES)


@BUILDS
@pytest.mark.parametrize("rate", sorted(AMONG))
def test_a_rate_is_counted_by_hand_and_its_interval_is_that_of_statsmodels(
    golden: Golden, build: str, rate: Any
) -> None:
    among, counts = AMONG[rate]
    chances = [each for each in played(golden, build) if among(each)]
    require_wilson(golden.summary(build).rates[rate], sum(map(counts, chances)), len(chances))


@BUILDS
def test_rates_over_turns_are_those_of_a_loop_over_steps(golden: Golden, build: str) -> None:
    summary = golden.summary(build)
    records = golden.judged(build)
    invalid = [(sum(step.tool is None for step in r.steps), len(r.steps)) for r in records]
    require_resampled(summary.invalid_calls_per_turn, invalid)
    idle = []
    for record in records:
        acted = [step for step in record.steps if step.tool not in (None, "task_complete", "give_up")]
        assert record.outcome.facts is not None
        idle.append((record.outcome.facts.no_effect_actions, len(acted)))
    require_resampled(summary.no_effect_share, idle)
    first = [next(turn for turn, step in enumerate(r.steps) if step.tool is None) for r in records if any_malformed(r)]
    assert (summary.first_invalid_turn is None) == (not first)
    if summary.first_invalid_turn is not None:
        assert (summary.first_invalid_turn.estimate, summary.first_invalid_turn.n) == (0, len(first))


def any_malformed(record: EpisodeRecord) -> bool:
    return any(step.tool is None for step in record.steps)


@BUILDS
def test_budgets_tokens_and_seconds_add_up(golden: Golden, build: str) -> None:
    summary, records = golden.summary(build), golden.judged(build)
    used = [len(record.steps) / record.budget for record in records if record.outcome.label == "success"]
    assert summary.budget_use is not None
    assert (summary.budget_use.estimate, summary.budget_use.n) == (statistics.median(used), len(used))
    steps = [(record.block, len(record.steps)) for record in records]
    assert summary.tokens == TOKENS * sum(count for _, count in steps)
    spent = [count * (TOKENS + PROMPT_TOKENS / 10) / rate_of(build, block) for block, count in steps]
    assert summary.seconds == pytest.approx(sum(spent))


# ----------------------------------------------------------------------------------------------------------------------
# pairs

KNOWN: Mapping[str, tuple[int, int, int, str]] = {
    "better": (1, 13, 60, "no worse"),
    "equal": (2, 2, 60, "no worse"),
    "worse": (20, 1, 60, "worse"),
    "reversing": (1, 1, 60, "no worse"),
    "undecided": (5, 1, 59, "insufficient evidence"),
}
"""What the plan was written for: pairs lost, gained, all pairs, and the verdict at a margin of ten points."""


def both(golden: Golden, build: str) -> Iterator[tuple[tuple[str, int], str, str]]:
    """Yield each instance that both builds have judged, with the letter of the reference and of the build."""
    mine, reference = golden.letters(build), golden.letters("reference")
    yield from ((key, reference[key], mine[key]) for key in mine if key in reference)


def closed_form(lost: float, gained: float, n: float, z: float) -> tuple[float, float]:
    """Return the ends of the interval of D. G. Bonett and R. M. Price (2012), equation for paired proportions."""
    p12, p21 = (gained + 1) / (n + 2), (lost + 1) / (n + 2)
    reach = z * math.sqrt((p12 + p21 - (p12 - p21) ** 2) / (n + 2))
    return p12 - p21 - reach, p12 - p21 + reach


def of_tasks(golden: Golden, build: str) -> list[list[float]]:
    """Return the differences of the pairs of each task: -1 for one lost, 1 for one gained, 0 for the others."""
    net: dict[str, list[float]] = defaultdict(list)
    for (task, _), reference, mine in both(golden, build):
        net[task].append(float(passes(mine)) - float(passes(reference)))
    return list(net.values())


def worth(groups: Sequence[Sequence[float]]) -> float:
    """Return L. Kish's effective size (1965) of groups, with the correlation of an analysis of variance."""
    n, squares = sum(map(len, groups)), sum(len(group) ** 2 for group in groups)
    if all(len(set(group)) == 1 for group in groups):  # no spread within: one of a group tells all
        correlation = 1.0
    else:
        ratio = f_oneway(*groups).statistic
        correlation = max(0.0, (ratio - 1) / (ratio + (n - squares / n) / (len(groups) - 1) - 1))
    return float(n / (1 + (squares / n - 1) * correlation))


@CANDIDATES
def test_pairs_are_those_of_the_letters(golden: Golden, build: str) -> None:
    pairs = list(both(golden, build))
    summary = next(each for each in golden.report.summary.pairs if each.build == build)
    table = Counter((passes(reference), passes(mine)) for _, reference, mine in pairs)
    assert (summary.both_passed, summary.lost, summary.gained, summary.both_failed) == (
        table[True, True],
        table[True, False],
        table[False, True],
        table[False, False],
    )
    assert (summary.lost, summary.gained, summary.pairs) == KNOWN[build][:3]
    assert summary.migration == Counter((ENDS[reference][0], ENDS[mine][0]) for _, reference, mine in pairs)
    discordant = [(each.build.task, each.build.seed) for each in summary.discordant]
    assert sorted(discordant) == sorted(key for key, one, other in pairs if passes(one) != passes(other))
    lost = [each.lost for each in summary.discordant]
    assert lost == sorted(lost, reverse=True)


@CANDIDATES
def test_the_comparison_is_that_of_statsmodels_and_of_the_closed_form(golden: Golden, build: str) -> None:
    lost, gained, n, verdict = KNOWN[build]
    pair, share = golden.pair(build), worth(of_tasks(golden, build)) / KNOWN[build][2]
    assert pair.worth == pytest.approx(share * n)
    assert (pair.lost, pair.gained, pair.pairs, pair.verdict, pair.margin) == (lost, gained, n, verdict, MARGIN)
    assert pair.p_value == pytest.approx(mcnemar([[0, lost], [gained, 0]], exact=True).pvalue)
    assert pair.difference.estimate == pytest.approx((gained - lost) / n)
    assert (pair.difference.low, pair.difference.high) == pytest.approx(
        closed_form(share * lost, share * gained, share * n, norm.ppf(0.975))
    )
    low, high = closed_form(share * lost, share * gained, share * n, norm.ppf(0.95))
    assert pair.lower_bound == pytest.approx(low)
    assert verdict == ("no worse" if low > -MARGIN else "worse" if high < -MARGIN else "insufficient evidence")


def test_p_values_are_adjusted_as_statsmodels_does(golden: Golden) -> None:
    raw = [mcnemar([[0, KNOWN[build][0]], [KNOWN[build][1], 0]], exact=True).pvalue for build in PLANNED.builds[1:]]
    adjusted = multipletests(raw, method="holm")[1]
    assert [pair.p_adjusted for pair in golden.report.evidence.pairs] == pytest.approx(list(adjusted))
    assert [pair.build for pair in golden.report.evidence.pairs if pair.p_adjusted < 0.05] == ["better", "worse"]


@CANDIDATES
def test_the_pairs_still_needed_are_found_by_counting_up(golden: Golden, build: str) -> None:
    lost, gained, n, verdict = KNOWN[build]
    if verdict != "insufficient evidence":
        assert golden.pair(build).pairs_needed == 0
        return

    share = worth(of_tasks(golden, build)) / n

    def planned(total: int) -> bool:
        pairs = share * total
        p12, p21 = (gained / n * pairs + 1) / (pairs + 2), (lost / n * pairs + 1) / (pairs + 2)
        error = math.sqrt((p12 + p21 - (p12 - p21) ** 2) / (pairs + 2))
        return bool(p12 - p21 + MARGIN >= (norm.ppf(0.95) + norm.ppf(0.8)) * error)

    assert golden.pair(build).pairs_needed == next(total for total in itertools.count(n) if planned(total)) - n


def test_the_pairs_still_needed_decide_about_four_times_in_five(golden: Golden) -> None:
    lost, gained, n, _ = KNOWN["undecided"]
    assert worth(of_tasks(golden, "undecided")) == n  # its losses are spread over tasks: pairs are as if independent
    total = n + golden.pair("undecided").pairs_needed
    rng = np.random.default_rng(3)
    drawn = rng.multinomial(total, [lost / n, gained / n, 1 - (lost + gained) / n], size=4000)
    decided = [closed_form(int(row[0]), int(row[1]), total, norm.ppf(0.95))[0] > -MARGIN for row in drawn]
    assert np.mean(decided) == pytest.approx(0.8, abs=0.03)


# ----------------------------------------------------------------------------------------------------------------------
# by task


def by_task(golden: Golden, build: str) -> dict[str, list[bool]]:
    found: dict[str, list[bool]] = defaultdict(list)
    for (task, _), letter in golden.letters(build).items():
        found[task].append(passes(letter))
    return found


def require_resampled(found: Interval | None, clusters: Sequence[tuple[int, int]]) -> None:
    """Hold a pooled share and its interval against the percentile bootstrap over clusters of scipy."""
    used = [(events, chances) for events, chances in clusters if chances]
    events, chances = (np.array(column) for column in zip(*used, strict=True))
    assert found is not None
    assert (found.estimate, found.n) == (events.sum() / chances.sum(), chances.sum())
    if len({a / b for a, b in used}) == 1:
        return  # resampling shows no spread; what is said then is tested beside the statistics

    def pooled(some: Any, of: Any, axis: int = -1) -> Any:
        return some.sum(axis=axis) / of.sum(axis=axis)

    theirs = bootstrap(
        (events, chances), pooled, paired=True, method="percentile", n_resamples=10_000, rng=np.random.default_rng(9)
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.02)


@BUILDS
def test_success_by_task_is_that_of_scipys_bootstrap_and_analysis_of_variance(golden: Golden, build: str) -> None:
    tasks = by_task(golden, build)
    found = next(each for each in golden.report.by_task.builds if each.build == build)
    assert (found.tasks, found.episodes) == (30, len(golden.letters(build)))
    require_resampled(found.success, [(sum(each), len(each)) for each in tasks.values()])
    groups = [[float(each) for each in instances] for instances in tasks.values()]
    sizes = sum(len(group) ** 2 for group in groups)
    assert found.worth == pytest.approx(worth(groups))
    # the effective size says which correlation it was computed with
    assert found.correlation == pytest.approx((found.episodes / worth(groups) - 1) / (sizes / found.episodes - 1))


@CANDIDATES
def test_differences_by_task_are_those_of_scipys_bootstrap_and_permutations(golden: Golden, build: str) -> None:
    found = next(each for each in golden.report.by_task.pairs if each.build == build)
    groups = of_tasks(golden, build)
    sums, sizes = np.array([sum(each) for each in groups]), np.array([len(each) for each in groups])
    assert (found.difference.estimate, found.difference.n) == (sums.sum() / sizes.sum(), sizes.sum())
    theirs = bootstrap(
        (sums, sizes),
        lambda some, of, axis=-1: some.sum(axis=axis) / of.sum(axis=axis),
        paired=True,
        method="percentile",
        n_resamples=10_000,
        rng=np.random.default_rng(9),
    ).confidence_interval
    assert (found.difference.low, found.difference.high) == pytest.approx((theirs.low, theirs.high), abs=0.02)
    flipped = permutation_test(
        ((sums / sizes)[sums != 0],),
        lambda means, axis=-1: means.sum(axis=axis),
        permutation_type="samples",
        n_resamples=20_000,
        rng=np.random.default_rng(9),
    )
    assert found.p_value == pytest.approx(flipped.pvalue, abs=0.01)


def test_all_instances_passed_counts_whole_tasks(golden: Golden, tmp_path: Path) -> None:
    whole = PLANNED.builds[:-1]  # the last has a task with one judged instance, for which k is 1
    part = only(golden.run, tmp_path / "part", *whole)
    report = report_of(part.manifest, part.episodes())
    assert golden.report.by_task.each == 1
    assert report.by_task.each == 2
    for found in report.by_task.builds:
        tasks = by_task(golden, found.build)
        assert found.all_passed.estimate == pytest.approx(sum(map(all, tasks.values())) / 30)
        assert found.all_passed.n == 30


# ----------------------------------------------------------------------------------------------------------------------
# published conventions

CONVENTION_PASSES: Mapping[str, str] = {
    "AndroidWorld": "SFUO",
    "AndroidLab": "SFUOD",
    "MobileWorld": "SFUOD",
    "MobileAgentBench": "SFUODR",
    "MobileGym": "SFU",
}
"""Convention to the letters that pass under it (docs/concepts/conventions.md, "One trajectory, five verdicts")."""
CONVENTION_MARKS: Mapping[str, Callable[[Played], bool]] = {
    "FN": lambda p: p.letter == "D" or (p.letter in "URO" and not p.at_goal),
    "FP": lambda p: p.letter in "PAG",
    "FC": lambda p: p.letter in "PAR",
    "OT": lambda p: p.letter == "D",
    "USE": lambda p: p.letter == "O",
    "FORMAT_ERROR": lambda p: p.letter == "I",
}


@BUILDS
def test_published_conventions_score_each_letter_as_their_rules_say(golden: Golden, build: str) -> None:
    mine = played(golden, build)
    shares = next(each for each in golden.report.conventions if each.build == build).shares
    assert [share.convention for share in shares] == list(CONVENTION_PASSES) == [each.name for each in CONVENTIONS]
    for share in shares:
        require_wilson(share.passed, sum(p.letter in CONVENTION_PASSES[share.convention] for p in mine), len(mine))
    noted = Counter[str]()
    for share in shares:
        noted.update(share.marks)
    expected = {mark: sum(map(test, mine)) for mark, test in CONVENTION_MARKS.items()}
    assert noted == {mark: count for mark, count in expected.items() if count}


# ----------------------------------------------------------------------------------------------------------------------
# speed


@BUILDS
def test_speeds_are_the_medians_of_what_the_builds_were_given(golden: Golden, build: str) -> None:
    blocks = sorted({record.block for record in golden.judged(build)} - {0})  # the first is the warm-up
    rates = [rate_of(build, block) for block in blocks]
    found = next(each for each in golden.report.speed.builds if each.build == build)
    require_median(found.decode, rates)
    require_median(found.prefill, [10 * rate for rate in rates])
    if build != "reference":
        ratios = [rate_of(build, block) / rate_of("reference", block) for block in blocks]
        ratio = next(each for each in golden.report.speed.ratios if each.build == build)
        require_median(ratio.decode, ratios)
        assert ratio.decode_verdict == "faster"


def require_median(found: Interval | None, values: Sequence[float]) -> None:
    theirs = bootstrap(
        (values,), np.median, method="percentile", n_resamples=10_000, rng=np.random.default_rng(9)
    ).confidence_interval
    assert found is not None
    assert found.n == len(values)
    assert found.estimate == pytest.approx(statistics.median(values))
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), rel=0.02)


# ----------------------------------------------------------------------------------------------------------------------
# what is advised and what is required

PRIORITIES: tuple[Priority, ...] = ("speed", "fidelity", "agentic")
DECIDES = ("reference", "better", "equal", "worse", "reversing")
ABSTAINS = ("reference", "equal", "worse", "undecided")


@pytest.mark.parametrize(
    ("builds", "advised", "rule"),
    [
        # reversing is the fastest and passes as much as the reference; worse comes next; of the rest equal is faster
        (DECIDES, {"speed": "equal", "fidelity": "better", "agentic": "better"}, "preferred-build"),
        # without one that is better, the reference has lost nothing, and equal is level and faster
        (
            ("reference", "equal", "worse", "reversing"),
            {"speed": "equal", "fidelity": "reference", "agentic": "equal"},
            "",
        ),
        (("reference", "worse", "reversing"), dict.fromkeys(PRIORITIES, "reference"), "keep-reference"),
    ],
)
def test_a_run_that_decides_advises_by_priority(
    golden: Golden, tmp_path: Path, builds: tuple[str, ...], advised: Mapping[Priority, str], rule: str
) -> None:
    part = only(golden.run, tmp_path / "part", *builds)
    evidence = report_of(part.manifest, part.episodes()).evidence
    for priority in PRIORITIES:
        advice = select(MACHINE, priority, evidence)
        assert (advice.build, advice.conclusive, advice.pairs_needed) == (advised[priority], True, 0), priority
        assert rule in ("", advice.rule)


@pytest.mark.parametrize("priority", PRIORITIES)
def test_a_run_that_cannot_decide_keeps_the_safer_build_and_says_how_many_pairs_it_needs(
    golden: Golden, tmp_path: Path, priority: Priority
) -> None:
    part = only(golden.run, tmp_path / "part", *ABSTAINS)
    evidence = report_of(part.manifest, part.episodes()).evidence
    advice = select(MACHINE, priority, evidence)
    kept = "reference" if priority == "fidelity" else "equal"
    assert (advice.build, advice.conclusive, advice.rule) == (kept, False, "insufficient-evidence")
    assert advice.pairs_needed == golden.pair("undecided").pairs_needed > 0


REQUIREMENTS = {
    "non_inferior(equal)": "met",
    "non_inferior(better)": "met",
    "non_inferior(worse)": "broken",
    "non_inferior(reversing)": "met",
    "non_inferior(undecided)": "open",
    "faster(reversing)": "met",
    "decode_ratio(equal) >= 1.9": "met",
    "decode_ratio(equal) >= 2.5": "broken",
    "success(better) >= 0.75": "met",
    "success(better) >= 0.85": "open",
    "success(worse) >= 0.6": "broken",
    "harm(reversing) <= 0.16": "broken",
    "harm(equal) <= 0.16": "met",
    "reversal(reversing) <= 0.2": "broken",
    "false_toggle(reversing) <= 0.1": "broken",
    "difference(worse) >= -0.1": "broken",
    "difference(undecided) >= -0.1": "open",
}
"""What is required, and how the run stands to it."""


@pytest.mark.parametrize("text", REQUIREMENTS)
def test_a_requirement_is_met_broken_or_open(golden: Golden, text: str) -> None:
    assert check(golden.report, parse_requirement(text)).standing == REQUIREMENTS[text]


# ----------------------------------------------------------------------------------------------------------------------
# through the front door


@pytest.mark.parametrize(
    ("required", "code"),
    [(("non_inferior(equal)", "harm(equal) <= 0.16"), 0), (("non_inferior(equal)", "non_inferior(undecided)"), 1)],
)
def test_gate_ends_with_the_code_of_what_is_required(
    golden: Golden, required: Sequence[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["gate", str(golden.run.path), *(f"--require={text}" for text in required)]) == code
    assert all(text in capsys.readouterr().out or text == required[-1] for text in required)


def test_the_printed_report_shows_the_known_differences(
    golden: Golden, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert cli.main(["report", str(golden.run.path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    for build, (lost, gained, n, verdict) in KNOWN.items():
        assert any(line.split()[:4] == [build, str(n), str(lost), str(gained)] and verdict in line for line in lines)


def test_scripts_give_the_known_rates_through_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three minds on the same two switches: one that is right, one that undoes it, one that declares at once."""
    monkeypatch.chdir(tmp_path)
    way = [
        {"tool": "open_app", "app": "Settings"},
        {"tool": "tap", "label": "Network & internet"},
        {"tool": "tap", "label": "Airplane mode"},
    ]
    done = {"tool": "task_complete"}
    task = "AirplaneSet[start=off;wanted=on]"
    scripts = {"right": [*way, done], "undoes": [*way, way[-1], done], "hasty": [done]}
    for name, lines in scripts.items():
        Path(f"{name}.json").write_text(json.dumps({task: lines}))
    builds = [f"scripted:{name}.json" for name in scripts]
    command = ["run", "--builds", ",".join([*builds, "oracle"]), "--tasks", task]
    assert cli.main([*command, "--instances", "4", "--out", "run"]) == 0
    run = RunFolder.open(Path("run"))
    labels = Counter((record.build, record.outcome.label) for record in run.episodes())
    assert labels == {
        ("scripted:right.json", "success"): 4,
        ("scripted:undoes.json", "reversal"): 4,
        ("scripted:hasty.json", "premature_completion"): 4,
        ("oracle", "success"): 4,
    }
    assert "reversal" in capsys.readouterr().out
