"""What a task puts into a phone's calendar, and how people write days and times. Knows no goal.

Titles have two words, so that another second word, or one more letter, makes a look-alike.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from random import Random

from agent_eval.device_sim.apps.calendar import EVENT
from agent_eval.device_sim.locales import LOCALES
from agent_eval.tasks.families.calendar_expert import Appointment
from agent_eval.tasks.language import moment_of
from agent_eval.types import Scalar

_OCCASIONS = (
    "Archery", "Baking", "Ballet", "Bridge", "Carpentry", "Cello", "Ceramics", "Chess", "Choir", "Climbing", "Drama",
    "Fencing", "Film", "Flute", "Folk", "Garden", "Guitar", "Harvest", "Improv", "Jazz", "Judo", "Karate", "Knitting",
    "Latin", "Museum", "Opera", "Origami", "Painting", "Physics", "Poetry", "Pottery", "Quiz", "Robotics", "Rowing",
    "Sailing", "Salsa", "Sewing", "Skating", "Spanish", "Surfing", "Tango", "Violin", "Welding",
)  # fmt: skip
_KINDS = ("contest", "course", "evening", "lesson", "meetup", "night", "practice", "seminar", "session", "workshop")
PLACES = ("", "", "Studio 3", "Town hall", "Old mill", "Lake house", "4 Bell Lane", "14 Bell Lane")
HOURS = range(8, 21)
LENGTHS = (15, 30, 45, 60, 90, 120)
_LAST_MINUTE = 54
"""Latest minute of its hour at which a phone starts: neither hour nor day changes while a task is done."""
_FIRST_NUMBER = 901


@dataclass(frozen=True)
class Entry(Appointment):
    """One event as the phone is prepared with it."""

    people: str = ""
    location: str = ""
    repeat: str = "none"


def draw_phone(rng: Random) -> tuple[int, datetime]:
    """Draw a phone's seed; return it with the moment at which the phone starts."""
    while True:
        seed = rng.getrandbits(31)
        now = moment_of(seed)
        if now.minute <= _LAST_MINUTE:
            return seed, now


def draw_titles(count: int, rng: Random) -> list[str]:
    """Draw titles that share no first word."""
    return [f"{occasion} {rng.choice(_KINDS)}" for occasion in rng.sample(_OCCASIONS, count)]


def near_title(title: str, rng: Random) -> str:
    """Draw a title that is easily taken for another: one letter more, or another second word."""
    first, _, kind = title.partition(" ")
    return rng.choice((f"{title}s", f"{first} {rng.choice([other for other in _KINDS if other != kind])}"))


def other_minute(minute: int, rng: Random) -> int:
    """Draw another whole hour of the day."""
    return 60 * rng.choice([hour for hour in HOURS if hour * 60 != minute])


def draw_ordinary(today: date, besides: Collection[date], titles: Sequence[str], rng: Random) -> list[Entry]:
    """Draw events that no task is about, around a day but on none of some days."""
    days = [day for away in range(-6, 25) if (day := today + timedelta(days=away)) not in besides]
    return [
        Entry(rng.choice(titles), day, 30 * rng.randint(16, 40), rng.choice(LENGTHS), location=rng.choice(PLACES))
        for day in rng.choices(days, k=rng.randint(6, 12))
    ]


def enter(entries: Sequence[Entry], rng: Random) -> tuple[dict[str, Scalar], list[int]]:
    """Return the paths of events and the number of each, which tells nothing of their order."""
    numbers = rng.sample(range(_FIRST_NUMBER, _FIRST_NUMBER + len(entries)), len(entries))
    state: dict[str, Scalar] = {}
    for number, entry in zip(numbers, entries, strict=True):
        fields: dict[str, Scalar] = {
            "title": entry.title,
            "start": entry.start,
            "minutes": entry.minutes,
            "people": entry.people,
            "location": entry.location,
            "repeat": entry.repeat,
            "reminder": rng.choice((-1, 10, 30, 60)),
        }
        state |= {f"{EVENT}/{number}/{name}": value for name, value in fields.items()}
    return state, numbers


def write_day(day: date, rng: Random) -> str:
    """Write a day in one of the ways that people do."""
    month = LOCALES["en"].months[day.month - 1]
    long = LOCALES["en"].date(day, "long")
    return rng.choice((day.isoformat(), f"{day.day} {month} {day.year}", f"{month} {day.day}, {day.year}", long))


def write_time(minute: int, style: int) -> str:
    """Write a time of day: with or without the minutes of a full hour, or by a clock of 24 hours."""
    hour, minute = divmod(minute, 60)
    half = "PM" if hour >= 12 else "AM"
    if style == 0 and not minute:
        return f"{hour % 12 or 12} {half}"
    return f"{hour:02d}:{minute:02d}" if style == 1 else f"{hour % 12 or 12}:{minute:02d} {half}"


def in_series(entry: Entry, rng: Random) -> Entry:
    """Make an event one of a weekly series, which began up to three weeks before."""
    first = entry.day - timedelta(weeks=rng.randint(0, 3))
    return Entry(entry.title, first, entry.minute, entry.minutes, repeat="weekly")
