"""Runs in the formats of other programs: what to write, and under which names. Writes no file itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from agent_eval.records import EpisodeRecord, RunManifest
from agent_eval.reports.exports.inspect_log import inspect_logs
from agent_eval.reports.exports.junit import junit_xml

Export = Callable[[RunManifest, Sequence[EpisodeRecord], Path], Mapping[Path, bytes]]
"""Given a run and the place that was asked for, returns the content of each file."""


def _inspect(manifest: RunManifest, records: Sequence[EpisodeRecord], out: Path) -> Mapping[Path, bytes]:
    logs = inspect_logs(manifest, records)
    return {out / name: json.dumps(log, indent=1).encode("ascii") for name, log in logs.items()}


def _junit(manifest: RunManifest, records: Sequence[EpisodeRecord], out: Path) -> Mapping[Path, bytes]:
    return {out: junit_xml(manifest, records)}


FORMATS: Mapping[str, Export] = {"inspect": _inspect, "junit": _junit}
"""Every format by its name; ``inspect`` makes a folder of logs, the others one file."""
