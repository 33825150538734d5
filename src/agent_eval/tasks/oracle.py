"""An expert that sees the phone's state and decides from the screen in front of it. Knows no task and no app.

What it writes before each call is a demonstration: a few words that name the element it acts on, as the screen shows
it, with the state that decides. So a plan is a function of the goal and the present screen, with no memory of its own;
only damage outside the goal, which must be undone wherever it happened, is looked up in the phone's state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agent_eval.actions import Action, OpenApp, PressKey, Swipe, Tap, TaskComplete, ToolCall, TypeText
from agent_eval.contracts import Decision, PhoneControl
from agent_eval.errors import TaskFault
from agent_eval.tasks.judge import Writes, matches
from agent_eval.types import PLAIN_SIGNS, ActionResult, Change, Element, Observation, Scalar, Snapshot


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


@dataclass(frozen=True)
class View:
    """What the expert looks at when it decides: the screen, the state behind it, and the state at the start."""

    observation: Observation
    now: Snapshot
    start: Snapshot
    damage: tuple[Change, ...]
    """What changed since the start outside the allowed writes."""

    @property
    def package(self) -> str:
        """Package in front."""
        return self.observation.package

    @property
    def screen(self) -> str:
        """Short id of the screen in front, such as ``settings/internet``."""
        return str(self.now.get("ui/screen", ""))

    def labelled(self, label: str, *roles: str) -> Iterator[Element]:
        """Yield the elements with a label, of any role or of those given, in the order of the screen."""
        for element in self.observation.elements:
            if plain(element.label).casefold() == label.casefold() and (not roles or element.role in roles):
                yield element

    def find(self, label: str, *roles: str) -> Element | None:
        """Return the first element with a label, of any role or of those given."""
        return next(self.labelled(label, *roles), None)


Plan = Callable[[View], Move]
"""Chooses the next move; called at every step."""


class Expert:
    """Implements ``contracts.Expert`` with a plan and a view of the phone's state.

    Args:
        phone: Where the state is read.
        plan: What to do on each screen.
        allowed: The writes that need no undoing.
    """

    def __init__(self, phone: PhoneControl, plan: Plan, allowed: Writes) -> None:
        self._phone = phone
        self._plan = plan
        self._allowed = allowed
        self._start: Snapshot | None = None
        self.repairing = False
        """The last decision undid damage, and so depends on more than the goal and the screen."""

    def begin(self, goal: str) -> None:  # noqa: ARG002  the plan was made for the goal
        """Remember the prepared phone, against which damage is told."""
        self._start = self._phone.snapshot()

    def decide(self, observation: Observation, result: ActionResult | None) -> Decision:  # noqa: ARG002
        """Choose the next action from the screen in front.

        Raises:
            TaskFault: the episode was not begun.
        """
        if self._start is None:
            raise TaskFault("the oracle was asked to decide before the episode began; expected begin(goal) first")
        now = self._phone.snapshot()
        patterns = self._allowed(now)
        damage = tuple(
            change for change in self._start.diff(now) if not any(matches(change.path, pattern) for pattern in patterns)
        )
        move = self._plan(View(observation, now, self._start, damage))
        self.repairing = move.repairs
        return Decision(ToolCall(move.action, source="script", thought=move.thought))


def wish(wanted: Scalar | None) -> str:
    """Say which state of a switch is asked for, to stand beside the one it has: ``, want on``."""
    return f", want {'on' if wanted else 'off'}" if isinstance(wanted, bool) else ""


def shown(element: Element, wanted: Scalar | None = None) -> str:
    """Name an element as the screen shows it, with its state or, failing that, its value: ``Wi-Fi: off, want on``."""
    telling = [state for state in element.states if state in ("on", "off", "checked", "unchecked")]
    state = telling[0] if telling else plain(element.value)
    return f"{plain(element.label)}: {state}{wish(wanted)}" if state else plain(element.label)


def tap(element: Element, wanted: Scalar | None = None) -> Move:
    """Tap an element; a control is named with its state and the wanted one, anything else by its label alone."""
    control = element.role in ("switch", "radio", "checkbox")
    return Move(Tap(index=element.index), shown(element, wanted) if control else plain(element.label))


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


def open_app(name: str) -> Move:
    """Open an app by its name."""
    return Move(OpenApp(app=name), name)


def complete(element: Element, answer: str = "", wanted: Scalar | None = None) -> Move:
    """Declare the task done, naming the element that shows it."""
    return Move(TaskComplete(answer=answer), shown(element, wanted))
