"""Builders for the widgets that Android's own apps are made of, with their real class names, ids and flags.

A screen function composes these; the plain ``View`` stays available for anything else. Knows no app.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agent_eval.device_sim.screen import Ui
from agent_eval.device_sim.ui import MATCH, WRAP, Field, Pad, View, dp
from agent_eval.types import Scalar

FRAME = "android.widget.FrameLayout"
LINEAR = "android.widget.LinearLayout"
RELATIVE = "android.widget.RelativeLayout"
GROUP = "android.view.ViewGroup"
VIEW = "android.view.View"
TEXT = "android.widget.TextView"
IMAGE = "android.widget.ImageView"
IMAGE_BUTTON = "android.widget.ImageButton"
BUTTON = "android.widget.Button"
EDIT = "android.widget.EditText"
SWITCH = "android.widget.Switch"
RADIO = "android.widget.RadioButton"
CHECK = "android.widget.CheckBox"
SEEK = "android.widget.SeekBar"
SCROLL = "android.widget.ScrollView"
RECYCLER = "androidx.recyclerview.widget.RecyclerView"

CENTER = (0.5, 0.5)
MIDDLE = (0.0, 0.5)
Tap = Callable[[], object] | None

TITLE, BODY, SMALL = dp(16), dp(14), dp(12)
"""Text sizes in pixels."""


def label(
    text: str,
    *,
    id: str = "",
    size: int = BODY,
    ink: str = "text",
    bold: bool = False,
    width: int = WRAP,
    height: int = WRAP,
    weight: int = 0,
    pad: Pad = (0, 0, 0, 0),
    align: tuple[float, float] = (0.0, 0.0),
    justify: float = 0.0,
    desc: str = "",
    on_tap: Tap = None,
    fill: str = "",
) -> View:
    """Show a text; with ``on_tap`` it can be tapped."""
    return View(
        TEXT,
        text=text,
        id=id,
        size=size,
        ink=ink,
        bold=bold,
        width=width,
        height=height,
        weight=weight,
        pad=pad,
        align=align,
        justify=justify,
        desc=desc,
        on_tap=on_tap,
        clickable=on_tap is not None,
        focusable=on_tap is not None,
        fill=fill,
    )


def column(
    *children: View,
    cls: str = LINEAR,
    id: str = "",
    width: int = MATCH,
    height: int = WRAP,
    weight: int = 0,
    pad: Pad = (0, 0, 0, 0),
    gap: int = 0,
    align: tuple[float, float] = (0.0, 0.0),
    fill: str = "",
    on_tap: Tap = None,
    desc: str = "",
) -> View:
    """Stack views from top to bottom."""
    return View(
        cls,
        children,
        id=id,
        arrange="column",
        width=width,
        height=height,
        weight=weight,
        pad=pad,
        gap=gap,
        align=align,
        fill=fill,
        on_tap=on_tap,
        clickable=on_tap is not None,
        focusable=on_tap is not None,
        desc=desc,
    )


def row(
    *children: View,
    cls: str = LINEAR,
    id: str = "",
    width: int = MATCH,
    height: int = WRAP,
    weight: int = 0,
    pad: Pad = (0, 0, 0, 0),
    gap: int = 0,
    align: tuple[float, float] = (0.0, 0.0),
    fill: str = "",
    on_tap: Tap = None,
    on_hold: Tap = None,
    desc: str = "",
    enabled: bool = True,
    selected: bool = False,
) -> View:
    """Put views side by side."""
    return View(
        cls,
        children,
        id=id,
        arrange="row",
        width=width,
        height=height,
        weight=weight,
        pad=pad,
        gap=gap,
        align=align,
        fill=fill,
        on_tap=on_tap,
        clickable=on_tap is not None,
        focusable=on_tap is not None,
        desc=desc,
        enabled=enabled,
        selected=selected,
        on_hold=on_hold,
        long_clickable=on_hold is not None,
    )


def frame(
    *children: View,
    cls: str = FRAME,
    id: str = "",
    width: int = MATCH,
    height: int = WRAP,
    weight: int = 0,
    pad: Pad = (0, 0, 0, 0),
    align: tuple[float, float] = (0.0, 0.0),
    fill: str = "",
    on_tap: Tap = None,
    on_hold: Tap = None,
    desc: str = "",
) -> View:
    """Put views on top of each other, each placed by its own ``align``."""
    return View(
        cls,
        children,
        id=id,
        width=width,
        height=height,
        weight=weight,
        pad=pad,
        align=align,
        fill=fill,
        on_tap=on_tap,
        clickable=on_tap is not None,
        focusable=on_tap is not None,
        desc=desc,
        on_hold=on_hold,
        long_clickable=on_hold is not None,
    )


def scroll_column(
    ui: Ui,
    children: Sequence[View],
    *,
    name: str = "list",
    cls: str = RECYCLER,
    id: str = "",
    pad: Pad = (0, 0, 0, 0),
    gap: int = 0,
    weight: int = 0,
    height: int = MATCH,
) -> View:
    """Stack views in a list that scrolls; ``name`` tells the lists of one page apart."""
    return View(
        cls,
        children,
        id=id,
        arrange="column",
        scroll=name,
        offset=int(ui.var(f"scroll/{name}", 0)),
        height=height,
        weight=weight,
        pad=pad,
        gap=gap,
        focusable=True,
    )


def scroll_row(
    ui: Ui,
    children: Sequence[View],
    *,
    name: str = "list",
    cls: str = "android.widget.HorizontalScrollView",
    id: str = "",
    pad: Pad = (0, 0, 0, 0),
    gap: int = 0,
    height: int = MATCH,
    weight: int = 0,
) -> View:
    """Put views side by side in a list that scrolls sideways."""
    return View(
        cls,
        children,
        id=id,
        arrange="row",
        scroll=name,
        offset=int(ui.var(f"scroll/{name}", 0)),
        height=height,
        weight=weight,
        pad=pad,
        gap=gap,
        focusable=True,
    )


def image(
    icon: str,
    *,
    desc: str = "",
    id: str = "",
    size: int = dp(24),
    ink: str = "icon",
    fill: str = "",
    align: tuple[float, float] = CENTER,
    width: int = 0,
) -> View:
    """Show a symbol that cannot be tapped."""
    return View(IMAGE, icon=icon, desc=desc, id=id, width=width or size, height=size, ink=ink, fill=fill, align=align)


def image_button(
    icon: str,
    desc: str,
    on_tap: Tap,
    *,
    id: str = "",
    size: int = dp(48),
    ink: str = "icon",
    fill: str = "",
    align: tuple[float, float] = CENTER,
    cls: str = IMAGE_BUTTON,
    enabled: bool = True,
) -> View:
    """Show a symbol that can be tapped."""
    return View(
        cls,
        icon=icon,
        desc=desc,
        id=id,
        width=size,
        height=size,
        ink=ink,
        fill=fill,
        align=align,
        on_tap=on_tap,
        clickable=True,
        focusable=True,
        enabled=enabled,
    )


def button(
    text: str,
    on_tap: Tap,
    *,
    id: str = "",
    fill: str = "",
    ink: str = "primary",
    enabled: bool = True,
    width: int = WRAP,
    height: int = dp(48),
    size: int = BODY,
    weight: int = 0,
    align: tuple[float, float] = MIDDLE,
    desc: str = "",
    cls: str = BUTTON,
) -> View:
    """Show a text button."""
    return View(
        cls,
        text=text,
        id=id,
        on_tap=on_tap,
        clickable=True,
        focusable=True,
        enabled=enabled,
        width=width,
        height=height,
        pad=(dp(12), 0, dp(12), 0),
        size=size,
        bold=True,
        ink=ink,
        fill=fill,
        justify=0.5,
        weight=weight,
        align=align,
        desc=desc,
    )


def floating(icon: str, desc: str, on_tap: Tap, *, id: str) -> View:
    """Show the round button that lies over the lower right corner of a page."""
    inner = image_button(icon, desc, on_tap, id=id, size=dp(56), fill="accent", ink="on_primary")
    return frame(inner, align=(1.0, 1.0), width=dp(88), height=dp(88))


def switch(
    checked: bool,
    *,
    id: str = "android:id/switch_widget",
    on_tap: Tap = None,
    desc: str = "",
    cls: str = SWITCH,
    enabled: bool = True,
) -> View:
    """Show a switch; inside a preference it is not clickable, since the row is."""
    return View(
        cls,
        id=id,
        checkable=True,
        checked=checked,
        width=dp(52),
        height=dp(48),
        align=CENTER,
        on_tap=on_tap,
        clickable=on_tap is not None,
        focusable=on_tap is not None,
        desc=desc,
        enabled=enabled,
    )


def seek_bar(
    value: int,
    most: int,
    on_value: Callable[[int], object],
    *,
    id: str = "android:id/seekbar",
    desc: str = "",
    enabled: bool = True,
) -> View:
    """Show a slider over 0..most; touching it sets the value under the finger, and dragging follows the finger."""
    return View(
        SEEK,
        id=id,
        text=f"{value}.0",
        desc=desc,
        height=dp(48),
        enabled=enabled,
        focusable=True,
        on_slide=lambda share: on_value(round(share * most)),
        slide_inset=dp(16),
        level=value / most,
        ink="primary",
    )


def edit_text(
    ui: Ui,
    field: Field,
    *,
    initial: str = "",
    id: str = "android:id/edit",
    desc: str = "",
    hint: str = "",
    size: int = TITLE,
    width: int = MATCH,
    height: int = dp(56),
    password: bool = False,
    justify: float = 0.0,
    weight: int = 0,
    align: tuple[float, float] = (0.0, 0.0),
) -> View:
    """Show an input field whose text lives among the page's variables."""
    return View(
        EDIT,
        text=ui.typed(field.name, initial),
        id=id,
        desc=desc,
        hint=hint,
        field=field,
        size=size,
        width=width,
        height=height,
        clickable=True,
        long_clickable=True,
        focusable=True,
        focused=ui.var("focus") == field.name,
        password=password,
        pad=(dp(8), 0, dp(8), 0),
        justify=justify,
        weight=weight,
        align=align,
    )


