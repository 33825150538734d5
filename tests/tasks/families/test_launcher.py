from __future__ import annotations

import pytest

from agent_eval.actions import Action, PressKey, Swipe, TypeText, Wait
from agent_eval.outcome import Label
from agent_eval.tasks import TASKS, Language
from agent_eval.tasks.families.launcher import app_names
from agent_eval.tasks.task import TaskInstance
from agent_eval.types import Observation
from tests.tasks.families.playing import Stage, Step, facts, launch, tap, told

LOOK_ALIKE = {"Settings": "Settlngs", "Clock": "Clock+", "Settlngs": "Settings", "Clock+": "Clock"}


def pull_down(_screen: Observation) -> Action:
    return Swipe(direction="down")


def go_home(_screen: Observation) -> Action:
    return PressKey(key="home")


def fling(app: str) -> Step:
    """Swipe away the notification of an app."""

    def step(screen: Observation) -> Action:
        rows = (element for element in screen.elements if element.role == "row" and element.label == app)
        return next((Swipe(direction="left", index=row.index) for row in rows), Wait())

    return step


def draw(name: str, seed: int = 0, **wanted: object) -> TaskInstance:
    """Draw the first instance from a seed on whose parameters are as wanted."""
    drawn = (TASKS[name].draw(number) for number in range(seed, seed + 400))
    return next(one for one in drawn if all(one.parameters[key] == value for key, value in wanted.items()))


# ----------------------------------------------------------------------------------------------------------------------
# apps


@pytest.mark.parametrize("app", ["Settings", "Clock"])
def test_an_app_whose_name_is_nearly_the_same_is_another_one(stage: Stage, app: str) -> None:
    instance = draw("OpenApp", app=app)
    right = stage.play(instance, tap(app, "button"))
    wrong = stage.play(instance, tap(LOOK_ALIKE[app], "button"))
    assert (right.outcome.label, wrong.outcome.label) == ("success", "premature_completion"), told(wrong)


def test_an_app_that_was_left_again_is_not_open(stage: Stage) -> None:
    record = stage.play(draw("OpenApp", app="Clock"), launch("Clock"), go_home)
    assert record.outcome.label == "reversal"


def test_every_app_can_be_opened_and_opening_one_changes_nothing(stage: Stage) -> None:
    seen = set()
    for seed in range(120):
        instance = TASKS["OpenApp"].draw(seed, "training")
        app = str(instance.parameters["app"])
        if app not in seen:
            seen.add(app)
            record = stage.play(instance, launch(app))
            assert record.outcome.label == "success", told(record)
            assert not record.steps[0].changes
    assert len(seen) == 18


@pytest.mark.parametrize(("language", "name"), [("en", "Clock"), ("de", "Uhr"), ("zh", "时钟")])
def test_an_app_is_called_what_the_language_calls_it(language: Language, name: str) -> None:
    assert app_names("com.android.deskclock")[language] == name
    assert any(name in TASKS["OpenApp"].draw(seed, "training", language).goal for seed in range(60))


def test_the_expert_leaves_the_look_alike(stage: Stage) -> None:
    instance = draw("OpenApp", app="Settings")
    record = stage.play_astray(instance, tap("Settlngs", "button"), tap("Bluetooth"))
    assert record.outcome.label == "success", told(record)


# ----------------------------------------------------------------------------------------------------------------------
# quick settings

TORCH: list[tuple[str, tuple[Step, ...], Label]] = [
    ("the tile", (pull_down, tap("Flashlight")), "success"),
    ("the tile twice", (pull_down, tap("Flashlight"), tap("Flashlight")), "reversal"),
    ("another tile", (pull_down, tap("Do Not Disturb")), "premature_completion"),
    ("another tile too", (pull_down, tap("Flashlight"), tap("Do Not Disturb")), "over_execution"),
]


@pytest.mark.parametrize(("name", "steps", "label"), TORCH, ids=[row[0] for row in TORCH])
def test_only_the_torch_may_change(stage: Stage, name: str, steps: tuple[Step, ...], label: Label) -> None:
    record = stage.play(draw("TorchSet", wanted="on", start="off"), *steps)
    assert record.outcome.label == label, f"{name}: {told(record)}"


# ----------------------------------------------------------------------------------------------------------------------
# notifications


def posted(instance: TaskInstance) -> dict[str, str]:
    """Return the packages of the notifications that the task posts, by number."""
    return {path.split("/")[1]: str(value) for path, value in instance.setup.state.items() if path.endswith("/package")}


def label_of(package: str) -> str:
    return app_names(package)["en"]


def test_one_notification_is_of_the_app_and_some_other_one_names_it() -> None:
    for seed in range(60):
        instance = TASKS["DismissNotification"].draw(seed)
        app, state = str(instance.parameters["app"]), instance.setup.state
        apps = [label_of(package) for package in posted(instance).values()]
        assert apps.count(app) == 1
        assert len(apps) == 4
        assert app not in LOOK_ALIKE or LOOK_ALIKE[app] in apps
        mentions = [number for number in posted(instance) if app in str(state[f"notifications/{number}/text"])]
        assert mentions
        assert all(label_of(posted(instance)[number]) != app for number in mentions)


def test_only_the_notification_that_is_meant_may_go(stage: Stage) -> None:
    for seed in range(6):
        instance = draw("DismissNotification", 20 * seed)
        app = str(instance.parameters["app"])
        other = next(label_of(package) for package in posted(instance).values() if label_of(package) != app)
        attempts: list[tuple[str, tuple[Step, ...], Label]] = [
            ("that one", (pull_down, fling(app)), "success"),
            ("another one", (pull_down, fling(other)), "premature_completion"),
            ("that one and another one", (pull_down, fling(app), fling(other)), "over_execution"),
            ("all", (pull_down, tap("Clear all")), "over_execution"),
            ("none", (pull_down,), "premature_completion"),
        ]
        for name, steps, label in attempts:
            record = stage.play(instance, *steps)
            assert record.outcome.label == label, f"{name}: {told(record)}"


@pytest.mark.parametrize("app", ["Settings", "Clock+"])
def test_the_notification_of_the_look_alike_is_another_one(stage: Stage, app: str) -> None:
    record = stage.play(draw("DismissNotification", app=app), pull_down, fling(LOOK_ALIKE[app]))
    assert record.outcome.label == "premature_completion", told(record)
    assert all(path.startswith("notifications/") for path in facts(record).side_effects)


def test_the_expert_finds_the_shade_from_anywhere(stage: Stage) -> None:
    def search(screen: Observation) -> Action:
        return TypeText(index=next(one.index for one in screen.elements if one.role == "field"), text="clock")

    def swipe_up(_screen: Observation) -> Action:
        return Swipe(direction="up")

    for steps in (
        (launch("Calculator"),),
        (pull_down, pull_down),
        (swipe_up, search),
        (launch("Settings"), tap("Network & internet"), tap("Airplane mode")),
    ):
        record = stage.play_astray(draw("DismissNotification", app="Clock"), *steps)
        assert record.outcome.label == "success", told(record)
