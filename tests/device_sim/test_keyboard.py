from __future__ import annotations

import pytest

from tests.device_sim.conftest import Finger

FIELD = "android.widget.EditText"


@pytest.fixture
def rename(settings: Finger) -> Finger:
    settings.path("About phone", "Device name")
    settings.tap(className=FIELD)
    settings.phone.clear_text()
    return settings


def text(finger: Finger) -> str:
    return finger.one(className=FIELD).view.text


def test_touching_a_field_opens_the_keyboard_over_the_lower_part_of_the_screen(rename: Finger) -> None:
    assert rename.phone.keyboard_open
    keys = [node.view.bounds for node in rename.all(className="com.android.inputmethod.keyboard.Key")]
    assert len(keys) == 33
    assert min(bounds.top for bounds in keys if bounds) == 1280 * 6 // 10
    assert rename.one(className=FIELD).view.focused


def test_a_dialog_moves_up_so_that_its_buttons_stay_above_the_keyboard(rename: Finger) -> None:
    bounds = rename.one(text="OK").view.bounds
    assert bounds is not None
    assert bounds.bottom <= 768


def test_keys_type_shift_writes_one_capital_and_delete_deletes(rename: Finger) -> None:
    for key in ("Shift", "H", "i", "Space", "Symbols", "7", "Letters", "x", "Delete"):
        rename.tap(description=key)
    assert text(rename) == "Hi 7"


def test_back_closes_the_keyboard_first(rename: Finger) -> None:
    rename.phone.type_text("abc")
    rename.phone.key("back")
    assert not rename.phone.keyboard_open
    assert rename.phone.front.screen == "settings/rename"
    assert text(rename) == "abc"
    rename.phone.key("back")
    assert rename.phone.front.screen == "settings/about"


def test_leaving_the_page_closes_the_keyboard(rename: Finger) -> None:
    rename.phone.key("home")
    assert not rename.phone.keyboard_open
    assert not rename.sees(packageName="com.android.inputmethod.latin")


def test_a_touch_on_the_keyboard_does_not_reach_what_it_covers(settings: Finger) -> None:
    settings.tap(text="Search settings")
    settings.tap(className=FIELD)
    settings.phone.type_text("e")
    before = settings.phone.front.screen
    settings.tap(description="a")
    assert settings.phone.front.screen == before
    assert settings.one(className=FIELD).view.text == "ea"


def test_content_shrinks_above_the_keyboard(settings: Finger) -> None:
    settings.tap(text="Search settings")
    settings.tap(className=FIELD)
    results = settings.one(resourceId="com.android.settings:id/list_results").view.bounds
    assert results is not None
    assert results.bottom == 768


def test_enter_moves_to_the_next_field_and_then_closes_the_keyboard(clock: Finger) -> None:
    clock.tap(description="Add alarm")
    clock.tap(resourceId="android:id/input_hour")
    assert clock.sees(description="7", packageName="com.android.inputmethod.latin")
    clock.phone.key("enter")
    assert clock.one(resourceId="android:id/input_minute").view.focused
    clock.tap(description="Enter")
    assert not clock.phone.keyboard_open
    assert clock.phone.front.screen == "clock/time_picker"


def test_typing_without_a_focused_field_changes_nothing(settings: Finger) -> None:
    before = settings.phone.snapshot()
    assert not settings.phone.type_text("abc")
    assert not settings.phone.clear_text()
    assert not settings.phone.entry.delete_before_cursor()
    assert settings.phone.snapshot() == before


def test_holding_a_field_selects_all_of_it(rename: Finger) -> None:
    rename.phone.type_text("old")
    rename.phone.long_press(*rename.center(className=FIELD))
    rename.phone.type_text("new")
    assert text(rename) == "new"


def test_a_field_keeps_at_most_its_length(rename: Finger) -> None:
    rename.phone.type_text("x" * 100)
    assert text(rename) == "x" * 32
