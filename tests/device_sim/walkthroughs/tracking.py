"""Solutions in Tasks and in Activity Tracker; all of them are answers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

from agent_eval.device_sim.locales import LOCALES
from agent_eval.device_sim.moments import day_of, moment
from agent_eval.types import Scalar, Snapshot
from tests.device_sim.walkthroughs.hand import Hand
from tests.device_sim.walkthroughs.walk import Script, Walk, moment_of

SEED = 8
TODAY = moment_of(SEED).date()
"""Thursday, 4 September 2025."""
_ENGLISH = LOCALES["en"]


def after(days: int) -> date:
    """Return the day so many days after the phone's."""
    return TODAY + timedelta(days=days)


def rows_of(snapshot: Snapshot, prefix: str) -> list[dict[str, Scalar]]:
    """Return the records of a kind."""
    rows: dict[str, dict[str, Scalar]] = {}
    for path, value in snapshot.under(prefix).items():
        number, _, name = path.partition("/")
        rows.setdefault(number, {})[name] = value
    return list(rows.values())


# ----------------------------------------------------------------------------------------------------------------------
# tasks

Row = dict[str, Scalar]


def task(number: int, title: str, day: date | None, **fields: Scalar) -> dict[str, Scalar]:
    """Return the paths of a task."""
    whole: Row = {"title": title, "due": moment(day) if day else 0, **fields}
    return {f"tasks/task/{number}/{name}": value for name, value in whole.items()}


TASKS = {
    **task(901, "Aa mend the sail", after(2), priority="high"),
    **task(902, "Aa paint the hull", after(2), priority="low"),
    **task(903, "Aa order rope", after(2), priority="high", completed=True, completed_at=moment(after(-1), 600)),
    **task(904, "Aa mend the net", after(5), priority="high"),
    **task(905, "Aa sell the net", after(4), completed=True, completed_at=moment(after(-2), 600)),
}


def due_text(day: date) -> str:
    """Write a date as the list does."""
    near = {-1: "Yesterday", 0: "Today", 1: "Tomorrow"}.get((day - TODAY).days)
    return f"{near}, {_ENGLISH.date(day, 'short')}" if near else _ENGLISH.date(day, "long")


def show(hand: Hand, filter_name: str) -> None:
    """Show the tasks of a filter."""
    hand.open("Tasks")
    if filter_name:
        hand.tap("Open filters")
        hand.tap(filter_name, role="row")


def find_tasks(hand: Hand, filter_name: str, begins: tuple[str, ...], *, done: bool | None = None) -> list[str]:
    """Return the titles of the tasks of a filter whose details begin so; by whether they are ticked, if so."""
    show(hand, filter_name)
    rows = hand.all_rows("row", "checkbox")
    ticked = {row.label.removeprefix("Complete ") for row in rows if "checked" in row.states}
    found = [row.label for row in rows if row.role == "row" and row.value.startswith(begins)]
    return [title for title in found if done is None or (title in ticked) == done]


def read_tasks(filter_name: str, begins: str = "", *, done: bool | None = None) -> Script:
    """Read the titles of tasks."""
    return lambda hand: ", ".join(sorted(find_tasks(hand, filter_name, (begins,), done=done)))


def count_due(days: list[date]) -> Script:
    """Count the tasks that are not done and due on one of these days."""
    return lambda hand: str(len(find_tasks(hand, "", tuple(map(due_text, days)), done=False)))


def titles_where(fits: Callable[[Row], bool]) -> Callable[[Snapshot], str]:
    """Return how to find the titles of the tasks that fit."""
    return lambda start: ", ".join(sorted(str(row["title"]) for row in rows_of(start, "tasks/task") if fits(row)))


def is_due(row: Row, day: date) -> bool:
    """Tell whether a task is due on a day."""
    return bool(row["due"]) and day_of(int(row["due"])) == day


# ----------------------------------------------------------------------------------------------------------------------
# activities


def track(number: int, kind: str, day: date, minutes: int, metres: int, *, at: int = 6 * 60) -> dict[str, Scalar]:
    """Return the paths of a track."""
    fields: Row = {"name": f"Aa {kind} {number}", "category": kind, "start": moment(day, at), "minutes": minutes,
                   "metres": metres}  # fmt: skip
    return {f"tracks/{number}/{name}": value for name, value in fields.items()}


MONDAY = TODAY - timedelta(days=TODAY.weekday())
TRACKS = {
    **track(901, "kayaking", MONDAY, 40, 3_000),
    **track(902, "kayaking", MONDAY + timedelta(days=1), 95, 7_250),
    **track(903, "skiing", MONDAY + timedelta(days=1), 61, 9_010, at=15 * 60),
    **track(904, "kayaking", MONDAY - timedelta(days=6), 120, 9_000),
    **track(905, "kayaking", MONDAY - timedelta(days=12), 30, 2_000),
}


class Facts(dict[str, str]):
    """What a page says in pairs of a name and a value."""


def look_at(hand: Hand, kind: str = "") -> list[Facts]:
    """Look at the tracks one by one, the latest first; at those of one kind only, if so."""
    hand.open("Activity Tracker")
    if kind:
        hand.tap("Filter")
        hand.tap(kind, role="radio")
    found: list[Facts] = []
    names: set[tuple[str, str]] = set()
    shown = ""
    while shown != hand.look().signature:
        shown = hand.look().signature
        for row in hand.rows("row"):
            if (row.label, row.value) in names:
                continue
            names.add((row.label, row.value))
            hand.tap_element(row)
            texts = [text.label for text in hand.rows("text")][1:]
            facts = Facts(zip(texts[::2], texts[1::2], strict=False))
            if facts not in found:
                found.append(facts)
            hand.press("back")
        hand.swipe("up")
    return found


