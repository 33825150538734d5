"""Calendar: month, week, day and list of events, one event, its form, search (as Simple Calendar). Knows the contacts.

An event that repeats is one record; ``occurrences`` finds its dates. An event shows on the day on which it starts.
"""

from __future__ import annotations

import calendar as months
from collections.abc import Callable
from datetime import date, timedelta
from typing import NamedTuple

from agent_eval.device_sim import draft, searching
from agent_eval.device_sim.dialogs import (
    choice_dialog,
    date_dialog,
    day_number,
    month_later,
    numbered_day,
    time_dialog,
    time_variables,
)
from agent_eval.device_sim.moments import DAY_S, day_of, minutes_of, moment
from agent_eval.device_sim.schema import COUNT, MOMENT, TEXT, YES_NO, Kind
from agent_eval.device_sim.screen import App, Draw, Screen, Ui
from agent_eval.device_sim.selection import Selection, leave
from agent_eval.device_sim.sharing import SHARE
from agent_eval.device_sim.strings import EVERYWHERE, Words, tables
from agent_eval.device_sim.ui import MATCH, Field, View, dp
from agent_eval.device_sim.widgets import (
    BODY,
    CENTER,
    GROUP,
    MIDDLE,
    RELATIVE,
    SCROLL,
    SMALL,
    TITLE,
    activity,
    app_bar,
    cancel_and_ok,
    column,
    dialog,
    edit_text,
    floating,
    frame,
    image,
    image_button,
    label,
    opener,
    preference,
    radio_row,
    row,
    scroll_column,
    setter,
)
from agent_eval.types import Scalar

PACKAGE = "com.android.calendar"
_ID = f"{PACKAGE}:id/"
EVENT = "calendar/event"
REPEATS = ("none", "daily", "weekly", "monthly", "yearly")
_REPEAT_LABELS = ("No repetition", "Daily", "Weekly", "Monthly", "Yearly")
_REMINDERS = {-1: "No reminder", 0: "At start time", 10: "10 minutes before", 30: "30 minutes before",
              60: "1 hour before", 1440: "1 day before"}  # fmt: skip
_VIEWS = {"month": "Monthly view", "week": "Weekly view", "day": "Daily view", "agenda": "Event list"}
_AGENDA_DAYS = 60


class Occurrence(NamedTuple):
    """One date of an event."""

    start: int
    """Seconds since the epoch."""
    event: int
    """Number of the record."""

    @property
    def key(self) -> str:
        """The occurrence as a selection names it."""
        return f"{self.event}@{self.start}"


def recurs(rule: str, first: date, day: date) -> bool:
    """Tell whether an event that starts on ``first`` falls on a day too."""
    if day < first:
        return False
    match rule:
        case "daily":
            return True
        case "weekly":
            return (day - first).days % 7 == 0
        case "monthly":
            return day.day == first.day
        case "yearly":
            return (day.month, day.day) == (first.month, first.day)
        case _:
            return day == first


def occurrences(ui: Ui, first: date, last: date, *, words: str = "") -> list[Occurrence]:
    """Return what is on from one day to another, both included, in order of time; ``words`` must occur in the event."""
    found = []
    for event in ui.ids(EVENT):
        path = f"{EVENT}/{event}"
        if words and words not in _searched(ui, event):
            continue
        start, rule = ui.number(f"{path}/start"), ui.words(f"{path}/repeat")
        begins = day_of(start)
        if rule == "none":
            if first <= begins <= last:
                found.append(Occurrence(start, event))
            continue
        skipped = ui.words(f"{path}/skipped").split(",")
        day = max(first, begins)
        while day <= last:
            if recurs(rule, begins, day) and day.isoformat() not in skipped:
                found.append(Occurrence(start + (day - begins).days * DAY_S, event))
            day += timedelta(days=1)
    return sorted(found)


def _searched(ui: Ui, event: int) -> str:
    parts = (ui.words(f"{EVENT}/{event}/{name}") for name in ("title", "location", "description", "people"))
    return "\n".join(parts).lower()


def _today(ui: Ui) -> date:
    return ui.host.local_time.date()


