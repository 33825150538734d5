from __future__ import annotations

from collections.abc import Callable

import pytest

from agent_eval.device_sim import Phone
from agent_eval.device_sim.apps import APPS
from agent_eval.device_sim.apps.systemui import NOTICES, TILES
from agent_eval.types import PhoneSetup, Scalar
from tests.device_sim.conftest import Finger

ROW = "com.android.systemui:id/expandableNotificationRow"


def with_notices(make: Callable[..., Finger], *notices: tuple[str, str, str]) -> Finger:
    """Return a phone whose shade holds exactly these."""
    finger = make()
    for number in {path.split("/")[0] for path in finger.phone.snapshot().under(NOTICES)}:
        finger.phone.remove(f"{NOTICES}/{number}")
    for package, title, text in notices:
        finger.phone.notify(package, title, text)
        finger.phone.advance(60)
    return finger


TWO = (("com.android.settings", "System update", "Tap to install"), ("com.android.messaging", "Ada", "See you at six?"))


def titles(finger: Finger) -> list[str]:
    return [node.view.text for node in finger.all(resourceId="android:id/title", packageName="com.android.systemui")]


def swipe_aside(finger: Finger, title: str) -> None:
    x, y = finger.center(text=title)
    finger.phone.swipe(x, y, x + 400, y)


def test_the_first_swipe_down_opens_the_shade_and_the_second_all_of_quick_settings(make: Callable[..., Finger]) -> None:
    finger = with_notices(make, *TWO)
    finger.phone.swipe(300, 10, 300, 600)
    assert finger.phone.front.screen == "systemui/shade"
    assert titles(finger) == ["Ada", "System update"]
    finger.phone.swipe(300, 10, 300, 600)
    assert finger.phone.front.screen == "systemui/quick_settings"
    finger.phone.swipe(300, 1000, 300, 400)
    assert finger.phone.front.screen == "launcher/home"


def test_a_swipe_down_anywhere_in_the_shade_opens_all_of_quick_settings(make: Callable[..., Finger]) -> None:
    finger = with_notices(make, *TWO)
    finger.phone.swipe(360, 320, 360, 960)
    assert finger.phone.front.screen == "systemui/shade"
    finger.phone.swipe(360, 320, 360, 960)
    assert finger.phone.front.screen == "systemui/quick_settings"


def test_a_swipe_down_in_a_long_shade_first_goes_back_to_its_top(make: Callable[..., Finger]) -> None:
    finger = with_notices(make, *[("com.android.messaging", f"Title {number}", "Text") for number in range(14)])
    finger.phone.open_shade()
    finger.phone.swipe(360, 960, 360, 640)
    assert not finger.sees(text="Title 13")
    finger.phone.swipe(360, 640, 360, 1100)
    assert finger.phone.front.screen == "systemui/shade"
    assert finger.sees(text="Title 13")


@pytest.mark.parametrize("tile", TILES, ids=lambda tile: tile.title)
def test_every_tile_switches_its_setting_there_and_back(make: Callable[..., Finger], tile: object) -> None:
    finger = make(settings__wifi_on=True)
    assert isinstance(tile, type(TILES[0]))
    finger.phone.open_shade(settings=True)
    if not finger.sees(text=tile.title):
        finger.phone.swipe(600, 700, 100, 700)
    before = finger.phone.state[tile.path]
    finger.tap(text=tile.title)
    assert finger.phone.state[tile.path] is not before
    finger.tap(text=tile.title)
    assert finger.phone.state[tile.path] is before


@pytest.mark.parametrize("tile", TILES, ids=lambda tile: tile.title)
def test_holding_a_tile_opens_its_page_of_settings(make: Callable[..., Finger], tile: object) -> None:
    finger = make()
    assert isinstance(tile, type(TILES[0]))
    finger.phone.open_shade(settings=True)
    if not finger.sees(text=tile.title):
        finger.phone.swipe(600, 700, 100, 700)
    before = dict(finger.phone.state)
    finger.phone.long_press(*finger.center(text=tile.title))
    assert finger.phone.front.screen == tile.page
    assert finger.phone.state == before


def test_the_torch_is_two_swipes_or_one_and_a_tap_away(make: Callable[..., Finger]) -> None:
    finger = make()
    finger.phone.swipe(300, 10, 300, 600)
    finger.tap(text="Flashlight")
    assert finger.phone.state["settings/torch_on"] is True


def test_a_sideways_swipe_dismisses_one_notification_and_keeps_the_others(make: Callable[..., Finger]) -> None:
    finger = with_notices(make, *TWO)
    finger.phone.open_shade()
    swipe_aside(finger, "Ada")
    assert titles(finger) == ["System update"]
    left = finger.phone.snapshot().under(NOTICES)
    assert [value for path, value in left.items() if path.endswith("package")] == ["com.android.settings"]


def test_clear_all_empties_the_shade_and_closes_it(make: Callable[..., Finger]) -> None:
    finger = with_notices(make, *TWO)
    finger.phone.open_shade()
    finger.tap(text="Clear all")
    assert finger.phone.front.screen == "launcher/home"
    finger.phone.open_shade()
    assert finger.sees(text="No notifications")
    assert finger.phone.snapshot().under(NOTICES) == {}


