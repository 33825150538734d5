"""Views: what a screen is made of, where it lies, and which view a finger meets. Knows no app, phone or pixel colours.

Screens are built afresh from state by functions that return a tree of ``View``; ``lay_out`` then gives each view its
rectangle. Lengths are pixels; ``dp`` converts. A view whose rectangle is clipped away has ``bounds`` None and keeps its
place among its siblings, so the numbering in a dump has gaps, as on a real phone.
"""

from __future__ import annotations

import functools
import math
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from agent_eval.types import Bounds

DENSITY = 2
"""Pixels per density-independent pixel in which screens are laid out."""
DEFAULT_DENSITY = 160 * DENSITY
"""Dots per inch at which layout pixels are the display's own."""
MATCH = -1
WRAP = -2
_ENDLESS = 1 << 20
MOST_CHARACTERS = 50_000
"""Of an input field; clients can send megabytes, and each look at the screen costs as much as its text is long."""

NOWHERE = Bounds(0, 0, 0, 0)
Arrange = Literal["frame", "column", "row"]
Direction = Literal["left", "right", "up", "down"]
Pad = tuple[int, int, int, int]


@functools.lru_cache(maxsize=1024)
def dp(length: float) -> int:
    """Convert density-independent pixels to pixels."""
    return round(length * DENSITY)


@dataclass(frozen=True, slots=True)
class Display:
    """The panel, and how it is looked at."""

    natural_width: int = 720
    """Pixels across, held upright."""
    natural_height: int = 1280
    density: int = DEFAULT_DENSITY
    """Dots per inch."""
    rotation: int = 0
    """Quarter turns counter-clockwise, 0 to 3 (android.view.Surface.ROTATION_*)."""
    font_scale: float = 1.0

    @property
    def width(self) -> int:
        """Pixels across, as it is held."""
        return self.natural_height if self.rotation % 2 else self.natural_width

    @property
    def height(self) -> int:
        """Pixels down, as it is held."""
        return self.natural_width if self.rotation % 2 else self.natural_height

    @property
    def scale(self) -> float:
        """Pixels of the display per layout pixel."""
        return self.density / DEFAULT_DENSITY

    @property
    def bounds(self) -> Bounds:
        """The whole screen in its own pixels."""
        return Bounds(0, 0, self.width, self.height)

    @property
    def canvas(self) -> Bounds:
        """The whole screen in layout pixels; the last one may be cut."""
        return Bounds(0, 0, math.ceil(self.width / self.scale), math.ceil(self.height / self.scale))


@dataclass(frozen=True, slots=True)
class Field:
    """What an input field accepts."""

    name: str
    """Key of its text among the page's variables."""
    numeric: bool = False
    max_length: int = 0
    """Most characters; 0 for as many as any field holds."""
    select_on_focus: bool = False
    """Focusing selects everything, so that typing replaces it."""
    multiline: bool = False
    """The keyboard's action key starts a new line."""

    def accept(self, text: str) -> str:
        """Return the part of a text that the field keeps."""
        if self.numeric:
            text = "".join(character for character in text if character in "0123456789")
        if not self.multiline:
            text = text.replace("\n", " ")
        return text[: self.max_length or MOST_CHARACTERS]


