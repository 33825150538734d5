"""The timer and the stopwatch (timer_fragment.xml, stopwatch_fragment.xml).

How far they have counted, the laps, and what is keyed in for a timer that was not started (``clock/timer/entry_s``) are
transient.
"""

from __future__ import annotations

from collections.abc import Callable

from agent_eval.device_sim.apps.deskclock.names import ID
from agent_eval.device_sim.screen import Draw, Ui
from agent_eval.device_sim.ui import MATCH, WRAP, View, dp
from agent_eval.device_sim.widgets import (
    CENTER,
    GROUP,
    TITLE,
    button,
    column,
    frame,
    image_button,
    label,
    row,
    scroll_column,
)

_BEGUN = "clock/stopwatch/begun_ms"
"""Transient: how far the stopwatch has counted of a phone that starts with one that is not at zero."""


def draw_begun(draw: Draw) -> None:
    """Draw how far the stopwatch has counted, should the phone start with one that is not at zero."""
    draw.keep(_BEGUN, draw.rng.randrange(5_000, 1_800_000))


def elapsed_ms(ui: Ui, name: str) -> int:
    """Return how long a stopwatch or timer has run, pauses left out."""
    state = ui.words(f"clock/{name}/state")
    begun = int(ui.host.world.get(_BEGUN, 0)) if name == "stopwatch" and state != "reset" else 0
    before = int(ui.host.world.get(f"clock/{name}/elapsed_ms", begun))
    if state == "running":
        before += ui.host.now_ms - int(ui.host.world.get(f"clock/{name}/since_ms", ui.host.now_ms))
    return before


def start_counting(ui: Ui, name: str) -> None:
    """Let the timer or the stopwatch run."""
    ui.keep(f"clock/{name}/elapsed_ms", elapsed_ms(ui, name))
    ui.keep(f"clock/{name}/since_ms", ui.host.now_ms)
    ui.put(f"clock/{name}/state", "running")
    if name == "timer":
        ui.host.after(timer_left(ui) * 1000, lambda: _expire(ui))


def _expire(ui: Ui) -> None:
    if ui.words("clock/timer/state") == "running" and timer_left(ui) == 0:
        pause(ui, "timer")
        ui.put("clock/timer/state", "expired")


def pause(ui: Ui, name: str) -> None:
    """Stop the timer or the stopwatch where it is."""
    ui.keep(f"clock/{name}/elapsed_ms", elapsed_ms(ui, name))
    ui.put(f"clock/{name}/state", "paused")


def reset(ui: Ui, name: str, state: str) -> None:
    """Take the timer or the stopwatch back to its beginning."""
    ui.keep(f"clock/{name}/elapsed_ms", 0)
    if name == "stopwatch":
        ui.host.world.pop(_LAPS, None)
    ui.put(f"clock/{name}/state", state)


_LAPS = "clock/stopwatch/laps_ms"
"""Transient: when each lap ended, in milliseconds on the stopwatch, joined by commas."""


def _lap(ui: Ui) -> None:
    ui.keep(_LAPS, ",".join([*(str(end) for end in _laps(ui)), str(elapsed_ms(ui, "stopwatch"))]))


def _laps(ui: Ui) -> list[int]:
    return [int(end) for end in str(ui.known(_LAPS)).split(",") if end]


def _on_watch(milliseconds: int) -> str:
    return f"{milliseconds // 60_000:02d}:{milliseconds // 1000 % 60:02d}.{milliseconds // 10 % 100:02d}"


def _lap_rows(ui: Ui) -> list[View]:
    ends = _laps(ui)
    rows = []
    for number in range(len(ends), 0, -1):
        since = ends[number - 2] if number > 1 else 0
        rows.append(
            row(
                label(f"# {number}", id=f"{ID}lap_number", size=TITLE, ink="soft", width=dp(56)),
                label(_on_watch(ends[number - 1] - since), id=f"{ID}lap_time", size=TITLE, weight=1),
                label(_on_watch(ends[number - 1]), id=f"{ID}lap_total", size=TITLE, ink="soft"),
                height=dp(40),
                pad=(dp(48), 0, dp(48), 0),
            )
        )
    return rows


