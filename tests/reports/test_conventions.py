"""The same trajectory under each published convention, cell by cell, and what a report says of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_eval.actions import Tap
from agent_eval.contracts import Trace
from agent_eval.outcome import Outcome
from agent_eval.records import EpisodeRecord
from agent_eval.reports.conventions import CONVENTIONS, MARKS, Score, conventions_of
from agent_eval.tasks.judge import Criteria
from tests.reports.builders import manifest, run
from tests.tasks.judged import AIRPLANE, ANSWER, BY_NAME, IMPOSSIBLE, TELL, WIFI, WIFI_ON, at_the_switch, flipping
from tests.tasks.recorded import recorded
from tests.tasks.traces import CONTACTS, SETTINGS, Diary

NAMES = tuple(convention.name for convention in CONVENTIONS)
Cells = tuple[str, str, str, str, str]
"""Pass or fail with marks, under each convention in order."""


def scores(record: EpisodeRecord) -> dict[str, Score]:
    return {convention.name: convention.score(record) for convention in CONVENTIONS}


def told(score: Score) -> str:
    return " ".join(["pass" if score.passed else "fail", *score.marks])


ROWS: list[tuple[str, Callable[[], Trace], Cells, str]] = [
    # trajectory: AndroidWorld, AndroidLab, MobileWorld, MobileAgentBench, MobileGym; our label
    (
        "goal reached, agent says done",
        lambda: flipping(1).completes(),
        ("pass", "pass", "pass", "pass", "pass"),
        "success",
    ),
    (
        "goal reached, never declared",
        lambda: flipping(1).waits().ends(),
        ("fail", "pass", "pass", "pass FN", "fail OT"),
        "no_completion",
    ),
    (
        "goal reached, then undone, ends undone",
        lambda: flipping(2).ends(),
        ("fail", "fail", "fail", "pass FN", "fail"),
        "reversal",
    ),
    (
        "reached, undone, reached, the budget ends on reached",
        lambda: flipping(3).ends(),
        ("fail", "pass", "pass", "pass FN", "fail OT"),
        "reversal",
    ),
    (
        "declared, never reached",
        lambda: at_the_switch().completes(),
        ("fail", "fail", "fail", "fail FP", "fail FC"),
        "premature_completion",
    ),
    (
        "reply cannot be parsed, then reached and declared",
        lambda: at_the_switch().babbles().flips(WIFI).completes(),
        ("pass", "pass", "fail", "pass", "fail FORMAT_ERROR"),
        "success",
    ),
    (
        "goal reached, with unrelated damage",
        lambda: at_the_switch().flips(AIRPLANE, "switch Airplane").flips(WIFI).completes(),
        ("pass", "pass", "pass", "pass", "fail USE"),
        "over_execution",
    ),
]
"""The trajectories on which the five disagree."""


@pytest.mark.parametrize("place", range(len(CONVENTIONS)), ids=NAMES)
@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_trajectory_scores_as_it_does_there(row: tuple[str, Callable[[], Trace], Cells, str], place: int) -> None:
    _, play, cells, _ = row
    assert told(CONVENTIONS[place].score(recorded(WIFI_ON, play()))) == cells[place]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_the_same_trajectory_has_one_label_here(row: tuple[str, Callable[[], Trace], Cells, str]) -> None:
    _, play, _, label = row
    assert recorded(WIFI_ON, play()).outcome.label == label


def test_the_table_of_the_docs_is_this_one() -> None:
    page = (Path(__file__).parents[2] / "docs" / "concepts" / "conventions.md").read_text("utf-8")
    heads = ("trajectory", *NAMES, "here")
    rows = [(name, *cells, f"`{label}`") for name, _, cells, label in ROWS]
    for line in (heads, *rows):
        assert f"| {' | '.join(line)} |" in page


def test_the_docs_have_every_rule_source_and_mark() -> None:
    page = (Path(__file__).parents[2] / "docs" / "concepts" / "conventions.md").read_text("utf-8")
    for convention in CONVENTIONS:
        assert f"| {convention.name} | {convention.rule} | {convention.source} |" in page
    assert set(MARKS) <= set(re.findall(r"`([A-Z_]+)`", page))


CASES: list[tuple[str, Criteria, Callable[[], Trace], Cells]] = [
    # what the table of trajectories leaves open
    ("undone in another app, AndroidLab's last page is the goal", WIFI_ON,
     lambda: flipping(1).opens("Contacts", CONTACTS).does("tile Wi-Fi", writes={WIFI: False}).ends(),
     ("fail", "pass", "fail", "pass FN", "fail")),
    ("never in the task's app, AndroidLab has judged nothing", WIFI_ON,
     lambda: Diary(settings__wifi_on=False).does("tile Wi-Fi", writes={WIFI: True}).completes(),
     ("pass", "fail", "pass", "pass", "pass")),
    ("six equal taps before the goal are judged by AndroidLab", WIFI_ON,
     lambda: _tapping(6).flips(WIFI).completes(), ("pass", "pass", "pass", "pass", "pass")),
    ("a seventh equal tap ends AndroidLab's judging", WIFI_ON,
     lambda: _tapping(7).flips(WIFI).completes(), ("pass", "fail", "pass", "pass", "pass")),
    ("a malformed reply breaks no repetition", WIFI_ON,
     lambda: _tapping(3, _tapping(4).babbles()).flips(WIFI).completes(),
     ("pass", "fail", "fail", "pass", "fail FORMAT_ERROR")),
    ("unparsable after the goal", WIFI_ON, lambda: flipping(1).babbles().completes(),
     ("pass", "pass", "pass", "pass FN", "fail FORMAT_ERROR")),
    ("unparsable after the damage", WIFI_ON,
     lambda: at_the_switch().flips(AIRPLANE, "A").babbles().flips(WIFI).completes(),
     ("pass", "pass", "fail", "pass", "fail FORMAT_ERROR USE")),
    ("unparsable before the damage", WIFI_ON,
     lambda: at_the_switch().babbles().flips(AIRPLANE, "A").flips(WIFI).completes(),
     ("pass", "pass", "fail", "pass", "fail FORMAT_ERROR")),
    ("given up with the goal reached", WIFI_ON, lambda: flipping(1).gives_up(),
     ("pass", "pass", "pass", "pass", "fail")),
    ("given up without it", WIFI_ON, lambda: at_the_switch().gives_up(),
     ("fail", "fail", "fail", "fail FP", "fail")),
    ("true from the start, looked at, declared", WIFI_ON, lambda: at_the_switch(on=True).completes(),
     ("pass", "pass", "pass", "pass", "pass")),
    ("true from the start, declared at once: no page of the task's app", WIFI_ON,
     lambda: Diary(settings__wifi_on=True).completes(), ("pass", "fail", "pass", "pass", "pass")),
    ("a step too many", WIFI_ON, lambda: flipping(1).does("row x").completes(),
     ("pass", "pass", "pass", "pass FN", "pass")),
    ("the right answer", ANSWER, lambda: at_the_switch().completes("15"), ("pass", "pass", "pass", "pass", "pass")),
    ("a wrong answer", ANSWER, lambda: at_the_switch().completes("14"),
     ("fail", "fail", "fail", "fail FP", "fail FC")),
    ("no answer", ANSWER, lambda: at_the_switch().ends(), ("fail", "fail", "fail", "fail", "fail")),
    ("the right answer after an unparsable reply", ANSWER, lambda: at_the_switch().babbles().completes("15"),
     ("pass", "pass", "fail", "pass", "fail FORMAT_ERROR")),
    ("the right answer after seven equal taps", ANSWER, lambda: _tapping(7).completes("15"),
     ("pass", "fail", "pass", "pass", "pass")),
    ("the goal and the wrong answer", TELL, lambda: flipping(1).completes("14"),
     ("fail", "fail", "fail", "fail", "fail FC")),
    ("the goal and the right answer", TELL, lambda: flipping(1).completes("15"),
     ("pass", "pass", "pass", "pass", "pass")),
    ("the right answer and no goal", TELL, lambda: at_the_switch().completes("15"),
     ("fail", "fail", "fail", "fail FP", "fail FC")),
    ("given up on what cannot be done", IMPOSSIBLE, lambda: at_the_switch().gives_up(),
     ("pass", "pass", "pass", "pass", "pass")),
    ("claimed what cannot be done", IMPOSSIBLE, lambda: at_the_switch().completes(),
     ("fail", "fail", "fail", "fail FP", "fail FC")),
    ("no step at all", WIFI_ON, lambda: Diary(settings__wifi_on=False).ends("token_budget"),
     ("fail", "fail", "fail", "fail", "fail")),
]  # fmt: skip


def _tapping(times: int, diary: Diary | None = None) -> Diary:
    """Tap one element of Settings so many times."""
    diary = diary or Diary(SETTINGS, settings__wifi_on=False, settings__airplane_mode_on=False)
    for _ in range(times):
        diary.does("row Battery", action=Tap(index=3))
    return diary


@pytest.mark.parametrize(("name", "criteria", "play", "cells"), CASES, ids=[case[0] for case in CASES])
def test_a_case_beside_the_table(name: str, criteria: Criteria, play: Callable[[], Trace], cells: Cells) -> None:
    found = scores(recorded(criteria, play()))
    assert tuple(map(told, found.values())) == cells, name


def test_a_record_that_does_not_say_whose_apps_were_in_front_is_judged_at_every_step() -> None:
    record = recorded(WIFI_ON, BY_NAME["bf16 alarm"].play())
    silent = record.model_copy(
        update={"steps": tuple(step.model_copy(update={"in_task_app": None, "goal": True}) for step in record.steps)}
    )
    assert scores(silent)["AndroidLab"].passed


def test_a_record_without_changes_hides_the_damage_before_a_format_error() -> None:
    record = recorded(WIFI_ON, at_the_switch().flips(AIRPLANE, "A").babbles().flips(WIFI).completes())
    silent = record.model_copy(
        update={"steps": tuple(step.model_copy(update={"changes": None}) for step in record.steps)}
    )
    assert told(scores(silent)["MobileGym"]) == "fail FORMAT_ERROR"


def test_an_episode_that_the_harness_broke_passes_nothing_and_is_counted_nowhere() -> None:
    broken = recorded(WIFI_ON, flipping(1).ends("harness_error"))
    assert set(map(told, scores(broken).values())) == {"fail"}
    mine = broken.model_copy(update={"build": "bf16", "episode": "bf16/WifiSet/0"})
    shares = conventions_of(manifest(("bf16",)), [mine])[0].shares
    assert [share.passed for share in shares] == [None] * len(CONVENTIONS)


def test_an_outcome_with_facts_and_the_label_of_a_fault_is_a_fault() -> None:
    record = recorded(WIFI_ON, flipping(1).completes())
    facts = record.outcome.facts
    faulted = record.model_copy(update={"outcome": Outcome("harness_error", "", "harness_error", facts, "late")})
    assert set(map(told, scores(faulted).values())) == {"fail"}


def test_a_report_counts_passes_and_marks_per_build_over_the_last_attempts() -> None:
    records = run({"bf16": "SSDE", "w4a8": "RRPO"})
    first, second = conventions_of(manifest(("bf16", "w4a8")), records)
    world, _, _, bench, gym = second.shares
    assert (first.build, second.build) == ("bf16", "w4a8")
    assert [share.passed.n if share.passed else 0 for share in (*first.shares, *second.shares)] == [3] * 5 + [4] * 5
    assert world.passed is not None
    assert (world.passed.estimate, world.passed.low < 0.25 < world.passed.high) == (0.25, True)
    assert bench.marks == {"FN": 3, "FP": 1}
    assert gym.marks == {"FC": 1, "USE": 1}
