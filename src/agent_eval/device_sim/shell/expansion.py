"""From the words of a command line to the arguments of a command: parameters, splitting, wildcards.

Command substitutions are run by the interpreter beforehand and arrive as ``Output``. Knows no command.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from agent_eval.device_sim.files import Files
from agent_eval.device_sim.shell import wildcards
from agent_eval.device_sim.shell.arithmetic import ArithmeticError_, evaluate
from agent_eval.device_sim.shell.parser import Command, Parameter, Part, Substitution, Sum, Text
from agent_eval.device_sim.shell.wildcards import Run

LONGEST = 1 << 20
"""Characters in one argument or variable; more is refused."""
MOST_VARIABLES, MOST_TEXT = 5000, 16 << 20
"""Variables of one shell, and characters in all of them."""
MOST_FIELDS = 4 * wildcards.MOST_NAMES
"""Arguments that one command may have."""
_SMALL = 1024
"""Characters of a value for which nobody counts those of all others."""


class ExpansionError(Exception):
    """A word that has no value; the text is what the shell prints."""


class Output(NamedTuple):
    """What a command substitution printed."""

    text: str
    quoted: bool


Resolved = Text | Parameter | Sum | Output | Substitution
"""Parts of a word as expansion takes them; a ``Substitution`` left in was not needed."""


@dataclass(slots=True)
class Scope:
    """The variables of one shell."""

    variables: dict[str, str]
    exported: set[str] = field(default_factory=set)
    positional: list[str] = field(default_factory=list)
    name: str = "/system/bin/sh"
    """``$0``."""
    pid: int = 0
    background_pid: int = 0
    status: int = 0
    folder: str = "/"
    functions: dict[str, Command] = field(default_factory=dict)
    read_only: set[str] = field(default_factory=set)
    stop_on_failure: bool = False
    """``set -e``."""
    trace: bool = False
    """``set -x``."""

    def copy(self) -> Scope:
        """Return what a subshell starts with."""
        return Scope(
            dict(self.variables), set(self.exported), list(self.positional), self.name, self.pid, self.background_pid,
            self.status, self.folder, dict(self.functions), set(self.read_only), self.stop_on_failure, self.trace,
        )  # fmt: skip

    def value(self, name: str) -> str | None:
        """Return the value of a parameter, or None when it is not set."""
        if name in self.variables:
            return self.variables[name]
        if name.isdigit():
            place = int(name[:6])
            if place == 0:
                return self.name
            return self.positional[place - 1] if place <= len(self.positional) else None
        match name:
            case "?":
                return str(self.status)
            case "$":
                return str(self.pid)
            case "!":
                return str(self.background_pid) if self.background_pid else None
            case "#":
                return str(len(self.positional))
            case "@" | "*":
                return " ".join(self.positional) if self.positional else None
            case "-":
                return "".join(letter for letter, on in (("e", self.stop_on_failure), ("x", self.trace)) if on)
            case "PWD":
                return self.folder
        return None

    def assign(self, name: str, value: str) -> None:
        """Set a variable.

        Raises:
            ExpansionError: it may not be changed, or the value is too long.
        """
        if name in self.read_only:
            raise ExpansionError(f"{name}: is read only")
        if len(value) > LONGEST:
            raise ExpansionError(f"{name}: value too long")
        if name not in self.variables and len(self.variables) >= MOST_VARIABLES:
            raise ExpansionError(f"{name}: too many variables")
        if len(value) > _SMALL and sum(map(len, self.variables.values())) + len(value) > MOST_TEXT:
            raise ExpansionError(f"{name}: value too long")
        self.variables[name] = value


def fields(word: Iterable[Resolved], scope: Scope, files: Files) -> list[str]:
    """Expand a word to arguments.

    Raises:
        ExpansionError: it has no value, or becomes too many.
    """
    out: list[str] = []
    for runs in _split(word, scope):
        if len(out) > MOST_FIELDS:
            raise ExpansionError("Argument list too long")
        if wildcards.is_pattern(runs):
            found = wildcards.expand(runs, files, scope.folder)
            if found:
                out.extend(found)
                continue
        out.append("".join(run.text for run in runs))
    return out


def single(word: Iterable[Resolved], scope: Scope) -> str:
    """Expand a word to one string, without splitting and wildcards."""
    return "".join(run.text for run in _runs(word, scope))


def pattern(word: Iterable[Resolved], scope: Scope) -> tuple[wildcards.Token, ...]:
    """Expand a word to a pattern, as in ``case``."""
    return wildcards.tokens(_runs(word, scope))


def _runs(word: Iterable[Resolved], scope: Scope) -> list[Run]:
    out: list[Run] = []
    size = 0
    for place, part in enumerate(word):
        text = _value(part, scope) if not isinstance(part, Text) else part.text if place else _home(part, scope)
        size += len(text)
        if size > LONGEST:
            raise ExpansionError("argument too long")
        out.append(Run(text, part.quoted))
    return out


def _home(part: Text, scope: Scope) -> str:
    if not part.quoted and part.text.startswith("~") and part.text[1:2] in ("", "/"):
        return (scope.value("HOME") or "").rstrip("/") + part.text[1:] or "/"
    return part.text


def _split(word: Iterable[Resolved], scope: Scope) -> Iterator[list[Run]]:
    current: list[Run] | None = None
    size = 0
    blanks = scope.variables.get("IFS", " \t\n")
    for place, part in enumerate(word):
        if isinstance(part, Text):
            current = current or []
            current.append(Run(_home(part, scope) if not place else part.text, part.quoted))
            continue
        if isinstance(part, Parameter) and part.name == "@" and not part.operator and part.quoted:
            for number, argument in enumerate(scope.positional):
                if number:
                    yield current or []
                    current = []
                current = current or []
                current.append(Run(argument, True))
            continue
        value = _value(part, scope)
        size += len(value)
        if size > LONGEST:
            raise ExpansionError("argument too long")
        if part.quoted:
            current = current or []
            current.append(Run(value, True))
            continue
        for number, piece in enumerate(_pieces(value, blanks)):
            if number and current is not None:
                yield current
                current = None
            if piece:
                current = current or []
                current.append(Run(piece, False))
    if current is not None:
        yield current


def _pieces(value: str, blanks: str) -> list[str]:
    """Split a value at the field separators; an empty first or last piece means that it began or ended with one."""
    if not blanks:
        return [value]
    if blanks == " \t\n":
        whole = value.split()
        if not whole:
            return ["", ""] if value else []
        return [*([""] if value[0].isspace() else []), *whole, *([""] if value[-1].isspace() else [])]
    pieces, start = list[str](), 0
    for place, character in enumerate(value):
        if character in blanks:
            pieces.append(value[start:place])
            start = place + 1
    pieces.append(value[start:])
    return pieces


def needs_operand(part: Parameter, scope: Scope) -> bool:
    """Tell whether the value of a parameter depends on its operand, so that what is in it has to be run."""
    value = scope.value(part.name)
    match part.operator:
        case "-" | "=" | "?":
            return value is None
        case ":-" | ":=" | ":?":
            return not value
        case "+":
            return value is not None
        case ":+":
            return bool(value)
    return bool(part.operand)


def _value(part: Resolved, scope: Scope) -> str:
    if isinstance(part, Parameter):
        return _parameter(part, scope)
    if isinstance(part, Sum):
        try:
            return str(evaluate(single(part.expression, scope), scope.variables))
        except ArithmeticError_ as error:
            raise ExpansionError(str(error)) from None
    if isinstance(part, Substitution):
        return ""
    return part.text


def _parameter(part: Parameter, scope: Scope) -> str:
    value = scope.value(part.name)
    operator = part.operator
    if not operator:
        return value or ""
    if operator == "length":
        if part.name in ("@", "*"):
            return str(len(scope.positional))
        return str(len(value or ""))
    if operator in ("-", ":-", "=", ":=", "?", ":?", "+", ":+"):
        if not needs_operand(part, scope):
            return "" if operator.endswith("+") else value or ""
        operand = single(part.operand, scope)
        if operator.endswith("="):
            scope.assign(part.name, operand)
        elif operator.endswith("?"):
            raise ExpansionError(f"{part.name}: {operand or 'parameter null or not set'}")
        return operand
    if operator == ":":
        return _slice(value or "", single(part.operand, scope), scope)
    return _without(value or "", operator, part.operand, scope)


def _slice(value: str, bounds: str, scope: Scope) -> str:
    start_text, _, length_text = bounds.partition(":")
    try:
        start = evaluate(start_text, scope.variables)
        length = evaluate(length_text, scope.variables) if length_text else len(value)
    except ArithmeticError_ as error:
        raise ExpansionError(str(error)) from None
    start = max(start + len(value), 0) if start < 0 else start
    return value[start : start + max(length, 0)]


def _without(value: str, operator: str, operand: Sequence[Part], scope: Scope) -> str:
    if operator in ("/", "//"):
        old, _, new = single(operand, scope).partition("/")
        if not old:
            return value
        count = value.count(old) if operator == "//" else 1
        if len(value) + count * (len(new) - len(old)) > LONGEST:
            raise ExpansionError("argument too long")
        return value.replace(old, new, count)
    wanted = pattern(operand, scope)
    at_start = operator in ("#", "##")
    try:
        found = wildcards.ends(wanted, value) if at_start else wildcards.ends(wanted[::-1], value[::-1])
    except wildcards.TooComplex as problem:
        raise ExpansionError(problem.text) from None
    if at_start:
        return value[found[0 if operator == "#" else -1] :] if found else value
    if not found:
        return value
    return value[: len(value) - found[0 if operator == "%" else -1]]
