from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_eval.actions import GiveUp, Malformed, TaskComplete, ToolCall, Wait
from agent_eval.contracts import Trace, TraceStep
from agent_eval.errors import TaskFault
from agent_eval.outcome import LABELS, Facts, Outcome
from agent_eval.tasks import answers
from agent_eval.tasks.judge import VOLATILE_PATHS, Criteria, judge, matches
from agent_eval.taxonomy import RULES
from agent_eval.types import Scalar, Snapshot
from tests.tasks.judged import (
    ALARM,
    ANSWER,
    BY_NAME,
    FIXTURES,
    IMPOSSIBLE,
    WIFI,
    WIFI_ON,
    Judged,
    at_the_switch,
    flipping,
)
from tests.tasks.traces import CONTACTS, LAUNCHER, SETTINGS, Diary

by_fixture = pytest.mark.parametrize("fixture", FIXTURES, ids=[fixture.name for fixture in FIXTURES])


def facts(outcome: Outcome) -> Facts:
    assert outcome.facts is not None
    return outcome.facts


@by_fixture
def test_a_trajectory_gets_its_label_and_its_facts(fixture: Judged) -> None:
    outcome = judge(fixture.criteria, fixture.play())
    assert (outcome.label, outcome.sub_kind) == (fixture.label, fixture.sub_kind)
    assert {name: getattr(outcome.facts, name) for name in fixture.facts} == fixture.facts


def test_every_label_is_met_in_the_corpus_and_no_name_twice() -> None:
    assert {fixture.label for fixture in FIXTURES} == set(LABELS)
    assert len(BY_NAME) == len(FIXTURES)


def test_the_corpus_uses_each_kind_of_reply() -> None:
    replies = [step.reply for fixture in FIXTURES for step in fixture.play().steps]
    assert any(isinstance(reply, Malformed) for reply in replies)
    assert {type(reply.action) for reply in replies if isinstance(reply, ToolCall)} >= {GiveUp, TaskComplete, Wait}


def test_the_docs_have_the_taxonomy_in_its_order() -> None:
    page = (Path(__file__).parents[2] / "docs" / "concepts" / "judge.md").read_text("utf-8")
    rows = [f"| {number} | {rule.verdict.told} | {rule.asks} |" for number, rule in enumerate(RULES, start=1)]
    assert "\n".join(rows) in page


@given(st.integers(2, 20))
def test_the_label_of_an_on_off_cycle_does_not_depend_on_where_the_budget_falls(flips: int) -> None:
    outcome = judge(WIFI_ON, flipping(flips).ends())
    assert outcome.label == "reversal"
    assert facts(outcome).reversals == flips // 2


def test_a_fault_of_the_harness_has_no_facts() -> None:
    trace = Trace(Snapshot(()), (), "harness_error")
    assert (judge(WIFI_ON, trace).label, judge(WIFI_ON, trace).facts) == ("harness_error", None)


@pytest.mark.parametrize(
    "trace",
    [
        at_the_switch().ends("declared"),
        replace(at_the_switch().completes(), stop="step_budget"),
        Trace(Snapshot(()), at_the_switch().completes().steps * 2, "declared"),
    ],
)
def test_a_trace_that_contradicts_itself_is_a_fault(trace: Trace) -> None:
    with pytest.raises(TaskFault, match="expected one declaration, at the last step"):
        judge(WIFI_ON, trace)


def test_a_last_tap_that_only_took_time_had_no_effect() -> None:
    diary = at_the_switch().does("text Title", becomes={"clock/now_ms": 150, "clock/pending_timers": 2})
    assert facts(judge(WIFI_ON, diary.ends())).no_effect_actions == 1


def test_counts_of_malformed_and_fruitless_steps_are_facts() -> None:
    diary = at_the_switch().babbles().does("text Title").does("row Same").flips(WIFI).babbles()
    found = facts(judge(WIFI_ON, diary.completes()))
    assert (found.invalid_calls, found.first_invalid_turn, found.no_effect_actions) == (2, 3, 2)
    assert (found.steps, found.first_reach, found.steps_after_reach) == (9, 7, 2)


