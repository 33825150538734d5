"""Whole-number expressions of the shell, such as ``$((1 + x * 2))``, 32 bits wide as mksh's are."""

from __future__ import annotations

import re
from collections.abc import MutableMapping

_TOKEN = re.compile(
    r"\s*(?:(0[xX][0-9a-fA-F]+|[0-9]+)|([A-Za-z_][A-Za-z0-9_]*)|"
    r"(\+\+|--|<<=|>>=|<=|>=|==|!=|&&|\|\||<<|>>|[-+*/%&|^]=|[-+*/%<>=!~&|^?:(),]))"
)
_LEVELS = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
)  # fmt: skip
"""Binary operators, the loosest first."""
_DEEPEST = 16
MOST_TOKENS = 20_000
"""Of one expression and all that its variables stand for, each as often as it is used."""


class ArithmeticError_(Exception):  # noqa: N801 - the plain name is Python's own
    """An expression that has no value; the text says why, as mksh does."""


def evaluate(expression: str, variables: MutableMapping[str, str]) -> int:
    """Return the value of an expression, assigning variables where it says so.

    Raises:
        ArithmeticError_: it is no expression, divides by zero, or is nested too deeply.
    """
    return _Evaluation(expression, variables, _Budget()).whole()


def wrap(value: int) -> int:
    """Return a number as 32 bits hold it."""
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


class _Budget:
    """How many tokens are left to an expression and all inside it."""

    def __init__(self) -> None:
        self.left = MOST_TOKENS


class _Evaluation:
    def __init__(self, expression: str, variables: MutableMapping[str, str], budget: _Budget, depth: int = 0) -> None:
        self._expression = expression
        self._variables = variables
        self._budget = budget
        self._depth = depth
        self._tokens: list[tuple[str, str]] = []
        position = 0
        expression = expression.rstrip()
        while position < len(expression):
            match = _TOKEN.match(expression, position)
            if match is None:
                raise self._wrong("bad number" if expression[position].isdigit() else "unexpected")
            budget.left -= 1
            if budget.left < 0:
                raise self._wrong("expression too long")
            kind = "number" if match[1] else "name" if match[2] else "operator"
            self._tokens.append((kind, match[match.lastindex or 0]))
            position = match.end()
        self._at = 0

    def _wrong(self, what: str) -> ArithmeticError_:
        return ArithmeticError_(f"{self._expression[:64]}: {what}")

    def whole(self) -> int:
        if not self._tokens:
            return 0
        value = self._comma()
        if self._at < len(self._tokens):
            raise self._wrong(f"unexpected '{self._tokens[self._at][1]}'")
        return value

    def _peek(self) -> str:
        return self._tokens[self._at][1] if self._at < len(self._tokens) else ""

    def _accept(self, *operators: str) -> str:
        found = self._peek()
        if found in operators and found:
            self._at += 1
            return found
        return ""

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._wrong("nested too deeply")

    def _comma(self) -> int:
        value = self._assignment()
        while self._accept(","):
            value = self._assignment()
        return value

    def _assignment(self) -> int:
        if (
            self._at + 1 < len(self._tokens)
            and self._tokens[self._at][0] == "name"
            and self._tokens[self._at + 1][1] in ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")
        ):
            name, operator = self._tokens[self._at][1], self._tokens[self._at + 1][1]
            self._at += 2
            self._deeper()
            value = self._assignment()
            self._depth -= 1
            if operator != "=":
                value = self._apply(operator[:-1], self._value_of(name), value)
            self._variables[name] = str(value)
            return value
        return self._conditional()

    def _conditional(self) -> int:
        value = self._binary(0)
        if not self._accept("?"):
            return value
        self._deeper()
        yes = self._assignment()
        if not self._accept(":"):
            raise self._wrong("missing :")
        no = self._assignment()
        self._depth -= 1
        return yes if value else no

    def _binary(self, level: int) -> int:
        if level == len(_LEVELS):
            return self._unary()
        value = self._binary(level + 1)
        while operator := self._accept(*_LEVELS[level]):
            value = self._apply(operator, value, self._binary(level + 1))
        return value

    def _apply(self, operator: str, left: int, right: int) -> int:
        if operator in ("/", "%"):
            if right == 0:
                raise self._wrong("zero divisor")
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            return wrap(quotient if operator == "/" else left - quotient * right)
        match operator:
            case "+":
                value = left + right
            case "-":
                value = left - right
            case "*":
                value = left * right
            case "<<":
                value = left << (right & 31)
            case ">>":
                value = left >> (right & 31)
            case "&":
                value = left & right
            case "|":
                value = left | right
            case "^":
                value = left ^ right
            case "&&":
                value = int(bool(left) and bool(right))
            case "||":
                value = int(bool(left) or bool(right))
            case _:
                value = int(
                    {
                        "==": left == right, "!=": left != right, "<": left < right, "<=": left <= right,
                        ">": left > right, ">=": left >= right,
                    }[operator]
                )  # fmt: skip
        return wrap(value)

    def _unary(self) -> int:
        self._deeper()
        try:
            operator = self._accept("-", "+", "!", "~", "++", "--")
            if operator in ("++", "--"):
                name = self._name()
                value = wrap(self._value_of(name) + (1 if operator == "++" else -1))
                self._variables[name] = str(value)
                return value
            if operator:
                value = self._unary()
                return wrap({"-": -value, "+": value, "!": int(not value), "~": ~value}[operator])
            return self._primary()
        finally:
            self._depth -= 1

    def _name(self) -> str:
        if self._at >= len(self._tokens) or self._tokens[self._at][0] != "name":
            raise self._wrong("missing lvalue")
        self._at += 1
        return self._tokens[self._at - 1][1]

    def _primary(self) -> int:
        if self._at >= len(self._tokens):
            raise self._wrong("unexpected end of expression")
        kind, text = self._tokens[self._at]
        self._at += 1
        if kind == "number":
            if len(text) > 20:
                raise self._wrong("bad number")
            return wrap(int(text, 16) if text[:2] in ("0x", "0X") else int(text))
        if kind == "name":
            operator = self._accept("++", "--")
            value = self._value_of(text)
            if operator:
                self._variables[text] = str(wrap(value + (1 if operator == "++" else -1)))
            return value
        if text == "(":
            value = self._comma()
            if not self._accept(")"):
                raise self._wrong("missing )")
            return value
        raise self._wrong(f"unexpected '{text}'")

    def _value_of(self, name: str) -> int:
        text = self._variables.get(name, "").strip()
        if not text:
            return 0
        if re.fullmatch(r"-?[0-9]{1,20}", text):
            return wrap(int(text))
        if self._depth >= _DEEPEST:
            raise self._wrong("nested too deeply")
        return _Evaluation(text[:1000], self._variables, self._budget, self._depth + 1).whole()
