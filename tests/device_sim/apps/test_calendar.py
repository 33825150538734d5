from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.device_sim.apps.calendar import EVENT, PACKAGE, occurrences, recurs
from agent_eval.device_sim.moments import moment
from agent_eval.device_sim.screen import Page, Ui
from agent_eval.types import Scalar
from tests.device_sim.apps.stroll import stroll, untranslated
from tests.device_sim.conftest import Finger

_ID = f"{PACKAGE}:id/"
Make = Callable[..., Finger]


def opened(make: Make, seed: int = 1, **state: Scalar) -> Finger:
    finger = make(seed, **state)
    for event in {path.split("/")[2] for path in finger.phone.state if path.startswith(f"{EVENT}/")}:
        if not any(name.startswith(f"calendar__event__{event}__") for name in state):
            finger.phone.remove(f"{EVENT}/{event}")
    finger.phone.open_app(PACKAGE)
    return finger


def today(finger: Finger) -> date:
    return finger.phone.local_time.date()


def events(finger: Finger) -> list[dict[str, Scalar]]:
    found: dict[str, dict[str, Scalar]] = {}
    for path, value in finger.phone.state.items():
        if path.startswith(f"{EVENT}/"):
            number, name = path.split("/")[2:]
            found.setdefault(number, {})[name] = value
    return list(found.values())


def write(finger: Finger, field: str, text: str) -> None:
    for _ in range(8):
        if finger.sees(resourceId=f"{_ID}{field}"):
            break
        finger.phone.swipe(360, 900, 360, 500)
    finger.tap(resourceId=f"{_ID}{field}")
    finger.phone.clear_text()
    finger.phone.type_text(text)
    finger.phone.key("back")  # the keyboard


def set_time(finger: Finger, hour: str, minute: str, half: str) -> None:
    for name, digits in (("hour", hour), ("minute", minute)):
        finger.tap(resourceId=f"android:id/input_{name}")
        finger.phone.type_text(digits)
    finger.phone.key("back")
    finger.tap(text=half)
    finger.tap(text="OK")


def test_an_event_is_added_on_a_date_at_an_hour_with_all_its_details(make: Make) -> None:
    finger = opened(make)
    finger.tap(description="New event")
    write(finger, "event_title", "Dinner")
    write(finger, "event_location", "Cafe Luna")
    write(finger, "event_description", "Bring a gift")
    finger.tap(resourceId=f"{_ID}event_start_date")
    finger.tap(description="Next month")
    finger.tap(text="15")
    finger.tap(text="OK")
    finger.tap(resourceId=f"{_ID}event_start_time")
    set_time(finger, "7", "30", "PM")
    finger.tap(resourceId=f"{_ID}event_end_time")
    set_time(finger, "8", "15", "PM")
    finger.path("Reminder", "30 minutes before", "Repetition", "Weekly")
    write(finger, "event_people", "Ada Novak, Ben Okafor")
    finger.tap(description="Save")
    first = (today(finger).replace(day=28) + timedelta(days=7)).replace(day=15)
    assert events(finger) == [
        {
            "title": "Dinner", "location": "Cafe Luna", "description": "Bring a gift",
            "start": moment(first, 19 * 60 + 30), "minutes": 45, "reminder": 30, "repeat": "weekly",
            "all_day": False, "people": "Ada Novak,Ben Okafor", "skipped": "",
        }
    ]  # fmt: skip


def test_the_end_moves_along_with_the_start(make: Make) -> None:
    finger = opened(make)
    finger.tap(description="New event")
    write(finger, "event_title", "Call")
    finger.tap(resourceId=f"{_ID}event_start_time")
    set_time(finger, "9", "00", "AM")
    assert finger.one(resourceId=f"{_ID}event_end_time").view.text == "10:00 AM"
    finger.tap(resourceId=f"{_ID}event_end_time")
    set_time(finger, "9", "20", "AM")
    finger.tap(resourceId=f"{_ID}event_start_date")
    finger.tap(description="Next month")
    finger.tap(text="3")
    finger.tap(text="OK")
    finger.tap(description="Save")
    assert [one["minutes"] for one in events(finger)] == [20]


