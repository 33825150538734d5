from __future__ import annotations

from collections.abc import Callable

import pytest

from agent_eval.device_sim.apps import APPS
from agent_eval.device_sim.apps.permission_controller import PACKAGE, PERMISSIONS, granted, open_dialog
from tests.device_sim.conftest import Finger

_ID = f"{PACKAGE}:id/"
RECORDER = "com.dimowner.audiorecorder"
GRANT = f"permissions/{RECORDER}/RECORD_AUDIO"
Make = Callable[..., Finger]
BUTTONS = {
    True: ("permission_allow_foreground_only_button", "permission_allow_one_time_button", "permission_deny_button"),
    False: ("permission_allow_button", "permission_deny_button"),
}


@pytest.fixture
def asked(make: Make) -> Finger:
    finger = make()
    finger.phone.open_app(RECORDER)
    finger.tap(description="Record")
    return finger


@pytest.mark.parametrize("name", PERMISSIONS)
def test_the_dialog_says_who_wants_what_and_offers_what_android_offers(make: Make, name: str) -> None:
    finger = make()
    finger.phone.open_app(RECORDER)
    open_dialog(finger.phone, RECORDER, name)
    assert finger.one(resourceId=f"{_ID}permission_message").view.text.startswith("Allow Recorder to ")
    for button in BUTTONS[PERMISSIONS[name].foreground_only]:
        assert finger.one(resourceId=_ID + button).package == PACKAGE


def test_the_dialog_is_the_controllers_own_window(asked: Finger) -> None:
    front = asked.phone.front
    assert (front.package, front.screen) == (PACKAGE, "permissions/grant")
    assert front.activity == f"{PACKAGE}.permission.ui.GrantPermissionsActivity"


def test_a_touch_beside_the_dialog_is_no_answer(asked: Finger) -> None:
    asked.phone.tap(20, 200)
    asked.phone.tap(700, 1100)
    assert asked.phone.front.screen == "permissions/grant"
    assert asked.phone.state[GRANT] == "ask"


def test_back_leaves_the_question_open(asked: Finger) -> None:
    asked.phone.key("back")
    assert asked.phone.front.screen == "recorder/main"
    assert asked.phone.state[GRANT] == "ask"


def test_only_this_time_holds_while_the_app_is_in_front_and_a_minute_after(asked: Finger) -> None:
    phone = asked.phone
    asked.tap(text="Only this time")
    assert phone.state[GRANT] == "ask"
    phone.advance(300)
    assert granted(phone, RECORDER, "RECORD_AUDIO")
    phone.key("home")
    phone.advance(61)
    assert not granted(phone, RECORDER, "RECORD_AUDIO")


def test_a_second_refusal_is_final(asked: Finger) -> None:
    phone = asked.phone
    asked.tap(text="Don’t allow")
    assert phone.state[GRANT] == "denied"
    asked.tap(description="Record")
    asked.tap(text="Don’t allow")
    assert phone.state[GRANT] == "blocked"
    asked.tap(description="Record")
    assert phone.front.screen == "recorder/main"
    assert phone.toast == "Allow Microphone in the app’s settings first"


def test_an_answer_can_be_changed_on_the_apps_page(make: Make) -> None:
    finger = make()
    finger.phone.open_app("com.android.settings")
    finger.phone.open_page("permissions/app", {"package": RECORDER})
    assert finger.sees(text="Ask every time")
    finger.tap(text="Microphone")
    finger.tap(text="Don’t allow")
    assert finger.phone.state[GRANT] == "blocked"
    finger.tap(text="Allow only while using the app")
    assert finger.phone.state[GRANT] == "granted"
    finger.phone.key("back")
    assert finger.sees(text="Allowed")


def test_the_manager_counts_the_apps_that_have_a_permission(make: Make) -> None:
    finger = make()
    finger.phone.open_app(PACKAGE, f"{PACKAGE}.permission.ui.ManagePermissionsActivity")
    askers = [package for package, app in APPS.items() if "RECORD_AUDIO" in app.permissions]
    have = sum(granted(finger.phone, package, "RECORD_AUDIO") for package in askers)
    assert finger.sees(text=f"{have} of {len(askers)} apps allowed")
    finger.tap(text="Microphone")
    assert finger.sees(text="Recorder")


def test_an_app_that_declares_nothing_can_be_asked_about_and_is_never_in_its_own_way(make: Make) -> None:
    finger = make()
    finger.phone.open_app("com.android.calculator2")
    before = dict(finger.phone.state)
    assert granted(finger.phone, "com.android.calculator2", "CAMERA")
    open_dialog(finger.phone, "com.android.calculator2", "CAMERA")
    finger.tap(text="Don’t allow")
    assert finger.phone.front.package == "com.android.calculator2"
    assert finger.phone.state == before


def test_permissions_are_granted_on_a_fresh_phone_except_those_that_are_asked_for_first(make: Make) -> None:
    state = make().phone.state
    declared = {f"permissions/{package}/{name}" for package, app in APPS.items() for name in app.permissions}
    assert {path for path in state if path.startswith("permissions/")} == declared
    assert {path for path in declared if state[path] != "granted"} >= {GRANT}
    assert {name for app in APPS.values() for name in app.permissions} <= set(PERMISSIONS)
