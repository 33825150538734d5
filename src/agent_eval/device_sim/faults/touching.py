"""Faults of the finger: the page moves under it, the tap is lost, the app hangs (F7, F9, F13)."""

from __future__ import annotations

from agent_eval.device_sim.faults.fault import Fault
from agent_eval.device_sim.faults.screens import NOT_RESPONDING, suggestion
from agent_eval.device_sim.screen import Ui
from agent_eval.device_sim.trees import main_list
from agent_eval.device_sim.ui import View, touched


class ListShift(Fault):
    """A card appears above the rows between looking and tapping (auto-mobile PR#1919, #7367)."""

    name = "list_shift"
    number = "F7"
    summary = "a card appears at the top of a list just as it is tapped, and its rows move down"

    _VARIABLE = "fault/suggestion"

    def lets_touch(self, x: float, y: float) -> bool:
        """Move the list under the finger, at times; a page moves once."""
        window = self.phone.active_window
        listed = touched(window.root, x, y, lambda view: bool(view.scroll) and view.arrange == "column")
        page = self.phone.stacks.in_focus
        if listed is not None and self._VARIABLE not in page.vars and self.rng.random() < 0.5:
            page.vars[self._VARIABLE] = listed.scroll
            self.phone.changed()
            self.fire(f"the list of {page.screen} moved down as it was tapped")
        return True

    def dress(self, ui: Ui, root: View) -> None:
        """Show the card on a page that has it."""
        listed = main_list(root)
        if listed is not None and ui.var(self._VARIABLE) == listed.scroll:
            listed.children = (suggestion(ui, lambda: ui.set(self._VARIABLE, "dismissed")), *listed.children)


class TapNoop(Fault):
    """A tap has no effect (Open-AutoGLM#102, #222; mobilerun#195)."""

    name = "tap_noop"
    number = "F9"
    summary = "one tap of a page in four does nothing"

    def lets_touch(self, x: float, y: float) -> bool:
        """Lose the touch, at times."""
        if self.rng.random() >= 0.25:
            return True
        self.fire(f"a touch at {x:.0f}, {y:.0f} did nothing")
        return False


class AnrDialog(Fault):
    """The system asks what to do about an app that hangs."""

    name = "anr_dialog"
    number = "F13"
    summary = "a tap brings up that the app isn't responding; one can wait or close it"

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._left = self.rng.randint(1, 4)

    def lets_touch(self, x: float, y: float) -> bool:  # noqa: ARG002 - wherever it is
        """Hang, once in a while, when an app's own page is touched."""
        front, kind = self.phone.front, self.phone.active_window.kind
        if kind != "activity" or front.screen.startswith(("launcher/", "systemui/")):
            return True
        self._left -= 1
        if self._left > 0:
            return True
        self._left = self.rng.randint(8, 14)
        self.phone.open_page(NOT_RESPONDING, {"package": front.package})
        self.fire(f"{front.package} did not respond")
        return False
