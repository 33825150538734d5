"""Command lines to syntax trees, as the phone's shell (mksh) reads them. Runs nothing and knows no command.

Words keep what is quoted apart from what is not, so that the expansion knows what to split. The trees are frozen, and
equal lines give equal trees. A line that does not parse raises ``ShellSyntaxError`` with mksh's own words, and nothing
else.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

_DEEPEST = 24
"""Parentheses, quotes and braces inside one another; more is refused."""
LONGEST_TEXT, MOST_PARTS = 2 << 20, 50_000
"""Characters of a text of command lines, and commands and words of one of them; more is refused."""
_KEPT = 2000
"""Characters of a text whose tree is worth keeping."""
_BLANK = " \t"
_WORD_END = frozenset(" \t\n;&|()<>")
_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_PLAIN = re.compile(r"[^\s;&|()<>'\"\\$`#~]+")
_REDIRECTION = re.compile(r"&>>?|([0-9]?)(<<-|<<<|<<|<&|<|>>|>&|>\||>)")
_SPECIAL_PARAMETERS = "?$!#@*-0123456789"
_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[?$!#@*-]")
_PARAMETER_OPERATORS = (":-", ":=", ":?", ":+", "##", "%%", "//", "-", "=", "?", "+", "#", "%", "/", ":")
_OPERATORS = ("&&", "||", ";;", ";", "&", "|", "(", ")", "\n")
RESERVED = frozenset(
    {"if", "then", "elif", "else", "fi", "for", "in", "while", "until", "do", "done", "case", "esac", "{", "}", "!"}
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "E": "\x1b"}


class ShellSyntaxError(Exception):
    """A line that is no command line.

    Args:
        message: What mksh prints after its own name.
        incomplete: Further lines could complete it.
        awaits: The only line that could, where it is known: the end mark of a here-document.
    """

    def __init__(self, message: str, *, incomplete: bool = False, awaits: str = "") -> None:
        self.message = message
        self.incomplete = incomplete
        self.awaits = awaits
        super().__init__(message)


# ----------------------------------------------------------------------------------------------------------------------
# words


class Text(NamedTuple):
    """Characters as they are."""

    text: str
    quoted: bool


class Parameter(NamedTuple):
    """``$name`` or ``${name<operator>operand}``; the operator ``length`` is ``${#name}``."""

    name: str
    quoted: bool
    operator: str = ""
    operand: tuple[Part, ...] = ()


class Substitution(NamedTuple):
    """``$(script)`` or the same in backticks."""

    script: Script
    quoted: bool


class Sum(NamedTuple):
    """``$((expression))``."""

    expression: tuple[Part, ...]
    quoted: bool


Part = Text | Parameter | Substitution | Sum
Word = tuple[Part, ...]

# ----------------------------------------------------------------------------------------------------------------------
# commands


class Assignment(NamedTuple):
    """``name=value``."""

    name: str
    value: Word


class Redirection(NamedTuple):
    """Where a stream of a command goes to or comes from."""

    fd: int
    kind: str
    """One of ``<  >  >>  <&  >&  &>  &>>  <<  <<<``."""
    target: Word
    """A path, a number, or the text of a here-document."""


@dataclass(frozen=True, slots=True)
class Simple:
    """A command with its arguments."""

    words: tuple[Word, ...]
    assignments: tuple[Assignment, ...] = ()
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """``{ ...; }`` or, in a shell of its own, ``( ... )``."""

    body: Script
    subshell: bool
    redirections: tuple[Redirection, ...] = ()


class Branch(NamedTuple):
    """One condition of an ``if`` and what follows from it."""

    condition: Script
    body: Script


@dataclass(frozen=True, slots=True)
class If:
    """``if ...; then ...; elif ...; else ...; fi``."""

    branches: tuple[Branch, ...]
    otherwise: Script | None
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True, slots=True)
class While:
    """``while ...; do ...; done``, or ``until``."""

    condition: Script
    body: Script
    until: bool
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True, slots=True)
class For:
    """``for name in words; do ...; done``; without words, over the positional parameters."""

    name: str
    words: tuple[Word, ...] | None
    body: Script
    redirections: tuple[Redirection, ...] = ()


