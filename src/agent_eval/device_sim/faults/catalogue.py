"""The closed set of faults, and those of one phone behind the hooks that the phone calls. Knows no fault inside."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from agent_eval.device_sim.faults.changing import AsyncToggle, ConfirmToggle
from agent_eval.device_sim.faults.dressing import BelowFold, DuplicateLabels, OccludedElement, UnlabelledSwitch
from agent_eval.device_sim.faults.fault import Fault, Toggle
from agent_eval.device_sim.faults.intruding import HeadsUp, PermissionDialog
from agent_eval.device_sim.faults.making import AlreadySet, LookalikeApp, RandomSkin
from agent_eval.device_sim.faults.reading import EmptyDump, PartialDump, StaleTree, UnknownForeground
from agent_eval.device_sim.faults.screens import CONFIRM_TOGGLE
from agent_eval.device_sim.faults.touching import AnrDialog, ListShift, TapNoop
from agent_eval.device_sim.faults.writing import KeyboardOverlay, TextMangled
from agent_eval.device_sim.screen import App, Page, Ui
from agent_eval.device_sim.trees import holds_switch, name_of
from agent_eval.device_sim.ui import View, Window
from agent_eval.errors import TaskFault
from agent_eval.types import FiredFault, PhoneSetup, Scalar

if TYPE_CHECKING:
    from agent_eval.device_sim.parts.stacks import Front
    from agent_eval.device_sim.phone import Phone

FAULTS: Mapping[str, type[Fault]] = MappingProxyType({
    fault.name: fault
    for fault in (
        StaleTree, EmptyDump, PartialDump, KeyboardOverlay, PermissionDialog, OccludedElement, ListShift, TextMangled,
        TapNoop, AlreadySet, AsyncToggle, HeadsUp, AnrDialog, UnlabelledSwitch, DuplicateLabels, BelowFold,
        ConfirmToggle, RandomSkin, LookalikeApp, UnknownForeground,
    )
})  # fmt: skip
"""Every fault by name, in the order of the catalogue: F1 to F20."""

_NAMES: Mapping[str, str] = MappingProxyType({fault.number: name for name, fault in FAULTS.items()})


def fault_name(name: str) -> str:
    """Return the name of a fault that is given by its name or number.

    Raises:
        TaskFault: there is no such fault.
    """
    found = _NAMES.get(name.upper(), name)
    if found not in FAULTS:
        known = ", ".join(f"{known} ({fault.number})" for known, fault in FAULTS.items())
        raise TaskFault(f"this phone has no fault {name!r}", hint=f"the faults are {known}")
    return found


class Faults:
    """The faults of one phone, asked in the order of the catalogue. Without any, every hook leaves all as it is.

    Args:
        setup: Names them, by name or number, and seeds them.

    Raises:
        TaskFault: the setup names a fault that does not exist.
    """

    def __init__(self, setup: PhoneSetup) -> None:
        wanted = {fault_name(name) for name in setup.faults}
        self._faults = tuple(fault(setup.seed) for name, fault in FAULTS.items() if name in wanted)
        self._toggle: Toggle | None = None
        self.fired: list[FiredFault] = []
        self.keyboard_covers = any(fault.covers for fault in self._faults)

    def __bool__(self) -> bool:
        return bool(self._faults)

    # ------------------------------------------------------------------ while the phone is made
    def prepare(self, setup: PhoneSetup) -> PhoneSetup:
        """Return the setup as the phone gets it."""
        for fault in self._faults:
            setup = fault.prepare(setup)
        return setup

    def installed(self, apps: Mapping[str, App]) -> Mapping[str, App]:
        """Return the apps that the phone has."""
        for fault in self._faults:
            apps = fault.installed(apps)
        return apps

    def begin(self, phone: Phone) -> None:
        """Belong to a phone that shows its launcher."""
        for fault in self._faults:
            fault.attach(phone, lambda name, what: self._note(phone, name, what))
        for fault in self._faults:
            fault.begin()

    def _note(self, phone: Phone, name: str, what: str) -> None:
        self.fired.append(FiredFault(phone.clock.now_ms - phone.boot_ms, name, what))
        phone.events.add("fault", f"{name}: {what}")

    # ------------------------------------------------------------------ while it is used
    def launched(self, package: str) -> None:
        """Know that an app was brought to the front."""
        for fault in self._faults:
            fault.launched(package)

    def lets_touch(self, window: Window | None, x: float, y: float) -> bool:
        """Tell whether a touch gets through; the page may have moved by then. Bars and keyboard always work."""
        if not self._faults or window is None or window.kind not in ("activity", "dialog"):
            return True
        through = True
        for fault in self._faults:  # each sees every touch, so that one does not move what another draws
            through = fault.lets_touch(x, y) and through
        return through

    def touching(self, window: Window, view: View, page: Page) -> None:
        """Know which view of which page the finger is on, until it lets go."""
        self._toggle = None
        if page.screen == CONFIRM_TOGGLE:
            self._toggle = Toggle(str(page.vars["screen"]), str(page.vars["title"]), confirmed=True)
        elif holds_switch(view):
            self._toggle = Toggle(page.screen, name_of(window.root, view))

    def let_go(self) -> None:
        """Know that no finger is on the screen."""
        self._toggle = None

    def holds_back(self, path: str, value: Scalar, now: Scalar | None) -> bool:
        """Tell whether a change is not made now: one that a finger on a switch asked for, of a yes or no."""
        toggle = self._toggle
        if toggle is None or type(now) is not bool:
            return False
        if any(fault.cancels(path) for fault in self._faults):
            return True
        # the dialog comes before what it asks about
        return value != now and any(fault.defers(toggle, path, value) for fault in reversed(self._faults))

    def typed(self, before: str, after: str, *, numeric: bool) -> str:
        """Return what becomes of a field whose text was to change."""
        for fault in self._faults:
            after = fault.typed(before, after, numeric=numeric)
        return after

    def keyboard_opened(self) -> None:
        """Know that the keyboard came up."""
        for fault in self._faults:
            fault.keyboard_opened()

    # ------------------------------------------------------------------ while it is looked at
    def dress(self, ui: Ui, root: View) -> None:
        """Change the views of a page, built and not yet laid out."""
        for fault in self._faults:
            fault.dress(ui, root)

    def before_read(self) -> None:
        """Do what is due when a client is about to read the screen."""
        for fault in self._faults:
            fault.before_read()

    def read(self, windows: tuple[Window, ...]) -> tuple[Window, ...]:
        """Return the windows as a client gets to see them."""
        for fault in self._faults:
            windows = fault.read(windows)
        return windows

    def reported(self, front: Front) -> Front | None:
        """Return what system services say is in front; None when they do not know."""
        reported: Front | None = front
        for fault in self._faults:
            reported = fault.reported(front) if reported is not None else None
        return reported
