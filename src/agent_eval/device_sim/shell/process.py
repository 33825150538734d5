"""What runs and what it waits for: tasks are generators that yield a wait, and pipes carry bytes between them.

There are no threads: a session steps each task until it waits. Knows no command and no syntax.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field

SIGHUP, SIGINT, SIGKILL, SIGPIPE, SIGTERM = 1, 2, 9, 13, 15
SIGNALS = {
    "HUP": 1, "INT": 2, "QUIT": 3, "ILL": 4, "TRAP": 5, "ABRT": 6, "BUS": 7, "FPE": 8, "KILL": 9, "USR1": 10,
    "SEGV": 11, "USR2": 12, "PIPE": 13, "ALRM": 14, "TERM": 15, "STKFLT": 16, "CHLD": 17, "CONT": 18, "STOP": 19,
    "TSTP": 20, "TTIN": 21, "TTOU": 22, "URG": 23, "XCPU": 24, "XFSZ": 25, "VTALRM": 26, "PROF": 27, "WINCH": 28,
    "POLL": 29, "PWR": 30, "SYS": 31,
}  # fmt: skip
HARMLESS = frozenset({0, 17, 18, 23, 28})
"""Signals that end nothing."""
WORK_PER_TURN = 1000
"""What a session does before others get their turn, in the cost of a simple command: some tens of milliseconds."""
MOST_BUFFERED = 64 << 20
"""Bytes in one pipe; a writer that goes on is ended."""

Sink = Callable[[bytes], object]
"""Takes what a command writes to one of its outputs."""


class BrokenPipe(Exception):
    """Nobody reads any more, or more was written than a pipe holds."""


class Killed(Exception):
    """A signal that ends a process, thrown into its task.

    Args:
        process: The process that it ends, or None for whatever the task is doing.
        signal: Its number.
    """

    def __init__(self, process: Running | None, signal: int) -> None:
        self.process = process
        self.signal = signal
        super().__init__(signal)


class Pipe:
    """Bytes on their way from a writer to a reader."""

    __slots__ = ("_data", "broken", "end_marks", "ended")

    def __init__(self, data: bytes = b"", *, ended: bool = False) -> None:
        self._data = bytearray(data)
        self.ended = ended
        """The writer will write no more."""
        self.broken = False
        """The reader is gone."""
        self.end_marks = 0
        """How often a terminal said that the input is at its end; each ends one reader only."""

    def __len__(self) -> int:
        return len(self._data)

    def write(self, data: bytes) -> None:
        """Add bytes.

        Raises:
            BrokenPipe: nobody reads, or nobody has read for too long.
        """
        if self.broken or len(self._data) + len(data) > MOST_BUFFERED:
            raise BrokenPipe
        self._data += data

    def take(self, limit: int | None = None) -> bytes:
        """Return and forget the bytes that are there, the first ``limit`` of them at most."""
        if limit is None or limit >= len(self._data):
            data = bytes(self._data)
            self._data.clear()
            return data
        data = bytes(self._data[:limit])
        del self._data[:limit]
        return data

    @property
    def silent(self) -> bool:
        """Nothing is there to read, not even the end."""
        return not self._data and not self.ended and not self.end_marks

    def at_end(self) -> bool:
        """Tell whether a reader that finds nothing has reached the end; takes note that it was told."""
        if self._data:
            return False
        if self.end_marks:
            self.end_marks -= 1
            return True
        return self.ended

    def take_line(self) -> bytes | None:
        """Return and forget the first line with its line break, or None while it is incomplete."""
        end = self._data.find(b"\n")
        return None if end < 0 else self.take(end + 1)


def nothing() -> Pipe:
    """Return an input that is at its end."""
    return Pipe(ended=True)


# ----------------------------------------------------------------------------------------------------------------------
# waits


@dataclass(frozen=True, slots=True)
class Input:
    """Bytes, or the end, of an input."""

    pipe: Pipe

    def ready(self, now_ms: int) -> bool:  # noqa: ARG002
        """Tell whether there is something to read."""
        return not self.pipe.silent


@dataclass(frozen=True, slots=True)
class Until:
    """A moment of the phone's clock."""

    moment_ms: int

    def ready(self, now_ms: int) -> bool:
        """Tell whether it has come."""
        return now_ms >= self.moment_ms


@dataclass(frozen=True, slots=True)
class Done:
    """The end of other tasks."""

    tasks: tuple[Task, ...]

    def ready(self, now_ms: int) -> bool:  # noqa: ARG002
        """Tell whether all have ended."""
        return all(task.code is not None for task in self.tasks)


@dataclass(frozen=True, slots=True)
class Sooner:
    """Another wait, or a moment if that comes first."""

    wait: Wait
    moment_ms: int

    def ready(self, now_ms: int) -> bool:
        """Tell whether either has come."""
        return now_ms >= self.moment_ms or self.wait.ready(now_ms)


