"""Public reports about what models call and what their calls do: each symptom again, and the right behaviour."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agent_eval.actions import Action, PressKey, Tap, TaskComplete, TypeText
from agent_eval.agent import UiautomatorDevice, observation_text
from agent_eval.agent.policy import ModelPolicy
from agent_eval.agent.prompt import MAX_ELEMENTS, tool_schemas
from agent_eval.contracts import Policy
from agent_eval.device_sim import Phone
from agent_eval.device_sim.screen import App, Screen
from agent_eval.device_sim.u2.device import SimDevice
from agent_eval.device_sim.widgets import activity
from agent_eval.episode import EpisodeLimits
from agent_eval.outcome import Loop
from agent_eval.tasks import find_task
from agent_eval.types import FinishReason, Observation, PhoneSetup, Sampling
from tests.fakes import ScriptedModel, call
from tests.tasks.looping import MALIGN, open_app
from tests.tasks.scenes import CONTACTS, Stage, adds, expert, facts, follows, labelled, new_records, play, scene, told

FORM = (open_app("Contacts"), "Create new contact")
"""The way to a form whose fields have no focus yet."""


def model(*texts: str, finish: FinishReason = "stop") -> Policy:
    """Make an agent of a model that writes these texts, the last one for ever."""
    return ModelPolicy(ScriptedModel(texts, finish), tool_schemas(), Sampling())


BLANK = App(
    "com.example.blank",
    "Blank",
    "blank/page",
    {"blank/page": Screen(activity, "com.example.blank.MainActivity")},
    home_row=True,
)


def test_a_screen_has_nothing_to_act_on() -> None:
    """droidrun/mobilerun#251: tapping is refused with the reason, the loop is seen, and the budget ends it."""
    stage = Stage(BLANK)
    record = stage.play(scene(apps=(BLANK.package,), steps=12), follows("Blank", then=(Tap(index=0),)))
    assert {step.result for step in record.steps[1:]} == {"There is no element 0; the screen shows none."}
    assert facts(record).loop == Loop(1, 1, at_end=True)
    assert (record.outcome.label, record.outcome.stop) == ("looping", "step_budget"), told(record)
    left = stage.play(scene(apps=(BLANK.package,)), follows("Blank", PressKey(key="back"), open_app("Settings")))
    assert left.steps[-1].package == "com.android.settings"


def test_a_tap_by_number_has_no_effect_and_is_repeated_for_ever() -> None:
    """droidrun/mobilerun#195: the model reads that nothing changed, and the fourth equal tap makes a loop."""
    tap = call("tap", index=0)
    shown = model(call("open_app", name="Calendar"), tap, tap, tap, tap, tap, tap)
    record = play(scene(steps=8), shown)
    assert all("The screen did not change." in step.prompt for step in record.steps[2:])
    assert facts(record).loop == Loop(1, 1, at_end=True)
    assert facts(record).no_effect_actions == 7


def test_malformed_calls_are_retried_for_ever() -> None:
    """droidrun/mobilerun PR#411: each is answered with what was wrong, and the third in a row ends the episode."""
    record = play(scene(), model(call("tap", index="the big one")))
    assert (record.outcome.label, record.outcome.stop, len(record.steps)) == ("invalid_call", "invalid_stop", 3)
    assert all("Not a tool call: tap: index:" in step.prompt for step in record.steps[1:])
    assert not facts(record).reached


def test_text_is_typed_without_naming_a_field() -> None:
    """droidrun/mobilerun PR#338: the number may be left out; the text goes into the field that has the focus."""
    task = scene(goal=adds("contacts", "name", "Ada"), apps=(CONTACTS,), allowed=new_records("contacts"))
    record = play(task, follows(*FORM, "First name", TypeText(text="Ada"), PressKey(key="back"), "Save"))
    assert record.outcome.label == "success", told(record)
    assert record.steps[3].result == "Typed Ada into First name."
    written = model(*[call("open_app", name="Contacts"), call("tap", index=0), call("type_text", text="Ada")])
    assert play(scene(steps=8), written).steps[2].tool == "type_text"


@pytest.mark.parametrize("way", ["by number", "where the focus is"])
def test_text_is_typed_where_nothing_has_the_focus(way: str) -> None:
    """MobileLLM/AutoDroid#26: the call is refused with the reason, nothing is typed, and nothing is said to be."""
    refused = 0
    for seed in range(12):
        phone = Phone(PhoneSetup(seed=seed, faults=("tap_noop",)))
        device = UiautomatorDevice(SimDevice(phone))
        phone.open_app(CONTACTS)
        phone.open_page("contacts/edit", {})
        field = labelled(device.observe(), "First name", "field")
        result = device.perform(TypeText(index=field.index if way == "by number" else None, text="Ada"))
        after = labelled(device.observe(), "First name", "field")
        if result.status == "rejected":
            refused += 1
            assert result.message in (
                "First name did not take the focus; nothing was typed.",
                "No input field has the focus; name one by its number.",
            )
        assert (after.value == "Ada") is (result.status == "done")
        assert phone.clipboard == ""
    assert 12 > refused > 1 if way == "by number" else refused == 12


