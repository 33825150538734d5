"""Tokens per second per build, and the ratio to the reference within each interleaved block. Knows nothing of outcomes.

A block is one instance run with every build in turn, so that a busy machine slows all of them; comparing within blocks
cancels what is slow for everybody. The first block of a run is discarded: it also measures cold caches. Where the
reference ran twice in every block, what it differs from itself by is noise, and widens the band.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, NamedTuple

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
    """Speed of one build: medians over blocks, 95 % bootstrap; None where nothing was timed."""

    build: str
    decode: Interval | None
    """Tokens generated per second after the first of each reply."""
    prefill: Interval | None
    """Tokens of prompts computed per second; what was reused from the step before is not counted."""
    first_token_s: Interval | None
    """Seconds from the request to the first token of a reply: the mean of a block's replies."""
    loaded_bytes: int | None
    """Anonymous memory that loading the build added to the process; None where it is not known."""


class BlockRatios(NamedTuple):
    """Speed of one build over another's in the same block: medians over blocks, 95 % bootstrap."""

    decode: Interval | None
    prefill: Interval | None


class Bands(NamedTuple):
    """Shares within which a ratio shows no difference."""

    decode: float = NOISE_BAND
    prefill: float = NOISE_BAND


LEAST_BANDS = Bands()


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
    bands: Bands = LEAST_BANDS
    """What the verdicts were given with: ``NOISE_BAND``, or what the reference differed from itself by where that is
    more."""
    peak_bytes: int | None = None
    """Highest anonymous memory of the process at the end of an episode, with all builds of the run in it."""


def speed_of(manifest: RunManifest, records: Sequence[EpisodeRecord]) -> RunSpeed:
    """Compute speeds and ratios from the timings of a run's judged episodes."""
    builds = models_of(manifest, records)
    reference = reference_of(builds)
    seed = manifest.configuration.seed
    timed = _timed(records)
    bands = _bands(manifest, timed)
    ratios = []
    for build in builds:
        if build != reference:
            decode, prefill = _block_ratios(timed, build, reference, seed)
            verdicts = speed_verdict(decode, bands.decode), speed_verdict(prefill, bands.prefill)
            ratios.append(SpeedRatio(build, decode, verdicts[0], prefill, verdicts[1]))
    return RunSpeed(
        reference=reference,
        warm_up_block=_warm_up(records),
        builds=tuple(
            BuildSpeed(
                build,
                _median([*_by_block(timed, build, "decode").values()], seed),
                _median([*_by_block(timed, build, "prefill").values()], seed),
                _median(_first_tokens(timed, build), seed),
                manifest.loaded_bytes.get(build),
            )
            for build in builds
        ),
        ratios=tuple(ratios),
        bands=bands,
        peak_bytes=max((r.anonymous_bytes for r in records if r.anonymous_bytes is not None), default=None),
    )


def block_ratios(manifest: RunManifest, records: Sequence[EpisodeRecord], build: str, reference: str) -> BlockRatios:
    """Compare the speeds of two builds block by block, the first block left out."""
    return _block_ratios(_timed(records), build, reference, manifest.configuration.seed)


def _block_ratios(timed: Sequence[EpisodeRecord], build: str, reference: str, seed: int) -> BlockRatios:
    def ratio(phase: Phase) -> Interval | None:
        return _median(_ratios(_by_block(timed, build, phase), _by_block(timed, reference, phase)), seed)

    return BlockRatios(ratio("decode"), ratio("prefill"))


def _bands(manifest: RunManifest, timed: Sequence[EpisodeRecord]) -> Bands:
    """Return the bands: the 95 % range of the reference against itself, where it ran twice and ranges further."""
    configuration = manifest.configuration
    if not configuration.noise_band:
        return LEAST_BANDS
    noise = _block_ratios(timed, configuration.again, configuration.noise_band, configuration.seed)
    return Bands(*(max(NOISE_BAND, each.high - 1, 1 / each.low - 1) if each else NOISE_BAND for each in noise))


def _warm_up(records: Sequence[EpisodeRecord]) -> int | None:
    return min((record.block for record in records), default=None)


def _timed(records: Sequence[EpisodeRecord]) -> list[EpisodeRecord]:
    warm_up = _warm_up(records)
    return [record for record in judged(latest(records)) if record.block != warm_up]


def _first_tokens(records: Sequence[EpisodeRecord], build: str) -> list[float]:
    """Return the mean seconds to the first token of each block."""
    blocks: dict[int, list[float]] = {}
    for record in records:
        if record.build == build:
            seconds = [step.timing.first_token_s for step in record.steps if step.timing is not None]
            blocks.setdefault(record.block, []).extend(seconds)
    return [fmean(seconds) for seconds in blocks.values() if seconds]


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
