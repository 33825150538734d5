"""What an app author writes against: apps are tables of screens, a screen is one function from ``Ui`` to ``View``.

``Ui`` is all that a screen function sees of the phone. It reads state while the tree is built, and changes state only
inside the callbacks of views. Knows neither layout nor any particular app.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from agent_eval.device_sim.ui import View
from agent_eval.types import Bounds, Scalar


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


@dataclass(frozen=True, slots=True)
class App:
    """An installed app."""

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


class Host(Protocol):
    """The part of the phone that apps may use."""

    state: dict[str, Scalar]
    world: dict[str, Scalar]

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
    def open_app(self, package: str, activity: str | None = None) -> bool: ...
    def dismiss_task(self, package: str) -> None: ...
    def show_toast(self, text: str) -> None: ...
    def go_home(self) -> None: ...
    def after(self, milliseconds: int, action: Callable[[], object]) -> None: ...


class Ui:
    """A screen's view of the phone.

    Args:
        host: The phone.
        page: The page being built.
        area: The rectangle left to the page by the system's windows and the keyboard.
    """

    __slots__ = ("area", "host", "page")

    def __init__(self, host: Host, page: Page, area: Bounds) -> None:
        self.host = host
        self.page = page
        self.area = area

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
        start = prefix + "/"
        found = {path[len(start) :].split("/", 1)[0] for path in self.host.state if path.startswith(start)}
        return sorted(int(name) for name in found if name.isdigit())

    # ------------------------------------------------------------------ what the phone knows besides
    def known(self, path: str) -> Scalar:
        """Return a transient value that the phone as a whole keeps; an absent one is empty."""
        return self.host.world.get(path, "")

    def keep(self, path: str, value: Scalar) -> None:
        """Keep a transient value for the phone as a whole."""
        self.host.world[path] = value

    @property
    def wifi(self) -> str:
        """The word for Wi-Fi as this phone's skin spells it; AOSP writes a non-breaking hyphen."""
        return "Wi-Fi" if self.host.world.get("skin/ascii_hyphen") else "Wi\u2011Fi"

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

    def close(self) -> None:
        """Close the page on top."""
        self.host.close_page()
