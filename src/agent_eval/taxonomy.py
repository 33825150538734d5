"""The taxonomy of outcomes: which facts make which label, in order of precedence. Knows facts, not how they are found.

The label is the first rule that matches, so that no two labels ever compete. Whatever the agent's budget, a goal that
was reached and undone is a reversal: the count is taken over the whole trajectory and does not depend on the state in
which the episode stopped. ``harness_error`` stands outside: an episode that the harness broke has no facts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from agent_eval.outcome import Facts, Label, StopReason, SubKind


class Verdict(NamedTuple):
    """A label with its sub-kind."""

    label: Label
    sub_kind: SubKind = ""


@dataclass(frozen=True)
class Rule:
    """One line of the taxonomy."""

    verdict: Verdict
    holds: Callable[[Facts, StopReason], bool]
    asks: str
    """What must be true, as a clause that follows "when"."""


def ended_right(facts: Facts) -> bool:
    """Tell whether the right declaration was made in a state with the goal, with the right answer if one is asked."""
    return facts.declared == facts.right_ending and facts.goal_final and facts.answer_ok is not False


def gave_no_calls(facts: Facts, stop: StopReason) -> bool:
    """Tell whether too many replies were no calls: three in a row, or at least half of all."""
    return stop == "invalid_stop" or 0 < facts.steps <= 2 * facts.invalid_calls


RULES: tuple[Rule, ...] = (
    Rule(
        Verdict("success", "unstable"),
        lambda facts, _stop: ended_right(facts) and not facts.side_effects and facts.reversals > 0,
        "the goal held at the end and was rightly declared, after having been undone on the way",
    ),
    Rule(
        Verdict("success"),
        lambda facts, _stop: ended_right(facts) and not facts.side_effects,
        "the goal held at the end and was rightly declared, and nothing else was changed",
    ),
    Rule(
        Verdict("over_execution"),
        lambda facts, _stop: ended_right(facts),
        "the goal held at the end and was rightly declared, but something else was changed as well",
    ),
    Rule(
        Verdict("reversal"),
        lambda facts, _stop: facts.reversals > 0,
        "an action undid the goal after it had been reached",
    ),
    Rule(
        Verdict("premature_completion", "gave_up"),
        lambda facts, _stop: facts.declared == "infeasible",
        "the agent declared that the task cannot be done, which is not so",
    ),
    Rule(
        Verdict("premature_completion"),
        lambda facts, _stop: facts.declared == "complete",
        "the agent declared the task done without the goal, or with a wrong answer",
    ),
    Rule(
        Verdict("no_completion", "undeclared"),
        lambda facts, _stop: facts.reached and facts.goal_final,
        "the goal was reached and held to the end, but was never declared",
    ),
    Rule(
        Verdict("invalid_call"),
        lambda facts, stop: not facts.reached and gave_no_calls(facts, stop),
        "the goal was never reached, and three replies in a row or half of all were no tool calls",
    ),
    Rule(
        Verdict("wrong_app"),
        lambda facts, _stop: not facts.reached and facts.in_wrong_app,
        "the goal was never reached, and the agent worked in other apps than the task's",
    ),
    Rule(
        Verdict("looping"),
        lambda facts, _stop: not facts.reached and facts.loop is not None and facts.loop.at_end,
        "the goal was never reached, and the episode ended in a cycle of actions that changed nothing",
    ),
    Rule(
        Verdict("no_completion", "stuck"),
        lambda _facts, _stop: True,
        "none of the above: the agent worked in the right app until something ended the episode",
    ),
)
"""The taxonomy; the last rule matches whatever the others left."""


def label_of(facts: Facts, stop: StopReason, rules: Sequence[Rule] = RULES) -> Verdict:
    """Return the label of an episode by its facts and by what ended it."""
    return next(rule.verdict for rule in rules if rule.holds(facts, stop))
