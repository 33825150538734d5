"""The alarms of the clock: the list, the card of one, and the dialogs that set its time and label (alarm_clock.xml)."""

from __future__ import annotations

from collections.abc import Callable

from agent_eval.device_sim.apps.deskclock.names import ID
from agent_eval.device_sim.profile import DAYS
from agent_eval.device_sim.screen import Ui
from agent_eval.device_sim.ui import MATCH, WRAP, Field, View, dp
from agent_eval.device_sim.widgets import (
    BODY,
    CENTER,
    CHECK,
    FRAME,
    MIDDLE,
    RADIO,
    RELATIVE,
    SMALL,
    button,
    cancel_and_ok,
    choice,
    column,
    dialog,
    edit_text,
    frame,
    image_button,
    label,
    opener,
    row,
    scroll_column,
    setter,
    switch,
)
from agent_eval.types import Scalar

SWITCH_COMPAT = "android.widget.Switch"


def time_of(ui: Ui, alarm: int) -> tuple[int, int]:
    """Return the hour and minute of an alarm."""
    return ui.number(f"clock/alarm/{alarm}/hour"), ui.number(f"clock/alarm/{alarm}/minute")


def in_order(ui: Ui) -> list[int]:
    """Return the ids of all alarms, sorted by time."""
    return sorted(ui.ids("clock/alarm"), key=lambda alarm: (*time_of(ui, alarm), alarm))


def alarms_tab(ui: Ui) -> View:
    """Build the list of alarms (alarm_clock.xml)."""
    expanded = int(ui.var("expanded", 0))
    cards = [_card(ui, alarm, expanded=alarm == expanded) for alarm in in_order(ui)]
    if cards:
        cards.append(View("android.view.View", height=dp(88)))  # the list can be scrolled clear of the button
        body = scroll_column(
            ui, cards, name="alarms", id=f"{ID}alarms_recycler_view", pad=(dp(8), dp(4), dp(8), 0), gap=dp(8)
        )
    else:
        body = frame(
            label(ui.say("No Alarms"), id=f"{ID}alarms_empty_view", size=dp(20), ink="soft", align=CENTER),
            height=MATCH,
        )
    now = ui.host.local_time

    def add() -> None:
        ui.open("clock/time_picker", **_picker(ui, 0, now.hour, now.minute))

    fab = image_button(
        "add", ui.say("Add alarm"), add, id=f"{ID}fab", size=dp(56), fill="accent", ink="on_primary", align=CENTER
    )
    holder = frame(fab, align=(0.5, 1.0), width=dp(88), height=dp(88))
    return frame(body, holder, height=MATCH, id=f"{ID}main", cls=RELATIVE)


def _picker(ui: Ui, alarm: int, hour: int, minute: int) -> dict[str, Scalar]:
    shown = hour % 12 or 12 if ui.host.locale.twelve_hours else hour
    return {"alarm": alarm, "text/hour": str(shown), "text/minute": f"{minute:02d}", "pm": hour >= 12}


