"""The launcher: one home page of icons, the drawer with all apps, and the recents screen.

Knows of apps only what they are called, and where Settings shows one of them.
"""

from __future__ import annotations

from collections.abc import Callable

from agent_eval.device_sim.screen import App, Screen, Ui
from agent_eval.device_sim.strings import EVERYWHERE, Words, tables
from agent_eval.device_sim.ui import MATCH, WRAP, Direction, Field, View, dp
from agent_eval.device_sim.widgets import (
    BUTTON,
    CENTER,
    FRAME,
    GROUP,
    LINEAR,
    TEXT,
    activity,
    button,
    column,
    edit_text,
    frame,
    label,
    row,
    scroll_column,
    scroll_row,
)

PACKAGE = "com.android.launcher3"
COLUMNS = 4
_MOST_ICONS = 16
HOME = "launcher/home"
DRAWER = "launcher/drawer"
RECENTS = "launcher/recents"


def home(ui: Ui) -> View:
    """Build the home page: icons in the order that the phone's seed drew."""
    packages = [name for name in _on_home(ui) if name in ui.host.apps]
    columns = int(ui.words("settings/app_grid")[:1] or COLUMNS)
    date = label(
        ui.date(ui.host.local_time, "weekday"),
        id=f"{PACKAGE}:id/date",
        size=dp(22),
        ink="on_wallpaper",
        pad=(dp(24), dp(40), 0, 0),
    )
    space = View("android.view.View", weight=1)
    grid = column(
        *_grid([_icon(ui, package, place="home") for package in packages], columns),
        cls=GROUP,
        id=f"{PACKAGE}:id/workspace_grid",
    )
    page = activity(
        ui,
        column(date, space, grid, cls=GROUP, id=f"{PACKAGE}:id/workspace", height=MATCH, pad=(dp(8), 0, dp(8), dp(24))),
        fill="wallpaper",
    )

    def swipe(direction: Direction) -> bool:
        if direction == "up":
            ui.open(DRAWER)
        elif direction == "down":
            ui.host.open_shade()
        return direction in ("up", "down")

    page.on_swipe = swipe
    return page


def _on_home(ui: Ui) -> list[str]:
    return [name for name in str(ui.known("launcher/order")).split(",") if name]


def _grid(cells: list[View], columns: int) -> list[View]:
    rows = [cells[start : start + columns] for start in range(0, len(cells), columns)]
    for some in rows:
        some.extend(View("android.view.View", weight=1) for _ in range(columns - len(some)))
    return [row(*some, cls=GROUP, height=dp(96)) for some in rows]


def title_of(ui: Ui, package: str) -> str:
    """Return what an app is called in the phone's language."""
    app = ui.host.apps[package]
    return ui.host.say(app.label, app.home)


def listed(ui: Ui) -> list[str]:
    """Return the packages that the drawer shows, by name."""
    disabled = ui.words("settings/disabled_apps").split(",")
    shown = [
        package
        for package, app in ui.host.apps.items()
        if app.launchable and not app.hidden and package not in disabled
    ]
    return sorted(shown, key=lambda package: (title_of(ui, package).lower(), package))


def drawer(ui: Ui) -> View:
    """Build the drawer with every app, and the field that searches among them (all_apps.xml)."""
    words = ui.typed("search").lower().split()
    packages = [name for name in listed(ui) if all(word in title_of(ui, name).lower() for word in words)]
    cells = [_icon(ui, package, place="drawer") for package in packages]
    rows = _grid(cells, COLUMNS)
    if not cells:
        rows = [
            label(ui.say("No apps found"), id=f"{PACKAGE}:id/empty_text", size=dp(16), ink="soft", pad=(dp(24),) * 4)
        ]
    field = edit_text(
        ui, Field("search", max_length=40), id=f"{PACKAGE}:id/fallback_search_view", hint=ui.say("Search apps")
    )
    page = activity(
        ui,
        column(
            frame(field, id=f"{PACKAGE}:id/search_container_all_apps", pad=(dp(16), dp(12), dp(16), dp(8))),
            scroll_column(ui, rows, name="apps", id=f"{PACKAGE}:id/apps_list_view", height=0, weight=1),
            cls=GROUP,
            id=f"{PACKAGE}:id/apps_view",
            height=MATCH,
        ),
    )

    def swipe(direction: Direction) -> bool:
        if direction == "down" and not int(ui.var("scroll/apps", 0)):
            ui.close()
            return True
        return False

    page.on_swipe = swipe
    return page


def _icon(ui: Ui, package: str, *, place: str) -> View:
    name = title_of(ui, package)
    return View(
        TEXT,
        text=name,
        desc=name,
        icon=f"app:{package}",
        size=dp(13),
        ink="on_wallpaper" if place == "home" else "text",
        weight=1,
        height=dp(96),
        justify=0.5,
        clickable=True,
        long_clickable=True,
        focusable=True,
        on_tap=lambda: ui.host.open_app(package),
        on_hold=lambda: ui.open("launcher/shortcuts", package=package, place=place),
    )


