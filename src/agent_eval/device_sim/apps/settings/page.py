"""What the pages of Settings are put together from: the page itself, rows that open, switch or choose, and lists.

Titles are English and said in the phone's language here; summaries and names come as they are to be shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agent_eval.device_sim.dialogs import question
from agent_eval.device_sim.screen import Screen, Ui
from agent_eval.device_sim.ui import MATCH, View, dp
from agent_eval.device_sim.widgets import (
    BODY,
    FRAME,
    RELATIVE,
    activity,
    app_bar,
    category,
    column,
    frame,
    label,
    main_switch,
    opener,
    preference,
    radio_row,
    row,
    scroll_column,
    seek_bar,
)
from agent_eval.types import Scalar

PACKAGE = "com.android.settings"
ID = f"{PACKAGE}:id/"
Tap = Callable[[], object]
Build = Callable[[Ui], View]


def page(ui: Ui, title: str, *rows: View, named: bool = False) -> View:
    """Show a page of Settings: a toolbar with the title, and a list of preferences.

    Args:
        ui: The page.
        title: In English, unless it is a name.
        rows: What the list holds.
        named: The title is a name that no language changes.
    """
    bar = frame(app_bar(ui, title if named else ui.say(title)), id=f"{ID}app_bar", cls=RELATIVE)
    content = column(
        frame(
            scroll_column(ui, rows, id=f"{ID}recycler_view"),
            id="android:id/list_container",
            height=MATCH,
        ),
        id=f"{ID}main_content",
        height=MATCH,
    )
    return activity(ui, column(bar, frame(content, id=f"{ID}content_frame", weight=1), height=MATCH))


def link(ui: Ui, title: str, screen: str, summary: str = "", *, icon: str = "", **variables: Scalar) -> View:
    """Show a row that opens a page."""
    return preference(ui.say(title), summary, icon=icon, on_tap=opener(ui, screen, **variables))


def fact(ui: Ui, title: str, summary: str = "", *, icon: str = "") -> View:
    """Show a row that only tells something."""
    return preference(ui.say(title), summary, icon=icon)


def action(ui: Ui, title: str, on_tap: Tap, summary: str = "", *, icon: str = "", enabled: bool = True) -> View:
    """Show a row that does something."""
    return preference(ui.say(title), summary, icon=icon, on_tap=on_tap, enabled=enabled)


def toggle(ui: Ui, title: str, name: str, summary: str = "", *, icon: str = "", enabled: bool = True) -> View:
    """Show a row with the switch of ``settings/<name>``."""
    path = f"settings/{name}"
    return preference(
        ui.say(title),
        summary,
        icon=icon,
        checked=ui.flag(path),
        on_tap=lambda: ui.toggle(path),
        enabled=enabled,
    )


def head_switch(ui: Ui, title: str, name: str) -> View:
    """Show the switch that heads a page, of ``settings/<name>``."""
    path = f"settings/{name}"
    return main_switch(ui.say(title), ui.flag(path), lambda: ui.toggle(path))


def heading(ui: Ui, title: str) -> View:
    """Show the heading of a group of rows."""
    return category(ui.say(title))


def note(ui: Ui, text: str, **values: Scalar) -> View:
    """Show a paragraph."""
    return row(
        label(ui.say(text, **values), id="android:id/title", size=BODY, ink="soft", width=MATCH),
        cls=FRAME,
        pad=(dp(24), dp(16), dp(24), dp(16)),
    )


def choices(ui: Ui, name: str, options: Mapping[Scalar, str] | Sequence[str]) -> list[View]:
    """Show a radio list that sets ``settings/<name>``; of a mapping, the values are English, of a sequence names."""
    path = f"settings/{name}"
    now = ui.host.state[path]

    def choose(value: Scalar) -> Tap:
        return lambda: ui.put(path, value)

    if isinstance(options, Mapping):
        return [radio_row(ui.say(text), value == now, choose(value)) for value, text in options.items()]
    return [radio_row(text, text == now, choose(text)) for text in options]


def slider(ui: Ui, title: str, name: str, steps: Sequence[int]) -> View:
    """Show a slider over the steps that ``settings/<name>`` may have."""
    path = f"settings/{name}"
    now = ui.number(path)
    place = min(range(len(steps)), key=lambda step: abs(steps[step] - now))
    return column(
        label(ui.say(title), id="android:id/title", size=dp(16)),
        seek_bar(place, len(steps) - 1, lambda step: ui.put(path, steps[step]), desc=ui.say(title)),
        pad=(dp(24), dp(8), dp(16), dp(8)),
    )


def on_off(ui: Ui, name: str) -> str:
    """Say whether ``settings/<name>`` is on."""
    return ui.say("On") if ui.flag(f"settings/{name}") else ui.say("Off")


def percent(value: int, most: int) -> str:
    """Format a share as Settings does."""
    return f"{round(100 * value / most)}%"


def names(ui: Ui, path: str) -> list[str]:
    """Return the names that a transient value lists."""
    return [name for name in str(ui.known(path)).split("|") if name]


def keep_names(ui: Ui, path: str, found: Sequence[str]) -> None:
    """Keep names as a transient value."""
    ui.keep(path, "|".join(found))


def listed_apps(ui: Ui) -> list[str]:
    """Return the packages of the apps that a person uses, by name."""
    shown = [package for package, app in ui.host.apps.items() if app.launchable and not app.hidden]
    return sorted(shown, key=lambda package: (app_title(ui, package).lower(), package))


def app_title(ui: Ui, package: str) -> str:
    """Return what an app is called in the phone's language."""
    app = ui.host.apps.get(package)
    return ui.host.say(app.label, app.home) if app is not None else package


def among(ui: Ui, name: str) -> list[str]:
    """Return the packages that ``settings/<name>`` lists."""
    return [package for package in ui.words(f"settings/{name}").split(",") if package]


def flip_among(ui: Ui, name: str, package: str) -> Tap:
    """Return a callback that puts a package on the list ``settings/<name>``, or takes it off."""
    now = among(ui, name)
    after = [other for other in now if other != package] if package in now else sorted([*now, package])
    return lambda: ui.put(f"settings/{name}", ",".join(after))


def confirm(ui: Ui, message: str, ok: str, act: Tap, *, title: str = "", close: int = 1) -> View:
    """Show a dialog that asks before doing something; ``close`` pages are closed first."""

    def agreed() -> None:
        for _ in range(close - 1):
            ui.close()
        act()

    return question(ui, ui.say(message), ok, agreed, title=ui.say(title) if title else "")


def sub(build: Build) -> Screen:
    """Return the screen of an ordinary page."""
    return Screen(build, "com.android.settings.SubSettings")


def ask(build: Build) -> Screen:
    """Return the screen of a dialog."""
    return Screen(build, "com.android.settings.SubSettings", dialog=True)
