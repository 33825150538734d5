from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_eval.actions import GiveUp, Malformed, TaskComplete, ToolCall, Wait
from agent_eval.contracts import Trace, TraceStep
from agent_eval.errors import TaskFault
from agent_eval.outcome import LABELS, Facts, Label, Loop, Outcome, SubKind
from agent_eval.tasks import answers
from agent_eval.tasks.judge import VOLATILE_PATHS, Criteria, judge, matches, only
from agent_eval.types import Scalar, Snapshot
from tests.tasks.traces import CLOCK, CONTACTS, LAUNCHER, SETTINGS, Diary

WIFI = "settings/wifi_on"
WIFI_ON = Criteria(goal=lambda _start, now: now.get(WIFI) is True, allowed=only(WIFI), apps=(SETTINGS,))
ALARM = Criteria(
    goal=lambda _start, now: now.get("clock/alarm/1/hour") == 7, allowed=only("clock/alarm/1/**"), apps=(CLOCK,)
)
ANSWER = Criteria(goal=None, allowed=only(), apps=(SETTINGS,), answer=lambda _start, text: answers.number("15")(text))
IMPOSSIBLE = Criteria(goal=None, allowed=only(), apps=(SETTINGS,), infeasible=True)


def at_the_switch(on: bool = False) -> Diary:
    """Walk to the Wi-Fi switch as the reference study's agents did: three steps."""
    diary = Diary(settings__wifi_on=on, settings__airplane_mode_on=False)
    return diary.opens("Settings", SETTINGS).does("row Network & internet", to="network").does("row Internet", to="net")


def flipping(times: int, on: bool = False) -> Diary:
    diary = at_the_switch(on)
    for _ in range(times):
        diary.flips(WIFI)
    return diary


def facts(outcome: Outcome) -> Facts:
    assert outcome.facts is not None
    return outcome.facts


def in_clock() -> Diary:
    return Diary().opens("Clock", CLOCK)


def looping_at_the_alarm_tab() -> Trace:
    diary = in_clock()
    for _ in range(9):
        diary.does("button Alarm")
    return diary.ends()


def lost_in_contacts() -> Trace:
    diary = Diary().opens("Contacts", CONTACTS)
    for _ in range(9):
        diary.does("button Create contact")
    return diary.ends()


def stuck_without_a_call() -> Trace:
    diary = in_clock().does("button Add alarm", to="picker").does("field hour 7", to="seven").does("field minute 30")
    diary.does("text colon").does("radio AM", to="am").does("text title").does("field hour 8", to="eight")
    return diary.ends()


def only_waits() -> Trace:
    return Diary(settings__wifi_on=False).waits().waits().waits().waits().ends()


def half_babble() -> Trace:
    diary = in_clock()
    for place in range(4):
        diary.does(f"row {place}", to=f"page {place}").babbles()
    return diary.babbles().ends()


def three_in_a_row() -> Trace:
    diary = in_clock()
    for place in range(6):
        diary.does(f"row {place}", to=f"page {place}")
    return diary.babbles().babbles().babbles().ends("invalid_stop")


