"""What the summary of a page says, as sentences and tables of texts. Computes no statistics and knows no HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import TypeVar
from urllib.parse import quote

from agent_eval.outcome import LABELS
from agent_eval.records import EpisodeRecord
from agent_eval.reports import numbers
from agent_eval.reports.divergence import first_divergent_step
from agent_eval.reports.report import Report
from agent_eval.reports.sections import REPORT, Section, sections_of
from agent_eval.reports.sections import section as sections
from agent_eval.reports.sections.comparison import comparison
from agent_eval.reports.sections.identity import identity
from agent_eval.reports.sections.outcomes import denominators
from agent_eval.reports.sections.outcomes import outcomes as outcomes_section
from agent_eval.reports.sections.rates import behaviour
from agent_eval.reports.sections.rates import by_task as by_task_section
from agent_eval.reports.sections.remarks import remarks
from agent_eval.reports.sections.section import Fact, Facts, Line, Lines
from agent_eval.reports.sections.speed import speed as speed_section
from agent_eval.reports.selection import judged, latest, pairs_of
from agent_eval.reports.speed import NOISE_BAND
from agent_eval.reports.summary import RATES, BuildSummary, PairSummary
from agent_eval.types import Interval, PairedEvidence

_KINDS: Mapping[str, str] = {
    "no worse": "good",
    "worse": "bad",
    "insufficient evidence": "open",
    "faster": "good",
    "slower": "bad",
}
"""Verdict to the kind of its cell; the others have none."""


_Block = TypeVar("_Block")


@dataclass(frozen=True)
class Cell:
    """A text in a table."""

    text: str
    link: str = ""
    """Fragment that it leads to, without the number sign; empty for none."""
    kind: str = ""
    """``good``, ``bad``, ``open`` or ``faint``; how it looks besides what it says."""


@dataclass(frozen=True)
class Table:
    """Names of columns and rows of cells; the first cell of a row is its name."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    kind: str = "figures"
    """``figures``, ``verdicts`` where the second column has words, ``discordant``."""


@dataclass(frozen=True)
class Part:
    """A section of the report that has no place of its own on the page."""

    title: str
    tables: tuple[Table, ...]
    facts: tuple[Fact, ...]
    lines: tuple[Line, ...]
    notes: tuple[str, ...]


DRAWN = (outcomes_section, denominators, comparison, by_task_section, speed_section, behaviour)
"""Sections of a report that the page shows in its own form, with plots and links."""


def caveats(report: Report) -> tuple[str, ...]:
    """Return what a reader must know before any figure."""
    configuration = report.manifest.configuration
    said = [line.text for block in remarks(report).blocks if isinstance(block, Lines) for line in block.lines]
    if configuration.faults:
        said.append(f"The phones had faults: {', '.join(configuration.faults)}.")
    if configuration.concurrency > 1:
        said.append(
            f"{configuration.concurrency} episodes were in flight together: no speed of one episode at a time was "
            "measured."
        )
    return tuple(said)


def other_parts(report: Report) -> tuple[Part, ...]:
    """Return every other section of the report, the identity of the run last."""
    functions = [function for function in REPORT if function not in (*DRAWN, remarks, identity)]
    return tuple(_part(section) for section in sections_of(report, (*functions, identity)))


def _part(section: Section) -> Part:
    def of(kind: type[_Block]) -> list[_Block]:
        return [block for block in section.blocks if isinstance(block, kind)]

    return Part(
        section.title,
        tuple(_drawn(section.title, table) for table in of(sections.Table)),
        tuple(fact for block in of(Facts) for fact in block.facts),
        tuple(line for block in of(Lines) for line in block.lines),
        section.notes,
    )


def _drawn(title: str, table: sections.Table) -> Table:
    rows = [tuple(_cell(cell, row.tone) for cell in row.cells) for row in table.rows]
    return Table(title, tuple(column.name for column in table.columns), tuple(rows))


def _cell(cell: sections.Cell, tone: sections.Tone) -> Cell:
    tones = [span.tone for span in sections.spans(cell) if span.tone != "plain"]
    kind = tones[0] if len(set(tones)) == 1 else tone
    return Cell(sections.words(cell), kind="" if kind == "plain" else kind)


def outcomes(report: Report) -> Table:
    """Count the labels of each build."""
    builds = report.summary.builds
    rows = [
        (Cell("success, Wilson 95 %"), *(Cell(_percent(build.rates["success"]), kind="strong") for build in builds)),
        (Cell("judged of recorded of planned"), *(Cell(_denominator(build, report)) for build in builds)),
    ]
    for label in LABELS:
        counts = [(build, build.labels[label]) for build in builds]
        rows.append(
            (
                Cell(label),
                *(
                    Cell(str(count), _episodes(build=build.build, label=label)) if count else Cell("0", kind="faint")
                    for build, count in counts
                ),
            )
        )
    kinds = [
        f"{build.build} {', '.join(f'{kind} {count}' for kind, count in sorted(build.sub_kinds.items()))}"
        for build in builds
        if build.sub_kinds
    ]
    notes = (f"Sub-kinds: {'; '.join(kinds)}.",) if kinds else ()
    return Table("Labels of each build", ("label", *(build.build for build in builds)), tuple(rows), notes)


