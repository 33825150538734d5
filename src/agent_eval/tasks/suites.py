"""Which tasks there are, and which sets of them are run together. Knows nothing of how a task works."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from agent_eval.contracts import Instance
from agent_eval.tasks.families import (
    browser,
    calendar,
    camera,
    clock,
    contacts,
    expenses,
    files,
    launcher,
    messages,
    multi,
    music,
    notes,
    recipes,
    settings,
)
from agent_eval.tasks.task import Template
from agent_eval.tasks.variants import Variant, variant_of

_FAMILIES = (
    settings, launcher, clock, contacts, messages, calendar, camera, files, notes, browser, music, recipes, expenses,
    multi,
)  # fmt: skip

TASKS: dict[str, Template] = {template.name: template for family in _FAMILIES for template in family.TEMPLATES}
"""Every task by its name, in the order in which they are listed."""


@dataclass(frozen=True)
class Suite:
    """A named set of tasks that are run together."""

    summary: str
    tasks: tuple[str, ...]
    """Names of tasks or of variants of them."""
    instances: int
    """Instances of each, unless a command says otherwise."""


SUITES: dict[str, Suite] = {
    "default": Suite("every task", tuple(TASKS), 2),
    "smoke": Suite("the two tasks of the reference study's table", ("WifiSet[wanted=on]", "AlarmCreate"), 1),
}
"""Named sets of tasks."""


def find_task(name: str) -> Template | Variant:
    """Return the task or variant of a name.

    Raises:
        UnknownName: there is no such task, fault or skin.
    """
    return variant_of(name, TASKS)


def suite_digest(instances: Iterable[Instance]) -> str:
    """Return a digest over what the instances ask and allow: the same suite, the same digest, in any order."""
    rows = sorted(
        [instance.id, instance.version, instance.goal, instance.budget, sorted(instance.parameters.items())]
        for instance in instances
    )
    return hashlib.sha256(json.dumps(rows, ensure_ascii=False).encode()).hexdigest()[:16]
