from __future__ import annotations

from agent_eval.tasks.families.later_words import later_wordings
from agent_eval.tasks.split import split_of
from agent_eval.tasks.task import goal_key, wordings

CLAUSES = [f"press key {number} of {{x}}" for number in range(40)]
FRAMES = ("{}.", "Please {}.")


def test_a_later_wording_never_belongs_to_the_evaluation() -> None:
    later = later_wordings(CLAUSES, FRAMES, x="the phone")
    assert {split_of(goal_key(sentence)) for sentence in later} == {"validation", "training"}


def test_only_what_belongs_to_the_evaluation_is_left_out() -> None:
    every, later = wordings(CLAUSES, FRAMES, x="the phone"), later_wordings(CLAUSES, FRAMES, x="the phone")
    assert later == tuple(one for one in every if one in later)
    assert {split_of(goal_key(one)) for one in every if one not in later} == {"evaluation"}


def test_sentences_are_put_together_as_at_first() -> None:
    sentence = later_wordings(CLAUSES, FRAMES, x="the phone")[0]
    assert sentence.startswith(("Press key ", "Please press key "))
    assert sentence.endswith(" of the phone.")
