"""What this machine is: architecture, processor, flags, cores, memory. Reads files; needs no torch, runs no kernel.

Every source is optional: what cannot be read is empty or zero, never an error. What accelerators there are is told by
``accelerators``.
"""

from __future__ import annotations

import json
import math
import os
import platform
from dataclasses import MISSING, fields, replace
from pathlib import Path

from agent_eval.errors import OperatorError
from agent_eval.spark_backend.accelerators import ACCELERATORS, find_accelerators
from agent_eval.types import MachineProbe

ROOT = Path("/")

KERNEL_FLAGS = frozenset(
    {
        "amx_bf16",
        "amx_int8",
        "amx_tile",
        "avx2",
        "avx512_bf16",
        "avx512_vnni",
        "avx512bw",
        "avx512f",
        "avx_vnni",
        "bf16",
        "dotprod",
        "f16c",
        "fma",
        "i8mm",
        "neon",
        "sve",
        "sve2",
    }
)
"""The processor flags that decide which kernel serves a build."""

FLAG_ALIASES = {"asimd": "neon", "asimddp": "dotprod", "svei8mm": "i8mm", "svebf16": "bf16"}
"""Linux names of arm64 features (arch/arm64/kernel/cpuinfo.c) to the names used here."""

ARM64 = ("aarch64", "arm64")


def probe_machine(root: Path = ROOT, *, machine: str | None = None, system: str | None = None) -> MachineProbe:
    """Describe the machine.

    Args:
        root: Where ``proc`` and ``sys`` are; another folder describes the machine it was copied from.
        machine: Architecture such as ``x86_64``; this machine's by default.
        system: Operating system such as ``Linux``; this machine's by default.
    """
    arch = machine or platform.machine() or "unknown"
    processors = _processors(root)
    here = root == ROOT
    found = find_accelerators(root)
    return MachineProbe(
        arch=arch,
        cpu_model=_cpu_model(processors) or (platform.processor() if here else "") or "unknown",
        cpu_flags=_cpu_flags(processors, arch),
        physical_cores=physical_cores(root),
        memory_bytes=_memory_bytes(root) or (_memory_from_sysconf() if here else 0),
        os=system or platform.system() or "unknown",
        accelerator=found.accelerator,
        gpu_name=found.gpu_name,
        gpu_memory_bytes=found.gpu_memory_bytes,
        gpu_capability=found.gpu_capability,
        sightings=found.sightings,
    )


def read_profile(path: Path) -> MachineProbe:
    """Read what somebody wrote of a machine: the fields of ``MachineProbe`` as JSON, unknown flags left out.

    Raises:
        OperatorError: the file cannot be read, or describes no machine.
    """
    from pydantic import TypeAdapter, ValidationError

    known = [each.name for each in fields(MachineProbe)]
    needed = [each.name for each in fields(MachineProbe) if each.default is MISSING]
    hint = f"it has {', '.join(needed)}, and perhaps {', '.join(known[len(needed) :])}; see docs/reference/profiles"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        profile = TypeAdapter(MachineProbe).validate_python(data)
    except (OSError, ValueError) as error:
        if not isinstance(error, ValidationError):
            raise OperatorError(f"the profile {str(path)!r} cannot be read: {error}", hint="name a JSON file") from None
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise OperatorError(
            f"the profile {str(path)!r} describes no machine: {where}: {first['msg']}", hint=hint
        ) from None
    unknown = sorted(data.keys() - known)
    if unknown:  # what is misspelt must not be taken for what is not there
        raise OperatorError(f"the profile {str(path)!r} has {unknown[0]!r}, which no machine has", hint=hint)
    _require_accelerator(path, profile)
    flags = {FLAG_ALIASES.get(flag, flag) for flag in profile.cpu_flags}
    return replace(profile, cpu_flags=tuple(sorted(flags & KERNEL_FLAGS)))


def _require_accelerator(path: Path, profile: MachineProbe) -> None:
    """Refuse an accelerator that no class is known by, and one that computes without being there."""
    if not ACCELERATORS.fullmatch(profile.accelerator):
        raise OperatorError(
            f"the profile {str(path)!r} has the accelerator {profile.accelerator!r}, expected none, cuda_discrete, "
            "cuda_unified, gpu:VENDOR or npu:VENDOR",
            hint="such as npu:qualcomm; a vendor is written in lower case",
        )
    if profile.computes_on == "accelerator" and not profile.accelerator_class:
        raise OperatorError(
            f"the profile {str(path)!r} computes on an accelerator and has {profile.accelerator!r}, expected one",
            hint='name it, such as "accelerator": "npu:qualcomm", or write "computes_on": "cpu"',
        )


