"""Every task that the phone must be enough for, and the scripted solutions of all of them."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from tests.device_sim.walkthroughs import (
    browser,
    calendar,
    clock,
    expenses,
    music,
    notes,
    people,
    recipes,
    settings,
    storage,
    tracking,
)
from tests.device_sim.walkthroughs.walk import Walk

Suite = Literal["template", "AndroidWorld"]


@dataclass(frozen=True)
class Task:
    """One line of ``tasks.tsv``."""

    suite: Suite
    name: str
    """Number of a template, or name of a task of AndroidWorld."""
    about: str
    """Of a template what it asks for. V: true from the start, A: an answer, I: not possible, G: guard, M: two apps."""
    level: str
    """Tier of a template; of a task of AndroidWorld its difficulty and its fewest steps there."""
    app: str
    """Where it is done."""
    reason: str
    """Why this phone cannot have it, or nothing."""

    @property
    def asks_for_no_change(self) -> bool:
        """Whether a phone that is left alone is already right."""
        return bool({"V", "I"} & set(self.about.split())) and "/ " not in self.about


def _read() -> tuple[Task, ...]:
    with Path(__file__).with_name("tasks.tsv").open(encoding="utf-8", newline="") as lines:
        head, *rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    assert len(head) == 6
    return tuple(Task("template" if row[0] == "template" else "AndroidWorld", *row[1:]) for row in rows)


TASKS: tuple[Task, ...] = _read()

WALKS: tuple[Walk, ...] = tuple(
    walk
    for family in (settings, clock, people, calendar, storage, notes, browser, music, recipes, expenses, tracking)
    for walk in family.walks()
)

MOST_STEPS: Mapping[str, int] = MappingProxyType({"tier 1": 4, "tier 2": 8, "tier 3": 15})
"""Actions that a template's script may take."""
LONGER: Mapping[str, str] = MappingProxyType({"55": "two recipes; each takes four actions after the app is open"})
"""Templates whose script takes one action more than their tier has, and why."""
