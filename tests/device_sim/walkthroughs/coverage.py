"""The page ``docs/reference/coverage.md`` from the tables; this module writes it when it is run."""

from __future__ import annotations

from pathlib import Path

from tests.device_sim.walkthroughs.table import LONGER, TASKS, WALKS, Suite, Task
from tests.markdown import table

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "coverage.md"

_INTRODUCTION = """\
# What the simulated phone is enough for

Every task below has a scripted solution in `tests/device_sim/walkthroughs/`. A script sees what a model reads and does
only what an agent can do, from the launcher on; then the phone's persisted state must be what the task asks for, and
nothing else may have changed. *Actions* counts the calls of tools, without the one that declares the end.

This page is made from the tables of the tests: `python -m tests.device_sim.walkthroughs.coverage`.
"""


def page() -> str:
    """Return the page as the tables have it."""
    reached = [task for task in TASKS if not task.reason]
    templates = [task for task in reached if task.suite == "template"]
    world = [task for task in reached if task.suite == "AndroidWorld"]
    out = [task for task in TASKS if task.reason]
    longer = "; ".join(f"{name}: {why}" for name, why in LONGER.items())
    parts = [
        _INTRODUCTION,
        f"## The suite's templates: {len(templates)} of {_count('template')}\n",
        "V: true from the start. A: an answer. I: not possible on this phone. G: nothing else may be touched.\n"
        "M: two apps. A tier allows 4, 8 or 15 actions.\n",
        table(("", "template", "tier", "app", "actions"), [
            (task.name, task.about, task.level.removeprefix("tier "), task.app, _steps(task)) for task in templates
        ]),
        f"One action more than the tier allows: {longer}.\n",
        f"## AndroidWorld: {len(world)} of {_count('AndroidWorld')}\n",
        "The tasks are AndroidWorld's by name; wording, data and apps are this project's. The fewest steps are those\n"
        "that AndroidWorld gives for its own apps, where opening an app and typing count otherwise.\n",
        table(("task", "", "difficulty", "fewest steps there", "app", "actions"), [
            (f"`{task.name}`", task.about, *task.level.split(" "), task.app, _steps(task)) for task in world
        ]),
        f"## Out of reach: {len(out)}\n",
        table(("task", "why"), [(f"`{task.name}`", task.reason) for task in out]),
    ]  # fmt: skip
    return "\n".join(parts)


def _count(suite: Suite) -> int:
    return sum(task.suite == suite for task in TASKS)


def _steps(task: Task) -> str:
    steps = sorted({walk.steps for walk in WALKS if walk.task == task.name})
    return " or ".join(map(str, steps))


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
