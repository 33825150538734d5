"""The episodes of a run as data for the page's script. Every text stands there once, and is referred to by its number.

The phone shows the same lines again and again, to every build: so a run takes a third of the room of its records.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from agent_eval.records import EpisodeRecord, RunManifest, StepRecord
from agent_eval.reports.divergence import Act, first_divergent_step
from agent_eval.reports.explain import Explanation, StepStory, explain
from agent_eval.reports.selection import builds_of, latest, models_of, pairs_of, reference_of
from agent_eval.types import Timing


class Texts:
    """Gives each text a number: its place among all texts, in the order in which they are first met."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Return the number of a text."""
        return self._numbers.setdefault(text, len(self._numbers))

    def numbers(self, texts: Iterable[str]) -> list[int]:
        """Return the number of each text."""
        return [self.number(text) for text in texts]

    def all(self) -> list[str]:
        """Return all texts, each at the place that its number says."""
        return list(self._numbers)


def payload_of(manifest: RunManifest, records: Sequence[EpisodeRecord]) -> dict[str, Any]:
    """Return the last attempt of every episode, in the order of blocks, as JSON values.

    ``texts`` are all texts; whatever else could hold any text holds its number. ``prompt`` of a step has one for each
    line. ``against`` is what became of the pair with the reference, ``difference`` the first step, from 0, at which the
    actions differ, ``action`` of a step a number that equal actions share, ``held``: the goal held at the start.
    """
    texts, actions = Texts(), Texts()
    builds = tuple(dict.fromkeys((*builds_of(manifest, records), *(record.build for record in records))))
    reference = reference_of(models_of(manifest, records))
    counted = sorted(latest(records), key=lambda record: (record.block, builds.index(record.build), record.task))
    compared = [build for build in builds if build not in (reference, *manifest.agents)]
    against, differences = _against(counted, reference, compared)
    episodes = [
        _episode(record, texts, actions)
        | {"against": against.get(record.episode, ""), "difference": differences.get(record.episode)}
        for record in counted
    ]
    return {"builds": list(builds), "reference": reference, "episodes": episodes, "texts": texts.all()}


def script_json(value: Any) -> str:
    """Return JSON that can stand in a script element: nothing in it ends the element or a line of script."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
"""What HTML or a script's line would take for its own, and what has no place in UTF-8. All of it stands in strings."""


def _against(
    records: Sequence[EpisodeRecord], reference: str, builds: Sequence[str]
) -> tuple[dict[str, str], dict[str, int | None]]:
    against: dict[str, str] = {}
    differences: dict[str, int | None] = {}
    for build in builds:
        for pair in pairs_of(records, reference, build):
            passed = pair.reference.outcome.label == "success", pair.build.outcome.label == "success"
            against[pair.build.episode] = _STANDINGS[passed]
            differences[pair.build.episode] = first_divergent_step(pair.reference, pair.build)
    return against, differences


_STANDINGS = {
    (True, True): "both passed",
    (True, False): "lost",
    (False, True): "gained",
    (False, False): "both failed",
}


def _episode(record: EpisodeRecord, texts: Texts, actions: Texts) -> dict[str, Any]:
    story = explain(record)
    return {
        "id": record.episode,
        "build": record.build,
        "task": record.task,
        "seed": record.seed,
        "block": record.block,
        "attempt": record.attempt,
        "budget": record.budget,
        "goal": texts.number(record.goal),
        "label": record.outcome.label,
        "sub_kind": record.outcome.sub_kind,
        "fault": texts.number(record.outcome.fault) if record.outcome.fault else None,
        "seconds": round(record.wall_s, 3),
        "tokens": sum(step.tokens for step in record.steps),
        "held": record.outcome.facts is not None and record.outcome.facts.first_reach == 0,
        "story": _story(story, texts),
        "steps": [_step(*each, texts, actions) for each in zip(record.steps, story.steps, strict=True)],
    }


def _story(story: Explanation, texts: Texts) -> dict[str, Any]:
    return {
        "setting": texts.numbers(story.setting),
        "beginning": texts.numbers(story.beginning),
        "ending": texts.numbers(story.ending),
        "facts": texts.numbers(story.facts),
        "rules": [
            {
                "number": rule.number,
                "verdict": rule.verdict.told,
                "matched": rule.matched,
                "why": texts.number(rule.why),
            }
            for rule in story.rules
        ],
        "contradiction": texts.numbers([story.contradiction] if story.contradiction else []),
        "missing": texts.numbers(story.missing),
    }


def _step(step: StepRecord, story: StepStory, texts: Texts, actions: Texts) -> dict[str, Any]:
    return {
        "prompt": texts.numbers(step.prompt.split("\n")),
        "text": texts.number(step.text),
        "tool": step.tool,
        "arguments": [[texts.number(name), texts.number(_written(value))] for name, value in step.arguments.items()],
        "index": _index(step.arguments),
        "source": texts.number(step.source),
        "thought": texts.number(step.thought),
        "result": texts.number(step.result),
        "target": texts.number(step.target),
        "goal": step.goal,
        "package": texts.number(step.package),
        "in_task_app": step.in_task_app,
        "changes": [
            [texts.number(change.path), _shown(change.before, texts), _shown(change.after, texts)]
            for change in step.changes or ()
        ],
        "snapshot": step.snapshot,
        "tokens": step.tokens,
        "timing": _timing(step.timing),
        "call": texts.number(story.call),
        "notes": texts.numbers(story.notes),
        "action": actions.number(action_key(step)),
    }


def action_key(step: StepRecord) -> str:
    """Return a text that two steps share exactly where ``Act.same_as`` says that their actions are the same."""
    act = Act.of(step)
    return json.dumps([None, act.text] if act.tool is None else [act.tool, dict(act.arguments)], sort_keys=True)


def _index(arguments: Mapping[str, str | int]) -> int | None:
    """Return the number of the element that a call names."""
    index = arguments.get("index")
    return index if isinstance(index, int) and not isinstance(index, bool) else None


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _shown(value: bool | int | str | None, texts: Texts) -> int | None:
    return None if value is None else texts.number(_written(value))


def _timing(timing: Timing | None) -> dict[str, float] | None:
    if timing is None:
        return None
    return {name: round(value, 6) if isinstance(value, float) else value for name, value in asdict(timing).items()}
