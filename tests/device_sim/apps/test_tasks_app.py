from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

from agent_eval.device_sim.apps.tasks_app import APP, PACKAGE, TASK
from agent_eval.device_sim.moments import day_of, moment
from agent_eval.types import Scalar
from tests.device_sim.apps.stroll import stroll, untranslated
from tests.device_sim.conftest import Finger

_ID = f"{PACKAGE}:id/"
Make = Callable[..., Finger]


def tasks(finger: Finger) -> list[dict[str, Scalar]]:
    found: dict[str, dict[str, Scalar]] = {}
    for path, value in finger.phone.state.items():
        if path.startswith(f"{TASK}/"):
            number, name = path.split("/")[2:]
            found.setdefault(number, {})[name] = value
    return list(found.values())


def today(finger: Finger) -> date:
    return finger.phone.local_time.date()


def opened(make: Make, *wanted: dict[str, Scalar], seed: int = 1) -> Finger:
    finger = make(seed)
    finger.phone.remove(TASK)
    for number, fields in enumerate(wanted, start=901):
        for name, value in fields.items():
            finger.phone.put(f"{TASK}/{number}/{name}", value)
    finger.phone.open_app(PACKAGE)
    return finger


def three(make: Make) -> Finger:
    now = today(make(1))
    return opened(
        make,
        {"title": "Book the tickets", "due": moment(now), "priority": "high", "list": "Work"},
        {"title": "Book the hotel", "due": moment(now + timedelta(days=7)), "priority": "low"},
        {"title": "Pay the rent", "due": moment(now - timedelta(days=2)), "completed": True,
         "completed_at": moment(now - timedelta(days=1), 600)},
    )  # fmt: skip


def titles(finger: Finger) -> list[str]:
    return [node.view.text for node in finger.all(resourceId=f"{_ID}title")]


def show(finger: Finger, name: str) -> list[str]:
    finger.tap(description="Open filters")
    finger.tap(text=name)
    return titles(finger)


def test_a_task_is_added_with_date_priority_and_description(make: Make) -> None:
    finger = opened(make)
    finger.tap(description="Create new task")
    finger.tap(resourceId=f"{_ID}title")
    finger.phone.type_text("Water the plants")
    finger.phone.key("back")
    finger.path("Due date", "Tomorrow", "High priority")
    finger.tap(resourceId=f"{_ID}notes")
    finger.phone.type_text("Twice")
    finger.phone.key("back")
    finger.tap(description="Save")
    assert tasks(finger) == [
        {
            "title": "Water the plants", "due": moment(today(finger) + timedelta(days=1)), "priority": "high",
            "notes": "Twice", "list": "", "completed": False, "completed_at": 0,
        }
    ]  # fmt: skip


def test_a_date_is_picked_in_a_calendar_and_taken_away(make: Make) -> None:
    finger = three(make)
    finger.tap(text="Book the hotel")
    finger.path("Due date", "Pick a date")
    finger.tap(description="Next month")
    finger.path("15", "OK")
    finger.tap(description="Save")
    due = {task["title"]: int(task["due"]) for task in tasks(finger)}
    assert day_of(due["Book the hotel"]).day == 15
    finger.tap(text="Book the hotel")
    finger.path("Due date", "No due date")
    finger.tap(description="Save")
    assert {task["title"]: task["due"] for task in tasks(finger)}["Book the hotel"] == 0


def test_a_task_without_a_name_is_refused_and_a_half_typed_one_is_not_kept(make: Make) -> None:
    finger = opened(make)
    finger.tap(description="Create new task")
    finger.tap(description="Save")
    assert finger.phone.toast == "A task needs a name"
    finger.tap(resourceId=f"{_ID}title")
    finger.phone.type_text("Half")
    finger.phone.key("back")
    finger.phone.key("back")
    finger.tap(text="Discard")
    assert tasks(finger) == []
    assert finger.phone.front.screen == "tasks/main"


