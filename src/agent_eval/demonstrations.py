"""Demonstrations for the embedded model: the oracle's replies on the project's own phone. Knows no tensors.

Like ``wiring`` this joins packages: tasks and their oracle, the phone, and the agent's conversation. What it makes is
plain text and replies; ``spark_backend.nano`` learns from them without knowing where they came from.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from agent_eval.actions import (
    Action,
    GiveUp,
    Malformed,
    OpenApp,
    PressKey,
    Reply,
    Swipe,
    Tap,
    TaskComplete,
    ToolCall,
    TypeText,
)
from agent_eval.agent.device import APPS
from agent_eval.agent.policy import Conversation
from agent_eval.agent.prompt import plain
from agent_eval.contracts import Device, Instance, PhoneControl, Policy
from agent_eval.tasks import TASKS
from agent_eval.types import Bounds, Element, Message, Observation

WEIGHTS = {
    "AirplaneSet": 1.0,
    "AlarmAlready": 1.0,
    "AlarmCreate": 2.5,
    "AlarmDelete": 1.5,
    "AlarmToggle": 1.5,
    "BluetoothSet": 1.0,
    "BluetoothSetAlready": 1.0,
    "BrightnessSet": 1.0,
    "DarkThemeSet": 1.0,
    "DeviceInfo": 1.0,
    "WifiSet": 1.0,
    "WifiSetAlready": 1.0,
}
"""Share of each task in the demonstrations; long ones and those with many values need more."""

_NO_BOUNDS = Bounds(0, 0, 0, 0)


@dataclass(frozen=True)
class Demonstration:
    """One episode as a conversation, with what the oracle would have replied at each turn."""

    messages: tuple[Message, ...]
    """System, then screens and replies in turn, as the model would see them; the replies are those carried out."""
    expert: tuple[ToolCall | None, ...]
    """The oracle's reply at each assistant turn of ``messages``; None where it rests on what the agent cannot see."""
    goal_held: bool
    """The goal held at the end; False for a task that only asks for an answer."""


@dataclass(frozen=True)
class Noise:
    """How often an episode leaves the oracle's way; its own reply stays the label at every screen."""

    episodes: float
    """Share of episodes with wrong moves."""
    moves: float
    """Share of wrong moves in such an episode."""

    @classmethod
    def none(cls) -> Noise:
        """The oracle's way only."""
        return cls(0.0, 0.0)


def play(
    instance: Instance,
    device: Device,
    phone: PhoneControl,
    noise: Noise,
    rng: random.Random | None = None,
    actor: Policy | None = None,
) -> Demonstration:
    """Play one instance and note the oracle's reply at every screen.

    Args:
        instance: What to solve.
        device: The agent's hands.
        phone: The back door that the oracle looks through.
        noise: How often to do something else than the oracle.
        rng: Draws the wrong moves; needed when there are any.
        actor: Plays instead of the oracle, whose replies are then only labels (dataset aggregation).
    """
    rng = rng or random.Random(0)
    instance.prepare(phone)
    oracle = instance.oracle(phone)
    oracle.begin(instance.goal)
    if actor is not None:
        actor.begin(instance.goal)
    wrong = noise.moves if rng.random() < noise.episodes else 0.0
    conversation = Conversation(instance.goal)
    expert: list[ToolCall | None] = []
    result = None
    observation = device.observe()
    for _ in range(instance.budget + 2 if wrong else instance.budget):
        conversation.show(observation, result)
        label = oracle.decide(observation, result).reply
        assert isinstance(label, ToolCall)  # an oracle never speaks out of turn
        reply: Reply = label
        text = ""
        if actor is not None:
            decision = actor.decide(observation, result)
            reply, text = decision.reply, decision.generation.text if decision.generation else ""
        elif rng.random() < wrong:
            reply = _wrong_move(observation, rng)
        conversation.reply(reply, text)
        expert.append(None if oracle.repairing else label)
        if isinstance(reply, Malformed):
            result = None
            continue
        if isinstance(reply.action, TaskComplete | GiveUp):
            break
        result = device.perform(reply.action)
        observation = device.observe()
    return Demonstration(tuple(conversation.messages), tuple(expert), instance.goal_holds(phone.snapshot()))


def demonstrations(
    seeds: Iterable[int], device: Device, phone: PhoneControl, noise: Noise, actor: Policy | None = None
) -> Iterator[Demonstration]:
    """Yield one demonstration per seed, tasks drawn by weight, all of the training split."""
    names = sorted(WEIGHTS)
    for seed in seeds:
        rng = random.Random(f"demonstration/{seed}")
        task = TASKS[rng.choices(names, [WEIGHTS[name] for name in names])[0]]
        yield play(task.draw(seed, "training"), device, phone, noise, rng, actor)


def drills(seeds: Iterable[int], labels: Sequence[str]) -> Iterator[Demonstration]:
    """Yield made-up screens with one thing to tap: practice in finding the number before a label."""
    for seed in seeds:
        rng = random.Random(f"drill/{seed}")
        expert, conversation, result = [], None, None
        for _ in range(rng.randint(2, 5)):
            rows = rng.sample(labels, rng.randint(3, 11))
            roles = [rng.choice(["row", "button", "switch", "text"]) for _ in rows]
            elements = tuple(
                Element(index, role, label, _NO_BOUNDS, (rng.choice(["on", "off"]),) if role == "switch" else ())
                for index, (role, label) in enumerate(zip(roles, rows, strict=True))
            )
            target = rng.choice(elements)
            # the same conversation with a new goal at each turn: the number must come from the newest screen
            if conversation is None:
                conversation = Conversation("")
            conversation.goal = f"Tap {target.label}."
            conversation.show(Observation(elements, rng.choice(list(APPS))), result)
            label = ToolCall(Tap(index=target.index), thought=_named(target))
            conversation.reply(label)
            expert.append(label)
            result = None
        assert conversation is not None
        yield Demonstration(tuple(conversation.messages), tuple(expert), goal_held=True)


def _named(element: Element) -> str:
    state = f": {element.states[0]}" if element.role == "switch" else ""
    return f"{plain(element.label)}{state}"


def _wrong_move(observation: Observation, rng: random.Random) -> ToolCall:
    """Draw a move that a person with the wrong idea might make, with the thought that goes with it."""
    choices: list[tuple[Action, str]] = [
        (PressKey(key="back"), "wrong page"),
        (PressKey(key="home"), "home"),
        (Swipe(direction=rng.choice(["up", "down"])), "looking further"),
    ]
    name = rng.choice(sorted(APPS))
    choices.append((OpenApp(app=name), name))
    tappable = [element for element in observation.elements if element.role not in ("text", "field")]
    choices += [(Tap(index=e.index), _named(e)) for e in rng.sample(tappable, min(6, len(tappable)))]
    fields = [element for element in observation.elements if element.role == "field"]
    choices += [(TypeText(index=e.index, text=str(rng.randint(1, 12))), plain(e.label)) for e in fields[:1]]
    action, thought = rng.choice(choices)
    return ToolCall(action, thought=thought)
