"""Faults of effect: a switch that a finger flipped comes late, or asks back (F11, F17)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from agent_eval.device_sim.faults.fault import Fault, Toggle
from agent_eval.device_sim.faults.screens import CONFIRM_TOGGLE, pending_note
from agent_eval.device_sim.parts.values import settle
from agent_eval.device_sim.screen import Ui
from agent_eval.device_sim.trees import add_text, first_text, holds_switch, walk
from agent_eval.device_sim.ui import View
from agent_eval.types import Scalar


@dataclass(slots=True, eq=False)
class _Begun:
    """A change on its way."""

    toggle: Toggle
    value: Scalar
    reads_left: int


class AsyncToggle(Fault):
    """A switch takes effect only after a while; a second tap undoes the first."""

    name = "async_toggle"
    number = "F11"
    summary = "a switch of Settings takes effect after two dumps or five seconds; a second tap undoes it"

    READS: ClassVar[int] = 2
    WAIT_MS: ClassVar[int] = 5000
    PENDING: ClassVar[str] = "pending/"
    """Prefix of the transient path that names what is begun; its value is what the path is going to be."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._begun: dict[str, _Begun] = {}

    def defers(self, toggle: Toggle, path: str, value: Scalar) -> bool:
        """Begin what the finger asked for."""
        if not path.startswith("settings/"):
            return False
        begun = self._begun[path] = _Begun(toggle, value, self.READS)
        self.phone.world[self.PENDING + path] = value
        self.phone.changed()
        self.phone.after(self.WAIT_MS, lambda: self._settle(path) if self._begun.get(path) is begun else None)
        self.fire(f"{path} is going to be {'on' if value else 'off'}, but not yet")
        return True

    def cancels(self, path: str) -> bool:
        """Undo what was begun."""
        if path not in self._begun:
            return False
        del self._begun[path]
        del self.phone.world[self.PENDING + path]
        self.phone.changed()
        self.fire(f"{path} stays as it was: a second tap undid the first")
        return True

    def before_read(self) -> None:
        """Let what was shown as pending often enough take effect."""
        for path, begun in list(self._begun.items()):
            if begun.reads_left == 0:
                self._settle(path)
            begun.reads_left -= 1

    def _settle(self, path: str) -> None:
        begun = self._begun.pop(path)
        del self.phone.world[self.PENDING + path]
        settle(self.phone, path, begun.value)

    def dress(self, ui: Ui, root: View) -> None:
        """Say below each switch on its way that it is."""
        for begun in self._begun.values():
            if begun.toggle.screen != ui.page.screen:
                continue
            row = next((view for view in walk(root) if _is_row_of(view, begun.toggle.title)), None)
            if row is not None:
                add_text(row, pending_note(ui, on=bool(begun.value)), begun.toggle.title)


def _is_row_of(view: View, title: str) -> bool:
    """Tell whether a view is the innermost group of a title and its switch."""
    return (
        first_text(view) == title
        and holds_switch(view)
        and not any(_is_row_of(child, title) for child in view.children)
    )


class ConfirmToggle(Fault):
    """A dialog asks whether the switch was meant."""

    name = "confirm_toggle"
    number = "F17"
    summary = "flipping a switch opens a dialog; only confirming it changes anything"

    def defers(self, toggle: Toggle, path: str, value: Scalar) -> bool:
        """Ask, unless that was done."""
        if toggle.confirmed:
            return False
        page = {"path": path, "value": value, "title": toggle.title, "screen": toggle.screen}
        self.phone.open_page(CONFIRM_TOGGLE, page)
        self.fire(f"a dialog asks whether to turn {toggle.title!r} {'on' if value else 'off'}")
        return True
