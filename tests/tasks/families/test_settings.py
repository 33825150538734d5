from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from agent_eval.actions import Action, GiveUp, Swipe, Wait
from agent_eval.outcome import Label
from agent_eval.tasks import TASKS
from agent_eval.tasks.task import TaskInstance
from agent_eval.types import Observation
from tests.tasks.families.playing import Stage, Step, back, facts, launch, tap, told, write

OPEN = launch("Settings")
TO_INTERNET = (OPEN, tap("Network & internet"), tap("Internet"))
GIVE_UP: Step = lambda _screen: GiveUp()  # noqa: E731


def draw(name: str, seed: int = 0, **wanted: object) -> TaskInstance:
    """Draw the first instance from a seed on whose parameters are as wanted."""
    drawn = (TASKS[name].draw(number) for number in range(seed, seed + 200))
    return next(one for one in drawn if all(one.parameters[key] == value for key, value in wanted.items()))


def swipe(direction: str) -> Step:
    return lambda _screen: Swipe.model_validate({"direction": direction})


def look_for(label: str) -> Step:
    """Scroll down unless an element is on the screen already."""

    def step(screen: Observation) -> Action:
        shown = any(element.label == label for element in screen.elements)
        return Wait() if shown else Swipe(direction="up")

    return step


# ----------------------------------------------------------------------------------------------------------------------
# switches


@pytest.mark.parametrize("name", ["AirplaneSet", "DoNotDisturbSet", "DarkThemeSet", "TorchSet"])
def test_a_switch_without_a_twin_starts_apart_from_what_is_wanted(name: str) -> None:
    drawn = [TASKS[name].draw(seed).parameters for seed in range(120)]
    cells = Counter((one["start"], one["wanted"]) for one in drawn)
    assert len(cells) == 4
    assert min(cells.values()) > 15, cells


@pytest.mark.parametrize("name", ["WifiSet", "BluetoothSet"])
def test_a_switch_with_a_twin_starts_the_other_way_round_and_its_twin_as_wanted(name: str) -> None:
    for seed in range(20):
        own, twins = TASKS[name].draw(seed).parameters, TASKS[f"{name}Already"].draw(seed).parameters
        assert own["start"] != own["wanted"]
        assert twins["start"] == twins["wanted"]


def test_always_tapping_fails_where_the_switch_was_right(stage: Stage) -> None:
    way = (OPEN, tap("Network & internet"), tap("Airplane mode"))
    wrong = stage.play(draw("AirplaneSet", wanted="on", start="on"), *way)
    right = stage.play(draw("AirplaneSet", wanted="on", start="off"), *way)
    assert (wrong.outcome.label, right.outcome.label) == ("reversal", "success"), told(wrong)


def test_the_radios_may_follow_airplane_mode_and_no_switch_may_follow_another(stage: Stage) -> None:
    instance = draw("AirplaneSet", wanted="on", start="off")
    way = (OPEN, tap("Network & internet"), tap("Airplane mode"), tap("Data Saver"), tap("Use Data Saver"))
    record = stage.play(instance, *way)
    assert record.outcome.label == "over_execution"
    assert facts(record).side_effects == ("settings/data_saver",)


def internet(screen: Observation) -> Action:
    """Tap the tile of Wi-Fi, which says what it is connected to."""
    return tap(next(element.label for element in screen.elements if element.label.startswith("Internet")))(screen)


SWAPS: list[tuple[str, tuple[Step, ...], Label, tuple[bool, bool]]] = [
    ("both", (swipe("down"), internet, tap("Bluetooth")), "success", (True, True)),
    ("one", (swipe("down"), tap("Bluetooth")), "premature_completion", (False, True)),
    (
        "both by way of airplane mode",
        (OPEN, tap("Network & internet"), tap("Airplane mode"), back, tap("Connected devices"),
         tap("Bluetooth"), tap("Use Bluetooth")),
        "over_execution",
        (True, True),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "steps", "label", "parts"), SWAPS, ids=[row[0] for row in SWAPS])
def test_the_two_radios_are_told_apart(
    stage: Stage, name: str, steps: tuple[Step, ...], label: Label, parts: tuple[bool, bool]
) -> None:
    record = stage.play(TASKS["WifiOffBluetoothOn"].draw(1), *steps)
    assert record.outcome.label == label, f"{name}: {told(record)}"
    assert {part.name: part.final for part in facts(record).sub_goals} == dict(
        zip(("wifi_off", "bluetooth_on"), parts, strict=True)
    )


