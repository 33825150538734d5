"""How an expert finds days and events in Calendar, and fills in its form and dialogs. Knows no goal."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from agent_eval.actions import Tap, TaskComplete
from agent_eval.device_sim.apps.calendar import EVENT, PACKAGE, recurs
from agent_eval.device_sim.dialogs import numbered_day
from agent_eval.device_sim.moments import day_of, minutes_of, moment
from agent_eval.tasks.moves import Move, close_keyboard, go_back, hold, open_app, plain, tap, type_into
from agent_eval.tasks.view import View
from agent_eval.types import Bounds, Element, Scalar, Snapshot

CALENDAR = PACKAGE
_FORM, _PAGE, _DELETION, _SEARCH = "calendar/edit", "calendar/event", "calendar/delete", "calendar/search"
_MAIN = {
    "calendar/main": "month",
    "calendar/month": "month",
    "calendar/week": "week",
    "calendar/day": "day",
    "calendar/agenda": "agenda",
}
"""Screen of the main page to the view of it that is in front."""
_CHOICE, _DISCARD = "calendar/choice", "calendar/discard"
_LABELS = {"title": "Title", "location": "Location", "description": "Description", "people": "Attendees"}
"""Field of the form to its name."""
_UNASKED_CHOICES = {
    "reminder": ("10", "Reminder", "10 minutes before"),
    "repeat": ("none", "Repetition", "No repetition"),
}
"""Page variable of the form to what it begins with, its row, and that choice."""


@dataclass(frozen=True)
class Event:
    """One event of the state, which may repeat."""

    id: int
    title: str
    start: int
    """Of the first one, in seconds since the epoch."""
    minutes: int
    """How long it lasts."""
    repeat: str = "none"
    skipped: tuple[str, ...] = ()
    """Days on which one that repeats was deleted, in ISO form."""

    @property
    def repeats(self) -> bool:
        """Tell whether it is a series."""
        return self.repeat != "none"

    def is_on(self, day: date) -> bool:
        """Tell whether it takes place on a day."""
        return recurs(self.repeat, day_of(self.start), day) and day.isoformat() not in self.skipped

    def key_on(self, day: date) -> str:
        """Name the one of a day as the calendar's pages do."""
        return f"{self.id}@{moment(day, minutes_of(self.start))}"


def events_of(snapshot: Snapshot) -> tuple[Event, ...]:
    """Return all events, by id."""
    values = snapshot.under(EVENT)
    ids = sorted({int(path.split("/")[0]) for path in values})
    return tuple(
        Event(
            number,
            str(values[f"{number}/title"]),
            int(values[f"{number}/start"]),
            int(values[f"{number}/minutes"]),
            str(values[f"{number}/repeat"]),
            tuple(part for part in str(values[f"{number}/skipped"]).split(",") if part),
        )
        for number in ids
    )


@dataclass(frozen=True)
class Appointment:
    """What an event is called, and when it is."""

    title: str
    day: date
    minute: int
    """Of the day, at which it starts."""
    minutes: int = 60
    """How long it lasts; it ends on the same day."""

    @property
    def start(self) -> int:
        """When it starts, in seconds since the epoch."""
        return moment(self.day, self.minute)


# ----------------------------------------------------------------------------------------------------------------------
# the main page


def _to_main(view: View) -> Move | None:
    """Return the move that leads from anywhere towards the main page; None when it is in front, with nothing chosen."""
    if view.package != CALENDAR:
        return open_app("Calendar")
    if view.screen == _DISCARD:
        return view.tap_on("Discard", "button")
    return go_back() if view.screen not in _MAIN or picked(view) else None


def to_view(view: View, tab: str, label: str) -> Move | None:
    """Return the move that leads towards a view of the main page; None when it is in front.

    Args:
        view: What is in front.
        tab: The view's name: month, week, day or agenda.
        label: What the list of views calls it.
    """
    if view.screen == _CHOICE and view.variable("name") == "tab":
        return view.tap_on(label, "radio")
    move = _to_main(view)
    if move is not None:
        return move
    return None if _MAIN[view.screen] == tab else view.tap_on("Change view", "button")


def to_day(view: View, day: date) -> Move | None:
    """Return the move that leads from anywhere towards the list of a day's events; None when it is in front."""
    if is_day(view, day):
        return None
    if view.screen == "calendar/day" and view.variable("from") and not picked(view):
        return _to_neighbour(view, day) or go_back()
    move = to_view(view, "month", "Monthly view")
    if move is not None:
        return move
    shown = _day_in(view.variable("day"))
    if _shows_month(view, day) or (shown is not None and _same_month(shown, day)):
        return _choose_day(view, day)
    return _turn(view, shown, day)


def is_day(view: View, day: date) -> bool:
    """Tell whether the list of a day's events is in front, whatever is chosen in it."""
    return view.screen == "calendar/day" and _day_in(view.variable("day")) == day


def picked(view: View) -> frozenset[str]:
    """Return the events that are chosen on the main page."""
    return frozenset(str(view.variable("picked") or "").split("\n")) - {""}


