from __future__ import annotations

from collections.abc import Sequence

import pytest

from agent_eval.records import EpisodeRecord, RunManifest
from agent_eval.reports import speed_of, summary_of
from agent_eval.reports.noise import noise_band_of
from agent_eval.reports.speed import NOISE_BAND
from tests.reports.builders import manifest, run

TWELVE = "S" * 12
STEADY = [40.0] * 12
SHAKY = [40.0, 40, 30, 55, 40, 28, 60, 40, 30, 55, 33, 44]


def made(again: str = TWELVE, speeds: Sequence[float] = STEADY) -> tuple[RunManifest, tuple[EpisodeRecord, ...]]:
    records = run(
        {"bf16": TWELVE, "w4a8": TWELVE, "bf16-again": again},
        {"bf16": 40.0, "w4a8": 44.0, "bf16-again": speeds},
    )
    return manifest(("bf16", "w4a8"), 12, noise_band="bf16"), records


def test_a_run_that_plays_the_reference_once_has_no_noise_band() -> None:
    assert noise_band_of(manifest(("bf16", "w4a8"), 12), run({"bf16": TWELVE, "w4a8": TWELVE})) is None


def test_equal_passes_differ_in_nothing_but_time() -> None:
    band = noise_band_of(*made(speeds=SHAKY))
    assert band is not None
    assert (band.build, band.pairs, band.flips, band.differing) == ("bf16", 12, (), 0)
    assert band.decode is not None
    assert band.decode.low < 1 < band.decode.high
    assert band.decode.n == 11, "the first block is warm-up"


def test_an_episode_that_ends_otherwise_the_second_time_is_a_flip() -> None:
    band = noise_band_of(*made("SSSRSSSSSSSS"))
    assert band is not None
    assert [(pair.reference.episode, pair.build.episode) for pair in band.flips] == [
        ("bf16/Task03/0", "bf16-again/Task03/0")
    ]
    assert band.differing == 1


def test_the_second_pass_is_no_build_of_the_run() -> None:
    manifest_, records = made()
    summary = summary_of(manifest_, records)
    assert [build.build for build in summary.builds] == ["bf16", "w4a8"]
    assert [pair.build for pair in summary.pairs] == ["w4a8"]
    assert [build.build for build in speed_of(manifest_, records).builds] == ["bf16", "w4a8"]


def test_noise_beyond_the_least_band_takes_a_verdict_away() -> None:
    manifest_, quiet = made()
    _, loud = made(speeds=SHAKY)
    faster, unsure = speed_of(manifest_, quiet), speed_of(manifest_, loud)
    assert (faster.bands.decode, faster.ratios[0].decode_verdict) == (NOISE_BAND, "faster")
    band = noise_band_of(manifest_, loud)
    assert band is not None
    assert band.decode is not None
    assert unsure.bands.decode == pytest.approx(max(band.decode.high - 1, 1 / band.decode.low - 1))
    assert unsure.bands.decode > NOISE_BAND
    assert unsure.ratios[0].decode == faster.ratios[0].decode
    assert unsure.ratios[0].decode_verdict == "no measured difference"
