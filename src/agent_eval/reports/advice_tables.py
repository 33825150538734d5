"""Draws advice for a terminal: a recommendation with its reasons, and what a run shows of what is required of it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from agent_eval.reports import layout, numbers
from agent_eval.reports.requirements import Finding
from agent_eval.types import Evidence, MachineProbe, Priority, Recommendation


def render_recommendation(
    probe: MachineProbe, priority: Priority, recommendation: Recommendation, evidence: Evidence | None = None
) -> RenderableType:
    """Draw a recommendation with its reasons.

    Args:
        probe: The machine that it is for.
        priority: What was asked for.
        recommendation: What the selector said.
        evidence: What it was given, to name the run.
    """
    build = recommendation.build if recommendation.build is not None else "none"
    if recommendation.conclusive:
        standing = Text("conclusive", style=layout.GOOD)
    elif recommendation.build is None:
        standing = Text("nothing may be advised", style=layout.BAD)
    else:
        standing = Text("insufficient evidence: this build is only the safer choice", style=layout.OPEN)
    facts = layout.grid()
    layout.row(facts, "build", Text(layout.visible(build), style="bold"))
    layout.row(facts, "standing", standing)
    layout.row(facts, "rule", recommendation.rule)
    if recommendation.pairs_needed:
        layout.row(facts, "pairs needed", numbers.further(recommendation.pairs_needed))
    layout.row(facts, "machine", numbers.machine(probe))
    if evidence is not None:
        model = f"{evidence.model} ({evidence.model_kind}){' in vLLM' if evidence.engine == 'vllm' else ''}"
        layout.row(facts, "evidence", layout.text(f"{evidence.run}, {model}, on {evidence.device_class}"))
    reasons = layout.bullets(recommendation.reasons)
    return Group(layout.heading(f"Recommendation for priority {priority}"), facts, reasons)


def render_findings(findings: Sequence[Finding]) -> RenderableType:
    """Draw what a run shows of each requirement."""
    table = layout.table("requirement", "standing", "why")
    for column in table.columns:
        column.justify = "left"
        column.overflow = "fold"
    styles = {"met": layout.GOOD, "broken": layout.BAD, "open": layout.OPEN}
    for finding in findings:
        standing = Text(finding.standing, style=styles[finding.standing])
        layout.row(table, layout.text(str(finding.requirement)), standing, finding.why)
    return Group(layout.heading("Required of the run"), table)
