"""``logcat`` and ``log``: the phone's log in its formats, following it as time passes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType

from agent_eval.device_sim.shell.context import Command, Context, UsageError, options
from agent_eval.device_sim.shell.expressions import BadExpression, Expression
from agent_eval.device_sim.shell.log_book import LogLine
from agent_eval.device_sim.shell.process import Steps, Until

_LEVELS = "VDIWEFS"
_BUFFERS = ("main", "system", "crash", "events", "radio", "kernel", "all", "default", "security", "stats")
_LONG = ("clear", "buffer=", "format=", "file=", "max-count=", "regex=", "pid=", "tail=", "dump", "last", "help",
         "statistics", "buffer-size=", "buffer-size", "print", "version", "uid=", "wrap", "binary", "rotate-kbytes=",
         "rotate-count=", "id=")  # fmt: skip


def _stamp(line: LogLine, form: str = "%m-%d %H:%M:%S") -> str:
    moment = datetime.fromtimestamp(line.moment_ms // 1000, UTC).strftime(form)
    return f"{moment}.{line.moment_ms % 1000:03d}"


_FORMATS: Mapping[str, Callable[[LogLine], str]] = MappingProxyType(
    {
        "brief": lambda line: f"{line.level}/{line.tag:<8}({line.pid:>5}): {line.text}",
        "process": lambda line: f"{line.level}({line.pid:>5}) {line.text}  ({line.tag})",
        "tag": lambda line: f"{line.level}/{line.tag:<8}: {line.text}",
        "thread": lambda line: f"{line.level}({line.pid:>5}:{line.thread:>5}) {line.text}",
        "raw": lambda line: line.text,
        "time": lambda line: f"{_stamp(line)} {line.level}/{line.tag:<8}({line.pid:>5}): {line.text}",
        "threadtime": lambda line: (
            f"{_stamp(line)} {line.pid:>5} {line.thread:>5} {line.level} {line.tag:<8}: {line.text}"
        ),
        "long": lambda line: (
            f"[ {_stamp(line)} {line.pid:>5}:{line.thread:>5} {line.level}/{line.tag:<8} ]\n{line.text}\n"
        ),
        "epoch": lambda line: (
            f"{line.moment_ms / 1000:>19.3f} {line.pid:>5} {line.thread:>5} {line.level} {line.tag:<8}: {line.text}"
        ),
    }
)
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
    name = next((name for name in names if name not in _MODIFIERS or name == "epoch"), "threadtime")
    if name not in _FORMATS:
        context.err(f"Invalid -v parameter '{name}'")
        return 1
    try:
        pattern = found.value("e") or found.value("regex")
        expression = Expression(pattern, extended=True) if pattern else None
    except BadExpression as error:
        context.err(f"logcat: {error}")
        return 1
    shown = _Filter(found.rest, silent="s" in found.flags, pid=found.value("pid"), expression=expression)
    tail = found.value("t") or found.value("T") or found.value("tail")
    return _print(context, _FORMATS[name], shown, tail, follows=not {"d", "t", "dump", "L", "last"} & found.flags)


def _print(context: Context, form: Callable[[LogLine], str], shown: _Filter, tail: str, *, follows: bool) -> Steps:
    book, clock = context.system.memory.log, context.phone.clock
    lines = [line for line in book.since(0) if shown.shows(line)]
    if tail.isdecimal() and len(tail) < 9:
        lines = lines[-int(tail) :] if int(tail) else []
    if lines and not tail:
        context.line("--------- beginning of main")
    context.lines(map(form, lines))
    while follows:
        last_ms = clock.now_ms
        yield Until(book.next_chatter_ms)
        context.lines(form(line) for line in book.since(last_ms + 1) if shown.shows(line))
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