class Choice(NamedTuple):
    """One entry of a ``case``."""

    patterns: tuple[Word, ...]
    body: Script


@dataclass(frozen=True, slots=True)
class Case:
    """``case word in pattern) ...;; esac``."""

    word: Word
    choices: tuple[Choice, ...]
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True, slots=True)
class Function:
    """``name() command``."""

    name: str
    body: Command


Command = Simple | Group | If | While | For | Case | Function


class Pipeline(NamedTuple):
    """Commands joined by ``|``."""

    commands: tuple[Command, ...]
    negated: bool


class Item(NamedTuple):
    """Pipelines joined by ``&&`` and ``||``."""

    first: Pipeline
    rest: tuple[tuple[str, Pipeline], ...]
    background: bool


class Script(NamedTuple):
    """Commands one after the other."""

    items: tuple[Item, ...]


class Parsed(NamedTuple):
    """One complete line and where the next one starts."""

    script: Script
    end: int


def parse_line(text: str, start: int = 0, *, ended: bool = True) -> Parsed:
    """Parse the first complete line from a position on; empty lines give an empty script.

    Args:
        text: The command lines.
        start: Where to begin.
        ended: No further text can follow, so that a here-document may end without its mark.

    Raises:
        ShellSyntaxError: the line does not parse; ``incomplete`` if more text could help.
    """
    return (_parse_line_again if len(text) < _KEPT else _parse_line)(text, start, ended)


def _parse_line(text: str, start: int, ended: bool) -> Parsed:
    if len(text) > LONGEST_TEXT:
        raise ShellSyntaxError("syntax error: text too long")
    parser = _Parser(text, start, 0, ended=ended)
    return Parsed(parser.line(), parser.position)


_parse_line_again = functools.lru_cache(maxsize=512)(_parse_line)
"""Clients send the same lines over and over, and a tree never changes."""


def parse(text: str) -> Script:
    """Parse a whole text.

    Raises:
        ShellSyntaxError: it does not parse.
    """
    items: list[Item] = []
    position = 0
    while position < len(text):
        script, position = parse_line(text, position)
        items.extend(script.items)
    return Script(tuple(items))


