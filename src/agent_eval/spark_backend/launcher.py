"""What must hold before torch is loaded: how its threads wait and how many they are. Loads no torch.

libgomp reads its variables once, when the library is mapped, which ``import torch`` does; what this process puts into
its own environment before that counts, so nothing has to be started again. Afterwards the number of threads can still
be changed, how they wait cannot.

A thread of libgomp spins while it waits unless it is told not to. That costs nothing on an idle machine and nearly
everything on a busy one, where the thread that is waited for needs the core that the spinning thread holds.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from agent_eval import environment
from agent_eval.spark_backend.probe import usable_cores

WAIT_POLICY = "PASSIVE"
"""Threads that wait sleep."""


@dataclass(frozen=True)
class Launch:
    """How the threads of this process were set up."""

    threads: int
    """Threads that libgomp starts with."""
    wait_policy: str
    in_time: bool
    """False where torch was loaded before: its threads wait as they were told then."""


def prepare(*, vllm: bool = False) -> Launch:
    """Set up the threads of torch; called by every command that computes, before anything imports torch.

    What the person has set stays. A process that has loaded torch already, such as a notebook, is left as it is.

    Args:
        vllm: Whether vLLM will compute: its C++ parts report every start as a warning of torch.

    Raises:
        OperatorError: ``OMP_NUM_THREADS`` is set to something that is no number of threads.
    """
    asked = environment.threads()
    if "torch" in sys.modules:
        return Launch(asked or usable_cores(), "as before", in_time=False)
    quiet = {"TORCH_CPP_LOG_LEVEL": "ERROR"} if vllm else {}
    held = environment.set_defaults({"OMP_NUM_THREADS": str(usable_cores()), "OMP_WAIT_POLICY": WAIT_POLICY, **quiet})
    return Launch(environment.threads() or usable_cores(), held["OMP_WAIT_POLICY"], in_time=True)


def default_threads() -> int:
    """Return how many threads an engine should use: as many as ``OMP_NUM_THREADS`` says, or the usable cores."""
    return environment.threads() or usable_cores()


def wait_policy() -> str:
    """Return how libgomp's threads wait, for the record; ``as torch was loaded`` where it was loaded without us."""
    return environment.wait_policy() or "as torch was loaded"
