"""The hands: what they call the thing that they act on, and what they refuse."""

from __future__ import annotations

import pytest

from agent_eval.actions import Action, LongPress, OpenApp, Tap, TypeText
from agent_eval.agent import UiautomatorDevice
from agent_eval.device_sim import Phone
from agent_eval.device_sim.u2.device import SimDevice
from agent_eval.types import PhoneSetup


def hands(app: str, opens: str, *faults: str) -> tuple[UiautomatorDevice, Phone]:
    """Show a form of an app."""
    phone = Phone(PhoneSetup(seed=0, faults=faults))
    device = UiautomatorDevice(SimDevice(phone))
    device.perform(OpenApp(app=app))
    while not numbers(device, "Save"):
        device.perform(Tap(index=numbers(device, opens)[0]))
    return device, phone


def numbers(device: UiautomatorDevice, label: str) -> list[int]:
    return [element.index for element in device.observe().elements if element.label == label]


def test_namesakes_are_told_apart_by_their_place_and_not_by_their_number() -> None:
    device, phone = hands("Calendar", "New event")
    labels = [element.label for element in device.observe().elements if element.role == "button"]
    (twice,) = {label for label in labels if labels.count(label) == 2}
    targets = []
    for place in (0, 1):
        targets.append(device.perform(Tap(index=numbers(device, twice)[place])).target)
        phone.close_page()
    assert targets == [f"button {twice}", f"button {twice} (2)"]


@pytest.mark.parametrize("action", [Tap(index=40), LongPress(index=40), TypeText(index=40, text="x")])
def test_a_number_that_is_gone_since_the_keyboard_came_up_is_refused_with_what_it_covers(action: Action) -> None:
    device, phone = hands("Calendar", "New event", "keyboard_overlay")
    device.perform(Tap(index=numbers(device, "Title")[0]))
    before = device.observe()
    result = device.perform(action)
    assert result.message.startswith(f"There is no element 40; the screen has 0 to {len(before.elements) - 1}. The key")
    assert result.message.endswith(f"lies over {', '.join(dict.fromkeys(one.label for one in before.behind))}.")
    assert phone.snapshot()["ui/screen"] == "calendar/edit"