def choice(
    text: str, checked: bool, on_tap: Tap, *, id: str = "", cls: str = RADIO, width: int = WRAP, desc: str = ""
) -> View:
    """Show a radio button or check box that carries its own text and click."""
    return View(
        cls,
        text=text,
        id=id,
        checkable=True,
        checked=checked,
        clickable=True,
        focusable=True,
        on_tap=on_tap,
        width=width,
        height=dp(48),
        pad=(dp(36), 0, dp(8), 0),
        size=BODY,
        desc=desc,
    )


# ----------------------------------------------------------------------------------------------------------------------
# preferences, as SettingsLib lays them out (preference_material.xml, main_switch_bar.xml)


def preference(
    title: str,
    summary: str = "",
    *,
    icon: str = "",
    on_tap: Tap = None,
    checked: bool | None = None,
    enabled: bool = True,
    widget: View | None = None,
) -> View:
    """Show a row of Settings: the row takes the click, its texts do not, and a switch only carries the state."""
    texts = [label(title, id="android:id/title", size=TITLE, ink="text" if enabled else "faint", width=MATCH)]
    if summary:
        texts.append(label(summary, id="android:id/summary", size=BODY, ink="soft" if enabled else "faint"))
    parts = [column(*texts, cls=RELATIVE, weight=1, align=MIDDLE, pad=(0, dp(8), 0, dp(8)))]
    if icon:
        parts.insert(
            0,
            frame(
                image(icon, id="android:id/icon", align=MIDDLE), id="android:id/icon_frame", width=dp(56), align=MIDDLE
            ),
        )
    if checked is not None:
        widget = switch(checked, enabled=enabled)
    if widget is not None:
        parts.append(frame(widget, cls=LINEAR, id="android:id/widget_frame", width=dp(64), align=MIDDLE))
    return row(*parts, height=dp(72) if summary else dp(64), pad=(dp(24), 0, dp(16), 0), on_tap=on_tap, enabled=enabled)


