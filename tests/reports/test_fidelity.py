"""Every figure of a small measurement, computed by hand."""

from __future__ import annotations

from math import log, sqrt
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from agent_eval.errors import OperatorError
from agent_eval.reports.fidelity import BuildFigures, fidelity_report
from agent_eval.reports.fidelity_record import BuildFidelity, FidelityRecord
from tests.reports.fidelity_builders import completion, divergences, followed, record, reference, small


def near(value: float) -> Any:
    """Numbers by position are kept with six digits."""
    return pytest.approx(value, rel=1e-5)


@pytest.fixture(scope="module")
def figures() -> BuildFigures:
    return fidelity_report(small()).builds[0]


def test_all_tokens_of_the_replies_count(figures: BuildFigures) -> None:
    found = figures.parts["all"]
    assert found.kl.estimate == pytest.approx(2.0 / 8)
    assert (found.kl.n, found.clusters) == (8, 2)
    assert found.largest_kl == 1.0
    assert (found.same, found.same_top.estimate) == (6, 0.75)
    # in halvings: the reference has 8 over 8 tokens, the build 12
    assert found.reference_perplexity.estimate == near(2.0)
    assert found.build_perplexity.estimate == near(2 ** (12 / 8))
    assert found.perplexity_ratio.estimate == near(2 ** (4 / 8))


def test_intervals_are_over_episodes(figures: BuildFigures) -> None:
    # of two episodes both means are 1/4: resampling them shows no spread, though tokens differ
    assert figures.parts["all"].kl.low == pytest.approx(0.25)
    assert figures.parts["all"].kl.high == pytest.approx(0.25)
    ratio = figures.parts["all"].perplexity_ratio
    assert (ratio.low, ratio.high) == (near(2 ** (1 / 4)), near(2 ** (3 / 4)))


@pytest.mark.parametrize(
    ("part", "tokens", "kl", "same"),
    [("thought", 2, 0.05, 2), ("name", 2, 0.1, 2), ("declaration", 1, 0.0, 1), ("arguments", 1, 0.3, 0), ("rest", 3,
    1.4 / 3, 2)], )  # fmt: skip
def test_each_part_has_its_own_tokens(figures: BuildFigures, part: str, tokens: int, kl: float, same: int) -> None:
    found = figures.parts[part]  # type: ignore[index]
    assert (found.kl.n, found.same) == (tokens, same)
    assert found.kl.estimate == pytest.approx(kl)


def test_a_part_that_no_token_writes_has_no_figures() -> None:
    its = BuildFidelity(build="w4a8", notes="", episodes=(followed("A/0", (0.5,), "1", (1,)),))
    found = fidelity_report(record([reference("A/0", "t", (1,))], [its])).builds[0]
    assert set(found.parts) == {"all", "thought"}
    assert (found.stopping, found.acting, found.text, found.greedy, found.diverging) == (None, None, None, None, None)


def test_tails_and_changes(figures: BuildFigures) -> None:
    assert figures.tails is not None
    assert (figures.tails.p95.estimate, figures.tails.p99.estimate) == (1.0, 1.0)
    # changes, in halvings: 0 1 2 0 and 0 1 0 0
    assert figures.tails.change.estimate == near(-log(2) * 4 / 8)
    assert figures.tails.change_rms.estimate == near(log(2) * sqrt(6 / 8))


def test_the_decision_to_stop(figures: BuildFigures) -> None:
    found = figures.stopping
    assert found is not None
    assert (found.reference.estimate, found.build.estimate, found.difference.estimate) == (3.0, 1.0, -2.0)
    assert (found.difference.low, found.difference.high) == (-3.0, -1.0)
    assert (found.flips.estimate, found.flips.n, found.to_go_on, found.to_stop) == (0.5, 2, 1, 0)
    low, high = stats.binomtest(1, 2).proportion_ci(method="wilson")
    assert found.flips.low == pytest.approx(low)
    assert found.flips.high == pytest.approx(high)
    assert found.covered == 0.98
    assert found.called.estimate == 1.0
    assert found.own is not None
    assert found.own.estimate == 0.5


def test_what_it_would_do(figures: BuildFigures) -> None:
    found = figures.acting
    assert found is not None
    assert (found.same.estimate, found.same.n) == (0.75, 4)
    assert found.kinds == {"same": 3, "other argument": 0, "other tool": 0, "declared": 1, "malformed": 0}


def test_a_text_is_counted_by_token_and_resampled_by_window(figures: BuildFigures) -> None:
    found = figures.text
    assert found is not None
    assert (found.kl.estimate, found.kl.n, found.clusters) == (1.0, 4, 2)
    assert (found.kl.low, found.kl.high, found.largest_kl) == (0.5, 1.5, 2.0)
    assert (found.same, found.same_top.n) == (3, 4)
    assert found.reference_perplexity.estimate == near(2 ** (6 / 4))
    assert found.build_perplexity.estimate == near(2 ** (8 / 4))
    assert found.perplexity_ratio.estimate == near(2 ** (2 / 4))


def test_greedy_continuations(figures: BuildFigures) -> None:
    found = figures.greedy
    assert found is not None
    assert (found.matches, found.exact.n, found.exact.estimate) == (1, 2, 0.5)
    assert found.kept.estimate == pytest.approx((3 / 8 + 1) / 2)
    assert found.first_other is not None
    assert (found.first_other.estimate, found.first_other.n) == (3, 1)


def test_instances_that_both_played(figures: BuildFigures) -> None:
    found = figures.diverging
    assert found is not None
    assert (found.same, found.identical.n, found.identical.estimate) == (2, 4, 0.5)
    assert found.first_step is not None
    assert (found.first_step.estimate, found.first_step.n) == (1.0, 2)


def test_where_nothing_differs_there_is_no_first_difference() -> None:
    its = BuildFidelity(
        build="bf16", notes="", completions=(completion("text 1", 8, 8),), divergences=divergences(None, None)
    )
    found = fidelity_report(record([], [its])).builds[0]
    assert found.greedy is not None
    assert (found.greedy.first_other, found.greedy.matches) == (None, 1)
    assert found.diverging is not None
    assert (found.diverging.first_step, found.diverging.same) == (None, 2)
    assert (found.parts, found.tails) == ({}, None)


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = small()
    written.write(tmp_path / "fidelity.json")
    assert FidelityRecord.read(tmp_path / "fidelity.json") == written


def test_numbers_are_kept_with_six_digits() -> None:
    assert followed("A/0", (0.123456789, 1.23456789e-9), "11", (0, 0)).kl == (0.123457, 1.23457e-9)


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"schema_version": 1}', encoding="utf-8")
    with pytest.raises(OperatorError, match="no record of a fidelity measurement"):
        FidelityRecord.read(tmp_path / "other.json")
    with pytest.raises(OperatorError, match="cannot be written"):
        small().write(tmp_path / "none" / "fidelity.json")
