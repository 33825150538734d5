"""Screenshots: the laid-out views of a phone as a picture. Knows views and colours, no app and no state.

Glyphs come from the typeface inside Pillow, so that pictures are equal on every machine with the same Pillow; where a
text is wider in that face than the layout estimated, it is set smaller.
"""

from __future__ import annotations

import functools
import math
import unicodedata
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw, ImageFont

from agent_eval.device_sim.apps import APPS
from agent_eval.device_sim.ui import View, Window, dp, line_height, text_lines
from agent_eval.types import Bounds

if TYPE_CHECKING:
    from agent_eval.device_sim.phone import Phone

Palette = dict[str, str]

LIGHT: Palette = {
    "surface": "#fdfbff", "text": "#1b1b1f", "soft": "#5a5d66", "faint": "#a9abb3", "icon": "#44474f",
    "primary": "#1a5fb4", "accent": "#1a5fb4", "on_primary": "#ffffff", "card": "#ecedf6", "tonal": "#d7e3ff",
    "chip": "#dde1ee", "dialog": "#f4f3fa", "bar": "#eeeef6", "error": "#b3261e",
    "keyboard": "#d9dce4", "key": "#fbfcff",
    "wallpaper": "#35507a", "wallpaper_dim": "#22324c", "on_wallpaper": "#ffffff", "shade": "#e4e6ef",
    "viewfinder": "#14171c", "track": "#c4c6d0",
}  # fmt: skip
DARK: Palette = {
    **LIGHT,
    "surface": "#121318", "text": "#e3e2e9", "soft": "#b4b7c2", "faint": "#6b6e78", "icon": "#c4c6d0",
    "primary": "#a8c7ff", "accent": "#a8c7ff", "on_primary": "#08305f", "card": "#23252d", "tonal": "#2b3a55",
    "chip": "#33363f", "dialog": "#2a2c34", "bar": "#1d1f26", "error": "#ffb4ab",
    "keyboard": "#1b1d24", "key": "#33363f",
    "wallpaper": "#1a2740", "wallpaper_dim": "#0f1828", "shade": "#191b21", "track": "#44474f",
}  # fmt: skip

_SUBSTITUTES = str.maketrans(
    {"\u2011": "-", "\u2212": "-", "\u2026": "...", "\u00d7": "x", "\u00f7": ":", "\u2022": "*"}
)
_ON_DARK = frozenset({"wallpaper", "wallpaper_dim", "viewfinder"})


@functools.lru_cache(maxsize=64)
def _font(size: int) -> ImageFont.FreeTypeFont:
    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont)
    return font


@functools.lru_cache(maxsize=4096)
def _printable(text: str) -> str:
    """Replace what the typeface lacks: by a look-alike, by the letter without its accent, or by a question mark."""
    return "".join(_printable_character(character) for character in text.translate(_SUBSTITUTES))


@functools.lru_cache(maxsize=1024)
def _printable_character(character: str) -> str:
    missing = bytes(_font(24).getmask("\uffff"))
    if character == " " or bytes(_font(24).getmask(character)) != missing:
        return character
    plain = unicodedata.normalize("NFKD", character)[0]
    return plain if plain != character and bytes(_font(24).getmask(plain)) != missing else "?"


@functools.lru_cache(maxsize=32)
def _drawn(_digest: str, draw: Callable[[], Image.Image]) -> Image.Image:
    return draw()


class _Once:
    """Equal to every other of its kind, so that the cache looks at the digest only."""

    def __init__(self, draw: Callable[[], Image.Image]) -> None:
        self._draw = draw

    def __call__(self) -> Image.Image:
        return self._draw()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Once)

    def __hash__(self) -> int:
        return 0


def screenshot(phone: Phone) -> Image.Image:
    """Draw what a phone shows; equal states give equal pictures, from a cache."""
    return _drawn(phone.snapshot().digest, _Once(lambda: _Painter(phone).paint())).copy()