def harness_errors(report: Report) -> tuple[str, ...]:
    """Name every episode that is left out of the rates, and what was said."""
    return tuple(
        f"{record.episode}, attempt {record.attempt + 1}: {record.outcome.fault or 'no fault recorded'}"
        for build in report.summary.builds
        for record in build.harness_errors
    )


def rates(report: Report) -> Table:
    """List every rate of each build with its interval and both counts."""
    builds = report.summary.builds
    rows = [
        (
            Cell(f"{name.replace('_', ' ')}: {rate.counts}, among {rate.among}"),
            *(_share(build.rates[name]) for build in builds),
        )
        for name, rate in RATES.items()
    ]
    rows += [
        (Cell("invalid calls, of all turns"), *(_share(build.invalid_calls_per_turn) for build in builds)),
        (Cell("no effect, of all actions"), *(_share(build.no_effect_share) for build in builds)),
        (Cell("tokens a success"), *(Cell(numbers.cost(build.tokens_per_success)) for build in builds)),
        (Cell("seconds a success"), *(Cell(numbers.cost(build.seconds_per_success)) for build in builds)),
    ]
    note = "Shares with Wilson 95 % intervals and both counts; those of turns and actions resample episodes."
    return Table("Rates of each build", ("rate", *(build.build for build in builds)), tuple(rows), (note,))


def pairs(report: Report, records: Sequence[EpisodeRecord]) -> Table | None:
    """Compare every build with the reference; None where there is nothing to compare."""
    if not report.evidence.pairs:
        return None
    reference = report.summary.reference
    rows = [_pair(pair, records) for pair in report.evidence.pairs]
    margin = 100 * report.evidence.pairs[0].margin
    notes = (
        f"lost: {reference} passed and the build did not; gained: the other way round. Points: difference of success, "
        f"Bonett-Price 95 %. No worse: the one-sided 95 % bound is above -{margin:.0f} points. p: exact McNemar; Holm: "
        f"the same over {numbers.count(len(rows), 'comparison')}. First difference: pairs whose actions differ "
        "somewhere, and the median step at which they first do.",
    )
    columns = ("build", "verdict", "pairs", "lost", "gained", "points", "bound", "p", "Holm", "first difference")
    return Table(f"Builds against {reference} on the same instances", columns, tuple(rows), notes, "verdicts")


def _pair(pair: PairedEvidence, records: Sequence[EpisodeRecord]) -> tuple[Cell, ...]:
    needed = f", {numbers.further(pair.pairs_needed)}" if pair.pairs_needed else ""
    divergent = (
        first_divergent_step(each.reference, each.build) for each in pairs_of(records, pair.reference, pair.build)
    )
    differ = sorted(step for step in divergent if step is not None)
    first = f"{len(differ)}/{pair.pairs}" + (f", step {median_low(differ) + 1}" if differ else "")
    known = pair.pairs > 0
    figures = (
        (
            numbers.points(pair.difference),
            numbers.signed(pair.lower_bound),
            numbers.p_value(pair.p_value),
            numbers.p_value(pair.p_adjusted),
        )
        if known
        else ("-",) * 4
    )
    return (
        Cell(pair.build),
        Cell(pair.verdict + needed, kind=_KINDS.get(pair.verdict, "")),
        Cell(str(pair.pairs)),
        _linked(pair.lost, _episodes(build=pair.build, against="lost")),
        _linked(pair.gained, _episodes(build=pair.build, against="gained")),
        *map(Cell, figures),
        Cell(first if known else "-"),
    )


def migration(pair: PairSummary) -> Table:
    """Count the pairs by the label of the reference and of a build."""
    before = [label for label in LABELS if any(move[0] == label for move in pair.migration)]
    after = [label for label in LABELS if any(move[1] == label for move in pair.migration)]
    rows = [
        (
            Cell(old),
            *(Cell(str(pair.migration.get((old, new), 0)), kind="strong" if old == new else "") for new in after),
        )
        for old in before
    ]
    caption = f"Label with {pair.reference} (rows) and with {pair.build} (columns), pairs"
    return Table(caption, (f"{pair.reference} ended in", *after), tuple(rows))


