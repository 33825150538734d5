"""Settings, "Apps": every app's page, and which app does what (apps.xml)."""

from __future__ import annotations

from agent_eval.device_sim.apps.settings.display import timeout_name
from agent_eval.device_sim.apps.settings.page import (
    action,
    among,
    app_title,
    ask,
    confirm,
    fact,
    flip_among,
    link,
    listed_apps,
    note,
    page,
    sub,
)
from agent_eval.device_sim.screen import Screen, Ui
from agent_eval.device_sim.ui import View
from agent_eval.device_sim.widgets import opener, preference, radio_row

ROLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "browser": ("Browser app", ("com.android.browser",)),
    "home": ("Home app", ("com.android.launcher3",)),
    "phone": ("Phone app", ("com.android.dialer",)),
    "sms": ("SMS app", ("com.android.messaging",)),
}
"""Role to its title and the packages that can have it, the first one by default (DefaultAppActivity)."""
_UNSTOPPABLE = ("com.android.settings", "com.android.launcher3")


def apps(ui: Ui) -> View:
    """Build "Apps" (apps.xml)."""
    recent = [
        preference(app_title(ui, package), icon="apps", on_tap=opener(ui, "settings/app_info", package=package))
        for package in ui.host.recents[:3]
    ]
    return page(
        ui,
        "Apps",
        link(ui, "Recently opened apps", "settings/all_apps", ui.say("See all apps")),
        link(ui, "Default apps", "settings/default_apps", ui.say("Phone and Messages")),
        link(ui, "Screen time", "settings/screen_time", ui.say("{count} minutes today", count=18)),
        link(ui, "Unused apps", "settings/unused_apps", ui.say("{count} unused apps", count=0)),
        link(ui, "Special app access", "settings/special_access"),
        *recent,
    )


def all_apps(ui: Ui) -> View:
    """Build the list of every app (manage_applications.xml)."""
    disabled = among(ui, "disabled_apps")
    return page(
        ui,
        "All apps",
        *[
            preference(
                app_title(ui, package),
                ui.say("Disabled") if package in disabled else "",
                icon="apps",
                on_tap=opener(ui, "settings/app_info", package=package),
            )
            for package in listed_apps(ui)
        ],
    )


def app_info(ui: Ui) -> View:
    """Build the page of one app (app_info_settings.xml)."""
    package = str(ui.var("package"))
    app = ui.host.apps.get(package)
    if app is None:
        return page(ui, "App info", note(ui, "No app selected"))
    disabled = package in among(ui, "disabled_apps")
    muted = package in among(ui, "muted_apps")
    permissions = ui.say("{count} permissions", count=len(app.permissions)) if app.permissions else ""
    rows = [
        preference(app_title(ui, package), ui.say("Disabled") if disabled else ui.say("Installed"), icon="apps"),
        action(
            ui,
            "Force stop",
            opener(ui, "settings/force_stop", package=package),
            icon="delete",
            enabled=package in ui.host.recents,
        ),
        link(
            ui,
            "Notifications",
            "settings/app_notifications",
            ui.say("Off") if muted else ui.say("On"),
            package=package,
        ),
        link(ui, "Permissions", "permissions/app", permissions or ui.say("No permissions requested"), package=package),
        link(ui, "Storage & cache", "settings/app_storage", ui.say("{amount} used", amount="24 MB"), package=package),
        link(ui, "App battery usage", "settings/battery_usage", ui.say("Optimized")),
    ]
    if package not in _UNSTOPPABLE:
        if disabled:
            rows.append(action(ui, "Enable", flip_among(ui, "disabled_apps", package)))
        else:
            rows.append(action(ui, "Open", lambda: ui.host.open_app(package)))
            rows.append(link(ui, "Disable", "settings/app_disable", package=package))
    rows.append(fact(ui, "Version", f"{ui.words('about/android_version')}"))
    return page(ui, "App info", *rows)


def force_stop(ui: Ui) -> View:
    """Build the dialog that asks before an app is stopped."""
    package = str(ui.var("package"))
    return confirm(
        ui,
        "If you force stop an app, it may misbehave.",
        "OK",
        lambda: ui.host.dismiss_task(package),
        title="Force stop?",
    )


