"""What an expert does about what nobody asked for: dialogs, banners and notifications over any app. Knows no task.

What merely pushes rows about, such as a card at the head of a list, is left alone: the search for a row goes past it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from agent_eval.actions import Action, Swipe, Tap
from agent_eval.device_sim.faults.screens import CONFIRM_TOGGLE, NOT_RESPONDING, SYSTEM
from agent_eval.tasks.language import speech_of
from agent_eval.tasks.loops import PENDING_PREFIX
from agent_eval.tasks.moves import Move, plain, tap, wait
from agent_eval.tasks.view import View
from agent_eval.types import OWN_PREFIX, Bounds, Element, Observation, Scalar, Snapshot

PERMISSION = "permissions/grant"
HEADS_UP_S = 5
"""A notification lies over the page for so many seconds at most (config.xml, heads_up_notification_decay)."""
ROW_HEIGHT = 100
"""A list that moved by more than so many pixels shows other rows than before."""
MOST_TAPS = 2
"""Taps without any effect after which an element is taken for a copy, if there is another one like it."""
MOST_WAITS = 2
"""Dumps in a row that may be old; a screen that is still the same after them is another one that looks the same."""


def answer_interruption(view: View) -> Move | None:
    """Return the move that clears the way; None if nothing is in it."""
    if not view.observation.elements:
        return wait("nothing shown yet")
    answer = _DIALOGS.get(view.screen)
    if answer is not None:
        return answer(view)
    if any(path.startswith(PENDING_PREFIX) for path, _ in view.now.transient):
        return wait("not done yet")
    return _dismiss_banner(view) or _put_away_notification(view)


# ----------------------------------------------------------------------------------------------------------------------
# dialogs


def _grant(view: View) -> Move | None:
    """Let an app have the permission that it asks for: what a task needs may depend on it."""
    answer = view.find("While using the app", "button") or view.find("Allow", "button")
    return None if answer is None else tap(answer)


def _keep_waiting(view: View) -> Move | None:
    """Give an app that hangs the time that it needs."""
    answer = view.find("Wait", "button")
    return None if answer is None else tap(answer)


def _confirm(view: View) -> Move | None:
    """Confirm a switch that should be flipped, and cancel one that was touched by mistake."""
    path, value = str(_dialogs_variable(view, "path")), bool(_dialogs_variable(view, "value"))
    label = ("Turn on" if value else "Turn off") if _should_be(view, path, value) else "Cancel"
    answer = view.find(label, "button")
    return None if answer is None else tap(answer)


_DIALOGS: Mapping[str, Callable[[View], Move | None]] = MappingProxyType(
    {PERMISSION: _grant, NOT_RESPONDING: _keep_waiting, CONFIRM_TOGGLE: _confirm}
)
"""Screen of a dialog to the answer."""


def _dialogs_variable(view: View, name: str) -> Scalar | None:
    """Return a variable of the dialog in front, which belongs to whichever app is below it."""
    ending = f"/{view.screen}/{name}"
    return next((value for path, value in view.now.transient if path.endswith(ending)), None)


def _should_be(view: View, path: str, value: Scalar) -> bool:
    """Tell whether a switch should become so: to undo damage, or for the goal."""
    for change in view.damage:
        if change.path == path:
            return change.before == value
    if not view.may_change(path):
        return False
    flipped = replace(view.now, persisted=tuple(sorted({**dict(view.now.persisted), path: value}.items())))
    return view.goal is None or view.goal(view.start, flipped) or not view.goal(view.start, view.now)


# ----------------------------------------------------------------------------------------------------------------------
# over a page


def _dismiss_banner(view: View) -> Move | None:
    """Close a banner, which takes every tap on what it covers."""
    banner = view.find("Enjoying this app? Rate it in the store")
    if banner is None:
        return None
    top, bottom = banner.bounds.top, banner.bounds.bottom
    crosses = [cross for cross in view.labelled("Dismiss", "button") if top <= cross.bounds.center[1] < bottom]
    return tap(crosses[-1]) if crosses else None


def _put_away_notification(view: View) -> Move | None:
    """Push a notification that just came out of the way; it stays in the shade."""
    shown = _just_came(view)
    return None if shown is None else Move(Swipe(direction="up", index=shown.index), plain(shown.label))


def _just_came(view: View) -> Element | None:
    """Return the notification that lies over the page; None if none does."""
    first, now = view.observation.elements[0], view.now.get("clock/now")
    if first.role != "row" or view.now.get("ui/shade") is True or not isinstance(now, int):
        return None
    found = view.now.under(OWN_PREFIX.rstrip("/"))
    fresh = {
        path.removesuffix("/posted")
        for path, moment in found.items()
        if path.endswith("/posted") and isinstance(moment, int) and now - moment <= HEADS_UP_S
    }
    titles = (plain(str(found[f"{number}/title"])) for number in fresh)
    return first if any(title in plain(first.value) for title in titles) else None


# ----------------------------------------------------------------------------------------------------------------------
# what is shown is not what is there


class Watch:
    """Notices a screen that is still the one from before the last action, and elements that refuse to be tapped."""

    def __init__(self) -> None:
        self._signature = ""
        self._place: Mapping[str, Scalar] = {}
        self._waits = 0
        self._tapped_on = ""
        self._taps: Counter[int] = Counter()

    def note(self, action: Action, observation: Observation) -> None:
        """Take note of what is done on a screen."""
        if observation.signature != self._tapped_on:
            self._tapped_on, self._taps = observation.signature, Counter()
        if isinstance(action, Tap):
            self._taps[action.index] += 1

    def without_copies(self, observation: Observation, now: Snapshot) -> Observation:
        """Leave out what looks like something else and refuses every tap.

        Another profile's rows are marked as such. Where the mark is out of sight, only trying them tells.
        """
        mark = plain(speech_of(now).say("Work profile", SYSTEM.package, {}))
        elements = observation.elements
        alike = Counter((element.role, element.label) for element in elements)
        tried = self._taps if observation.signature == self._tapped_on else Counter()
        refusing = [one for one in elements if tried[one.index] >= MOST_TAPS and alike[one.role, one.label] > 1]
        # a card that was copied refuses as a whole
        cards = [row for row in elements if row.role == "row" and alike[row.role, row.label] > 1]
        areas = [card.bounds for card in (*refusing, *cards) if any(_lies_in(one, card.bounds) for one in refusing)]

        def is_copy(element: Element) -> bool:
            return plain(element.value).split(", ")[-1] == mark or any(_lies_in(element, area) for area in areas)

        return replace(observation, elements=tuple(one for one in elements if not is_copy(one)))

    def sees_old(self, observation: Observation, now: Snapshot) -> bool:
        """Tell whether the phone shows another page by now, or other rows of a list, than the observation."""
        place = _place(now)
        if observation.signature == self._signature and _differ(self._place, place) and self._waits < MOST_WAITS:
            self._waits += 1
            return True
        self._signature, self._place, self._waits = observation.signature, place, 0
        return False


def _place(now: Snapshot) -> dict[str, Scalar]:
    """Return where on the phone one is: the pages in front, and how far each list is scrolled."""
    place: dict[str, Scalar] = {path: now.get(path, "") or "" for path in ("ui/package", "ui/screen", "ui/stack")}
    place["ui/keyboard"] = bool(now.get("ui/keyboard"))
    place |= {path: value for path, value in now.transient if path.startswith("ui/task/") and "/scroll/" in path}
    return place


def _differ(before: Mapping[str, Scalar], after: Mapping[str, Scalar]) -> bool:
    for path in before.keys() | after.keys():
        old, new = before.get(path, 0), after.get(path, 0)
        if type(old) is int and type(new) is int:
            if abs(old - new) > ROW_HEIGHT:
                return True
        elif old != new:
            return True
    return False


def _lies_in(element: Element, area: Bounds) -> bool:
    x, y = element.bounds.center
    return area.left <= x < area.right and area.top <= y < area.bottom
