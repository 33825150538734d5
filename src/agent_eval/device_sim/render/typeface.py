"""Text as Android sets it: Roboto, Noto Sans SC for what Roboto lacks, a drawn sign for emoji, a box for the rest.

Both faces come from packages, so that pictures are equal on every machine. Without the packages the face inside Pillow
serves, and what it lacks shows as boxes. Knows no views and no layout.
"""

from __future__ import annotations

import functools
import importlib
import unicodedata
from typing import Literal, NamedTuple

from PIL import Image, ImageDraw, ImageFont

Face = Literal["latin", "chinese", "emoji", "box"]
REGULAR, MEDIUM = 400, 500
SMALLEST = 8
"""Pixels; smaller text is not drawn smaller."""
_NARROWEST = 0.75
"""Share of its size down to which a text is made smaller to fit whole; where that is not enough, its end is cut off."""
_BASELINE = 0.36
"""From the middle of a line down to its baseline, in shares of the text's size: half of a capital."""
_UNSEEN = frozenset("\u200b\u200c\u200d\u2060\ufe0e\ufe0f\u00ad")


class Run(NamedTuple):
    """A part of a line that one face draws."""

    face: Face
    text: str


class Fitted(NamedTuple):
    """A line made to fit."""

    text: str
    size: int
    width: float


# ----------------------------------------------------------------------------------------------------------------------
# faces


@functools.cache
def _latin_file() -> str | None:
    try:
        fonts = importlib.import_module("fontpkg")
    except ImportError:
        return None
    try:
        return str(fonts.path("Roboto"))
    except fonts.FontpkgError:
        return None


@functools.cache
def _chinese_file() -> str | None:
    try:
        return str(importlib.import_module("pylopdf_fonts_zh_cn").sans_path())
    except ImportError:
        return None


@functools.lru_cache(maxsize=256)
def _font(face: Face, size: int, weight: int) -> ImageFont.FreeTypeFont:
    basic = ImageFont.Layout.BASIC
    if face == "chinese":
        file = _chinese_file()
        if file is not None:
            return ImageFont.truetype(file, size, layout_engine=basic)
    file = _latin_file()
    if file is not None:
        font = ImageFont.truetype(file, size, layout_engine=basic)
        font.set_variation_by_axes([weight, 100])
        return font
    font_inside = ImageFont.load_default(size)
    assert isinstance(font_inside, ImageFont.FreeTypeFont)
    return font_inside


@functools.lru_cache(maxsize=8192)
def _draws(face: Face, character: str) -> bool:
    font = _font(face, 24, REGULAR)
    return bytes(font.getmask(character)) != bytes(font.getmask("\uffff"))


@functools.lru_cache(maxsize=8192)
def face_of(character: str) -> Face:
    """Return what draws a character."""
    if character == " ":
        return "latin"
    if unicodedata.category(character) in ("Cs", "Cc"):
        return "box"  # half of a surrogate pair, or a control character
    if _draws("latin", character):
        return "latin"
    if _chinese_file() is not None and _draws("chinese", character):
        return "chinese"
    if unicodedata.category(character) == "So" and character >= "\u2600":
        return "emoji"
    return "box"


@functools.lru_cache(maxsize=4096)
def runs_of(text: str) -> tuple[Run, ...]:
    """Split a line into parts of one face; joiners and marks that only choose a form are left out."""
    runs: list[Run] = []
    for character in text:
        if character in _UNSEEN or "\U0001f3fb" <= character <= "\U0001f3ff":
            continue
        face = face_of(character)
        if runs and runs[-1].face == face:
            runs[-1] = Run(face, runs[-1].text + character)
        else:
            runs.append(Run(face, character))
    return tuple(runs)


# ----------------------------------------------------------------------------------------------------------------------
# lines


@functools.lru_cache(maxsize=4096)
def length(text: str, size: int, weight: int = REGULAR) -> float:
    """Return the width of a line in pixels."""
    return sum(_run_length(run, size, weight) for run in runs_of(text))


def _run_length(run: Run, size: int, weight: int) -> float:
    if run.face == "emoji":
        return len(run.text) * size * 1.15
    if run.face == "box":
        return len(run.text) * size * 0.7
    return float(_font(run.face, size, weight).getlength(run.text))


