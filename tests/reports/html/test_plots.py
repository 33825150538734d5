"""The plots hold the report's own figures, and their colours can be told from both grounds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.outcome import LABELS
from agent_eval.reports import report_of
from agent_eval.reports.html.colours import BUILD_COLOURS, DARK_GROUND, LABEL_COLOURS, LIGHT_GROUND
from agent_eval.reports.html.plots import frontier, library, migration_plot, rates_plot, speed_plot
from agent_eval.types import BuildEvidence, Interval
from tests.reports.builders import manifest, run
from tests.reports.html.runs import ordinary


def test_the_plot_of_rates_has_every_rate_of_every_build_with_its_interval() -> None:
    report = report_of(*ordinary())
    plot = rates_plot(report)
    names = plot.figure["layout"]["yaxis"]["ticktext"]
    traces = {trace["name"]: trace for trace in plot.figure["data"]}
    for build in report.summary.builds:
        trace, known = traces[build.build], {n: rate for n, rate in build.rates.items() if rate is not None}
        rows = [names[round(y)] for y in trace["y"]]
        assert rows == [name.replace("_", " ") for name in known]
        for place, rate in enumerate(known.values()):
            estimate = trace["x"][place]
            assert estimate == pytest.approx(100 * rate.estimate)
            assert estimate + trace["error_x"]["array"][place] == pytest.approx(100 * rate.high)
            assert estimate - trace["error_x"]["arrayminus"][place] == pytest.approx(100 * rate.low)


def test_the_plot_of_speed_has_both_intervals_of_each_build() -> None:
    report = report_of(*ordinary())
    plot = speed_plot(report)
    assert plot is not None
    for build in report.evidence.builds:
        (trace,) = [trace for trace in plot.figure["data"] if trace["name"] == build.build]
        speed = build.decode_tokens_per_s
        assert speed is not None
        assert (trace["x"], trace["y"]) == ([speed.estimate], [pytest.approx(100 * build.success.estimate)])
        assert trace["x"][0] + trace["error_x"]["array"][0] == pytest.approx(speed.high)
        assert trace["y"][0] - trace["error_y"]["arrayminus"][0] == pytest.approx(100 * build.success.low)


def test_there_is_no_plot_of_speed_where_none_was_measured() -> None:
    assert speed_plot(report_of(manifest(tasks=3), run({"bf16": "SSN", "w4a16": "SSS", "w4a8": "SNN"}))) is None


def test_a_flow_carries_every_pair_from_its_label_to_its_label() -> None:
    report = report_of(*ordinary())
    for pair in report.summary.pairs:
        plot = migration_plot(pair, 1)
        assert plot is not None
        (trace,) = plot.figure["data"]
        labels = [re.sub(r" \d+$", "", label).replace(" ", "_") for label in trace["node"]["label"]]
        counts = [int(label.rpartition(" ")[2]) for label in trace["node"]["label"]]
        link = trace["link"]
        flows = list(zip(link["source"], link["target"], link["value"], strict=True))
        assert {(labels[a], labels[b]): value for a, b, value in flows} == dict(pair.migration)
        for node, count in enumerate(counts):
            assert count == sum(value for a, b, value in flows if node in (a, b))


def build(name: str, speed: float, success: float) -> BuildEvidence:
    share = Interval(success, success, success, 10)
    return BuildEvidence(name, share, share, 0, Interval(speed, speed, speed, 10))


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 5)), min_size=1, max_size=6))
def test_the_frontier_is_what_nothing_beats(points: list[tuple[int, int]]) -> None:
    builds = [build(str(place), speed, success / 5) for place, (speed, success) in enumerate(points)]
    edge = frontier(builds)

    def beats(one: tuple[int, int], other: tuple[int, int]) -> bool:
        return one != other and one[0] >= other[0] and one[1] >= other[1]

    unbeaten = {str(n) for n, mine in enumerate(points) if not any(beats(other, mine) for other in points)}
    assert {each.build for each in edge} == unbeaten
    speeds = [each.decode_tokens_per_s.estimate for each in edge if each.decode_tokens_per_s]
    assert speeds == sorted(speeds)


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2, "relative luminance")."""
    channels = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("ground", [LIGHT_GROUND, DARK_GROUND])
@pytest.mark.parametrize("colour", sorted({*LABEL_COLOURS.values(), *BUILD_COLOURS}))
def test_a_colour_stands_out_on_both_grounds(colour: str, ground: str) -> None:
    light, dark = sorted((luminance(colour), luminance(ground)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 3


def test_every_label_has_a_colour_of_its_own() -> None:
    assert set(LABEL_COLOURS) == set(LABELS)
    assert len(set(LABEL_COLOURS.values())) == len(LABELS)


def test_the_library_can_stand_in_a_page() -> None:
    drawing = library()
    assert "plotly.js" in drawing.script[:200]
    assert "</script" not in drawing.script.lower()
    assert "<!--" not in drawing.script
