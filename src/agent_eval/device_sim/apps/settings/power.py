"""Settings, "Battery" and "Storage" (power_usage_summary.xml, storage_dashboard_fragment.xml)."""

from __future__ import annotations

from agent_eval.device_sim.apps.settings.page import (
    ID,
    action,
    app_title,
    choices,
    head_switch,
    link,
    listed_apps,
    note,
    on_off,
    page,
    sub,
    toggle,
)
from agent_eval.device_sim.apps.settings.state import SAVER_SCHEDULES
from agent_eval.device_sim.files import FileProblem
from agent_eval.device_sim.screen import Ui
from agent_eval.device_sim.ui import View, dp
from agent_eval.device_sim.widgets import column, label, opener, preference
from agent_eval.types import Scalar

FILES = "com.android.documentsui"


def battery(ui: Ui) -> View:
    """Build "Battery" (power_usage_summary.xml)."""
    level = int(ui.known("battery/level"))
    header = column(
        label(f"{level}%", id=f"{ID}usage_summary", size=dp(36)),
        label(ui.say("About {count} hr left", count=max(1, level // 5)), id=f"{ID}total_summary", ink="soft"),
        View(
            "android.widget.ProgressBar", id="android:id/progress", text=f"{level}.0", height=dp(16), level=level / 100
        ),
        pad=(dp(24), dp(8), dp(24), dp(16)),
        gap=dp(4),
    )
    return page(
        ui,
        "Battery",
        header,
        link(ui, "Battery usage", "settings/battery_usage", ui.say("View usage from past 24 hours")),
        toggle(ui, "Battery Saver", "battery_saver", on_off(ui, "battery_saver")),
        link(ui, "Adaptive preferences", "settings/adaptive_battery", ui.say("Adaptive Battery")),
        link(
            ui,
            "Battery percentage",
            "settings/battery_percentage",
            ui.say("Show battery percentage in status bar"),
        ),
    )


def battery_usage(ui: Ui) -> View:
    """Build "Battery usage": the share of each app."""
    shares = zip(listed_apps(ui), (31, 18, 12, 9, 6, 4, 3, 2), strict=False)
    return page(
        ui,
        "Battery usage",
        *[
            preference(
                app_title(ui, package),
                f"{share}%",
                icon="apps",
                on_tap=opener(ui, "settings/app_info", package=package),
            )
            for package, share in shares
        ],
        link(ui, "Battery Saver schedule", "settings/saver_schedule", _schedule(ui)),
    )


def _schedule(ui: Ui) -> str:
    level = ui.number("settings/saver_schedule")
    return ui.say("Will turn on at {level}%", level=level) if level else ui.say("No schedule")


def saver_schedule(ui: Ui) -> View:
    """Build the choice of the level below which Battery Saver comes on; the phone only keeps it."""
    options: dict[Scalar, str] = {
        level: ui.say("Will turn on at {level}%", level=level) if level else ui.say("No schedule")
        for level in SAVER_SCHEDULES
    }
    return page(ui, "Battery Saver schedule", *choices(ui, "saver_schedule", options))


def adaptive_battery(ui: Ui) -> View:
    """Build "Adaptive preferences"."""
    return page(
        ui,
        "Adaptive preferences",
        toggle(ui, "Adaptive Battery", "adaptive_battery", ui.say("Extend battery life based on your phone use")),
    )


def battery_percentage(ui: Ui) -> View:
    """Build "Battery percentage"."""
    return page(ui, "Battery percentage", head_switch(ui, "Battery percentage", "battery_percentage"))


# ----------------------------------------------------------------------------------------------------------------------
# storage

_KINDS = {
    "images": ("Images", (".jpg", ".jpeg", ".png", ".gif", ".webp")),
    "videos": ("Videos", (".mp4", ".mkv", ".webm", ".3gp")),
}


def storage(ui: Ui) -> View:
    """Build "Storage"."""
    return page(
        ui,
        "Storage",
        action(ui, "Free up space", lambda: _open_files(ui), ui.say("Go to Files")),
        link(ui, "Apps", "settings/all_apps", "9.4 GB"),
        link(ui, "Images", "settings/storage_files", "1.2 GB", kind="images"),
        link(ui, "Videos", "settings/storage_files", "640 MB", kind="videos"),
        link(ui, "System", "settings/storage_system", "14 GB"),
        link(ui, "Trash", "settings/trash", ui.say("Empty")),
    )


def _open_files(ui: Ui) -> None:
    if not ui.host.open_app(FILES):
        ui.host.show_toast(ui.say("Files is not installed"))


def storage_files(ui: Ui) -> View:
    """Build the list of the pictures or videos in the shared storage."""
    title, ends = _KINDS[str(ui.var("kind", "images"))]
    found = [path for path in ui.files.walk("/sdcard") if path.lower().endswith(ends)]
    rows = []
    for path in found:
        try:
            size = len(ui.files.read(path))
        except FileProblem:
            continue
        rows.append(preference(path.rpartition("/")[2], f"{size} B", icon="photo"))
    return page(ui, title, *(rows or [note(ui, "Nothing here")]))


def storage_system(ui: Ui) -> View:
    """Build the page of what the system takes."""
    return page(
        ui,
        "System",
        preference(f"Android {ui.words('about/android_version')}", "14 GB"),
        note(
            ui, "System includes files used to run Android version {version}", version=ui.words("about/android_version")
        ),
    )


def trash(ui: Ui) -> View:
    """Build "Trash"."""
    return page(ui, "Trash", note(ui, "Nothing here"))


SCREENS = {
    "settings/battery": sub(battery),
    "settings/battery_usage": sub(battery_usage),
    "settings/saver_schedule": sub(saver_schedule),
    "settings/adaptive_battery": sub(adaptive_battery),
    "settings/battery_percentage": sub(battery_percentage),
    "settings/storage": sub(storage),
    "settings/storage_files": sub(storage_files),
    "settings/storage_system": sub(storage_system),
    "settings/trash": sub(trash),
}
