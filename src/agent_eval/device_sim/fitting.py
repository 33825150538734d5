"""What happens to a page that is too large for its screen: rows grow, what overflows scrolls, buttons are stacked.

Large text and a high density leave less room than a page was written for. Nothing that can be touched may end up beyond
reach; on the screen for which pages are written, nothing here applies. Knows no page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agent_eval.device_sim.trees import walk
from agent_eval.device_sim.ui import MATCH, NOWHERE, WRAP, Display, View, dp, lay_out, text_extent
from agent_eval.device_sim.widgets import BUTTON
from agent_eval.types import Bounds, Scalar

MARGIN = dp(8)
"""Space that a view of a fixed width leaves on either side of a narrow screen."""
_BUTTONS = frozenset({BUTTON, "android.widget.Space"})
_LEAST, _SHARE = dp(16), 0.6
"""What can be touched is at least as long and as high, and shows at least that share of itself."""
_AROUND_TEXTS = dp(4)
"""Space above and below the texts of a row that grew."""
_MOST = 6
"""Rounds in which parts of one page are made to give way."""

Path = tuple[int, ...]
"""Places among siblings that lead from the root to a view."""


def lay_out_fitting(
    build: Callable[[], View], area: Bounds, display: Display, variables: Mapping[str, Scalar]
) -> tuple[View, list[View]]:
    """Build and lay out a page, and let scroll what does not fit.

    Args:
        build: Builds the page; a tree can be laid out once only.
        area: In layout pixels.
        display: The display.
        variables: Those of the page, with its scroll positions.

    Returns:
        The page, and its views that scroll.
    """
    parts: list[Path] = []
    rounds = 0
    heights = _heights(build(), area, display) if display.font_scale > 1.0 or display.scale > 1.0 else {}
    while True:
        root = build()
        for row, height in heights.items():
            _at(root, row).height = height
        _narrow(root, area.right - area.left - 2 * MARGIN)
        for part in parts:
            _give_way(_at(root, part), _name(part), variables)
        scrolling = lay_out(root, area, display)
        beyond = list(dict.fromkeys(_overflowing(root, (), _Around(), display.scale, parts)))
        rows = [part for part in beyond if _at(root, part).arrange == "row"]
        if not beyond or rounds == _MOST:
            return root, scrolling
        parts += rows or beyond[:1]  # what lies below may fit once what lies beside it does
        rounds += 1


def _heights(root: View, area: Bounds, display: Display) -> dict[Path, int]:
    """Return the rows of a page whose texts need more than the height that was written for them, and what they need."""
    _narrow(root, area.right - area.left - 2 * MARGIN)
    lay_out(root, area, display)
    enlarged = max(display.font_scale, 1.0)
    return {path: math.ceil(height / enlarged) for path, height in _low_rows(root, ())}


def _low_rows(view: View, path: Path) -> Iterator[tuple[Path, int]]:
    for place, child in enumerate(view.children):
        if child.arrange == "row" and child.height > 0:
            columns = [one for one in child.children if one.arrange == "column" and one.height == WRAP]
            needed = max((_text_height(column) for column in columns), default=0)
            if needed > child.height:
                yield (*path, place), needed + 2 * _AROUND_TEXTS
        yield from _low_rows(child, (*path, place))


def _text_height(column: View) -> int:
    """Return how high a column is when all its texts are shown."""
    height = column.pad[1] + column.pad[3] + column.gap * (len(column.children) - 1)
    for child in column.children:
        if child.text and child.height == WRAP:
            height += text_extent(child.text, child.size, max(child.measured[0], 1))[1]
        else:
            height += child.measured[1]
    return height


def _narrow(root: View, most: int) -> None:
    for view in walk(root):
        view.width = min(view.width, most)


@dataclass(frozen=True)
class _Around:
    """The views around one that is looked at."""

    columns: tuple[Path, ...] = ()
    """Those that stack their children, or lay them over each other; the nearest last."""
    rows: tuple[Path, ...] = ()
    """Those that put their children side by side."""
    scrolls_down: bool = False
    scrolls_aside: bool = False

    def inside(self, view: View, path: Path) -> _Around:
        """Return what is around the children of a view."""
        row = view.arrange == "row"
        return _Around(
            self.columns if row else (*self.columns, path),
            (*self.rows, path) if row else self.rows,
            self.scrolls_down or (view.reach > 0 and not row),
            self.scrolls_aside or (view.reach > 0 and row),
        )


def _overflowing(view: View, path: Path, around: _Around, scale: float, done: Sequence[Path]) -> Iterator[Path]:
    """Yield what is to give way, besides what did, so that all that can be touched can be reached."""
    around = around.inside(view, path)
    for place, child in enumerate(view.children):
        lacks = _lacks(child, view, scale)
        if lacks == "down" and not around.scrolls_down:
            yield from [path for path in reversed(around.columns) if path not in done][:1]
        if lacks == "aside" and not around.scrolls_aside:
            yield from [path for path in reversed(around.rows) if path not in done][:1]
        if child.bounds is not None:
            yield from _overflowing(child, (*path, place), around, scale, done)


def _lacks(view: View, parent: View, scale: float) -> Literal["", "aside", "down"]:
    """Tell in which direction a view that can be touched, or one unseen around such a view, lacks room."""
    seen, rect, bounds = view.bounds is not None, view.rect, view.bounds or NOWHERE
    if not any(below.on_tap or below.field or below.on_slide for below in ((view,) if seen else walk(view))):
        return ""
    across, down = rect.right - rect.left, rect.bottom - rect.top
    narrow = across < _LEAST * scale or bounds.right - bounds.left < across * _SHARE
    low = down < _LEAST * scale or bounds.bottom - bounds.top < down * _SHARE
    if not seen:  # it has no bounds at all, so that its place and size must tell
        assert parent.bounds is not None
        narrow, low = rect.left >= parent.bounds.right or across < _LEAST * scale <= down, True
    return "aside" if narrow else "down" if low else ""


def _at(root: View, path: Path) -> View:
    for place in path:
        root = root.children[place]
    return root


def _name(path: Path) -> str:
    return f"overflow/{'.'.join(map(str, path))}"


def _give_way(view: View, name: str, variables: Mapping[str, Scalar]) -> None:
    """Let a view scroll.

    A row of buttons is stacked instead (com.android.internal.widget.ButtonBarLayout), one of cells shares its width.
    """
    if view.arrange == "row" and {child.cls for child in view.children} <= _BUTTONS:
        view.arrange = "column"
        view.children = tuple(child for child in view.children if child.cls == BUTTON)
        for child in view.children:
            child.weight, child.align = 0, (1.0, 0.0)
        return
    if view.arrange == "row" and len(view.children) > 2 and all(child.width > 0 for child in view.children):
        for child in view.children:
            child.weight, child.width = 1, MATCH
        return
    if view.arrange == "frame":
        inner = View("android.widget.ScrollView", view.children, arrange="column", height=view.height)
        view.children, view = (inner,), inner
    view.scroll, view.offset, view.focusable = name, int(variables.get(f"scroll/{name}", 0)), True
    for child in view.children:
        _unstretch(child, vertical=view.arrange == "column")


def _unstretch(view: View, *, vertical: bool) -> None:
    """Let a view be as long as its content, instead of as long as the room that there is."""
    if vertical and (view.weight or view.height == MATCH):
        view.height = WRAP
    if not vertical and (view.weight or view.width == MATCH):
        view.width = WRAP
    view.weight = 0
    for child in view.children:
        along = view.arrange == ("column" if vertical else "row")
        if along or view.arrange == "frame":
            _unstretch(child, vertical=vertical)
