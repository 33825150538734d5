"""Machines of every class, and the advice that runs of them get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agent_eval.reports import evidence_of
from agent_eval.types import Evidence, Priority, Recommendation
from tests.reports.builders import MACHINE, manifest, run

PRIORITIES: tuple[Priority, ...] = ("speed", "fidelity", "agentic")

AMX = replace(MACHINE, cpu_flags=("amx_tile", "avx2", "avx512f"))
AVX512 = MACHINE
AVX2 = replace(MACHINE, cpu_flags=("avx2",))
X86 = replace(MACHINE, cpu_flags=())
ARM = replace(MACHINE, arch="aarch64", cpu_flags=("neon",))
UNKNOWN = replace(MACHINE, arch="riscv64", cpu_flags=())
PROCESSORS = (AMX, AVX512, AVX2, X86, ARM, UNKNOWN)

GPU = replace(AVX2, accelerator="cuda_discrete", computes_on="accelerator", gpu_name="Example GPU")
OLD_GPU = replace(GPU, gpu_capability="7.5")
JETSON = replace(ARM, accelerator="cuda_unified", computes_on="accelerator", gpu_capability="8.7")
OLD_JETSON = replace(JETSON, gpu_capability="7.2")
NPU = replace(ARM, accelerator="npu:qualcomm", computes_on="accelerator")
OTHER_NPU = replace(AVX2, accelerator="npu:intel", computes_on="accelerator")
ACCELERATORS = (GPU, OLD_GPU, JETSON, OLD_JETSON, NPU, OTHER_NPU)

BESIDE = tuple(replace(machine, computes_on="cpu") for machine in ACCELERATORS)
"""Machines with an accelerator on which nothing computes."""

MACHINES = (*PROCESSORS, *ACCELERATORS, *BESIDE)


def evidence(
    letters: Mapping[str, str], speeds: Mapping[str, Sequence[float] | float] | None = None, **options: Any
) -> Evidence:
    """Return the evidence of a run with a letter for each episode."""
    tasks = max(len(text) for text in letters.values())
    return evidence_of(manifest(tuple(letters), tasks, **options), run(letters, speeds), run="runs/x")


def texts(found: Recommendation) -> list[str]:
    """Return the sentences of a recommendation."""
    return [reason.text for reason in found.reasons]
