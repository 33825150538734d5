"""Fingers on the glass: presses, swipes, raw touch events and pinches, and what lies under them.

A finger has done what it does when it is lifted; the content follows it, without fling. Knows no page.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from agent_eval.device_sim.ui import Direction, View, dp, inside, touched

if TYPE_CHECKING:
    from agent_eval.device_sim.phone import Phone

CLICK_MS, STEP_MS, LONG_PRESS_MS = 100, 5, 500
"""How long UiAutomator holds a click, waits per step of a swipe, and Android takes for a long press
(ViewConfiguration.DEFAULT_LONG_PRESS_TIMEOUT is 400 ms; clients hold 500 ms)."""
MOST_MOVES = 2000
"""Raw moves of one finger that are remembered; of more, only the last counts."""
SLOP = dp(8)
"""A finger that moves less has tapped (ViewConfiguration.TOUCH_SLOP)."""
Point = tuple[float, float]
TwoPoints = tuple[Point, Point]
"""Where two fingers are."""


class Fingers:
    """The fingers on one phone.

    Args:
        phone: The phone.
    """

    def __init__(self, phone: Phone) -> None:
        self._phone = phone
        self._down: tuple[list[Point], int] | None = None
        """Where the finger that is down went, and since when."""

    def _reaches(self, *points: Point) -> bool:
        bounds = self._phone.display.bounds
        return bool(self._phone.world["screen/on"]) and all(inside(bounds, *point) for point in points)

    # ------------------------------------------------------------------ one finger that stays
    def press(self, x: float, y: float, milliseconds: int) -> None:
        """Touch a point for as long as given; half a second and more is a long press."""
        self._phone.pass_time(milliseconds)
        self._release(x, y, milliseconds)

    def _release(self, x: float, y: float, milliseconds: int) -> None:
        """Lift a finger that was held on a point."""
        if not self._reaches((x, y)):
            return
        phone = self._phone
        window = phone.shown.at(x, y)
        if phone.faults:
            if not phone.faults.lets_touch(window, x, y):
                return
            window = phone.shown.at(x, y)  # what lies there may have moved
        if window is None:
            if phone.active_window.kind == "dialog" and not phone.screens[phone.stacks.in_focus.screen].modal:
                phone.close_page()  # a touch outside a dialog cancels it
            return
        view = touched(window.root, x, y, _takes_taps)
        held = milliseconds >= LONG_PRESS_MS
        phone.events.add("long press" if held else "tap", f"{x:.0f}, {y:.0f} {_name(view)}")
        if view is None or not view.enabled:
            return
        if phone.faults:
            phone.faults.touching(window, view, phone.stacks.in_focus)
        if view.on_slide is not None:
            view.on_slide(_share(view, x))
        elif view.field is not None:
            phone.entry.focus(view, held=held)
        elif held and view.on_hold is not None:
            view.on_hold()
        elif view.on_tap is not None:
            view.on_tap()
        phone.faults.let_go()
        phone.changed()

    # ------------------------------------------------------------------ one finger that moves
    def swipe_along(self, points: list[Point], milliseconds: int) -> None:
        """Move a finger along points."""
        self._phone.pass_time(milliseconds)
        self._follow(points, milliseconds)

    def _follow(self, points: list[Point], milliseconds: int) -> None:
        """Lift a finger that was moved along points."""
        phone, start, end = self._phone, points[0], points[-1]
        if not self._reaches(start):
            return
        if max(max(abs(x - start[0]), abs(y - start[1])) for x, y in points) < SLOP:
            self._release(*start, milliseconds)
            return
        phone.events.add("swipe", f"{start[0]:.0f}, {start[1]:.0f} to {end[0]:.0f}, {end[1]:.0f}")
        window = phone.shown.at(*start)
        if window is None:
            return
        if window.kind == "status":
            if end[1] - start[1] > phone.shown.status_height:
                phone.open_shade(settings=phone.stacks.shade is not None)
        elif self._moves(window.root, points):
            phone.changed()
        elif self._scrolls(window.root, start, end):
            return
        elif phone.stacks.shade is not None and start[1] - end[1] > phone.shown.status_height:
            phone.close_page()

    def _moves(self, root: View, points: list[Point]) -> bool:
        """Let a view take the movement that began on it: a slider, something that is dragged, a page that turns."""
        start, end = points[0], points[-1]
        slider = touched(root, *start, lambda view: view.on_slide is not None and view.enabled)
        if slider is not None and slider.on_slide is not None:
            for x, _ in points:
                slider.on_slide(_share(slider, x))
            return True
        dragged = touched(root, *start, lambda view: view.on_drop is not None)
        if dragged is not None and dragged.on_drop is not None:
            dragged.on_drop(*end)
            return True
        direction: Direction = "down" if end[1] > start[1] else "up"
        if not _is_vertical(start, end):
            direction = "right" if end[0] > start[0] else "left"
        return touched(root, *start, lambda view: view.on_swipe is not None and view.on_swipe(direction)) is not None

    def _scrolls(self, root: View, start: Point, end: Point) -> bool:
        """Let the content that a finger moved over follow it; tell whether it moved.

        Where one scrolling view lies in another, a view whose content all fits leaves the finger to the one around it.
        """
        vertical = _is_vertical(start, end)
        wanted = "column" if vertical else "row"
        area = touched(root, *start, lambda view: view.reach > 0 and view.arrange == wanted)
        return area is not None and self.scroll(area, round(start[1] - end[1] if vertical else start[0] - end[0]))

    def scroll(self, view: View, distance: int) -> bool:
        """Move the content of a scrolling view by pixels of the display; tell whether it moved."""
        phone = self._phone
        offset = min(max(view.offset + round(distance / phone.display.scale), 0), view.reach)
        moved = offset != view.offset
        phone.stacks.in_focus.vars[f"scroll/{view.scroll}"] = offset
        phone.changed()
        return moved

    # ------------------------------------------------------------------ raw events, and two fingers
    def touch(self, action: int, x: float, y: float) -> None:
        """Take one raw touch event: 0 down, 1 up, 2 move (MotionEvent.ACTION_*); what it does shows at the last one."""
        now_ms = self._phone.clock.now_ms
        if action == 0:
            self._down = ([(x, y)], now_ms)
        elif self._down is not None:
            points, since = self._down
            if len(points) < MOST_MOVES:
                points.append((x, y))
            else:
                points[-1] = (x, y)
            if action == 1:
                self._down = None
                held = now_ms - since
                if held < STEP_MS:
                    self._phone.pass_time(STEP_MS - held)
                self._follow(points, held)

    def pinch(self, starts: TwoPoints, ends: TwoPoints, milliseconds: int) -> bool:
        """Move two fingers in straight lines; tell whether the screen took them.

        A view between them that zooms is told how far apart they are at the end, relative to the beginning; two
        fingers that keep their distance drag as one does.
        """
        phone = self._phone
        (x1, y1), (x2, y2) = starts
        before, after = math.dist(*starts), math.dist(*ends)
        moved = max(math.dist(start, end) for start, end in zip(starts, ends, strict=True))
        middle = ((x1 + x2) / 2, (y1 + y2) / 2)
        if not self._reaches(*starts):
            phone.pass_time(milliseconds)
            return False
        if abs(after - before) < SLOP and moved >= SLOP:
            self.swipe_along([starts[0], ends[0]], milliseconds)
            return True
        phone.pass_time(milliseconds)
        phone.events.add("pinch", f"{middle[0]:.0f}, {middle[1]:.0f} by {after / max(before, 1):.2f}")
        window = phone.shown.at(*middle)
        view = touched(window.root, *middle, lambda view: view.on_pinch is not None) if window is not None else None
        if view is not None and view.on_pinch is not None and before > 0:
            view.on_pinch(after / before)
            phone.changed()
        return True


def _is_vertical(start: Point, end: Point) -> bool:
    return abs(end[1] - start[1]) >= abs(end[0] - start[0])


def _takes_taps(view: View) -> bool:
    return view.clickable or view.on_slide is not None or view.on_hold is not None


def _share(view: View, x: float) -> float:
    left, right = view.rect.left + view.slide_inset, view.rect.right - view.slide_inset
    return min(max((x - left) / max(right - left, 1), 0.0), 1.0)


def _name(view: View | None) -> str:
    if view is None:
        return ""
    return next((below.text or below.desc for below in view.visible() if below.text or below.desc), view.id)
