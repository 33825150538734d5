"""Scenes: tasks made for one test on the real phone, and agents that follow a script on it. Knows no template."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

from agent_eval.actions import Action, Malformed, Reply, Tap, TaskComplete, ToolCall
from agent_eval.agent import UiautomatorDevice
from agent_eval.agent.misbehaving import Agent
from agent_eval.contracts import Device, PhoneControl, Policy
from agent_eval.device_sim import Phone
from agent_eval.device_sim.apps import APPS
from agent_eval.device_sim.screen import App
from agent_eval.device_sim.u2.device import SimDevice
from agent_eval.episode import NO_LIMITS, EpisodeKey, EpisodeLimits, run_episode
from agent_eval.outcome import Facts
from agent_eval.records import EpisodeRecord
from agent_eval.tasks import TaskInstance
from agent_eval.tasks.judge import Answer, Criteria, Goal, Writes, only
from agent_eval.tasks.moves import finish
from agent_eval.tasks.task import Draft
from agent_eval.types import Element, Observation, PhoneSetup, Scalar, Skin, Snapshot
from agent_eval.wiring import open_sim

SETTINGS, CLOCK = "com.android.settings", "com.android.deskclock"
CALENDAR, CONTACTS = "com.android.calendar", "com.android.contacts"

Move = Reply | Action | str | Callable[[Observation], Reply | Action]
"""What a script does at one step; a text taps the element whose label it is."""


_NOTHING_ELSE = only()


def never(_start: Snapshot, _now: Snapshot) -> bool:
    """Be a goal that nothing reaches."""
    return False


def adds(prefix: str, field: str, value: str) -> Goal:
    """Return the goal that there is one record more, with a value in a field."""

    def holds(start: Snapshot, now: Snapshot) -> bool:
        before = start.under(prefix)
        return [
            one for path, one in now.under(prefix).items() if path not in before and path.endswith(f"/{field}")
        ] == [value]

    return holds


def new_records(prefix: str) -> Writes:
    """Allow what is new below a prefix."""
    return lambda start, now: tuple(
        f"{prefix}/{path}" for path in now.under(prefix).keys() - start.under(prefix).keys()
    )


def scene(
    name: str = "Scene",
    *,
    goal: Goal | None = never,
    allowed: Writes = _NOTHING_ELSE,
    apps: Sequence[str] = (SETTINGS,),
    answer: Answer | None = None,
    steps: int = 30,
    seed: int = 1,
    state: Mapping[str, Scalar] | None = None,
    without: tuple[str, ...] = (),
    faults: tuple[str, ...] = (),
    skin: Skin | None = None,
) -> TaskInstance:
    """Make a task of its own for one test; ``steps`` is its budget, an even number from 8 on."""
    kept = state or {}
    criteria = Criteria(goal, allowed, tuple(apps), answer)
    draft = Draft({"en": (name,)}, {}, kept, criteria, lambda _view: finish("done"), (steps - 2) // 2)
    setup = PhoneSetup(seed, kept, without=without, faults=faults, skin=skin or Skin(wording="ascii"))
    return TaskInstance(name, 1, seed, "training", "en", f"{name}.", setup, draft)


def labelled(screen: Observation, label: str, *roles: str) -> Element:
    """Return the first element with a label, or whose label begins with it."""
    fitting = [element for element in screen.elements if not roles or element.role in roles]
    named = [element for element in fitting if element.label == label]
    named += [element for element in fitting if element.label.startswith(label)]
    assert named, f"no {label!r} among {[(element.label, element.role) for element in screen.elements]}"
    return named[0]


def tap(label: str, *roles: str) -> Callable[[Observation], Action]:
    """Tap the first element with a label."""
    return lambda screen: Tap(index=labelled(screen, label, *roles).index)


def _choose(move: Move, screen: Observation) -> Reply | Action:
    if isinstance(move, str):
        return tap(move)(screen)
    if isinstance(move, ToolCall | Malformed):
        return move
    return move(screen) if callable(move) else move


def follows(*moves: Move, then: Sequence[Move] = (TaskComplete(),)) -> Policy:
    """Make the moves one after another, then those of ``then`` over and over."""

    def choose(screen: Observation, step: int) -> Reply | Action:
        move = moves[step] if step < len(moves) else then[(step - len(moves)) % len(then)]
        return _choose(move, screen)

    return Agent(choose)


class Stage:
    """A phone and hands on it.

    Args:
        apps: What is installed besides the phone's own apps.
        client: What is built on the phone for the hands; uiautomator2 on the simulator unless given.
    """

    def __init__(self, *apps: App, client: Callable[[Phone], SimDevice] = SimDevice) -> None:
        self.sim = Phone(PhoneSetup(seed=0), {**APPS, **{app.package: app for app in apps}})
        self.client = client(self.sim)
        self.device: Device = UiautomatorDevice(self.client)

    def play(self, instance: TaskInstance, policy: Policy, limits: EpisodeLimits = NO_LIMITS) -> EpisodeRecord:
        """Play an episode on this phone."""
        return play_on(self.device, self.sim, instance, policy, limits)


def play_on(
    device: Device, phone: PhoneControl, instance: TaskInstance, policy: Policy, limits: EpisodeLimits = NO_LIMITS
) -> EpisodeRecord:
    """Play an episode with given hands on a given phone."""
    return run_episode(instance, policy, device, phone, EpisodeKey("script"), limits)


@functools.cache
def _sim() -> tuple[Device, PhoneControl]:
    return open_sim()


def play(instance: TaskInstance, policy: Policy, limits: EpisodeLimits = NO_LIMITS) -> EpisodeRecord:
    """Play an episode on the simulated phone of this process."""
    return play_on(*_sim(), instance, policy, limits)


def expert(instance: TaskInstance) -> Policy:
    """Return the oracle of an instance on the simulated phone of this process."""
    return instance.oracle(_sim()[1])


def facts(record: EpisodeRecord) -> Facts:
    """Return the facts of an episode that the harness did not break."""
    assert record.outcome.facts is not None, told(record)
    return record.outcome.facts


def told(record: EpisodeRecord) -> str:
    """Write an episode out, for the message of a failed test."""
    outcome = record.outcome
    lines = [f"{record.goal} [{outcome.label} {outcome.sub_kind} {outcome.stop} {outcome.fault}]"]
    lines += [f"  {step.tool} {step.arguments} -> {step.result}" for step in record.steps]
    return "\n".join(lines)
