from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.errors import UnknownName
from agent_eval.spark_backend.quant.name import FORMS, DenseName, GroupedName, group_for, parse_build

NAMES = {
    "bf16": DenseName("bf16"),
    "fp32": DenseName("fp32"),
    "w4a16": GroupedName(4, 16, symmetric=False),
    "w4a8": GroupedName(4, 8, symmetric=True),
    "w4a8-asym": GroupedName(4, 8, symmetric=False),
    "w4a16-sym": GroupedName(4, 16, symmetric=True),
    "w2a8-g32": GroupedName(2, 8, symmetric=True, group=32),
    "w3a16-sym-g64": GroupedName(3, 16, symmetric=True, group=64),
    "w8a8-asym-g128": GroupedName(8, 8, symmetric=False, group=128),
}


@pytest.mark.parametrize(("text", "name"), NAMES.items())
def test_a_name_says_bits_form_and_group(text: str, name: DenseName | GroupedName) -> None:
    assert parse_build(text) == name
    assert str(name) == text


@pytest.mark.parametrize(
    ("long", "short"), [("w4a16-asym", "w4a16"), ("w4a8-sym", "w4a8"), ("w8a8-sym-g64", "w8a8-g64")]
)
def test_what_is_so_by_default_is_left_out(long: str, short: str) -> None:
    assert str(parse_build(long)) == short
    assert parse_build(long) == parse_build(short)


def test_every_word_of_the_grammar_is_read_and_written_back_in_its_shortest_form() -> None:
    words = product((2, 3, 4, 8), (8, 16), ("", "-sym", "-asym"), ("", "-g32", "-g64", "-g128"))
    names = {parse_build(f"w{bits}a{activation}{form}{group}") for bits, activation, form, group in words}
    assert len(names) == 4 * 2 * 2 * 4
    assert all(parse_build(str(name)) == name for name in names)


@pytest.mark.parametrize(
    "text",
    ["", "int4", "W4A8", "w4", "w5a8", "w4a4", "w16a16", "w4a8-g16", "w4a8-g64-sym", "w4a8-", "w4a8 ", "w4a8\n",
     "bf16-g32", "w4a8-sym-asym", "w٤a8", "fp16"],
)  # fmt: skip
def test_any_other_name_is_refused_with_the_forms_there_are(text: str) -> None:
    with pytest.raises(UnknownName) as caught:
        parse_build(text)
    assert repr(text) in caught.value.message
    assert all(form in caught.value.message for form in FORMS)
    assert "w4a16" in caught.value.hint


@given(st.text(alphabet="wabfp0123468-symg \n", max_size=16))
def test_a_name_is_read_whole_or_not_at_all(text: str) -> None:
    try:
        name = parse_build(text)
    except UnknownName:
        return
    assert parse_build(str(name)) == name
    assert text.startswith(str(name).split("-")[0])


@pytest.mark.parametrize(
    ("widths", "group"),
    [((2048, 6656), 128), ((2560, 10240, 4096), 128), ((192, 512), 64), ((64, 96), 32), ((48, 96), 32), ((128,), 128)],
)
def test_the_largest_group_that_divides_every_width_is_taken(widths: tuple[int, ...], group: int) -> None:
    assert group_for(widths) == group
