"""How an expert finds, adds, changes and deletes alarms in Clock, and how it reaches its tabs. Knows no goal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

from agent_eval.actions import Tap
from agent_eval.device_sim.locales import LOCALES
from agent_eval.device_sim.profile import DAYS
from agent_eval.tasks.moves import Move, close_keyboard, go_back, open_app, plain, scroll_for, tap, type_into
from agent_eval.tasks.view import View
from agent_eval.types import Element, Scalar, Snapshot

CLOCK = "com.android.deskclock"
PICKER = "clock/time_picker"
LABEL_DIALOG = "clock/label"
TIMER = "clock/timer/state"
STOPWATCH = "clock/stopwatch/state"

_CLOCK_TIME = re.compile(r"(1[0-2]|[1-9]):([0-5][0-9]) ([AP]M)")


class TimeOfDay(NamedTuple):
    """An hour from 0 to 23 and a minute."""

    hour: int
    minute: int

    @property
    def text(self) -> str:
        """The time as people write it in English, such as ``7:30 AM``."""
        return self.written("en")

    def written(self, language: str) -> str:
        """Return the time as people write it in a language."""
        return LOCALES[language].time_of_day(self.hour, self.minute)

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
        """Return the time that an English text is, or None."""
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
    label: str = ""
    days: frozenset[str] = frozenset()
    """Days on which it repeats, out of ``DAYS``."""
    vibrate: bool = False

    @property
    def state(self) -> dict[str, Scalar]:
        """The alarm as persisted paths."""
        fields: dict[str, Scalar] = {
            "hour": self.time.hour,
            "minute": self.time.minute,
            "enabled": self.enabled,
            "label": self.label,
            "days": ",".join(day for day in DAYS if day in self.days),
            "vibrate": self.vibrate,
        }
        return {f"clock/alarm/{self.id}/{name}": value for name, value in fields.items()}


def alarms_of(snapshot: Snapshot) -> tuple[Alarm, ...]:
    """Return all alarms, by id."""
    found: dict[int, dict[str, Scalar]] = {}
    for path, value in snapshot.under("clock/alarm").items():
        number, _, name = path.partition("/")
        found.setdefault(int(number), {})[name] = value
    return tuple(_alarm_from(number, found[number]) for number in sorted(found))


def _alarm_from(number: int, fields: Mapping[str, Scalar]) -> Alarm:
    return Alarm(
        number,
        TimeOfDay(int(fields["hour"]), int(fields["minute"])),
        fields["enabled"] is True,
        str(fields["label"]),
        frozenset(day for day in str(fields["days"]).split(",") if day),
        fields["vibrate"] is True,
    )


# ----------------------------------------------------------------------------------------------------------------------
# the list of alarms

Part = Literal["label", "time", "arrow", "switch", "day", "vibrate", "delete"]
"""What a card is made of, from the top."""

_PARTS: tuple[Part, ...] = get_args(Part)
_DETAILS: tuple[Part, ...] = ("label", "day", "vibrate", "delete")
"""What only an expanded card shows."""


@dataclass(frozen=True)
class Card:
    """The elements on the screen that belong to one alarm."""

    alarm: Alarm
    elements: tuple[Element, ...]


def clock_text(view: View, time: TimeOfDay) -> str:
    """Return a time as the phone in front shows it."""
    return plain(view.speech.time_of_day(time.hour, time.minute))


def cards_of(view: View) -> tuple[Card, ...]:
    """Return the alarms on the screen, from the top.

    A card is known by its row, its time and its switch; any of them may be off the screen or under the round button.
    """
    elements = view.observation.elements
    left = sorted(alarms_of(view.now), key=_order)
    starts: list[tuple[int, Alarm]] = []
    seen: set[str] = set()
    for place, element in enumerate(elements):
        if starts and element.role not in seen and _tells(view, element, starts[-1][1]):
            seen.add(element.role)
            continue
        alarm = next((one for one in left if _tells(view, element, one)), None)
        if alarm is not None:
            left.remove(alarm)
            seen = {"row", element.role}
            label_first = element.role == "button" and place > 0 and _is_label(view, elements[place - 1], alarm)
            starts.append((place - label_first, alarm))
    foot = view.find("Add alarm", "button") or view.find("Alarm", "row", "tab")
    ends = [place for place, _ in starts[1:]] + [len(elements) if foot is None else elements.index(foot)]
    return tuple(Card(alarm, elements[start:end]) for (start, alarm), end in zip(starts, ends, strict=False))


def _tells(view: View, element: Element, alarm: Alarm) -> bool:
    """Tell whether an element is the row, the time or the switch of an alarm, by its label."""
    if element.role == "button":
        return plain(element.label) == clock_text(view, alarm.time)
    return element.role in ("row", "switch") and plain(element.label) == _name(view, alarm)


def _is_label(view: View, element: Element, alarm: Alarm) -> bool:
    return element.role == "button" and plain(element.label) in (plain(alarm.label), view.say("Add label"))


def _order(alarm: Alarm) -> tuple[TimeOfDay, int]:
    return alarm.time, alarm.id


def _name(view: View, alarm: Alarm) -> str:
    """Return what the card of an alarm is called as a whole."""
    return plain(f"{clock_text(view, alarm.time)} {alarm.label}")


def to_tab(view: View, name: str) -> Move | None:
    """Return the move that leads towards a tab of Clock; None when it is in front."""
    if view.package != CLOCK:
        return open_app("Clock")
    tab = view.find(name, "row", "tab")
    if tab is None:
        return close_keyboard() if view.keyboard else go_back()
    return None if "selected" in tab.states else tap(tab)


def card_of(view: View, alarm: Alarm) -> Card | Move:
    """Return the card of an alarm if it is on the screen, else the move that leads towards it."""
    move = to_tab(view, "Alarm")
    if move is not None:
        return move
    cards = cards_of(view)
    found = [card for card in cards if card.alarm.id == alarm.id]
    found += [card for card in cards if _name(view, card.alarm) == _name(view, alarm)]
    if found:
        return found[0]
    further_down = not any(_order(card.alarm) > _order(alarm) for card in cards)
    return scroll_for(clock_text(view, alarm.time), further_down=further_down)


def show(view: View, alarm: Alarm, part: Part) -> tuple[Element, ...] | Move:
    """Return what a card has of one part once it is on the screen, else the next move towards that."""
    card = card_of(view, alarm)
    if isinstance(card, Move):
        return card
    if part in _DETAILS and view.variable("expanded") != alarm.id:
        arrow = _look(view, card, "arrow")
        if isinstance(arrow, Move):
            return arrow
        time = clock_text(view, alarm.time)  # every card has an arrow of this name
        return Move(Tap(index=arrow[0].index), f"{time} {plain(arrow[0].label)}")
    return _look(view, card, part)


def _look(view: View, card: Card, part: Part) -> tuple[Element, ...] | Move:
    kinds = [_part(view, card, element) for element in card.elements]
    covered = part in _DETAILS and any(_part(view, card, element) == part for element in view.observation.behind)
    found = tuple(element for element, kind in zip(card.elements, kinds, strict=True) if kind == part)
    if found and not covered:
        return found
    below = any(kind is not None and _PARTS.index(kind) > _PARTS.index(part) for kind in kinds)
    words = {"vibrate": view.say("Vibrate"), "delete": view.say("Delete")}
    looked_for = words.get(part, clock_text(view, card.alarm.time))
    return scroll_for(looked_for, further_down=covered or not below)  # the round button covers what is at the foot


def _part(view: View, card: Card, element: Element) -> Part | None:
    label = plain(element.label)
    if element.role == "switch":
        return "switch"
    if element.role == "checkbox":
        return "vibrate" if label == view.say("Vibrate") else "day"
    if element.role != "button":
        return None
    if label == clock_text(view, card.alarm.time):
        return "time"
    if label in (view.say("Expand alarm"), view.say("Collapse alarm")):
        return "arrow"
    return "delete" if label == view.say("Delete") else "label"


# ----------------------------------------------------------------------------------------------------------------------
# what is done to an alarm


def set_enabled(view: View, alarm: Alarm, wanted: bool) -> Element | Move:
    """Return the alarm's switch once it is as wanted and on the screen, else the next move towards that."""
    found = show(view, alarm, "switch")
    if isinstance(found, Move):
        return found
    switch = found[0]
    if alarm.enabled == wanted:
        return switch
    return tap(switch, wanted)


