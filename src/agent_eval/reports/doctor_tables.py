"""Draws what ``doctor`` found for a terminal. Judges nothing; keeps to 80 columns, reads without colour."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from agent_eval.diagnosis import Diagnosis, Finding, Served, State, Topic
from agent_eval.reports import layout

_STYLES: dict[State, str] = {"ok": "green", "untried": "yellow", "off": "", "missing": "yellow", "broken": "red"}
_HEADINGS: dict[Topic, str] = {
    "settings": "Environment variables",
    "engines": "Engines",
    "tools": "Tools",
    "libraries": "Libraries",
}
_STATES_WIDTH = max(map(len, _STYLES))
_NAMES_WIDTH = len("llama.cpp")


def render_diagnosis(diagnosis: Diagnosis) -> RenderableType:
    """Draw everything that was found."""
    sections = [_machine(diagnosis)]
    for topic, heading in _HEADINGS.items():
        findings = [finding for finding in diagnosis.findings if finding.topic == topic]
        if findings:
            sections.append(Group(layout.heading(heading), _findings(findings)))
    sections += [_served(diagnosis.served), _verdict(diagnosis)]
    return Group(*(part for section in sections[:-1] for part in (section, Text(""))), sections[-1])


def _machine(diagnosis: Diagnosis) -> RenderableType:
    machine, grid = diagnosis.machine, layout.grid()
    probe = machine.probe
    layout.row(grid, "processor", f"{probe.cpu_model} ({probe.device_class})")
    layout.row(grid, "flags", " ".join(probe.cpu_flags) or "none that a kernel here asks for")
    layout.row(grid, "cores", f"{probe.physical_cores}, of which this process may keep {machine.usable_cores} busy")
    free = f", {_gibibytes(machine.available_bytes)} free" if machine.available_bytes else ""
    layout.row(grid, "memory", f"{_gibibytes(probe.memory_bytes)}{free}")
    layout.row(grid, "accelerator", probe.accelerator)
    layout.row(grid, "system", f"{probe.os} {probe.arch}")
    layout.row(grid, "Python", f"{machine.python} in {machine.environment}")
    layout.row(grid, "agent-eval", diagnosis.version)
    return Group(layout.heading("Machine"), grid)


def _findings(findings: Sequence[Finding]) -> Table:
    """Draw a line for each finding, and one for all that have nothing to say but their version."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, min_width=_STATES_WIDTH)
    table.add_column(min_width=_NAMES_WIDTH, overflow="fold")
    table.add_column(overflow="fold", ratio=1)
    plain = [each for each in findings if each.topic == "libraries" and each.state == "ok"]
    if plain:
        every = ", ".join(f"{each.name} {each.found}" for each in plain)
        layout.row(table, layout.text("ok", _STYLES["ok"]), f"{len(plain)} of {len(findings)}", every)
    for finding in (each for each in findings if each not in plain):
        lines = [layout.text(finding.found)]
        lines += [layout.text(note, layout.FAINT) for note in finding.notes]
        lines += [layout.text(f"hint: {finding.hint}")] if finding.hint else []
        state = layout.text(finding.state, _STYLES[finding.state])
        name = "" if finding.topic == "settings" else finding.name  # what is wrong names the variable
        table.add_row(state, layout.text(name), Group(*lines))
    return table


def _served(served: Sequence[Served]) -> RenderableType:
    table = layout.table()
    table.add_column("build", no_wrap=True)
    table.add_column("engine", no_wrap=True)
    table.add_column("kernels", overflow="fold")
    before = ""
    for each in served:
        build = "" if each.build == before else each.build
        layout.row(table, build, each.engine, layout.text(each.kernels, "" if each.possible else layout.FAINT))
        before = each.build
    return Group(layout.heading("What would compute a build"), table)


def _verdict(diagnosis: Diagnosis) -> Text:
    stopping = [finding.name for finding in diagnosis.findings if finding.stops]
    if stopping:
        return layout.text(f"`agent-eval run` cannot run here, because of: {', '.join(stopping)}", "bold red")
    lacking = any(finding.state in ("missing", "broken") for finding in diagnosis.findings)
    rest = ", without what is missing above" if lacking else ""
    return layout.text(f"`agent-eval run` can run here{rest}", "bold")


def _gibibytes(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"
