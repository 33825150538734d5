"""Draws a report and a recommendation for a terminal. Computes nothing but the text of numbers; alone in using rich.

Goals, faults and names come from models, phones and people. All of it is shown as ``Text``, never as markup, with
control characters made visible. Each table keeps to its width, down to 80 columns, and reads without colour.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from agent_eval.outcome import LABELS, Label
from agent_eval.records import EpisodeRecord, RunManifest
from agent_eval.reports.evidence import MARGIN
from agent_eval.reports.report import Report, report_of
from agent_eval.reports.speed import NOISE_BAND
from agent_eval.reports.stats import MOST_PAIRS
from agent_eval.reports.summary import RATES, BuildSummary, Discordance
from agent_eval.types import Evidence, Interval, MachineProbe, PairedEvidence, Priority, Recommendation

_GOOD, _BAD, _OPEN, _FAINT = "green", "red", "yellow", "dim"
_VERDICT_STYLES = {
    "no worse": _GOOD,
    "worse": _BAD,
    "insufficient evidence": _OPEN,
    "faster": _GOOD,
    "slower": _BAD,
    "no measured difference": "",
    "not measured": _FAINT,
}
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Unicode categories that a terminal obeys or hides: controls, formats, surrogates, private use, line separators."""


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
        _speed(report),
        _behaviour(report),
        _notes(report),
    ]
    return Group(*(part for section in sections for part in (section, Text(""))))


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
        standing = Text("conclusive", style=_GOOD)
    elif recommendation.build is None:
        standing = Text("nothing may be advised", style=_BAD)
    else:
        standing = Text("insufficient evidence: this build is only the safer choice", style=_OPEN)
    facts = _grid()
    _row(facts, "build", Text(visible(build), style="bold"))
    _row(facts, "standing", standing)
    _row(facts, "rule", recommendation.rule)
    if recommendation.pairs_needed:
        _row(facts, "pairs needed", _further(recommendation.pairs_needed))
    _row(facts, "machine", _machine(probe))
    if evidence is not None:
        _row(
            facts,
            "evidence",
            _text(f"{evidence.run}, {evidence.model} ({evidence.model_kind}), on {evidence.device_class}"),
        )
    reasons = Table.grid(padding=(0, 1))
    for reason in recommendation.reasons:
        _row(reasons, "-", _text(reason))
    return Group(_heading(f"Recommendation for priority {priority}"), facts, reasons)


def visible(text: str) -> str:
    r"""Replace what a terminal would obey or hide by its escape, such as ``\x1b`` or ``\u202e``."""
    return "".join(_escape(char) if unicodedata.category(char) in _INVISIBLE else char for char in text)


def _escape(char: str) -> str:
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    code = ord(char)
    wide = f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    return named.get(char) or (f"\\x{code:02x}" if code < 0x100 else wide)


# ----------------------------------------------------------------------------------------------------------------------
# the parts of a report


def _identity(report: Report) -> RenderableType:
    manifest, configuration = report.manifest, report.manifest.configuration
    grid = _grid()
    _row(grid, "run", report.evidence.run)
    if report.evidence.run != manifest.created:
        _row(grid, "created", manifest.created)
    _row(grid, "model", f"{configuration.model} ({manifest.model_kind}), {_short(configuration.model_digest)}")
    _row(grid, "device", configuration.device)
    if configuration.skin != "default":
        _row(grid, "skin", configuration.skin)
    if configuration.faults:
        _row(grid, "faults", ", ".join(configuration.faults))
    _row(grid, "machine", _machine(manifest.machine, threads=manifest.threads))
    for build in configuration.builds:
        _row(grid, build, manifest.build_notes.get(build, "no note"))
    _row(
        grid,
        "suite",
        Text(
            f"{_count(len(configuration.tasks), 'task')} x {_count(configuration.instances, 'instance')}, "
            f"seed {configuration.seed}, {_short(configuration.suite_digest)}; "
            f"prompts {_short(configuration.prompt_digest)}"
        ),
    )
    limits = [f"{configuration.max_tokens} tokens a reply", f"thinking {'on' if configuration.thinking else 'off'}"]
    if configuration.stop_on_loop:
        limits.append("stopped on loops")
    if configuration.max_episode_s is not None:
        limits.append(f"{configuration.max_episode_s:g} s an episode")
    _row(grid, "limits", Text(", ".join(limits)))
    versions = ", ".join(f"{name} {version}" for name, version in manifest.versions.items())
    _row(grid, "versions", versions)
    return Group(_heading("Run"), grid)