def shortcuts(ui: Ui) -> View:
    """Build the menu that holding an icon opens."""
    package = str(ui.var("package"))

    def app_info() -> None:
        ui.close()
        ui.host.open_app("com.android.settings", "com.android.settings.applications.InstalledAppDetails")
        ui.host.tell_page({"package": package})

    def place_icons(packages: list[str]) -> Callable[[], object]:
        def act() -> None:
            ui.keep("launcher/order", ",".join(packages))
            ui.close()

        return act

    icons = _on_home(ui)
    entries: list[tuple[str, Callable[[], object]]] = [("App info", app_info)]
    if ui.var("place", "home") == "home":
        entries.append(("Remove", place_icons([name for name in icons if name != package])))
    elif package not in icons and len(icons) < _MOST_ICONS:
        entries.append(("Add to home screen", place_icons([*icons, package])))
    rows = [
        row(
            label(ui.say(text), id=f"{PACKAGE}:id/bubble_text", size=dp(16), align=(0.0, 0.5)),
            height=dp(56),
            pad=(dp(16), 0, dp(16), 0),
            on_tap=act,
            cls=FRAME,
        )
        for text, act in entries
    ]
    return frame(
        column(label(title_of(ui, package), size=dp(14), ink="soft", pad=(dp(16), dp(12), 0, 0)), *rows, cls=LINEAR),
        width=dp(220),
        align=CENTER,
        fill="dialog",
    )


def recents(ui: Ui) -> View:
    """Build the recents screen: a card per task, the latest first, and a button that dismisses all of them."""
    packages = ui.host.recents
    if not packages:
        empty = label(
            ui.say("No recent items"), id=f"{PACKAGE}:id/empty", size=dp(18), align=CENTER, ink="on_wallpaper"
        )
        return activity(ui, frame(empty, height=MATCH), fill="wallpaper_dim")
    cards = [_card(ui, package) for package in packages]

    def clear_all() -> None:
        for package in packages:
            ui.host.dismiss_task(package)
        ui.host.go_home()

    clear = button(
        ui.say("Clear all"),
        clear_all,
        id=f"{PACKAGE}:id/clear_all",
        ink="on_wallpaper",
        cls=BUTTON,
        align=CENTER,
        width=dp(120),
    )
    panel = scroll_row(
        ui,
        [*cards, clear],
        id=f"{PACKAGE}:id/overview_panel",
        cls="android.widget.ScrollView",
        gap=dp(12),
        pad=(dp(48), dp(48), dp(48), dp(48)),
    )
    return activity(ui, panel, fill="wallpaper_dim")


def _card(ui: Ui, package: str) -> View:
    name = title_of(ui, package)
    title = row(
        View("android.widget.ImageView", icon=f"app:{package}", id=f"{PACKAGE}:id/icon", width=dp(32), height=dp(32)),
        label(name, size=dp(16), align=(0.0, 0.5), pad=(dp(8), 0, 0, 0)),
        height=dp(48),
        pad=(dp(8), dp(8), dp(8), dp(8)),
    )
    return frame(
        column(title, View("android.view.View", id=f"{PACKAGE}:id/snapshot", height=dp(320), icon=f"task:{package}")),
        width=dp(220),
        height=WRAP,
        align=CENTER,
        fill="dialog",
        id=f"{PACKAGE}:id/task",
        desc=name,
        on_tap=lambda: ui.host.open_app(package),
    )


STRINGS: Words = {
    "Add to home screen": ("Zum Startbildschirm hinzufügen", "添加到主屏幕"),
    "App info": ("App-Info", "应用信息"),
    "Clear all": ("Alle schließen", "全部清除"),
    "Launcher": ("Launcher", "启动器"),
    "No apps found": ("Keine Apps gefunden", "未找到应用"),
    "No recent items": ("Keine kürzlich verwendeten Elemente", "近期没有任何内容"),
    "Remove": ("Entfernen", "移除"),
    "Search apps": ("In Apps suchen", "搜索应用"),
}

APP = App(
    package=PACKAGE,
    label="Launcher",
    home=HOME,
    launchable=False,
    strings=tables(EVERYWHERE, STRINGS),
    screens={
        HOME: Screen(home, "com.android.launcher3.uioverrides.QuickstepLauncher"),
        DRAWER: Screen(drawer, "com.android.launcher3.uioverrides.QuickstepLauncher"),
        RECENTS: Screen(recents, "com.android.launcher3.uioverrides.QuickstepLauncher"),
        "launcher/shortcuts": Screen(shortcuts, "com.android.launcher3.uioverrides.QuickstepLauncher", dialog=True),
    },
)
