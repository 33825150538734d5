from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.device_sim.apps.calculator import DIVIDED_BY_ZERO, evaluate
from tests.device_sim.conftest import Finger


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("", ""),
        ("7", "7"),
        ("1+2\u00d73", "7"),
        ("10\u00f74", "2.5"),
        ("2\u22125", "\u22123"),
        ("\u22122\u00d73", "\u22126"),
        ("2\u00d7\u22123", "\u22126"),
        ("50%", "0.5"),
        ("200\u00d710%", "20"),
        ("0.1+0.2", "0.3"),
        ("1\u00f73", "0.3333333333"),
        ("5+", "5"),
        ("5\u00f70", "Can\u2019t divide by 0"),
        (".5+.5", "1"),
        ("9\u22124\u22123", "2"),
        ("8\u00f72\u00f72", "2"),
        ("%", ""),
        ("+5", "5"),
    ],
)
def test_formulas_have_exact_values(formula: str, value: str) -> None:
    assert evaluate(formula) == value


def test_the_calculator_calculates_what_is_keyed_in(make: Callable[..., Finger]) -> None:
    finger = make()
    finger.phone.open_app("com.android.calculator2")
    for key in ("1", "2", "\u00d7", "7"):
        finger.tap(text=key)
    assert finger.one(resourceId="com.android.calculator2:id/result").view.text == "84"
    finger.tap(text="=")
    assert finger.one(resourceId="com.android.calculator2:id/formula").view.text == "84"
    finger.tap(text="5")
    assert finger.one(resourceId="com.android.calculator2:id/formula").view.text == "5"
    finger.tap(text="C")
    assert finger.one(resourceId="com.android.calculator2:id/formula").view.text == ""


@given(st.text(alphabet="0123456789.%\u00f7\u00d7\u2212+", max_size=40))
def test_the_calculator_makes_something_of_any_formula(formula: str) -> None:
    result = evaluate(formula)
    assert result in ("", DIVIDED_BY_ZERO) or set(result) <= set("0123456789.\u2212")


@pytest.mark.parametrize(("formula", "result"), [("%\u00f77", "7"), ("\u00d73+1", "4"), ("%", ""), ("50%\u00d74", "2")])
def test_an_operator_without_a_number_before_it_is_passed_over(formula: str, result: str) -> None:
    assert evaluate(formula) == result
