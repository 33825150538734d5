from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.device_sim import Phone
from agent_eval.device_sim.dialogs import day_number, month_later, numbered_day, time_variables
from agent_eval.device_sim.locales import LOCALES
from agent_eval.device_sim.moments import day_of, minutes_of, moment
from agent_eval.device_sim.strings import EVERYWHERE, tables
from agent_eval.types import PhoneSetup, Skin
from tests.device_sim.conftest import Finger

DAYS = st.dates(date(1990, 1, 1), date(2090, 12, 31))


@given(DAYS, st.integers(0, 24 * 60 - 1))
def test_a_moment_gives_back_its_day_and_minutes(day: date, minutes: int) -> None:
    seconds = moment(day, minutes)
    assert (day_of(seconds), minutes_of(seconds)) == (day, minutes)
    assert numbered_day(day_number(day)) == day


@given(DAYS, st.integers(-40, 40))
def test_months_are_counted_across_years(day: date, months: int) -> None:
    later = month_later(day, months)
    assert later.day == 1
    assert (later.year - day.year) * 12 + later.month - day.month == months
    assert month_later(later, -months) == day.replace(day=1)


def finger(locale: str = "en") -> Finger:
    phone = Phone(PhoneSetup(seed=1, skin=Skin(locale=locale)))
    phone.open_app("com.android.calendar")
    return Finger(phone)


@pytest.mark.parametrize(
    ("locale", "hour", "minute", "half", "answer"),
    [
        ("en", "12", "5", "AM", 5), ("en", "12", "30", "PM", 750), ("en", "7", "0", "PM", 1140),
        ("en", "13", "0", "PM", None), ("en", "7", "60", "AM", None), ("en", "0", "1", "AM", None),
        ("de", "0", "5", "", 5), ("de", "23", "59", "", 1439), ("zh", "24", "0", "", None),
    ],
)  # fmt: skip
def test_a_time_is_taken_in_the_clock_of_the_locale(
    locale: str, hour: str, minute: str, half: str, answer: int | None
) -> None:
    hand = finger(locale)
    twelve = hand.phone.locale.twelve_hours
    hand.phone.open_page("calendar/time", time_variables("answer", 600, twelve=twelve))
    for name, digits in (("hour", hour), ("minute", minute)):
        hand.tap(resourceId=f"android:id/input_{name}")
        hand.phone.type_text(digits)
    hand.phone.key("back")
    if half:
        hand.tap(text=half)
    hand.tap(resourceId="android:id/button1")
    if answer is None:
        assert hand.sees(resourceId="android:id/label_error")
    else:
        assert hand.phone.stacks.on_top_of("com.android.calendar").vars["answer"] == answer  # type: ignore[union-attr]


def test_a_date_is_answered_only_by_ok() -> None:
    hand = finger()
    for button, answer in (("Cancel", None), ("OK", day_number(date(2025, 2, 3)))):
        hand.phone.open_page("calendar/date", {"name": "answer", "day": day_number(date(2025, 1, 31))})
        hand.tap(description="Next month")
        hand.tap(text="3")
        hand.tap(text=button)
        page = hand.phone.stacks.on_top_of("com.android.calendar")
        assert page is not None
        assert page.vars.get("answer") == answer


@pytest.mark.parametrize(("locale", "first"), [("en", "Sun"), ("de", "Mo"), ("zh", "\u5468\u65e5")])
def test_a_week_begins_with_the_day_of_the_locale(locale: str, first: str) -> None:
    one = finger(locale)
    names = LOCALES[locale].short_weekdays
    views = list(one.phone.active_window.root.visible())
    heads = {view.text: view.bounds for view in views if view.text in names}
    today = next(view.bounds for view in views if view.selected)
    over_it = heads[names[one.phone.local_time.weekday()]]
    assert next(iter(heads)) == first
    assert len(heads) == 7
    assert today is not None
    assert over_it is not None
    assert (today.left, today.right) == (over_it.left, over_it.right)


def test_every_shared_word_has_both_translations_and_keeps_its_values() -> None:
    table = tables(EVERYWHERE)
    assert table["de"].keys() == table["zh"].keys() == EVERYWHERE.keys()
    for english in EVERYWHERE:
        assert all(("{count}" in english) == ("{count}" in table[locale][english]) for locale in ("de", "zh"))
        assert all(table[locale][english] for locale in ("de", "zh"))
