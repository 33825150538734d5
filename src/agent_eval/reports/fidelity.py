"""From what a fidelity measurement recorded to its figures. Measures nothing and draws nothing.

Tokens of one episode are not independent, nor are those of one window of a text: intervals resample whole episodes,
whole windows, or whole prompts. 95 % each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, sqrt
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from agent_eval.actions import TaskComplete
from agent_eval.reports.fidelity_record import (
    PART_LETTERS,
    ActionKind,
    ActionRecord,
    BuildFidelity,
    CompletionRecord,
    DivergenceRecord,
    FidelityRecord,
)
from agent_eval.reports.stats import (
    Count,
    bootstrap_median,
    clustered_mean,
    clustered_quantiles,
    clustered_share,
    wilson,
)
from agent_eval.types import Interval

SEED = 0
"""Of every bootstrap."""

PartName = Literal["all", "thought", "name", "declaration", "arguments", "rest"]
PARTS: tuple[PartName, ...] = get_args(PartName)
"""``name`` counts the names of all tools, ``declaration`` those of them that declare."""

ACTION_KINDS: tuple[ActionKind, ...] = get_args(ActionKind)


@dataclass(frozen=True)
class Closeness:
    """How close a build is to the reference over some positions; n of the intervals is positions."""

    clusters: int
    """Episodes or windows with such positions."""
    kl: Interval
    """Mean of KL(reference || build), nats."""
    largest_kl: float
    same_top: Interval
    """Share of positions at which both hold the same token for the most probable."""
    same: int
    """How many those are."""
    reference_perplexity: Interval
    build_perplexity: Interval
    perplexity_ratio: Interval
    """Of the build over the reference, on the same tokens."""


@dataclass(frozen=True)
class Tails:
    """What the mean does not show, over all positions of replies."""

    p95: Interval
    p99: Interval
    """Quantiles of KL(reference || build), nats."""
    change: Interval
    """Mean of the log-probability of the token that the reference wrote, build less reference."""
    change_rms: Interval
    """Root of its mean square."""


@dataclass(frozen=True)
class Stopping:
    """The choice between stopping and going on, where the goal first held; n is episodes."""

    reference: Interval
    """Mean log-odds of ``task_complete`` against all other tools together."""
    build: Interval
    difference: Interval
    """Build less reference, by episode."""
    flips: Interval
    """Share of episodes in which the two signs differ; Wilson."""
    to_go_on: int
    """Flips in which the reference would stop and the build would not."""
    to_stop: int
    covered: float
    """Least probability, over episodes and both models, of all tools together."""
    called: Interval
    """Share of episodes in which the reference called ``task_complete`` there; Wilson."""
    own: Interval | None
    """Share in which the build itself would, its own thought included; Wilson. None where it was not asked."""


@dataclass(frozen=True)
class Acting:
    """What the build would do at the reference's steps."""

    same: Interval
    """Share of steps with the same action."""
    kinds: dict[ActionKind, int]
    """Every kind is a key."""


@dataclass(frozen=True)
class Greedy:
    """Greedy continuations of prompts."""

    exact: Interval
    """Share that is the same to the last token; Wilson."""
    matches: int
    kept: Interval
    """Mean share of the reference's tokens before the first other one; n is prompts."""
    first_other: Interval | None
    """Median number of tokens before the first other one, over the prompts that have one; None where none has."""


@dataclass(frozen=True)
class Diverging:
    """Episodes that both played for themselves."""

    identical: Interval
    """Share of instances in which both took the same actions throughout; Wilson."""
    same: int
    first_step: Interval | None
    """Median of the first step, from 0, at which they differ, over the instances where they do."""


@dataclass(frozen=True)
class BuildFigures:
    """Everything that is computed for one build; None or empty where it was not measured."""

    build: BuildFidelity
    parts: dict[PartName, Closeness]
    """On the replies; parts that no token writes are left out."""
    tails: Tails | None
    stopping: Stopping | None
    acting: Acting | None
    text: Closeness | None
    greedy: Greedy | None
    diverging: Diverging | None


@dataclass(frozen=True)
class FidelityReport:
    """A fidelity measurement, computed."""

    record: FidelityRecord
    steps: int
    """Of the reference that were followed."""
    written_again: int
    """Those that the reference wrote again, token by token."""
    builds: tuple[BuildFigures, ...]


class _Row(NamedTuple):
    """The positions of one cluster."""

    kl: NDArray[np.float64]
    same: NDArray[np.bool_]
    reference: NDArray[np.float64]
    build: NDArray[np.float64]

    def at(self, mask: NDArray[np.bool_]) -> _Row:
        return _Row(self.kl[mask], self.same[mask], self.reference[mask], self.build[mask])


def fidelity_report(record: FidelityRecord) -> FidelityReport:
    """Compute the figures of a measurement."""
    again = [flag for episode in record.episodes for flag in episode.written_again]
    return FidelityReport(
        record=record,
        steps=len(again),
        written_again=sum(again),
        builds=tuple(_figures(record, build) for build in record.builds),
    )


def _figures(record: FidelityRecord, build: BuildFidelity) -> BuildFigures:
    rows = [
        _Row(
            np.array(followed.kl),
            np.array([letter == "1" for letter in followed.same_top]),
            np.array(reference.log_probabilities),
            np.array(followed.log_probabilities),
        )
        for reference, followed in zip(record.episodes, build.episodes, strict=True)
    ]
    letters = [np.array(list(episode.parts)) for episode in record.episodes]
    return BuildFigures(
        build=build,
        parts={part: found for part in PARTS if (found := _of_part(part, rows, letters)) is not None},
        tails=_tails(rows),
        stopping=_stopping(build),
        acting=_acting(build),
        text=_text(record, build),
        greedy=_greedy(build.completions),
        diverging=_diverging(build.divergences),
    )