def test_touching_a_notification_opens_its_app_and_removes_it(make: Callable[..., Finger]) -> None:
    finger = with_notices(make, *TWO)
    finger.phone.open_shade()
    finger.tap(text="Ada")
    assert finger.phone.front.package == "com.android.messaging"
    finger.phone.open_shade()
    assert titles(finger) == ["System update"]


def test_what_an_app_is_busy_with_cannot_be_swiped_away(make: Callable[..., Finger]) -> None:
    finger = with_notices(make)
    finger.phone.open_app("com.android.deskclock")
    finger.tap(description="Stopwatch")
    finger.tap(description="Start")
    finger.phone.open_shade()
    swipe_aside(finger, "Running")
    assert finger.sees(text="Running")
    assert not finger.sees(text="Clear all")
    finger.tap(text="Pause")
    assert finger.phone.state["clock/stopwatch/state"] == "paused"
    finger.phone.open_shade()
    assert finger.sees(text="No notifications")


def test_a_heads_up_notification_covers_the_top_for_five_seconds_and_stays_in_the_shade(
    make: Callable[..., Finger],
) -> None:
    finger = with_notices(make)
    finger.phone.open_app("com.android.calculator2")
    assert finger.phone.heads_up("com.android.messaging", "Ada", "See you at six?")
    assert finger.phone.windows[-1].kind == "alert"
    assert finger.sees(text="See you at six?")
    finger.phone.advance(4.9)
    assert finger.sees(text="See you at six?")
    finger.phone.advance(0.2)
    assert not finger.sees(text="See you at six?")
    finger.phone.open_shade()
    assert titles(finger) == ["Ada"]


@pytest.mark.parametrize(
    ("gesture", "package", "kept"),
    [("tap", "com.android.messaging", False), ("aside", "com.android.calculator2", False),
     ("up", "com.android.calculator2", True)],
)  # fmt: skip
def test_a_heads_up_notification_is_opened_dismissed_or_put_away(
    make: Callable[..., Finger], gesture: str, package: str, kept: bool
) -> None:
    finger = with_notices(make)
    finger.phone.open_app("com.android.calculator2")
    finger.phone.heads_up("com.android.messaging", "Ada", "See you at six?")
    x, y = finger.center(text="Ada")
    if gesture == "tap":
        finger.phone.tap(x, y)
    else:
        finger.phone.swipe(x, y, x + (400 if gesture == "aside" else 0), y - (100 if gesture == "up" else 0))
    assert not finger.sees(text="See you at six?", packageName="com.android.systemui")
    assert finger.phone.front.package == package
    assert bool(finger.phone.snapshot().under(NOTICES)) is kept


def test_do_not_disturb_keeps_notifications_from_the_top_and_a_muted_app_posts_none(
    make: Callable[..., Finger],
) -> None:
    finger = with_notices(make)
    finger.phone.put("settings/do_not_disturb", True)
    finger.phone.heads_up("com.android.messaging", "Ada", "Hello")
    assert finger.phone.windows[-1].kind == "navigation"
    assert len(finger.phone.snapshot().under(NOTICES)) == 4
    finger.phone.put("settings/muted_apps", "com.android.settings")
    assert finger.phone.notify("com.android.settings", "Update", "now") == 0
    assert len(finger.phone.snapshot().under(NOTICES)) == 4


def test_two_seeds_have_other_notifications_each_of_an_installed_app() -> None:
    def drawn(seed: int) -> dict[str, Scalar]:
        return dict(Phone(PhoneSetup(seed=seed)).snapshot().under(NOTICES))

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    for seed in range(20):
        packages = [value for path, value in drawn(seed).items() if path.endswith("/package")]
        assert 2 <= len(packages) <= 4
        assert set(packages) <= set(APPS)


def test_the_status_bar_shows_symbols_for_what_is_on(make: Callable[..., Finger]) -> None:
    finger = make(settings__bluetooth_on=False)
    for path, desc in (("do_not_disturb", "Do Not Disturb on."), ("hotspot_on", "Hotspot on."),
                       ("bluetooth_on", "Bluetooth on.")):  # fmt: skip
        assert not finger.sees(description=desc)
        finger.phone.put(f"settings/{path}", True)
        assert finger.sees(description=desc)
    level = finger.phone.world["battery/level"]
    assert not finger.sees(text=f"{level}%")
    finger.phone.put("settings/battery_percentage", True)
    assert finger.sees(text=f"{level}%")


def test_holding_a_field_offers_to_cut_copy_and_paste(make: Callable[..., Finger]) -> None:
    finger = make()
    field = "com.android.contacts:id/first"
    finger.phone.open_app("com.android.contacts")
    finger.tap(description="Create new contact")
    finger.tap(resourceId=field)
    finger.phone.type_text("Zoe")
    finger.phone.long_press(*finger.center(resourceId=field))
    finger.tap(text="Copy")
    assert finger.phone.clipboard == "Zoe"
    finger.phone.long_press(*finger.center(resourceId="com.android.contacts:id/last"))
    assert not finger.sees(text="Copy")  # there is nothing to copy in an empty field
    finger.tap(text="Paste")
    assert finger.one(resourceId="com.android.contacts:id/last").view.text == "Zoe"
    finger.phone.long_press(*finger.center(resourceId=field))
    finger.tap(text="Cut")
    assert finger.one(resourceId=field).view.text == ""
    assert not finger.sees(text="Paste")
