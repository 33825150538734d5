"""``logcat`` and ``log``: the phone's log in its formats, following it as time passes."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType

from agent_eval.device_sim.shell.context import Command, Context, UsageError, options
from agent_eval.device_sim.shell.expressions import BadExpression, Expression
from agent_eval.device_sim.shell.log_book import LogLine
from agent_eval.device_sim.shell.process import Steps, Until

_LEVELS = "VDIWEFS"
_BUFFERS = ("main", "system", "crash", "events", "radio", "kernel", "all", "default", "security", "stats")
_KEPT = frozenset({"main", "system", "all", "default"})
"""Buffers that anything is ever written to on this phone."""
_LONG = ("clear", "buffer=", "format=", "file=", "max-count=", "regex=", "pid=", "tail=", "dump", "last", "help",
         "statistics", "buffer-size=", "buffer-size", "print", "version", "uid=", "wrap", "binary", "rotate-kbytes=",
         "rotate-count=", "id=")  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Look:
    """How a line is written: one of the formats, and what modifies the time in it."""

    form: Callable[[LogLine, str], str]
    modifiers: frozenset[str]

    def __call__(self, line: LogLine) -> bytes:
        return (self.form(line, self.stamp(line)) + "\n").encode("utf-8", "replace")

    def stamp(self, line: LogLine) -> str:
        fraction = f"{line.moment_ms % 1000:03d}" + ("000" if "usec" in self.modifiers else "")
        if "epoch" in self.modifiers:
            return f"{line.moment_ms // 1000:>15}.{fraction}"
        moment = datetime.fromtimestamp(line.moment_ms // 1000, UTC)
        zone = " +0000" if {"zone", "UTC"} & self.modifiers else ""
        return f"{moment:{'%Y-%m-%d' if 'year' in self.modifiers else '%m-%d'} %H:%M:%S}.{fraction}{zone}"


_FORMATS: Mapping[str, Callable[[LogLine, str], str]] = MappingProxyType(
    {
        "brief": lambda line, _: f"{line.level}/{line.tag:<8}({line.pid:>5}): {line.text}",
        "process": lambda line, _: f"{line.level}({line.pid:>5}) {line.text}  ({line.tag})",
        "tag": lambda line, _: f"{line.level}/{line.tag:<8}: {line.text}",
        "thread": lambda line, _: f"{line.level}({line.pid:>5}:{line.thread:>5}) {line.text}",
        "raw": lambda line, _: line.text,
        "time": lambda line, stamp: f"{stamp} {line.level}/{line.tag:<8}({line.pid:>5}): {line.text}",
        "threadtime": lambda line, stamp: (
            f"{stamp} {line.pid:>5} {line.thread:>5} {line.level} {line.tag:<8}: {line.text}"
        ),
        "long": lambda line, stamp: (
            f"[ {stamp} {line.pid:>5}:{line.thread:>5} {line.level}/{line.tag:<8} ]\n{line.text}\n"
        ),
    }
)


def _binary(line: LogLine) -> bytes:
    """Return a line as ``logcat -B`` writes it: ``struct logger_entry`` of liblog's log/log_read.h, and its payload."""
    payload = bytes([_PRIORITIES[line.level]]) + f"{line.tag}\0{line.text}\0".encode("utf-8", "replace")
    seconds, milliseconds = divmod(line.moment_ms, 1000)
    head = _ENTRY.pack(len(payload), _ENTRY.size, line.pid, line.thread, seconds, milliseconds * 1_000_000, 0, 1000)
    return head + payload


_ENTRY = struct.Struct("<HHi5I")
_PRIORITIES = {level: priority for priority, level in enumerate("VDIWEF", start=2)}
_MODIFIERS = ("color", "descriptive", "epoch", "monotonic", "printable", "uid", "usec", "UTC", "year", "zone")


class _Filter:
    """Which lines are shown: ``TAG:LEVEL`` for some tags and ``*:LEVEL`` for the rest."""

    def __init__(self, words: list[str], *, silent: bool, pid: str, expression: Expression | None) -> None:
        self._levels: dict[str, int] = {"*": _LEVELS.index("S") if silent else 0}
        self._pid = pid
        self._expression = expression
        for word in words:
            tag, colon, level = word.rpartition(":") if ":" in word else (word, "", "")
            if not colon:
                tag, level = word, "V"
            level = (level or "V").upper()
            if level not in (*_LEVELS, "*"):
                raise UsageError(f"Invalid filter expression '{word[:80]}'")
            self._levels[tag or "*"] = 0 if level == "*" else _LEVELS.index(level)

    def shows(self, line: LogLine) -> bool:
        """Tell whether a line is shown."""
        level = self._levels.get(line.tag, self._levels["*"])
        if _LEVELS.index(line.level) < level or (self._pid and str(line.pid) != self._pid):
            return False
        return self._expression is None or self._expression.search(line.text) is not None


