"""Which accelerators a machine has, as far as its files tell. Needs no driver library, opens no device.

A file says that a driver is there and what it calls its device; it does not say that the device works, nor that a
program for it is installed. What no file tells stays empty: NVIDIA's driver, for one, writes a GPU's memory nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agent_eval.types import Sighting

ACCELERATORS = re.compile(r"none|cuda_discrete|cuda_unified|cuda|(gpu|npu):[a-z0-9_-]+")
"""What ``MachineProbe.accelerator`` may be; ``cuda`` in records of before."""

PCI_VENDORS = {
    "0x1002": "amd",
    "0x1022": "amd",
    "0x10de": "nvidia",
    "0x17cb": "qualcomm",
    "0x1da3": "habana",
    "0x8086": "intel",
}
"""Number in ``/sys/…/device/vendor`` to vendor (the PCI ID repository, pci.ids)."""

TEGRA_CAPABILITY = {"tegra210": "5.3", "tegra186": "6.2", "tegra194": "7.2", "tegra234": "8.7"}
"""Chip of a Jetson, in its device tree, to compute capability (NVIDIA, "CUDA GPU Compute Capability")."""

Kind = Literal["gpu", "npu"]

NODES: tuple[tuple[Kind, str, str, str], ...] = (
    ("npu", "qualcomm", "Hexagon DSP", "dev/fastrpc-cdsp*"),  # upstream kernels: drivers/misc/fastrpc.c
    ("npu", "qualcomm", "Hexagon DSP", "dev/adsprpc-smd*"),  # Qualcomm's own kernels: adsprpc.c
    ("npu", "mediatek", "APU", "dev/apusys*"),
    ("npu", "samsung", "NPU", "dev/vertex10"),
    ("npu", "google", "Edge TPU", "dev/edgetpu*"),
    ("npu", "rockchip", "NPU", "sys/class/devfreq/*.npu"),
    ("gpu", "qualcomm", "Adreno", "dev/kgsl-3d0"),
    ("gpu", "arm", "Mali", "dev/mali0"),
)
"""Kind, vendor, name and file of accelerators that are no PCI device: the node that their driver makes."""


@dataclass(frozen=True)
class Accelerators:
    """What the files of a machine tell of its accelerators."""

    accelerator: str = "none"
    """As ``MachineProbe.accelerator``: of those sighted the one that a way to run the model is likeliest known for."""
    gpu_name: str = ""
    gpu_memory_bytes: int = 0
    gpu_capability: str = ""
    sightings: tuple[Sighting, ...] = ()


def find_accelerators(root: Path) -> Accelerators:
    """Look for accelerators in the files below a root."""
    jetson = _jetson(root)
    nvidia = tuple(_nvidia(root))
    found = (*jetson, *nvidia, *_npus(root), *_gpus(root, skip_nvidia=bool(nvidia)))
    gpu = next((each for each in found if each.kind == "gpu"), None)
    npu = next((each for each in found if each.kind == "npu"), None)
    if jetson:
        accelerator = "cuda_unified"
    elif nvidia:  # without the name of a GPU it cannot be told which kind it is
        accelerator = "cuda_discrete" if nvidia[0].name else "cuda"
    elif npu is not None:
        accelerator = f"npu:{npu.vendor}"
    else:
        accelerator = f"gpu:{gpu.vendor}" if gpu is not None else "none"
    return Accelerators(
        accelerator=accelerator,
        gpu_name=gpu.name if gpu is not None else "",
        gpu_memory_bytes=0 if jetson or nvidia else _drm_memory(root),
        gpu_capability=_tegra_capability(root) if jetson else "",
        sightings=found,
    )


DEVICE_TREES = ("proc/device-tree", "sys/firmware/devicetree/base")


def _jetson(root: Path) -> tuple[Sighting, ...]:
    """Return the GPU of a Jetson, or of another board with a Tegra chip: it shares the machine's memory."""
    for folder in DEVICE_TREES:
        if any(name.startswith("nvidia,tegra") for name in _strings(root / folder / "compatible")):
            model = next(iter(_strings(root / folder / "model")), "")
            return (Sighting("gpu", "nvidia", model, f"/{folder}/compatible"),)
    return ()


