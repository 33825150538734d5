from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.device_sim.apps.expenses import CATEGORIES, PACKAGE, cents_of, money
from agent_eval.types import Scalar
from tests.device_sim.apps.stroll import stroll, untranslated
from tests.device_sim.conftest import Finger

_ID = f"{PACKAGE}:id/"
Make = Callable[..., Finger]


def expenses(finger: Finger) -> list[dict[str, Scalar]]:
    found: dict[str, dict[str, Scalar]] = {}
    for path, value in finger.phone.state.items():
        if path.startswith("expenses/"):
            found.setdefault(path.split("/")[1], {})[path.split("/")[2]] = value
    return list(found.values())


def opened(make: Make, *entries: tuple[str, int, str, str]) -> Finger:
    """Open the app on a phone with these expenses of today only: name, cents, category, note."""
    finger = make()
    for expense in {path.split("/")[1] for path in finger.phone.state if path.startswith("expenses/")}:
        finger.phone.remove(f"expenses/{expense}")
    for number, (name, cents, category, note) in enumerate(entries, start=1):
        finger.phone.put(f"expenses/{number}/name", name)
        finger.phone.put(f"expenses/{number}/cents", cents)
        finger.phone.put(f"expenses/{number}/category", category)
        finger.phone.put(f"expenses/{number}/note", note)
        finger.phone.put(f"expenses/{number}/moment", finger.phone.clock.now_ms // 1000)
    finger.phone.open_app(PACKAGE)
    return finger


def write(finger: Finger, field: str, text: str) -> None:
    finger.tap(resourceId=f"{_ID}{field}")
    finger.phone.clear_text()
    finger.phone.type_text(text)
    finger.phone.key("back")  # the keyboard


def test_an_expense_is_added_with_name_amount_category_and_note(make: Make) -> None:
    finger = opened(make)
    finger.tap(description="Add expense")
    write(finger, "edt_name", "Rail card")
    write(finger, "edt_amount", "59.9")
    finger.tap(text="Category")
    finger.path("Transportation")
    write(finger, "edt_note", "Paid in cash")
    assert expenses(finger) == []
    finger.tap(text="Save")
    (added,) = expenses(finger)
    moment = datetime.fromtimestamp(int(added.pop("moment")), UTC)
    assert added == {"name": "Rail card", "cents": 5990, "category": "Transportation", "note": "Paid in cash"}
    assert moment.date() == finger.phone.local_time.date()
    assert finger.sees(text="$59.90")


def test_an_expense_of_another_day_is_added_through_the_calendar(make: Make) -> None:
    finger = opened(make)
    finger.tap(description="Add expense")
    write(finger, "edt_name", "Late")
    write(finger, "edt_amount", "3")
    finger.tap(text="Date")
    finger.tap(description="Previous month")
    finger.tap(text="14")
    finger.tap(text="OK")
    finger.tap(text="Save")
    first = finger.phone.local_time.date().replace(day=1) - timedelta(days=1)
    moment = datetime.fromtimestamp(int(expenses(finger)[0]["moment"]), UTC)
    assert moment.date() == first.replace(day=14)


@pytest.mark.parametrize(("name", "amount"), [("", "5"), ("Tea", ""), ("Tea", "five"), ("Tea", "0")])
def test_what_is_incomplete_is_not_saved(make: Make, name: str, amount: str) -> None:
    finger = opened(make)
    finger.tap(description="Add expense")
    write(finger, "edt_name", name)
    write(finger, "edt_amount", amount)
    finger.tap(text="Save")
    assert finger.phone.toast == "Enter a name and an amount"
    assert expenses(finger) == []


def test_a_half_typed_form_is_no_expense(make: Make) -> None:
    finger = opened(make)
    finger.tap(description="Add expense")
    write(finger, "edt_name", "Tea")
    finger.phone.key("back")
    finger.tap(text="Discard")
    assert finger.phone.front.screen == "expenses/main"
    assert expenses(finger) == []


def test_one_of_two_equal_expenses_is_deleted_after_a_question(make: Make) -> None:
    finger = opened(make, ("Tea", 250, "Food", ""), ("Tea", 250, "Food", ""), ("Tea", 260, "Food", ""))
    finger.tap(text="$2.50")
    finger.tap(description="Delete")
    finger.tap(text="Cancel")
    assert len(expenses(finger)) == 3
    finger.tap(text="$2.50")
    finger.tap(description="Delete")
    finger.tap(text="Delete")
    assert sorted(int(one["cents"]) for one in expenses(finger)) == [250, 260]


def test_several_are_selected_by_a_long_press_and_deleted_at_once(make: Make) -> None:
    finger = opened(make, ("Tea", 250, "Food", ""), ("Bus", 300, "Transportation", ""), ("Rent", 90000, "Housing", ""))
    finger.phone.long_press(*finger.center(text="Tea"))
    finger.tap(text="Rent")
    assert finger.sees(text="2 selected")
    finger.tap(description="Delete")
    finger.tap(text="Delete")
    assert [one["name"] for one in expenses(finger)] == ["Bus"]
    assert not finger.sees(textContains="selected")


def test_editing_keeps_the_moment_of_an_expense(make: Make) -> None:
    finger = opened(make, ("Tea", 250, "Food", "Monthly"))
    before = finger.phone.state["expenses/1/moment"]
    finger.phone.advance(7200)
    finger.tap(text="Tea")
    finger.tap(description="Edit")
    write(finger, "edt_amount", "4")
    finger.tap(text="Save")
    assert expenses(finger) == [{"name": "Tea", "cents": 400, "category": "Food", "note": "Monthly", "moment": before}]


def test_totals_leave_income_out(make: Make) -> None:
    finger = opened(
        make, ("Tea", 250, "Food", ""), ("Salary", 200000, "Income", ""), ("Bus", 300, "Transportation", "")
    )
    assert finger.one(resourceId=f"{_ID}tv_month_total").view.text == "$5.50"
    finger.tap(description="Statistics")
    assert finger.sees(text="Total spent")
    assert finger.sees(text="$5.50")
    assert finger.sees(text="$2000.00")
    finger.tap(description="Previous month")
    assert finger.sees(text="$0.00")


def test_the_list_is_limited_to_one_category(make: Make) -> None:
    finger = opened(make, ("Tea", 250, "Food", ""), ("Bus", 300, "Transportation", ""))
    finger.tap(description="Filter by category")
    finger.path("Transportation")
    assert [node.view.text for node in finger.all(resourceId=f"{_ID}tv_name")] == ["Bus"]


def test_phones_hold_near_duplicates_and_some_hold_exact_ones(make: Make) -> None:
    exact = []
    for seed in range(8):
        drawn = expenses(make(seed))
        names = Counter(one["name"] for one in drawn)
        assert max(names.values()) > 1
        assert {str(one["category"]) for one in drawn} <= set(CATEGORIES)
        whole = Counter(tuple(sorted((key, str(value)) for key, value in one.items())) for one in drawn)
        exact.append(sum(count - 1 for count in whole.values()))
    assert min(exact) == 0
    assert max(exact) >= 1


def test_two_seeds_differ_and_one_seed_does_not(make: Make) -> None:
    assert expenses(make(1)) == expenses(make(1))
    assert expenses(make(1)) != expenses(make(2))


def test_every_text_is_there_in_german_and_chinese() -> None:
    assert untranslated(PACKAGE) == []


def test_a_walk_meets_the_screens_of_the_app() -> None:
    assert {"expenses/main", "expenses/edit", "expenses/statistics", "expenses/date"} <= stroll(PACKAGE, "en").screens


@pytest.mark.parametrize(
    ("text", "cents"),
    [("12", 1200), ("12.5", 1250), ("12,50", 1250), (".5", 50), ("0", 0), ("", None), (".", None), ("1.234", None),
     ("-1", None), ("1 2", None), ("x", None)],
)  # fmt: skip
def test_amounts_are_read_as_people_write_them(text: str, cents: int | None) -> None:
    assert cents_of(text) == cents


@given(st.integers(0, 99_999_999))
def test_an_amount_is_written_and_read_back(cents: int) -> None:
    assert cents_of(money(cents)[1:]) == cents


@given(st.text(max_size=8))
def test_any_text_is_an_amount_or_none(text: str) -> None:
    cents = cents_of(text)
    assert cents is None or cents >= 0
