"""What changed between builds on the same instances: paired statistics, label migration, discordant pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from agent_eval.outcome import LABELS
from agent_eval.records import EpisodeRecord
from agent_eval.reports import numbers
from agent_eval.reports.report import Report
from agent_eval.reports.sections.section import (
    NOTHING,
    Cell,
    Column,
    Row,
    Section,
    Span,
    Table,
    Tone,
    one_below_the_other,
)
from agent_eval.reports.stats import EARLY
from agent_eval.reports.summary import Discordance, PairSummary
from agent_eval.types import PairedEvidence, Verdict

_TONES: dict[Verdict, Tone] = {"no worse": "good", "worse": "bad", "insufficient evidence": "open"}
_LONGEST_LABEL = max(len(label) for label in LABELS) + 1  # and the comma before a sub-kind


class _Compared(Protocol):
    @property
    def reference(self) -> str: ...


_Pair = TypeVar("_Pair", bound=_Compared)


def comparison(report: Report) -> tuple[Section, ...]:
    """Compare builds with each reference that they have: one, unless the report is of several runs."""
    return (*_paired(report), *_migration(report), *_discordant(report)) if report.evidence.pairs else ()


def _paired(report: Report) -> tuple[Section, ...]:
    grouped = _by_reference(report.evidence.pairs)
    sections = []
    for place, (reference, pairs) in enumerate(grouped.items(), 1):
        note = _how_compared(reference if len(grouped) == 1 else "the reference", report.evidence.pairs)
        title = f"Against {reference}, the same instances"
        sections.append(Section(title, (_against(pairs),), (note,) if place == len(grouped) else ()))
    return tuple(sections)


def _against(pairs: Sequence[PairedEvidence]) -> Table:
    tested = ("decided at",) if _adaptive(pairs) else ("p", "Holm")
    names = ("pairs", "lost", "gained", "points [95 %]", "bound", *tested)
    return Table(
        (Column("build"), *(Column(name) for name in names), Column("verdict", words=True)),
        tuple(Row((pair.build, *_numbers(pair), _verdict(pair))) for pair in pairs),
    )


def _adaptive(pairs: Sequence[PairedEvidence]) -> bool:
    """The run ends when its pairs decide: then a p-value for a number of pairs settled before says nothing."""
    return any(pair.sequential is not None for pair in pairs)


def _how_compared(reference: str, pairs: Sequence[PairedEvidence]) -> str:
    margin = f"{100 * pairs[0].margin:.0f}"
    said = f"lost: {reference} passed and the build did not. Points: difference of success, Bonett-Price"
    alike = ""
    least = min(pairs, key=lambda pair: (pair.worth or pair.pairs) / max(1, pair.pairs))
    if least.worth is not None and round(least.worth) < least.pairs:
        said += f"; pairs of one task go together, those of {least.build} tell as much as {least.worth:.0f} apart"
        alike = "; both take pairs for apart, p by task does not"
    if not _adaptive(pairs):
        return (
            f"{said}. No worse: the one-sided 95 % bound is above -{margin}. p: exact McNemar; Holm: the same over "
            f"{numbers.count(len(pairs), 'comparison')}{alike}."
        )
    return (
        f"{said}. The run ends when its pairs decide, so the verdict is that of a sequential test (Wald: of discordant "
        "pairs half are lost, or three in four; 5 % error either way) on the pairs in their order, at the pair where a "
        f"one-sided {100 * EARLY:.1f} % bound had cleared -{margin} too. Interval and bound here are of all pairs, of "
        "95 %, not adjusted for the early end; where all pairs are played and none decided, this bound does."
    )


def _numbers(pair: PairedEvidence) -> tuple[str, ...]:
    counts = (str(pair.pairs), str(pair.lost), str(pair.gained))
    known = (numbers.points(pair.difference), numbers.signed(pair.lower_bound)) if pair.pairs else ("-", "-")
    if pair.sequential is not None:
        return (*counts, *known, str(pair.sequential.pairs) if pair.sequential.decided else "open")
    if pair.pairs == 0:
        return (*counts, *known, "-", "-")
    return (*counts, *known, numbers.p_value(pair.p_value), numbers.p_value(pair.p_adjusted))


def _verdict(pair: PairedEvidence) -> Cell:
    verdict = Span(pair.verdict, _TONES[pair.verdict])
    needed = f", {numbers.further(pair.pairs_needed)}" if pair.pairs_needed else ""
    return (verdict, Span(needed, "open")) if needed else verdict


def _migration(report: Report) -> tuple[Section, ...]:
    several = len(_by_reference(report.summary.pairs)) > 1
    return tuple(
        _moves(reference, pairs, f"Label migration from {reference}, pairs" if several else "Label migration, pairs")
        for reference, pairs in _by_reference(report.summary.pairs).items()
    )


def _moves(reference: str, pairs: Sequence[PairSummary], title: str) -> Section:
    seen = {move for pair in pairs for move in pair.migration}
    if not seen:
        return Section(title, (), ("No instance was judged with two builds.",))
    rows = []
    for move in sorted(seen, key=lambda move: (LABELS.index(move[0]), LABELS.index(move[1]))):
        counts = [pair.migration.get(move, 0) for pair in pairs]
        rows.append(Row((*move, *map(_count, counts)), "faint" if move[0] == move[1] else "plain"))
    columns = (
        Column(f"{reference} ended in"),
        Column("the build in", words=True),
        *(Column(pair.build, whole=True) for pair in pairs),
    )
    wide = Table(columns, tuple(rows))
    return Section(title, (Table(columns, tuple(rows), one_below_the_other(wide, 2, "build")),))


def _count(count: int) -> str:
    return str(count) if count else NOTHING


def _discordant(report: Report) -> tuple[Section, ...]:
    grouped = _by_reference(report.summary.pairs)
    return tuple(
        _listed(
            [discordance for pair in pairs for discordance in pair.discordant],
            f"Discordant pairs with {reference}" if len(grouped) > 1 else "Discordant pairs",
        )
        for reference, pairs in grouped.items()
    )


def _listed(discordances: Sequence[Discordance], title: str) -> Section:
    if not discordances:
        return Section(title, (), ("None: no instance was passed by one build only.",))
    columns = (
        Column("", words=True, whole=True),
        Column("episode", words=True),
        Column("failed with", words=True, least=_LONGEST_LABEL),
        Column("goal", words=True),
    )
    rows = []
    for discordance in discordances:
        which: Cell = Span("lost", "bad") if discordance.lost else Span("gained", "good")
        rows.append(Row((which, discordance.build.episode, _ended(_failed(discordance)), discordance.build.goal)))
    return Section(title, (Table(columns, tuple(rows)),))


def _failed(discordance: Discordance) -> EpisodeRecord:
    return discordance.build if discordance.lost else discordance.reference


def _ended(record: EpisodeRecord) -> str:
    outcome = record.outcome
    return f"{outcome.label}, {outcome.sub_kind}" if outcome.sub_kind else outcome.label


def _by_reference(pairs: Sequence[_Pair]) -> dict[str, list[_Pair]]:
    grouped: dict[str, list[_Pair]] = {}
    for pair in pairs:
        grouped.setdefault(pair.reference, []).append(pair)
    return grouped
