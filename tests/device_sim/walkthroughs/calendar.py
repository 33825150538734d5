"""Solutions in Calendar."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta

from agent_eval.device_sim import Phone
from agent_eval.device_sim.apps.calendar import recurs
from agent_eval.device_sim.locales import LOCALES
from agent_eval.device_sim.moments import DAY_S, day_of, minutes_of, moment
from agent_eval.types import PhoneSetup, Scalar, Snapshot
from tests.device_sim.walkthroughs.hand import Hand
from tests.device_sim.walkthroughs.walk import Record, Script, Walk, moment_of, record

EVENT = "calendar/event"
SEED = 3
NOW = moment_of(SEED)
TODAY = NOW.date()


def after(days: int) -> date:
    """Return the day so many days after the phone's."""
    return TODAY + timedelta(days=days)


def long(day: date) -> str:
    """Write a day as the calendar does."""
    return LOCALES["en"].date(day, "long")


def event(number: int, title: str, day: date, minutes: int, **fields: Scalar) -> dict[str, Scalar]:
    """Return the paths of an event of an hour that starts so many minutes after midnight."""
    whole: dict[str, Scalar] = {"title": title, "start": moment(day, minutes), "minutes": 60, **fields}
    return {f"{EVENT}/{number}/{name}": value for name, value in whole.items()}


# ----------------------------------------------------------------------------------------------------------------------
# what is on, as the state says


def on(snapshot: Snapshot, first: date, last: date) -> list[tuple[int, str]]:
    """Return start and title of everything from one day to another, in order."""
    found = []
    numbers = {path.partition("/")[0] for path in snapshot.under(EVENT)}
    for number in numbers:
        one: Mapping[str, Scalar] = snapshot.under(f"{EVENT}/{number}")
        start = int(one["start"])
        for ahead in range((last - first).days + 1):
            day = first + timedelta(days=ahead)
            if recurs(str(one["repeat"]), day_of(start), day) and day.isoformat() not in str(one["skipped"]):
                found.append((start + (day - day_of(start)).days * DAY_S, str(one["title"])))
    return sorted(found)


def titles(snapshot: Snapshot, first: date, last: date, *, begin: int = 0, end: int = 24 * 60) -> str:
    """Return the titles of what starts from one minute of the day to another, joined as an answer is."""
    return ", ".join(title for start, title in on(snapshot, first, last) if begin <= minutes_of(start) <= end)


# ----------------------------------------------------------------------------------------------------------------------
# scripts


def open_day(hand: Hand, day: date) -> None:
    """Show one day."""
    hand.open("Calendar")
    if day.replace(day=1) > TODAY.replace(day=1):
        hand.tap("Next month")
    hand.tap(long(day), starts=True)


def choose_time(hand: Hand, beside: str, hour: int, minute: int = 0) -> None:
    """Set the time of the line that says when an event starts or ends."""
    shown = next(e.label for e in hand.rows("button") if hand.sees(e.label, beside=beside) and e.label[-1] == "M")
    hand.tap(shown, beside=beside)
    hand.type(str(hour % 12 or 12), into="hour")
    if hand.find("minute").value != f"{minute:02d}":
        hand.type(f"{minute:02d}", into="minute")
    half = "PM" if hour >= 12 else "AM"
    if "checked" not in hand.find(half).states:
        hand.tap(half)
    hand.tap("OK")


def timed(hand: Hand) -> list[tuple[int, str]]:
    """Return minute of the day and title of all events that the list shows."""
    return [(minute_of(row.value), row.label) for row in hand.all_rows("row")]


def minute_of(when: str) -> int:
    """Return the minute of the day at which something starts that says so as in ``2:30 PM – 3:00 PM``."""
    if when.startswith("All day"):
        return 0
    time, half = when.split(" ")[:2]
    hour, minute = map(int, time.split(":"))
    return (hour % 12 + (12 if half.startswith("PM") else 0)) * 60 + minute


# ----------------------------------------------------------------------------------------------------------------------