def _outcomes(report: Report) -> RenderableType:
    table = _WidestThatFits(_labels_as_columns(report), _labels_as_rows(report))
    kinds = [
        f"{build.build} {', '.join(f'{kind} {count}' for kind, count in sorted(build.sub_kinds.items()))}"
        for build in report.summary.builds
        if build.sub_kinds
    ]
    return Group(_heading("Outcomes"), table, *([_note(f"Sub-kinds: {'; '.join(kinds)}.")] if kinds else []))


def _labels_as_columns(report: Report) -> Table:
    table = _table()
    table.add_column("build", no_wrap=True)
    table.add_column("judged", justify="right")
    table.add_column("success, 95 %", justify="right", no_wrap=True)
    for label in LABELS:
        table.add_column(label.replace("_", "\n"), justify="right", vertical="bottom")
    for build in report.summary.builds:
        _row(table, build.build, str(build.judged), _success(build), *(_tally(build, label) for label in LABELS))
    return table


def _labels_as_rows(report: Report) -> Table:
    builds = report.summary.builds
    table = _table("", *(build.build for build in builds))
    _row(table, "judged", *(str(build.judged) for build in builds))
    _row(table, "success, 95 %", *(_success(build) for build in builds))
    table.add_section()
    for label in LABELS:
        _row(table, label, *(_tally(build, label) for build in builds))
    return table


def _denominator(report: Report) -> RenderableType:
    lines = []
    for build in report.summary.builds:
        errors = build.harness_errors
        line = f"{build.build}: {build.judged} judged of {build.recorded} recorded of {report.summary.planned} planned"
        if errors:
            line += f"; left out of every rate, {_count(len(errors), 'harness_error')}:"
        lines.append(_text(line))
        for record in errors:
            fault = record.outcome.fault or "no fault recorded"
            lines.append(Text(visible(f"  {record.episode}, attempt {record.attempt + 1}: {fault}"), style=_OPEN))
    return Group(_heading("Denominators"), *lines)


def _pairs(report: Report) -> RenderableType:
    reference = report.summary.reference
    table = _table("build", "pairs", "lost", "gained", "points [95 %]", "bound", "p", "Holm", "verdict")
    table.columns[-1].justify = "left"
    for pair in report.evidence.pairs:
        known = pair.pairs > 0
        _row(
            table,
            pair.build,
            str(pair.pairs),
            str(pair.lost),
            str(pair.gained),
            _points(pair.difference) if known else "-",
            _signed(pair.lower_bound) if known else "-",
            _p(pair.p_value) if known else "-",
            _p(pair.p_adjusted) if known else "-",
            _pair_verdict(pair),
        )
    margin = report.evidence.pairs[0].margin
    return Group(
        _heading(f"Against {reference}, the same instances"),
        table,
        _note(
            f"lost: {reference} passed and the build did not. Points: difference of success, Bonett-Price. No "
            f"worse: the one-sided 95 % bound is above -{100 * margin:.0f}. p: exact McNemar; Holm: the same over "
            f"{_count(len(report.evidence.pairs), 'comparison')}."
        ),
    )


def _migration(report: Report) -> RenderableType:
    pairs = report.summary.pairs
    table = _table(f"{report.summary.reference} ended in", "the build in", *(pair.build for pair in pairs))
    table.columns[1].justify = "left"
    seen = {move for pair in pairs for move in pair.migration}
    for move in sorted(seen, key=lambda move: (LABELS.index(move[0]), LABELS.index(move[1]))):
        counts = [pair.migration.get(move, 0) for pair in pairs]
        style = _FAINT if move[0] == move[1] else ""
        _row(table, move[0], move[1], *(str(count) if count else "." for count in counts), style=style)
    if not seen:
        return Group(_heading("Label migration"), _note("No instance was judged with two builds."))
    return Group(_heading("Label migration, pairs"), table)