def _shows_month(view: View, day: date) -> bool:
    """Tell whether a month's page shows its name or, scrolled further down, a day of it."""
    name, cell = view.speech.date(day, "month"), view.speech.date(day, "long")
    return view.find(name, "text") is not None or view.find(cell, "row", starts=True) is not None


def _choose_day(view: View, day: date) -> Move:
    """Tap a day on its month's page; where a button lies over its middle, one from which it is a step or two."""
    button = view.find("New event", "button")
    for away in (0, -1, 1, -2, 2):
        cell = view.find(view.speech.date(day + timedelta(days=away), "long"), "row", starts=True)
        if cell is None and not away:
            break
        if cell is not None and not (button is not None and _covers(button.bounds, cell.bounds)):
            return Move(Tap(index=cell.index), plain(view.speech.date(day + timedelta(days=away), "day")))
    return view.scroll(view.speech.date(day, "day"))


def _covers(upper: Bounds, lower: Bounds) -> bool:
    """Tell whether what lies above takes the taps in the middle of what lies below."""
    x, y = lower.center
    return upper.left <= x < upper.right and upper.top <= y < upper.bottom


def _to_neighbour(view: View, day: date) -> Move | None:
    """Return the move from up to two days before or after to a day; None from any other."""
    shown = _day_in(view.variable("day"))
    if shown is None or abs((day - shown).days) > 2:
        return None
    return view.tap_on("Next day" if shown < day else "Previous day", "button")


def _turn(view: View, shown: date | None, day: date) -> Move:
    """Turn a page of months towards a day; one that was not turned yet shows the present month."""
    back = shown is not None and shown > day
    return view.tap_on("Previous month" if back else "Next month", "button")


def _same_month(day: date, other: date) -> bool:
    return (day.year, day.month) == (other.year, other.month)


def _day_in(value: Scalar | None) -> date | None:
    """Return the day that a page's variable holds."""
    return numbered_day(value) if isinstance(value, int) else None


def rows_at(view: View, title: str, start: int) -> Iterator[Element]:
    """Yield the rows on the screen of events with a title and a time of day."""
    time = view.speech.time_of_day(*divmod(minutes_of(start), 60))
    return (row for row in view.labelled(title, "row") if plain(row.value).startswith(plain(time)))


def row_of(view: View, title: str, start: int, *, below: int = -1) -> Element | Move:
    """Return the first such row below an element if it is on the screen, else the move that may bring it there."""
    row = next((row for row in rows_at(view, title, start) if row.index > below), None)
    if row is not None:
        return row
    return close_keyboard() if view.keyboard else view.scroll(title)


def to_search(view: View, words: str) -> Move | None:
    """Return the move that leads towards what a search for words finds; None when it is in front."""
    if view.package == CALENDAR and view.screen == _SEARCH:
        return view.fill({"Search": words})
    return _to_main(view) or view.tap_on("Search", "button")


def tell_when(view: View, meeting: Appointment) -> Move:
    """Answer when an event is, once the page of a search shows its day and, below that, its time."""
    heading = view.seek(view.speech.date(meeting.day, "long"), "text")
    if isinstance(heading, Move):
        return heading
    row = row_of(view, meeting.title, meeting.start, below=heading.index)
    if isinstance(row, Move):
        return row
    day, time = plain(heading.label), plain(view.speech.time_of_day(*divmod(meeting.minute, 60)))
    return Move(TaskComplete(answer=f"{day}, {time}"), f"{day}: {time}")


def seen(row: Element, answer: str = "") -> Move:
    """Declare the task done on seeing an event, naming its title and time."""
    return Move(TaskComplete(answer=answer), f"{plain(row.label)}: {plain(row.value).partition(',')[0]}")


# ----------------------------------------------------------------------------------------------------------------------
# a new event


def add(view: View, wanted: Appointment) -> Move:
    """Return the next move that adds an event: open the form on its day, fill it in, save it."""
    if is_adding(view):
        return _fill(view, wanted)
    return to_day(view, wanted.day) or view.tap_on("New event", "button")


def is_adding(view: View) -> bool:
    """Tell whether the form of a new event is in front, or a dialog over it."""
    return view.package == CALENDAR and _edited(view) == 0


def _edited(view: View) -> int | None:
    """Return the number of the event that the form edits, in front or below a dialog, 0 for a new one; else None."""
    for path, value in view.now.transient:
        if path.startswith(f"ui/task/{CALENDAR}/") and path.endswith(f"/{_FORM}/event") and isinstance(value, int):
            return value
    return None


def _fill(view: View, wanted: Appointment) -> Move:
    """Return the next move in the form of a new event or a dialog over it."""
    name = str(view.variable("name"))
    match view.screen:
        case "calendar/edit":
            return _fill_in(view, wanted)
        case "calendar/date":
            return _pick_day(view, wanted.day)
        case "calendar/time":
            if name == "start_min":
                return _pick_time(view, wanted.minute, ("hour", "minute"))
            return _pick_time(view, wanted.minute + wanted.minutes, ("minute", "hour"))
        case "calendar/choice" if name in _UNASKED_CHOICES:
            return view.tap_on(_UNASKED_CHOICES[name][2], "radio")
    return go_back()