def delete(view: View, alarm: Alarm) -> Move:
    """Return the next move that deletes an alarm: expand its card, then press the button in it."""
    return _tap_on(view, alarm, "delete")


def add(view: View, time: TimeOfDay) -> Move:
    """Return the next move that adds an alarm."""
    if adds_alarm(view):
        return pick(view, time)
    return to_tab(view, "Alarm") or view.tap_on("Add alarm", "button")


def change_time(view: View, alarm: Alarm, time: TimeOfDay) -> Move:
    """Return the next move that gives an alarm another time."""
    return pick(view, time) if _edited(view, PICKER) == alarm.id else _tap_on(view, alarm, "time")


def change_label(view: View, alarm: Alarm, label: str) -> Move:
    """Return the next move that gives an alarm another label."""
    if _edited(view, LABEL_DIALOG) == alarm.id:
        return view.fill({"Label": label}) or view.tap_on("OK", "button")
    return _tap_on(view, alarm, "label")


def make(view: View, alarm: Alarm, wanted: Alarm) -> Move | None:
    """Return the next move that makes an alarm what is wanted; None once it is."""
    if alarm.time != wanted.time:
        return change_time(view, alarm, wanted.time)
    if alarm.label != wanted.label:
        return change_label(view, alarm, wanted.label)
    if alarm.days != wanted.days:
        boxes = show(view, alarm, "day")
        if isinstance(boxes, Move):
            return boxes
        other = alarm.days ^ wanted.days
        return next((tap(box) for box, day in zip(boxes, DAYS, strict=False) if day in other), tap(boxes[0]))
    if alarm.vibrate != wanted.vibrate:
        return _tap_on(view, alarm, "vibrate")
    if alarm.enabled != wanted.enabled:
        found = set_enabled(view, alarm, wanted.enabled)
        return found if isinstance(found, Move) else None
    return None


