"""What must be so of every episode: random actions on random instances of every task, on the simulated phone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agent_eval.actions import GiveUp, Malformed, Reply, TaskComplete, ToolCall, Wait
from agent_eval.agent.reference import random_action
from agent_eval.contracts import Decision, Device, PhoneControl, Policy, Trace, TraceStep
from agent_eval.episode import EpisodeKey, run_episode
from agent_eval.errors import ContextOverflow
from agent_eval.outcome import LABELS, Facts, Loop, Outcome
from agent_eval.records import EpisodeRecord
from agent_eval.replay import replay_episode
from agent_eval.reports.conventions import CONVENTIONS
from agent_eval.reports.explain import explain
from agent_eval.reports.explained import render_explanation
from agent_eval.tasks import LANGUAGES, TASKS
from agent_eval.tasks.judge import acts, judge, matches
from agent_eval.tasks.loops import LONGEST_PERIOD, ROUNDS_OF_ONE, ROUNDS_TO_FLAG, LoopStep, find_loop, pending
from agent_eval.tasks.task import TaskInstance
from agent_eval.taxonomy import RULES, Verdict, label_of
from agent_eval.types import ActionResult, Observation
from tests.reports.golden import rendered

EPISODES = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
SOME_EPISODES = settings(EPISODES, max_examples=30)


@dataclass(frozen=True)
class Watched(TaskInstance):
    """An instance that keeps the traces that it judged."""

    traces: list[Trace] = field(default_factory=list, repr=False)

    def judge(self, trace: Trace) -> Outcome:
        self.traces.append(trace)
        return super().judge(trace)


@dataclass(frozen=True)
class Play:
    """What is drawn for one episode."""

    task: str
    seed: int
    language: str
    moves: tuple[str, ...]
    spoils: bool = False
    """Does the last thing again where the expert would declare."""
    rng: int = 0


class Mixture:
    """A policy that does what a list says: as the expert does, the same again, at random; then it has no room.

    Doing the same again is what undoes a switch, adds a second alarm, and goes round in a loop. Where ``spoils``, it is
    done instead of the expert's declaration.
    """

    def __init__(self, expert: Policy, play: Play) -> None:
        self._expert = expert
        self._moves = play.moves
        self._spoils = play.spoils
        self._rng = Random(play.rng)
        self._turn = 0
        self._last: Reply = ToolCall(Wait())

    def begin(self, goal: str) -> None:
        self._turn = 0
        self._expert.begin(goal)

    def decide(self, observation: Observation, result: ActionResult | None) -> Decision:
        if self._turn == len(self._moves):
            raise ContextOverflow("the list is at its end")
        self._turn += 1
        reply = self._reply(self._moves[self._turn - 1], observation, result)
        if isinstance(reply, ToolCall) and not _declares(reply):
            self._last = reply
        return Decision(reply)

    def _reply(self, move: str, observation: Observation, result: ActionResult | None) -> Reply:
        match move:
            case "expert":
                reply = self._expert.decide(observation, result).reply
                return self._last if self._spoils and _declares(reply) else reply
            case "again":
                return self._last
            case "random":
                return ToolCall(random_action(self._rng, observation))
            case "babble":
                return Malformed("no_call", "There was no call.")
            case "claim":
                return ToolCall(TaskComplete(answer=str(self._rng.randrange(30))))
            case "give up":
                return ToolCall(GiveUp())
            case _:
                return ToolCall(Wait())


def _declares(reply: Reply) -> bool:
    return isinstance(reply, ToolCall) and isinstance(reply.action, TaskComplete | GiveUp)


class Again:
    """A policy that gives the same replies again."""

    def __init__(self, replies: Sequence[Reply]) -> None:
        self._replies = replies
        self._turn = 0

    def begin(self, goal: str) -> None:  # noqa: ARG002
        self._turn = 0

    def decide(self, observation: Observation, result: ActionResult | None) -> Decision:  # noqa: ARG002
        if self._turn == len(self._replies):
            raise ContextOverflow("there are no more replies")
        self._turn += 1
        return Decision(self._replies[self._turn - 1])


COMMON = ("expert",) * 7 + ("again",) * 3 + ("random",) * 2 + ("wait", "babble")
MOVES = st.sampled_from((*COMMON * 3, "claim", "give up"))
PLAYS = st.builds(
    Play,
    st.sampled_from(sorted(TASKS)),
    st.integers(0, 500),
    st.sampled_from(LANGUAGES),
    st.builds(lambda first, rest: ("expert",) * first + tuple(rest), st.integers(0, 8), st.lists(MOVES, max_size=10)),
    st.booleans(),
    st.integers(0, 2**31),
)
SOLVED = ("expert",) * 40


@dataclass(frozen=True)
class Stage:
    """A phone and hands on it."""

    device: Device
    phone: PhoneControl

    def instance(self, play: Play) -> Watched:
        return Watched(**vars(TASKS[play.task].draw(play.seed, language=play.language)))

    def play(self, play: Play, instance: Watched) -> EpisodeRecord:
        return self.run(instance, Mixture(instance.oracle(self.phone), play))

    def run(self, instance: Watched, policy: Policy) -> EpisodeRecord:
        record = run_episode(instance, policy, self.device, self.phone, EpisodeKey("script"))
        assert record.outcome.label != "harness_error", record.outcome.fault
        return record


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    from agent_eval.wiring import open_sim

    device, phone = open_sim()
    yield Stage(device, phone)
    device.close()


def facts(outcome: Outcome) -> Facts:
    assert outcome.facts is not None
    return outcome.facts


@EPISODES
@given(play=PLAYS)
@example(play=Play("WifiSet", 0, "en", SOLVED))
@example(play=Play("WifiSet", 0, "en", SOLVED, spoils=True))
@example(play=Play("WifiSet", 0, "en", ()))
def test_every_episode_gets_one_label_that_its_facts_deserve(stage: Stage, play: Play) -> None:
    instance = stage.instance(play)
    record = stage.play(play, instance)
    outcome, found = record.outcome, facts(record.outcome)
    assert outcome.label in LABELS
    matching = [rule.verdict for rule in RULES if rule.holds(found, outcome.stop)]
    assert matching[0] == Verdict(outcome.label, outcome.sub_kind) == label_of(found, outcome.stop)
    if outcome.label == "success":
        assert found.goal_final
        assert found.side_effects == ()
        assert found.declared == found.right_ending
    if outcome.label == "reversal":
        assert found.reached
    assert len(found.reversed_at) == found.reversals
    assert record.model_validate_json(record.model_dump_json()) == record


@EPISODES
@given(play=PLAYS)
def test_what_the_facts_say_is_what_a_recount_over_the_states_finds(stage: Stage, play: Play) -> None:
    instance = stage.instance(play)
    record = stage.play(play, instance)
    trace, found = instance.traces[-1], facts(record.outcome)
    if instance.criteria.goal is None:
        assert (found.first_reach, found.reversals) == (None, 0)
    else:
        held = [instance.goal_holds(trace.start, one) for one in (trace.start, *(step.after for step in trace.steps))]
        assert found.first_reach == next((place for place, holds in enumerate(held) if holds), None)
        assert found.goal_final == held[-1]
        assert [step.goal for step in record.steps] == held[1:]
        undone = {place for place, step in enumerate(trace.steps) if held[place] and not held[place + 1] and acts(step)}
        assert set(found.reversed_at) <= undone
    end = trace.steps[-1].after if trace.steps else trace.start
    changed = {change.path for change in trace.start.diff(end)}
    allowed = instance.criteria.allowed(trace.start, end)
    assert set(found.side_effects) <= changed
    assert not [path for path in found.side_effects if any(matches(path, pattern) for pattern in allowed)]


@EPISODES
@given(play=PLAYS)
def test_every_record_can_be_explained_and_scored(stage: Stage, play: Play) -> None:
    record = stage.play(play, stage.instance(play))
    explanation = explain(record)
    assert (explanation.contradiction, explanation.missing) == ("", ())
    assert max(map(len, rendered(render_explanation(explanation), 80).splitlines())) <= 80
    passed = {convention.name: convention.score(record).passed for convention in CONVENTIONS}
    parsed = all(step.tool is not None for step in record.steps)
    assert passed["MobileGym"] == (record.outcome.label == "success" and parsed)
    assert passed["AndroidWorld"] or not passed["MobileGym"]
    assert passed["MobileAgentBench"] or not passed["AndroidWorld"]
    assert passed["MobileWorld"] or not (passed["AndroidWorld"] and parsed)


@SOME_EPISODES
@given(play=PLAYS)
def test_the_same_replies_lead_to_the_same_states_and_the_same_label(stage: Stage, play: Play) -> None:
    instance = stage.instance(play)
    record = stage.play(play, instance)
    again = stage.run(stage.instance(play), Again([step.reply for step in instance.traces[-1].steps]))
    assert again.outcome == record.outcome
    assert [step.snapshot for step in again.steps] == [step.snapshot for step in record.steps]
    assert all(step.same for step in replay_episode(record, instance, stage.device, stage.phone))


@SOME_EPISODES
@given(play=PLAYS, place=st.integers(0, 20))
def test_a_wait_that_changes_nothing_changes_no_fact_about_the_goal(stage: Stage, play: Play, place: int) -> None:
    instance = stage.instance(play)
    found = facts(stage.play(play, instance).outcome)
    trace = instance.traces[-1]
    place = min(place, len(trace.steps) - (trace.stop == "declared"))
    longer = facts(judge(instance.criteria, _with_a_wait(trace, place)))
    assert (longer.reached, longer.goal_final, longer.side_effects) == (
        found.reached,
        found.goal_final,
        found.side_effects,
    )
    assert longer.reversed_at == tuple(at + (at >= place) for at in found.reversed_at)
    if found.first_reach is None:
        assert longer.first_reach is None
    else:
        assert longer.first_reach == found.first_reach + (place < found.first_reach)


def _with_a_wait(trace: Trace, place: int) -> Trace:
    """Return the trace with one wait more, in which nothing happens."""
    at = trace.steps[place - 1].after if place else trace.start
    package = trace.steps[place - 1].package if place else ""
    wait = TraceStep(ToolCall(Wait()), ActionResult("done", "", ""), "a screen", at, at, package)
    return Trace(trace.start, (*trace.steps[:place], wait, *trace.steps[place:]), trace.stop)


@SOME_EPISODES
@given(play=PLAYS)
def test_waiting_longer_on_a_phone_at_rest_undoes_nothing_and_damages_nothing(stage: Stage, play: Play) -> None:
    instance = stage.instance(play)
    found = facts(stage.play(play, instance).outcome)
    trace = instance.traces[-1]
    if trace.stop != "token_budget" or len(trace.steps) == instance.budget or _unsettled(trace):
        return
    longer = stage.instance(play)
    waited = facts(stage.run(longer, Again([*(step.reply for step in trace.steps), ToolCall(Wait())])).outcome)
    assert (waited.reversals, waited.side_effects) == (found.reversals, found.side_effects)
    assert waited.first_reach == found.first_reach or found.first_reach is None


def _unsettled(trace: Trace) -> bool:
    return bool(trace.steps) and pending(trace.steps[-1].after)


# ----------------------------------------------------------------------------------------------------------------------
# loops, against their definition

SIGNS = st.lists(st.sampled_from("AB.|"), max_size=16).map("".join) | st.lists(
    st.sampled_from("ABCDE.|"), max_size=24
).map("".join)


def loop_steps(text: str) -> list[LoopStep]:
    """Write steps as letters: a dot is passed over, a bar is progress."""
    return [LoopStep(sign, "passed_over" if sign == "." else "progress" if sign == "|" else "counts") for sign in text]


def cycle_at(text: str, end: int) -> Loop | None:
    """Slow twin: the shortest cycle that holds after so many steps, found by trying every beginning of every period."""
    places = [place for place in range(text.rfind("|", 0, end) + 1, end) if text[place] != "."]
    keys = [text[place] for place in places]
    for period in range(1, LONGEST_PERIOD + 1):
        rounds = ROUNDS_OF_ONE if period == 1 else ROUNDS_TO_FLAG
        for begin in range(len(keys)):
            tail = keys[begin:]
            if len(tail) >= period * rounds and all(sign == tail[at % period] for at, sign in enumerate(tail)):
                return Loop(period, places[begin], at_end=True)
    return None


def loop_by_definition(text: str) -> Loop | None:
    """Slow twin: the cycle at the end, else the first that ever held, as it was when it first held."""
    at_end = cycle_at(text, len(text))
    if at_end is not None:
        return at_end
    held = (cycle_at(text, end) for end in range(len(text)) if end and text[end - 1] not in ".|")
    first = next((loop for loop in held if loop is not None), None)
    return Loop(first.period, first.first_step, at_end=False) if first is not None else None


@settings(max_examples=500)
@given(SIGNS)
def test_a_loop_is_what_its_definition_finds(text: str) -> None:
    assert find_loop(loop_steps(text)) == loop_by_definition(text)


@settings(max_examples=200)
@given(SIGNS, st.integers(0, 24))
def test_what_is_passed_over_makes_no_difference(text: str, place: int) -> None:
    found, longer = find_loop(loop_steps(text)), find_loop(loop_steps(f"{text[:place]}.{text[place:]}"))
    assert (found is None) == (longer is None)
    if found is not None and longer is not None:
        assert (longer.period, longer.at_end) == (found.period, found.at_end)
        assert longer.first_step == found.first_step + (min(place, len(text)) <= found.first_step)


@settings(max_examples=200)
@given(SIGNS)
def test_no_loop_spans_progress(text: str) -> None:
    found, ended = find_loop(loop_steps(text)), find_loop(loop_steps(f"{text}|"))
    assert ended is None or not ended.at_end
    if found is not None and found.at_end:
        assert found.first_step > text.rfind("|")
        assert ended is not None
