"""What the statistics of a comparison do in the long run: coverage of intervals, wrong verdicts, power.

    python -m benchmarks.simulations [--seed 20] [--runs 2000] [--only SECTION,…] [--write]

Prints tables in Markdown; ``--write`` puts them into ``docs/concepts/statistics.md`` between their marks. Where every
table of pairs can be counted the figures are exact: the chances of all tables are added up, and no seed is involved.
The others are simulated; each section draws from a generator of its own, so that one can be repeated alone. Needs no
torch. All sections together take about ten minutes on one core, the exact ones ten seconds.
"""

from __future__ import annotations

import argparse
import functools
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, multinomial

from agent_eval.reports.stats import (
    Pairs,
    bonett_price,
    clustered_difference,
    clustered_share,
    effective_pairs,
    effective_size,
    lower_bound,
    mcnemar,
    mcnemar_power,
    non_inferiority,
    non_inferiority_power,
    pairs_for_mcnemar,
    sequential_test,
    sign_flip,
    wilson,
)
from tests.markdown import table
from tests.reports.stats.simulators import GAINED, LOST, beta_binomial, dirichlet_pairs, ordered_pairs

PAGE = Path(__file__).parents[1] / "docs" / "concepts" / "statistics.md"
MARGIN = 0.10
SIZES = (60, 120, 240)
SHARES = (0.02, 0.05, 0.10, 0.30, 0.50, 0.70, 0.90, 0.98)
DISCORDANCES = (0.05, 0.10, 0.20, 0.30)


class Draw(NamedTuple):
    """What a simulated section draws with."""

    rng: np.random.Generator
    runs: int


# ----------------------------------------------------------------------------------------------------------------------
# exact: all tables of n pairs, with their chances


class Tables(NamedTuple):
    """Every table of n pairs."""

    lost: NDArray[np.int64]
    gained: NDArray[np.int64]


@functools.cache
def tables_of(n: int) -> Tables:
    lost, gained = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    kept = lost + gained <= n
    return Tables(lost[kept], gained[kept])


@functools.cache
def over_tables(what: Callable[[int, int, int], float], n: int) -> NDArray[np.float64]:
    """Compute something for every table of n pairs."""
    lost, gained = tables_of(n)
    return np.array([what(int(a), int(b), n) for a, b in zip(lost, gained, strict=True)])


def chances(n: int, lost_rate: float, gained_rate: float) -> NDArray[np.float64]:
    lost, gained = tables_of(n)
    counts = np.stack([lost, gained, n - lost - gained], axis=-1)
    return np.asarray(multinomial(n, [lost_rate, gained_rate, 1 - lost_rate - gained_rate]).pmf(counts))


def low_end(lost: int, gained: int, n: int) -> float:
    return bonett_price(lost, gained, n).low


def high_end(lost: int, gained: int, n: int) -> float:
    return bonett_price(lost, gained, n).high


def p_value(lost: int, gained: int, n: int) -> float:
    del n
    return cached_mcnemar(min(lost, gained), max(lost, gained))


cached_mcnemar = functools.cache(mcnemar)


def rates(discordance: float, difference: float) -> tuple[float, float]:
    """Return the chances of a pair lost and gained."""
    return round((discordance - difference) / 2, 12), round((discordance + difference) / 2, 12)


