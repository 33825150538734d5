"""Regular expressions that a client may send: Java's syntax, matched in time linear in the text. Knows no phone.

A pattern is parsed into a tree, the tree into a small program, and the program is run over the text with all its
threads side by side (Thompson's construction), so that no pattern can backtrack; where groups are asked for, each
thread carries where they began and ended (Pike's). Programs, texts and the work of one search are bounded; what lies
beyond is refused. Look-around is evaluated the same way. Left out, because they need backtracking: back-references,
possessive quantifiers and atomic groups.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, NamedTuple

MAX_PATTERN, MAX_NESTING, MAX_REPEAT, MAX_PROGRAM, MAX_TEXT = 4096, 64, 1000, 4000, 200_000
"""Characters of a pattern, depth of its groups, bound of a quantifier, steps of a program, characters of a text."""
MAX_EFFORT = 400_000
"""Steps that one search may take over all texts; about a quarter of a second."""

Reason = Literal["syntax", "unsupported", "limit"]


class PatternError(ValueError):
    """A pattern that is none, that this matcher does not evaluate, or that costs too much.

    Args:
        message: What is wrong.
        reason: Which of the three it is.
    """

    def __init__(self, message: str, reason: Reason = "syntax") -> None:
        super().__init__(message)
        self.reason: Reason = reason


class Effort:
    """How much work is left to a search over several texts.

    Args:
        steps: Steps that it may take.
    """

    __slots__ = ("left",)

    def __init__(self, steps: int = MAX_EFFORT) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        """Take steps off.

        Raises:
            PatternError: there are not so many left.
        """
        self.left -= steps
        if self.left < 0:
            raise PatternError("the pattern costs too much on this text", "limit")


class Span(NamedTuple):
    """Where a match begins and ends."""

    start: int
    end: int


# ----------------------------------------------------------------------------------------------------------------------
# the tree

Test = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class _Char:
    test: Test


@dataclass(frozen=True, slots=True)
class _At:
    """A condition on the place between two characters."""

    holds: Callable[[str, int], bool]


@dataclass(frozen=True, slots=True)
class _Look:
    inner: _Tree
    ahead: bool
    negative: bool


@dataclass(frozen=True, slots=True)
class _Sequence:
    parts: tuple[_Tree, ...]


@dataclass(frozen=True, slots=True)
class _Choice:
    parts: tuple[_Tree, ...]


@dataclass(frozen=True, slots=True)
class _Repeat:
    inner: _Tree
    low: int
    high: int | None
    greedy: bool


@dataclass(frozen=True, slots=True)
class _Group:
    """A part whose place in the text may be asked for."""

    inner: _Tree
    number: int
    """From 1, in the order of opening."""


_Tree = _Char | _At | _Look | _Sequence | _Choice | _Repeat | _Group

_LINE_ENDS = frozenset("\n\r\u0085\u2028\u2029")
_LAST_LINE_ENDS = frozenset({"", "\n", "\r\n", "\r", "\u0085", "\u2028", "\u2029"})


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _at_word_edge(text: str, place: int) -> bool:
    before = place > 0 and _is_word(text[place - 1])
    return before is not (place < len(text) and _is_word(text[place]))


def _at_line_start(text: str, place: int) -> bool:
    return place == 0 or (text[place - 1] in _LINE_ENDS and place < len(text))


def _at_last_line_end(text: str, place: int) -> bool:
    return len(text) - place <= 2 and text[place:] in _LAST_LINE_ENDS


_START = _At(lambda _, place: place == 0)
_END = _At(_at_last_line_end)
_VERY_END = _At(lambda text, place: place == len(text))
_LINE_START = _At(_at_line_start)
_LINE_END = _At(lambda text, place: place == len(text) or text[place] in _LINE_ENDS)
_PLACES = MappingProxyType({
    "b": _At(_at_word_edge), "B": _At(lambda text, place: not _at_word_edge(text, place)),
    "A": _START, "Z": _END, "z": _VERY_END,
})  # fmt: skip
"""Letter after a backslash to the place that it stands for."""
_CLASSES: MappingProxyType[str, Test] = MappingProxyType({
    "d": str.isdecimal, "w": _is_word, "s": str.isspace, "h": lambda c: c == "\t" or unicodedata.category(c) == "Zs",
})  # fmt: skip
"""Letter after a backslash to the characters that it stands for, its capital to all others."""
_CONTROLS = MappingProxyType({"t": "\t", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"})
_NAMED: MappingProxyType[str, Test] = MappingProxyType({
    "Alpha": lambda c: c.isascii() and c.isalpha(), "Digit": lambda c: c.isascii() and c.isdigit(),
    "Alnum": lambda c: c.isascii() and c.isalnum(), "Upper": lambda c: c.isascii() and c.isupper(),
    "Lower": lambda c: c.isascii() and c.islower(), "Space": str.isspace, "ASCII": str.isascii,
    "Punct": lambda c: c.isascii() and c.isprintable() and not c.isalnum() and c != " ",
    "XDigit": lambda c: c in "0123456789abcdefABCDEF", "IsAlphabetic": str.isalpha, "IsDigit": str.isdecimal,
})  # fmt: skip
_CATEGORIES = frozenset(
    f"{group}{kind}"
    for group, kinds in (
        ("L", "ultmo"),
        ("M", "nce"),
        ("N", "dlo"),
        ("P", "cdseifo"),
        ("S", "mcko"),
        ("Z", "slp"),
        ("C", "cfon"),
    )
    for kind in ("", *kinds)
)


def _named(name: str) -> Test:
    found = _NAMED.get(name)
    if found is not None:
        return found
    category = name.removeprefix("Is")
    if category not in _CATEGORIES:
        raise PatternError(f"unknown character property {{{name}}}", "unsupported" if name else "syntax")
    return lambda c: unicodedata.category(c).startswith(category)


def _not(test: Test) -> Test:
    return lambda c: not test(c)


def _equal(literal: str) -> Test:
    return lambda c: c == literal


def _between(first: str, last: str) -> Test:
    return lambda c: first <= c <= last


def _any_of(tests: Sequence[Test]) -> Test:
    return tests[0] if len(tests) == 1 else lambda c: any(test(c) for test in tests)


def _all_of(tests: Sequence[Test]) -> Test:
    return tests[0] if len(tests) == 1 else lambda c: all(test(c) for test in tests)


def _in_either_case(test: Test) -> Test:
    return lambda c: test(c) or test(c.lower()) or test(c.upper())


# ----------------------------------------------------------------------------------------------------------------------
# the parser


@dataclass(frozen=True, slots=True)
class _Flags:
    any_case: bool = False
    dot_all: bool = False
    lines: bool = False


_FLAG_NAMES = MappingProxyType({"i": "any_case", "s": "dot_all", "m": "lines"})
_IGNORED_FLAGS = frozenset("u")  # Android's patterns always know Unicode


class _Parser:
    """Reads one pattern from left to right."""

    def __init__(self, pattern: str, flags: _Flags) -> None:
        self.pattern = pattern
        self.place = 0
        self.flags = flags
        self.nesting = 0
        self.groups = 0

    def tree(self) -> _Tree:
        found = self._choice()
        if self.place < len(self.pattern):
            raise PatternError(f"unmatched closing ')' near index {self.place}")
        return found

    @property
    def _next(self) -> str:
        return self.pattern[self.place : self.place + 1]

    def _take(self, text: str) -> bool:
        if self.pattern.startswith(text, self.place):
            self.place += len(text)
            return True
        return False

    def _need(self, text: str, where: str) -> None:
        if not self._take(text):
            raise PatternError(f"{where} lacks {text!r} near index {self.place}")

    def _until(self, end: str, where: str) -> str:
        stop = self.pattern.find(end, self.place)
        if stop < 0:
            raise PatternError(f"{where} lacks {end!r} near index {self.place}")
        found = self.pattern[self.place : stop]
        self.place = stop + len(end)
        return found

    def _deeper(self) -> None:
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise PatternError(f"groups are nested more than {MAX_NESTING} deep", "limit")

    def _choice(self) -> _Tree:
        parts = [self._sequence()]
        while self._take("|"):
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else _Choice(tuple(parts))

    def _sequence(self) -> _Tree:
        parts: list[_Tree] = []
        while self._next and self._next not in "|)":
            if self._take("\\Q"):
                stop = self.pattern.find("\\E", self.place)
                quoted = self.pattern[self.place :] if stop < 0 else self.pattern[self.place : stop]
                self.place = len(self.pattern) if stop < 0 else stop + 2
                parts += [self._literal(sign) for sign in quoted]
                if quoted:
                    parts[-1] = self._quantified(parts[-1])
                continue
            atom = self._atom()
            if atom is not None:
                parts.append(self._quantified(atom))
        return parts[0] if len(parts) == 1 else _Sequence(tuple(parts))

    def _quantified(self, atom: _Tree) -> _Tree:
        low, high = 0, 0
        sign = self._next
        if sign and sign in "*+?":
            self.place += 1
            low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]  # type: ignore[assignment]
        elif sign == "{":
            self.place += 1
            low, high = self._bounds()  # type: ignore[assignment]
        else:
            return atom
        greedy = not self._take("?")
        if greedy and self._next == "+":
            raise PatternError("possessive quantifiers are not evaluated here", "unsupported")
        if self._next and self._next in "*+?{":
            raise PatternError(f"dangling meta character {self._next!r} near index {self.place}")
        return _Repeat(atom, low, high, greedy)

    def _bounds(self) -> tuple[int, int | None]:
        words = self._until("}", "a quantifier").split(",")
        if len(words) > 2 or not words[0].isascii() or not words[0].isdigit():
            raise PatternError(f"illegal repetition near index {self.place}")
        if len(words) == 2 and words[1] and not (words[1].isascii() and words[1].isdigit()):
            raise PatternError(f"illegal repetition near index {self.place}")
        if max(map(len, words)) > 6:
            raise PatternError(f"a repetition of more than {MAX_REPEAT}", "limit")
        low = int(words[0])
        high = low if len(words) == 1 else int(words[1]) if words[1] else None
        if max(low, high or 0) > MAX_REPEAT:
            raise PatternError(f"a repetition of more than {MAX_REPEAT}", "limit")
        if high is not None and high < low:
            raise PatternError(f"illegal repetition range near index {self.place}")
        return low, high

    def _atom(self) -> _Tree | None:
        """Read one atom; None for a group that only sets flags."""
        sign = self._next
        if sign in ("*", "+", "?", "{"):
            raise PatternError(f"dangling meta character {sign!r} near index {self.place}")
        self.place += 1
        if sign == "(":
            return self._group()
        if sign == "[":
            return _Char(self._set())
        if sign == ".":
            return _Char(_anything if self.flags.dot_all else _not_a_line_end)
        if sign == "^":
            return _LINE_START if self.flags.lines else _START
        if sign == "$":
            return _LINE_END if self.flags.lines else _END
        if sign == "\\":
            if self._next in _PLACES:
                self.place += 1
                return _PLACES[self.pattern[self.place - 1]]
            return _Char(self._cased(self._escape()))
        return self._literal(sign)

    def _literal(self, sign: str) -> _Char:
        return _Char(self._cased(_equal(sign)))

    def _cased(self, test: Test) -> Test:
        return _in_either_case(test) if self.flags.any_case else test

    def _group(self) -> _Tree | None:
        self._deeper()
        outside = self.flags
        wrap: Callable[[_Tree], _Tree] = _itself
        counts = True
        if self._take("?"):
            counts = False
            if self._take("="):
                wrap = lambda tree: _Look(tree, True, False)  # noqa: E731
            elif self._take("!"):
                wrap = lambda tree: _Look(tree, True, True)  # noqa: E731
            elif self._take("<="):
                wrap = lambda tree: _Look(tree, False, False)  # noqa: E731
            elif self._take("<!"):
                wrap = lambda tree: _Look(tree, False, True)  # noqa: E731
            elif self._take("<"):
                name = self._until(">", "the name of a group")
                if not (name.isascii() and name.isalnum() and name[0].isalpha()):
                    raise PatternError(f"{name!r} cannot name a group")
                counts = True
            elif self._take(">"):
                raise PatternError("atomic groups are not evaluated here", "unsupported")
            elif not self._take(":") and self._set_flags():
                self.nesting -= 1
                return None
        if counts:
            self.groups += 1
            number = self.groups  # before those inside it
            wrap = lambda tree: _Group(tree, number)  # noqa: E731
        tree = wrap(self._choice())
        self._need(")", "a group")
        self.flags = outside
        self.nesting -= 1
        return tree

    def _set_flags(self) -> bool:
        """Read the letters of a group such as (?i) or (?i:...); tell whether the group ends with them."""
        value = True
        while self._next not in ("", ")", ":"):
            sign = self._next
            self.place += 1
            if sign == "-" and value:
                value = False
            elif sign in _FLAG_NAMES:
                self.flags = replace(self.flags, **{_FLAG_NAMES[sign]: value})
            elif sign in ("x", "d"):
                raise PatternError(f"the flag {sign!r} is not evaluated here", "unsupported")
            elif sign not in _IGNORED_FLAGS:
                raise PatternError(f"unknown inline modifier near index {self.place - 1}")
        if self._take(":"):
            return False
        self._need(")", "a group")
        return True

    def _escape(self) -> Test:
        """Read what follows a backslash: a class of characters or a single one."""
        sign = self._next
        self.place += 1
        if sign == "":
            raise PatternError("the pattern ends in a backslash")
        if sign.lower() in _CLASSES:
            test = _CLASSES[sign.lower()]
            return test if sign.islower() else _not(test)
        if sign in "pP":
            test = _named(self._until("}", "a property") if self._take("{") else self._one("a property"))
            return test if sign == "p" else _not(test)
        return _equal(self._character(sign))

    def _one(self, where: str) -> str:
        sign = self._next
        if not sign:
            raise PatternError(f"{where} is incomplete")
        self.place += 1
        return sign

    def _character(self, sign: str) -> str:
        if sign in _CONTROLS:
            return _CONTROLS[sign]
        if sign == "0":
            return self._number(8, 3)
        if sign == "x":
            return self._hexadecimal(self._until("}", "a character")) if self._take("{") else self._number(16, 2, 2)
        if sign == "u":
            return self._number(16, 4, 4)
        if sign == "c":
            return chr(ord(self._one("a control character")) ^ 64)
        if sign.isdigit() or sign == "k":
            raise PatternError("back-references are not evaluated here", "unsupported")
        if sign in "GRX":
            raise PatternError(f"\\{sign} is not evaluated here", "unsupported")
        if sign.isascii() and sign.isalpha():
            raise PatternError(f"illegal escape \\{sign} near index {self.place - 1}")
        return sign

    def _number(self, base: int, most: int, least: int = 1) -> str:
        digits = "0123456789abcdefABCDEF" if base == 16 else "01234567"
        start = self.place
        while self.place - start < most and self._next and self._next in digits:
            self.place += 1
        if self.place - start < least:
            raise PatternError(f"illegal character number near index {start}")
        return chr(int(self.pattern[start : self.place], base))

    def _hexadecimal(self, digits: str) -> str:
        if not 1 <= len(digits) <= 6 or any(sign not in "0123456789abcdefABCDEF" for sign in digits):
            raise PatternError(f"illegal character number near index {self.place}")
        if int(digits, 16) > 0x10FFFF:
            raise PatternError(f"illegal character number near index {self.place}")
        return chr(int(digits, 16))

    def _set(self) -> Test:
        """Read a set after its opening bracket: ranges, escapes, sets inside, and && for what is in both."""
        self._deeper()
        negative = self._take("^")
        both: list[Test] = []
        tests: list[Test] = []
        first = True
        while first or self._next != "]":
            if not self._next:
                raise PatternError(f"unclosed character class near index {self.place}")
            if self._take("&&"):
                if tests:
                    both.append(_any_of(tests))
                tests = []
                first = False
                continue
            tests.append(self._item())
            first = False
        self.place += 1
        self.nesting -= 1
        if tests:
            both.append(_any_of(tests))
        if not both:
            raise PatternError(f"bad intersection near index {self.place}")
        test = self._cased(_all_of(both))
        return _not(test) if negative else test

    def _item(self) -> Test:
        """Read one member of a set: a set, a class, a character or a range."""
        sign = self._next
        self.place += 1
        if sign == "[":
            return self._set()
        if sign == "\\":
            following = self._next
            if following and (following.lower() in _CLASSES or following in "pP"):
                return self._escape()
            self.place += 1
            if not following:
                raise PatternError("the pattern ends in a backslash")
            sign = self._character(following)
        if self._next == "-" and self.pattern[self.place + 1 : self.place + 2] not in ("]", "[", ""):
            self.place += 1
            last = self._one("a range")
            if last == "\\":
                last = self._character(self._one("a range"))
            if last < sign:
                raise PatternError(f"illegal character range near index {self.place}")
            return _between(sign, last)
        return _equal(sign)


def _anything(_: str) -> bool:
    return True


def _not_a_line_end(character: str) -> bool:
    return character not in _LINE_ENDS


def _itself(tree: _Tree) -> _Tree:
    return tree


# ----------------------------------------------------------------------------------------------------------------------
# the program


@dataclass(frozen=True, slots=True)
class _Take:
    """Take one character and go on with the next step."""

    test: Test


@dataclass(frozen=True, slots=True)
class _Go:
    """Go on at other steps, the last of them preferred."""

    to: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Check:
    """Go on with the next step where a condition holds."""

    holds: Callable[[str, int], bool]


@dataclass(frozen=True, slots=True)
class _Peek:
    """Go on with the next step where another program matches, or does not."""

    steps: tuple[_Step, ...]
    ahead: bool
    negative: bool


@dataclass(frozen=True, slots=True)
class _Done:
    """The pattern has matched up to here."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """Remember the place and go on with the next step."""

    number: int
    """Twice a group's number where it begins, one more where it ends."""


