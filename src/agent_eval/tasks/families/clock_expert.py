"""How an expert finds, adds, changes and deletes alarms in Clock. Knows no goal."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from agent_eval.tasks.moves import Move, close_keyboard, go_back, open_app, plain, scroll_for, tap, type_into, wish
from agent_eval.tasks.view import View
from agent_eval.types import Element, Snapshot

CLOCK = "com.android.deskclock"
PICKER = "clock/time_picker"

_CLOCK_TIME = re.compile(r"(1[0-2]|[1-9]):([0-5][0-9]) ([AP]M)")


class TimeOfDay(NamedTuple):
    """An hour from 0 to 23 and a minute."""

    hour: int
    minute: int

    @property
    def text(self) -> str:
        """The time as Clock shows it, such as ``7:30 AM``."""
        return f"{self.hour_12}:{self.minute:02d} {self.half}"

    @property
    def hour_12(self) -> int:
        """The hour from 1 to 12."""
        return self.hour % 12 or 12

    @property
    def half(self) -> str:
        """AM or PM."""
        return "AM" if self.hour < 12 else "PM"

    @classmethod
    def parse(cls, text: str) -> TimeOfDay | None:
        """Return the time that a text is, or None."""
        match = _CLOCK_TIME.fullmatch(text)
        if match is None:
            return None
        return cls(int(match[1]) % 12 + (12 if match[3] == "PM" else 0), int(match[2]))


@dataclass(frozen=True)
class Alarm:
    """One alarm of the state."""

    id: int
    time: TimeOfDay
    enabled: bool


def alarms_of(snapshot: Snapshot) -> tuple[Alarm, ...]:
    """Return all alarms, by id."""
    values = snapshot.under("clock/alarm")
    ids = sorted({int(path.split("/")[0]) for path in values})
    return tuple(
        Alarm(
            number,
            TimeOfDay(int(values[f"{number}/hour"]), int(values[f"{number}/minute"])),
            values[f"{number}/enabled"] is True,
        )
        for number in ids
    )


@dataclass(frozen=True)
class Card:
    """The elements on the screen that belong to one alarm."""

    time: TimeOfDay
    whole: Element
    """The card itself, or its time where the card cannot be tapped."""
    elements: tuple[Element, ...]
    """The parts of the card, from its time on."""

    def find(self, role: str, label: str = "") -> Element | None:
        """Return the first element of a role, with a label if one is given."""
        for element in self.elements:
            if element.role == role and (not label or plain(element.label).casefold() == label.casefold()):
                return element
        return None


def cards_of(view: View) -> tuple[Card, ...]:
    """Return the alarms on the screen, from the top."""
    elements = view.observation.elements
    starts = [
        (place, time)
        for place, element in enumerate(elements)
        if element.role == "button" and (time := TimeOfDay.parse(plain(element.label))) is not None
    ]
    cards = []
    for (start, time), end in zip(starts, [*(place for place, _ in starts[1:]), len(elements)], strict=False):
        rows = [
            e for e in elements[max(start - 2, 0) : start] if e.role == "row" and plain(e.label).startswith(time.text)
        ]
        cards.append(Card(time, rows[-1] if rows else elements[start], elements[start:end]))
    return tuple(cards)


def to_alarms(view: View) -> Move | None:
    """Return the move that leads towards the list of alarms; None when it is in front."""
    if view.package != CLOCK:
        return open_app("Clock")
    tab = view.find("Alarm", "row", "tab")
    if tab is None:
        return go_back()
    return None if "selected" in tab.states else tap(tab)


def card_of(view: View, alarm: Alarm) -> Card | Move:
    """Return the card of an alarm if it is on the screen, else the move that leads towards it."""
    move = to_alarms(view)
    if move is not None:
        return move
    cards = cards_of(view)
    twins = sorted(other.id for other in alarms_of(view.now) if other.time == alarm.time)
    same = [card for card in cards if card.time == alarm.time]
    if same:
        return same[min(twins.index(alarm.id), len(same) - 1)]
    further_down = not any(card.time > alarm.time for card in cards)
    return scroll_for(alarm.time.text, further_down=further_down)


def set_enabled(view: View, alarm: Alarm, wanted: bool) -> Element | Move:
    """Return the alarm's switch once it is as wanted and on the screen, else the next move towards that."""
    card = card_of(view, alarm)
    if isinstance(card, Move):
        return card
    switch = card.find("switch")
    if switch is None:
        return scroll_for(alarm.time.text, further_down=True)
    return switch if alarm.enabled == wanted else Move(tap(switch).action, standing(alarm.time, switch, wanted))


