"""Runs syntax trees: lists, pipes, loops, redirections, functions. Knows how a command is called, not what any does.

Everything that may wait is a generator of waits (see ``process``); what cannot wait costs no more than a call.
"""

from __future__ import annotations

import functools
import posixpath
from collections.abc import Generator, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from agent_eval.device_sim.files import FileProblem, Files, resolve
from agent_eval.device_sim.shell import wildcards
from agent_eval.device_sim.shell.context import Command, Context, Io, UsageError
from agent_eval.device_sim.shell.expansion import (
    MOST_FIELDS,
    ExpansionError,
    Output,
    Resolved,
    Scope,
    fields,
    needs_operand,
    pattern,
    single,
)
from agent_eval.device_sim.shell.parser import (
    Case,
    For,
    Function,
    Group,
    If,
    Item,
    Parameter,
    Pipeline,
    Redirection,
    Script,
    ShellSyntaxError,
    Simple,
    Substitution,
    Text,
    While,
    Word,
    parse_line,
)
from agent_eval.device_sim.shell.parser import Command as Tree
from agent_eval.device_sim.shell.process import (
    SIGINT,
    SIGPIPE,
    SIGTERM,
    WORK_PER_TURN,
    BrokenPipe,
    Done,
    Killed,
    NextTurn,
    Pipe,
    Running,
    Sink,
    Steps,
    Task,
    Wait,
    nothing,
    read_line,
)

if TYPE_CHECKING:
    from agent_eval.device_sim.shell.system import System

SHELL = "/system/bin/sh"
FOLDERS_OF_COMMANDS = ("/system/bin", "/system/xbin", "/vendor/bin", "/product/bin", "/bin")
_DEEPEST = 500
"""Calls of Python that commands inside one another may take: half of what the interpreter of this program allows."""
_PER_CALL, _PER_COMPOUND = 10, 7
"""The most of them that lie between a command and one that it runs, and between a compound command and those in it."""
_LONGEST_ARGUMENTS = 4 << 20
"""Characters that the words of one command may become."""
_LONGEST_TEXT = 1 << 16
"""Characters of one command that is typed over several lines."""
_MOST_READ = 1 << 20
"""The same, each as often as it is read again because a further line came."""
_WILD = frozenset("*?[~")


class Host(Protocol):
    """The part of a session that its shells use."""

    system: System

    def spawn(self, steps: Steps, *, holds_output: bool) -> Task:
        """Start a task beside the running one."""
        ...

    def is_output(self, sink: Sink) -> bool:
        """Tell whether a sink leads to whoever opened the session."""
        ...

    def count(self) -> NextTurn | None:
        """Take note that one more command is run; return what it has to wait for first, if this turn's work is done.

        Raises:
            Killed: too many ran without waiting for anything.
        """
        ...

    def spend(self, work: int) -> NextTurn | None:
        """Take note of work; return what the next of it has to wait for, if this turn's is done."""
        ...

    def wake(self) -> object:
        """Go on as soon as possible."""
        ...


class Exit(Exception):
    """The shell is to end."""

    def __init__(self, code: int) -> None:
        self.code = code & 0xFF
        super().__init__(code)


class _Jump(Exception):
    def __init__(self, kind: str, levels: int) -> None:
        self.kind = kind
        self.levels = levels
        super().__init__(kind)


class Return(Exception):
    """A function or script is to end."""

    def __init__(self, code: int) -> None:
        self.code = code & 0xFF
        super().__init__(code)


def jump(kind: str, levels: int) -> Exception:
    """Return what ``break`` and ``continue`` raise."""
    return _Jump(kind, levels)


class _FileSink:
    """Collects what is written to a file, and writes it in pieces as C's standard library does."""

    def __init__(self, files: Files, path: str, *, append: bool) -> None:
        self._files = files
        self._path = path
        self._held = bytearray()
        self.moved = 0
        """Bytes that were moved, those that were there before among them."""
        if not append or not files.exists(path):
            files.write(path, b"")

    def __call__(self, data: bytes) -> None:
        self._held += data
        if len(self._held) >= 1 << 16:
            self.flush()

    def flush(self) -> None:
        if self._held:
            held = bytes(self._held)
            self._held.clear()
            self._files.append(self._path, held)
            found = self._files.stat(self._path)
            self.moved += found.size if found is not None else 0