def discordant(report: Report) -> Table | None:
    """List the pairs that one of two builds passed; None where there is none."""
    rows = [
        (
            Cell(found.build.episode, f"compare={_name(found.build.episode)}"),
            Cell("lost", kind="bad") if found.lost else Cell("gained", kind="good"),
            Cell(_label(found.build if found.lost else found.reference)),
            Cell(found.build.goal),
        )
        for pair in report.summary.pairs
        for found in pair.discordant
    ]
    if not rows:
        return None
    columns = ("episode", "against the reference", "who failed, failed with", "goal")
    return Table("Discordant pairs; each leads to both side by side", columns, tuple(rows), kind="discordant")


def speed(report: Report) -> Table | None:
    """List speeds and ratios; None where no speed was measured."""
    if not any(build.decode or build.prefill for build in report.speed.builds):
        return None
    ratios = {ratio.build: ratio for ratio in report.speed.ratios}
    rows = []
    for build in report.speed.builds:
        ratio = ratios.get(build.build)
        decode, prefill = (ratio.decode, ratio.prefill) if ratio else (None, None)
        verdict = ratio.decode_verdict if ratio else "reference"
        rows.append(
            (
                Cell(build.build),
                Cell(verdict, kind=_KINDS.get(verdict, "")),
                Cell(_speed(build.decode)),
                Cell(_ratio(decode)),
                Cell(_speed(build.prefill)),
                Cell(_ratio(prefill)),
            )
        )
    warm_up = report.speed.warm_up_block
    discarded = f"Block {warm_up + 1} is discarded as warm-up. " if warm_up is not None else ""
    notes = (
        "Tokens per second: medians over blocks of one instance, in which the builds take turns, with 95 % bootstrap "
        f"intervals and the number of blocks. {discarded}"
        f"Ratios to {report.speed.reference} within {100 * NOISE_BAND:.0f} % are no measured difference.",
    )
    columns = ("build", "decode", "decode, tokens/s", "ratio", "prefill, tokens/s", "ratio")
    return Table("Speed of each build", columns, tuple(rows), notes, "verdicts")


def by_task(report: Report, records: Sequence[EpisodeRecord]) -> Table:
    """Count the successes of each build on each task, tasks in the order of the run."""
    builds = [build.build for build in report.summary.builds]
    counted = judged(latest(records))
    tasks = dict.fromkeys((*report.manifest.configuration.tasks, *(record.task for record in counted)))
    results: dict[tuple[str, str], list[bool]] = {}
    for record in counted:
        results.setdefault((record.task, record.build), []).append(record.outcome.label == "success")
    rows = [
        (
            Cell(task, _episodes(task=task)),
            *(_passed(results.get((task, build), ()), _episodes(task=task, build=build)) for build in builds),
        )
        for task in tasks
        if any((task, build) in results for build in builds)
    ]
    clusters = [
        f"{build.build}: {_percent(build.success)} by task, {build.episodes} episodes worth {build.worth:.0f} "
        "independent ones"
        for build in report.by_task.builds
        if build.episodes > build.tasks
    ]
    notes = (
        (
            "Instances of one task resemble each other, so intervals that resample tasks are wider. "
            f"{'; '.join(clusters)}.",
        )
        if clusters
        else ()
    )
    return Table("Successes over judged instances", ("task", *builds), tuple(rows), notes)


# ----------------------------------------------------------------------------------------------------------------------
# cells


def _passed(results: Sequence[bool], link: str) -> Cell:
    if not results:
        return Cell("-", kind="faint")
    passed = sum(results)
    kind = "good" if passed == len(results) else "bad" if passed == 0 else "open"
    return Cell(f"{passed}/{len(results)}", link, kind)


def _linked(count: int, link: str) -> Cell:
    return Cell(str(count), link if count else "")


def _share(share: Interval | None) -> Cell:
    return Cell(numbers.percent(share), kind="" if share else "faint")


def _percent(share: Interval | None) -> str:
    return f"{100 * share.estimate:.0f} % [{100 * share.low:.0f}, {100 * share.high:.0f}]" if share else "-"


def _denominator(build: BuildSummary, report: Report) -> str:
    return f"{build.judged} / {build.recorded} / {report.summary.planned}"


def _speed(value: Interval | None) -> str:
    return f"{numbers.rate(value)} /{value.n}" if value else "-"


def _ratio(value: Interval | None) -> str:
    return f"{value.estimate:.2f} [{value.low:.2f}, {value.high:.2f}] /{value.n}" if value else "-"


def _label(record: EpisodeRecord) -> str:
    return record.outcome.label + (f", {record.outcome.sub_kind}" if record.outcome.sub_kind else "")


def _episodes(**choices: str) -> str:
    """Return the fragment of the list of episodes with choices made."""
    return "&".join(("episodes", *_pairs(choices.items())))


def _pairs(items: Iterable[tuple[str, str]]) -> Iterable[str]:
    return (f"{name}={_name(value)}" for name, value in items)


def _name(text: str) -> str:
    """Return a name as it stands in a fragment."""
    return quote(text, safe="/", errors="replace")