def _shown(ui: Ui) -> date:
    return numbered_day(int(ui.var("day", day_number(_today(ui)))))


def _tab(ui: Ui) -> str:
    return str(ui.var("tab", "month"))


# ----------------------------------------------------------------------------------------------------------------------
# the main page


def main(ui: Ui) -> View:
    """Build the toolbar, the chosen view and the button for a new event."""
    selection, tab, day = Selection(ui), _tab(ui), _shown(ui)
    body, listed = _TABS[tab](ui, day)
    keys = "/".join(selection.keys)
    if selection:
        trash = image_button(
            "delete", ui.say("Delete"), opener(ui, "calendar/delete", keys=keys), id=f"{_ID}cab_delete"
        )
        bar = selection.bar(listed, [trash])
    else:
        views = opener(ui, "calendar/choice", name="tab", title="Change view", labels="|".join(_VIEWS.values()),
                       values="|".join(_VIEWS), chosen=tab)  # fmt: skip
        bar = row(
            label(ui.say("Calendar"), id=f"{_ID}toolbar_title", size=dp(20), weight=1, align=MIDDLE),
            image_button("search", ui.say("Search"), opener(ui, "calendar/search"), id=f"{_ID}search"),
            image_button("today", ui.say("Go to today"), setter(ui, "day", day_number(_today(ui))),
                         id=f"{_ID}go_to_today"),
            image_button("view", ui.say("Change view"), views, id=f"{_ID}change_view"),
            cls=GROUP, height=dp(56), pad=(dp(16), 0, dp(4), 0),
        )  # fmt: skip
    fab = floating("add", ui.say("New event"), lambda: _compose(ui, day), id=f"{_ID}calendar_fab")
    return activity(ui, bar, frame(body, fab, weight=1, cls=RELATIVE))


Part = tuple[View, list[str]]
"""A view of the main page and the keys of the occurrences that it lists."""


def _turner(ui: Ui, title: str, back: date, on: date, says: tuple[str, str]) -> View:
    return row(
        image_button("left", ui.say(says[0]), setter(ui, "day", day_number(back)), id=f"{_ID}top_left_arrow"),
        label(title, id=f"{_ID}top_value", size=TITLE, weight=1, align=MIDDLE, justify=0.5),
        image_button("right", ui.say(says[1]), setter(ui, "day", day_number(on)), id=f"{_ID}top_right_arrow"),
        height=dp(48),
    )


def _month(ui: Ui, day: date) -> Part:
    first = day.replace(day=1)
    last = month_later(first, 1) - timedelta(days=1)
    counts: dict[date, int] = {}
    for one in occurrences(ui, first, last):
        counts[day_of(one.start)] = counts.get(day_of(one.start), 0) + 1

    def show(that: date) -> Callable[[], object]:
        def choose() -> None:
            ui.set("day", day_number(that))
            ui.set("tab", "day")
            ui.set("from", "month")

        return choose

    def cell(number: int) -> View:
        if not number:
            return View("android.widget.Space", weight=1, height=dp(72))
        that = first.replace(day=number)
        count, here = counts.get(that, 0), that == _today(ui)
        busy = ui.say("1 event") if count == 1 else ui.say("{count} events", count=count)
        view = column(
            label(str(number), size=BODY, align=CENTER, bold=here, ink="primary" if here else "text"),
            label("\u2022" * min(count, 5), size=BODY, align=CENTER, ink="primary"),
            weight=1, height=dp(72), pad=(0, dp(8), 0, 0), cls=GROUP,
            desc=f"{ui.date(that, 'long')}, {busy}" if count else ui.date(that, "long"), on_tap=show(that),
        )  # fmt: skip
        view.selected = here
        return view

    heads = row(*[label(name, size=SMALL, ink="soft", weight=1, justify=0.5) for name in ui.host.locale.week()])
    weeks = [
        row(*map(cell, week), height=dp(72))
        for week in months.Calendar(ui.host.locale.first_weekday).monthdayscalendar(first.year, first.month)
    ]
    turner = _turner(ui, ui.date(first, "month"), month_later(first, -1), month_later(first, 1),
                     ("Previous month", "Next month"))  # fmt: skip
    return column(turner, heads, *weeks, id=f"{_ID}month_view", height=MATCH), []


