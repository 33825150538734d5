"""Regular expressions of grep and sed: POSIX syntax, searched without risk. Knows no command.

A pattern is rewritten from POSIX to the syntax that Python and ``device_sim.patterns`` share. Python's matcher is used
where its worst case is known to be small; otherwise the linear matcher. What neither can do in bounded time is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from agent_eval.device_sim.patterns import Effort, Pattern, PatternError, compile_pattern

LONGEST_PATTERN = 1000
MOST_EFFORT = 2_000_000
"""Steps of the linear matcher that all searches of one command may take; about a second."""
_MOST_QUICK = 200_000_000
"""Worst case of all searches of one pattern by Python's matcher."""
_MOST_STEPS = 300_000
"""Worst case of one search by Python's backtracking matcher."""
_MOST_CHOICES = 17
"""Of so many, even a text of two characters has a worse case."""
_CLASSES = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "space": r"\s",
    "blank": r" \t", "punct": r"!-/:-@\[-`{-~", "xdigit": "0-9A-Fa-f", "print": " -~", "graph": "!-~",
    "cntrl": r"\x00-\x1f",
}  # fmt: skip


class BadExpression(Exception):
    """A pattern that is none, or that costs too much."""


class Found(NamedTuple):
    """One match."""

    start: int
    end: int
    groups: tuple[str, ...]
    """The whole match, then each group."""


@dataclass(frozen=True, slots=True)
class _Rewritten:
    text: str
    choices: int
    """Quantifiers and alternatives: each may multiply the work of a backtracking matcher."""
    nested: bool
    """A quantifier stands inside a quantified group."""


class Expression:
    """A compiled pattern.

    Args:
        pattern: In POSIX syntax.
        extended: Extended syntax, as of ``grep -E``; otherwise basic.
        any_case: Upper and lower case are the same.
        fixed: The pattern is plain text.
        around: ``word`` or ``line``: the match must be a whole word or line.
        effort: Bounds the work of many searches together.

    Raises:
        BadExpression: the pattern is none, or too long.
    """

    def __init__(
        self,
        pattern: str,
        *,
        extended: bool = False,
        any_case: bool = False,
        fixed: bool = False,
        around: str = "",
        effort: Effort | None = None,
    ) -> None:
        if len(pattern) > LONGEST_PATTERN:
            raise BadExpression("pattern too long")
        rewritten = _Rewritten(_escaped(pattern), 0, False) if fixed else _rewrite(pattern, extended=extended)
        text = rewritten.text
        if around == "word":
            text = rf"\b(?:{text})\b"
        elif around == "line":
            text = f"^(?:{text})$"
        self._rewritten = rewritten
        try:
            self._quick = re.compile(text, re.IGNORECASE if any_case else 0)
        except (re.error, OverflowError, RecursionError):
            raise BadExpression(f"bad REGEX '{pattern[:64]}'") from None
        self._linear: Pattern | None = None
        self._text = text
        self._any_case = any_case
        self._effort = effort or Effort(MOST_EFFORT)
        self._quick_left = _MOST_QUICK

    def search(self, text: str, start: int = 0, *, groups: bool = False) -> Found | None:
        """Return the first match from a place on.

        Raises:
            BadExpression: it would take too long.
        """
        if self._is_quick(len(text) - start):
            match = self._quick.search(text, start)
            if match is None:
                return None
            return Found(match.start(), match.end(), (match[0], *(group or "" for group in match.groups())))
        try:
            if self._linear is None:
                self._linear = compile_pattern(self._text, any_case=self._any_case)
            if groups and self._linear.groups:
                spans = self._linear.find_groups(text, start, self._effort)
            else:
                span = self._linear.find(text, start, self._effort)
                spans = None if span is None else (span,)
        except PatternError:
            raise BadExpression("pattern too complex") from None
        if spans is None or (whole := spans[0]) is None:
            return None
        return Found(whole.start, whole.end, tuple(text[span.start : span.end] if span else "" for span in spans))

    def _is_quick(self, length: int) -> bool:
        if not self._rewritten.choices:
            return True
        if self._rewritten.nested or self._rewritten.choices > _MOST_CHOICES:
            return False
        worst = max(length, 2) ** (self._rewritten.choices + 1)
        self._quick_left -= worst
        return worst <= _MOST_STEPS and self._quick_left >= 0


def _escaped(text: str) -> str:
    return re.sub(
        r"([^\w\s]|_)", lambda match: match[0] if match[0] in "_<>\"'`,:;=@%&!~/ -" else "\\" + match[0], text
    )


