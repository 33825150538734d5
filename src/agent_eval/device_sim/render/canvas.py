"""Smooth shapes on a picture: boxes with round corners, discs, rings, symbols, shadows. Knows no views.

Pillow draws hard edges. Here every curved edge is a mask, drawn four times as large once, made small, and kept.
"""

from __future__ import annotations

import functools
import math

from PIL import Image, ImageDraw, ImageFilter

from agent_eval.device_sim.render import typeface
from agent_eval.device_sim.render.brush import Brush
from agent_eval.device_sim.render.icons import ICONS
from agent_eval.types import Bounds

_OVER = 4
"""How much larger masks are drawn than they are shown."""


class Canvas:
    """A picture that is being drawn.

    Args:
        width: In pixels.
        height: In pixels.
        color: Of the ground.
    """

    def __init__(self, width: int, height: int, color: str) -> None:
        self.show(Image.new("RGB", (width, height), color))

    def show(self, picture: Image.Image) -> None:
        """Go on with another picture."""
        self.picture = picture
        self._pen = ImageDraw.Draw(picture)

    def rectangle(self, box: tuple[float, float, float, float], color: str) -> None:
        """Fill a box with straight corners; right and bottom are exclusive."""
        left, top, right, bottom = (round(edge) for edge in box)
        if right > left and bottom > top:
            self._pen.rectangle((left, top, right - 1, bottom - 1), fill=color)

    def box(self, box: tuple[float, float, float, float], color: str, radius: float = 0) -> None:
        """Fill a box with round corners."""
        left, top, right, bottom = (round(edge) for edge in box)
        if right <= left or bottom <= top:
            return
        round_by = min(round(radius), (right - left) // 2, (bottom - top) // 2)
        if round_by < 2:
            self._pen.rectangle((left, top, right - 1, bottom - 1), fill=color)
            return
        corners = _corners(round_by)
        for corner, x, y in zip(
            corners,
            (left, right - round_by, left, right - round_by),
            (top, top, bottom - round_by, bottom - round_by),
            strict=True,
        ):
            self.picture.paste(color, (x, y), corner)
        if right - left > 2 * round_by:
            self._pen.rectangle((left + round_by, top, right - round_by - 1, bottom - 1), fill=color)
        if bottom - top > 2 * round_by:
            self._pen.rectangle((left, top + round_by, left + round_by - 1, bottom - round_by - 1), fill=color)
            self._pen.rectangle((right - round_by, top + round_by, right - 1, bottom - round_by - 1), fill=color)

    def frame(
        self, box: tuple[float, float, float, float], color: str, radius: float, width: float, inside: str
    ) -> None:
        """Outline a box with round corners, and fill what is inside."""
        left, top, right, bottom = box
        self.box(box, color, radius)
        self.box((left + width, top + width, right - width, bottom - width), inside, max(radius - width, 0))

    def disc(self, x: float, y: float, radius: float, color: str) -> None:
        """Fill a circle."""
        self.box((x - radius, y - radius, x + radius, y + radius), color, radius)

    def ring(self, x: float, y: float, radius: float, width: float, color: str) -> None:
        """Draw a circle's line, inside of the radius."""
        mask = _ring(round(radius * 2), round(width * 4))
        self.picture.paste(color, (round(x - radius), round(y - radius)), mask)

    def symbol(self, name: str, x: float, y: float, unit: float, color: str, level: int = 100) -> bool:
        """Draw a symbol of 24 units around a point; tell whether there is one of that name."""
        if name not in ICONS:
            return False
        mask = _symbol(name, round(unit * 64) / 64, level if name == "battery" else 100)
        self.picture.paste(color, (round(x - mask.width / 2), round(y - mask.height / 2)), mask)
        return True

    def line(self, text: str, x: float, middle: float, size: int, color: str, weight: int) -> None:
        """Write one line from its left end."""
        typeface.draw_line(self.picture, self._pen, x, middle, text, size, color, weight)

    def shadow(self, box: Bounds, radius: float, reach: int, strength: float) -> None:
        """Darken what lies around a box, as if it floated."""
        width, height = box.right - box.left, box.bottom - box.top
        mask = _shadow(width, height, round(radius), reach, round(strength * 255))
        self.picture.paste("black", (box.left - 2 * reach, box.top - 2 * reach + reach // 2), mask)

    def dim(self, share: float) -> None:
        """Darken everything so far."""
        keep = 1 - share
        self.show(self.picture.point([round(value * keep) for value in range(256)] * 3))


@functools.lru_cache(maxsize=128)
def _corners(radius: int) -> tuple[Image.Image, ...]:
    """Return the masks of the four corners: upper left and right, lower left and right."""
    side = radius * 2
    big = Image.new("L", (side * _OVER, side * _OVER), 0)
    ImageDraw.Draw(big).ellipse((0, 0, side * _OVER - 1, side * _OVER - 1), fill=255)
    disc = big.resize((side, side), Image.Resampling.BOX)
    return tuple(
        disc.crop((x, y, x + radius, y + radius)) for x, y in ((0, 0), (radius, 0), (0, radius), (radius, radius))
    )


@functools.lru_cache(maxsize=64)
def _ring(side: int, quarter_width: int) -> Image.Image:
    big = Image.new("L", (side * _OVER, side * _OVER), 0)
    width = max(quarter_width, _OVER)
    ImageDraw.Draw(big).ellipse((0, 0, side * _OVER - 1, side * _OVER - 1), outline=255, width=width)
    return big.resize((side, side), Image.Resampling.BOX)


@functools.lru_cache(maxsize=512)
def _symbol(name: str, unit: float, level: int) -> Image.Image:
    side = math.ceil(unit * 30 / 2) * 2
    big = Image.new("L", (side * _OVER, side * _OVER), 0)
    middle = side * _OVER / 2
    ICONS[name](Brush(ImageDraw.Draw(big), middle, middle, unit * _OVER, level))
    return big.resize((side, side), Image.Resampling.BOX)


@functools.lru_cache(maxsize=16)
def _shadow(width: int, height: int, radius: int, reach: int, strength: int) -> Image.Image:
    """Draw at a quarter of the size: a blur hides it, and it costs a sixteenth."""
    small = Image.new("L", ((width + 4 * reach) // 4, (height + 4 * reach) // 4), 0)
    place = (reach // 2, reach // 2, small.width - reach // 2, small.height - reach // 2)
    ImageDraw.Draw(small).rounded_rectangle(place, radius // 4, fill=strength)
    blurred = small.filter(ImageFilter.GaussianBlur(reach / 8))
    return blurred.resize((width + 4 * reach, height + 4 * reach), Image.Resampling.BICUBIC)
