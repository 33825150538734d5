"""Clock: alarms that ring, the clock face, a timer and a stopwatch (packages/apps/DeskClock). Knows no other app."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from agent_eval.device_sim.apps.deskclock.alarms import alarms_tab, edit_label, time_of, time_picker
from agent_eval.device_sim.apps.deskclock.counting import (
    LONGEST_TIMER_S,
    draw_begun,
    pause,
    reset,
    start_counting,
    stopwatch_tab,
    timer_tab,
)
from agent_eval.device_sim.apps.deskclock.names import ACTIVITY, ID, PACKAGE
from agent_eval.device_sim.apps.deskclock.ringing import (
    RINGING,
    fall_silent,
    next_ring_ms,
    ring_due,
    ringing,
    show_ringing,
    snooze,
)
from agent_eval.device_sim.apps.deskclock.words import STRINGS
from agent_eval.device_sim.apps.deskclock.world import CITY_WORDS, cities, clock_tab
from agent_eval.device_sim.profile import DAYS
from agent_eval.device_sim.schema import TEXT, YES_NO, Kind
from agent_eval.device_sim.screen import App, Draw, Host, Notice, Screen, Ui, Wake
from agent_eval.device_sim.strings import EVERYWHERE, tables
from agent_eval.device_sim.ui import MATCH, View, dp
from agent_eval.device_sim.widgets import (
    CENTER,
    FRAME,
    GROUP,
    MIDDLE,
    SMALL,
    activity,
    column,
    frame,
    image,
    label,
    row,
)

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
            image(icon, align=CENTER, id=f"{ID}navigation_bar_item_icon_view", ink="primary" if here else "icon"),
            label(
                ui.say(name),
                size=SMALL,
                align=CENTER,
                id=f"{ID}navigation_bar_item_small_label_view",
                bold=here,
                ink="primary" if here else "soft",
            ),
            cls=FRAME,
            id=f"{ID}page_{'alarm' if tab == 'alarms' else tab}",
            desc=ui.say(name),
            on_tap=choose(tab),
            weight=1,
            height=dp(56),
            pad=(0, dp(8), 0, 0),
            gap=dp(2),
        )
        view.selected = here
        return view

    bar = row(
        label(ui.say(title), id=f"{ID}title_view", size=dp(20), weight=1, align=MIDDLE),
        cls=GROUP,
        id=f"{ID}toolbar",
        height=dp(56),
        pad=(dp(24), 0, dp(16), 0),
    )
    tabs = row(*[tab_view(*tab) for tab in TABS], id=f"{ID}bottom_view", height=dp(56), fill="bar")
    body = frame(content, id=f"{ID}fragment_container", cls=GROUP, weight=1)
    return activity(ui, column(bar, body, tabs, cls=GROUP, id=f"{ID}content", height=MATCH))


def ongoing(ui: Ui) -> Sequence[Notice]:
    """Return what the clock keeps in the notification shade."""
    host = ui.host
    found = []
    alarm = int(host.world.get(RINGING, 0))
    if alarm and f"clock/alarm/{alarm}/hour" in host.state:
        found.append(
            Notice(
                ui.words(f"clock/alarm/{alarm}/label") or ui.say("Alarm"),
                ui.time_of_day(*time_of(ui, alarm)),
                lambda: show_ringing(host),
                (
                    (ui.say("Snooze"), lambda: snooze(host)),
                    (ui.say("Dismiss"), lambda: fall_silent(host, alarm)),
                ),
                urgent=True,
            )
        )
    timer = host.state["clock/timer/state"]
    if timer == "running":
        found.append(
            Notice(
                ui.say("Timer"),
                ui.say("Ends at {time}", time=_ends_at(ui)),
                lambda: _show_tab(host, "timer"),
                ((ui.say("Pause"), lambda: pause(ui, "timer")),),
            )
        )
    elif timer == "expired":
        found.append(
            Notice(
                ui.say("Time\u2019s up"),
                ui.say("Timer"),
                lambda: _show_tab(host, "timer"),
                (
                    (ui.say("Stop"), lambda: reset(ui, "timer", "set")),
                    (ui.say("Add 1 minute"), lambda: _add_minute(ui)),
                ),
                urgent=host.front_package != PACKAGE,
            )
        )
    if host.state["clock/stopwatch/state"] == "running":
        found.append(
            Notice(
                ui.say("Stopwatch"),
                ui.say("Running"),
                lambda: _show_tab(host, "stopwatch"),
                ((ui.say("Pause"), lambda: pause(ui, "stopwatch")),),
            )
        )
    return found


def _ends_at(ui: Ui) -> str:
    since = int(ui.host.world.get("clock/timer/since_ms", 0))
    before = int(ui.host.world.get("clock/timer/elapsed_ms", 0))
    end = datetime.fromtimestamp((since - before) // 1000 + ui.number("clock/timer/seconds"), UTC)
    return ui.time_of_day(end.hour, end.minute)


def _show_tab(host: Host, tab: str) -> None:
    host.open_app(PACKAGE, ACTIVITY)
    host.tell_page({"tab": tab})


def _add_minute(ui: Ui) -> None:
    ui.put("clock/timer/seconds", min(ui.number("clock/timer/seconds") + 60, LONGEST_TIMER_S))
    start_counting(ui, "timer")


_TAB_PAGES: dict[str, Callable[[Ui], View]] = {
    "alarms": alarms_tab,
    "clock": clock_tab,
    "timer": timer_tab,
    "stopwatch": stopwatch_tab,
}


def draw_idle(draw: Draw) -> None:
    """A fresh phone shows no cities of the world."""
    draw.put("clock/cities", "")
    draw_begun(draw)


APP = App(
    package=PACKAGE,
    label="Clock",
    home="clock/alarms",
    color="#1a73e8",
    icon="clock",
    home_row=True,
    paths={
        "clock/stopwatch/state": Kind(str, among=("reset", "running", "paused")),
        "clock/cities": TEXT,
        "clock/timer/seconds": Kind(int, 0, LONGEST_TIMER_S),
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
        "clock/ringing": Screen(ringing, "com.android.deskclock.alarms.AlarmActivity"),
        "clock/cities": Screen(cities, "com.android.deskclock.worldclock.CitySelectionActivity"),
    },
    actions={"android.intent.action.SHOW_ALARMS": "clock/alarms"},
    draw=draw_idle,
    ongoing=ongoing,
    wake=Wake("clock/alarm/", next_ring_ms, ring_due),
    strings=tables(EVERYWHERE, CITY_WORDS, STRINGS),
)
