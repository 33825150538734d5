"""The stream editor: addresses and the commands s, p, d, q, y, a, i, c, n and =. Knows no files beyond its inputs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from agent_eval.device_sim.shell.context import Command, Context, UsageError
from agent_eval.device_sim.shell.expressions import BadExpression, Expression
from agent_eval.device_sim.shell.process import Steps
from agent_eval.device_sim.shell.text_tools import content_of

_MOST_COMMANDS = 200
_LONGEST_LINE = 1 << 18


@dataclass(slots=True)
class _Address:
    number: int = 0
    last: bool = False
    expression: Expression | None = None

    def holds(self, place: int, line: str, *, last: bool) -> bool:
        if self.expression is not None:
            return self.expression.search(line) is not None
        return last if self.last else place == self.number


@dataclass(slots=True)
class _Edit:
    name: str
    first: _Address | None = None
    second: _Address | None = None
    negated: bool = False
    expression: Expression | None = None
    text: str = ""
    table: dict[int, str] | None = None
    everywhere: bool = False
    prints: bool = False
    which: int = 1
    inside: bool = False

    def applies(self, place: int, line: str, *, last: bool) -> bool:
        return self._in_range(place, line, last=last) != self.negated

    def _in_range(self, place: int, line: str, *, last: bool) -> bool:
        if self.first is None:
            return True
        if self.second is None:
            return self.first.holds(place, line, last=last)
        if self.inside:
            ends = self.second.holds(place, line, last=last) or (0 < self.second.number <= place)
            self.inside = not ends
            return True
        if not self.first.holds(place, line, last=last):
            return False
        self.inside = not (0 < self.second.number <= place or (self.second.last and last))
        return True


class _Script:
    def __init__(self, text: str, *, extended: bool) -> None:
        self._text = text
        self._at = 0
        self._extended = extended

    def edits(self) -> list[_Edit]:
        out: list[_Edit] = []
        while True:
            while self._peek() in (" ", "\t", "\n", ";", "}"):
                self._at += 1
            if not self._peek():
                return out
            if len(out) >= _MOST_COMMANDS:
                raise UsageError("script too long")
            out.append(self._edit())

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _edit(self) -> _Edit:
        first = self._address()
        second = None
        if first is not None and self._peek() == ",":
            self._at += 1
            second = self._address()
            if second is None:
                raise UsageError(f"bad pattern '{self._text[:40]}'@{self._at}")
        while self._peek() == " ":
            self._at += 1
        negated = self._peek() == "!"
        self._at += negated
        while self._peek() == " ":
            self._at += 1
        name = self._peek()
        self._at += 1
        edit = _Edit(name, first, second, negated)
        if name == "s":
            self._substitution(edit)
        elif name == "y":
            mark = self._mark()
            old, new = self._until(mark), self._until(mark)
            if len(old) != len(new):
                raise UsageError("y: different lengths")
            edit.table = {ord(letter): replacement for letter, replacement in zip(old, new, strict=True)}
        elif name in ("a", "i", "c") and name:
            rest, _, after = self._text[self._at :].partition("\n")
            edit.text = re.sub(r"^\s*\\?\s*", "", rest) or after.partition("\n")[0]
            self._at += len(rest)
        elif name not in ("p", "d", "q", "=", "n") or not name:
            raise UsageError(f"bad pattern '{self._text[:40]}'@{self._at} ({name})")
        return edit

    def _address(self) -> _Address | None:
        if self._peek() == "$":
            self._at += 1
            return _Address(last=True)
        digits = re.compile("[0-9]{1,9}").match(self._text, self._at)
        if digits is not None:
            self._at = digits.end()
            return _Address(number=int(digits[0]))
        if self._peek() in ("/", "\\"):
            mark = self._mark() if self._peek() == "/" else self._other_mark()
            pattern = self._until(mark)
            any_case = self._peek() == "I"
            self._at += any_case
            return _Address(expression=Expression(pattern, extended=self._extended, any_case=any_case))
        return None

    def _other_mark(self) -> str:
        self._at += 1
        return self._mark()

    def _mark(self) -> str:
        mark = self._peek()
        if not mark or mark in "\n\\":
            raise UsageError(f"bad pattern '{self._text[:40]}'@{self._at}")
        self._at += 1
        return mark

    def _until(self, mark: str) -> str:
        out: list[str] = []
        while True:
            letter = self._peek()
            if not letter:
                raise UsageError(f"no closing '{mark}'")
            self._at += 1
            if letter == mark:
                return "".join(out)
            if letter == "\\" and self._peek():
                following = self._peek()
                self._at += 1
                out.append(following if following == mark else letter + following)
            else:
                out.append(letter)

    def _substitution(self, edit: _Edit) -> None:
        mark = self._mark()
        pattern, edit.text = self._until(mark), self._until(mark)
        flags = re.compile("[gpiI0-9]*").match(self._text, self._at)
        found = flags[0] if flags else ""
        self._at += len(found)
        edit.everywhere, edit.prints = "g" in found, "p" in found
        number = re.sub("[^0-9]", "", found)[:6]
        edit.which = int(number) if number else 1
        any_case = "i" in found or "I" in found
        edit.expression = Expression(pattern, extended=self._extended, any_case=any_case)


def _substitute(edit: _Edit, line: str) -> str | None:
    assert edit.expression is not None
    out: list[str] = []
    start = copied = count = size = 0
    while start <= len(line):
        found = edit.expression.search(line, start, groups="\\" in edit.text)
        if found is None:
            break
        count += 1
        if count >= edit.which:
            out += (line[copied : found.start], _filled(edit.text, found.groups))
            size += len(out[-1])
            copied = found.end
            if not edit.everywhere or size > _LONGEST_LINE:
                break
        start = found.end if found.end > found.start else found.end + 1
    return "".join(out) + line[copied:] if out else None


def _filled(text: str, groups: tuple[str, ...]) -> str:
    def fill(match: re.Match[str]) -> str:
        if match[0] == "&":
            return groups[0]
        following = match[1]
        if following.isdecimal():
            return groups[int(following)] if int(following) < len(groups) else ""
        return {"n": "\n", "t": "\t"}.get(following, following)

    return re.sub(r"\\(.)|&", fill, text, flags=re.DOTALL)


def _sed(context: Context, arguments: list[str]) -> Steps:
    scripts: list[str] = []
    paths: list[str] = []
    quiet = extended = in_place = False
    words = iter(arguments)
    for word in words:
        if word in ("-e", "--expression"):
            scripts.append(next(words, ""))
        elif word == "-f":
            scripts.append((yield from content_of(context, next(words, "-"))).decode(errors="replace"))
        elif re.fullmatch("-[nErsiz]+", word):
            quiet, extended = quiet or "n" in word, extended or "E" in word or "r" in word
            in_place = in_place or "i" in word
        elif word.startswith("-") and word != "-":
            raise UsageError(f"Unknown option '{word.lstrip('-')[:1]}'")
        else:
            paths.append(word)
    if not scripts:
        if not paths:
            raise UsageError("Needs 1 argument")
        scripts.append(paths.pop(0))
    try:
        for group in [[path] for path in paths] if in_place else [paths or ["-"]]:
            contents: list[bytes] = []
            for path in group:
                contents.append((yield from content_of(context, path)))
            edits = _Script("\n".join(scripts), extended=extended).edits()
            result = _edited(edits, b"".join(contents).decode("utf-8", "replace"), quiet=quiet)
            if in_place:
                context.files.write(context.path(group[0]), result.encode())
            else:
                context.out(result)
    except BadExpression as error:
        return context.complain(str(error))
    return 0


def _edited(edits: list[_Edit], text: str, *, quiet: bool) -> str:
    whole = text.endswith("\n") or not text
    lines = text.split("\n")
    if whole:
        lines.pop()
    out: list[str] = []
    for place, line in enumerate(lines, start=1):
        last = place == len(lines)
        after: list[str] = []
        dropped = ends = False
        for edit in edits:
            if not edit.applies(place, line, last=last):
                continue
            match edit.name:
                case "s":
                    changed = _substitute(edit, line)
                    if changed is not None:
                        line = changed[:_LONGEST_LINE]
                        if edit.prints:
                            out.append(line)
                case "y":
                    line = line.translate(edit.table or {})
                case "p":
                    out.append(line)
                case "=":
                    out.append(str(place))
                case "i":
                    out.append(edit.text)
                case "a":
                    after.append(edit.text)
                case "c":
                    out.append(edit.text)
                    dropped = True
                case "d":
                    dropped = True
                case "q":
                    ends = True
            if dropped or ends:
                break
        if not dropped and not quiet:
            out.append(line)
        out += after
        if ends:
            return "\n".join(out) + "\n" if out else ""
    return "\n".join(out) + ("\n" if whole else "") if out else ""


SED: Mapping[str, Command] = MappingProxyType(
    {"sed": Command(_sed, "[-inrzE] [-e SCRIPT]...|SCRIPT [-f FILE]... [FILE...]")}
)