def main_switch(title: str, checked: bool, on_tap: Tap) -> View:
    """Show the switch bar that heads a page of Settings."""
    return frame(
        row(
            label(title, id="com.android.settings:id/switch_text", size=TITLE, weight=1, align=MIDDLE),
            switch(checked),
            id="com.android.settings:id/frame",
            height=dp(64),
            pad=(dp(20), 0, dp(16), 0),
            on_tap=on_tap,
            fill="tonal",
        ),
        id="com.android.settings:id/main_switch_bar",
        pad=(dp(16), dp(8), dp(16), dp(8)),
    )


def category(title: str) -> View:
    """Show the heading of a group of rows."""
    return row(
        label(title, id="android:id/title", size=BODY, ink="primary", bold=True, align=MIDDLE),
        height=dp(48),
        pad=(dp(24), 0, dp(24), 0),
    )


def radio_row(title: str, checked: bool, on_tap: Tap) -> View:
    """Show a row of a radio list; the mark carries the state and the row takes the click."""
    mark = View(
        RADIO, id="android:id/checkbox", checkable=True, checked=checked, width=dp(32), height=dp(32), align=CENTER
    )
    return row(
        frame(mark, cls=LINEAR, id="android:id/widget_frame", width=dp(56), align=MIDDLE),
        column(label(title, id="android:id/title", size=TITLE), cls=RELATIVE, weight=1, align=MIDDLE),
        height=dp(64),
        pad=(dp(16), 0, dp(16), 0),
        on_tap=on_tap,
    )