ROWS: list[tuple[str, Criteria, Callable[[], Trace], Label, SubKind]] = [
    # the verdicts on which public benchmarks disagree
    ("reached and declared", WIFI_ON, lambda: flipping(1).completes(), "success", ""),
    ("reached, never declared", WIFI_ON, lambda: flipping(1).waits().ends(), "no_completion", "undeclared"),
    ("reached, then undone", WIFI_ON, lambda: flipping(2).ends(), "reversal", ""),
    ("the budget ends on reached", WIFI_ON, lambda: flipping(3).ends(), "reversal", ""),
    ("declared, never reached", WIFI_ON, lambda: at_the_switch().completes(), "premature_completion", ""),
    ("unparsable at step four", WIFI_ON, lambda: flipping(0).babbles().flips(WIFI).completes(), "success", ""),
    (
        "reached with unrelated damage",
        WIFI_ON,
        lambda: flipping(1).flips("settings/airplane_mode_on", "switch Airplane").completes(),
        "over_execution",
        "",
    ),
    (
        "on, off, on, with unrelated damage",
        WIFI_ON,
        lambda: flipping(3).flips("settings/airplane_mode_on", "switch Airplane").completes(),
        "over_execution",
        "",
    ),
    # the reference study's four cells
    ("W4A8 Wi-Fi", WIFI_ON, lambda: flipping(7).ends(), "reversal", ""),
    ("W4A8 alarm", ALARM, looping_at_the_alarm_tab, "looping", ""),
    ("W4A16 alarm", ALARM, stuck_without_a_call, "no_completion", "stuck"),
    ("bf16 alarm", ALARM, lost_in_contacts, "wrong_app", ""),
    # the rest of the taxonomy
    ("declared after undoing", WIFI_ON, lambda: flipping(2).completes(), "reversal", ""),
    ("on, off, on, declared", WIFI_ON, lambda: flipping(3).completes(), "success", "unstable"),
    ("already true, flipped twice", WIFI_ON, lambda: flipping(2, on=True).completes(), "success", "unstable"),
    ("already true, flipped once", WIFI_ON, lambda: flipping(1, on=True).completes(), "reversal", ""),
    ("already true, declared", WIFI_ON, lambda: at_the_switch(on=True).completes(), "success", ""),
    ("already true, not declared", WIFI_ON, lambda: at_the_switch(on=True).ends(), "no_completion", "undeclared"),
    ("gave up on what is possible", WIFI_ON, lambda: at_the_switch().gives_up(), "premature_completion", "gave_up"),
    ("gave up with the goal reached", WIFI_ON, lambda: flipping(1).gives_up(), "premature_completion", "gave_up"),
    ("loop stop on reached", WIFI_ON, lambda: flipping(1).waits().ends("loop_stop"), "no_completion", "undeclared"),
    ("invalid stop on reached", WIFI_ON, lambda: flipping(1).babbles().babbles().babbles().ends("invalid_stop"),
     "no_completion", "undeclared"),
    ("three malformed replies in a row", ALARM, three_in_a_row, "invalid_call", ""),
    ("half of the replies malformed", ALARM, half_babble, "invalid_call", ""),
    ("only malformed replies", ALARM, lambda: Diary().babbles().babbles().babbles().ends("invalid_stop"),
     "invalid_call", ""),
    ("right answer", ANSWER, lambda: at_the_switch().completes("Android 15."), "success", ""),
    ("wrong answer", ANSWER, lambda: at_the_switch().completes("14"), "premature_completion", ""),
    ("no answer", ANSWER, lambda: at_the_switch().completes(), "premature_completion", ""),
    ("right answer, with damage", ANSWER, lambda: flipping(1).completes("15"), "over_execution", ""),
    ("answer never given", ANSWER, lambda: at_the_switch().ends(), "no_completion", "stuck"),
    ("gave up on an answer", ANSWER, lambda: at_the_switch().gives_up(), "premature_completion", "gave_up"),
    ("gave up on the impossible", IMPOSSIBLE, lambda: at_the_switch().gives_up(), "success", ""),
    ("claimed the impossible", IMPOSSIBLE, lambda: at_the_switch().completes(), "premature_completion", ""),
    ("only waits", WIFI_ON, only_waits, "looping", ""),
    ("no step at all", WIFI_ON, lambda: Diary(settings__wifi_on=False).ends("token_budget"), "no_completion", "stuck"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "criteria", "play", "label", "sub_kind"), ROWS, ids=[row[0] for row in ROWS])
def test_a_trajectory_gets_its_label(
    name: str, criteria: Criteria, play: Callable[[], Trace], label: Label, sub_kind: SubKind
) -> None:
    outcome = judge(criteria, play())
    assert (outcome.label, outcome.sub_kind) == (label, sub_kind), name


def test_every_label_but_a_fault_is_met_in_the_table() -> None:
    assert {row[3] for row in ROWS} == set(LABELS) - {"harness_error"}


def test_the_reference_studys_wifi_cell_keeps_its_loop_flag() -> None:
    found = facts(judge(WIFI_ON, flipping(7).ends()))
    assert found.loop == Loop(period=2, first_step=4, at_end=True)
    assert (found.reached, found.first_reach, found.reversals, found.goal_final) == (True, 4, 3, True)
    assert found.steps_after_reach == 6


