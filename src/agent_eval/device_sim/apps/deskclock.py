"""Clock: alarms, the clock face, a timer and a stopwatch (packages/apps/DeskClock). Knows no other app."""

from __future__ import annotations

from collections.abc import Callable

from agent_eval.device_sim.clock import twelve_hour
from agent_eval.device_sim.profile import DAYS
from agent_eval.device_sim.schema import TEXT, YES_NO, Kind
from agent_eval.device_sim.screen import App, Screen, Ui
from agent_eval.device_sim.ui import MATCH, WRAP, Field, View, dp
from agent_eval.device_sim.widgets import (
    BODY,
    CENTER,
    CHECK,
    FRAME,
    GROUP,
    MIDDLE,
    RADIO,
    RELATIVE,
    SMALL,
    TITLE,
    activity,
    button,
    cancel_and_ok,
    choice,
    column,
    dialog,
    edit_text,
    frame,
    image,
    image_button,
    label,
    opener,
    row,
    scroll_column,
    setter,
    switch,
)
from agent_eval.types import Scalar

PACKAGE = "com.android.deskclock"
ACTIVITY = "com.android.deskclock.DeskClock"
_ID = f"{PACKAGE}:id/"
SWITCH_COMPAT = "android.widget.Switch"

TABS = (("Alarm", "alarm", "alarms"), ("Clock", "clock", "clock"), ("Timer", "timer", "timer"),
        ("Stopwatch", "stopwatch", "stopwatch"))  # fmt: skip
"""Label, icon and name of each tab; the page's variable ``tab`` holds the name."""


def main(ui: Ui) -> View:
    """Build the only activity: a toolbar, the page of the chosen tab, and the tabs."""
    chosen = str(ui.var("tab", "alarms"))
    content = _TAB_PAGES[chosen](ui)
    title = next(name for name, _, tab in TABS if tab == chosen)

    def choose(tab: str) -> Callable[[], object]:
        return lambda: ui.set("tab", tab)

    def tab_view(name: str, icon: str, tab: str) -> View:
        here = tab == chosen
        view = column(
            image(icon, align=CENTER, id=f"{_ID}navigation_bar_item_icon_view", ink="primary" if here else "icon"),
            label(
                name,
                size=SMALL,
                align=CENTER,
                id=f"{_ID}navigation_bar_item_small_label_view",
                bold=here,
                ink="primary" if here else "soft",
            ),
            cls=FRAME,
            id=f"{_ID}page_{'alarm' if tab == 'alarms' else tab}",
            desc=name,
            on_tap=choose(tab),
            weight=1,
            height=dp(56),
            pad=(0, dp(8), 0, 0),
            gap=dp(2),
        )
        view.selected = here
        return view

    bar = row(
        label(title, id=f"{_ID}title_view", size=dp(20), weight=1, align=MIDDLE),
        cls=GROUP,
        id=f"{_ID}toolbar",
        height=dp(56),
        pad=(dp(24), 0, dp(16), 0),
    )
    tabs = row(*[tab_view(*tab) for tab in TABS], id=f"{_ID}bottom_view", height=dp(56), fill="bar")
    body = frame(content, id=f"{_ID}fragment_container", cls=GROUP, weight=1)
    return activity(ui, column(bar, body, tabs, cls=GROUP, id=f"{_ID}content", height=MATCH))


# ----------------------------------------------------------------------------------------------------------------------
# alarms


def _time(ui: Ui, alarm: int) -> tuple[int, int]:
    return ui.number(f"clock/alarm/{alarm}/hour"), ui.number(f"clock/alarm/{alarm}/minute")


def in_order(ui: Ui) -> list[int]:
    """Return the ids of all alarms, sorted by time."""
    return sorted(ui.ids("clock/alarm"), key=lambda alarm: (*_time(ui, alarm), alarm))


def alarms_tab(ui: Ui) -> View:
    """Build the list of alarms (alarm_clock.xml)."""
    expanded = int(ui.var("expanded", 0))
    cards = [_card(ui, alarm, expanded=alarm == expanded) for alarm in in_order(ui)]
    if cards:
        cards.append(View("android.view.View", height=dp(88)))  # the list can be scrolled clear of the button
        body = scroll_column(
            ui, cards, name="alarms", id=f"{_ID}alarms_recycler_view", pad=(dp(8), dp(4), dp(8), 0), gap=dp(8)
        )
    else:
        body = frame(
            label("No Alarms", id=f"{_ID}alarms_empty_view", size=dp(20), ink="soft", align=CENTER), height=MATCH
        )
    now = ui.host.local_time

    def add() -> None:
        ui.open("clock/time_picker", **_picker(0, now.hour, now.minute))

    fab = image_button(
        "add", "Add alarm", add, id=f"{_ID}fab", size=dp(56), fill="accent", ink="on_primary", align=CENTER
    )
    holder = frame(fab, align=(0.5, 1.0), width=dp(88), height=dp(88))
    return frame(body, holder, height=MATCH, id=f"{_ID}main", cls=RELATIVE)