@dataclass(frozen=True, slots=True)
class Forever:
    """A signal."""

    def ready(self, now_ms: int) -> bool:  # noqa: ARG002
        """Tell that it never comes by itself."""
        return False


@dataclass(frozen=True, slots=True)
class More:
    """More bytes than are there now, or the end, of an input."""

    pipe: Pipe
    than: int

    def ready(self, now_ms: int) -> bool:  # noqa: ARG002
        """Tell whether more came."""
        return len(self.pipe) != self.than or self.pipe.ended or self.pipe.end_marks > 0


class Turns:
    """How often a session was let go on, which is how a task knows that others had their turn."""

    def __init__(self) -> None:
        self.taken = 0


@dataclass(frozen=True, slots=True)
class NextTurn:
    """Everything else that wants to happen on the phone: a session that works for long goes on in turns."""

    turns: Turns
    asked: int
    """The turn in which it was asked for."""

    def ready(self, now_ms: int) -> bool:  # noqa: ARG002
        """Tell whether it is a later turn."""
        return self.turns.taken != self.asked


Wait = Input | More | Until | Sooner | Done | Forever | NextTurn


def rests(wait: Wait | None) -> bool:
    """Tell whether a wait is only for the next turn, so that it ends without anything happening."""
    return isinstance(wait, NextTurn) or (isinstance(wait, Sooner) and rests(wait.wait))


def moment_of(wait: Wait | None) -> int | None:
    """Return the moment at which the clock alone ends a wait, or None when it does not."""
    if isinstance(wait, Sooner):
        inner = moment_of(wait.wait)
        return wait.moment_ms if inner is None else min(wait.moment_ms, inner)
    return wait.moment_ms if isinstance(wait, Until) else None


Steps = Generator[Wait, None, int]
"""Work in steps: yields what it waits for and returns an exit status."""


def read_some(pipe: Pipe, limit: int | None = None) -> Generator[Wait, None, bytes]:
    """Return what is there to read, waiting for it; nothing at the end."""
    while pipe.silent:
        yield Input(pipe)
    return b"" if pipe.at_end() else pipe.take(limit)


def read_all(pipe: Pipe) -> Generator[Wait, None, bytes]:
    """Return everything up to the end."""
    pieces: list[bytes] = []
    size = 0
    while size <= MOST_BUFFERED:
        piece = yield from read_some(pipe)
        if not piece:
            break
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def read_exactly(pipe: Pipe, size: int) -> Generator[Wait, None, bytes]:
    """Return so many bytes, fewer only at the end."""
    pieces: list[bytes] = []
    while size > 0:
        piece = yield from read_some(pipe, size)
        if not piece:
            break
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def read_line(pipe: Pipe) -> Generator[Wait, None, bytes]:
    """Return one line with its line break; what is left at the end; nothing when that has been read."""
    while (line := pipe.take_line()) is None:
        if pipe.at_end():
            return b""
        if pipe.ended or pipe.end_marks:
            return pipe.take()
        yield More(pipe, len(pipe))
    return line


# ----------------------------------------------------------------------------------------------------------------------
# tasks


@dataclass(eq=False, slots=True)
class Task:
    """One thread of execution in a session."""

    steps: Steps
    holds_output: bool = True
    """Somebody who reads the session's output waits for this task, too."""
    waits_for: Wait | None = None
    code: int | None = None
    """Exit status once over."""
    interrupt: Killed | None = None
    """Signal to be delivered at the next step."""
    on_end: list[Callable[[], object]] = field(default_factory=list)

    def ready(self, now_ms: int) -> bool:
        """Tell whether it can go on."""
        if self.code is not None:
            return False
        return self.interrupt is not None or self.waits_for is None or self.waits_for.ready(now_ms)

    def step(self) -> None:
        """Go on until the next wait or the end."""
        interrupt, self.interrupt = self.interrupt, None
        try:
            self.waits_for = self.steps.throw(interrupt) if interrupt is not None else next(self.steps)
        except StopIteration as end:
            self.end(int(end.value or 0))
        except Killed as killed:
            self.end(128 + killed.signal)
        except BrokenPipe:
            self.end(128 + SIGPIPE)

    def close(self, signal: int) -> None:
        """End at once, letting go of what is held."""
        if self.code is None:
            self.steps.close()
            self.end(128 + signal)

    def end(self, code: int) -> None:
        """Be over."""
        self.code = code
        for action in self.on_end:
            action()


@dataclass(eq=False, slots=True)
class Running:
    """A process of a session that others can see and end."""

    pid: int
    parent: int
    name: str
    line: str
    """The command with its arguments."""
    task: Task
    wake: Callable[[], object]
    """Lets the session of the process go on."""
    user: str = "shell"

    def kill(self, signal: int) -> None:
        """Deliver a signal."""
        if signal not in HARMLESS and self.task.code is None:
            self.task.interrupt = Killed(self, signal)
            self.wake()
