"""What Settings persists beside what the profile draws, and the draw of it. Knows no screens.

What a page on the way of a task shows starts the same on every phone; a task that wants it otherwise says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from agent_eval.device_sim.profile import TIMEOUTS
from agent_eval.device_sim.schema import TEXT, YES_NO, Fields, Kind
from agent_eval.device_sim.screen import Draw
from agent_eval.types import Scalar

RINGTONES = ("Flutey Phone", "Atria", "Beats", "Chimey Phone", "Classic Bell", "Dione", "Free Flight", "Girtab",
             "Hydra", "Zing")  # fmt: skip
NOTIFICATION_SOUNDS = (
    "Pixie Dust",
    "Bellatrix",
    "Capella",
    "Chime",
    "Clean",
    "Helium",
    "Iridium",
    "Tejat",
    "Tinkerbell",
)
ALARM_SOUNDS = ("Oxygen", "Argon", "Carbon", "Cesium", "Fermium", "Krypton", "Neon", "Osmium", "Platinum")
"""Names of sounds (frameworks/base data/sounds); the first is the one that a phone comes with."""
SCREEN_SAVERS = ("Clock", "Colors", "Photo Frame", "None")
WALLPAPERS = ("Dunes", "Blue hour", "Harbor", "Larch forest", "Paper", "Night sky")
APP_GRIDS = ("4 \u00d7 5", "3 \u00d7 3", "5 \u00d7 5")
LOCKS = ("none", "swipe", "pattern", "pin", "password")
LOCK_CONTENT = ("all", "sensitive", "none")
DNS_MODES = ("automatic", "off", "hostname")
NETWORK_TYPES = ("LTE", "5G", "3G", "2G")
SAVER_SCHEDULES = (0, 5, 10, 15, 20, 25, 50, 75)
"""Percent of battery below which Battery Saver comes on by itself; 0 is never."""
FONT_PERCENTS = (85, 100, 115, 130, 150, 180, 200)
DENSITIES = (272, 320, 360, 408, 456)
"""Dots per inch of the steps of "Display size" (DisplayDensityUtils, scaled from 320)."""
NAVIGATION_MODES = ("buttons", "gestures")

DEFAULT_APPS: Mapping[str, str] = MappingProxyType({
    "browser": "com.android.browser", "home": "com.android.launcher3", "phone": "com.android.dialer",
    "sms": "com.android.messaging",
})  # fmt: skip
"""Role to the package that has it on a fresh phone."""

SWITCHES: Mapping[str, bool] = MappingProxyType({
    "accessibility/bold_text": False,
    "accessibility/color_correction": False,
    "accessibility/color_inversion": False,
    "accessibility/live_caption": False,
    "accessibility/magnification": False,
    "accessibility/remove_animations": False,
    "accessibility/talkback": False,
    "adaptive_battery": True,
    "adaptive_brightness": False,
    "adaptive_connectivity": True,
    "airplane_mode_on": False,
    "allow_multiple_users": False,
    "auto_rotate": False,
    "auto_time": True,
    "auto_time_zone": True,
    "backup_on": False,
    "battery_percentage": False,
    "battery_saver": False,
    "bluetooth_on": False,
    "bluetooth_scanning": False,
    "bluetooth_tethering": False,
    "bubbles": True,
    "camera_access": True,
    "charging_sounds": True,
    "clipboard_access": True,
    "dark_theme": False,
    "data_saver": False,
    "developer/show_taps": False,
    "developer/stay_awake": False,
    "developer/usb_debugging": True,
    "do_not_disturb": False,
    "dnd_alarms": True,
    "dnd_calls": False,
    "gesture/double_tap_wake": True,
    "gesture/lift_to_wake": False,
    "gesture/quick_camera": True,
    "hotspot_auto_off": True,
    "hotspot_on": False,
    "location_on": True,
    "lock_screen_sounds": True,
    "magnify_typing": False,
    "microphone_access": True,
    "mobile_data_on": True,
    "night_light": False,
    "notification_dots": True,
    "notification_history": False,
    "roaming_on": False,
    "show_passwords": True,
    "themed_icons": False,
    "torch_on": False,
    "touch_sounds": False,
    "touch_vibration": True,
    "vibrate_on_ring": False,
    "wifi_auto_on": True,
    "wifi_calling": False,
    "wifi_notify_open": True,
    "wifi_on": False,
    "wifi_scanning": True,
})  # fmt: skip
"""Every switch below ``settings/``, and how it starts; the profile draws a few of them."""

CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "alarm_sound": ALARM_SOUNDS,
    "app_grid": APP_GRIDS,
    "locale": ("en", "de", "zh"),
    "lock_content": LOCK_CONTENT,
    "navigation_mode": NAVIGATION_MODES,
    "network_type": NETWORK_TYPES,
    "notification_sound": NOTIFICATION_SOUNDS,
    "private_dns": DNS_MODES,
    "ringtone": RINGTONES,
    "screen_lock": LOCKS,
    "screen_saver": SCREEN_SAVERS,
    "time_format": ("locale", "12", "24"),
    "wallpaper": WALLPAPERS,
})  # fmt: skip
"""Every choice of one below ``settings/``; it starts as the first."""

PATHS: Mapping[str, Kind] = MappingProxyType({
    "about/android_version": TEXT,
    "about/model": TEXT,
    "battery/level": Kind(int, 1, 100, initial=50),
    **{f"settings/{name}": Kind(bool, initial=start) for name, start in SWITCHES.items()},
    **{f"settings/{name}": Kind(str, among=names) for name, names in CHOICES.items()},
    "settings/brightness": Kind(int, 0, 255, initial=128),
    **{f"settings/default/{role}": TEXT for role in DEFAULT_APPS},
    "settings/density": Kind(int, 240, 560, initial=320),
    "settings/device_name": TEXT,
    "settings/disabled_apps": TEXT,
    "settings/font_percent": Kind(int, 85, 200, initial=100),
    "settings/hotspot_name": TEXT,
    "settings/hotspot_password": TEXT,
    "settings/muted_apps": TEXT,
    "settings/private_dns_host": TEXT,
    "settings/saver_schedule": Kind(int, among=SAVER_SCHEDULES),
    "settings/screen_timeout_s": Kind(int, among=TIMEOUTS),
    "settings/unrestricted_apps": TEXT,
    "settings/volume_alarm": Kind(int, 0, 7),
    "settings/volume_media": Kind(int, 0, 15),
    "settings/volume_ring": Kind(int, 0, 7),
    "settings/wifi_network": TEXT,
})  # fmt: skip
"""Every plain path of Settings. Lists of apps are packages joined by commas, in order."""

RECORDS: Mapping[str, Fields] = MappingProxyType({
    "settings/vpn": {"name": TEXT, "server": TEXT, "user": TEXT, "connected": YES_NO},
    "wifi/access_point": {"ssid": TEXT, "password": TEXT},
})  # fmt: skip
"""``wifi/access_point`` holds networks in reach beside those that the profile draws; no password means an open one."""

_GADGETS = ("LE-Bose Revolve", "Pixel Buds A-Series", "JBL Flip 5", "JBL Flip 6", "Galaxy Watch4", "WH-1000XM4",
            "WH-1000XM5", "Logi K380", "Living Room TV", "Mi Band 7")  # fmt: skip
_WORDS = ("amber", "breeze", "cactus", "dolphin", "ember", "falcon", "granite", "harbor", "island", "juniper")


def draw_settings(draw: Draw) -> None:
    """Fill what the profile leaves open."""
    rng = draw.rng
    for path, kind in PATHS.items():
        if path not in draw.state and path != "battery/level":
            draw.put(path, kind.start)
    locale, percent, density = (draw.world.get(f"skin/{name}") for name in ("locale", "font_percent", "density"))
    wanted: dict[str, Scalar | None] = {"locale": locale, "font_percent": percent, "density": density}
    for name, value in wanted.items():
        if value is not None:
            draw.put(f"settings/{name}", value)
    for role, package in DEFAULT_APPS.items():
        draw.put(f"settings/default/{role}", package)
    draw.keep("about/booted_s", int(draw.now.timestamp()) - rng.randrange(600, 500_000))
    draw.put("settings/hotspot_name", f"AndroidAP_{rng.randrange(1000, 10000)}")
    draw.put("settings/hotspot_password", _password(draw))
    draw.put("settings/unrestricted_apps", "com.android.messaging")
    free = set(str(draw.world["wifi/open"]).split("|"))
    for ssid in str(draw.world["wifi/nearby"]).split("|"):
        if ssid not in free:
            draw.keep(f"wifi/password/{ssid}", _password(draw))
    draw.keep("bluetooth/nearby", "|".join(rng.sample(_GADGETS, rng.randint(2, 5))))


def _password(draw: Draw) -> str:
    return f"{draw.rng.choice(_WORDS)}{draw.rng.randrange(100, 1000)}"
