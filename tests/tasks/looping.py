"""Repetitions on the real phone: those that get on with something, and those that go round in circles.

Two tables, which ``test_loop_suite`` plays and ``docs/concepts/loops.md`` shows. Knows no detector.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from agent_eval.actions import Action, Direction, LongPress, Malformed, OpenApp, PressKey, Swipe, Tap, TypeText, Wait
from agent_eval.device_sim.moments import moment
from agent_eval.tasks.language import moment_of
from agent_eval.types import Observation, Scalar
from tests.tasks.scenes import Move, labelled, tap

Choice = Callable[[Observation], Action]

SEED = 1
"""Of every phone here."""
NOW = moment_of(SEED)
NOW_S = int(NOW.timestamp())

BACK, DELETE = PressKey(key="back"), PressKey(key="delete")
UP, DOWN, WAIT = Swipe(direction="up"), Swipe(direction="down"), Wait()
NO_CALL = Malformed("no_call", "There was no call.")


# ----------------------------------------------------------------------------------------------------------------------
# moves


def open_app(name: str) -> Action:
    """Open an app."""
    return OpenApp(app=name)


def enter(label: str, text: str) -> Choice:
    """Type into the field of a label."""
    return lambda screen: TypeText(index=labelled(screen, label, "field").index, text=text)


def hold(label: str) -> Choice:
    """Hold the element of a label."""
    return lambda screen: LongPress(index=labelled(screen, label).index)


def across(label: str, direction: Direction, *roles: str) -> Choice:
    """Swipe across the element of a label."""
    return lambda screen: Swipe(direction=direction, index=labelled(screen, label, *roles).index)


def nth(label: str, place: int) -> Choice:
    """Tap one of several elements with the same label; the first is 0."""

    def choose(screen: Observation) -> Action:
        return Tap(index=[one for one in screen.elements if one.label == label][place].index)

    return choose


def alarm(hour: str, minute: str) -> tuple[Move, ...]:
    """Create an alarm."""
    return "Add alarm", enter("hour", hour), enter("minute", minute), "OK"


def song(place: int) -> tuple[Move, ...]:
    """Put a song of the list into a playlist."""
    return nth("More options", place), "Add to playlist", "Evening Chill"


ABOUT: tuple[Move, ...] = (open_app("Settings"), UP, UP, "About phone")
INTERNET: tuple[Move, ...] = (open_app("Settings"), "Network & internet", "Internet")
SOUND: tuple[Move, ...] = (open_app("Settings"), UP, "Sound & vibration")
STOPWATCH: tuple[Move, ...] = (open_app("Clock"), "Stopwatch", "Start")
DEVICE_LOCK: tuple[Move, ...] = (open_app("Settings"), UP, UP, "Security & privacy", "Device lock")
HEADING = tap("About phone", "text")
"""Tap a title, which takes no tap."""
CONFIRM_DELETION = tap("Delete", "button")


# ----------------------------------------------------------------------------------------------------------------------
# phones


def records(prefix: str, rows: Sequence[Mapping[str, Scalar]]) -> dict[str, Scalar]:
    """Name records, numbered from 901."""
    return {f"{prefix}/{901 + place}/{name}": value for place, row in enumerate(rows) for name, value in row.items()}


def contacts(count: int) -> dict[str, Scalar]:
    """Name so many people."""
    return records("contacts", [{"name": f"Person {number:02}"} for number in range(count)])


def expenses(count: int) -> dict[str, Scalar]:
    """Name so many equal expenses of the phone's day."""
    row: dict[str, Scalar] = {"name": "Coffee", "cents": 250, "category": "Food", "note": "", "moment": NOW_S - 60}
    return records("expenses", [row] * count)


def events(count: int) -> dict[str, Scalar]:
    """Name so many equal events of the phone's day."""
    row: dict[str, Scalar] = {"title": "Standup", "start": moment(NOW.date(), 600), "minutes": 15}
    return records("calendar/event", [row] * count)


def notices(count: int) -> dict[str, Scalar]:
    """Name so many equal notifications."""
    row: dict[str, Scalar] = {
        "package": "com.android.messaging", "title": "Ada Novak", "text": "Hello", "posted": NOW_S,
    }  # fmt: skip
    return records("notifications", [row] * count)


# ----------------------------------------------------------------------------------------------------------------------
# the tables


@dataclass(frozen=True)
class Repetition:
    """One thing that is done over and over."""

    name: str
    moves: tuple[Move, ...]
    """What is done; a script of these alone ends with a declaration."""
    then: tuple[Move, ...] = ()
    """What goes on for ever after that."""
    period: Literal[0, 1, 2, 3, 4] = 0
    """Actions in one round of a loop; 0 where there is none."""
    first_step: int = 0
    """Step at which the first round begins."""
    passed_over: int = 0
    """Steps in between that are no part of the loop, up to where it is stopped."""
    why: str = ""
    """Why it is none, or what makes it one."""
    state: Mapping[str, Scalar] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    @property
    def stops_after(self) -> int:
        """Steps after which an episode is stopped: four equal actions, or three rounds of a longer period."""
        return self.first_step + self.passed_over + (4 if self.period == 1 else 3 * self.period)