def physical_cores(root: Path = ROOT) -> int:
    """Count the physical cores of the machine, at least 1; two hardware threads of one core count once."""
    processors = _processors(root)
    cores = {
        (entry.get("physical id", "0"), entry["core id"])
        for entry in processors
        if "processor" in entry and "core id" in entry
    }
    if cores:
        return len(cores)
    siblings = {
        text
        for file in sorted((root / "sys/devices/system/cpu").glob("cpu[0-9]*/topology/thread_siblings_list"))
        if (text := _read(file).strip())
    }
    if siblings:
        return len(siblings)
    logical = sum("processor" in entry for entry in processors)
    return logical or ((os.cpu_count() or 1) if root == ROOT else 1)


def usable_cores(root: Path = ROOT, *, allowed: int | None = None) -> int:
    """Count the cores that this process may keep busy, at least 1: a good number of threads.

    The physical cores, less those that the process may not be scheduled on, less what a container's quota withholds.
    Threads beyond that number spin against each other and slow every build down.

    Args:
        root: Where ``proc`` and ``sys`` are.
        allowed: How many processors the process may be scheduled on; asked of the system by default.
    """
    if allowed is None:
        allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return max(1, min(physical_cores(root), allowed, _quota(root) or allowed))


def available_memory(root: Path = ROOT) -> int:
    """Return how many bytes this process can still take without swapping; 0 where the system does not tell.

    The least of what the machine has free, mapped files that can be dropped included, and what a container's limit
    leaves.
    """
    free = _meminfo(root, "MemAvailable")
    limit, used = (_read(root / f"sys/fs/cgroup/memory.{name}").strip() for name in ("max", "current"))
    if limit.isdigit() and used.isdigit():
        left = max(0, int(limit) - int(used) + _reclaimable(root))
        return min(free, left) if free else left
    return free


def _reclaimable(root: Path) -> int:
    """Return the file pages that count towards a container's limit but can be dropped."""
    for line in _read(root / "sys/fs/cgroup/memory.stat").splitlines():
        name, _, value = line.partition(" ")
        if name == "file" and value.isdigit():
            return int(value)
    return 0


def _processors(root: Path) -> list[dict[str, str]]:
    """Split ``/proc/cpuinfo`` into its paragraphs, one dictionary each."""
    paragraphs = []
    for paragraph in _read(root / "proc/cpuinfo").split("\n\n"):
        lines = (line.partition(":") for line in paragraph.splitlines() if ":" in line)
        if entry := {key.strip(): value.strip() for key, _, value in lines}:
            paragraphs.append(entry)
    return paragraphs


def _cpu_model(processors: list[dict[str, str]]) -> str:
    for key in ("model name", "Model", "Hardware"):  # x86 and some arm64; Raspberry Pi; older phones
        for entry in processors:
            if entry.get(key):
                return entry[key]
    for entry in processors:
        if "CPU implementer" in entry:  # arm64 kernels give numbers only
            return f"arm64 implementer {entry['CPU implementer']} part {entry.get('CPU part', 'unknown')}"
    return ""


def _cpu_flags(processors: list[dict[str, str]], arch: str) -> tuple[str, ...]:
    """Return the flags that every processor has: a thread may run on the least of them."""
    each = [
        {FLAG_ALIASES.get(flag, flag) for flag in (entry.get("flags") or entry.get("Features") or "").split()}
        for entry in processors
        if "flags" in entry or "Features" in entry
    ]
    common = set.intersection(*each) if each else set()
    if arch in ARM64:
        common.add("neon")  # part of every arm64 processor, and not listed outside Linux
    return tuple(sorted(common & KERNEL_FLAGS))


def _memory_bytes(root: Path) -> int:
    return _meminfo(root, "MemTotal")


def _meminfo(root: Path, wanted: str) -> int:
    for line in _read(root / "proc/meminfo").splitlines():
        name, _, value = line.partition(":")
        number = value.split()
        if name == wanted and number and number[0].isdigit():
            return int(number[0]) * 1024
    return 0


def _memory_from_sysconf() -> int:
    try:
        return max(0, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):  # no sysconf on Windows, no such name elsewhere
        return 0


def _quota(root: Path) -> int:
    """Return the cores that a control group grants, rounded up; 0 for no limit. Version 2 first, then version 1."""
    parts = _read(root / "sys/fs/cgroup/cpu.max").split()
    if not parts:
        parts = [_read(root / f"sys/fs/cgroup/cpu/cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
    if len(parts) == 2 and all(part.isdigit() for part in parts) and int(parts[1]) > 0:
        return math.ceil(int(parts[0]) / int(parts[1]))
    return 0


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
