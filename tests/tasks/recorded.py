"""Makes a record of a trace that was written by hand, as an episode would leave it behind."""

from __future__ import annotations

from agent_eval.actions import Malformed, arguments_of
from agent_eval.contracts import Trace, TraceStep
from agent_eval.records import EpisodeRecord, StepRecord
from agent_eval.tasks.judge import Criteria, judge
from agent_eval.types import Scalar, Snapshot


def recorded(
    criteria: Criteria,
    trace: Trace,
    *,
    goal: str = "Turn on Wi-Fi.",
    parameters: dict[str, Scalar] | None = None,
    thought: str = "",
    babble: str = "I tap the switch.",
) -> EpisodeRecord:
    """Judge a trace and record it.

    Args:
        criteria: What was asked.
        trace: What was done.
        goal: The sentence that the agent was given.
        parameters: Of the task.
        thought: What the agent wrote before each call.
        babble: What it wrote where it called nothing.
    """
    return EpisodeRecord(
        episode="w4a8/WifiSet/0",
        block=0,
        build="w4a8",
        task="WifiSet",
        seed=0,
        attempt=0,
        goal=goal,
        parameters=parameters or {"wanted": "on"},
        budget=len(trace.steps) if trace.stop == "step_budget" else max(8, len(trace.steps)),
        start_snapshot=trace.start.digest,
        steps=tuple(_step(criteria, trace.start, step, thought, babble) for step in trace.steps),
        outcome=judge(criteria, trace),
        wall_s=1.0,
    )


def _step(criteria: Criteria, start: Snapshot, step: TraceStep, thought: str, babble: str) -> StepRecord:
    reply = step.reply
    call = None if isinstance(reply, Malformed) else reply
    return StepRecord(
        prompt="the screen",
        text=babble if call is None else "a call",
        tool=call.action.name if call else None,
        arguments=arguments_of(call.action) if call else {},
        source=reply.reason if isinstance(reply, Malformed) else reply.source,
        thought=thought if call else "",
        result=step.result.message if step.result else reply.detail if isinstance(reply, Malformed) else "",
        target=step.result.target if step.result else "",
        goal=criteria.goal is not None and criteria.goal(start, step.after),
        package=step.package,
        in_task_app=step.package in criteria.apps,
        changes=step.before.diff(step.after),
        snapshot=step.after.digest,
        tokens=7,
        timing=None,
    )