def _fill_in(view: View, wanted: Appointment) -> Move:
    texts = {"title": wanted.title, "location": "", "description": "", "people": ""}
    wrong = {_LABELS[name]: text for name, text in texts.items() if (view.variable(f"text/{name}") or "") != text}
    move = view.fill(wrong)
    if move is not None:
        return move
    if view.variable("all_day"):
        return view.tap_on("All-day", "switch")
    start, end = _span(view)
    ends = ((0, start, wanted.start), (-1, end, wanted.start + wanted.minutes * 60))
    for place, seconds, right in ends:  # the start first: the end moves along with it
        if day_of(seconds) != wanted.day:
            return view.tap_on(view.speech.date(day_of(seconds), "long"), "button")
        if seconds != right:
            return _tap_time(view, seconds, place)
    for name, (value, row, _) in _UNASKED_CHOICES.items():
        if view.variable(name) != value:
            return view.tap_on(row, "row")
    return view.tap_on("Save", "button")


def _span(view: View) -> tuple[int, int]:
    """Return when the event of the form in front starts and ends."""

    def number(name: str, otherwise: int = 0) -> int:
        value = view.variable(name)
        return value if isinstance(value, int) else otherwise

    start = moment(numbered_day(number("start_day")), number("start_min"))
    end = start + number("length") * 60
    day = number("end_day", number("start_day") + (day_of(end) - day_of(start)).days)
    return start, moment(numbered_day(day), number("end_min", minutes_of(end)))


def _tap_time(view: View, seconds: int, place: int) -> Move:
    """Tap a time of the form, where both are the same the first or the last one."""
    label = view.speech.time_of_day(*divmod(minutes_of(seconds), 60))
    buttons = list(view.labelled(label, "button"))
    return tap(buttons[place]) if buttons else view.tap_on(label, "button")


def _pick_day(view: View, day: date) -> Move:
    """Return the next move in the dialog of a date."""
    chosen = _day_in(view.variable("day"))
    if chosen == day:
        return view.tap_on("OK", "button")
    shown = _day_in(view.variable("shown")) or chosen
    if shown is not None and not _same_month(shown, day):
        return _turn(view, shown, day)
    return view.tap_on(str(day.day), "button")


def _pick_time(view: View, minute: int, order: tuple[str, str]) -> Move:
    """Return the next move in the dialog of a time of day.

    The dialog does not say which time it sets: in another order, its screens on the way to either time differ.
    """
    hour, minute = divmod(minute, 60)
    twelve = view.speech.locale.twelve_hours
    texts = {"hour": str(hour % 12 or 12) if twelve else f"{hour:02d}", "minute": f"{minute:02d}"}
    for label in order:
        entry = view.seek(label, "field")
        if isinstance(entry, Move):
            return entry
        if not entry.value.isdecimal() or int(entry.value) != int(texts[label]):
            return type_into(entry, texts[label])
    if twelve:
        half = view.seek("PM" if hour >= 12 else "AM", "radio")
        if isinstance(half, Move) or "checked" not in half.states:
            return half if isinstance(half, Move) else tap(half)
    return view.tap_on("OK", "button")


# ----------------------------------------------------------------------------------------------------------------------
# deletion


def delete(view: View, event: Event, day: date) -> Move:
    """Return the next move that deletes one event of a day, and no other of its series."""
    key = event.key_on(day)
    if view.package == CALENDAR:
        if view.screen == _DELETION:
            return _agree(view, {key})
        if view.screen == _PAGE and f"{view.variable('event')}@{view.variable('start')}" == key:
            return view.tap_on("Delete", "button")
        if view.screen in _MAIN and picked(view) == {key}:
            return view.tap_on("Delete", "button")
    move = to_day(view, day)
    if move is not None or picked(view):
        return move or go_back()
    row = row_of(view, event.title, event.start)
    return row if isinstance(row, Move) else tap(row)


def delete_all(view: View, events: Collection[Event], day: date) -> Move:
    """Return the next move that deletes all events of a day: hold one, choose the others too, delete them."""
    keys = {event.key_on(day) for event in events}
    if view.package == CALENDAR and view.screen == _DELETION:
        return _agree(view, keys)
    move = to_day(view, day)
    if move is not None:
        return move
    if not picked(view):
        row = next((element for element in view.observation.elements if element.role == "row"), None)
        return view.scroll("events") if row is None else hold(row)
    return view.tap_on("Delete" if picked(view) == keys else "Select all", "button")


def _agree(view: View, keys: Collection[str]) -> Move:
    """Answer the dialog that asks before events are deleted: only for these, and for this day alone."""
    if not set(str(view.variable("keys")).split("/")) <= set(keys):
        return go_back()
    if view.variable("every"):
        return view.tap_on("This occurrence only", "radio")
    return view.tap_on("Delete", "button")
