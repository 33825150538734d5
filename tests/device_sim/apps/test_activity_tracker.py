from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.device_sim.apps.activity_tracker import CATEGORIES, PACKAGE, metres_of, spell_minutes, time_of
from agent_eval.types import Scalar
from tests.device_sim.apps.stroll import stroll, untranslated
from tests.device_sim.conftest import Finger

_ID = f"{PACKAGE}:id/"
Make = Callable[..., Finger]


def tracks(finger: Finger) -> list[dict[str, Scalar]]:
    found: dict[str, dict[str, Scalar]] = {}
    for path, value in finger.phone.state.items():
        if path.startswith("tracks/"):
            found.setdefault(path.split("/")[1], {})[path.split("/")[2]] = value
    return list(found.values())


def opened(make: Make, *entries: tuple[str, str, int, int, int]) -> Finger:
    """Open the app on a phone with these tracks only: name, category, days ago, minutes, metres; all at 8:15."""
    finger = make()
    for track in {path.split("/")[1] for path in finger.phone.state if path.startswith("tracks/")}:
        finger.phone.remove(f"tracks/{track}")
    morning = datetime.combine(finger.phone.local_time.date(), time(8, 15, tzinfo=UTC))
    for number, (name, category, days, minutes, metres) in enumerate(entries, start=1):
        fields: dict[str, Scalar] = {"name": name, "category": category, "minutes": minutes, "metres": metres}
        fields["start"] = int((morning - timedelta(days=days)).timestamp())
        for field, value in fields.items():
            finger.phone.put(f"tracks/{number}/{field}", value)
    finger.phone.open_app(PACKAGE)
    return finger


def write(finger: Finger, field: str, text: str) -> None:
    for _ in range(4):
        if finger.sees(resourceId=f"{_ID}track_edit_{field}"):
            break
        finger.phone.swipe(360, 900, 360, 600)
    finger.tap(resourceId=f"{_ID}track_edit_{field}")
    finger.phone.clear_text()
    finger.phone.type_text(text)
    finger.phone.key("back")  # the keyboard


def names(finger: Finger) -> list[str]:
    return [node.view.text for node in finger.all(resourceId=f"{_ID}track_list_item_name")]


def test_the_page_of_a_track_answers_how_long_and_how_far(make: Make) -> None:
    finger = opened(make, ("Loop", "running", 1, 95, 15_230))
    finger.tap(text="Loop")
    for text in ("running", "8:15 AM", "9:50 AM", "1:35:00", "15.23 km", "9.6 km/h"):
        assert finger.sees(text=text), text


def test_statistics_add_up_one_week_by_category(make: Make) -> None:
    finger = opened(
        make, ("Loop", "running", 0, 30, 5000), ("Far", "running", 0, 45, 8050), ("Hill", "hiking", 0, 200, 9000),
        ("Old", "running", 7, 60, 10_000),
    )  # fmt: skip
    finger.tap(description="Statistics")
    for text in ("running (2)", "1:15:00", "13.05 km", "hiking (1)", "9.00 km"):
        assert finger.sees(text=text), text
    assert not finger.sees(text="10.00 km")
    finger.tap(description="Previous week")
    assert finger.sees(text="running (1)")
    assert finger.sees(text="10.00 km")
    finger.tap(description="Next week")
    finger.tap(description="Next week")
    assert finger.sees(text="No tracks this week")


def test_the_list_is_newest_first_and_limited_to_a_category(make: Make) -> None:
    finger = opened(make, ("B", "hiking", 3, 10, 1), ("A", "running", 1, 10, 1), ("C", "running", 9, 10, 1))
    assert names(finger) == ["A", "B", "C"]
    finger.tap(description="Filter")
    finger.path("running")
    assert names(finger) == ["A", "C"]


def test_the_search_finds_names_and_categories(make: Make) -> None:
    finger = opened(
        make, ("Loop", "hiking", 3, 10, 1), ("Hike to work", "driving", 1, 10, 1), ("C", "running", 9, 10, 1)
    )
    finger.tap(description="Search")
    finger.tap(className="android.widget.EditText")
    finger.phone.type_text("hik")
    assert names(finger) == ["Hike to work", "Loop"]


