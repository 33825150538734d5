"""On a screen with less room than a page was written for, the rows of a list show their texts whole."""

from __future__ import annotations

import math

import pytest

from agent_eval.device_sim import Phone
from agent_eval.device_sim.trees import walk
from agent_eval.device_sim.ui import View, text_extent
from agent_eval.types import PhoneSetup, Skin

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