# ----------------------------------------------------------------------------------------------------------------------
# windows


def app_bar(ui: Ui, title: str, *, up: bool = True, id: str = "", actions: Sequence[View] = ()) -> View:
    """Show the bar with a page's title; ``up`` adds the arrow that closes the page."""
    parts = [image_button("back", ui.say("Navigate up"), ui.close)] if up else []
    title_view = label(title, id=id, size=dp(20), align=MIDDLE, weight=1, pad=(dp(8) if up else dp(16), 0, 0, 0))
    return row(*parts, title_view, *actions, cls=GROUP, height=dp(56), pad=(dp(4), 0, dp(4), 0))


def activity(ui: Ui, *content: View, fill: str = "surface", overlay: Sequence[View] = ()) -> View:
    """Wrap content in the frames of a full-screen window, inside the area that the system leaves to it."""
    body = column(*content, height=MATCH)
    return frame(
        column(frame(body, *overlay, id="android:id/content", height=MATCH), height=MATCH),
        height=MATCH,
        fill=fill,
        pad=(0, ui.area.top, 0, ui.canvas.bottom - ui.area.bottom),
    )


def dialog(
    *content: View, title: str = "", buttons: Sequence[View] = (), width: int = dp(312), message: str = ""
) -> View:
    """Wrap content in the frames of a dialog (alert_dialog_material.xml)."""
    parts: list[View] = []
    if title:
        heading = label(title, id="android:id/alertTitle", size=dp(20), width=MATCH)
        parts.append(column(heading, id="android:id/topPanel", pad=(dp(24), dp(20), dp(24), dp(8))))
    if message:
        text = label(message, id="android:id/message", size=BODY, ink="soft", width=MATCH)
        parts.append(frame(text, id="android:id/contentPanel", pad=(dp(24), dp(8 if title else 20), dp(24), dp(8))))
    if content:
        parts.append(column(*content, cls=FRAME, id="android:id/custom", pad=(dp(24), dp(8), dp(24), dp(8))))
    if buttons:
        space = View("android.widget.Space", weight=1, height=dp(1))
        parts.append(row(space, *buttons, cls=LINEAR, id="android:id/buttonPanel", pad=(dp(12), dp(4), dp(12), dp(4))))
    inner = column(*parts, id="android:id/parentPanel")
    return frame(frame(inner, id="android:id/content"), width=width, align=CENTER, fill="dialog")


def cancel_and_ok(
    ui: Ui, on_ok: Callable[[], object], *, ok: str = "OK", no: str = "Cancel", enabled: bool = True
) -> tuple[View, View]:
    """Return the two buttons of a dialog; the first one closes it."""
    return (
        button(ui.say(no), ui.close, id="android:id/button2"),
        button(ui.say(ok), on_ok, id="android:id/button1", enabled=enabled),
    )


def setter(ui: Ui, name: str, value: Scalar) -> Callable[[], object]:
    """Return a callback that sets a variable of the page."""
    return lambda: ui.set(name, value)


def opener(ui: Ui, screen: str, **variables: Scalar) -> Callable[[], object]:
    """Return a callback that opens a page."""
    return lambda: ui.open(screen, **variables)
