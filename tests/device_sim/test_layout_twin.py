"""The fast layout against the slow one."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_eval.device_sim import Phone
from agent_eval.device_sim.screen import Ui
from agent_eval.device_sim.ui import MATCH, WRAP, View, lay_out
from agent_eval.types import Bounds, PhoneSetup
from tests.device_sim.slow_layout import lay_out_slowly

SIZES = st.sampled_from([MATCH, WRAP, WRAP, 0, 1, 30, 300, 5000])
PADS = st.tuples(*[st.sampled_from([0, 0, 5, 400])] * 4)
ALIGNS = st.tuples(*[st.sampled_from([0.0, 0.5, 1.0])] * 2)
COMMON = {"width": SIZES, "height": SIZES, "weight": st.integers(0, 2), "pad": PADS, "align": ALIGNS}
LEAVES = st.builds(
    View, st.just("leaf"), text=st.sampled_from(["", "word", "some words\nin lines"]),
    hint=st.sampled_from(["", "hint"]), size=st.sampled_from([10, 28]), **COMMON,
)  # fmt: skip
TREES = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        View, st.just("box"), st.lists(inner, max_size=4), arrange=st.sampled_from(["column", "row", "frame"]),
        gap=st.sampled_from([0, 7]), scroll=st.sampled_from(["", "", "s"]),
        offset=st.sampled_from([0, 10, 9000]), **COMMON,
    ),
    max_leaves=15,
)  # fmt: skip
AREAS = st.sampled_from([Bounds(0, 0, 720, 1280), Bounds(10, 48, 700, 600), Bounds(0, 0, 1, 1), Bounds(5, 5, 5, 5)])


def placed(view: View) -> Iterator[tuple[object, ...]]:
    yield view.rect, view.bounds, view.reach, view.offset, view.scrollable, view.measured
    for child in view.children:
        yield from placed(child)


@settings(max_examples=200)
@given(TREES, AREAS)
def test_any_tree_is_placed_alike(tree: View, area: Bounds) -> None:
    twin = copy.deepcopy(tree)
    scrolling, expected = lay_out(tree, area), lay_out_slowly(twin, area)
    assert list(placed(tree)) == list(placed(twin))
    assert len(scrolling) == len(expected)


@pytest.mark.parametrize("seed", range(3))
def test_every_page_that_fingers_come_across_is_placed_alike(seed: int) -> None:
    phone, rng = Phone(PhoneSetup(seed=seed)), random.Random(seed)
    for _ in range(120):
        page = phone.stacks.in_focus
        screen = phone.screens[page.screen]
        ui = Ui(phone, page, phone.shown.area, phone.display.canvas)
        area = phone.shown.area if screen.dialog else phone.display.canvas
        fast, slow = screen.build(ui), screen.build(ui)
        lay_out(fast, area)
        lay_out_slowly(slow, area)
        assert list(placed(fast)) == list(placed(slow))
        phone.tap(rng.randrange(720), rng.randrange(1280))
        if rng.random() < 0.2:
            phone.open_app(rng.choice(sorted(phone.apps)))