class _Redirected(NamedTuple):
    io: Io
    opened: tuple[_FileSink, ...]


def _nowhere(_: bytes) -> None:
    """Be ``/dev/null``."""


class Interpreter:
    """One shell.

    Args:
        host: The session it belongs to.
        scope: Its variables.
        task: The task that runs it; set by whoever starts the task.
        depth: How many shells and functions it is inside of.
    """

    def __init__(self, host: Host, scope: Scope, depth: int = 0) -> None:
        self.host = host
        self.system = host.system
        self.scope = scope
        self.task: Task | None = None
        self.jobs: list[Task] = []
        self._depth = depth
        self._conditions = 0  # inside a condition, a failure does not end a shell with ``set -e``

    # ------------------------------------------------------------------ texts

    def run_text(self, text: str, io: Io) -> Generator[Wait, None, int]:
        """Run command lines; a line that does not parse ends them."""
        self.scope.status = 0
        position = 0
        while position < len(text):
            start = position
            try:
                script, position = parse_line(text, position)
            except ShellSyntaxError as error:
                io.err(f"{self.scope.name}: {error.message}\n".encode())
                return 1
            turn = self.host.spend(_work_of_reading(position - start))
            if turn is not None:
                yield turn
            yield from self.script(script, io)
        return self.scope.status

    def run_input(self, io: Io, prompt: Prompt | None = None) -> Generator[Wait, None, int]:
        """Run command lines as they arrive on the standard input, until it ends."""
        text, awaits, read = "", "", 0
        while True:
            if prompt is not None:
                prompt(self.scope, more=bool(text))
            try:
                line = yield from read_line(io.stdin)
            except Killed as killed:
                if prompt is None or not _is_break(killed):
                    raise
                text, awaits, read, self.scope.status = "", "", 0, 128 + SIGINT
                continue
            added = line.decode(errors="replace").replace("\x00", "")
            text += added
            is_awaited = added.strip("\t\n") == awaits or not (awaits and line) or len(text) >= _LONGEST_TEXT
            read += len(text) if is_awaited else 0
            turn = self.host.spend(_work_of_reading(len(text) if is_awaited else 0))
            if turn is not None:
                yield turn
            if not is_awaited:
                continue
            try:
                script = parse_line(text, ended=not line).script if text.strip() else Script(())
            except ShellSyntaxError as error:
                if error.incomplete and line and len(text) < _LONGEST_TEXT and read < _MOST_READ:
                    awaits = error.awaits
                    continue
                io.err(f"{self.scope.name}: {error.message}\n".encode())
                self.scope.status, script = 1, Script(())
            text, awaits, read = "", "", 0
            try:
                yield from self.script(script, io)
            except Killed as killed:
                if prompt is None or not _is_break(killed):
                    raise
                self.scope.status = 128 + killed.signal
            if not line:
                return self.scope.status

    def whole(self, steps: Steps) -> Steps:
        """Run something to the end of this shell: ``exit`` and ``return`` end it."""
        try:
            code = yield from steps
        except (Exit, Return) as end:
            code = end.code
        except _Jump:
            code = self.scope.status
        return code

    # ------------------------------------------------------------------ lists

    def script(self, script: Script, io: Io) -> Generator[Wait, None, int]:
        """Run commands one after the other."""
        for item in script.items:
            try:
                if item.background:
                    self._background(item, io)
                else:
                    yield from self._item(item, io)
            except ExpansionError as error:
                io.err(f"{self.scope.name}: {error}\n".encode())
                self.scope.status = 1
        return self.scope.status

    def _item(self, item: Item, io: Io) -> Generator[Wait, None, None]:
        scope = self.scope
        if not item.rest:
            yield from self._pipeline(item.first, io)
        else:
            self._conditions += 1
            try:
                yield from self._pipeline(item.first, io)
                for place, (operator, pipeline) in enumerate(item.rest):
                    if place == len(item.rest) - 1:
                        self._conditions -= 1
                    try:
                        if (operator == "&&") == (scope.status == 0):
                            yield from self._pipeline(pipeline, io)
                        elif place == len(item.rest) - 1:
                            return
                    finally:
                        if place == len(item.rest) - 1:
                            self._conditions += 1
            finally:
                self._conditions -= 1
        if scope.stop_on_failure and scope.status and not self._conditions and not item.first.negated:
            raise Exit(scope.status)

    def _pipeline(self, pipeline: Pipeline, io: Io) -> Generator[Wait, None, None]:
        if len(pipeline.commands) == 1:
            yield from self._command(pipeline.commands[0], io)
        else:
            yield from self._pipe(pipeline.commands, io)
        if pipeline.negated:
            self.scope.status = int(self.scope.status == 0)
        if self.task is not None and self.task.interrupt is not None:
            interrupt, self.task.interrupt = self.task.interrupt, None
            raise interrupt

    def _pipe(self, commands: tuple[Tree, ...], io: Io) -> Generator[Wait, None, None]:
        tasks: list[Task] = []
        stdin = io.stdin
        for place, command in enumerate(commands):
            last = place == len(commands) - 1
            pipe = Pipe()
            stage = Io(stdin, io.out if last else pipe.write, io.err)
            task = self.start(command, stage, holds_output=self._holds(stage))
            task.on_end.append(functools.partial(_close, stdin if place else None, None if last else pipe))
            tasks.append(task)
            stdin = pipe
        try:
            yield Done(tuple(tasks))
        except (Killed, GeneratorExit):
            for task in tasks:
                task.close(SIGTERM)
            raise
        self.scope.status = tasks[-1].code or 0

    def _holds(self, io: Io) -> bool:
        return self.host.is_output(io.out) or self.host.is_output(io.err)

    def start(self, command: Tree, io: Io, *, holds_output: bool) -> Task:
        """Run a command in a subshell, beside this one."""
        shell = Interpreter(self.host, self.scope.copy(), self._depth)
        shell._conditions = self._conditions
        task = self.host.spawn(shell.whole(shell._alone(command, io)), holds_output=holds_output)
        shell.task = task
        return task

    def _alone(self, command: Tree, io: Io) -> Steps:
        try:
            yield from self._command(command, io)
        except ExpansionError as error:
            io.err(f"{self.scope.name}: {error}\n".encode())
            self.scope.status = 1
        return self.scope.status

    def _background(self, item: Item, io: Io) -> None:
        tree = Group(Script((item._replace(background=False),)), subshell=False)
        io = io._replace(stdin=nothing())
        holds = self._holds(io) and not _leads_elsewhere(item)
        task = self.start(tree, io, holds_output=holds)
        process = self.register("sh", [], task)
        task.on_end.append(lambda: self.system.forget(process))
        self.jobs.append(task)
        self.scope.background_pid = process.pid
        self.scope.status = 0

    def register(self, name: str, arguments: list[str], task: Task) -> Running:
        """Make something of this shell visible as a process."""
        process = Running(
            self.system.new_pid(), self.scope.pid, name, " ".join((name, *arguments))[:4096], task, self.host.wake
        )
        self.system.show(process)
        return process

    # ------------------------------------------------------------------ commands

    def _command(self, command: Tree, io: Io) -> Generator[Wait, None, None]:
        if isinstance(command, Simple):
            yield from self._simple(command, io)
            return
        if isinstance(command, Function):
            self.scope.functions[command.name] = command.body
            self.scope.status = 0
            return
        if not command.redirections:
            yield from self._compound(command, io)
            return
        redirected = yield from self._redirect(command.redirections, io)
        if redirected is None:
            return
        try:
            yield from self._compound(command, redirected.io)
        finally:
            self._finish(redirected, io)

    def _compound(self, command: Group | If | While | For | Case, io: Io) -> Generator[Wait, None, None]:
        self._go_deeper(_PER_COMPOUND)
        try:
            match command:
                case Group():
                    if command.subshell:
                        yield from self._subshell(command.body, io)
                    else:
                        yield from self.script(command.body, io)
                case If():
                    yield from self._if(command, io)
                case While():
                    yield from self._while(command, io)
                case For():
                    yield from self._for(command, io)
                case Case():
                    yield from self._case(command, io)
        finally:
            self._depth -= _PER_COMPOUND

    def _subshell(self, script: Script, io: Io) -> Generator[Wait, None, None]:
        shell = Interpreter(self.host, self.scope.copy(), self._depth)
        shell.task = self.task
        shell._conditions = self._conditions
        self.scope.status = yield from shell.whole(shell.script(script, io))

    def _go_deeper(self, calls: int) -> None:
        if self._depth + calls > _DEEPEST:
            raise ExpansionError("nested too deeply")
        self._depth += calls

    def _condition(self, script: Script, io: Io) -> Generator[Wait, None, bool]:
        self._conditions += 1
        try:
            yield from self.script(script, io)
        finally:
            self._conditions -= 1
        return self.scope.status == 0

    def _if(self, command: If, io: Io) -> Generator[Wait, None, None]:
        for condition, body in command.branches:
            if (yield from self._condition(condition, io)):
                yield from self.script(body, io)
                return
        self.scope.status = 0
        if command.otherwise is not None:
            yield from self.script(command.otherwise, io)

    def _while(self, command: While, io: Io) -> Generator[Wait, None, None]:
        status = 0
        while True:
            turn = self.host.count()
            if turn is not None:
                yield turn
            if (yield from self._condition(command.condition, io)) == command.until:
                break
            if not (yield from self._round(command.body, io)):
                break
            status = self.scope.status
        self.scope.status = status

    def _for(self, command: For, io: Io) -> Generator[Wait, None, None]:
        words = list(self.scope.positional)
        if command.words is not None:
            words = yield from self._arguments(command.words, io)
        self.scope.status = 0
        for word in words:
            turn = self.host.count()
            if turn is not None:
                yield turn
            self.scope.assign(command.name, word)
            if not (yield from self._round(command.body, io)):
                break

    def _round(self, body: Script, io: Io) -> Generator[Wait, None, bool]:
        """Run the body of a loop once; tell whether the loop goes on."""
        try:
            yield from self.script(body, io)
        except _Jump as jumped:
            if jumped.levels > 1:
                raise _Jump(jumped.kind, jumped.levels - 1) from None
            self.scope.status = 0
            return jumped.kind == "continue"
        return True

    def _case(self, command: Case, io: Io) -> Generator[Wait, None, None]:
        word = single((yield from self._resolve(command.word, io)), self.scope)
        self.scope.status = 0
        for choice in command.choices:
            for wanted in choice.patterns:
                resolved = yield from self._resolve(wanted, io)
                try:
                    fits = wildcards.matches(pattern(resolved, self.scope), word)
                except wildcards.TooComplex as problem:
                    raise ExpansionError(problem.text) from None
                if fits:
                    yield from self.script(choice.body, io)
                    return

    # ------------------------------------------------------------------ words

    def _arguments(self, words: Iterable[Word], io: Io) -> Generator[Wait, None, list[str]]:
        out: list[str] = []
        size = 0
        for word in words:
            part = word[0] if len(word) == 1 else None
            if isinstance(part, Text) and (part.quoted or not _WILD & set(part.text)):
                out.append(part.text)
                size += len(part.text)
                continue
            resolved = yield from self._resolve(word, io)
            try:
                found = fields(resolved, self.scope, self.system.files)
            except ExpansionError:
                self.host.spend(WORK_PER_TURN)
                raise
            out.extend(found)
            size += sum(map(len, found))
            self.host.spend(len(found) >> 2)
            if len(out) > MOST_FIELDS or size > _LONGEST_ARGUMENTS:
                raise ExpansionError("Argument list too long")
        self.host.spend(size >> 10)
        return out

    def _resolve(self, word: Word, io: Io) -> Generator[Wait, None, tuple[Resolved, ...]]:
        """Run the command substitutions of a word."""
        if all(isinstance(part, Text) or (isinstance(part, Parameter) and not part.operand) for part in word):
            return word
        out: list[Resolved] = []
        for part in word:
            if isinstance(part, Substitution):
                out.append(Output((yield from self._substitute(part.script, io)), part.quoted))
            elif isinstance(part, Parameter) and part.operand and needs_operand(part, self.scope):
                operand = yield from self._resolve(part.operand, io)
                out.append(part._replace(operand=operand))  # type: ignore[arg-type]  # parts with their substitutions run
            elif not isinstance(part, Text | Parameter):
                expression = yield from self._resolve(part.expression, io)
                out.append(part._replace(expression=expression))  # type: ignore[arg-type]  # the same
            else:
                out.append(part)
        return tuple(out)

    def _substitute(self, script: Script, io: Io) -> Generator[Wait, None, str]:
        self._go_deeper(_PER_CALL)
        pipe = Pipe()
        shell = Interpreter(self.host, self.scope.copy(), self._depth)
        shell.task = self.task
        try:
            self.scope.status = yield from shell.whole(shell.script(script, io._replace(out=pipe.write)))
        finally:
            self._depth -= _PER_CALL
        return pipe.take().decode(errors="replace").replace("\x00", "").rstrip("\n")

    # ------------------------------------------------------------------ redirections

    def _redirect(self, redirections: Iterable[Redirection], io: Io) -> Generator[Wait, None, _Redirected | None]:
        """Open what a command is redirected to; None, after an error message, when that fails."""
        opened: list[_FileSink] = []
        streams: dict[int, Pipe | Sink] = {0: io.stdin, 1: io.out, 2: io.err}
        for fd, kind, target in redirections:
            word = single((yield from self._resolve(target, io)), self.scope)
            problem = self._open(fd, kind, word, streams, opened)
            if problem:
                self._finish(_Redirected(io, tuple(opened)), io)
                io.err(f"{self.scope.name}: {problem}\n".encode())
                self.scope.status = 1
                return None
        stdin, out, err = streams[0], streams[1], streams[2]
        if not isinstance(stdin, Pipe):
            stdin = nothing()
        sinks = [_nowhere if isinstance(stream, Pipe) else stream for stream in (out, err)]
        return _Redirected(Io(stdin, sinks[0], sinks[1]), tuple(opened))

    def _open(self, fd: int, kind: str, word: str, streams: dict[int, Pipe | Sink], opened: list[_FileSink]) -> str:
        if kind in ("<<", "<<<"):
            text = word if kind == "<<" else word + "\n"
            streams[fd] = Pipe(text.encode(), ended=True)
            return ""
        if kind in (">&", "<&") and (word.isdecimal() or word == "-"):
            if word == "-":
                streams[fd] = nothing() if fd == 0 else _nowhere
            elif int(word[:6]) not in streams:
                return f"{word}: bad file descriptor"
            else:
                streams[fd] = streams[int(word)]
            return ""
        path = resolve(word, self.scope.folder)
        if kind == "<":
            try:
                streams[fd] = Pipe(self.system.read_file(path), ended=True)
            except FileProblem as problem:
                return f"can't open {word}: {problem.reason}"
            return ""
        if not word:
            return "can't create : No such file or directory"
        sink: Sink
        if path == "/dev/null":
            sink = _nowhere
        elif path in ("/dev/stdout", "/proc/self/fd/1", "/dev/fd/1", "/dev/tty"):
            sink = streams[1]  # type: ignore[assignment]  # an output, unless the caller made it an input
        elif path in ("/dev/stderr", "/proc/self/fd/2", "/dev/fd/2"):
            sink = streams[2]  # type: ignore[assignment]  # the same
        else:
            try:
                file = _FileSink(self.system.files, path, append=">>" in kind)
            except FileProblem as problem:
                return f"can't create {word}: {problem.reason}"
            opened.append(file)
            sink = file
        streams[fd] = sink
        if kind.startswith("&") or kind == ">&":
            streams[2] = sink
        return ""

    def _finish(self, redirected: _Redirected, io: Io) -> None:
        for file in redirected.opened:
            try:
                file.flush()
            except FileProblem as problem:
                io.err(f"{self.scope.name}: {problem}\n".encode())
                self.scope.status = 1
            self.host.spend(file.moved >> 16)

    # ------------------------------------------------------------------ simple commands

    def _simple(self, command: Simple, io: Io) -> Generator[Wait, None, None]:
        scope = self.scope
        turn = self.host.count()
        if turn is not None:
            yield turn
        redirected: _Redirected | None = None
        try:
            words = yield from self._arguments(command.words, io)
            if command.assignments and not words:
                scope.status = 0
            assigned = {}
            for name, value in command.assignments:
                assigned[name] = single((yield from self._resolve(value, io)), scope)
                if not words:
                    scope.assign(name, assigned[name])
            if command.redirections:
                redirected = yield from self._redirect(command.redirections, io)
                if redirected is None:
                    return
            own = io if redirected is None else redirected.io
            if scope.trace and words:
                own.err(f"+ {' '.join(words)}\n".encode())
            if not words:
                scope.status = scope.status if command.assignments else 0
            elif words[0] == "exec" and not (len(words) > 1 and words[1].startswith("-")):
                yield from self._exec(words[1:], assigned, own)
            else:
                scope.status = yield from self.call(words[0], words[1:], own, assigned)
        except ExpansionError as error:
            io.err(f"{scope.name}: {error}\n".encode())
            scope.status = 1
        finally:
            if redirected is not None:
                self._finish(redirected, io)

    def _exec(self, words: list[str], assigned: Mapping[str, str], io: Io) -> Generator[Wait, None, None]:
        if words:
            code = yield from self.call(words[0], words[1:], io, assigned)
            raise Exit(code)
        self.scope.status = 0

    def call(
        self, name: str, arguments: list[str], io: Io, assigned: Mapping[str, str] | None = None
    ) -> Generator[Wait, None, int]:
        """Run one command by name, with variables that only it sees."""
        scope = self.scope
        self.host.spend(1)
        self._go_deeper(_PER_CALL)
        saved: dict[str, str | None] = {}
        lent: list[str] = []
        try:
            for variable, value in (assigned or {}).items():
                saved[variable] = scope.variables.get(variable)
                scope.assign(variable, value)
                if variable not in scope.exported:
                    scope.exported.add(variable)
                    lent.append(variable)
            function = scope.functions.get(name)
            if function is not None:
                return (yield from self._function(function, arguments, io))
            command = self.system.commands.get(name)
            if command is None and "/" in name:
                folder, base = posixpath.split(resolve(name, scope.folder))
                command = self.system.commands.get(base) if folder in FOLDERS_OF_COMMANDS else None
                if command is None:
                    return (yield from self._file(name, arguments, io))
            if command is None:
                return self.unknown(name, io)
            return (yield from self._run(command, name, arguments, io))
        finally:
            self._depth -= _PER_CALL
            scope.exported.difference_update(lent)
            for variable, before in saved.items():
                if before is None:
                    scope.variables.pop(variable, None)
                else:
                    scope.variables[variable] = before

    def unknown(self, name: str, io: Io) -> int:
        """Say that there is no such command, and count it."""
        self.system.count_unknown(name)
        io.err(f"{SHELL}: {name}: inaccessible or not found\n".encode())
        return 127

    def _run(self, command: Command, name: str, arguments: list[str], io: Io) -> Generator[Wait, None, int]:
        context = Context(self, io, name.rpartition("/")[2])
        self.host.spend(command.work)
        try:
            if command.usage and arguments == ["--help"] and command.toybox:
                context.line(f"usage: {context.name} {command.usage}".rstrip())
                return 0
            result = command.run(context, arguments)
            if isinstance(result, int):
                return result
            return (yield from self._steps(result, context.name, arguments))
        except UsageError as error:
            hint = f' (see "{context.name} --help")' if error.text.startswith("Unknown option") else ""
            return context.complain(error.text + hint, error.code)
        except FileProblem as problem:
            return context.complain(str(problem))
        except BrokenPipe:
            return 128 + SIGPIPE

    def _steps(self, steps: Steps, name: str, arguments: list[str]) -> Generator[Wait, None, int]:
        """Run a command that may wait; while it does, it is a process that others see and can end."""
        try:
            wait = next(steps)
        except StopIteration as end:
            return int(end.value or 0)
        process = None
        if self.task is not None:
            process = self.register(name, arguments, self.task)
        try:
            while True:
                try:
                    yield wait
                except Killed as killed:
                    if killed.process is not process:
                        raise
                    steps.close()
                    return 128 + killed.signal
                try:
                    wait = next(steps)
                except StopIteration as end:
                    return int(end.value or 0)
        finally:
            steps.close()
            if process is not None:
                self.system.forget(process)

    def _function(self, body: Tree, arguments: list[str], io: Io) -> Generator[Wait, None, int]:
        before, self.scope.positional = self.scope.positional, arguments
        try:
            yield from self._command(body, io)
            return self.scope.status
        except Return as end:
            return end.code
        finally:
            self.scope.positional = before

    def _file(self, name: str, arguments: list[str], io: Io) -> Generator[Wait, None, int]:
        """Run a script by its path."""
        found = self.system.files.stat(resolve(name, self.scope.folder))
        if found is None:
            return self.unknown(name, io)
        if found.is_folder or not found.mode & 0o111:
            why = "Is a directory" if found.is_folder else "Permission denied"
            io.err(f"{SHELL}: {name}: can't execute: {why}\n".encode())
            return 126
        content = self.system.files.read(resolve(name, self.scope.folder))
        if b"\x00" in content[:1024]:
            io.err(f"{SHELL}: {name}: not executable: unknown file format\n".encode())
            return 126
        return (yield from self.fresh(name, arguments).script_of(content, io))

    def fresh(self, name: str = SHELL, arguments: Iterable[str] = ()) -> Interpreter:
        """Return a new shell that knows only the exported variables of this one."""
        scope = self.scope.copy()
        scope.variables = {key: value for key, value in scope.variables.items() if key in scope.exported}
        scope.functions, scope.read_only = {}, set()
        scope.stop_on_failure = scope.trace = False
        scope.name, scope.positional = name, list(arguments)
        scope.pid = self.system.new_pid()
        shell = Interpreter(self.host, scope, self._depth)
        shell.task = self.task
        return shell

    def script_of(self, content: bytes, io: Io) -> Generator[Wait, None, int]:
        """Run the content of a file."""
        text = content.decode(errors="replace").replace("\x00", "")
        return (yield from self.whole(self.run_text(text, io)))


