"""One action of an expert and the words before it: a demonstration of how to choose. Knows no plan and no app.

The words name the element that is acted on, as the screen shows it, with the state that decides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from agent_eval.actions import (
    Action,
    GiveUp,
    LongPress,
    OpenApp,
    PressKey,
    Swipe,
    Tap,
    TaskComplete,
    TypeText,
    Wait,
)
from agent_eval.types import PLAIN_SIGNS, Element, Scalar


def plain(text: str) -> str:
    """Return a label with the plain hyphen and space for their typographic variants."""
    return text.translate(PLAIN_SIGNS).strip()


@dataclass(frozen=True)
class Move:
    """One action and the words before it."""

    action: Action
    thought: str
    repairs: bool = False
    """It undoes damage, and so depends on more than the goal and the screen."""


def wish(wanted: Scalar | None) -> str:
    """Say which state of a switch is asked for, to stand before the one it has: ``want on, ``."""
    return f"want {'on' if wanted else 'off'}, " if isinstance(wanted, bool) else ""


def shown(element: Element, wanted: Scalar | None = None) -> str:
    """Name an element as the screen lists it, with its state or its value: ``want on, Wi-Fi (switch, off)``.

    The words are those of its line, to the end where a state stands there: who has read them has found the line.
    """
    named = f"{plain(element.label)}: {plain(element.value)}" if element.value else plain(element.label)
    if any(state in ("on", "off", "checked", "unchecked") for state in element.states):
        named += f" ({', '.join((element.role, *element.states))})"
    return wish(wanted) + named


def tap(element: Element, wanted: Scalar | None = None) -> Move:
    """Tap an element; a control is named with its state and the wanted one, anything else by its label alone."""
    control = element.role in ("switch", "radio", "checkbox")
    return Move(Tap(index=element.index), shown(element, wanted) if control else plain(element.label))


def hold(element: Element) -> Move:
    """Press an element and hold it."""
    return Move(LongPress(index=element.index), f"hold {plain(element.label)}")


def type_into(element: Element, text: str) -> Move:
    """Replace the text of a field."""
    return Move(TypeText(index=element.index, text=text), plain(element.label))


def scroll_for(label: str, *, further_down: bool) -> Move:
    """Swipe to bring an element onto the screen; the finger moves up to show what is further down."""
    return Move(Swipe(direction="up" if further_down else "down"), f"looking for {label}")


def go_back() -> Move:
    """Leave a page that does not lead to the goal."""
    return Move(PressKey(key="back"), "wrong page")


def close_keyboard() -> Move:
    """Close the keyboard that covers what is needed."""
    return Move(PressKey(key="back"), "keyboard")


def go_home() -> Move:
    """Show the launcher, from where the shade can be pulled down."""
    return Move(PressKey(key="home"), "home")


def wait(thought: str) -> Move:
    """Let the phone finish what it is doing."""
    return Move(Wait(), thought)


def open_app(name: str) -> Move:
    """Open an app by its name."""
    return Move(OpenApp(app=name), name)


def complete(element: Element, answer: str = "", wanted: Scalar | None = None) -> Move:
    """Declare the task done, naming the element that shows it."""
    return Move(TaskComplete(answer=answer), shown(element, wanted))


def finish(thought: str, answer: str = "") -> Move:
    """Declare the task done, in words where no one element shows it."""
    return Move(TaskComplete(answer=answer), thought)


def give_up(thought: str) -> Move:
    """Declare that the phone cannot do what was asked."""
    return Move(GiveUp(reason=thought), thought)


def repairing(move: Move) -> Move:
    """Mark a move as one that undoes damage."""
    return replace(move, repairs=True)
