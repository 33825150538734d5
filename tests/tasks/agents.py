"""Agents that behave in one odd way, beside those that come with the package (``agent.misbehaving``)."""

from __future__ import annotations

from random import Random

from agent_eval.actions import (
    Action,
    OpenApp,
    Tap,
    TaskComplete,
    ToolCall,
    TypeText,
    Wait,
)
from agent_eval.agent.misbehaving import Agent, Spoiled, tap_on
from agent_eval.agent.reference import random_action
from agent_eval.contracts import Decision, Policy
from agent_eval.types import ActionResult, Observation


def never_finishes_the_picker() -> Policy:
    """Open the picker for a new alarm and type one hour after another."""

    def choose(screen: Observation, step: int) -> Action:
        if step < 2:
            return OpenApp(app="Clock") if step == 0 else tap_on(screen, "Add alarm")
        hour = next((element for element in screen.elements if element.role == "field"), None)
        return Wait() if hour is None else TypeText(index=hour.index, text=str(step - 1))

    return Agent(choose)


def flips_and_declares(expert: Policy, label: str, flips: int) -> Policy:
    """Reach the goal, flip the switch so many times, and declare whatever it shows then."""

    left = flips

    def first(screen: Observation, _step: int) -> Action | None:
        nonlocal left
        if left == flips:
            return None
        left -= 1
        return tap_on(screen, label, "switch") if left >= 0 else TaskComplete()

    def instead(screen: Observation, _count: int) -> Action | None:
        nonlocal left
        left -= 1
        return tap_on(screen, label, "switch")

    return Spoiled(expert, instead=instead, first=first)


FINAL = (
    "Shutter", "Delete", "Save", "Send", "Send SMS", "Resend", "Forget", "Clear all", "Call", "Add to favorites",
)  # fmt: skip
"""Labels of what no later action takes back."""


def stumbles(expert: Policy, seed: str, moves: int) -> Policy:
    """Begin with random moves that can be taken back, then follow the expert."""
    rng = Random(seed)

    def first(screen: Observation, step: int) -> Action | None:
        if step >= moves:
            return None
        while True:
            action = random_action(rng, screen)
            number = getattr(action, "index", None)
            if number is None or screen.elements[number].label not in FINAL:
                return action

    return Spoiled(expert, first=first)


def begins_with(expert: Policy, *moves: Action | str) -> Policy:
    """Make given moves, where a string taps the element of that label, then follow the expert."""

    def first(screen: Observation, step: int) -> Action | None:
        if step >= len(moves):
            return None
        move = moves[step]
        return tap_on(screen, move) if isinstance(move, str) else move

    return Spoiled(expert, first=first)


def answers(expert: Policy, *labels: str, most: int = 3) -> Policy:
    """Tap whatever has one of the labels, as often as given, and else follow the expert."""
    left = most

    def first(screen: Observation, step: int) -> Action | None:
        nonlocal left
        left = most if step == 0 else left
        asked = next((element for element in screen.elements if element.label in labels), None)
        if asked is None or left == 0:
            return None
        left -= 1
        return Tap(index=asked.index)

    return Spoiled(expert, first=first)


def waits_for_elements(expert: Policy) -> Policy:
    """Wait while a screen shows nothing, and else follow the expert."""
    return Spoiled(expert, first=lambda screen, _step: None if screen.elements else Wait())


class Patient:
    """Follows another policy, but waits once or twice after an action that left the screen as it was.

    Args:
        expert: The policy followed.
    """

    MOST = 2

    def __init__(self, expert: Policy) -> None:
        self._expert = expert
        self._seen = ""
        self._waited = 0

    def begin(self, goal: str) -> None:
        self._seen, self._waited = "", 0
        self._expert.begin(goal)

    def decide(self, observation: Observation, result: ActionResult | None) -> Decision:
        if observation.signature == self._seen and self._waited < self.MOST:
            self._waited += 1
            return Decision(ToolCall(Wait()))
        self._seen, self._waited = observation.signature, 0
        return self._expert.decide(observation, result)


def switches_by_the_screen(label: str, *way: str, wanted: str) -> Policy:
    """Go to a switch, tap it for as long as the screen shows it otherwise than wanted, and declare."""

    def choose(screen: Observation, step: int) -> Action:
        if step == 0:
            return OpenApp(app="Settings")
        switch = next((one for one in screen.elements if one.role == "switch" and one.label == label), None)
        if switch is not None:
            return TaskComplete() if wanted in switch.states else Tap(index=switch.index)
        ahead = (one for name in way for one in screen.elements if one.label == name and one.role != "text")
        return next((Tap(index=one.index) for one in ahead), Wait())

    return Agent(choose)
