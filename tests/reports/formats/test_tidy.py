from __future__ import annotations

import pytest

from agent_eval.outcome import LABELS
from agent_eval.reports.conventions import CONVENTIONS
from agent_eval.reports.formats.tidy import Measure, measures_of
from agent_eval.reports.summary import RATES
from tests.reports.formats.showings import compared, empty, hostile, whole


def table() -> dict[tuple[str, str, str], Measure]:
    rows = measures_of(whole().report, {})
    return {(row.build, row.reference, row.metric): row for row in rows}


def test_every_number_has_one_row() -> None:
    for showing in (whole(), hostile(), compared(), empty()):
        rows = measures_of(showing.report, showing.run_of)
        assert len({(row.run, row.build, row.reference, row.metric) for row in rows}) == len(rows)


def test_every_rate_label_and_convention_of_every_build_is_there() -> None:
    found = table()
    wanted = [f"rate.{name}" for name in RATES] + [f"label.{label}" for label in LABELS]
    wanted += [f"convention.{convention.name}" for convention in CONVENTIONS]
    wanted += ["rate.invalid_calls_per_turn", "rate.no_effect", "median.first_invalid_turn", "median.path_efficiency"]
    assert [
        (build, name) for build in ("bf16", "w4a16", "w4a8") for name in wanted if (build, "", name) not in found
    ] == []


def test_a_share_has_both_counts_and_a_median_the_count_that_it_rests_on() -> None:
    found = table()
    success = found["w4a8", "", "rate.success"]
    assert (success.numerator, success.denominator, success.unit, success.method) == (5, 15, "share", "wilson")
    assert success.estimate == pytest.approx(5 / 15)
    decode = found["bf16", "", "speed.decode"]
    assert (decode.numerator, decode.denominator, decode.unit) == (None, 15, "tokens/s")
    nothing = found["bf16", "", "rate.false_toggle"]
    assert nothing[4:9] == (None, 0, None, None, None)


def test_a_share_is_its_counts() -> None:
    shares = [row for row in measures_of(whole().report, {}) if row.unit == "share" and row.numerator is not None]
    assert len(shares) > 30
    for row in shares:
        assert row.denominator
        assert row.estimate == pytest.approx((row.numerator or 0) / row.denominator)
        assert row.low is not None
        assert row.high is not None
        assert row.low <= (row.numerator or 0) / row.denominator <= row.high


def test_comparisons_name_their_reference() -> None:
    found = table()
    assert found["w4a8", "bf16", "pairs.lost"].numerator == 8
    difference = found["w4a8", "bf16", "difference"]
    assert (difference.denominator, difference.method) == (15, "bonett-price")
    assert found["w4a8", "bf16", "difference.p"].estimate == pytest.approx(2 / 2**8)
    assert found["w4a16", "bf16", "migration.success.reversal"].numerator == 1
    assert found["w4a16", "bf16", "speed_ratio.decode"].estimate == pytest.approx(80 / 41)


def test_a_build_of_several_runs_names_the_run_that_it_is_of() -> None:
    showing = compared()
    runs = {row.build: row.run for row in measures_of(showing.report, showing.run_of)}
    assert runs == {"bf16@one": "one", "w4a8": "one", "bf16@two": "two", "w4a16": "two"}


def test_an_interval_without_an_upper_end_has_none() -> None:
    rows = {(row.build, row.metric): row for row in measures_of(compared().report, {})}
    cost = rows["w4a8", "per_success.tokens"]
    assert cost.denominator == 2
    assert cost.low is not None
    assert cost.high is None
