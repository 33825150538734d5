"""How far a build differs from itself: the second pass of the reference that ``--noise-band`` plays in every block.

Greedy decoding on a deterministic phone gives the same episode twice, so any difference between the two passes but time
is a fault of determinism. What their speeds differ by is noise, measured in the same minutes as the builds were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent_eval.records import EpisodeRecord, RunManifest
from agent_eval.reports.selection import Pair, pairs_of
from agent_eval.reports.speed import BlockRatios, block_ratios
from agent_eval.types import Interval


@dataclass(frozen=True)
class NoiseBand:
    """The reference against itself."""

    build: str
    pairs: int
    """Instances judged in both passes."""
    flips: tuple[Pair, ...]
    """Of those, the ones that one pass ended in another label than the other; there should be none."""
    differing: int
    """Pairs of which anything but time and memory differs, flips included; there should be none."""
    decode: Interval | None
    """Decode speed of the second pass over the first: median over blocks, 95 % bootstrap."""
    prefill: Interval | None


def noise_band_of(manifest: RunManifest, records: Sequence[EpisodeRecord]) -> NoiseBand | None:
    """Compare the two passes of the reference; None for a run that plays it once."""
    build, again = manifest.configuration.noise_band, manifest.configuration.again
    if not build:
        return None
    pairs = pairs_of(records, build, again)
    ratios: BlockRatios = block_ratios(manifest, records, again, build)
    return NoiseBand(
        build=build,
        pairs=len(pairs),
        flips=tuple(pair for pair in pairs if pair.reference.outcome.label != pair.build.outcome.label),
        differing=sum(_content(pair.reference) != _content(pair.build) for pair in pairs),
        decode=ratios.decode,
        prefill=ratios.prefill,
    )


def _content(record: EpisodeRecord) -> dict[str, object]:
    data = record.untimed()
    del data["build"], data["episode"]
    return data
