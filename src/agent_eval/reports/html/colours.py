"""The colours of builds and labels, the same in plots and in text. Each stands out on a light ground and on a dark one.

A colour is never all there is: a label has its name beside it, a build its name and its mark.
"""

from __future__ import annotations

from collections.abc import Mapping

from agent_eval.outcome import Label

LIGHT_GROUND, DARK_GROUND = "#ffffff", "#15181d"
"""What the colours are seen on; each has a contrast of 3 or more to both, as WCAG 2.2 (1.4.11) asks of graphics."""

LABEL_COLOURS: Mapping[Label, str] = {
    "success": "#2e9358",
    "over_execution": "#9a6bd6",
    "reversal": "#d64550",
    "premature_completion": "#cf6f1a",
    "invalid_call": "#c2579b",
    "wrong_app": "#3f86d1",
    "looping": "#a07d22",
    "no_completion": "#7d8590",
    "harness_error": "#9c6a52",
}
BUILD_COLOURS = ("#3b82c4", "#cf6f1a", "#2e9358", "#b158b1", "#7f8a1e", "#d64550", "#2a919c")
BUILD_MARKS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star")
"""As plotly names them."""


def build_colour(place: int) -> str:
    """Return the colour of a build by its place in the run."""
    return BUILD_COLOURS[place % len(BUILD_COLOURS)]


def build_mark(place: int) -> str:
    """Return the mark of a build by its place in the run; other than the colours', their number is counted on."""
    return BUILD_MARKS[place % len(BUILD_MARKS)]