def test_typing_tapping_and_typing_again_goes_on_for_ever() -> None:
    """zai-org/Open-AutoGLM#61, #67, #69: a loop of two, found although every step changes the screen."""
    (row,) = [row for row in MALIGN if row.name.startswith("typing into a field")]
    record = play(scene(apps=(CONTACTS,), steps=26), follows(*row.moves, then=row.then))
    assert facts(record).loop == Loop(2, 3, at_end=True)
    assert record.outcome.label == "looping"
    assert facts(record).no_effect_actions == 0


def test_reasoning_never_comes_to_an_action() -> None:
    """zai-org/Open-AutoGLM#282: a reply cut off at its limit is no call; the budget of tokens ends what never stops."""
    thinking = "<think>First I should consider what the screen shows, and then again"
    record = play(scene(), model(thinking, finish="length"))
    assert (record.outcome.label, record.outcome.stop) == ("invalid_call", "invalid_stop")
    assert {step.source for step in record.steps} == {"truncated"}
    short = play(scene(), model(thinking, finish="length"), EpisodeLimits(max_tokens=2 * len(thinking)))
    assert (short.outcome.label, short.outcome.stop, len(short.steps)) == ("invalid_call", "token_budget", 2)


def test_a_tap_has_no_effect_now_and_then() -> None:
    """zai-org/Open-AutoGLM#102, #222: who looks and taps again succeeds; lost taps are counted, and are no loop."""
    lost = 0
    for seed in range(6):
        instance = find_task("BluetoothSet+tap_noop").draw(seed)
        record = play(instance, expert(instance))
        assert record.outcome.label == "success", told(record)
        assert facts(record).loop is None
        assert facts(record).no_effect_actions == len(record.faults)
        lost += len(record.faults)
    assert lost > 1


@pytest.mark.parametrize("text", ["", " \n", "<think></think>", "<tool_call></tool_call>", "[]", "{}", "finish()"])
def test_a_reply_is_empty(text: str) -> None:
    """AutoGLM-For-Android#9: that is no call and no completion, and the model is told what was missing."""
    record = play(scene(goal=lambda _start, _now: True), model(text))
    assert (record.outcome.stop, facts(record).declared) == ("invalid_stop", "none")
    assert facts(record).invalid_calls == 3
    assert "Not a tool call" in record.steps[1].prompt


def test_taps_land_beside_what_was_meant_and_the_agent_sees_success() -> None:
    """X-PLUG/MobileAgent#180: the record says what was tapped, and the phone's state decides what it was worth."""
    record = play(
        scene(goal=lambda _start, now: now.get("settings/wifi_on") is False, state={"settings/wifi_on": True}),
        follows(open_app("Settings"), next_to("Network & internet"), TaskComplete()),
    )
    assert record.steps[1].result == "Tapped Connected devices."
    assert record.steps[1].target == "row Connected devices"
    assert record.outcome.label == "premature_completion"


def next_to(label: str) -> Callable[[Observation], Action]:
    """Tap what comes after the element of a label."""
    return lambda screen: Tap(index=labelled(screen, label).index + 1)


DENSE = ("com.android.calendar", "com.android.calculator2", "com.android.settings", "com.android.documentsui")


@pytest.mark.parametrize("package", DENSE)
def test_labels_hide_each_other_on_a_crowded_screen(package: str) -> None:
    """TencentQQGYLab/AppAgent#19: every control that can be tapped has a number, and the list says if it is cut."""
    phone = Phone(PhoneSetup(seed=1))
    phone.open_app(package)
    screen = UiautomatorDevice(SimDevice(phone)).observe()
    controls = [view.bounds for view in phone.active_window.root.visible() if view.clickable and view.bounds]
    assert sorted(controls) == sorted(one.bounds for one in screen.elements if one.role != "text")
    assert len(controls) > 7
    lines = observation_text("Look.", "", screen).splitlines()
    numbers = [int(line[1:].partition("]")[0]) for line in lines if line.startswith("[")]
    assert numbers == list(range(min(len(screen.elements), MAX_ELEMENTS)))
    assert any("more not shown" in line for line in lines) is (len(screen.elements) > MAX_ELEMENTS)
