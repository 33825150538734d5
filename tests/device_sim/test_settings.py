from __future__ import annotations

from collections.abc import Callable

import pytest

from agent_eval.device_sim.apps.settings import HOME_ROWS
from agent_eval.device_sim.profile import TIMEOUTS
from tests.device_sim.conftest import Finger

WIFI = "Wi\u2011Fi"


@pytest.mark.parametrize(("title", "screen"), [(title, screen) for title, _, _, screen in HOME_ROWS])
def test_every_row_of_the_home_page_opens_its_page(settings: Finger, title: str, screen: str) -> None:
    settings.path(title)
    assert settings.phone.front.screen == screen
    assert settings.one(text=title).view.bounds is not None


def test_the_wifi_row_switches_and_shows_networks_only_when_on(settings: Finger) -> None:
    settings.path("Network & internet")
    assert settings.sees(text="Off")
    settings.path("Internet")
    connected = str(settings.phone.state["settings/wifi_network"])
    assert not settings.switch_beside(WIFI)
    assert not settings.sees(text=connected)
    settings.tap(text=WIFI)
    assert settings.phone.state["settings/wifi_on"] is True
    assert settings.switch_beside(WIFI)
    assert settings.sees(text=connected)
    settings.phone.key("back")
    assert settings.sees(text=connected)


def test_the_switch_in_a_row_is_not_clickable_but_the_row_is(settings: Finger) -> None:
    settings.path("Network & internet")
    assert not settings.one(resourceId="android:id/switch_widget").view.clickable
    assert not settings.one(text="Airplane mode").view.clickable
    settings.tap(resourceId="android:id/switch_widget")  # the touch falls through to the row
    assert settings.phone.state["settings/airplane_mode_on"] is True


def test_a_phone_spells_wifi_as_its_skin_does(make: Callable[..., Finger]) -> None:
    spellings = set()
    for seed in range(12):
        finger = make(seed=seed)
        finger.phone.open_app("com.android.settings", "com.android.settings.Settings$WifiSettingsActivity")
        spellings |= {text for text in finger.texts if text in (WIFI, "Wi-Fi")}
    assert spellings == {WIFI, "Wi-Fi"}


def test_airplane_mode_switches_radios_off_and_back_as_they_were(settings: Finger) -> None:
    settings.path("Network & internet", "Airplane mode")
    state = settings.phone.state
    assert (state["settings/airplane_mode_on"], state["settings/wifi_on"], state["settings/bluetooth_on"]) == (
        True, False, False,
    )  # fmt: skip
    settings.tap(text="Airplane mode")
    assert (state["settings/airplane_mode_on"], state["settings/wifi_on"], state["settings/bluetooth_on"]) == (
        False, False, True,
    )  # fmt: skip


def test_wifi_switched_on_during_airplane_mode_stays_on_after_it(settings: Finger) -> None:
    settings.path("Network & internet", "Airplane mode", "Internet", WIFI)
    settings.phone.key("back")
    settings.tap(text="Airplane mode")
    assert settings.phone.state["settings/wifi_on"] is True


def test_bluetooth_is_switched_on_its_own_page(settings: Finger) -> None:
    settings.path("Connected devices", "Bluetooth")
    paired = str(settings.phone.world["bluetooth/paired"]).split("|")[0]
    assert settings.sees(text=paired)
    settings.tap(text="Use Bluetooth")
    assert settings.phone.state["settings/bluetooth_on"] is False
    assert not settings.sees(text=paired)


def test_joining_a_secured_network_needs_a_long_enough_password(make: Callable[..., Finger]) -> None:
    finger = make(settings__wifi_on=True)
    world = finger.phone.world
    nearby = str(world["wifi/nearby"]).split("|")
    world["wifi/open"], target = "", nearby[1]
    world[f"wifi/password/{target}"] = "shorter password"
    finger.phone.open_app("com.android.settings", "com.android.settings.Settings$WifiSettingsActivity")
    finger.path(target)
    assert finger.phone.front.screen == "settings/wifi_password"
    finger.tap(resourceId="com.android.settings:id/password")
    finger.phone.type_text("short")
    finger.tap(text="Connect")
    assert finger.phone.front.screen == "settings/wifi_password"
    finger.phone.type_text("er password")
    assert not finger.sees(textContains="password", className="android.widget.EditText")  # shown as dots
    finger.tap(text="Show password")
    assert finger.sees(text="shorter password")
    finger.tap(text="Connect")
    assert finger.phone.state["settings/wifi_network"] == target
    finger.path(target, "Forget")
    assert finger.phone.state["settings/wifi_network"] == ""


