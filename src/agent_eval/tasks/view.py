"""What an expert looks at when it decides: the screen, the phone's state, and where a search has got to.

Labels are asked for in English and found in whatever language the phone speaks. Knows no task and no app.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from agent_eval.actions import Swipe
from agent_eval.tasks.judge import Goal, matches
from agent_eval.tasks.language import Speech, speech_of
from agent_eval.tasks.moves import Move, close_keyboard, plain, tap, type_into
from agent_eval.types import ActionResult, Change, Element, Observation, Scalar, Snapshot


class Search:
    """Which way the search for something off the screen goes: down to the end of a page, then up, and so on."""

    def __init__(self) -> None:
        self.heading: Literal["up", "down"] = "up"
        """Where the finger moves next; up shows what is further down."""
        self._page = self._signature = ""

    def look(self, page: str, signature: str, result: ActionResult | None) -> None:
        """Take note of a screen and of what was done before it."""
        swiped = result is not None and result.target == f"swipe {self.heading}"
        if page != self._page:
            self.heading = "up"
        elif swiped and signature == self._signature:
            self.heading = "down" if self.heading == "up" else "up"
        self._page, self._signature = page, signature


@dataclass(frozen=True)
class View:
    """What the expert looks at when it decides: the screen, the state behind it, and the state at the start."""

    observation: Observation
    now: Snapshot
    start: Snapshot
    damage: tuple[Change, ...]
    """What changed since the start outside the allowed writes."""
    search: Search = field(default_factory=Search)
    patterns: tuple[str, ...] = ()
    """Path patterns that the task may change."""
    goal: Goal | None = None
    """What the task wants to hold; None where only a declaration decides."""

    @property
    def package(self) -> str:
        """Package in front; as the phone knows it, whatever the dump says."""
        return str(self.now.get("ui/package", "")) or self.observation.package

    @property
    def screen(self) -> str:
        """Short id of the screen in front, such as ``settings/internet``."""
        return str(self.now.get("ui/screen", ""))

    def may_change(self, path: str) -> bool:
        """Tell whether a path is the task's to change."""
        return any(matches(path, pattern) for pattern in self.patterns)

    @property
    def keyboard(self) -> bool:
        """Whether the keyboard is up."""
        return self.observation.keyboard_open

    @property
    def speech(self) -> Speech:
        """How this phone says things."""
        return speech_of(self.now)

    def say(self, english: str, **values: Scalar) -> str:
        """Return a text of the app in front, as this phone has it, in plain signs."""
        return plain(self.speech.say(english, self.package, values))

    def variable(self, name: str) -> Scalar | None:
        """Return a variable of the page in front, such as ``text/first`` of a form; None if it has none."""
        pages = str(self.now.get("ui/stack", "")).split(" > ")
        return self.now.get(f"ui/task/{self.package}/{len(pages) - 1}/{pages[-1]}/{name}")

    def labelled(self, label: str, *roles: str, starts: bool = False) -> Iterator[Element]:
        """Yield the elements with a label, of any role or of those given, in the order of the screen.

        Args:
            label: In English, or as a person wrote it.
            *roles: What they must be.
            starts: Let their labels go on after it.
        """
        wanted = {plain(label).casefold(), self.say(label).casefold()}
        for element in self.observation.elements:
            seen = plain(element.label).casefold()
            if (seen in wanted or (starts and seen.startswith(tuple(wanted)))) and (not roles or element.role in roles):
                yield element

    def find(self, label: str, *roles: str, starts: bool = False) -> Element | None:
        """Return the first element with a label, of any role or of those given."""
        return next(self.labelled(label, *roles, starts=starts), None)

    def seek(self, label: str, *roles: str, starts: bool = False) -> Element | Move:
        """Return the first such element if it is on the screen, else the move that may bring it there.

        The keyboard is closed first, as it covers half of a page; then the page is searched to its end and back.
        """
        found = self.find(label, *roles, starts=starts)
        if found is not None:
            return found
        return close_keyboard() if self.keyboard else self.scroll(self.say(label))

    def scroll(self, what: str) -> Move:
        """Swipe on in the search for something."""
        return Move(Swipe(direction=self.search.heading), f"looking for {plain(what)}")

    def tap_on(self, label: str, *roles: str, starts: bool = False) -> Move:
        """Tap the first such element, or look for it."""
        found = self.seek(label, *roles, starts=starts)
        return found if isinstance(found, Move) else tap(found)

    def fill(self, fields: Mapping[str, str]) -> Move | None:
        """Return the move that fills the next field of a form, by their labels; None once all of them are filled."""
        for label, text in fields.items():
            entry = self.seek(label, "field")
            if isinstance(entry, Move):
                return entry
            if entry.value != text:
                return type_into(entry, text)
        return None
