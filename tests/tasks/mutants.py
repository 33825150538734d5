"""Judges that are wrong on purpose, each in one way. The corpus in ``judged`` must catch every one of them.

A mutant is a whole judge. It is the real one on facts, rules or a trace that were falsified on the way; nothing is
patched. Some are what public benchmarks and harnesses really do, the others are slips that are easily made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from agent_eval.actions import Action, GiveUp, Malformed, Tap, TaskComplete, ToolCall, Wait
from agent_eval.contracts import Trace, TraceStep
from agent_eval.outcome import Facts, Loop, Outcome, SubGoal
from agent_eval.tasks.judge import Acts, Criteria, Goal, acts, facts_of, judge, matches
from agent_eval.tasks.loops import LoopStep, action_identity, as_loop_steps, find_loop
from agent_eval.taxonomy import RULES, Rule, Verdict, label_of
from agent_eval.types import OWN_PREFIX, Change, Scalar, Snapshot
from tests.tasks.judged import FIXTURES, Judged
from tests.tasks.traces import LAUNCHER

Judge = Callable[[Criteria, Trace], Outcome]


@dataclass(frozen=True)
class Mutant:
    """A wrong judge."""

    name: str
    wrong: str
    """What it does, as a clause."""
    judge: Judge
    equivalent: str = ""
    """Why it gives every episode the same outcome as the real judge; empty for one that must be caught."""


def catches(mutant: Mutant, fixture: Judged) -> bool:
    """Tell whether a fixture shows that a judge is wrong: by the label, by a stated fact, or because it breaks."""
    try:
        outcome = mutant.judge(fixture.criteria, fixture.play())
    except (LookupError, StopIteration):
        return True
    if (outcome.label, outcome.sub_kind) != (fixture.label, fixture.sub_kind):
        return True
    return {name: getattr(outcome.facts, name, None) for name in fixture.facts} != fixture.facts


def caught_by(mutant: Mutant) -> tuple[str, ...]:
    """Return the names of the fixtures that show that a judge is wrong."""
    return tuple(fixture.name for fixture in FIXTURES if catches(mutant, fixture))


# ----------------------------------------------------------------------------------------------------------------------
# ways to falsify


def on_facts(change: Callable[[Criteria, Trace, Facts], Facts]) -> Judge:
    """Return a judge that changes the facts before it labels."""

    def judges(criteria: Criteria, trace: Trace) -> Outcome:
        if trace.stop == "harness_error":
            return judge(criteria, trace)
        facts = change(criteria, trace, facts_of(criteria, trace))
        verdict = label_of(facts, trace.stop)
        return Outcome(verdict.label, verdict.sub_kind, trace.stop, facts)

    return judges


def on_labels(label: Callable[[Facts, Trace], Verdict]) -> Judge:
    """Return a judge that labels the right facts by a rule of its own."""

    def judges(criteria: Criteria, trace: Trace) -> Outcome:
        if trace.stop == "harness_error":
            return judge(criteria, trace)
        facts = facts_of(criteria, trace)
        verdict = label(facts, trace)
        return Outcome(verdict.label, verdict.sub_kind, trace.stop, facts)

    return judges


def by_rules(rules: Sequence[Rule]) -> Judge:
    """Return a judge with other rules."""
    return on_labels(lambda facts, trace: label_of(facts, trace.stop, rules))


def with_acts(acting: Acts) -> Judge:
    """Return a judge with another notion of which steps may change something."""

    def judges(criteria: Criteria, trace: Trace) -> Outcome:
        if trace.stop == "harness_error":
            return judge(criteria, trace)
        facts = facts_of(criteria, trace, acting)
        verdict = label_of(facts, trace.stop)
        return Outcome(verdict.label, verdict.sub_kind, trace.stop, facts)

    return judges


def on_criteria(change: Callable[[Criteria], Criteria]) -> Judge:
    """Return a judge that asks for something else."""
    return lambda criteria, trace: judge(change(criteria), trace)


def on_trace(change: Callable[[Criteria, Trace], Trace]) -> Judge:
    """Return a judge that sees another trace."""
    return lambda criteria, trace: judge(criteria, change(criteria, trace))


def on_steps(change: Callable[[TraceStep], TraceStep]) -> Judge:
    """Return a judge that sees other steps."""
    return on_trace(lambda _criteria, trace: replace(trace, steps=tuple(map(change, trace.steps))))


def on_goal(change: Callable[[Goal], Goal]) -> Judge:
    """Return a judge with another goal, and other parts of it."""

    def changed(criteria: Criteria) -> Criteria:
        parts = {name: change(goal) for name, goal in criteria.sub_goals.items()}
        return replace(criteria, goal=change(criteria.goal) if criteria.goal else None, sub_goals=parts)

    return on_criteria(changed)


def on_loop(find: Callable[[Sequence[TraceStep]], Loop | None]) -> Judge:
    """Return a judge with another detector of loops."""
    return on_facts(lambda _criteria, trace, facts: replace(facts, loop=find(trace.steps)))


# ----------------------------------------------------------------------------------------------------------------------
# states and steps


def _passing(facts: Facts) -> Verdict:
    return Verdict("success") if facts.goal_final else Verdict("no_completion", "stuck")


def _parity(facts: Facts, trace: Trace) -> Verdict:
    """Label by the state in which the episode happened to stop."""
    return label_of(replace(facts, reversals=0), trace.stop)


def _latched(_criteria: Criteria, _trace: Trace, facts: Facts) -> Facts:
    return replace(facts, goal_final=facts.reached, reversals=0, reversed_at=())


def _forgiven_at_the_end(_criteria: Criteria, _trace: Trace, facts: Facts) -> Facts:
    if facts.goal_final:
        return replace(facts, reversals=0, reversed_at=())
    return replace(facts, reversals=min(facts.reversals, 1), reversed_at=facts.reversed_at[-1:])


def _both_ways(criteria: Criteria, trace: Trace, facts: Facts) -> Facts:
    goal = criteria.goal
    if goal is None:
        return facts
    held = [goal(trace.start, trace.start), *(goal(trace.start, step.after) for step in trace.steps)]
    return replace(facts, reversals=sum(before != after for before, after in pairwise(held)))


def _blind_at_the_start(_criteria: Criteria, _trace: Trace, facts: Facts) -> Facts:
    """Take a goal that held at the start for one that was never reached."""
    if facts.first_reach != 0:
        return facts
    return replace(facts, reached=False, first_reach=None, reversals=0, reversed_at=())


def _parts_for_the_whole(_criteria: Criteria, _trace: Trace, facts: Facts) -> Facts:
    return replace(facts, reversals=facts.reversals + sum(part.reversals for part in facts.sub_goals))


def _parts_alone(_criteria: Criteria, _trace: Trace, facts: Facts) -> Facts:
    """Take a compound goal for reached when some part is."""
    reached = facts.reached or any(part.reached for part in facts.sub_goals)
    return replace(facts, reached=reached)


def _parts_without_reversals(_criteria: Criteria, _trace: Trace, facts: Facts) -> Facts:
    parts = (SubGoal(part.name, part.reached, part.first_reach, 0, part.final) for part in facts.sub_goals)
    return replace(facts, sub_goals=tuple(parts))


def _from_nought(_criteria: Criteria, _trace: Trace, facts: Facts) -> Facts:
    """Count the steps to the goal from the wrong end."""
    return replace(facts, first_reach=None if facts.first_reach is None else max(0, facts.first_reach - 1))


def _own_reach_only(criteria: Criteria, trace: Trace, facts: Facts) -> Facts:
    """Leave out what came true without an action."""
    goal = criteria.goal
    if goal is None or facts.first_reach in (None, 0):
        return facts
    reaching = [
        place + 1
        for place, step in enumerate(trace.steps)
        if acts(step) and goal(trace.start, step.after) and not goal(trace.start, step.before)
    ]
    first = reaching[0] if reaching else None
    return replace(facts, reached=first is not None, first_reach=first)


def _reached_at_the_declaration(_criteria: Criteria, _trace: Trace, facts: Facts) -> Facts:
    """Look at the goal only when the agent says that it is done."""
    if facts.declared == "none":
        return replace(facts, reached=False, first_reach=None, reversals=0, reversed_at=())
    return facts


def _with_pending(goal: Goal) -> Goal:
    def holds(start: Snapshot, now: Snapshot) -> bool:
        begun = {path.removeprefix("pending/"): value for path, value in now.transient if path.startswith("pending/")}
        return goal(start, _overlaid(now, begun))

    return holds


def _with_drafts(goal: Goal) -> Goal:
    def holds(start: Snapshot, now: Snapshot) -> bool:
        typed = {
            f"clock/alarm/1/{path.rpartition('/')[2]}": value for path, value in now.transient if "/picker/" in path
        }
        return goal(start, _overlaid(now, typed))

    return holds


def _as_shown(goal: Goal) -> Goal:
    def holds(start: Snapshot, now: Snapshot) -> bool:
        path, _, value = str(now.get("ui/screen", "")).partition(" ")
        return goal(start, _overlaid(now, {path: value == "True"}) if value in ("True", "False") else now)

    return holds


def _overlaid(snapshot: Snapshot, values: dict[str, Scalar]) -> Snapshot:
    return Snapshot(tuple(sorted((dict(snapshot.persisted) | values).items())), snapshot.transient)


# ----------------------------------------------------------------------------------------------------------------------
# side effects


def _outside(criteria: Criteria, trace: Trace, changes: Sequence[Change]) -> tuple[str, ...]:
    end = trace.steps[-1].after if trace.steps else trace.start
    patterns = (*criteria.allowed(trace.start, end), *(f"permissions/{app}/*" for app in criteria.apps))
    paths = sorted({change.path for change in changes})
    return tuple(path for path in paths if not any(matches(path, pattern) for pattern in patterns))


def _ends_of(trace: Trace) -> tuple[Change, ...]:
    return trace.start.diff(trace.steps[-1].after) if trace.steps else ()


def _whoever(criteria: Criteria, trace: Trace, facts: Facts) -> Facts:
    changes = [change for change in _ends_of(trace) if not change.path.startswith(OWN_PREFIX)]
    return replace(facts, side_effects=_outside(criteria, trace, changes))


def _ever(criteria: Criteria, trace: Trace, facts: Facts) -> Facts:
    changes = [change for step in trace.steps if acts(step) for change in step.before.diff(step.after)]
    own = {change.path for change in _ends_of(trace)} - set(facts.side_effects)
    kept = [change for change in changes if change.path not in own]
    return replace(facts, side_effects=_outside(criteria, trace, kept))


def _before_the_goal_is_free(_criteria: Criteria, trace: Trace, facts: Facts) -> Facts:
    after = trace.steps[facts.first_reach or 0 :]
    changed = {change.path for step in after for change in step.before.diff(step.after)}
    return replace(facts, side_effects=tuple(path for path in facts.side_effects if path in changed))


def _notifications_free(_criteria: Criteria, _trace: Trace, facts: Facts) -> Facts:
    return replace(facts, side_effects=tuple(p for p in facts.side_effects if not p.startswith(OWN_PREFIX)))


def _notifications_count(criteria: Criteria, trace: Trace, facts: Facts) -> Facts:
    came = [change for change in _ends_of(trace) if change.path.startswith(OWN_PREFIX)]
    return replace(facts, side_effects=tuple(sorted({*facts.side_effects, *_outside(criteria, trace, came)})))


def _alarms_count(criteria: Criteria, trace: Trace, facts: Facts) -> Facts:
    rang = [change for change in _ends_of(trace) if change.path.endswith("/enabled")]
    return replace(facts, side_effects=tuple(sorted({*facts.side_effects, *_outside(criteria, trace, rang)})))


def _permissions_count(_criteria: Criteria, trace: Trace, facts: Facts) -> Facts:
    asked = {change.path for change in _ends_of(trace) if change.path.startswith("permissions/")}
    return replace(facts, side_effects=tuple(sorted({*facts.side_effects, *asked})))


def _by_beginning(criteria: Criteria) -> Criteria:
    """Allow every path that begins like an allowed one."""

    def allowed(start: Snapshot, end: Snapshot) -> tuple[str, ...]:
        begin = [pattern.removesuffix("/**").removesuffix("/*") for pattern in criteria.allowed(start, end)]
        return tuple(path for path, _ in (*start.persisted, *end.persisted) if path.startswith(tuple(begin)))

    return replace(criteria, allowed=allowed)


def _allowed_at_the_start(criteria: Criteria) -> Criteria:
    return replace(criteria, allowed=lambda start, _end: criteria.allowed(start, start))


# ----------------------------------------------------------------------------------------------------------------------
# replies and declarations


def _finishing(_criteria: Criteria, trace: Trace) -> Trace:
    place = _first_malformed(trace)
    if place is None or trace.stop == "harness_error":
        return trace
    last = replace(trace.steps[place], reply=ToolCall(TaskComplete()))
    return Trace(trace.start, (*trace.steps[:place], last), "declared")


def _ending(_criteria: Criteria, trace: Trace) -> Trace:
    place = _first_malformed(trace)
    if place is None or trace.stop == "harness_error":
        return trace
    return Trace(trace.start, trace.steps[: place + 1], "invalid_stop")


def _is(step: TraceStep, *actions: type[Action]) -> bool:
    return isinstance(step.reply, ToolCall) and isinstance(step.reply.action, actions)


def _stopped(trace: Trace) -> bool:
    return trace.stop == "invalid_stop"


def _first_malformed(trace: Trace) -> int | None:
    return next((place for place, step in enumerate(trace.steps) if isinstance(step.reply, Malformed)), None)


def _waiting_instead(step: TraceStep) -> TraceStep:
    return replace(step, reply=ToolCall(Wait())) if isinstance(step.reply, Malformed) else step


def _claiming(step: TraceStep) -> TraceStep:
    return replace(step, reply=ToolCall(TaskComplete())) if _is(step, GiveUp) else step


def _no_element_0(step: TraceStep) -> bool:
    action = step.reply.action if isinstance(step.reply, ToolCall) else None
    return acts(step) and not (isinstance(action, Tap) and not action.index)


def _empty_is_none_asked(criteria: Criteria, trace: Trace) -> Outcome:
    reply = trace.steps[-1].reply if trace.steps else None
    empty = isinstance(reply, ToolCall) and isinstance(reply.action, TaskComplete) and not reply.action.answer
    if criteria.answer is None or not empty:
        return judge(criteria, trace)
    return judge(replace(criteria, answer=None, goal=criteria.goal or (lambda _start, _now: True)), trace)


def _nought_is_no_answer(_criteria: Criteria, trace: Trace, facts: Facts) -> Facts:
    reply = trace.steps[-1].reply if trace.steps else None
    answer = reply.action.answer if isinstance(reply, ToolCall) and isinstance(reply.action, TaskComplete) else ""
    given = answer.isdigit() and int(answer) == 0
    return replace(facts, answer_ok=False, goal_final=False) if given and facts.answer_ok else facts


def _answered(_criteria: Criteria, _trace: Trace, facts: Facts) -> Facts:
    if facts.answer_ok is None:
        return facts
    done = facts.goal_final or (facts.first_reach is None and facts.declared == "complete")
    return replace(facts, answer_ok=True, goal_final=done, reached=facts.reached or done)


def _only_the_answer(_criteria: Criteria, _trace: Trace, facts: Facts) -> Facts:
    return replace(facts, goal_final=True, reached=True) if facts.answer_ok else facts


def _undeclared_counts(_criteria: Criteria, _trace: Trace, facts: Facts) -> Facts:
    return replace(facts, declared=facts.right_ending) if facts.declared == "none" else facts


def _any_ending_counts(_criteria: Criteria, _trace: Trace, facts: Facts) -> Facts:
    return facts if facts.declared == "none" else replace(facts, declared=facts.right_ending)


def _never_impossible(_criteria: Criteria, _trace: Trace, facts: Facts) -> Facts:
    return replace(facts, right_ending="complete")


def _failing(criteria: Criteria, trace: Trace) -> Outcome:
    return judge(criteria, replace(trace, stop="step_budget") if trace.stop == "harness_error" else trace)


def _with_invalid(rule: Callable[[Facts, Trace], bool]) -> Judge:
    """Return a judge with another threshold for replies that are no calls."""

    def label(facts: Facts, trace: Trace) -> Verdict:
        verdict = label_of(facts, trace.stop)
        if verdict.label not in ("invalid_call", "wrong_app", "looping") and verdict.sub_kind != "stuck":
            return verdict
        if not facts.reached and rule(facts, trace):
            return Verdict("invalid_call")
        return label_of(facts, trace.stop, [one for one in RULES if one.verdict.label != "invalid_call"])

    return on_labels(label)


# ----------------------------------------------------------------------------------------------------------------------
# apps


def _renamed(before: str) -> Judge:
    """Return a judge for which a package that tells nothing is an app like any other."""
    return on_steps(lambda step: replace(step, package="com.example.other") if step.package == before else step)


def _wrong_if(rule: Callable[[Criteria, list[str]], bool]) -> Judge:
    def change(criteria: Criteria, trace: Trace, facts: Facts) -> Facts:
        packages = [step.package for step in trace.steps if step.package not in ("", LAUNCHER)]
        return replace(facts, in_wrong_app=rule(criteria, packages))

    return on_facts(change)


# ----------------------------------------------------------------------------------------------------------------------
# loops


def _keyed(key: Callable[[TraceStep, str], str]) -> Judge:
    """Return a judge whose detector of loops compares something else."""

    def find(steps: Sequence[TraceStep]) -> Loop | None:
        named = [
            key(step, action_identity(step.reply, step.result.target if step.result is not None else ""))
            for step in steps
        ]
        reduced = as_loop_steps(steps)
        return find_loop([LoopStep(name, step.standing) for name, step in zip(named, reduced, strict=True)])

    return on_loop(find)


def _standing(change: Callable[[TraceStep, LoopStep], LoopStep]) -> Judge:
    """Return a judge whose detector of loops exempts something else."""
    return on_loop(
        lambda steps: find_loop([change(step, one) for step, one in zip(steps, as_loop_steps(steps), strict=True)])
    )


def _number(step: TraceStep) -> str:
    action = step.reply.action if isinstance(step.reply, ToolCall) else None
    return str(getattr(action, "index", ""))


def _counting(step: LoopStep, *standings: str) -> LoopStep:
    return replace(step, standing="counts") if step.standing in standings else step


def _at_the_end(held: bool) -> Judge:
    """Return a judge for which every loop, or none, holds at the end."""
    return on_facts(
        lambda _criteria, _trace, facts: replace(
            facts, loop=replace(facts.loop, at_end=held) if facts.loop is not None else None
        )
    )


def _ending_in(rounds: int, period: int = 1) -> Judge:
    """Return a judge whose detector needs so many rounds of a period at the end."""

    def find(steps: Sequence[TraceStep]) -> Loop | None:
        real = find_loop(as_loop_steps(steps))
        keys: list[tuple[int, str]] = []
        for place, step in enumerate(as_loop_steps(steps)):
            if step.standing == "progress":
                keys = []
            elif step.standing == "counts":
                keys.append((place, step.key))
        last = [key for _, key in keys[-period * rounds :]]
        ends = len(last) == period * rounds and last == last[:period] * rounds
        if ends:
            return Loop(period, keys[-period * rounds][0], at_end=True)
        return None if real is not None and real.period == period else real

    return on_loop(find)


MUTANTS: tuple[Mutant, ...] = (
    # what is looked at
    Mutant("final state only", "passes whatever ends on the goal, and nothing else",
           on_labels(lambda facts, _trace: _passing(facts))),
    Mutant("latched", "takes a goal that held once for one that holds for ever", on_facts(_latched)),
    Mutant("budget parity", "labels by the state in which the episode happened to stop", on_labels(_parity)),
    Mutant("looks when it is declared", "does not look at the goal before the declaration",
           on_facts(_reached_at_the_declaration)),
    Mutant("pending is done", "takes a switch that is still turning on for on", on_goal(_with_pending)),
    Mutant("typed is saved", "takes a half-typed form for a saved one", on_goal(_with_drafts)),
    Mutant("reads the screen", "believes the screen where the phone's state says otherwise", on_goal(_as_shown)),
    Mutant("forgets the start", "compares the goal with the phone as it is instead of as it was prepared",
           on_goal(lambda goal: lambda _start, now: goal(now, now))),
    Mutant("failures of the harness count", "judges an episode that the harness broke", _failing),
    # reaching and undoing
    Mutant("first reach off by one", "counts the steps to the goal from 0", on_facts(_from_nought)),
    Mutant("the start does not count", "does not see that the goal held at the start", on_facts(_blind_at_the_start)),
    Mutant("only actions reach", "does not count a goal that came true by itself", on_facts(_own_reach_only)),
    Mutant("reversal only if it ends undone", "forgets a reversal when the goal is back at the end",
           on_facts(_forgiven_at_the_end)),
    Mutant("counts both ways", "counts each coming of the goal as a reversal too", on_facts(_both_ways)),
    Mutant("counts what the clock does", "blames the agent for whatever undoes the goal",
           with_acts(lambda _step: True)),
    Mutant("counts changes during waiting", "blames the agent for what happens while it waits",
           with_acts(lambda step: acts(step) or _is(step, Wait))),
    Mutant("counts changes during babble", "blames the agent for what happens while it writes no call",
           with_acts(lambda step: acts(step) or isinstance(step.reply, Malformed))),
    Mutant("counts changes during the declaration", "blames the agent for what happens while it declares",
           with_acts(lambda step: acts(step) or _is(step, TaskComplete, GiveUp))),
    Mutant("forgets what was begun", "does not count what comes true later, while nothing is touched",
           with_acts(lambda step: acts(replace(step, before=replace(step.before, transient=()))))),
    Mutant("waiting alone settles", "counts what comes true later only if the agent waits for it",
           with_acts(lambda step: acts(step) and isinstance(step.reply, ToolCall)
                     and not _is(step, TaskComplete, GiveUp))),
    Mutant("parts undo the whole", "counts the reversals of parts as the goal's", on_facts(_parts_for_the_whole)),
    Mutant("a part is the whole", "takes one part of a compound goal for the goal", on_facts(_parts_alone)),
    Mutant("parts are never undone", "does not count the reversals of parts", on_facts(_parts_without_reversals)),
    # side effects
    Mutant("ignores side effects", "does not look at what else was changed",
           on_facts(lambda _criteria, _trace, facts: replace(facts, side_effects=()))),
    Mutant("blames for any difference", "counts every difference, whoever made it", on_facts(_whoever)),
    Mutant("damage that was undone counts", "counts what was changed and put back", on_facts(_ever)),
    Mutant("damage on the way is free", "looks only at what is changed after the goal was reached",
           on_facts(_before_the_goal_is_free)),
    Mutant("clearing notifications is free", "does not see a notification that went", on_facts(_notifications_free)),
    Mutant("notifications are damage", "counts a notification that came", on_facts(_notifications_count)),
    Mutant("ringing is damage", "counts an alarm that rang and switched itself off", on_facts(_alarms_count)),
    Mutant("permissions are damage", "counts the answer to an app's question for a permission",
           on_facts(_permissions_count)),
    Mutant("allows by beginning", "allows alarm 11 where alarm 1 is allowed", on_criteria(_by_beginning)),
    Mutant("allows nothing new", "takes the allowed writes from the prepared phone alone",
           on_criteria(_allowed_at_the_start)),
    # replies, declarations, answers
    Mutant("no call is a finish", "takes the first reply that is no call for a declaration", on_trace(_finishing)),
    Mutant("no call ends it", "ends the episode at the first reply that is no call", on_trace(_ending)),
    Mutant("no call is a wait", "does not count replies that are no calls", on_steps(_waiting_instead)),
    Mutant("half is not enough", "calls it invalid only when more than half of the replies are no calls",
           _with_invalid(lambda facts, trace: _stopped(trace) or 2 * facts.invalid_calls > facts.steps)),
    Mutant("a third is enough", "calls it invalid when a third of the replies are no calls",
           _with_invalid(lambda facts, trace: _stopped(trace) or 0 < facts.steps <= 3 * facts.invalid_calls)),
    Mutant("three in a row are nothing", "looks only at the share of replies that are no calls",
           _with_invalid(lambda facts, _trace: 0 < facts.steps <= 2 * facts.invalid_calls)),
    Mutant("element 0 is none", "does not see a tap on element 0", with_acts(_no_element_0)),
    Mutant("an empty answer asks nothing", "takes an empty answer for a task that asks for none", _empty_is_none_asked),
    Mutant("nought is no answer", "takes the answer 0 for a missing one", on_facts(_nought_is_no_answer)),
    Mutant("any answer will do", "does not look at the answer", on_facts(_answered)),
    Mutant("the answer is enough", "does not look at the goal where an answer is right", on_facts(_only_the_answer)),
    Mutant("giving up is done", "takes giving up for a declaration that it is done", on_steps(_claiming)),
    Mutant("any ending is right", "takes each declaration for the right one", on_facts(_any_ending_counts)),
    Mutant("nothing is impossible", "wants what cannot be done declared as done", on_facts(_never_impossible)),
    Mutant("undeclared counts", "passes a goal that was never declared", on_facts(_undeclared_counts)),
    # apps
    Mutant("unknown is the wrong app", "takes a foreground that nobody knows for another app", _renamed("")),
    Mutant("the launcher is the wrong app", "takes the launcher for another app", _renamed(LAUNCHER)),
    Mutant("one visit is enough", "sees the right app if it was ever in front",
           _wrong_if(lambda criteria, packages: bool(packages) and not any(p in criteria.apps for p in packages))),
    Mutant("the last app decides", "sees the wrong app if it is the last in front",
           _wrong_if(lambda criteria, packages: bool(packages) and packages[-1] not in criteria.apps)),
    Mutant("any other app is wrong", "sees the wrong app as soon as another was ever in front",
           _wrong_if(lambda criteria, packages: any(p not in criteria.apps for p in packages))),
    Mutant("the wrong app spoils all", "calls it the wrong app even where the goal was reached",
           on_labels(lambda facts, trace: Verdict("wrong_app") if facts.in_wrong_app else label_of(facts, trace.stop))),
    # loops
    Mutant("loops without a state", "compares actions alone", _keyed(lambda _step, action: action)),
    Mutant("loops without the phone", "compares screens and actions, not what the phone holds",
           _keyed(lambda step, action: f"{step.screen} {action}")),
    Mutant("loops without a screen", "compares what the phone holds and actions, not screens",
           _keyed(lambda step, action: f"{step.before.persisted_digest} {action}")),
    Mutant("loops by number", "compares the number of an element instead of the element",
           _keyed(lambda step, action: f"{step.screen} {step.before.persisted_digest} {action} {_number(step)}")),
    Mutant("waiting is a loop", "finds a loop in waiting for what is pending",
           _standing(lambda step, one: _counting(one, "passed_over") if not step.scrolled else one)),
    Mutant("scrolling is a loop", "finds a loop in looking up and down a list",
           _standing(lambda step, one: _counting(one, "passed_over") if step.scrolled else one)),
    Mutant("progress is no excuse", "does not start afresh when the phone is as it never was",
           _standing(lambda step, one: one if _is(step, TaskComplete, GiveUp) else _counting(one, "progress"))),
    Mutant("nothing is exempt", "has no exemptions at all",
           _standing(lambda _step, one: _counting(one, "progress", "passed_over"))),
    Mutant("three are a loop", "finds a loop in three equal actions", _ending_in(3)),
    Mutant("five are a loop", "finds no loop in four equal actions", _ending_in(5)),
    Mutant("two rounds are none", "finds no loop in two rounds of two", _ending_in(3, period=2)),
    Mutant("no period of four", "finds no loop of four actions", _ending_in(1000, period=4)),
    Mutant("loops last for ever", "takes a loop that was left for one that held",
           _at_the_end(True)),
    Mutant("loops are left", "never sees that a loop holds at the end",
           _at_the_end(False)),
    Mutant("looping whatever was reached", "calls it looping even where the goal was reached",
           on_labels(lambda facts, trace: Verdict("looping") if facts.loop else label_of(facts, trace.stop))),
)  # fmt: skip


_EQUIVALENT = {
    (4, 5): "one is about giving up, the other about claiming it done: no declaration is both",
    (6, 7): "one asks that the goal was reached, the other that it was not",
}
"""Why two rules may stand in either order, by their places."""


def rule_mutants() -> tuple[Mutant, ...]:
    """Return the judges without one rule of the taxonomy, and those with two neighbours in the other order."""
    names = [rule.verdict.told for rule in RULES]
    dropped = [
        Mutant(f"no rule for {name}", "does not have it", by_rules([*RULES[:place], *RULES[place + 1 :]]))
        for place, name in enumerate(names)
    ]
    swapped = [
        Mutant(
            f"{names[place + 1]} before {names[place]}",
            "asks the other way round",
            by_rules([*RULES[:place], RULES[place + 1], RULES[place], *RULES[place + 2 :]]),
            _EQUIVALENT.get((place, place + 1), ""),
        )
        for place in range(len(RULES) - 1)
    ]
    return (*dropped, *swapped)


ALL_MUTANTS: tuple[Mutant, ...] = (*MUTANTS, *rule_mutants())
"""Every wrong judge; names are unique."""
