"""Gives back to the system what loading a model into vLLM took and freed.

Weights are read, split, joined and packed anew, and the copies in between are freed; the allocator keeps them, for
later. glibc's is asked to let go, and tcmalloc where it serves this process: vLLM preloads it into the processes that
it starts, and a person may.
"""

from __future__ import annotations

import ctypes
from typing import NamedTuple

from agent_eval.spark_backend.meter import memory_of, release_memory
from agent_eval.spark_backend.vllm.switches import Switches

TCMALLOC_RELEASE = "MallocExtension_ReleaseFreeMemory"
"""In gperftools/malloc_extension_c.h; takes nothing and returns nothing."""


class Released(NamedTuple):
    """What came of it."""

    before: int | None
    """Anonymous bytes of this process; None where the system does not tell."""
    after: int | None
    tcmalloc: bool
    """Whether tcmalloc was asked too."""


def after_loading(switches: Switches) -> Released | None:
    """Give back what loading freed, where the switch says so; None where it does not."""
    return release() if switches.release_memory else None


def release(process: ctypes.CDLL | None = None) -> Released:
    """Give back what was freed, whichever allocator holds it.

    Args:
        process: What is mapped into this process, by its symbols.
    """
    before = memory_of()
    release_memory()
    found = getattr(process or ctypes.CDLL(None), TCMALLOC_RELEASE, None)
    if found is not None:
        found.restype = None
        found()
    after = memory_of()
    return Released(before and before.anonymous, after and after.anonymous, found is not None)
