"""How an expert gets to the tiles and notifications of the shade, from any screen. Knows no goal and no app."""

from __future__ import annotations

from agent_eval.actions import Swipe
from agent_eval.tasks.moves import Move, go_home, plain
from agent_eval.tasks.view import View
from agent_eval.types import Element

SYSTEM_UI = "com.android.systemui"
HOME = "launcher/home"
SHADE = "systemui/shade"
QUICK_SETTINGS = "systemui/quick_settings"

_FIRST_PAGE = (
    "Internet",
    "Bluetooth",
    "Airplane mode",
    "Battery Saver",
    "Data Saver",
    "Dark theme",
    "Flashlight",
    "Do Not Disturb",
)
"""Tiles on the first page of quick settings; the others are on the second one."""


def in_shade(view: View) -> bool:
    """Tell whether the shade lies over the page in front."""
    return view.screen in (SHADE, QUICK_SETTINGS)


def pull_down(what: str) -> Move:
    """Open the shade from the home page, and all of quick settings from the shade."""
    return Move(Swipe(direction="down"), what)


def find_tile(view: View, title: str) -> Element | None:
    """Return a tile that is on the screen; what it is connected to may stand after its title."""
    return view.find(title, "switch", starts=True) if in_shade(view) else None


def tile(view: View, title: str) -> Element | Move:
    """Return a tile if it is on the screen, else the move that leads towards it."""
    found = find_tile(view, title)
    if found is not None:
        return found
    if view.screen == QUICK_SETTINGS:
        return Move(Swipe(direction="right" if title in _FIRST_PAGE else "left"), f"looking for {view.say(title)}")
    if view.screen in (HOME, SHADE):
        return pull_down(view.say(title))
    return go_home()


def quick_settings(view: View, what: str) -> Move | None:
    """Return the next move to all of quick settings; None once they are in front."""
    if view.screen == QUICK_SETTINGS:
        return None
    return pull_down(what) if view.screen in (HOME, SHADE) else go_home()


def notification(view: View, app: str, title: str, text: str) -> Element | Move:
    """Return a notification if it is on the screen, else the move that leads towards it.

    Args:
        view: What is looked at.
        app: Name of its app, as this phone has it.
        title: Its title and
        text: its text, as they are stored: those that a phone comes with are shown in the phone's language.
    """
    if view.screen == HOME:
        return pull_down(app)
    if view.screen != SHADE:
        return go_home()
    titles, texts = ({one, view.speech.say(one, SYSTEM_UI, {})} for one in (title, text))
    for row in view.observation.elements:
        whole = plain(row.label) == plain(app) and any(one in row.value for one in titles)
        headless = row.label in titles and any(one in row.value for one in texts)  # its first line is scrolled away
        if row.role == "row" and (whole or headless):
            return row
    return view.scroll(app)
