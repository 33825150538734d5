"""Undo what an agent changed outside its task, in whichever app it happened. Knows no goal.

Not everything can be undone: a message stays sent, and a deleted alarm comes back only as another one.
"""

from __future__ import annotations

from agent_eval.tasks.families import camera_expert, clock_expert, settings_expert
from agent_eval.tasks.moves import Move, repairing
from agent_eval.tasks.oracle import Plan
from agent_eval.tasks.view import View


def undo(view: View) -> Move | None:
    """Return the next move that undoes damage; None if there is none that can be undone."""
    move = settings_expert.undo(view) or clock_expert.undo(view) or camera_expert.undo(view)
    return None if move is None else repairing(move)


def mending(plan: Plan) -> Plan:
    """Return a plan that first undoes whatever damage can be undone; a decorator."""

    def mended(view: View) -> Move:
        return undo(view) or plan(view)

    return mended
