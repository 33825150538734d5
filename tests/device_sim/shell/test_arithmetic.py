from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_eval.device_sim.shell.arithmetic import ArithmeticError_, evaluate, wrap


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("", 0), ("1", 1), ("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("7 / 2", 3), ("-7 / 2", -3), ("-7 % 3", -1),
        ("0x1F", 31), ("1 << 4 | 1", 17), ("5 & 3 ^ 1", 0), ("~0", -1), ("!0 + !5", 1), ("1 < 2 && 2 <= 2", 1),
        ("1 > 2 || 0", 0), ("1 ? 2 : 3", 2), ("0 ? 2 : 0 ? 4 : 5", 5), ("x", 4), ("x + y", 4), ("x = 3, x * 2", 6),
        ("x += 2", 6), ("x++ + x", 9), ("--x", 3), ("e", 7), ("2147483647 + 1", -2147483648), ("3 == 3 != 0", 1),
    ],
)  # fmt: skip
def test_expressions_have_the_values_of_mksh(expression: str, value: int) -> None:
    assert evaluate(expression, {"x": "4", "e": "x + 3"}) == value


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("1 / 0", "zero divisor"), ("1 % 0", "zero divisor"), ("1 +", "unexpected end"), ("(1", "missing )"),
        ("1 2", "unexpected '2'"), ("@", "unexpected"), ("++3", "missing lvalue"), ("1 ? 2", "missing :"),
        ("(" * 99, "nested too deeply"), ("loop", "nested too deeply"), ("9" * 99, "bad number"),
    ],
)  # fmt: skip
def test_what_has_no_value_is_refused_with_its_reason(expression: str, why: str) -> None:
    with pytest.raises(ArithmeticError_, match=why.replace(")", r"\)")):
        evaluate(expression, {"loop": "loop"})


@given(
    st.integers(-(2**31), 2**31 - 1), st.integers(-(2**31), 2**31 - 1), st.sampled_from(["+", "-", "*", "&", "|", "^"])
)
def test_sums_wrap_at_32_bits(left: int, right: int, operator: str) -> None:
    wanted = {
        "+": left + right,
        "-": left - right,
        "*": left * right,
        "&": left & right,
        "|": left | right,
        "^": left ^ right,
    }
    assert evaluate(f"({left}) {operator} ({right})", {}) == wrap(wanted[operator])


@given(st.text(alphabet="0123xyz+-*/%()<>=&|!~?:, ", max_size=30))
def test_any_text_has_a_value_or_is_refused(text: str) -> None:
    try:
        value = evaluate(text, {"x": "1", "y": "z", "z": "2 + x"})
    except ArithmeticError_:
        return
    assert -(2**31) <= value < 2**31