def _card(ui: Ui, alarm: int, *, expanded: bool) -> View:
    hour, minute = time_of(ui, alarm)
    path = f"clock/alarm/{alarm}"
    name, enabled = ui.words(f"{path}/label"), ui.flag(f"{path}/enabled")
    time = ui.time_of_day(hour, minute)
    ink = "text" if enabled else "soft"
    clock = label(
        time,
        id=f"{ID}digital_clock",
        size=dp(34),
        ink=ink,
        on_tap=opener(ui, "clock/time_picker", **_picker(ui, alarm, hour, minute)),
    )
    arrow = image_button(
        "up" if expanded else "down",
        ui.say("Collapse alarm") if expanded else ui.say("Expand alarm"),
        setter(ui, "expanded", 0 if expanded else alarm),
        id=f"{ID}arrow",
    )
    onoff = switch(enabled, id=f"{ID}onoff", on_tap=lambda: ui.toggle(f"{path}/enabled"), cls=SWITCH_COMPAT)
    days = ui.words(f"{path}/days")
    parts = []
    if expanded:
        parts.append(
            label(
                name or ui.say("Add label"),
                id=f"{ID}edit_label",
                size=BODY,
                width=MATCH,
                height=dp(40),
                pad=(0, dp(10), 0, 0),
                on_tap=opener(ui, "clock/label", alarm=alarm, **{"text/label": name}),
                ink="text" if name else "soft",
            )
        )
    elif name:
        parts.append(label(name, id=f"{ID}label", size=BODY, ink=ink, width=MATCH, height=dp(28)))
    parts.append(row(clock, View("android.widget.Space", weight=1), arrow, height=dp(52)))
    parts.append(
        row(
            label(_when(ui, alarm), id=f"{ID}days_of_week", size=BODY, ink="soft", align=MIDDLE, weight=1),
            onoff,
            height=dp(48),
        )
    )
    if expanded:
        parts += _details(ui, alarm, days)
    return column(
        *parts,
        cls=FRAME,
        desc=f"{time} {name}".strip(),
        pad=(dp(16), dp(8), dp(8), dp(8)),
        fill="card",
        on_tap=setter(ui, "expanded", 0 if expanded else alarm),
    )


def _when(ui: Ui, alarm: int) -> str:
    days = [day for day in DAYS if day in ui.words(f"clock/alarm/{alarm}/days").split(",")]
    if len(days) == len(DAYS):
        return ui.say("Every day")
    if days:
        return ", ".join(_day_names(ui)[DAYS.index(day)] for day in days)
    if not ui.flag(f"clock/alarm/{alarm}/enabled"):
        return ui.say("Not scheduled")
    now = ui.host.local_time
    return ui.say("Tomorrow") if time_of(ui, alarm) <= (now.hour, now.minute) else ui.say("Today")


def _day_names(ui: Ui, *, whole: bool = False) -> tuple[str, ...]:
    """Return the names of weekdays in the phone's language, Sunday first as in ``DAYS``."""
    names = ui.host.locale.weekdays if whole else ui.host.locale.short_weekdays
    return (names[-1], *names[:-1])


def _details(ui: Ui, alarm: int, days: str) -> list[View]:
    path = f"clock/alarm/{alarm}"
    chosen = [day for day in days.split(",") if day]

    def flip(day: str) -> Callable[[], object]:
        kept = [other for other in DAYS if (other in chosen) != (other == day)]
        return lambda: ui.put(f"{path}/days", ",".join(kept))

    def day_view(position: int, day: str) -> View:
        return View(
            CHECK,
            text=_day_names(ui)[position][-1 if ui.host.locale.tag == "zh-CN" else 0],
            desc=_day_names(ui, whole=True)[position],
            id=f"{ID}day_button_{position}",
            checkable=True,
            checked=day in chosen,
            clickable=True,
            focusable=True,
            on_tap=flip(day),
            weight=1,
            height=dp(44),
            justify=0.5,
            size=BODY,
            icon="chip",
        )

    def delete() -> None:
        ui.host.remove(path)
        ui.set("expanded", 0)
        ui.host.show_toast(ui.say("Alarm deleted"))

    return [
        row(*[day_view(i, day) for i, day in enumerate(DAYS)], id=f"{ID}repeat_days", height=dp(44), gap=dp(2)),
        label(
            ui.say("Ringtone Default ({name})", name=ui.words("settings/alarm_sound")),
            id=f"{ID}choose_ringtone",
            size=BODY,
            height=dp(40),
            width=MATCH,
            pad=(0, dp(10), 0, 0),
        ),
        choice(
            ui.say("Vibrate"),
            ui.flag(f"{path}/vibrate"),
            lambda: ui.toggle(f"{path}/vibrate"),
            id=f"{ID}vibrate_onoff",
            cls=CHECK,
            width=MATCH,
        ),
        button(ui.say("Delete"), delete, id=f"{ID}delete", ink="text", width=dp(120)),
    ]


