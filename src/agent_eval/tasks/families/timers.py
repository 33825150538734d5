"""What is asked of Clock's timer and stopwatch. Knows where both are kept in the phone's state, and no alarms.

A timer that is keyed in and not started is transient: the goal reads it there. A timer that was started is kept for
good, and so is a side effect of a task that forbids the start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from agent_eval.device_sim.apps.deskclock import CITIES, TIMER_ENTRY
from agent_eval.tasks.families.alarm_words import FRAMES
from agent_eval.tasks.families.clock_expert import CLOCK, STOPWATCH, TIMER, to_tab
from agent_eval.tasks.families.repair import mending
from agent_eval.tasks.judge import Criteria, Goal, only
from agent_eval.tasks.moves import Move, complete, finish
from agent_eval.tasks.oracle import Plan
from agent_eval.tasks.task import Draft, Language, Template, wordings
from agent_eval.tasks.view import View
from agent_eval.types import Element, Snapshot

_TIMER = (
    "set up a timer of {d}, but leave it unstarted",
    "key in a timer for {d} and do not start it",
    "prepare a timer of {d} without letting it run",
    "enter {d} as a new timer; it must not run yet",
    "get a timer for {d} ready, I will start it myself",
    "make a timer for {d}, and keep it from counting down for now",
)
_STOPWATCH: Mapping[str, Mapping[Language, Sequence[str]]] = {
    "running": {
        "en": (
            "start the stopwatch",
            "get the stopwatch going",
            "let the stopwatch count",
            "set the stopwatch running",
            "have the stopwatch time something from now on",
            "make sure the stopwatch is running",
            "begin timing with the stopwatch",
        ),
        "de": (
            "starte die Stoppuhr",
            "lass die Stoppuhr laufen",
            "setz die Stoppuhr in Gang",
            "sorge dafür, dass die Stoppuhr läuft",
            "stoppe ab jetzt die Zeit mit der Stoppuhr",
            "beginne eine Zeitmessung mit der Stoppuhr",
        ),
        "zh": (
            "启动秒表",
            "让秒表开始计时",
            "用秒表开始计时",
            "让秒表走起来",
            "确保秒表正在计时",
            "打开秒表并开始计时",
        ),
    },
    "paused": {
        "en": (
            "put the stopwatch on pause",
            "have the stopwatch paused",
            "make sure the stopwatch is paused",
            "see to it that the stopwatch is on hold",
            "hold the stopwatch where it is",
            "let the stopwatch stand still, but keep its time",
            "halt the stopwatch without resetting it",
        ),
        "de": (
            "halte die Stoppuhr an",
            "versetze die Stoppuhr in die Pause",
            "sorge dafür, dass die Stoppuhr pausiert ist",
            "lass die Stoppuhr bei ihrer jetzigen Zeit stehen",
            "unterbrich die Stoppuhr, ohne sie zurückzusetzen",
            "lass die Stoppuhr pausieren",
        ),
        "zh": (
            "暂停秒表",
            "让秒表暂停计时",
            "把秒表暂停",
            "确保秒表处于暂停状态",
            "让秒表停住，但不要重置",
            "使秒表停在当前时间",
        ),
    },
}


# ----------------------------------------------------------------------------------------------------------------------
# the timer


def _length_of(seconds: int) -> str:
    """Say a length of time in full, such as ``1 hour, 20 minutes and 5 seconds``."""
    hours, rest = divmod(seconds, 3600)
    parts = [
        f"{count} {name}{'' if count == 1 else 's'}"
        for count, name in ((hours, "hour"), (rest // 60, "minute"), (rest % 60, "second"))
        if count
    ]
    return " and ".join(part for part in (", ".join(parts[:-1]), parts[-1]) if part)


def _keys_for(seconds: int) -> str:
    """Return the keys that enter a length of time: hours, minutes and seconds without what is zero at the front."""
    return f"{seconds // 3600}{seconds // 60 % 60:02d}{seconds % 60:02d}".lstrip("0")


def _timer_goal(seconds: int) -> Goal:
    """Hold once the time is keyed in, or stands on a timer that was started: the start is judged as a side effect."""

    def holds(_start: Snapshot, now: Snapshot) -> bool:
        made = now.get("clock/timer/seconds") == seconds and now.get(TIMER) != "none"
        return made or (now.get(TIMER) == "none" and now.get(TIMER_ENTRY, 0) == seconds)

    return holds


def _display(view: View, keys: str) -> Element | None:
    """Return the display of the keypad if it shows just these keys."""
    padded = keys.rjust(6, "0")
    return view.find(view.say("{h}h {m}m {s}s", h=padded[:2], m=padded[2:4], s=padded[4:]), "text")


def _timer_plan(seconds: int) -> Plan:
    keys = _keys_for(seconds)

    @mending
    def plan(view: View) -> Move:
        move = to_tab(view, "Timer")
        if move is not None:
            return move
        typed = str(view.variable("timer_digits") or "")
        if typed == keys:
            display = _display(view, keys)
            return finish("keyed in") if display is None else complete(display)
        return view.tap_on(keys[len(typed)] if keys.startswith(typed) else "Delete", "button")

    return plan


def _draw_seconds(rng: Random) -> int:
    """Draw a length of time; most have only two of hours, minutes and seconds."""
    hours, minutes, seconds = rng.randint(1, 23), rng.randint(1, 59), rng.randint(1, 59)
    kind = rng.choice(("minutes", "hours", "all"))
    if kind == "minutes":
        return 60 * minutes + seconds
    return 3600 * hours + 60 * minutes + (seconds if kind == "all" else 0)


def _compose_timer(rng: Random) -> Draft:
    seconds = _draw_seconds(rng)
    return Draft(
        sentences={"en": wordings(_TIMER, ("{}.", "Please {}.", "On this phone, {}."), d=_length_of(seconds))},
        parameters={"seconds": seconds},
        state={TIMER: "none", "clock/timer/seconds": 0},
        criteria=Criteria(goal=_timer_goal(seconds), allowed=only(), apps=(CLOCK,)),
        plan=_timer_plan(seconds),
        oracle_steps=2 + len(_keys_for(seconds)),
        split_keys=(f"timer {seconds}",),
    )


# ----------------------------------------------------------------------------------------------------------------------
# the stopwatch


def _stopwatch_plan(wanted: str) -> Plan:
    @mending
    def plan(view: View) -> Move:
        move = to_tab(view, "Stopwatch")
        if move is not None:
            return move
        state = view.now.get(STOPWATCH)
        if state == wanted:
            shown = view.find("Pause" if wanted == "running" else "Start", "button")
            return finish(wanted) if shown is None else complete(shown)
        return view.tap_on("Pause" if state == "running" else "Start", "button")

    return plan


def _compose_stopwatch(rng: Random) -> Draft:
    """Ask for a stopwatch that runs where it stands at zero, or for one that is paused where it is so already."""
    wanted = rng.choice(("running", "paused"))
    start = "reset" if wanted == "running" else "paused"
    return Draft(
        sentences={language: wordings(clauses, FRAMES[language]) for language, clauses in _STOPWATCH[wanted].items()},
        parameters={"wanted": wanted, "start": start},
        state={STOPWATCH: start, "clock/cities": "|".join(sorted(rng.sample(sorted(CITIES), rng.randint(0, 3))))},
        criteria=Criteria(
            goal=lambda _start, now: now.get(STOPWATCH) == wanted, allowed=only(STOPWATCH), apps=(CLOCK,)
        ),
        plan=_stopwatch_plan(wanted),
        oracle_steps=3 if wanted == "running" else 2,
    )


TIMER_CREATE = Template(
    name="TimerCreate",
    summary="key in a timer and leave it unstarted",
    tier=2,
    traits=("guard",),
    compose=_compose_timer,
    android_world=("ClockTimerEntry",),
)
STOPWATCH_RUN = Template(
    name="StopwatchRun",
    summary="let the stopwatch run, or see that it is paused already",
    tier=1,
    compose=_compose_stopwatch,
    android_world=("ClockStopWatchRunning", "ClockStopWatchPausedVerify"),
)
