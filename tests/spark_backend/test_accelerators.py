"""Accelerators are told by files, and by nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_eval.errors import OperatorError
from agent_eval.spark_backend.accelerators import ACCELERATORS, find_accelerators
from agent_eval.spark_backend.probe import probe_machine, read_profile
from agent_eval.types import MachineProbe
from tests.spark_backend.test_probe import ARM_PHONE, folder, xeon

NVIDIA = {
    "proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module\n",
    "proc/driver/nvidia/gpus/0000:17:00.0/information": (
        "Model: \t\t NVIDIA H200\nIRQ:   \t\t 120\nGPU UUID: \t GPU-1\nBus Location: \t 0000:17:00.0\n"
    ),
    "sys/class/drm/card0/device/vendor": "0x10de\n",
}
ORIN = {
    "proc/device-tree/model": "NVIDIA Jetson Orin Nano Developer Kit\0",
    "proc/device-tree/compatible": "nvidia,p3768-0000+p3767-0005\0nvidia,p3767-0005\0nvidia,tegra234\0",
    "proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX Open Kernel Module\n",
}
GALAXY = {
    "proc/cpuinfo": ARM_PHONE,
    "dev/adsprpc-smd": "",
    "dev/kgsl-3d0": "",
    "sys/class/kgsl/kgsl-3d0/gpu_model": "Adreno830v2\n",
    "sys/devices/soc0/family": "Snapdragon\n",
    "sys/devices/soc0/machine": "SUN\n",
}


def test_a_server_with_a_gpu_computes_on_its_processor_all_the_same(tmp_path: Path) -> None:
    probe = probe_machine(folder(xeon(tmp_path), NVIDIA), machine="x86_64", system="Linux")
    assert (probe.accelerator, probe.gpu_name, probe.accelerator_class) == (
        "cuda_discrete",
        "NVIDIA H200",
        "cuda-discrete",
    )
    assert (probe.computes_on, probe.device_class) == ("cpu", "x86-amx")
    assert [(each.kind, each.vendor, each.source) for each in probe.sightings] == [
        ("gpu", "nvidia", "/proc/driver/nvidia/gpus/0000:17:00.0/information")
    ]
    # no file tells these
    assert (probe.gpu_memory_bytes, probe.gpu_capability, probe.supports_bf16, probe.bf16) == (0, "", None, None)


def test_a_jetson_is_known_by_its_device_tree_and_its_chip(tmp_path: Path) -> None:
    probe = probe_machine(folder(tmp_path, ORIN), machine="aarch64", system="Linux")
    assert (probe.accelerator, probe.accelerator_class, probe.device_class) == ("cuda_unified", "jetson", "arm64")
    assert probe.gpu_name == "NVIDIA Jetson Orin Nano Developer Kit"
    assert (probe.gpu_capability, probe.bf16) == ("8.7", True)
    assert probe.gpu_memory_bytes == 0  # it has none of its own


@pytest.mark.parametrize(
    ("compatible", "capability", "bf16"),
    [("nvidia,tegra210", "5.3", False), ("nvidia,tegra194", "7.2", False), ("nvidia,tegra264", "", None)],
)
def test_the_capability_of_a_chip_that_is_not_known_stays_open(
    tmp_path: Path, compatible: str, capability: str, bf16: bool | None
) -> None:
    files = {"sys/firmware/devicetree/base/compatible": f"nvidia,board\0{compatible}\0"}
    probe = probe_machine(folder(tmp_path, files), machine="aarch64")
    assert (probe.accelerator, probe.gpu_capability, probe.bf16) == ("cuda_unified", capability, bf16)


def test_another_board_with_a_device_tree_is_no_jetson(tmp_path: Path) -> None:
    files = {"proc/device-tree/model": "Raspberry Pi 5\0", "proc/device-tree/compatible": "raspberrypi,5-model-b\0"}
    assert find_accelerators(folder(tmp_path, files)).accelerator == "none"


def test_a_phone_has_an_npu_and_a_gpu_and_computes_on_neither(tmp_path: Path) -> None:
    probe = probe_machine(folder(tmp_path, GALAXY), machine="aarch64", system="Linux")
    assert (probe.accelerator, probe.accelerator_class, probe.device_class) == ("npu:qualcomm", "phone-npu", "arm64")
    assert [(each.kind, each.vendor, each.name) for each in probe.sightings] == [
        ("npu", "qualcomm", "Hexagon DSP of Snapdragon SUN"),
        ("gpu", "qualcomm", "Adreno830v2 of Snapdragon SUN"),
    ]


@pytest.mark.parametrize(
    ("files", "accelerator", "of_class"),
    [
        ({"dev/fastrpc-cdsp": ""}, "npu:qualcomm", "phone-npu"),
        ({"dev/fastrpc-cdsp-secure": ""}, "npu:qualcomm", "phone-npu"),
        ({"dev/fastrpc-adsp": ""}, "none", ""),  # the DSP for sound
        ({"dev/vertex10": ""}, "npu:samsung", "accelerator-other"),
        ({"dev/apusys": ""}, "npu:mediatek", "accelerator-other"),
        ({"dev/mali0": ""}, "gpu:arm", "accelerator-other"),
        ({"sys/class/accel/accel0/device/vendor": "0x8086\n"}, "npu:intel", "accelerator-other"),
        ({"sys/class/accel/accel0/device/vendor": "0xffff\n"}, "none", ""),
        ({"sys/class/drm/card1/device/vendor": "0x1002\n"}, "gpu:amd", "accelerator-other"),
        ({"sys/class/drm/card1/device/vendor": "0x1af4\n"}, "none", ""),  # the display of a virtual machine
        ({"proc/driver/nvidia/version": "NVRM version: 1\n"}, "cuda", "accelerator-other"),
    ],
)
def test_what_a_file_tells(tmp_path: Path, files: dict[str, str], accelerator: str, of_class: str) -> None:
    probe = probe_machine(folder(tmp_path, files), machine="aarch64")
    assert (probe.accelerator, probe.accelerator_class, probe.device_class) == (accelerator, of_class, "arm64")
    assert ACCELERATORS.fullmatch(probe.accelerator)
    assert all((tmp_path / each.source.lstrip("/")).exists() for each in probe.sightings)


def test_the_memory_of_a_gpu_is_told_where_its_driver_tells_it(tmp_path: Path) -> None:
    card = "sys/class/drm/card1/device"
    files = {
        f"{card}/vendor": "0x1002\n",
        f"{card}/mem_info_vram_total": "17163091968\n",
        f"{card}/product_name": "X\n",
    }
    found = find_accelerators(folder(tmp_path, files))
    assert (found.gpu_name, found.gpu_memory_bytes) == ("X", 17163091968)


@pytest.mark.parametrize("text", ["", "\0\0", "Model:", "\x00\xff", "0x", "many"])
def test_damaged_files_are_no_error(tmp_path: Path, text: str) -> None:
    places = [*NVIDIA, *ORIN, *GALAXY, "sys/class/accel/accel0/device/vendor", "sys/class/drm/card0/device/vendor"]
    probe = probe_machine(folder(tmp_path, dict.fromkeys(places, text)), machine="aarch64")
    assert ACCELERATORS.fullmatch(probe.accelerator)
    assert probe.device_class == "arm64"


def test_a_record_of_before_is_read_and_keeps_its_class() -> None:
    from pydantic import TypeAdapter

    old = (
        '{"arch": "x86_64", "cpu_model": "cpu", "cpu_flags": ["avx2"], "physical_cores": 2, "memory_bytes": 1, '
        '"os": "Linux", "accelerator": "cuda"}'
    )
    probe = TypeAdapter(MachineProbe).validate_json(old)
    assert (probe.accelerator, probe.device_class, probe.computes_on) == ("cuda", "x86-avx2", "cpu")


PROFILES = Path(__file__).parent.parent.parent / "docs" / "reference" / "profiles"


@pytest.mark.parametrize(
    ("name", "device_class"), [("amx-server", "x86-amx"), ("arm64-phone", "arm64"), ("phone-npu", "phone-npu")]
)
def test_the_profiles_of_the_docs_are_read(name: str, device_class: str) -> None:
    assert read_profile(PROFILES / f"{name}.json").device_class == device_class


def test_every_profile_of_the_docs_is_read_by_a_test() -> None:
    assert {file.stem for file in PROFILES.glob("*.json")} == {"amx-server", "arm64-phone", "phone-npu"}


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ('"accelerator": "gpu"', "'gpu', expected none, cuda_discrete"),
        ('"accelerator": "NPU:Qualcomm"', "hint: such as npu:qualcomm"),
        ('"accelerator": "none"', "computes on an accelerator and has 'none'"),
    ],
)
def test_a_profile_of_an_accelerator_that_cannot_be_is_refused(tmp_path: Path, changed: str, named: str) -> None:
    text = (PROFILES / "phone-npu.json").read_text("utf-8")
    profile = tmp_path / "profile.json"
    profile.write_text(text.replace('"accelerator": "npu:qualcomm"', changed), encoding="utf-8")
    with pytest.raises(OperatorError) as refused:
        read_profile(profile)
    assert named in str(refused.value)
