"""Drills for the embedded model: made-up screens with one thing to do. Knows no task and no tensors.

What every task needs is practised by itself: finding the number before a label among look-alikes, comparing the state
of a switch with the wanted one, reading a value off, and typing what a sentence says.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence

from agent_eval.actions import Tap, TaskComplete, ToolCall, TypeText
from agent_eval.agent.device import APPS
from agent_eval.agent.policy import Conversation
from agent_eval.agent.prompt import plain
from agent_eval.demonstrations import Demonstration, named
from agent_eval.tasks.families.clock import time_key
from agent_eval.tasks.families.clock_expert import TimeOfDay
from agent_eval.tasks.split import split_of
from agent_eval.types import Bounds, Element, Observation

_NO_BOUNDS = Bounds(0, 0, 0, 0)


def drills(seeds: Iterable[int], labels: Sequence[str]) -> Iterator[Demonstration]:
    """Yield made-up screens with one thing to do on each.

    The sentences are ones that no task uses, the times of day those of
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
        thought = f"want {wanted}, {named(target)}"
        done = wanted in target.states
        return f"Put {label} {wanted}.", ToolCall(TaskComplete() if done else Tap(index=target.index), thought=thought)
    if target.value and rng.random() < 0.5:
        value = plain(target.value)
        return f"Read {label}.", ToolCall(TaskComplete(answer=value), thought=f"{label}: {value}")
    day = _DAY.match(label)
    if day and rng.random() < 0.7 and sum(day[1] in element.label for element in elements) == 1:
        label = day[1]
        return f"Tap {label}.", ToolCall(Tap(index=target.index), thought=label)
    return f"Tap {label}.", ToolCall(Tap(index=target.index), thought=named(target))
