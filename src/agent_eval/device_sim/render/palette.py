"""The colours that screens name, in the light and the dark theme. Knows no views."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

Palette = Mapping[str, str]

LIGHT: Palette = MappingProxyType({
    "surface": "#fdfbff", "text": "#1b1b1f", "soft": "#5a5d66", "faint": "#a9abb3", "icon": "#44474f",
    "primary": "#1a5fb4", "accent": "#1a5fb4", "on_primary": "#ffffff", "card": "#ecedf6", "tonal": "#d7e3ff",
    "chip": "#dde1ee", "dialog": "#f4f3fa", "bar": "#eeeef6", "error": "#b3261e", "line": "#d6d8e2",
    "keyboard": "#dfe2ea", "key": "#fdfdff", "key_dark": "#c3c8d4", "key_action": "#c2d7fb",
    "wallpaper": "#35507a", "wallpaper_dim": "#22324c", "on_wallpaper": "#ffffff", "shade": "#e4e6ef",
    "viewfinder": "#14171c", "track": "#c9cbd6", "disabled": "#e3e4ea", "toast": "#303036", "on_toast": "#f2f0f7",
    "selection": "#b9d2fb",
})  # fmt: skip
DARK: Palette = MappingProxyType({
    **LIGHT,
    "surface": "#121318", "text": "#e3e2e9", "soft": "#b4b7c2", "faint": "#6b6e78", "icon": "#c4c6d0",
    "primary": "#a8c7ff", "accent": "#a8c7ff", "on_primary": "#08305f", "card": "#23252d", "tonal": "#2b3a55",
    "chip": "#33363f", "dialog": "#2a2c34", "bar": "#1d1f26", "error": "#ffb4ab", "line": "#3a3d47",
    "keyboard": "#1b1d24", "key": "#3a3d47", "key_dark": "#2a2d35", "key_action": "#2f4a78",
    "wallpaper": "#1a2740", "wallpaper_dim": "#0f1828", "shade": "#191b21", "track": "#44474f",
    "disabled": "#26282f", "toast": "#e3e2e9", "on_toast": "#2a2c34", "selection": "#2f4a78",
})  # fmt: skip

ON_PICTURE: Palette = MappingProxyType({
    **DARK, "text": "#ffffff", "soft": "#e3e6ec", "faint": "#9aa3ad", "icon": "#ffffff", "primary": "#ffffff",
})  # fmt: skip
"""Over a picture, in either theme."""

ON_DARK = frozenset({"wallpaper", "wallpaper_dim", "viewfinder"})
"""Fills of a page under which the system's bars write in white."""


def color_of(palette: Palette, name: str) -> str:
    """Return a colour by its name in the palette; a name such as ``#aabbcc`` is the colour itself."""
    if name.startswith("#"):
        return name
    return palette.get(name) or palette["text"]