def test_brightness_follows_the_finger_and_reaches_both_ends(settings: Finger) -> None:
    settings.path("Display")
    assert settings.sees(text="39%")
    settings.tap(text="Brightness level")
    slider = settings.one(resourceId="com.android.systemui:id/slider")
    assert slider.view.text == "100.0"
    bounds = slider.view.bounds
    assert bounds is not None
    y = bounds.center[1]
    settings.phone.swipe(bounds.left, y, bounds.right - 1, y)
    assert settings.phone.state["settings/brightness"] == 255
    settings.phone.swipe(bounds.right - 1, y, bounds.left, y)
    assert settings.phone.state["settings/brightness"] == 0
    settings.phone.tap(*bounds.center)
    assert settings.phone.state["settings/brightness"] in (127, 128)
    settings.phone.key("back")
    assert settings.sees(text="50%")


def test_a_drag_on_a_slider_does_not_scroll_the_page(make: Callable[..., Finger]) -> None:
    finger = make(settings__volume_ring=2, settings__volume_alarm=4)
    finger.phone.open_app("com.android.settings")
    finger.path("Sound & vibration")
    bounds = finger.one(description="Ring & notification volume").view.bounds
    assert bounds is not None
    finger.phone.swipe(*bounds.center, bounds.right, bounds.center[1] - 40)
    assert finger.phone.state["settings/volume_ring"] == 7
    assert finger.phone.state["settings/volume_alarm"] == 4
    assert finger.one(description="Ring & notification volume").view.bounds == bounds


@pytest.mark.parametrize(
    ("path", "title", "key"),
    [
        (("Display",), "Adaptive brightness", "settings/adaptive_brightness"),
        (("Display",), "Dark theme", "settings/dark_theme"),
        (("Sound & vibration",), "Vibrate for calls", "settings/vibrate_on_ring"),
        (("Battery",), "Battery Saver", "settings/battery_saver"),
        (("Network & internet", "Data Saver"), "Use Data Saver", "settings/data_saver"),
    ],
)
def test_each_switch_flips_its_setting_there_and_back(
    settings: Finger, path: tuple[str, ...], title: str, key: str
) -> None:
    before = settings.phone.state[key]
    settings.path(*path, title)
    assert settings.phone.state[key] is not before
    assert settings.switch_beside(title) is settings.phone.state[key]
    settings.tap(text=title)
    assert settings.phone.state[key] is before


def test_every_screen_timeout_can_be_chosen(settings: Finger) -> None:
    settings.path("Display", "Screen timeout")
    for name, seconds in zip(
        ("15 seconds", "30 seconds", "1 minute", "2 minutes", "5 minutes", "10 minutes"), TIMEOUTS, strict=True
    ):
        settings.tap(text=name)
        assert settings.phone.state["settings/screen_timeout_s"] == seconds
        assert settings.switch_beside(name)


def test_the_device_name_changes_only_with_ok(settings: Finger) -> None:
    before = settings.phone.state["settings/device_name"]
    settings.path("About phone", "Device name")
    settings.tap(className="android.widget.EditText")
    settings.phone.clear_text()
    settings.phone.type_text("Bob\u2019s phone")
    settings.tap(text="Cancel")
    assert settings.phone.state["settings/device_name"] == before
    settings.tap(text="Device name")
    settings.tap(className="android.widget.EditText")
    settings.phone.clear_text()
    settings.tap(text="OK")  # disabled while there is no name
    assert settings.phone.front.screen == "settings/rename"
    settings.phone.type_text("  Bob\u2019s phone ")
    settings.tap(text="OK")
    assert settings.phone.state["settings/device_name"] == "Bob\u2019s phone"
    assert settings.sees(text="Bob\u2019s phone")


def test_the_android_version_is_below_the_fold_of_about_phone(settings: Finger) -> None:
    settings.path("About phone")
    assert not settings.sees(text="Android version")
    settings.phone.swipe(360, 1000, 360, 300)
    assert settings.sees(text="Android version")
    assert settings.sees(text="15")


def test_search_finds_pages_by_their_words(settings: Finger) -> None:
    settings.tap(text="Search settings")
    settings.tap(className="android.widget.EditText")
    settings.phone.type_text("dark")
    settings.tap(text="Dark theme")
    assert settings.phone.front.screen == "settings/display"
    settings.phone.key("back")
    settings.tap(className="android.widget.EditText")
    settings.phone.type_text("zzz")
    assert settings.sees(text="No results")
