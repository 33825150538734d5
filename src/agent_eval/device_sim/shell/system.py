"""What runs on a phone besides its screens: processes, ports, properties, and the shells that clients open.

There is one ``System`` per phone. What it remembers beyond the phone's own state is in ``memory`` and dies when the
phone is reset. Knows no transport.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from agent_eval.device_sim import keyboard
from agent_eval.device_sim.files import Files
from agent_eval.device_sim.phone import Phone
from agent_eval.device_sim.shell import properties
from agent_eval.device_sim.shell.context import Command
from agent_eval.device_sim.shell.expansion import Scope
from agent_eval.device_sim.shell.memory import Memory
from agent_eval.device_sim.shell.packages import Packages, pid_of
from agent_eval.device_sim.shell.process import SIGKILL, Running, Task
from agent_eval.device_sim.shell.session import ADBD_PID, ShellSession
from agent_eval.device_sim.shell.system_files import provide
from agent_eval.device_sim.shell.table import COMMANDS
from agent_eval.device_sim.streams import Stream, silent
from agent_eval.device_sim.tally import Tally

_FIRST_PID = 22000
"""Above every process number of an app."""
_LAST_PID = 32767
_SERVER_PROGRAM = "app_process"
"""Program whose processes listen on ports."""
_ENDLESS = 1 << 20
"""Bytes read from a device that never ends."""
RUN_LIMIT_S = 600
"""Virtual seconds after which ``run`` ends a command that is still running, as clients do."""


class Process(NamedTuple):
    """One process, as ``ps`` shows it."""

    pid: int
    parent: int
    user: str
    name: str
    line: str
    """The command with its arguments."""
    debuggable: bool = False
    """A debugger may attach to it."""


@dataclass(frozen=True, slots=True)
class ShellResult:
    """What a command line left behind."""

    stdout: bytes
    stderr: bytes
    output: bytes
    """Both streams in the order in which they were written, as a terminal shows them."""
    code: int


_ALWAYS: tuple[Process, ...] = (
    Process(1, 0, "root", "init", "/system/bin/init second_stage"),
    Process(2, 0, "root", "[kthreadd]", "[kthreadd]"),
    Process(201, 1, "logd", "logd", "/system/bin/logd"),
    Process(202, 1, "system", "servicemanager", "/system/bin/servicemanager"),
    Process(320, 1, "root", "zygote64", "zygote64"),
    Process(341, 1, "root", "netd", "/system/bin/netd"),
    Process(355, 1, "system", "surfaceflinger", "/system/bin/surfaceflinger"),
    Process(ADBD_PID, 1, "shell", "adbd", "/apex/com.android.adbd/bin/adbd --root_seclabel=u:r:su:s0"),
    Process(610, 320, "system", "system_server", "system_server"),
)


class System:
    """The part of a phone that adb talks to.

    Args:
        phone: The phone.
    """

    def __init__(self, phone: Phone) -> None:
        self.phone = phone
        self.ports: dict[int, Callable[[], Stream]] = {}
        """Who listens on the phone's own TCP ports."""
        self.services: dict[str, Callable[[], Stream]] = {}
        """What programs on the phone can put behind a port."""
        self.on_restart: Callable[[], object] = silent
        """Set by the transport; called when something on the phone restarts it."""
        self.unknown = Tally()
        """Commands asked for that this phone does not have, and how often."""
        self.commands: Mapping[str, Command] = COMMANDS
        self._running: dict[int, Running] = {}
        self._daemons: list[ShellSession] = []
        self._servers: dict[int, Task | None] = {}
        self._next_pid = _FIRST_PID
        self._memory = Memory(phone)
        provide(self)

    # ------------------------------------------------------------------ for transports

    def provide(self, name: str, factory: Callable[[], Stream]) -> None:
        """Make a service known that a program on the phone can put behind a port."""
        self.services[name] = factory

    def open_session(self, line: str, *, tty: bool = False) -> ShellSession:
        """Start a command line; an empty one is an interactive shell, with prompt and echo only on a terminal."""
        self._go_on_in_background()
        line = _clean(line)
        if line:
            self.phone.events.add("shell", line)
        return ShellSession(self, line, tty=tty)

    def run(self, line: str, stdin: bytes = b"", *, limit_s: float = RUN_LIMIT_S) -> ShellResult:
        """Run a command line to its end while virtual time passes for whatever it waits for.

        What waits for longer than ``limit_s`` virtual seconds, or for something that cannot come, is hung up.
        """
        while any(session.rests for session in self._daemons):
            self.resume()
        session = self.open_session(line)
        if session.code is None:
            if stdin:
                session.feed(stdin)
            session.close_input()
        parts = session.take()
        end_ms = self.phone.clock.now_ms + round(limit_s * 1000)
        while session.code is None:
            wake_ms = session.wake_ms
            if wake_ms is None or wake_ms > end_ms:
                session.hang_up()
                break
            self.phone.advance(max(wake_ms - self.phone.clock.now_ms, 0) / 1000)
            if self.phone.clock.now_ms < wake_ms:
                session.hang_up()  # the phone's time has come to its end
                break
            session.resume()
            parts += session.take()
        parts += session.take()
        if len(parts) == 1:
            only = parts[0][1]
            stdout, stderr = (only, b"") if parts[0][0] == 1 else (b"", only)
            return ShellResult(stdout, stderr, only, session.code or 0)
        return ShellResult(
            b"".join(part for stream, part in parts if stream == 1),
            b"".join(part for stream, part in parts if stream == 2),
            b"".join(part for _, part in parts),
            session.code or 0,
        )

    def processes(self) -> list[Process]:
        """Return what runs, by process number."""
        own = [Process(p.pid, p.parent, p.user, p.name, p.line) for p in self._running.values()]
        apps = [
            Process(
                pid_of(self.phone, name), 320, self.packages.user_of(name), name, name, self.packages.debuggable(name)
            )
            for name in dict.fromkeys((*self.phone.running, keyboard.PACKAGE))
        ]
        return sorted((*_ALWAYS, *apps, *own), key=lambda process: process.pid)

    def getprop(self, name: str) -> str:
        """Return a system property, empty when there is none."""
        return properties.all_of(self).get(name, "")

    def kill(self, pid: int, signal: int) -> str:
        """Send a signal; return the reason if that is refused."""
        running = self._running.get(pid)
        if running is not None:
            running.kill(signal)
            return ""
        return "Operation not permitted" if any(p.pid == pid for p in self.processes()) else "No such process"

    def listen(self, port: int, factory: Callable[[], Stream], task: Task | None) -> None:
        """Put a service behind a port, for as long as the task that serves it runs."""
        self.ports[port] = factory
        self._servers[port] = task

    def free_port(self, port: int) -> None:
        """Let a port go whose process ends by itself."""
        self.ports.pop(port, None)
        self._servers.pop(port, None)

    def restart(self) -> None:
        """Restart the phone: what runs ends with all that it had not saved, what is persisted stays."""
        for package in self.phone.recents:
            self.phone.force_stop(package)
        self.phone.go_home()
        self.phone.world["screen/on"] = True
        self.phone.boot_ms = self.phone.clock.now_ms
        self.memory.log.clear()
        for process in list(self._running.values()):
            process.kill(SIGKILL)
        self.on_restart()

    def stop_listening(self, port: int) -> None:
        """Free a port and end the process that listens on it."""
        self.ports.pop(port, None)
        task = self._servers.pop(port, None)
        for process in list(self._running.values()):
            if task is not None and process.task is task and process.name == _SERVER_PROGRAM:
                process.kill(SIGKILL)

    @property
    def wake_ms(self) -> int | None:
        """Virtual time at which a process that outlived its session wants to go on."""
        if not self._daemons:
            return None
        return min((wake for session in self._daemons if (wake := session.wake_ms) is not None), default=None)

    def resume(self) -> None:
        """Let processes that outlived their sessions go on."""
        for session in list(self._daemons):
            session.resume()

    # ------------------------------------------------------------------ for commands

    @property
    def files(self) -> Files:
        """The phone's files."""
        return self.memory.files

    @property
    def memory(self) -> Memory:
        """What the system remembers of this phone; a phone that was reset remembers nothing."""
        if self._memory.files is not self.phone.files:
            self._memory = Memory(self.phone)
            provide(self)
        return self._memory

    @property
    def packages(self) -> Packages:
        """What is installed."""
        return self.memory.packages

    def read_file(self, path: str) -> bytes:
        """Return the content of a file; a device that never ends gives its first mebibyte.

        Raises:
            FileProblem: it cannot be read.
        """
        if path == "/dev/zero":
            return bytes(_ENDLESS)
        if path in ("/dev/urandom", "/dev/random"):
            self.memory.random_reads += 1
            return hashlib.shake_128(f"{self.phone.boot_ms} {self.memory.random_reads}".encode()).digest(1 << 16)
        return self.files.read(path)

    def new_pid(self) -> int:
        """Return the next process number."""
        self._next_pid = _FIRST_PID if self._next_pid >= _LAST_PID else self._next_pid + 1
        return self._next_pid

    def new_scope(self, *, tty: bool) -> Scope:
        """Return the variables of a login shell."""
        variables = dict(_VARIABLES)
        variables["HOSTNAME"] = properties.DEVICE
        variables["TERM"] = "xterm-256color" if tty else "dumb"
        return Scope(variables, set(variables), pid=self.new_pid())

    def show(self, process: Running) -> None:
        """Make a process visible."""
        self._running[process.pid] = process

    def forget(self, process: Running) -> None:
        """Know that a process is gone."""
        self._running.pop(process.pid, None)

    def running(self, pid: int) -> Running | None:
        """Return a process that a shell started."""
        return self._running.get(pid)

    def keep(self, session: ShellSession, *, alive: bool) -> None:
        """Remember a session whose shell is over while something that it started goes on."""
        if alive and session not in self._daemons:
            self._daemons.append(session)
        elif not alive and session in self._daemons:
            self._daemons.remove(session)

    def count_unknown(self, name: str) -> None:
        """Take note of a command that this phone does not have; a client's own program is none of it."""
        if "/" in name and not name.startswith("/system/"):
            return
        self.unknown.note(name)
        self.phone.events.add_gap(f"shell: {name}")

    def _go_on_in_background(self) -> None:
        if self._daemons:
            self.resume()


_VARIABLES: Mapping[str, str] = {
    "ANDROID_ASSETS": "/system/app",
    "ANDROID_BOOTLOGO": "1",
    "ANDROID_DATA": "/data",
    "ANDROID_ROOT": "/system",
    "ANDROID_STORAGE": "/storage",
    "ASEC_MOUNTPOINT": "/mnt/asec",
    "DOWNLOAD_CACHE": "/data/cache",
    "EXTERNAL_STORAGE": "/sdcard",
    "HOME": "/",
    "LOGNAME": "shell",
    "PATH": "/product/bin:/apex/com.android.runtime/bin:/apex/com.android.art/bin:/system_ext/bin:/system/bin:"
    "/system/xbin:/odm/bin:/vendor/bin:/vendor/xbin",
    "SHELL": "/bin/sh",
    "TMPDIR": "/data/local/tmp",
    "USER": "shell",
}


def _clean(line: str) -> str:
    """Return a line without what UTF-8 cannot hold, and without the character that C strings end with."""
    if not line.isascii():
        line = line.encode("utf-8", "replace").decode()
    return line.replace("\x00", "")
