from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest

from agent_eval.device_sim import Phone
from agent_eval.device_sim.apps import APPS
from agent_eval.device_sim.apps.settings import (
    SEARCHABLE,
    devices,
    display,
    installed,
    network,
    power,
    safety,
    sound,
    system,
)
from agent_eval.device_sim.apps.settings.state import CHOICES, SWITCHES
from agent_eval.device_sim.apps.systemui import TILES
from agent_eval.device_sim.u2.selectors import Node
from agent_eval.types import PhoneSetup, Scalar, Skin
from tests.device_sim.conftest import Finger

SETTINGS = "com.android.settings"


def touch_row(finger: Finger, title: str) -> None:
    """Touch a row by its title, which may be that of the page too, scrolling down to one below the fold."""
    for _ in range(6):
        rows = [node for node in finger.all(text=title) if node.view.id != "" and in_a_row(node)]
        if rows:
            bounds = rows[-1].view.bounds
            assert bounds is not None
            finger.phone.tap(*bounds.center)
            return
        finger.phone.swipe(360, 900, 360, 500)
    raise AssertionError(f"no row {title}")


def in_a_row(node: Node) -> bool:
    while node.parent is not None:
        if node.view.clickable:
            return True
        node = node.parent
    return False


@pytest.mark.parametrize(
    ("path", "title", "name"),
    [
        (("Network & internet", "Calls & SMS"), "Wi\u2011Fi calling", "wifi_calling"),
        (("Network & internet", "SIMs", "T-Mobile"), "Mobile data", "mobile_data_on"),
        (("Network & internet", "SIMs", "T-Mobile"), "Roaming", "roaming_on"),
        (("Network & internet", "Hotspot & tethering", "Wi\u2011Fi hotspot"), "Use Wi\u2011Fi hotspot", "hotspot_on"),
        (("Network & internet", "Hotspot & tethering"), "Bluetooth tethering", "bluetooth_tethering"),
        (("Network & internet", "Adaptive connectivity"), "Use adaptive connectivity", "adaptive_connectivity"),
        (("Network & internet", "Internet", "Network preferences"), "Turn on Wi\u2011Fi automatically", "wifi_auto_on"),
        (("Sound & vibration", "Do Not Disturb"), "Use Do Not Disturb", "do_not_disturb"),
        (("Sound & vibration",), "Tap & click sounds", "touch_sounds"),
        (("Sound & vibration", "Vibration & haptics"), "Touch feedback", "touch_vibration"),
        (("Notifications", "Bubbles"), "Allow apps to show bubbles", "bubbles"),
        (("Notifications", "Notification history"), "Use notification history", "notification_history"),
        (("Notifications",), "Notification dot on app icon", "notification_dots"),
        (("Display", "Auto-rotate screen"), "Use auto-rotate", "auto_rotate"),
        (("Display", "Lock screen"), "Lift to check phone", "gesture/lift_to_wake"),
        (("Battery", "Battery percentage"), "Battery percentage", "battery_percentage"),
        (("Battery", "Adaptive preferences"), "Adaptive Battery", "adaptive_battery"),
        (("Wallpaper & style",), "Themed icons", "themed_icons"),
        (("Accessibility", "TalkBack"), "Use TalkBack", "accessibility/talkback"),
        (("Accessibility", "Color and motion"), "Color inversion", "accessibility/color_inversion"),
        (("Accessibility", "Color and motion", "Night Light"), "Use Night Light", "night_light"),
        (("Accessibility", "Display size and text"), "Bold text", "accessibility/bold_text"),
        (("Accessibility", "Magnification"), "Magnification shortcut", "accessibility/magnification"),
        (("Security & privacy", "Privacy"), "Camera access", "camera_access"),
        (("Security & privacy", "More security & privacy"), "Show passwords", "show_passwords"),
        (("Location",), "Use location", "location_on"),
        (("Location", "Location services"), "Bluetooth scanning", "bluetooth_scanning"),
        (("System", "Gestures"), "Quickly open camera", "gesture/quick_camera"),
        (("System", "Date & time"), "Set time automatically", "auto_time"),
        (("System", "Backup"), "Back up my data", "backup_on"),
        (("System", "Multiple users"), "Allow multiple users", "allow_multiple_users"),
        (("System", "Developer options"), "Stay awake", "developer/stay_awake"),
    ],
)
def test_each_switch_is_reached_by_touch_and_flips_there_and_back(
    settings: Finger, path: tuple[str, ...], title: str, name: str
) -> None:
    before = settings.phone.state[f"settings/{name}"]
    settings.path(*path)
    touch_row(settings, title)
    assert settings.phone.state[f"settings/{name}"] is not before
    touch_row(settings, title)
    assert settings.phone.state[f"settings/{name}"] is before