def add(day: date, title: str, hour: int, minutes: int = 60, *, description: str = "", repeat: str = "") -> Script:
    """Create an event on a day."""

    def script(hand: Hand) -> None:
        open_day(hand, day)
        hand.tap("New event")
        hand.type(title, into="Title")
        if description:
            hand.type(description, into="Description")
        choose_time(hand, "Starts", hour)
        if minutes != 60:
            end = hour * 60 + minutes
            choose_time(hand, "Ends", end // 60, end % 60)
        if repeat:
            hand.tap("Repetition")
            hand.tap(repeat)
        hand.tap("Save")

    return script


def delete(day: date, title: str, time: str) -> Script:
    """Delete one event of a day."""

    def script(hand: Hand) -> None:
        open_day(hand, day)
        hand.tap(title, value=time)
        hand.tap("Delete")
        hand.tap("Delete")

    return script


def delete_all(day: date) -> Script:
    """Delete all events of a day."""

    def script(hand: Hand) -> None:
        open_day(hand, day)
        hand.hold(hand.rows("row")[0].label)
        hand.tap("Select all")
        hand.tap("Delete")
        hand.tap("Delete")

    return script


def read(day: date, *, begin: int = 0, end: int = 24 * 60, most: int = 100) -> Script:
    """Read the titles of what starts on a day from one minute to another."""

    def script(hand: Hand) -> str:
        open_day(hand, day)
        return ", ".join([title for minute, title in timed(hand) if begin <= minute <= end][:most])

    return script


def read_week(hand: Hand) -> str:
    """Read the titles of the coming seven days, one day after the other."""
    open_day(hand, after(1))
    found = [title for _, title in timed(hand)]
    for _ in range(6):
        hand.tap("Next day")
        found += [title for _, title in timed(hand)]
    return ", ".join(found)


def read_next(hand: Hand) -> str:
    """Read the title of what comes next."""
    hand.open("Calendar")
    hand.tap("Change view")
    hand.tap("Event list")
    return hand.rows("row")[0].label


def find_event(hand: Hand, words: str) -> None:
    """Search for an event."""
    hand.open("Calendar")
    hand.tap("Search")
    hand.type(words, into="Search")


def read_meeting(words: str) -> Script:
    """Read the day of the next meeting: the first heading of the found ones that is not over."""

    def script(hand: Hand) -> str:
        find_event(hand, words)
        days = [long(after(number)) for number in range(60)]
        return min((text for text in hand.texts() if text in days), key=days.index)

    return script


def read_place(title: str) -> Script:
    """Read where an event takes place."""

    def script(hand: Hand) -> str:
        find_event(hand, title)
        hand.tap(title, role="row")
        return next(text for text in hand.texts() if text.endswith("Street"))

    return script


# ----------------------------------------------------------------------------------------------------------------------


def added(title: str, day: date, hour: int, minutes: int = 60, **fields: Scalar) -> tuple[Record, ...]:
    """Name the event that a task wants."""
    return (record(EVENT, title=title, start=moment(day, hour * 60), minutes=minutes, **fields),)


def gone_on(day: date) -> tuple[str, ...]:
    """Return the events that start on a day on the phone of this module."""
    start = Phone(PhoneSetup(SEED)).snapshot()
    paths = {f"{EVENT}/{path.partition('/')[0]}" for path in start.under(EVENT)}
    return tuple(sorted(path for path in paths if day_of(int(start[f"{path}/start"])) == day))


def walks() -> list[Walk]:
    """Return the solutions."""
    near, far, sunday, day = after(10), after(36), after(5), after(6)
    twins = {
        **event(901, "Chess evening", day, 18 * 60),
        **event(902, "Chess evening", day, 19 * 60),
        **event(903, "Chess lesson", day, 18 * 60),
    }
    all_twins = tuple(f"{EVENT}/{number}" for number in (901, 902, 903))
    meetings = {
        **event(901, "Meeting with Zoe", after(-5), 9 * 60, people="Zoe Quill"),
        **event(902, "Meeting with Zoe", after(8), 9 * 60, people="Zoe Quill"),
        **event(903, "Meeting with Zora", after(4), 9 * 60, people="Zora Quell"),
    }
    places = {
        **event(901, "Glass workshop", after(5), 9 * 60, location="7 Mill Street"),
        **event(902, "Grass workshop", after(5), 11 * 60, location="17 Mill Street"),
    }
    morning = {
        **event(901, "Early walk", TODAY, 7 * 60),  # over by now
        **event(902, "Late breakfast", TODAY, 9 * 60 + 30),
    }
    return [
        Walk("35", 13, add(near, "Tune the organ", 15, 30), seed=SEED, adds=added("Tune the organ", near, 15, 30)),
        Walk("36", 8, add(after(1), "Tune the organ", 11), seed=SEED, adds=added("Tune the organ", after(1), 11)),
        Walk("37", 5, delete(day, "Chess evening", "7:00 PM"), seed=SEED, state=twins, gone=(f"{EVENT}/902",)),
        Walk("38", 6, delete_all(day), seed=SEED, state=twins, gone=(*gone_on(day), *all_twins)),
        Walk("39", 3, read_next, seed=SEED, state=morning, answer="Late breakfast"),
        Walk("40", 3, read_meeting("zoe"), seed=SEED, state=meetings, answer=long(after(8))),
        Walk(
            "SimpleCalendarAddOneEvent", 15, add(far, "Tune the organ", 15, 45, description="Bring the small fork"),
            seed=SEED, adds=added("Tune the organ", far, 15, 45, description="Bring the small fork"),
        ),
        Walk(
            "SimpleCalendarAddOneEventInTwoWeeks", 13,
            add(after(14), "Call the choir", 10, 30, description="Ask for notes"),
            seed=SEED, adds=added("Call the choir", after(14), 10, 30, description="Ask for notes"),
        ),
        Walk(
            "SimpleCalendarAddOneEventRelativeDay", 13,
            add(sunday, "Call the choir", 8, 15, description="Ask for notes"),
            seed=SEED, adds=added("Call the choir", sunday, 8, 15, description="Ask for notes"),
        ),
        Walk(
            "SimpleCalendarAddOneEventTomorrow", 14,
            add(after(1), "Call the choir", 14, 30, description="Ask for notes"),
            seed=SEED, adds=added("Call the choir", after(1), 14, 30, description="Ask for notes"),
        ),
        Walk(
            "SimpleCalendarAddRepeatingEvent", 15,
            add(near, "Water the palms", 7, 15, description="Only a little", repeat="Weekly"),
            seed=SEED, adds=added("Water the palms", near, 7, 15, description="Only a little", repeat="weekly"),
        ),
        Walk(
            "SimpleCalendarAnyEventsOnDate", 2, read(after(5)), seed=SEED, state=places,
            answer=lambda start: titles(start, after(5), after(5)),
        ),
        Walk(
            "SimpleCalendarDeleteEvents", 6, delete_all(day), seed=SEED, state=twins,
            gone=(*gone_on(day), *all_twins),
        ),
        Walk(
            "SimpleCalendarDeleteEventsOnRelativeDay", 6, delete_all(sunday), seed=SEED, state=places,
            gone=(*gone_on(sunday), f"{EVENT}/901", f"{EVENT}/902"),
        ),
        Walk(
            "SimpleCalendarDeleteOneEvent", 5, delete(day, "Chess evening", "6:00 PM"), seed=SEED, state=twins,
            gone=(f"{EVENT}/901",),
        ),
        Walk(
            "SimpleCalendarEventOnDateAtTime", 2, read(day, begin=18 * 60, end=18 * 60), seed=SEED, state=twins,
            answer="Chess evening, Chess lesson",
        ),
        Walk(
            "SimpleCalendarEventsInNextWeek", 8, read_week, seed=SEED,
            answer=lambda start: titles(start, after(1), after(7)),
        ),
        Walk(
            "SimpleCalendarEventsInTimeRange", 2, read(day, begin=15 * 60, end=20 * 60), seed=SEED, state=twins,
            answer=lambda start: titles(start, day, day, begin=15 * 60, end=20 * 60),
        ),
        Walk(
            "SimpleCalendarEventsOnDate", 2, read(after(2)), seed=SEED,
            state=event(901, "Chess evening", after(2), 1080),
            answer=lambda start: titles(start, after(2), after(2)),
        ),
        Walk(
            "SimpleCalendarFirstEventAfterStartTime", 2, read(day, begin=17 * 60, most=1), seed=SEED, state=twins,
            answer=lambda start: titles(start, day, day, begin=17 * 60).split(", ")[0],
        ),
        Walk(
            "SimpleCalendarLocationOfEvent", 4, read_place("Glass workshop"), seed=SEED, state=places,
            answer="7 Mill Street",
        ),
        Walk("SimpleCalendarNextEvent", 3, read_next, seed=SEED, state=morning, answer="Late breakfast"),
        Walk(
            "SimpleCalendarNextMeetingWithPerson", 3, read_meeting("zoe"), seed=SEED, state=meetings,
            answer=long(after(8)),
        ),
    ]  # fmt: skip