def _week(ui: Ui, day: date) -> Part:
    first = day - timedelta(days=(day.weekday() - ui.host.locale.first_weekday) % 7)
    last, week = first + timedelta(days=6), timedelta(days=7)
    turner = _turner(ui, f"{ui.date(first)} \u2013 {ui.date(last)}", first - week, first + week,
                     ("Previous week", "Next week"))  # fmt: skip
    rows, keys = _grouped(ui, first, last, every_day=True)
    return column(turner, _listed(ui, rows, "week"), height=MATCH), keys


def _day(ui: Ui, day: date) -> Part:
    one = timedelta(days=1)
    found = occurrences(ui, day, day)
    rows = [_row(ui, occurrence) for occurrence in found]
    body = _listed(ui, rows, "day") if rows else _nothing(ui)
    turner = _turner(ui, ui.date(day, "long"), day - one, day + one, ("Previous day", "Next day"))
    return column(turner, body, height=MATCH), [occurrence.key for occurrence in found]


def _agenda(ui: Ui, day: date) -> Part:
    earlier = int(ui.var("earlier", 0))
    first = min(day, _today(ui)) - timedelta(days=earlier)
    last = max(day, _today(ui)) + timedelta(days=_AGENDA_DAYS)
    over_s = 0 if earlier or day < _today(ui) else int(ui.host.local_time.timestamp())
    rows, keys = _grouped(ui, first, last, over_s=over_s)
    more = label(ui.say("Show earlier events"), id=f"{_ID}earlier", size=BODY, ink="primary", height=dp(48),
                 width=MATCH, pad=(dp(16), dp(14), dp(16), 0), on_tap=setter(ui, "earlier", earlier + 30))  # fmt: skip
    return column(_listed(ui, [more, *rows], "agenda"), height=MATCH), keys


def _grouped(
    ui: Ui, first: date, last: date, *, every_day: bool = False, over_s: int = 0
) -> tuple[list[View], list[str]]:
    """Return rows below the heading of their day, and their keys; what ended before ``over_s`` is left out."""
    by_day: dict[date, list[Occurrence]] = {}
    if every_day:
        by_day = {first + timedelta(days=number): [] for number in range((last - first).days + 1)}
    for one in occurrences(ui, first, last):
        if _end(ui, one) >= over_s:
            by_day.setdefault(day_of(one.start), []).append(one)
    rows = []
    for day, found in by_day.items():
        name = ui.date(day, "long")
        near = {0: "Today", 1: "Tomorrow"}.get((day - _today(ui)).days)
        text = f"{ui.say(near)}, {name}" if near else name
        rows.append(label(text, id=f"{_ID}event_section_title", size=BODY, bold=True, ink="primary", width=MATCH,
                          height=dp(40), pad=(dp(16), dp(12), dp(16), 0)))  # fmt: skip
        rows += [_row(ui, one) for one in found]
    return rows, [one.key for found in by_day.values() for one in found]


def _end(ui: Ui, occurrence: Occurrence) -> int:
    path = f"{EVENT}/{occurrence.event}"
    if ui.flag(f"{path}/all_day"):
        return moment(day_of(occurrence.start + ui.number(f"{path}/minutes") * 60) + timedelta(days=1)) - 1
    return occurrence.start + ui.number(f"{path}/minutes") * 60


def _listed(ui: Ui, rows: list[View], name: str) -> View:
    space = View("android.view.View", height=dp(88))
    return scroll_column(ui, [*rows, space], name=name, id=f"{_ID}calendar_events_list", height=0, weight=1)


def _nothing(ui: Ui) -> View:
    return frame(label(ui.say("No events"), id=f"{_ID}day_no_events", size=TITLE, ink="soft", align=CENTER), weight=1)


