"""System properties, as ``getprop`` lists them. Knows the phone's state and what ``setprop`` changed, nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_eval.device_sim.shell.system import System

DEVICE = "sim"
"""``ro.product.device``: the phone's code name."""
SDK = {"13": "33", "14": "34", "15": "35", "16": "36"}
_DEFAULT_SDK = "35"


def sdk_of(release: str) -> str:
    """Return the API level of a release of Android."""
    return SDK.get(release, _DEFAULT_SDK)


def all_of(system: System) -> dict[str, str]:
    """Return every property of a phone by name."""
    phone = system.phone
    release = str(phone.state["about/android_version"])
    build, model = str(phone.world["about/build"]), str(phone.state["about/model"])
    network = system.memory.carrier
    fingerprint = f"{DEVICE}/{DEVICE}/{DEVICE}:{release}/{build}/1:user/release-keys"
    running = {f"init.svc.{name}": "running" for name in ("adbd", "logd", "netd", "surfaceflinger", "vold", "zygote")}
    return {
        "dalvik.vm.heapgrowthlimit": "192m",
        "dalvik.vm.heapsize": "512m",
        "dev.bootcomplete": "1",
        "gsm.network.type": "LTE",
        "gsm.operator.alpha": network,
        "gsm.operator.iso-country": "us",
        "gsm.operator.numeric": "310260",
        "gsm.sim.operator.alpha": network,
        "gsm.sim.operator.numeric": "310260",
        "gsm.sim.state": "LOADED",
        "gsm.version.baseband": "1.0.0.0",
        **running,
        "net.bt.name": "Android",
        "persist.sys.locale": phone.locale.tag,
        "persist.sys.timezone": "GMT",
        "persist.sys.usb.config": "adb",
        "ro.adb.secure": "1",
        "ro.board.platform": DEVICE,
        "ro.boot.hardware": DEVICE,
        "ro.boot.qemu": "0",
        "ro.boot.qemu.avd_name": "",
        "ro.boot.serialno": str(phone.world["about/serial"]),
        "ro.boot.verifiedbootstate": "green",
        "ro.bootloader": "unknown",
        "ro.build.characteristics": "default",
        "ro.build.date": "Tue Jan  7 00:00:00 UTC 2025",
        "ro.build.date.utc": "1736208000",
        "ro.build.description": f"{DEVICE}-user {release} {build} 1 release-keys",
        "ro.build.display.id": build,
        "ro.build.fingerprint": fingerprint,
        "ro.build.flavor": f"{DEVICE}-user",
        "ro.build.host": "build",
        "ro.build.id": build,
        "ro.build.product": DEVICE,
        "ro.build.tags": "release-keys",
        "ro.build.type": "user",
        "ro.build.user": "build",
        "ro.build.version.all_codenames": "REL",
        "ro.build.version.codename": "REL",
        "ro.build.version.incremental": "1",
        "ro.build.version.preview_sdk": "0",
        "ro.build.version.release": release,
        "ro.build.version.release_or_codename": release,
        "ro.build.version.sdk": sdk_of(release),
        "ro.build.version.security_patch": "2025-01-05",
        "ro.carrier": "unknown",
        "ro.crypto.state": "encrypted",
        "ro.debuggable": "0",
        "ro.hardware": DEVICE,
        "ro.opengles.version": "196610",
        "ro.product.board": DEVICE,
        "ro.product.brand": DEVICE,
        "ro.product.build.fingerprint": fingerprint,
        "ro.product.cpu.abi": "x86_64",
        "ro.product.cpu.abilist": "x86_64",
        "ro.product.cpu.abilist32": "",
        "ro.product.cpu.abilist64": "x86_64",
        "ro.product.device": DEVICE,
        "ro.product.locale": "en-US",
        "ro.product.manufacturer": "agent-eval",
        "ro.product.model": model,
        "ro.product.name": DEVICE,
        "ro.product.system.brand": DEVICE,
        "ro.product.system.model": model,
        "ro.secure": "1",
        "ro.serialno": str(phone.world["about/serial"]),
        "ro.sf.lcd_density": str(system.memory.physical.density),
        "ro.vendor.build.fingerprint": fingerprint,
        "ro.zygote": "zygote64",
        "service.bootanim.exit": "1",
        "sys.boot_completed": "1",
        "sys.usb.config": "adb",
        "sys.usb.state": "adb",
        "vold.has_adoptable": "1",
        **system.memory.properties,
    }
