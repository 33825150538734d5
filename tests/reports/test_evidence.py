from __future__ import annotations

import subprocess
import sys

import pytest

from agent_eval.reports import evidence_of, report_of
from agent_eval.reports.stats import Pairs as OfTask
from agent_eval.reports.stats import bonett_price, effective_pairs, holm, lower_bound, mcnemar
from agent_eval.types import PairedEvidence
from tests.reports.builders import manifest, run


def test_evidence_joins_outcomes_pairs_and_speed() -> None:
    letters = {"bf16": "S" * 24, "w4a16": "S" * 24, "w4a8": "S" * 14 + "R" * 8 + "EO"}
    speeds = {"bf16": 40.0, "w4a16": 80.0, "w4a8": 41.0}
    evidence = evidence_of(manifest(tasks=24), run(letters, speeds), run="runs/a")
    assert (evidence.run, evidence.model, evidence.model_kind) == ("runs/a", "nano", "embedded")
    assert (evidence.device_class, evidence.reference) == ("x86-avx512", "bf16")
    assert [build.build for build in evidence.builds] == ["bf16", "w4a16", "w4a8"]
    w4a8 = evidence.builds[2]
    assert (w4a8.success.n, w4a8.harness_errors) == (23, 1)
    assert w4a8.harm.estimate == pytest.approx(9 / 23)
    same, worse = evidence.pairs
    assert (same.pairs, same.lost, same.gained, same.verdict, same.pairs_needed) == (24, 0, 0, "no worse", 0)
    assert (worse.pairs, worse.lost, worse.gained, worse.verdict) == (23, 9, 0, "worse")
    assert worse.difference == bonett_price(9, 0, 23)
    assert worse.lower_bound == lower_bound(9, 0, 23)
    assert (same.p_adjusted, worse.p_adjusted) == holm([1.0, mcnemar(9, 0)])
    assert same.speed_ratio is not None
    assert (same.speed_ratio.estimate, same.speed_verdict) == (2.0, "faster")
    assert worse.speed_verdict == "no measured difference"


def test_a_run_with_several_episodes_in_flight_is_evidence_of_outcomes_and_of_no_speed() -> None:
    letters = {"bf16": "S" * 24, "w4a8": "S" * 20 + "R" * 4}
    records = run(letters, {"bf16": 40.0, "w4a8": 80.0})
    alone = evidence_of(manifest(tuple(letters), 24), records)
    together = evidence_of(manifest(tuple(letters), 24, concurrency=4), records)
    assert (alone.in_flight, together.in_flight) == (1, 4)
    assert all(build.decode_tokens_per_s is not None for build in alone.builds)
    assert all(build.decode_tokens_per_s is build.prefill_tokens_per_s is None for build in together.builds)
    assert (alone.pairs[0].speed_verdict, together.pairs[0].speed_verdict) == ("faster", "not measured")
    assert together.pairs[0].speed_ratio is None
    assert (together.pairs[0].lost, together.pairs[0].difference) == (alone.pairs[0].lost, alone.pairs[0].difference)
    assert [build.success for build in together.builds] == [build.success for build in alone.builds]


def test_the_margin_decides_the_verdict_and_is_recorded() -> None:
    records = run({"bf16": "S" * 60, "w4a8": "S" * 56 + "N" * 4})
    wide, narrow = (
        evidence_of(manifest(("bf16", "w4a8"), 60), records, margin=margin).pairs[0] for margin in (0.2, 0.1)
    )
    assert (wide.margin, wide.verdict, wide.pairs_needed) == (0.2, "no worse", 0)
    assert (narrow.margin, narrow.verdict) == (0.1, "insufficient evidence")
    assert narrow.pairs_needed > 0