@dataclass(slots=True, weakref_slot=True, eq=False)
class View:
    """One node of a screen, as its author writes it; the last fields are filled in by ``lay_out``."""

    cls: str
    children: Sequence[View] = ()
    id: str = ""
    text: str = ""
    desc: str = ""
    hint: str = ""

    arrange: Arrange = "frame"
    width: int = MATCH
    height: int = WRAP
    weight: int = 0
    """Share of the length that is left over in a row or column."""
    pad: Pad = (0, 0, 0, 0)
    gap: int = 0
    align: tuple[float, float] = (0.0, 0.0)
    """Place in the parent's cell: 0 is left or top, 1 is right or bottom."""

    size: int = 28
    bold: bool = False
    ink: str = "text"
    fill: str = ""
    icon: str = ""
    justify: float = 0.0
    """Place of the text across its own rectangle: 0 is left, 0.5 the middle."""

    clickable: bool = False
    long_clickable: bool = False
    checkable: bool = False
    checked: bool = False
    enabled: bool = True
    focusable: bool = False
    focused: bool = False
    selected: bool = False
    password: bool = False
    scrollable: bool = False

    on_tap: Callable[[], object] | None = None
    on_hold: Callable[[], object] | None = None
    on_slide: Callable[[float], object] | None = None
    """Called with the finger's position along the view, 0 to 1, when touched and while dragged."""
    on_swipe: Callable[[Direction], bool] | None = None
    """Called with the direction of a swipe that begins on it; True takes the swipe from the lists below."""
    on_drop: Callable[[float, float], object] | None = None
    """Called with where a finger that began on it was lifted; takes the swipe from the lists below."""
    on_submit: Callable[[], object] | None = None
    """Of an input field: called by the keyboard's action key instead of going to the next field."""
    on_pinch: Callable[[float], object] | None = None
    """Called with the ratio of the distances of two fingers, after a pinch over the view."""
    slide_inset: int = 0
    """Pixels at each end where a slider's thumb stops."""
    level: float = 0.0
    """Position of a slider, 0 to 1."""
    field: Field | None = None

    scroll: str = ""
    """Name of the scroll position of a scrolling column or row."""
    offset: int = 0

    rect: Bounds = NOWHERE
    """Where it lies, before clipping."""
    bounds: Bounds | None = None
    """What of it can be seen; None for nothing."""
    reach: int = 0
    """Largest scroll offset."""
    measured: tuple[int, int] = (0, 0)

    def visible(self) -> Iterator[View]:
        """Yield this view and those below it that can be seen, in document order."""
        if self.bounds is not None:
            yield self
            for child in self.children:
                yield from child.visible()


# ----------------------------------------------------------------------------------------------------------------------
# text

_NARROW, _SLIM, _WIDE = frozenset("ijl.,:;'|!· "), frozenset('ftrI()[]-\u2011"/'), frozenset("mwMW@%—…")
_NEVER_FIRST = frozenset("，。、！？；：）》」』”’…")
"""Chinese punctuation that no line begins with."""


@functools.lru_cache(maxsize=4096)
def full_width(character: str) -> bool:
    """Tell whether a character fills a square, as Chinese ones and emoji do."""
    return character >= "\u1100" and unicodedata.east_asian_width(character) in ("W", "F")


@functools.lru_cache(maxsize=8192)
def text_width(text: str, size: int) -> int:
    """Estimate the width of one line from classes of letters: the same on every machine, unlike a font."""
    total = 0
    for character in text:
        if character in _NARROW:
            total += 26
        elif character in _SLIM:
            total += 36
        elif character in _WIDE:
            total += 86
        elif character.isupper():
            total += 66
        elif full_width(character):
            total += 100
        else:
            total += 56
    return (total * size + 99) // 100


@functools.lru_cache(maxsize=8192)
def text_lines(text: str, size: int, width: int) -> tuple[str, ...]:
    """Break a text at spaces, and between Chinese characters, so that each line fits; a longer word stays whole."""
    lines = []
    for paragraph in text.split("\n"):
        line = ""
        for glue, piece in _pieces(paragraph):
            longer = line + glue + piece if line else piece
            if line and text_width(longer, size) > width:
                lines.append(line)
                line = piece
            else:
                line = longer
        lines.append(line)
    return tuple(lines)


def _pieces(paragraph: str) -> Iterator[tuple[str, str]]:
    """Yield what no line break may part, and what goes before each piece: words, and single Chinese characters."""
    for position, word in enumerate(paragraph.split(" ")):
        glue = " " if position else ""
        start = 0
        if not word.isascii():
            for place in range(1, len(word)):
                before, after = word[place - 1], word[place]
                if (full_width(before) or full_width(after)) and after not in _NEVER_FIRST:
                    yield glue, word[start:place]
                    glue, start = "", place
        yield glue, word[start:]


@functools.lru_cache(maxsize=8192)
def text_extent(text: str, size: int, width: int) -> tuple[int, int]:
    """Return how wide and how high a text is when its lines are to fit a width."""
    lines = text_lines(text, size, width)
    return max(text_width(line, size) for line in lines), len(lines) * line_height(size)


