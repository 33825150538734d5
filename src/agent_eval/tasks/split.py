"""Keep what a model is evaluated on apart from what it is trained and chosen by. Knows nothing of tasks or phones.

A key is whatever two instances could share: a goal sentence, a time of day, a battery level. A hash puts each key into
one split for good and for every task, so a sentence held out of one task is held out of all. What has only two values,
on and off, cannot be held out; there the sentence is the key. Random numbers come from one namespace per split.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from random import Random
from typing import Literal, TypeVar, get_args

from agent_eval.errors import TaskFault, UnknownName

Split = Literal["evaluation", "validation", "training"]
SPLITS: tuple[Split, ...] = get_args(Split)

EVALUATION_EVERY = 4
"""One key in so many belongs to the evaluation."""
VALIDATION_EVERY = 4
"""One key in so many of the others belongs to the validation: what a training is watched and chosen by."""
MOST_TRIES = 2000
"""Draws after which a split counts as empty; the smallest, three sixteenths of the keys, is met long before."""

Drawn = TypeVar("Drawn")


def split_of(key: str) -> Split:
    """Return the one split that a key belongs to."""
    number = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8])
    if number % EVALUATION_EVERY == 0:
        return "evaluation"
    return "validation" if number // EVALUATION_EVERY % VALIDATION_EVERY == 0 else "training"


def checked_split(name: str) -> Split:
    """Return the split of that name.

    Raises:
        UnknownName: there is no such split.
    """
    for split in SPLITS:
        if name == split:
            return split
    raise UnknownName("split", name, SPLITS)


def random_of(split: Split, task: str, seed: int) -> Random:
    """Return the source of randomness of one instance; no two splits, tasks or seeds share one."""
    return Random(f"{split}/{task}/{seed}")


def draw_in_split(
    split: Split, task: str, rng: Random, draw: Callable[[Random], Drawn], belongs: Callable[[Drawn], bool]
) -> Drawn:
    """Draw until a draw belongs to the split.

    Raises:
        TaskFault: nothing that the task draws belongs to the split.
    """
    for _ in range(MOST_TRIES):
        drawn = draw(rng)
        if belongs(drawn):
            return drawn
    raise TaskFault(
        f"task {task!r} drew {MOST_TRIES} times and never within split {split!r}; expected some of its sentences and "
        "parameters in each split",
        hint="give the task more wordings or a wider range of parameters",
    )
