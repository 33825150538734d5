"""What an expert does about what nobody asked for, each kind shown to it on a phone that has the fault."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent_eval.device_sim.faults import FAULTS
from agent_eval.episode import EpisodeKey, run_episode
from agent_eval.tasks import find_task
from agent_eval.tasks.interruptions import MOST_TAPS, MOST_WAITS, Watch
from agent_eval.tasks.task import TaskInstance
from agent_eval.types import Bounds, Element, Observation, Snapshot
from tests.tasks.families.playing import Stage, facts, launch, tap, told

HELPLESS = 1
"""Instances of six in which a fault may leave no time within the budget."""


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.device.close()


def draw(name: str, seed: int = 0, **wanted: str) -> TaskInstance:
    """Draw the first instance from a seed on whose parameters are as wanted."""
    drawn = (find_task(name).draw(number) for number in range(seed, seed + 200))
    return next(one for one in drawn if all(one.parameters[key] == value for key, value in wanted.items()))


def calls(stage: Stage, instance: TaskInstance) -> list[tuple[str, str]]:
    """Play the oracle; return what it called and what it acted on."""
    record = stage.play_astray(instance)
    assert record.outcome.label == "success", told(record)
    return [(str(step.tool), step.target) for step in record.steps]


@pytest.mark.parametrize("fault", FAULTS)
def test_the_oracle_succeeds_within_its_budget_under_every_fault(stage: Stage, fault: str) -> None:
    lost = []
    for seed in range(2):
        for task in ("WifiSet", "WifiJoin", "DismissNotification"):
            instance = find_task(f"{task}+{fault}").draw(seed)
            oracle = instance.oracle(stage.phone)
            record = run_episode(instance, oracle, stage.device, stage.phone, EpisodeKey("oracle"))
            if record.outcome.label != "success":
                lost.append(told(record))
    assert len(lost) <= HELPLESS, "\n".join(lost)


ANSWERS = [
    ("a permission is granted", "WifiSet+permission_dialog", ("tap", "button Allow")),
    ("an app that hangs is waited for", "WifiJoin+anr_dialog", ("tap", "button Wait")),
    ("an empty screen is waited out", "WifiSet+partial_dump", ("wait", "wait")),
    ("a switch on its way is waited for", "WifiSet+async_toggle", ("wait", "wait")),
    ("an old screen is waited out", "DeviceNameSet+stale_tree", ("wait", "wait")),
    ("a banner is dismissed", "WifiSet+occluded_element", ("tap", "button Dismiss")),
    ("a switch that asks back is confirmed", "WifiSet[wanted=on]+confirm_toggle", ("tap", "button Turn on")),
]


@pytest.mark.parametrize(("name", "task", "call"), ANSWERS, ids=[row[0] for row in ANSWERS])
def test_each_kind_is_answered(stage: Stage, name: str, task: str, call: tuple[str, str]) -> None:
    played = [one for seed in range(4) for one in calls(stage, find_task(task).draw(seed))]
    assert call in played, f"{name}: {played}"


def test_answers_are_found_in_the_phones_language(stage: Stage) -> None:
    for fault, answer in (
        ("permission_dialog", "Zulassen"),
        ("occluded_element", "Schließen"),
        ("anr_dialog", "Warten"),
    ):
        played = [one for seed in range(4) for one in calls(stage, find_task(f"WifiSet+{fault}+german").draw(seed))]
        assert ("tap", f"button {answer}") in played


def test_a_notification_over_the_page_is_pushed_away_and_stays_in_the_shade(stage: Stage) -> None:
    drawn = (find_task("WifiJoin+heads_up").draw(seed) for seed in range(20))
    instance = next(one for one in drawn if one.setup.state["settings/do_not_disturb"] is False)
    record = stage.play_astray(instance)
    pushed = [step for step in record.steps if step.tool == "swipe" and "index" in step.arguments]
    assert pushed, told(record)
    assert len(pushed) == len(record.faults)
    assert all(step.arguments["direction"] == "up" for step in pushed)
    assert record.outcome.label == "success"
    assert any(path.startswith("notifications/") for path, _ in stage.phone.snapshot().persisted)


# ----------------------------------------------------------------------------------------------------------------------
# a switch that asks back


def test_a_switch_that_was_touched_by_mistake_is_not_confirmed(stage: Stage) -> None:
    instance = draw("WifiSet+confirm_toggle", wanted="on")
    record = stage.play_astray(instance, launch("Settings"), tap("Network & internet"), tap("Airplane mode"))
    assert record.outcome.label == "success", told(record)
    assert ("tap", "button Cancel") in [(step.tool, step.target) for step in record.steps]
    assert not any(change.path == "settings/airplane_mode_on" for step in record.steps for change in step.changes or ())


def test_a_switch_that_is_right_already_is_not_confirmed_to_be_wrong(stage: Stage) -> None:
    instance = draw("AirplaneSet+confirm_toggle", wanted="on", start="on")
    record = stage.play_astray(instance, launch("Settings"), tap("Network & internet"), tap("Airplane mode"))
    assert (record.outcome.label, facts(record).reversals) == ("success", 0), told(record)


def test_damage_is_undone_through_the_question(stage: Stage) -> None:
    instance = draw("WifiSet+confirm_toggle", wanted="on")
    wrong = (launch("Settings"), tap("Network & internet"), tap("Airplane mode"), tap("Turn on"))
    record = stage.play_astray(instance, *wrong)
    assert record.outcome.label == "success", told(record)
    assert ("tap", "button Turn off") in [(step.tool, step.target) for step in record.steps]


# ----------------------------------------------------------------------------------------------------------------------
# rows that look like others


def test_the_row_of_another_profile_is_never_tapped(stage: Stage) -> None:
    for name in ("AirplaneSet+duplicate_labels", "DarkThemeSet+duplicate_labels+german"):
        for seed in range(4):
            record = stage.play_astray(find_task(name).draw(seed))
            assert record.outcome.label == "success", told(record)
            assert facts(record).no_effect_actions == 0, told(record)


def test_a_copy_whose_mark_is_out_of_sight_is_tried_twice_at_most(stage: Stage) -> None:
    record = stage.play_astray(find_task("AlarmToggle+duplicate_labels").draw(2))
    assert record.outcome.label == "success", told(record)
    assert facts(record).no_effect_actions <= MOST_TAPS


def test_a_switch_without_a_label_is_found_beside_its_label(stage: Stage) -> None:
    instance = draw("WifiSet+unlabelled_switch")
    record = stage.play_astray(instance)
    assert record.outcome.label == "success", told(record)
    assert len(record.steps) == instance.draft.oracle_steps + 1


# ----------------------------------------------------------------------------------------------------------------------
# old screens


def screen(*labels: str) -> Observation:
    rows = tuple(Element(place, "row", label, Bounds(0, 0, 1, 1)) for place, label in enumerate(labels))
    return Observation(rows, "Settings")


def state(page: str, scrolled: int = 0) -> Snapshot:
    path = f"ui/task/com.android.settings/0/{page}/scroll/list"
    return Snapshot((), ((path, scrolled), ("ui/screen", page), ("ui/stack", page)))


def test_the_same_screen_on_another_page_is_old() -> None:
    watch = Watch()
    assert not watch.sees_old(screen("Internet"), state("settings/network"))
    assert watch.sees_old(screen("Internet"), state("settings/internet"))
    assert not watch.sees_old(screen("Wi-Fi"), state("settings/internet"))


def test_the_same_rows_of_a_list_that_moved_are_old() -> None:
    watch = Watch()
    assert not watch.sees_old(screen("Battery"), state("settings/home"))
    assert not watch.sees_old(screen("Battery"), state("settings/home", 30))
    assert watch.sees_old(screen("Battery"), state("settings/home", 640))


def test_two_pages_that_look_the_same_are_told_apart_after_a_while() -> None:
    watch = Watch()
    watch.sees_old(screen("Empty"), state("settings/vpns"))
    seen = [watch.sees_old(screen("Empty"), state("settings/saved")) for _ in range(MOST_WAITS + 2)]
    assert seen == [True] * MOST_WAITS + [False, False]