def edit_label(ui: Ui) -> View:
    """Build the dialog that names an alarm (LabelDialogFragment)."""
    alarm = int(ui.var("alarm"))

    def ok() -> None:
        text = ui.typed("label").strip()
        ui.close()
        if f"clock/alarm/{alarm}/label" in ui.host.state:  # it may be gone by now
            ui.put(f"clock/alarm/{alarm}/label", text)

    return dialog(
        edit_text(ui, Field("label", max_length=60), id=f"{ID}label_edit", hint=ui.say("Label")),
        title=ui.say("Label"),
        buttons=cancel_and_ok(ui, ok),
    )


def time_picker(ui: Ui) -> View:
    """Build the time picker in its text form (time_picker_text_input_material.xml)."""
    alarm, pm, wrong = int(ui.var("alarm", 0)), bool(ui.var("pm", False)), bool(ui.var("wrong", False))
    hour_field = Field("hour", numeric=True, max_length=2, select_on_focus=True)
    minute_field = Field("minute", numeric=True, max_length=2, select_on_focus=True)

    def part(field: Field, name: str) -> View:
        return column(
            edit_text(
                ui,
                field,
                id=f"android:id/input_{name}",
                desc=ui.say(name),
                size=dp(30),
                width=dp(72),
                height=dp(64),
                justify=0.5,
            ),
            label(ui.say(name), id=f"android:id/label_{name}", size=SMALL, ink="soft", pad=(dp(4), dp(4), 0, 0)),
            cls=RELATIVE,
            width=dp(72),
        )

    halves = View(
        "android.widget.RadioGroup",
        (
            choice(ui.say("AM"), not pm, setter(ui, "pm", False), id="android:id/am_label", cls=RADIO),
            choice(ui.say("PM"), pm, setter(ui, "pm", True), id="android:id/pm_label", cls=RADIO),
        ),
        id="android:id/ampm_layout",
        arrange="column",
        width=WRAP,
    )
    colon = label(":", id="android:id/input_separator", size=dp(30), pad=(dp(4), dp(10), dp(4), 0))
    parts = [part(hour_field, "hour"), colon, part(minute_field, "minute")]
    if ui.host.locale.twelve_hours:
        parts.append(halves)
    body = [row(*parts, gap=dp(4), cls=RELATIVE)]
    if wrong:
        body.append(
            label(ui.say("Type in a valid time"), id="android:id/label_error", size=SMALL, ink="error", width=MATCH)
        )
    return dialog(
        column(*body, cls="android.widget.TimePicker", id="android:id/timePicker", gap=dp(8)),
        title=ui.say("Type in time"),
        buttons=cancel_and_ok(ui, lambda: _set_time(ui, alarm, pm=pm)),
    )


def _set_time(ui: Ui, alarm: int, *, pm: bool) -> None:
    hour_text, minute_text = ui.typed("hour"), ui.typed("minute")
    hour, minute = int(hour_text or -1), int(minute_text or -1)
    twelve = ui.host.locale.twelve_hours
    if not ((1 <= hour <= 12 if twelve else 0 <= hour <= 23) and 0 <= minute <= 59):
        ui.set("wrong", True)
        return
    if twelve:
        hour = hour % 12 + (12 if pm else 0)
    ui.close()
    if alarm == 0:
        alarm = ui.new_id("clock/alarm")
    elif f"clock/alarm/{alarm}/hour" not in ui.host.state:
        return  # deleted while the picker was open
    for name, value in {"hour": hour, "minute": minute, "enabled": True}.items():
        ui.put(f"clock/alarm/{alarm}/{name}", value)
    ui.host.show_toast(ui.say("Alarm set for {time}", time=ui.time_of_day(hour, minute)))
