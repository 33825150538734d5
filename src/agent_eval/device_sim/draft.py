"""Forms that ask before they throw away what was typed. Knows no app: each says what its form looks like unchanged.

A form's screen gets ``on_back=leave(...)`` and the dialog ``discard`` beside it; its bar is made by ``form_bar``.
"""

from __future__ import annotations

from collections.abc import Callable

from agent_eval.device_sim.dialogs import question
from agent_eval.device_sim.screen import Ui
from agent_eval.device_sim.ui import View, dp
from agent_eval.device_sim.widgets import GROUP, MIDDLE, image_button, label, row

Changed = Callable[[Ui], bool]


def leave(changed: Changed, dialog_screen: str) -> Callable[[Ui], bool]:
    """Return the answer of a form to the back key: the dialog if anything was changed, else none.

    Args:
        changed: Tells whether the form differs from what it began with.
        dialog_screen: The app's screen that is built by ``discard``.
    """

    def on_back(ui: Ui) -> bool:
        if not changed(ui):
            return False
        ui.open(dialog_screen)
        return True

    return on_back


def form_bar(ui: Ui, title: str, changed: Changed, dialog_screen: str, *actions: View) -> View:
    """Show the bar of a form; its arrow does what the back key does."""
    on_back = leave(changed, dialog_screen)

    def up() -> None:
        if not on_back(ui):
            ui.close()

    return row(
        image_button("back", ui.say("Navigate up"), up),
        label(title, size=dp(20), align=MIDDLE, weight=1, pad=(dp(8), 0, 0, 0)),
        *actions,
        cls=GROUP,
        height=dp(56),
        pad=(dp(4), 0, dp(4), 0),
    )


def discard(ui: Ui) -> View:
    """Build the dialog that asks; its second button throws away what was typed."""
    return question(ui, ui.say("Discard changes?"), "Discard", ui.close)
