"""Draws a fidelity measurement for a terminal. Computes nothing but the text of numbers; keeps to 80 columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from agent_eval.reports import layout
from agent_eval.reports.fidelity import (
    ACTION_KINDS,
    PARTS,
    Acting,
    BuildFigures,
    Closeness,
    Diverging,
    FidelityReport,
    Greedy,
    Stopping,
    Tails,
    fidelity_report,
)
from agent_eval.reports.fidelity_record import ActionKind, CompletionRecord, FidelityRecord
from agent_eval.reports.numbers import count, machine, short
from agent_eval.types import Interval

_BESIDE = 2
"""Builds that stand beside each other in 80 columns."""

_TOKEN = 12
"""Characters of a token that are shown."""

_KINDS = {
    "synthetic": "The weights of {model} are SYNTHETIC: how far builds lie apart says nothing of any other model.",
    "constructed": "{model} is CONSTRUCTED to be hard to quantise: how far builds are apart says nothing of others.",
    "embedded": "{model} is a small embedded model: how far its builds lie apart says nothing of a larger one's.",
}
"""What a kind of model may not be taken for."""

Section = TypeVar("Section")
Figure = tuple[str, Callable[[Section], str]]
"""A row of a table: what it is called, and what it says of a build."""


class _Replies(NamedTuple):
    """What a build shows on the replies of the reference."""

    close: Closeness
    tails: Tails


def render_fidelity(record: FidelityRecord) -> RenderableType:
    """Draw everything that a fidelity measurement shows."""
    report = fidelity_report(record)
    remarks = list(_remarks(report))
    sections = [
        _identity(report),
        *_replies(report),
        *_stopping(report),
        *_acting(report),
        *_diverging(report),
        *_text(report),
        *_greedy(report),
        *([layout.bullets(remarks)] if remarks else []),
    ]
    return Group(*(part for section in sections for part in (section, Text(""))))


def _identity(report: FidelityReport) -> RenderableType:
    record, grid = report.record, layout.grid()
    layout.row(grid, "model", f"{record.model} ({record.model_kind}), digest {short(record.model_digest)}")
    layout.row(grid, "run", f"{record.run}, of {record.run_created}")
    layout.row(grid, "reference", f"{record.reference}: {record.reference_notes}")
    for build in record.builds:
        layout.row(grid, build.build, build.notes)
    if record.episodes:
        tokens = sum(len(episode.parts) for episode in record.episodes)
        layout.row(
            grid,
            "followed",
            f"{len(record.episodes)} of {count(record.recorded_episodes, 'episode')} of {record.reference}, "
            f"{count(report.steps, 'step')}, {tokens:,} tokens",
        )
        told = f"{record.reference} wrote {report.written_again} of {report.steps} replies again, token by token"
        layout.row(grid, "checked", told)
    layout.row(grid, "thinking", "on" if record.thinking else "off")
    layout.row(grid, "machine", machine(record.machine, record.threads))
    layout.row(grid, "versions", ", ".join(f"{name} {version}" for name, version in record.versions.items()))
    return Group(layout.heading("Fidelity"), grid)


def _remarks(report: FidelityReport) -> Iterator[str]:
    record = report.record
    if record.model_kind in _KINDS:
        yield _KINDS[record.model_kind].format(model=record.model)
    if record.run_digest != record.model_digest:
        yield (
            f"The run was played with ANOTHER MODEL, {short(record.run_digest)}: its replies are texts that both "
            "follow here, and need not be what this reference would write."
        )
    elif report.written_again < report.steps:
        yield (
            f"{record.reference} chose other tokens than the run has in {report.steps - report.written_again} replies: "
            "other kernels or another machine. Those replies were cut into tokens anew."
        )
    for build in report.builds:
        if build.text is not None and build.text.reference_perplexity.estimate > record.vocabulary:
            yield (
                f"The text is none that {record.model} can read: guessing among its {record.vocabulary:,} tokens would "
                "do better. What a ratio of such perplexities says is nothing."
            )
            break


# ----------------------------------------------------------------------------------------------------------------------
# figures in rows, builds in columns


def _sections(report: FidelityReport, of: Callable[[BuildFigures], Section | None]) -> dict[str, Section]:
    """Return what each build shows, without those that show nothing."""
    found = ((figures.build.build, of(figures)) for figures in report.builds)
    return {name: section for name, section in found if section is not None}


def _compared(builds: dict[str, Section], figures: Sequence[Figure[Section]]) -> Iterator[RenderableType]:
    names = list(builds)
    for start in range(0, len(names), _BESIDE):
        beside = names[start : start + _BESIDE]
        table = layout.table("", *beside)
        for figure, shown in figures:
            layout.row(table, figure, *(shown(builds[name]) for name in beside))
        yield table


_PERPLEXITY: tuple[Figure[Closeness], ...] = (
    ("perplexity", lambda c: _perplexity(c.build_perplexity)),
    ("perplexity, reference", lambda c: _perplexity(c.reference_perplexity)),
    ("their ratio", lambda c: _ratio(c.perplexity_ratio)),
)
_SAME: tuple[Figure[Closeness], ...] = (
    ("same most probable token", lambda c: _percent(c.same_top)),
    ("of tokens", lambda c: _of(c.same, c.kl.n)),
)


def _of_replies(figures: BuildFigures) -> _Replies | None:
    close = figures.parts.get("all")
    return None if close is None or figures.tails is None else _Replies(close, figures.tails)


def _on_replies(figure: Figure[Closeness]) -> Figure[_Replies]:
    name, shown = figure
    return name, lambda replies: shown(replies.close)


def _replies(report: FidelityReport) -> Iterator[RenderableType]:
    builds = _sections(report, _of_replies)
    if not builds:
        return
    figures: list[Figure[_Replies]] = [
        ("KL, mean", lambda r: _number(r.close.kl)),
        ("KL, 95th percentile", lambda r: _number(r.tails.p95)),
        ("KL, 99th percentile", lambda r: _number(r.tails.p99)),
        ("KL, largest", lambda r: f"{r.close.largest_kl:.3g}"),
        *map(_on_replies, _SAME),
        ("log-probability, change", lambda r: _number(r.tails.change)),
        ("root mean square of it", lambda r: _number(r.tails.change_rms)),
        *map(_on_replies, _PERPLEXITY),
    ]
    episodes = count(next(iter(builds.values())).close.clusters, "episode")
    yield Group(
        layout.heading(f"On the replies of {report.record.reference}"),
        *_compared(builds, figures),
        layout.note(
            "Each token that the reference wrote, with what stood before it then. KL(reference || build) in nats, over "
            f"the whole vocabulary. Intervals: 95 %, over {episodes}."
        ),
    )
    yield Group(
        layout.heading("By part of a reply"),
        layout.WidestThatFits(_parts(report, ratios=True), _parts(report, ratios=False)),
        layout.note(
            "name: of the tool; declaration: those of them that end the episode; arguments: keys and values; rest: "
            "tags, the end of the turn, text that is no call."
        ),
    )


def _parts(report: FidelityReport, *, ratios: bool) -> Table:
    table = layout.table("part", "build", "tokens", "KL, mean", "same token", *(["perplexity ratio"] if ratios else []))
    for part in PARTS[1:]:
        for build in report.builds:
            found = build.parts.get(part)
            if found is not None:
                cells = [f"{found.kl.n:,}", _number(found.kl, digits=2), _percent(found.same_top)]
                layout.row(
                    table, part, build.build.build, *cells, *([_ratio(found.perplexity_ratio)] if ratios else [])
                )
    return table


def _stopping(report: FidelityReport) -> Iterator[RenderableType]:
    builds = _sections(report, lambda figures: figures.stopping)
    if not builds:
        return
    figures: list[Figure[Stopping]] = [
        ("episodes", lambda s: f"{s.flips.n}"),
        ("log-odds, reference", lambda s: _number(s.reference)),
        ("log-odds, build", lambda s: _number(s.build)),
        ("difference, by episode", lambda s: _number(s.difference)),
        ("decisions that flip", lambda s: _share(s.flips)),
        ("to going on, to stopping", lambda s: f"{s.to_go_on}, {s.to_stop}"),
        ("all tools, at least", lambda s: f"{100 * s.covered:.1f} %"),
    ]
    if any(section.own for section in builds.values()):
        figures += [
            ("reference completes", lambda s: _share(s.called)),
            ("build itself completes", lambda s: _share(s.own) if s.own else "-"),
        ]
    yield Group(
        layout.heading("The decision to stop"),
        *_compared(builds, figures),
        layout.note(
            "Where the goal first held, behind the reference's own thought: task_complete against all other tools, "
            "exact over the tokens of their names. The thought may have decided already; --act lets the build think "
            "for itself."
        ),
    )


def _acting(report: FidelityReport) -> Iterator[RenderableType]:
    builds = _sections(report, lambda figures: figures.acting)
    if not builds:
        return

    def counted(kind: ActionKind) -> Figure[Acting]:
        return kind, lambda acting: _of(acting.kinds[kind], acting.same.n)

    share: Figure[Acting] = ("same action", lambda acting: _percent(acting.same))
    yield Group(
        layout.heading("What it would do"),
        *_compared(builds, [share, *map(counted, ACTION_KINDS)]),
        layout.note("The build's own reply at each step of the reference's episodes, with the reference's history."),
    )


def _diverging(report: FidelityReport) -> Iterator[RenderableType]:
    builds = _sections(report, lambda figures: figures.diverging)
    if not builds:
        return
    figures: list[Figure[Diverging]] = [
        ("same actions throughout", lambda d: _share(d.identical)),
        ("first other step, median", lambda d: _number(d.first_step) if d.first_step else "-"),
        ("of instances that differ", lambda d: f"{d.identical.n - d.same}"),
    ]
    yield Group(
        layout.heading("In the run, each for itself"),
        *_compared(builds, figures),
        layout.note("Steps count from 0. After the first other step the two phones are no longer the same."),
    )


def _text(report: FidelityReport) -> Iterator[RenderableType]:
    text, builds = report.record.text, _sections(report, lambda figures: figures.text)
    if text is None or not builds:
        return
    figures: list[Figure[Closeness]] = [
        ("KL, mean", lambda c: _number(c.kl)),
        ("KL, largest", lambda c: f"{c.largest_kl:.3g}"),
        *_SAME,
        *_PERPLEXITY,
    ]
    yield Group(
        layout.heading("On a text"),
        layout.text(f"{text.source}: {text.tokens:,} tokens, {count(len(text.log_probabilities), 'window')}"),
        *_compared(builds, figures),
        layout.note(
            f"Windows of {text.window} tokens, each read from an empty memory, {text.pass_tokens} at once, by the "
            "kernels that read prompts. Intervals: 95 %, over windows."
        ),
    )


def _greedy(report: FidelityReport) -> Iterator[RenderableType]:
    builds = _sections(report, lambda figures: figures.greedy)
    if not builds:
        return
    figures: list[Figure[Greedy]] = [
        ("the same to the last", lambda g: _share(g.exact)),
        ("kept before another token", lambda g: _percent(g.kept)),
        ("first other token, median", lambda g: _number(g.first_other) if g.first_other else "-"),
    ]
    prompts = next(iter(builds.values())).exact.n
    yield Group(
        layout.heading(f"Greedy continuations: {count(prompts, 'prompt')}, up to {report.record.new_tokens} tokens"),
        *_compared(builds, figures),
    )
    table = layout.table("prompt", "build", "kept")
    for column in ("reference", "p", "its p", "build wrote", "p", "its p"):
        table.add_column(layout.text(column), justify="right", no_wrap=True)
    for same_prompt in zip(*(build.completions for build in report.record.builds if build.completions), strict=True):
        for name, each in zip(builds, same_prompt, strict=True):
            layout.row(table, each.prompt, name, f"{each.kept}/{each.tokens}", *_parting(each))
    yield Group(
        table,
        layout.note(
            "Kept: tokens before the first other one, of those that the reference wrote. Then the two tokens there, "
            "each with its probability by the reference and (its p) by the build."
        ),
    )


def _parting(completion: CompletionRecord) -> tuple[str, ...]:
    parting = completion.parting
    if parting is None:
        return ("",) * 6
    return (
        _token(parting.reference_token),
        f"{parting.reference_of_reference:.2f}",
        f"{parting.build_of_reference:.2f}",
        _token(parting.build_token),
        f"{parting.reference_of_build:.2f}",
        f"{parting.build_of_build:.2f}",
    )


# ----------------------------------------------------------------------------------------------------------------------
# the text of numbers


def _token(token: str) -> str:
    shown = repr(token)
    return shown if len(shown) <= _TOKEN else shown[: _TOKEN - 1] + "…"


def _number(value: Interval, digits: int = 3) -> str:
    return f"{value.estimate:.{digits}g} [{value.low:.{digits}g}, {value.high:.{digits}g}]"


def _perplexity(value: Interval) -> str:
    if value.high < 1000:
        return _number(value, digits=4)
    return f"{value.estimate:,.0f} [{value.low:,.0f}, {value.high:,.0f}]"


def _ratio(value: Interval) -> str:
    return f"{value.estimate:.3f} [{value.low:.3f}, {value.high:.3f}]"


def _percent(share: Interval) -> str:
    return f"{100 * share.estimate:.1f} % [{100 * share.low:.1f}, {100 * share.high:.1f}]"


def _share(share: Interval) -> str:
    return f"{round(share.estimate * share.n)}/{share.n} [{100 * share.low:.0f}, {100 * share.high:.0f}] %"


def _of(number: int, total: int) -> str:
    return f"{number:,} / {total:,}"
