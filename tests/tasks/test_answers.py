"""Answers are told right from wrong as the page on them says."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.tasks import answers

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "answers.md"
KINDS: dict[str, Callable[[str], answers.Accepts]] = {
    "number": answers.number,
    "title": lambda right: answers.title(right, ("Chess club", "Board game evening", "Board game")),
    "phone": answers.phone,
    "quantity": answers.quantity,
    "yes_no": lambda right: answers.yes_no(right == "yes"),
    "moment": lambda right: answers.moment(datetime.fromisoformat(right)),
}


def rows() -> list[tuple[str, str, list[str], list[str]]]:
    found = []
    for line in PAGE.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `"):
            kind, right = (cell.strip("`") for cell in cells[:2])
            accepted, refused = ([one.strip("`") for one in re.findall(r"``|`[^`]*`", cell)] for cell in cells[2:])
            found.append((kind, right, accepted, refused))
    return found


def test_the_page_shows_every_kind_of_answer() -> None:
    assert {kind for kind, *_ in rows()} == set(KINDS)
    assert all(len(accepted) >= 3 and len(refused) >= 2 for _, _, accepted, refused in rows())


@pytest.mark.parametrize(
    ("kind", "right", "answer"), [(kind, right, one) for kind, right, accepted, _ in rows() for one in accepted]
)
def test_an_answer_that_the_page_accepts_is_right(kind: str, right: str, answer: str) -> None:
    assert KINDS[kind](right)(answer)


@pytest.mark.parametrize(
    ("kind", "right", "answer"), [(kind, right, one) for kind, right, _, refused in rows() for one in refused]
)
def test_an_answer_that_the_page_refuses_is_wrong(kind: str, right: str, answer: str) -> None:
    assert not KINDS[kind](right)(answer)


@pytest.mark.parametrize(("kind", "right"), [(kind, right) for kind, right, *_ in rows()])
@given(noise=st.text(max_size=80))
def test_no_answer_however_odd_breaks_a_test_of_answers(kind: str, right: str, noise: str) -> None:
    for answer in (noise, f"{right} {noise}", f"{noise}{right}"):
        assert KINDS[kind](right)(answer) in (True, False)


@given(right=st.integers(0, 10_000), other=st.integers(0, 10_000))
def test_a_number_is_right_by_its_value_and_two_numbers_never_are(right: int, other: int) -> None:
    accepts = answers.number(str(right))
    assert accepts(f" {right:06d} .")
    assert accepts(str(other)) == (other == right)
    assert accepts(f"{right} or {other}") == (other == right)


@given(digits=st.text("0123456789", min_size=7, max_size=7), place=st.integers(0, 6))
def test_a_phone_number_is_right_however_it_is_grouped_and_wrong_in_one_digit(digits: str, place: int) -> None:
    accepts = answers.phone(f"+1555{digits}")
    assert accepts(f"+1 (555) {digits[:3]}-{digits[3:]}")
    assert accepts(f"555 {digits}")
    changed = digits[:place] + str((int(digits[place]) + 1) % 10) + digits[place + 1 :]
    assert not accepts(f"+1555{changed}")
