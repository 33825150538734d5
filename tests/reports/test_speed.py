from __future__ import annotations

import pytest

from agent_eval.reports import speed_of
from agent_eval.reports.speed import FEWEST_BLOCKS, speed_verdict
from agent_eval.types import Interval
from tests.reports.builders import episode, manifest, run, timing

SIX = "SSSSSS"


def test_the_first_block_is_discarded_as_warm_up() -> None:
    records = run({"bf16": SIX, "w4a8": SIX}, {"bf16": [1.0, 40, 40, 40, 40, 40], "w4a8": [9.0, 80, 80, 80, 80, 80]})
    speed = speed_of(manifest(("bf16", "w4a8")), records)
    assert speed.warm_up_block == 0
    assert speed.builds[0].decode == Interval(40.0, 40.0, 40.0, 5)
    assert speed.ratios[0].decode == Interval(2.0, 2.0, 2.0, 5)
    assert speed.ratios[0].decode_verdict == "faster"
    assert speed.ratios[0].prefill == Interval(2.0, 2.0, 2.0, 5)


def test_a_slow_hour_cancels_within_its_blocks() -> None:
    slow = [40.0, 40, 40, 10, 10, 10]
    records = run({"bf16": SIX, "w4a8": SIX}, {"bf16": slow, "w4a8": [1.5 * rate for rate in slow]})
    ratio = speed_of(manifest(("bf16", "w4a8")), records).ratios[0].decode
    assert ratio is not None
    assert (ratio.estimate, ratio.low, ratio.high) == pytest.approx((1.5, 1.5, 1.5))


def test_blocks_without_both_builds_or_with_a_fault_are_left_out_of_the_ratio() -> None:
    records = run({"bf16": "SSESSSSS", "w4a8": "SSS.SSSS"}, {"bf16": 40.0, "w4a8": 80.0})
    speed = speed_of(manifest(("bf16", "w4a8")), records)
    ratio = speed.ratios[0].decode
    assert ratio is not None
    assert ratio.n == 5
    assert speed.builds[0].decode is not None
    assert speed.builds[0].decode.n == 6


def test_tokens_per_second_are_all_tokens_over_all_seconds_of_the_episode() -> None:
    records = [
        episode("success", block=0),
        episode("success", block=1, task="B", timed=timing(50.0, 500.0), steps=3),
    ]
    speed = speed_of(manifest(("bf16",)), records)
    assert speed.builds[0].decode is not None
    assert speed.builds[0].decode.estimate == pytest.approx(50.0)
    assert speed.builds[0].prefill is not None
    assert speed.builds[0].prefill.estimate == pytest.approx(500.0)


def test_failed_episodes_count_for_speed() -> None:
    records = run({"bf16": "NLRPNN", "w4a8": "SSSSSS"}, {"bf16": 40.0, "w4a8": 40.0})
    assert speed_of(manifest(("bf16", "w4a8")), records).ratios[0].decode_verdict == "no measured difference"


def test_a_script_that_computes_nothing_has_no_speed() -> None:
    speed = speed_of(manifest(("bf16", "w4a8")), run({"bf16": SIX, "w4a8": SIX}))
    assert speed.builds[0].decode is None
    assert speed.ratios[0].decode is None
    assert speed.ratios[0].decode_verdict == "not measured"


def test_no_records_have_no_speed_and_no_warm_up() -> None:
    speed = speed_of(manifest(("bf16", "w4a8")), [])
    assert speed.warm_up_block is None
    assert speed.builds[1].prefill is None


@pytest.mark.parametrize(
    ("low", "high", "n", "verdict"),
    [
        (1.09, 1.30, 8, "faster"),
        (1.07, 1.30, 8, "no measured difference"),
        (0.95, 1.05, 8, "no measured difference"),
        (0.80, 0.92, 8, "slower"),
        (0.80, 0.93, 8, "no measured difference"),
        (2.00, 2.00, FEWEST_BLOCKS, "faster"),
        (2.00, 2.00, FEWEST_BLOCKS - 1, "not measured"),
    ],
)
def test_a_difference_counts_when_its_whole_interval_is_outside_the_band(
    low: float, high: float, n: int, verdict: str
) -> None:
    assert speed_verdict(Interval((low + high) / 2, low, high, n)) == verdict


def test_time_to_the_first_token_is_the_mean_of_a_blocks_replies() -> None:
    records = run({"bf16": SIX}, {"bf16": [1.0, 40, 40, 40, 40, 40]})
    first = speed_of(manifest(("bf16",)), records).builds[0].first_token_s
    assert first is not None
    assert first.estimate == pytest.approx(50 / 400)
    assert first.n == 5


def test_memory_is_what_loading_added_and_the_most_that_an_episode_ended_with() -> None:
    records = [r.model_copy(update={"anonymous_bytes": 100 + r.block}) for r in run({"bf16": SIX})]
    loaded = manifest(("bf16",)).model_copy(update={"loaded_bytes": {"bf16": 60}})
    speed = speed_of(loaded, records)
    assert (speed.builds[0].loaded_bytes, speed.peak_bytes) == (60, 105)
    assert speed_of(manifest(("bf16",)), run({"bf16": SIX})).peak_bytes is None