def line_height(size: int) -> int:
    """Return the distance between the baselines of two lines."""
    return size * 4 // 3


# ----------------------------------------------------------------------------------------------------------------------
# layout


def lay_out(root: View, area: Bounds, display: Display = Display()) -> list[View]:
    """Give every view below a root its rectangle; the root gets the area, or what it asks for, placed by ``align``.

    Args:
        root: A tree that was not laid out before.
        area: In layout pixels.
        display: Its font scale enlarges text and what holds text; its density turns layout pixels into its own.

    Returns:
        The views that scroll and can be seen.
    """
    scrolling: list[View] = []
    if display.font_scale != 1.0:
        _enlarge_text(root, display.font_scale)
    width, height = _measure(root, area.right - area.left, area.bottom - area.top)
    left = area.left + int((area.right - area.left - width) * root.align[0])
    top = area.top + int((area.bottom - area.top - height) * root.align[1])
    _place(root, left, top, width, height, area, scrolling)
    if display.scale != 1.0:
        _to_display(root, display.scale, display.bounds)
    return scrolling


def _enlarge_text(view: View, font_scale: float) -> bool:
    """Enlarge the text of a tree, and the fixed heights of what holds text; tell whether there is any."""
    holds_text = bool(view.text or view.hint)
    if holds_text:
        view.size = round(view.size * font_scale)
    for child in view.children:
        holds_text = _enlarge_text(child, font_scale) or holds_text
    if holds_text and view.height > 0 and font_scale > 1.0:
        view.height = round(view.height * font_scale)
    return holds_text


def _to_display(view: View, scale: float, panel: Bounds) -> None:
    view.rect = _scaled(view.rect, scale)
    view.slide_inset = round(view.slide_inset * scale)
    if view.bounds is not None:
        left, top, right, bottom = _scaled(view.bounds, scale)
        view.bounds = Bounds(left, top, min(right, panel.right), min(bottom, panel.bottom))
        if view.bounds.left >= view.bounds.right or view.bounds.top >= view.bounds.bottom:
            view.bounds = None
            return
        for child in view.children:
            _to_display(child, scale, panel)


def _scaled(bounds: Bounds, scale: float) -> Bounds:
    return Bounds(*(round(edge * scale) for edge in bounds))


def _measure(view: View, most_width: int, most_height: int) -> tuple[int, int]:
    """Give a view and all below it the size that each asks for."""
    left, top, right, bottom = view.pad
    width, height = view.width, view.height
    children = view.children
    if children:
        inner_width = (width if width >= 0 else most_width) - left - right
        inner_height = (height if height >= 0 else most_height) - top - bottom
        if view.arrange == "column":
            across, down = _measure_column(view, children, inner_width, inner_height)
        elif view.arrange == "row":
            across, down = _measure_row(view, children, inner_width, inner_height)
        else:
            across = down = 0
            for child in children:
                child_width, child_height = _measure(child, inner_width, inner_height)
                if child_width > across:
                    across = child_width
                if child_height > down:
                    down = child_height
    elif (width == WRAP or height == WRAP) and (view.text or view.hint):
        inner_width = (width if width >= 0 else most_width) - left - right
        across, down = text_extent(view.text or view.hint, view.size, inner_width if inner_width > 1 else 1)
    else:
        across = down = 0
    if width < 0:
        width = across + left + right if width == WRAP else most_width
        if width > most_width:
            width = most_width
    if height < 0:
        height = down + top + bottom if height == WRAP else most_height
        if height > most_height:
            height = most_height
    view.measured = (width, height)
    return view.measured


