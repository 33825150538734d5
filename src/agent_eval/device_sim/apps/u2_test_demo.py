"""The demo app of uiautomator2's own device suite (``demo_tests``). For conformance runs, not for tasks.

Its texts are English in every locale, as in the original.
"""

from __future__ import annotations

from agent_eval.device_sim.screen import App, Screen, Ui
from agent_eval.device_sim.ui import MATCH, Field, View, dp
from agent_eval.device_sim.widgets import (
    CENTER,
    IMAGE,
    activity,
    app_bar,
    button,
    column,
    edit_text,
    frame,
    label,
    opener,
)

PACKAGE = "com.example.u2testdemo"
_ID = f"{PACKAGE}:id/"
LEAST_PERCENT, MOST_PERCENT = 50, 300
"""How far the picture zooms."""


def main(ui: Ui) -> View:
    """Build the list of demos."""
    demos = (("Addition", "u2demo/addition"), ("Toast", "u2demo/toast"), ("Pinch", "u2demo/pinch"))
    keys = [button(text, opener(ui, screen), id=f"{_ID}{text.lower()}", width=MATCH) for text, screen in demos]
    return activity(ui, app_bar(ui, "u2testdemo", up=False), column(*keys, gap=dp(8), pad=(dp(16), dp(8), dp(16), 0)))


def addition(ui: Ui) -> View:
    """Build two fields whose sum goes into the third."""

    def add() -> None:
        terms = [ui.typed(name).strip() for name in ("first", "second")]
        good = all(term.removeprefix("-").isdecimal() and len(term) < 20 for term in terms)
        ui.set("text/result", str(sum(map(int, terms))) if good else "Error")

    fields = [
        edit_text(ui, Field("first"), id=f"{_ID}editTextNumber1", hint="Number 1"),
        edit_text(ui, Field("second"), id=f"{_ID}editTextNumber2", hint="Number 2"),
        button("Add", add, id=f"{_ID}buttonAdd", width=MATCH),
        edit_text(ui, Field("result"), id=f"{_ID}editTextResult", hint="Result"),
    ]
    return activity(ui, app_bar(ui, "Sum"), column(*fields, gap=dp(8), pad=(dp(16), dp(8), dp(16), 0)))


def toast(ui: Ui) -> View:
    """Build the button that shows a short message."""
    key = button("Show Toast", lambda: ui.host.show_toast("Button Clicked!"), id=f"{_ID}buttonToast", align=CENTER)
    return activity(ui, app_bar(ui, "Messages"), frame(key, weight=1))


def pinch(ui: Ui) -> View:
    """Build the picture that two fingers zoom, with the scale above it."""
    percent = int(ui.var("percent", 100))

    def zoom(ratio: float) -> None:
        ui.set("percent", min(max(round(percent * ratio), LEAST_PERCENT), MOST_PERCENT))

    picture = View(IMAGE, icon="photo", desc="pinch image", id=f"{_ID}imageView", weight=1, fill="chip")
    picture.on_pinch = zoom
    scale = label(f"Scale: {percent / 100:.2f}", id=f"{_ID}textViewScale", size=dp(18), pad=(dp(16), dp(8), 0, dp(8)))
    return activity(ui, app_bar(ui, "Zoom"), scale, picture)


APP = App(
    package=PACKAGE,
    label="u2testdemo",
    home="u2demo/main",
    icon="apps",
    color="#00695c",
    hidden=True,
    screens={
        "u2demo/main": Screen(main, f"{PACKAGE}.MainActivity"),
        "u2demo/addition": Screen(addition, f"{PACKAGE}.AdditionActivity"),
        "u2demo/toast": Screen(toast, f"{PACKAGE}.ToastActivity"),
        "u2demo/pinch": Screen(pinch, f"{PACKAGE}.PinchActivity"),
    },
)

__all__ = ["APP"]
