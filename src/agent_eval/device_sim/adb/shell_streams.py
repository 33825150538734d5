"""Shell sessions as streams: plain bytes (the first shell protocol, and ``exec``) or frames (the second one)."""

from __future__ import annotations

from collections.abc import Callable

from agent_eval.device_sim.adb.seams import Session
from agent_eval.device_sim.adb.shell_frames import FrameReader, Kind, encode, window_size
from agent_eval.device_sim.streams import Progress, silent


class _Shell:
    """What both have in common: time, and the end.

    Args:
        session: The command line that runs.
        now_ms: The phone's virtual time.
    """

    def __init__(self, session: Session, now_ms: Callable[[], int]) -> None:
        self._session = session
        self._now_ms = now_ms

    @property
    def notify(self) -> Callable[[], object]:
        """What the session calls when another one changed it."""
        return self._session.notify

    @notify.setter
    def notify(self, call: Callable[[], object]) -> None:
        self._session.notify = call

    def end_of_input(self) -> None:
        """End the standard input."""
        self._session.close_input()

    def hang_up(self) -> None:
        """End the command."""
        self._session.notify = silent
        self._session.hang_up()

    def _output(self) -> list[tuple[int, bytes]]:
        wake = self._session.wake_ms
        if self._session.code is None and wake is not None and wake <= self._now_ms():
            self._session.resume()
        return self._session.take()

    def _progress(self, data: bytes) -> Progress:
        over = self._session.code is not None
        return Progress(data, over=over, wake_ms=None if over else self._session.wake_ms)


class PlainShell(_Shell):
    """Both outputs mixed, as from a terminal; the exit status stays unknown.

    Args:
        session: The command line that runs.
        now_ms: The phone's virtual time.
        finishes_input: Whether the peer ends the standard input by closing the stream, as ``exec`` has it, and not
            the command.
    """

    def __init__(self, session: Session, now_ms: Callable[[], int], *, finishes_input: bool = False) -> None:
        super().__init__(session, now_ms)
        self._finishes_input = finishes_input

    def receive(self, data: bytes) -> None:
        """Pass bytes to the standard input."""
        self._session.feed(data)

    def hang_up(self) -> None:
        """End the command, or first only its input."""
        if self._finishes_input and self._session.code is None:
            self._session.close_input()
        super().hang_up()

    def poll(self) -> Progress:
        """Return new output."""
        return self._progress(b"".join(part for _, part in self._output()))


class FramedShell(_Shell):
    """Two outputs and the exit status, each in its frames.

    Args:
        session: The command line that runs.
        now_ms: The phone's virtual time.
    """

    def __init__(self, session: Session, now_ms: Callable[[], int]) -> None:
        super().__init__(session, now_ms)
        self._reader = FrameReader()
        self._said_exit = False

    def receive(self, data: bytes) -> None:
        """Act on the peer's frames; those that only a phone sends are ignored."""
        for frame in self._reader.feed(data):
            if self._session.code is not None:
                return
            match frame.kind:
                case Kind.STDIN:
                    self._session.feed(frame.data)
                case Kind.CLOSE_STDIN:
                    self._session.close_input()
                case Kind.WINDOW_SIZE:
                    size = window_size(frame.data)
                    if size is not None:
                        self._session.resize(size.rows, size.columns)
                case _:
                    pass

    def poll(self) -> Progress:
        """Return new output, and once it is over the exit status."""
        kinds = {1: Kind.STDOUT, 2: Kind.STDERR}
        data = b"".join(encode(kinds[stream], part) for stream, part in self._output() if part)
        code = self._session.code
        if code is not None and not self._said_exit:
            self._said_exit = True
            data += encode(Kind.EXIT, bytes([code & 0xFF]))
        return self._progress(data)
