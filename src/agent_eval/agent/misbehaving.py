"""Agents that behave wrongly on purpose, each in one way: whoever judges must give each the label that it deserves.

Most follow an expert up to a point and then spoil what it did; so they reach the goal of any task.
"""

from __future__ import annotations

from collections.abc import Callable

from agent_eval.actions import (
    Action,
    GiveUp,
    Malformed,
    OpenApp,
    PressKey,
    Reply,
    Tap,
    TaskComplete,
    ToolCall,
    Wait,
)
from agent_eval.agent.prompt import plain
from agent_eval.contracts import Decision, Policy
from agent_eval.types import ActionResult, Observation


def tap_on(observation: Observation, label: str, *roles: str) -> Action:
    """Tap the first element whose label begins with the words; wait where there is none."""
    for element in observation.elements:
        if plain(element.label).startswith(label) and (not roles or element.role in roles):
            return Tap(index=element.index)
    return Wait()


class Agent:
    """A policy made of one function, from the screen and the number of the step to a reply.

    Args:
        choose: Called at each step.
    """

    def __init__(self, choose: Callable[[Observation, int], Reply | Action]) -> None:
        self._choose = choose
        self._step = 0

    def begin(self, goal: str) -> None:  # noqa: ARG002  it does the same whatever is asked
        """Count steps from 0 again."""
        self._step = 0

    def decide(self, observation: Observation, result: ActionResult | None) -> Decision:  # noqa: ARG002
        """Choose."""
        choice = self._choose(observation, self._step)
        self._step += 1
        return Decision(choice if isinstance(choice, ToolCall | Malformed) else ToolCall(choice))


def gives_up() -> Policy:
    """Declare at once that it cannot be done."""
    return Agent(lambda _screen, _step: GiveUp(reason="no idea"))


def only_waits() -> Policy:
    """Do nothing, and never declare."""
    return Agent(lambda _screen, _step: Wait())


def babbles() -> Policy:
    """Write texts that are no calls."""
    return Agent(lambda _screen, _step: Malformed("no_call", "There was no call."))


def strays(app: str) -> Policy:
    """Open an app and tap around in it, one element after another."""

    def choose(screen: Observation, step: int) -> Action:
        if step == 0 or not screen.elements:
            return OpenApp(app=app)
        return Tap(index=step % len(screen.elements))

    return Agent(choose)


def loops_on(app: str, label: str) -> Policy:
    """Open an app, then tap one element for ever."""
    return Agent(lambda screen, step: OpenApp(app=app) if step == 0 else tap_on(screen, label))


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
        """Start an episode."""
        self._step = self._declarations = 0
        self._expert.begin(goal)

    def decide(self, observation: Observation, result: ActionResult | None) -> Decision:
        """Do as the expert does, but for what is spoiled."""
        step = self._step
        self._step += 1
        beginning = self._first(observation, step)
        if beginning is not None:
            return Decision(ToolCall(beginning))
        decision = self._expert.decide(observation, result)
        reply = decision.reply
        if isinstance(reply, ToolCall) and isinstance(reply.action, TaskComplete | GiveUp):
            other = self._instead(observation, self._declarations)
            self._declarations += 1
            if other is not None:
                return Decision(ToolCall(other))
        return decision


def never_declares(expert: Policy) -> Policy:
    """Reach the goal, then wait."""
    return Spoiled(expert, instead=lambda _screen, _count: Wait())


def answers(expert: Policy, answer: str) -> Policy:
    """Do what was asked, and declare with another answer."""
    return Spoiled(expert, instead=lambda _screen, _count: TaskComplete(answer=answer))


def denies(expert: Policy) -> Policy:
    """Do what was asked, and declare that it cannot be done."""
    return Spoiled(expert, instead=lambda _screen, _count: GiveUp(reason="no idea"))


def flips_for_ever(expert: Policy, label: str) -> Policy:
    """Reach the goal, then undo it, again and again."""
    return Spoiled(expert, instead=lambda screen, _count: tap_on(screen, label, "switch"))


def goes_on(expert: Policy, *moves: Action | str) -> Policy:
    """Reach the goal, make more moves, where a string taps the element of that label, and declare."""
    reached = False
    left = list(moves)

    def move(screen: Observation) -> Action:
        if not left:
            return TaskComplete()
        following = left.pop(0)
        return tap_on(screen, following) if isinstance(following, str) else following

    def first(screen: Observation, _step: int) -> Action | None:
        return move(screen) if reached else None

    def instead(screen: Observation, _count: int) -> Action | None:
        nonlocal reached
        reached = True
        return move(screen)

    return Spoiled(expert, instead=instead, first=first)


def takes_a_photo_on_top(expert: Policy) -> Policy:
    """Reach the goal, then take a photo that nobody asked for, and declare."""
    return goes_on(expert, PressKey(key="home"), OpenApp(app="Camera"), "Shutter")


def starts_the_stopwatch_on_top(expert: Policy) -> Policy:
    """Reach the goal, then start a stopwatch that nobody asked for, and declare."""
    return goes_on(expert, PressKey(key="home"), OpenApp(app="Clock"), "Stopwatch", "Start")
