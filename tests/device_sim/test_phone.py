from __future__ import annotations

from collections.abc import Callable

import pytest

from agent_eval.contracts import PhoneControl
from agent_eval.device_sim import Phone
from agent_eval.device_sim.apps import APPS
from agent_eval.types import Change, PhoneSetup
from tests.device_sim.conftest import Finger


def test_every_icon_of_the_launcher_opens_its_app(make: Callable[..., Finger]) -> None:
    finger = make()
    for app in APPS.values():
        if app.home_row:
            finger.phone.key("home")
            finger.tap(text=app.label)
            assert finger.phone.front.package == app.package
            assert finger.phone.front.activity == app.screens[app.home].activity


def test_back_goes_up_the_stack_and_then_home(settings: Finger) -> None:
    settings.path("Network & internet", "Internet")
    seen = [settings.phone.front.screen]
    for _ in range(4):
        settings.phone.key("back")
        seen.append(settings.phone.front.screen)
    assert seen == ["settings/internet", "settings/network", "settings/home", "launcher/home", "launcher/home"]


def test_the_arrow_in_the_toolbar_goes_up_as_back_does(settings: Finger) -> None:
    settings.path("Display")
    settings.tap(description="Navigate up")
    assert settings.phone.front.screen == "settings/home"


def test_an_app_comes_back_as_it_was_left(settings: Finger) -> None:
    settings.path("Display")
    settings.phone.key("home")
    settings.tap(text="Settings")
    assert settings.phone.front.screen == "settings/display"


def test_a_stopped_app_starts_afresh(settings: Finger) -> None:
    settings.path("Display")
    settings.phone.force_stop("com.android.settings")
    assert settings.phone.front.screen == "launcher/home"
    settings.phone.open_app("com.android.settings")
    assert settings.phone.front.screen == "settings/home"


def test_recents_shows_the_latest_task_first_and_a_card_resumes_its_task(settings: Finger) -> None:
    settings.path("Display")
    settings.phone.open_app("com.android.deskclock")
    settings.phone.key("recent")
    assert settings.phone.front.screen == "launcher/recents"
    cards = settings.all(resourceId="com.android.launcher3:id/task")
    assert [card.view.desc for card in cards] == ["Clock", "Settings"]
    settings.tap(description="Settings")
    assert settings.phone.front.screen == "settings/display"


def test_back_from_recents_returns_to_the_app_and_recent_twice_swaps_apps(settings: Finger) -> None:
    settings.phone.open_app("com.android.deskclock")
    settings.phone.key("recent")
    settings.phone.key("back")
    assert settings.phone.front.package == "com.android.deskclock"
    settings.phone.key("recent")
    settings.phone.key("recent")
    assert settings.phone.front.package == "com.android.settings"


def test_clear_all_empties_recents(settings: Finger) -> None:
    settings.phone.key("recent")
    settings.phone.swipe(600, 600, 100, 600)
    settings.tap(text="Clear all")
    settings.phone.key("recent")
    assert settings.sees(text="No recent items")
    assert settings.phone.recents == ()


def test_the_navigation_bar_does_what_the_keys_do(settings: Finger) -> None:
    settings.path("Battery")
    settings.tap(description="Back", packageName="com.android.systemui")
    assert settings.phone.front.screen == "settings/home"
    settings.tap(description="Overview")
    assert settings.phone.front.screen == "launcher/recents"
    settings.tap(description="Home", packageName="com.android.systemui")
    assert settings.phone.front.screen == "launcher/home"


def test_an_unknown_key_or_app_is_refused_without_effect(settings: Finger) -> None:
    before = settings.phone.snapshot()
    assert not settings.phone.key("warp")
    assert not settings.phone.key(9999)
    assert not settings.phone.open_app("com.example.absent")
    assert not settings.phone.open_app("com.android.settings", ".Absent")
    assert settings.phone.snapshot() == before


def test_scrolling_shows_lower_rows_and_stops_at_the_end(settings: Finger) -> None:
    assert not settings.sees(text="About phone")
    for _ in range(6):
        settings.phone.swipe(360, 1000, 360, 400)
    assert settings.sees(text="About phone")
    assert not settings.sees(text="Connected devices")
    end = settings.phone.snapshot()["ui/task/com.android.settings/0/settings/home/scroll/list"]
    settings.phone.swipe(360, 1000, 360, 400)
    assert settings.phone.snapshot()["ui/task/com.android.settings/0/settings/home/scroll/list"] == end
    for _ in range(8):
        settings.phone.swipe(360, 500, 360, 1100)
    assert settings.sees(text="Network & internet")


def test_content_follows_the_finger_pixel_by_pixel(settings: Finger) -> None:
    before = settings.center(text="Battery")
    settings.phone.swipe(360, 900, 360, 700)
    after = settings.center(text="Battery")
    assert (before[0] - after[0], before[1] - after[1]) == (0, 200)


def test_a_list_that_becomes_shorter_scrolls_back_to_its_new_end(make: Callable[..., Finger]) -> None:
    finger = make(settings__wifi_on=True)
    finger.phone.open_app("com.android.settings", "com.android.settings.Settings$WifiSettingsActivity")
    for _ in range(5):
        finger.phone.swipe(360, 1000, 360, 300)
    finger.phone.schedule(0, {"settings/wifi_on": False})
    finger.phone.advance(1)
    assert finger.sees(text="Non-carrier data usage")
    assert finger.sees(text="Internet")


def test_a_finger_that_hardly_moves_has_tapped(settings: Finger) -> None:
    x, y = settings.center(text="Battery")
    settings.phone.swipe(x, y, x + 4, y - 4, 0.1)
    assert settings.phone.front.screen == "settings/battery"


