"""What an app author writes against: apps are tables of screens, a screen is one function from ``Ui`` to ``View``.

``Ui`` is all that a screen function sees of the phone. It reads state while the tree is built, and changes state only
inside the callbacks of views. Knows neither layout nor any particular app.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Protocol

from agent_eval.device_sim.files import Files
from agent_eval.device_sim.locales import DateStyle, Locale
from agent_eval.device_sim.paths import Paths
from agent_eval.device_sim.schema import FILES, Fields, Kind, Schema
from agent_eval.device_sim.ui import View
from agent_eval.types import Bounds, Scalar

WRITTEN = "written/"
"""Prefix of transient values that say when a drawn file of the shared storage was last written."""


@dataclass(slots=True)
class Page:
    """One entry of a back stack: a screen and the variables that die with it."""

    screen: str
    vars: dict[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Screen:
    """How one kind of page is shown."""

    build: Callable[[Ui], View]
    activity: str
    """Fully qualified class name that ``dumpsys`` reports."""
    dialog: bool = False
    """A window of its own size above the page below; a touch outside closes it."""
    package: str = ""
    """Package that owns the window, where it is not the app's own."""
    on_open: Callable[[Ui], object] | None = None
    """Called once, when the page is put on top."""
    on_back: Callable[[Ui], bool] | None = None
    """Asked before the back key closes the page; True means that it answered the key and the page stays."""
    modal: bool = False
    """A dialog that a touch outside does not close."""
    private: bool = False
    """Only its own app opens it, which tells it what to show."""

    @property
    def exported(self) -> bool:
        """Whether the name of its activity opens it."""
        return not (self.dialog or self.private)


@dataclass(frozen=True, slots=True)
class Notice:
    """What an app keeps in the notification shade for as long as it is busy: it cannot be swiped away."""

    title: str
    text: str
    on_tap: Callable[[], object]
    actions: tuple[tuple[str, Callable[[], object]], ...] = ()
    """Buttons: what they say and do."""
    urgent: bool = False
    """Shown on top of whatever is in front, too."""


@dataclass(frozen=True, slots=True)
class Wake:
    """When an app wants to be woken by the phone's clock."""

    prefix: str
    """Persisted paths that decide the moment."""
    due: Callable[[Host], int | None]
    """Return the next moment in milliseconds since the epoch, or None."""
    ring: Callable[[Host], object]
    """Called at that moment."""


class Draw:
    """What an app's own part of a fresh phone is drawn with; every app draws from a stream of its own.

    Args:
        seed: The phone's seed.
        package: The app.
        state: Persisted paths so far.
        world: Transient values so far.
        now: The moment at which the phone starts.
    """

    def __init__(
        self,
        seed: int,
        package: str,
        state: MutableMapping[str, Scalar],
        world: MutableMapping[str, Scalar],
        now: datetime,
    ) -> None:
        self.rng = random.Random(f"phone {seed} {package}")
        self.state = state
        self.world = world
        self.now = now

    def put(self, path: str, value: Scalar) -> None:
        """Persist a value."""
        self.state[path] = value

    def keep(self, path: str, value: Scalar) -> None:
        """Keep a transient value."""
        self.world[path] = value

    def record(self, prefix: str, **fields: Scalar) -> int:
        """Add a numbered record and return its number; fields left out start as the schema says."""
        number = int(self.world.get(last_id_path(prefix), 0)) + 1
        self.world[last_id_path(prefix)] = number
        for name, value in fields.items():
            self.state[f"{prefix}/{number}/{name}"] = value
        return number

    def file(self, path: str, text: str, *, mtime_s: int = 0) -> None:
        """Put a text file into the shared storage, at a path such as ``Download/list.txt``; its folders come along.

        Args:
            path: Where, below the shared storage.
            text: What it holds.
            mtime_s: When it was last written, in seconds since the epoch; 0 for the moment at which the phone starts.
        """
        self.state[f"{FILES}/{path}"] = text
        if mtime_s:
            self.world[f"{WRITTEN}{path}"] = mtime_s

    def folder(self, path: str) -> None:
        """Put an empty folder into the shared storage."""
        self.state[f"{FILES}/{path}/"] = ""


