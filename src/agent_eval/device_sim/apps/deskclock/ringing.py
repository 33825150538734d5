"""Alarms that ring: when one is due, what it shows, and how it is snoozed, dismissed or missed.

What rings is transient (``clock/ringing``, ``clock/rang``). An alarm that does not repeat switches itself off once it
was dismissed or missed, as on Android; the ringing itself changes nothing that lasts.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from agent_eval.device_sim.apps.deskclock.alarms import time_of
from agent_eval.device_sim.apps.deskclock.names import ID, PACKAGE
from agent_eval.device_sim.profile import DAYS
from agent_eval.device_sim.screen import Host, Page, Ui
from agent_eval.device_sim.ui import MATCH, View, dp
from agent_eval.device_sim.widgets import (
    CENTER,
    activity,
    app_bar,
    button,
    column,
    label,
    row,
)
from agent_eval.types import Bounds

SNOOZE_MS = 10 * 60 * 1000
SILENCE_MS = 10 * 60 * 1000
"""How long "Snooze" waits, and after how long an alarm that nobody answers gives up (DeskClock's defaults)."""
RINGING = "clock/ringing"
_RANG = "clock/rang"
"""Transient: the alarm that rings now, or 0, and the alarms that have rung since the phone started."""


def next_ring_ms(host: Host) -> int | None:
    """Return when the next alarm is due, in milliseconds since the epoch."""
    moments = [moment for alarm in _alarms(host) if (moment := _due_s(host, alarm)) is not None]
    return min(moments) * 1000 if moments else None


def _alarms(host: Host) -> list[int]:
    return list(host.state.numbers("clock/alarm"))


def _due_s(host: Host, alarm: int) -> int | None:
    path = f"clock/alarm/{alarm}"
    if not host.state[f"{path}/enabled"]:
        return None
    now = host.local_time
    days = [day for day in str(host.state[f"{path}/days"]).split(",") if day]
    at = now.replace(hour=int(host.state[f"{path}/hour"]), minute=int(host.state[f"{path}/minute"]), second=0)
    for _ in range(8):
        if at > now and (not days or DAYS[(at.weekday() + 1) % 7] in days):
            return int(at.timestamp())
        at += timedelta(days=1)
    return None


def ring_due(host: Host) -> None:
    """Ring the alarm whose minute has come."""
    now = host.local_time
    today = DAYS[(now.weekday() + 1) % 7]
    for alarm in _alarms(host):
        path = f"clock/alarm/{alarm}"
        days = [day for day in str(host.state[f"{path}/days"]).split(",") if day]
        time = (host.state[f"{path}/hour"], host.state[f"{path}/minute"])
        if host.state[f"{path}/enabled"] and time == (now.hour, now.minute) and (not days or today in days):
            _ring(host, alarm)


def _ring(host: Host, alarm: int) -> None:
    """Show an alarm on top of what is in front, or on the whole screen when that was off."""
    if f"clock/alarm/{alarm}/hour" not in host.state:
        return
    since = host.local_time.timestamp()
    host.world[RINGING] = alarm
    host.world["clock/ringing_since"] = int(since)
    rang = [name for name in str(host.world.get(_RANG, "")).split(",") if name]
    host.world[_RANG] = ",".join(sorted({*rang, str(alarm)}, key=int))
    host.after(SILENCE_MS, lambda: _give_up(host, alarm, int(since)))
    if not host.world["screen/on"]:
        host.world["screen/on"] = True
        show_ringing(host)


def show_ringing(host: Host) -> None:
    """Open the page of the ringing alarm."""
    host.open_app(PACKAGE)
    host.open_page("clock/ringing", {})


def _give_up(host: Host, alarm: int, since: int) -> None:
    if host.world.get(RINGING) == alarm and host.world.get("clock/ringing_since") == since:
        path = f"clock/alarm/{alarm}"
        ui = Ui(host, Page("clock/alarms"), Bounds(0, 0, 0, 0), Bounds(0, 0, 0, 0))
        time = ui.time_of_day(*time_of(ui, alarm))
        fall_silent(host, alarm)
        ui.notify(ui.say("Missed alarm"), f"{time} {ui.words(f'{path}/label')}".strip())


def fall_silent(host: Host, alarm: int) -> None:
    """End the ringing; an alarm that does not repeat is off from now on."""
    host.world[RINGING] = 0
    path = f"clock/alarm/{alarm}"
    if host.state.get(f"{path}/days") == "":
        host.put(f"{path}/enabled", False)


def snooze(host: Host) -> None:
    """End the ringing for ten minutes."""
    alarm = int(host.world.get(RINGING, 0))
    host.world[RINGING] = 0
    host.after(SNOOZE_MS, lambda: _ring(host, alarm))


def ringing(ui: Ui) -> View:
    """Build the page of a ringing alarm (alarm_activity.xml)."""
    alarm = int(ui.host.world.get(RINGING, 0))

    def then(act: Callable[[], object]) -> Callable[[], object]:
        def done() -> None:
            act()
            ui.close()

        return done

    name = ui.words(f"clock/alarm/{alarm}/label") or ui.say("Alarm")
    if not alarm:
        return activity(ui, app_bar(ui, ui.say("Alarm")), label(ui.say("No alarm is ringing"), pad=(dp(24),) * 4))
    return activity(
        ui,
        column(
            label(ui.time_of_day(*time_of(ui, alarm)), id=f"{ID}digital_clock", size=dp(52), align=CENTER),
            label(name, id=f"{ID}title", size=dp(24), align=CENTER),
            row(
                button(ui.say("Snooze"), then(lambda: snooze(ui.host)), id=f"{ID}snooze", weight=1, fill="chip"),
                button(ui.say("Dismiss"), then(lambda: fall_silent(ui.host, alarm)), id=f"{ID}dismiss", weight=1,
                       fill="accent", ink="on_primary"),
                gap=dp(16),
            ),
            pad=(dp(32), dp(120), dp(32), 0),
            gap=dp(40),
            height=MATCH,
        ),
    )  # fmt: skip
