from __future__ import annotations

import pytest

from agent_eval.device_sim.ui import MATCH, WRAP, Field, View, lay_out, text_lines, text_width, touched
from agent_eval.types import Bounds

AREA = Bounds(0, 0, 100, 200)


def box(**options: object) -> View:
    return View("android.view.View", **options)  # type: ignore[arg-type]


def test_a_column_gives_the_rest_of_its_height_to_its_weighted_children() -> None:
    fixed, one, three = box(height=40), box(weight=1), box(weight=3)
    lay_out(View("c", (fixed, one, three), arrange="column", height=MATCH), AREA)
    assert [child.bounds for child in (fixed, one, three)] == [(0, 0, 100, 40), (0, 40, 100, 80), (0, 80, 100, 200)]


def test_a_row_places_children_side_by_side_with_gap_padding_and_alignment() -> None:
    small, rest = box(width=10, height=10, align=(0.0, 0.5)), box(weight=1, height=30)
    lay_out(View("r", (small, rest), arrange="row", height=50, pad=(5, 10, 5, 10), gap=4), AREA)
    assert small.bounds == (5, 20, 15, 30)
    assert rest.bounds == (19, 10, 95, 40)


def test_a_frame_wraps_its_largest_child_and_aligns_the_others() -> None:
    large, corner = box(width=80, height=60), box(width=10, height=10, align=(1.0, 1.0))
    frame = View("f", (large, corner), width=WRAP)
    lay_out(frame, AREA)
    assert frame.bounds == (0, 0, 80, 60)
    assert corner.bounds == (70, 50, 80, 60)


def test_a_scrolling_column_clamps_its_offset_and_leaves_hidden_children_without_bounds() -> None:
    rows = [box(height=50) for _ in range(8)]
    area = View("s", rows, arrange="column", height=MATCH, scroll="list", offset=9999)
    assert lay_out(area, AREA) == [area]
    assert (area.reach, area.offset, area.scrollable) == (200, 200, True)
    assert [row.bounds is not None for row in rows] == [False] * 4 + [True] * 4


def test_a_row_that_reaches_over_the_edge_is_clipped() -> None:
    rows = [box(height=50) for _ in range(8)]
    lay_out(View("s", rows, arrange="column", height=MATCH, scroll="list", offset=20), AREA)
    assert rows[0].bounds == (0, 0, 100, 30)
    assert rows[0].rect == (0, -20, 100, 30)
    assert rows[4].bounds == (0, 180, 100, 200)


def test_content_that_fits_does_not_scroll() -> None:
    area = View("s", [box(height=50)], arrange="column", height=MATCH, scroll="list", offset=30)
    lay_out(area, AREA)
    assert (area.offset, area.scrollable) == (0, False)


def test_a_touch_goes_to_the_deepest_taker_and_later_siblings_lie_on_top() -> None:
    below, above = box(clickable=True, height=100), box(clickable=True, height=100)
    root = View("f", (below, above), clickable=True, height=MATCH)
    lay_out(root, AREA)
    assert touched(root, 50, 50, lambda view: view.clickable) is above
    above.clickable = False
    assert touched(root, 50, 50, lambda view: view.clickable) is below
    assert touched(root, 50, 150, lambda view: view.clickable) is root
    assert touched(root, 150, 50, lambda view: view.clickable) is None


def test_text_breaks_at_spaces_and_a_long_word_stays_whole() -> None:
    width = text_width("one two", 20)
    assert text_lines("one two three", 20, width) == ("one two", "three")
    assert text_lines("incomprehensibility", 20, 10) == ("incomprehensibility",)


@pytest.mark.parametrize(
    ("field", "typed", "kept"),
    [
        (Field("h", numeric=True, max_length=2), "7:30", "73"),
        (Field("h", numeric=True), "\u0663", ""),
        (Field("n", max_length=3), "abcd", "abc"),
        (Field("n"), "a\nb", "a b"),
    ],
)
def test_a_field_keeps_only_what_it_accepts(field: Field, typed: str, kept: str) -> None:
    assert field.accept(typed) == kept
