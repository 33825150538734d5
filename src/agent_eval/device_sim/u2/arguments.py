"""The kinds of parameters that the server's methods take, and how its JSON reader turns values into them.

Coordinates may come as fractions and lose them, numbers must fit their Java type, null is a text. Knows no method.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

Kind = Literal["int", "long", "float", "bool", "text", "object", "points", "point"]
"""``object`` is a selector or the name of an object that a method returned."""

_LIMITS = {"int": 1 << 31, "long": 1 << 63}
_MOST_POINTS = 10_000


class Mismatch(ValueError):
    """A value of another kind than the parameter."""


def shown(value: object) -> str:
    """Return a value for a message; of what may be nested without end, its kind only."""
    if value is None or isinstance(value, bool | int | float | str):
        return f"{value!r:.80}"
    return "an object" if isinstance(value, Mapping) else "a list"


def well_formed(text: str) -> str:
    """Return a text without halves of surrogate pairs, which JSON can carry and UTF-8 cannot."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def convert(kind: Kind, value: object) -> Any:
    """Return a value as a parameter's kind.

    Raises:
        Mismatch: it is none.
    """
    match kind:
        case "int" | "long":
            return _whole(value, _LIMITS[kind])
        case "float":
            return _number(value)
        case "bool":
            if isinstance(value, bool):
                return value
            if type(value) is int:
                return value != 0
        case "text":
            if value is None:
                return value
            if isinstance(value, str):
                return well_formed(value)
            if isinstance(value, int | float):
                return str(value).lower() if isinstance(value, bool) else str(value)
        case "object":
            if isinstance(value, str | Mapping):
                return value
        case "points":
            if isinstance(value, Sequence) and not isinstance(value, str) and len(value) <= _MOST_POINTS:
                return [_whole(part, _LIMITS["int"]) for part in value]
        case "point":
            if isinstance(value, Mapping) and {"x", "y"} <= value.keys():
                return _whole(value["x"], _LIMITS["int"]), _whole(value["y"], _LIMITS["int"])
    raise Mismatch(f"expected {kind}, got {shown(value)}")


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Mismatch(f"expected a number, got {shown(value)}")
    if not abs(value) < 1e12 or not math.isfinite(value):
        raise Mismatch("the number is out of range")
    return float(value)


def _whole(value: object, limit: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Mismatch(f"expected a number, got {shown(value)}")
    if isinstance(value, float) and not math.isfinite(value):
        raise Mismatch("the number is out of range")
    if not -limit <= value < limit:
        raise Mismatch("the number is out of range")
    return int(value)
