"""Calculator: a keypad, a formula and its exact result (packages/apps/Calculator)."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

from agent_eval.device_sim.screen import App, Screen, Ui
from agent_eval.device_sim.strings import EVERYWHERE, Words, tables
from agent_eval.device_sim.ui import View, dp
from agent_eval.device_sim.widgets import GROUP, activity, button, column, label, row

PACKAGE = "com.android.calculator2"
_ID = f"{PACKAGE}:id/"
_LONGEST = 24

_NAMES = {
    "\u00f7": ("op_div", "divide"), "\u00d7": ("op_mul", "times"), "\u2212": ("op_sub", "minus"),
    "+": ("op_add", "plus"),
    "=": ("eq", "equals"), ".": ("dec_point", "point"), "\u232b": ("del", "delete"), "C": ("clr", "clear"),
    "%": ("op_pct", "percent"),
}  # fmt: skip
_ROWS = (("C", "\u232b", "%", "\u00f7"), ("7", "8", "9", "\u00d7"), ("4", "5", "6", "\u2212"), ("1", "2", "3", "+"),
         ("0", ".", "="))  # fmt: skip
_MINUS = "\u2212"
_OPERATORS = "\u00f7\u00d7\u2212+"
_PARTS = re.compile(rf"\d+\.?\d*|\.\d+|[{_OPERATORS}%]")
DIVIDED_BY_ZERO = "Can\u2019t divide by 0"


def evaluate(formula: str) -> str:
    """Return the value of a formula as the display shows it, or what is wrong; empty without a number."""
    terms: list[Fraction] = []
    operator, sign = "+", 1  # no operator is pending after a number
    for part in _PARTS.findall(formula.rstrip(_OPERATORS)):
        if part == "%":
            if terms and not operator:
                terms[-1] /= 100
        elif part in _OPERATORS:
            if operator and part == _MINUS:
                sign = -sign
            else:
                operator = part
        else:
            number = sign * Fraction(part.rstrip(".") or "0")
            if operator == "\u00f7" and number == 0:
                return DIVIDED_BY_ZERO
            if not terms or operator in ("+", _MINUS):  # with nothing before it there is nothing to multiply or divide
                terms.append(-number if operator == _MINUS else number)
            else:
                terms[-1] = terms[-1] / number if operator == "\u00f7" else terms[-1] * number
            operator, sign = "", 1
    return _display(sum(terms, Fraction(0))) if terms else ""


def _display(value: Fraction) -> str:
    text = str(value.numerator) if value.denominator == 1 else f"{float(value):.10f}".rstrip("0").rstrip(".")
    return text.replace("-", "\u2212")


def keypad(ui: Ui) -> View:
    """Build the only screen (activity_calculator_port.xml)."""
    formula = str(ui.var("formula"))
    final = bool(ui.var("final", False))

    def press(key: str) -> Callable[[], object]:
        def action() -> None:
            after, done = formula, False
            if key == "C":
                after = ""
            elif key == "\u232b":
                after = formula[:-1]
            elif key == "=":
                result = evaluate(formula)
                done = bool(result) and result != DIVIDED_BY_ZERO
                after = result if done else formula
            elif len(formula) < _LONGEST:
                if final and key not in _OPERATORS:
                    after = key
                elif key in "+\u00d7\u00f7" and (not formula or formula[-1] in _OPERATORS):
                    after = formula[:-1] + key if len(formula) > 1 else formula
                else:
                    after = formula + key
            ui.set("formula", after)
            ui.set("final", done)

        return action

    def key_view(key: str) -> View:
        name, desc = _NAMES.get(key, (f"digit_{key}", ""))
        desc = ui.say(desc) if desc else ""
        fill = "accent" if key == "=" else "chip" if key in _NAMES else "card"
        return button(
            key,
            press(key),
            id=f"{_ID}{name}",
            desc=desc,
            weight=2 if key == "=" else 1,
            height=dp(72),
            size=dp(24),
            fill=fill,
            ink="on_primary" if key == "=" else "text",
        )

    pad = column(
        *[row(*map(key_view, keys), height=dp(72), gap=dp(6)) for keys in _ROWS],
        cls=GROUP,
        gap=dp(6),
        pad=(dp(8), dp(8), dp(8), dp(8)),
        id=f"{_ID}pad_numeric",
    )
    result = "" if final else evaluate(formula)
    if result == DIVIDED_BY_ZERO:
        result = ui.say(DIVIDED_BY_ZERO)
    display = column(
        View("android.view.View", weight=1),
        label(formula, id=f"{_ID}formula", size=dp(40), width=-1, height=dp(56), justify=1.0),
        label(result, id=f"{_ID}result", size=dp(24), width=-1, height=dp(40), ink="soft", justify=1.0),
        pad=(dp(16), 0, dp(16), dp(8)),
        weight=1,
        id=f"{_ID}display",
        cls=GROUP,
    )
    return activity(ui, display, pad)


STRINGS: Words = {
    "Calculator": ("Rechner", "计算器"),
    DIVIDED_BY_ZERO: ("Durch 0 teilen nicht möglich", "不能除以 0"),
    "clear": ("löschen", "清除"),
    "delete": ("entfernen", "删除"),
    "divide": ("geteilt durch", "除"),
    "equals": ("gleich", "等于"),
    "minus": ("minus", "减"),
    "percent": ("Prozent", "百分比"),
    "plus": ("plus", "加"),
    "point": ("Komma", "点"),
    "times": ("mal", "乘"),
}

APP = App(
    package=PACKAGE,
    label="Calculator",
    home="calculator/keypad",
    color="#00796b",
    icon="calculator",
    home_row=True,
    strings=tables(EVERYWHERE, STRINGS),
    screens={"calculator/keypad": Screen(keypad, "com.android.calculator2.Calculator")},
)