def _rewrite(pattern: str, *, extended: bool) -> _Rewritten:
    out: list[str] = []
    choices = 0
    quantified_groups: list[bool] = []  # per open group: whether a choice stands inside
    nested = False
    position = 0
    last_group_has_choice = False
    can_repeat = False
    while position < len(pattern):
        character = pattern[position]
        pair = pattern[position : position + 2]
        position += 1
        sign = character
        if character == "\\":
            if len(pair) < 2:
                raise BadExpression("bad REGEX: trailing backslash")
            position += 1
            following = pair[1]
            if not extended and following in "(){}|+?":
                sign = {"(": "<(", ")": "<)", "{": "<{", "}": "<}", "|": "<|", "+": "<+", "?": "<?"}[following]
            elif following in "<>":
                out.append(r"\b")
                continue
            elif following in "wWsSbBdD":
                out.append(pair)
                can_repeat = following not in "bB"
                last_group_has_choice = False
                continue
            elif following in "123456789":
                raise BadExpression("bad REGEX: back-references are not supported")
            elif following in "nt":
                out.append(pair)
                can_repeat, last_group_has_choice = True, False
                continue
            else:
                out.append(_escaped(following))
                can_repeat, last_group_has_choice = True, False
                continue
        elif character == "[":
            text, position = _bracket(pattern, position)
            out.append(text)
            can_repeat, last_group_has_choice = True, False
            continue
        elif extended and character in "(){}|+?":
            sign = "<" + character
        match sign:
            case "<(":
                out.append("(")
                quantified_groups.append(False)
                can_repeat = False
            case "<)":
                if not quantified_groups:
                    if extended:
                        out.append(r"\)")
                        continue
                    raise BadExpression("bad REGEX: unmatched )")
                out.append(")")
                last_group_has_choice = quantified_groups.pop()
                if quantified_groups and last_group_has_choice:
                    quantified_groups[-1] = True
                can_repeat = True
            case "<|":
                out.append("|")
                choices += 1
                quantified_groups[:] = [True] * len(quantified_groups)
                can_repeat = False
            case "*" | "<+" | "<?" | "<{":
                if out and out[-1] in ("*", "+", "?"):
                    if sign == "<{":
                        raise BadExpression("bad REGEX: repeated repeat")
                    out[-1] = "*" if sign == "*" or out[-1] != sign[-1] else out[-1]
                    continue
                if not can_repeat:
                    out.append("\\" + sign[-1])
                    can_repeat, last_group_has_choice = True, False
                    continue
                text = sign[-1]
                if sign == "<{":
                    bounds = re.compile(r"([0-9]{0,3})(,?)([0-9]{0,3})(\\?)\}").match(pattern, position)
                    if bounds is None or not (bounds[1] or bounds[3]):
                        out.append(r"\{")
                        continue
                    position = bounds.end()
                    text = f"{{{bounds[1] or '0'}{bounds[2]}{bounds[3]}}}"
                choices += 1
                nested = nested or last_group_has_choice
                quantified_groups[:] = [True] * len(quantified_groups)
                out.append(text)
                can_repeat = False
            case "^":
                anchors = extended or not out or out[-1] in ("(", "|")
                out.append("^" if anchors else r"\^")
                can_repeat, last_group_has_choice = not anchors, False
            case "$":
                rest = pattern[position : position + 2]
                anchors = extended or not rest or rest in (r"\)", r"\|")
                out.append("$" if anchors else r"\$")
                can_repeat, last_group_has_choice = not anchors, False
            case ".":
                out.append(".")
                can_repeat, last_group_has_choice = True, False
            case _:
                out.append(_escaped(sign[-1]))
                can_repeat, last_group_has_choice = True, False
    if quantified_groups:
        raise BadExpression("bad REGEX: unmatched (")
    return _Rewritten("".join(out), choices, nested)


def _bracket(pattern: str, position: int) -> tuple[str, int]:
    out = "["
    if pattern.startswith("^", position):
        out += "^"
        position += 1
    first = True
    while position < len(pattern):
        character = pattern[position]
        if character == "]" and not first:
            return out + "]", position + 1
        first = False
        named = re.compile(r"\[:([a-z]+):\]").match(pattern, position)
        if named is not None:
            if named[1] not in _CLASSES:
                raise BadExpression("bad REGEX: unknown character class")
            out += _CLASSES[named[1]]
            position = named.end()
            continue
        out += "\\" + character if character in "[]\\^&~|" else character
        position += 1
    raise BadExpression("bad REGEX: unmatched [")
