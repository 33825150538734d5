"""What is installed: the phone's own apps, and packages that a client installed. Knows no command.

A package that a client installed has no screens: it is listed, and cannot be opened. Knows process numbers too, because
``ps``, ``pidof`` and ``dumpsys`` must agree on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from agent_eval.device_sim import keyboard
from agent_eval.device_sim.phone import Phone
from agent_eval.device_sim.shell.apk import Manifest

ADB_KEYBOARD = "com.github.uiautomator"
"""Package of the keyboard that uiautomator2 installs to type any text (its _input.py)."""
ADB_KEYBOARD_ID = f"{ADB_KEYBOARD}/.AdbKeyboard"
_FIRST_UID = 10060
_DISABLED = "settings/disabled_apps"
_SYSTEM_UIDS = {"android": 1000, "com.android.settings": 1000, "com.android.shell": 2000}
_WITHOUT_SCREENS = ("android", "com.android.shell", keyboard.PACKAGE)
"""Packages that every phone has beside the apps; adb's commands run as the second (mobilecli asks for it)."""


@dataclass(frozen=True, slots=True)
class Package:
    """One installed package."""

    name: str
    uid: int
    path: str
    """Its APK."""
    system: bool
    version_code: int
    version_name: str
    installed_s: int
    """Seconds since the epoch."""
    enabled: bool = True


def pid_of(phone: Phone, package: str) -> int:
    """Return the process number of an app: equal on equal phones, and another one each time that it starts anew."""
    return 1200 + _number_of(package) + 40000 * phone.restarts(package)


def _number_of(package: str) -> int:
    return sum(ord(character) * (place + 1) for place, character in enumerate(package)) % 20000


class Packages:
    """The packages of one phone.

    Args:
        phone: The phone.
    """

    def __init__(self, phone: Phone) -> None:
        self._phone = phone
        names = [*phone.apps, keyboard.PACKAGE]
        self._uids = {name: _SYSTEM_UIDS.get(name, _FIRST_UID + place) for place, name in enumerate(names)}
        self._added: dict[str, Package] = {}
        self._removed: set[str] = set()

    def __iter__(self) -> Iterator[Package]:
        """Yield the packages, sorted by name."""
        names = {*_WITHOUT_SCREENS, *self._phone.apps, *self._added} - self._removed
        for name in sorted(names):
            package = self.get(name)
            if package is not None:
                yield package

    def get(self, name: str) -> Package | None:
        """Return a package by name."""
        if name in self._removed:
            return None
        added = self._added.get(name)
        if added is not None:
            return replace(added, enabled=name not in self._disabled())
        if name not in self._phone.apps and name not in _WITHOUT_SCREENS:
            return None
        release = str(self._phone.state["about/android_version"])
        system = name.startswith(("com.android.", "com.google.android.")) or name == "android"
        uid = self._uids.get(name, _SYSTEM_UIDS.get(name, 1000))
        return Package(
            name, uid, self._path(name, system=system), system, 35 if system else 1,
            release if system else "1.0", 1230768000, enabled=name not in self._disabled(),
        )  # fmt: skip

    @staticmethod
    def _path(name: str, *, system: bool) -> str:
        if name == "android":
            return "/system/framework/framework-res.apk"
        if system:
            return f"/system/app/{name.rpartition('.')[2]}/base.apk"
        mark = f"{(1200 + _number_of(name)) * 2654435761 % 2**32:08x}"
        return f"/data/app/~~{mark}==/{name}-{mark[::-1]}==/base.apk"

    def has(self, name: str) -> bool:
        """Tell whether a package is installed."""
        return self.get(name) is not None

    def can_open(self, name: str) -> bool:
        """Tell whether a package has screens and may be opened."""
        package = self.get(name)
        return package is not None and package.enabled and name in self._phone.apps

    def user_of(self, name: str) -> str:
        """Return the user that a package's process runs as."""
        package = self.get(name)
        uid = package.uid if package is not None else 10000
        return "system" if uid == 1000 else f"u0_a{uid - 10000}"

    def debuggable(self, name: str) -> bool:
        """Tell whether a debugger may attach: only to what a client installed."""
        return name in self._added

    def install(self, manifest: Manifest) -> None:
        """Install a package, or replace the one that is there."""
        name = manifest.package
        self._removed.discard(name)
        if name in self._phone.apps:
            return
        uid = self._uids.setdefault(name, _FIRST_UID + len(self._uids))
        self._added[name] = Package(
            name, uid, self._path(name, system=False), False, manifest.version_code, manifest.version_name,
            self._phone.clock.now_ms // 1000,
        )  # fmt: skip
        if name == ADB_KEYBOARD and ADB_KEYBOARD_ID not in self._phone.input_methods:
            self._phone.input_methods.append(ADB_KEYBOARD_ID)

    def uninstall(self, name: str) -> bool:
        """Remove a package; tell whether that is allowed."""
        package = self.get(name)
        if package is None or package.system:
            return False
        self._added.pop(name, None)
        if name in self._phone.apps:
            self._phone.force_stop(name)
            self._removed.add(name)
        if name == ADB_KEYBOARD and ADB_KEYBOARD_ID in self._phone.input_methods:
            self._phone.input_methods.remove(ADB_KEYBOARD_ID)
        return True

    def _disabled(self) -> set[str]:
        return set(str(self._phone.state.get(_DISABLED, "")).split(","))

    def enable(self, name: str, *, on: bool) -> None:
        """Let a package be opened, or not."""
        names = self._disabled() - {"", name}
        if not on:
            names.add(name)
            self._phone.force_stop(name)
        self._phone.put(_DISABLED, ",".join(sorted(names)))
