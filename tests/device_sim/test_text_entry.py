from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_eval.device_sim import Phone
from agent_eval.device_sim.apps.notes import ROOT
from agent_eval.types import PhoneSetup
from tests.device_sim.conftest import Finger


def editor(text: str) -> Finger:
    """Return a phone whose editor has the focus."""
    phone = Phone(PhoneSetup(seed=1))
    phone.files.write(f"{ROOT}/a.md", text.encode())
    phone.open_app("org.fossify.notes")
    phone.open_page("notes/edit", {"path": f"{ROOT}/a.md"})
    finger = Finger(phone)
    finger.tap(className="android.widget.EditText")
    return finger


def text_of(finger: Finger) -> str:
    return finger.one(className="android.widget.EditText").view.text


@given(st.lists(st.sampled_from(("move_home", "move_end", "delete", "x", "yz", "enter")), max_size=12))
@settings(max_examples=40)
def test_the_cursor_writes_and_deletes_like_that_of_a_list_of_characters(keys: list[str]) -> None:
    finger, text, place = editor("ab\nc"), "ab\nc", 4
    for key in keys:
        if key in ("x", "yz"):
            finger.phone.type_text(key)
            text, place = text[:place] + key + text[place:], place + len(key)
            continue
        finger.phone.key(key)
        if key == "enter":
            text, place = text[:place] + "\n" + text[place:], place + 1
        elif key == "delete" and place:
            text, place = text[: place - 1] + text[place:], place - 1
        elif key != "delete":
            place = 0 if key == "move_home" else len(text)
    assert text_of(finger) == text


def test_typing_after_select_all_replaces_everything() -> None:
    finger = editor("old")
    finger.phone.key("move_home")
    finger.phone.long_press(*finger.center(className="android.widget.EditText"))
    finger.phone.type_text("new")
    assert text_of(finger) == "new"


def test_a_field_below_the_keyboard_is_scrolled_clear_of_it() -> None:
    finger = editor("")
    finger.phone.open_app("com.android.calendar")
    finger.phone.open_page(
        "calendar/edit",
        {"event": 0, "start_day": 20000, "start_min": 600, "length": 60, "repeat": "none", "reminder": "10"},
    )
    finger.phone.swipe(360, 900, 360, 300)
    finger.tap(resourceId="com.android.calendar:id/event_people")
    assert finger.phone.keyboard_open
    finger.phone.type_text("Ada")
    bounds = finger.one(resourceId="com.android.calendar:id/event_people").view.bounds
    assert bounds is not None
    assert bounds.bottom <= finger.phone.shown.area.bottom


def test_the_action_key_starts_a_line_only_where_lines_are_possible() -> None:
    finger = editor("a")
    finger.phone.key("enter")
    assert text_of(finger) == "a\n"
    finger.phone.open_page("notes/search", {})
    finger.tap(className="android.widget.EditText")
    finger.phone.type_text("b")
    finger.phone.key("enter")
    assert text_of(finger) == "b"
    assert not finger.phone.keyboard_open
