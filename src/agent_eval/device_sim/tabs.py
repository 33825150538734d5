"""The bar of tabs at the bottom of an app's main page; which is shown is the page's variable ``tab``. Knows no app."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from agent_eval.device_sim.screen import Ui
from agent_eval.device_sim.ui import View, dp
from agent_eval.device_sim.widgets import CENTER, FRAME, SMALL, column, image, label, row


class Tab(NamedTuple):
    """One tab."""

    name: str
    """Value of the page's variable."""
    title: str
    """In English."""
    icon: str


def bar(ui: Ui, tabs: Sequence[Tab], chosen: str, *, id: str, tab_id: str) -> View:
    """Build the bar; another tab begins without a selection.

    Args:
        ui: The page.
        tabs: From left to right.
        chosen: Name of the tab that is shown.
        id: Of the bar.
        tab_id: Of a tab, with ``{name}`` for its name.
    """

    def show(name: str) -> Callable[[], object]:
        def do() -> None:
            ui.set("tab", name)
            ui.set("picked", "")

        return do

    views = []
    for name, title, icon in tabs:
        here = name == chosen
        view = column(
            image(icon, align=CENTER, ink="primary" if here else "icon"),
            label(ui.say(title), size=SMALL, align=CENTER, bold=here, ink="primary" if here else "soft"),
            cls=FRAME,
            id=tab_id.format(name=name),
            desc=ui.say(title),
            on_tap=show(name),
            weight=1,
            height=dp(56),
            pad=(0, dp(8), 0, 0),
            gap=dp(2),
        )
        view.selected = here
        views.append(view)
    return row(*views, id=id, height=dp(56), fill="bar")
