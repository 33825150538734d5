"""ApiDemos: the lists and the demos that device suites of clients walk through. For conformance runs, not for tasks.

Labels, ids and activities follow appium/android-apidemos, as uiautomator2's ``mobile_tests`` use them. A demo
that no suite touches is a page with its name. Its texts are English in every locale, as in the original.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from agent_eval.device_sim.screen import App, Screen, Ui
from agent_eval.device_sim.ui import MATCH, WRAP, Field, View, dp
from agent_eval.device_sim.widgets import (
    CHECK,
    MIDDLE,
    RADIO,
    SCROLL,
    TITLE,
    activity,
    app_bar,
    button,
    choice,
    column,
    dialog,
    edit_text,
    frame,
    label,
    opener,
    row,
    scroll_column,
    seek_bar,
    setter,
    switch,
)

PACKAGE = "io.appium.android.apis"
_ID = f"{PACKAGE}:id/"

LISTS: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "": ("Access'ibility", "Accessibility", "Animation", "App", "Content", "Graphics", "Media", "NFC", "OS",
         "Preference", "Text", "Views"),
    "Access'ibility": ("Accessibility Node Provider", "Accessibility Node Querying", "Accessibility Service",
                       "Custom View"),
    "Accessibility": ("Accessibility Node Provider", "Accessibility Node Querying", "Accessibility Service",
                      "Custom View"),
    "Animation": ("Bouncing Balls", "Cloning", "Custom Evaluator", "Default Layout Animations", "Events",
                  "Hide-Show Animations", "Layout Animations", "Loading", "Multiple Properties", "Reversing", "Seeking",
                  "View Flip"),
    "App": ("Action Bar", "Activity", "Alarm", "Alert Dialogs", "Device Admin", "Fragment", "Launcher Shortcuts",
            "Loader", "Menu", "Notification", "Search", "Service", "Text-To-Speech", "Voice Recognition"),
    "App/Action Bar": ("Action Bar Mechanics", "Action Bar Tabs", "Action Bar Usage", "Display Options"),
    "App/Activity": ("Animation", "Custom Title", "Dialog", "Forwarding", "Hello World", "Persistent State",
                     "Receive Result", "Reorder Activities", "Save & Restore State", "Translucent"),
    "App/Alarm": ("Alarm Controller", "Alarm Service"),
    "App/Fragment": ("Alert Dialog", "Arguments", "Context Menu", "Hide and Show", "Layout", "List Array", "Menu",
                     "Stack", "Tabs"),
    "App/Loader": ("Cursor", "Custom", "Throttle"),
    "App/Menu": ("Inflate from XML",),
    "App/Notification": ("IncomingMessage", "Notifying Service Controller", "NotifyWithText", "Status Bar"),
    "App/Search": ("Invoke Search", "Query Search Results"),
    "App/Service": ("Foreground Service Controller", "Local Service Binding", "Local Service Controller",
                    "Remote Service Binding", "Remote Service Controller"),
    "Content": ("Assets", "Clipboard", "Packages", "Provider", "Resources", "Storage"),
    "Graphics": ("AlphaBitmap", "AnimateDrawables", "Arcs", "BitmapDecode", "BitmapMesh", "BitmapPixels",
                 "CameraPreview", "ColorFilters", "ColorMatrix", "Compass", "CreateBitmap", "Density", "DrawPoints",
                 "FingerPaint", "Layers", "MeasureText", "OpenGL ES", "PathEffects", "PathFillTypes", "Patterns",
                 "Pictures", "PolyToPoly", "PurgeableBitmap", "Regions", "RoundRects", "ScaleToFit", "SensorTest",
                 "Shaders", "ShapeDrawable", "SurfaceView Overlay", "Sweep", "Text Align", "TextFilters", "Touch Paint",
                 "Typefaces", "UnicodeChart", "Vertices", "Xfermodes"),
    "Media": ("AudioFx", "MediaPlayer", "VideoView"),
    "NFC": ("ForegroundDispatch", "ForegroundNdefPush", "TechFilter"),
    "OS": ("Morse Code", "Rotation Vector", "Sensors", "SMS Messaging"),
    "Preference": ("1. Preferences from XML", "2. Launching preferences", "3. Preference dependencies",
                   "4. Default values", "5. Preferences from code", "6. Advanced preferences", "7. Fragment",
                   "8. Headers", "9. Switch"),
    "Text": ("KeyEventText", "Linkify", "LogTextBox", "Marquee", "Unicode"),
    "Views": ("Animation", "Auto Complete", "Buttons", "Chronometer", "Controls", "Custom", "Date Widgets",
              "Drag and Drop", "Expandable Lists", "Focus", "Gallery", "Grid", "Hover Events", "ImageButton",
              "ImageSwitcher", "ImageView", "Layout Animation", "Layouts", "Lists", "Picker", "Popup Menu",
              "Progress Bar", "Radio Group", "Rating Bar", "Rotating Button", "ScrollBars", "Search View",
              "Secure View", "Seek Bar", "Spinner", "Splitting Touches across Views", "Switches", "Tabs", "TextClock",
              "TextFields", "TextSwitcher", "Visibility", "WebView"),
    "Views/Controls": ("1. Light Theme", "2. Dark Theme", "3. Holo Light Theme"),
    "Views/Lists": ("01. Array", "02. Cursor (People)", "03. Cursor (Phones)", "04. ListAdapter", "05. Separators"),
})  # fmt: skip
"""Path of a list to its entries; an entry that is itself no list is a demo."""


def entries(ui: Ui) -> View:
    """Build one list (ApiDemos itself, with simple_list_item_1 for rows)."""
    path = str(ui.var("path"))
    rows = []
    for name in LISTS[path]:
        below = f"{path}/{name}" if path else name
        target = opener(ui, "apis/list", path=below) if below in LISTS else opener(ui, _screen_of(below), path=below)
        rows.append(
            View(
                "android.widget.TextView",
                text=name,
                desc=name,
                id="android:id/text1",
                size=TITLE,
                height=dp(48),
                pad=(dp(16), 0, dp(16), 0),
                clickable=True,
                focusable=True,
                on_tap=target,
            )
        )
    body = scroll_column(ui, rows, cls="android.widget.ListView", id="android:id/list", height=0, weight=1)
    return activity(ui, app_bar(ui, "API Demos", up=False), body)


def _screen_of(path: str) -> str:
    return DEMOS.get(path, "apis/plain")


def _page(ui: Ui, *content: View, title: str = "") -> View:
    body = scroll_column(ui, content, cls=SCROLL, height=0, weight=1, gap=dp(8), pad=(dp(16), dp(8), dp(16), dp(8)))
    return activity(ui, app_bar(ui, title or str(ui.var("path")), up=False), body)


def plain(ui: Ui) -> View:
    """Build a demo that shows only what it is called."""
    return _page(ui, label(str(ui.var("path")).rpartition("/")[2], id=f"{_ID}text", size=TITLE))


def invoke_search(ui: Ui) -> View:
    """Build App/Search/Invoke Search (search_invoke.xml)."""
    return _page(
        ui,
        label("Specify data to be used with search:", id=f"{_ID}text"),
        label("Prefill query", ink="soft"),
        edit_text(ui, Field("prefill"), id=f"{_ID}txt_query_prefill", hint="", desc="Prefill query"),
        label("App data", ink="soft"),
        edit_text(ui, Field("appdata"), id=f"{_ID}txt_query_appdata", hint="", desc="App data"),
        button(
            "onSearchRequested()", opener(ui, "apis/results", query=ui.typed("prefill")), id=f"{_ID}btn_start_search"
        ),
        title="App/Search/Invoke Search",
    )


def results(ui: Ui) -> View:
    """Build App/Search/Query Search Results."""
    query = str(ui.var("query"))
    return _page(
        ui, label(query or "No query", id=f"{_ID}txt_query", size=TITLE), title="App/Search/Query Search Results"
    )


def notify_with_text(ui: Ui) -> View:
    """Build App/Notification/NotifyWithText (notify_with_text.xml)."""

    def show(text: str) -> Callable[[], object]:
        return lambda: ui.host.show_toast(text)

    return _page(
        ui,
        button("Show Short Notification", show("Short notification"), id=f"{_ID}short_notify", width=MATCH),
        button("Show Long Notification", show("Long notification"), id=f"{_ID}long_notify", width=MATCH),
    )


def alert_dialogs(ui: Ui) -> View:
    """Build App/Alert Dialogs (alert_dialog.xml)."""
    return _page(
        ui,
        button("OK Cancel dialog with a message", opener(ui, "apis/ok_cancel"), id=f"{_ID}two_buttons", width=MATCH),
        button("List dialog", opener(ui, "apis/list_dialog"), id=f"{_ID}select_button", width=MATCH),
        button("Text Entry dialog", opener(ui, "apis/text_entry"), id=f"{_ID}text_entry_button", width=MATCH),
        label(str(ui.var("said")), id=f"{_ID}said"),
    )


def _two_buttons(ui: Ui) -> tuple[View, View]:
    return (
        button("Cancel", lambda: ui.close(said="Cancel"), id="android:id/button2"),
        button("OK", lambda: ui.close(said="OK"), id="android:id/button1"),
    )


def ok_cancel(ui: Ui) -> View:
    """Build the dialog with a message and two buttons."""
    return dialog(title="Two buttons and a message", message="Which one will it be?", buttons=_two_buttons(ui))


def list_dialog(ui: Ui) -> View:
    """Build the dialog that offers a list of commands."""
    rows = []
    for place, name in enumerate(("Command one", "Command two", "Command three", "Command four")):

        def choose(place: int = place, name: str = name) -> None:
            ui.close(said=f"You selected: {place} , {name}")

        rows.append(label(name, id="android:id/text1", size=TITLE, width=MATCH, height=dp(48), on_tap=choose))
    return dialog(column(*rows, cls="android.widget.ListView"), title="Header title")


def text_entry(ui: Ui) -> View:
    """Build the dialog with two fields."""
    return dialog(
        label("Name:", id=f"{_ID}username_view"),
        column(edit_text(ui, Field("name"), id=f"{_ID}username_edit")),
        label("Password:", id=f"{_ID}password_view"),
        column(edit_text(ui, Field("password"), id=f"{_ID}password_edit", password=True)),
        title="Text Entry dialog",
        buttons=_two_buttons(ui),
    )


def menu_from_xml(ui: Ui) -> View:
    """Build App/Menu/Inflate from XML."""
    return _page(
        ui,
        label("Select a menu resource and press the menu key", id=f"{_ID}text"),
        button("Title only", lambda: ui.host.show_toast("Jump up in the air!"), id=f"{_ID}spinner", width=MATCH),
    )


def video_view(ui: Ui) -> View:
    """Build Media/VideoView."""
    return activity(ui, View("android.widget.VideoView", id=f"{_ID}surface_view", weight=1, fill="viewfinder"))


def buttons(ui: Ui) -> View:
    """Build Views/Buttons (buttons_1.xml)."""
    on = bool(ui.var("on", False))
    toggle = button("ON" if on else "OFF", setter(ui, "on", not on), id=f"{_ID}button_toggle", desc="Toggle",
                    cls="android.widget.ToggleButton")  # fmt: skip
    toggle.checkable, toggle.checked = True, on
    return _page(
        ui,
        button("NORMAL", lambda: None, id=f"{_ID}button_normal", desc="Normal"),
        button("SMALL", lambda: None, id=f"{_ID}button_small", desc="Small", height=dp(40)),
        toggle,
    )


def controls(ui: Ui) -> View:
    """Build Views/Controls/1. Light Theme (controls_1.xml)."""

    def flag(name: str) -> bool:
        return bool(ui.var(name, False))

    radio = str(ui.var("radio"))
    checks = [
        choice(f"Checkbox {place}", flag(f"check{place}"), setter(ui, f"check{place}", not flag(f"check{place}")),
               id=f"{_ID}check{place}", cls=CHECK)
        for place in (1, 2)
    ]  # fmt: skip
    radios = [
        choice(f"RadioButton {place}", radio == str(place), setter(ui, "radio", str(place)), id=f"{_ID}radio{place}",
               cls=RADIO)
        for place in (1, 2)
    ]  # fmt: skip
    return _page(
        ui,
        row(
            button("Save", lambda: None, id=f"{_ID}button"),
            button("Save", None, id=f"{_ID}button_disabled", enabled=False),
        ),
        edit_text(ui, Field("edit"), id=f"{_ID}edit", hint="hint text"),
        *checks,
        column(*radios, cls="android.widget.RadioGroup"),
    )


def drag_and_drop(ui: Ui) -> View:
    """Build Views/Drag and Drop: a dot that is let go over another one (drag_layout.xml)."""

    def dot(name: str, *, at: tuple[float, float]) -> View:
        view = View("android.view.View", id=f"{_ID}{name}", width=dp(96), height=dp(96), fill="primary", align=at,
                    clickable=True, long_clickable=True)  # fmt: skip
        view.on_drop = lambda x, y: drop(name, x, y)
        return view

    dots = {
        "drag_dot_1": dot("drag_dot_1", at=(0.1, 0.1)),
        "drag_dot_2": dot("drag_dot_2", at=(0.9, 0.1)),
        "drag_dot_3": dot("drag_dot_3", at=(0.1, 0.8)),
    }

    def drop(name: str, x: float, y: float) -> None:
        over = [
            other
            for other, view in dots.items()
            if other != name and view.bounds and view.bounds.left <= x < view.bounds.right
            and view.bounds.top <= y < view.bounds.bottom
        ]  # fmt: skip
        ui.set("result", "Dropped!" if over else "No drop")

    field = frame(*dots.values(), weight=1)
    texts = [label(str(ui.var("result")), id=f"{_ID}drag_result_text", size=TITLE),
             label("Long-press to drag", id=f"{_ID}drag_text", ink="soft")]  # fmt: skip
    return activity(ui, app_bar(ui, "Views/Drag and Drop", up=False), *texts, field)


def seek(ui: Ui) -> View:
    """Build Views/Seek Bar (seekbar.xml)."""
    value = int(ui.var("value", 50))
    return _page(
        ui,
        seek_bar(value, 100, lambda new: ui.set("value", new), id=f"{_ID}seek"),
        label(f"{value} from touch=true" if "value" in ui.page.vars else "", id=f"{_ID}progress"),
    )


def switches(ui: Ui) -> View:
    """Build Views/Switches (switches.xml)."""
    rows = []
    for place, name in enumerate(("Standard switch", "Default is on", "Monitored switch")):
        on = bool(ui.var(f"switch{place}", place == 1))
        rows.append(
            row(
                label(name, size=TITLE, weight=1, align=MIDDLE),
                switch(on, id=f"{_ID}monitored_switch" if place == 2 else "", desc=name,
                       on_tap=setter(ui, f"switch{place}", not on)),
                height=dp(56),
            )
        )  # fmt: skip
    return _page(ui, *rows)


def text_fields(ui: Ui) -> View:
    """Build Views/TextFields (text fields with hints and limits)."""
    return _page(
        ui,
        edit_text(ui, Field("edit"), id=f"{_ID}edit", hint="hint text"),
        edit_text(ui, Field("edit1", numeric=True), id=f"{_ID}edit1", hint="number"),
        edit_text(ui, Field("edit2"), id=f"{_ID}edit2", hint="password", password=True),
    )


def radio_group(ui: Ui) -> View:
    """Build Views/Radio Group (radio_group_1.xml)."""
    names = ("Breakfast", "Lunch", "Dinner", "All of them", "Snack")
    chosen = str(ui.var("chosen", "Lunch"))
    options = [
        choice(name, name == chosen, setter(ui, "chosen", name), id=f"{_ID}{name.lower().replace(' ', '_')}")
        for name in names
    ]
    text = f"You have selected: {chosen}" if chosen else "You have selected: (none)"
    return _page(
        ui,
        column(*options, cls="android.widget.RadioGroup", id=f"{_ID}menu"),
        label(text, id=f"{_ID}choice"),
        button("Clear", setter(ui, "chosen", ""), id=f"{_ID}clear", width=WRAP),
    )


DEMOS: Mapping[str, str] = MappingProxyType({
    "App/Alert Dialogs": "apis/alerts",
    "App/Menu/Inflate from XML": "apis/menu",
    "App/Notification/NotifyWithText": "apis/notify",
    "App/Search/Invoke Search": "apis/search",
    "App/Search/Query Search Results": "apis/results",
    "Media/VideoView": "apis/video",
    "Views/Buttons": "apis/buttons",
    "Views/Controls/1. Light Theme": "apis/controls",
    "Views/Drag and Drop": "apis/drag",
    "Views/Radio Group": "apis/radios",
    "Views/Seek Bar": "apis/seek",
    "Views/Switches": "apis/switches",
    "Views/TextFields": "apis/fields",
})  # fmt: skip
"""Path of a demo to its screen."""

_ALERTS = f"{PACKAGE}.app.AlertDialogSamples"
APP = App(
    package=PACKAGE,
    label="API Demos",
    home="apis/list",
    icon="apps",
    color="#3949ab",
    hidden=True,
    screens={
        "apis/list": Screen(entries, f"{PACKAGE}.ApiDemos"),
        "apis/plain": Screen(plain, f"{PACKAGE}.app.HelloWorld"),
        "apis/search": Screen(invoke_search, f"{PACKAGE}.app.SearchInvoke"),
        "apis/results": Screen(results, f"{PACKAGE}.app.SearchQueryResults"),
        "apis/notify": Screen(notify_with_text, f"{PACKAGE}.app.NotifyWithText"),
        "apis/alerts": Screen(alert_dialogs, _ALERTS),
        "apis/ok_cancel": Screen(ok_cancel, _ALERTS, dialog=True),
        "apis/list_dialog": Screen(list_dialog, _ALERTS, dialog=True),
        "apis/text_entry": Screen(text_entry, _ALERTS, dialog=True),
        "apis/menu": Screen(menu_from_xml, f"{PACKAGE}.app.MenuInflateFromXml"),
        "apis/video": Screen(video_view, f"{PACKAGE}.media.VideoViewDemo"),
        "apis/buttons": Screen(buttons, f"{PACKAGE}.view.Buttons1"),
        "apis/controls": Screen(controls, f"{PACKAGE}.view.Controls1"),
        "apis/drag": Screen(drag_and_drop, f"{PACKAGE}.view.DragAndDropDemo"),
        "apis/seek": Screen(seek, f"{PACKAGE}.view.SeekBar1"),
        "apis/switches": Screen(switches, f"{PACKAGE}.view.Switches"),
        "apis/fields": Screen(text_fields, f"{PACKAGE}.view.TextFields"),
        "apis/radios": Screen(radio_group, f"{PACKAGE}.view.RadioGroup1"),
    },
)

__all__ = ["APP", "DEMOS", "LISTS"]
