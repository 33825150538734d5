"""From views to a picture: windows from the lowest to the highest, and how each widget looks. Knows no app's state."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from PIL import Image

from agent_eval.device_sim.render import backdrop
from agent_eval.device_sim.render.canvas import Canvas
from agent_eval.device_sim.render.palette import DARK, LIGHT, ON_DARK, ON_PICTURE, Palette, color_of
from agent_eval.device_sim.render.typeface import MEDIUM, REGULAR, fitted
from agent_eval.device_sim.ui import DENSITY, Display, View, Window, line_height, text_lines
from agent_eval.types import Bounds

if TYPE_CHECKING:
    from agent_eval.device_sim.phone import Phone

_Key = tuple[str, Display, str]


@functools.lru_cache(maxsize=32)
def _drawn(_key: _Key, draw: _Once) -> Image.Image:
    return draw()


class _Once:
    """Equal to every other of its kind, so that the cache looks at the key only."""

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
    key = (phone.snapshot().digest, phone.display, phone.locale.tag)
    return _drawn(key, _Once(lambda: _Painter(phone).paint())).copy()


class _Painter:
    """Draws one picture.

    Args:
        phone: The phone to draw.
    """

    def __init__(self, phone: Phone) -> None:
        self.phone = phone
        self.display = phone.display
        self.scale = phone.display.scale
        self.dark = bool(phone.state["settings/dark_theme"])
        self.palette: Palette = DARK if self.dark else LIGHT
        self.canvas = Canvas(self.display.width, self.display.height, self.palette["surface"])
        self.selected_text = False

    def paint(self) -> Image.Image:
        """Draw the windows from the lowest to the highest."""
        phone = self.phone
        if not phone.world["screen/on"]:
            return Image.new("RGB", (self.display.width, self.display.height), "black")
        pages = list(phone.stacks.pictured())
        self.selected_text = bool(pages[-1].vars.get("selected", False))
        windows = [phone.shown.window_of(page) for page in pages[:-1]] + [phone.active_window]
        ground = max((place for place, window in enumerate(windows) if window.kind != "dialog"), default=0)
        others = [window for window in phone.windows if window is not phone.active_window]
        for place, window in enumerate(windows):
            if window.kind == "dialog":
                self.canvas.dim(0.45)
            self._window(window)
            if place == ground:
                for bar in others:
                    if bar.kind in ("status", "navigation"):
                        self._bar(bar, on_dark=window.root.fill in ON_DARK)
        for window in others:
            if window.kind not in ("status", "navigation"):
                self._window(window)
        if phone.keyboard_open:
            for bar in others:
                if bar.kind == "navigation":
                    self._bar(bar, on_dark=False)
        if phone.toast:
            self._toast(phone.toast)
        return self.canvas.picture

    # ------------------------------------------------------------------------------------------------------------------
    # windows

    def _window(self, window: Window) -> None:
        root = window.root
        if window.kind == "dialog":
            width = root.rect.right - root.rect.left
            radius = self._dp(28) if width > self._dp(240) else self._dp(12)
            self.canvas.shadow(root.rect, radius, round(self._dp(12)), 0.55)
            self.canvas.box(root.rect, self._color(root.fill or "dialog"), radius)
        elif root.fill:
            self._ground(root)
        palette = self.palette
        if root.fill == "viewfinder":
            self.palette = ON_PICTURE
        self._children(root.children)
        self.palette = palette

    def _ground(self, view: View) -> None:
        rect = view.rect
        size = rect.right - rect.left, rect.bottom - rect.top
        if view.fill in ("wallpaper", "wallpaper_dim"):
            picture = backdrop.wallpaper(*size, dark=self.dark, dimmed=view.fill == "wallpaper_dim")
            self.canvas.picture.paste(picture, rect[:2])
        elif view.fill == "viewfinder":
            self.canvas.picture.paste(backdrop.camera_view(*size), rect[:2])
        else:
            self.canvas.rectangle(rect, self._color(view.fill))

    def _bar(self, window: Window, *, on_dark: bool) -> None:
        """Draw a bar of the system: on dark ground in white, and with no ground of its own."""
        palette = self.palette
        if on_dark:
            self.palette = ON_PICTURE
        elif window.root.fill:
            self.canvas.rectangle(window.root.rect, self._color(window.root.fill))
        self._children(window.root.children)
        self.palette = palette

    def _toast(self, text: str) -> None:
        size = round(self._dp(14))
        most = self.display.width - self._dp(80)
        lines = [fitted(line, size, round(most)) for line in text_lines(text, size, round(most))][:2]
        width = max(line.width for line in lines) + self._dp(40)
        height = self._dp(22) + len(lines) * size * 1.3
        left = (self.display.width - width) / 2
        bottom = self.display.height - self._dp(72)
        place = Bounds(round(left), round(bottom - height), round(left + width), round(bottom))
        self.canvas.shadow(place, height / 2, round(self._dp(6)), 0.4)
        self.canvas.box(place, self._color("toast"), min(height / 2, self._dp(24)))
        y = place.top + self._dp(11) + size * 0.65
        for line in lines:
            x = (self.display.width - line.width) / 2
            self.canvas.line(line.text, x, y, line.size, self._color("on_toast"), REGULAR)
            y += size * 1.3

    # ------------------------------------------------------------------------------------------------------------------
    # views

    def _dp(self, length_dp: float) -> float:
        return length_dp * DENSITY * self.scale

    def _color(self, name: str) -> str:
        return color_of(self.palette, name)

    def _ink(self, view: View) -> str:
        return self._color(view.ink if view.enabled else "faint")

    def _children(self, views: Iterable[View]) -> None:
        for view in views:
            if view.bounds is not None:
                self._clipped(view)

    def _clipped(self, view: View) -> None:
        """Draw a view and what is below it; a scrolling list is drawn apart so that it cuts off at its edges."""
        if view.scroll and view.reach and view.bounds is not None:
            under = self.canvas.picture
            self.canvas.show(under.copy())
            self._view(view)
            inner = self.canvas.picture.crop(view.bounds)
            self.canvas.show(under)
            under.paste(inner, view.bounds[:2])
        else:
            self._view(view)

    def _view(self, view: View) -> None:
        kind = view.cls.rpartition(".")[2]
        if view.fill:
            self._fill(view, kind)
        elif view.selected:
            self._selection(view)
        widget = _WIDGETS.get(kind)
        if widget is not None and not view.children:
            widget(self, view)
        elif view.text == "\u232b":
            self.canvas.symbol("erase", *_middle(view.rect), self.scale * 2, self._ink(view))
        elif view.icon and view.fill != "viewfinder":
            self._icon(view)
        elif view.text or view.hint:
            self._text(view)
        self._children(view.children)

    def _fill(self, view: View, kind: str) -> None:
        rect = view.rect
        half = min(rect.right - rect.left, rect.bottom - rect.top) / 2
        if view.fill in ("surface", "wallpaper", "wallpaper_dim", "viewfinder", "shade"):
            self._ground(view)
            return
        radius = {"bar": 0.0, "accent": self._dp(16), "tonal": self._dp(28), "chip": self._dp(20)}.get(
            view.fill, self._dp(16)
        )
        round_by = half if kind == "ImageView" else min(radius, half)
        if kind == "ImageButton" and view.fill == "accent" and view.enabled:
            self.canvas.shadow(rect, round_by, round(self._dp(5)), 0.35)
        fill = view.fill if view.enabled or not view.clickable else "disabled"
        self.canvas.box(rect, self._color(fill), round_by)

    def _selection(self, view: View) -> None:
        """Show which of several things is chosen: a row by its ground, a tab by a pill or a line."""
        rect = view.rect
        icon = next((child for child in view.children if child.icon), None)
        if rect.right - rect.left > self.display.width * 0.6:
            self.canvas.rectangle(rect, self._color("tonal"))
        elif icon is not None and icon.bounds is not None:
            x, y = _middle(icon.rect)
            half_width, half_height = self._dp(28), self._dp(14)
            self.canvas.box(
                (x - half_width, y - half_height, x + half_width, y + half_height), self._color("tonal"), half_height
            )
        elif rect.right - rect.left <= self._dp(72) and rect.bottom - rect.top >= self._dp(36):
            self.canvas.box(rect, self._color("tonal"), self._dp(12))
        elif not view.icon:
            inset = (rect.right - rect.left) * 0.2
            self.canvas.box(
                (rect.left + inset, rect.bottom - self._dp(3), rect.right - inset, rect.bottom),
                self._color("primary"), self._dp(2),
            )  # fmt: skip

    # ------------------------------------------------------------------------------------------------------------------
    # text

    def _inside(self, view: View) -> tuple[float, float, float, float]:
        left, top, right, bottom = (pad * self.scale for pad in view.pad)
        rect = view.rect
        return rect.left + left, rect.top + top, rect.right - right, rect.bottom - bottom

    def _text(self, view: View) -> None:
        text = "\u2022" * len(view.text) if view.password else view.text
        color = self._ink(view)
        if not text:
            text, color = view.hint, self._color("faint")
        left, top, right, bottom = self._inside(view)
        lines = text_lines(text, view.size, max(math.ceil((right - left) / self.scale), 1))
        step = line_height(view.size) * self.scale
        most = max(round((bottom - top) / step), 1)
        if len(lines) > most:
            lines = lines[-most:] if view.field is not None else (*lines[: most - 1], " ".join(lines[most - 1 :]))
        weight = MEDIUM if view.bold else REGULAR
        room = max(0.0, bottom - top - step * len(lines))
        multiline = view.field is not None and view.field.multiline
        y = top + (min(self._dp(12), room) if multiline else room / 2) + step / 2
        end, wanted = left, max(round(view.size * self.scale), 1)
        size = min(fitted(line, wanted, round(right - left), weight).size for line in lines)
        for line in lines:
            end = self._line(line, left, right, y, size, color, view.justify, weight)
            y += step
        if view.field is not None and view.focused:
            self._cursor(view, end if view.text else left - 3 * self.scale, y - step, step)

    def _line(
        self, text: str, left: float, right: float, middle: float, size: float, color: str, justify: float, weight: int
    ) -> float:
        """Write one line between two edges; return where it ends."""
        line = fitted(text, max(round(size), 1), round(right - left), weight)
        x = left + max(0.0, (right - left - line.width) * justify)
        self.canvas.line(line.text, x, middle, line.size, color, weight)
        return x + line.width

    def _cursor(self, view: View, x: float, middle: float, step: float) -> None:
        half = step * 0.48
        edge = min(x + self.scale * 2, view.rect.right - self.scale * 2)
        width = max(2.0, 2 * self.scale)
        self.canvas.rectangle((edge, middle - half, edge + width, middle + half), self._color("primary"))

    # ------------------------------------------------------------------------------------------------------------------
    # symbols

    def _icon(self, view: View) -> None:
        kind, _, name = view.icon.partition(":")
        if kind == "app" and name:
            self._app_icon(view, name)
        elif kind == "key" and ":" in view.icon:
            self._key(view, name)
        elif kind == "task" and name:
            self._thumbnail(view, name)
        elif kind == "chip":
            self._chip(view)
        elif kind == "photo" and view.rect.right - view.rect.left > self._dp(72):
            self._photo(view)
        else:
            side = min(view.rect.right - view.rect.left, view.rect.bottom - view.rect.top)
            unit = min(side, self._dp(24)) / 24 if side <= self._dp(56) else side / 40
            level = int(self.phone.world["battery/level"])
            x, y = _middle(view.rect)
            drawn = self.canvas.symbol(view.icon, x, y, unit, self._ink(view), level)
            if not drawn:
                self.canvas.ring(x, y, 9 * unit, 2 * unit, self._ink(view))
            if view.text and not view.children:
                self._text(view)

    def _photo(self, view: View) -> None:
        left, top, right, bottom = view.rect
        self.canvas.picture.paste(backdrop.photo(right - left, bottom - top), (left, top))

    def _chip(self, view: View) -> None:
        x, y = _middle(view.rect)
        fill, ink = ("accent", "on_primary") if view.checked or view.selected else ("chip", "text")
        self.canvas.disc(x, y, self._dp(18), self._color(fill))
        half = self._dp(18)
        size = view.size * self.scale
        self._line(view.text, x - half, x + half, y, size, self._color(ink), 0.5, MEDIUM)

    def _thumbnail(self, view: View, package: str) -> None:
        """Draw the page that a task was left on into its card."""
        page = self.phone.stacks.on_top_of(package)
        if page is None:
            return
        small = _Painter(self.phone)
        small._window(self.phone.shown.window_of(page))
        rect = view.rect
        width, height = rect.right - rect.left, rect.bottom - rect.top
        if width <= 0 or height <= 0:
            return
        top = round(self._dp(24))
        shown = small.canvas.picture.crop((0, top, self.display.width, self.display.height - round(self._dp(48))))
        picture = shown.resize((width, max(round(width * shown.height / shown.width), 1)), Image.Resampling.HAMMING)
        self.canvas.picture.paste(picture.crop((0, 0, width, min(height, picture.height))), rect[:2])

    def _app_icon(self, view: View, package: str) -> None:
        app = self.phone.apps.get(package)
        small = not view.text
        radius = min(self._dp(27), (view.rect.right - view.rect.left) / 2 - (0 if small else self._dp(4)))
        x = (view.rect.left + view.rect.right) / 2
        y = (view.rect.top + view.rect.bottom) / 2 if small else view.rect.top + self._dp(8) + radius
        self.canvas.disc(x, y, radius, app.color if app else "#5f6368")
        if app is None or not self.canvas.symbol(app.icon, x, y, radius / 18, "#ffffff"):
            letter = (app.label if app else package.rpartition(".")[2])[:1].upper()
            self._line(letter, x - radius, x + radius, y, radius, "#ffffff", 0.5, MEDIUM)
        if not small:
            below = y + radius + self._dp(14)
            size = view.size * self.scale
            self._line(view.text, view.rect.left, view.rect.right, below, size, self._ink(view), 0.5, REGULAR)

    def _key(self, view: View, name: str) -> None:
        left, top, right, bottom = view.rect
        gap_x, gap_y = self.scale * 5, self.scale * 7
        special = name in _KEY_SYMBOLS or len(name) > 1
        fill = "key_action" if name == "\u23ce" else "key_dark" if special else "key"
        box = (left + gap_x, top + gap_y, right - gap_x, bottom - gap_y)
        self.canvas.box((box[0], box[1] + self.scale * 2, box[2], box[3] + self.scale * 2),
                        self._color("track"), self._dp(6))  # fmt: skip
        self.canvas.box(box, self._color(fill), self._dp(6))
        x, y = _middle(view.rect)
        symbol = _KEY_SYMBOLS.get(name)
        if symbol:
            self.canvas.symbol(symbol, x, y, self.scale * 1.9, self._color("text"))
        else:
            size = self._dp(21 if len(name) == 1 else 14)
            self._line(name, left, right, y, size, self._color("text"), 0.5, REGULAR)

    # ------------------------------------------------------------------------------------------------------------------
    # widgets

    def _switch(self, view: View) -> None:
        x, y = _middle(view.rect)
        on = view.checked
        half = min(self._dp(24), (view.rect.right - view.rect.left) / 2)
        tall = half * 0.6
        box = (x - half, y - tall, x + half, y + tall)
        if not view.enabled:
            self.canvas.box(box, self._color("disabled"), tall)
            self.canvas.disc(x + half * (0.42 if on else -0.42), y, tall * 0.62, self._color("faint"))
        elif on:
            self.canvas.box(box, self._color("accent"), tall)
            self.canvas.disc(x + half * 0.42, y, tall * 0.78, self._color("on_primary"))
        else:
            self.canvas.frame(box, self._color("soft"), tall, self._dp(2), self._color("card"))
            self.canvas.disc(x - half * 0.42, y, tall * 0.55, self._color("soft"))
        if view.text:
            self._text(view)

    def _slider(self, view: View) -> None:
        _, y = _middle(view.rect)
        left, right = view.rect.left + view.slide_inset, view.rect.right - view.slide_inset
        x = left + (right - left) * view.level
        ink = self._color("primary" if view.enabled else "faint")
        thick = self._dp(2)
        self.canvas.box((left, y - thick, right, y + thick), self._color("track"), thick)
        self.canvas.box((left, y - thick, max(x, left + 2 * thick), y + thick), ink, thick)
        if view.on_slide is not None:
            self.canvas.disc(x, y, self._dp(10), ink)

    def _mark(self, view: View) -> None:
        if view.icon == "chip":
            self._chip(view)
            return
        _, y = _middle(view.rect)
        x = view.rect.left + min(self._dp(16), (view.rect.right - view.rect.left) / 2)
        half = self._dp(9)
        ink = self._color(("primary" if view.checked else "icon") if view.enabled else "faint")
        box = (x - half, y - half, x + half, y + half)
        if view.cls.endswith("CheckBox"):
            if view.checked:
                self.canvas.box(box, ink, self._dp(2.5))
                self.canvas.symbol("done", x, y, self.scale * 1.5, self._color("on_primary"))
            else:
                self.canvas.frame(box, ink, self._dp(2.5), self._dp(2), self._color("surface"))
        else:
            self.canvas.ring(x, y, self._dp(10), self._dp(2), ink)
            if view.checked:
                self.canvas.disc(x, y, self._dp(5), ink)
        if view.text:
            self._text(view)

    def _field(self, view: View) -> None:
        left, top, right, bottom = view.rect
        ink = self._color("primary" if view.focused else "soft" if view.enabled else "faint")
        if not view.fill:
            self.canvas.box((left, top, right, bottom), self._color("chip"), self._dp(6))
            thick = self._dp(2 if view.focused else 1)
            self.canvas.rectangle((left + self._dp(3), bottom - thick, right - self._dp(3), bottom), ink)
        if view.focused and self.selected_text and view.text:
            self._selected(view)
        self._text(view)

    def _selected(self, view: View) -> None:
        inner_left, _, inner_right, _ = self._inside(view)
        _, y = _middle(view.rect)
        size = round(view.size * self.scale)
        line = fitted("\u2022" * len(view.text) if view.password else view.text, size, round(inner_right - inner_left))
        x = inner_left + max(0.0, (inner_right - inner_left - line.width) * view.justify)
        half = size * 0.65
        self.canvas.rectangle((x, y - half, x + line.width, y + half), self._color("selection"))


_KEY_SYMBOLS: Mapping[str, str] = {"\u232b": "erase", "\u23ce": "enter", "\u21e7": "shift"}

_WIDGETS: Mapping[str, Callable[[_Painter, View], None]] = {
    "CheckBox": _Painter._mark,
    "EditText": _Painter._field,
    "ProgressBar": _Painter._slider,
    "RadioButton": _Painter._mark,
    "SeekBar": _Painter._slider,
    "Switch": _Painter._switch,
}


def _middle(box: Bounds) -> tuple[float, float]:
    return (box.left + box.right) / 2, (box.top + box.bottom) / 2
