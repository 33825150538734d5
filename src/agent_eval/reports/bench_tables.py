"""Draws a bench for a terminal. Computes nothing but the text of numbers; keeps to 80 columns, reads without colour."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from agent_eval.reports import layout
from agent_eval.reports.bench import BenchReport, BuildFigures, Figures, Phase, Ratio, Speed, bench_report
from agent_eval.reports.bench_record import BenchRecord, LoadRecord
from agent_eval.types import Interval, SpeedVerdict

_STYLES = {"faster": "green", "slower": "red", "no measured difference": "", "not measured": layout.FAINT}
_MARKS: dict[SpeedVerdict, str] = {
    "faster": "+",
    "slower": "-",
    "no measured difference": "=",
    "not measured": "?",
}
"""How a verdict is said where there is no room for words."""
_KINDS = {"synthetic": "SYNTHETIC weights", "constructed": "CONSTRUCTED weights"}
"""What is said louder than the manifest says it."""


def render_bench(record: BenchRecord) -> RenderableType:
    """Draw everything that a bench shows."""
    report = bench_report(record)
    sections = [
        _identity(report),
        _phase(report, "decode"),
        _phase(report, "prefill"),
        _memory(report),
        _starts(report),
        *([_parts(report)] if any(build.arm.parts for build in report.builds) else []),
        *([_heads(report)] if any(build.arm.head for build in report.builds) else []),
        *([layout.bullets(report.warnings)] if report.warnings else []),
    ]
    return Group(*(part for section in sections for part in (section, Text(""))))


def _identity(report: BenchReport) -> RenderableType:
    record, machine = report.record, report.record.machine
    grid = layout.grid()
    kind = _KINDS.get(record.model_kind, record.model_kind)
    layout.row(grid, "model", f"{record.model} ({kind}), {record.parameters:,} weights")
    layout.row(
        grid,
        "machine",
        f"{machine.device_class}: {machine.cpu_model}, {machine.physical_cores} cores, "
        f"{machine.memory_bytes / 2**30:.0f} GiB, {machine.os}",
    )
    layout.row(grid, "threads", f"{record.threads}, waiting threads {record.wait_policy}")
    if record.load_before is not None and record.load_after is not None:
        layout.row(grid, "load", f"{record.load_before:.1f} before, {record.load_after:.1f} after")
    others = [each for each in record.disturbances[1:] if each is not None]
    if others:
        layout.row(
            grid,
            "others",
            f"{max(each.foreign_cores for each in others):.1f} cores and {_percent(max(e.stolen for e in others))} "
            "stolen, at most in a pass",
        )
    layout.row(grid, "bandwidth", f"{_gigabytes(report.stream)} GB/s, read by the {record.bandwidth_by}")
    layout.row(
        grid,
        "method",
        f"prompt of {record.prompt}, {record.tokens} decoded; {_count(record.passes, 'pass')} in turns, the one before "
        "discarded",
    )
    layout.row(
        grid,
        "noise",
        "; ".join(
            f"{what}: {_itself(report, phase)}no difference within {_percent(report.bands[phase])}"
            for phase, what in _PHASES.items()
        ),
    )
    for build in report.builds:
        layout.row(grid, build.arm.build, build.arm.notes)
    layout.row(grid, "versions", ", ".join(f"{name} {version}" for name, version in record.versions.items()))
    return Group(layout.heading("Bench"), grid)


_PHASES: dict[Phase, str] = {"decode": "decode", "prefill": "prompt"}


def _itself(report: BenchReport, phase: Phase) -> str:
    same = report.same[phase]
    return "" if same is None else f"{report.first} to itself {_interval(same)}, "


def _phase(report: BenchReport, phase: Phase) -> RenderableType:
    name = f"Decode: {report.record.tokens} tokens" if phase == "decode" else f"Prompt of {report.record.prompt} tokens"
    narrow = _speeds(report, phase, _marked)
    table = layout.WidestThatFits(_speeds(report, phase, _worded), narrow)
    explained = (
        "Tokens per second: median [least, most]. Ratios within passes: median [95 %]; + faster, - slower, = none."
    )
    if phase == "decode":
        explained += " Of stream: weights read per second over what the threads can read."
    return Group(layout.heading(name), table, layout.note(explained))


def _speeds(report: BenchReport, phase: Phase, ratio: Callable[[Ratio | None], Text]) -> Table:
    table = layout.table()
    table.add_column("build", no_wrap=True)
    others = len(report.builds) > 1
    ratios = [report.first if others else None, report.peer if others else None]
    for heading in ("tokens/s", *(f"to {other}" for other in ratios if other)):
        table.add_column(layout.text(heading), justify="right", no_wrap=True)
    if phase == "decode":
        table.add_column("of stream", justify="right")
    for build in report.builds:
        figures: Figures = build.decode if phase == "decode" else build.prefill
        cells = [Text(build.arm.build), _speed(figures.speed)]
        cells += [ratio(one) for one, other in zip((figures.to_first, figures.to_peer), ratios, strict=True) if other]
        if phase == "decode":
            cells.append(Text(_percent(build.of_stream.estimate) if build.of_stream else "-"))
        layout.row(table, *cells)
    return table


def _memory(report: BenchReport) -> RenderableType:
    table = layout.table("build", "weights", "before", "peak", "settled", "in use", "mapped")
    for build in report.builds:
        memory = build.arm.memory
        sizes = (
            ["-"] * 5
            if memory is None
            else [_mib(size) for size in (memory.before, memory.peak, memory.settled, memory.in_use, memory.mapped)]
        )
        layout.row(table, build.arm.build, _mib(build.arm.size_bytes) if build.arm.size_bytes else "-", *sizes)
    return Group(
        layout.heading("Memory, MiB"),
        table,
        layout.note(
            "Weights: by arithmetic. Then the anonymous memory of the build's own process: with libraries only, most "
            "while loading, after loading, most in use. Mapped: files read on top, which the system may take back."
        ),
    )


def _starts(report: BenchReport) -> RenderableType:
    table = layout.table("build", "cold: loaded", "+ first token", "warm: loaded", "+ first token")
    for build in report.builds:
        layout.row(table, build.arm.build, *_start(build.arm.cold), *_start(build.arm.warm))
    return Group(
        layout.heading("Start, seconds"),
        table,
        layout.note("Cold: the system was made to forget the files (posix_fadvise) before the process was started."),
    )


def _start(load: LoadRecord | None) -> tuple[str, str]:
    return ("-", "-") if load is None else (f"{load.load_s:.2f}", f"{load.first_token_s:.2f}")


def _parts(report: BenchReport) -> RenderableType:
    builds = [build for build in report.builds if build.arm.parts]
    table = layout.table("part", *(build.arm.build for build in builds))
    for part in dict.fromkeys(part.part for build in builds for part in build.arm.parts):
        sizes = [next((each for each in build.arm.parts if each.part == part), None) for build in builds]
        layout.row(table, part, *("-" if size is None else _held(size.anonymous, size.mapped) for size in sizes))
    layout.row(table, "in all", *(_held(*_total(build)) for build in builds), style="bold")
    layout.row(table, "read for a token", *(_mib(build.arm.read_per_token or 0) for build in builds))
    return Group(
        layout.heading("What a build takes, by arithmetic, MiB"),
        table,
        layout.note("Anonymous + mapped, with the context full."),
    )


def _total(build: BuildFigures) -> tuple[int, int]:
    return sum(part.anonymous for part in build.arm.parts), sum(part.mapped for part in build.arm.parts)


def _held(anonymous: int, mapped: int) -> str:
    if not mapped:
        return _mib(anonymous)
    return f"{_mib(anonymous)} + {_mib(mapped)}"


def _heads(report: BenchReport) -> RenderableType:
    table = layout.table("build", "bits", "ms", "of a token's time", "of its bytes", "")
    for build in report.builds:
        head = build.arm.head
        if head is None or build.head_share is None:
            continue
        read = sum(part.read_per_token for part in build.arm.parts if part.part == "head")
        share = _percent(read / build.arm.read_per_token) if build.arm.read_per_token and read else "-"
        trap = Text("lm_head trap", style="yellow") if head.trap else Text("")
        layout.row(
            table,
            build.arm.build,
            f"{head.bits:g}",
            f"{1e3 * head.seconds:.3g}",
            _percent(build.head_share),
            share,
            trap,
        )
    return Group(
        layout.heading("Head"),
        table,
        layout.note("The product over the vocabulary, timed alone."),
    )


# ----------------------------------------------------------------------------------------------------------------------
# the text of numbers


def _speed(speed: Speed) -> Text:
    digits = _digits(speed.median)
    return Text(f"{speed.median:.{digits}f} [{speed.low:.{digits}f}, {speed.high:.{digits}f}]")


def _digits(value: float) -> int:
    return 0 if value >= 100 else 1 if value >= 10 else 2


def _worded(ratio: Ratio | None) -> Text:
    if ratio is None:
        return Text("")
    return Text(f"{_interval(ratio.value)} ").append(ratio.verdict, style=_STYLES[ratio.verdict])


def _marked(ratio: Ratio | None) -> Text:
    if ratio is None:
        return Text("")
    return Text(f"{_interval(ratio.value)} ").append(_MARKS[ratio.verdict], style=_STYLES[ratio.verdict])


def _interval(value: Interval) -> str:
    return f"{value.estimate:.2f} [{value.low:.2f}, {value.high:.2f}]"


def _gigabytes(speed: Speed) -> str:
    return f"{speed.median / 1e9:.1f} [{speed.low / 1e9:.1f}, {speed.high / 1e9:.1f}]"


def _mib(size: int) -> str:
    return f"{size / 2**20:,.0f}" if size >= 10 * 2**20 or not size else f"{size / 2**20:,.1f}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {'passes' if noun == 'pass' else noun + 's'}"
