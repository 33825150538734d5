"""Dialogs that many apps open: a date, a time, one of several, a menu, a question. The answer goes to the page below.

An app names them among its screens (``"calendar/date": Screen(date_dialog, ACTIVITY, dialog=True)``), opens them with
the variables that each function lists, and finds the answer in the variable ``name`` of its own page. Knows no app.
"""

from __future__ import annotations

import calendar
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from types import MappingProxyType

from agent_eval.device_sim.screen import Ui
from agent_eval.device_sim.ui import WRAP, Field, View, dp
from agent_eval.device_sim.widgets import (
    BODY,
    MIDDLE,
    RADIO,
    RELATIVE,
    SMALL,
    TITLE,
    button,
    cancel_and_ok,
    choice,
    column,
    dialog,
    edit_text,
    image_button,
    label,
    radio_row,
    row,
    scroll_column,
    setter,
)
from agent_eval.types import Scalar

ORIGIN = date(1970, 1, 1)
_MOST_ROWS = 6
"""Of a list of which one is chosen; a longer one scrolls."""
_NONE: Mapping[str, Scalar] = MappingProxyType({})


def day_number(day: date) -> int:
    """Return a day as pages keep it: days since 1970."""
    return (day - ORIGIN).days


def numbered_day(number: int) -> date:
    """Return the day with a number."""
    return ORIGIN + timedelta(days=number)