def last_id_path(prefix: str) -> str:
    """Return where the phone keeps the highest number that a kind of record ever had: numbers are never reused."""
    return f"last_id/{prefix}"


@dataclass(frozen=True, slots=True)
class App:
    """An installed app: its state, its screens and its strings."""

    package: str
    label: str
    home: str
    """Screen that the launcher opens."""
    screens: Mapping[str, Screen]
    actions: Mapping[str, str] = field(default_factory=dict)
    """Intent action, or class name of an extra activity, to the screen that answers it."""
    icon: str = ""
    color: str = "#5f6368"
    launchable: bool = True
    hidden: bool = False
    """Launchable, but without an icon in the launcher: an app for the suites of clients."""
    home_row: bool = False
    """Has an icon on the home page; every launchable app has one in the drawer."""
    paths: Mapping[str, Kind] = field(default_factory=dict)
    """Persisted paths that always exist; ``draw`` sets them."""
    records: Mapping[str, Fields] = field(default_factory=dict)
    """Prefix of numbered records to their fields."""
    draw: Callable[[Draw], object] | None = None
    """Fill the app's part of a fresh phone."""
    strings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Locale to English text to its translation."""
    ongoing: Callable[[Ui], Sequence[Notice]] | None = None
    """Notifications that follow from what the app is doing right now; asked on every screen, so it must be quick."""
    wake: Wake | None = None
    permissions: tuple[str, ...] = ()
    """Runtime permissions that it uses, such as ``CAMERA``: persisted as ``permissions/<package>/<name>``, granted
    unless its ``draw`` says otherwise."""


class Host(Protocol):
    """The part of the phone that apps may use."""

    state: Paths
    world: Paths
    files: Files
    schema: Schema
    clipboard: str

    @property
    def locale(self) -> Locale: ...
    def say(self, english: str, screen: str) -> str: ...
    @property
    def now_ms(self) -> int: ...
    @property
    def local_time(self) -> datetime: ...
    @property
    def recents(self) -> tuple[str, ...]: ...
    @property
    def apps(self) -> Mapping[str, App]: ...
    def put(self, path: str, value: Scalar) -> None: ...
    def remove(self, prefix: str) -> None: ...
    def open_page(self, screen: str, variables: Mapping[str, Scalar]) -> None: ...
    def close_page(self) -> None: ...
    def tell_page(self, variables: Mapping[str, Scalar]) -> None: ...
    def hide_keyboard(self) -> None: ...
    def open_app(self, package: str, activity: str | None = None) -> bool: ...
    def dismiss_task(self, package: str) -> None: ...
    def show_toast(self, text: str) -> None: ...
    def go_home(self) -> None: ...
    def after(self, milliseconds: int, action: Callable[[], object]) -> None: ...
    @property
    def front_package(self) -> str: ...
    def owner_of(self, screen: str) -> str: ...
    def notify(self, package: str, title: str, text: str) -> int: ...
    def heads_up(self, package: str, title: str, text: str) -> int: ...
    def hide_heads_up(self) -> None: ...
    def open_shade(self, settings: bool = False) -> None: ...
    def clear_data(self, package: str) -> None: ...


class Ui:
    """A screen's view of the phone.

    Args:
        host: The phone.
        page: The page being built.
        area: The rectangle left to the page by the system's windows and the keyboard.
        canvas: The whole screen, in the pixels that screens are laid out in (``ui.dp``).
    """

    __slots__ = ("area", "canvas", "host", "page")

    def __init__(self, host: Host, page: Page, area: Bounds, canvas: Bounds) -> None:
        self.host = host
        self.page = page
        self.area = area
        self.canvas = canvas

    # ------------------------------------------------------------------ persisted state
    def flag(self, path: str) -> bool:
        """Return a persisted yes or no; an absent one is no."""
        return bool(self.host.state.get(path, False))

    def number(self, path: str) -> int:
        """Return a persisted whole number; an absent one is 0."""
        return int(self.host.state.get(path, 0))

    def words(self, path: str) -> str:
        """Return a persisted text; an absent one is empty."""
        return str(self.host.state.get(path, ""))

    def put(self, path: str, value: Scalar) -> None:
        """Persist a value, with all that follows from it."""
        self.host.put(path, value)

    def toggle(self, path: str) -> None:
        """Flip a persisted yes or no."""
        self.host.put(path, not self.flag(path))

    def ids(self, prefix: str) -> list[int]:
        """Return the ids of the records stored as ``prefix/<id>/...``, ascending."""
        return list(self.host.state.numbers(prefix))

    def new_id(self, prefix: str) -> int:
        """Take the next number for a record of one kind; a number is never used twice."""
        number = max([int(self.host.world.get(last_id_path(prefix), 0)), *self.ids(prefix)]) + 1
        self.host.world[last_id_path(prefix)] = number
        return number

    def add(self, prefix: str, **fields: Scalar) -> int:
        """Create a record and return its number; fields left out start as the schema says."""
        number = self.new_id(prefix)
        for path, value in self.host.schema.fresh_record(prefix, number).items():
            self.host.put(path, fields.get(path.rpartition("/")[2], value))
        return number

    def remove(self, prefix: str) -> None:
        """Delete the record stored below a prefix such as ``contacts/3``."""
        self.host.remove(prefix)

    # ------------------------------------------------------------------ what the phone knows besides
    @property
    def files(self) -> Files:
        """The phone's file system."""
        return self.host.files

    @property
    def clipboard(self) -> str:
        """The text in the clipboard."""
        return self.host.clipboard

    def copy(self, text: str) -> None:
        """Put a text into the clipboard."""
        self.host.clipboard = text

    def known(self, path: str) -> Scalar:
        """Return a transient value that the phone as a whole keeps; an absent one is empty."""
        return self.host.world.get(path, "")

    def keep(self, path: str, value: Scalar) -> None:
        """Keep a transient value for the phone as a whole."""
        self.host.world[path] = value

    def notify(self, title: str, text: str) -> int:
        """Post a notification of this app; return its number."""
        return self.host.notify(self.host.owner_of(self.page.screen), title, text)

    # ------------------------------------------------------------------ words
    def say(self, english: str, **values: Scalar) -> str:
        """Return a text of the app in the phone's language; ``{name}`` stands for a value."""
        text = self.host.say(english, self.page.screen)
        return text.format(**values) if values else text

    @property
    def wifi(self) -> str:
        """The word for Wi-Fi as this phone's skin has it; AOSP writes a non-breaking hyphen."""
        return wifi_word(self.host.world, self.host.locale.wifi)

    def time_of_day(self, hour: int, minute: int) -> str:
        """Format a time of day as the phone's locale does."""
        return self.host.locale.time_of_day(hour, minute)

    def moment(self, seconds: int) -> str:
        """Format a point in time, in seconds since the epoch, as its date and time of day."""
        at = datetime.fromtimestamp(seconds, UTC)  # the phone's time zone
        return f"{self.date(at)}, {self.time_of_day(at.hour, at.minute)}"

    def date(self, day: date, style: DateStyle = "short") -> str:
        """Format a date as the phone's locale does."""
        return self.host.locale.date(day, style)

    # ------------------------------------------------------------------ this page
    def var(self, name: str, default: Scalar = "") -> Scalar:
        """Return a variable of the page."""
        return self.page.vars.get(name, default)

    def set(self, name: str, value: Scalar) -> None:
        """Set a variable of the page."""
        self.page.vars[name] = value

    def typed(self, name: str, initial: str = "") -> str:
        """Return what an input field of the page holds."""
        return str(self.page.vars.get(f"text/{name}", initial))

    def open(self, screen: str, **variables: Scalar) -> None:
        """Put a page on top of this one."""
        self.host.open_page(screen, variables)

    def close(self, **answers: Scalar) -> None:
        """Close the page on top; its answers become variables of the page below, as an activity's result on Android."""
        self.host.close_page()
        if answers:
            self.host.tell_page(answers)


def wifi_word(world: Mapping[str, Scalar], usual: str = "") -> str:
    """Return a phone's word for Wi-Fi: the skin's, the language's, or the spelling of two that its seed drew."""
    wording = world.get("skin/wording")
    if wording == "wlan" or (usual and not wording):
        return usual or "WLAN"
    return "Wi-Fi" if world.get("skin/ascii_hyphen") else "Wi\u2011Fi"