_Step = _Take | _Go | _Check | _Peek | _Done | _Mark


def _takes(step: _Step, character: str) -> bool:
    return isinstance(step, _Take) and step.test(character)


class _Writer:
    """Turns a tree into steps; counts every node that it writes, so that no nest of repetitions runs away.

    Args:
        marks: Write the marks of groups.
    """

    def __init__(self, *, marks: bool = False) -> None:
        self.written = 0
        self.marks = marks

    def program(self, tree: _Tree) -> tuple[_Step, ...]:
        steps: list[_Step] = []
        self._write(tree, steps)
        steps.append(_Done())
        return tuple(steps)

    def _write(self, tree: _Tree, steps: list[_Step]) -> None:
        self.written += 1
        if self.written > MAX_PROGRAM:
            raise PatternError(f"the pattern needs more than {MAX_PROGRAM} steps", "limit")
        match tree:
            case _Char(test):
                steps.append(_Take(test))
            case _At(holds):
                steps.append(_Check(holds))
            case _Look(inner, ahead, negative):
                marks, self.marks = self.marks, False  # what is only looked at has no groups to ask for
                steps.append(_Peek(self.program(inner), ahead, negative))
                self.marks = marks
            case _Group(inner, number):
                if self.marks:
                    steps.append(_Mark(2 * number))
                self._write(inner, steps)
                if self.marks:
                    steps.append(_Mark(2 * number + 1))
            case _Sequence(parts):
                for part in parts:
                    self._write(part, steps)
            case _Choice(parts):
                self._write_choice(parts, steps)
            case _Repeat(inner, low, high, greedy):
                for _ in range(low):
                    self._write(inner, steps)
                self._write_rest(inner, None if high is None else high - low, steps, greedy=greedy)

    def _write_choice(self, parts: tuple[_Tree, ...], steps: list[_Step]) -> None:
        head = len(steps)
        steps.append(_Done())
        starts, ends = [], []
        for part in parts:
            starts.append(len(steps))
            self._write(part, steps)
            ends.append(len(steps))
            steps.append(_Done())
        steps[head] = _Go(tuple(reversed(starts)))
        for end in ends:
            steps[end] = _Go((len(steps),))

    def _write_rest(self, inner: _Tree, most: int | None, steps: list[_Step], *, greedy: bool) -> None:
        """Write the part of a repetition that may be left out: a loop, or copies that all lead to the end."""
        heads = []
        for _ in range(1 if most is None else most):
            heads.append(len(steps))
            steps.append(_Done())
            self._write(inner, steps)
        if most is None:
            steps.append(_Go((heads[0],)))
        for head in heads:
            ways = (len(steps), head + 1)
            steps[head] = _Go(ways if greedy else ways[::-1])