def _tap_on(view: View, alarm: Alarm, part: Part) -> Move:
    found = show(view, alarm, part)
    return found if isinstance(found, Move) else tap(found[0])


def pick(view: View, time: TimeOfDay) -> Move:
    """Return the next move that enters a time into the picker in front and confirms it."""
    twelve = view.speech.locale.twelve_hours
    hour = str(time.hour_12) if twelve else f"{time.hour:02d}"
    for label, text in (("hour", hour), ("minute", f"{time.minute:02d}")):
        entry = view.find(label, "field")
        if entry is not None and (not entry.value.isdecimal() or int(entry.value) != int(text)):
            return type_into(entry, text)
    half = view.find(time.half, "radio")
    if half is not None and "checked" not in half.states:
        return tap(half)
    button = view.find("OK", "button")
    if button is not None and (half is not None or not twelve):
        return tap(button)
    return close_keyboard() if view.keyboard else go_back()


def adds_alarm(view: View) -> bool:
    """Tell whether the picker of a new alarm is in front."""
    return _edited(view, PICKER) == 0


def _edited(view: View, dialog: str) -> int | None:
    """Return the id of the alarm that a dialog in front changes, 0 for a new one; None if another page is there."""
    if view.package != CLOCK or view.screen != dialog:
        return None
    return int(view.variable("alarm") or 0)


# ----------------------------------------------------------------------------------------------------------------------
# damage


def undo(view: View) -> Move | None:
    """Return the next move that puts back what the task has no business with; None if there is none."""
    damaged = {change.path for change in view.damage}
    before = {alarm.id: alarm for alarm in alarms_of(view.start)}
    for alarm in alarms_of(view.now):
        spoiled = {path.rpartition("/")[2] for path in damaged if path.startswith(f"clock/alarm/{alarm.id}/")}
        if not spoiled:
            continue
        if alarm.id not in before:
            return delete(view, alarm)
        move = make(view, alarm, _mended(alarm, before[alarm.id], spoiled))
        if move is not None:
            return move
    if TIMER in damaged and view.start.get(TIMER) == "none":
        return to_tab(view, "Timer") or view.tap_on("Delete", "button")
    if STOPWATCH in damaged and view.start.get(STOPWATCH) == "reset":
        return to_tab(view, "Stopwatch") or view.tap_on("Reset", "button")
    return None


def _mended(alarm: Alarm, before: Alarm, spoiled: set[str]) -> Alarm:
    """Return an alarm with the spoiled fields as they were; what the task may change stays as it is."""
    return replace(
        alarm,
        time=before.time if spoiled & {"hour", "minute"} else alarm.time,
        enabled=before.enabled if "enabled" in spoiled else alarm.enabled,
        label=before.label if "label" in spoiled else alarm.label,
        days=before.days if "days" in spoiled else alarm.days,
        vibrate=before.vibrate if "vibrate" in spoiled else alarm.vibrate,
    )
