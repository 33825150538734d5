"""The strokes that symbols are made of, in a square of 24 units. Knows no symbol."""

from __future__ import annotations

from PIL import ImageDraw

Point = tuple[float, float]


class Brush:
    """Draws a mask: what is drawn will have the symbol's colour, what is cut lets the ground through.

    Args:
        pen: On a picture of one channel.
        x: Middle of the square.
        y: Middle of the square.
        unit: Pixels per unit.
        level: 0 to 100, for a symbol that shows an amount.
    """

    def __init__(self, pen: ImageDraw.ImageDraw, x: float, y: float, unit: float, level: int) -> None:
        self._pen, self._x, self._y, self._unit, self.level = pen, x, y, unit, level

    def _at(self, x: float, y: float) -> Point:
        return self._x + (x - 12) * self._unit, self._y + (y - 12) * self._unit

    def _around(self, x: float, y: float, radius: float) -> tuple[float, float, float, float]:
        return (*self._at(x - radius, y - radius), *self._at(x + radius, y + radius))

    def line(self, *points: Point, width: float = 2, ink: int = 255) -> None:
        """Draw a line through points, with round ends."""
        self._pen.line([self._at(*point) for point in points], ink, round(width * self._unit), joint="curve")
        for end in (points[0], points[-1]):
            self._pen.ellipse(self._around(*end, width / 2), ink)

    def shape(self, *points: Point, ink: int = 255) -> None:
        """Fill a polygon."""
        self._pen.polygon([self._at(*point) for point in points], ink)

    def dot(self, x: float, y: float, radius: float, ink: int = 255) -> None:
        """Fill a circle."""
        self._pen.ellipse(self._around(x, y, radius), ink)

    def ring(self, x: float, y: float, radius: float, width: float = 2, ink: int = 255) -> None:
        """Draw a circle's line; the radius runs through its middle."""
        self._pen.ellipse(self._around(x, y, radius + width / 2), outline=ink, width=round(width * self._unit))

    def arc(self, x: float, y: float, radius: float, start: float, end: float, width: float = 2) -> None:
        """Draw a part of a circle's line, clockwise in degrees from three o'clock."""
        self._pen.arc(self._around(x, y, radius + width / 2), start, end, 255, round(width * self._unit))

    def pie(self, x: float, y: float, radius: float, start: float, end: float, ink: int = 255) -> None:
        """Fill a sector of a circle."""
        self._pen.pieslice(self._around(x, y, radius), start, end, ink)

    def box(
        self, left: float, top: float, right: float, bottom: float, *, solid: bool = False, radius: float = 2,
        width: float = 2, ink: int = 255,
    ) -> None:  # fmt: skip
        """Draw or fill a box with round corners; a line runs inside of the edges."""
        corners = (*self._at(left, top), *self._at(right, bottom))
        if solid:
            self._pen.rounded_rectangle(corners, radius * self._unit, fill=ink)
        else:
            self._pen.rounded_rectangle(corners, radius * self._unit, outline=ink, width=round(width * self._unit))
