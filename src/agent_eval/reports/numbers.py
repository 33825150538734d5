"""The text of numbers: shares, differences, ratios, counts. Knows no table and no terminal."""

from __future__ import annotations

from math import isfinite

from agent_eval.reports.stats import MOST_PAIRS
from agent_eval.types import Interval, MachineProbe


def percent(share: Interval | None) -> str:
    """Return a share with both of its counts and its interval, such as ``82/120 68 % [60, 76]``; ``-`` for none."""
    return f"{events(share)}/{share.n} {_percents(share)}" if share else "-"


def events(share: Interval) -> int:
    """Return the numerator of a share."""
    return round(share.estimate * share.n)


def median_percent(share: Interval | None) -> str:
    """Return a median of shares with its interval and the count that it rests on, ``-`` for none."""
    return f"{_percents(share)} /{share.n}" if share else "-"


def _percents(share: Interval) -> str:
    return f"{100 * share.estimate:.0f} % [{100 * share.low:.0f}, {100 * share.high:.0f}]"


def plain(value: Interval | None) -> str:
    """Return a number with its interval and its count, ``-`` for none."""
    return f"{value.estimate:g} [{value.low:g}, {value.high:g}] /{value.n}" if value else "-"


def times(value: Interval | None) -> str:
    """Return a ratio with its interval and its count, ``-`` for none."""
    return f"{value.estimate:.2f} [{value.low:.2f}, {value.high:.2f}] /{value.n}" if value else "-"


def cost(value: Interval | None) -> str:
    """Return what a success costs with its interval and the count of successes, ``-`` for none."""
    if value is None:
        return "-"
    digits = 0 if value.estimate >= 1000 else 1
    high = f"{value.high:.{digits}f}" if isfinite(value.high) else "∞"
    return f"{value.estimate:.{digits}f} [{value.low:.{digits}f}, {high}] /{value.n}"


def tight(text: str) -> str:
    """Return the text of a number without the blanks that it can do without."""
    return text.replace(" %", "%").replace(", ", ",")


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
        parts.append(f"accelerator {probe.accelerator}{'' if probe.computes_on == 'accelerator' else ' (not used)'}")
    if threads is not None:
        parts.append(f"{count(threads, 'thread')} used")
    return ", ".join(parts)