def _of_part(part: PartName, rows: Sequence[_Row], letters: Sequence[NDArray[np.str_]]) -> Closeness | None:
    if part == "all":
        return _closeness(rows)
    wanted = [letter for letter, name in PART_LETTERS.items() if name == part or (part == "name" and letter == "d")]
    return _closeness([row.at(np.isin(mine, wanted)) for row, mine in zip(rows, letters, strict=True)])


def _closeness(rows: Sequence[_Row]) -> Closeness | None:
    used = [row for row in rows if len(row.kl)]
    if not used:
        return None
    return Closeness(
        clusters=len(used),
        kl=clustered_mean([row.kl for row in used], SEED),
        largest_kl=max(float(row.kl.max()) for row in used),
        same_top=clustered_share([Count(int(row.same.sum()), len(row.same)) for row in used], SEED),
        same=sum(int(row.same.sum()) for row in used),
        reference_perplexity=_perplexity([row.reference for row in used]),
        build_perplexity=_perplexity([row.build for row in used]),
        perplexity_ratio=_perplexity([row.build - row.reference for row in used]),
    )


def _perplexity(clusters: Sequence[NDArray[np.float64]]) -> Interval:
    """Return the exponential of a mean that is taken with the other sign; of differences it is a ratio."""
    mean = clustered_mean([-cluster for cluster in clusters], SEED)
    return Interval(exp(mean.estimate), exp(mean.low), exp(mean.high), mean.n)


def _tails(rows: Sequence[_Row]) -> Tails | None:
    used = [row for row in rows if len(row.kl)]
    if not used:
        return None
    p95, p99 = clustered_quantiles([row.kl for row in used], (0.95, 0.99), SEED)
    square = clustered_mean([(row.build - row.reference) ** 2 for row in used], SEED)
    return Tails(
        p95=p95,
        p99=p99,
        change=clustered_mean([row.build - row.reference for row in used], SEED),
        change_rms=Interval(sqrt(square.estimate), sqrt(square.low), sqrt(square.high), square.n),
    )


def _stopping(build: BuildFidelity) -> Stopping | None:
    asked = [episode.decision for episode in build.episodes if episode.decision is not None]
    if not asked:
        return None
    own = [decision.own for decision in asked if decision.own is not None]
    flipped = [decision for decision in asked if (decision.reference > 0) != (decision.build > 0)]
    return Stopping(
        reference=clustered_mean([[decision.reference] for decision in asked], SEED),
        build=clustered_mean([[decision.build] for decision in asked], SEED),
        difference=clustered_mean([[decision.build - decision.reference] for decision in asked], SEED),
        flips=wilson(len(flipped), len(asked)),
        to_go_on=sum(decision.reference > 0 for decision in flipped),
        to_stop=sum(decision.build > 0 for decision in flipped),
        covered=min(min(decision.reference_covered, decision.build_covered) for decision in asked),
        called=wilson(sum(decision.called == TaskComplete.name for decision in asked), len(asked)),
        own=wilson(sum(call == TaskComplete.name for call in own), len(own)) if own else None,
    )


def _acting(build: BuildFidelity) -> Acting | None:
    episodes = [episode for episode in build.episodes if episode.actions]
    if not episodes:
        return None
    acted: list[tuple[ActionRecord, ...]] = [episode.actions or () for episode in episodes]
    kinds = Counter(action.kind for actions in acted for action in actions)
    return Acting(
        same=clustered_share(
            [Count(sum(action.kind == "same" for action in actions), len(actions)) for actions in acted], SEED
        ),
        kinds={kind: kinds[kind] for kind in ACTION_KINDS},
    )


def _text(record: FidelityRecord, build: BuildFidelity) -> Closeness | None:
    if record.text is None or not build.windows:
        return None
    windows = build.windows
    sizes = [len(window.kl) for window in windows]
    kl = [np.array(window.kl) for window in windows]

    def perplexity(sums: Sequence[float]) -> Interval:
        # a window's sum, spread over its tokens: means over clusters need no more
        return _perplexity([np.full(size, total / size) for total, size in zip(sums, sizes, strict=True)])

    reference = record.text.log_probabilities
    mine = [window.log_probability for window in windows]
    return Closeness(
        clusters=len(windows),
        kl=clustered_mean(kl, SEED),
        largest_kl=max(float(each.max()) for each in kl),
        same_top=clustered_share([Count(window.same_top, len(window.kl)) for window in windows], SEED),
        same=sum(window.same_top for window in windows),
        reference_perplexity=perplexity(reference),
        build_perplexity=perplexity(mine),
        perplexity_ratio=perplexity([b - a for a, b in zip(reference, mine, strict=True)]),
    )


def _greedy(completions: Sequence[CompletionRecord]) -> Greedy | None:
    if not completions:
        return None
    others = [each.kept for each in completions if each.parting is not None]
    matches = len(completions) - len(others)
    return Greedy(
        exact=wilson(matches, len(completions)),
        matches=matches,
        kept=clustered_mean([[each.kept / each.tokens] for each in completions], SEED),
        first_other=bootstrap_median(others, SEED) if others else None,
    )


def _diverging(divergences: Sequence[DivergenceRecord]) -> Diverging | None:
    if not divergences:
        return None
    first = [each.first for each in divergences if each.first is not None]
    same = len(divergences) - len(first)
    return Diverging(
        identical=wilson(same, len(divergences)),
        same=same,
        first_step=bootstrap_median(first, SEED) if first else None,
    )
