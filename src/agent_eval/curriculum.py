"""What the embedded model is taught, and what it must never see: tasks, skins and seeds. Knows no model and no phone.

Three things are kept from training, so that they can be measured apart: parameters and sentences (the splits of
``tasks.split``), a few tasks, and a few skins.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from agent_eval.tasks import TASKS
from agent_eval.tasks.split import Split
from agent_eval.types import Skin

HELD_OUT_TASKS = ("BluetoothSetAlready", "WifiOffBluetoothOn", "FileCopySameName", "NoteThenSms")
"""Tasks that are taught in no form: two relatives of taught ones, and two that put together what others teach."""

HELD_OUT_SKINS = ("small-screen", "reordered", "vendor")
"""Skins that no taught screen has; ``training_skin`` draws neither their density nor their order of rows."""

TAUGHT_TASKS = tuple(name for name in TASKS if name not in HELD_OUT_TASKS)

SKINNED = 0.3
"""Share of taught episodes on a phone with a skin of its own."""

SEEDS_OF_A_PLAN = 10_000_000
"""Seeds that a training seed sets apart for each use."""
MOST_PLANS = 100
"""Training seeds that there may be: from 0 up to, not including, this."""
Use = Literal["demonstrations", "validation", "drills", "rollouts", "scores"]
_FIRST_SEED: Mapping[Use, int] = MappingProxyType(
    {
        "scores": 90_000,  # instances that a finished model is scored on; a run's own seeds begin at 0
        "demonstrations": 1_000_000_000,
        "validation": 5_000_000_000,
        "drills": 6_000_000_000,
        "rollouts": 7_000_000_000,
    }
)


def seeds(use: Use, plan_seed: int, first: int, count: int) -> range:
    """Return seeds of one use; no two uses and no two plans below ``MOST_PLANS`` share one."""
    begin = _FIRST_SEED[use] + plan_seed * SEEDS_OF_A_PLAN + first
    return range(begin, begin + count)


class Condition(NamedTuple):
    """One of the ways in which a finished model is tried, from what it was taught to what it never saw."""

    split: Split
    tasks: tuple[str, ...]
    skins: tuple[str, ...]
    """Names of skins; each task is tried under all of them in turn."""


CONDITIONS: Mapping[str, Condition] = MappingProxyType(
    {
        "in distribution": Condition("training", TAUGHT_TASKS, ("default",)),
        "unseen parameters": Condition("evaluation", TAUGHT_TASKS, ("default",)),
        "unseen layout": Condition("evaluation", TAUGHT_TASKS, HELD_OUT_SKINS),
        "unseen template": Condition("evaluation", HELD_OUT_TASKS, ("default",)),
    }
)
"""How generalisation is reported; the instances of all four are fresh ones."""


def training_skin(rng: random.Random) -> Skin:
    """Draw the skin of a taught episode, mostly the default one; never one that is held out."""
    if rng.random() >= SKINNED:
        return Skin()
    return Skin(
        font_scale=rng.choice((0.85, 1.0, 1.0, 1.15, 1.3)),
        density=rng.choice((280, 320, 320, 360)),
        wording=rng.choice(("", "wlan", "ascii", "typographic")),
        row_order=rng.choice((0, rng.randrange(100, 1000))),
    )


def lesson_weights(mistaken: Mapping[str, float] | None = None) -> dict[str, float]:
    """Return the share of each taught task in the demonstrations, against one of 1.

    Args:
        mistaken: Share of a task's episodes in which the model, left to play, did something else than the oracle; what
            it does badly is taught more, and what it does well not forgotten.
    """
    return {name: 1.0 if mistaken is None else 0.35 + 1.65 * mistaken.get(name, 1.0) for name in TAUGHT_TASKS}


def mistakes_by_task(played: Iterable[tuple[str, bool]]) -> dict[str, float]:
    """Return the share of mistaken episodes by task, drawn towards one half where there are few.

    Args:
        played: The task of each episode, and whether the model made a mistake in it.
    """
    count: dict[str, int] = {}
    wrong: dict[str, int] = {}
    for task, mistaken in played:
        count[task] = count.get(task, 0) + 1
        wrong[task] = wrong.get(task, 0) + mistaken
    return {task: (wrong[task] + 1) / (total + 2) for task, total in count.items()}
