"""Demonstrations for the embedded model: the oracle's replies on the project's own phone. Knows no tensors.

Like ``wiring`` this joins packages: tasks and their oracle, the phone, and the agent's conversation. What it makes is
plain text and replies; ``spark_backend.nano`` learns from them without knowing where they came from.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from agent_eval.tasks.families.clock import time_key
from agent_eval.tasks.families.clock_expert import TimeOfDay
from agent_eval.tasks.split import Split, split_of
from agent_eval.types import Bounds, Element, Message, Observation

MOST_MISTAKES = 6
"""After so many of a model's own it is no longer where it would be, had it learned a little more: it stops playing."""

_NO_BOUNDS = Bounds(0, 0, 0, 0)


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


def drills(seeds: Iterable[int], labels: Sequence[str]) -> Iterator[Demonstration]:
    """Yield made-up screens with one thing to do: practice in what every task needs.

    Finding the number before a label among look-alikes, comparing the state of a switch with the wanted one, reading a
    value off, and typing what the sentence says. The sentences are ones that no task uses, the times of day those of
    the training split, and the dates lie in years that no phone shows.

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
            conversation.goal, reply = _drill(rng, elements, labels)
            conversation.show(Observation(elements, rng.choice(list(APPS))), None)
            conversation.reply(reply)
            expert.append(reply)
        yield Demonstration("", tuple(conversation.messages), tuple(expert))


def _drill_screen(rng: random.Random, labels: Sequence[str]) -> tuple[Element, ...]:
    rows = rng.sample(labels, min(len(labels), rng.randint(2, 7)))
    if rng.random() < 0.7:
        rows += _times_alike(rng) if rng.random() < 0.3 else _labels_alike(rng, labels)
        rng.shuffle(rows)
    elements = []
    for index, label in enumerate(rows):
        role = rng.choice(["row", "row", "button", "switch", "text", "field"])
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


def _labels_alike(rng: random.Random, labels: Sequence[str]) -> list[str]:
    """Draw two to five different labels of which each differs from the first in one part: a word, a number, a date."""
    kind = rng.randrange(3)
    pool = sorted({word for label in labels for word in label.split() if word.isalpha()})
    words = rng.sample(pool, 8) if len(pool) >= 8 else rng.choices(pool, k=8)
    if kind == 0:
        parts = [
            [words[0].lower(), "_", words[1].lower(), "_", str(rng.randrange(10, 10_000)), "." + words[2][:3].lower()]
        ]
        change = {0: words[3:5], 2: words[5:7], 4: [str(rng.randrange(10, 10_000)) for _ in range(3)]}
    elif kind == 1:
        days = [f"{rng.choice(_WEEKDAYS)}, {rng.choice(_MONTHS)} " for _ in range(3)]
        parts = [[days[0], str(rng.randint(1, 28)), f", {rng.randint(2033, 2039)}"]]
        change = {0: days[1:], 1: [str(rng.randint(1, 28)) for _ in range(4)]}
    else:
        parts = [[words[0], " ", words[1]]]
        change = {0: words[2:4], 2: [*words[4:6], words[1] + words[1][-1]]}
    for _ in range(rng.randint(1, 4)):
        other = list(parts[0])
        place = rng.choice(list(change))
        other[place] = rng.choice(change[place])
        if other not in parts:
            parts.append(other)
    return ["".join(part) for part in parts]


_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


_DAY = re.compile(r"\w+day, (\w+ \d+), \d+")


def _drill_text(rng: random.Random, labels: Sequence[str]) -> str:
    """Draw something to type: words, a number, or both."""
    number = "".join(rng.choices("0123456789", k=rng.randint(1, 9)))
    words = " ".join(plain(rng.choice(labels)) for _ in range(rng.randint(1, 2)))
    return rng.choice([number, words, words, f"{words} {number}", f"{number[:2]}.{number[-2:]}", f"+1{number}"])


_TYPING = 0.4
"""Share of the drills with a field that ask to type; what is typed is longer, and harder to learn, than a number."""
_TYPED = (
    'Type "{text}" into {label}.',
    "Type {text} into {label}.",
    'Fill {label} with "{text}".',
    "{label} is {text}.",
)


def _drill_value(rng: random.Random, labels: Sequence[str]) -> str:
    return rng.choice([f"{rng.randrange(101)}%", str(rng.randrange(100)), rng.choice(labels)])


def _drill(rng: random.Random, elements: Sequence[Element], labels: Sequence[str]) -> tuple[str, ToolCall]:
    """Draw something to do on a screen; return the goal and the reply."""
    fields = [element for element in elements if element.role == "field"]
    target = rng.choice(fields if fields and rng.random() < _TYPING else elements)
    label = plain(target.label)
    if target.role == "field":
        text = _drill_text(rng, labels)
        goal = rng.choice(_TYPED).format(text=text, label=label)
        return goal, ToolCall(TypeText(index=target.index, text=text), thought=label)
    if target.role == "switch" and rng.random() < 0.8:
        wanted = rng.choice(["on", "off"])
        thought = f"want {wanted}, {_named(target)}"
        done = wanted in target.states
        return f"Put {label} {wanted}.", ToolCall(TaskComplete() if done else Tap(index=target.index), thought=thought)
    if target.value and rng.random() < 0.5:
        value = plain(target.value)
        return f"Read {label}.", ToolCall(TaskComplete(answer=value), thought=f"{label}: {value}")
    day = _DAY.match(label)
    if day and rng.random() < 0.7:
        label = day[1]
        return f"Tap {label}.", ToolCall(Tap(index=target.index), thought=label)
    return f"Tap {label}.", ToolCall(Tap(index=target.index), thought=_named(target))


def _named(element: Element) -> str:
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
    choices += [(Tap(index=e.index), _named(e)) for e in rng.sample(tappable, min(6, len(tappable)))]
    fields = [element for element in observation.elements if element.role == "field"]
    choices += [(TypeText(index=e.index, text=str(rng.randint(1, 12))), plain(e.label)) for e in fields[:1]]
    action, thought = rng.choice(choices)
    return ToolCall(action, thought=thought)