@pytest.mark.parametrize(
    ("path", "option", "name", "value"),
    [
        (("Network & internet", "SIMs", "T-Mobile", "Preferred network type"), "3G", "network_type", "3G"),
        (("Sound & vibration", "Phone ringtone"), "Zing", "ringtone", "Zing"),
        (("Sound & vibration", "Default notification sound"), "Chime", "notification_sound", "Chime"),
        (("Sound & vibration", "Default alarm sound"), "Neon", "alarm_sound", "Neon"),
        (("Display", "Lock screen"), "Don\u2019t show notifications at all", "lock_content", "none"),
        (("Display", "Screen saver"), "Photo Frame", "screen_saver", "Photo Frame"),
        (("Wallpaper & style", "Change wallpaper"), "Night sky", "wallpaper", "Night sky"),
        (("Wallpaper & style", "App grid"), "5 \u00d7 5", "app_grid", "5 \u00d7 5"),
        (("Battery", "Battery usage", "Battery Saver schedule"), "Will turn on at 15%", "saver_schedule", 15),
        (("System", "Gestures", "Navigation mode"), "Gesture navigation", "navigation_mode", "gestures"),
        (("Security & privacy", "Device lock"), "Swipe", "screen_lock", "swipe"),
    ],
)
def test_each_choice_is_kept_and_marked(
    settings: Finger, path: tuple[str, ...], option: str, name: str, value: Scalar
) -> None:
    settings.path(*path)
    settings.path(option)
    assert settings.phone.state[f"settings/{name}"] == value
    assert settings.switch_beside(option)


def test_what_pages_show_first_follows_from_what_was_chosen(settings: Finger) -> None:
    settings.phone.put("settings/alarm_sound", "Neon")
    settings.phone.put("settings/location_on", False)
    settings.path("Sound & vibration")
    settings.path("Default alarm sound")
    assert settings.switch_beside("Neon")
    settings.phone.key("back")
    settings.phone.swipe(360, 1000, 360, 400)
    assert settings.sees(text="Neon")
    settings.phone.key("back")
    settings.path("Location")
    assert not settings.switch_beside("Use location")
    settings.phone.open_app("com.android.deskclock")
    settings.phone.put("clock/alarm/1/hour", 6)
    settings.tap(description="Expand alarm")
    assert settings.sees(text="Ringtone Default (Neon)")


# ----------------------------------------------------------------------------------------------------------------------
# Wi-Fi


@pytest.fixture
def internet(make: Callable[..., Finger]) -> Finger:
    state: dict[str, Scalar] = {"settings__wifi_on": True}
    for number, (ssid, password) in enumerate(
        (("Harbor_5G", "anchor9911"), ("Harbor-5G", "lantern472"), ("HarborGuest", "")), start=1
    ):
        state |= {f"wifi__access_point__{number}__ssid": ssid, f"wifi__access_point__{number}__password": password}
    finger = make(**state)
    finger.phone.open_app(SETTINGS, "com.android.settings.Settings$WifiSettingsActivity")
    return finger


def join(finger: Finger, ssid: str, password: str) -> None:
    finger.path(ssid)
    finger.tap(resourceId="com.android.settings:id/password")
    finger.phone.type_text(password)
    finger.tap(text="Connect")


def test_a_network_among_look_alikes_is_joined_with_its_own_password(internet: Finger) -> None:
    join(internet, "Harbor-5G", "lantern472")
    assert internet.phone.state["settings/wifi_network"] == "Harbor-5G"
    assert "Harbor-5G" in str(internet.phone.world["wifi/saved"]).split("|")


