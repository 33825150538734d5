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

    @property
    def told(self) -> str:
        """Both, as a reader sees them."""
        return f"{self.label}, {self.sub_kind}" if self.sub_kind else self.label


@dataclass(frozen=True)
class Condition:
    """One thing that a rule asks for."""

    holds: Callable[[Facts, StopReason], bool]
    unmet: Callable[[Facts, StopReason], str]
    """Says, as a clause, why it does not hold."""


@dataclass(frozen=True)
class Rule:
    """One line of the taxonomy."""

    verdict: Verdict
    conditions: tuple[Condition, ...]
    """All must hold; a rule without any matches whatever is left."""
    asks: str
    """What must be true, as a clause that follows "when"."""

    def holds(self, facts: Facts, stop: StopReason) -> bool:
        """Tell whether every condition holds."""
        return all(condition.holds(facts, stop) for condition in self.conditions)

    def unmet(self, facts: Facts, stop: StopReason) -> tuple[str, ...]:
        """Say of each condition that does not hold why not."""
        return tuple(condition.unmet(facts, stop) for condition in self.conditions if not condition.holds(facts, stop))


def ended_right(facts: Facts) -> bool:
    """Tell whether the right declaration was made in a state with the goal, with the right answer if one is asked."""
    return facts.declared == facts.right_ending and facts.goal_final and facts.answer_ok is not False


def gave_no_calls(facts: Facts, stop: StopReason) -> bool:
    """Tell whether too many replies were no calls: three in a row, or at least half of all."""
    return stop == "invalid_stop" or 0 < facts.steps <= 2 * facts.invalid_calls


def _not_ended_right(facts: Facts, _stop: StopReason) -> str:
    if facts.declared == "none":
        return "nothing was declared"
    if facts.declared != facts.right_ending:
        wrong = "the task can be done" if facts.declared == "infeasible" else "the task cannot be done"
        return f"the agent declared {facts.declared}, and {wrong}"
    return "the declared answer was wrong" if facts.answer_ok is False else "the goal did not hold at the end"


def _changed_more(facts: Facts, _stop: StopReason) -> str:
    count = len(facts.side_effects)
    return f"{count} other {'path was' if count == 1 else 'paths were'} changed as well"


def _not_in_a_loop(facts: Facts, _stop: StopReason) -> str:
    return "no cycle of actions was seen" if facts.loop is None else "the cycle of actions did not hold at the end"


def _reached(facts: Facts, _stop: StopReason) -> str:
    when = "from the start" if facts.first_reach == 0 else f"after step {facts.first_reach}"
    return f"the goal held {when}" if facts.first_reach is not None else "the goal was reached by the declaration"


_ENDED_RIGHT = Condition(lambda facts, _stop: ended_right(facts), _not_ended_right)
_NOTHING_ELSE = Condition(lambda facts, _stop: not facts.side_effects, _changed_more)
_UNDONE = Condition(lambda facts, _stop: facts.reversals > 0, lambda _facts, _stop: "no action undid the goal")
_DENIED = Condition(
    lambda facts, _stop: facts.declared == "infeasible",
    lambda _facts, _stop: "the agent did not declare that the task cannot be done",
)
_CLAIMED = Condition(
    lambda facts, _stop: facts.declared == "complete",
    lambda _facts, _stop: "the agent did not declare the task done",
)
_REACHED = Condition(lambda facts, _stop: facts.reached, lambda _facts, _stop: "the goal was never reached")
_AT_THE_END = Condition(lambda facts, _stop: facts.goal_final, lambda _facts, _stop: "the goal did not hold at the end")
_NEVER_REACHED = Condition(lambda facts, _stop: not facts.reached, _reached)
_NO_CALLS = Condition(
    gave_no_calls,
    lambda facts, _stop: f"{facts.invalid_calls} of {facts.steps} replies were no calls, and no three in a row",
)
_ELSEWHERE = Condition(
    lambda facts, _stop: facts.in_wrong_app,
    lambda _facts, _stop: "the agent was in the task's apps towards the end, or in no app that tells",
)
_IN_A_LOOP = Condition(lambda facts, _stop: facts.loop is not None and facts.loop.at_end, _not_in_a_loop)


RULES: tuple[Rule, ...] = (
    Rule(
        Verdict("success", "unstable"),
        (_ENDED_RIGHT, _NOTHING_ELSE, _UNDONE),
        "the goal held at the end and was rightly declared, after having been undone on the way",
    ),
    Rule(
        Verdict("success"),
        (_ENDED_RIGHT, _NOTHING_ELSE),
        "the goal held at the end and was rightly declared, and nothing else was changed",
    ),
    Rule(
        Verdict("over_execution"),
        (_ENDED_RIGHT,),
        "the goal held at the end and was rightly declared, but something else was changed as well",
    ),
    Rule(
        Verdict("reversal"),
        (_UNDONE,),
        "an action undid the goal after it had been reached",
    ),
    Rule(
        Verdict("premature_completion", "gave_up"),
        (_DENIED,),
        "the agent declared that the task cannot be done, which is not so",
    ),
    Rule(
        Verdict("premature_completion"),
        (_CLAIMED,),
        "the agent declared the task done without the goal, or with a wrong answer",
    ),
    Rule(
        Verdict("no_completion", "undeclared"),
        (_REACHED, _AT_THE_END),
        "the goal was reached and held to the end, but was never declared",
    ),
    Rule(
        Verdict("invalid_call"),
        (_NEVER_REACHED, _NO_CALLS),
        "the goal was never reached, and three replies in a row or half of all were no tool calls",
    ),
    Rule(
        Verdict("wrong_app"),
        (_NEVER_REACHED, _ELSEWHERE),
        "the goal was never reached, and the agent worked in other apps than the task's",
    ),
    Rule(
        Verdict("looping"),
        (_NEVER_REACHED, _IN_A_LOOP),
        "the goal was never reached, and the episode ended in a cycle of actions that changed nothing",
    ),
    Rule(
        Verdict("no_completion", "stuck"),
        (),
        "none of the above: something ended the episode on the way",
    ),
)
"""The taxonomy; the last rule matches whatever the others left."""


def label_of(facts: Facts, stop: StopReason, rules: Sequence[Rule] = RULES) -> Verdict:
    """Return the label of an episode by its facts and by what ended it."""
    return next(rule.verdict for rule in rules if rule.holds(facts, stop))
