"""Wordings that came after the evaluation was fixed. Knows no app; a split with few sentences gets more by these.

A sentence that would fall to the evaluation is left out, so what the evaluation draws from a seed stays what it was,
and results of before and after can be compared.
"""

from __future__ import annotations

from collections.abc import Iterable

from agent_eval.tasks.split import split_of
from agent_eval.tasks.task import goal_key, wordings


def later_wordings(clauses: Iterable[str], frames: Iterable[str], **words: str | int) -> tuple[str, ...]:
    """Put every clause into every frame, as ``wordings`` does, and leave out what belongs to the evaluation.

    Args:
        clauses: Such as ``turn on {x}``.
        frames: Sentences around a clause, such as ``Please {}.``
        **words: What stands for the names in the clauses.
    """
    sentences = wordings(clauses, frames, **words)
    return tuple(sentence for sentence in sentences if split_of(goal_key(sentence)) != "evaluation")
