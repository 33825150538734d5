"""On a screen with less room than a page was written for, the rows of a list show their texts whole."""

from __future__ import annotations

import math

import pytest

from agent_eval.device_sim import Phone
from agent_eval.device_sim.trees import walk
from agent_eval.device_sim.ui import View, text_extent
from agent_eval.types import Bounds, PhoneSetup, Skin

SMALL = Skin(locale="de", font_scale=1.3, density=480)


def rows(phone: Phone) -> list[View]:
    """Return the rows of the page that stack texts in a column."""
    found = (view for view in walk(phone.active_window.root) if view.arrange == "row" and view.bounds is not None)
    return [row for row in found if any(below.arrange == "column" for below in row.children)]


def cut(row: View, scale: float) -> list[str]:
    """Return the texts of a row that are lower than their lines."""
    texts = [below for column in row.children if column.arrange == "column" for below in column.children if below.text]
    return [
        view.text for view in texts
        if (view.rect.bottom - view.rect.top) / scale + 1
        < text_extent(view.text, view.size, math.ceil((view.rect.right - view.rect.left) / scale))[1]
    ]  # fmt: skip


@pytest.mark.parametrize(
    "package", ["org.tasks", "com.android.dialer", "com.android.settings", "de.dennisguse.opentracks"]
)
def test_a_row_is_as_high_as_its_texts(package: str) -> None:
    phone = Phone(PhoneSetup(seed=3, skin=SMALL))
    phone.open_app(package)
    assert len(rows(phone)) > 1
    assert [text for row in rows(phone) for text in cut(row, phone.display.scale)] == []


def test_on_the_default_screen_rows_keep_the_height_that_was_written_for_them() -> None:
    phone = Phone(PhoneSetup(seed=3))
    phone.open_app("org.tasks")
    assert {row.rect.bottom - row.rect.top for row in rows(phone) if row.on_tap and row.bounds == row.rect} == {144}


def test_a_part_that_fits_leaves_the_finger_to_the_page_around_it() -> None:
    phone = Phone(PhoneSetup(seed=3, skin=Skin(font_scale=1.15, density=400)))
    phone.open_app("com.android.deskclock")
    for name in ("Timer", "1"):
        phone.tap(*bounds_of(phone, name).center)
    hidden = bounds_of(phone, "0")
    phone.swipe(360, 800, 360, 300)
    assert bounds_of(phone, "0").bottom - bounds_of(phone, "0").top > hidden.bottom - hidden.top
    phone.tap(*bounds_of(phone, "Start").center)
    assert phone.state["clock/timer/state"] == "running"


def bounds_of(phone: Phone, name: str) -> Bounds:
    """Return where the last view that is called so can be touched."""
    seen = [
        view for view in walk(phone.active_window.root) if name in (view.text, view.desc) and view.bounds is not None
    ]
    assert seen, name
    return seen[-1].bounds or Bounds(0, 0, 0, 0)
