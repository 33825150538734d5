"""What an expert does about what nobody asked for: dialogs and banners over any app. Knows no task."""

from __future__ import annotations

from agent_eval.tasks.moves import Move
from agent_eval.tasks.view import View


def answer_interruption(view: View) -> Move | None:
    """Return the move that clears the way; None if nothing is in it."""
    del view
    return None
