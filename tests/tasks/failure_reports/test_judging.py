"""Public reports about how agents were judged: each symptom again, and the judgement that it deserves."""

from __future__ import annotations

import pytest

from agent_eval.actions import OpenApp, TaskComplete
from agent_eval.agent import RandomAgent, misbehaving
from agent_eval.agent.policy import ModelPolicy
from agent_eval.agent.prompt import tool_schemas
from agent_eval.episode import EpisodeLimits
from agent_eval.outcome import Loop
from agent_eval.reports.summary import summary_of
from agent_eval.tasks import find_task
from agent_eval.types import PhoneSetup, Sampling, Snapshot
from agent_eval.wiring import open_tcp
from tests.fakes import ScriptedModel, call
from tests.reports.builders import manifest
from tests.tasks.looping import BENIGN, MALIGN, UP, WAIT, Repetition
from tests.tasks.scenes import SETTINGS, expert, facts, follows, play, play_on, scene, told

STOPPING = EpisodeLimits(stop_on_loop=True)


def test_a_switch_that_was_on_already_is_turned_off_and_on_for_ever() -> None:
    """StaR 2509.13615, demo: that is a reversal, whatever the switch shows at the end, and a loop as well."""
    instance = find_task("WifiSetAlready[wanted=on]").draw(0)
    record = play(instance, misbehaving.flips_for_ever(expert(instance), "Wi-Fi"))
    assert (record.outcome.label, record.outcome.stop) == ("reversal", "step_budget"), told(record)
    found = facts(record)
    assert found.first_reach == 0
    assert found.reversals >= 2
    assert found.loop is not None
    assert (found.loop.period, found.loop.at_end) == (2, True)


@pytest.mark.parametrize("name", ["WifiSetAlready", "BluetoothSetAlready", "AlarmAlready"])
def test_tasks_that_are_done_already_pass_an_agent_that_does_nothing(name: str) -> None:
    """google-research/android_world#315: here they pass nobody who does not say so, and give-ups fail as well."""
    instance = find_task(name).draw(0)
    waiting, giving_up = play(instance, misbehaving.only_waits()), play(instance, misbehaving.gives_up())
    assert (waiting.outcome.label, waiting.outcome.sub_kind) == ("no_completion", "undeclared")
    assert (giving_up.outcome.label, giving_up.outcome.sub_kind) == ("premature_completion", "gave_up")


def test_an_exception_in_the_judge_becomes_a_score_and_nobody_sees_it() -> None:
    """google-research/android_world#59: it is an error of the harness, in no rate, and listed beside the rates."""

    def breaks(_start: Snapshot, _now: Snapshot) -> bool:
        raise ValueError("cannot convert float NaN to integer")

    record = play(scene(goal=breaks), follows(OpenApp(app="Settings")))
    assert record.outcome.label == "harness_error"
    assert record.outcome.facts is None
    assert record.outcome.fault == "unexpected ValueError: cannot convert float NaN to integer"
    other = play(scene(goal=lambda _start, _now: True), follows())
    summary = summary_of(manifest(("script",)), [record, other.model_copy(update={"episode": "script/Scene/2"})])
    (build,) = summary.builds
    assert (build.recorded, build.judged, len(build.harness_errors)) == (2, 1, 1)
    success = build.rates["success"]
    assert success is not None
    assert (success.estimate, success.n) == (1.0, 1)


def test_the_agent_says_that_it_succeeded_and_the_phone_says_no() -> None:
    """droidrun/droidrun-android-world#1: a declaration without the goal is premature, whatever the agent says."""
    instance = find_task("WifiSet").draw(0)
    record = play(instance, follows(OpenApp(app="Settings"), TaskComplete(answer="Wi-Fi is set. Success!")))
    assert (record.outcome.label, record.outcome.stop) == ("premature_completion", "declared")
    assert not facts(record).reached


def test_steps_run_out_on_the_way_to_a_page_below_the_fold() -> None:
    """droidrun/mobilerun#13, #7: the budget is why it stopped; the label is that it got stuck in the right app."""
    lost = (WAIT, *("Network & internet", "Navigate up", "Connected devices", "Navigate up", "Apps", "Navigate up"))
    record = play(scene(steps=12), follows(OpenApp(app="Settings"), then=lost))
    assert (record.outcome.label, record.outcome.sub_kind) == ("no_completion", "stuck"), told(record)
    assert (record.outcome.stop, len(record.steps)) == ("step_budget", 12)
    task = scene(goal=lambda _start, now: now.get("ui/screen") == "settings/android_version")
    way = (OpenApp(app="Settings"), UP, UP, "About phone", UP, "Android version")
    assert play(task, follows(*way)).outcome.label == "success"


def test_one_action_and_then_the_task_is_said_to_be_complete() -> None:
    """AppAgentX#16: the goal was never reached, so that the declaration is premature, and its step is known."""
    instance = find_task("AlarmCreate").draw(0)
    record = play(instance, follows(OpenApp(app="Clock")))
    assert record.outcome.label == "premature_completion"
    assert (facts(record).steps, facts(record).first_reach, facts(record).declared) == (2, None, "complete")


