"""Draws a report for a terminal. Computes nothing.

Each table keeps to its width, down to 80 columns, and reads without colour.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from agent_eval.outcome import LABELS, Label
from agent_eval.records import EpisodeRecord, RunManifest
from agent_eval.reports import layout, numbers
from agent_eval.reports.conventions import CONVENTIONS, MARKS
from agent_eval.reports.evidence import MARGIN
from agent_eval.reports.report import Report, report_of
from agent_eval.reports.speed import NOISE_BAND
from agent_eval.reports.summary import RATES, BuildSummary, Discordance
from agent_eval.types import PairedEvidence

_VERDICT_STYLES = {
    "no worse": layout.GOOD,
    "worse": layout.BAD,
    "insufficient evidence": layout.OPEN,
    "faster": layout.GOOD,
    "slower": layout.BAD,
    "no measured difference": "",
    "not measured": layout.FAINT,
}


def render_report(
    manifest: RunManifest, records: Sequence[EpisodeRecord], *, margin: float = MARGIN, run: str = ""
) -> RenderableType:
    """Draw everything that a run shows.

    Args:
        manifest: Of the run.
        records: Its episodes, all attempts.
        margin: Non-inferiority margin, as a positive share.
        run: Name of the run; when it was created, by default.
    """
    report = report_of(manifest, records, margin=margin, run=run)
    sections = [
        _identity(report),
        _outcomes(report),
        _denominator(report),
        *([_pairs(report), _migration(report), _discordant(report)] if report.evidence.pairs else []),
        *([_by_task(report)] if any(build.episodes > build.tasks for build in report.by_task.builds) else []),
        _conventions(report),
        *([_speed(report)] if report.speed.builds else []),
        _behaviour(report),
        _notes(report),
    ]
    return Group(*(part for section in sections for part in (section, Text(""))))


# ----------------------------------------------------------------------------------------------------------------------
# the parts of a report


def _identity(report: Report) -> RenderableType:
    manifest, configuration = report.manifest, report.manifest.configuration
    grid = layout.grid()
    layout.row(grid, "run", report.evidence.run)
    if report.evidence.run != manifest.created:
        layout.row(grid, "created", manifest.created)
    commit = f", commit {numbers.short(manifest.model_revision)}" if manifest.model_revision else ""
    digest = numbers.short(configuration.model_digest)
    layout.row(grid, "model", f"{configuration.model} ({manifest.model_kind}), {digest}{commit}")
    layout.row(grid, "device", configuration.device)
    if configuration.split != "evaluation":
        layout.row(grid, "split", configuration.split)
    if configuration.skin != "default":
        layout.row(grid, "skin", configuration.skin)
    if configuration.faults:
        layout.row(grid, "faults", ", ".join(configuration.faults))
    layout.row(grid, "machine", numbers.machine(manifest.machine, threads=manifest.threads))
    if report.speed.builds:
        settings = f" ({', '.join(configuration.engine_settings)})" if configuration.engine_settings else ""
        layout.row(grid, "engine", f"{configuration.engine}{settings}{_in_flight(report)}")
    for build in configuration.builds:
        layout.row(grid, build, manifest.build_notes.get(build, "no note"))
    layout.row(
        grid,
        "suite",
        Text(
            f"{numbers.count(len(configuration.tasks), 'task')} x "
            f"{numbers.count(configuration.instances, 'instance')}, seed {configuration.seed}, "
            f"{numbers.short(configuration.suite_digest)}; "
            f"prompts {numbers.short(configuration.prompt_digest)}"
        ),
    )
    limits = [f"{configuration.max_tokens} tokens a reply", f"thinking {'on' if configuration.thinking else 'off'}"]
    if configuration.constrained:
        limits.append("replies constrained to calls")
    if configuration.stop_on_loop:
        limits.append("stopped on loops")
    if configuration.max_episode_s is not None:
        limits.append(f"{configuration.max_episode_s:g} s an episode")
    layout.row(grid, "limits", Text(", ".join(limits)))
    versions = ", ".join(f"{name} {version}" for name, version in manifest.versions.items())
    layout.row(grid, "versions", versions)
    return Group(layout.heading("Run"), grid)


def _outcomes(report: Report) -> RenderableType:
    table = layout.WidestThatFits(_labels_as_columns(report), _labels_as_rows(report))
    kinds = [
        f"{build.build} {', '.join(f'{kind} {count}' for kind, count in sorted(build.sub_kinds.items()))}"
        for build in report.summary.builds
        if build.sub_kinds
    ]
    return Group(
        layout.heading("Outcomes"), table, *([layout.note(f"Sub-kinds: {'; '.join(kinds)}.")] if kinds else [])
    )


def _labels_as_columns(report: Report) -> Table:
    table = layout.table()
    table.add_column("build", no_wrap=True)
    table.add_column("judged", justify="right")
    table.add_column("success, 95 %", justify="right", no_wrap=True)
    for label in LABELS:
        table.add_column(label.replace("_", "\n"), justify="right", vertical="bottom")
    for build in report.summary.builds:
        layout.row(table, build.build, str(build.judged), _success(build), *(_tally(build, label) for label in LABELS))
    return table


def _labels_as_rows(report: Report) -> Table:
    builds = report.summary.builds
    table = layout.table("", *(build.build for build in builds))
    layout.row(table, "judged", *(str(build.judged) for build in builds))
    layout.row(table, "success, 95 %", *(_success(build) for build in builds))
    table.add_section()
    for label in LABELS:
        layout.row(table, label, *(_tally(build, label) for build in builds))
    return table


def _denominator(report: Report) -> RenderableType:
    lines = []
    for build in report.summary.builds:
        errors = build.harness_errors
        line = f"{build.build}: {build.judged} judged of {build.recorded} recorded of {report.summary.planned} planned"
        if errors:
            line += f"; left out of every rate, {numbers.count(len(errors), 'harness_error')}:"
        lines.append(layout.text(line))
        for record in errors:
            fault = record.outcome.fault or "no fault recorded"
            lines.append(
                Text(layout.visible(f"  {record.episode}, attempt {record.attempt + 1}: {fault}"), style=layout.OPEN)
            )
    return Group(layout.heading("Denominators"), *lines)


def _pairs(report: Report) -> RenderableType:
    reference = report.summary.reference
    table = layout.table("build", "pairs", "lost", "gained", "points [95 %]", "bound", "p", "Holm", "verdict")
    table.columns[-1].justify = "left"
    for pair in report.evidence.pairs:
        known = pair.pairs > 0
        layout.row(
            table,
            pair.build,
            str(pair.pairs),
            str(pair.lost),
            str(pair.gained),
            numbers.points(pair.difference) if known else "-",
            numbers.signed(pair.lower_bound) if known else "-",
            numbers.p_value(pair.p_value) if known else "-",
            numbers.p_value(pair.p_adjusted) if known else "-",
            _pair_verdict(pair),
        )
    margin = report.evidence.pairs[0].margin
    return Group(
        layout.heading(f"Against {reference}, the same instances"),
        table,
        layout.note(
            f"lost: {reference} passed and the build did not. Points: difference of success, Bonett-Price. No "
            f"worse: the one-sided 95 % bound is above -{100 * margin:.0f}. p: exact McNemar; Holm: the same over "
            f"{numbers.count(len(report.evidence.pairs), 'comparison')}."
        ),
    )


def _by_task(report: Report) -> RenderableType:
    each, builds = report.by_task.each, report.by_task.builds
    pairs = {pair.build: pair for pair in report.by_task.pairs}
    table = layout.table("build", "success [95 %]", "alike", "worth", f"pass^{each}", "points [95 %]", "p")
    for build in builds:
        pair = pairs.get(build.build)
        success = build.success
        layout.row(
            table,
            build.build,
            f"{100 * success.estimate:.0f} % [{100 * success.low:.0f}, {100 * success.high:.0f}]",
            f"{build.correlation:.2f}",
            f"{build.worth:.0f} of {build.episodes}",
            f"{100 * build.all_passed:.0f} %",
            numbers.points(pair.difference) if pair else "-",
            numbers.p_value(pair.p_value) if pair else "-",
        )
    return Group(
        layout.heading("By task"),
        table,
        layout.note(
            "Instances of one task resemble each other, so these intervals resample tasks and not episodes. alike: "
            "correlation of two instances of a task; worth: independent episodes that would tell as much; "
            f"pass^{each}: tasks of which as many instances are all passed; points: difference of success to "
            f"{report.summary.reference}; p: signs of whole tasks flipped."
        ),
    )


def _migration(report: Report) -> RenderableType:
    pairs = report.summary.pairs
    table = layout.table(f"{report.summary.reference} ended in", "the build in", *(pair.build for pair in pairs))
    table.columns[1].justify = "left"
    seen = {move for pair in pairs for move in pair.migration}
    for move in sorted(seen, key=lambda move: (LABELS.index(move[0]), LABELS.index(move[1]))):
        counts = [pair.migration.get(move, 0) for pair in pairs]
        style = layout.FAINT if move[0] == move[1] else ""
        layout.row(table, move[0], move[1], *(str(count) if count else "." for count in counts), style=style)
    if not seen:
        return Group(layout.heading("Label migration"), layout.note("No instance was judged with two builds."))
    return Group(layout.heading("Label migration, pairs"), table)


def _discordant(report: Report) -> RenderableType:
    heading = layout.heading("Discordant pairs")
    listed = [discordance for pair in report.summary.pairs for discordance in pair.discordant]
    if not listed:
        return Group(heading, layout.note("None: no instance was passed by one build only."))
    table = layout.table("", "episode", "failed with", "goal")
    for column in table.columns:
        column.justify = "left"
        column.overflow = "fold"
    table.columns[0].no_wrap = True
    table.columns[2].min_width = max(len(label) for label in LABELS) + 1  # and the comma before a sub-kind
    for discordance in listed:
        failed = discordance.build if discordance.lost else discordance.reference
        label = failed.outcome.label + (f", {failed.outcome.sub_kind}" if failed.outcome.sub_kind else "")
        layout.row(
            table,
            Text("lost", style=layout.BAD) if discordance.lost else Text("gained", style=layout.GOOD),
            layout.text(discordance.build.episode),
            label,
            layout.text(_goal(discordance)),
        )
    return Group(heading, table)


def _conventions(report: Report) -> RenderableType:
    builds = report.conventions
    table = layout.table("", *(build.build for build in builds))
    layout.row(table, "success, as here", *(numbers.percent(build.rates["success"]) for build in report.summary.builds))
    table.add_section()
    for place, convention in enumerate(CONVENTIONS):
        shares = [build.shares[place] for build in builds]
        layout.row(table, convention.name, *(numbers.percent(share.passed) for share in shares))
        for mark in (mark for mark in MARKS if any(mark in share.marks for share in shares)):
            counts = [str(share.marks.get(mark, 0) or ".") for share in shares]
            layout.row(table, f"  {mark}", *counts, style=layout.FAINT)
    return Group(
        layout.heading("The same episodes under published conventions"),
        table,
        layout.note(
            "Shares passed [95 %] /judged episodes, and counts of what each benchmark notes besides. "
            "docs/concepts/conventions.md says what each asks for."
        ),
    )


def _speed(report: Report) -> RenderableType:
    speed = report.speed
    ratios = {ratio.build: ratio for ratio in speed.ratios}
    together = _in_flight(report)
    rates = f"tokens/s{together}" if together else "tokens/s [95 %]"
    table = layout.table("build", "phase", rates, "ratio [95 %]", "blocks", "verdict")
    table.columns[1].justify = table.columns[-1].justify = "left"
    for build in speed.builds:
        ratio = ratios.get(build.build)
        rows = (
            ("decode", build.decode, ratio.decode if ratio else None, ratio.decode_verdict if ratio else None),
            ("prefill", build.prefill, ratio.prefill if ratio else None, ratio.prefill_verdict if ratio else None),
        )
        for place, (phase, rate, compared, verdict) in enumerate(rows):
            counted = compared or rate
            layout.row(
                table,
                build.build if place == 0 else "",
                phase,
                numbers.rate(rate) if rate else "-",
                f"{compared.estimate:.2f} [{compared.low:.2f}, {compared.high:.2f}]" if compared else "-",
                str(counted.n) if counted else "0",
                Text(verdict, style=_VERDICT_STYLES[verdict]) if verdict else Text("reference", style=layout.FAINT),
            )
    warm_up = f" Block {speed.warm_up_block + 1} is discarded as warm-up." if speed.warm_up_block is not None else ""
    turns = "in which the builds take turns" if not together else "the builds taking turns every few blocks"
    alike = (
        f" All of it is of one episode among {report.manifest.configuration.concurrency} in flight: compare it with no "
        "run that has another number of them. No recommendation rests on it."
        if together
        else ""
    )
    return Group(
        layout.heading(f"Speed{together}"),
        table,
        layout.note(
            f"Medians over blocks of one instance, {turns}; 95 % bootstrap.{warm_up} Ratios "
            f"to {speed.reference} within {100 * NOISE_BAND:.0f} % are no measured difference.{alike}"
        ),
    )


def _behaviour(report: Report) -> RenderableType:
    builds = report.summary.builds
    table = layout.table("", *(build.build for build in builds))
    for name in RATES:
        if name != "success":
            layout.row(table, name.replace("_", " "), *(numbers.percent(build.rates[name]) for build in builds))
    table.add_section()
    layout.row(table, "invalid per turn", *(numbers.percent(build.invalid_calls_per_turn) for build in builds))
    layout.row(table, "no effect", *(numbers.percent(build.no_effect_share) for build in builds))
    layout.row(table, "first invalid", *(numbers.plain(build.first_invalid_turn) for build in builds))
    layout.row(table, "budget used", *(numbers.percent(build.budget_use) for build in builds))
    ratios = {pair.build: pair.step_ratio for pair in report.summary.pairs}
    if ratios:
        layout.row(
            table,
            f"steps over {report.summary.reference}",
            *(numbers.times(ratios.get(build.build)) for build in builds),
        )
    layout.row(table, "tokens/success", *(_per_success(build, build.tokens) for build in builds))
    layout.row(table, "seconds/success", *(_per_success(build, build.seconds) for build in builds))
    together = _in_flight(report)
    shared = f" Seconds{together}: each episode counts those in which it waited for others." if together else ""
    return Group(
        layout.heading("Behaviour, exploratory"),
        table,
        layout.note(
            "Shares and medians [95 %] /count that they rest on. Turns count from 0; steps over the reference where "
            f"both passed. docs/concepts/outcome.md defines each.{shared}"
        ),
    )


def _notes(report: Report) -> RenderableType:
    configuration, summary = report.manifest.configuration, report.summary
    notes = []
    if report.manifest.model_kind == "embedded":
        notes.append(f"This is a measurement of {configuration.model}, the small embedded model, and of no other.")
    if report.manifest.model_kind == "synthetic":
        notes.append(f"The weights of {configuration.model} are synthetic: speeds count, outcomes say nothing.")
    if report.manifest.model_kind == "constructed":
        notes.append(
            f"{configuration.model} is CONSTRUCTED to be hard to quantise: what its builds lose is of a test, and says "
            "nothing of another checkpoint."
        )
    notes += [_trap(report, build, seconds) for build, seconds in report.manifest.head_traps.items()]
    if any(build.recorded < summary.planned for build in summary.builds):
        notes.append("The run is not complete: repeat its command to go on.")
    if any(build.harness_errors for build in summary.builds):
        notes.append("Episodes lost to the harness are run again when the command is repeated.")
    if not notes:
        return Text("The run is complete.", style=layout.FAINT)
    return Group(*(layout.text(note) for note in notes))


def _trap(report: Report, build: str, head_s: float) -> str:
    """Say what a head costs that was left as it is beside quantised projections."""
    speed = next((each.decode for each in report.speed.builds if each.build == build), None)
    share = ""
    if speed is not None and report.manifest.configuration.concurrency == 1:  # the head is timed for one token
        share = f" of {1e3 / speed.estimate:.3g} ms a token ({100 * head_s * speed.estimate:.0f} %)"
    return f"lm_head trap: {build} leaves its head unquantised; it takes {1e3 * head_s:.3g} ms{share}."


# ----------------------------------------------------------------------------------------------------------------------
# the text of numbers


def _success(build: BuildSummary) -> Text:
    share = build.rates["success"]
    if share is None:
        return Text("-")
    return Text(f"{100 * share.estimate:.0f} % [{100 * share.low:.0f}, {100 * share.high:.0f}]", style="bold")


def _tally(build: BuildSummary, label: Label) -> str:
    return str(build.labels[label]) if build.labels[label] else "."


def _in_flight(report: Report) -> str:
    """Say how many episodes were in flight together, where it was more than one, after whatever that changes."""
    together = report.manifest.configuration.concurrency
    return f", {together} in flight" if together > 1 else ""


def _per_success(build: BuildSummary, total: float) -> str:
    successes = build.labels["success"]
    return f"{total / successes:.1f} /{successes}" if successes else "-"


def _pair_verdict(pair: PairedEvidence) -> Text:
    text = Text(pair.verdict, style=_VERDICT_STYLES[pair.verdict])
    if pair.pairs_needed:
        text.append(f", {numbers.further(pair.pairs_needed)}", style=layout.OPEN)
    return text


def _goal(discordance: Discordance) -> str:
    return discordance.build.goal
