"""Draws advice for a terminal: a recommendation with its reasons, and what a run shows of what is required of it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from agent_eval.reports import layout, numbers
from agent_eval.reports.requirements import Finding
from agent_eval.types import (
    BuildStanding,
    Decision,
    Evidence,
    MachineProbe,
    Priority,
    Reason,
    Recommendation,
    Source,
)


def render_recommendation(
    probe: MachineProbe, priority: Priority, recommendation: Recommendation, evidence: Evidence | None = None
) -> RenderableType:
    """Draw a recommendation with its reasons, each with what it rests on.

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
        own = recommendation.decision is not None and recommendation.decision.build is None
        words = "nothing that this program runs may be advised" if own else "nothing may be advised"
        standing = Text(words, style=layout.BAD)
    elif evidence is None:
        standing = Text("unverified here: nothing was measured", style=layout.OPEN)
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
    if recommendation.decision is not None:
        layout.row(facts, "table", _row_in_a_line(recommendation.decision))
    parts: list[RenderableType] = [layout.heading(f"Recommendation for priority {priority}"), facts]
    if recommendation.standings:
        parts += [Text(""), _standings(recommendation.standings), Text("")]
    parts.append(_reasons(recommendation.reasons))
    if evidence is None and recommendation.decision is not None:
        parts += [Text(""), render_decision(recommendation.decision)]
    return Group(*parts)


def render_decision(row: Decision) -> RenderableType:
    """Draw a row of the decision table with what it says of building and running."""
    facts = layout.grid()
    layout.row(facts, "way", f"{row.path} ({'no build of this program' if row.build is None else row.build})")
    layout.row(facts, "stored as", _stored(row))
    if row.runs_in_vllm:
        given = ", ".join(f"{name}={value!r}" for name, value in row.vllm_kwargs.items())
        layout.row(facts, "in vLLM", f"LLM(model=FOLDER{', ' if given else ''}{given}), fused norms off")
    else:
        layout.row(facts, "in vLLM", "does not run")
    layout.row(facts, "build with", row.build_with)
    notes = layout.bullets(())
    for claim in row.notes:
        layout.row(notes, "-", _cited(claim.text, (claim.source,)))
    return Group(layout.heading(f"Decision table, {row.name}"), facts, *([notes] if row.notes else []))


def _row_in_a_line(row: Decision) -> str:
    ran = "run by the reference study" if row.verified else "unverified"
    return f"{row.name}: {_stored(row)}; {ran}"


def _stored(row: Decision) -> str:
    group = f"groups of {row.group}, " if row.group else ""
    bits = f"{row.bits_per_weight:.4g}"
    sum_of = f" = {row.arithmetic}" if row.arithmetic != bits else ""
    return f"{row.quantization or 'no method of vLLM'}, {group}{bits} bits a weight{sum_of}"


def _standings(standings: Sequence[BuildStanding]) -> Table:
    table = layout.table("build", "standing", "known", "harm cap", "pairs needed")
    for column in table.columns[:3]:
        column.justify = "left"
    styles = {"eligible": layout.GOOD, "worse": layout.BAD, "harmful": layout.BAD, "undecided": layout.OPEN}
    for each in standings:
        needed = "." if each.pairs_needed == 0 else numbers.further(each.pairs_needed).removesuffix(" pairs")
        standing = Text(each.standing, style=styles.get(each.standing, ""))
        cap = f"{100 * min(each.harm_cap, 1.0):.1f}".removesuffix(".0") + " %"
        layout.row(table, layout.text(each.build), standing, each.basis, cap, needed)
    return table


def _reasons(reasons: Sequence[Reason]) -> Table:
    made = layout.bullets(())
    for reason in reasons:
        layout.row(made, "-", _cited(reason.text, tuple(cited(source) for source in reason.sources)))
    return made


def cited(source: Source) -> str:
    """Return a source in a few words: the run by its counts, for it is named above."""
    match source.kind:
        case "run":
            return source.count or source.where
        case "machine":
            return f"machine {source.where}"
        case "table":
            return f"table {source.where.rpartition('/')[0]}"
        case "question" | "document":
            return source.where


def _cited(words: str, sources: Sequence[str]) -> Text:
    return layout.text(words) + layout.text(f" [{'; '.join(dict.fromkeys(sources))}]", layout.FAINT)


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
