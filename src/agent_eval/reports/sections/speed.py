"""How fast the builds are, beside each other in the same run."""

from __future__ import annotations

from agent_eval.reports import numbers
from agent_eval.reports.report import Report
from agent_eval.reports.sections.identity import in_flight
from agent_eval.reports.sections.section import Column, Row, Section, Span, Table, Tone, beside
from agent_eval.reports.speed import BuildSpeed, RunSpeed
from agent_eval.types import SpeedVerdict

_TONES: dict[SpeedVerdict, Tone] = {
    "faster": "good",
    "slower": "bad",
    "no measured difference": "plain",
    "not measured": "faint",
}


def speed(report: Report) -> tuple[Section, ...]:
    """Give tokens per second and their ratios to the reference; nothing where no build of a model was timed."""
    timed = report.speed
    if not timed.builds:
        return ()
    configuration = report.manifest.configuration
    ratios = {ratio.build: ratio for ratio in timed.ratios}
    together = in_flight(configuration)
    rows = []
    for build in timed.builds:
        ratio = ratios.get(build.build)
        phases = (
            ("decode", build.decode, ratio.decode if ratio else None, ratio.decode_verdict if ratio else None),
            ("prefill", build.prefill, ratio.prefill if ratio else None, ratio.prefill_verdict if ratio else None),
        )
        for place, (phase, rate, compared, verdict) in enumerate(phases):
            counted = compared or rate
            cells = (
                build.build if place == 0 else "",
                phase,
                numbers.rate(rate) if rate else "-",
                f"{compared.estimate:.2f} [{compared.low:.2f}, {compared.high:.2f}]" if compared else "-",
                str(counted.n) if counted else "0",
                Span(verdict, _TONES[verdict]) if verdict else Span("reference", "faint"),
            )
            rows.append(Row(cells))
    columns = (
        Column("build"),
        Column("phase", words=True),
        Column(f"tokens/s{together}" if together else "tokens/s [95 %]"),
        Column("ratio [95 %]"),
        Column("blocks"),
        Column("verdict", words=True),
    )
    warm_up = f" Block {timed.warm_up_block + 1} is discarded as warm-up." if timed.warm_up_block is not None else ""
    turns = "in which the builds take turns" if not together else "the builds taking turns every few blocks"
    alike = (
        f" All of it is of one episode among {configuration.concurrency} in flight: compare it with no "
        "run that has another number of them. No recommendation rests on it."
        if together
        else ""
    )
    note = (
        f"Medians over blocks of one instance, {turns}; 95 % bootstrap.{warm_up} Ratios "
        f"to {timed.reference} within {_bands(report)} are no measured difference.{alike}"
    )
    tables = (Table(columns, tuple(rows)), _waiting_and_memory(timed))
    return (Section(f"Speed{together}", tables, (note, *_of_memory(timed))),)


def _bands(report: Report) -> str:
    decode, prefill = (f"{100 * band:.0f} %" for band in report.speed.bands)
    if report.validity.noise is None:
        return decode
    reference = report.validity.noise.build
    measured = f"the widest of 8 % and what {reference} differs from itself by"
    return f"{decode if decode == prefill else f'{decode} (decode) and {prefill} (prefill)'}, {measured},"


def _waiting_and_memory(timed: RunSpeed) -> Table:
    rows = [
        Row(("TTFT, ms", *(_milliseconds(build) for build in timed.builds))),
        Row(("MiB", *(_mebibytes(build.loaded_bytes) for build in timed.builds))),
    ]
    return beside([build.build for build in timed.builds], rows)


def _milliseconds(build: BuildSpeed) -> str:
    first = build.first_token_s
    if first is None:
        return "-"
    values = (1e3 * value for value in (first.estimate, first.low, first.high))
    estimate, low, high = (f"{value:.3g}" for value in values)
    return f"{estimate} [{low}, {high}] /{first.n}"


def _mebibytes(size: int | None) -> str:
    return f"{size / 2**20:.1f}" if size is not None else "-"


def _of_memory(timed: RunSpeed) -> tuple[str, ...]:
    said = "TTFT: time from the request to the first token of a reply, mean of a block's replies."
    if timed.peak_bytes is not None:
        said += (
            f" MiB: anonymous memory that loading the build added; with all of them in it the process had at most "
            f"{_mebibytes(timed.peak_bytes)} MiB at the end of an episode. `agent-eval bench` measures the peak of "
            "each build in a process of its own."
        )
    return (said,)