def test_an_event_without_a_title_or_that_ends_before_it_starts_is_refused(make: Make) -> None:
    finger = opened(make)
    finger.tap(description="New event")
    finger.tap(description="Save")
    assert finger.phone.toast == "Title cannot be empty"
    write(finger, "event_title", "Call")
    finger.tap(resourceId=f"{_ID}event_start_time")
    set_time(finger, "9", "00", "AM")
    finger.tap(resourceId=f"{_ID}event_end_time")
    set_time(finger, "8", "00", "AM")
    finger.tap(description="Save")
    assert finger.phone.toast == "The event cannot end earlier than it starts"
    assert events(finger) == []


def test_a_half_typed_event_is_not_kept_and_leaving_it_asks_first(make: Make) -> None:
    finger = opened(make)
    finger.tap(description="New event")
    write(finger, "event_title", "Dinner")
    finger.phone.key("back")
    assert finger.sees(text="Discard changes?")
    finger.tap(text="Cancel")
    assert finger.phone.front.screen == "calendar/edit"
    finger.phone.key("back")
    finger.tap(text="Discard")
    assert (finger.phone.front.screen, events(finger)) == ("calendar/main", [])


def two_on_one_day(make: Make) -> Finger:
    day = moment(today(make(1)))
    return opened(
        make,
        calendar__event__901__title="Team sync", calendar__event__901__start=day + 9 * 3600,
        calendar__event__902__title="Team sync", calendar__event__902__start=day + 15 * 3600,
        calendar__event__903__title="Dentist", calendar__event__903__start=day + 33 * 3600,
        calendar__event__903__location="North Clinic", calendar__event__903__minutes=30,
    )  # fmt: skip


def open_day(finger: Finger) -> None:
    finger.tap(descriptionStartsWith=finger.phone.locale.date(today(finger), "long"))


def test_one_of_two_look_alike_events_is_deleted_after_a_question(make: Make) -> None:
    finger = two_on_one_day(make)
    open_day(finger)
    finger.tap(text="3:00 PM")
    finger.tap(description="Delete")
    finger.tap(text="Cancel")
    assert len(events(finger)) == 3
    finger.tap(description="Delete")
    finger.tap(text="Delete")
    hours = {one["start"] for one in events(finger) if one["title"] == "Team sync"}
    assert hours == {moment(today(finger), 9 * 60)}
    assert finger.phone.front.screen == "calendar/day"


def test_all_events_of_a_day_are_chosen_by_holding_and_deleted_together(make: Make) -> None:
    finger = two_on_one_day(make)
    open_day(finger)
    finger.phone.long_press(*finger.center(text="9:00 AM"))
    assert finger.sees(text="1 selected")
    finger.tap(description="Select all")
    finger.tap(description="Delete")
    assert finger.sees(text="Delete 2 events?")
    finger.tap(text="Delete")
    assert [one["title"] for one in events(finger)] == ["Dentist"]
    assert finger.sees(text="No events")


def test_the_back_key_ends_a_selection_before_it_leaves(make: Make) -> None:
    finger = two_on_one_day(make)
    open_day(finger)
    finger.phone.long_press(*finger.center(text="9:00 AM"))
    finger.phone.key("back")
    assert not finger.sees(text="1 selected")
    finger.phone.key("back")
    assert finger.phone.front.screen == "calendar/main" or finger.phone.front.screen == "calendar/month"


def test_one_date_of_a_repeating_event_is_deleted_and_the_others_stay(make: Make) -> None:
    finger = opened(
        make, calendar__event__901__title="Gym", calendar__event__901__start=moment(today(make(1)), 600),
        calendar__event__901__repeat="daily",
    )  # fmt: skip
    open_day(finger)
    finger.tap(text="Gym")
    finger.tap(description="Delete")
    assert finger.sees(text="All occurrences")
    finger.tap(text="Delete")
    assert finger.sees(text="No events")
    finger.tap(description="Next day")
    assert finger.sees(text="Gym")
    finger.tap(text="Gym")
    finger.tap(description="Delete")
    finger.path("All occurrences", "Delete")
    assert events(finger) == []