# ----------------------------------------------------------------------------------------------------------------------
# the run


class Pattern:
    """A compiled pattern.

    Args:
        pattern: As a client wrote it.
        tree: What it means.
        groups: How many groups it has.

    Raises:
        PatternError: its program would be too large.
    """

    __slots__ = ("_marked", "_steps", "_tree", "groups", "pattern")

    def __init__(self, pattern: str, tree: _Tree, groups: int) -> None:
        self.pattern = pattern
        self.groups = groups
        self._tree = tree
        self._steps = _Writer().program(tree)
        self._marked: tuple[_Step, ...] = ()

    def matches(self, text: str, effort: Effort | None = None) -> bool:
        """Tell whether the whole text matches.

        Raises:
            PatternError: the text is too long, or the work too much.
        """
        return _Run(text, effort or Effort()).whole(self._steps)

    def find(self, text: str, start: int = 0, effort: Effort | None = None) -> Span | None:
        """Return the first match from a place on, of those that begin there the one that Java prefers.

        Raises:
            PatternError: the text is too long, or the work too much.
        """
        places = _Run(text, effort or Effort()).first(self._steps, start, 2)
        return Span(*places) if places else None

    def find_groups(self, text: str, start: int = 0, effort: Effort | None = None) -> tuple[Span | None, ...] | None:
        """Return what ``find`` does, and after it each group, None for one that took no part.

        Raises:
            PatternError: the text is too long, or the work too much.
        """
        self._marked = self._marked or _Writer(marks=True).program(self._tree)
        places = _Run(text, effort or Effort()).first(self._marked, start, 2 * self.groups + 2)
        if places is None:
            return None
        pairs = zip(places[::2], places[1::2], strict=True)
        return tuple(Span(begun, end) if end >= 0 else None for begun, end in pairs)


