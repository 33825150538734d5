"""Agents that behave wrongly on purpose, each in one way, so that a judge can be shown each wrong behaviour."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from agent_eval.actions import (
    Action,
    GiveUp,
    LongPress,
    Malformed,
    OpenApp,
    PressKey,
    Reply,
    Swipe,
    Tap,
    TaskComplete,
    ToolCall,
    TypeText,
    Wait,
)
from agent_eval.contracts import Decision, Policy
from agent_eval.types import ActionResult, Observation

APPS = ("Calculator", "Camera", "Clock", "Contacts", "Messages", "Settings")


def tap_on(observation: Observation, label: str, *roles: str) -> Action:
    """Tap the first element whose label begins with the words; wait where there is none."""
    for element in observation.elements:
        if element.label.replace("\u2011", "-").startswith(label) and (not roles or element.role in roles):
            return Tap(index=element.index)
    return Wait()


class Agent:
    """A policy made of one function from the screen and the number of the step to a reply."""

    def __init__(self, choose: Callable[[Observation, int], Reply | Action]) -> None:
        self._choose = choose
        self._step = 0

    def begin(self, goal: str) -> None:  # noqa: ARG002
        self._step = 0

    def decide(self, observation: Observation, result: ActionResult | None) -> Decision:  # noqa: ARG002
        choice = self._choose(observation, self._step)
        self._step += 1
        return Decision(choice if isinstance(choice, ToolCall | Malformed) else ToolCall(choice))


def declares_at_once() -> Policy:
    return Agent(lambda _screen, _step: TaskComplete())


def gives_up() -> Policy:
    return Agent(lambda _screen, _step: GiveUp(reason="no idea"))


def only_waits() -> Policy:
    return Agent(lambda _screen, _step: Wait())


def babbles() -> Policy:
    return Agent(lambda _screen, _step: Malformed("no_call", "There was no call."))


def loops_on(app: str, label: str) -> Policy:
    """Open an app, then tap one element for ever."""
    return Agent(lambda screen, step: OpenApp(app=app) if step == 0 else tap_on(screen, label))


def never_finishes_the_picker() -> Policy:
    """Open the picker for a new alarm and type one hour after another."""

    def choose(screen: Observation, step: int) -> Action:
        if step < 2:
            return OpenApp(app="Clock") if step == 0 else tap_on(screen, "Add alarm")
        hour = next((element for element in screen.elements if element.role == "field"), None)
        return Wait() if hour is None else TypeText(index=hour.index, text=str(step - 1))

    return Agent(choose)


def random_action(rng: Random, screen: Observation) -> Action:
    """Draw any valid action that does not declare."""
    kind = rng.choice(("tap", "tap", "tap", "tap", "swipe", "key", "open", "type", "hold", "wait"))
    if kind == "open":
        return OpenApp(app=rng.choice(APPS))
    if kind == "key":
        return PressKey(key=rng.choice(("back", "home", "enter", "delete", "recent")))
    if kind == "swipe" or not screen.elements:
        return Swipe(direction=rng.choice(("up", "down", "left", "right")))
    if kind == "wait":
        return Wait()
    element = rng.choice(screen.elements)
    if kind == "type" and element.role == "field":
        return TypeText(index=element.index, text=str(rng.randrange(60)))
    return LongPress(index=element.index) if kind == "hold" else Tap(index=element.index)


def acts_at_random(seed: int) -> Policy:
    """Act at random, and declare at any step with one chance in ten."""
    rng = Random(seed)
    return Agent(
        lambda screen, _step: (
            TaskComplete(answer=str(rng.randrange(100))) if rng.random() < 0.1 else random_action(rng, screen)
        )
    )


class Spoiled:
    """Follows another policy, and replaces what it declares or how it begins.

    Args:
        expert: The policy followed.
        instead: What is done at the n-th declaration of the expert; None lets it declare.
        first: What is done at the n-th step; None leaves the step to the expert.
    """

    def __init__(
        self,
        expert: Policy,
        *,
        instead: Callable[[Observation, int], Action | None] = lambda _screen, _count: None,
        first: Callable[[Observation, int], Action | None] = lambda _screen, _step: None,
    ) -> None:
        self._expert = expert
        self._instead = instead
        self._first = first
        self._step = self._declarations = 0

    def begin(self, goal: str) -> None:
        self._step = self._declarations = 0
        self._expert.begin(goal)

    def decide(self, observation: Observation, result: ActionResult | None) -> Decision:
        step = self._step
        self._step += 1
        beginning = self._first(observation, step)
        if beginning is not None:
            return Decision(ToolCall(beginning))
        decision = self._expert.decide(observation, result)
        reply = decision.reply
        if isinstance(reply, ToolCall) and isinstance(reply.action, TaskComplete):
            other = self._instead(observation, self._declarations)
            self._declarations += 1
            if other is not None:
                return Decision(ToolCall(other))
        return decision


def never_declares(expert: Policy) -> Policy:
    return Spoiled(expert, instead=lambda _screen, _count: Wait())


def flips_for_ever(expert: Policy, label: str) -> Policy:
    """Reach the goal, then undo it, again and again."""
    return Spoiled(expert, instead=lambda screen, _count: tap_on(screen, label, "switch"))


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


def does_more(expert: Policy, *labels: str) -> Policy:
    """Reach the goal, go back a page, tap some more, and declare."""

    def first(screen: Observation, _step: int) -> Action | None:
        if not reached:
            return None
        if not pending:
            return TaskComplete()
        return tap_on(screen, pending.pop(0))

    def instead(_screen: Observation, _count: int) -> Action | None:
        reached.append(True)
        return PressKey(key="back")

    reached: list[bool] = []
    pending = list(labels)
    return Spoiled(expert, instead=instead, first=first)


FINAL = ("Shutter", "Delete", "Save", "Send", "Forget", "Clear all")
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
