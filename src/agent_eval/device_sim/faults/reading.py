"""Faults of looking: what a client reads is old, empty, cut short, or of unknown origin (F1, F2, F3, F20)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agent_eval.device_sim.faults.fault import Fault
from agent_eval.device_sim.hierarchy import dump_all_windows
from agent_eval.device_sim.ui import Window

if TYPE_CHECKING:
    from agent_eval.device_sim.parts.stacks import Front

_CONTENT = 1
"""Place of the active window among the phone's windows, after the status bar."""


class StaleTree(Fault):
    """The accessibility service answers from before the last change (uiautomator2#449, #930)."""

    name = "stale_tree"
    number = "F1"
    summary = "one or two dumps after a change still show the screen before it"

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._served: tuple[Window, ...] = ()
        self._served_xml = ""
        self._left = 0
        self._fresh_next = True

    def read(self, windows: tuple[Window, ...]) -> tuple[Window, ...]:
        """Serve what was served before, for a few reads, then the screen as it is."""
        xml = dump_all_windows(windows)
        if xml != self._served_xml:
            if self._left == 0 and not self._fresh_next and self.rng.random() < 0.4:
                self._left = self.rng.randint(1, 2)
            if self._left:
                self._left -= 1
                self._fresh_next = self._left == 0
                self.fire("a dump shows the screen before the last change")
                return self._served
        self._served, self._served_xml, self._left, self._fresh_next = windows, xml, 0, False
        return windows


class EmptyDump(Fault):
    """There is no active window for a moment (android_world#198, mobilerun#282)."""

    name = "empty_dump"
    number = "F2"
    summary = "a dump, or two in a row, are empty; the next one is whole"

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._left = 0
        self._whole_next = False

    def read(self, windows: tuple[Window, ...]) -> tuple[Window, ...]:
        """Serve nothing at times, never more often than the two retries of uiautomator2 make up for."""
        if self._left == 0 and not self._whole_next and self.rng.random() < 0.25:
            self._left = self.rng.randint(1, 2)
        self._whole_next = False
        if not self._left:
            return windows
        self._left -= 1
        self._whole_next = self._left == 0
        self.fire("a dump is empty")
        return ()


class PartialDump(Fault):
    """The tree was read before it was filled (uiautomator2#895)."""

    name = "partial_dump"
    number = "F3"
    summary = "a dump holds one node: the frame of the window in front"

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._whole_next = False

    def read(self, windows: tuple[Window, ...]) -> tuple[Window, ...]:
        """Serve the frame alone at times, never twice in a row."""
        if not windows or self._whole_next or self.rng.random() >= 0.25:
            self._whole_next = False
            return windows
        self._whole_next = True
        content = windows[min(_CONTENT, len(windows) - 1)]
        self.fire("a dump holds one node")
        return (replace(content, root=replace(content.root, children=())),)


class UnknownForeground(Fault):
    """Nobody knows which app is in front (uiautomator2#200, #843, #1085, #1148)."""

    name = "unknown_foreground"
    number = "F20"
    summary = "neither dumps nor dumpsys nor deviceInfo name the app in front"

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._noted = ""

    def read(self, windows: tuple[Window, ...]) -> tuple[Window, ...]:
        """Leave out the package of what is in front."""
        self._note_front()
        return tuple(
            replace(window, package="") if window.kind in ("activity", "dialog") else window for window in windows
        )

    def reported(self, front: Front) -> Front | None:  # noqa: ARG002 - whatever it is, nobody knows
        """Know nothing."""
        self._note_front()
        return None

    def _note_front(self) -> None:
        screen = self.phone.front.screen
        if screen != self._noted:
            self._noted = screen
            self.fire(f"nobody knows that {screen} is in front")