@pytest.mark.parametrize(
    ("path", "pattern", "fits"),
    [
        ("settings/wifi_on", "settings/wifi_on", True),
        ("settings/wifi_on", "settings/wifi", False),
        ("settings/wifi_on", "settings/*", True),
        ("clock/alarm/3/hour", "clock/alarm/*/hour", True),
        ("clock/alarm/3/hour", "clock/alarm/*", False),
        ("clock/alarm/3/hour", "clock/alarm/3/**", True),
        ("clock/alarm/31/hour", "clock/alarm/3/**", False),
        ("clock/alarm/3", "clock/alarm/3/**", False),
    ],
)
def test_a_path_pattern_matches_part_by_part(path: str, pattern: str, fits: bool) -> None:
    assert matches(path, pattern) is fits


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("15", True),
        ("Android 15", True),
        ("Android version: 15.", True),
        ("１５", True),
        ("15.0", True),
        ("it is 15, yes: 15", True),
        ("", False),
        ("fifteen", False),
        ("1.5", False),
        ("14 or 15", False),
        ("151", False),
        ("15.1", False),
    ],
)
def test_an_answer_is_right_when_it_names_the_number_and_no_other(answer: str, right: bool) -> None:
    assert answers.number("15")(answer) is right


# ----------------------------------------------------------------------------------------------------------------------
# properties over random trajectories

MOVES = st.sampled_from(["wifi", "airplane", "open", "lose", "home", "swipe", "row", "babble", "wait"])
ENDINGS = st.sampled_from(["complete", "give up", "step_budget", "loop_stop", "token_budget"])


@st.composite
def trajectories(draw: st.DrawFn) -> Trace:
    diary = Diary(settings__wifi_on=draw(st.booleans()), settings__airplane_mode_on=draw(st.booleans()))
    for move in draw(st.lists(MOVES, max_size=14)):
        match move:
            case "wifi":
                diary.flips(WIFI)
            case "airplane":
                diary.flips("settings/airplane_mode_on", "switch Airplane mode")
            case "open":
                diary.opens("Settings", SETTINGS)
            case "lose":
                diary.opens("Contacts", CONTACTS)
            case "home":
                diary.does("key home", to="home", package=LAUNCHER)
            case "swipe":
                diary.swipes(to=draw(st.sampled_from(["a", "b", None])))
            case "row":
                diary.does("row x")
            case "babble":
                diary.babbles()
            case "wait":
                diary.waits()
    match draw(ENDINGS):
        case "complete":
            return diary.completes(draw(st.sampled_from(["", "15", "3"])))
        case "give up":
            return diary.gives_up()
        case "loop_stop":
            return diary.ends("loop_stop")
        case "token_budget":
            return diary.ends("token_budget")
        case _:
            return diary.ends()


CRITERIA = st.sampled_from([WIFI_ON, ALARM, ANSWER, IMPOSSIBLE])


