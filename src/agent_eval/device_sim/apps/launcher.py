"""The launcher: one home page of icons, and the recents screen. Knows of apps only what they are called."""

from __future__ import annotations

from agent_eval.device_sim.screen import App, Screen, Ui
from agent_eval.device_sim.ui import MATCH, WRAP, View, dp
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
    frame,
    label,
    row,
    scroll_row,
)

PACKAGE = "com.android.launcher3"
COLUMNS = 4
HOME = "launcher/home"
RECENTS = "launcher/recents"


def home(ui: Ui) -> View:
    """Build the home page: icons in the order that the phone's seed drew."""
    cells = [_icon(ui, package) for package in str(ui.known("launcher/order")).split(",")]
    rows = [cells[start : start + COLUMNS] for start in range(0, len(cells), COLUMNS)]
    for cells_in_row in rows:
        cells_in_row.extend(View("android.view.View", weight=1) for _ in range(COLUMNS - len(cells_in_row)))
    now = ui.host.local_time
    date = label(
        f"{now:%A}, {now:%b} {now.day}",
        id=f"{PACKAGE}:id/date",
        size=dp(22),
        ink="on_wallpaper",
        pad=(dp(24), dp(40), 0, 0),
    )
    space = View("android.view.View", weight=1)
    grid = column(
        *[row(*some, cls=GROUP, height=dp(96)) for some in rows], cls=GROUP, id=f"{PACKAGE}:id/workspace_grid"
    )
    return activity(
        ui,
        column(date, space, grid, cls=GROUP, id=f"{PACKAGE}:id/workspace", height=MATCH, pad=(dp(8), 0, dp(8), dp(24))),
        fill="wallpaper",
    )


def _icon(ui: Ui, package: str) -> View:
    app = ui.host.apps[package]
    return View(
        TEXT,
        text=app.label,
        desc=app.label,
        icon=f"app:{package}",
        size=dp(13),
        ink="on_wallpaper",
        weight=1,
        height=dp(96),
        justify=0.5,
        clickable=True,
        long_clickable=True,
        focusable=True,
        on_tap=lambda: ui.host.open_app(package),
        on_hold=lambda: ui.open("launcher/shortcuts", package=package),
    )


def shortcuts(ui: Ui) -> View:
    """Build the menu that holding an icon opens."""
    app = ui.host.apps[str(ui.var("package"))]

    def app_info() -> None:
        ui.close()
        ui.host.open_app("com.android.settings", "com.android.settings.applications.InstalledAppDetails")
        ui.host.open_page("settings/app_info", {"package": app.package})

    entry = row(
        label("App info", id=f"{PACKAGE}:id/bubble_text", size=dp(16), align=(0.0, 0.5)),
        height=dp(56),
        pad=(dp(16), 0, dp(16), 0),
        on_tap=app_info,
        cls=FRAME,
    )
    return frame(
        column(label(app.label, size=dp(14), ink="soft", pad=(dp(16), dp(12), 0, 0)), entry, cls=LINEAR),
        width=dp(220),
        align=CENTER,
        fill="dialog",
    )


def recents(ui: Ui) -> View:
    """Build the recents screen: a card per task, the latest first, and a button that dismisses all of them."""
    packages = ui.host.recents
    if not packages:
        empty = label("No recent items", id=f"{PACKAGE}:id/empty", size=dp(18), align=CENTER, ink="on_wallpaper")
        return activity(ui, frame(empty, height=MATCH), fill="wallpaper_dim")
    cards = [_card(ui, package) for package in packages]

    def clear_all() -> None:
        for package in packages:
            ui.host.dismiss_task(package)
        ui.host.go_home()

    clear = button(
        "Clear all",
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
    app = ui.host.apps[package]
    title = row(
        View("android.widget.ImageView", icon=f"app:{package}", id=f"{PACKAGE}:id/icon", width=dp(32), height=dp(32)),
        label(app.label, size=dp(16), align=(0.0, 0.5), pad=(dp(8), 0, 0, 0)),
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
        desc=app.label,
        on_tap=lambda: ui.host.open_app(package),
    )


APP = App(
    package=PACKAGE,
    label="Launcher",
    home=HOME,
    launchable=False,
    screens={
        HOME: Screen(home, "com.android.launcher3.uioverrides.QuickstepLauncher"),
        RECENTS: Screen(recents, "com.android.launcher3.uioverrides.QuickstepLauncher"),
        "launcher/shortcuts": Screen(shortcuts, "com.android.launcher3.uioverrides.QuickstepLauncher", dialog=True),
    },
)