def test_a_track_is_added_by_hand(make: Make) -> None:
    finger = opened(make)
    finger.tap(description="Add track")
    write(finger, "name", "Ridge")
    finger.tap(text="Activity type")
    finger.path("hiking")
    finger.tap(text="Date")
    finger.tap(description="Previous month")
    finger.tap(text="9")
    finger.tap(text="OK")
    write(finger, "start", "6:40")
    write(finger, "minutes", "185")
    write(finger, "distance", "11.25")
    finger.tap(text="Save")
    (track,) = tracks(finger)
    start = datetime.fromtimestamp(int(track.pop("start")), UTC)
    assert track == {"name": "Ridge", "category": "hiking", "minutes": 185, "metres": 11_250, "notes": ""}
    before = finger.phone.local_time.date().replace(day=1) - timedelta(days=1)
    assert start == datetime(before.year, before.month, 9, 6, 40, tzinfo=UTC)


def test_a_track_without_a_time_is_not_saved(make: Make) -> None:
    finger = opened(make)
    finger.tap(description="Add track")
    write(finger, "start", "25:00")
    write(finger, "minutes", "10")
    finger.tap(text="Save")
    assert finger.phone.toast == "Enter a start time, a duration and a distance"
    assert tracks(finger) == []
    finger.phone.key("back")
    finger.tap(text="Discard")
    assert finger.phone.front.screen == "tracks/main"


def test_editing_changes_a_track_in_place(make: Make) -> None:
    finger = opened(make, ("Loop", "running", 1, 95, 15_230))
    start = finger.phone.state["tracks/1/start"]
    finger.tap(text="Loop")
    finger.tap(description="Edit")
    write(finger, "minutes", "96")
    finger.tap(text="Save")
    assert tracks(finger) == [
        {"name": "Loop", "category": "running", "start": start, "minutes": 96, "metres": 15_230, "notes": ""}
    ]


def test_deleting_asks_first(make: Make) -> None:
    finger = opened(make, ("Loop", "running", 1, 95, 15_230), ("Loop 2", "running", 2, 95, 15_230))
    finger.phone.long_press(*finger.center(text="Loop"))
    finger.tap(text="Delete")
    finger.tap(text="Cancel")
    assert len(tracks(finger)) == 2
    finger.tap(text="Loop")
    finger.tap(description="Delete")
    finger.tap(text="Delete")
    assert [track["name"] for track in tracks(finger)] == ["Loop 2"]
    assert finger.phone.front.screen == "tracks/main"


@pytest.mark.parametrize("seed", range(5))
def test_a_fresh_phone_has_tracks_in_this_week_and_none_to_come(make: Make, seed: int) -> None:
    finger = make(seed)
    now = finger.phone.local_time
    ends = [int(track["start"]) + int(track["minutes"]) * 60 for track in tracks(finger)]
    assert max(ends) <= now.timestamp()
    monday = datetime.combine(now.date() - timedelta(days=now.weekday()), time(tzinfo=UTC))
    assert sum(end >= monday.timestamp() for end in ends) >= 2
    assert {str(track["category"]) for track in tracks(finger)} <= set(CATEGORIES)


def test_two_seeds_differ_and_one_seed_does_not(make: Make) -> None:
    assert tracks(make(1)) == tracks(make(1))
    assert tracks(make(1)) != tracks(make(2))


def test_every_text_is_there_in_german_and_chinese() -> None:
    assert untranslated(PACKAGE) == []


def test_a_walk_meets_the_screens_of_the_app() -> None:
    assert {"tracks/details", "tracks/statistics", "tracks/edit", "tracks/date"} <= stroll(PACKAGE, "en").screens


@pytest.mark.parametrize(
    ("text", "metres"),
    [("5", 5000), ("5.2", 5200), ("5,25", 5250), ("0.005", 5), (".5", 500), ("", None), ("a", None), ("1.2345", None)],
)
def test_distances_are_read_as_people_write_them(text: str, metres: int | None) -> None:
    assert metres_of(text) == metres


@given(st.text(max_size=6))
def test_any_text_is_a_time_or_none(text: str) -> None:
    found = time_of(text)
    assert found is None or f"{found:%H:%M}".lstrip("0").endswith(text.strip()[-2:])


@pytest.mark.parametrize(("minutes", "text"), [(5, "05:00"), (59, "59:00"), (60, "1:00:00"), (125, "2:05:00")])
def test_durations_are_written_with_hours_only_when_there_are_some(minutes: int, text: str) -> None:
    assert spell_minutes(minutes) == text