def _picker(alarm: int, hour: int, minute: int) -> dict[str, Scalar]:
    return {"alarm": alarm, "text/hour": str(hour % 12 or 12), "text/minute": f"{minute:02d}", "pm": hour >= 12}


def _card(ui: Ui, alarm: int, *, expanded: bool) -> View:
    hour, minute = _time(ui, alarm)
    path = f"clock/alarm/{alarm}"
    name, enabled = ui.words(f"{path}/label"), ui.flag(f"{path}/enabled")
    time = twelve_hour(hour, minute)
    ink = "text" if enabled else "soft"
    clock = label(
        time,
        id=f"{_ID}digital_clock",
        size=dp(34),
        ink=ink,
        on_tap=opener(ui, "clock/time_picker", **_picker(alarm, hour, minute)),
    )
    arrow = image_button(
        "up" if expanded else "down",
        "Collapse alarm" if expanded else "Expand alarm",
        setter(ui, "expanded", 0 if expanded else alarm),
        id=f"{_ID}arrow",
    )
    onoff = switch(enabled, id=f"{_ID}onoff", on_tap=lambda: ui.toggle(f"{path}/enabled"), cls=SWITCH_COMPAT)
    days = ui.words(f"{path}/days")
    parts = []
    if expanded:
        parts.append(
            label(
                name or "Add label",
                id=f"{_ID}edit_label",
                size=BODY,
                width=MATCH,
                height=dp(40),
                pad=(0, dp(10), 0, 0),
                on_tap=opener(ui, "clock/label", alarm=alarm, **{"text/label": name}),
                ink="text" if name else "soft",
            )
        )
    elif name:
        parts.append(label(name, id=f"{_ID}label", size=BODY, ink=ink, width=MATCH, height=dp(28)))
    parts.append(row(clock, View("android.widget.Space", weight=1), arrow, height=dp(52)))
    parts.append(
        row(
            label(_when(ui, alarm), id=f"{_ID}days_of_week", size=BODY, ink="soft", align=MIDDLE, weight=1),
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
        return "Every day"
    if days:
        return ", ".join(days)
    if not ui.flag(f"clock/alarm/{alarm}/enabled"):
        return "Not scheduled"
    now = ui.host.local_time
    return "Tomorrow" if _time(ui, alarm) <= (now.hour, now.minute) else "Today"


_DAY_NAMES = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


def _details(ui: Ui, alarm: int, days: str) -> list[View]:
    path = f"clock/alarm/{alarm}"
    chosen = [day for day in days.split(",") if day]

    def flip(day: str) -> Callable[[], object]:
        kept = [other for other in DAYS if (other in chosen) != (other == day)]
        return lambda: ui.put(f"{path}/days", ",".join(kept))

    def day_view(position: int, day: str) -> View:
        return View(
            CHECK,
            text=day[0],
            desc=_DAY_NAMES[position],
            id=f"{_ID}day_button_{position}",
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
        ui.host.show_toast("Alarm deleted")

    return [
        row(*[day_view(i, day) for i, day in enumerate(DAYS)], id=f"{_ID}repeat_days", height=dp(44), gap=dp(2)),
        label(
            "Ringtone Default (Oxygen)",
            id=f"{_ID}choose_ringtone",
            size=BODY,
            height=dp(40),
            width=MATCH,
            pad=(0, dp(10), 0, 0),
        ),
        choice(
            "Vibrate",
            ui.flag(f"{path}/vibrate"),
            lambda: ui.toggle(f"{path}/vibrate"),
            id=f"{_ID}vibrate_onoff",
            cls=CHECK,
            width=MATCH,
        ),
        button("Delete", delete, id=f"{_ID}delete", ink="text", width=dp(120)),
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
        edit_text(ui, Field("label", max_length=60), id=f"{_ID}label_edit", hint="Label"),
        title="Label",
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
                desc=name,
                size=dp(30),
                width=dp(72),
                height=dp(64),
                justify=0.5,
            ),
            label(name, id=f"android:id/label_{name}", size=SMALL, ink="soft", pad=(dp(4), dp(4), 0, 0)),
            cls=RELATIVE,
            width=dp(72),
        )

    halves = View(
        "android.widget.RadioGroup",
        (
            choice("AM", not pm, setter(ui, "pm", False), id="android:id/am_label", cls=RADIO),
            choice("PM", pm, setter(ui, "pm", True), id="android:id/pm_label", cls=RADIO),
        ),
        id="android:id/ampm_layout",
        arrange="column",
        width=WRAP,
    )
    colon = label(":", id="android:id/input_separator", size=dp(30), pad=(dp(4), dp(10), dp(4), 0))
    body = [row(part(hour_field, "hour"), colon, part(minute_field, "minute"), halves, gap=dp(4), cls=RELATIVE)]
    if wrong:
        body.append(label("Type in a valid time", id="android:id/label_error", size=SMALL, ink="error", width=MATCH))
    return dialog(
        column(*body, cls="android.widget.TimePicker", id="android:id/timePicker", gap=dp(8)),
        title="Type in time",
        buttons=cancel_and_ok(ui, lambda: _set_time(ui, alarm, pm=pm)),
    )


def _set_time(ui: Ui, alarm: int, *, pm: bool) -> None:
    hour_text, minute_text = ui.typed("hour"), ui.typed("minute")
    hour, minute = int(hour_text or -1), int(minute_text or -1)
    if not (1 <= hour <= 12 and 0 <= minute <= 59):
        ui.set("wrong", True)
        return
    hour = hour % 12 + (12 if pm else 0)
    ui.close()
    if alarm == 0:
        alarm = ui.new_id("clock/alarm")
    elif f"clock/alarm/{alarm}/hour" not in ui.host.state:
        return  # deleted while the picker was open
    for name, value in {"hour": hour, "minute": minute, "enabled": True}.items():
        ui.put(f"clock/alarm/{alarm}/{name}", value)
    ui.host.show_toast(f"Alarm set for {twelve_hour(hour, minute)}")


# ----------------------------------------------------------------------------------------------------------------------
# clock, timer, stopwatch


def clock_tab(ui: Ui) -> View:
    """Build the clock face."""
    now = ui.host.local_time
    return column(
        label(twelve_hour(now.hour, now.minute), id=f"{_ID}digital_clock", size=dp(52), align=CENTER),
        label(f"{now:%a}, {now:%b} {now.day}", id=f"{_ID}date", size=TITLE, ink="soft", align=CENTER),
        pad=(0, dp(64), 0, 0),
        gap=dp(8),
        height=MATCH,
    )


def elapsed_ms(ui: Ui, name: str) -> int:
    """Return how long a stopwatch or timer has run, pauses left out."""
    before = int(ui.host.world.get(f"clock/{name}/elapsed_ms", 0))
    if ui.words(f"clock/{name}/state") == "running":
        before += ui.host.now_ms - int(ui.host.world.get(f"clock/{name}/since_ms", ui.host.now_ms))
    return before


def _start(ui: Ui, name: str) -> None:
    ui.keep(f"clock/{name}/since_ms", ui.host.now_ms)
    ui.put(f"clock/{name}/state", "running")
    if name == "timer":
        ui.host.after(timer_left(ui) * 1000, lambda: _expire(ui))


def _expire(ui: Ui) -> None:
    if ui.words("clock/timer/state") == "running" and timer_left(ui) == 0:
        _pause(ui, "timer")
        ui.put("clock/timer/state", "expired")


def _pause(ui: Ui, name: str) -> None:
    ui.keep(f"clock/{name}/elapsed_ms", elapsed_ms(ui, name))
    ui.put(f"clock/{name}/state", "paused")


def _reset(ui: Ui, name: str, state: str) -> None:
    ui.keep(f"clock/{name}/elapsed_ms", 0)
    ui.put(f"clock/{name}/state", state)


def stopwatch_tab(ui: Ui) -> View:
    """Build the stopwatch (stopwatch_fragment.xml)."""
    state = ui.words("clock/stopwatch/state")
    seconds = elapsed_ms(ui, "stopwatch") // 1000
    running = state == "running"
    toggle = image_button(
        "pause" if running else "play",
        "Pause" if running else "Start",
        (lambda: _pause(ui, "stopwatch")) if running else (lambda: _start(ui, "stopwatch")),
        id=f"{_ID}fab",
        size=dp(56),
        fill="accent",
        ink="on_primary",
    )
    controls = [toggle]
    if state != "reset":
        controls.insert(0, button("Reset", lambda: _reset(ui, "stopwatch", "reset"), id=f"{_ID}left_button"))
    return column(
        label(f"{seconds // 60:02d}:{seconds % 60:02d}", id=f"{_ID}stopwatch_time_text", size=dp(52), align=CENTER),
        row(*controls, width=WRAP, gap=dp(24), align=CENTER),
        pad=(0, dp(64), 0, 0),
        gap=dp(48),
        height=MATCH,
    )


def timer_tab(ui: Ui) -> View:
    """Build the timer: a keypad while there is none, else the time that is left (timer_fragment.xml)."""
    if ui.words("clock/timer/state") == "none":
        return _timer_setup(ui)
    left = timer_left(ui)
    state = ui.words("clock/timer/state")
    running = state == "running"
    if running and left == 0:
        state, running = "expired", False

    def change() -> None:
        if state == "expired":
            _reset(ui, "timer", "set")
        elif running:
            _pause(ui, "timer")
        else:
            _start(ui, "timer")

    def delete() -> None:
        _reset(ui, "timer", "none")
        ui.put("clock/timer/seconds", 0)

    word = "Stop" if state == "expired" else "Pause" if running else "Start"
    return column(
        label("Time\u2019s up" if state == "expired" else "", id=f"{_ID}timer_label", ink="soft", align=CENTER),
        label(_spell(left), id=f"{_ID}timer_time_text", size=dp(44), align=CENTER),
        row(
            button("Delete", delete, id=f"{_ID}left_button"),
            image_button(
                "pause" if running else "play",
                word,
                change,
                id=f"{_ID}fab",
                size=dp(56),
                fill="accent",
                ink="on_primary",
            ),
            button("Reset", lambda: _reset(ui, "timer", "set"), id=f"{_ID}right_button"),
            width=WRAP,
            gap=dp(24),
            align=CENTER,
        ),
        pad=(0, dp(64), 0, 0),
        gap=dp(32),
        height=MATCH,
    )


def timer_left(ui: Ui) -> int:
    """Return the seconds that are left of the timer, rounded up."""
    return max(0, -(-(ui.number("clock/timer/seconds") * 1000 - elapsed_ms(ui, "timer")) // 1000))


def _spell(seconds: int) -> str:
    hours, rest = divmod(seconds, 3600)
    minutes, second = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{second:02d}" if hours else f"{minutes}:{second:02d}"


def _timer_setup(ui: Ui) -> View:
    digits = str(ui.var("timer_digits"))
    padded = digits.rjust(6, "0")
    hours, minutes, seconds = padded[:2], padded[2:4], padded[4:]

    def press(key: str) -> Callable[[], object]:
        return lambda: ui.set("timer_digits", (digits + key).lstrip("0") if len(digits) < 6 else digits)

    def start() -> None:
        total = int(hours) * 3600 + int(minutes) * 60 + int(seconds)
        ui.put("clock/timer/seconds", total)
        ui.set("timer_digits", "")
        ui.keep("clock/timer/elapsed_ms", 0)
        _start(ui, "timer")

    def key(name: str) -> View:
        return button(
            name, press(name), id=f"{_ID}timer_setup_digit_{name}", weight=1, height=dp(56), size=dp(24), ink="text"
        )

    grid = [row(*[key(str(3 * line + i)) for i in (1, 2, 3)], height=dp(56)) for line in range(3)]
    erase = image_button(
        "erase", "Delete", setter(ui, "timer_digits", digits[:-1]), id=f"{_ID}timer_setup_delete", size=dp(48)
    )
    last = row(View("android.widget.Space", weight=1), key("0"), frame(erase, weight=1, height=dp(56)), height=dp(56))
    parts = [
        label(f"{hours}h {minutes}m {seconds}s", id=f"{_ID}timer_setup_time", size=dp(36), align=CENTER),
        column(*grid, last, cls=GROUP, pad=(dp(32), 0, dp(32), 0)),
    ]
    if int(padded):
        parts.append(image_button("play", "Start", start, id=f"{_ID}fab", size=dp(56), fill="accent", ink="on_primary"))
    return column(*parts, pad=(0, dp(16), 0, 0), gap=dp(12), height=MATCH, id=f"{_ID}timer_setup")


_TAB_PAGES: dict[str, Callable[[Ui], View]] = {
    "alarms": alarms_tab,
    "clock": clock_tab,
    "timer": timer_tab,
    "stopwatch": stopwatch_tab,
}


APP = App(
    package=PACKAGE,
    label="Clock",
    home="clock/alarms",
    color="#1a73e8",
    icon="clock",
    home_row=True,
    paths={
        "clock/stopwatch/state": Kind(str, among=("reset", "running", "paused")),
        "clock/timer/seconds": Kind(int, 0, 362_439),
        "clock/timer/state": Kind(str, among=("none", "set", "running", "paused", "expired")),
    },
    records={
        "clock/alarm": {
            "hour": Kind(int, 0, 23, initial=8),
            "minute": Kind(int, 0, 59),
            "enabled": Kind(bool, initial=True),
            "label": TEXT,
            "days": Kind(str, parts=DAYS),
            "vibrate": YES_NO,
        }
    },
    screens={
        "clock/alarms": Screen(main, ACTIVITY),
        "clock/time_picker": Screen(time_picker, ACTIVITY, dialog=True),
        "clock/label": Screen(edit_label, ACTIVITY, dialog=True),
    },
    actions={"android.intent.action.SHOW_ALARMS": "clock/alarms"},
)