# ----------------------------------------------------------------------------------------------------------------------
# one of several


def test_any_other_timeout_fails(stage: Stage) -> None:
    instance = draw("ScreenTimeoutSet", timeout="30 seconds")
    way = (OPEN, look_for("Display"), tap("Display"), tap("Screen timeout"))
    labels = {
        choice: stage.play(instance, *way, tap(choice, "radio")).outcome.label
        for choice in ("15 seconds", "30 seconds", "1 minute", "2 minutes", "5 minutes", "10 minutes")
    }
    assert labels.pop("30 seconds") == "success"
    assert set(labels.values()) == {"premature_completion"}


def networks(instance: TaskInstance) -> dict[str, str]:
    """Return the networks that the task adds, with their passwords."""
    state = instance.setup.state
    numbers = [path.split("/")[2] for path in state if path.endswith("/ssid")]
    return {
        str(state[f"wifi/access_point/{number}/ssid"]): str(state[f"wifi/access_point/{number}/password"])
        for number in numbers
    }


def joining(ssid: str, password: str) -> tuple[Step, ...]:
    return (look_for(ssid), tap(ssid), write("Password", password), tap("Connect"))


def test_networks_stand_among_two_that_are_nearly_called_the_same() -> None:
    for seed in range(40):
        instance = TASKS["WifiJoin"].draw(seed)
        ssid, password = str(instance.parameters["ssid"]), instance.parameters["password"]
        found = networks(instance)
        assert len(found) == 3
        assert found.pop(ssid) == password
        assert sorted(secret == "" for secret in found.values()) == [False, True]
        assert password not in found.values()


def test_only_the_right_network_with_the_right_password_counts(stage: Stage) -> None:
    for seed in range(4):
        instance = TASKS["WifiJoin"].draw(seed)
        ssid, password = str(instance.parameters["ssid"]), str(instance.parameters["password"])
        others = {name: secret for name, secret in networks(instance).items() if name != ssid}
        free, secured = sorted(others, key=lambda name: others[name] != "")
        right, mistyped = joining(ssid, password), joining(ssid, password[:-1])
        attempts: list[tuple[str, tuple[Step, ...], Label]] = [
            ("right", right, "success"),
            ("mistyped", mistyped, "premature_completion"),
            ("mistyped first", (*mistyped, *right), "success"),
            ("a free look-alike", (look_for(free), tap(free)), "premature_completion"),
            ("a secured look-alike", joining(secured, password), "premature_completion"),
            ("a secured look-alike with its own password", joining(secured, others[secured]), "premature_completion"),
            ("a free look-alike afterwards", (*right, look_for(free), tap(free)), "reversal"),
        ]
        for name, steps, label in attempts:
            record = stage.play(instance, *TO_INTERNET, *steps)
            assert record.outcome.label == label, f"{name}: {told(record)}"


def test_a_name_that_is_nearly_right_fails(stage: Stage) -> None:
    instance = TASKS["DeviceNameSet"].draw(0)
    name = str(instance.parameters["name"])
    way = (OPEN, swipe("up"), swipe("up"), tap("About phone"), tap("Device name"))
    for typed, label in ((name, "success"), (name + "s", "premature_completion"), (name[:-1], "premature_completion")):
        record = stage.play(instance, *way, write("edit", typed), tap("OK"))
        assert record.outcome.label == label, told(record)


def test_the_phone_and_its_hotspot_start_with_names_that_are_nearly_right() -> None:
    for seed in range(40):
        instance = TASKS["DeviceNameSet"].draw(seed)
        now = {instance.setup.state["settings/device_name"], instance.setup.state["settings/hotspot_name"]}
        assert len(now | {instance.parameters["name"]}) == 3


@pytest.mark.parametrize("wanted", ["min", "max"])
def test_a_brightness_in_between_fails(stage: Stage, wanted: str) -> None:
    instance = draw("BrightnessSet", wanted=wanted)
    record = stage.play(instance, swipe("down"), swipe("down"), tap("Display brightness"))
    assert record.outcome.label == "premature_completion", told(record)


# ----------------------------------------------------------------------------------------------------------------------
# answers, and what cannot be done

