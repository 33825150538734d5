from __future__ import annotations

from collections.abc import Callable

import pytest

from agent_eval.device_sim.apps.dialer import APP, BLOCKED, CALL, PACKAGE, length_text
from agent_eval.types import Scalar
from tests.device_sim.apps.stroll import stroll, untranslated
from tests.device_sim.conftest import Finger

_ID = f"{PACKAGE}:id/"
Make = Callable[..., Finger]


def opened(make: Make, seed: int = 1, **state: Scalar) -> Finger:
    finger = make(seed, settings__airplane_mode_on=False, **state)
    kept = tuple(name.rpartition("__")[0].replace("__", "/") + "/" for name in state)
    for path in list(finger.phone.state):
        if path.startswith(("contacts/", CALL, BLOCKED)) and not path.startswith(kept):
            del finger.phone.state[path]
    finger.phone.open_app(PACKAGE)
    return finger


def calls(finger: Finger) -> list[dict[str, Scalar]]:
    found: dict[str, dict[str, Scalar]] = {}
    for path, value in finger.phone.state.items():
        if path.startswith(f"{CALL}/"):
            number, name = path.split("/")[2:]
            found.setdefault(number, {})[name] = value
    return list(found.values())


def dial(finger: Finger, number: str) -> None:
    finger.tap(description="Key pad")
    for digit in number:
        finger.tap(descriptionMatches=f"{digit}( [A-Z+]+)?")
    finger.tap(description="dial")


LOG: dict[str, Scalar] = {
    "phone__call__901__number": "+15550001", "phone__call__901__time": 1_735_000_000,
    "phone__call__902__number": "+15550002", "phone__call__902__time": 1_735_000_600,
    "phone__call__902__kind": "missed", "contacts__901__name": "Ada Novak", "contacts__901__phone": "+15550001",
}  # fmt: skip


def test_a_number_is_dialled_and_the_call_is_logged_with_its_length(make: Make) -> None:
    finger = opened(make)
    before = finger.phone.clock.now_ms // 1000
    dial(finger, "5550142")
    assert finger.sees(text="Calling…")
    finger.phone.advance(3 + 65)
    assert finger.sees(textMatches="01:0[5-8]")
    finger.tap(description="End call")
    (call,) = calls(finger)
    assert (call["number"], call["kind"]) == ("5550142", "outgoing")
    assert 65 <= int(call["seconds"]) <= 69
    assert before <= int(call["time"]) <= before + 5
    finger.phone.key("back")
    assert finger.sees(text="5550142")


def test_a_call_that_nobody_answered_has_no_length(make: Make) -> None:
    finger = opened(make)
    dial(finger, "911")
    finger.tap(description="End call")
    assert [call["seconds"] for call in calls(finger)] == [0]


def test_holding_zero_writes_a_plus_and_backspace_takes_it_away(make: Make) -> None:
    finger = opened(make)
    finger.tap(description="Key pad")
    finger.phone.long_press(*finger.center(description="0 +"))
    finger.tap(description="7 PQRS")
    assert finger.one(resourceId=f"{_ID}digits").view.text == "+7"
    finger.tap(description="Backspace")
    assert finger.one(resourceId=f"{_ID}digits").view.text == "+"


def test_the_back_key_leaves_a_call_going_on(make: Make) -> None:
    finger = opened(make)
    dial(finger, "911")
    finger.phone.key("back")
    finger.phone.advance(20)
    finger.phone.open_app(PACKAGE)
    assert finger.phone.front.screen == "dialer/in_call"
    finger.tap(description="End call")
    assert 15 <= int(calls(finger)[0]["seconds"]) <= 20


def test_no_call_is_placed_in_airplane_mode(make: Make) -> None:
    finger = opened(make)
    finger.phone.put("settings/airplane_mode_on", True)
    dial(finger, "911")
    assert calls(finger) == []
    assert finger.phone.toast == "To place a call, first turn off Airplane mode."


