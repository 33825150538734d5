"""Builds synthetic records: an episode from its label, and a run from one string of labels per build."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent_eval.outcome import Facts, Label, Loop, Outcome, StopReason, SubKind
from agent_eval.records import EpisodeRecord, RunConfiguration, RunManifest, StepRecord
from agent_eval.types import MachineProbe, Timing

MACHINE = MachineProbe(
    arch="x86_64",
    cpu_model="Example CPU 3000",
    cpu_flags=("avx2", "avx512f"),
    physical_cores=8,
    memory_bytes=32 * 2**30,
    os="Linux",
)

LETTERS: Mapping[str, tuple[Label, SubKind]] = {
    "S": ("success", ""),
    "U": ("success", "unstable"),
    "O": ("over_execution", ""),
    "R": ("reversal", ""),
    "P": ("premature_completion", ""),
    "G": ("premature_completion", "gave_up"),
    "I": ("invalid_call", ""),
    "W": ("wrong_app", ""),
    "L": ("looping", ""),
    "N": ("no_completion", "stuck"),
    "D": ("no_completion", "undeclared"),
    "E": ("harness_error", ""),
}

STEPS = 4


def facts(label: Label, sub_kind: SubKind = "", **changes: Any) -> Facts:
    """Facts that the judge would give this label to."""
    reached = label in ("success", "over_execution", "reversal") or sub_kind == "undeclared"
    declared = label in ("success", "over_execution", "premature_completion")
    values: dict[str, Any] = {
        "reached": reached,
        "first_reach": 2 if reached else None,
        "reversals": int(label == "reversal" or sub_kind == "unstable"),
        "goal_final": reached and label != "reversal",
        "declared": "infeasible" if sub_kind == "gave_up" else "complete" if declared else "none",
        "answer_ok": None,
        "side_effects": ("clock/alarm/2",) if label == "over_execution" else (),
        "loop": Loop(2, 1, at_end=True) if label == "looping" else None,
        "apps_visited": ("com.android.settings",),
        "task_app_share": 0.0 if label == "wrong_app" else 1.0,
        "invalid_calls": 3 if label == "invalid_call" else 0,
        "first_invalid_turn": 1 if label == "invalid_call" else None,
        "no_effect_actions": 2 if label == "looping" else 0,
        "steps": STEPS,
        "steps_after_reach": STEPS - 2 if reached else None,
    }
    return Facts(**{**values, **changes})


def stop_of(label: Label) -> StopReason:
    if label in ("success", "over_execution", "premature_completion"):
        return "declared"
    if label == "harness_error":
        return "harness_error"
    return "invalid_stop" if label == "invalid_call" else "step_budget"


def timing(decode_rate: float, prefill_rate: float = 1000.0, tokens: int = 10) -> Timing:
    return Timing(
        prompt_tokens=200,
        prefill_tokens=50,
        prefill_s=50 / prefill_rate,
        decode_tokens=tokens,
        decode_s=tokens / decode_rate,
        first_token_s=50 / prefill_rate,
    )


def step(timed: Timing | None = None, tokens: int = 11, *, goal: bool = False) -> StepRecord:
    return StepRecord(
        prompt="the screen",
        text="tap(1)",
        tool="tap",
        arguments={"index": 1},
        source="native",
        thought="",
        result="done",
        target="switch Wi-Fi",
        goal=goal,
        package="com.android.settings",
        snapshot="0" * 16,
        tokens=tokens,
        timing=timed,
    )


def episode(
    label: Label,
    sub_kind: SubKind = "",
    *,
    build: str = "bf16",
    task: str = "WifiSet",
    seed: int = 0,
    block: int = 0,
    attempt: int = 0,
    timed: Timing | None = None,
    steps: int = STEPS,
    goal: str = "Turn on Wi-Fi.",
    fault: str = "EngineFault: out of memory",
    **changes: Any,
) -> EpisodeRecord:
    """One episode with this label; ``changes`` replace facts."""
    erred = label == "harness_error"
    found = facts(label, sub_kind, **{"steps": steps, **changes})
    return EpisodeRecord(
        episode=f"{build}/{task}/{seed}",
        block=block,
        build=build,
        task=task,
        seed=seed,
        attempt=attempt,
        goal=goal,
        parameters={"on": True},
        budget=8,
        start_snapshot="0" * 16,
        steps=tuple(step(timed, goal=not erred and _held(found, number)) for number in range(1, steps + 1)),
        outcome=Outcome(
            label,
            sub_kind,
            stop_of(label),
            None if erred else found,
            fault if erred else "",
        ),
        wall_s=2.0,
    )


def _held(found: Facts, number: int) -> bool:
    """Tell whether the goal held after so many steps: a goal that was undone was undone by the last."""
    reached = found.first_reach is not None and number >= found.first_reach
    return found.goal_final if number == found.steps else reached


def run(
    letters: Mapping[str, str], speeds: Mapping[str, Sequence[float] | float] | None = None, **options: Any
) -> tuple[EpisodeRecord, ...]:
    """Return the records of a run: for each build, one letter of ``LETTERS`` per block; ``.`` leaves an episode out.

    Args:
        letters: Build to its letters.
        speeds: Build to decode tokens per second, one figure or one per block; prefill is ten times as fast.
        options: Passed on to ``episode``.
    """
    records = []
    for block in range(max(len(text) for text in letters.values())):
        for build, text in letters.items():
            if block < len(text) and text[block] != ".":
                label, sub_kind = LETTERS[text[block]]
                rates = (speeds or {}).get(build)
                rate = rates[block] if isinstance(rates, Sequence) else rates
                records.append(
                    episode(
                        label,
                        sub_kind,
                        build=build,
                        task=f"Task{block:02d}",
                        block=block,
                        timed=timing(rate, 10 * rate) if rate else None,
                        **options,
                    )
                )
    return tuple(records)


def manifest(
    builds: Sequence[str] = ("bf16", "w4a16", "w4a8"),
    tasks: int = 12,
    *,
    model_kind: str = "embedded",
    machine: MachineProbe = MACHINE,
    instances: int = 1,
    seed: int = 7,
    **configuration: Any,
) -> RunManifest:
    return RunManifest(
        configuration=RunConfiguration(
            builds=tuple(builds),
            tasks=tuple(f"Task{number:02d}" for number in range(tasks)),
            instances=instances,
            seed=seed,
            model="nano",
            model_digest="0123456789abcdef" * 4,
            device="sim",
            max_tokens=64,
            thinking=True,
            stop_on_loop=False,
            max_episode_s=None,
            suite_digest="fedcba9876543210",
            prompt_digest="00112233445566aa",
            **configuration,
        ),
        model_kind=model_kind,
        build_notes={
            "bf16": "nothing quantised; torch matmul",
            "w4a16": "linears and head in asymmetric groups of 32; int4pack kernel",
            "w4a8": "linears and head in symmetric groups of 32, activations int8; exact kernel",
        },
        versions={"python": "3.11.2", "torch": "2.13.0", "agent-eval": "0.1.0"},
        machine=machine,
        threads=2,
        created="2026-01-02T03:04:05+00:00",
    )
