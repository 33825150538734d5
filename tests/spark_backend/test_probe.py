from __future__ import annotations

from pathlib import Path

import pytest

from agent_eval.spark_backend.probe import available_memory, physical_cores, probe_machine, usable_cores

X86_THREADS = """\
processor\t: {processor}
vendor_id\t: GenuineIntel
model name\t: Intel(R) Xeon(R) Platinum 8480C
physical id\t: {socket}
core id\t\t: {core}
flags\t\t: fpu sse2 avx2 fma avx512f avx512_vnni amx_tile amx_bf16 amx_int8 hypervisor
"""

ARM_PHONE = """\
processor\t: 0
BogoMIPS\t: 38.40
Features\t: fp asimd aes pmull sha1 crc32 atomics fphp asimdhp asimddp i8mm bf16 sve sve2
CPU implementer\t: 0x41
CPU part\t: 0xd4d

processor\t: 1
BogoMIPS\t: 38.40
Features\t: fp asimd aes pmull sha1 crc32 atomics fphp asimdhp asimddp
CPU implementer\t: 0x41
CPU part\t: 0xd46

Hardware\t: Example SoC
"""


def folder(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root


def xeon(root: Path) -> Path:
    """Two sockets of two cores with two threads each."""
    threads = [(socket, core) for _ in range(2) for socket in range(2) for core in range(2)]
    text = "\n".join(
        X86_THREADS.format(processor=place, socket=socket, core=core) for place, (socket, core) in enumerate(threads)
    )
    return folder(root, {"proc/cpuinfo": text, "proc/meminfo": "MemTotal:       65536000 kB\nMemFree: 1 kB\n"})


def test_a_server_with_amx_is_described(tmp_path: Path) -> None:
    probe = probe_machine(xeon(tmp_path), machine="x86_64", system="Linux")
    assert probe.cpu_model == "Intel(R) Xeon(R) Platinum 8480C"
    assert probe.cpu_flags == ("amx_bf16", "amx_int8", "amx_tile", "avx2", "avx512_vnni", "avx512f", "fma")
    assert probe.physical_cores == 4
    assert probe.memory_bytes == 65536000 * 1024
    assert (probe.os, probe.accelerator, probe.device_class) == ("Linux", "none", "x86-amx")


def test_a_phone_is_as_able_as_its_least_core(tmp_path: Path) -> None:
    probe = probe_machine(folder(tmp_path, {"proc/cpuinfo": ARM_PHONE}), machine="aarch64", system="Linux")
    assert probe.cpu_flags == ("dotprod", "neon")
    assert (probe.cpu_model, probe.physical_cores, probe.device_class) == ("Example SoC", 2, "arm64")


def test_an_arm_server_without_a_name_is_named_by_its_numbers(tmp_path: Path) -> None:
    text = ARM_PHONE.replace("Hardware\t: Example SoC\n", "")
    probe = probe_machine(folder(tmp_path, {"proc/cpuinfo": text}), machine="aarch64", system="Linux")
    assert probe.cpu_model == "arm64 implementer 0x41 part 0xd4d"


def test_a_machine_without_proc_such_as_a_mac_is_described_without_error(tmp_path: Path) -> None:
    probe = probe_machine(tmp_path, machine="arm64", system="Darwin")
    assert probe.cpu_flags == ("neon",)
    assert (probe.cpu_model, probe.physical_cores, probe.memory_bytes) == ("unknown", 1, 0)
    assert (probe.os, probe.device_class) == ("Darwin", "arm64")


@pytest.mark.parametrize(
    ("flags", "device_class"),
    [("avx2", "x86-avx2"), ("avx2 avx512f", "x86-avx512"), ("sse2", "x86-other"), ("amx_tile avx512f", "x86-amx")],
)
def test_the_class_follows_the_flags(tmp_path: Path, flags: str, device_class: str) -> None:
    root = folder(tmp_path, {"proc/cpuinfo": f"processor : 0\nflags : {flags}\n"})
    assert probe_machine(root, machine="x86_64").device_class == device_class


@pytest.mark.parametrize("text", ["", "no colon\n\n\n", ": :\n", "MemTotal: many kB", "processor\t:\n\n\x00\xff"])
def test_damaged_files_are_no_error(tmp_path: Path, text: str) -> None:
    probe = probe_machine(folder(tmp_path, {"proc/cpuinfo": text, "proc/meminfo": text}), machine="x86_64")
    assert probe.physical_cores >= 1
    assert probe.memory_bytes == 0
    assert probe.device_class == "x86-other"


def test_a_driver_of_an_accelerator_is_seen(tmp_path: Path) -> None:
    root = folder(tmp_path, {"proc/driver/nvidia/version": "NVRM version: 1\n"})
    assert probe_machine(root, machine="x86_64").accelerator == "cuda"


def test_cores_come_from_the_topology_where_cpuinfo_names_none(tmp_path: Path) -> None:
    topology = {
        f"sys/devices/system/cpu/cpu{n}/topology/thread_siblings_list": f"{n % 3},{n % 3 + 3}\n" for n in range(6)
    }
    processors = "\n\n".join(f"processor : {n}" for n in range(6))
    assert physical_cores(folder(tmp_path, {"proc/cpuinfo": processors, **topology})) == 3


@pytest.mark.parametrize(
    ("allowed", "quota", "cores"),
    [
        (8, {}, 4),
        (2, {}, 2),
        (8, {"sys/fs/cgroup/cpu.max": "max 100000\n"}, 4),
        (8, {"sys/fs/cgroup/cpu.max": "150000 100000\n"}, 2),
        (8, {"sys/fs/cgroup/cpu.max": "5000 100000\n"}, 1),
        (8, {"sys/fs/cgroup/cpu.max": "150000 0\n"}, 4),
        (
            8,
            {"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "300000\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"},
            3,
        ),
        (8, {"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, 4),
    ],
)
def test_usable_cores_respect_the_scheduler_and_the_container(
    tmp_path: Path, allowed: int, quota: dict[str, str], cores: int
) -> None:
    assert usable_cores(folder(xeon(tmp_path), quota), allowed=allowed) == cores


def test_this_machine_is_described() -> None:
    probe = probe_machine()
    assert probe.arch != "unknown"
    assert 1 <= usable_cores() <= probe.physical_cores
    assert probe.memory_bytes > 2**20


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 0),
        ({"proc/meminfo": "MemTotal: 100 kB\nMemAvailable:    64 kB\n"}, 64 * 1024),
        ({"proc/meminfo": "MemAvailable: 64 kB\n", "sys/fs/cgroup/memory.max": "max\n"}, 64 * 1024),
        (
            {
                "proc/meminfo": "MemAvailable: 64 kB\n",
                "sys/fs/cgroup/memory.max": "40960\n",
                "sys/fs/cgroup/memory.current": "30720\n",
            },
            10240,
        ),
        (
            {
                "proc/meminfo": "MemAvailable: 64 kB\n",
                "sys/fs/cgroup/memory.max": "40960\n",
                "sys/fs/cgroup/memory.current": "30720\n",
                "sys/fs/cgroup/memory.stat": "anon 10240\nfile 20480\n",
            },
            30720,
        ),
    ],
)
def test_what_can_still_be_taken_is_the_machines_or_what_a_container_leaves(
    tmp_path: Path, files: dict[str, str], expected: int
) -> None:
    assert available_memory(folder(tmp_path, files)) == expected
