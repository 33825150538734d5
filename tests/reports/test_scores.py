"""Scores from runs: the counts of the summary, conditions of several skins, and what only scores count."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_eval.errors import OperatorError
from agent_eval.reports import summary_of
from agent_eval.reports.score_record import ScoreRecord
from agent_eval.reports.scores import Played, TaskKind, scores_of
from agent_eval.reports.stats import wilson
from tests.reports.builders import episode, manifest, run
from tests.reports.card_builders import KINDS, played, scores

LETTERS = {"bf16": "SSSRPNLWUOES", "w4a8": "SRSSPDEWUOSS"}


def test_one_run_scores_what_its_summary_says() -> None:
    of = played(LETTERS)
    (condition,) = scores_of({"x": [of]}, KINDS, 0).conditions
    for build, summary in zip(condition.builds, summary_of(*of).builds, strict=True):
        assert (build.build, build.planned, build.recorded) == (summary.build, 12, summary.recorded)
        assert (build.judged, build.harness_errors) == (summary.judged, len(summary.harness_errors))
        assert build.labels == summary.labels
        assert {"success": build.success, **build.rates} == summary.rates
    (pair,) = condition.pairs
    (wanted,) = summary_of(*of).pairs
    assert (pair.pairs, pair.lost, pair.gained) == (wanted.pairs, wanted.lost, wanted.gained)


def test_tiers_share_out_the_judged_episodes() -> None:
    (condition,) = scores_of({"x": [played(LETTERS)]}, KINDS, 0).conditions
    for build in condition.builds:
        shares = [share for share in build.tiers.values() if share is not None]
        assert sum(share.n for share in shares) == build.judged
        assert sum(round(share.estimate * share.n) for share in shares) == build.labels["success"]


def test_skins_of_one_condition_are_added_up_and_paired_each_with_its_own() -> None:
    one = played({"bf16": "SS", "w4a8": "SN"}, "vendor")
    other = played({"bf16": "NN", "w4a8": "NS"}, "reordered")
    (condition,) = scores_of({"x": [one, other]}, KINDS, 0).conditions
    assert condition.skins == ("vendor", "reordered")
    assert (condition.tasks, condition.instances) == (2, 1)
    assert [(build.planned, build.judged) for build in condition.builds] == [(4, 4), (4, 4)]
    assert condition.builds[0].success == wilson(2, 4)
    (pair,) = condition.pairs
    assert (pair.pairs, pair.lost, pair.gained) == (4, 1, 1)


def already_true(label: str, **changes: object) -> Played:
    record = episode(label, **{"first_reach": 0, "goal_final": True, **changes})  # type: ignore[arg-type]
    return Played(manifest(("bf16",), 1), (record,))


@pytest.mark.parametrize(
    ("of", "passed"),
    [
        (already_true("success"), 1),
        (already_true("success", reversals=1), 0),
        (already_true("over_execution"), 0),
        (already_true("reversal", reversals=1), 0),
    ],
)
def test_a_task_that_is_already_true_is_passed_clean_only_if_the_goal_was_never_left(of: Played, passed: int) -> None:
    (condition,) = scores_of({"x": [of]}, {"Task00": KINDS["Task00"], "WifiSet": TaskKind(1, True)}, 0).conditions
    assert condition.builds[0].already_true == wilson(passed, 1)


def test_tasks_that_are_not_already_true_do_not_count_as_such() -> None:
    of = Played(manifest(("bf16",), 1), run({"bf16": "S"}))
    (condition,) = scores_of({"x": [of]}, {"Task00": TaskKind(1, already_true=False)}, 0).conditions
    assert condition.builds[0].already_true is None


def test_only_the_last_attempt_of_an_episode_counts() -> None:
    records = (episode("harness_error", task="Task00"), episode("success", task="Task00", attempt=1))
    (condition,) = scores_of({"x": [Played(manifest(("bf16",), 1), records)]}, KINDS, 0).conditions
    (build,) = condition.builds
    assert (build.recorded, build.judged, build.harness_errors) == (1, 1, 0)


def test_scores_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    file = tmp_path / "scores.json"
    file.write_text(scores().as_json(), encoding="utf-8")
    assert ScoreRecord.read(file) == scores()


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"schema_version": 2}', "\x00"])
def test_a_file_that_holds_no_scores_is_refused_with_what_writes_them(tmp_path: Path, text: str) -> None:
    file = tmp_path / "scores.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(OperatorError, match="is no record of scores") as caught:
        ScoreRecord.read(file)
    assert "agent-eval score" in caught.value.hint
    with pytest.raises(OperatorError, match="cannot be read"):
        ScoreRecord.read(tmp_path / "nowhere")


def test_scores_of_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one run"):
        scores_of({}, KINDS, 0)
