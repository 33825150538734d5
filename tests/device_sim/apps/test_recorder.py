from __future__ import annotations

from collections.abc import Callable

import pytest

from agent_eval.device_sim.apps.recorder import FOLDER, PACKAGE
from tests.device_sim.apps.stroll import stroll, untranslated
from tests.device_sim.conftest import Finger

_ID = f"{PACKAGE}:id/"
Make = Callable[..., Finger]
GRANT = f"permissions/{PACKAGE}/RECORD_AUDIO"


def opened(make: Make, *names: str, granted: bool = True) -> Finger:
    finger = make()
    for name in finger.phone.files.names(FOLDER):
        finger.phone.files.remove(f"{FOLDER}/{name}")
    for name in names:
        finger.phone.files.write(f"{FOLDER}/{name}.m4a", b"m4a 7")
    if granted:
        finger.phone.put(GRANT, "granted")
    finger.phone.open_app(PACKAGE)
    return finger


def name(finger: Finger, text: str) -> None:
    finger.tap(className="android.widget.EditText")
    finger.phone.clear_text()
    finger.phone.type_text(text)


def test_a_recording_is_saved_under_a_name_with_its_length(make: Make) -> None:
    finger = opened(make)
    finger.tap(description="Record")
    finger.phone.advance(75)
    assert finger.one(resourceId=f"{_ID}txt_progress").view.text == "01:15"
    finger.tap(description="Stop")
    assert finger.phone.files.names(FOLDER) == []
    name(finger, "choir")
    finger.tap(text="Save")
    assert finger.phone.files.names(FOLDER) == ["choir.m4a"]
    assert finger.phone.files.read(f"{FOLDER}/choir.m4a") == b"m4a 75"
    assert finger.phone.front.screen == "recorder/main"


def test_a_recording_has_a_name_before_one_is_typed(make: Make) -> None:
    finger = opened(make)
    finger.tap(description="Record")
    finger.phone.advance(2)
    finger.tap(description="Stop")
    finger.tap(text="Save")
    (saved,) = finger.phone.files.names(FOLDER)
    assert saved.startswith(f"Record {finger.phone.local_time:%Y-%m-%d}")


def test_a_pause_does_not_count(make: Make) -> None:
    finger = opened(make)
    finger.tap(description="Record")
    finger.phone.advance(10)
    finger.tap(description="Pause")
    finger.phone.advance(100)
    assert finger.sees(text="Paused")
    finger.tap(description="Resume")
    finger.phone.advance(5)
    finger.tap(description="Stop")
    name(finger, "short")
    finger.tap(text="Save")
    assert finger.phone.files.read(f"{FOLDER}/short.m4a") == b"m4a 15"


@pytest.mark.parametrize(("typed", "said"), [("", "Enter another name"), ("a/b", "Enter another name"),
                                             ("memo", "A recording with this name exists")])  # fmt: skip
def test_a_name_that_cannot_be_is_refused(make: Make, typed: str, said: str) -> None:
    finger = opened(make, "memo")
    finger.tap(description="Record")
    finger.tap(description="Stop")
    name(finger, typed)
    finger.tap(text="Save")
    assert finger.phone.toast == said
    assert finger.phone.files.names(FOLDER) == ["memo.m4a"]


def test_a_recording_can_be_thrown_away_while_it_runs_and_when_it_is_named(make: Make) -> None:
    finger = opened(make)
    finger.tap(description="Record")
    finger.tap(description="Discard")
    finger.tap(text="Cancel")
    finger.tap(description="Discard")
    finger.tap(text="Discard")
    assert finger.phone.front.screen == "recorder/main"
    finger.tap(description="Record")
    finger.tap(description="Stop")
    finger.tap(text="Don’t save")
    assert finger.phone.files.names(FOLDER) == []


def test_a_recording_goes_on_while_another_app_is_in_front(make: Make) -> None:
    finger = opened(make)
    finger.tap(description="Record")
    finger.phone.key("home")
    finger.phone.advance(30)
    finger.phone.open_app(PACKAGE)
    assert finger.one(resourceId=f"{_ID}txt_progress").view.text == "00:30"


def test_recordings_are_renamed_and_deleted_from_the_list(make: Make) -> None:
    finger = opened(make, "one", "two")
    finger.tap(description="Recordings")
    finger.tap(description="More options")
    finger.tap(text="Rename")
    name(finger, "first")
    finger.tap(text="OK")
    assert finger.phone.files.names(FOLDER) == ["first.m4a", "two.m4a"]
    finger.tap(description="More options")
    finger.tap(text="Delete")
    finger.tap(text="Cancel")
    finger.tap(description="More options")
    finger.tap(text="Delete")
    finger.tap(text="Delete", className="android.widget.Button")
    assert len(finger.phone.files.names(FOLDER)) == 1


def test_a_recording_plays_to_its_end(make: Make) -> None:
    finger = opened(make, "one")
    finger.tap(description="Recordings")
    finger.tap(text="one")
    finger.tap(description="Play")
    finger.phone.advance(3)
    assert finger.one(resourceId=f"{_ID}txt_progress").view.text == "00:03 / 00:07"
    finger.phone.advance(9)
    assert finger.sees(description="Play")


def test_recording_asks_for_the_microphone_first_and_begins_once_it_may(make: Make) -> None:
    finger = opened(make, granted=False)
    assert finger.phone.state[GRANT] == "ask"
    finger.tap(description="Record")
    assert finger.phone.front.activity.endswith("GrantPermissionsActivity")
    finger.tap(text="While using the app")
    assert finger.phone.state[GRANT] == "granted"
    assert finger.phone.front.screen == "recorder/recording"


def test_without_the_permission_nothing_is_recorded(make: Make) -> None:
    finger = opened(make, granted=False)
    finger.tap(description="Record")
    finger.tap(text="Don’t allow")
    assert finger.phone.front.screen == "recorder/main"
    assert finger.phone.files.names(FOLDER) == []


def test_two_seeds_differ(make: Make) -> None:
    assert make(1).phone.files.names(FOLDER) != make(2).phone.files.names(FOLDER)


def test_every_text_is_there_in_german_and_chinese() -> None:
    assert untranslated(PACKAGE) == []


def test_a_walk_meets_the_screens_of_the_app() -> None:
    assert {"recorder/list", "recorder/play", "recorder/menu", "permissions/grant"} <= stroll(PACKAGE, "en").screens
