"""The page about the statistics holds the figures that its script makes."""

from __future__ import annotations

import re

import pytest
from benchmarks.simulations import EXACT, PAGE, SECTIONS, with_figures

TEXT = PAGE.read_text("utf-8")


def test_the_page_has_a_table_for_every_section() -> None:
    filled = re.findall(r"<!-- figures: ([\w-]+) -->\n\n\| .*?\|\n\n<!-- end -->", TEXT, re.DOTALL)
    assert sorted(filled) == sorted(SECTIONS)


@pytest.mark.parametrize("name", EXACT)
def test_the_exact_figures_of_the_page_are_those_of_the_script(name: str) -> None:
    anew = with_figures(TEXT, {name: EXACT[name]()})
    assert anew == TEXT, f"write them anew: python -m benchmarks.simulations --only {name} --write"