class _Parser:
    def __init__(self, text: str, position: int, depth: int, *, ended: bool = True) -> None:
        self.text = text
        self.position = position
        self._depth = depth
        self._ended = ended
        self._after_documents: dict[int, int] = {}  # line break to the end of the here-documents that follow it
        self._opened: list[str] = []
        self._parts = 0

    # ------------------------------------------------------------------ lists

    def line(self) -> Script:
        items: list[Item] = []
        while True:
            self._blanks()
            if self.position >= len(self.text):
                return Script(tuple(items))
            if self.text[self.position] == "\n":
                self._newline()
                return Script(tuple(items))
            items.append(self._item())

    def script(self, *ends: str, empty: bool = False) -> Script:
        """Parse up to one of the closing words or operators, which stays unread."""
        items: list[Item] = []
        while True:
            self._newlines()
            if self._at_end(ends):
                if not items and not empty:
                    raise self._unexpected()
                return Script(tuple(items))
            if self.position >= len(self.text):
                raise self._unexpected()
            items.append(self._item())

    def _at_end(self, ends: tuple[str, ...]) -> bool:
        if self._operator() in ends and self._operator():
            return True
        return self._reserved() in ends

    def _count_part(self) -> None:
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise ShellSyntaxError("syntax error: too many words")

    def _item(self) -> Item:
        self._count_part()
        first = self._pipeline()
        rest: list[tuple[str, Pipeline]] = []
        background = False
        while True:
            self._blanks()
            operator = self._operator()
            if operator in ("&&", "||"):
                self.position += 2
                self._newlines()
                rest.append((operator, self._pipeline()))
                continue
            if operator in (";", "&"):
                self.position += 1
                background = operator == "&"
            elif operator in ("(", "") and self.position < len(self.text):
                raise self._unexpected()
            return Item(first, tuple(rest), background)

    def _pipeline(self) -> Pipeline:
        negated = False
        while self._reserved() == "!":
            negated = not negated
            self._take("!")
        commands = [self._command()]
        while True:
            self._blanks()
            if self._operator() != "|":
                return Pipeline(tuple(commands), negated)
            self.position += 1
            self._newlines()
            commands.append(self._command())

    # ------------------------------------------------------------------ commands

    def _command(self) -> Command:
        self._blanks()
        operator, word = self._operator(), self._reserved()
        if operator == "(":
            return self._nested("(", self._subshell)
        if operator or self.position >= len(self.text):
            raise self._unexpected()
        match word:
            case "":
                return self._simple()
            case "{":
                return self._nested(word, self._braces)
            case "if":
                return self._nested(word, self._if)
            case "while" | "until":
                return self._nested(word, self._while)
            case "for":
                return self._nested(word, self._for)
            case "case":
                return self._nested(word, self._case)
            case "in":
                return self._simple()
            case _:
                raise ShellSyntaxError(f"syntax error: unexpected '{word}'")

    def _nested(self, opener: str, read: Callable[[], Command]) -> Command:
        self._deeper()
        self._opened.append(opener)
        command = read()
        self._opened.pop()
        self._depth -= 1
        return command

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ShellSyntaxError("syntax error: nested too deeply")

    def _subshell(self) -> Command:
        self.position += 1
        body = self.script(")")
        self.position += 1
        return Group(body, True, self._redirections())

    def _braces(self) -> Command:
        self._take("{")
        body = self.script("}")
        self._take("}")
        return Group(body, False, self._redirections())

    def _if(self) -> Command:
        branches: list[Branch] = []
        otherwise = None
        word = "if"
        while word in ("if", "elif"):
            self._take(word)
            condition = self.script("then")
            self._take("then")
            branches.append(Branch(condition, self.script("elif", "else", "fi")))
            word = self._reserved()
        if word == "else":
            self._take("else")
            otherwise = self.script("fi")
        self._take("fi")
        return If(tuple(branches), otherwise, self._redirections())

    def _while(self) -> Command:
        until = self._reserved() == "until"
        self._take("until" if until else "while")
        condition = self.script("do")
        return While(condition, self._loop_body(), until, self._redirections())

    def _loop_body(self) -> Script:
        self._take("do")
        body = self.script("done")
        self._take("done")
        return body

    def _for(self) -> Command:
        self._take("for")
        self._blanks()
        match = _NAME.match(self.text, self.position)
        if match is None:
            raise self._unexpected()
        self.position = match.end()
        words: list[Word] | None = None
        self._newlines()
        if self._reserved() == "in":
            self._take("in")
            words = []
            while True:
                self._blanks()
                if self.position >= len(self.text) or self.text[self.position] in ";\n":
                    break
                if self._operator() or self.text[self.position] in "<>":
                    raise self._unexpected()
                words.append(self._word())
        self._blanks()
        if self._operator() == ";":
            self.position += 1
        self._newlines()
        if self._reserved() != "do":
            raise self._unexpected()
        return For(match[0], None if words is None else tuple(words), self._loop_body(), self._redirections())

    def _case(self) -> Command:
        self._take("case")
        self._blanks()
        if self.position >= len(self.text) or self._operator():
            raise self._unexpected()
        word = self._word()
        self._newlines()
        if self._reserved() != "in":
            raise self._unexpected()
        self._take("in")
        choices: list[Choice] = []
        self._newlines()
        while self._reserved() != "esac":
            if self._operator() == "(":
                self.position += 1
            patterns = [self._pattern()]
            while self._operator() == "|":
                self.position += 1
                patterns.append(self._pattern())
            if self._operator() != ")":
                raise self._unexpected()
            self.position += 1
            choices.append(Choice(tuple(patterns), self.script(";;", "esac", empty=True)))
            if self._operator() == ";;":
                self.position += 2
            self._newlines()
        self._take("esac")
        return Case(word, tuple(choices), self._redirections())

    def _pattern(self) -> Word:
        self._blanks()
        if self.position >= len(self.text) or self._operator():
            raise self._unexpected()
        word = self._word()
        self._blanks()
        return word

    def _redirections(self) -> tuple[Redirection, ...]:
        found: list[Redirection] = []
        while True:
            self._blanks()
            redirection = self._redirection()
            if redirection is None:
                return tuple(found)
            found.append(redirection)

    def _simple(self) -> Command:
        words: list[Word] = []
        assignments: list[Assignment] = []
        redirections: list[Redirection] = []
        text = self.text
        while True:
            self._blanks()
            if self.position >= len(text):
                break
            character = text[self.position]
            if character in "<>&0123456789":
                redirection = self._redirection()
                if redirection is not None:
                    redirections.append(redirection)
                    continue
            if character in "\n;&|)":
                break
            if character == "(":
                return self._function(words, assignments, redirections)
            word = self._word()
            assignment = None if words else _assignment(word)
            if assignment is not None:
                assignments.append(assignment)
            else:
                words.append(word)
        return Simple(tuple(words), tuple(assignments), tuple(redirections))

    def _function(self, words: list[Word], assignments: list[Assignment], redirections: list[Redirection]) -> Command:
        name = _literal(words[0]) if len(words) == 1 and not assignments and not redirections else ""
        end = self.position + 1
        while self.text[end : end + 1] in (" ", "\t"):
            end += 1
        if not _NAME.fullmatch(name) or self.text[end : end + 1] != ")":
            raise self._unexpected()
        self.position = end + 1
        self._newlines()
        self._deeper()
        body = self._command()
        self._depth -= 1
        if isinstance(body, Simple | Function):
            raise ShellSyntaxError("syntax error: unexpected word")
        return Function(name, body)

    def _redirection(self) -> Redirection | None:
        match = _REDIRECTION.match(self.text, self.position)
        if match is None:
            return None
        kind = match[2] or match[0]
        self.position = match.end()
        self._blanks()
        if self.position >= len(self.text) or self.text[self.position] in _WORD_END:
            raise self._unexpected()
        fd = int(match[1]) if match[1] else (0 if kind.startswith("<") else 1)
        if kind in ("<<", "<<-"):
            mark = self._word()
            return Redirection(fd, "<<", self._document(mark, strip_tabs=kind == "<<-"))
        return Redirection(fd, ">" if kind == ">|" else kind, self._word())

    def _document(self, mark: Word, *, strip_tabs: bool) -> Word:
        end_mark = "".join(part.text for part in mark if isinstance(part, Text))
        line_break = self.text.find("\n", self.position)
        if line_break < 0:
            raise ShellSyntaxError(f"here document '{end_mark}' unclosed", incomplete=True)
        position = self._after_documents.get(line_break, line_break + 1)
        lines: list[str] = []
        while True:
            if position >= len(self.text):
                if not self._ended:
                    unclosed = f"here document '{end_mark}' unclosed"
                    raise ShellSyntaxError(unclosed, incomplete=True, awaits=end_mark)
                break
            end = self.text.find("\n", position)
            end = len(self.text) if end < 0 else end
            line = self.text[position:end]
            position = min(end + 1, len(self.text))
            if strip_tabs:
                line = line.lstrip("\t")
            if line == end_mark:
                break
            lines.append(line + "\n")
        self._after_documents[line_break] = position
        body = "".join(lines)
        if any(isinstance(part, Text) and part.quoted for part in mark):
            return (Text(body, True),)
        inner = _Parser(body, 0, self._depth)
        inner._deeper()
        return tuple(inner._quoted_parts(""))

    # ------------------------------------------------------------------ words

    def _word(self) -> Word:
        self._count_part()
        text, parts, start = self.text, list[Part](), self.position
        literal: list[str] = []

        def close() -> None:
            if literal:
                parts.append(Text("".join(literal), False))
                literal.clear()

        while self.position < len(text):
            match = _PLAIN.match(text, self.position)
            if match:
                literal.append(match[0])
                self.position = match.end()
                continue
            character = text[self.position]
            if character in _WORD_END:
                break
            if character == "\\":
                following = text[self.position + 1 : self.position + 2]
                self.position += 2 if following else 1
                if following != "\n":
                    close()
                    parts.append(Text(following or "\\", True))
            elif character == "'":
                close()
                end = text.find("'", self.position + 1)
                if end < 0:
                    raise ShellSyntaxError("no closing quote", incomplete=True)
                parts.append(Text(text[self.position + 1 : end], True))
                self.position = end + 1
            elif character == '"':
                close()
                self.position += 1
                inside = self._quoted_parts('"')
                parts.extend(inside or (Text("", True),))
            elif character == "$":
                part = self._dollar(quoted=False)
                if part is None:
                    literal.append("$")
                else:
                    close()
                    parts.append(part)
            elif character == "`":
                close()
                parts.append(self._backticks(quoted=False))
            else:
                literal.append(character)
                self.position += 1
        close()
        if self.position == start:
            raise self._unexpected()
        return tuple(parts)

    def _quoted_parts(self, end: str) -> list[Part]:
        """Read parts up to a closing quote or brace, or to the end of the text when there is none."""
        text, parts, literal = self.text, list[Part](), list[str]()
        escapable = '$`"\\' if end == '"' else ('$`"\\}' if end else "$`\\")
        while True:
            if self.position >= len(text):
                if end:
                    raise ShellSyntaxError("no closing quote", incomplete=True)
                break
            character = text[self.position]
            if character == end:
                self.position += 1
                break
            part: Part | None = None
            if character == "\\":
                following = text[self.position + 1 : self.position + 2]
                if following and following in escapable:
                    literal.append(following)
                elif following != "\n":
                    literal.append("\\" + following)
                self.position += 2
            elif character == "$":
                part = self._dollar(quoted=True)
                if part is None:
                    literal.append("$")
            elif character == "`":
                part = self._backticks(quoted=True)
            else:
                literal.append(character)
                self.position += 1
            if part is not None:
                if literal:
                    parts.append(Text("".join(literal), True))
                    literal.clear()
                parts.append(part)
        if literal:
            parts.append(Text("".join(literal), True))
        return parts

    def _dollar(self, *, quoted: bool) -> Part | None:
        """Read what follows a dollar sign; None when it stands for itself."""
        self.position += 1
        following = self.text[self.position : self.position + 1]
        if following == "(":
            return self._sum(quoted) or self._substitution(quoted)
        if following == "{":
            return self._braced(quoted)
        if following == "'" and not quoted:
            return self._escaped_quote()
        if following and following in _SPECIAL_PARAMETERS:
            self.position += 1
            return Parameter(following, quoted)
        match = _NAME.match(self.text, self.position)
        if match is None:
            return None
        self.position = match.end()
        return Parameter(match[0], quoted)

    def _sum(self, quoted: bool) -> Part | None:
        if not self.text.startswith("((", self.position):
            return None
        start, depth, position = self.position + 2, 2, self.position + 2
        while position < len(self.text) and depth > 0:
            depth += {"(": 1, ")": -1}.get(self.text[position], 0)
            position += 1
            if depth == 1 and self.text[position : position + 1] != ")":
                return None
        if depth:
            raise ShellSyntaxError("syntax error: missing ))", incomplete=True)
        inner = _Parser(self.text[start : position - 2], 0, self._depth)
        inner._deeper()
        self.position = position
        return Sum(tuple(inner._quoted_parts("")), quoted)

    def _substitution(self, quoted: bool) -> Part:
        self._deeper()
        self.position += 1
        self._opened.append("$(")
        script = self.script(")", empty=True)
        self._opened.pop()
        self.position += 1
        self._depth -= 1
        return Substitution(script, quoted)

    def _backticks(self, *, quoted: bool) -> Part:
        self.position += 1
        inside: list[str] = []
        while True:
            character = self.text[self.position : self.position + 1]
            if not character:
                raise ShellSyntaxError("no closing quote", incomplete=True)
            self.position += 1
            if character == "`":
                break
            following = self.text[self.position : self.position + 1]
            if character == "\\" and following and following in "$`\\":
                inside.append(following)
                self.position += 1
            else:
                inside.append(character)
        inner = _Parser("".join(inside), 0, self._depth)
        inner._deeper()
        items: list[Item] = []
        while inner.position < len(inner.text):
            items.extend(inner.line().items)
        return Substitution(Script(tuple(items)), quoted)

    def _braced(self, quoted: bool) -> Part:
        start = self.position - 1
        self.position += 1
        text = self.text
        length = text.startswith("#", self.position) and text[self.position + 1 : self.position + 2] not in ("}", "")
        if length:
            self.position += 1
        match = _PARAMETER.match(text, self.position)
        if match is None:
            raise self._bad_substitution(start)
        self.position = match.end()
        if text.startswith("}", self.position):
            self.position += 1
            return Parameter(match[0], quoted, "length" if length else "")
        operator = next((op for op in _PARAMETER_OPERATORS if text.startswith(op, self.position)), "")
        if length or not operator:
            raise self._bad_substitution(start)
        self.position += len(operator)
        self._deeper()
        operand = self._brace_operand(quoted)
        self._depth -= 1
        return Parameter(match[0], quoted, operator, operand)

    def _brace_operand(self, quoted: bool) -> Word:
        if quoted:
            return tuple(self._quoted_parts("}"))
        parts: list[Part] = []
        while not self.text.startswith("}", self.position):
            if self.position >= len(self.text):
                raise ShellSyntaxError("no closing quote", incomplete=True)
            character = self.text[self.position]
            if character in _WORD_END:
                parts.append(Text(character, False))
                self.position += 1
                continue
            end = self._operand_end()
            if end == self.position:
                parts.extend(self._word_piece())
            else:
                parts.append(Text(self.text[self.position : end], False))
                self.position = end
        self.position += 1
        return tuple(parts)

    def _operand_end(self) -> int:
        end = self.position
        while end < len(self.text) and self.text[end] not in "}'\"\\$`" and self.text[end] not in _WORD_END:
            end += 1
        return end

    def _word_piece(self) -> list[Part]:
        """Read one quoted or substituted piece of a word."""
        character = self.text[self.position]
        if character == "'":
            end = self.text.find("'", self.position + 1)
            if end < 0:
                raise ShellSyntaxError("no closing quote", incomplete=True)
            piece = self.text[self.position + 1 : end]
            self.position = end + 1
            return [Text(piece, True)]
        if character == '"':
            self.position += 1
            return self._quoted_parts('"') or [Text("", True)]
        if character == "`":
            return [self._backticks(quoted=False)]
        if character == "\\":
            following = self.text[self.position + 1 : self.position + 2]
            self.position += 2 if following else 1
            return [Text(following or "\\", True)]
        part = self._dollar(quoted=False)
        return [Text("$", False) if part is None else part]

    def _escaped_quote(self) -> Part:
        self.position += 1
        out: list[str] = []
        while True:
            character = self.text[self.position : self.position + 1]
            if not character:
                raise ShellSyntaxError("no closing quote", incomplete=True)
            self.position += 1
            if character == "'":
                return Text("".join(out), True)
            if character != "\\":
                out.append(character)
                continue
            match = re.compile(r"x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|[0-7]{1,3}|.", re.DOTALL).match(
                self.text, self.position
            )
            if match is None:
                raise ShellSyntaxError("no closing quote", incomplete=True)
            self.position = match.end()
            out.append(_unescaped(match[0]))

    def _bad_substitution(self, start: int) -> ShellSyntaxError:
        if "}" not in self.text[start:]:
            return ShellSyntaxError("no closing quote", incomplete=True)
        return ShellSyntaxError(f"{self.text[start : self.text.index('}', start) + 1][:32]}: bad substitution")

    # ------------------------------------------------------------------ between words

    def _blanks(self) -> None:
        text = self.text
        while self.position < len(text):
            character = text[self.position]
            if character in _BLANK:
                self.position += 1
            elif character == "\\" and text.startswith("\n", self.position + 1):
                self.position += 2
            elif character == "#":
                end = text.find("\n", self.position)
                self.position = len(text) if end < 0 else end
            else:
                return

    def _newline(self) -> None:
        self.position = self._after_documents.get(self.position, self.position + 1)

    def _newlines(self) -> None:
        self._blanks()
        while self.position < len(self.text) and self.text[self.position] == "\n":
            self._newline()
            self._blanks()

    def _operator(self) -> str:
        """Return the operator at the position, or nothing; ``&>`` is a redirection."""
        character = self.text[self.position : self.position + 1]
        if not character or character not in "&|;()\n" or self.text.startswith("&>", self.position):
            return ""
        return next(op for op in _OPERATORS if self.text.startswith(op, self.position))

    def _reserved(self) -> str:
        """Return the reserved word at the position, or nothing."""
        self._blanks()
        match = _PLAIN.match(self.text, self.position)
        if match is None or match[0] not in RESERVED:
            return ""
        following = self.text[match.end() : match.end() + 1]
        return match[0] if not following or following in _WORD_END else ""

    def _take(self, word: str) -> None:
        self._newlines()
        if self._reserved() != word:
            raise self._unexpected()
        self.position += len(word)

    def _unexpected(self) -> ShellSyntaxError:
        if self.position >= len(self.text):
            if self._opened:
                return ShellSyntaxError(f"syntax error: unmatched '{self._opened[-1]}'", incomplete=True)
            return ShellSyntaxError("syntax error: unexpected EOF", incomplete=True)
        operator = self._operator() or self._reserved()
        if not operator:
            match = _REDIRECTION.match(self.text, self.position) or _PLAIN.match(self.text, self.position)
            operator = match[0] if match else self.text[self.position]
        return ShellSyntaxError(f"syntax error: unexpected '{'newline' if operator == chr(10) else operator}'")


def _assignment(word: Word) -> Assignment | None:
    first = word[0]
    if not isinstance(first, Text) or first.quoted:
        return None
    match = _NAME.match(first.text)
    if match is None or not first.text.startswith("=", match.end()):
        return None
    rest = first.text[match.end() + 1 :]
    return Assignment(match[0], (Text(rest, False), *word[1:]) if rest else word[1:])


def _literal(word: Word) -> str:
    return word[0].text if len(word) == 1 and isinstance(word[0], Text) and not word[0].quoted else ""


def _unescaped(escape: str) -> str:
    if escape[0] in "xu" and len(escape) > 1:
        code = int(escape[1:], 16)
        return "\ufffd" if 0xD800 <= code < 0xE000 else chr(code)
    if escape[0] in "01234567":
        return chr(int(escape, 8) & 0xFF)
    return _ESCAPES.get(escape, escape)