def test_an_agent_in_an_app_that_nobody_can_name_counts_as_in_the_wrong_app() -> None:
    """openatx/uiautomator2#1085, #1148, #200, #843: an unknown foreground is no evidence that an app is wrong."""
    lost = misbehaving.loops_on("Settings", "Battery")
    named = play(find_task("AlarmCreate").draw(0), lost)
    unnamed = play(find_task("AlarmCreate+unknown_foreground").draw(0), lost)
    assert {step.package for step in named.steps[1:]} == {SETTINGS}
    assert {step.package for step in unnamed.steps[1:]} == {""}
    assert (named.outcome.label, unnamed.outcome.label) == ("wrong_app", "looping")
    assert not facts(unnamed).in_wrong_app
    instance = find_task("WifiSet+unknown_foreground").draw(0)
    assert play(instance, expert(instance)).outcome.label == "success"


@pytest.mark.parametrize("row", BENIGN, ids=lambda row: row.name)
def test_the_loop_detector_stops_an_agent_that_gets_on(row: Repetition) -> None:
    """browser-use PR#4027, PR#4033, PR#4039: scrolling, deleting, waiting, going back and being done are no loops."""
    task = scene(steps=40, state=row.state, without=row.without, faults=row.faults)
    record = play(task, follows(*row.moves), STOPPING)
    assert (record.outcome.stop, facts(record).loop) == ("declared", None), told(record)


def test_the_same_call_on_a_phone_that_changed_is_taken_for_a_loop() -> None:
    """wisp-science#1063: the state is part of what repeats; without a change the same call is one."""
    camera = OpenApp(app="Camera")
    changing = play(scene(steps=20), follows(camera, then=("Shutter",)))
    still = play(scene(steps=20), follows(camera, then=("Photo",)))
    assert facts(changing).loop is None
    assert facts(still).loop == Loop(1, 1, at_end=True)


@pytest.mark.parametrize("period", [1, 2, 3, 4])
def test_cycles_and_actions_without_effect_escape_a_detector_that_compares_neighbours(period: int) -> None:
    """AutoControlGUI PR#254: A-B-A-B and longer cycles are found, up to a period of four."""
    row = next(row for row in MALIGN if row.period == period)
    task = scene(steps=26, state=row.state, without=row.without, faults=row.faults)
    found = facts(play(task, follows(*row.moves, then=row.then))).loop
    assert found is not None
    assert (found.period, found.at_end) == (period, True)


def test_the_agent_is_there_and_does_not_say_so() -> None:
    """antirez/ds4#646: reached and never declared is a failure of its own, no success and no getting stuck."""
    instance = find_task("WifiSet").draw(0)
    record = play(instance, misbehaving.never_declares(expert(instance)))
    assert (record.outcome.label, record.outcome.sub_kind) == ("no_completion", "undeclared")
    found = facts(record)
    assert (found.reached, found.goal_final, found.declared) == (True, True, "none")
    assert found.steps_after_reach is not None
    assert found.steps_after_reach > 0


@pytest.mark.parametrize("name", ["WifiSet", "AlarmCreate+tap_noop", "BluetoothSet+stale_tree+heads_up"])
def test_the_same_configuration_gives_another_result_the_next_time(name: str) -> None:
    """MobileWorld#58: two runs of one episode give equal records, snapshots and faults included."""
    one, other = find_task(name).draw(3), find_task(name).draw(3)
    assert play(one, expert(one)).untimed() == play(other, expert(other)).untimed()
    wandering = [play(one, RandomAgent(7)).untimed() for _ in range(2)]
    assert wandering[0] == wandering[1]


def test_calls_break_in_the_middle_of_a_long_episode() -> None:
    """claude-code-local#42: the first turn that was no call is kept, of an episode that recovers as well."""
    good = [call("open_app", name="Settings"), *[call("swipe", direction="up"), call("swipe", direction="down")] * 4]
    broken = "<tool_call>swipe<arg_key>direction</arg_key><arg_value>uppp"

    def played(*texts: str, label: str) -> int | None:
        policy = ModelPolicy(ScriptedModel(texts), tool_schemas(), Sampling())
        record = play(scene(), policy)
        assert record.outcome.label == label, told(record)
        return facts(record).first_invalid_turn

    assert played(*good, broken, label="invalid_call") == 9
    assert played(*good, broken, *good, call("give_up"), label="premature_completion") == 9
    assert played(*good, call("give_up"), label="premature_completion") is None


@pytest.mark.peers
def test_turning_wifi_off_cuts_the_agent_off_from_its_own_phone() -> None:
    """google-research/android_world#349, #373: adb, uiautomator2 and the judge go on over a phone without any radio."""
    with open_tcp() as (device, phone):
        for name in ("WifiSet[wanted=off]", "AirplaneSet[wanted=on]"):
            instance = find_task(name).draw(0)
            record = play_on(device, phone, instance, instance.oracle(phone))
            assert record.outcome.label == "success", told(record)
            assert len(device.observe().elements) > 1
        phone.reset(PhoneSetup(seed=0))
