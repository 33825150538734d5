"""Toybox commands that read text or bytes and write them: cat, grep, sed, sort and their like."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Generator, Iterable, Mapping
from types import MappingProxyType

from agent_eval.device_sim.files import FileProblem
from agent_eval.device_sim.patterns import Effort
from agent_eval.device_sim.shell.context import Command, Context, Options, UsageError, options, to_number
from agent_eval.device_sim.shell.expressions import MOST_EFFORT, BadExpression, Expression
from agent_eval.device_sim.shell.process import Steps, Wait, read_some

_ENDLESS = 1_000_000
"""More lines or columns than anything here has."""
MOST_TEXT, MOST_LINES = 4 << 20, 250_000
"""Bytes and lines of a text that is worked on line by line or letter by letter; a phone takes any number."""
_MOST_PATTERNS, _MOST_SEARCHES = 500, 1_000_000
"""Patterns of one ``grep``, and how often it looks for one in a line of one file."""
_LONGEST_WORD = 1 << 20
"""Characters that ``xargs`` makes of one word."""
_MOST_DUMPED = 1 << 19
"""Bytes that ``xxd`` and ``od`` write out; a phone takes any number, but then it is not all done in one step."""


def content_of(context: Context, path: str) -> Generator[Wait, None, bytes]:
    """Return the content of a file; of the standard input for ``-``.

    Raises:
        FileProblem: it cannot be read.
    """
    if path in ("-", "/dev/stdin", "/proc/self/fd/0"):
        return (yield from context.input())
    try:
        content = context.system.read_file(context.path(path))
    except FileProblem as problem:
        raise FileProblem(problem.code, path) from None
    turn = context.shell.host.spend(len(content) >> 10)
    if turn is not None:
        yield turn
    return content


class _Inputs:
    """The files that a command names, one after the other; the standard input when it names none."""

    def __init__(self, context: Context, paths: list[str]) -> None:
        self._context = context
        self.paths = paths or ["-"]
        self.code = 0

    def read(self, path: str) -> Generator[Wait, None, bytes | None]:
        """Return the content of one of them; None, after an error message, when it cannot be read."""
        try:
            return (yield from content_of(self._context, path))
        except FileProblem as problem:
            self.code = self._context.complain(str(problem))
            return None


def _text(data: bytes) -> str:
    if len(data) > MOST_TEXT:
        raise UsageError("File too large")
    return data.decode("utf-8", "replace")


def _lines(data: bytes) -> list[str]:
    text = _text(data)
    if data.count(b"\n") > MOST_LINES:
        raise UsageError("File too large")
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return lines


def _cat(context: Context, arguments: list[str]) -> Steps:
    found = options(arguments, "AbeEnstTuv")
    inputs = _Inputs(context, found.rest)
    number = 1
    for path in inputs.paths:
        if path == "-" and not {"n", "b"} & found.flags:
            while data := (yield from read_some(context.io.stdin)):
                context.io.out(data)
            continue
        content = yield from inputs.read(path)
        if content is None:
            continue
        if {"n", "b"} & found.flags:
            context.lines(f"{place:>6}\t{line}" for place, line in enumerate(_lines(content), start=number))
            number += len(_lines(content))
        else:
            context.out(content)
    return inputs.code


def _tac(context: Context, arguments: list[str]) -> Steps:
    inputs = _Inputs(context, options(arguments, "").rest)
    for path in inputs.paths:
        content = yield from inputs.read(path)
        context.lines(reversed(_lines(content or b"")))
    return inputs.code


def _rev(context: Context, arguments: list[str]) -> Steps:
    inputs = _Inputs(context, options(arguments, "").rest)
    for path in inputs.paths:
        content = yield from inputs.read(path)
        context.lines(line[::-1] for line in _lines(content or b""))
    return inputs.code


def _old_count(arguments: list[str]) -> list[str]:
    """Rewrite ``-20`` as ``-n 20``."""
    return [part for word in arguments for part in (("-n", word[1:]) if re.fullmatch("-[0-9]+", word) else (word,))]


def _head(context: Context, arguments: list[str]) -> Steps:
    found = options(_old_count(arguments), "qv", "nc")
    by_bytes = "c" in found.flags
    count = found.number("c" if by_bytes else "n", 10)
    inputs = _Inputs(context, found.rest)
    for place, path in enumerate(inputs.paths):
        _title(context, found, inputs, place)
        if path == "-" and not by_bytes and count >= 0:
            yield from _first_lines(context, count)
            continue
        content = yield from inputs.read(path)
        if content is None:
            continue
        if by_bytes:
            context.out(content[:count] if count >= 0 else content[: max(len(content) + count, 0)])
        else:
            pieces = content.splitlines(keepends=True)
            context.out(b"".join(pieces[:count]))
    return inputs.code


def _first_lines(context: Context, count: int) -> Generator[Wait, None, None]:
    """Copy lines as they come and stop after the last one wanted, so that what writes them can end."""
    while count > 0:
        data = yield from read_some(context.io.stdin)
        if not data:
            return
        pieces = data.split(b"\n")
        if len(pieces) > count:
            context.out(b"\n".join(pieces[:count]) + b"\n")
            return
        count -= len(pieces) - 1
        context.out(data)


def _title(context: Context, found: Options, inputs: _Inputs, place: int) -> None:
    if (len(inputs.paths) > 1 or "v" in found.flags) and "q" not in found.flags:
        context.line(("\n" if place else "") + f"==> {inputs.paths[place]} <==")


def _tail(context: Context, arguments: list[str]) -> Steps:
    found = options(_old_count(arguments), "fFqv", "nc")
    by_bytes = "c" in found.flags
    given = found.value("c" if by_bytes else "n", "10")
    from_start = given.startswith("+")
    count = abs(to_number(given))
    inputs = _Inputs(context, found.rest)
    for place, path in enumerate(inputs.paths):
        content = yield from inputs.read(path)
        if content is None:
            continue
        _title(context, found, inputs, place)
        pieces: list[bytes] = [content[at : at + 1] for at in range(0)] if by_bytes else content.splitlines(True)
        if by_bytes:
            context.out(
                content[max(count - 1, 0) :] if from_start else content[len(content) - count :] if count else b""
            )
        else:
            context.out(b"".join(pieces[max(count - 1, 0) :] if from_start else pieces[-count:] if count else ()))
    return inputs.code


def _wc(context: Context, arguments: list[str]) -> Steps:
    found = options(arguments, "lwcm")
    kinds = [kind for kind in "lwcm" if kind in found.flags] or ["l", "w", "c"]
    inputs = _Inputs(context, found.rest)
    totals = [0] * len(kinds)
    for path in inputs.paths:
        content = yield from inputs.read(path)
        if content is None:
            continue
        row = [_COUNTS[kind](content) for kind in kinds]
        totals = [total + count for total, count in zip(totals, row, strict=True)]
        context.line(_count_row(row, path if found.rest else ""))
    if len(inputs.paths) > 1:
        context.line(_count_row(totals, "total"))
    return inputs.code


_COUNTS: Mapping[str, Callable[[bytes], int]] = MappingProxyType(
    {
        "l": lambda data: data.count(b"\n"),
        "w": lambda data: sum(1 for _ in re.finditer(rb"\S+", data)),
        "c": len,
        "m": lambda data: len(_text(data)),
    }
)


def _count_row(counts: list[int], name: str) -> str:
    text = str(counts[0]) if len(counts) == 1 else " ".join(f"{count:>7}" for count in counts).lstrip()
    return f"{text} {name}".rstrip()


# ----------------------------------------------------------------------------------------------------------------------
# grep


def _grep(context: Context, arguments: list[str]) -> Steps:
    patterns: list[str] = []
    words: list[str] = []
    waiting = iter(arguments)
    for word in waiting:  # several -e are allowed
        if word == "-e":
            patterns.append(next(waiting, ""))
        elif word.startswith("-e") and not word.startswith("--"):
            patterns.append(word[2:])
        else:
            words.append(word)
    found = options(words, "EFGiIvclLnoqsHhwxrRaz", "ABCm", long=("color=", "color", "line-buffered", "include="))
    rest = list(found.rest)
    if not patterns:
        if not rest:
            raise UsageError("no REGEX", 2)
        patterns = [rest.pop(0)]
    extended = "E" in found.flags or context.name == "egrep"
    fixed = "F" in found.flags or context.name == "fgrep"
    around = "line" if "x" in found.flags else "word" if "w" in found.flags else ""
    try:
        if sum(pattern.count("\n") + 1 for pattern in patterns) > _MOST_PATTERNS:
            raise BadExpression("too many patterns")
        effort = Effort(MOST_EFFORT)
        expressions = [
            Expression(line, extended=extended, any_case="i" in found.flags, fixed=fixed, around=around, effort=effort)
            for pattern in patterns
            for line in pattern.split("\n")
        ]
        return (yield from _grep_files(context, found, expressions, rest))
    except BadExpression as error:
        return context.complain(str(error), 2)


def _grep_files(
    context: Context, found: Options, expressions: list[Expression], rest: list[str]
) -> Generator[Wait, None, int]:
    recursive = bool({"r", "R"} & found.flags)
    paths = rest or (["."] if recursive else ["-"])
    if recursive:
        paths = [inside for path in paths for inside in _files_below(context, path)]
    named = ("H" in found.flags or len(paths) > 1 or recursive) and "h" not in found.flags
    any_found, code = False, 0
    for path in paths:
        try:
            content = yield from content_of(context, path)
        except FileProblem as problem:
            if "s" not in found.flags:
                context.complain(str(problem))
            code = 2
            continue
        shown = "(standard input)" if path == "-" else path
        matched = _grep_lines(context, found, expressions, _lines(content), shown, named=named)
        any_found = any_found or matched
        if matched and "q" in found.flags:
            return 0
    return code or int(not any_found)


def _files_below(context: Context, path: str) -> list[str]:
    start = context.path(path)
    if not context.files.is_folder(start):
        return [path]
    inside = [whole for whole in context.files.walk(start) if context.files.is_file(whole)]
    return [path.rstrip("/") + whole[len(start.rstrip("/")) :] for whole in inside][:10_000]


def _grep_lines(
    context: Context, found: Options, expressions: list[Expression], lines: list[str], path: str, *, named: bool
) -> bool:
    flags = found.flags
    limit = found.number("m", _ENDLESS)
    before, after = found.number("B", found.number("C", 0)), found.number("A", found.number("C", 0))
    prefix = f"{path}:" if named else ""
    out: list[str] = []
    count, shown_to = 0, -1
    if len(lines) * len(expressions) > _MOST_SEARCHES:
        raise BadExpression("too many patterns for a text of this length")
    for place, line in enumerate(lines):
        if count >= limit:
            break
        matches = any(expression.search(line) is not None for expression in expressions)
        if matches == ("v" in flags):
            continue
        count += 1
        if {"q", "l", "L"} & flags:
            break
        if "c" in flags:
            continue
        if "o" in flags:
            for piece in _pieces(expressions, line):
                out.append(prefix + (f"{place + 1}:" if "n" in flags else "") + piece)
            continue
        first = max(place - before, shown_to + 1)
        if (before or after) and out and first > shown_to + 1:
            out.append("--")
        for number in range(first, min(place + after, len(lines) - 1) + 1):
            sign = ":" if number == place else "-"
            out.append(
                (f"{path}{sign}" if named else "") + (f"{number + 1}{sign}" if "n" in flags else "") + lines[number]
            )
            shown_to = number
            if number > place and any(expression.search(lines[number]) for expression in expressions):
                out.pop()
                shown_to -= 1
                break
    if "l" in flags or "L" in flags:
        if bool(count) == ("l" in flags):
            context.line(path)
    elif "c" in flags:
        context.line(f"{prefix}{count}")
    elif "q" not in flags:
        context.lines(out)
    return count > 0


def _pieces(expressions: list[Expression], line: str) -> Iterable[str]:
    start = 0
    while start <= len(line):
        spans = [match for expression in expressions if (match := expression.search(line, start)) is not None]
        if not spans:
            return
        best = min(spans, key=lambda match: (match.start, -match.end))
        if best.end > best.start:
            yield line[best.start : best.end]
        start = max(best.end, best.start + 1)


# ----------------------------------------------------------------------------------------------------------------------
# columns, order, characters


def _cut(context: Context, arguments: list[str]) -> Steps:
    found = options(arguments, "sn", "dfcbOF")
    kind = next((kind for kind in "fcbF" if kind in found.flags), None)
    if kind is None:
        raise UsageError("no -fcbF")
    wanted = _ranges(found.value(kind))
    separator = (found.value("d") or ("\t" if kind == "f" else " "))[:1]
    inputs = _Inputs(context, found.rest)
    for path in inputs.paths:
        content = yield from inputs.read(path)
        out: list[str] = []
        for line in _lines(content or b""):
            if kind in "cb":
                out.append("".join(letter for place, letter in enumerate(line, start=1) if _among(place, wanted)))
                continue
            parts = line.split() if kind == "F" else line.split(separator)
            if len(parts) == 1 and kind == "f":
                if "s" not in found.flags:
                    out.append(line)
                continue
            out.append(separator.join(part for place, part in enumerate(parts, start=1) if _among(place, wanted)))
        context.lines(out)
    return inputs.code


def _ranges(text: str) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{0,6})(-?)([0-9]{0,6})", part)
        if match is None or not (match[1] or match[3]):
            raise UsageError(f"bad {text[:40]}")
        first = int(match[1] or 1)
        out.append((first, int(match[3] or _ENDLESS) if match[2] else first))
    return out


def _among(place: int, ranges: list[tuple[int, int]]) -> bool:
    return any(first <= place <= last for first, last in ranges)


def _tr(context: Context, arguments: list[str]) -> Steps:
    found = options(arguments, "cCds", mixed=False)
    if not found.rest:
        raise UsageError("Needs 1 argument")
    first = _letters(found.rest[0])
    second = _letters(found.rest[1]) if len(found.rest) > 1 else ""
    text = _text((yield from context.input()))
    complement = bool({"c", "C"} & found.flags)
    members = set(first)

    def is_meant(letter: str) -> bool:
        return (letter in members) != complement

    if "d" in found.flags:
        text = "".join(letter for letter in text if not is_meant(letter))
    elif second:
        if complement:
            text = "".join(second[-1] if is_meant(letter) else letter for letter in text)
        else:
            padded = second + second[-1] * max(len(first) - len(second), 0)
            text = text.translate({ord(old): new for old, new in reversed(list(zip(first, padded, strict=False)))})
    if "s" in found.flags:
        squeezed = set(second) if second else {letter for letter in set(text) if is_meant(letter)}
        out: list[str] = []
        for letter in text:
            if not (out and out[-1] == letter and letter in squeezed):
                out.append(letter)
        text = "".join(out)
    context.out(text)
    return 0


_NAMED_LETTERS = {
    "[:digit:]": "0123456789", "[:lower:]": "abcdefghijklmnopqrstuvwxyz", "[:upper:]": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "[:space:]": " \t\n\r\v\f", "[:blank:]": " \t", "[:punct:]": "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
}  # fmt: skip


def _letters(text: str) -> str:
    named = dict(_NAMED_LETTERS)
    named["[:alpha:]"] = named["[:upper:]"] + named["[:lower:]"]
    named["[:alnum:]"] = named["[:digit:]"] + named["[:alpha:]"]
    for name, letters in named.items():
        text = text.replace(name, letters)
    text = re.sub(
        r"\\([ntr\\0])", lambda match: {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "0": "\x00"}[match[1]], text
    )
    return re.sub(
        "(.)-(.)",
        lambda match: (
            "".join(chr(code) for code in range(ord(match[1]), ord(match[2]) + 1) if not 0xD800 <= code < 0xE000)
            if 0 <= ord(match[2]) - ord(match[1]) < 4096
            else match[0]
        ),
        text[:1000],
        flags=re.DOTALL,
    )


def _sort(context: Context, arguments: list[str]) -> Steps:
    found = options(arguments, "bdfghimnMrRsucVxz", "kotST")
    inputs = _Inputs(context, found.rest)
    lines: list[str] = []
    for path in inputs.paths:
        content = yield from inputs.read(path)
        lines += _lines(content or b"")
    field = re.match(r"([0-9]{1,4})(?:\.[0-9]+)?([bdfnr]*)(?:,([0-9]{1,4})[\d.]*([bdfnr]*))?", found.value("k"))
    flags = set(found.flags)
    if field is not None:
        flags |= set(field[2]) | set(field[4] or "")
    separator = found.value("t")[:1]

    def key(line: str) -> tuple[float, str]:
        text = line
        if field is not None:
            parts = line.split(separator) if separator else line.split()
            last = int(field[3]) if field[3] else len(parts)
            text = (separator or " ").join(parts[int(field[1]) - 1 : last])
        if {"n", "g", "h", "V"} & flags:
            return _leading_number(text), "" if found.value("k") else text
        return 0.0, text.lower() if "f" in flags else text

    lines.sort(key=key, reverse="r" in flags)
    if "u" in flags:
        kept: list[str] = []
        for line in lines:
            if not kept or key(kept[-1]) != key(line):
                kept.append(line)
        lines = kept
    text = "".join(line + "\n" for line in lines)
    if "o" in found.flags:
        context.files.write(context.path(found.value("o")), text.encode())
    else:
        context.out(text)
    return inputs.code


def _leading_number(text: str) -> float:
    match = re.match(r"\s*(-?[0-9]{1,18}(?:\.[0-9]{1,18})?)([KMG]?)", text)
    if match is None:
        return 0.0
    return float(match[1]) * {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[match[2]]


def _uniq(context: Context, arguments: list[str]) -> Steps:
    found = options(arguments, "cduiz", "fsw")
    inputs = _Inputs(context, found.rest[:1])
    content = yield from inputs.read(inputs.paths[0])
    groups: list[tuple[str, int]] = []
    for line in _lines(content or b""):
        same = groups and (groups[-1][0] == line or ("i" in found.flags and groups[-1][0].lower() == line.lower()))
        if same:
            groups[-1] = (groups[-1][0], groups[-1][1] + 1)
        else:
            groups.append((line, 1))
    if "d" in found.flags:
        groups = [group for group in groups if group[1] > 1]
    if "u" in found.flags:
        groups = [group for group in groups if group[1] == 1]
    context.lines(f"{count:>7} {line}" if "c" in found.flags else line for line, count in groups)
    return inputs.code


def _tee(context: Context, arguments: list[str]) -> Steps:
    found = options(arguments, "ai")
    code = 0
    content = b""
    while data := (yield from read_some(context.io.stdin)):
        context.out(data)
        content += data
    for path in found.rest:
        try:
            if "a" in found.flags:
                context.files.append(context.path(path), content)
            else:
                context.files.write(context.path(path), content)
        except FileProblem as problem:
            code = context.complain(f"{path}: {problem.reason}")
    return code


def filled(word: str, mark: str, text: str) -> str:
    """Return a word with a text in place of each mark.

    Raises:
        UsageError: it would be too long.
    """
    if word.count(mark) * len(text) > _LONGEST_WORD:
        raise UsageError("Argument list too long")
    return word.replace(mark, text)


def _xargs(context: Context, arguments: list[str]) -> Steps:
    found = options(arguments, "0optr", "nIiLPs", mixed=False)
    data = yield from context.input()
    replace = found.value("I")
    if "0" in found.flags:
        items = [part for part in _text(data).split("\x00") if part]
    elif replace:
        items = [line.strip() for line in _lines(data) if line.strip()]
    else:
        items = [match[match.lastindex or 0] for match in re.finditer(r"'([^']*)'|\"([^\"]*)\"|(\S+)", _text(data))]
    words = found.rest or ["echo"]
    size = max(found.number("n", len(items) or 1), 1)
    if replace:
        batches = ([filled(word, replace, item) for word in words] for item in items)
    elif items:
        batches = ([*words, *items[start : start + size]] for start in range(0, len(items), size))
    else:
        batches = (batch for batch in ([] if "r" in found.flags else [words]))
    code = 0
    for batch in batches:
        turn = context.shell.host.count()
        if turn is not None:
            yield turn
        if (yield from context.shell.call(batch[0], batch[1:], context.io)):
            code = 123
    return code


def _fold(context: Context, arguments: list[str]) -> Steps:
    found = options(arguments, "bsu", "w")
    width = min(max(found.number("w", 80), 1), 10_000)
    inputs = _Inputs(context, found.rest)
    for path in inputs.paths:
        content = yield from inputs.read(path)
        for line in _lines(content or b""):
            context.lines([line[start : start + width] for start in range(0, len(line), width)] or [""])
    return inputs.code


def _paste(context: Context, arguments: list[str]) -> Steps:
    found = options(arguments, "s", "d")
    separator = found.value("d", "\t")[:1]
    columns: list[list[str]] = []
    inputs = _Inputs(context, found.rest)
    for path in inputs.paths:
        content = yield from inputs.read(path)
        columns.append(_lines(content or b""))
    if "s" in found.flags:
        context.lines(separator.join(column) for column in columns)
    else:
        rows = max(map(len, columns), default=0)
        context.lines(
            separator.join(column[row] if row < len(column) else "" for column in columns) for row in range(rows)
        )
    return inputs.code


def _cmp(context: Context, arguments: list[str]) -> Steps:
    found = options(arguments, "ls")
    if len(found.rest) != 2:
        raise UsageError("Needs 2 arguments")
    left = yield from content_of(context, found.rest[0])
    right = yield from content_of(context, found.rest[1])
    if left == right:
        return 0
    if "s" not in found.flags:
        place = next((at for at, pair in enumerate(zip(left, right, strict=False)) if pair[0] != pair[1]), -1)
        if place < 0:
            context.complain(f"EOF on {found.rest[0] if len(left) < len(right) else found.rest[1]}")
        else:
            line = left[:place].count(b"\n") + 1
            context.line(f"{found.rest[0]} {found.rest[1]} differ: char {place + 1}, line {line}")
    return 1


# ----------------------------------------------------------------------------------------------------------------------
# digests and encodings

_DIGESTS: Mapping[str, Callable[[bytes], str]] = MappingProxyType(
    {
        "md5sum": lambda data: hashlib.md5(data, usedforsecurity=False).hexdigest(),
        "sha1sum": lambda data: hashlib.sha1(data, usedforsecurity=False).hexdigest(),
        "sha224sum": lambda data: hashlib.sha224(data).hexdigest(),
        "sha256sum": lambda data: hashlib.sha256(data).hexdigest(),
        "sha384sum": lambda data: hashlib.sha384(data).hexdigest(),
        "sha512sum": lambda data: hashlib.sha512(data).hexdigest(),
        "cksum": lambda data: str(binascii.crc32(data)),
        "crc32": lambda data: f"{binascii.crc32(data):08x}",
    }
)


def _digest(context: Context, arguments: list[str]) -> Steps:
    found = options(arguments, "bcs")
    inputs = _Inputs(context, found.rest)
    for path in inputs.paths:
        content = yield from inputs.read(path)
        if content is not None:
            digest = _DIGESTS[context.name](content)
            context.line(digest if "b" in found.flags or context.name == "crc32" else f"{digest}  {path}")
    return inputs.code


def _base64(context: Context, arguments: list[str]) -> Steps:
    found = options(arguments, "di", "w")
    inputs = _Inputs(context, found.rest[:1])
    content = yield from inputs.read(inputs.paths[0])
    if content is None:
        return inputs.code
    if "d" in found.flags:
        kept = content.translate(None, b" \r\n\t")
        try:
            context.out(base64.b64decode(kept + b"=" * (-len(kept) % 4), validate=True))
        except binascii.Error:
            return context.complain("bad input")
        return 0
    text = base64.b64encode(content).decode()
    width = found.number("w", 76)
    context.lines([text[start : start + width] for start in range(0, len(text), width)] if width > 0 else [text])
    return 0


def _xxd(context: Context, arguments: list[str]) -> Steps:
    found = options(arguments, "pri", "clgs")
    inputs = _Inputs(context, found.rest[:1])
    content = yield from inputs.read(inputs.paths[0])
    if content is None:
        return inputs.code
    if "r" in found.flags:
        try:
            context.out(bytes.fromhex(re.sub(r"\s", "", _text(content))))
        except ValueError:
            return context.complain("bad input")
        return 0
    skip = found.number("s", 0)
    content = content[skip : skip + found.number("l", len(content))]
    if len(content) > _MOST_DUMPED:
        return context.complain(f"{inputs.paths[0]}: File too large")
    if "p" in found.flags:
        context.lines(content[start : start + 30].hex() for start in range(0, len(content), 30))
        return 0
    width = min(max(found.number("c", 16), 1), 256)
    out: list[str] = []
    for start in range(0, len(content), width):
        row = content[start : start + width]
        pairs = " ".join(row[at : at + 2].hex() for at in range(0, len(row), 2))
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        out.append(f"{start + skip:08x}: {pairs:<{width * 5 // 2}} {shown}")
    context.lines(out)
    return 0


def _od(context: Context, arguments: list[str]) -> Steps:
    found = options(arguments, "bcdosxv", "AjNtw")
    inputs = _Inputs(context, found.rest[:1])
    content = yield from inputs.read(inputs.paths[0])
    if content is None:
        return inputs.code
    skip = found.number("j", 0)
    content = content[skip : skip + found.number("N", len(content))]
    if len(content) > _MOST_DUMPED:
        return context.complain(f"{inputs.paths[0]}: File too large")
    base = {"d": "07d", "x": "07x", "n": ""}.get(found.value("A", "o"), "07o")
    kind = found.value("t") or next((letter for letter in "bcxd" if letter in found.flags), "o2")
    out: list[str] = []
    for start in range(0, len(content), 16):
        row = content[start : start + 16]
        address = format(start + skip, base) if base else ""
        out.append(address + _od_row(row, kind))
    if base:
        out.append(format(len(content) + skip, base))
    context.lines(out)
    return 0


def _od_row(row: bytes, kind: str) -> str:
    if kind.startswith("c"):
        names = {0: "\\0", 9: "\\t", 10: "\\n", 13: "\\r"}
        return "".join(f"{names.get(b) or (chr(b) if 32 <= b < 127 else f'{b:03o}'):>4}" for b in row)
    size = {"1": 1, "2": 2, "4": 4, "8": 8}.get(kind[1:2], 1 if kind == "b" else 2)
    letter, width = {"x": ("x", 2 * size), "d": ("d", 3 * size), "u": ("d", 3 * size)}.get(
        kind[0], ("o", {1: 3, 2: 6, 4: 11, 8: 22}[size])
    )
    numbers = [int.from_bytes(row[at : at + size], "little") for at in range(0, len(row), size)]
    fill = "" if letter == "d" else "0"
    return "".join(f" {number:{fill}{width}{letter}}" for number in numbers)


def _strings(context: Context, arguments: list[str]) -> Steps:
    found = options(arguments, "afo", "nt")
    inputs = _Inputs(context, found.rest)
    least = min(max(found.number("n", 4), 1), 1000)
    for path in inputs.paths:
        content = yield from inputs.read(path)
        context.lines(piece.decode() for piece in re.findall(rb"[ -~]{%d,}" % least, content or b""))
    return inputs.code


TEXT_TOOLS: Mapping[str, Command] = MappingProxyType(
    {
        "base64": Command(_base64, "[-di] [-w COLUMNS] [FILE...]"),
        "cat": Command(_cat, "[-etuv] [FILE...]"),
        "cksum": Command(_digest, "[FILE...]"),
        "cmp": Command(_cmp, "[-l] [-s] FILE1 FILE2"),
        "crc32": Command(_digest, "[FILE...]"),
        "cut": Command(_cut, "[-Ds] [-bcfF LIST] [-dO DELIM] [FILE...]"),
        "egrep": Command(_grep, "[-EFrivwcloqsHbhn] [-ABC NUM] [-m MAX] [-e REGEX]... [FILE...]"),
        "fgrep": Command(_grep, "[-EFrivwcloqsHbhn] [-ABC NUM] [-m MAX] [-e REGEX]... [FILE...]"),
        "fold": Command(_fold, "[-bsu] [-w WIDTH] [FILE...]"),
        "grep": Command(_grep, "[-EFrivwcloqsHbhn] [-ABC NUM] [-m MAX] [-e REGEX]... [FILE...]"),
        "head": Command(_head, "[-n NUM] [FILE...]"),
        "md5sum": Command(_digest, "[-bcs] [FILE...]"),
        "od": Command(_od, "[-bcdosxv] [-j BYTES] [-N BYTES] [-A doxn] [-t acdfoux[124]]"),
        "paste": Command(_paste, "[-s] [-d DELIMITERS] [FILE...]"),
        "rev": Command(_rev, "[FILE...]"),
        "sha1sum": Command(_digest, "[-bcs] [FILE...]"),
        "sha224sum": Command(_digest, "[-bcs] [FILE...]"),
        "sha256sum": Command(_digest, "[-bcs] [FILE...]"),
        "sha384sum": Command(_digest, "[-bcs] [FILE...]"),
        "sha512sum": Command(_digest, "[-bcs] [FILE...]"),
        "sort": Command(_sort, "[-runbgcMdfiVsz] [FILE...] [-k#[,#[x]] [-t X]] [-o FILE]"),
        "strings": Command(_strings, "[-fo] [-t oxd] [-n LEN] [FILE...]"),
        "tac": Command(_tac, "[FILE...]"),
        "tail": Command(_tail, "[-n|c NUM] [-f|F] [FILE...]"),
        "tee": Command(_tee, "[-ai] [FILE...]"),
        "tr": Command(_tr, "[-cdst] SET1 [SET2]"),
        "uniq": Command(_uniq, "[-cduiz] [-w MAXCHARS] [-f FIELDS] [-s CHAR] [INFILE [OUTFILE]]"),
        "wc": Command(_wc, "-lwcm [FILE...]"),
        "xargs": Command(_xargs, "[-0prt] [-snE STR] COMMAND..."),
        "xxd": Command(_xxd, "[-c n] [-g n] [-l n] [-o n] [-p] [-r] [-s n] [file]"),
    }
)
