"""The page ``docs/reference/tasks.md`` from the suite itself; this module writes it when it is run."""

from __future__ import annotations

from pathlib import Path

from agent_eval.tasks import LANGUAGES, SUITES, TASKS, Template
from tests.device_sim.walkthroughs.table import TASKS as WORLD
from tests.markdown import table

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "tasks.md"
DRAWS = range(40)
"""Instances over which the oracle's steps and the budgets are told."""

_INTRODUCTION = """\
# The tasks

{count} templates, each drawn from seeds. *Oracle* is the number of actions that the expert takes from the launcher
without its declaration, over {draws} instances; *budget* is twice that and two more, at least eight. Tier 1 has up to
4 oracle actions, tier 2 up to 8, tier 3 up to 15. Sentences are worded in English, and in the languages named.

This page is made from the suite: `python -m tests.tasks.task_page`. To add a task, see the
[guide](../guides/adding-a-task.md); for what counts as an answer, [answers](../concepts/answers.md).
"""
_WORLD = """\
A task of AndroidWorld is stood for by a template that asks for the same thing on an app of the same kind, in this
project's own words and with its own data. Where there is none, the simulated phone is still enough for the task: its
[scripted solution](coverage.md) exists, but no template asks for it.
"""


def page() -> str:
    """Return the page as the suite has it."""
    stands = {world: name for name, task in TASKS.items() for world in task.android_world}
    reachable = [task for task in WORLD if task.suite == "AndroidWorld" and not task.reason]
    covered = [task for task in reachable if task.name in stands]
    parts = [
        _INTRODUCTION.format(count=len(TASKS), draws=len(DRAWS)),
        table(("", "task", "asks to", "tier", "oracle", "budget", "traits", "also in", "version"), [
            (str(number), f"`{name}`", task.summary, str(task.tier), *_steps(task), ", ".join(task.traits),
             ", ".join(_languages(task)), str(task.version))
            for number, (name, task) in enumerate(TASKS.items(), start=1)
        ]),
        "## Suites\n",
        table(("suite", "tasks", "instances each", "episodes a build", "what it is"), [
            (f"`{name}`", str(len(suite.tasks)), str(suite.instances), str(len(suite.tasks) * suite.instances),
             suite.summary)
            for name, suite in SUITES.items()
        ]),
        "## Robustness: which fault each task is asked under\n",
        table(("task", "fault"), [(f"`{task}`", f"`{fault}`") for task, fault in _robustness()]),
        f"## AndroidWorld: {len(covered)} of {len(reachable)} tasks have a template\n",
        _WORLD,
        table(("task of AndroidWorld", "", "template"), [
            (f"`{task.name}`", task.about, f"`{stands[task.name]}`" if task.name in stands else "")
            for task in reachable
        ]),
    ]  # fmt: skip
    return "\n".join(parts)


def _steps(task: Template) -> tuple[str, str]:
    drawn = [task.draw(seed) for seed in DRAWS]
    return _range([one.draft.oracle_steps for one in drawn]), _range([one.budget for one in drawn])


def _range(values: list[int]) -> str:
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low}\u2013{high}"


def _languages(task: Template) -> list[str]:
    return [language for language in LANGUAGES[1:] if language in task.draw(0).draft.sentences]


def _robustness() -> list[tuple[str, str]]:
    pairs = (name.partition("+") for name in SUITES["robustness"].tasks)
    return [(task, fault) for task, _, fault in pairs]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
