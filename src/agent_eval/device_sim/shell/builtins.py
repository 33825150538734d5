"""Commands of the shell itself: variables, folders, loops, other shells, and what ``test`` tests."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from agent_eval.device_sim.files import resolve
from agent_eval.device_sim.shell.arithmetic import ArithmeticError_, evaluate
from agent_eval.device_sim.shell.context import Command, Context, UsageError, options
from agent_eval.device_sim.shell.expansion import ExpansionError
from agent_eval.device_sim.shell.interpreter import Exit, Return, jump
from agent_eval.device_sim.shell.process import Done, Steps, read_line

_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_ESCAPE = re.compile(r"\\(0[0-7]{0,3}|[1-7][0-7]{0,2}|x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|.|$)", re.DOTALL)
_LETTERS = {
    "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", '"': '"',
    "'": "'",
}  # fmt: skip
_CONVERSION = re.compile(r"%([-+ #0]*)(\*|[0-9]{1,4})?(?:\.(\*|[0-9]{1,4}))?([a-zA-Z%])?")
_MOST_ROUNDS = 10_000


def _true(_: Context, __: list[str]) -> int:
    return 0


def _false(_: Context, __: list[str]) -> int:
    return 1


def _echo(context: Context, arguments: list[str]) -> int:
    newline, escapes = True, False
    place = 0
    while place < len(arguments) and re.fullmatch("-[neE]+", arguments[place]):
        newline = newline and "n" not in arguments[place]
        escapes = (escapes or "e" in arguments[place]) and not arguments[place].endswith("E")
        place += 1
    text = " ".join(arguments[place:])
    data = text.encode()
    if escapes:
        before, stop, _ = text.partition("\\c")
        data, newline = unescape(before), newline and not stop
    context.io.out(data + b"\n" if newline else data)
    return 0


def unescape(text: str) -> bytes:
    """Return a text with its backslash escapes replaced, as bytes: an octal or hexadecimal one may be any byte."""
    out: list[bytes] = []
    start = 0
    for match in _ESCAPE.finditer(text):
        out.append(text[start : match.start()].encode())
        start = match.end()
        escape = match[1]
        if escape[:1] == "u" and len(escape) > 1:
            out.append(chr(int(escape[1:], 16)).encode("utf-8", "replace"))
        elif escape[:1] == "x" and len(escape) > 1:
            out.append(bytes([int(escape[1:], 16)]))
        elif escape[:1] in tuple("01234567"):
            out.append(bytes([int(escape, 8) & 0xFF]))
        else:
            out.append(_LETTERS.get(escape, "\\" + escape).encode())
    out.append(text[start:].encode())
    return b"".join(out)


def _printf(context: Context, arguments: list[str]) -> int:
    if not arguments:
        raise UsageError("Needs 1 argument")
    form, values = arguments[0], arguments[1:]
    out: list[bytes] = []
    code, used, size = 0, 0, 0
    for _ in range(_MOST_ROUNDS):
        start, taken = 0, used
        for match in _CONVERSION.finditer(form):
            out.append(unescape(form[start : match.start()]))
            start = match.end()
            flags, width, precision, kind = match.groups()
            if kind == "%":
                out.append(b"%")
                continue
            sizes: list[str | None] = [width, precision]
            for place, given in enumerate(sizes):
                if given == "*":
                    sizes[place] = values[used][:4] if used < len(values) else "0"
                    used += 1
            value = values[used] if used < len(values) else ""
            used += 1
            try:
                out.append(_converted(flags, sizes[0], sizes[1], kind or "", value))
            except ValueError:
                context.complain(f"bad %{kind or ''}@{start}" if not kind else f"{value}: not a number")
                code = 1
            size += len(out[-1])
        out.append(unescape(form[start:]))
        size += len(out[-1])
        if used >= len(values) or used == taken or size > 1 << 20:
            break
    context.out(b"".join(out))
    return code


def _converted(flags: str, width: str | None, precision: str | None, kind: str, value: str) -> bytes:
    left = "-" in flags or (width or "").startswith("-")
    size = int((width or "0").lstrip("-") or 0)
    if kind in ("s", "b", "c"):
        data = unescape(value) if kind == "b" else value.encode()
        if kind == "c":
            data = value[:1].encode()
        elif precision is not None:
            data = data[: int(precision)]
        return data.ljust(size) if left else data.rjust(size)
    spec = "".join(sorted(set(flags))) + (str(size) if size else "") + (f".{int(precision)}" if precision else "")
    if kind in ("d", "i", "u", "x", "X", "o"):
        return (f"%{spec}{'d' if kind in 'iu' else kind}" % _number(value)).encode()
    if kind in ("f", "F", "e", "E", "g", "G"):
        return (f"%{spec}{kind}" % float(value or "0")).encode()
    raise ValueError(kind)


def _number(text: str) -> int:
    text = text.strip()
    if text[:1] in ('"', "'") and len(text) > 1:
        return ord(text[1])
    if len(text) > 24:
        raise ValueError(text)
    if re.fullmatch("[+-]?0[0-7]+", text):
        return int(text, 8)
    return int(text, 0) if text else 0


# ----------------------------------------------------------------------------------------------------------------------
# folders and variables


def _cd(context: Context, arguments: list[str]) -> int:
    scope = context.shell.scope
    words = [word for word in arguments if word not in ("-L", "-P", "--")]
    target = words[0] if words else scope.value("HOME") or "/"
    if target == "-":
        target = scope.variables.get("OLDPWD", scope.folder)
        context.line(target)
    whole = posixpath.normpath(posixpath.join(scope.folder, target))
    whole = whole[1:] if whole.startswith("//") else whole
    if not context.files.is_folder(whole):
        why = "Not a directory" if context.files.exists(whole) else "No such file or directory"
        context.err(f"{scope.name}: cd: {target}: {why}")
        return 2
    scope.variables["OLDPWD"] = scope.folder
    scope.folder = whole
    return 0


def _pwd(context: Context, arguments: list[str]) -> int:
    context.line(resolve(context.folder) if "-P" in arguments else context.folder)
    return 0


def _export(context: Context, arguments: list[str]) -> int:
    scope = context.shell.scope
    words = [word for word in arguments if word != "-p"]
    if not words:
        context.lines(f"export {name}={_quoted(scope.value(name) or '')}" for name in sorted(scope.exported))
        return 0
    return _declare(context, words, scope.exported.add)


def _read_only(context: Context, arguments: list[str]) -> int:
    scope = context.shell.scope
    return _declare(context, [word for word in arguments if word != "-p"], scope.read_only.add)


def _typeset(context: Context, arguments: list[str]) -> int:
    return _declare(context, [word for word in arguments if not word.startswith("-")], lambda _: None)


def _declare(context: Context, words: Sequence[str], mark: Callable[[str], object]) -> int:
    scope = context.shell.scope
    for word in words:
        name, equals, value = word.partition("=")
        if not _NAME.fullmatch(name):
            context.err(f"{scope.name}: {context.name}: {word}: is not an identifier")
            return 1
        if equals:
            scope.assign(name, value)
        mark(name)
    return 0


def _quoted(value: str) -> str:
    return value if re.fullmatch(r"[\w./:,@%+-]+", value) else "'" + value.replace("'", "'\\''") + "'"


def _unset(context: Context, arguments: list[str]) -> int:
    scope = context.shell.scope
    for word in arguments:
        if word.startswith("-"):
            continue
        if word in scope.read_only:
            raise ExpansionError(f"{word}: is read only")
        if "-f" in arguments:
            scope.functions.pop(word, None)
        else:
            scope.variables.pop(word, None)
            scope.exported.discard(word)
    return 0


def _set(context: Context, arguments: list[str]) -> int:
    scope = context.shell.scope
    if not arguments:
        context.lines(f"{name}={_quoted(value)}" for name, value in sorted(scope.variables.items()))
        return 0
    words = list(arguments)
    while words and words[0][:1] in ("-", "+") and len(words[0]) > 1:
        word = words.pop(0)
        if word == "--":
            scope.positional = words
            return 0
        if word in ("-o", "+o"):
            name = words.pop(0) if words else ""
            if name == "errexit":
                scope.stop_on_failure = word == "-o"
            continue
        for letter in word[1:]:
            if letter == "e":
                scope.stop_on_failure = word[0] == "-"
            elif letter == "x":
                scope.trace = word[0] == "-"
            elif letter not in "abCfhmnuv":
                context.err(f"{scope.name}: set: -{letter}: unknown option")
                return 1
    if words:
        scope.positional = words
    return 0


def _shift(context: Context, arguments: list[str]) -> int:
    scope = context.shell.scope
    count = int(arguments[0]) if arguments and arguments[0].isdecimal() and len(arguments[0]) < 6 else 1
    if count > len(scope.positional):
        context.err(f"{scope.name}: shift: nothing to shift")
        return 1
    scope.positional = scope.positional[count:]
    return 0


def _env(context: Context, arguments: list[str]) -> int | Steps:
    scope = context.shell.scope
    given = {name: scope.value(name) or "" for name in scope.exported if scope.value(name) is not None}
    words = list(arguments)
    while words:
        name, equals, value = words[0].partition("=")
        if words[0] in ("-i", "-"):
            given = {}
        elif words[0] == "-u" and len(words) > 1:
            words.pop(0)
            given.pop(words[0], None)
        elif equals and name:
            given[name] = value
        else:
            break
        words.pop(0)
    if words:
        return _with_only(context, given, words)
    context.lines(f"{name}={value}" for name, value in sorted(given.items()))
    return 0


def _with_only(context: Context, given: dict[str, str], words: list[str]) -> Steps:
    scope = context.shell.scope
    exported, scope.exported = scope.exported, set()
    try:
        return (yield from context.shell.call(words[0], words[1:], context.io, given))
    finally:
        scope.exported = exported


def _let(context: Context, arguments: list[str]) -> int:
    value = 0
    for expression in arguments:
        try:
            value = evaluate(expression, context.shell.scope.variables)
        except ArithmeticError_ as error:
            context.err(f"{context.shell.scope.name}: {error}")
            return 1
    return int(value == 0)


def _read(context: Context, arguments: list[str]) -> Steps:
    found = options(arguments, "rs", "pdntu", mixed=False)
    if found.value("p"):
        context.io.err(found.value("p").encode())
    line = yield from read_line(context.io.stdin)
    text = line.decode(errors="replace").removesuffix("\n").replace("\x00", "")
    if "r" not in found.flags:
        text = re.sub(r"\\(.)", r"\1", text)
    scope = context.shell.scope
    names = found.rest or ["REPLY"]
    blanks = scope.variables.get("IFS", " \t\n")
    for place, name in enumerate(names):
        text = text.strip(blanks) if blanks == " \t\n" else text
        if place == len(names) - 1:
            scope.assign(name, text)
            break
        end = next((at for at, character in enumerate(text) if character in blanks), len(text))
        scope.assign(name, text[:end])
        text = text[end + 1 :]
    return 0 if line.endswith(b"\n") else 1


# ----------------------------------------------------------------------------------------------------------------------
# control


def _exit(context: Context, arguments: list[str]) -> int:
    raise Exit(_status(context, arguments))


def _return(context: Context, arguments: list[str]) -> int:
    raise Return(_status(context, arguments))


def _status(context: Context, arguments: list[str]) -> int:
    word = arguments[0] if arguments else ""
    if re.fullmatch("-?[0-9]{1,9}", word):
        return int(word)
    return 1 if word else context.shell.scope.status


def _break(context: Context, arguments: list[str]) -> int:
    word = arguments[0] if arguments else "1"
    raise jump(context.name, max(int(word), 1) if word.isdecimal() and len(word) < 6 else 1)


def _eval(context: Context, arguments: list[str]) -> int | Steps:
    return context.shell.run_text(" ".join(arguments), context.io)


def _source(context: Context, arguments: list[str]) -> int | Steps:
    if not arguments:
        context.err(f"{context.shell.scope.name}: .: missing argument")
        return 1
    if not context.files.is_file(context.path(arguments[0])):
        context.err(f"{context.shell.scope.name}: .: {arguments[0]}: No such file or directory")
        return 1
    content = context.files.read(context.path(arguments[0]))
    context.shell.host.spend(len(content) >> 10)
    text = content.decode(errors="replace").replace("\x00", "")
    return context.shell.run_text(text, context.io)


def _sh(context: Context, arguments: list[str]) -> int | Steps:
    words = list(arguments)
    line: str | None = None
    options_given = ""
    while words and words[0][:1] in ("-", "+") and len(words[0]) > 1:
        word = words.pop(0)
        if word == "--":
            break
        options_given += word[1:] if word[0] == "-" else ""
        if "c" in word:
            line = words.pop(0) if words else None
            if line is None:
                context.err("/system/bin/sh: -c requires an argument")
                return 1
            break
    name = words.pop(0) if words and line is not None else "/system/bin/sh"
    if line is None and words:
        path = words.pop(0)
        if not context.files.is_file(context.path(path)):
            context.err(f"/system/bin/sh: {path}: No such file or directory")
            return 127
        shell = context.shell.fresh(path, words)
        return shell.script_of(context.files.read(context.path(path)), context.io)
    shell = context.shell.fresh(name, words)
    shell.scope.stop_on_failure, shell.scope.trace = "e" in options_given, "x" in options_given
    if line is None:
        return shell.whole(shell.run_input(context.io))
    return shell.whole(shell.run_text(line, context.io))


def _command(context: Context, arguments: list[str]) -> int | Steps:
    words = list(arguments)
    if words[:1] in (["-v"], ["-V"]):
        return _which(context, words[1:], verbose=words[0] == "-V")
    if words[:1] == ["-p"]:
        words = words[1:]
    return context.shell.call(words[0], words[1:], context.io) if words else 0


def _type(context: Context, arguments: list[str]) -> int:
    return _which(context, arguments, verbose=True)


def _which_command(context: Context, arguments: list[str]) -> int:
    found = options(arguments, "a")
    code = 0
    for name in found.rest:
        if name in context.system.commands and name not in BUILTINS_ONLY:
            context.line(f"/system/bin/{name}")
        else:
            code = 1
    return code if found.rest else 1


def _which(context: Context, names: Sequence[str], *, verbose: bool) -> int:
    code = 0
    for name in names:
        if name in context.shell.scope.functions:
            context.line(f"{name} is a function" if verbose else name)
        elif name in BUILTINS:
            context.line(f"{name} is a shell builtin" if verbose else name)
        elif name in context.system.commands:
            context.line(f"{name} is /system/bin/{name}" if verbose else f"/system/bin/{name}")
        else:
            if verbose:
                context.line(f"{name} not found")
            code = 1
    return code


def _wait(context: Context, _: list[str]) -> Steps:
    jobs = tuple(job for job in context.shell.jobs if job.code is None)
    if jobs:
        yield Done(jobs)
    context.shell.jobs.clear()
    return 0


def _jobs(context: Context, _: list[str]) -> int:
    context.shell.jobs = [job for job in context.shell.jobs if job.code is None]
    context.lines(f"[{place}] + Running" for place, _ in enumerate(context.shell.jobs, start=1))
    return 0


def _run_rest(context: Context, arguments: list[str]) -> int | Steps:
    """Run what follows: ``time``, ``nohup``, ``setsid``, ``builtin``, ``nice``, ``timeout`` without its limit."""
    words = list(arguments)
    if context.name == "nice" and words[:1] == ["-n"]:
        words = words[2:]
    return context.shell.call(words[0], words[1:], context.io) if words else 0


def _umask(context: Context, arguments: list[str]) -> int:
    if not arguments:
        context.line("0077")
    return 0


def _ulimit(context: Context, _: list[str]) -> int:
    context.line("unlimited")
    return 0


# ----------------------------------------------------------------------------------------------------------------------
# test

_OF_FILE: Mapping[str, Callable[[Context, str], bool]] = MappingProxyType(
    {
        "-b": lambda _, __: False,
        "-c": lambda context, path: context.path(path).startswith("/dev/"),
        "-d": lambda context, path: context.files.is_folder(context.path(path)),
        "-e": lambda context, path: context.files.exists(context.path(path)),
        "-f": lambda context, path: context.files.is_file(context.path(path)),
        "-h": lambda context, path: posixpath.join(context.folder, path) in ("/sdcard", "/mnt/sdcard"),
        "-r": lambda context, path: context.files.exists(context.path(path)),
        "-s": lambda context, path: (found := context.files.stat(context.path(path))) is not None and found.size > 0,
        "-w": lambda context, path: _writable(context, path),
        "-x": lambda context, path: (
            (found := context.files.stat(context.path(path))) is not None and bool(found.mode & 0o111)
        ),
    }
)
_OF_FILE_ALIASES = {"-a": "-e", "-L": "-h"}
_COMPARISONS = {"-eq": "==", "-ne": "!=", "-gt": ">", "-ge": ">=", "-lt": "<", "-le": "<="}


def _writable(context: Context, path: str) -> bool:
    whole = context.path(path)
    return context.files.exists(whole) and context.files.is_writable(whole)


class _Test:
    def __init__(self, context: Context, words: list[str]) -> None:
        self._context = context
        self._words = words
        self._at = 0
        self._depth = 0

    def value(self) -> bool:
        if not self._words:
            return False
        found = self._either()
        if self._at < len(self._words):
            raise UsageError(f"{self._words[self._at]}: unexpected operator/operand", 2)
        return found

    def _peek(self, ahead: int = 0) -> str | None:
        place = self._at + ahead
        return self._words[place] if place < len(self._words) else None

    def _either(self) -> bool:
        found = self._both()
        while self._peek() == "-o":
            self._at += 1
            found = self._both() or found
        return found

    def _both(self) -> bool:
        found = self._not()
        while self._peek() == "-a":
            self._at += 1
            found = self._not() and found
        return found

    def _not(self) -> bool:
        if self._peek() == "!" and self._peek(1) is not None:
            self._at += 1
            return not self._not_again()
        return self._primary()

    def _not_again(self) -> bool:
        self._depth += 1
        if self._depth > 20:
            raise UsageError("too deep", 2)
        return self._not()

    def _primary(self) -> bool:
        word, operator, right = self._peek(), self._peek(1), self._peek(2)
        if word is None:
            raise UsageError("argument expected", 2)
        if operator is not None and right is not None and (operator in _BINARY or operator in _COMPARISONS):
            self._at += 3
            return self._compare(word, operator, right)
        if word == "(" and operator is not None:
            self._at += 1
            self._depth += 1
            if self._depth > 20:
                raise UsageError("too deep", 2)
            found = self._either()
            if self._peek() != ")":
                raise UsageError("missing )", 2)
            self._at += 1
            return found
        if operator is not None and (
            word in ("-n", "-z", "-t", "-v", "-o") or word in _OF_FILE or word in _OF_FILE_ALIASES
        ):
            self._at += 2
            if word in ("-n", "-z"):
                return bool(operator) == (word == "-n")
            if word == "-v":
                return self._context.shell.scope.value(operator) is not None
            if word in ("-t", "-o"):
                return False
            return _OF_FILE[_OF_FILE_ALIASES.get(word, word)](self._context, operator)
        self._at += 1
        return bool(word)

    def _compare(self, left: str, operator: str, right: str) -> bool:
        if operator in _BINARY:
            return _BINARY[operator](self._context, left, right)
        try:
            variables = self._context.shell.scope.variables
            return bool(evaluate(f"({left}) {_COMPARISONS[operator]} ({right})", dict(variables)))
        except ArithmeticError_:
            bad = next((word for word in (left, right) if not re.fullmatch(r"\s*-?\d+\s*", word)), left)
            raise UsageError(f"{bad}: bad number", 2) from None


def _newer(context: Context, left: str, right: str) -> bool:
    return context.files.mtime_s(context.path(left)) > context.files.mtime_s(context.path(right))


_BINARY: Mapping[str, Callable[[Context, str, str], bool]] = MappingProxyType(
    {
        "=": lambda _, left, right: left == right,
        "==": lambda _, left, right: left == right,
        "!=": lambda _, left, right: left != right,
        "<": lambda _, left, right: left < right,
        ">": lambda _, left, right: left > right,
        "-nt": _newer,
        "-ot": lambda context, left, right: _newer(context, right, left),
        "-ef": lambda context, left, right: context.path(left) == context.path(right),
    }
)


def _test(context: Context, arguments: list[str]) -> int:
    words = list(arguments)
    if context.name in ("[", "[["):
        closing = "]" if context.name == "[" else "]]"
        if not words or words.pop() != closing:
            context.err(f"/system/bin/sh: {context.name}: missing {closing}")
            return 2
    return int(not _Test(context, words).value())


BUILTINS: Mapping[str, Command] = MappingProxyType(
    {
        ".": Command(_source, toybox=False),
        ":": Command(_true, toybox=False),
        "[": Command(_test, toybox=False),
        "[[": Command(_test, toybox=False),
        "break": Command(_break, toybox=False),
        "builtin": Command(_run_rest, toybox=False),
        "cd": Command(_cd, toybox=False),
        "command": Command(_command, toybox=False),
        "continue": Command(_break, toybox=False),
        "echo": Command(_echo),
        "env": Command(_env, "[-i] [-u NAME] [NAME=VALUE...] [COMMAND [ARG...]]"),
        "eval": Command(_eval, toybox=False),
        "exit": Command(_exit, toybox=False),
        "export": Command(_export, toybox=False),
        "false": Command(_false),
        "jobs": Command(_jobs, toybox=False),
        "let": Command(_let, toybox=False),
        "local": Command(_typeset, toybox=False),
        "nice": Command(_run_rest, "[-n PRIORITY] COMMAND [ARG...]"),
        "nohup": Command(_run_rest, "COMMAND [ARG...]"),
        "printf": Command(_printf, "FORMAT [ARGUMENT...]"),
        "pwd": Command(_pwd, "[-L|-P]"),
        "read": Command(_read, toybox=False),
        "readonly": Command(_read_only, toybox=False),
        "return": Command(_return, toybox=False),
        "set": Command(_set, toybox=False),
        "setsid": Command(_run_rest, "COMMAND [ARG...]"),
        "sh": Command(_sh, toybox=False),
        "shift": Command(_shift, toybox=False),
        "source": Command(_source, toybox=False),
        "test": Command(_test),
        "time": Command(_run_rest, "COMMAND [ARG...]"),
        "true": Command(_true),
        "type": Command(_type, toybox=False),
        "typeset": Command(_typeset, toybox=False),
        "ulimit": Command(_ulimit, toybox=False),
        "umask": Command(_umask, toybox=False),
        "unset": Command(_unset, toybox=False),
        "wait": Command(_wait, toybox=False),
        "whence": Command(_type, toybox=False),
        "which": Command(_which_command, "[-a] FILENAME..."),
    }
)
BUILTINS_ONLY = frozenset(name for name, command in BUILTINS.items() if not command.toybox and name not in ("[", "sh"))
"""Commands that exist in no file."""