def test_a_build_without_pairs_is_unknown_and_holds_no_nan() -> None:
    evidence = evidence_of(manifest(("bf16", "w4a8"), 2), run({"bf16": "SS", "w4a8": "EE"}))
    pair, build = evidence.pairs[0], evidence.builds[1]
    assert (pair.pairs, pair.verdict, pair.lower_bound, pair.p_value) == (0, "insufficient evidence", -1.0, 1.0)
    assert (build.success.n, build.success.low, build.success.high, build.harness_errors) == (0, 0.0, 1.0, 2)
    assert pair.pairs_needed > 0


def test_an_empty_run_is_evidence_of_nothing() -> None:
    evidence = evidence_of(manifest(), [])
    assert [build.success.n for build in evidence.builds] == [0, 0, 0]
    assert [pair.pairs for pair in evidence.pairs] == [0, 0]


def test_the_report_holds_the_same_evidence() -> None:
    records = run({"bf16": "SSSN", "w4a16": "SSNN", "w4a8": "SRRE"}, {"bf16": 40.0, "w4a16": 50.0, "w4a8": 60.0})
    assert report_of(manifest(tasks=4), records).evidence == evidence_of(manifest(tasks=4), records)


def test_a_margin_that_is_no_share_is_refused() -> None:
    with pytest.raises(ValueError, match="received 10"):
        evidence_of(manifest(), [], margin=10)


def test_importing_reports_loads_neither_rich_nor_scipy_nor_torch() -> None:
    code = "import sys, agent_eval.reports; print([m for m in ('rich', 'scipy', 'torch') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- tasks with several instances


def test_instances_of_one_task_that_go_the_same_way_count_for_less() -> None:
    apart = run({"bf16": "S" * 60, "w4a8": "S" * 56 + "N" * 4})
    task_of = [f"Task{block // 2:02d}" for block in range(60)]
    together = [r.model_copy(update={"task": task_of[r.block], "seed": r.block % 2}) for r in apart]
    together = [r.model_copy(update={"episode": f"{r.build}/{r.task}/{r.seed}"}) for r in together]
    alone, alike = (evidence_of(manifest(("bf16", "w4a8"), 60), records).pairs[0] for records in (apart, together))
    assert (alone.lost, alone.pairs, alone.worth) == (alike.lost, alike.pairs, 60)
    assert alike.worth == pytest.approx(effective_pairs([OfTask(0, 0, 2)] * 28 + [OfTask(2, 0, 2)] * 2))
    assert alike.worth == pytest.approx(30, abs=1), "two pairs that always go the same way are one"
    assert alike.difference == bonett_price(4, 0, 60, worth=alike.worth)
    assert alike.difference.estimate == alone.difference.estimate
    assert alike.lower_bound < alone.lower_bound
    assert alike.pairs_needed > alone.pairs_needed


# --- runs that end when they are decided


def adaptive(letters: str, planned: int = 400) -> PairedEvidence:
    records = run({"bf16": "S" * len(letters), "w4a8": letters})
    made = manifest(("bf16", "w4a8"), planned, decided_at_margin=0.1)
    return evidence_of(made, records).pairs[0]


def test_the_pairs_in_their_order_give_the_verdict_of_a_run_that_ends_by_them() -> None:
    pair = adaptive("SNSN" + "N" * 6 + "SS")
    assert (pair.verdict, pair.pairs_needed) == ("worse", 0)
    assert pair.sequential is not None
    assert (pair.sequential.verdict, pair.sequential.pairs, pair.sequential.lost) == ("worse", 10, 8)


def test_what_comes_after_the_decision_does_not_take_it_back() -> None:
    assert adaptive("N" * 8 + "S" * 300).verdict == "worse"


def test_a_run_cut_short_before_it_decides_needs_further_pairs() -> None:
    pair = adaptive("S" * 100, planned=101)
    assert (pair.verdict, pair.pairs_needed) == ("insufficient evidence", 1)


def test_at_the_cap_all_pairs_together_are_asked() -> None:
    pair = adaptive("S" * 100, planned=100)
    assert pair.sequential is not None
    assert (pair.sequential.decided, pair.verdict, pair.pairs_needed) == (False, "no worse", 0)