def test_a_task_is_completed_and_reopened_by_its_box(make: Make) -> None:
    finger = three(make)
    finger.tap(description="Complete Book the tickets")
    done = {task["title"]: (task["completed"], day_of(int(task["completed_at"]))) for task in tasks(finger)}
    assert done["Book the tickets"] == (True, today(finger))
    assert not done["Book the hotel"][0]
    finger.tap(description="Complete Book the tickets")
    assert [task["completed_at"] for task in tasks(finger) if task["title"] == "Book the tickets"] == [0]


def test_a_task_is_deleted_after_a_question(make: Make) -> None:
    finger = three(make)
    finger.tap(text="Book the hotel")
    finger.tap(description="Delete")
    finger.tap(text="Cancel")
    assert len(tasks(finger)) == 3
    finger.tap(description="Delete")
    finger.tap(text="Delete")
    assert titles(finger) == ["Book the tickets", "Pay the rent"]


def test_filters_show_what_is_due_important_and_done(make: Make) -> None:
    finger = three(make)
    assert titles(finger) == ["Book the tickets", "Book the hotel", "Pay the rent"]
    assert show(finger, "Today") == ["Book the tickets"]
    assert show(finger, "Overdue") == []
    assert show(finger, "High priority") == ["Book the tickets"]
    assert show(finger, "Recently completed") == ["Pay the rent"]
    yesterday = finger.phone.locale.date(today(finger) - timedelta(days=1), "short")
    assert finger.sees(textStartsWith=f"Completed {yesterday}")
    assert show(finger, "My Tasks") == ["Book the tickets", "Book the hotel", "Pay the rent"]


def test_tasks_are_sorted_and_completed_ones_hidden_and_cleared(make: Make) -> None:
    finger = three(make)
    finger.tap(description="More options")
    finger.path("Sort", "By title")
    assert titles(finger) == ["Book the hotel", "Book the tickets", "Pay the rent"]
    finger.tap(description="More options")
    finger.tap(text="Hide completed")
    assert titles(finger) == ["Book the hotel", "Book the tickets"]
    finger.tap(description="More options")
    finger.tap(text="Clear completed")
    finger.tap(text="Delete")
    assert len(tasks(finger)) == 2


def test_a_new_list_receives_a_task(make: Make) -> None:
    finger = opened(make)
    finger.tap(description="Open filters")
    finger.tap(text="Create new list")
    finger.tap(resourceId="android:id/text1")
    finger.phone.type_text("Trips")
    finger.phone.key("back")
    finger.path("OK", "Trips")
    finger.tap(description="Create new task")
    finger.tap(resourceId=f"{_ID}title")
    finger.phone.type_text("Pack")
    finger.phone.key("back")
    finger.tap(description="Save")
    assert [task["list"] for task in tasks(finger)] == ["Trips"]
    assert titles(finger) == ["Pack"]


def test_the_search_finds_tasks_by_their_words(make: Make) -> None:
    finger = three(make)
    finger.tap(description="Search")
    finger.tap(resourceId=f"{_ID}search_src_text")
    finger.phone.type_text("book")
    assert titles(finger) == ["Book the tickets", "Book the hotel"]


def test_every_drawn_task_can_be_reached_by_scrolling(make: Make) -> None:
    finger = make(4)
    finger.phone.open_app(PACKAGE)
    seen: set[str] = set()
    for _ in range(12):
        seen |= set(titles(finger))
        finger.phone.swipe(360, 1000, 360, 500)
    assert seen == {str(task["title"]) for task in tasks(finger)}


def test_two_seeds_have_different_tasks(make: Make) -> None:
    assert tasks(make(1)) != tasks(make(2))
    assert tasks(make(1)) == tasks(make(1))
    assert all((task["completed_at"] > 0) is task["completed"] for task in tasks(make(1)))  # type: ignore[operator]


def test_every_word_of_the_app_is_translated() -> None:
    assert untranslated(PACKAGE) == []


def test_a_walk_reaches_every_screen() -> None:
    assert set(APP.screens) <= stroll(PACKAGE, "de", steps=600).screens
