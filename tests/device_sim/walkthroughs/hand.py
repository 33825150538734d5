"""The hand of an agent on the simulated phone: it sees what a model reads, and does only what an agent can do.

Elements come as the prompt shows them: labels and values cut to its lengths, and no more than its number of lines.
Every call of a tool is one action; looking is free. Knows no task.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from agent_eval.actions import Action, Direction, Key, LongPress, OpenApp, PressKey, Swipe, Tap, TypeText
from agent_eval.agent import UiautomatorDevice
from agent_eval.agent.prompt import MAX_ELEMENTS, plain, shown_value
from agent_eval.device_sim import Phone
from agent_eval.device_sim.u2.device import SimDevice
from agent_eval.types import ActionResult, Element, Observation

_MOST_SCROLLS = 12


class Hand:
    """Looks, touches and counts.

    Args:
        phone: The phone; only its in-process client is used.
    """

    def __init__(self, phone: Phone) -> None:
        self._client = SimDevice(phone)
        self._device = UiautomatorDevice(self._client)
        self._packages = {app.label: package for package, app in phone.apps.items()}
        self.steps = 0
        """Actions so far."""

    # ------------------------------------------------------------------ eyes
    def look(self) -> Observation:
        """Return the screen, cut to what the prompt shows of it."""
        seen = self._device.observe()
        cut = [
            replace(element, label=plain(element.label), value=shown_value(element))
            for element in seen.elements[:MAX_ELEMENTS]
        ]
        return replace(seen, elements=tuple(cut))

    def texts(self) -> list[str]:
        """Return every label and value on the screen."""
        return [text for element in self.look().elements for text in (element.label, element.value) if text]

    def find(self, label: str, *, role: str = "", value: str = "", starts: bool = False, beside: str = "") -> Element:
        """Return the first element with a label, without scrolling.

        Args:
            label: The whole label, or its beginning where ``starts`` is set.
            role: What it must be; anything unless given.
            value: How its value must begin.
            starts: Let the label go on.
            beside: Label of the row that it must be in.

        Raises:
            LookupError: there is none; the message says what there is.
        """
        seen = self.look().elements
        found = next(self._matching(seen, label, role, value, beside, starts=starts), None)
        if found is None:
            raise LookupError(f"no {label!r} {role} among {[(e.label, e.value, e.role) for e in seen]}")
        return found

    def sees(self, label: str, *, role: str = "", value: str = "", starts: bool = False, beside: str = "") -> bool:
        """Tell whether there is such an element on the screen, without scrolling."""
        return next(self._matching(self.look().elements, label, role, value, beside, starts=starts), None) is not None

    def rows(self, *roles: str) -> list[Element]:
        """Return the elements of the screen that have one of these roles, in order."""
        return [element for element in self.look().elements if element.role in roles]

    def all_rows(self, *roles: str) -> list[Element]:
        """Return such elements of a whole list, scrolling to its end; what does not move with it is left out."""
        page = self.look()
        found = [element for element in page.elements if element.role in roles]
        while page.scrollable:
            self.swipe("up")
            before, page = page, self.look()
            if page.signature == before.signature:
                break
            stays = {_place(element) for element in before.elements} & {_place(element) for element in page.elements}
            found = [row for row in found if _place(row) not in stays]
            _append(found, [row for row in page.elements if row.role in roles and _place(row) not in stays])
        return found

    @staticmethod
    def _matching(
        seen: tuple[Element, ...], label: str, role: str, value: str, beside: str, *, starts: bool
    ) -> Iterator[Element]:
        near = next((element for element in seen if beside and element.label == beside), None)
        for element in seen:
            if (
                (element.label.startswith(label) if starts else element.label == label)
                and role in ("", element.role)
                and element.value.startswith(value)
                and (
                    not beside
                    or (near is not None and near.bounds.top <= element.bounds.center[1] < near.bounds.bottom)
                )
            ):
                yield element

    # ------------------------------------------------------------------ fingers
    def _do(self, action: Action) -> ActionResult:
        self.steps += 1
        return self._device.perform(action)

    def _done(self, action: Action) -> None:
        result = self._do(action)
        assert result.status == "done", result.message

    def reach(self, label: str, *, role: str = "", value: str = "", starts: bool = False, beside: str = "") -> Element:
        """Scroll down until there is such an element; return it, as ``find`` does."""
        for _ in range(_MOST_SCROLLS):
            if self.sees(label, role=role, value=value, starts=starts, beside=beside):
                break
            screen = self.look()
            if screen.keyboard_open:
                self.press("back")
            elif screen.scrollable:
                self.swipe("up")
            if self.look().signature == screen.signature:
                break
        return self.find(label, role=role, value=value, starts=starts, beside=beside)

    def tap(self, label: str, *, role: str = "", value: str = "", starts: bool = False, beside: str = "") -> None:
        """Tap an element, scrolling down to it where needed."""
        self._done(Tap(index=self.reach(label, role=role, value=value, starts=starts, beside=beside).index))

    def _again(self, element: Element) -> int:
        return next(other.index for other in self.look().elements if _place(other) == _place(element))

    def tap_element(self, element: Element) -> None:
        """Tap an element that was seen and is still where it was."""
        self._done(Tap(index=self._again(element)))

    def hold(self, label: str, *, role: str = "", value: str = "", starts: bool = False) -> None:
        """Hold an element, scrolling down to it where needed."""
        self._done(LongPress(index=self.reach(label, role=role, value=value, starts=starts).index))

    def hold_element(self, element: Element) -> None:
        """Hold an element that was seen and is still where it was."""
        self._done(LongPress(index=self._again(element)))

    def type(self, text: str, *, into: str) -> None:
        """Replace the text of an input field."""
        self._done(TypeText(index=self.reach(into, role="field").index, text=text))

    def set_text(self, text: str, *, into: str) -> None:
        """Replace the text of an input field with the client's ``set_text``, which leaves the clipboard alone."""
        self.tap(into, role="field")
        self._client(focused=True).set_text(text)

    def swipe(self, direction: Direction, *, on: str = "", role: str = "") -> None:
        """Move a finger across the screen, or across one element."""
        index = self.find(on, role=role).index if on else None
        self._done(Swipe(direction=direction, index=index))

    def press(self, key: Key) -> None:
        """Press a key."""
        self._done(PressKey(key=key))

    def open(self, app: str) -> None:
        """Open an app by the name under its icon."""
        if self._do(OpenApp(app=app)).status == "rejected":
            self._client.app_start(self._packages[app])


def _place(element: Element) -> tuple[object, ...]:
    return element.role, element.label, element.bounds


def _append(found: list[Element], page: list[Element]) -> None:
    """Add the rows of the next page to those found; rows that both have count once.

    The first rows of a page and the last ones of the page before may be cut off, and then have other labels.
    """
    known, names = [row.label for row in found], [row.label for row in page]
    best = (0, 0, 0)
    for lost in range(3):
        for clipped in range(3):
            old, new = known[: len(known) - lost], names[clipped:]
            for shared in range(min(len(old), len(new)), best[0], -1):
                if old[len(old) - shared :] == new[:shared]:
                    best = (shared, lost, clipped)
    shared, lost, clipped = best
    del found[len(found) - lost :]
    for place, row in enumerate(page[clipped : clipped + shared], start=len(found) - shared):
        found[place] = max(found[place], row, key=lambda one: len(one.value))
    found += page[clipped + shared :]
