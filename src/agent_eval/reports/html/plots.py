"""The plots of a summary, as figures of plotly: computed here, drawn by the page. The only place that imports plotly.

What is drawn also stands in the page's tables. Colours of grounds and letters are the page's, which knows whether it is
light or dark.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent_eval.outcome import LABELS, Label
from agent_eval.reports import numbers
from agent_eval.reports.html.colours import LABEL_COLOURS, build_colour, build_mark
from agent_eval.reports.layout import visible
from agent_eval.reports.report import Report
from agent_eval.reports.summary import RATES, PairSummary
from agent_eval.types import BuildEvidence, Interval


@dataclass(frozen=True)
class Plot:
    """One figure."""

    id: str
    """Of the element that it is drawn into."""
    figure: dict[str, Any]
    """``data`` and ``layout``, as plotly.js reads them."""


@dataclass(frozen=True)
class Library:
    """The script that draws figures in a page."""

    script: str
    placeholders: tuple[str, ...]
    """Ids of style elements that it would add to a page that has none of them; for traces that no plot here uses."""


def library() -> Library:
    """Return plotly.js as the Python package ships it."""
    from plotly.offline import get_plotlyjs

    script = get_plotlyjs()
    return Library(script, tuple(dict.fromkeys(re.findall(r'getElementById\("([0-9a-f]{64})"\)', script))))


def rates_plot(report: Report) -> Plot:
    """Draw every rate of every build with its Wilson interval, the first rate at the top."""
    names = [name for name in RATES if any(build.rates[name] is not None for build in report.summary.builds)]
    builds, traces = report.summary.builds, []
    for place, build in enumerate(builds):
        shares = [(row, build.rates[name]) for row, name in enumerate(names)]
        known = [(row, share) for row, share in shares if share is not None]
        offset = 0.6 * ((place + 0.5) / len(builds) - 0.5)
        traces.append(
            _points(
                place,
                build.build,
                x=[share for _, share in known],
                y=[row + offset for row, _ in known],
                hover=[
                    f"{build.build}, {names[row].replace('_', ' ')}: {numbers.percent(share)}" for row, share in known
                ],
                scale=100,
            )
        )
    layout = {
        "height": 90 + 46 * len(names),
        "margin": {"l": 112, "r": 12, "t": 8, "b": 76},
        "xaxis": {"range": [-2, 102], "ticksuffix": " %", "title": {"text": "share of episodes"}, "zeroline": False},
        "yaxis": {
            "tickvals": list(range(len(names))),
            "ticktext": [name.replace("_", " ") for name in names],
            "range": [len(names) - 0.5, -0.5],
            "zeroline": False,
        },
        "legend": {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom"},
    }
    return Plot("plot-rates", _figure(traces, layout))


def speed_plot(report: Report) -> Plot | None:
    """Draw speed against success with both intervals and the frontier; None where no speed was measured."""
    measured = [build for build in report.evidence.builds if build.decode_tokens_per_s is not None and build.success.n]
    if not measured:
        return None
    places = {build.build: place for place, build in enumerate(report.summary.builds)}
    edge = frontier(measured)
    traces: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "name": "efficient frontier",
            "mode": "lines",
            "x": [_decode(build).estimate for build in edge],
            "y": [100 * build.success.estimate for build in edge],
            "line": {"dash": "dot", "width": 2, "color": "#7d8590"},
            "hoverinfo": "skip",
        }
    ]
    for build in measured:
        speed = _decode(build)
        trace = _points(
            places[build.build],
            build.build,
            x=[speed],
            y=[100 * build.success.estimate],
            hover=[f"{build.build}: {speed.estimate:.4g} tokens/s, success {numbers.percent(build.success)}"],
            scale=1,
        )
        success = build.success
        trace["error_y"] = _bars([success], 100, build_colour(places[build.build]))
        trace |= {"mode": "markers+text", "text": [_plain(build.build)], "textposition": "top left"}
        traces.append(trace)
    layout = {
        "height": 380,
        "margin": {"l": 70, "r": 16, "t": 8, "b": 48},
        "xaxis": {"title": {"text": "decode, tokens/s"}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": "success"}, "ticksuffix": " %", "range": [0, 103]},
        "showlegend": False,
    }
    return Plot("plot-speed", _figure(traces, layout))


def frontier(builds: Sequence[BuildEvidence]) -> list[BuildEvidence]:
    """Return the builds that no other beats in speed or success without losing in the other, by estimates, slow first.

    Of builds that are equal in both, all stay.
    """

    def beaten(build: BuildEvidence) -> bool:
        mine = _decode(build).estimate, build.success.estimate
        return any(
            (speed := _decode(other).estimate) >= mine[0]
            and other.success.estimate >= mine[1]
            and (speed, other.success.estimate) != mine
            for other in builds
        )

    return sorted((build for build in builds if not beaten(build)), key=lambda build: _decode(build).estimate)


def migration_plot(pair: PairSummary, number: int) -> Plot | None:
    """Draw where the labels of the reference went with a build, as a flow; None where there is no pair."""
    if not pair.migration:
        return None
    before = [(label, _moved(pair, 0, label)) for label in LABELS if _moved(pair, 0, label)]
    after = [(label, _moved(pair, 1, label)) for label in LABELS if _moved(pair, 1, label)]
    moves = sorted(pair.migration, key=lambda move: (LABELS.index(move[0]), LABELS.index(move[1])))
    places = [[label for label, _ in side] for side in (before, after)]
    room = 150 + 44 * max(len(before), len(after))
    most = max(len(before), len(after))
    trace = {
        "type": "sankey",
        "arrangement": "fixed",
        "node": {
            "label": [f"{label.replace('_', ' ')} {count}" for label, count in (*before, *after)],
            "color": [LABEL_COLOURS[label] for label, _ in (*before, *after)],
            "x": [0.001] * len(before) + [0.999] * len(after),
            "y": [y for side in (before, after) for y in _middles([count for _, count in side], most, room)],
            "pad": _PAD,
            "thickness": 14,
            "line": {"width": 0},
            "hovertemplate": "%{label}<extra></extra>",
        },
        "link": {
            "source": [places[0].index(old) for old, _ in moves],
            "target": [len(before) + places[1].index(new) for _, new in moves],
            "value": [pair.migration[move] for move in moves],
            "color": [_faint(LABEL_COLOURS[new]) for _, new in moves],
            "customdata": [f"{old.replace('_', ' ')} → {new.replace('_', ' ')}" for old, new in moves],
            "hovertemplate": "%{customdata}: %{value}<extra></extra>",
        },
    }
    layout = {"height": room + 16, "margin": {"l": 8, "r": 8, "t": 8, "b": 8}}
    return Plot(f"plot-migration-{number}", _figure([trace], layout))


def _moved(pair: PairSummary, side: int, label: Label) -> int:
    """Count the pairs with a label on one side: 0 for the reference, 1 for the build."""
    return sum(count for move, count in pair.migration.items() if move[side] == label)


_PAD = 22
"""Pixels between two nodes of a flow: as much as a line of text takes."""


def _middles(counts: Sequence[int], most: int, room: int) -> list[float]:
    """Return where the middle of each node of a column is, as shares of the height from the top.

    Args:
        counts: Pairs of each node, in order.
        most: Nodes of the column that has the most; it decides how high a pair is.
        room: Height of the plot, in pixels.
    """
    each, top, middles = (room - _PAD * (most - 1)) / sum(counts), 0.0, []
    for count in counts:
        middles.append(min(0.999, max(0.001, (top + each * count / 2) / room)))
        top += each * count + _PAD
    return middles


# ----------------------------------------------------------------------------------------------------------------------
# figures


def _figure(traces: Sequence[dict[str, Any]], layout: dict[str, Any]) -> dict[str, Any]:
    """Have plotly check every name and value, and return the figure as JSON values."""
    import plotly.graph_objects as go

    figure = go.Figure(list(traces), {**layout, "template": None})
    made: dict[str, Any] = json.loads(figure.to_json())
    made["layout"].pop("template", None)
    return made


def _points(
    place: int, name: str, *, x: Sequence[Interval], y: Sequence[float], hover: Sequence[str], scale: float
) -> dict[str, Any]:
    """Return a trace of estimates with horizontal intervals, in the colour and with the mark of a build."""
    colour = build_colour(place)
    return {
        "type": "scatter",
        "name": _plain(name),
        "mode": "markers",
        "x": [scale * value.estimate for value in x],
        "y": list(y),
        "error_x": _bars(x, scale, colour),
        "marker": {"color": colour, "symbol": build_mark(place), "size": 9},
        "hovertext": [_plain(text) for text in hover],
        "hoverinfo": "text",
    }


def _bars(values: Sequence[Interval], scale: float, colour: str) -> dict[str, Any]:
    return {
        "type": "data",
        "symmetric": False,
        "array": [max(0.0, scale * (value.high - value.estimate)) for value in values],
        "arrayminus": [max(0.0, scale * (value.estimate - value.low)) for value in values],
        "color": colour,
        "thickness": 1.5,
        "width": 4,
    }


def _plain(text: str) -> str:
    """Return a text that plotly shows as it is: it would read tags, and obey what a terminal would."""
    return html.escape(visible(text), quote=False)


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.38)"


def _decode(build: BuildEvidence) -> Interval:
    speed = build.decode_tokens_per_s
    assert speed is not None, build
    return speed