def _tegra_capability(root: Path) -> str:
    names = [name for folder in DEVICE_TREES for name in _strings(root / folder / "compatible")]
    return next((found for chip, found in TEGRA_CAPABILITY.items() if f"nvidia,{chip}" in names), "")


def _nvidia(root: Path) -> Iterator[Sighting]:
    """Yield the GPUs that NVIDIA's driver lists, or the driver itself where it lists none."""
    listed = _sorted(root, "proc/driver/nvidia/gpus/*/information")
    for file in listed:
        fields = dict(line.split(":", 1) for line in _read(file).splitlines() if ":" in line)
        yield Sighting("gpu", "nvidia", fields.get("Model", "").strip(), _shown(root, file))
    if not listed and (root / "proc/driver/nvidia/version").exists():
        yield Sighting("gpu", "nvidia", "", "/proc/driver/nvidia/version")


def _npus(root: Path) -> Iterator[Sighting]:
    for file in _sorted(root, "sys/class/accel/accel*/device/vendor"):  # Documentation/accel of the Linux kernel
        vendor = PCI_VENDORS.get(_read(file).strip())
        if vendor is not None:
            yield Sighting("npu", vendor, _driver(file.parent), _shown(root, file))
    yield from _nodes(root, "npu")


def _gpus(root: Path, *, skip_nvidia: bool) -> Iterator[Sighting]:
    for file in _sorted(root, "sys/class/drm/card*/device/vendor"):
        vendor = PCI_VENDORS.get(_read(file).strip())
        if vendor is not None and not (vendor == "nvidia" and skip_nvidia):
            name = _read(file.with_name("product_name")).strip() or _driver(file.parent)
            yield Sighting("gpu", vendor, name, _shown(root, file))
    yield from _nodes(root, "gpu")


def _nodes(root: Path, wanted: str) -> Iterator[Sighting]:
    for kind, vendor, name, pattern in NODES:
        files = _sorted(root, pattern)
        if kind == wanted and files:
            yield Sighting(kind, vendor, _node_name(root, vendor, name), _shown(root, files[0]))


def _node_name(root: Path, vendor: str, name: str) -> str:
    """Return the name of an accelerator in a system on a chip, with the chip's where the kernel tells it."""
    if name == "Adreno":
        name = _read(root / "sys/class/kgsl/kgsl-3d0/gpu_model").strip() or name
    if vendor not in ("qualcomm", "mediatek", "samsung", "google"):
        return name
    chip = [_read(root / f"sys/devices/soc0/{field}").strip() for field in ("family", "machine")]
    parts = list(dict.fromkeys(part for part in chip if part))
    return f"{name} of {' '.join(parts)}" if parts else name


def _drm_memory(root: Path) -> int:
    """Return the memory of the first GPU whose driver tells it: amdgpu does."""
    for file in _sorted(root, "sys/class/drm/card*/device/mem_info_vram_total"):
        text = _read(file).strip()
        if text.isdigit():
            return int(text)
    return 0


def _driver(device: Path) -> str:
    try:
        return (device / "driver").resolve(strict=True).name
    except OSError:
        return ""


def _sorted(root: Path, pattern: str) -> list[Path]:
    try:
        found: Iterable[Path] = root.glob(pattern)
        return sorted(found)
    except OSError:
        return []


def _strings(file: Path) -> list[str]:
    """Return the strings of a property of a device tree, which end in zero bytes."""
    return [text for text in _read(file).split("\0") if text]


def _shown(root: Path, file: Path) -> str:
    return f"/{file.relative_to(root).as_posix()}"


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return ""
