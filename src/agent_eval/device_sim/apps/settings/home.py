"""Settings: the home page, and the page that searches all others (top_level_settings.xml)."""

from __future__ import annotations

from collections.abc import Callable

from agent_eval.device_sim.apps.settings.page import ID, on_off
from agent_eval.device_sim.screen import Screen, Ui
from agent_eval.device_sim.ui import MATCH, Field, View, dp
from agent_eval.device_sim.widgets import (
    GROUP,
    MIDDLE,
    SCROLL,
    TITLE,
    activity,
    column,
    edit_text,
    frame,
    image,
    image_button,
    label,
    opener,
    preference,
    row,
    scroll_column,
)

Summary = str | Callable[[Ui], str]

HOME_ROWS: tuple[tuple[str, Summary, str, str], ...] = (
    ("Network & internet", lambda ui: ui.say("Mobile, {wifi}, hotspot", wifi=ui.wifi), "wifi", "settings/network"),
    ("Connected devices", "Bluetooth, pairing", "devices", "settings/connected"),
    ("Apps", "Recent apps, default apps", "apps", "settings/apps"),
    ("Notifications", "Notification history, conversations", "bell", "settings/notifications"),
    ("Battery", lambda ui: f"{ui.known('battery/level')}%", "battery", "settings/battery"),
    ("Storage", lambda ui: ui.say("{share}% used", share=ui.known("storage/used")), "storage", "settings/storage"),
    ("Sound & vibration", "Volume, vibration", "sound", "settings/sound"),
    ("Display", "Dark theme, font size, brightness", "brightness", "settings/display"),
    ("Wallpaper & style", "Colors, themed icons, app grid", "palette", "settings/wallpaper"),
    ("Accessibility", "Display, interaction, audio", "person", "settings/accessibility"),
    ("Security & privacy", "App security, device lock, permissions", "lock", "settings/security"),
    ("Location", lambda ui: on_off(ui, "location_on"), "pin", "settings/location"),
    ("System", "Languages, gestures, time, backup", "info", "settings/system"),
    ("About phone", lambda ui: ui.words("settings/device_name"), "phone", "settings/about"),
)
"""Title, summary, icon and page, in the order of top_level_settings.xml."""


def home(ui: Ui) -> View:
    """Build the home page."""
    rows = [
        preference(
            ui.say(title),
            ui.say(summary) if isinstance(summary, str) else summary(ui),
            icon=icon,
            on_tap=opener(ui, screen),
        )
        for title, summary, icon, screen in HOME_ROWS
    ]
    search_bar = frame(
        row(
            image("search", align=MIDDLE),
            label(ui.say("Search settings"), id=f"{ID}search_action_bar_title", size=TITLE, ink="soft", align=MIDDLE),
            id=f"{ID}search_action_bar",
            cls=GROUP,
            height=dp(48),
            pad=(dp(16), 0, dp(16), 0),
            gap=dp(12),
            fill="card",
            on_tap=opener(ui, "settings/search"),
        ),
        id=f"{ID}search_bar",
        pad=(dp(16), dp(4), dp(16), dp(8)),
    )
    content = column(
        frame(scroll_column(ui, rows, id=f"{ID}recycler_view"), id="android:id/list_container", height=MATCH),
        id=f"{ID}container_material",
        height=MATCH,
    )
    title = label(
        ui.say("Settings"), id=f"{ID}homepage_title", size=dp(22), pad=(dp(24), dp(12), 0, dp(8)), width=MATCH
    )
    return activity(
        ui,
        frame(
            column(
                title,
                search_bar,
                frame(
                    frame(content, id=f"{ID}main_content", height=MATCH),
                    cls=SCROLL,
                    id=f"{ID}main_content_scrollable_container",
                    weight=1,
                ),
                id=f"{ID}homepage_container",
                height=MATCH,
            ),
            id=f"{ID}settings_homepage_container",
            height=MATCH,
        ),
    )