def _work_of_reading(characters: int) -> int:
    """Return what it costs to parse so many characters."""
    return 1 + (characters >> 2)


def _is_break(killed: Killed) -> bool:
    """Tell whether it is a person at the terminal who interrupts."""
    return killed.process is None and killed.signal == SIGINT


class Prompt(Protocol):
    """Prints the prompt of an interactive shell."""

    def __call__(self, scope: Scope, *, more: bool) -> None: ...


def _close(reads: Pipe | None, writes: Pipe | None) -> None:
    if reads is not None:
        reads.broken = True
    if writes is not None:
        writes.ended = True


def _leads_elsewhere(item: Item) -> bool:
    """Tell whether a background command writes both outputs to files, so that nobody waits for it."""
    command = item.first.commands[-1]
    if isinstance(command, Function):
        return False
    targets: dict[int, bool] = {}
    for fd, kind, target in command.redirections:
        if kind.startswith("&") or kind == ">&":
            return True
        if kind in (">", ">>"):
            targets[fd] = True
        elif kind == ">&" and len(target) == 1 and isinstance(target[0], Text) and target[0].text.isdecimal():
            targets[fd] = targets.get(int(target[0].text), False)
    return len(item.first.commands) == 1 and targets.get(1, False) and targets.get(2, False)