def test_the_list_answers_what_is_next_and_where(make: Make) -> None:
    finger = two_on_one_day(make)
    finger.tap(description="Change view")
    finger.tap(text="Event list")
    assert finger.sees(textStartsWith="Today, ")
    texts = finger.texts
    assert texts.index("9:00 AM") < texts.index("3:00 PM") < texts.index("Dentist")
    assert finger.sees(text="9:00 AM – 9:30 AM")
    assert finger.sees(text="North Clinic")


def test_the_list_begins_with_what_is_not_over_yet(make: Make) -> None:
    day = today(make(1))
    assert make(1).phone.local_time.strftime("%H:%M") == "02:24"
    finger = opened(
        make, calendar__event__901__title="Night train", calendar__event__901__start=moment(day, 60),
        calendar__event__901__minutes=60, calendar__event__902__title="Night shift",
        calendar__event__902__start=moment(day, 90), calendar__event__902__minutes=120,
        calendar__event__903__title="Holiday", calendar__event__903__start=moment(day),
        calendar__event__903__all_day=True,
    )  # fmt: skip
    finger.tap(description="Change view")
    finger.tap(text="Event list")
    assert finger.sees(text="Night shift")
    assert finger.sees(text="Holiday")
    assert not finger.sees(text="Night train")
    finger.tap(text="Show earlier events")
    assert finger.sees(text="Night train")


def test_the_search_finds_a_meeting_by_person(make: Make) -> None:
    finger = opened(
        make, calendar__event__901__title="Budget", calendar__event__901__start=moment(today(make(1)), 600),
        calendar__event__901__people="Ada Novak", calendar__event__902__title="Dentist",
        calendar__event__902__start=moment(today(make(1)), 700),
    )  # fmt: skip
    finger.tap(description="Search")
    finger.tap(resourceId=f"{_ID}search_src_text")
    finger.phone.type_text("ada")
    assert finger.sees(text="Budget")
    assert not finger.sees(text="Dentist")


def test_an_event_is_changed(make: Make) -> None:
    finger = two_on_one_day(make)
    open_day(finger)
    finger.tap(text="9:00 AM")
    finger.tap(description="Edit event")
    write(finger, "event_title", "Team lunch")
    finger.path("All-day")
    finger.tap(description="Save")
    assert finger.sees(text="Team lunch")
    assert finger.sees(textContains="All day")
    changed = [one for one in events(finger) if one["title"] == "Team lunch"]
    assert [(one["all_day"], one["start"]) for one in changed] == [(True, moment(today(finger)))]


@given(
    st.dates(date(2024, 1, 1), date(2026, 12, 31)), st.integers(0, 800), st.sampled_from(("none", "daily", "weekly"))
)
def test_an_event_recurs_on_its_first_day_and_never_before(first: date, later: int, rule: str) -> None:
    day = first + timedelta(days=later)
    assert recurs(rule, first, first)
    assert not recurs(rule, first, first - timedelta(days=1))
    assert recurs(rule, first, day) == (later == 0 or rule == "daily" or (rule == "weekly" and later % 7 == 0))


def test_occurrences_are_in_order_and_within_the_days_asked_for(make: Make) -> None:
    phone = make(5).phone
    ui = Ui(phone, Page("calendar/main"), phone.shown.area, phone.display.canvas)
    first = phone.local_time.date()
    found = occurrences(ui, first, first + timedelta(days=13))
    assert found == sorted(found)
    assert found
    assert all(moment(first) <= one.start < moment(first + timedelta(days=14)) for one in found)


def test_two_seeds_have_different_events(make: Make) -> None:
    assert events(make(1)) != events(make(2))
    assert events(make(1)) == events(make(1))
    assert len(events(make(1))) >= 15


def test_every_word_of_the_app_is_translated() -> None:
    assert untranslated(PACKAGE) == []


@pytest.mark.parametrize("locale", ["en", "de"])
def test_a_walk_reaches_every_screen(locale: str) -> None:
    from agent_eval.device_sim.apps.calendar import APP

    assert set(APP.screens) <= stroll(PACKAGE, locale, steps=400).screens
