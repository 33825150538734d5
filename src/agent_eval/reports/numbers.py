"""The text of numbers: shares, differences, ratios, counts. Knows no table and no terminal."""

from __future__ import annotations

from agent_eval.reports.stats import MOST_PAIRS
from agent_eval.types import Interval, MachineProbe


def percent(share: Interval | None) -> str:
    """Return a share with its interval and the count that it rests on, ``-`` for none."""
    if share is None:
        return "-"
    return f"{100 * share.estimate:.0f} % [{100 * share.low:.0f}, {100 * share.high:.0f}] /{share.n}"


def plain(value: Interval | None) -> str:
    """Return a number with its interval and its count, ``-`` for none."""
    return f"{value.estimate:g} [{value.low:g}, {value.high:g}] /{value.n}" if value else "-"


def times(value: Interval | None) -> str:
    """Return a ratio with its interval and its count, ``-`` for none."""
    return f"{value.estimate:.1f} [{value.low:.1f}, {value.high:.1f}] /{value.n}" if value else "-"


def rate(value: Interval) -> str:
    """Return a speed with its interval, with a digit behind the point where it is small."""
    digits = 0 if value.high >= 100 else 1
    return f"{value.estimate:.{digits}f} [{value.low:.{digits}f}, {value.high:.{digits}f}]"


def points(value: Interval) -> str:
    """Return a difference of shares in points, with its interval."""
    return f"{signed(value.estimate)} [{signed(value.low)}, {signed(value.high)}]"


def signed(share: float) -> str:
    """Return a difference of shares in whole points, with its sign."""
    points = round(100 * share)
    return f"{points:+d}" if points else "0"


def p_value(value: float) -> str:
    """Return a p value."""
    return "<.001" if value < 0.001 else f"{value:.3f}"


def further(pairs: int) -> str:
    """Say how many further pairs a verdict needs."""
    return f"about {pairs} more pairs" if pairs < MOST_PAIRS else "more pairs than are worth running"


def short(digest: str) -> str:
    """Return the beginning of a digest."""
    return digest[:12] or "no digest"


def count(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where it is not one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def machine(probe: MachineProbe, threads: int | None = None) -> str:
    """Describe a machine in a line, with the threads used where they are known."""
    parts = [
        f"{probe.device_class}: {probe.cpu_model}",
        count(probe.physical_cores, "core"),
        f"{probe.memory_bytes / 2**30:.0f} GiB",
        probe.os,
    ]
    if probe.accelerator != "none":
        parts.append(f"accelerator {probe.accelerator} (not used)")
    if threads is not None:
        parts.append(f"{count(threads, 'thread')} used")
    return ", ".join(parts)
