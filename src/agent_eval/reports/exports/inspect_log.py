"""A run as logs of Inspect, one for each build, so that ``inspect view`` shows its conversations.

The format is version 2 of the JSON log of ``inspect_ai`` (``inspect_ai.log.EvalLog``; inspect.aisi.org.uk/eval-logs).
Only what the records hold is written; what Inspect would derive from a live run (events, retries) is left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from agent_eval.outcome import Facts
from agent_eval.records import EpisodeRecord, RunManifest, StepRecord
from agent_eval.reports.evidence import is_decided
from agent_eval.reports.selection import builds_of, faulted, judged, latest
from agent_eval.reports.stats import wilson

FORMAT_VERSION = 2
SCORER = "agent_eval/judge"

Log = Mapping[str, Any]
"""What ``json.dump`` writes."""


def inspect_logs(manifest: RunManifest, records: Sequence[EpisodeRecord]) -> Mapping[str, Log]:
    """Return the log of each build under the name of its file, which has the form that ``inspect view`` looks for."""
    counted = latest(records)
    planned = len(manifest.configuration.tasks) * manifest.configuration.instances
    decided = is_decided(manifest, records)
    logs = {}
    for build in builds_of(manifest, records):
        identity = _digest(manifest.created, manifest.configuration.suite_digest, build)
        at = datetime.fromisoformat(manifest.created).strftime("%Y-%m-%dT%H-%M-%S+00-00")
        mine = [record for record in counted if record.build == build]
        logs[f"{at}_agent-eval-{build}_{identity}.json"] = _log(
            manifest, build, mine, identity, len(mine) if decided else planned
        )
    return logs


def _log(manifest: RunManifest, build: str, records: Sequence[EpisodeRecord], identity: str, planned: int) -> Log:
    configuration = manifest.configuration
    counted = judged(records)
    passed = sum(record.outcome.label == "success" for record in counted)
    share = wilson(passed, len(counted)) if counted else None
    model = f"agent-eval/{configuration.model}/{build}"
    return {
        "version": FORMAT_VERSION,
        "status": "success" if len(records) == planned else "cancelled",
        "eval": {
            "eval_id": identity,
            "run_id": _digest(manifest.created, configuration.suite_digest),
            "task_id": _digest(configuration.suite_digest, build),
            "created": manifest.created,
            "task": f"agent-eval-{build}",
            "task_version": configuration.suite_digest[:8],
            "dataset": {
                "name": f"{len(configuration.tasks)} tasks, {configuration.split} split, seed {configuration.seed}",
                "samples": planned,
                "sample_ids": [_sample_id(record) for record in records],
                "shuffled": True,
            },
            "model": model,
            "model_args": {"build": build, "note": manifest.build_notes.get(build, "")},
            "config": {"epochs": 1},
            "packages": dict(manifest.versions),
            "metadata": {
                "configuration": configuration.model_dump(mode="json"),
                "machine": manifest.machine.device_class,
                "cpu": manifest.machine.cpu_model,
                "threads": manifest.threads,
                "model_kind": manifest.model_kind,
            },
        },
        "plan": {
            "steps": [{"solver": "agent_eval/episode", "params": {"device": configuration.device}}],
            "config": {"max_tokens": configuration.max_tokens, "temperature": 0.0, "seed": configuration.seed},
        },
        "results": {
            "total_samples": planned,
            "completed_samples": len(counted),
            "scores": [
                {
                    "name": "success",
                    "scorer": SCORER,
                    "scored_samples": len(counted),
                    "unscored_samples": planned - len(counted),
                    "metrics": {
                        "accuracy": {"name": "accuracy", "value": share.estimate},
                        "wilson_95_low": {"name": "wilson_95_low", "value": share.low},
                        "wilson_95_high": {"name": "wilson_95_high", "value": share.high},
                    },
                }
            ]
            if share
            else [],
        },
        "stats": {
            "started_at": manifest.created,
            "completed_at": _after(manifest.created, sum(record.wall_s for record in records)),
            "model_usage": {model: _usage([step for record in records for step in record.steps])},
        },
        "samples": [_sample(record, model) for record in records],
    }


def _after(start: str, seconds: float) -> str:
    """Return a time so much later: builds take turns, so what a build took by itself is all that a run notes of it."""
    return (datetime.fromisoformat(start) + timedelta(seconds=seconds)).isoformat(timespec="seconds")


def _sample(record: EpisodeRecord, model: str) -> Mapping[str, Any]:
    messages = list(_messages(record, model))
    replies = [message for message in messages if message["role"] == "assistant"]
    sample: dict[str, Any] = {
        "id": _sample_id(record),
        "epoch": 1,
        "input": record.goal,
        "target": "the goal holds on the phone, declared, and nothing else is changed",
        "messages": messages,
        "output": {
            "model": model,
            "choices": [{"message": replies[-1], "stop_reason": "stop"}] if replies else [],
            "usage": _usage(record.steps),
            "time": record.wall_s,
        },
        "model_usage": {model: _usage(record.steps)},
        "total_time": record.wall_s,
        "working_time": record.wall_s,
        "metadata": {
            "build": record.build,
            "task": record.task,
            "task_version": record.task_version,
            "seed": record.seed,
            "block": record.block,
            "attempt": record.attempt,
            "budget": record.budget,
            "parameters": dict(record.parameters),
            "stop": record.outcome.stop,
        },
    }
    if record.outcome.stop == "step_budget":
        sample["limit"] = {"type": "turn", "limit": record.budget}
    facts = record.outcome.facts
    if facts is None or faulted([record]):
        fault = record.outcome.fault or "the harness failed"
        sample["error"] = {"message": fault, "traceback": fault, "traceback_ansi": fault}
    else:
        sample["scores"] = {"success": _score(record, facts)}
    return sample


def _score(record: EpisodeRecord, facts: Facts) -> Mapping[str, Any]:
    label, sub_kind = record.outcome.label, record.outcome.sub_kind
    return {
        "value": "C" if label == "success" else "I",
        "answer": f"{label}, {sub_kind}" if sub_kind else label,
        "explanation": f"stopped by: {record.outcome.stop}; `agent-eval explain RUN {record.episode}` says why",
        "metadata": asdict(facts),
    }


def _messages(record: EpisodeRecord, model: str) -> Iterator[dict[str, Any]]:
    """Yield the conversation: what was shown, each reply with its call, and last what came of the last call."""
    called: tuple[str, str] | None = None
    for number, step in enumerate(record.steps):
        yield _shown(step.prompt, called, f"{record.episode}/{number}/shown")
        call = f"{record.episode}/{number}/call"
        called = (call, step.tool) if step.tool is not None else None
        yield _reply(step, call, model)
    if record.steps:
        yield _shown(record.steps[-1].result, called, f"{record.episode}/end")


def _shown(content: str, called: tuple[str, str] | None, identity: str) -> dict[str, Any]:
    """Return what the agent was shown: as the result of its call where it made one."""
    if called is None:
        return {"id": identity, "role": "user", "content": content}
    return {"id": identity, "role": "tool", "content": content, "tool_call_id": called[0], "function": called[1]}


def _reply(step: StepRecord, call: str, model: str) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if step.thought:
        content.append({"type": "reasoning", "reasoning": step.thought})
    if step.tool is None:
        content.append({"type": "text", "text": step.text})
    reply: dict[str, Any] = {
        "id": f"{call}/reply",
        "role": "assistant",
        "content": content or "",
        "source": "generate",
        "model": model,
        "metadata": {"written": step.text, "form": step.source, "target": step.target, "goal_holds": step.goal},
    }
    if step.tool is not None:
        arguments = dict(step.arguments)
        reply["tool_calls"] = [{"id": call, "function": step.tool, "arguments": arguments, "type": "function"}]
    return reply


def _usage(steps: Sequence[StepRecord]) -> Mapping[str, int]:
    read = sum(step.timing.prompt_tokens for step in steps if step.timing)
    written = sum(step.tokens for step in steps)
    return {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}


def _sample_id(record: EpisodeRecord) -> str:
    return f"{record.task}/{record.seed}"


def _digest(*parts: str) -> str:
    """Return an id that the same run has each time it is exported."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:22]