class _Painter:
    """Draws one picture.

    Args:
        phone: The phone to draw.
    """

    def __init__(self, phone: Phone) -> None:
        self.phone = phone
        self.palette = DARK if phone.state["settings/dark_theme"] else LIGHT
        self.image = Image.new("RGB", (720, 1280), self.palette["surface"])
        self.pen = ImageDraw.Draw(self.image)

    def paint(self) -> Image.Image:
        """Draw the windows from the lowest to the highest."""
        phone = self.phone
        if not phone.world["screen/on"]:
            self.pen.rectangle((0, 0, 720, 1280), fill="black")
            return self.image
        pages = list(phone.pages_in_front())
        windows = [phone.window_of(page) for page in pages[:-1]] + [phone.active_window]
        for position, window in enumerate(windows):
            if position:
                shadow = Image.new("RGB", self.image.size, "black")
                self.image = Image.blend(self.image, shadow, 0.45)
                self.pen = ImageDraw.Draw(self.image)
            self._window(window)
        on_dark = windows[-1].root.fill in _ON_DARK
        for window in phone.windows:
            if window.kind == "keyboard":
                self._window(window)
            elif window.kind in ("status", "navigation"):
                self._system(window, dark=on_dark)
        if phone.toast:
            self._toast(phone.toast)
        return self.image

    def _window(self, window: Window) -> None:
        root = window.root
        if root.fill:
            box = root.rect
            radius = dp(24) if window.kind == "dialog" else 0
            self._box(box, self.palette[root.fill], radius)
        self._children(root.children)

    def _system(self, window: Window, *, dark: bool) -> None:
        palette = self.palette
        if dark:
            self.palette = {**palette, "text": "#ffffff", "icon": "#ffffff", "bar": palette["wallpaper"]}
        if window.root.fill and not dark:
            self._box(window.root.rect, self.palette[window.root.fill], 0)
        self._children(window.root.children)
        self.palette = palette

    def _children(self, views: Iterable[View]) -> None:
        for view in views:
            if view.bounds is not None:
                self._clipped(view)

    def _clipped(self, view: View) -> None:
        """Draw a view and what is below it; a scrolling list is drawn apart so that it cuts off at its edges."""
        if view.scroll and view.reach:
            picture, pen = self.image, self.pen
            self.image = picture.copy()
            self.pen = ImageDraw.Draw(self.image)
            self._view(view)
            assert view.bounds is not None
            inner = self.image.crop(view.bounds)
            self.image, self.pen = picture, pen
            self.image.paste(inner, view.bounds[:2])
        else:
            self._view(view)

    def _view(self, view: View) -> None:
        short = view.cls.rpartition(".")[2]
        if view.fill:
            radius = {"accent": dp(16), "tonal": dp(28), "chip": dp(20), "bar": 0}.get(view.fill, dp(16))
            half = (view.rect.bottom - view.rect.top) // 2
            self._box(view.rect, self.palette[view.fill], half if short == "ImageView" else min(radius, half))
        special = _WIDGETS.get(short)
        if special is not None and not view.children:
            special(self, view)
        elif view.text == "\u232b":
            _ICONS["erase"](_Brush(self.pen, *_middle(view.rect), 2.0, self._color(view), 0))
        elif view.icon:
            self._icon(view)
        elif view.text or view.hint:
            self._text(view)
        self._children(view.children)

    # ------------------------------------------------------------------ parts
    def _box(self, box: Bounds, color: str, radius: int) -> None:
        self.pen.rounded_rectangle((box.left, box.top, box.right - 1, box.bottom - 1), radius, fill=color)

    def _color(self, view: View) -> str:
        return self.palette["faint" if not view.enabled else view.ink]

    def _text(self, view: View) -> None:
        text = "\u2022" * len(view.text) if view.password else view.text
        color = self._color(view)
        if not text:
            text, color = view.hint, self.palette["faint"]
        left, right = view.rect.left + view.pad[0], view.rect.right - view.pad[2]
        top, bottom = view.rect.top + view.pad[1], view.rect.bottom - view.pad[3]
        lines = text_lines(text, view.size, max(right - left, 1))
        height = line_height(view.size)
        y = top + max(0, (bottom - top - height * len(lines)) / 2)
        for line in lines:
            self._line(line, left, right, y + height / 2, view.size, color, view.justify, bold=view.bold)
            y += height

    def _line(
        self, text: str, left: float, right: float, middle: float, size: int, color: str, justify: float, *, bold: bool
    ) -> None:
        text = _printable(text)
        font = _font(size)
        width = font.getlength(text)
        if width > right - left > 0:
            size = max(10, int(size * (right - left) / width))
            font = _font(size)
            width = font.getlength(text)
        x = left + max(0.0, (right - left - width) * justify)
        self.pen.text(
            (x, middle), text, font=font, fill=color, anchor="lm", stroke_width=0.6 if bold else 0, stroke_fill=color
        )

    def _icon(self, view: View) -> None:
        kind, _, name = view.icon.partition(":")
        if kind == "app" and name:
            self._app_icon(view, name)
        elif kind == "key" and ":" in view.icon:
            self._key(view, name)
        elif kind == "task" and name:
            self._thumbnail(view, name)
        elif kind == "chip":
            fill = "accent" if view.checked else "chip"
            ink = "on_primary" if view.checked else "text"
            x, y = _middle(view.rect)
            self.pen.ellipse((x - dp(18), y - dp(18), x + dp(18), y + dp(18)), fill=self.palette[fill])
            self._line(view.text, x - 40, x + 40, y, view.size, self.palette[ink], 0.5, bold=False)
        else:
            draw = _ICONS.get(view.icon)
            if draw is not None:
                side = min(view.rect.right - view.rect.left, view.rect.bottom - view.rect.top)
                unit = min(side, dp(24)) / 24 if side <= dp(56) else side / 40
                x, y = _middle(view.rect)
                level = int(self.phone.world["battery/level"])
                draw(_Brush(self.pen, x, y, unit, self._color(view), level))

    def _thumbnail(self, view: View, package: str) -> None:
        """Draw the page that a task was left on into its card."""
        page = self.phone.page_on_top(package)
        if page is None:
            return
        small = _Painter(self.phone)
        small._window(self.phone.window_of(page))
        width = view.rect.right - view.rect.left
        picture = small.image.crop((0, 48, 720, 1184)).resize(
            (width, round(width * 1136 / 720)), Image.Resampling.LANCZOS
        )
        height = view.rect.bottom - view.rect.top
        self.image.paste(picture.crop((0, 0, width, height)), (view.rect.left, view.rect.top))

    def _app_icon(self, view: View, package: str) -> None:
        app = APPS[package]
        small = view.rect.right - view.rect.left <= dp(40)
        radius = dp(14) if small else dp(27)
        x = (view.rect.left + view.rect.right) / 2
        y = (view.rect.top + view.rect.bottom) / 2 if small else view.rect.top + dp(8) + radius
        self.pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=app.color)
        draw = _ICONS.get(app.icon)
        if draw is not None:
            draw(_Brush(self.pen, x, y, radius / 18, "#ffffff", 100))
        if not small:
            self._line(
                view.text,
                view.rect.left,
                view.rect.right,
                y + radius + dp(14),
                view.size,
                self._color(view),
                0.5,
                bold=False,
            )

    def _key(self, view: View, name: str) -> None:
        box = view.rect
        self._box(Bounds(box.left + 5, box.top + 7, box.right - 5, box.bottom - 7), self.palette["key"], dp(6))
        size = dp(20) if len(name) == 1 else dp(14)
        x, y = _middle(box)
        if name == "\u232b":
            _ICONS["erase"](_Brush(self.pen, x, y, 1.8, self.palette["text"], 0))
        elif name == "\u23ce":
            _ICONS["enter"](_Brush(self.pen, x, y, 1.8, self.palette["text"], 0))
        elif name == "\u21e7":
            _ICONS["up"](_Brush(self.pen, x, y, 1.8, self.palette["text"], 0))
        else:
            self._line(name, box.left, box.right, y, size, self.palette["text"], 0.5, bold=False)

    def _switch(self, view: View) -> None:
        x, y = _middle(view.rect)
        on = view.checked
        track = self.palette["accent" if on else "track"]
        self.pen.rounded_rectangle((x - dp(24), y - dp(14), x + dp(24), y + dp(14)), dp(14), fill=track)
        thumb, radius = (x + dp(10), dp(11)) if on else (x - dp(11), dp(8))
        color = self.palette["on_primary" if on else "soft"]
        self.pen.ellipse((thumb - radius, y - radius, thumb + radius, y + radius), fill=color)

    def _slider(self, view: View) -> None:
        _, y = _middle(view.rect)
        left, right = view.rect.left + view.slide_inset, view.rect.right - view.slide_inset
        x = left + (right - left) * view.level
        self.pen.rounded_rectangle((left, y - 4, right, y + 4), 4, fill=self.palette["track"])
        self.pen.rounded_rectangle((left, y - 4, max(x, left + 8), y + 4), 4, fill=self.palette["primary"])
        if view.on_slide is not None:
            self.pen.ellipse((x - dp(9), y - dp(9), x + dp(9), y + dp(9)), fill=self.palette["primary"])

    def _mark(self, view: View) -> None:
        square = view.cls.endswith("CheckBox")
        _, y = _middle(view.rect)
        x = view.rect.left + dp(16)
        color = self.palette["primary" if view.checked else "icon"]
        box = (x - dp(9), y - dp(9), x + dp(9), y + dp(9))
        if view.icon == "chip":
            self._icon(view)
            return
        if square:
            self.pen.rounded_rectangle(box, 6, outline=color, width=4, fill=color if view.checked else None)
            if view.checked:
                self.pen.line([(x - 9, y), (x - 2, y + 8), (x + 10, y - 8)], fill=self.palette["on_primary"], width=4)
        else:
            self.pen.ellipse(box, outline=color, width=4)
            if view.checked:
                self.pen.ellipse((x - dp(4), y - dp(4), x + dp(4), y + dp(4)), fill=color)
        if view.text:
            self._text(view)

    def _field(self, view: View) -> None:
        box = view.rect
        color = self.palette["primary" if view.focused else "soft"]
        self._box(box, self.palette["chip"], dp(6))
        self.pen.line(
            [(box.left + 6, box.bottom - 3), (box.right - 6, box.bottom - 3)],
            fill=color,
            width=4 if view.focused else 2,
        )
        self._text(view)

    def _toast(self, text: str) -> None:
        width = _font(dp(14)).getlength(text) + dp(40)
        left, top = (720 - width) / 2, 1040
        self.pen.rounded_rectangle((left, top, left + width, top + dp(40)), dp(20), fill="#303036")
        self._line(text, int(left), int(left + width), top + dp(20), dp(14), "#f2f0f7", 0.5, bold=False)