def test_holding_an_icon_opens_its_menu(make: Callable[..., Finger]) -> None:
    finger = make()
    finger.phone.long_press(*finger.center(text="Clock"))
    assert finger.phone.front.screen == "launcher/shortcuts"
    finger.tap(text="App info")
    assert finger.phone.front.screen == "settings/app_info"
    assert finger.sees(text="Clock")


def test_holding_what_has_no_menu_is_a_tap(settings: Finger) -> None:
    settings.phone.long_press(*settings.center(text="Battery"))
    assert settings.phone.front.screen == "settings/battery"


def test_a_swipe_down_from_the_status_bar_opens_quick_settings_and_its_tiles_switch(settings: Finger) -> None:
    settings.phone.swipe(300, 10, 300, 600)
    assert settings.phone.front.screen == "systemui/shade"
    settings.tap(textContains="Internet")
    assert settings.phone.state["settings/wifi_on"] is True
    settings.phone.key("back")
    assert settings.phone.front.screen == "settings/home"


def test_touches_do_nothing_while_the_screen_is_off(settings: Finger) -> None:
    settings.phone.key("power")
    settings.phone.tap(360, 600)
    settings.phone.swipe(360, 900, 360, 300)
    settings.phone.key("back")
    assert settings.phone.front.screen == "settings/home"
    settings.phone.key("wakeup")
    settings.path("Battery")
    assert settings.phone.front.screen == "settings/battery"


def test_volume_keys_change_the_media_volume_within_its_range(make: Callable[..., Finger]) -> None:
    phone = make(settings__volume_media=14).phone
    for _ in range(3):
        phone.key("volume_up")
    assert phone.state["settings/volume_media"] == 15
    phone.key("volume_down")
    assert phone.state["settings/volume_media"] == 14
    phone.key("volume_mute")
    assert phone.state["settings/volume_media"] == 0


def test_a_scheduled_change_happens_once_when_its_time_has_come(make: Callable[..., Finger]) -> None:
    phone = make(settings__wifi_on=True).phone
    phone.schedule(1.0, {"settings/wifi_on": False})
    phone.advance(0.9)
    before = phone.state["settings/wifi_on"]
    phone.tap(5, 600)  # 100 ms
    after = phone.state["settings/wifi_on"]
    phone.put("settings/wifi_on", True)
    phone.advance(100)
    assert (before, after, phone.state["settings/wifi_on"]) == (True, False, True)


def test_a_reset_forgets_timers_pages_and_clipboard(make: Callable[..., Finger]) -> None:
    phone = make(seed=4).phone
    fresh = phone.snapshot()
    phone.open_app("com.android.settings")
    phone.clipboard = "x"
    phone.schedule(5, {"settings/wifi_on": False})
    phone.key("recent")
    phone.reset(PhoneSetup(seed=4))
    assert phone.snapshot() == fresh


def test_gestures_take_virtual_time(make: Callable[..., Finger]) -> None:
    phone = make().phone
    start = phone.now_ms
    phone.tap(5, 600)
    phone.swipe(360, 600, 360, 500, 0.25)
    phone.long_press(5, 600, 0.5)
    phone.advance(2)
    assert phone.now_ms - start == 100 + 250 + 500 + 2000


def test_a_snapshot_tells_what_changed(settings: Finger) -> None:
    before = settings.phone.snapshot()
    settings.path("Network & internet", "Airplane mode")
    after = settings.phone.snapshot()
    assert before.diff(after) == (
        Change("settings/airplane_mode_on", False, True),
        Change("settings/bluetooth_on", True, False),
    )
    assert before.persisted_digest != after.persisted_digest
    assert hash(before) != hash(after)


def test_looking_at_the_phone_changes_nothing(settings: Finger) -> None:
    before = settings.phone.snapshot()
    settings.phone.hierarchy_xml()
    settings.phone.uiautomator_dump()
    settings.phone.screenshot()
    assert settings.phone.snapshot() == before


def test_a_snapshot_names_package_activity_screen_and_stack(settings: Finger) -> None:
    settings.path("Display", "Brightness level")
    snapshot = settings.phone.snapshot()
    assert snapshot["ui/package"] == "com.android.systemui"
    assert snapshot["ui/activity"] == "com.android.systemui.settings.brightness.BrightnessDialog"
    assert snapshot["ui/screen"] == "systemui/brightness"
    assert snapshot["ui/stack"] == "settings/home > settings/display > systemui/brightness"


LISTED = sorted(package for package, app in APPS.items() if app.launchable and not app.hidden)


@pytest.mark.parametrize("package", LISTED)
def test_app_info_stops_an_app(package: str) -> None:
    finger = Finger(Phone(PhoneSetup(seed=2)))
    finger.phone.open_app(package)
    finger.phone.go_home()
    finger.phone.swipe(360, 1000, 360, 400)
    finger.phone.long_press(*finger.center(text=APPS[package].label))
    finger.path("App info", "Force stop")
    assert package in finger.phone.recents
    finger.tap(text="OK")
    assert package not in finger.phone.recents


def test_a_touch_outside_a_dialog_cancels_it(settings: Finger) -> None:
    settings.path("About phone", "Device name")
    settings.phone.tap(360, 1100)
    assert settings.phone.front.screen == "settings/about"
    settings.path("Device name")
    settings.phone.tap(*settings.center(resourceId="android:id/alertTitle"))
    assert settings.phone.front.screen == "settings/rename"


def test_the_phone_is_a_phone_control() -> None:
    control: PhoneControl = Phone(PhoneSetup(seed=1))
    control.reset(PhoneSetup(seed=2))
    control.schedule(1, {"battery/level": 5})
    assert control.snapshot()["clock/pending_timers"] == 1