def app_disable(ui: Ui) -> View:
    """Build the dialog that asks before an app is disabled."""
    package = str(ui.var("package"))

    def act() -> None:
        ui.host.dismiss_task(package)
        flip_among(ui, "disabled_apps", package)()

    return confirm(ui, "If you disable this app, Android and other apps may no longer work as intended.",
                   "Disable app", act)  # fmt: skip


def app_notifications(ui: Ui) -> View:
    """Build the page of one app's notifications (app_notification_settings.xml)."""
    package = str(ui.var("package"))
    allowed = package not in among(ui, "muted_apps")
    title = ui.say("All {app} notifications", app=app_title(ui, package))
    return page(
        ui,
        "Notifications",
        preference(title, checked=allowed, on_tap=flip_among(ui, "muted_apps", package)),
    )


def app_storage(ui: Ui) -> View:
    """Build "Storage & cache" of one app (app_storage_settings.xml)."""
    package = str(ui.var("package"))
    rows = [fact(ui, "App size", "21 MB"), fact(ui, "User data", "2.1 MB"), fact(ui, "Cache", "812 kB")]
    if package not in _UNSTOPPABLE:
        rows.append(link(ui, "Clear storage", "settings/app_clear", icon="delete", package=package))
    rows.append(action(ui, "Clear cache", lambda: ui.host.show_toast(ui.say("Cache cleared")), icon="delete"))
    return page(ui, "Storage & cache", *rows)


def app_clear(ui: Ui) -> View:
    """Build the dialog that asks before an app's data are deleted."""
    package = str(ui.var("package"))
    return confirm(
        ui,
        "This app\u2019s data, including files and settings, will be permanently deleted from this device.",
        "Delete",
        lambda: ui.host.clear_data(package),
        title="Delete app data?",
    )


def default_apps(ui: Ui) -> View:
    """Build "Default apps"."""
    rows = []
    for role, (title, _) in ROLES.items():
        holder = ui.words(f"settings/default/{role}")
        rows.append(
            link(ui, title, "settings/default_app", app_title(ui, holder) if holder else ui.say("None"), role=role)
        )
    return page(ui, "Default apps", *rows)


def default_app(ui: Ui) -> View:
    """Build the choice of the app that has a role."""
    role = str(ui.var("role"))
    title, packages = ROLES[role]
    now = ui.words(f"settings/default/{role}")
    options = [package for package in packages if package in ui.host.apps]
    if role != "home":
        options.append("")

    def option(package: str) -> View:
        text = app_title(ui, package) if package else ui.say("None")
        return radio_row(text, package == now, lambda: ui.put(f"settings/default/{role}", package))

    return page(ui, title, *map(option, options))


def screen_time(ui: Ui) -> View:
    """Build "Screen time": minutes of today."""
    shares = zip(listed_apps(ui), (9, 5, 3, 1), strict=False)
    return page(
        ui,
        "Screen time",
        *[preference(app_title(ui, package), timeout_name(ui, 60 * m), icon="apps") for package, m in shares],
    )


def unused_apps(ui: Ui) -> View:
    """Build "Unused apps"."""
    return page(ui, "Unused apps", note(ui, "No unused apps"))


def special_access(ui: Ui) -> View:
    """Build "Special app access"."""
    return page(
        ui,
        "Special app access",
        link(ui, "Unrestricted data", "settings/unrestricted"),
        link(ui, "Device & app notifications", "settings/notifying_apps"),
        link(ui, "Permission manager", "permissions/manager"),
    )


SCREENS = {
    "settings/apps": sub(apps),
    "settings/all_apps": sub(all_apps),
    "settings/app_info": Screen(app_info, "com.android.settings.applications.InstalledAppDetails"),
    "settings/force_stop": ask(force_stop),
    "settings/app_disable": ask(app_disable),
    "settings/app_notifications": sub(app_notifications),
    "settings/app_storage": sub(app_storage),
    "settings/app_clear": ask(app_clear),
    "settings/default_apps": sub(default_apps),
    "settings/default_app": sub(default_app),
    "settings/screen_time": sub(screen_time),
    "settings/unused_apps": sub(unused_apps),
    "settings/special_access": sub(special_access),
}
