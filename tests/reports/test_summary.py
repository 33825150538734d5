from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_eval.errors import RunFolderError
from agent_eval.outcome import LABELS
from agent_eval.reports import (
    RATES,
    BuildSummary,
    RateName,
    RunSummary,
    evidence_of,
    latest,
    pairs_of,
    speed_of,
    summary_of,
)
from agent_eval.reports.summary import LEAST_BUDGET, path_efficiency
from agent_eval.tasks import TASKS, task
from agent_eval.types import Interval
from tests.reports.builders import LETTERS, episode, manifest, run


def summary(letters: dict[str, str]) -> RunSummary:
    return summary_of(manifest(tuple(letters), tasks=max(len(text) for text in letters.values())), run(letters))


def build(letters: str) -> BuildSummary:
    return summary({"bf16": letters}).builds[0]


def counted(interval: Interval | None) -> tuple[int, int]:
    assert interval is not None
    return round(interval.estimate * interval.n), interval.n


# --- which records count


def test_only_the_last_attempt_counts_wherever_it_stands() -> None:
    first, second = episode("harness_error", attempt=0), episode("success", attempt=1)
    assert latest([first, second]) == latest([second, first]) == (second,)


def test_a_retried_fault_leaves_no_trace_in_the_counts() -> None:
    records = [episode("harness_error", attempt=0), episode("reversal", attempt=1)]
    found = summary_of(manifest(("bf16",), tasks=1), records).builds[0]
    assert (found.recorded, found.judged, found.harness_errors) == (1, 1, ())
    assert found.labels["reversal"] == 1


def test_faults_are_named_and_are_in_no_rate() -> None:
    found = build("SSENE")
    assert (found.recorded, found.judged) == (5, 3)
    assert [record.episode for record in found.harness_errors] == ["bf16/Task02/0", "bf16/Task04/0"]
    assert counted(found.rates["success"]) == (2, 3)
    assert found.labels["harness_error"] == 2


def test_a_build_with_faults_only_has_no_rate_rather_than_zero() -> None:
    found = build("EE")
    assert found.judged == 0
    assert set(found.rates.values()) == {None}
    assert found.invalid_calls_per_turn is None


def test_every_label_and_every_rate_is_a_key() -> None:
    found = build("S")
    assert tuple(found.labels) == LABELS
    assert tuple(found.rates) == tuple(RATES)


def test_a_build_without_records_is_listed() -> None:
    found = summary_of(manifest(("bf16", "w4a8"), tasks=3), run({"bf16": "SSS"}))
    assert found.planned == 3
    assert [(b.build, b.recorded) for b in found.builds] == [("bf16", 3), ("w4a8", 0)]
    assert found.pairs[0].pairs == 0


def test_the_reference_is_bf16_wherever_it_stands_else_the_first() -> None:
    assert summary({"w4a8": "S", "bf16": "S"}).reference == "bf16"
    assert summary({"w4a16": "S", "w4a8": "S"}).reference == "w4a16"


# --- rates


@pytest.mark.parametrize(
    ("name", "letters", "expected"),
    [
        ("success", "SUORPGIWLND", (2, 11)),
        ("harm", "SUORPGIWLND", (2, 11)),
        ("reach", "SUORPGIWLND", (5, 11)),
        ("goal_at_end", "SUORPGIWLND", (4, 11)),
        ("recognition", "SUORPGIWLND", (3, 5)),
        ("reversal", "SUORPGIWLND", (2, 5)),
        ("false_complete", "SUORPGIWLND", (1, 4)),
        ("over_execution", "SUORPGIWLND", (1, 11)),
        ("loop", "SUORPGIWLND", (1, 11)),
        ("wrong_app", "SUORPGIWLND", (1, 11)),
    ],
)
def test_each_rate_counts_its_event_among_its_episodes(name: RateName, letters: str, expected: tuple[int, int]) -> None:
    assert counted(build(letters).rates[name]) == expected


def test_false_toggle_counts_only_episodes_that_began_at_the_goal() -> None:
    records = [
        episode("success", task="Already", seed=0, first_reach=0),
        episode("success", "unstable", task="Already", seed=1, first_reach=0),
        episode("reversal", task="Already", seed=2, first_reach=0),
        episode("reversal", task="WifiSet", seed=0),
    ]
    rates = summary_of(manifest(("bf16",), tasks=4), records).builds[0].rates
    assert counted(rates["false_toggle"]) == (2, 3)


def test_tasks_that_ask_for_an_answer_are_left_out_of_reach_and_recognition() -> None:
    records = [
        episode("success", task="NextAlarm", first_reach=None, answer_ok=True),
        episode("premature_completion", task="NextAlarm", seed=1, answer_ok=False),
        episode("success", task="WifiSet"),
    ]
    rates = summary_of(manifest(("bf16",), tasks=3), records).builds[0].rates
    assert counted(rates["reach"]) == (1, 1)
    assert counted(rates["recognition"]) == (1, 1)
    assert counted(rates["false_complete"]) == (1, 3)


def test_turns_are_counted_over_all_episodes_and_the_first_invalid_turn_where_there_is_one() -> None:
    found = build("SSI")
    assert counted(found.invalid_calls_per_turn) == (3, 12)
    assert counted(found.first_invalid_turn) == (1, 1)


def test_actions_without_effect_are_shares_of_calls_that_are_no_declaration() -> None:
    # 4 calls less one declaration, and 4 calls of a loop
    assert counted(build("SL").no_effect_share) == (2, 7)


def test_effort_is_counted_over_failures_too() -> None:
    found = build("SNNN")
    assert (found.tokens, found.seconds) == (4 * 4 * 11, 8.0)
    assert found.budget_use is not None
    assert (found.budget_use.estimate, found.budget_use.n) == (0.5, 1)


