"""What a command gets to work with, and how commands read their options. Knows no particular command."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from agent_eval.device_sim.files import resolve
from agent_eval.device_sim.shell.process import Pipe, Sink, Steps, Wait, read_all

if TYPE_CHECKING:
    from agent_eval.device_sim.files import Files
    from agent_eval.device_sim.phone import Phone
    from agent_eval.device_sim.shell.interpreter import Interpreter
    from agent_eval.device_sim.shell.system import System


class UsageError(Exception):
    """Arguments that a command does not take.

    Args:
        text: What the command prints after its name.
        code: Its exit status.
    """

    def __init__(self, text: str, code: int = 1) -> None:
        self.text = text
        self.code = code
        super().__init__(text)


class Io(NamedTuple):
    """The three streams of a command."""

    stdin: Pipe
    out: Sink
    err: Sink


class Context:
    """One call of a command.

    Args:
        shell: The shell that calls it.
        io: Its streams.
        name: The name by which it was called.
    """

    __slots__ = ("io", "name", "shell", "system")

    def __init__(self, shell: Interpreter, io: Io, name: str) -> None:
        self.shell = shell
        self.system: System = shell.system
        self.io = io
        self.name = name

    @property
    def phone(self) -> Phone:
        """The phone."""
        return self.system.phone

    @property
    def files(self) -> Files:
        """The phone's files."""
        return self.system.files

    @property
    def folder(self) -> str:
        """The current folder."""
        return self.shell.scope.folder

    def path(self, word: str) -> str:
        """Return the absolute path that an argument names."""
        return resolve(word, self.folder)

    def out(self, text: str | bytes) -> None:
        """Write to the standard output."""
        if text:
            self.io.out(text if isinstance(text, bytes) else text.encode("utf-8", "replace"))

    def line(self, text: str = "") -> None:
        """Write a line to the standard output."""
        self.io.out(text.encode() + b"\n")

    def lines(self, lines: Iterable[str]) -> None:
        """Write lines to the standard output, in one piece."""
        text = "\n".join(lines)
        if text:
            self.io.out(text.encode() + b"\n")

    def err(self, text: str) -> None:
        """Write a line to the standard error."""
        self.io.err(text.encode() + b"\n")

    def complain(self, text: str, code: int = 1) -> int:
        """Write an error with the command's name before it, and return the exit status."""
        self.err(f"{self.name}: {text}")
        return code

    def input(self) -> Generator[Wait, None, bytes]:
        """Return the whole standard input."""
        data = yield from read_all(self.io.stdin)
        self.shell.host.spend(len(data) >> 10)
        return data


Run = Callable[[Context, list[str]], "int | Steps"]


@dataclass(frozen=True, slots=True)
class Command:
    """One command of the phone."""

    run: Run
    usage: str = ""
    """What follows its name in its one-line help; a tool of Android explains itself."""
    toybox: bool = True
    """Part of toybox, so that ``toybox NAME`` runs it."""
    work: int = 0
    """What it costs beyond a simple command, in the cost of one (see ``process.WORK_PER_TURN``)."""


class Options(NamedTuple):
    """What stood before and among the arguments."""

    flags: frozenset[str]
    """Options without a value, and the names of those with one."""
    values: dict[str, str]
    rest: list[str]

    def value(self, name: str, default: str = "") -> str:
        """Return the value of an option."""
        return self.values.get(name, default)

    def number(self, name: str, default: int) -> int:
        """Return the value of an option as a number, with the suffixes k and m.

        Raises:
            UsageError: it is none.
        """
        return to_number(self.values[name]) if name in self.values else default


_SUFFIXES = {"c": 1, "w": 2, "b": 512, "k": 1024, "K": 1024, "m": 1 << 20, "M": 1 << 20, "g": 1 << 30, "G": 1 << 30}


def to_number(text: str) -> int:
    """Read a number as toybox does, with a suffix for its unit.

    Raises:
        UsageError: it is none.
    """
    digits = text.removesuffix("B") if len(text) > 2 else text
    unit = _SUFFIXES.get(digits[-1:], 0)
    digits = digits[:-1] if unit else digits
    if not digits.removeprefix("-").removeprefix("+").isdecimal() or len(digits) > 18:
        raise UsageError(f"not integer: {text}")
    return int(digits) * (unit or 1)


def options(
    arguments: list[str], flags: str, valued: str = "", *, long: Iterable[str] = (), mixed: bool = True
) -> Options:
    """Separate options from the rest, as toybox does.

    Args:
        arguments: What followed the command.
        flags: Letters of options without a value.
        valued: Letters of options with one.
        long: Long names without their dashes; one that ends in ``=`` takes a value.
        mixed: Options may stand among the other arguments.

    Raises:
        UsageError: an option that the command does not know, or one without its value.
    """
    seen: set[str] = set()
    values: dict[str, str] = {}
    rest: list[str] = []
    words = iter(arguments)
    names = tuple(long)
    for word in words:
        if word == "--":
            rest.extend(words)
            break
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            if name in names:
                seen.add(name)
            elif name + "=" in names:
                seen.add(name)
                values[name] = value if equals else next(words, "")
            else:
                raise UsageError(f"Unknown option '{name}'")
            continue
        if not word.startswith("-") or word == "-":
            rest.append(word)
            if not mixed:
                rest.extend(words)
            continue
        for place, letter in enumerate(word[1:], start=1):
            if letter in flags:
                seen.add(letter)
            elif letter in valued:
                following: str | None = word[place + 1 :] or next(words, None)
                if following is None:
                    raise UsageError(f"Missing argument to -{letter}")
                seen.add(letter)
                values[letter] = following
                break
            else:
                raise UsageError(f"Unknown option '{letter}'")
    return Options(frozenset(seen), values, rest)