_WIDGETS: dict[str, Callable[[_Painter, View], None]] = {
    "CheckBox": _Painter._mark,
    "EditText": _Painter._field,
    "ProgressBar": _Painter._slider,
    "RadioButton": _Painter._mark,
    "SeekBar": _Painter._slider,
    "Switch": _Painter._switch,
}


def _middle(box: Bounds) -> tuple[float, float]:
    return (box.left + box.right) / 2, (box.top + box.bottom) / 2


class _Brush:
    """Draws in a square of 24 units around a point."""

    def __init__(self, pen: ImageDraw.ImageDraw, x: float, y: float, unit: float, color: str, level: int) -> None:
        self.pen, self.x, self.y, self.unit, self.color, self.level = pen, x, y, unit, color, level

    def _at(self, x: float, y: float) -> tuple[float, float]:
        return self.x + (x - 12) * self.unit, self.y + (y - 12) * self.unit

    def line(self, *points: tuple[float, float], width: float = 2) -> None:
        self.pen.line(
            [self._at(*p) for p in points], fill=self.color, width=max(1, round(width * self.unit)), joint="curve"
        )

    def shape(self, *points: tuple[float, float]) -> None:
        self.pen.polygon([self._at(*p) for p in points], fill=self.color)

    def dot(self, x: float, y: float, radius: float) -> None:
        self.pen.ellipse((*self._at(x - radius, y - radius), *self._at(x + radius, y + radius)), fill=self.color)

    def ring(self, x: float, y: float, radius: float, width: float = 2) -> None:
        box = (*self._at(x - radius, y - radius), *self._at(x + radius, y + radius))
        self.pen.ellipse(box, outline=self.color, width=max(1, round(width * self.unit)))

    def arc(self, x: float, y: float, radius: float, start: float, end: float, width: float = 2) -> None:
        box = (*self._at(x - radius, y - radius), *self._at(x + radius, y + radius))
        self.pen.arc(box, start, end, fill=self.color, width=max(1, round(width * self.unit)))

    def box(
        self, left: float, top: float, right: float, bottom: float, *, solid: bool = False, radius: float = 2
    ) -> None:
        corners = (*self._at(left, top), *self._at(right, bottom))
        round_by, width = radius * self.unit, max(1, round(2 * self.unit))
        if solid:
            self.pen.rounded_rectangle(corners, round_by, fill=self.color)
        else:
            self.pen.rounded_rectangle(corners, round_by, outline=self.color, width=width)