def _when(ui: Ui, occurrence: Occurrence) -> str:
    """Say at which time of day an event is."""
    path = f"{EVENT}/{occurrence.event}"
    if ui.flag(f"{path}/all_day"):
        return ui.say("All day")
    begin, length = minutes_of(occurrence.start), ui.number(f"{path}/minutes")
    text = ui.time_of_day(begin // 60, begin % 60)
    if length:
        end = occurrence.start + length * 60
        text += f" \u2013 {ui.time_of_day(minutes_of(end) // 60, minutes_of(end) % 60)}"
        if day_of(end) != day_of(occurrence.start):
            text += f" ({ui.date(day_of(end))})"
    return text


def _row(ui: Ui, occurrence: Occurrence) -> View:
    path, selection = f"{EVENT}/{occurrence.event}", Selection(ui)
    chosen = occurrence.key in selection
    show = opener(ui, "calendar/event", event=occurrence.event, start=occurrence.start)
    texts = [
        label(ui.words(f"{path}/title"), id=f"{_ID}event_item_title", size=TITLE, width=MATCH),
        label(_when(ui, occurrence), id=f"{_ID}event_item_time", size=BODY, ink="soft", width=MATCH),
    ]
    place = ui.words(f"{path}/location")
    if place:
        texts.append(label(place, id=f"{_ID}event_item_description", size=BODY, ink="soft", width=MATCH))
    return row(
        View("android.view.View", id=f"{_ID}event_item_color_bar", width=dp(4), height=MATCH, fill="accent"),
        column(*texts, cls=RELATIVE, weight=1, align=MIDDLE),
        height=dp(84) if place else dp(64), pad=(dp(16), dp(4), dp(16), dp(4)), gap=dp(12),
        id=f"{_ID}event_item_holder", on_tap=selection.flip(occurrence.key) if selection else show,
        on_hold=selection.flip(occurrence.key), selected=chosen, fill="tonal" if chosen else "",
    )  # fmt: skip


def _main_back(ui: Ui) -> bool:
    if leave(ui):
        return True
    if ui.var("from") and _tab(ui) == "day":
        ui.set("tab", ui.var("from"))
        ui.set("from", "")
        return True
    return False


# ----------------------------------------------------------------------------------------------------------------------
# one event


def event(ui: Ui) -> View:
    """Build the page of one event."""
    number, start = int(ui.var("event")), int(ui.var("start"))
    path, one = f"{EVENT}/{number}", Occurrence(start, number)
    content = f"{ui.words(f'{path}/title')}, {ui.date(day_of(start), 'long')}, {_when(ui, one)}"
    actions = [
        image_button("share", ui.say("Share"), opener(ui, "calendar/share", content=content), id=f"{_ID}share"),
        image_button("edit", ui.say("Edit event"), lambda: _edit(ui, one), id=f"{_ID}edit"),
        image_button("delete", ui.say("Delete"), opener(ui, "calendar/delete", keys=one.key, page=True),
                     id=f"{_ID}delete"),
    ]  # fmt: skip
    rule = dict(zip(REPEATS, _REPEAT_LABELS, strict=True))[ui.words(f"{path}/repeat") or "none"]
    lines = [
        ("clock", f"{ui.date(day_of(start), 'long')}\n{_when(ui, one)}", "event_time"),
        ("pin", ui.words(f"{path}/location"), "event_location"),
        ("text", ui.words(f"{path}/description"), "event_description"),
        ("person", ui.words(f"{path}/people").replace(",", ", "), "event_attendees"),
        ("bell", ui.say(_REMINDERS[ui.number(f"{path}/reminder")]), "event_reminder"),
        ("repeat", ui.say(rule), "event_repetition"),
    ]
    rows = [label(ui.words(f"{path}/title"), id=f"{_ID}event_title", size=dp(24), width=MATCH,
                  pad=(dp(24), dp(16), dp(24), dp(16)))]  # fmt: skip
    rows += [
        row(image(icon), label(text, id=f"{_ID}{name}", size=TITLE, weight=1), pad=(dp(24), dp(12), dp(24), dp(12)),
            gap=dp(24))
        for icon, text, name in lines if text
    ]  # fmt: skip
    return activity(ui, app_bar(ui, "", actions=actions), scroll_column(ui, rows, cls=SCROLL, height=0, weight=1))


def _edit(ui: Ui, one: Occurrence) -> None:
    path = f"{EVENT}/{one.event}"
    start = ui.number(f"{path}/start")
    ui.open(
        "calendar/edit", event=one.event, start_day=day_number(day_of(start)), start_min=minutes_of(start),
        length=ui.number(f"{path}/minutes"), all_day=ui.flag(f"{path}/all_day"), repeat=ui.words(f"{path}/repeat"),
        reminder=str(ui.number(f"{path}/reminder")),
        **{f"text/{name}": ui.words(f"{path}/{name}") for name in ("title", "location", "description", "people")},
    )  # fmt: skip


def _compose(ui: Ui, day: date) -> None:
    hour = (ui.host.local_time.hour + 1) % 24
    ui.open("calendar/edit", event=0, start_day=day_number(day), start_min=hour * 60, length=60, all_day=False,
            repeat="none", reminder="10")  # fmt: skip


def _span(ui: Ui) -> tuple[int, int]:
    """Return when the event of the form starts and ends."""
    start = moment(numbered_day(int(ui.var("start_day"))), int(ui.var("start_min")))
    end = start + int(ui.var("length")) * 60
    day = int(ui.var("end_day", day_number(day_of(end))))
    return start, moment(numbered_day(day), int(ui.var("end_min", minutes_of(end))))


def edit(ui: Ui) -> View:
    """Build the form of a new or existing event (activity_event.xml)."""
    start, end = _span(ui)
    all_day = bool(ui.var("all_day"))

    def keep_length() -> None:
        """Move the end along with the start that is about to be chosen."""
        ui.set("length", max(0, end - start) // 60)
        for name in ("end_day", "end_min"):
            ui.page.vars.pop(name, None)

    def pick_day(name: str, seconds: int) -> Callable[[], object]:
        def pick() -> None:
            if name == "start_day":
                keep_length()
            ui.open("calendar/date", name=name, day=day_number(day_of(seconds)))

        return pick

    def pick_time(name: str, seconds: int) -> Callable[[], object]:
        def pick() -> None:
            if name == "start_min":
                keep_length()
            twelve = ui.host.locale.twelve_hours
            ui.open("calendar/time", **time_variables(name, minutes_of(seconds), twelve=twelve))

        return pick

    def moments(name: str, seconds: int) -> View:
        day = label(ui.date(day_of(seconds), "long"), id=f"{_ID}event_{name}_date", size=BODY, weight=1, height=dp(48),
                    pad=(0, dp(14), 0, 0), on_tap=pick_day(f"{name}_day", seconds),
                    desc=ui.say(f"{name.capitalize()} date") + f" {ui.date(day_of(seconds), 'long')}")  # fmt: skip
        minutes = minutes_of(seconds)
        shown = ui.time_of_day(minutes // 60, minutes % 60)
        time = label(shown, id=f"{_ID}event_{name}_time", size=BODY, width=dp(96), height=dp(48), justify=1.0,
                     pad=(0, dp(14), 0, 0), on_tap=pick_time(f"{name}_min", seconds),
                     desc=ui.say(f"{name.capitalize()} time") + f" {shown}")  # fmt: skip
        title = label(
            ui.say("Starts" if name == "start" else "Ends"), size=SMALL, ink="soft", width=dp(56), align=MIDDLE
        )
        return row(title, day, *([] if all_day else [time]), pad=(dp(24), 0, dp(24), 0))

    def line(name: str, hint: str) -> View:
        entry = edit_text(ui, Field(name, max_length=200), id=f"{_ID}event_{name}", hint=ui.say(hint), align=MIDDLE)
        return row(entry, height=dp(64), pad=(dp(16), 0, dp(16), 0))

    reminder, repeat = int(ui.var("reminder")), str(ui.var("repeat"))
    bar = app_bar(ui, ui.say("Edit event") if ui.var("event") else ui.say("New event"), actions=[
        image_button("check", ui.say("Save"), lambda: _save(ui), id=f"{_ID}save")])  # fmt: skip
    rows = [
        line("title", "Title"), line("location", "Location"), line("description", "Description"),
        preference(ui.say("All-day"), icon="clock", checked=all_day, on_tap=setter(ui, "all_day", not all_day)),
        moments("start", start), moments("end", end),
        preference(ui.say("Reminder"), ui.say(_REMINDERS[reminder]), icon="bell", on_tap=opener(
            ui, "calendar/choice", name="reminder", title="Reminder", labels="|".join(_REMINDERS.values()),
            values="|".join(map(str, _REMINDERS)), chosen=str(reminder))),
        preference(ui.say("Repetition"), ui.say(_REPEAT_LABELS[REPEATS.index(repeat)]), icon="repeat", on_tap=opener(
            ui, "calendar/choice", name="repeat", title="Repetition", labels="|".join(_REPEAT_LABELS),
            values="|".join(REPEATS), chosen=repeat)),
        line("people", "Attendees"),
    ]  # fmt: skip
    return activity(
        ui, bar, scroll_column(ui, rows, cls=SCROLL, height=0, weight=1, id=f"{_ID}event_nested_scrollview")
    )


def _save(ui: Ui) -> None:
    start, end = _span(ui)
    title, all_day = ui.typed("title").strip(), bool(ui.var("all_day"))
    if all_day:
        start, end = moment(day_of(start)), moment(day_of(end))
    if not title:
        ui.host.show_toast(ui.say("Title cannot be empty"))
        return
    if end < start:
        ui.host.show_toast(ui.say("The event cannot end earlier than it starts"))
        return
    number = int(ui.var("event")) or ui.add(EVENT)
    people = ",".join(part.strip() for part in ui.typed("people").split(",") if part.strip())
    fields: dict[str, Scalar] = {
        "title": title, "location": ui.typed("location").strip(), "description": ui.typed("description").strip(),
        "people": people, "start": start, "minutes": (end - start) // 60, "all_day": all_day,
        "repeat": str(ui.var("repeat")), "reminder": int(ui.var("reminder")),
    }  # fmt: skip
    changed = bool(ui.var("event"))
    for name, value in fields.items():
        ui.put(f"{EVENT}/{number}/{name}", value)
    if changed:
        ui.close(start=start)
    else:
        ui.close()


def _changed(ui: Ui) -> bool:
    """Tell whether words that somebody typed would be lost if the form were left."""
    path = f"{EVENT}/{ui.var('event')}"
    names = ("title", "location", "description", "people")
    return any(ui.typed(name) != ui.words(f"{path}/{name}") for name in names)


def delete(ui: Ui) -> View:
    """Build the dialog that asks before events are deleted, and which dates of one that repeats."""
    keys = [key.split("@") for key in str(ui.var("keys")).split("/")]
    chosen = [Occurrence(int(start), int(number)) for number, start in keys]
    repeating = any(ui.words(f"{EVENT}/{one.event}/repeat") != "none" for one in chosen)
    every = bool(ui.var("every", False))

    def ok() -> None:
        ui.close()
        if ui.var("page"):
            ui.close()
        else:
            ui.host.tell_page({"picked": ""})
        for one in chosen:
            path = f"{EVENT}/{one.event}"
            if ui.words(f"{path}/repeat") == "none" or every:
                ui.remove(path)
            elif f"{path}/title" in ui.host.state:
                skipped = [day for day in ui.words(f"{path}/skipped").split(",") if day]
                ui.put(f"{path}/skipped", ",".join([*skipped, day_of(one.start).isoformat()]))

    parts = []
    if repeating:
        parts = [
            radio_row(ui.say("This occurrence only"), not every, setter(ui, "every", False)),
            radio_row(ui.say("All occurrences"), every, setter(ui, "every", True)),
        ]
    message = ui.say("Delete this event?") if len(chosen) == 1 else ui.say("Delete {count} events?", count=len(chosen))
    return dialog(*([column(*parts)] if parts else []), message=message, buttons=cancel_and_ok(ui, ok, ok="Delete"))


def search(ui: Ui) -> View:
    """Build the search: events of half a year around today whose words match."""
    words, today = ui.typed("query").strip().lower(), _today(ui)
    half = timedelta(days=183)
    found = occurrences(ui, today - half, today + half, words=words)[:60] if words else []
    rows = []
    for one in found:
        rows.append(label(ui.date(day_of(one.start), "long"), id=f"{_ID}event_section_title", size=BODY, bold=True,
                          ink="primary", width=MATCH, height=dp(40), pad=(dp(16), dp(12), dp(16), 0)))  # fmt: skip
        rows.append(_row(ui, one))
    bar = searching.bar(ui, ui.say("Search"), id=f"{_ID}search_src_text")
    body = _listed(ui, rows, "search") if rows or not words else _nothing(ui)
    return activity(ui, bar, body)


_TABS: dict[str, Callable[[Ui, date], Part]] = {"month": _month, "week": _week, "day": _day, "agenda": _agenda}


# ----------------------------------------------------------------------------------------------------------------------
# what a fresh phone has


_TITLES = (
    "Dentist", "Team sync", "Budget review", "Piano lesson", "Car service", "Yoga class", "Project kickoff",
    "Book club", "Design review", "Parents' evening", "Haircut", "Sprint planning", "Flu shot", "Quarterly report",
    "Choir rehearsal",
)  # fmt: skip
_PLACES = (
    "", "Room 204", "Room 240", "12 Harbour Street", "City Library", "Cafe Luna", "Online", "North Clinic, 3rd floor",
    "Main Office", "Riverside Park", "21 Harbour Street",
)  # fmt: skip
_NOTES = (
    "", "Bring the documents.", "Ask about the invoice.", "Parking behind the building.", "Prepare three slides.",
    "Moved from last week.", "Call before leaving.",
)  # fmt: skip


def draw(draw: Draw) -> None:
    """Draw some weeks of events, some of them with look-alikes, around the phone's day."""
    rng, today = draw.rng, draw.now.date()
    names = [str(value) for path, value in sorted(draw.state.items()) if path.startswith("contacts/")
             and path.endswith("/name")] or ["Alex Stone"]  # fmt: skip
    titles = rng.sample(_TITLES, 9)
    for number in range(rng.randint(15, 20)):
        title, people = rng.choice(titles), ""
        if number % 3 == 0:
            people = rng.choice(names)
            title = f"{rng.choice(('Meeting', 'Lunch', 'Call', 'Meeting'))} with {people.split()[0]}"
        _draw_one(draw, title, today + timedelta(days=rng.randint(-8, 24)), people)
    twin = rng.choice(titles)
    day = today + timedelta(days=rng.randint(1, 9))
    for _ in range(2):
        _draw_one(draw, twin, day, "")
    for title, rule in zip(rng.sample(titles, 2), rng.sample(("daily", "weekly", "weekly", "monthly"), 2), strict=True):
        _draw_one(draw, title, today - timedelta(days=rng.randint(3, 20)), "", rule)


def _draw_one(draw: Draw, title: str, day: date, people: str, rule: str = "none") -> None:
    rng = draw.rng
    all_day = rule == "none" and rng.random() < 0.06
    draw.record(
        EVENT, title=title, start=moment(day, 0 if all_day else rng.randint(14, 40) * 30),
        minutes=0 if all_day else rng.choice((15, 30, 45, 60, 60, 90, 120)), location=rng.choice(_PLACES),
        description=rng.choice(_NOTES), repeat=rule, all_day=all_day, reminder=rng.choice((-1, 10, 30, 60)),
        people=people,
    )  # fmt: skip


_WORDS: Words = {
    "1 day before": ("1 Tag vorher", "提前 1 天"),
    "1 event": ("1 Termin", "1 个活动"),
    "1 hour before": ("1 Stunde vorher", "提前 1 小时"),
    "10 minutes before": ("10 Minuten vorher", "提前 10 分钟"),
    "30 minutes before": ("30 Minuten vorher", "提前 30 分钟"),
    "All day": ("Ganztägig", "全天"),
    "All occurrences": ("Alle Termine der Serie", "所有重复活动"),
    "All-day": ("Ganztägig", "全天"),
    "At start time": ("Bei Beginn", "活动开始时"),
    "Attendees": ("Teilnehmer", "参与者"),
    "Calendar": ("Kalender", "日历"),
    "Change view": ("Ansicht ändern", "切换视图"),
    "Daily": ("Täglich", "每天"),
    "Daily view": ("Tagesansicht", "日视图"),
    "Delete this event?": ("Diesen Termin löschen?", "要删除此活动吗？"),
    "Delete {count} events?": ("{count} Termine löschen?", "要删除 {count} 个活动吗？"),
    "Edit event": ("Termin bearbeiten", "修改活动"),
    "End date": ("Enddatum", "结束日期"),
    "End time": ("Endzeit", "结束时间"),
    "Ends": ("Ende", "结束"),
    "Event list": ("Terminliste", "活动列表"),
    "Go to today": ("Zu heute wechseln", "转到今天"),
    "Location": ("Ort", "地点"),
    "Monthly": ("Monatlich", "每月"),
    "Monthly view": ("Monatsansicht", "月视图"),
    "New event": ("Neuer Termin", "新建活动"),
    "Next day": ("Nächster Tag", "后一天"),
    "Next week": ("Nächste Woche", "下周"),
    "No events": ("Keine Termine", "没有活动"),
    "No reminder": ("Keine Erinnerung", "无提醒"),
    "No repetition": ("Keine Wiederholung", "不重复"),
    "Previous day": ("Vorheriger Tag", "前一天"),
    "Previous week": ("Vorherige Woche", "上周"),
    "Reminder": ("Erinnerung", "提醒"),
    "Repetition": ("Wiederholung", "重复"),
    "Show earlier events": ("Frühere Termine anzeigen", "显示更早的活动"),
    "Start date": ("Startdatum", "开始日期"),
    "Start time": ("Startzeit", "开始时间"),
    "Starts": ("Beginn", "开始"),
    "The event cannot end earlier than it starts": (
        "Der Termin kann nicht vor seinem Beginn enden", "活动结束时间不能早于开始时间"),
    "This occurrence only": ("Nur dieser Termin", "仅此活动"),
    "Title cannot be empty": ("Der Titel darf nicht leer sein", "标题不能为空"),
    "Weekly": ("Wöchentlich", "每周"),
    "Weekly view": ("Wochenansicht", "周视图"),
    "Yearly": ("Jährlich", "每年"),
    "{count} events": ("{count} Termine", "{count} 个活动"),
}  # fmt: skip

_MAIN, _EVENT = f"{PACKAGE}.MainActivity", f"{PACKAGE}.EventActivity"

APP = App(
    package=PACKAGE,
    label="Calendar",
    home="calendar/main",
    color="#1e8e3e",
    icon="calendar",
    records={
        EVENT: {
            "title": TEXT, "start": MOMENT, "minutes": COUNT, "location": TEXT,
            "description": TEXT, "repeat": Kind(str, among=REPEATS), "all_day": YES_NO,
            "reminder": Kind(int, among=tuple(_REMINDERS), initial=-1), "people": TEXT, "skipped": TEXT,
        }
    },
    draw=draw,
    strings=tables(EVERYWHERE, _WORDS),
    screens={
        "calendar/main": Screen(main, _MAIN, on_back=_main_back),
        "calendar/event": Screen(event, f"{PACKAGE}.EventInfoActivity", private=True),
        "calendar/edit": Screen(edit, _EVENT, on_back=draft.leave(_changed, "calendar/discard"), private=True),
        "calendar/search": Screen(search, f"{PACKAGE}.SearchActivity"),
        "calendar/delete": Screen(delete, _MAIN, dialog=True),
        "calendar/discard": Screen(draft.discard, _EVENT, dialog=True),
        "calendar/choice": Screen(choice_dialog, _MAIN, dialog=True),
        "calendar/date": Screen(date_dialog, _EVENT, dialog=True),
        "calendar/time": Screen(time_dialog, _EVENT, dialog=True),
        "calendar/share": SHARE,
    },
)  # fmt: skip
