"""Searching a list: the bar with a field, and a list that turns into its own search and back. Knows no app.

What was typed is ``ui.typed("query")``; whether a list searches itself is its page's variable ``searching``.
"""

from __future__ import annotations

from collections.abc import Callable

from agent_eval.device_sim.screen import Ui
from agent_eval.device_sim.ui import Field, View, dp
from agent_eval.device_sim.widgets import GROUP, MIDDLE, edit_text, image_button, row

QUERY = Field("query", max_length=80)


def begin(ui: Ui) -> None:
    """Turn a list into its own search."""
    ui.set("searching", True)
    ui.set("text/query", "")


def end(ui: Ui) -> bool:
    """Turn it back; tell whether it was searching, as the answer to the back key."""
    was = bool(ui.var("searching", False))
    if was:
        ui.set("searching", False)
    return was


def bar(
    ui: Ui,
    hint: str,
    *,
    id: str,
    on_back: Callable[[], object] | None = None,
    says: str = "Navigate up",
    back_id: str = "",
) -> View:
    """Build the bar.

    Args:
        ui: The page.
        hint: Inside the empty field, translated already.
        id: Of the field.
        on_back: What the arrow does; it closes the page unless told otherwise.
        says: Of the arrow, in English.
        back_id: Of the arrow.
    """
    return row(
        image_button("back", ui.say(says), on_back or ui.close, id=back_id),
        edit_text(ui, QUERY, id=id, hint=hint, weight=1, align=MIDDLE),
        cls=GROUP,
        height=dp(56),
        pad=(dp(4), 0, dp(16), 0),
    )
