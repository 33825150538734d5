"""Files that every phone has: those below /proc, the programs in /system/bin, the build's properties, the APKs."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from agent_eval.device_sim.shell import properties
from agent_eval.device_sim.shell.apk import Manifest
from agent_eval.device_sim.shell.apk_writer import write_apk

if TYPE_CHECKING:
    from agent_eval.device_sim.shell.system import System

MEMORY_KB = 3_920_000
CORES = 8


def provide(system: System) -> None:
    """Put them in place on a phone."""
    files = system.phone.files
    for name in system.commands:
        files.provide(f"/system/bin/{name}", _program)
    for package in system.packages:
        manifest = Manifest(package.name, package.version_code, package.version_name)
        files.provide(package.path, functools.partial(write_apk, manifest))
    for path, made in {
        "/dev/null": bytes,
        "/dev/zero": bytes,
        "/dev/urandom": bytes,
        "/dev/random": bytes,
        "/dev/tty": bytes,
        "/proc/cpuinfo": _cpus,
        "/proc/filesystems": lambda: b"nodev\tproc\nnodev\ttmpfs\n\text4\n\tf2fs\n",
        "/proc/loadavg": lambda: b"0.42 0.37 0.31 1/912 22000\n",
        "/proc/meminfo": lambda: meminfo().encode(),
        "/proc/mounts": lambda: mounts().encode(),
        "/proc/self/mounts": lambda: mounts().encode(),
        "/proc/net/tcp": lambda: b"  sl  local_address rem_address   st\n",
        "/proc/stat": lambda: _stat(system),
        "/proc/uptime": lambda: f"{uptime_s(system):.2f} {uptime_s(system) * CORES * 0.9:.2f}\n".encode(),
        "/proc/version": lambda: (version() + "\n").encode(),
        "/system/etc/hosts": lambda: b"127.0.0.1       localhost\n::1             ip6-localhost\n",
        "/system/build.prop": lambda: _build_properties(system),
    }.items():
        files.provide(path, made)


def _program() -> bytes:
    """Be the content of a program: nobody runs it, but it is no text."""
    return b"\x7fELF\x02\x01\x01" + bytes(57)


def uptime_s(system: System) -> float:
    """Return the seconds since the phone started; it had been on for an hour when its clock began."""
    return 3600 + (system.phone.clock.now_ms - system.phone.boot_ms) / 1000


def version() -> str:
    """Return what the kernel says of itself."""
    return (
        "Linux version 6.1.75-android14-11-g000000000000 (build@host) (Android clang version 17.0.2) "
        "#1 SMP PREEMPT Thu Jan  2 00:00:00 UTC 2025"
    )


def meminfo() -> str:
    """Return ``/proc/meminfo``."""
    values = {
        "MemTotal": MEMORY_KB, "MemFree": 412_332, "MemAvailable": 1_893_440, "Buffers": 5_208, "Cached": 1_531_224,
        "SwapCached": 0, "Active": 1_204_780, "Inactive": 1_340_016, "SwapTotal": 2_097_148, "SwapFree": 1_811_204,
    }  # fmt: skip
    return "".join(f"{name + ':':<16}{value:>8} kB\n" for name, value in values.items())


def mounts() -> str:
    """Return the mounted file systems as the kernel lists them."""
    return (
        "tmpfs /dev tmpfs rw,seclabel,nosuid,relatime,mode=755 0 0\n"
        "proc /proc proc rw,relatime,gid=3009,hidepid=invisible 0 0\n"
        "/dev/block/dm-0 / ext4 ro,seclabel,nodev,relatime 0 0\n"
        "/dev/block/dm-1 /vendor ext4 ro,seclabel,relatime 0 0\n"
        "/dev/block/dm-5 /data f2fs rw,lazytime,seclabel,nosuid,nodev,noatime 0 0\n"
        "/dev/fuse /storage/emulated fuse rw,lazytime,nosuid,nodev,noexec,noatime,user_id=0,group_id=0 0 0\n"
    )


def _cpus() -> bytes:
    one = (
        "processor\t: {}\nvendor_id\t: AuthenticAMD\nmodel name\t: Android virtual processor\ncpu MHz\t\t: 2000.000\n\n"
    )
    return "".join(one.format(number) for number in range(CORES)).encode()


def _stat(system: System) -> bytes:
    ticks = int(uptime_s(system) * 100)
    own = f"{ticks // 20} 0 {ticks // 30} {ticks} 0 0 0 0 0 0"
    return "".join(f"cpu{number} {own}\n" for number in ("", *range(CORES))).encode()


def _build_properties(system: System) -> bytes:
    kept = properties.all_of(system)
    return "".join(f"{name}={value}\n" for name, value in sorted(kept.items()) if name.startswith("ro.")).encode()
