"""The fast reader, by dump and by windows, against the slow one."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_eval.agent.screen import read_screen, read_windows
from agent_eval.device_sim import Phone
from agent_eval.device_sim.hierarchy import dump_all_windows
from agent_eval.device_sim.ui import View, Window, lay_out
from agent_eval.errors import DeviceFault
from agent_eval.types import Bounds, Observation, PhoneSetup
from tests.agent import slow_screen

NAMES = {"com.android.settings": "Settings"}


def slowly(xml: str) -> Observation | str:
    try:
        return slow_screen.read_screen(xml, NAMES)
    except DeviceFault as fault:
        return str(fault)


def both(windows: tuple[Window, ...], xml: str) -> tuple[Observation | str, Observation | str]:
    try:
        by_windows: Observation | str = read_windows(windows, NAMES)
    except DeviceFault as fault:
        by_windows = str(fault)
    try:
        return by_windows, read_screen(xml, NAMES)
    except DeviceFault as fault:
        return by_windows, str(fault)


@pytest.mark.parametrize("seed", range(4))
def test_every_screen_that_fingers_come_across_is_read_alike(seed: int) -> None:
    phone, rng = Phone(PhoneSetup(seed=seed, keep_alarms=True)), random.Random(seed)
    packages = sorted(package for package, app in phone.apps.items() if app.launchable)
    seen = set()
    for step in range(150):
        if step % 10 == 0:
            phone.open_app(rng.choice(packages))
        xml = phone.hierarchy_xml()
        expected = slowly(xml)
        assert both(phone.windows, xml) == (expected, expected)
        seen.add(phone.front.screen)
        if isinstance(expected, str) or not expected.elements:
            phone.key("back")
            continue
        x, y = rng.choice(expected.elements).bounds.center
        way = rng.random()
        if way < 0.7:
            phone.tap(x, y)
        elif way < 0.8:
            phone.long_press(x, y)
        elif way < 0.95:
            phone.swipe(360, 900, 360, 400 if rng.random() < 0.7 else 1200)
        else:
            phone.type_text("a<\x01\u2011\"&'\n")
    assert len(seen) > 15


TEXTS = st.sampled_from(["", "", "word", " two words ", "\x01", "-", "a\x00b", "<&\">'", "\ud800", "\n", "\u2022"])
CLASSES = st.sampled_from(
    ["android.widget." + name for name in ("TextView", "EditText", "Switch", "SeekBar", "CheckBox", "FrameLayout")]
    + ["Plain", "android.widget.Button", "android.widget.RadioButton", "androidx.recyclerview.widget.RecyclerView"]
)
SOMETIMES = st.sampled_from([False, False, False, True])
LEAVES = st.builds(
    View, CLASSES, text=TEXTS, desc=TEXTS, hint=TEXTS, id=st.sampled_from(["", "a:id/the_name"]), clickable=SOMETIMES,
    long_clickable=SOMETIMES, checkable=SOMETIMES, checked=st.booleans(), enabled=st.booleans(), focused=SOMETIMES,
    selected=SOMETIMES, password=SOMETIMES, height=st.sampled_from([0, 10, 40, 900]),
)  # fmt: skip
TREES = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        View, CLASSES, st.lists(inner, max_size=4), text=TEXTS, desc=TEXTS, clickable=SOMETIMES, checkable=SOMETIMES,
        scroll=st.sampled_from(["", "list"]), arrange=st.sampled_from(["column", "row", "frame"]),
    ),
    max_leaves=12,
)  # fmt: skip
PACKAGES = st.sampled_from(["com.android.settings", "com.android.systemui", "com.android.inputmethod.latin"])
PLACES = st.sampled_from([Bounds(0, 0, 720, 1280), Bounds(0, 0, 720, 48), Bounds(0, 800, 720, 1280)])


@settings(max_examples=150)
@given(st.lists(st.tuples(TREES, PACKAGES, PLACES), max_size=3))
def test_any_windows_are_read_alike(drawn: list[tuple[View, str, Bounds]]) -> None:
    for tree, _, place in drawn:
        lay_out(tree, place)
    windows = tuple(Window("activity", package, tree) for tree, package, _ in drawn)
    xml = dump_all_windows(windows)
    expected = slowly(xml)
    assert both(windows, xml) == (expected, expected)


def test_an_alert_is_read_before_the_page_that_it_covers() -> None:
    phone = Phone(PhoneSetup(seed=1))
    phone.open_app("com.android.settings")
    before = slowly(phone.hierarchy_xml())
    phone.heads_up("com.android.messaging", "Ada Novak", "Lunch on Friday?")
    xml = phone.hierarchy_xml()
    by_windows, by_dump = both(phone.windows, xml)
    assert by_windows == by_dump == slowly(xml)
    assert isinstance(by_windows, Observation)
    assert isinstance(before, Observation)
    assert "Ada Novak" in by_windows.elements[0].value
    assert by_windows.package == before.package
    assert [element.index for element in by_windows.elements] == list(range(len(by_windows.elements)))
    covered = {element.label for element in before.elements} - {element.label for element in by_windows.elements}
    assert covered