def _wifi(b: _Brush) -> None:
    for radius in (4, 8, 12):
        b.arc(12, 19, radius, 225, 315, 2.4)
    b.dot(12, 18, 1.8)


def _battery(b: _Brush) -> None:
    b.box(7, 4, 17, 21)
    b.box(10, 2, 14, 4, solid=True, radius=0)
    b.box(8.5, 20 - 14 * b.level / 100, 15.5, 20, solid=True, radius=0)


def _gear(b: _Brush) -> None:
    for turn in range(8):
        angle = turn * math.pi / 4
        b.line((12, 12), (12 + 9 * math.cos(angle), 12 + 9 * math.sin(angle)), width=3)
    b.dot(12, 12, 6.5)
    hole = _Brush(b.pen, b.x, b.y, b.unit, "#5f6368", 0)
    hole.dot(12, 12, 3)


def _clock(b: _Brush) -> None:
    b.ring(12, 12, 9)
    b.line((12, 7), (12, 12), (16, 14))


def _alarm(b: _Brush) -> None:
    b.ring(12, 13, 7.5)
    b.line((12, 9), (12, 13), (15, 15))
    b.line((3, 6), (7, 3))
    b.line((17, 3), (21, 6))


def _camera(b: _Brush) -> None:
    b.box(3, 7, 21, 20)
    b.box(8, 4, 16, 8, solid=True, radius=1)
    b.ring(12, 13.5, 4)


