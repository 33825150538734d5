"""What a bench says: ratios within passes, a band from the same build measured twice, warnings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_eval.errors import OperatorError
from agent_eval.reports.bench import BuildFigures, bench_report
from agent_eval.reports.bench_record import BenchRecord, Disturbance, HeadRecord, LoadRecord
from agent_eval.reports.bench_tables import render_bench
from tests.reports.bench_builders import DISCARDED, MIB, QUIET, arm, bench, whole
from tests.reports.golden import rendered

STEADY = [10.0] * 5


def figures(record: BenchRecord, build: str) -> BuildFigures:
    return next(each for each in bench_report(record).builds if each.arm.build == build)


def test_the_first_pass_counts_nowhere() -> None:
    report = bench_report(bench(arm("bf16", STEADY), arm("w4a8", [20.0] * 5)))
    for build in report.builds:
        assert build.decode.speed.low > DISCARDED
        assert build.decode.speed.passes == build.prefill.speed.passes == 5
    assert report.stream.low == 20e9


def test_a_speed_is_the_median_with_the_least_and_the_most() -> None:
    speed = figures(bench(arm("bf16", [9.0, 11.0, 10.0, 12.0, 8.0])), "bf16").decode.speed
    assert (speed.median, speed.low, speed.high) == pytest.approx((10, 8, 12))


def test_a_moment_that_slows_every_build_changes_no_ratio() -> None:
    slow = [10.0, 3.0, 10.0, 9.0, 1.0]
    ratio = figures(bench(arm("bf16", slow), arm("w4a8", [2 * rate for rate in slow])), "w4a8").decode.to_first
    assert ratio is not None
    assert (ratio.value.low, ratio.value.high) == pytest.approx((2, 2))
    assert ratio.verdict == "faster"


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [(1.05, "no measured difference"), (1.2, "faster"), (0.8, "slower"), (0.95, "no measured difference")],
)
def test_within_eight_percent_nothing_is_a_difference(factor: float, verdict: str) -> None:
    ratio = figures(bench(arm("bf16", STEADY), arm("w4a8", [10 * factor] * 5)), "w4a8").decode.to_first
    assert ratio is not None
    assert ratio.verdict == verdict


@pytest.mark.parametrize("twin", [1.25, 0.8])
def test_what_differs_from_itself_by_a_quarter_makes_a_quarter_no_difference(twin: float) -> None:
    record = bench(arm("bf16", STEADY), arm("w4a8", [12.0] * 5), twin=twin)
    report = bench_report(record)
    assert report.bands["decode"] == report.bands["prefill"] == pytest.approx(0.25)
    ratio = figures(record, "w4a8").decode.to_first
    assert ratio is not None
    assert ratio.verdict == "no measured difference"


def test_too_few_passes_call_nothing_a_difference() -> None:
    record = bench(arm("bf16", [10.0] * 3), arm("w4a8", [30.0] * 3))
    ratio = figures(record, "w4a8").decode.to_first
    assert ratio is not None
    assert ratio.verdict == "not measured"
    assert any("3 passes are too few" in warning for warning in bench_report(record).warnings)


def test_a_build_is_compared_with_the_first_and_with_the_peer_but_not_with_itself() -> None:
    record = bench(arm("bf16", STEADY), arm("q4_k_m", [20.0] * 5, read_per_token=None), arm("w4a8", [30.0] * 5))
    assert bench_report(record).peer == "q4_k_m"
    assert figures(record, "bf16").decode.to_first is None
    assert figures(record, "q4_k_m").decode.to_peer is None
    peer, ours = figures(record, "bf16").decode.to_peer, figures(record, "w4a8").decode.to_peer
    assert peer is not None
    assert ours is not None
    assert (peer.value.estimate, ours.value.estimate) == pytest.approx((0.5, 1.5))


def test_the_share_of_the_stream_is_what_was_read_over_what_can_be_read() -> None:
    # 500 MiB a token, ten tokens a second, 20 GB/s
    share = figures(bench(arm("w4a8", STEADY)), "w4a8").of_stream
    assert share is not None
    assert share.estimate == pytest.approx(500 * MIB * 10 / 20e9)
    assert figures(bench(arm("q4_k_m", STEADY, read_per_token=None)), "q4_k_m").of_stream is None


def test_a_head_left_as_it_is_beside_quantised_projections_is_a_trap_with_its_cost() -> None:
    trapped = arm("w4a16", STEADY, head=HeadRecord(bits=16, seconds=0.03, trap=True))
    (warning,) = bench_report(bench(trapped)).warnings
    assert warning == ("lm_head trap: w4a16 leaves its head in 16 bits. The head takes 30 ms of 100 ms a token (30 %).")
    assert bench_report(bench(arm("bf16", STEADY, head=HeadRecord(bits=16, seconds=0.03, trap=False)))).warnings == ()


@pytest.mark.parametrize(
    ("others", "disturbed"),
    [
        (QUIET, ()),
        (Disturbance(foreign_cores=0.6, stolen=0.0), (2,)),
        (Disturbance(foreign_cores=0.0, stolen=0.06), (2,)),
        (None, ()),
    ],
)
def test_a_pass_that_others_disturbed_is_named_and_still_counted(
    others: Disturbance | None, disturbed: tuple[int, ...]
) -> None:
    record = bench(arm("bf16", STEADY), disturbances=(None, QUIET, others, QUIET, QUIET, QUIET))
    report = bench_report(record)
    assert report.disturbed == disturbed
    assert any("busy" in warning for warning in report.warnings) == bool(disturbed)
    assert report.builds[0].decode.speed.passes == 5


def test_a_disturbance_of_the_discarded_pass_matters_to_no_one() -> None:
    busy = Disturbance(foreign_cores=2.0, stolen=0.5)
    assert bench_report(bench(arm("bf16", STEADY), disturbances=(busy, *[QUIET] * 5))).warnings == ()


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"cold": LoadRecord(resident=0.5, load_s=1, first_token_s=1)}, "was not cold: 50 %"),
        ({"compiled": False}, "without the compiled kernels"),
    ],
)
def test_what_a_reader_must_know_is_a_warning(changes: dict[str, Any], word: str) -> None:
    (warning,) = bench_report(bench(arm("bf16", STEADY, **changes))).warnings
    assert word in warning


@pytest.mark.parametrize(("kind", "word"), [("synthetic", "SYNTHETIC"), ("constructed", "CONSTRUCTED")])
def test_weights_of_no_models_own_are_said_to_be_so(kind: str, word: str) -> None:
    record = bench(arm("bf16", STEADY), model_kind=kind)
    (warning,) = bench_report(record).warnings
    assert word in warning
    assert f"({word} weights)" in rendered(render_bench(record), 120)


def test_a_record_is_written_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    whole().write(path)
    assert BenchRecord.read(path) == whole()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "the file"),
        ("[]", "the file"),
        ("{}", "created"),
        (whole().model_dump_json().replace('"schema_version":1', '"schema_version":2'), "schema_version"),
    ],
)
def test_what_is_no_record_is_refused(tmp_path: Path, text: str, word: str) -> None:
    path = tmp_path / "bench.json"
    path.write_text(text)
    with pytest.raises(OperatorError, match=word):
        BenchRecord.read(path)


def test_a_file_that_is_not_there_or_cannot_be_written_is_an_error_of_whoever_named_it(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="cannot be read"):
        BenchRecord.read(tmp_path / "none.json")
    with pytest.raises(OperatorError, match="cannot be written"):
        whole().write(tmp_path / "no folder" / "bench.json")


def test_a_peer_that_comes_first_is_compared_with_once() -> None:
    record = bench(arm("q4_k_m", STEADY, read_per_token=None), arm("w4a8", [30.0] * 5))
    assert bench_report(record).peer is None
    assert figures(record, "w4a8").decode.to_first is not None
    assert figures(record, "w4a8").decode.to_peer is None
