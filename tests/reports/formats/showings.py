"""Reports to be written in every format: one of a run with everything in it, one of hostile texts, one of two runs."""

from __future__ import annotations

from pathlib import Path

from agent_eval.reports.compare import comparison_of
from agent_eval.reports.formats import Showing
from agent_eval.reports.shown import showing_of_comparison, showing_of_run
from tests.reports.builders import manifest, run

LETTERS = {"bf16": "SSSSSSSSSSNLSSSS", "w4a16": "SSSSSSSSSRNLSSSS", "w4a8": "SRRESLPSWINOUSDG"}
SPEEDS = {"bf16": 41.0, "w4a16": 80.0, "w4a8": 42.0}

HOSTILE = "=1+1|`x`|\n# <b>&amp;</b> [a](http://b) *c* ~~d~~ $e$ \\ \x1b[2J\u202e"


def whole() -> Showing:
    return showing_of_run(manifest(tuple(LETTERS), tasks=16), run(LETTERS, SPEEDS), run="runs/one")


def hostile() -> Showing:
    letters = {"bf16": "SSN", HOSTILE: "NES", "@b": "SSS", "+c": "SSS", "-d": "SSS"}
    return showing_of_run(manifest(tuple(letters), tasks=3), run(letters, goal=HOSTILE, fault=HOSTILE), run=HOSTILE)


def compared() -> Showing:
    runs = (
        (Path("runs/one"), manifest(("bf16", "w4a8"), tasks=4), run({"bf16": "SSSN", "w4a8": "SSNN"})),
        (Path("runs/two"), manifest(("bf16", "w4a16"), tasks=4), run({"bf16": "SSNN", "w4a16": "SSSS"})),
    )
    return showing_of_comparison(comparison_of(runs))


def empty() -> Showing:
    return showing_of_run(manifest(), [], run="runs/none")
