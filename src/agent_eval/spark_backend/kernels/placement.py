"""Which processors the kernels' threads are pinned to: one per physical core. Reads files; knows no kernel."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

ROOT = Path("/")


def placement(count: int, root: Path = ROOT, *, allowed: Iterable[int] | None = None) -> tuple[int, ...] | None:
    """Return a processor for each of ``count`` threads, of different physical cores; None: the system places them.

    Threads are pinned where they take every core that this process may use: several workers whose affinity masks do not
    overlap then never share a core, and two threads never share one by way of its hardware threads. With fewer threads
    than cores the system places them: it knows what others run, and two processes that both began at the first core
    would meet there.

    Args:
        count: Threads, the caller's included.
        root: Where ``sys`` is; another folder describes the machine it was copied from.
        allowed: Processors that the process may be scheduled on; asked of the system by default.
    """
    if allowed is None:
        if not hasattr(os, "sched_getaffinity"):
            return None
        allowed = os.sched_getaffinity(0)
    first_of_core: dict[str, int] = {}
    for processor in sorted(allowed):
        first_of_core.setdefault(_core(processor, root), processor)
    return tuple(first_of_core.values()) if len(first_of_core) == count else None


def _core(processor: int, root: Path) -> str:
    """Name the physical core of a processor by the processors that share it; by itself where nothing is known."""
    file = root / f"sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list"
    try:
        return file.read_text(encoding="ascii", errors="replace").strip() or str(processor)
    except OSError:
        return str(processor)
