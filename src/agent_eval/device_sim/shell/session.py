"""One client's shell: a command line or an interactive shell, its input and output, and the tasks that run in it.

Nothing here runs by itself: a session goes on when it is fed, when its time has come (``resume``), or when another
session signals one of its processes. Knows no transport.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agent_eval.device_sim.shell.context import Io
from agent_eval.device_sim.shell.expansion import Scope
from agent_eval.device_sim.shell.interpreter import Interpreter
from agent_eval.device_sim.shell.process import (
    SIGHUP,
    SIGINT,
    SIGKILL,
    WORK_PER_TURN,
    BrokenPipe,
    Killed,
    NextTurn,
    Pipe,
    Running,
    Sink,
    Steps,
    Task,
    Turns,
    moment_of,
    rests,
)
from agent_eval.device_sim.streams import silent

if TYPE_CHECKING:
    from agent_eval.device_sim.shell.system import System

ADBD_PID = 412
MOST_COMMANDS = 20_000
"""Commands and rounds of loops between two waits; a shell that wants more is killed."""
MOST_OUTPUT = 256 << 20
"""Bytes that nobody has taken yet."""
MOST_TASKS = 200
"""Tasks of one session at once."""


class ShellSession:
    """A shell with somebody at the other end.

    Args:
        system: What it runs on.
        line: The command line; empty for an interactive shell.
        tty: The other end is a terminal: there is a prompt, input is echoed, and lines end as a terminal wants them.
    """

    def __init__(self, system: System, line: str, *, tty: bool = False) -> None:
        self.system = system
        self.notify: Callable[[], object] = silent
        """Set by the transport; called when another session or process changed this one."""
        self.code: int | None = None
        """Exit status once over."""
        self.rows, self.columns = 24, 80
        self._tty = tty
        self._input = Pipe()
        self._typed = bytearray()  # of a terminal: the line that is not finished
        self._output: list[tuple[int, bytes]] = []
        self._waiting_bytes = 0
        self._tasks: list[Task] = []
        self._left = MOST_COMMANDS
        self._work = WORK_PER_TURN
        self._turns = Turns()
        self._going = False
        self.out: Sink = self._write_out
        self.err: Sink = self._write_out if tty else self._write_err
        scope = system.new_scope(tty=tty)
        shell = Interpreter(self, scope)
        io = Io(self._input, self.out, self.err)
        steps = shell.run_text(line, io) if line else shell.run_input(io, self._prompt if tty else None)
        self._main = shell.task = Task(shell.whole(steps))
        self._tasks.append(self._main)
        self._shell = Running(scope.pid, ADBD_PID, "sh", f"sh -c {line}" if line else "sh -", self._main, self.wake)
        system.show(self._shell)
        self._go_on()

    # ------------------------------------------------------------------ the transport's side

    def feed(self, data: bytes) -> None:
        """Take bytes for the standard input."""
        if self.code is not None or self._input.ended:
            return
        self._begin_turn()
        try:
            if self._tty:
                self._type(data)
            else:
                self._input.write(data)
        except BrokenPipe:
            self._end_all(SIGKILL)
        self._step_all()

    def close_input(self) -> None:
        """End the standard input."""
        if self.code is None and not self._input.ended:
            self._input.ended = True
            self._go_on()

    def hang_up(self) -> None:
        """Take the terminal away: what writes to it ends; what was sent elsewhere goes on."""
        self._input.ended = True
        self._end_all(SIGHUP)
        self._settle()

    def resize(self, rows: int, columns: int) -> None:
        """Know the size of the terminal in characters."""
        self.rows, self.columns = rows, columns

    def take(self) -> list[tuple[int, bytes]]:
        """Return new output: 1 for the standard output, 2 for the standard error, and bytes."""
        output, self._output = self._output, []
        self._waiting_bytes = 0
        return output

    @property
    def wake_ms(self) -> int | None:
        """Virtual time at which something of this session wants to go on; now, when it only let others have a turn."""
        if self.rests:
            return self.system.phone.clock.now_ms
        moments = (moment_of(task.waits_for) for task in self._tasks if task.code is None)
        return min((moment for moment in moments if moment is not None), default=None)

    @property
    def rests(self) -> bool:
        """Whether it has more to do at once, and only lets others have a turn."""
        return any(rests(task.waits_for) for task in self._tasks if task.code is None)

    def resume(self) -> None:
        """Go on: the time has come."""
        self._go_on()

    # ------------------------------------------------------------------ the shells' side

    def spawn(self, steps: Steps, *, holds_output: bool) -> Task:
        """Start a task beside the running one."""
        task = Task(steps, holds_output)
        if len(self._tasks) >= MOST_TASKS:
            self.err(b"/system/bin/sh: can't fork: Try again\n")
            task.close(SIGKILL)
            return task
        self._tasks.append(task)
        return task

    def is_output(self, sink: Sink) -> bool:
        """Tell whether a sink leads to whoever opened the session."""
        return sink is self.out or sink is self.err

    def count(self) -> NextTurn | None:
        """Take note that one more command is run; return what it has to wait for first, if this turn's work is done.

        Raises:
            Killed: too many ran without waiting for anything.
        """
        self._left -= 1
        if self._left < 0:
            raise Killed(None, SIGKILL)
        return self.spend(1)

    def spend(self, work: int) -> NextTurn | None:
        """Take note of work; return what the next of it has to wait for, if this turn's is done."""
        self._work -= work
        return NextTurn(self._turns, self._turns.taken) if self._work < 0 else None

    def wake(self) -> None:
        """Go on because another process signalled one of this session's."""
        if not self._going:
            self._go_on()
            self.notify()

    # ------------------------------------------------------------------ inside

    def _go_on(self) -> None:
        """Step every task until all wait, if only for the next turn."""
        if not self._going:
            self._begin_turn()
            self._step_all()

    def _begin_turn(self) -> None:
        self._turns.taken += 1
        self._work = WORK_PER_TURN

    def _step_all(self) -> None:
        if self._going:
            return
        self._going = True
        if not self.rests:
            self._left = MOST_COMMANDS
        clock = self.system.phone.clock
        try:
            moved = True
            while moved:
                moved = False
                for task in self._tasks:  # may grow meanwhile
                    while task.ready(clock.now_ms):
                        task.step()
                        moved = True
                if len(self._tasks) > 1:
                    self._tasks = [task for task in self._tasks if task.code is None]
        finally:
            self._going = False
        self._settle()

    def _settle(self) -> None:
        """Be over once the shell is, and everything whose output the client waits for."""
        if self._main.code is None:
            return
        self.system.forget(self._shell)
        self._tasks = [task for task in self._tasks if task.code is None]
        if self.code is None and not any(task.holds_output for task in self._tasks):
            self.code = self._main.code
        self.system.keep(self, alive=bool(self._tasks))

    def _end_all(self, signal: int) -> None:
        for task in list(self._tasks):
            if task.holds_output or task is self._main:
                task.close(signal)

    def _write_out(self, data: bytes) -> None:
        self._write(1, data.replace(b"\n", b"\r\n") if self._tty else data)

    def _write_err(self, data: bytes) -> None:
        self._write(2, data)

    def _write(self, stream: int, data: bytes) -> None:
        if self.code is not None:
            return
        self._waiting_bytes += len(data)
        self._work -= len(data) >> 10
        if self._waiting_bytes > MOST_OUTPUT:
            raise BrokenPipe
        if data:
            self._output.append((stream, data))

    def _prompt(self, scope: Scope, *, more: bool) -> None:
        status = f"{scope.status}|" if scope.status else ""
        self._write_out(b"> " if more else f"{status}{scope.value('HOSTNAME')}:{scope.folder} $ ".encode())

    def _type(self, data: bytes) -> None:
        """Be the terminal's line discipline: echo, erase, interrupt, and lines as they are finished."""
        for number in data:
            match number:
                case 10 | 13:
                    self._write_out(b"\n")
                    self._input.write(bytes(self._typed) + b"\n")
                    self._typed.clear()
                    self._step_all()  # the echo of what is typed ahead comes when it is read
                case 8 | 127:
                    if self._typed:
                        while self._typed and self._typed.pop() & 0xC0 == 0x80:
                            pass
                        self._write_out(b"\b \b")
                case 3:
                    self._write_out(b"^C\n")
                    self._typed.clear()
                    if self._main.code is None:
                        self._main.interrupt = Killed(None, SIGINT)
                        self._step_all()
                case 4:
                    if self._typed:
                        self._input.write(bytes(self._typed))
                        self._typed.clear()
                    else:
                        self._input.end_marks += 1
                        self._step_all()
                case 21:
                    self._write_out(b"\b \b" * len(self._typed.decode(errors="replace")))
                    self._typed.clear()
                case _:
                    if len(self._typed) < 4096:
                        self._typed.append(number)
                        self._write_out(bytes([number]) if number >= 32 or number == 9 else b"^" + bytes([number + 64]))