def test_a_wrong_password_is_said_and_can_be_corrected(internet: Finger) -> None:
    before = internet.phone.state["settings/wifi_network"]
    join(internet, "Harbor_5G", "lantern472")
    assert internet.phone.state["settings/wifi_network"] == before
    assert internet.sees(text="Check password and try again")
    assert "Harbor_5G" not in str(internet.phone.world["wifi/saved"]).split("|")
    join(internet, "Harbor_5G", "anchor9911")
    assert internet.phone.state["settings/wifi_network"] == "Harbor_5G"
    assert not internet.sees(text="Check password and try again")


def test_an_open_network_is_joined_by_touching_it(internet: Finger) -> None:
    internet.path("HarborGuest")
    assert internet.phone.state["settings/wifi_network"] == "HarborGuest"
    for _ in range(3):
        internet.phone.swipe(360, 400, 360, 1000)
    internet.path("HarborGuest")
    assert internet.sees(text="None")


def test_the_networks_that_the_seed_drew_have_passwords_of_their_own() -> None:
    world = Phone(PhoneSetup(seed=4)).world
    secured = set(str(world["wifi/nearby"]).split("|")) - set(str(world["wifi/open"]).split("|"))
    assert secured == {path.removeprefix("wifi/password/") for path in world if path.startswith("wifi/password/")}
    assert len({world[f"wifi/password/{ssid}"] for ssid in secured}) == len(secured)


def test_a_hidden_network_is_added_by_name(internet: Finger) -> None:
    internet.path("Add network")
    internet.tap(resourceId="com.android.settings:id/ssid")
    internet.phone.type_text("Attic")
    internet.phone.key("back")
    internet.tap(text="Save")
    assert "Attic" in str(internet.phone.world["wifi/saved"]).split("|")
    assert internet.phone.state["settings/wifi_network"] != "Attic"
    internet.path("Saved networks", "Attic", "Forget")
    assert "Attic" not in str(internet.phone.world["wifi/saved"]).split("|")


# ----------------------------------------------------------------------------------------------------------------------
# the rest of "Network & internet", and devices


def test_a_vpn_profile_is_added_connected_and_forgotten(settings: Finger) -> None:
    settings.path("Network & internet", "VPN", "Add VPN profile")
    for name, text in (("name", "Office"), ("server", "vpn.example.org"), ("user", "zoe")):
        settings.tap(resourceId=f"com.android.settings:id/{name}")
        settings.phone.type_text(text)
    settings.tap(text="Save")
    assert settings.phone.state["settings/vpn/1/server"] == "vpn.example.org"
    settings.path("Office", "Connected")
    assert settings.phone.state["settings/vpn/1/connected"] is True
    settings.phone.key("back")
    settings.phone.key("back")
    assert settings.sees(text="Office")
    settings.path("VPN", "Office", "Forget")
    settings.tap(text="Forget", resourceId="android:id/button1")
    assert "settings/vpn/1/name" not in settings.phone.state
    assert settings.sees(text="No VPNs added")


def test_a_private_dns_provider_needs_a_name(settings: Finger) -> None:
    settings.path("Network & internet", "Private DNS", "Private DNS provider hostname")
    settings.tap(text="Save")
    assert settings.phone.state["settings/private_dns"] == "automatic"
    settings.tap(className="android.widget.EditText")
    settings.phone.type_text("dns.example.org")
    settings.tap(text="Save")
    assert settings.phone.state["settings/private_dns"] == "hostname"
    assert settings.sees(text="dns.example.org")


def test_the_hotspot_gets_a_name_and_a_long_enough_password(settings: Finger) -> None:
    settings.path("Network & internet", "Hotspot & tethering", "Wi\u2011Fi hotspot", "Hotspot password")
    settings.tap(className="android.widget.EditText")
    settings.phone.clear_text()
    settings.phone.type_text("short")
    settings.tap(text="OK")
    settings.phone.type_text("er one")
    settings.tap(text="OK")
    assert settings.phone.state["settings/hotspot_password"] == "shorter one"
    assert settings.sees(text="shorter one")


