"""Inspect logs: the conversation is whole and in order, and the scores are the labels."""

from __future__ import annotations

import json
from typing import Any

from agent_eval.reports.exports.inspect_log import inspect_logs
from tests.reports.builders import episode, manifest, run


def logs(letters: dict[str, str]) -> dict[str, Any]:
    """Return the log of each build as a program reads it back."""
    made = inspect_logs(manifest(tuple(letters), tasks=max(map(len, letters.values()))), run(letters))
    return {log["eval"]["model_args"]["build"]: json.loads(json.dumps(log)) for log in made.values()}


def test_each_build_has_a_log_and_each_episode_a_sample() -> None:
    found = logs({"bf16": "SSN", "w4a8": "SRN"})
    assert list(found) == ["bf16", "w4a8"]
    assert [sample["id"] for sample in found["w4a8"]["samples"]] == found["w4a8"]["eval"]["dataset"]["sample_ids"]
    assert [sample["scores"]["success"]["value"] for sample in found["w4a8"]["samples"]] == ["C", "I", "I"]
    assert [sample["scores"]["success"]["answer"] for sample in found["w4a8"]["samples"]] == [
        "success",
        "reversal",
        "no_completion, stuck",
    ]


def test_accuracy_leaves_out_what_the_harness_lost() -> None:
    log = logs({"bf16": "SNE"})["bf16"]
    (score,) = log["results"]["scores"]
    assert score["metrics"]["accuracy"]["value"] == 0.5
    assert (score["scored_samples"], score["unscored_samples"]) == (2, 1)
    lost = log["samples"][2]
    assert "scores" not in lost
    assert lost["error"]["message"]


def test_a_conversation_alternates_between_what_was_shown_and_what_was_replied() -> None:
    (sample,) = logs({"bf16": "S"})["bf16"]["samples"]
    roles = [message["role"] for message in sample["messages"]]
    assert roles == ["user", *["assistant", "tool"] * 4]
    calls = [message["tool_calls"][0] for message in sample["messages"] if message["role"] == "assistant"]
    results = [message for message in sample["messages"] if message["role"] == "tool"]
    assert [result["tool_call_id"] for result in results] == [call["id"] for call in calls]
    assert len({message["id"] for message in sample["messages"]}) == len(roles)


def test_a_run_that_is_not_complete_says_so() -> None:
    whole, part = (inspect_logs(manifest(("bf16",), tasks=2), run({"bf16": letters})) for letters in ("SS", "S"))
    assert [log["status"] for log in (*whole.values(), *part.values())] == ["success", "cancelled"]


def test_the_same_run_gives_the_same_files() -> None:
    once, again = (inspect_logs(manifest(), run({"bf16": "SN", "w4a16": "SS", "w4a8": "NN"})) for _ in range(2))
    assert once == again
    assert len(once) == 3


def test_nothing_recorded_is_a_log_without_a_score() -> None:
    (log,) = inspect_logs(manifest(("bf16",)), []).values()
    assert log["results"]["scores"] == log["samples"] == []


def test_only_the_last_attempt_is_a_sample() -> None:
    records = [episode("harness_error", attempt=0), episode("success", attempt=1)]
    (log,) = inspect_logs(manifest(("bf16",), tasks=1), records).values()
    assert [sample["metadata"]["attempt"] for sample in log["samples"]] == [1]


def test_a_build_took_as_long_as_its_episodes_did() -> None:
    (log,) = inspect_logs(manifest(("bf16",), tasks=3), run({"bf16": "SSN"})).values()
    assert (log["stats"]["started_at"], log["stats"]["completed_at"]) == (
        "2026-01-02T03:04:05+00:00",
        "2026-01-02T03:04:11+00:00",
    )


def test_a_run_that_ended_when_it_was_decided_is_complete() -> None:
    letters = {"bf16": "S" * 12, "w4a8": "N" * 12}
    made = manifest(("bf16", "w4a8"), tasks=12, instances=8, decided_at_margin=0.1)
    assert {log["status"] for log in inspect_logs(made, run(letters)).values()} == {"success"}