def standing(time: TimeOfDay, switch: Element, wanted: bool) -> str:
    """Say whether an alarm is on, by its time, as its switch has no label of its own: ``7:30 AM: off, want on``."""
    return f"{time.text}: {switch.states[0]}{wish(wanted)}"


def delete(view: View, alarm: Alarm) -> Move:
    """Return the next move that deletes an alarm: expand its card, then press the button in it."""
    card = card_of(view, alarm)
    if isinstance(card, Move):
        return card
    button = card.find("button", "Delete")
    if button is not None:
        return tap(button)
    if card.find("button", "Collapse alarm") is not None:
        return scroll_for("Delete", further_down=True)
    if card.find("switch") is None or _is_covered(view, card.whole):
        return scroll_for(alarm.time.text, further_down=True)
    return tap(card.whole)


def _is_covered(view: View, element: Element) -> bool:
    """Tell whether the round button lies over the middle of an element, where a tap lands."""
    button = view.find("Add alarm", "button")
    if button is None:
        return False
    (x, y), over = element.bounds.center, button.bounds
    return over.left <= x < over.right and over.top <= y < over.bottom


def add(view: View, time: TimeOfDay) -> Move:
    """Return the next move that adds an alarm."""
    if adds_alarm(view):
        return pick(view, time)
    move = to_alarms(view)
    if move is not None:
        return move
    button = view.find("Add alarm", "button")
    return go_back() if button is None else tap(button)


def change_time(view: View, alarm: Alarm, time: TimeOfDay) -> Move:
    """Return the next move that gives an alarm another time."""
    if _edited(view) == alarm.id:
        return pick(view, time)
    card = card_of(view, alarm)
    return card if isinstance(card, Move) else tap(card.elements[0])


def pick(view: View, time: TimeOfDay) -> Move:
    """Return the next move that enters a time into the picker in front and confirms it."""
    for label, wanted, text in (
        ("hour", time.hour_12, str(time.hour_12)),
        ("minute", time.minute, f"{time.minute:02d}"),
    ):
        entry = view.find(label, "field")
        if entry is not None and (not entry.value.isdecimal() or int(entry.value) != wanted):
            return type_into(entry, text)
    half = view.find(time.half, "radio")
    if half is not None and "checked" not in half.states:
        return tap(half)
    button = view.find("OK", "button")
    if button is not None and half is not None:
        return tap(button)
    return close_keyboard() if view.observation.keyboard_open else go_back()


def undo(view: View) -> Move | None:
    """Return the next move that puts an alarm back which the task has no business with; None if there is none."""
    damaged = {change.path for change in view.damage}
    before = {alarm.id: alarm for alarm in alarms_of(view.start)}
    for alarm in alarms_of(view.now):
        prefix = f"clock/alarm/{alarm.id}/"
        if not any(path.startswith(prefix) for path in damaged):
            continue
        if alarm.id not in before:
            return delete(view, alarm)
        if f"{prefix}hour" in damaged or f"{prefix}minute" in damaged:
            return change_time(view, alarm, before[alarm.id].time)
        if f"{prefix}enabled" in damaged:
            found = set_enabled(view, alarm, before[alarm.id].enabled)
            return found if isinstance(found, Move) else None
    return None


def adds_alarm(view: View) -> bool:
    """Tell whether the picker of a new alarm is in front."""
    return _edited(view) == 0


def _edited(view: View) -> int | None:
    """Return the id of the alarm whose time the picker in front sets, 0 for a new one; None without a picker."""
    if view.package != CLOCK or view.screen != PICKER:
        return None
    for path, value in view.now.transient:
        if path.endswith(f"/{PICKER}/alarm") and isinstance(value, int):
            return value
    return 0
