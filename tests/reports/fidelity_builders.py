"""Builds records of a fidelity measurement out of small numbers that can be checked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

from agent_eval.reports.fidelity_record import (
    ActionKind,
    ActionRecord,
    BuildFidelity,
    CompletionRecord,
    DecisionRecord,
    DivergenceRecord,
    FidelityRecord,
    FollowedEpisode,
    PartingRecord,
    ReadWindow,
    ReferenceEpisode,
    TextRecord,
)
from tests.reports.builders import MACHINE


def reference(name: str, parts: str, halvings: Sequence[int]) -> ReferenceEpisode:
    """One reply to a letter of ``parts``'s rest: an episode whose tokens have probabilities 2 ** -halvings."""
    return ReferenceEpisode(
        episode=f"bf16/{name}",
        replies=(len(parts),),
        written_again=(True,),
        parts=parts,
        log_probabilities=tuple(-log(2) * count for count in halvings),
    )


def followed(
    name: str,
    kl: Sequence[float],
    same_top: str,
    halvings: Sequence[int],
    decision: DecisionRecord | None = None,
    kinds: Sequence[ActionKind] | None = None,
) -> FollowedEpisode:
    return FollowedEpisode(
        episode=f"bf16/{name}",
        kl=tuple(kl),
        same_top=same_top,
        log_probabilities=tuple(-log(2) * count for count in halvings),
        decision=decision,
        actions=None
        if kinds is None
        else tuple(
            ActionRecord(step=step, kind=kind, reference="tap(index=1)", build="tap(index=2)")
            for step, kind in enumerate(kinds)
        ),
    )


def decision(mine: float, its: float, own: str | None = None, called: str = "task_complete") -> DecisionRecord:
    return DecisionRecord(
        step=1, called=called, reference=mine, build=its, reference_covered=0.99, build_covered=0.98, own=own
    )


def completion(prompt: str, kept: int, tokens: int, written: str = " on") -> CompletionRecord:
    parted = kept < tokens
    return CompletionRecord(
        prompt=prompt,
        prompt_tokens=5,
        tokens=tokens,
        kept=kept,
        reference="what it wrote",
        build="what the other wrote" if parted else "what it wrote",
        parting=PartingRecord(
            reference_token=written,
            build_token=" off",  # noqa: S106  of a text
            reference_of_reference=0.6,
            reference_of_build=0.3,
            build_of_reference=0.2,
            build_of_build=0.7,
        )
        if parted
        else None,
    )


def window(kl: Sequence[float], same_top: int, halvings: int) -> ReadWindow:
    return ReadWindow(kl=tuple(kl), same_top=same_top, log_probability=-log(2) * halvings)


def text(*halvings: int, source: str = "goals of the tasks") -> TextRecord:
    return TextRecord(
        source=source,
        sha256="0" * 64,
        tokens=3 * len(halvings),
        window=3,
        pass_tokens=3,
        log_probabilities=tuple(-log(2) * count for count in halvings),
    )


def divergences(*first: int | None) -> tuple[DivergenceRecord, ...]:
    return tuple(
        DivergenceRecord(instance=f"Task{number:02d}/0", steps=5, first=each) for number, each in enumerate(first)
    )


def record(
    episodes: Sequence[ReferenceEpisode], builds: Sequence[BuildFidelity], read: TextRecord | None = None, **more: Any
) -> FidelityRecord:
    values: dict[str, Any] = {
        "created": "2026-01-02T03:04:05+00:00",
        "run": "runs/nano",
        "run_created": "2026-01-01T03:04:05+00:00",
        "run_digest": "0123456789abcdef" * 4,
        "model": "nano",
        "model_digest": "0123456789abcdef" * 4,
        "model_kind": "published",
        "vocabulary": 3008,
        "reference": "bf16",
        "reference_notes": "nothing quantised",
        "build_digests": {},
        "thinking": True,
        "machine": MACHINE,
        "threads": 2,
        "versions": {"python": "3.11.2", "torch": "2.13.0"},
        "recorded_episodes": len(episodes),
        "episodes": tuple(episodes),
        "text": read,
        "new_tokens": 8,
        "builds": tuple(builds),
    }
    return FidelityRecord(**{**values, **more})


def small(**more: Any) -> FidelityRecord:
    """Two episodes of four tokens, two windows, two prompts, four instances; two builds with the same numbers."""
    episodes = (reference("A/0", "tnar", (1, 1, 1, 1)), reference("B/0", "tdrr", (0, 2, 0, 2)))
    its = BuildFidelity(
        build="w4a8",
        notes="4-bit, symmetric",
        episodes=(
            followed("A/0", (0.1, 0.2, 0.3, 0.4), "1101", (1, 2, 3, 1), decision(2.0, -1.0, "tap"), ("same",
            "declared")), followed("B/0", (0.0, 0.0, 0.0, 1.0), "1110", (0, 3, 0, 2), decision(4.0, 3.0,
            "task_complete"), ("same", "same")),
        ),
        windows=(window((0.5, 0.5), 1, 6), window((1.0, 2.0), 2, 2)),
        completions=(completion("text 1", 3, 8), completion("text 2", 8, 8)),
        divergences=divergences(None, 2, 0, None),
    )  # fmt: skip
    builds = (its, its.model_copy(update={"build": "w4a16"}))
    return record(episodes, builds, text(4, 2), **more)