def test_people_and_favourites_are_called_by_name(make: Make) -> None:
    finger = opened(make, contacts__901__name="Ada Novak", contacts__901__phone="+15550001",
                    contacts__902__name="Ada Nowak", contacts__902__phone="+15550002",
                    contacts__902__starred=True)  # fmt: skip
    finger.tap(description="Favorites")
    assert not finger.sees(text="Ada Novak")
    finger.tap(text="Ada Nowak")
    finger.tap(description="End call")
    finger.tap(description="Contacts")
    finger.tap(text="Ada Novak")
    finger.tap(description="End call")
    assert [call["number"] for call in calls(finger)] == ["+15550002", "+15550001"]


def test_the_log_shows_names_newest_first_and_loses_what_is_deleted(make: Make) -> None:
    finger = opened(make, 1, **LOG)
    texts = finger.texts
    assert texts.index("+15550002") < texts.index("Ada Novak")
    finger.phone.long_press(*finger.center(text="+15550002"))
    finger.tap(description="Delete")
    finger.tap(text="Cancel")
    assert len(calls(finger)) == 2
    finger.tap(description="Delete")
    finger.tap(text="Delete")
    assert [call["number"] for call in calls(finger)] == ["+15550001"]


def test_one_call_is_deleted_on_its_page_and_all_from_the_menu(make: Make) -> None:
    finger = opened(make, 1, **LOG)
    finger.tap(text="Ada Novak")
    finger.tap(description="Delete")
    finger.tap(text="Delete")
    assert [call["number"] for call in calls(finger)] == ["+15550002"]
    finger.tap(description="More options")
    finger.tap(text="Clear call history")
    finger.tap(text="Cancel")
    assert len(calls(finger)) == 1
    finger.tap(description="More options")
    finger.tap(text="Clear call history")
    finger.tap(text="Clear")
    assert calls(finger) == []


def test_a_stranger_becomes_a_contact_and_a_known_person_is_not_offered(make: Make) -> None:
    finger = opened(make, 1, **LOG)
    finger.tap(text="Ada Novak")
    assert not finger.sees(text="Add to contacts")
    finger.phone.key("back")
    finger.tap(text="+15550002")
    finger.tap(text="Add to contacts")
    assert finger.phone.front.screen == "contacts/edit"
    assert finger.sees(text="+15550002")


def test_numbers_are_blocked_and_unblocked(make: Make) -> None:
    finger = opened(make, 1, **LOG)
    finger.tap(text="+15550002")
    finger.tap(text="Block number")
    assert [value for path, value in finger.phone.state.items() if path.startswith(BLOCKED)] == ["+15550002"]
    finger.phone.key("back")
    finger.tap(description="More options")
    finger.tap(text="Blocked numbers")
    finger.tap(description="Unblock +15550002")
    assert finger.sees(text="Nothing here")
    finger.tap(text="Add a number")
    finger.tap(resourceId="android:id/text1")
    finger.phone.type_text("12")
    finger.phone.key("back")
    finger.tap(text="OK")
    assert finger.sees(text="This is not a phone number")


@pytest.mark.parametrize(("seconds", "text"), [(0, "00:00"), (59, "00:59"), (3600, "60:00")])
def test_lengths_are_minutes_and_seconds(seconds: int, text: str) -> None:
    assert length_text(seconds) == text


def test_looking_at_a_call_changes_nothing(make: Make) -> None:
    finger = opened(make)
    dial(finger, "911")
    before = finger.phone.snapshot()
    finger.phone.changed()
    assert finger.texts
    assert finger.phone.snapshot() == before


def test_two_seeds_have_different_logs(make: Make) -> None:
    assert calls(make(1)) != calls(make(2))
    assert calls(make(1)) == calls(make(1))
    assert len(calls(make(1))) >= 6


def test_every_word_of_the_app_is_translated() -> None:
    letters = {"ABC", "DEF", "GHI", "JKL", "MNO", "PQRS", "TUV", "WXYZ"}
    assert [text for text in untranslated(PACKAGE) if text.split()[-1] not in letters] == []


def test_a_walk_reaches_every_screen() -> None:
    assert set(APP.screens) <= stroll(PACKAGE, "de", steps=600).screens
