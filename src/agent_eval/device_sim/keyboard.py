"""The soft keyboard's window: rows of keys for text or digits (packages/inputmethods/LatinIME). Knows no fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from agent_eval.device_sim.ui import View, dp
from agent_eval.device_sim.widgets import FRAME, column, frame, row

PACKAGE = "com.android.inputmethod.latin"
HEIGHT = dp(208)
"""With the navigation bar below it: the lower 40 % of the screen."""

Layer = Literal["letters", "capitals", "symbols", "digits"]

_LAST = ("Symbols", ",", "Space", ".", "Enter")
_ROWS: dict[Layer, tuple[tuple[str, ...], ...]] = {
    "letters": (tuple("qwertyuiop"), tuple("asdfghjkl"), ("Shift", *"zxcvbnm", "Delete"), _LAST),
    "capitals": (tuple("QWERTYUIOP"), tuple("ASDFGHJKL"), ("Shift", *"ZXCVBNM", "Delete"), _LAST),
    "symbols": (tuple("1234567890"), tuple("@#$_&-+()/"), (*"*\"':;!?", "Delete"), ("Letters", *_LAST[1:])),
    "digits": (("1", "2", "3"), ("4", "5", "6"), ("7", "8", "9"), ("Delete", "0", "Enter")),
}
_WEIGHTS = {"Space": 5, "Symbols": 2, "Letters": 2, "Enter": 2, "Shift": 2, "Delete": 2}
_KEYS: dict[str, str] = {
    "Shift": "\u21e7",
    "Delete": "\u232b",
    "Symbols": "?123",
    "Letters": "ABC",
    "Space": "",
    "Enter": "\u23ce",
}
NEXT_LAYER: dict[str, dict[Layer, Layer]] = {
    "Shift": {"letters": "capitals", "capitals": "letters"},
    "Symbols": {"letters": "symbols", "capitals": "symbols"},
    "Letters": {"symbols": "letters"},
}
"""Key, then layer before, to layer after."""


def keyboard(layer: Layer, press: Callable[[str], object]) -> View:
    """Build the keyboard's window; ``press`` receives a character or the name of a key."""

    def key(name: str) -> View:
        return View(
            "com.android.inputmethod.keyboard.Key", desc=name, icon=f"key:{_KEYS.get(name, name)}",
            weight=_WEIGHTS.get(name, 2) if layer != "digits" else 1, height=dp(52), clickable=True, focusable=False,
            on_tap=lambda: press(name),
        )  # fmt: skip

    rows = [row(*map(key, names), cls=FRAME, height=dp(52)) for names in _ROWS[layer]]
    view = column(*rows, cls="com.android.inputmethod.keyboard.MainKeyboardView", id=f"{PACKAGE}:id/keyboard_view")
    return frame(frame(view, id="android:id/inputArea"), height=HEIGHT, fill="keyboard")