def _logcat(context: Context, arguments: list[str]) -> int | Steps:
    found = options(arguments, "dcgLsBDphS", "bvtTfrneGmx", long=_LONG)
    book = context.system.memory.log
    if "h" in found.flags or "help" in found.flags:
        context.line("Usage: logcat [options] [filterspecs]")
        return 0
    buffers = re.split("[, ]", found.value("b") or found.value("buffer") or "main")
    bad = next((name for name in buffers if name not in _BUFFERS), None)
    if bad is not None:
        context.err(f"logcat: unknown buffer {bad}")
        return 1
    if "c" in found.flags or "clear" in found.flags:
        book.clear()
        return 0
    if "g" in found.flags:
        context.line(
            "main: ring buffer is 256 KiB (38 KiB consumed, 1 MiB readable), max entry is 5120 B, max payload is 4068 B"
        )
        return 0
    if {"G", "S", "buffer-size", "statistics", "p"} & found.flags:
        return 0
    names = re.split("[, ]", found.value("v") or found.value("format") or "threadtime")
    wrong = next((name for name in names if name not in _FORMATS and name not in _MODIFIERS), None)
    if wrong is not None:
        context.err(f"Invalid -v parameter '{wrong}'")
        return 1
    form = next((name for name in reversed(names) if name in _FORMATS), "threadtime")
    try:
        pattern = found.value("e") or found.value("regex")
        expression = Expression(pattern, extended=True) if pattern else None
    except BadExpression as error:
        context.err(f"logcat: {error}")
        return 1
    kept = bool(_KEPT.intersection(buffers))
    silent = "s" in found.flags or not kept
    shown = _Filter(found.rest if kept else [], silent=silent, pid=found.value("pid"), expression=expression)
    tail = found.value("t") or found.value("T") or found.value("tail")
    binary = bool({"B", "binary"} & found.flags)
    write = _binary if binary else _Look(_FORMATS[form], frozenset(names))
    heading = b"" if binary or tail else b"--------- beginning of main\n"
    follows = not {"d", "t", "dump", "L", "last"} & found.flags
    return _print(context, write, shown, heading, tail, follows=follows)


def _tail(lines: list[LogLine], tail: str) -> list[LogLine]:
    """Return the last lines: so many, or those from a time on, in one of the ways that ``-t`` takes it."""
    if tail.isdecimal() and len(tail) < 9:
        return lines[-int(tail) :] if int(tail) else []
    found = _TIME.fullmatch(tail)
    if found is None:
        return lines
    if found["epoch"]:
        return [line for line in lines if line.moment_ms >= round(float(found["epoch"]) * 1000)]
    look = _Look(_FORMATS["time"], frozenset({"year"} if found["year"] else ()))
    return [line for line in lines if look.stamp(line) >= tail]


_TIME = re.compile(r"(?P<epoch>\d{9,12}\.\d{1,9})|(?P<year>\d{4}-)?\d\d-\d\d \d\d:\d\d:\d\d\.\d{1,9}")


def _print(
    context: Context, write: Callable[[LogLine], bytes], shown: _Filter, heading: bytes, tail: str, *, follows: bool
) -> Steps:
    book = context.system.memory.log
    mark = book.mark
    lines = _tail([line for line in book.since() if shown.shows(line)], tail)
    if lines:
        context.out(heading + b"".join(map(write, lines)))
    while follows:
        yield Until(book.next_chatter_ms)
        lines, mark = book.since(mark), book.mark
        context.out(b"".join(write(line) for line in lines if shown.shows(line)))
    return 0


def _log(context: Context, arguments: list[str]) -> int:
    found = options(arguments, "", "pt", mixed=False)
    level = (found.value("p") or "i").upper()[:1]
    context.system.memory.log.note(
        level if level in _LEVELS[:-1] else "I", found.value("t") or "log", " ".join(found.rest),
        pid=context.shell.scope.pid,
    )  # fmt: skip
    return 0


LOGCAT: Mapping[str, Command] = MappingProxyType(
    {"log": Command(_log, "[-p PRI] [-t TAG] MESSAGE..."), "logcat": Command(_logcat, toybox=False)}
)