@functools.cache
def wilson_ends(n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lower and the upper ends for every count of n."""
    ends = [wilson(k, n) for k in range(n + 1)]
    return np.array([end.low for end in ends]), np.array([end.high for end in ends])


def wilson_coverage() -> str:
    def coverage(n: int, share: float) -> float:
        low, high = wilson_ends(n)
        return float((binom.pmf(np.arange(n + 1), n, share) * ((low <= share) & (share <= high))).sum())

    grid = np.round(np.arange(0.02, 0.9801, 0.005), 3)
    rows = []
    for n in (24, *SIZES):
        over_grid = [coverage(n, share) for share in grid]
        shares = [digits(coverage(n, share)) for share in SHARES]
        rows.append((str(n), *shares, digits(float(np.mean(over_grid))), digits(min(over_grid))))
    heads = ("n", *(f"share {share:g}" for share in SHARES), "mean over .02 to .98", "least")
    return table(heads, rows)


def bonett_price_coverage() -> str:
    rows = []
    for difference in (0.0, -MARGIN):
        for discordance in DISCORDANCES:
            if discordance >= abs(difference):
                cells = [bonett_price_cell(n, discordance, difference) for n in SIZES]
                rows.append((f"{difference:g}", f"{discordance:g}", *cells))
    return table(("true difference", "discordant", *(f"n = {n}" for n in SIZES)), rows)


def bonett_price_cell(n: int, discordance: float, difference: float) -> str:
    chance = chances(n, *rates(discordance, difference))
    slack = 1e-12
    holds = (over_tables(low_end, n) <= difference + slack) & (difference - slack <= over_tables(high_end, n))
    return digits((chance * holds).sum())


def non_inferiority_error() -> str:
    rows = []
    for margin in (0.05, 0.10, 0.15):
        for discordance in sorted({margin, round(margin + 0.05, 2), 0.20, 0.30, 0.40}):
            cells = []
            for n in (60, 120, 180, 240):
                wrong = over_tables(lower_bound, n) > -margin
                cells.append(digits(float((chances(n, *rates(discordance, -margin)) * wrong).sum())))
            rows.append((f"{margin:g}", f"{discordance:g}", *cells))
    return table(("margin", "discordant", "n = 60", "n = 120", "n = 180", "n = 240"), rows)


def mcnemar_error() -> str:
    rows = [
        (
            f"{discordance:g}",
            *(digits(mcnemar_power(n, discordance / 2, discordance / 2)) for n in (60, 120, 180, 240)),
        )
        for discordance in (0.05, 0.10, 0.20, 0.30, 0.50)
    ]
    return table(("discordant", "n = 60", "n = 120", "n = 180", "n = 240"), rows)


DESIGN_NON_INFERIORITY: Mapping[int, tuple[tuple[float, ...], ...]] = {
    60: ((0.27, 0.20, 0.16), (0.76, 0.54, 0.42), (0.97, 0.81, 0.67)),
    120: ((0.50, 0.33, 0.26), (0.96, 0.79, 0.64), (1.00, 0.98, 0.91)),
    180: ((0.67, 0.44, 0.33), (0.99, 0.91, 0.79), (1.00, 1.00, 0.98)),
    240: ((0.78, 0.53, 0.40), (1.00, 0.96, 0.89), (1.00, 1.00, 0.99)),
}
"""Pairs to power by margin (.05, .10, .15), then by discordance (.1, .2, .3), as simulated for the design."""
DESIGN_MCNEMAR: Mapping[int, tuple[float, ...]] = {
    60: (0.28, 0.31, 0.58, 0.80, 0.92),
    120: (0.67, 0.63, 0.90, 0.99),
    180: (0.87, 0.83, 0.98),
    240: (0.95, 0.93),
}
MCNEMAR_RATES = ((0.10, 0.02), (0.15, 0.05), (0.20, 0.05), (0.25, 0.05), (0.30, 0.05))
DESIGN_PAIRS: Mapping[tuple[float, float], tuple[int, int | None]] = {
    (0.10, 0.02): (160, 204),
    (0.10, 0.05): (501, None),
    (0.15, 0.05): (170, 217),
    (0.20, 0.05): (97, 125),
    (0.25, 0.05): (62, 80),
    (0.30, 0.05): (47, 62),
    (0.30, 0.10): (85, None),
}
"""Rates to the pairs for a power of 80 % at .05 and at .0167, as simulated for the design."""


def power_of_non_inferiority() -> str:
    rows = []
    for n, by_margin in DESIGN_NON_INFERIORITY.items():
        for margin, planned in zip((0.05, 0.10, 0.15), by_margin, strict=True):
            found = [non_inferiority_power(n, d / 2, d / 2, margin) for d in (0.1, 0.2, 0.3)]
            rows.append((str(n), f"{margin:g}", *map(beside, found, planned)))
    return table(("n", "margin", "discordant .1", "discordant .2", "discordant .3"), rows)


def power_of_mcnemar() -> str:
    rows = []
    for n, planned in DESIGN_MCNEMAR.items():
        known = (*planned, *[None] * (len(MCNEMAR_RATES) - len(planned)))
        rows.append(
            (str(n), *(beside(mcnemar_power(n, *each), was) for each, was in zip(MCNEMAR_RATES, known, strict=True)))
        )
    return table(("n", *(f"lost {lost:g}, gained {gained:g}" for lost, gained in MCNEMAR_RATES)), rows)


def pairs_for_power() -> str:
    rows = []
    for (lost, gained), (at_05, at_holm) in DESIGN_PAIRS.items():
        found = pairs_for_mcnemar(lost, gained), pairs_for_mcnemar(lost, gained, alpha=0.05 / 3)
        cells = [
            f"{pairs} ({planned})" if planned else str(pairs)
            for pairs, planned in zip(found, (at_05, at_holm), strict=True)
        ]
        rows.append((f"{lost:g}", f"{gained:g}", *cells))
    return table(("lost", "gained", "pairs at .05", "pairs at .0167"), rows)


# ----------------------------------------------------------------------------------------------------------------------
# simulated

TASKS, INSTANCES = 60, 2
CORRELATIONS = (0.0, 0.45, 0.70)
ADAPTIVE_TRUTHS = (
    (0.0, 0.1),
    (0.0, 0.2),
    (-0.1, 0.1),
    (-0.1, 0.2),
    (-0.1, 0.3),
    (-0.1, 0.5),
    (-0.05, 0.2),
    (-0.2, 0.3),
)
"""True difference and share of discordant pairs."""


def coverage_of_clustered_shares(draw: Draw) -> str:
    """Shares of 60 tasks with two instances each, by how alike the instances of a task are."""
    rows = []
    for share in (0.5, 0.8):
        for icc in CORRELATIONS:
            held = np.zeros(3)
            widths = np.zeros(3)
            for run in range(draw.runs):
                counts = beta_binomial(draw.rng, TASKS, INSTANCES, share, icc)
                events, trials = sum(count.events for count in counts), TASKS * INSTANCES
                worth = round(effective_size(counts))
                ends = (
                    wilson(events, trials),
                    wilson(round(events / trials * worth), worth),
                    clustered_share(counts, run),
                )
                held += [end.low <= share <= end.high for end in ends]
                widths += [end.high - end.low for end in ends]
            means = zip(held / draw.runs, widths / draw.runs, strict=True)
            rows.append((f"{share:g}", f"{icc:g}", *(f"{digits(each)}, {width:.3f}" for each, width in means)))
    heads = ("share", "correlation", "Wilson over episodes", "Wilson over the effective size", "bootstrap over tasks")
    return table(heads, rows)


def coverage_of_clustered_differences(draw: Draw) -> str:
    """Differences of 60 tasks with two pairs each, by how alike the differences of a task are."""
    rows = []
    for difference, discordance in ((0.0, 0.2), (-0.1, 0.3)):
        lost, gained = rates(discordance, difference)
        for icc in CORRELATIONS:
            held = np.zeros(3)
            for run in range(draw.runs):
                pairs = dirichlet_pairs(draw.rng, TASKS, INSTANCES, lost, gained, icc)
                counts = added(pairs)
                ends = (
                    bonett_price(*counts),
                    bonett_price(*counts, worth=effective_pairs(pairs)),
                    clustered_difference(pairs, run),
                )
                held += [end.low <= difference <= end.high for end in ends]
            rows.append((f"{difference:g}", f"{discordance:g}", f"{icc:g}", *map(digits, held / draw.runs)))
    heads = ("difference", "discordant", "correlation", "Bonett-Price over pairs",
             "Bonett-Price over the effective pairs", "bootstrap over tasks")  # fmt: skip
    return table(heads, rows)


def errors_in_clusters(draw: Draw) -> str:
    """Wrong findings where there is nothing to find, of 60 tasks with two pairs each."""
    rows = []
    for icc in CORRELATIONS:
        found = np.zeros(4)
        for run in range(draw.runs):
            level = dirichlet_pairs(draw.rng, TASKS, INSTANCES, 0.1, 0.1, icc)
            at_margin = dirichlet_pairs(draw.rng, TASKS, INSTANCES, *rates(0.3, -MARGIN), icc)
            counts = added(at_margin)
            found += [
                cached_mcnemar(*added(level)[:2]) <= 0.05,
                sign_flip(level, run) <= 0.05,
                non_inferiority(*counts, MARGIN) == "no worse",
                non_inferiority(*counts, MARGIN, worth=effective_pairs(at_margin)) == "no worse",
            ]
        rows.append((f"{icc:g}", *map(digits, found / draw.runs)))
    heads = ("correlation", "exact McNemar", "signs of tasks flipped", "non-inferiority over pairs",
             "non-inferiority over the effective pairs")  # fmt: skip
    return table(heads, rows)


def sequential(draw: Draw) -> str:
    rows: list[tuple[str, ...]] = []
    runs = 10 * draw.runs
    for share in (0.5, 0.6, 0.75, 0.9):
        verdicts, discordant = {"worse": 0, "no worse": 0, "insufficient evidence": 0}, 0
        for losses in draw.rng.random((runs, 400)) < share:
            found = sequential_test([LOST if loss else GAINED for loss in losses.tolist()])
            verdicts[found.verdict] += 1
            discordant += found.lost + found.gained
        rows.append(
            (f"{share:g}", digits(verdicts["worse"] / runs), digits(verdicts["no worse"] / runs),
             f"{discordant / runs:.1f}")
        )  # fmt: skip
    return table(("share of discordant pairs that are lost", "worse", "no worse", "discordant pairs, mean"), rows)


def adaptive(draw: Draw) -> str:
    """Runs that end when the sequential test with the margin decides, or at a cap and then as a run of that size."""
    rows = []
    runs = -(-draw.runs // 4)  # each looks at its pairs a hundred times
    for cap in (120, 240):
        for difference, discordance in ADAPTIVE_TRUTHS:
            verdicts, played = {"worse": 0, "no worse": 0, "insufficient evidence": 0}, 0
            fixed = 0
            for _ in range(runs):
                pairs = ordered_pairs(draw.rng, cap, *rates(discordance, difference))
                counts = pairs.count(LOST), pairs.count(GAINED), cap
                at_cap = non_inferiority(*counts, MARGIN)
                found = sequential_test(pairs, MARGIN)
                verdicts[found.verdict if found.decided else at_cap] += 1
                played += found.pairs
                fixed += at_cap == "no worse"
            rows.append(
                (str(cap), f"{difference:g}", f"{discordance:g}",
                 *(digits(verdicts[each] / runs) for each in ("no worse", "worse", "insufficient evidence")),
                 f"{played / runs:.0f}", digits(fixed / runs))
            )  # fmt: skip
    heads = ("cap", "true difference", "discordant", "no worse", "worse", "undecided", "pairs played, mean",
             "no worse with all pairs of the cap")  # fmt: skip
    return table(heads, rows)


def added(pairs: Sequence[Pairs]) -> tuple[int, int, int]:
    return sum(each.lost for each in pairs), sum(each.gained for each in pairs), sum(each.n for each in pairs)


# ----------------------------------------------------------------------------------------------------------------------
# the page

EXACT: Mapping[str, Callable[[], str]] = {
    "wilson": wilson_coverage,
    "bonett-price": bonett_price_coverage,
    "mcnemar-error": mcnemar_error,
    "mcnemar-power": power_of_mcnemar,
    "mcnemar-pairs": pairs_for_power,
    "non-inferiority-error": non_inferiority_error,
    "non-inferiority-power": power_of_non_inferiority,
}
SIMULATED: Mapping[str, Callable[[Draw], str]] = {
    "clustered-shares": coverage_of_clustered_shares,
    "clustered-differences": coverage_of_clustered_differences,
    "clustered-errors": errors_in_clusters,
    "sequential": sequential,
    "adaptive": adaptive,
}
SECTIONS = (*EXACT, *SIMULATED)


def digits(share: float) -> str:
    return f"{share:.3f}"


def beside(found: float, planned: float | None) -> str:
    """Write a figure, and in brackets that of the design."""
    return f"{found:.2f}" if planned is None else f"{found:.2f} ({planned:.2f})"


def section(name: str, seed: int, runs: int) -> str:
    """Return the table of a section."""
    if name in EXACT:
        return EXACT[name]()
    return SIMULATED[name](Draw(np.random.default_rng([seed, list(SIMULATED).index(name)]), runs))


def with_figures(text: str, made: Mapping[str, str]) -> str:
    """Return the text of the page with the tables of some sections put in place of those that stand there."""
    for name, figures in made.items():
        begin, end = f"<!-- figures: {name} -->\n", "<!-- end -->"
        before, found, rest = text.partition(begin)
        if not found:
            raise SystemExit(f"{PAGE} has no place for the figures of {name}")
        text = f"{before}{begin}\n{figures}\n{end}{rest.partition(end)[2]}"
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--runs", type=int, default=2000, help="runs to a simulated figure")
    parser.add_argument("--only", default=",".join(SECTIONS), help="sections, separated by commas")
    parser.add_argument("--write", action="store_true", help="put the tables into the page")
    options = parser.parse_args()
    names = options.only.split(",")
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        parser.error(f"no section {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    made = {}
    for name in names:
        began = time.process_time()
        made[name] = section(name, options.seed, options.runs)
        print(f"## {name}\n\n{made[name]}", flush=True)
        print(f"{name}: {time.process_time() - began:.0f} s of processor time", file=sys.stderr)
    if options.write:
        PAGE.write_text(with_figures(PAGE.read_text("utf-8"), made), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