def test_a_new_device_is_paired_after_its_code_was_confirmed(settings: Finger) -> None:
    name = str(settings.phone.world["bluetooth/nearby"]).split("|")[0]
    settings.path("Connected devices", "Pair new device", name)
    settings.tap(text="Cancel")
    assert name not in str(settings.phone.world["bluetooth/paired"]).split("|")
    settings.path(name)
    settings.tap(text="Pair")
    assert name in str(settings.phone.world["bluetooth/paired"]).split("|")
    settings.phone.key("back")
    settings.path(name, "Disconnect", "Connect", "Forget")
    assert name not in str(settings.phone.world["bluetooth/paired"]).split("|")


def test_no_page_offers_to_switch_nfc(settings: Finger) -> None:
    settings.path("Connected devices", "Connection preferences")
    assert not settings.sees(textContains="NFC")
    assert not any("nfc" in path for path in settings.phone.state)


# ----------------------------------------------------------------------------------------------------------------------
# apps


def test_an_app_is_muted_stopped_and_emptied_from_its_page(settings: Finger) -> None:
    phone = settings.phone
    phone.open_app("com.android.contacts")
    phone.open_app(SETTINGS)
    settings.path("Apps", "Recently opened apps", "Contacts", "Notifications", "All Contacts notifications")
    assert phone.state["settings/muted_apps"] == "com.android.contacts"
    phone.key("back")
    settings.path("Force stop")
    settings.tap(text="OK")
    assert "com.android.contacts" not in phone.recents
    settings.path("Storage & cache", "Clear storage")
    settings.tap(text="Cancel")
    assert phone.snapshot().under("contacts")
    settings.path("Clear storage")
    settings.tap(text="Delete")
    assert phone.snapshot().under("contacts") == {}


def test_clearing_an_app_brings_its_plain_state_back_to_the_start(make: Callable[..., Finger]) -> None:
    phone = make(camera__photos=12).phone
    phone.clear_data("com.android.camera2")
    assert phone.state["camera/photos"] == 0


def test_every_app_has_a_page_that_leads_to_its_permissions(settings: Finger) -> None:
    settings.path("Apps", "Recently opened apps", "Camera", "Permissions")
    assert settings.phone.front.screen == "permissions/app"


def test_a_default_app_is_taken_away_and_given_back(settings: Finger) -> None:
    settings.path("Apps", "Default apps", "SMS app", "None")
    assert settings.phone.state["settings/default/sms"] == ""
    settings.tap(text="Messages")
    assert settings.phone.state["settings/default/sms"] == "com.android.messaging"


# ----------------------------------------------------------------------------------------------------------------------
# display, security, system


def test_the_size_of_text_and_of_everything_follows_the_sliders(settings: Finger) -> None:
    settings.path("Display", "Font size")
    slider = settings.one(className="android.widget.SeekBar").view.bounds
    assert slider is not None
    settings.phone.tap(slider.right - 5, slider.center[1])
    assert settings.phone.state["settings/font_percent"] == 200
    assert settings.phone.display.font_scale == 2.0
    assert settings.sees(text="200%")
    settings.phone.key("back")
    settings.phone.put("settings/font_percent", 100)
    settings.path("Display size")
    slider = settings.one(className="android.widget.SeekBar").view.bounds
    assert slider is not None
    settings.phone.tap(slider.right - 5, slider.center[1])
    assert settings.phone.display.density == settings.phone.state["settings/density"] == 456


def test_a_phone_begins_with_the_sizes_of_its_skin_or_of_its_setup() -> None:
    phone = Phone(PhoneSetup(seed=1, skin=Skin(font_scale=1.3, density=360, locale="de")))
    assert (phone.state["settings/font_percent"], phone.state["settings/density"]) == (130, 360)
    assert phone.state["settings/locale"] == "de"
    phone = Phone(PhoneSetup(seed=1, state={"settings/font_percent": 150, "settings/locale": "zh"}))
    assert phone.display.font_scale == 1.5
    assert phone.say("Settings", "settings/home") == "设置"


