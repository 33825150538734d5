"""An expert that sees the phone's state and decides from the screen in front of it. Knows no task and no app.

What it writes before each call is a demonstration, so a plan is a function of the goal and the present screen, with no
memory of its own. Three things rest on more: damage outside the goal, which must be undone wherever it happened, is
looked up in the phone's state; a search for something that is off the screen turns round at the end of a page; and a
screen that is still the one from before the last action is waited out.
"""

from __future__ import annotations

from collections.abc import Callable

from agent_eval.actions import ToolCall
from agent_eval.contracts import Decision, PhoneControl
from agent_eval.errors import TaskFault
from agent_eval.tasks.interruptions import Watch, answer_interruption
from agent_eval.tasks.judge import Goal, Writes, matches
from agent_eval.tasks.moves import Move, wait
from agent_eval.tasks.view import Search, View
from agent_eval.types import ActionResult, Observation, Snapshot

Plan = Callable[[View], Move]
"""Chooses the next move; called at every step."""


class Expert:
    """Implements ``contracts.Expert`` with a plan and a view of the phone's state.

    Args:
        phone: Where the state is read.
        plan: What to do on each screen.
        allowed: The writes that need no undoing.
        goal: What the task wants to hold, where a state can tell.
    """

    def __init__(self, phone: PhoneControl, plan: Plan, allowed: Writes, goal: Goal | None = None) -> None:
        self._phone = phone
        self._plan = plan
        self._allowed = allowed
        self._goal = goal
        self._start: Snapshot | None = None
        self._search = Search()
        self._watch = Watch()
        self.repairing = False
        """The last decision undid damage, and so depends on more than the goal and the screen."""

    def begin(self, goal: str) -> None:  # noqa: ARG002  the plan was made for the goal
        """Remember the prepared phone, against which damage is told."""
        self._start = self._phone.snapshot()
        self._search = Search()
        self._watch = Watch()

    def decide(self, observation: Observation, result: ActionResult | None) -> Decision:
        """Choose the next action from the screen in front.

        Raises:
            TaskFault: the episode was not begun.
        """
        if self._start is None:
            raise TaskFault("the oracle was asked to decide before the episode began; expected begin(goal) first")
        now = self._phone.snapshot()
        patterns = self._allowed(self._start, now)
        damage = tuple(
            change for change in self._start.diff(now) if not any(matches(change.path, pattern) for pattern in patterns)
        )
        shown = self._watch.without_copies(observation, now)
        view = View(shown, now, self._start, damage, self._search, patterns, self._goal)
        if self._watch.sees_old(observation, now):
            move = wait("not shown yet")
        else:
            self._search.look(f"{view.package} {view.screen}", observation.signature, result)
            move = answer_interruption(view) or self._plan(view)
        self._watch.note(move.action, observation)
        self.repairing = move.repairs
        return Decision(ToolCall(move.action, source="script", thought=move.thought))