_Places = tuple[int, ...]
"""Where the match and each group began and ended; -1 for not yet."""
_Thread = tuple[int, _Places]
"""The step at which a thread stands, and what it remembers."""


class _Run:
    """One text, with the work left for it and the answers of look-around that are already known."""

    def __init__(self, text: str, effort: Effort) -> None:
        if len(text) > MAX_TEXT:
            raise PatternError(f"the text has more than {MAX_TEXT} characters", "limit")
        self.text = text
        self.effort = effort
        self.peeked: dict[tuple[int, int], bool] = {}

    def whole(self, steps: tuple[_Step, ...]) -> bool:
        return self._reaches(steps, 0, len(self.text))

    def first(self, steps: tuple[_Step, ...], start: int, marks: int) -> _Places | None:
        """Return the places of the first match, and of the groups that the steps mark."""
        text = self.text
        found: _Places | None = None
        threads: list[_Thread] = []
        unset = (-1,) * (marks - 1)
        for place in range(start, len(text) + 1):
            if found is None:
                threads.append((0, (place, *unset)))
            waiting: list[_Thread] = []
            done = self._follow(steps, threads[::-1], place, waiting)
            if done is not None:
                found = (done[0], place, *done[2:])
            if place == len(text) or not (waiting or found is None):
                break
            character = text[place]
            threads = [(step + 1, places) for step, places in waiting if _takes(steps[step], character)]
        return found

    def _follow(
        self, steps: tuple[_Step, ...], open_steps: list[_Thread], place: int, waiting: list[_Thread]
    ) -> _Places | None:
        """Follow threads, the last one preferred, to all steps that wait for a character; stop at one that is done."""
        seen: set[int] = set()
        done: _Places | None = None
        while open_steps and done is None:
            thread = open_steps.pop()
            at, places = thread
            if at in seen:
                continue
            seen.add(at)
            found = steps[at]
            if isinstance(found, _Take):
                waiting.append(thread)
            elif isinstance(found, _Go):
                open_steps.extend([(other, places) for other in found.to])
            elif isinstance(found, _Mark):
                open_steps.append((at + 1, (*places[: found.number], place, *places[found.number + 1 :])))
            elif isinstance(found, _Done):
                done = places
            elif self._passes(found, place):
                open_steps.append((at + 1, places))
        self.effort.spend(len(seen))
        return done

    def _reaches(self, steps: tuple[_Step, ...], start: int, end: int | None) -> bool:
        """Tell whether a match from a place on ends at ``end``, or anywhere where that is None."""
        text, place = self.text, start
        threads = [0]
        while True:
            waiting: list[int] = []
            done = self._spread(steps, threads, place, waiting)
            if done and (end is None or place == end):
                return True
            if place in (end, len(text)) or not waiting:
                return False
            character = text[place]
            threads = [step + 1 for step in waiting if _takes(steps[step], character)]
            place += 1

    def _spread(self, steps: tuple[_Step, ...], threads: list[int], place: int, waiting: list[int]) -> bool:
        """Find all steps at which threads wait for a character; tell whether one of them is done."""
        open_steps, seen, done = threads, set[int](), False
        while open_steps:
            at = open_steps.pop()
            if at in seen:
                continue
            seen.add(at)
            found = steps[at]
            if isinstance(found, _Take):
                waiting.append(at)
            elif isinstance(found, _Go):
                open_steps.extend(found.to)
            elif isinstance(found, _Done):
                done = True
            elif isinstance(found, _Mark) or self._passes(found, place):
                open_steps.append(at + 1)
        self.effort.spend(len(seen))
        return done

    def _passes(self, step: _Check | _Peek, place: int) -> bool:
        return step.holds(self.text, place) if isinstance(step, _Check) else self._peek(step, place)

    def _peek(self, peek: _Peek, place: int) -> bool:
        key = (id(peek), place)
        if key not in self.peeked:
            if peek.ahead:
                found = self._reaches(peek.steps, place, None)
            else:
                found = any(self._reaches(peek.steps, start, place) for start in range(place, -1, -1))
            self.peeked[key] = found is not peek.negative
        return self.peeked[key]


@functools.lru_cache(maxsize=256)
def compile_pattern(pattern: str, *, dot_all: bool = False, any_case: bool = False, lines: bool = False) -> Pattern:
    """Compile a pattern.

    Args:
        pattern: In the syntax of java.util.regex.
        dot_all: A dot stands for line ends too.
        any_case: Upper and lower case are the same.
        lines: ``^`` and ``$`` also stand at line ends.

    Raises:
        PatternError: it is no pattern, or one that is not evaluated here, or too large.
    """
    if len(pattern) > MAX_PATTERN:
        raise PatternError(f"the pattern has more than {MAX_PATTERN} characters", "limit")
    parser = _Parser(pattern, _Flags(any_case=any_case, dot_all=dot_all, lines=lines))
    tree = parser.tree()
    return Pattern(pattern, tree, parser.groups)