def _calculator(b: _Brush) -> None:
    b.box(5, 3, 19, 21)
    b.line((8, 8), (16, 8))
    for x in (8.5, 12, 15.5):
        for y in (13, 17):
            b.dot(x, y, 1.2)


def _bluetooth(b: _Brush) -> None:
    b.line((7, 8), (17, 16), (12, 21), (12, 3), (17, 8), (7, 16))


def _airplane(b: _Brush) -> None:
    half = ((12, 2), (13.5, 5), (13.5, 9), (21, 14), (21, 16), (13.5, 13.5), (13.5, 18), (16, 20), (16, 21.5))
    b.shape(*half, (12, 20.5), *((24 - x, y) for x, y in reversed(half)))


def _person(b: _Brush) -> None:
    b.dot(12, 8, 4)
    b.box(5, 14, 19, 21, solid=True, radius=4)


def _message(b: _Brush) -> None:
    b.box(3, 4, 21, 17)
    b.shape((6, 16), (6, 21), (11, 16))


def _bell(b: _Brush) -> None:
    b.shape((6, 17), (6, 11), (8, 7), (12, 5), (16, 7), (18, 11), (18, 17), (20, 18), (4, 18))
    b.dot(12, 20, 1.8)


def _sun(b: _Brush) -> None:
    b.ring(12, 12, 4)
    for turn in range(8):
        angle = turn * math.pi / 4
        c, s = math.cos(angle), math.sin(angle)
        b.line((12 + 7 * c, 12 + 7 * s), (12 + 10 * c, 12 + 10 * s))


