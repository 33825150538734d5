"""A requirement is met where the whole interval says so, and what cannot be read is refused by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.errors import OperatorError, UnknownName
from agent_eval.reports import report_of
from agent_eval.reports.report import Report
from agent_eval.reports.requirements import NUMBERS, QUESTIONS, Requirement, check, parse_requirement
from tests.reports.builders import manifest, run

SIGNS: list[Literal[">=", "<="]] = [">=", "<="]
LETTERS = {"bf16": "S" * 60, "w4a16": "S" * 60, "w4a8": "N" * 30 + "S" * 30, "w3a16": "N" * 6 + "S" * 54}


def report(letters: Mapping[str, str] = LETTERS, speeds: Mapping[str, float] | None = None) -> Report:
    tasks = max(map(len, letters.values()))
    return report_of(manifest(tuple(letters), tasks=tasks), run(letters, speeds))


def standing(text: str, of: Report) -> str:
    return check(of, parse_requirement(text)).standing


# --- reading


@given(st.sampled_from(sorted(NUMBERS)), st.sampled_from(SIGNS), st.floats(-1e6, 1e6), st.text(" ", max_size=3))
def test_what_is_written_is_read_back(name: str, sign: Literal[">=", "<="], bound: float, space: str) -> None:
    requirement = Requirement(name, "w4a8-g64", sign, float(f"{bound:g}"))
    assert parse_requirement(f"{space}{requirement}{space}") == requirement


@given(st.sampled_from(sorted(QUESTIONS)))
def test_a_question_is_read_back(name: str) -> None:
    assert parse_requirement(str(Requirement(name, "w4a16"))) == Requirement(name, "w4a16")


@given(st.text().filter(lambda text: "(" not in text or ")" not in text))
def test_any_other_text_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(OperatorError, match="hint: such as"):
        parse_requirement(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("w4a16", "is not of the form"),
        ("success(w4a8) > 0.5", "is not of the form"),
        ("success(w4a8)", "does not say how much"),
        ("non_inferior(w4a8) >= 0.1", "is a question by itself"),
        ("success(w4a8) >= many", "expected a number"),
        ("success(w4a8) >= nan", "expected a number"),
        ("success(w4a8) >= inf", "expected a number"),
    ],
)
def test_a_requirement_of_another_form_is_named(text: str, said: str) -> None:
    with pytest.raises(OperatorError, match=said) as caught:
        parse_requirement(text)
    assert repr(text) in str(caught.value)


def test_an_unknown_name_is_told_those_there_are() -> None:
    with pytest.raises(UnknownName, match="non_inferior, faster"):
        parse_requirement("better(w4a8)")


# --- holding against a run


def test_non_inferiority_is_met_broken_or_open() -> None:
    found = {build: check(report(), Requirement("non_inferior", build)) for build in ("w4a16", "w4a8", "w3a16")}
    assert {build: finding.standing for build, finding in found.items()} == {
        "w4a16": "met",
        "w4a8": "broken",
        "w3a16": "open",
    }
    assert "60 pairs, 30 lost, 0 gained" in found["w4a8"].why
    assert "more pairs are needed" in found["w3a16"].why


def test_a_number_is_met_only_where_its_whole_interval_is_on_that_side() -> None:
    made = report()
    interval = made.summary.builds[2].rates["success"]
    assert interval is not None
    below, inside, above = interval.low - 0.01, interval.estimate, interval.high + 0.01
    assert [standing(f"success(w4a8) >= {bound}", made) for bound in (below, inside, above)] == [
        "met",
        "open",
        "broken",
    ]
    assert [standing(f"success(w4a8) <= {bound}", made) for bound in (below, inside, above)] == [
        "broken",
        "open",
        "met",
    ]


def test_speed_is_judged_by_its_verdict() -> None:
    made = report(speeds={"bf16": 40.0, "w4a16": 80.0, "w4a8": 41.0, "w3a16": 20.0})
    assert [standing(f"faster({build})", made) for build in ("w4a16", "w4a8", "w3a16")] == ["met", "broken", "broken"]
    assert [standing(f"not_slower({build})", made) for build in ("w4a16", "w4a8", "w3a16")] == ["met", "met", "broken"]
    assert standing("decode_ratio(w4a16) >= 1.9", made) == "met"
    assert standing("decode(w4a16) >= 100", made) == "broken"


def test_what_was_not_measured_is_open() -> None:
    made = report()
    for text in ("faster(w4a8)", "not_slower(w4a8)", "decode(w4a8) >= 1", "false_toggle(w4a8) <= 1"):
        assert standing(text, made) == "open"


def test_a_difference_is_that_of_the_pairs() -> None:
    assert standing("difference(w4a8) >= -0.2", report()) == "broken"
    assert standing("difference(w4a16) >= -0.1", report()) == "met"


def test_a_build_that_the_run_has_not_is_named_with_those_it_has() -> None:
    with pytest.raises(UnknownName, match="bf16, w4a16, w4a8, w3a16"):
        check(report(), Requirement("non_inferior", "q4_k_m"))


def test_the_reference_is_not_compared_with_itself() -> None:
    with pytest.raises(OperatorError, match="'bf16' is the reference itself"):
        check(report(), Requirement("non_inferior", "bf16"))
    assert standing("success(bf16) >= 0.9", report()) == "met"
