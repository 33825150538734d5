"""From the samples of a bench to speeds, ratios, shares and warnings. Measures nothing and draws nothing.

Builds take turns within a pass, so that a busy moment slows all of them; ratios are therefore taken within passes. The
first pass is discarded. A ratio is called a difference when its whole interval lies beyond 8 %, and beyond what the
first build differs from itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal, get_args

from agent_eval.reports.bench_record import ArmRecord, BenchRecord, Timed
from agent_eval.reports.speed import FEWEST_BLOCKS, NOISE_BAND, speed_verdict
from agent_eval.reports.stats import bootstrap_median
from agent_eval.types import Interval, SpeedVerdict

PEER = "q4_k_m"
"""The build of other people's engine that every other is compared with, where it is measured."""

MOST_FOREIGN_CORES = 0.5
MOST_STOLEN = 0.05
"""A pass beyond either is disturbed. The harness of the published edge study of Spark-X2.5 refuses to measure when a
core is busy for more than a half or more than 5 % are stolen; this one goes on and says so."""

COLD = 0.05
"""Share of the files that may be in memory at a start that is called cold."""

Phase = Literal["decode", "prefill"]

PHASES: tuple[Phase, ...] = get_args(Phase)


@dataclass(frozen=True)
class Speed:
    """Tokens per second over the counted passes."""

    median: float
    low: float
    high: float
    passes: int


@dataclass(frozen=True)
class Ratio:
    """Speed over another build's in the same pass: median with its 95 % bootstrap interval."""

    value: Interval
    verdict: SpeedVerdict


@dataclass(frozen=True)
class Figures:
    """One build in one phase."""

    speed: Speed
    to_first: Ratio | None
    """None for the first build itself."""
    to_peer: Ratio | None
    """None for the peer, where there is none, and where it is the first build."""


@dataclass(frozen=True)
class BuildFigures:
    """Everything that is computed for one build."""

    arm: ArmRecord
    decode: Figures
    prefill: Figures
    of_stream: Interval | None
    """Bytes that decoding read per second over those that the threads can read per second, by passes."""
    head_share: float | None
    """Share of the head in the time of one token."""


@dataclass(frozen=True)
class BenchReport:
    """A bench, computed."""

    record: BenchRecord
    first: str
    peer: str | None
    same: dict[Phase, Interval | None]
    """Per phase, the ratio of the first build to itself, measured as any other; None where it was measured once."""
    bands: dict[Phase, float]
    """Per phase, the share within which a ratio is no difference: 8 %, or more where a build differs more from
    itself."""
    stream: Speed
    """Bytes per second."""
    builds: tuple[BuildFigures, ...]
    disturbed: tuple[int, ...]
    """Counted passes, from 1, in which others used the machine."""
    warnings: tuple[str, ...]


def bench_report(record: BenchRecord) -> BenchReport:
    """Compute the report of a bench."""
    arms = [arm for arm in record.arms if not arm.twin]
    twin = next((arm for arm in record.arms if arm.twin), None)
    first = arms[0]
    peer = next((arm for arm in arms[1:] if arm.build == PEER), None)  # as the first it is compared with anyway
    same = {phase: _same(first, twin, phase) for phase in PHASES}
    bands = {phase: _band(same[phase]) for phase in PHASES}

    def figures(arm: ArmRecord, phase: Phase) -> Figures:
        def ratio(other: ArmRecord | None) -> Ratio | None:
            if other is None or other is arm:
                return None
            value = bootstrap_median(_ratios(arm, other, phase), seed=0)
            return Ratio(value, speed_verdict(value, bands[phase]))

        return Figures(_speed(_counted(arm, phase)), ratio(first), ratio(peer))

    builds = tuple(
        BuildFigures(
            arm=arm,
            decode=(decode := figures(arm, "decode")),
            prefill=figures(arm, "prefill"),
            of_stream=_of_stream(arm, record.streams[1:]),
            head_share=None if arm.head is None else arm.head.seconds * decode.speed.median,
        )
        for arm in arms
    )
    disturbed = tuple(
        number
        for number, others in enumerate(record.disturbances)
        if number and others and (others.foreign_cores > MOST_FOREIGN_CORES or others.stolen > MOST_STOLEN)
    )
    return BenchReport(
        record=record,
        first=first.build,
        peer=None if peer is None else peer.build,
        same=same,
        bands=bands,
        stream=_speed(record.streams[1:]),
        builds=builds,
        disturbed=disturbed,
        warnings=tuple(_warnings(record, builds, disturbed)),
    )


def _warnings(record: BenchRecord, builds: Sequence[BuildFigures], disturbed: Sequence[int]) -> list[str]:
    found = []
    if record.model_kind == "synthetic":
        found.append(f"The weights of {record.model} are SYNTHETIC: speed and memory count, what it writes does not.")
    if record.model_kind == "constructed":
        found.append(f"{record.model} is CONSTRUCTED to be hard to quantise: speed and memory count, no more.")
    if disturbed:
        found.append(
            f"The machine was busy: others used it in {len(disturbed)} of {record.passes} passes "
            f"({', '.join(map(str, disturbed))}). Ratios hold better than speeds; measure again when it is quiet."
        )
    if record.passes < FEWEST_BLOCKS:
        found.append(f"{record.passes} passes are too few to call anything a difference; {FEWEST_BLOCKS} are needed.")
    for build in builds:
        head, arm = build.arm.head, build.arm
        if head is not None and head.trap and build.head_share is not None:
            found.append(
                f"lm_head trap: {arm.build} leaves its head in {head.bits:g} bits. The head takes "
                f"{1e3 * head.seconds:.3g} ms of {1e3 / build.decode.speed.median:.3g} ms a token "
                f"({_percent(build.head_share)})."
            )
        if arm.cold is not None and arm.cold.resident is not None and arm.cold.resident > COLD:
            found.append(
                f"The cold start of {arm.build} was not cold: {_percent(arm.cold.resident)} of the files stayed in "
                "memory, where another process maps them."
            )
        if not arm.compiled:
            found.append(f"{arm.build} ran without the compiled kernels, through torch alone.")
    return found


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _rates(samples: Sequence[Timed]) -> list[float]:
    return [sample.tokens / sample.seconds for sample in samples]


def _counted(arm: ArmRecord, phase: Phase) -> list[float]:
    return _rates((arm.decode if phase == "decode" else arm.prefill)[1:])


def _ratios(arm: ArmRecord, other: ArmRecord, phase: Phase) -> list[float]:
    return [mine / its for mine, its in zip(_counted(arm, phase), _counted(other, phase), strict=True)]


def _speed(rates: Sequence[float]) -> Speed:
    return Speed(median(rates), min(rates), max(rates), len(rates))


def _same(first: ArmRecord, twin: ArmRecord | None, phase: Phase) -> Interval | None:
    """Return the ratio of the first build to itself."""
    return None if twin is None else bootstrap_median(_ratios(twin, first, phase), seed=0)


def _band(same: Interval | None) -> float:
    """Return how far a ratio may lie from 1 and still be noise."""
    return NOISE_BAND if same is None else max(NOISE_BAND, same.estimate - 1, 1 / same.estimate - 1)


def _of_stream(arm: ArmRecord, streams: Sequence[float]) -> Interval | None:
    if arm.read_per_token is None:
        return None
    read = [arm.read_per_token * rate for rate in _counted(arm, "decode")]
    return bootstrap_median([mine / most for mine, most in zip(read, streams, strict=True)], seed=0)
