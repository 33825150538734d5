"""A list whose order a person decides, entry by entry: a playlist, a queue. Knows neither what is listed nor where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from agent_eval.device_sim.dialogs import menu
from agent_eval.device_sim.screen import Ui
from agent_eval.device_sim.ui import View

Item = TypeVar("Item")


def moved(items: Sequence[Item], place: int, by: int) -> list[Item]:
    """Return a list with one item moved towards its end, or its beginning; there it stays."""
    rest = [*items[:place], *items[place + 1 :]]
    rest.insert(min(max(place + by, 0), len(rest)), items[place])
    return rest


def entry_menu(ui: Ui, items: Sequence[Item], place: int, keep: Callable[[list[Item]], object], *, remove: str) -> View:
    """Build the menu of one entry.

    Args:
        ui: The page.
        items: The list.
        place: Of the entry.
        keep: Called with the list as it is to be.
        remove: What taking the entry off the list is called, translated already.
    """

    def become(changed: list[Item]) -> Callable[[], object]:
        return lambda: keep(changed)

    return menu(
        ui,
        [
            (ui.say("Move up"), become(moved(items, place, -1))),
            (ui.say("Move down"), become(moved(items, place, 1))),
            (remove, become([*items[:place], *items[place + 1 :]])),
        ],
    )
