"""Whether the run can be trusted: what was checked of it, and what was not."""

from __future__ import annotations

from agent_eval.reports import numbers
from agent_eval.reports.noise import NoiseBand
from agent_eval.reports.report import Report
from agent_eval.reports.sections.section import Cell, Column, Row, Section, Span, Table, Tone
from agent_eval.reports.validity import Holds

_TONES: dict[Holds, Tone] = {"holds": "good", "broken": "bad", "open": "open"}


def validity(report: Report) -> Section:
    """Give one row for each thing that must hold of a run whatever its builds are worth."""
    checked = report.validity
    rows = [_row(_same_again(report), _seen(checked.noise), checked.same_again)]
    for agent in checked.agents:
        seen = numbers.percent(agent.share) if agent.share else "not played"
        rows.append(_row(f"{agent.agent} passes {agent.passes}", seen, agent.holds))
    retried = f", {checked.retried} tried again" if checked.retried else ""
    lost = f"{checked.lost} of {checked.recorded} lost{retried}"
    rows.append(_row("the harness loses no episode", lost, checked.harness))
    notes = []
    if checked.phone_faults:
        showed = ", ".join(f"{name} {count}" for name, count in checked.phone_faults.items())
        notes.append(f"Faults of the phone, and how often each showed: {showed}.")
    missing = [agent.agent for agent in checked.agents if agent.share is None]
    if missing:
        notes.append(f"Not played: add {','.join(missing)} to --builds of a new run.")
    if checked.noise is None and report.summary.reference:
        notes.append("The reference ran once: --noise-band runs it twice.")
    columns = (Column("what must hold", words=True), Column("seen", words=True), Column("", words=True))
    return Section("Validity", (Table(columns, tuple(rows)),), (" ".join(notes),) if notes else ())


def _same_again(report: Report) -> str:
    reference = report.summary.reference or "the reference"
    return f"{reference} ends every instance twice in the same way"


def _seen(noise: NoiseBand | None) -> str:
    if noise is None:
        return "ran once"
    return f"{len(noise.flips)} of {noise.pairs} ended otherwise, {noise.differing} went otherwise"


def _row(claim: str, seen: str, holds: Holds) -> Row:
    cells: tuple[Cell, ...] = (claim, seen, Span(holds, _TONES[holds]))
    return Row(cells)
