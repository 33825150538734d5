"""How far a run or a training is, on standard error: a live picture on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

    from agent_eval.matrix import WorkUnit
    from agent_eval.records import EpisodeRecord
    from agent_eval.running import Watch
    from agent_eval.training import Report


def tell(line: str) -> None:
    """Print a line that a person should know."""
    print(line, file=sys.stderr, flush=True)


def watch(together: int) -> Watch:
    """Return what shows the progress of a run with so many episodes in flight."""
    return lambda units, recorded: RunProgress(units, recorded, together)


class RunProgress:
    """Running counts per build: a live table on a terminal, one line per block elsewhere."""

    def __init__(self, units: Sequence[WorkUnit], recorded: Sequence[EpisodeRecord], together: int) -> None:
        from rich.console import Console
        from rich.live import Live

        self._speed = "tokens/s" if together == 1 else f"tokens/s, {together} in flight"
        self._units = list(units)
        self._builds = list(dict.fromkeys(unit.build for unit in units))
        self._records = {record.episode: record for record in recorded}
        self._began, self._before = time.monotonic(), len(self._records)
        console = Console(stderr=True, highlight=False)
        self._live = Live(self._table(), console=console, transient=True) if console.is_terminal else None

    def __enter__(self) -> RunProgress:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *details: object) -> None:
        if self._live:
            self._live.stop()

    def record(self, record: EpisodeRecord) -> None:
        """Count a new record and show it."""
        self._records[record.episode] = record
        if self._live:
            self._live.update(self._table())
            return
        block = [u for u in self._units if u.block == record.block]
        if all(unit.episode in self._records for unit in block):
            labels = " · ".join(
                f"{b} {self._records[f'{b}/{block[0].instance.id}'].outcome.label}" for b in self._builds
            )
            last = self._units[-1].block + 1
            tell(f"block {record.block + 1:{len(str(last))}d}/{last}  {block[0].instance.id:24} {labels}")

    def _remaining(self) -> str:
        """Say how many episodes are left, and for how long at the pace of this command."""
        left, done = len(self._units) - len(self._records), len(self._records) - self._before
        if done == 0:
            return f"{left} episodes left"
        seconds = left * (time.monotonic() - self._began) / done
        pace = f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
        return f"{left} episodes left, about {pace}"

    def _table(self) -> RenderableType:
        from rich.table import Table

        from agent_eval.outcome import LABELS

        table = Table("build", box=None, pad_edge=False, caption=self._remaining(), caption_justify="left")
        for name in ("episodes", self._speed):
            table.add_column(name, justify="right")
        records = list(self._records.values())
        shown = [label for label in LABELS if any(r.outcome.label == label for r in records)]
        for label in shown:
            table.add_column(label, justify="right")
        for build in self._builds:
            mine = [record for record in records if record.build == build]
            timings = [step.timing for record in mine for step in record.steps if step.timing]
            tokens, seconds = sum(t.decode_tokens for t in timings), sum(t.decode_s for t in timings)
            total = sum(unit.build == build for unit in self._units)
            counts = [str(sum(record.outcome.label == label for record in mine)) for label in shown]
            table.add_row(build, f"{len(mine)}/{total}", f"{tokens / seconds:.0f}" if seconds else "", *counts)
        return table


class TrainingProgress:
    """How far a training is: a bar on a terminal, a line for each report elsewhere."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True, highlight=False)
        columns = (
            BarColumn(20),
            TextColumn("{task.percentage:3.0f} %"),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
        )
        self._bar = Progress(*columns, console=console) if console.is_terminal else None
        self._task = self._bar.add_task("making the first lessons", total=None) if self._bar else None

    def __enter__(self) -> TrainingProgress:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *details: object) -> None:
        if self._bar:
            self._bar.stop()

    def show(self, report: Report) -> None:
        """Show a report."""
        line = f"loss {report.loss:.3f}  accuracy {report.accuracy:.3f}"
        if report.held_out_accuracy is not None:
            line += f"  held out {report.held_out_accuracy:.3f}"
        if report.played:
            line += f"  solved {report.solved}/{report.played}"
        if self._bar and self._task is not None:
            self._bar.update(self._task, description=line, completed=report.step, total=report.steps)
            return
        tell(
            f"step {report.step}/{report.steps}  {line}  {report.tokens / 1e6:.2f} M tokens  "
            f"{report.decisions} decisions  {report.seconds:.0f} s"
        )
