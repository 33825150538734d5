"""Runs for the tests of the page: one whose actions are known to part somewhere, one that is all hostile text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agent_eval.outcome import SubGoal
from agent_eval.records import EpisodeRecord, RunManifest, StepRecord
from agent_eval.types import Change, FiredFault
from tests.reports.builders import LETTERS, episode, manifest, run, step, timing

BUILDS = ("bf16", "w4a16", "w4a8")

HOSTILE = (
    "<script>window.canary = 1</script>",
    "</script><script>window.canary = 2</script>",
    "<!--<script>",
    "]]><img src=x onerror='window.canary = 3'>",
    '"><svg onload="window.canary = 4">',
    "javascript:window.canary=5",
    "{{ 7 * 7 }}{% raw %}${window.canary = 6}`",
    "</style><style>* { display: none !important }",
    "&lt;b&gt; &amp; &#x3c;script&#x3e;",
    "before\u202eafter\u2066\u200b",
    "line\u2028separator\u2029paragraph",
    "\x1b[31mred\x00\x07",
    "<a href='https://example.com/' ping='https://example.com/'>link</a>",
    "%3Cscript%3E%ZZ&step=9#summary",
    "__proto__",
    "<iframe srcdoc='<script>parent.canary = 7</script>'></iframe>",
)
"""Texts that would do something if any of them were taken for markup, script, style, template or address."""
ALL_HOSTILE = "\n".join(HOSTILE)


def ordinary() -> tuple[RunManifest, tuple[EpisodeRecord, ...]]:
    """Three builds with known outcomes and speeds: w4a16 loses one instance and gains one, w4a8 loses three."""
    letters = {"bf16": "SSSSSSNLPSSS", "w4a16": "SSSSRSNLSSSS", "w4a8": "SRLSSPNLPSES"}
    speeds = {
        name: [base + block % 3 for block in range(12)] for name, base in zip(BUILDS, (40.0, 60.0, 80.0), strict=True)
    }
    return manifest(), run(letters, speeds)


def tapping(indices: Sequence[int | str], **changes: Any) -> tuple[StepRecord, ...]:
    """Steps that tap one element after another; a text is a reply that is no call."""
    return tuple(
        step(timing(40.0)).model_copy(
            update={
                "prompt": f"Task: Do it.\nApp: Settings\n[0] Up (button)\n[{index}] Row {index} (row)\n(scrolls)",
                "arguments": {"index": index} if isinstance(index, int) else {},
                "tool": "tap" if isinstance(index, int) else None,
                "source": "native" if isinstance(index, int) else "no_call",
                "text": f"tap({index})" if isinstance(index, int) else index,
                "changes": (Change("settings/wifi_on", before=False, after=True),),
                "in_task_app": True,
                **changes,
            }
        )
        for index in indices
    )


PARTING: dict[str, tuple[Sequence[int | str], Sequence[int | str], int | None]] = {
    "Same": ([1, 2, 3], [1, 2, 3], None),
    "First": ([1, 2, 3], [2, 2, 3], 0),
    "Third": ([1, 2, 3, 4, 5], [1, 2, 7, 4, 5], 2),
    "Shorter": ([1, 2, 3, 4], [1, 2], 2),
    "Longer": ([1], [1, 2, 3], 1),
    "Detour": ([1, 2, 3, 4, 5], [1, 9, 8, 2, 3, 4, 5], 1),
    "NoCall": ([1, "hello", 3], [1, "hello", "bye"], 2),
}
"""Task to what bf16 did, what w4a8 did, and the first step, from 0, at which they differ."""


def parting() -> tuple[RunManifest, tuple[EpisodeRecord, ...]]:
    """Two builds, one instance of each task of ``PARTING``."""
    records = []
    for block, (task, (one, other, _)) in enumerate(PARTING.items()):
        for build, indices in (("bf16", one), ("w4a8", other)):
            made = episode("success", build=build, task=task, block=block, goal=f"Do {task}.")
            records.append(made.model_copy(update={"steps": tapping(indices)}))
    found = manifest(("bf16", "w4a8"), tasks=len(PARTING))
    configuration = found.configuration.model_copy(update={"tasks": tuple(PARTING)})
    return found.model_copy(update={"configuration": configuration}), tuple(records)


def large(instances: int) -> tuple[RunManifest, tuple[EpisodeRecord, ...]]:
    """Two builds with many episodes of one task."""
    records = [
        episode(*LETTERS["SNR"[number % 3]], build=build, task="WifiSet", seed=number, block=number)
        for number in range(instances)
        for build in ("bf16", "w4a8")
    ]
    return manifest(("bf16", "w4a8"), tasks=1, instances=instances), tuple(records)


def hostile(texts: Sequence[str] = HOSTILE) -> tuple[RunManifest, tuple[EpisodeRecord, ...]]:
    """A run that has hostile text in every field that can hold text, builds, tasks and paths included."""
    whole = "\n".join(texts)
    builds = ("bf16", *(f"scripted:{text}" for text in texts[:4]))
    records = []
    for block, text in enumerate(texts):
        for place, build in enumerate(builds):
            letter = "SOPRE"[(block + place) % 5]
            kept = episode(
                *LETTERS[letter], build=build, task=f"Task {text}", block=block, goal=f"{text} {whole}", fault=text,
                side_effects=(f"path/{text}",), apps_visited=(text,), sub_goals=(SubGoal(text, True, 1, 0, True),),
            )  # fmt: skip
            records.append(
                kept.model_copy(
                    update={
                        "parameters": {text: text, "whole": whole},
                        "faults": (FiredFault(5, text, whole),),
                        "start_snapshot": text,
                        "steps": (_hostile_step(text, whole), _hostile_step(text, whole, tool=None)),
                    }
                )
            )
    made = manifest(builds, tasks=len(texts))
    configuration = made.configuration.model_copy(
        update={"model": whole, "tasks": tuple(f"Task {text}" for text in texts), "faults": tuple(texts),
                "device": whole, "skin": whole, "engine_settings": tuple(texts)}
    )  # fmt: skip
    return made.model_copy(
        update={
            "configuration": configuration,
            "build_notes": dict.fromkeys(builds, whole),
            "versions": {text: text for text in texts},
            "machine": replace(made.machine, cpu_model=whole, os=whole),
        }
    ), tuple(records)


def _hostile_step(text: str, whole: str, tool: str | None = "type_text") -> StepRecord:
    return step(timing(40.0)).model_copy(
        update={
            "prompt": f"Task: {text}\n{text}\nApp: {text}\n[0] {text} (row, {text})\n[1] {whole}",
            "text": whole,
            "tool": tool if tool is None else f"{tool}{text}",
            "arguments": {"index": 0, text: whole},
            "source": text,
            "thought": whole,
            "result": text,
            "target": text,
            "package": text,
            "in_task_app": False,
            "snapshot": text,
            "changes": (Change(text, text, whole), Change(f"other/{text}", None, text)),
        }
    )