# --- pairs


def test_pairs_need_a_judged_episode_of_both_builds() -> None:
    records = run({"bf16": "SSE.S", "w4a8": "SESS."})
    pairs = pairs_of(records, "bf16", "w4a8")
    assert [pair.build.task for pair in pairs] == ["Task00"]


def test_lost_and_gained_are_seen_from_the_build() -> None:
    pair = summary({"bf16": "SSSNN", "w4a8": "SRNSL"}).pairs[0]
    assert (pair.both_passed, pair.lost, pair.gained, pair.both_failed) == (1, 2, 1, 1)
    assert [(d.build.episode, d.lost) for d in pair.discordant] == [
        ("w4a8/Task01/0", True),
        ("w4a8/Task02/0", True),
        ("w4a8/Task03/0", False),
    ]


def test_the_migration_counts_every_pair_once() -> None:
    pair = summary({"bf16": "SSSN", "w4a8": "SRRN"}).pairs[0]
    assert pair.migration == {
        ("success", "success"): 1,
        ("success", "reversal"): 2,
        ("no_completion", "no_completion"): 1,
    }


def test_the_step_ratio_compares_only_instances_that_both_passed() -> None:
    records = [
        episode("success", task="A", steps=4),
        episode("success", task="A", build="w4a8", steps=6),
        episode("success", task="B", steps=4),
        episode("looping", task="B", build="w4a8", steps=40),
    ]
    ratio = summary_of(manifest(("bf16", "w4a8"), tasks=2), records).pairs[0].step_ratio
    assert ratio is not None
    assert (ratio.estimate, ratio.n) == (1.5, 1)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 12).flatmap(
        lambda n: st.tuples(*[st.text([*LETTERS, "."], min_size=n, max_size=n) for _ in range(2)])
    )
)
def test_counts_add_up_whatever_the_outcomes(letters: tuple[str, str]) -> None:
    found = summary({"bf16": letters[0], "w4a8": letters[1]})
    for one, text in zip(found.builds, letters, strict=True):
        assert one.recorded == len(text) - text.count(".") == sum(one.labels.values())
        assert one.judged + len(one.harness_errors) == one.recorded
        for rate in one.rates.values():
            assert rate is None or 0 <= rate.low <= rate.estimate <= rate.high <= 1
    pair = found.pairs[0]
    assert pair.pairs == pair.both_passed + pair.lost + pair.gained + pair.both_failed == sum(pair.migration.values())
    assert len(pair.discordant) == pair.lost + pair.gained


# --- versions of tasks and agents that are no model


def test_results_of_two_versions_of_a_task_are_refused() -> None:
    records = [episode("success"), episode("success").model_copy(update={"task_version": 2, "episode": "w4a8/other"})]
    with pytest.raises(RunFolderError, match=r"version 1 of task .*version 2.*do not compare"):
        summary_of(manifest(("bf16", "w4a8")), records)


def test_reference_agents_are_counted_and_never_compared() -> None:
    letters = {"oracle": "SS", "bf16": "SR", "w4a16": "SS", "null": "PP"}
    made = manifest(tuple(letters)).model_copy(update={"agents": ("oracle", "null")})
    shown = summary_of(made, run(letters))
    assert [one.build for one in shown.builds] == list(letters)
    assert (shown.reference, [pair.build for pair in shown.pairs]) == ("bf16", ["w4a16"])
    evidence = evidence_of(made, run(letters))
    assert [one.build for one in evidence.builds] == ["bf16", "w4a16"]


def test_a_run_of_reference_agents_only_compares_nothing() -> None:
    letters = {"oracle": "SS", "null": "PP"}
    made = manifest(tuple(letters)).model_copy(update={"agents": tuple(letters)})
    shown = summary_of(made, run(letters))
    assert (shown.reference, shown.pairs, speed_of(made, run(letters)).builds) == ("", (), ())


# --- the way to the goal


def test_path_efficiency_is_the_oracles_actions_over_those_taken() -> None:
    straight, detour = (episode("success", steps=steps).model_copy(update={"budget": 14}) for steps in (7, 13))
    assert (path_efficiency(straight), path_efficiency(detour)) == (1.0, 0.5)
    undeclared = episode("no_completion", "undeclared", steps=6).model_copy(update={"budget": 14})
    assert path_efficiency(undeclared) == 1.0


def test_a_budget_at_its_least_does_not_tell_the_oracles_steps() -> None:
    assert path_efficiency(episode("success")) is None
    records = [episode("success"), episode("success", task="Other", steps=5).model_copy(update={"budget": 10})]
    found = summary_of(manifest(("bf16",), tasks=2), records).builds[0].path_efficiency
    assert found == Interval(1.0, 1.0, 1.0, 1)


def test_only_successes_have_a_path_efficiency() -> None:
    records = [episode("looping", steps=14).model_copy(update={"budget": 14})]
    assert summary_of(manifest(("bf16",), tasks=1), records).builds[0].path_efficiency is None


@pytest.mark.parametrize("name", ["AlarmCreate", "EventAdd", "WifiSet", "RecipeAdd"])
def test_the_oracles_steps_are_read_off_the_budget_that_its_task_gives(name: str) -> None:
    assert task.LEAST_BUDGET == LEAST_BUDGET
    for seed in range(5):
        instance = TASKS[name].draw(seed)
        steps = instance.draft.oracle_steps
        record = episode("success", steps=steps + 1).model_copy(update={"budget": instance.budget})
        assert path_efficiency(record) == (1.0 if instance.budget > LEAST_BUDGET else None)
