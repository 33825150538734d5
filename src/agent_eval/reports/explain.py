"""Says in sentences what became of an episode, step by step, and why its label is that one and no other.

It works from the record alone and needs neither phone nor task. Replies, goals and paths stay as models and phones
wrote them, between quotation marks; whoever draws an explanation makes them harmless.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent_eval.outcome import Facts, Loop, StopReason, SubGoal
from agent_eval.records import EpisodeRecord, StepRecord
from agent_eval.taxonomy import RULES, Verdict, label_of
from agent_eval.types import Change, Scalar

LONGEST_QUOTE = 240
"""Characters of a reply or a value that are quoted; what is left out is counted."""

_STOPS: Mapping[StopReason, str] = {
    "declared": "The agent's declaration ended the episode.",
    "step_budget": "The budget of steps ended the episode.",
    "token_budget": "The budget of tokens, or the length of the conversation, ended the episode.",
    "time_budget": "The limit of wall-clock time ended the episode.",
    "loop_stop": "The episode was stopped because it went round in a loop.",
    "invalid_stop": "Three replies in a row that were no calls ended the episode.",
    "harness_error": "The harness failed, which ended the episode.",
}


@dataclass(frozen=True)
class StepStory:
    """What happened at one step."""

    number: int
    """From 1."""
    call: str
    """What the agent called, or that it called nothing."""
    notes: tuple[str, ...]
    """What was said and what changed, in sentences."""


@dataclass(frozen=True)
class RuleStory:
    """One rule of the taxonomy, held against the facts."""

    number: int
    """Its place in the taxonomy, from 1."""
    verdict: Verdict
    matched: bool
    why: str
    """What the rule asks for where it matched, else what was missing."""


@dataclass(frozen=True)
class Explanation:
    """An episode in sentences."""

    episode: str
    verdict: str
    """The recorded label, with its sub-kind."""
    goal: str
    """The sentence that the agent was given."""
    setting: tuple[str, ...]
    beginning: tuple[str, ...]
    steps: tuple[StepStory, ...]
    ending: tuple[str, ...]
    facts: tuple[str, ...]
    rules: tuple[RuleStory, ...]
    """In order of precedence, up to the one that matched; empty where no rule could be applied."""
    contradiction: str
    """Says where the rules and the record disagree; empty where they agree."""
    missing: tuple[str, ...]
    """What the record does not hold, and what cannot be told for that reason."""


def explain(record: EpisodeRecord) -> Explanation:
    """Explain an episode."""
    outcome = record.outcome
    facts = outcome.facts if outcome.label != "harness_error" else None
    recorded = Verdict(outcome.label, outcome.sub_kind)
    return Explanation(
        episode=record.episode,
        verdict=recorded.told,
        goal=record.goal,
        setting=tuple(_setting(record)),
        beginning=tuple(_beginning(record, facts)),
        steps=tuple(_steps(record, facts)),
        ending=tuple(_ending(record, facts)),
        facts=tuple(_facts(record, facts)) if facts is not None else (),
        rules=tuple(_rules(facts, outcome.stop)) if facts is not None else (),
        contradiction=_contradiction(recorded, facts, outcome.stop),
        missing=tuple(_missing(record, facts)),
    )


def quoted(text: str) -> str:
    """Put a text between quotation marks that it cannot end by itself, and say how much of it was left out."""
    left_out = len(text) - LONGEST_QUOTE
    if left_out <= 0:
        return json.dumps(text, ensure_ascii=False)
    return f"{json.dumps(text[:LONGEST_QUOTE], ensure_ascii=False)} and {left_out} more characters"


# ----------------------------------------------------------------------------------------------------------------------
# before and after


def _setting(record: EpisodeRecord) -> Iterator[str]:
    parameters = ", ".join(f"{name} {_value(value)}" for name, value in record.parameters.items())
    yield f"Task {record.task}, version {record.task_version}, seed {record.seed}" + (
        f", with {parameters}." if parameters else "."
    )
    attempt = f", in attempt {record.attempt + 1}" if record.attempt else ""
    yield f"{record.build} took {_count(len(record.steps), 'step')} of {record.budget}{attempt}."
    for fault in record.faults:
        yield f"After {fault.at_ms / 1000:g} s the phone's fault {fault.fault} showed: {fault.what}."


def _beginning(record: EpisodeRecord, facts: Facts | None) -> Iterator[str]:
    if facts is not None and not facts.by_declaration:
        yield "The goal held from the start." if facts.first_reach == 0 else "At the start the goal did not hold."
        for part in facts.sub_goals:
            if part.first_reach == 0:
                yield f"The sub-goal {quoted(part.name)} held from the start."
    if not record.steps:
        yield "No step was taken."


def _ending(record: EpisodeRecord, facts: Facts | None) -> Iterator[str]:
    yield _STOPS[record.outcome.stop]
    if record.outcome.fault:
        yield f"It said: {quoted(record.outcome.fault)}"
    if facts is None:
        if record.steps and record.outcome.label == "harness_error":
            yield "What the agent had done until then is above; it is not judged."
        return
    if not facts.by_declaration:
        yield f"At the end the goal {'held' if facts.goal_final else 'did not hold'}."
        for part in facts.sub_goals:
            yield f"At the end the sub-goal {quoted(part.name)} {'held' if part.final else 'did not hold'}."
    for path in facts.side_effects:
        yield f"Outside what the task allows, {path} was changed, and stayed so: {_who_changed(record, path)}."


def _who_changed(record: EpisodeRecord, path: str) -> str:
    numbers = [
        number
        for number, step in enumerate(record.steps, start=1)
        if any(change.path == path for change in step.changes or ())
    ]
    if not numbers:
        return "the record does not say by which step"
    return f"by {_listed('step', numbers)}"


# ----------------------------------------------------------------------------------------------------------------------
# step by step


@dataclass(frozen=True)
class _Course:
    """How a goal came and went."""

    named: str
    first_reach: int | None
    reversed_at: tuple[int, ...]


def _steps(record: EpisodeRecord, facts: Facts | None) -> Iterator[StepStory]:
    course = _Course("goal", facts.first_reach if facts else None, _reversed_at(record, facts))
    parts = [
        _Course(f"sub-goal {quoted(part.name)}", part.first_reach, part.reversed_at)
        for part in (facts.sub_goals if facts else ())
    ]
    held = ever = facts is not None and facts.first_reach == 0
    package = ""
    for place, step in enumerate(record.steps):
        notes = [
            *_said(step),
            *_answered(step),
            *_app(step, package),
            *_changes(step, facts),
            *_course(course, place, held, step.goal, ever),
            *(note for part in parts for note in _part(part, place)),
            *_declared(step, facts),
            *_loop(facts.loop if facts else None, place),
        ]
        yield StepStory(place + 1, _call(step), tuple(notes))
        held, package, ever = step.goal, step.package, ever or step.goal


def _call(step: StepRecord) -> str:
    if step.tool is None:
        return f"no call ({step.source})"
    arguments = ", ".join(f"{name}={_value(value)}" for name, value in step.arguments.items())
    named = step.target and "index" in step.arguments  # a number alone says little; a name or a direction is enough
    return f"{step.tool}({arguments})" + (f" on {quoted(step.target)}" if named else "")


def _said(step: StepRecord) -> Iterator[str]:
    if step.tool is None:
        yield f"The agent wrote {quoted(step.text)}, which is no call; it ends nothing by itself."
    elif step.thought:
        yield f"The agent thought: {quoted(step.thought)}"


def _answered(step: StepRecord) -> Iterator[str]:
    if step.result and step.tool not in ("task_complete", "give_up"):
        yield f"It was told: {quoted(step.result)}"


def _app(step: StepRecord, before: str) -> Iterator[str]:
    if step.package == before and before:
        return
    if not step.package:
        yield "Which app was in front is not known."
        return
    whose = {True: ", one of the task's apps", False: ", none of the task's apps", None: ""}[step.in_task_app]
    yield f"In front was now {step.package}{whose}."


def _changes(step: StepRecord, facts: Facts | None) -> Iterator[str]:
    for change in step.changes or ():
        outside = facts is not None and change.path in facts.side_effects
        yield _told(change) + (" (outside what the task allows)" if outside else "")


def _course(course: _Course, place: int, held: bool, holds: bool, ever: bool) -> Iterator[str]:
    if holds and not held:
        first = ", for the first time" if course.first_reach == place + 1 else ""
        yield f"The {course.named} held now{', again' if ever else first}."
    elif place in course.reversed_at:
        yield f"This undid the {course.named}: reversal {course.reversed_at.index(place) + 1}."
    elif held and not holds:
        yield f"The {course.named} no longer held, by no action of the agent: no reversal."


def _part(course: _Course, place: int) -> Iterator[str]:
    if course.first_reach == place + 1:
        yield f"The {course.named} held now, for the first time."
    if place in course.reversed_at:
        yield f"This undid the {course.named}: reversal {course.reversed_at.index(place) + 1} of it."


def _declared(step: StepRecord, facts: Facts | None) -> Iterator[str]:
    if step.tool == "give_up":
        right = facts is not None and facts.right_ending == "infeasible"
        yield f"The agent declared that the task cannot be done{', which is so' if right else ''}."
    elif step.tool == "task_complete":
        answer = step.arguments.get("answer", "")
        with_answer = f" with the answer {quoted(str(answer))}" if answer else ""
        verdict = ""
        if facts is not None and facts.answer_ok is not None:
            missing = "" if answer else " without the answer that was asked for"
            verdict = ", which is right" if facts.answer_ok else ", which is wrong" if answer else missing
        yield f"The agent declared the task done{with_answer}{verdict}."


def _loop(loop: Loop | None, place: int) -> Iterator[str]:
    if loop is not None and loop.first_step == place:
        what = "a repetition of one action" if loop.period == 1 else f"a cycle of {loop.period} actions"
        lasted = "held to the end" if loop.at_end else "was left later"
        yield f"Here began {what} that led to nothing new; it {lasted}."


def _reversed_at(record: EpisodeRecord, facts: Facts | None) -> tuple[int, ...]:
    """Return the steps that undid the goal; of an old record, those after which it was gone, if they are as many."""
    if facts is None or facts.reversed_at or not facts.reversals:
        return facts.reversed_at if facts is not None else ()
    goals = [facts.first_reach == 0, *(step.goal for step in record.steps)]
    gone = [place for place in range(len(record.steps)) if goals[place] and not goals[place + 1]]
    acting = [place for place in gone if record.steps[place].tool not in (None, "wait")]
    return next((tuple(some) for some in (gone, acting) if len(some) == facts.reversals), ())


# ----------------------------------------------------------------------------------------------------------------------
# facts and rules


def _facts(record: EpisodeRecord, facts: Facts) -> Iterator[str]:
    if not facts.by_declaration:
        yield _reach_told("The goal", facts.first_reach, _reversed_at(record, facts), facts.reversals)
    for part in facts.sub_goals:
        yield _part_told(part)
    yield _declaration_told(facts)
    if facts.side_effects:
        yield f"Side effects: {', '.join(facts.side_effects)}."
    else:
        yield "Nothing was changed that the task does not allow."
    yield _apps_told(facts)
    if facts.invalid_calls:
        first = "" if facts.first_invalid_turn is None else f", the first at step {facts.first_invalid_turn + 1}"
        yield f"{facts.invalid_calls} of {_count(facts.steps, 'reply', 'replies')} were no calls{first}."
    if facts.no_effect_actions:
        yield f"{_count(facts.no_effect_actions, 'action')} changed neither the phone nor the screen."
    if facts.loop is not None:
        period, first_step = facts.loop.period, facts.loop.first_step
        held = "held at the end" if facts.loop.at_end else "did not hold at the end"
        yield f"A loop of period {period} began at step {first_step + 1} and {held}."


def _reach_told(named: str, first: int | None, reversed_at: Sequence[int], reversals: int) -> str:
    if first is None:
        return f"{named} was never reached."
    when = "held from the start" if first == 0 else f"was reached at step {first}"
    if not reversals:
        return f"{named} {when} and never undone."
    by = f", by {_listed('step', [place + 1 for place in reversed_at])}" if reversed_at else ""
    times = {1: "once", 2: "twice"}.get(reversals, f"{reversals} times")
    return f"{named} {when} and undone {times}{by}."


def _part_told(part: SubGoal) -> str:
    return _reach_told(f"The sub-goal {quoted(part.name)}", part.first_reach, part.reversed_at, part.reversals)


def _declaration_told(facts: Facts) -> str:
    if facts.declared == "none":
        return f"Nothing was declared; the right ending was {facts.right_ending}."
    if facts.answer_ok is None:
        return f"Declared: {facts.declared}; the right ending was {facts.right_ending}."
    answer = "right" if facts.answer_ok else "wrong or missing"
    return f"Declared: {facts.declared}; the right ending was {facts.right_ending}; the answer was {answer}."


def _apps_told(facts: Facts) -> str:
    within = round(facts.task_app_share * facts.steps)
    share = f"{within} of {_count(facts.steps, 'step')} ended in the task's apps"
    if not facts.apps_visited:
        return f"No app is known to have been in front; {share}."
    where = ", towards the end in none of them" if facts.in_wrong_app else ""
    return f"In front were, in this order, {', '.join(facts.apps_visited)}; {share}{where}."


def _rules(facts: Facts, stop: StopReason) -> Iterator[RuleStory]:
    for number, rule in enumerate(RULES, start=1):
        matched = rule.holds(facts, stop)
        why = rule.asks if matched else "; ".join(rule.unmet(facts, stop))
        yield RuleStory(number, rule.verdict, matched, why)
        if matched:
            return


def _contradiction(recorded: Verdict, facts: Facts | None, stop: StopReason) -> str:
    if recorded.label == "harness_error":
        return ""
    if facts is None:
        return f"The record has the label {recorded.told} and no facts: no rule can be held against it."
    found = label_of(facts, stop)
    if found == recorded:
        return ""
    return (
        f"The record has the label {recorded.told}; from the recorded facts the rules give {found.told}. Either the "
        "record was made with other rules, or its facts lack something that the rules ask for."
    )


def _missing(record: EpisodeRecord, facts: Facts | None) -> Iterator[str]:
    if any(step.changes is None for step in record.steps):
        yield "The record does not hold what each step changed: changes, and who made side effects, are not shown."
    if any(step.in_task_app is None for step in record.steps):
        yield "The record does not hold which apps are the task's."
    if facts is None:
        return
    if facts.reversals and not facts.reversed_at:
        told = "they are taken from the goal after each step" if _reversed_at(record, facts) else "they are not shown"
        yield f"The record does not hold which steps undid the goal: {told}."
    for part in facts.sub_goals:
        if part.reversals and not part.reversed_at:
            yield f"The record does not hold which steps undid the sub-goal {quoted(part.name)}."
    if facts.steps != len(record.steps):
        yield f"The facts are of {_count(facts.steps, 'step')}, the record holds {len(record.steps)}."


# ----------------------------------------------------------------------------------------------------------------------
# words


def _told(change: Change) -> str:
    return f"{change.path}: {_value(change.before)} -> {_value(change.after)}"


def _value(value: Scalar | None) -> str:
    if value is None:
        return "absent"
    return quoted(value) if isinstance(value, str) else json.dumps(value)


def _count(number: int, noun: str, plural: str = "") -> str:
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def _listed(noun: str, numbers: Sequence[int]) -> str:
    *most, last = map(str, numbers)
    return f"{noun}s {', '.join(most)} and {last}" if most else f"{noun} {last}"
