"""What every ``Device`` promises. Implementations: uiautomator2 on the simulated phone, in process and over adb."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent_eval.actions import (
    GiveUp,
    LongPress,
    OpenApp,
    PressKey,
    Swipe,
    Tap,
    TaskComplete,
    TypeText,
    Wait,
)
from agent_eval.contracts import Device
from agent_eval.types import Observation
from tests.contracts.conftest import Hands


@pytest.fixture
def device(hands: Hands) -> Iterator[Device]:
    made, _ = hands
    yield made
    made.close()
    made.close()


def labelled(observation: Observation, label: str) -> int:
    return next(element.index for element in observation.elements if element.label == label)


def test_elements_are_numbered_from_0_without_gaps(device: Device) -> None:
    elements = device.observe().elements
    assert [element.index for element in elements] == list(range(len(elements)))
    assert elements


def test_observing_changes_nothing(device: Device) -> None:
    assert device.observe() == device.observe()


def test_opening_an_app_brings_it_to_the_front(device: Device) -> None:
    device.observe()
    assert device.perform(OpenApp(app="clock")).status == "done"
    assert device.observe().app == "Clock"


def test_a_tap_lands_on_the_element_of_that_number(device: Device) -> None:
    device.perform(OpenApp(app="Settings"))
    result = device.perform(Tap(index=labelled(device.observe(), "Network & internet")))
    assert (result.status, result.message, result.target) == (
        *("done", "Tapped Network & internet."),
        "row Network & internet",
    )
    assert labelled(device.observe(), "Internet")


def test_a_result_tells_the_state_that_a_switch_was_in(device: Device) -> None:
    device.perform(OpenApp(app="Settings"))
    device.perform(Tap(index=labelled(device.observe(), "Network & internet")))
    before = device.observe()
    index = labelled(before, "Airplane mode")
    was = before.elements[index].states[0]
    assert device.perform(Tap(index=index)).message == f"Tapped Airplane mode, which was {was}."
    assert device.observe().elements[index].states[0] != was


@pytest.mark.parametrize(
    "action", [Tap(index=99), LongPress(index=99), TypeText(index=99, text="x"), Swipe(direction="up", index=99)]
)
def test_a_number_that_is_not_on_the_screen_touches_nothing(device: Device, action: Tap) -> None:
    before = device.observe()
    result = device.perform(action)
    assert result.status == "rejected"
    assert "99" in result.message
    assert device.observe() == before


def test_typing_replaces_the_text_of_a_field_and_presses_no_enter(device: Device) -> None:
    device.perform(OpenApp(app="Clock"))
    device.perform(Tap(index=labelled(device.observe(), "Add alarm")))
    for text in ("11", "7"):
        index = labelled(device.observe(), "hour")
        assert device.perform(TypeText(index=index, text=text)).status == "done"
        assert device.observe().elements[index].value == text


def test_typing_without_a_number_goes_where_the_focus_is(device: Device) -> None:
    device.perform(OpenApp(app="Clock"))
    device.perform(Tap(index=labelled(device.observe(), "Add alarm")))
    device.perform(Tap(index=labelled(device.observe(), "minute")))
    device.observe()
    result = device.perform(TypeText(text="37"))
    assert (result.status, result.message) == ("done", "Typed 37 into minute.")
    screen = device.observe()
    assert screen.elements[labelled(screen, "minute")].value == "37"


def test_typing_without_a_number_and_without_a_focus_touches_nothing(device: Device) -> None:
    device.perform(OpenApp(app="Clock"))
    device.perform(Tap(index=labelled(device.observe(), "Add alarm")))
    before = device.observe()
    result = device.perform(TypeText(text="37"))
    assert (result.status, result.message) == ("rejected", "No input field has the focus; name one by its number.")
    assert device.observe() == before


def test_typing_leaves_the_clipboard_alone(hands: Hands) -> None:
    device, phone = hands
    before = phone.snapshot()["clipboard/text"]
    device.perform(OpenApp(app="Settings"))
    device.perform(Tap(index=labelled(device.observe(), "Search settings")))
    field = next(element for element in device.observe().elements if element.role == "field")
    device.perform(TypeText(index=field.index, text="wifi"))
    assert phone.snapshot()["clipboard/text"] == before


@pytest.mark.parametrize("text", ["Grüße 你好", 'a\'b "c" $(reboot) %s', ""])
def test_any_text_arrives_as_it_is(device: Device, text: str) -> None:
    device.perform(OpenApp(app="Settings"))
    device.perform(Tap(index=labelled(device.observe(), "Search settings")))
    field = next(element for element in device.observe().elements if element.role == "field")
    device.perform(TypeText(index=field.index, text=text))
    shown = next(element for element in device.observe().elements if element.role == "field")
    assert shown.value == text


def test_swiping_up_shows_what_is_further_down(device: Device) -> None:
    device.perform(OpenApp(app="Settings"))
    labels = {element.label for element in device.observe().elements}
    device.perform(Swipe(direction="up"))
    below = {element.label for element in device.observe().elements}
    assert "Display" in below - labels
    device.perform(Swipe(direction="down"))
    assert {element.label for element in device.observe().elements} == labels


@pytest.mark.parametrize("action", [Wait(), TaskComplete(answer="15"), GiveUp(reason="x")])
def test_waiting_and_declaring_touch_nothing(device: Device, action: Wait) -> None:
    before = device.observe()
    assert device.perform(action).status == "done"
    assert device.observe() == before


def test_back_and_home_lead_out(device: Device) -> None:
    device.observe()
    home = device.observe().app
    device.perform(OpenApp(app="Settings"))
    device.perform(Tap(index=labelled(device.observe(), "Network & internet")))
    device.perform(PressKey(key="back"))
    assert "Search settings" in {element.label for element in device.observe().elements}
    device.perform(PressKey(key="home"))
    assert device.observe().app == home