@functools.lru_cache(maxsize=4096)
def fitted(text: str, size: int, room: int, weight: int = REGULAR) -> Fitted:
    """Make a line fit into so many pixels: a little smaller if that is enough, else with its end cut off."""
    width = length(text, size, weight)
    if width <= room or room <= 0:
        return Fitted(text, size, width)
    smaller = max(int(size * max(room / width, _NARROWEST)), SMALLEST)
    width = length(text, smaller, weight)
    if width <= room:
        return Fitted(text, smaller, width)
    kept = text
    while len(kept) > 1 and length(kept.rstrip() + "\u2026", size, weight) > room:
        kept = kept[:-1]
    cut = kept.rstrip() + "\u2026"
    return Fitted(cut, size, length(cut, size, weight))


def draw_line(
    picture: Image.Image,
    pen: ImageDraw.ImageDraw,
    x: float,
    middle: float,
    text: str,
    size: int,
    color: str,
    weight: int,
) -> None:
    """Draw a line from its left end, around its middle."""
    baseline = middle + size * _BASELINE
    for run in runs_of(text):
        if run.face == "emoji":
            for position, character in enumerate(run.text):
                _emoji(picture, round(x + position * size * 1.15), round(middle - size * 0.52), size, character)
        elif run.face == "box":
            for position in range(len(run.text)):
                left = x + position * size * 0.7
                box = (left + size * 0.08, baseline - size * 0.72, left + size * 0.6, baseline)
                pen.rectangle(box, outline=color, width=max(1, size // 16))
        else:
            heavier = run.face == "chinese" and weight > REGULAR
            pen.text(
                (x, baseline), run.text, font=_font(run.face, size, weight), fill=color, anchor="ls",
                stroke_width=size / 48 if heavier else 0, stroke_fill=color,
            )  # fmt: skip
        x += _run_length(run, size, weight)


def _emoji(picture: Image.Image, left: int, top: int, size: int, character: str) -> None:
    sign = _emoji_sign(character, round(size * 1.1))
    picture.paste(sign, (left, top), sign)


_HUES = ("#e4572e", "#f3a712", "#2a9d8f", "#3a7bd5", "#8e5bd0", "#d6568c")


@functools.lru_cache(maxsize=256)
def _emoji_sign(character: str, side: int) -> Image.Image:
    """Draw a face for a face, and a coloured tile with a mark for any other emoji."""
    big = Image.new("RGBA", (side * 4, side * 4), (0, 0, 0, 0))
    pen = ImageDraw.Draw(big)
    unit = side * 4 / 24
    if "\U0001f600" <= character <= "\U0001f64f" or "\U0001f910" <= character <= "\U0001f92f":
        pen.ellipse((unit, unit, 23 * unit, 23 * unit), fill="#ffc83d")
        for x in (8, 16):
            pen.ellipse(((x - 1.6) * unit, 7 * unit, (x + 1.6) * unit, 11 * unit), fill="#5b3a12")
        pen.chord((6 * unit, 9 * unit, 18 * unit, 20 * unit), 0, 180, fill="#5b3a12")
    elif character in "\u2764\U0001f495\U0001f496\U0001f499\U0001f49a\U0001f49b\U0001f49c":
        for lobe in (7.5, 16.5):
            pen.ellipse(((lobe - 5.5) * unit, 3 * unit, (lobe + 5.5) * unit, 14 * unit), fill="#e0245e")
        pen.polygon([(2.6 * unit, 11 * unit), (21.4 * unit, 11 * unit), (12 * unit, 22 * unit)], fill="#e0245e")
    else:
        tile = (2 * unit, 2 * unit, 22 * unit, 22 * unit)
        pen.rounded_rectangle(tile, 6 * unit, fill=_HUES[ord(character[0]) % len(_HUES)])
        pen.polygon([(12 * unit, 6 * unit), (18 * unit, 12 * unit), (12 * unit, 18 * unit), (6 * unit, 12 * unit)],
                    fill="#ffffff")  # fmt: skip
    return big.resize((side, side), Image.Resampling.LANCZOS)