_NEW = "each time the phone comes into a state that was not there before"
_OTHER_PAGE = "each time the page shows something else"

BENIGN: tuple[Repetition, ...] = (
    Repetition(
        "scrolling eight screens down a list",
        (open_app("Contacts"), *(UP,) * 8),
        why="a swipe that moved the list is passed over",
        state=contacts(90),
        without=("contacts",),
    ),
    Repetition(
        "looking through a list to its end and back, three times",
        (open_app("Contacts"), *(UP, UP, DOWN, DOWN) * 3),
        why="a swipe that moved the list is passed over, whichever way it goes",
        state=contacts(30),
        without=("contacts",),
    ),
    Repetition(
        "deleting five equal expenses with equal taps",
        (open_app("Expenses"), *("Coffee", "Delete", CONFIRM_DELETION) * 5),
        why=_NEW,
        state=expenses(5),
        without=("expenses",),
    ),
    Repetition(
        "deleting every event of a day",
        (open_app("Calendar"), "Change view", "Daily view", *("Standup", "Delete", CONFIRM_DELETION) * 4),
        why=_NEW,
        state=events(4),
        without=("calendar/event",),
    ),
    Repetition(
        "deleting four notes",
        (open_app("Notes"), *(move for name in "abcd" for move in (hold(f"list {name}"), "Delete", CONFIRM_DELETION))),
        why=_NEW,
        state={f"files/Documents/Notes/list {name}.md": "Milk" for name in "abcd"},
        without=("files/Documents/Notes",),
    ),
    Repetition(
        "adding three songs to a playlist",
        (open_app("Music"), *song(0), *song(1), *song(2)),
        why=_NEW,
    ),
    Repetition(
        "looking into the menus of four songs",
        (open_app("Music"), *(move for place in range(4) for move in (nth("More options", place), BACK))),
        why="the menus stand beside different rows: namesakes are told apart by their place",
    ),
    Repetition(
        "typing a timer of one hour on its keypad: 1, 0, 0, 0, 0",
        (open_app("Clock"), "Timer", "1", "0", "0", "0", "0"),
        why=_OTHER_PAGE,
    ),
    Repetition(
        "dialling a number of equal digits",
        (open_app("Phone"), "Key pad", *("5",) * 7),
        why=_OTHER_PAGE,
    ),
    Repetition(
        "typing the same PIN twice into a wizard",
        (*DEVICE_LOCK, "PIN", enter("", "4826"), "Next", enter("", "4826"), "Confirm"),
        why=_OTHER_PAGE,
    ),
    Repetition(
        "turning three sliders to their ends",
        (*SOUND, *(across(f"{name} volume", "right", "slider") for name in ("Media", "Ring & notification", "Alarm"))),
        why=_NEW,
        state={f"settings/volume_{name}": 1 for name in ("media", "ring", "alarm")},
    ),
    Repetition(
        "taking six photos",
        (open_app("Camera"), *("Shutter",) * 6),
        why=_NEW,
    ),
    Repetition(
        "waiting while a switch takes effect, for two switches",
        (*INTERNET, "Wi-Fi", WAIT, WAIT, BACK, "Airplane mode", WAIT, WAIT),
        why="waiting is passed over while something is pending",
        faults=("async_toggle",),
    ),
    Repetition(
        "going eight months ahead in the calendar",
        (open_app("Calendar"), *("Next month",) * 8),
        why=_OTHER_PAGE,
    ),
    Repetition(
        "deleting a word key by key",
        (open_app("Contacts"), "Create new contact", enter("First name", "abcdefgh"), *(DELETE,) * 8),
        why=_OTHER_PAGE,
    ),
    Repetition(
        "going down five folders of one name, and back up",
        (open_app("Files"), UP, "Pictures", *("New",) * 4, *(BACK,) * 5),
        why=_OTHER_PAGE,
        state={"files/Pictures/New/New/New/New/last.txt": "x"},
    ),
    Repetition(
        "creating two alarms with the same minute",
        (open_app("Clock"), *alarm("7", "30"), *alarm("8", "30")),
        why=_NEW,
    ),
    Repetition(
        "checking a value twice",
        (open_app("Settings"), UP, "Battery", BACK, "Battery"),
        why="two rounds are needed for a cycle, and this is one and a half",
    ),
    Repetition(
        "dismissing six equal notifications",
        (DOWN, *(across("Messages", "right", "row"),) * 6),
        why="a notification that goes is a state that was not there before",
        state=notices(9),
        without=("notifications",),
    ),
    Repetition(
        "flipping a switch on and, once, back off",
        (*INTERNET, "Wi-Fi", "Wi-Fi"),
        why="there and back is one round; two are a loop",
    ),
    Repetition(
        "tapping three times what does nothing, and then something else",
        (*ABOUT, *(HEADING,) * 3, BACK),
        why="four equal actions in a row make a loop of one",
    ),
)
"""What must never be taken for a loop."""