def _phone(b: _Brush) -> None:
    b.box(7, 2, 17, 22)
    b.line((10, 19), (14, 19))


def _lock(b: _Brush) -> None:
    b.box(5, 10, 19, 21, solid=True)
    b.arc(12, 10, 5, 180, 360)


def _edit(b: _Brush) -> None:
    b.line((5, 19), (16, 8), width=3)
    b.line((17, 7), (19, 5), width=3)


def _delete(b: _Brush) -> None:
    b.box(7, 8, 17, 21)
    b.line((5, 6), (19, 6))
    b.line((10, 4), (14, 4))


def _search(b: _Brush) -> None:
    b.ring(10, 10, 6)
    b.line((14.5, 14.5), (20, 20))


def _apps(b: _Brush) -> None:
    for x in (6, 12, 18):
        for y in (6, 12, 18):
            b.dot(x, y, 1.8)


def _sound(b: _Brush) -> None:
    b.shape((4, 9), (8, 9), (13, 4), (13, 20), (8, 15), (4, 15))
    b.arc(13, 12, 5, 300, 60)


def _erase(b: _Brush) -> None:
    b.line((8, 6), (3, 12), (8, 18), (21, 18), (21, 6), (8, 6))
    b.line((11, 9), (17, 15))
    b.line((17, 9), (11, 15))


def _info(b: _Brush) -> None:
    b.ring(12, 12, 9)
    b.line((12, 11), (12, 17))
    b.dot(12, 7.5, 1.2)


def _shutter(b: _Brush) -> None:
    b.ring(12, 12, 14, 2)
    b.dot(12, 12, 11)


def _stopwatch(b: _Brush) -> None:
    b.ring(12, 14, 7.5)
    b.line((12, 10), (12, 14))
    b.line((9, 3), (15, 3))
    b.line((12, 3), (12, 6))


def _call(b: _Brush) -> None:
    b.arc(19, 5, 14, 95, 175, 4)


def _pin(b: _Brush) -> None:
    b.ring(12, 9, 6)
    b.shape((7, 13), (17, 13), (12, 22))


def _headset(b: _Brush) -> None:
    b.arc(12, 13, 8, 180, 360)
    b.box(3, 13, 7, 20, solid=True, radius=1)
    b.box(17, 13, 21, 20, solid=True, radius=1)


def _key(b: _Brush) -> None:
    b.ring(8, 12, 4)
    b.line((12, 12), (21, 12), (21, 16))


def _send(b: _Brush) -> None:
    b.shape((3, 4), (21, 12), (3, 20), (3, 14), (14, 12), (3, 10))


def _photo(b: _Brush) -> None:
    b.box(3, 5, 21, 19)
    b.shape((5, 17), (10, 10), (13, 14), (16, 11), (19, 17))


def _each(*strokes: Callable[[_Brush], None]) -> Callable[[_Brush], None]:
    def draw(brush: _Brush) -> None:
        for stroke in strokes:
            stroke(brush)

    return draw


