"""What a fault is: hooks that the phone calls at a few narrow points. Knows no particular fault.

A fault has a stream of its own, drawn from the phone's seed and its name: switching on one does not move another.
What it decides about a page it decides from the page's name, not from the order in which pages are looked at.
"""

# ruff: noqa: ARG002 - hooks that do nothing are told what those that do something need

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from agent_eval.device_sim.screen import App, Ui
from agent_eval.device_sim.ui import View, Window
from agent_eval.types import PhoneSetup, Scalar

if TYPE_CHECKING:
    from agent_eval.device_sim.parts.stacks import Front
    from agent_eval.device_sim.phone import Phone


@dataclass(frozen=True, slots=True)
class Toggle:
    """A switch that a finger is on."""

    screen: str
    """The page that shows it."""
    title: str
    """The text that names it."""
    confirmed: bool = False
    """Whether a dialog asked, and the answer was yes."""


class Fault:
    """One thing that goes wrong on a phone. Every hook does nothing until a fault overrides it.

    Args:
        seed: The phone's seed.
    """

    name: ClassVar[str]
    number: ClassVar[str]
    """Its place in the catalogue: F1 to F20."""
    summary: ClassVar[str]
    """What it does, in a line."""

    phone: Phone
    _note: Callable[[str, str], None]

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self.rng = random.Random(f"fault {self.name} {seed}")

    def attach(self, phone: Phone, note: Callable[[str, str], None]) -> None:
        """Belong to a phone; ``note`` records that the fault showed."""
        self.phone = phone
        self._note = note

    def fire(self, what: str) -> None:
        """Record that the fault showed just now."""
        self._note(self.name, what)

    def fire_once(self, ui: Ui, what: str) -> None:
        """Record that the fault shows on a page, once for as long as the page lives."""
        if not ui.var(f"fault/{self.name}", False):
            ui.set(f"fault/{self.name}", True)
            self.fire(f"{what} on {ui.page.screen}")

    def of_page(self, screen: str) -> random.Random:
        """Return the stream from which everything about one kind of page is decided."""
        return random.Random(f"fault {self.name} {self._seed} {screen}")

    # ------------------------------------------------------------------ while the phone is made
    def prepare(self, setup: PhoneSetup) -> PhoneSetup:
        """Return the setup as the phone gets it."""
        return setup

    def installed(self, apps: Mapping[str, App]) -> Mapping[str, App]:
        """Return the apps that the phone has."""
        return apps

    def begin(self) -> None:
        """Do what is to be done once the phone shows its launcher."""

    # ------------------------------------------------------------------ while it is used
    def launched(self, package: str) -> None:
        """Know that an app was brought to the front."""

    def lets_touch(self, x: float, y: float) -> bool:
        """Tell whether a touch of the page gets through; the page may have moved by then."""
        return True

    def defers(self, toggle: Toggle, path: str, value: Scalar) -> bool:
        """Tell whether a switch that a finger flipped is kept from changing the phone now."""
        return False

    def cancels(self, path: str) -> bool:
        """Tell whether a change of a path undid something begun, and is used up by that."""
        return False

    def typed(self, before: str, after: str, *, numeric: bool) -> str:
        """Return what becomes of a field whose text was to change."""
        return after

    def keyboard_opened(self) -> None:
        """Know that the keyboard came up."""

    # ------------------------------------------------------------------ while it is looked at
    covers: ClassVar[bool] = False
    """Whether the keyboard lies over the page instead of shrinking it."""

    def dress(self, ui: Ui, root: View) -> None:
        """Change the views of a page, built and not yet laid out."""

    def before_read(self) -> None:
        """Do what is due when a client is about to read the screen."""

    def read(self, windows: tuple[Window, ...]) -> tuple[Window, ...]:
        """Return the windows as a client gets to see them."""
        return windows

    def reported(self, front: Front) -> Front | None:
        """Return what system services say is in front; None when they do not know."""
        return front
