"""Settings as an app: its screens from all areas, its state, and the intents that it answers."""

from __future__ import annotations

from agent_eval.device_sim.apps.settings import devices, display, home, installed, network, power, safety, sound, system
from agent_eval.device_sim.apps.settings.page import PACKAGE
from agent_eval.device_sim.apps.settings.state import PATHS, RECORDS, draw_settings
from agent_eval.device_sim.apps.settings.words import WORDS
from agent_eval.device_sim.screen import App
from agent_eval.device_sim.strings import EVERYWHERE, tables

_AREAS = (home, network, devices, installed, sound, power, display, safety, system)

APP = App(
    package=PACKAGE,
    label="Settings",
    home="settings/home",
    color="#5f6368",
    icon="gear",
    home_row=True,
    paths=PATHS,
    records=RECORDS,
    draw=draw_settings,
    strings=tables(EVERYWHERE, WORDS),
    screens={name: screen for area in _AREAS for name, screen in area.SCREENS.items()},
    actions={
        "com.android.settings.Settings": "settings/home",
        "com.android.settings.Settings$WifiSettingsActivity": "settings/internet",
        "com.android.settings.Settings$BluetoothSettingsActivity": "settings/bluetooth",
        "com.android.settings.Settings$DisplaySettingsActivity": "settings/display",
        "com.android.settings.Settings$NetworkDashboardActivity": "settings/network",
        "android.settings.SETTINGS": "settings/home",
        "android.settings.WIFI_SETTINGS": "settings/internet",
        "android.settings.WIRELESS_SETTINGS": "settings/network",
        "android.settings.AIRPLANE_MODE_SETTINGS": "settings/network",
        "android.settings.BLUETOOTH_SETTINGS": "settings/bluetooth",
        "android.settings.DISPLAY_SETTINGS": "settings/display",
        "android.settings.SOUND_SETTINGS": "settings/sound",
        "android.settings.DEVICE_INFO_SETTINGS": "settings/about",
        "android.intent.action.POWER_USAGE_SUMMARY": "settings/battery",
        "android.settings.ACCESSIBILITY_SETTINGS": "settings/accessibility",
        "android.settings.APPLICATION_DEVELOPMENT_SETTINGS": "settings/developer",
        "android.settings.APPLICATION_SETTINGS": "settings/all_apps",
        "android.settings.BATTERY_SAVER_SETTINGS": "settings/battery",
        "android.settings.DATA_ROAMING_SETTINGS": "settings/sim",
        "android.settings.DATE_SETTINGS": "settings/date_time",
        "android.settings.INTERNAL_STORAGE_SETTINGS": "settings/storage",
        "android.settings.LOCALE_SETTINGS": "settings/languages",
        "android.settings.LOCATION_SOURCE_SETTINGS": "settings/location",
        "android.settings.MANAGE_DEFAULT_APPS_SETTINGS": "settings/default_apps",
        "android.settings.NOTIFICATION_SETTINGS": "settings/notifications",
        "android.settings.PRIVACY_SETTINGS": "settings/privacy",
        "android.settings.SECURITY_SETTINGS": "settings/security",
        "android.settings.VPN_SETTINGS": "settings/vpns",
        "android.settings.ZEN_MODE_SETTINGS": "settings/dnd",
    },
)
