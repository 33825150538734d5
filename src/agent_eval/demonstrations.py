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
from agent_eval.contracts import Device, Instance, PhoneControl, Policy, Task
from agent_eval.tasks import TASKS
from agent_eval.tasks.families.clock import time_key
from agent_eval.tasks.families.clock_expert import TimeOfDay
from agent_eval.tasks.split import split_of
from agent_eval.types import Bounds, Element, Message, Observation

_TIER_WEIGHTS = {1: 1.0, 2: 1.0, 3: 0.6}
"""Share of a task in the demonstrations by its tier; a long one teaches more decisions an episode."""
_HARDER = {"AlarmCreate": 2.5, "AlarmDelete": 1.5, "AlarmToggle": 2.0, "AlarmAlready": 1.5, "DeviceInfo": 1.5}
"""The same for tasks that need more than others of their length: many values, or a choice between many look-alikes."""

_NO_BOUNDS = Bounds(0, 0, 0, 0)


def weight_of(task: Task) -> float:
    """Return the share of a task in the demonstrations, against one of 1."""
    return _HARDER.get(task.name, _TIER_WEIGHTS[task.tier])


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
    start = phone.snapshot()
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
    return Demonstration(tuple(conversation.messages), tuple(expert), instance.goal_holds(start, phone.snapshot()))


def demonstrations(
    seeds: Iterable[int], device: Device, phone: PhoneControl, noise: Noise, actor: Policy | None = None
) -> Iterator[Demonstration]:
    """Yield one demonstration per seed, tasks drawn by weight, all of the training split."""
    names = sorted(TASKS)
    weights = [weight_of(TASKS[name]) for name in names]
    for seed in seeds:
        rng = random.Random(f"demonstration/{seed}")
        task = TASKS[rng.choices(names, weights)[0]]
        yield play(task.draw(seed, "training"), device, phone, noise, rng, actor)


def drills(seeds: Iterable[int], labels: Sequence[str]) -> Iterator[Demonstration]:
    """Yield made-up screens with one thing to do: practice in what every task needs.

    Finding the number before a label among look-alikes, comparing the state of a switch with the wanted one, and
    reading a value off. The sentences are ones that no task uses, the times of day those of the training split.

    Args:
        seeds: One demonstration each.
        labels: What may stand on the screens, times of day left out.
    """
    for seed in seeds:
        rng = random.Random(f"drill/{seed}")
        conversation = Conversation("")
        expert: list[ToolCall | None] = []
        for _ in range(rng.randint(2, 5)):
            elements = _drill_screen(rng, labels)
            # a new goal at each turn: the answer must come from the newest screen
            conversation.goal, reply = _drill(rng, elements)
            conversation.show(Observation(elements, rng.choice(list(APPS))), None)
            conversation.reply(reply)
            expert.append(reply)
        yield Demonstration(tuple(conversation.messages), tuple(expert), goal_held=True)


def _drill_screen(rng: random.Random, labels: Sequence[str]) -> tuple[Element, ...]:
    rows = rng.sample(labels, min(len(labels), rng.randint(3, 9)))
    if rng.random() < 0.5:
        rows += _times_alike(rng)
        rng.shuffle(rows)
    elements = []
    for index, label in enumerate(rows):
        role = rng.choice(["row", "row", "button", "switch", "text"])
        states = (rng.choice(["on", "off"]),) if role == "switch" else ()
        value = _drill_value(rng, labels) if role == "row" and rng.random() < 0.5 else ""
        elements.append(Element(index, role, label, _NO_BOUNDS, states, value))
    return tuple(elements)


def _times_alike(rng: random.Random) -> list[str]:
    """Draw two to five different times of day that share an hour, a minute or a half of the day."""
    hour, minute, half = rng.randint(1, 12), rng.randrange(60), rng.choice(["AM", "PM"])
    times: list[str] = []
    for _ in range(rng.randint(2, 5)):
        changed = rng.randrange(3)
        one = TimeOfDay.parse(
            f"{rng.randint(1, 12) if changed == 0 else hour}:{rng.randrange(60) if changed == 1 else minute:02d} "
            f"{rng.choice(['AM', 'PM']) if changed == 2 else half}"
        )
        if one is not None and one.text not in times and split_of(time_key(one)) == "training":
            times.append(one.text)
    return times


def _drill_value(rng: random.Random, labels: Sequence[str]) -> str:
    return rng.choice([f"{rng.randrange(101)}%", str(rng.randrange(100)), rng.choice(labels)])


def _drill(rng: random.Random, elements: Sequence[Element]) -> tuple[str, ToolCall]:
    """Draw something to do on a screen; return the goal and the reply."""
    target = rng.choice(elements)
    label = plain(target.label)
    if target.role == "switch" and rng.random() < 0.8:
        wanted = rng.choice(["on", "off"])
        thought = f"{label}: {target.states[0]}, want {wanted}"
        done = wanted in target.states
        return f"Put {label} {wanted}.", ToolCall(TaskComplete() if done else Tap(index=target.index), thought=thought)
    if target.value and rng.random() < 0.5:
        value = plain(target.value)
        return f"Read {label}.", ToolCall(TaskComplete(answer=value), thought=f"{label}: {value}")
    return f"Tap {label}.", ToolCall(Tap(index=target.index), thought=_named(target))


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