def rules_that_match(criteria: Criteria, trace: Trace, found: Facts) -> list[str]:
    """Slow twin of the precedence: every rule in full, in order, none relying on the one before."""
    complete = found.declared == ("infeasible" if criteria.infeasible else "complete")
    done = complete and found.goal_final and found.answer_ok in (None, True)
    never = not found.reached
    foreign = [s.package for s in trace.steps if s.package not in ("", LAUNCHER, *criteria.apps)]
    last = [s.package for s in trace.steps[-max(1, -(-len(trace.steps) // 3)) :]]
    telling_last = [p for p in last if p not in ("", LAUNCHER)]
    ever = any(s.package in criteria.apps for s in trace.steps)
    wrong = (bool(telling_last) and not any(p in criteria.apps for p in telling_last)) or (
        not telling_last and bool(foreign) and not ever
    )
    rules = [
        ("success", done and not found.side_effects),
        ("over_execution", done and bool(found.side_effects)),
        ("reversal", found.reversals >= 1 and not (done and not found.side_effects)),
        ("premature_completion", found.declared != "none" and not done),
        ("no_completion", found.reached and found.goal_final and not found.reversals and found.declared == "none"),
        ("invalid_call", never and found.steps > 0 and found.invalid_calls * 2 >= found.steps),
        ("wrong_app", never and wrong),
        ("looping", never and found.loop is not None and found.loop.at_end),
        ("no_completion", True),
    ]
    return [name for name, holds in rules if holds]


@settings(max_examples=300)
@given(CRITERIA, trajectories())
def test_every_trajectory_gets_the_first_label_that_matches(criteria: Criteria, trace: Trace) -> None:
    outcome = judge(criteria, trace)
    assert outcome.label == rules_that_match(criteria, trace, facts(outcome))[0]
    assert judge(criteria, trace) == outcome


@settings(max_examples=200)
@given(trajectories())
def test_reversals_are_what_a_recount_over_the_states_finds(trace: Trace) -> None:
    values = [trace.start[WIFI], *(step.after[WIFI] for step in trace.steps)]
    drops = sum(before is True and after is False for before, after in pairwise(values))
    found = facts(judge(WIFI_ON, trace))
    assert found.reversals == drops
    assert found.first_reach == next((place for place, value in enumerate(values) if value is True), None)
    assert found.goal_final == values[-1]


@settings(max_examples=200)
@given(CRITERIA, trajectories(), st.integers(0, 2**31))
def test_volatile_state_changes_nothing(criteria: Criteria, trace: Trace, seconds: int) -> None:
    def aged(snapshot: Snapshot, by: int) -> Snapshot:
        volatile: dict[str, Scalar] = {
            "clock/now": seconds + by,
            "clock/now_ms": (7 * seconds + by) % 1000,
            "clock/pending_timers": (seconds + by) % 3,
            "battery/level": (seconds + by) % 101,
            "recents/0": str((seconds ^ by) % 7),
            "ui/recents": str((seconds + by) % 7),
        }
        assert all(path.startswith(VOLATILE_PATHS) for path in volatile)
        return replace(snapshot, transient=tuple(sorted((dict(snapshot.transient) | volatile).items())))

    steps = tuple(
        replace(step, before=aged(step.before, place), after=aged(step.after, place + 1))
        for place, step in enumerate(trace.steps)
    )
    assert judge(criteria, Trace(aged(trace.start, 0), steps, trace.stop)) == judge(criteria, trace)


@settings(max_examples=200)
@given(trajectories(), st.integers(0, 14))
def test_a_longer_budget_never_forgets_a_reversal(trace: Trace, cut: int) -> None:
    undeclared = tuple(step for step in trace.steps if not _declares(step))
    short = judge(WIFI_ON, Trace(trace.start, undeclared[:cut], "step_budget"))
    whole = judge(WIFI_ON, Trace(trace.start, undeclared, "step_budget"))
    assert facts(whole).reversals >= facts(short).reversals
    if short.label == "reversal":
        assert whole.label == "reversal"


def _declares(step: TraceStep) -> bool:
    return isinstance(step.reply, ToolCall) and isinstance(step.reply.action, TaskComplete | GiveUp)


@pytest.mark.parametrize(("rang", "label"), [("", "over_execution"), ("3", "over_execution"), ("2,3", "success")])
def test_an_alarm_that_rang_and_was_dismissed_switched_itself_off(rang: str, label: str) -> None:
    diary = Diary(SETTINGS, settings__wifi_on=False, clock__alarm__2__enabled=True)
    diary.does(
        "switch Wi-Fi", writes={"settings/wifi_on": True, "clock/alarm/2/enabled": False}, becomes={"clock/rang": rang}
    )
    assert judge(WIFI_ON, diary.completes()).label == label