def days(first: date, last: date) -> set[str]:
    """Return the days from one to another as pages write them."""
    return {_ENGLISH.date(first + timedelta(days=number), "long") for number in range((last - first).days + 1)}


def minutes_of(text: str) -> int:
    """Read a duration such as ``1:05:00`` or ``40:00``."""
    *hours, minutes, _ = map(int, text.split(":"))
    return sum(hours) * 60 + minutes


def metres_of(text: str) -> int:
    """Read a distance such as ``7.25 km``."""
    return round(float(text.removesuffix(" km")) * 1000)


def statistics(hand: Hand) -> list[str]:
    """Show the totals of the week and return all that the page says."""
    hand.open("Activity Tracker")
    hand.tap("Statistics")
    return [row.label for row in hand.all_rows("text")]


def count_of_week(kind: str) -> Script:
    """Read how many tracks of a kind there are this week."""

    def script(hand: Hand) -> str:
        heading = next(text for text in statistics(hand) if text.startswith(f"{kind} ("))
        return heading.removeprefix(f"{kind} (").removesuffix(")")

    return script


def minutes_of_week(kind: str) -> Script:
    """Read how many minutes the tracks of a kind took this week."""

    def script(hand: Hand) -> str:
        texts = statistics(hand)
        heading = next(place for place, text in enumerate(texts) if text.startswith(f"{kind} ("))
        return str(minutes_of(texts[heading + 2]))

    return script


def kinds_on(day: date) -> Script:
    """Read which kinds of tracks there are on a day."""

    def script(hand: Hand) -> str:
        facts = [facts for facts in look_at(hand) if facts["Date"] in days(day, day)]
        return ", ".join(sorted(facts["Activity type"] for facts in facts))

    return script


def minutes_on(kind: str, day: date) -> Script:
    """Read how long the track of a kind on a day took."""

    def script(hand: Hand) -> str:
        facts = next(facts for facts in look_at(hand, kind) if facts["Date"] in days(day, day))
        return str(minutes_of(facts["Total time"]))

    return script


def longest_of_week(kind: str) -> Script:
    """Read the longest distance of a kind this week, in metres."""

    def script(hand: Hand) -> str:
        week = days(MONDAY, MONDAY + timedelta(days=6))
        return str(max(metres_of(facts["Distance"]) for facts in look_at(hand, kind) if facts["Date"] in week))

    return script


def distance_between(kind: str, first: date, last: date) -> Script:
    """Add up the distances of a kind from one day to another, in metres."""

    def script(hand: Hand) -> str:
        span = days(first, last)
        return str(sum(metres_of(facts["Distance"]) for facts in look_at(hand, kind) if facts["Date"] in span))

    return script


# ----------------------------------------------------------------------------------------------------------------------


def walks() -> list[Walk]:
    """Return the solutions."""
    day, monday = after(2), MONDAY + timedelta(days=7)
    week = [monday + timedelta(days=number) for number in range(7)]
    tuesday = MONDAY + timedelta(days=1)

    def due_next_week(start: Snapshot) -> str:
        rows = [row for row in rows_of(start, "tasks/task") if row["due"] and not row["completed"]]
        return str(sum(day_of(int(row["due"])) in week for row in rows))

    def done_on(row: Row) -> bool:
        return bool(row["completed"]) and day_of(int(row["completed_at"])) == after(-1)

    def kinds(start: Snapshot) -> str:
        rows = [row for row in rows_of(start, "tracks") if day_of(int(row["start"])) == tuesday]
        return ", ".join(sorted(str(row["category"]) for row in rows))

    yesterday = f"Completed {_ENGLISH.date(after(-1), 'short')}"

    def tasks(name: str, steps: int, script: Script, fits: Callable[[Row], bool]) -> Walk:
        return Walk(name, steps, script, seed=SEED, state=TASKS, answer=titles_where(fits))

    def tracks(name: str, steps: int, script: Script, answer: str | Callable[[Snapshot], str]) -> Walk:
        return Walk(name, steps, script, seed=SEED, state=TRACKS, answer=answer)

    return [
        tasks("TasksCompletedTasksForDate", 3, read_tasks("Recently completed", yesterday), done_on),
        Walk("TasksDueNextWeek", 5, count_due(week), seed=SEED, state=TASKS, answer=due_next_week),
        tasks("TasksDueOnDate", 5, read_tasks("", due_text(day)), lambda row: is_due(row, day)),
        tasks("TasksHighPriorityTasks", 5, read_tasks("High priority", done=False),
              lambda row: row["priority"] == "high" and not row["completed"]),
        tasks("TasksHighPriorityTasksDueOnDate", 5, read_tasks("High priority", due_text(day)),
              lambda row: row["priority"] == "high" and is_due(row, day)),
        tasks("TasksIncompleteTasksOnDate", 5, read_tasks("", due_text(day), done=False),
              lambda row: is_due(row, day) and not row["completed"]),
        tracks("SportsTrackerActivitiesCountForWeek", 5, count_of_week("kayaking"), "2"),
        tracks("SportsTrackerActivitiesOnDate", 43, kinds_on(tuesday), kinds),
        tracks("SportsTrackerActivityDuration", 16, minutes_on("kayaking", tuesday), "95"),
        tracks("SportsTrackerLongestDistanceActivity", 16, longest_of_week("kayaking"), "7250"),
        tracks("SportsTrackerTotalDistanceForCategoryOverInterval", 16,
               distance_between("kayaking", MONDAY - timedelta(days=7), tuesday), "19250"),
        tracks("SportsTrackerTotalDurationForCategoryThisWeek", 5, minutes_of_week("kayaking"), "135"),
    ]  # fmt: skip