def stopwatch_tab(ui: Ui) -> View:
    """Build the stopwatch (stopwatch_fragment.xml)."""
    state = ui.words("clock/stopwatch/state")
    seconds = elapsed_ms(ui, "stopwatch") // 1000
    running = state == "running"
    toggle = image_button(
        "pause" if running else "play",
        ui.say("Pause") if running else ui.say("Start"),
        (lambda: pause(ui, "stopwatch")) if running else (lambda: start_counting(ui, "stopwatch")),
        id=f"{ID}fab",
        size=dp(56),
        fill="accent",
        ink="on_primary",
    )
    controls = [toggle]
    if state != "reset":
        controls.insert(0, button(ui.say("Reset"), lambda: reset(ui, "stopwatch", "reset"), id=f"{ID}left_button"))
    if running:
        controls.append(button(ui.say("Lap"), lambda: _lap(ui), id=f"{ID}right_button"))
    return column(
        label(f"{seconds // 60:02d}:{seconds % 60:02d}", id=f"{ID}stopwatch_time_text", size=dp(52), align=CENTER),
        row(*controls, width=WRAP, gap=dp(24), align=CENTER),
        scroll_column(ui, _lap_rows(ui), name="laps", id=f"{ID}laps_list", weight=1, height=0),
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
            reset(ui, "timer", "set")
        elif running:
            pause(ui, "timer")
        else:
            start_counting(ui, "timer")

    def delete() -> None:
        reset(ui, "timer", "none")
        ui.put("clock/timer/seconds", 0)

    word = ui.say("Stop" if state == "expired" else "Pause" if running else "Start")
    return column(
        label(ui.say("Time\u2019s up") if state == "expired" else "", id=f"{ID}timer_label", ink="soft", align=CENTER),
        label(_spell(left), id=f"{ID}timer_time_text", size=dp(44), align=CENTER),
        row(
            button(ui.say("Delete"), delete, id=f"{ID}left_button"),
            image_button(
                "pause" if running else "play",
                word,
                change,
                id=f"{ID}fab",
                size=dp(56),
                fill="accent",
                ink="on_primary",
            ),
            button(ui.say("Reset"), lambda: reset(ui, "timer", "set"), id=f"{ID}right_button"),
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


TIMER_ENTRY = "clock/timer/entry_s"
"""Transient: the seconds that are keyed in for a timer that was not started."""
LONGEST_TIMER_S = 362_439
"""99 hours, 99 minutes and 99 seconds."""


def _keyed_s(digits: str) -> int:
    padded = digits.rjust(6, "0")
    return int(padded[:2]) * 3600 + int(padded[2:4]) * 60 + int(padded[4:])


def _timer_setup(ui: Ui) -> View:
    digits = str(ui.var("timer_digits"))
    padded = digits.rjust(6, "0")
    hours, minutes, seconds = padded[:2], padded[2:4], padded[4:]

    def enter(typed: str) -> None:
        ui.set("timer_digits", typed)
        ui.keep(TIMER_ENTRY, _keyed_s(typed))

    def press(key: str) -> Callable[[], object]:
        return lambda: enter((digits + key).lstrip("0") if len(digits) < 6 else digits)

    def start() -> None:
        ui.put("clock/timer/seconds", _keyed_s(digits))
        enter("")
        ui.keep("clock/timer/elapsed_ms", 0)
        start_counting(ui, "timer")

    def key(name: str) -> View:
        return button(
            name, press(name), id=f"{ID}timer_setup_digit_{name}", weight=1, height=dp(56), size=dp(24), ink="text"
        )

    grid = [row(*[key(str(3 * line + i)) for i in (1, 2, 3)], height=dp(56)) for line in range(3)]
    erase = image_button(
        "erase", ui.say("Delete"), lambda: enter(digits[:-1]), id=f"{ID}timer_setup_delete", size=dp(48)
    )
    last = row(View("android.widget.Space", weight=1), key("0"), frame(erase, weight=1, height=dp(56)), height=dp(56))
    parts = [
        label(
            ui.say("{h}h {m}m {s}s", h=hours, m=minutes, s=seconds),
            id=f"{ID}timer_setup_time",
            size=dp(36),
            align=CENTER,
        ),
        column(*grid, last, cls=GROUP, pad=(dp(32), 0, dp(32), 0)),
    ]
    if int(padded):
        parts.append(
            image_button("play", ui.say("Start"), start, id=f"{ID}fab", size=dp(56), fill="accent", ink="on_primary")
        )
    return column(*parts, pad=(0, dp(16), 0, 0), gap=dp(12), height=MATCH, id=f"{ID}timer_setup")