_ICONS: dict[str, Callable[[_Brush], None]] = {
    "add": _each(lambda b: b.line((12, 4), (12, 20)), lambda b: b.line((4, 12), (20, 12))),
    "airplane": _airplane,
    "alarm": _alarm,
    "apps": _apps,
    "back": _each(lambda b: b.line((4, 12), (20, 12)), lambda b: b.line((11, 5), (4, 12), (11, 19))),
    "battery": _battery,
    "bell": _bell,
    "bluetooth": _bluetooth,
    "brightness": _sun,
    "calculator": _calculator,
    "call": _call,
    "camera": _camera,
    "clock": _clock,
    "dark": _each(lambda b: b.ring(12, 12, 9), lambda b: b.arc(12, 12, 4.5, 270, 90, 9)),
    "data": _each(
        lambda b: b.arc(12, 12, 9, 300, 240), lambda b: b.line((12, 8), (12, 16)), lambda b: b.line((8, 12), (16, 12))
    ),
    "delete": _delete,
    "devices": _each(
        lambda b: b.box(3, 5, 17, 16), lambda b: b.box(14, 9, 21, 20, solid=True), lambda b: b.line((2, 19), (12, 19))
    ),
    "dns": _each(lambda b: b.box(4, 4, 20, 11), lambda b: b.box(4, 13, 20, 20)),
    "down": lambda b: b.line((5, 9), (12, 16), (19, 9)),
    "edit": _edit,
    "enter": _each(lambda b: b.line((20, 6), (20, 13), (5, 13)), lambda b: b.line((9, 9), (5, 13), (9, 17))),
    "erase": _erase,
    "gear": _gear,
    "headset": _headset,
    "hotspot": _each(
        lambda b: b.dot(12, 13, 2.5), lambda b: b.arc(12, 13, 6, 150, 30), lambda b: b.arc(12, 13, 10, 150, 30)
    ),
    "info": _info,
    "lock": _lock,
    "message": _message,
    "nav_back": lambda b: b.shape((16, 5), (16, 19), (6, 12)),
    "nav_home": lambda b: b.ring(12, 12, 7),
    "nav_recent": lambda b: b.box(6, 6, 18, 18),
    "note": _each(lambda b: b.dot(9, 18, 3.2), lambda b: b.line((12, 18), (12, 4), (18, 6))),
    "palette": _each(
        lambda b: b.ring(12, 12, 9),
        lambda b: b.dot(8, 10, 1.5),
        lambda b: b.dot(12, 7.5, 1.5),
        lambda b: b.dot(16, 10, 1.5),
    ),
    "pause": _each(lambda b: b.box(7, 5, 10, 19, solid=True), lambda b: b.box(14, 5, 17, 19, solid=True)),
    "person": _person,
    "phone": _phone,
    "photo": _photo,
    "pin": _pin,
    "play": lambda b: b.shape((8, 4), (8, 20), (20, 12)),
    "search": _search,
    "send": _send,
    "shutter": _shutter,
    "sim": lambda b: b.box(6, 3, 18, 21),
    "sound": _sound,
    "stopwatch": _stopwatch,
    "storage": _each(lambda b: b.box(3, 5, 21, 11), lambda b: b.box(3, 13, 21, 19)),
    "timer": _each(
        lambda b: b.line((6, 3), (18, 3)),
        lambda b: b.line((6, 21), (18, 21)),
        lambda b: b.line((7, 3), (17, 21)),
        lambda b: b.line((17, 3), (7, 21)),
    ),
    "turn": _each(
        lambda b: b.arc(12, 12, 8, 30, 200),
        lambda b: b.arc(12, 12, 8, 220, 20),
        lambda b: b.shape((2, 8), (8, 8), (5, 13)),
    ),
    "vpn": _key,
    "up": lambda b: b.line((5, 15), (12, 8), (19, 15)),
    "wifi": _wifi,
}
