"""Demonstrations for the embedded model: the oracle's replies on the project's own phone. Knows no tensors.

Like ``wiring`` this joins packages: tasks and their oracle, the phone, and the agent's conversation. What it makes is
plain text and replies; ``spark_backend.nano`` learns from them without knowing where they came from.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

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
from agent_eval.curriculum import training_skin
from agent_eval.errors import ContextOverflow
from agent_eval.tasks import TASKS, TaskInstance
from agent_eval.tasks.split import Split
from agent_eval.types import Element, Message, Observation

MOST_MISTAKES = 6
"""After so many of a model's own it is no longer where it would be, had it learned a little more: it stops playing."""


@dataclass(frozen=True)
class Demonstration:
    """One episode as a conversation, with what the oracle would have replied at each turn."""

    task: str
    """Name of the task; empty for a drill."""
    messages: tuple[Message, ...]
    """System, then screens and replies in turn, as the model would see them; the replies are those carried out."""
    expert: tuple[ToolCall | None, ...]
    """The oracle's reply at each assistant turn of ``messages``; None where it rests on what the agent cannot see."""
    mistakes: int = 0
    """Turns that were not played as the oracle would have."""
    lost: str = ""
    """Why the oracle knew no way on, where it did not; the episode ends there."""


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
    mistakes = 0
    lost = ""
    result = None
    observation = device.observe()
    for _ in range(instance.budget + 2 if wrong else instance.budget):
        conversation.show(observation, result)
        try:
            label = oracle.decide(observation, result).reply
        except Exception as error:  # a model can bring a phone to where no plan leads on: the lesson ends there
            if actor is None:
                raise
            lost = f"{instance.id}: {type(error).__name__}: {error}"
            conversation.messages.pop()
            break
        assert isinstance(label, ToolCall)  # an oracle never speaks out of turn
        reply: Reply = label
        text = ""
        if actor is not None:
            try:
                decision = actor.decide(observation, result)
            except ContextOverflow:
                conversation.messages.pop()  # nothing was replied to it
                break
            reply, text = decision.reply, decision.generation.text if decision.generation else ""
        elif rng.random() < wrong:
            reply = _wrong_move(observation, rng)
        conversation.reply(reply, text)
        expert.append(None if oracle.repairing else label)
        mistakes += isinstance(reply, Malformed) or reply.action != label.action
        if actor is not None and mistakes == MOST_MISTAKES:
            break
        if isinstance(reply, Malformed):
            result = None
            continue
        if isinstance(reply.action, TaskComplete | GiveUp):
            break
        result = device.perform(reply.action)
        observation = device.observe()
    return Demonstration(instance.task, tuple(conversation.messages), tuple(expert), mistakes, lost)


def demonstrations(
    instances: Iterable[Instance], device: Device, phone: PhoneControl, noise: Noise, actor: Policy | None = None
) -> Iterator[Demonstration]:
    """Yield the demonstration of each instance; what is drawn at random follows from the instance alone."""
    for instance in instances:
        rng = random.Random(f"demonstration/{instance.id}")
        yield play(instance, device, phone, noise, rng, actor)


def taught_instances(
    seeds: Iterable[int], weights: Mapping[str, float], split: Split = "training"
) -> Iterator[TaskInstance]:
    """Yield one instance per seed, on a phone with a skin that may be taught.

    Args:
        seeds: Of the instances.
        weights: Share of each task; tasks that are left out are not drawn.
        split: Where sentences and parameters come from.
    """
    names = sorted(weights)
    for seed in seeds:
        rng = random.Random(f"lesson/{split}/{seed}")
        task = TASKS[rng.choices(names, [weights[name] for name in names])[0]]
        drawn = task.draw(seed, split)
        yield replace(drawn, setup=replace(drawn.setup, skin=training_skin(rng)))


def named(element: Element) -> str:
    """Name an element as the oracle does: by its label, and a switch as its line on the screen."""
    state = f" ({', '.join((element.role, *element.states))})" if element.role == "switch" else ""
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
    choices += [(Tap(index=e.index), named(e)) for e in rng.sample(tappable, min(6, len(tappable)))]
    fields = [element for element in observation.elements if element.role == "field"]
    choices += [(TypeText(index=e.index, text=str(rng.randint(1, 12))), plain(e.label)) for e in fields[:1]]
    action, thought = rng.choice(choices)
    return ToolCall(action, thought=thought)