def _measure_column(view: View, children: Sequence[View], inner_width: int, inner_height: int) -> tuple[int, int]:
    space = _ENDLESS if view.scroll else inner_height
    across = shares = 0
    down = view.gap * (len(children) - 1)
    for child in children:
        if child.weight:
            shares += child.weight
            continue
        width, height = _measure(child, inner_width, space - down if space > down else 0)
        down += height
        if width > across:
            across = width
    if shares:
        left_over = max(space - down, 0)
        for child in children:
            if child.weight:
                width, _ = _measure(child, inner_width, left_over * child.weight // shares)
                child.measured = (width, left_over * child.weight // shares)
                across = max(across, width)
        down = max(down, inner_height)
    return across, down


def _measure_row(view: View, children: Sequence[View], inner_width: int, inner_height: int) -> tuple[int, int]:
    space = _ENDLESS if view.scroll else inner_width
    down = shares = 0
    across = view.gap * (len(children) - 1)
    for child in children:
        if child.weight:
            shares += child.weight
            continue
        width, height = _measure(child, space - across if space > across else 0, inner_height)
        across += width
        if height > down:
            down = height
    if shares:
        left_over = max(space - across, 0)
        for child in children:
            if child.weight:
                _, height = _measure(child, left_over * child.weight // shares, inner_height)
                child.measured = (left_over * child.weight // shares, height)
                down = max(down, height)
        across = max(across, inner_width)
    return across, down


_new_tuple = tuple.__new__


def _place(view: View, left: int, top: int, width: int, height: int, clip: Bounds, scrolling: list[View]) -> None:
    """Give a view and all below it their rectangles; what is clipped away keeps no bounds, here and below."""
    right, bottom = left + width, top + height
    rect = view.rect = _new_tuple(Bounds, (left, top, right, bottom))  # twice as fast as the named tuple's own way
    clip_left, clip_top, clip_right, clip_bottom = clip
    if left >= clip_left and top >= clip_top and right <= clip_right and bottom <= clip_bottom:
        if width <= 0 or height <= 0:
            return
        seen = rect
    else:
        if left > clip_left:
            clip_left = left
        if top > clip_top:
            clip_top = top
        if right < clip_right:
            clip_right = right
        if bottom < clip_bottom:
            clip_bottom = bottom
        if clip_left >= clip_right or clip_top >= clip_bottom:
            return
        seen = _new_tuple(Bounds, (clip_left, clip_top, clip_right, clip_bottom))
    view.bounds = seen
    children = view.children
    if not children:
        return
    pad_left, pad_top, pad_right, pad_bottom = view.pad
    x, y = left + pad_left, top + pad_top
    inner_width, inner_height = width - pad_left - pad_right, height - pad_top - pad_bottom
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
    arrange = view.arrange
    if arrange == "column":
        gap = view.gap
        for child in children:
            child_width, child_height = child.measured
            shift = child.align[0]
            child_x = x + int((inner_width - child_width) * shift) if shift else x
            _place(child, child_x, y, child_width, child_height, seen, scrolling)
            y += child_height + gap
    elif arrange == "row":
        gap = view.gap
        for child in children:
            child_width, child_height = child.measured
            shift = child.align[1]
            child_y = y + int((inner_height - child_height) * shift) if shift else y
            _place(child, x, child_y, child_width, child_height, seen, scrolling)
            x += child_width + gap
    else:
        for child in children:
            child_width, child_height = child.measured
            across, down = child.align
            child_x = x + int((inner_width - child_width) * across) if across else x
            child_y = y + int((inner_height - child_height) * down) if down else y
            _place(child, child_x, child_y, child_width, child_height, seen, scrolling)


# ----------------------------------------------------------------------------------------------------------------------
# touch


def inside(bounds: Bounds | None, x: float, y: float) -> bool:
    """Tell whether a point lies in a rectangle."""
    return bounds is not None and bounds.left <= x < bounds.right and bounds.top <= y < bounds.bottom


def touched(view: View, x: float, y: float, handles: Callable[[View], bool]) -> View | None:
    """Return the view that takes a touch: the deepest under the point that handles it, later siblings first."""
    if not inside(view.bounds, x, y):
        return None
    for child in reversed(view.children):
        taker = touched(child, x, y, handles)
        if taker is not None:
            return taker
    return view if handles(view) else None


WindowKind = Literal["status", "activity", "dialog", "keyboard", "navigation", "alert"]


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """One window with its laid-out views."""

    kind: WindowKind
    package: str
    root: View
