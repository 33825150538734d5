"""The layout as it was before it was made fast; the fast one must place every view exactly alike."""

from __future__ import annotations

from agent_eval.device_sim.ui import MATCH, View, line_height, text_lines, text_width
from agent_eval.types import Bounds

_ENDLESS = 1 << 20


def lay_out_slowly(root: View, area: Bounds) -> list[View]:
    scrolling: list[View] = []
    width, height = _measure(root, area.right - area.left, area.bottom - area.top)
    left = area.left + int((area.right - area.left - width) * root.align[0])
    top = area.top + int((area.bottom - area.top - height) * root.align[1])
    _place(root, left, top, width, height, area, scrolling)
    return scrolling


def _measure(view: View, most_width: int, most_height: int) -> tuple[int, int]:
    left, top, right, bottom = view.pad
    inner_width = (view.width if view.width >= 0 else most_width) - left - right
    inner_height = (view.height if view.height >= 0 else most_height) - top - bottom
    across, down = 0, 0
    children = view.children
    if children:
        if view.arrange == "column":
            space = _ENDLESS if view.scroll else inner_height
            shares = 0
            down = view.gap * (len(children) - 1)
            for child in children:
                if child.weight:
                    shares += child.weight
                    continue
                width, height = _measure(child, inner_width, max(space - down, 0))
                down += height
                across = max(across, width)
            if shares:
                left_over = max(space - down, 0)
                for child in children:
                    if child.weight:
                        width, height = _measure(child, inner_width, left_over * child.weight // shares)
                        child.measured = (width, left_over * child.weight // shares)
                        across = max(across, width)
                down = max(down, inner_height)
        elif view.arrange == "row":
            space = _ENDLESS if view.scroll else inner_width
            shares = 0
            across = view.gap * (len(children) - 1)
            for child in children:
                if child.weight:
                    shares += child.weight
                    continue
                width, height = _measure(child, max(space - across, 0), inner_height)
                across += width
                down = max(down, height)
            if shares:
                left_over = max(space - across, 0)
                for child in children:
                    if child.weight:
                        width, height = _measure(child, left_over * child.weight // shares, inner_height)
                        child.measured = (left_over * child.weight // shares, height)
                        down = max(down, height)
                across = max(across, inner_width)
        else:
            for child in children:
                width, height = _measure(child, inner_width, inner_height)
                across, down = max(across, width), max(down, height)
    elif view.text or view.hint:
        lines = text_lines(view.text or view.hint, view.size, max(inner_width, 1))
        across = max(text_width(line, view.size) for line in lines)
        down = len(lines) * line_height(view.size)
    width = view.width
    if width < 0:
        width = most_width if width == MATCH else min(across + left + right, most_width)
    height = view.height
    if height < 0:
        height = most_height if height == MATCH else min(down + top + bottom, most_height)
    view.measured = (width, height)
    return view.measured


def _place(view: View, left: int, top: int, width: int, height: int, clip: Bounds, scrolling: list[View]) -> None:
    right, bottom = left + width, top + height
    view.rect = Bounds(left, top, right, bottom)
    seen = Bounds(
        left if left > clip.left else clip.left,
        top if top > clip.top else clip.top,
        right if right < clip.right else clip.right,
        bottom if bottom < clip.bottom else clip.bottom,
    )
    if seen.left >= seen.right or seen.top >= seen.bottom:
        return  # clipped away: bounds stay None, here and below
    view.bounds = seen
    children = view.children
    if not children:
        return
    x, y = left + view.pad[0], top + view.pad[1]
    inner_width, inner_height = width - view.pad[0] - view.pad[2], height - view.pad[1] - view.pad[3]
    if view.scroll:
        vertical = view.arrange == "column"
        length = sum(child.measured[vertical] for child in children) + view.gap * (len(children) - 1)
        view.reach = max(0, length - (inner_height if vertical else inner_width))
        view.offset = min(view.offset, view.reach)
        view.scrollable = view.reach > 0
        scrolling.append(view)
        if vertical:
            y -= view.offset
        else:
            x -= view.offset
    if view.arrange == "column":
        for child in children:
            child_width, child_height = child.measured
            child_x = x + int((inner_width - child_width) * child.align[0])
            _place(child, child_x, y, child_width, child_height, seen, scrolling)
            y += child_height + view.gap
    elif view.arrange == "row":
        for child in children:
            child_width, child_height = child.measured
            child_y = y + int((inner_height - child_height) * child.align[1])
            _place(child, x, child_y, child_width, child_height, seen, scrolling)
            x += child_width + view.gap
    else:
        for child in children:
            child_width, child_height = child.measured
            child_x = x + int((inner_width - child_width) * child.align[0])
            child_y = y + int((inner_height - child_height) * child.align[1])
            _place(child, child_x, child_y, child_width, child_height, seen, scrolling)