def _discordant(report: Report) -> RenderableType:
    heading = _heading("Discordant pairs")
    listed = [discordance for pair in report.summary.pairs for discordance in pair.discordant]
    if not listed:
        return Group(heading, _note("None: no instance was passed by one build only."))
    table = _table("", "episode", "failed with", "goal")
    for column in table.columns:
        column.justify = "left"
        column.overflow = "fold"
    table.columns[0].no_wrap = True
    table.columns[2].min_width = max(len(label) for label in LABELS) + 1  # and the comma before a sub-kind
    for discordance in listed:
        failed = discordance.build if discordance.lost else discordance.reference
        label = failed.outcome.label + (f", {failed.outcome.sub_kind}" if failed.outcome.sub_kind else "")
        _row(
            table,
            Text("lost", style=_BAD) if discordance.lost else Text("gained", style=_GOOD),
            _text(discordance.build.episode),
            label,
            _text(_goal(discordance)),
        )
    return Group(heading, table)


def _speed(report: Report) -> RenderableType:
    speed = report.speed
    ratios = {ratio.build: ratio for ratio in speed.ratios}
    table = _table("build", "phase", "tokens/s [95 %]", "ratio [95 %]", "blocks", "verdict")
    table.columns[1].justify = table.columns[-1].justify = "left"
    for build in speed.builds:
        ratio = ratios.get(build.build)
        rows = (
            ("decode", build.decode, ratio.decode if ratio else None, ratio.decode_verdict if ratio else None),
            ("prefill", build.prefill, ratio.prefill if ratio else None, ratio.prefill_verdict if ratio else None),
        )
        for place, (phase, rate, compared, verdict) in enumerate(rows):
            counted = compared or rate
            _row(
                table,
                build.build if place == 0 else "",
                phase,
                _rate(rate) if rate else "-",
                f"{compared.estimate:.2f} [{compared.low:.2f}, {compared.high:.2f}]" if compared else "-",
                str(counted.n) if counted else "0",
                Text(verdict, style=_VERDICT_STYLES[verdict]) if verdict else Text("reference", style=_FAINT),
            )
    warm_up = f" Block {speed.warm_up_block + 1} is discarded as warm-up." if speed.warm_up_block is not None else ""
    return Group(
        _heading("Speed"),
        table,
        _note(
            f"Medians over blocks of one instance, in which the builds take turns; 95 % bootstrap.{warm_up} Ratios "
            f"to {speed.reference} within {100 * NOISE_BAND:.0f} % are no measured difference."
        ),
    )


def _behaviour(report: Report) -> RenderableType:
    builds = report.summary.builds
    table = _table("", *(build.build for build in builds))
    for name in RATES:
        if name != "success":
            _row(table, name.replace("_", " "), *(_percent(build.rates[name]) for build in builds))
    table.add_section()
    _row(table, "invalid per turn", *(_percent(build.invalid_calls_per_turn) for build in builds))
    _row(table, "no effect", *(_percent(build.no_effect_share) for build in builds))
    _row(table, "first invalid", *(_plain(build.first_invalid_turn) for build in builds))
    _row(table, "budget used", *(_percent(build.budget_use) for build in builds))
    ratios = {pair.build: pair.step_ratio for pair in report.summary.pairs}
    if ratios:
        _row(table, f"steps over {report.summary.reference}", *(_ratio(ratios.get(build.build)) for build in builds))
    _row(table, "tokens/success", *(_per_success(build, build.tokens) for build in builds))
    _row(table, "seconds/success", *(_per_success(build, build.seconds) for build in builds))
    return Group(
        _heading("Behaviour, exploratory"),
        table,
        _note(
            "Shares and medians [95 %] /count that they rest on. Turns count from 0; steps over the reference where "
            "both passed. docs/concepts/outcome.md defines each."
        ),
    )


def _notes(report: Report) -> RenderableType:
    configuration, summary = report.manifest.configuration, report.summary
    notes = []
    if report.manifest.model_kind == "embedded":
        notes.append(f"This is a measurement of {configuration.model}, the small embedded model, and of no other.")
    if report.manifest.model_kind == "synthetic":
        notes.append(f"The weights of {configuration.model} are synthetic: speeds count, outcomes say nothing.")
    if configuration.instances > 1:
        notes.append(
            f"Each task has {configuration.instances} instances, which resemble each other; the intervals take them "
            "for independent and are somewhat too narrow."
        )
    if any(build.recorded < summary.planned for build in summary.builds):
        notes.append("The run is not complete: repeat its command to go on.")
    if any(build.harness_errors for build in summary.builds):
        notes.append("Episodes lost to the harness are run again when the command is repeated.")
    if not notes:
        return Text("The run is complete.", style=_FAINT)
    return Group(*(_text(note) for note in notes))


