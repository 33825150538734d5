"""A vendor's own order of rows in Settings, applied to pages that are built and not yet laid out.

Knows the pages on which vendors differ, and nothing of what is on them. What else a skin changes is in ``locales``
(words for times and dates), ``ui`` (size of text, density) and the apps' strings.
"""

from __future__ import annotations

import random

from agent_eval.device_sim.trees import main_list
from agent_eval.device_sim.ui import View

REORDERED = frozenset({"settings/home", "settings/network", "settings/display"})
"""Pages whose rows a vendor puts in an order of its own."""


def arrange_rows(screen: str, root: View, order: int) -> None:
    """Put the rows of a page's list in a vendor's order.

    A row that cannot be tapped heads those after it: groups change places as a whole, and rows within their group.

    Args:
        screen: The page.
        root: Its views.
        order: Seeds the order; 0 leaves AOSP's.
    """
    listed = main_list(root) if order and screen in REORDERED else None
    if listed is None:
        return
    rng = random.Random(f"row order {order} {screen}")
    groups: list[tuple[list[View], list[View]]] = []
    for row in listed.children:
        if row.on_tap is None or not groups:
            groups.append(([], []))
        headings, rows = groups[-1]
        (rows if row.on_tap is not None else headings).append(row)
    for _, rows in groups:
        rng.shuffle(rows)
    rng.shuffle(groups)
    listed.children = tuple(row for headings, rows in groups for row in (*headings, *rows))
