"""Faults of layout: pages that hide, repeat or misname what they hold (F6, F14, F15, F16)."""

from __future__ import annotations

from agent_eval.device_sim.apps import launcher, systemui
from agent_eval.device_sim.faults.fault import Fault
from agent_eval.device_sim.faults.screens import banner, card, work_note
from agent_eval.device_sim.screen import Ui
from agent_eval.device_sim.trees import add_text, copy, first_text, main_list, walk
from agent_eval.device_sim.ui import View

_OWN_PAGES = (launcher.HOME, launcher.RECENTS, systemui.APP.home)
"""Pages of the system itself, which stay as they are."""


def _plain(ui: Ui, root: View) -> bool:
    """Tell whether a page is one of an app, and no dialog."""
    return ui.page.screen not in _OWN_PAGES and not ui.page.screen.startswith("launcher/") and root.arrange == "frame"


class OccludedElement(Fault):
    """What lies above an element gets its taps (uiautomator2#1093)."""

    name = "occluded_element"
    number = "F6"
    summary = "a banner takes the taps at the top or the foot of a page until it is dismissed"

    _GONE = "fault/banner_gone"

    def dress(self, ui: Ui, root: View) -> None:
        """Lay the banner over the page."""
        if not _plain(ui, root) or root.height >= 0 or root.fill == "dialog" or ui.var(self._GONE, False):
            return
        at_top = self.of_page(ui.page.screen).random() < 0.4
        root.children = (*root.children, banner(ui, lambda: ui.set(self._GONE, True), at_top=at_top))
        self.fire_once(ui, f"a banner covers the {'top' if at_top else 'bottom'}")


class UnlabelledSwitch(Fault):
    """A switch says nothing; its label is a sibling that takes no tap."""

    name = "unlabelled_switch"
    number = "F14"
    summary = "only the switch of a row can be tapped, and its label is a sibling of it"

    def dress(self, ui: Ui, root: View) -> None:
        """Take the click from each row with one switch and give it to the switch."""
        found = False
        for row in list(walk(root)):
            switches = [below for below in walk(row) if below.checkable and below is not row]
            if row.on_tap is None or row.checkable or len(switches) != 1 or switches[0].on_tap is not None:
                continue
            (inner,) = switches
            if not inner.cls.endswith("Switch") or not row.enabled:
                continue
            inner.on_tap, inner.clickable, inner.focusable, inner.desc = row.on_tap, True, True, ""
            row.on_tap, row.clickable, row.focusable = None, False, False
            found = True
        if found:
            self.fire_once(ui, "rows lost their click to a switch without a label")


class DuplicateLabels(Fault):
    """Two rows say the same, one of them belongs to somebody else."""

    name = "duplicate_labels"
    number = "F15"
    summary = "one row of a list appears twice; the copy, marked as the work profile's, refuses"

    def dress(self, ui: Ui, root: View) -> None:
        """Copy a row, and let the copy refuse."""
        listed = main_list(root)
        if listed is None or not _plain(ui, root):
            return
        rows = [place for place, child in enumerate(listed.children) if _can_be_copied(child)]
        if not rows:
            return
        stream = self.of_page(ui.page.screen)
        place = rows[stream.randrange(len(rows))]
        title = first_text(listed.children[place])
        twin = copy(listed.children[place])
        add_text(twin, work_note(ui), title)
        for view in walk(twin):
            view.on_hold = None
            view.on_tap = (lambda: ui.host.show_toast(ui.say("Managed by your organization"))) if view.on_tap else None
        at = place + stream.randrange(2)
        listed.children = (*listed.children[:at], twin, *listed.children[at:])
        self.fire_once(ui, f"{title!r} appears twice")


def _can_be_copied(row: View) -> bool:
    inside = list(walk(row))
    return row.on_tap is not None and first_text(row) != "" and not any(view.field or view.on_slide for view in inside)


class BelowFold(Fault):
    """What is looked for lies below what fits on the screen (mobilerun#7, #13)."""

    name = "below_fold"
    number = "F16"
    summary = "a tall card heads every list, and its rows begin near the foot of the screen"

    def dress(self, ui: Ui, root: View) -> None:
        """Put the card first in the list."""
        listed = main_list(root)
        if listed is None or not _plain(ui, root) or "suggestion" in str(listed.children[0].id):
            return
        height = (ui.area.bottom - ui.area.top) * 3 // 4
        listed.children = (card(ui, height), *listed.children)
        self.fire_once(ui, "a tall card pushes the rows down")