MALIGN: tuple[Repetition, ...] = (
    Repetition("tapping what does nothing", ABOUT, (HEADING,), 1, 4, why="the plain case"),
    Repetition(
        "tapping what does nothing while notifications come and go",
        ABOUT,
        (tap("Legal & regulatory", "text"), WAIT, WAIT, WAIT),
        4,
        4,
        why="a notification over the page changes the numbers of the elements, not the page",
        faults=("heads_up",),
    ),
    Repetition(
        "tapping what does nothing while a stopwatch runs",
        STOPWATCH,
        (tap("Stopwatch", "row"),),
        1,
        3,
        why="a running time is no other page",
    ),
    Repetition(
        "tapping what does nothing while a clock ticks",
        (open_app("Clock"), tap("Clock", "row")),
        (tap("Clock", "row"), WAIT),
        2,
        2,
        why="a time of day is no other page",
    ),
    Repetition(
        "flipping a switch on and off",
        INTERNET,
        ("Wi-Fi",),
        2,
        4,
        why="the first flip is progress; from then on every state was there before",
    ),
    Repetition(
        "flipping a switch that takes effect late, always before it does",
        INTERNET,
        ("Wi-Fi",),
        2,
        3,
        why="a second tap undoes what was begun, and no state was ever new",
        faults=("async_toggle",),
    ),
    Repetition("opening a page and going back", ABOUT[:1], ("Network & internet", BACK), 2, 1, why="the plain case"),
    Repetition(
        "typing into a field, tapping another, typing again",
        (open_app("Contacts"), "Create new contact"),
        (enter("First name", "Ada"), "Last name"),
        2,
        3,
        why="half-typed text is no progress once the field holds it",
    ),
    Repetition(
        "opening three apps in turn",
        (),
        tuple(map(open_app, ("Clock", "Settings", "Calendar"))),
        3,
        1,
        why="a period of three across apps, found once each app shows the same page again",
    ),
    Repetition(
        "going two pages in and two out",
        (open_app("Settings"),),
        ("Network & internet", "Internet", BACK, BACK),
        4,
        1,
        why="the longest period that is looked for",
    ),
    Repetition("opening an app that is open", (), (open_app("Clock"),), 1, 1, why="the first time it was not"),
    Repetition(
        "going back out of an app and opening it again",
        (open_app("Clock"),),
        (BACK, open_app("Clock")),
        2,
        0,
        why="the plain case",
    ),
    Repetition("waiting for nothing", (open_app("Clock"),), (WAIT,), 1, 1, why="nothing is pending"),
    Repetition(
        "waiting while a stopwatch runs",
        STOPWATCH,
        (WAIT,),
        1,
        3,
        why="what runs by itself is not pending: no wait ends it",
    ),
    Repetition(
        "swiping at the end of a list",
        (open_app("Settings"), UP, UP, UP),
        (UP,),
        1,
        3,
        why="a swipe that moved nothing counts",
    ),
    Repetition(
        "swiping over a page that does not move while a stopwatch runs",
        STOPWATCH,
        (UP,),
        1,
        3,
        why="a running time is nothing that a swipe moved",
    ),
    Repetition(
        "sliding a slider to and fro",
        SOUND,
        (across("Media volume", "right", "slider"), across("Media volume", "left", "slider")),
        2,
        5,
        why="a swipe that changes the phone is no look at a list",
        state={"settings/volume_media": 4},
    ),
    Repetition(
        "tapping between swipes to and fro",
        (open_app("Contacts"),),
        (UP, tap("Contacts", "text"), DOWN, tap("Contacts", "text")),
        2,
        2,
        passed_over=5,
        why="the swipes are passed over, what is repeated between them is not",
        state=contacts(30),
        without=("contacts",),
    ),
    Repetition(
        "replying with no call after every wait",
        (open_app("Clock"),),
        (NO_CALL, WAIT),
        2,
        1,
        why="a reply that is no call is an action like any other",
    ),
    Repetition(
        "naming a number that no element has",
        (open_app("Clock"),),
        (Tap(index=98), Tap(index=99)),
        1,
        1,
        why="numbers are no part of an action",
    ),
)
"""What must be found, once it has gone on for long enough."""