ANSWERS = [
    ("android_version", "Android {right}.", "success"),
    ("android_version", "{right}.0", "success"),
    ("android_version", "{right} or 16.1", "premature_completion"),
    ("android_version", "1{right}", "premature_completion"),
    ("battery_level", "{right} %", "success"),
    ("battery_level", "It is at {right}%, I think.", "success"),
    ("battery_level", "about half", "premature_completion"),
    ("battery_level", "between {right} and 101", "premature_completion"),
]


@pytest.mark.parametrize(("asked", "answer", "label"), ANSWERS, ids=[" ".join(row[:2]) for row in ANSWERS])
def test_an_answer_names_the_one_figure(stage: Stage, asked: str, answer: str, label: Label) -> None:
    instance = draw("DeviceInfo", asked=asked)
    record = stage.play(instance, OPEN, answer=answer.format(right=instance.parameters["answer"]))
    assert record.outcome.label == label


TRIES: list[tuple[str, tuple[Step, ...], Label]] = [
    ("given up", (OPEN, tap("Connected devices"), GIVE_UP), "success"),
    ("declared done", (OPEN, tap("Connected devices")), "premature_completion"),
    (
        "given up after switching something else",
        (OPEN, tap("Connected devices"), tap("Bluetooth"), tap("Use Bluetooth"), GIVE_UP),
        "over_execution",
    ),
]


@pytest.mark.parametrize(("name", "steps", "label"), TRIES, ids=[row[0] for row in TRIES])
def test_what_the_phone_does_not_have_is_rightly_given_up(
    stage: Stage, name: str, steps: tuple[Step, ...], label: Label
) -> None:
    record = stage.play(TASKS["NfcOn"].draw(0), *steps)
    assert record.outcome.label == label, f"{name}: {told(record)}"


def test_the_expert_gives_up_as_well_once_a_search_found_nothing(stage: Stage) -> None:
    record = stage.play_astray(TASKS["NfcOn"].draw(0), OPEN, tap("Search settings"), write("Search settings", "NFC"))
    assert (record.outcome.label, len(record.steps)) == ("success", 4), told(record)


# ----------------------------------------------------------------------------------------------------------------------
# the way back

ASTRAY: list[tuple[str, str, tuple[Step, ...]]] = [
    ("Wi-Fi off", "WifiJoin", (*TO_INTERNET, tap("Wi\u2011Fi"), tap("Wi-Fi"))),
    ("another timeout", "DeviceNameSet", (OPEN, look_for("Display"), tap("Display"), tap("Screen timeout"),
                                          tap("15 seconds"), tap("10 minutes"))),
    ("another name", "NfcOn", (OPEN, swipe("up"), swipe("up"), tap("About phone"), tap("Device name"),
                               write("edit", "Mine"), tap("OK"))),
    ("tiles of the first page", "DarkThemeSet", (swipe("down"), swipe("down"), tap("Flashlight"), tap("Data Saver"))),
    ("tiles of the second page", "TorchSet", (swipe("down"), swipe("down"), swipe("left"), tap("Night Light"),
                                              tap("Location"))),
    ("the drawer of apps", "BrightnessSet", (swipe("up"),)),
    ("the brightness dialog", "BrightnessSet", (OPEN, look_for("Display"), tap("Display"), tap("Brightness level"))),
]  # fmt: skip


@pytest.mark.parametrize(("name", "task", "steps"), ASTRAY, ids=[row[0] for row in ASTRAY])
def test_the_expert_comes_back_from(stage: Stage, name: str, task: str, steps: tuple[Step, ...]) -> None:
    for seed in range(3):
        record = stage.play_astray(TASKS[task].draw(seed, "training"), *steps)
        assert record.outcome.label == "success", f"{name}: {told(record)}"


def test_the_expert_goes_back_to_the_network_that_the_phone_was_in(stage: Stage) -> None:
    instance = TASKS["ScreenTimeoutSet"].draw(0)
    state = {**instance.setup.state, "settings/wifi_on": True, "wifi/access_point/901/ssid": "Free for all"}
    free = replace(instance, setup=replace(instance.setup, state=state))
    record = stage.play_astray(free, *TO_INTERNET, look_for("Free for all"), tap("Free for all"))
    assert record.outcome.label == "success", told(record)
    assert any(change.after == "Free for all" for step in record.steps for change in step.changes or ())