def test_the_reference_studys_lost_cell_keeps_its_loop_flag() -> None:
    found = facts(judge(ALARM, lost_in_contacts()))
    assert found.loop == Loop(period=1, first_step=1, at_end=True)
    assert found.task_app_share == 0.0
    assert found.apps_visited == (LAUNCHER, CONTACTS)


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


def test_the_launcher_and_an_unknown_foreground_are_no_wrong_app() -> None:
    on_launcher = Diary()
    unknown = Diary(package="")
    for place in range(6):
        on_launcher.does(f"button {place}", to=f"page {place}")
        unknown.does(f"button {place}", to=f"page {place}", package="")
    assert judge(ALARM, on_launcher.ends()).sub_kind == "stuck"
    assert judge(ALARM, unknown.ends()).sub_kind == "stuck"


def test_only_the_last_third_decides_whether_the_app_is_wrong() -> None:
    def visit(*packages: str) -> str:
        diary = Diary()
        for place, package in enumerate(packages):
            diary.does(f"row {place}", to=f"page {place}", package=package)
        return judge(ALARM, diary.ends()).label

    assert visit(CONTACTS, CONTACTS, CONTACTS, CONTACTS, CLOCK, CONTACTS) == "no_completion"
    assert visit(CLOCK, CLOCK, CLOCK, CLOCK, CONTACTS, CONTACTS) == "wrong_app"
    assert visit(CLOCK, CLOCK, CLOCK, CLOCK, LAUNCHER, "") == "no_completion"
    assert visit(CONTACTS, CONTACTS, CONTACTS, CONTACTS, LAUNCHER, "") == "wrong_app"


def test_what_the_world_does_while_the_agent_waits_is_neither_reversal_nor_damage() -> None:
    diary = flipping(1).waits(writes={WIFI: False, "settings/airplane_mode_on": True})
    found = facts(judge(WIFI_ON, diary.ends()))
    assert (found.reversals, found.side_effects, found.goal_final) == (0, (), False)


def test_a_change_that_the_agent_began_and_waited_for_is_its_own() -> None:
    diary = flipping(1).does("switch Wi-Fi", becomes={"pending/wifi_on": True})
    diary.waits(writes={WIFI: False})
    assert facts(judge(WIFI_ON, diary.ends())).reversals == 1


def test_damage_that_was_undone_is_none() -> None:
    diary = flipping(1).flips("settings/airplane_mode_on", "A").flips("settings/airplane_mode_on", "A")
    assert judge(WIFI_ON, diary.completes()).label == "success"


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
            "battery/level": (seconds + by) % 101,
            "recents/0": str((seconds ^ by) % 7),
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


def test_a_notification_that_comes_is_the_phones_doing_and_one_that_goes_is_the_agents() -> None:
    def play(*, arrives: bool) -> Trace:
        there: dict[str, Scalar] = {} if arrives else {"notifications/1/title": "News"}
        diary = Diary(SETTINGS, settings__wifi_on=False, **{k.replace("/", "__"): v for k, v in there.items()})
        changed = "News" if arrives else None
        diary.does("switch Wi-Fi", writes={"settings/wifi_on": True, "notifications/1/title": changed})
        return diary.completes()

    assert judge(WIFI_ON, play(arrives=True)).label == "success"
    outcome = judge(WIFI_ON, play(arrives=False))
    assert (outcome.label, facts(outcome).side_effects) == ("over_execution", ("notifications/1/title",))


@pytest.mark.parametrize(("rang", "label"), [("", "over_execution"), ("3", "over_execution"), ("2,3", "success")])
def test_an_alarm_that_rang_and_was_dismissed_switched_itself_off(rang: str, label: str) -> None:
    diary = Diary(SETTINGS, settings__wifi_on=False, clock__alarm__2__enabled=True)
    diary.does(
        "switch Wi-Fi", writes={"settings/wifi_on": True, "clock/alarm/2/enabled": False}, becomes={"clock/rang": rang}
    )
    assert judge(WIFI_ON, diary.completes()).label == label


def test_the_fixtures_use_each_kind_of_reply() -> None:
    replies = [step.reply for _, _, play, _, _ in ROWS for step in play().steps]
    assert any(isinstance(reply, Malformed) for reply in replies)
    assert any(isinstance(reply, ToolCall) and isinstance(reply.action, Wait) for reply in replies)
