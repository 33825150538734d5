"""The pictures behind screens: the wallpaper, and what the camera sees. Knows no views."""

from __future__ import annotations

import functools
import math

from PIL import Image, ImageDraw, ImageFilter

Stops = tuple[str, ...]
_DAY: tuple[Stops, Stops] = (
    ("#2b4f86", "#4d7bb0", "#86a9cf", "#e3b9a8"),
    ("#6f86b0", "#53709f", "#3b588a", "#294470"),
)
_NIGHT: tuple[Stops, Stops] = (
    ("#0b1430", "#16254d", "#2b3a6b", "#4a4573"),
    ("#27345f", "#1d294f", "#152041", "#0e1733"),
)
_VIEW: tuple[Stops, Stops] = (
    ("#39506b", "#7f95a6", "#c9c3ad"),
    ("#6d7f6a", "#52664f", "#3a4b38"),
)


@functools.lru_cache(maxsize=8)
def wallpaper(width: int, height: int, *, dark: bool, dimmed: bool) -> Image.Image:
    """Return the picture behind the launcher; hills under a sky, blurred and darker behind other things."""
    sky, hills = _NIGHT if dark else _DAY
    picture = _landscape(width, height, sky, hills)
    if not dimmed:
        return picture
    small = picture.resize((width // 4, height // 4)).filter(ImageFilter.GaussianBlur(6))
    return small.point([round(value * 0.6) for value in range(256)] * 3).resize((width, height))


@functools.lru_cache(maxsize=8)
def camera_view(width: int, height: int) -> Image.Image:
    """Return what a camera sees, darker where its controls lie."""
    picture = photo(width, height)
    shade = Image.linear_gradient("L").resize((width, height // 2)).point([round(v * 0.75) for v in range(256)])
    picture.paste("black", (0, height - height // 2), shade)
    return picture


def photo(width: int, height: int) -> Image.Image:
    """Return what a camera saw."""
    return _landscape(width, height, *_VIEW)


def _landscape(width: int, height: int, sky: Stops, hills: Stops) -> Image.Image:
    strip = Image.new("RGB", (1, len(sky)))
    for place, color in enumerate(sky):
        strip.paste(color, (0, place, 1, place + 1))
    picture = strip.resize((width, height), Image.Resampling.BICUBIC)
    over = 2
    for place, color in enumerate(hills):
        mask = Image.new("L", (width * over // 2, height * over // 2), 0)
        ground = mask.height * (0.52 + 0.115 * place)
        crest = [
            (
                x,
                ground
                + mask.height * 0.035 * math.sin(x / mask.width * (3.1 + place) + place * 1.9)
                + mask.height * 0.016 * math.sin(x / mask.width * (7.7 - place) + place * 4.1),
            )
            for x in range(0, mask.width + 8, 8)
        ]
        ImageDraw.Draw(mask).polygon([(0, mask.height), *crest, (mask.width + 8, mask.height)], 255)
        picture.paste(color, (0, 0), mask.resize((width, height), Image.Resampling.BILINEAR))
    return picture