SEARCHABLE: tuple[tuple[str, str], ...] = (
    *((title, screen) for title, _, _, screen in HOME_ROWS),
    ("Internet", "settings/internet"),
    ("Bluetooth", "settings/bluetooth"),
    ("Airplane mode", "settings/network"),
    ("Dark theme", "settings/display"),
    ("Brightness level", "settings/display"),
    ("Screen timeout", "settings/screen_timeout"),
    ("Battery Saver", "settings/battery"),
    ("Media volume", "settings/sound"),
    ("Android version", "settings/about"),
    ("Device name", "settings/about"),
    ("Data Saver", "settings/data_saver"),
    ("Add network", "settings/add_network"),
    ("App grid", "settings/app_grid"),
    ("Auto-rotate screen", "settings/auto_rotate"),
    ("Backup", "settings/backup"),
    ("Battery percentage", "settings/battery_percentage"),
    ("Bubbles", "settings/bubbles"),
    ("Calls & SMS", "settings/calls"),
    ("Change wallpaper", "settings/wallpapers"),
    ("Color and motion", "settings/color_motion"),
    ("Color inversion", "settings/color_motion"),
    ("Date & time", "settings/date_time"),
    ("Default alarm sound", "settings/alarm_sound"),
    ("Default apps", "settings/default_apps"),
    ("Default notification sound", "settings/notification_sound"),
    ("Developer options", "settings/developer"),
    ("Device lock", "settings/device_lock"),
    ("Display size", "settings/display_size"),
    ("Do Not Disturb", "settings/dnd"),
    ("Font size", "settings/font_size"),
    ("Gestures", "settings/gestures"),
    ("Hotspot & tethering", "settings/tethering"),
    ("Languages", "settings/languages"),
    ("Location services", "settings/location_services"),
    ("Lock screen", "settings/lock_screen"),
    ("Magnification", "settings/magnification"),
    ("Mobile data", "settings/sim"),
    ("Multiple users", "settings/users"),
    ("Navigation mode", "settings/navigation_mode"),
    ("Network preferences", "settings/network_preferences"),
    ("Night Light", "settings/night_light"),
    ("Notification history", "settings/notification_history"),
    ("Pair new device", "settings/pair"),
    ("Permission manager", "permissions/manager"),
    ("Phone ringtone", "settings/ringtone"),
    ("Privacy", "settings/privacy"),
    ("Private DNS", "settings/private_dns"),
    ("Reset options", "settings/reset"),
    ("Roaming", "settings/sim"),
    ("SIMs", "settings/sims"),
    ("Saved networks", "settings/saved"),
    ("Screen saver", "settings/screen_saver"),
    ("TalkBack", "settings/talkback"),
    ("VPN", "settings/vpns"),
    ("Vibration & haptics", "settings/vibration"),
)


def search(ui: Ui) -> View:
    """Build the search page: titles that hold every word typed."""
    words = ui.typed("query").lower().replace("-", "\u2011").split()
    titles = [(ui.say(title), screen) for title, screen in SEARCHABLE]
    found = [
        (title, screen)
        for title, screen in titles
        if words and all(word in title.lower().replace("-", "\u2011") for word in words)
    ]
    rows = [preference(title, on_tap=opener(ui, screen)) for title, screen in found]
    if words and not found:
        rows = [label(ui.say("No results"), id=f"{ID}no_results", size=TITLE, ink="soft", pad=(dp(24), dp(24), 0, 0))]
    field = edit_text(
        ui, Field("query"), id="android:id/search_src_text", hint=ui.say("Search settings"), weight=1, align=MIDDLE
    )
    up = image_button("back", ui.say("Navigate up"), ui.close)
    bar = row(up, field, cls=GROUP, height=dp(56), pad=(dp(4), 0, dp(8), 0))
    return activity(ui, bar, scroll_column(ui, rows, id=f"{ID}list_results", height=0, weight=1))


SCREENS = {
    "settings/home": Screen(home, "com.android.settings.homepage.SettingsHomepageActivity"),
    "settings/search": Screen(search, "com.android.settings.intelligence.search.SearchActivity"),
}