def month_later(day: date, months: int) -> date:
    """Return the first day of a month so many months later."""
    count = day.year * 12 + day.month - 1 + months
    return date(count // 12, count % 12 + 1, 1)


def question(ui: Ui, message: str, says: str, ok: Callable[[], object], *, title: str = "", no: str = "Cancel") -> View:
    """Ask before something that cannot be taken back; the dialog is closed before ``ok`` is called."""

    def agreed() -> None:
        ui.close()
        ok()

    return dialog(title=title, message=message, buttons=cancel_and_ok(ui, agreed, ok=says, no=no))


# ----------------------------------------------------------------------------------------------------------------------


def date_dialog(ui: Ui) -> View:
    """Build DatePickerDialog (date_picker_material.xml); variables: ``name``, ``day`` as ``day_number``."""
    chosen = numbered_day(int(ui.var("day")))
    shown = numbered_day(int(ui.var("shown", day_number(chosen.replace(day=1)))))

    def turn(months: int) -> Callable[[], object]:
        return lambda: ui.set("shown", day_number(month_later(shown, months)))

    def cell(day: int) -> View:
        if not day:
            return View("android.widget.Space", weight=1, height=dp(36))
        that = shown.replace(day=day)
        return View(
            "android.view.View", text=str(day), desc=ui.date(that, "long"), weight=1, height=dp(36), size=BODY,
            justify=0.5, clickable=True, focusable=True, on_tap=setter(ui, "day", day_number(that)),
            checked=that == chosen, selected=that == chosen, fill="accent" if that == chosen else "",
            ink="on_primary" if that == chosen else "text",
        )  # fmt: skip

    weeks = [
        row(*map(cell, week), height=dp(36))
        for week in calendar.Calendar(ui.host.locale.first_weekday).monthdayscalendar(shown.year, shown.month)
    ]
    head = column(
        label(str(chosen.year), id="android:id/date_picker_header_year", size=BODY, ink="soft"),
        label(ui.date(chosen, "weekday"), id="android:id/date_picker_header_date", size=dp(24)),
    )
    title = row(
        image_button("left", ui.say("Previous month"), turn(-1), id="android:id/prev"),
        label(ui.date(shown, "month"), size=BODY, bold=True, weight=1, align=MIDDLE, justify=0.5),
        image_button("right", ui.say("Next month"), turn(1), id="android:id/next"),
    )
    heads = row(*[label(name, size=SMALL, ink="soft", weight=1, justify=0.5) for name in ui.host.locale.week()])
    body = column(head, title, heads, *weeks, cls="android.widget.DatePicker", id="android:id/datePicker", gap=dp(4))
    return dialog(body, buttons=cancel_and_ok(ui, lambda: ui.close(**{str(ui.var("name")): day_number(chosen)})))


def time_variables(name: str, minutes: int, *, twelve: bool) -> dict[str, str | bool]:
    """Return what ``time_dialog`` is opened with to show a time of day."""
    hour = minutes // 60
    shown = str(hour % 12 or 12) if twelve else f"{hour:02d}"
    return {"name": name, "text/hour": shown, "text/minute": f"{minutes % 60:02d}", "pm": hour >= 12}


def time_dialog(ui: Ui) -> View:
    """Build TimePickerDialog in its text form; open it with ``time_variables``. The answer is in minutes of the day."""
    twelve, pm = ui.host.locale.twelve_hours, bool(ui.var("pm"))

    def part(name: str, says: str) -> View:
        field = Field(name, numeric=True, max_length=2, select_on_focus=True)
        entry = edit_text(
            ui, field, id=f"android:id/input_{name}", desc=ui.say(says), size=dp(30), width=dp(72), height=dp(64),
            justify=0.5,
        )  # fmt: skip
        under = label(ui.say(says), id=f"android:id/label_{name}", size=SMALL, ink="soft", pad=(dp(4), dp(4), 0, 0))
        return column(entry, under, cls=RELATIVE, width=dp(72))

    def ok() -> None:
        hour, minute = int(ui.typed("hour") or -1), int(ui.typed("minute") or -1)
        if not ((1 <= hour <= 12 if twelve else 0 <= hour <= 23) and 0 <= minute <= 59):
            ui.set("wrong", True)
            return
        if twelve:
            hour = hour % 12 + (12 if pm else 0)
        ui.close(**{str(ui.var("name")): hour * 60 + minute})

    parts = [part("hour", "hour"), label(":", size=dp(30), pad=(dp(4), dp(10), dp(4), 0)), part("minute", "minute")]
    if twelve:
        halves = (
            choice("AM", not pm, setter(ui, "pm", False), id="android:id/am_label", cls=RADIO),
            choice("PM", pm, setter(ui, "pm", True), id="android:id/pm_label", cls=RADIO),
        )
        parts.append(
            View("android.widget.RadioGroup", halves, id="android:id/ampm_layout", arrange="column", width=WRAP)
        )
    body = [row(*parts, gap=dp(4), cls=RELATIVE)]
    if ui.var("wrong"):
        body.append(label(ui.say("Type in a valid time"), id="android:id/label_error", size=SMALL, ink="error"))
    picker = column(*body, cls="android.widget.TimePicker", id="android:id/timePicker", gap=dp(8))
    return dialog(picker, title=ui.say("Type in time"), buttons=cancel_and_ok(ui, ok))


def choice_dialog(ui: Ui) -> View:
    """Build a list of which one is chosen.

    Variables: ``name``, ``title``, ``labels`` in English and ``values``, each joined by ``|``, and ``chosen``, the
    value that is marked. Labels that start with ``=`` are a person's own words and are not translated.
    """
    labels, values = str(ui.var("labels")).split("|"), str(ui.var("values")).split("|")
    options = {
        value: text[1:] if text.startswith("=") else ui.say(text) for text, value in zip(labels, values, strict=True)
    }
    return one_of(ui, ui.say(str(ui.var("title"))), options, str(ui.var("chosen")), str(ui.var("name")))


def one_of(ui: Ui, title: str, options: Mapping[str, str], chosen: str, name: str, **answers: Scalar) -> View:
    """Build a list of which one is chosen; touching another answers and closes it.

    Args:
        ui: The dialog's page.
        title: Above the list, translated already.
        options: Values, each with its text, translated already.
        chosen: The value that is marked.
        name: Variable of the page below that gets the value.
        answers: What the page below is told besides.
    """

    def answer(value: str) -> Callable[[], object]:
        return lambda: ui.close(**{name: value}, **answers)

    rows = [radio_row(text, value == chosen, answer(value)) for value, text in options.items()]
    height = WRAP if len(rows) <= _MOST_ROWS else dp(400)
    body = scroll_column(ui, rows, cls="android.widget.ListView", id="android:id/select_dialog_listview", height=height)
    return dialog(body, title=title, buttons=(button(ui.say("Cancel"), ui.close, id="android:id/button2"),))


def menu(ui: Ui, items: Sequence[tuple[str, Callable[[], object]]]) -> View:
    """Build a menu of words; the menu is closed before what was chosen is called."""

    def chooser(action: Callable[[], object]) -> Callable[[], object]:
        def choose() -> None:
            ui.close()
            action()

        return choose

    rows = [
        row(
            label(text, id="android:id/title", size=TITLE, align=MIDDLE, weight=1),
            height=dp(48),
            pad=(dp(16), 0, dp(16), 0),
            on_tap=chooser(action),
        )
        for text, action in items
    ]
    listed = column(*rows, cls="android.widget.ListView", pad=(0, dp(8), 0, dp(8)), fill="dialog")
    return View("android.widget.FrameLayout", (listed,), width=dp(220), align=(1.0, 0.0), fill="dialog")


def name_dialog(
    ui: Ui, title: str, hint: str, ok: Callable[[str], str], *, says: str = "OK", answers: Mapping[str, Scalar] = _NONE
) -> View:
    """Ask for a name.

    Args:
        ui: The page.
        title: Above the field, translated already.
        hint: Inside the empty field, translated already.
        ok: Called with the trimmed name; what it returns is shown as an error, and nothing closes the dialog.
        says: Of the button, in English.
        answers: What the page below is told once the name was good.
    """

    def agreed() -> None:
        problem = ok(ui.typed("name").strip())
        if problem:
            ui.set("problem", problem)
        else:
            ui.close(**answers)

    parts = [edit_text(ui, Field("name", max_length=80), id="android:id/text1", hint=hint)]
    if ui.var("problem"):
        parts.append(label(str(ui.var("problem")), id="android:id/message", size=SMALL, ink="error"))
    return dialog(column(*parts), title=title, buttons=cancel_and_ok(ui, agreed, ok=says))
