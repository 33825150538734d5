"""Draws an explanation for a terminal. Decides nothing: every sentence is the explanation's."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from agent_eval.reports import layout
from agent_eval.reports.explain import Explanation, RuleStory, StepStory

_MATCHED, _WARNING = "bold", "red"


def render_explanation(explanation: Explanation) -> RenderableType:
    """Draw an explanation."""
    sections: list[list[RenderableType]] = [
        [
            layout.heading(f"{explanation.episode}: {explanation.verdict}"),
            layout.text(f"Goal: {explanation.goal}"),
            *map(layout.text, explanation.setting),
        ],
        [
            layout.heading("Step by step"),
            *map(layout.text, explanation.beginning),
            *([_steps(explanation.steps)] if explanation.steps else []),
            *map(layout.text, explanation.ending),
        ],
    ]
    if explanation.facts:
        sections.append([layout.heading("Facts"), layout.bullets(explanation.facts)])
    if explanation.rules:
        sections.append([layout.heading("Why this label: the first rule that matches"), _rules(explanation.rules)])
    if explanation.contradiction:
        sections.append([layout.heading("Contradiction"), layout.text(explanation.contradiction, _WARNING)])
    if explanation.missing:
        sections.append([layout.heading("Not in the record"), layout.bullets(explanation.missing)])
    return Group(*(part for section in sections for part in (*section, Text(""))))


def _steps(steps: tuple[StepStory, ...]) -> Table:
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right", no_wrap=True, style=layout.FAINT)
    table.add_column(overflow="fold")
    for step in steps:
        layout.row(table, f"{step.number}.", layout.text(step.call, "bold"))
        if step.notes:
            table.add_row("", layout.bullets(step.notes))
    return table


def _rules(rules: tuple[RuleStory, ...]) -> Table:
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right", no_wrap=True, style=layout.FAINT)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for rule in rules:
        style = _MATCHED if rule.matched else ""
        matches = "yes" if rule.matched else "no"
        layout.row(table, f"{rule.number}.", rule.verdict.told, f"{matches}:", rule.why, style=style)
    return table
