"""One episode: from a goal on a prepared phone to one record. Read this file first.

Knows the protocols of ``contracts`` only: not which model decides, what the phone is made of, or how a task is judged.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from agent_eval.actions import GiveUp, Malformed, TaskComplete, ToolCall, arguments_of
from agent_eval.contracts import Decision, Device, Instance, PhoneControl, Policy, Trace, TraceStep
from agent_eval.errors import ContextOverflow, Fault
from agent_eval.outcome import Outcome, StopReason
from agent_eval.records import EpisodeRecord, StepRecord
from agent_eval.types import ActionResult, FiredFault, Observation, Snapshot

INVALID_STOP = 3
"""An episode ends after this many malformed replies in a row."""


@dataclass(frozen=True)
class EpisodeLimits:
    """What ends an episode besides its declaration and its step budget."""

    stop_on_loop: bool = False
    """Stop at a loop; off by default, since stopping hides recoveries and reversals."""
    max_seconds: float | None = None
    """Wall-clock limit. None keeps equal runs equal."""
    max_tokens: int | None = None
    """Most tokens that the model may generate in the episode; the reply that reaches it is the last."""


NO_LIMITS = EpisodeLimits()


@dataclass(frozen=True)
class EpisodeKey:
    """Where an episode stands in its run."""

    build: str
    block: int = 0
    attempt: int = 0


def run_episode(
    instance: Instance,
    policy: Policy,
    device: Device,
    phone: PhoneControl,
    key: EpisodeKey,
    limits: EpisodeLimits = NO_LIMITS,
) -> EpisodeRecord:
    """Let a policy attempt an instance, and judge what became of it.

    A fault of the engine, the device or the task is caught here and nowhere else: it becomes an outcome of its own.
    """
    began = time.perf_counter()
    steps: list[TraceStep] = []
    records: list[StepRecord] = []
    start = Snapshot(())
    fired: tuple[FiredFault, ...] = ()
    try:
        instance.prepare(phone)
        start = phone.snapshot()
        stop = _play(instance, policy, device, phone, limits, began, start, steps, records)
        outcome = instance.judge(Trace(start, tuple(steps), stop))
        fired = phone.fired()
    except Exception as error:  # noqa: BLE001  the one broad except: whatever breaks is the harness, never the model
        outcome = Outcome("harness_error", "", "harness_error", None, fault=_told(error))
    return EpisodeRecord(
        episode=f"{key.build}/{instance.id}",
        block=key.block,
        build=key.build,
        task=instance.task,
        task_version=instance.version,
        seed=instance.seed,
        attempt=key.attempt,
        goal=instance.goal,
        parameters=dict(instance.parameters),
        budget=instance.budget,
        start_snapshot=start.digest,
        steps=tuple(records),
        outcome=outcome,
        faults=fired,
        wall_s=time.perf_counter() - began,
    )


def _play(
    instance: Instance,
    policy: Policy,
    device: Device,
    phone: PhoneControl,
    limits: EpisodeLimits,
    began: float,
    start: Snapshot,
    steps: list[TraceStep],
    records: list[StepRecord],
) -> StopReason:
    """Observe, decide, perform, record, until something ends the episode; appends to ``steps`` and ``records``."""
    policy.begin(instance.goal)
    observation, result, before = device.observe(), None, start
    malformed_in_a_row = 0
    while len(steps) < instance.budget:
        if limits.max_seconds is not None and time.perf_counter() - began > limits.max_seconds:
            return "time_budget"
        try:
            decision = policy.decide(observation, result)
        except ContextOverflow:
            return "token_budget"
        reply = decision.reply
        result = device.perform(reply.action) if isinstance(reply, ToolCall) else None
        next_observation, after = device.observe(), phone.snapshot()
        step = _trace_step(decision, result, observation, next_observation, before, after)
        steps.append(step)
        records.append(_step_record(instance, decision, start, step))
        observation, before = next_observation, after
        if isinstance(reply, ToolCall) and isinstance(reply.action, TaskComplete | GiveUp):
            return "declared"
        malformed_in_a_row = malformed_in_a_row + 1 if isinstance(reply, Malformed) else 0
        if malformed_in_a_row == INVALID_STOP:
            return "invalid_stop"
        if limits.max_tokens is not None and sum(record.tokens for record in records) >= limits.max_tokens:
            return "token_budget"
        if limits.stop_on_loop and instance.loop_stops(steps):
            return "loop_stop"
    return "step_budget"


def _trace_step(
    decision: Decision,
    result: ActionResult | None,
    observation: Observation,
    next_observation: Observation,
    before: Snapshot,
    after: Snapshot,
) -> TraceStep:
    reply = decision.reply
    swiped = isinstance(reply, ToolCall) and reply.action.name == "swipe"
    return TraceStep(
        reply=reply,
        result=result,
        screen=observation.signature,
        before=before,
        after=after,
        package=next_observation.package,
        scrolled=swiped and next_observation.outline != observation.outline,
        outline=observation.outline,
    )


def _step_record(instance: Instance, decision: Decision, start: Snapshot, step: TraceStep) -> StepRecord:
    reply, generation = decision.reply, decision.generation
    call = reply if isinstance(reply, ToolCall) else None
    return StepRecord(
        prompt=decision.prompt,
        text=generation.text if generation else "",
        tool=call.action.name if call else None,
        arguments=arguments_of(call.action) if call else {},
        source=reply.source if isinstance(reply, ToolCall) else reply.reason,
        thought=reply.thought,
        result=step.result.message if step.result else reply.detail if isinstance(reply, Malformed) else "",
        target=step.result.target if step.result else "",
        goal=instance.goal_holds(start, step.after),
        package=step.package,
        in_task_app=instance.concerns(step.package),
        changes=step.before.diff(step.after),
        snapshot=step.after.digest,
        tokens=generation.tokens if generation else 0,
        timing=generation.timing if generation else None,
    )


def _told(error: Exception) -> str:
    kind = "" if isinstance(error, Fault) else "unexpected "
    return f"{kind}{type(error).__name__}: {error}"
