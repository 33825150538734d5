"""What the numbers of a run may not be taken for, and what is left to do."""

from __future__ import annotations

from agent_eval.reports.report import Report
from agent_eval.reports.sections.section import Line, Lines, Section


def remarks(report: Report) -> Section:
    """Say what a reader must know before using the report."""
    manifest, summary = report.manifest, report.summary
    said = kind_of(manifest.model_kind, manifest.configuration.model)
    said += [_trap(report, build, seconds) for build, seconds in manifest.head_traps.items()]
    if report.decided:
        played = max((build.recorded for build in summary.builds), default=0)
        said.append(f"The run ended when its comparisons were decided, after {played} of at most {summary.planned}.")
    elif any(build.recorded < summary.planned for build in summary.builds):
        said.append("The run is not complete: repeat its command to go on.")
    if any(build.harness_errors for build in summary.builds):
        said.append("Episodes lost to the harness are run again when the command is repeated.")
    lines = tuple(Line(remark) for remark in said) or (Line("The run is complete.", "faint"),)
    return Section("", (Lines(lines),))


def kind_of(model_kind: str, model: str) -> list[str]:
    """Say what a measurement of a model may not be taken for; nothing for a published one."""
    match model_kind:
        case "embedded":
            return [f"This is a measurement of {model}, the small embedded model, and of no other."]
        case "synthetic":
            return [f"The weights of {model} are synthetic: speeds count, outcomes say nothing."]
        case "constructed":
            return [
                f"{model} is CONSTRUCTED to be hard to quantise: what its builds lose is of a test, and says nothing "
                "of another checkpoint."
            ]
    return []


def _trap(report: Report, build: str, head_s: float) -> str:
    """Say what a head costs that was left as it is beside quantised projections."""
    speed = next((each.decode for each in report.speed.builds if each.build == build), None)
    share = ""
    if speed is not None and report.manifest.configuration.concurrency == 1:  # the head is timed for one token
        share = f" of {1e3 / speed.estimate:.3g} ms a token ({100 * head_s * speed.estimate:.0f} %)"
    return f"lm_head trap: {build} leaves its head unquantised; it takes {1e3 * head_s:.3g} ms{share}."