# ----------------------------------------------------------------------------------------------------------------------
# the text of numbers


def _success(build: BuildSummary) -> Text:
    share = build.rates["success"]
    if share is None:
        return Text("-")
    return Text(f"{100 * share.estimate:.0f} % [{100 * share.low:.0f}, {100 * share.high:.0f}]", style="bold")


def _tally(build: BuildSummary, label: Label) -> str:
    return str(build.labels[label]) if build.labels[label] else "."


def _percent(share: Interval | None) -> str:
    if share is None:
        return "-"
    return f"{100 * share.estimate:.0f} % [{100 * share.low:.0f}, {100 * share.high:.0f}] /{share.n}"


def _plain(value: Interval | None) -> str:
    return f"{value.estimate:g} [{value.low:g}, {value.high:g}] /{value.n}" if value else "-"


def _ratio(value: Interval | None) -> str:
    return f"{value.estimate:.1f} [{value.low:.1f}, {value.high:.1f}] /{value.n}" if value else "-"


def _rate(value: Interval) -> str:
    digits = 0 if value.high >= 100 else 1
    return f"{value.estimate:.{digits}f} [{value.low:.{digits}f}, {value.high:.{digits}f}]"


def _points(value: Interval) -> str:
    return f"{_signed(value.estimate)} [{_signed(value.low)}, {_signed(value.high)}]"


def _signed(share: float) -> str:
    points = round(100 * share)
    return f"{points:+d}" if points else "0"


def _p(value: float) -> str:
    return "<.001" if value < 0.001 else f"{value:.3f}"


def _per_success(build: BuildSummary, total: float) -> str:
    successes = build.labels["success"]
    return f"{total / successes:.1f} /{successes}" if successes else "-"


def _pair_verdict(pair: PairedEvidence) -> Text:
    text = Text(pair.verdict, style=_VERDICT_STYLES[pair.verdict])
    if pair.pairs_needed:
        text.append(f", {_further(pair.pairs_needed)}", style=_OPEN)
    return text


def _further(pairs: int) -> str:
    return f"about {pairs} more pairs" if pairs < MOST_PAIRS else "more pairs than are worth running"


def _goal(discordance: Discordance) -> str:
    return discordance.build.goal


def _machine(probe: MachineProbe, threads: int | None = None) -> Text:
    parts = [
        f"{probe.device_class}: {probe.cpu_model}",
        _count(probe.physical_cores, "core"),
        f"{probe.memory_bytes / 2**30:.0f} GiB",
        probe.os,
    ]
    if probe.accelerator != "none":
        parts.append(f"accelerator {probe.accelerator} (not used)")
    if threads is not None:
        parts.append(f"{_count(threads, 'thread')} used")
    return _text(", ".join(parts))


def _short(digest: str) -> str:
    return digest[:12] or "no digest"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# ----------------------------------------------------------------------------------------------------------------------
# layout


@dataclass(frozen=True)
class _WidestThatFits:
    """The first table if it fits without wrapping, else the second."""

    wide: Table
    narrow: Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.max_width
        needed = Measurement.get(console, options.update(max_width=10_000), self.wide).maximum
        yield self.wide if needed <= room else self.narrow


def _heading(text: str) -> Text:
    return Text(visible(text), style="bold underline")


def _note(text: str) -> Text:
    return Text(visible(text), style=_FAINT)


def _grid() -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style=_FAINT)
    grid.add_column(overflow="fold")
    return grid


def _row(table: Table, *cells: str | Text, style: str = "") -> None:
    """Add a row whose strings are shown as they are: rich would read a plain string as markup."""
    table.add_row(*(_text(cell) if isinstance(cell, str) else cell for cell in cells), style=style)


def _text(text: str) -> Text:
    return Text(visible(text))


def _table(*columns: str) -> Table:
    """Make a table whose first column is words and whose others are numbers."""
    table = Table(box=None, padding=(0, 1), pad_edge=False, collapse_padding=False, header_style="bold")
    for place, column in enumerate(columns):
        table.add_column(_text(column), justify="left" if place == 0 else "right", vertical="top")
    return table