@pytest.mark.parametrize("lock", ["PIN", "Password", "Pattern"])
def test_a_screen_lock_is_set_by_entering_the_secret_twice(settings: Finger, lock: str) -> None:
    settings.path("Security & privacy", "Device lock", lock)
    entry = "com.android.settings:id/password_entry"
    for text, ok in (("1234", "Next"), ("4321", "Confirm")):
        settings.tap(resourceId=entry)
        settings.phone.type_text(text)
        settings.tap(text=ok)
    assert settings.sees(text="They don\u2019t match")
    assert settings.phone.state["settings/screen_lock"] == "none"
    settings.tap(resourceId=entry)
    settings.phone.type_text("1234")
    settings.tap(text="Confirm")
    assert settings.phone.state["settings/screen_lock"] == lock.lower()


def test_the_language_changes_every_window_at_once(settings: Finger) -> None:
    settings.path("System", "Languages", "Deutsch (Deutschland)")
    assert settings.phone.state["settings/locale"] == "de"
    assert settings.sees(text="Sprachen")
    assert settings.sees(description="Zurück")
    settings.tap(text="English (United States)")
    assert settings.sees(text="Languages")


def test_the_clock_of_the_phone_follows_the_time_format(settings: Finger) -> None:
    settings.path("System", "Date & time", "Use locale default", "Use 24-hour format")
    now = settings.phone.local_time
    assert settings.phone.state["settings/time_format"] in ("12", "24")
    settings.phone.put("settings/time_format", "24")
    assert settings.sees(text=f"{now.hour:02d}:{now.minute:02d}", resourceId="com.android.systemui:id/clock")
    settings.phone.put("settings/time_format", "locale")
    assert settings.sees(text=f"{now.hour % 12 or 12}:{now.minute:02d}", resourceId="com.android.systemui:id/clock")


def test_networks_and_preferences_are_reset_only_after_asking(settings: Finger) -> None:
    settings.path("System", "Reset options", "Reset Wi\u2011Fi, mobile & Bluetooth")
    settings.tap(text="Cancel")
    assert settings.phone.world["bluetooth/paired"]
    settings.path("Reset Wi\u2011Fi, mobile & Bluetooth")
    settings.tap(text="Reset settings")
    assert settings.phone.world["bluetooth/paired"] == ""
    assert settings.phone.state["settings/wifi_network"] == ""
    settings.phone.put("settings/muted_apps", "com.android.contacts")
    settings.path("Reset app preferences")
    settings.tap(text="Reset apps")
    assert settings.phone.state["settings/muted_apps"] == ""


def test_erasing_everything_asks_and_leaves_no_data(settings: Finger) -> None:
    settings.path("System", "Reset options", "Erase all data (factory reset)", "Erase all data")
    settings.tap(text="Cancel")
    assert settings.phone.snapshot().under("contacts")
    settings.path("Erase all data")
    settings.tap(text="Erase all data", resourceId="android:id/button1")
    for prefix in ("contacts", "messages", "files/DCIM", "notifications"):
        assert settings.phone.snapshot().under(prefix) == {}
    assert settings.phone.front.screen == "launcher/home"


# ----------------------------------------------------------------------------------------------------------------------
# all pages


@pytest.mark.parametrize(("title", "screen"), SEARCHABLE, ids=[title for title, _ in SEARCHABLE])
def test_every_page_that_the_search_knows_exists_and_names_what_was_searched(
    settings: Finger, title: str, screen: str
) -> None:
    settings.phone.open_page(screen, {})
    assert settings.phone.front.screen == screen
    for _ in range(6):
        if settings.sees(textContains=title):
            break
        settings.phone.swipe(360, 1000, 360, 500)
    assert settings.sees(textContains=title)


def test_no_page_is_a_placeholder_and_there_are_more_than_80() -> None:
    screens = APPS[SETTINGS].screens
    assert len(screens) > 80
    assert not any("administrator" in text for text in APPS[SETTINGS].strings["de"])
    assert "settings/plain" not in screens


def test_every_switch_and_choice_of_settings_stands_on_some_page_or_tile() -> None:
    areas = (display, devices, installed, network, power, safety, sound, system)
    source = "".join(inspect.getsource(area) for area in areas)
    on_pages = {name for name in (*SWITCHES, *CHOICES) if f'"{name}"' in source or f"settings/{name}" in source}
    on_tiles = {tile.path.removeprefix("settings/") for tile in TILES}
    assert {*SWITCHES, *CHOICES} - on_pages - on_tiles == set()
    assert on_tiles - on_pages == {"torch_on"}
