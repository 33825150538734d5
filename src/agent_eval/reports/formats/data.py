"""A report as JSON: all that was computed, under the names that the source has for it. No NaN, no infinity.

``docs/reference/report-formats.md`` describes the keys.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any

from pydantic import BaseModel

from agent_eval import __version__
from agent_eval.records import EpisodeRecord
from agent_eval.reports.formats.tidy import measures_of
from agent_eval.reports.report import Report
from agent_eval.types import Interval

SCHEMA_VERSION = 1
"""Of the keys; a key that goes or changes its meaning makes another version, one that is added does not."""


def json_text(report: Report, run_of: Mapping[str, str], instead: Mapping[str, Any]) -> str:
    """Return the document.

    Args:
        report: Of a run, or of several.
        run_of: Name of each build's run, where the report is of several.
        instead: What stands for keys of the report that it has nothing of its own for; None leaves a key out.
    """
    document: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "agent_eval": __version__}
    document |= {field.name: _plain(getattr(report, field.name)) for field in fields(report)}
    document |= {name: _plain(value) for name, value in instead.items()}
    document["measures"] = [measure._asdict() for measure in measures_of(report, run_of)]
    document = {name: value for name, value in document.items() if name not in instead or value is not None}
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    """Return what ``json`` can write."""
    match value:
        case EpisodeRecord():
            return _episode(value)
        case Interval():
            return _interval(value)
        case BaseModel():
            return value.model_dump(mode="json")
        case Mapping():
            return _mapping(value)
        case str() | bool() | int() | float() | None:
            return value
        case tuple() if hasattr(value, "_asdict"):
            return _mapping(value._asdict())
        case Sequence():
            return [_plain(each) for each in value]
    if not is_dataclass(value):
        raise TypeError(f"a report holds {type(value).__name__}, which JSON has no form for")
    return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}


def _interval(value: Interval) -> dict[str, Any] | None:
    """Return an estimate; None for a placeholder where nothing was counted. An end that is open is null."""
    if value.n == 0:
        return None
    high = value.high if isfinite(value.high) else None
    return {"estimate": value.estimate, "low": value.low, "high": high, "n": value.n}


def _mapping(value: Mapping[Any, Any]) -> Any:
    """Return an object; a list where the keys are pairs of labels, as of migrations."""
    if any(not isinstance(key, str) for key in value):
        return [{"reference": before, "build": after, "pairs": count} for (before, after), count in value.items()]
    return {key: _plain(each) for key, each in value.items()}


def _episode(record: EpisodeRecord) -> dict[str, Any]:
    """Return what a reader needs to find an episode and to know what became of it; the run folder has the rest."""
    outcome = record.outcome
    return {
        "episode": record.episode,
        "build": record.build,
        "task": record.task,
        "seed": record.seed,
        "attempt": record.attempt,
        "goal": record.goal,
        "label": outcome.label,
        "sub_kind": outcome.sub_kind,
        "fault": outcome.fault,
    }
