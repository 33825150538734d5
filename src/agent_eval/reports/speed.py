"""Tokens per second per build, and the ratio to the reference within each interleaved block. Knows nothing of outcomes.

A block is one instance run with every build in turn, so that a busy machine slows all of them; comparing within blocks
cancels what is slow for everybody. The first block of a run is discarded: it also measures cold caches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agent_eval.records import EpisodeRecord, RunManifest
from agent_eval.reports.selection import judged, latest, models_of, reference_of
from agent_eval.reports.stats import bootstrap_median
from agent_eval.types import Interval, SpeedVerdict

NOISE_BAND = 0.08
"""A difference within 8 % is no measured difference: that much, a shared machine makes by itself."""
FEWEST_BLOCKS = 5
"""With fewer blocks even the whole range of the ratios covers their median in less than 90 % of cases."""

Phase = Literal["decode", "prefill"]


@dataclass(frozen=True)
class BuildSpeed:
    """Tokens per second of one build: medians over blocks, 95 % bootstrap; None where nothing was timed."""

    build: str
    decode: Interval | None
    prefill: Interval | None


@dataclass(frozen=True)
class SpeedRatio:
    """Speed of one build over the reference's in the same block: median over blocks, 95 % bootstrap."""

    build: str
    decode: Interval | None
    decode_verdict: SpeedVerdict
    prefill: Interval | None
    prefill_verdict: SpeedVerdict


@dataclass(frozen=True)
class RunSpeed:
    """What a run says about speed."""

    reference: str
    warm_up_block: int | None
    """The block that was discarded; None where there is no record."""
    builds: tuple[BuildSpeed, ...]
    ratios: tuple[SpeedRatio, ...]
    """One per build other than the reference."""


def speed_of(manifest: RunManifest, records: Sequence[EpisodeRecord]) -> RunSpeed:
    """Compute speeds and ratios from the timings of a run's judged episodes."""
    builds = models_of(manifest, records)
    reference = reference_of(builds)
    seed = manifest.configuration.seed
    warm_up = min((record.block for record in records), default=None)
    timed = [record for record in judged(latest(records)) if record.block != warm_up]
    decode = {build: _by_block(timed, build, "decode") for build in builds}
    prefill = {build: _by_block(timed, build, "prefill") for build in builds}
    ratios = []
    for build in builds:
        if build != reference:
            of_decode = _median(_ratios(decode[build], decode[reference]), seed)
            of_prefill = _median(_ratios(prefill[build], prefill[reference]), seed)
            ratios.append(SpeedRatio(build, of_decode, speed_verdict(of_decode), of_prefill, speed_verdict(of_prefill)))
    return RunSpeed(
        reference=reference,
        warm_up_block=warm_up,
        builds=tuple(
            BuildSpeed(build, _median([*decode[build].values()], seed), _median([*prefill[build].values()], seed))
            for build in builds
        ),
        ratios=tuple(ratios),
    )


def speed_verdict(ratio: Interval | None, band: float = NOISE_BAND) -> SpeedVerdict:
    """Say what a ratio shows: a difference only where its whole interval lies outside a band of noise."""
    if ratio is None or ratio.n < FEWEST_BLOCKS:
        return "not measured"
    if ratio.low > 1 + band:
        return "faster"
    if ratio.high < 1 / (1 + band):
        return "slower"
    return "no measured difference"


def _by_block(records: Sequence[EpisodeRecord], build: str, phase: Phase) -> dict[int, float]:
    """Return tokens per second by block: all tokens over all seconds, so that long generations weigh more."""
    tokens: dict[int, int] = {}
    seconds: dict[int, float] = {}
    for record in records:
        if record.build != build:
            continue
        for step in record.steps:
            if step.timing is not None:
                timing = step.timing
                count, time = (
                    (timing.decode_tokens, timing.decode_s)
                    if phase == "decode"
                    else (timing.prefill_tokens, timing.prefill_s)
                )
                tokens[record.block] = tokens.get(record.block, 0) + count
                seconds[record.block] = seconds.get(record.block, 0.0) + time
    return {block: tokens[block] / seconds[block] for block in tokens if tokens[block] > 0 and seconds[block] > 0}


def _ratios(build: Mapping[int, float], reference: Mapping[int, float]) -> list[float]:
    return [build[block] / reference[block] for block in sorted(build.keys() & reference.keys())]


def _median(values: Sequence[float], seed: int) -> Interval | None:
    return bootstrap_median(values, seed) if values else None
