"""The phone as an in-process ``uiautomator2.Device``: selectors, XPath and gestures stay upstream code.

Only the transport is replaced: JSON-RPC goes to ``Rpc``, shell and sync to ``System``. Knows no screens. The one file
of the package that imports uiautomator2 and adbutils.
"""

from __future__ import annotations

import atexit
import posixpath
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import adbutils
import uiautomator2
from adbutils._proto import FileInfo, ShellReturnRaw
from adbutils._utils import list2cmdline
from adbutils.sync import Sync
from uiautomator2.core import DEFAULT_SERVER_PORT
from uiautomator2.exceptions import HierarchyEmptyError, RPCStackOverflowError, RPCUnknownError, UiObjectNotFoundError

from agent_eval.device_sim.adb.banner import FEATURES
from agent_eval.device_sim.files import FileProblem, Files, Stat, resolve
from agent_eval.device_sim.phone import Phone
from agent_eval.device_sim.shell.system import ShellResult, System
from agent_eval.device_sim.u2.rpc import Rpc, RpcError
from agent_eval.device_sim.u2.server import provide_server
from agent_eval.device_sim.ui import Window

SERIAL = "sim-1"


class SimSync(Sync):  # type: ignore[misc]  # adbutils ships no types
    """adbutils' sync on the phone's own files; what it builds on these four stays upstream code.

    Args:
        files: The phone's files.
        device: Whose sync it is.
    """

    def __init__(self, files: Files, device: adbutils.AdbDevice) -> None:
        super().__init__(device)
        self._files = files

    def stat(self, path: str) -> FileInfo:
        """Describe a file; all zeros when it is missing."""
        found = self._files.stat(path)
        return FileInfo(0, 0, None, path) if found is None else _info(found, path)

    def iter_directory(self, path: str) -> Iterator[FileInfo]:
        """Yield what a folder holds, itself and the one above first; nothing when there is no such folder."""
        folder = path.rstrip("/")
        if not self._files.is_folder(path):
            return
        for name in (".", "..", *self._files.names(path)):
            found = self._files.stat(f"{folder}/{name}")
            if found is not None:
                yield _info(found, name)

    def iter_content(self, path: str) -> Iterator[bytes]:
        """Yield the content of a file in chunks."""
        try:
            content = self._files.read(path)
        except FileProblem as problem:
            what = "read failed" if problem.code == "EISDIR" else "open failed"
            raise adbutils.AdbError(f"{what}: {problem.reason}", path) from problem
        for start in range(0, len(content), 65536):
            yield content[start : start + 65536]

    def _push_file(self, src: Any, dst: str, mode: int = 0o755, check: bool = False) -> int:  # noqa: ARG002
        if isinstance(src, str | Path):
            content = Path(src).read_bytes()
        elif isinstance(src, bytes | bytearray):
            content = bytes(src)
        elif hasattr(src, "read"):
            try:
                # adbutils' own reader of an APK must be told how much
                content = b"".join(iter(lambda: src.read(65536), b""))
            finally:
                if hasattr(src, "close"):
                    src.close()
        else:
            raise TypeError(f"Invalid src type: {type(src)}")
        try:
            self._files.make_folder(posixpath.dirname(resolve(dst)), parents=True)
            self._files.write(dst, content, mode=mode)
        except FileProblem as problem:
            raise adbutils.AdbError(f"couldn't create file: {problem.reason}") from problem
        return len(content)


def _info(found: Stat, path: str) -> FileInfo:
    written = datetime.fromtimestamp(found.mtime_s) if found.mtime_s else None  # noqa: DTZ006 - as adbutils has it
    return FileInfo(found.mode, found.size, written, path)


class SimAdbDevice(adbutils.AdbDevice):  # type: ignore[misc]  # adbutils ships no types
    """An adb device whose shell and files are the phone's.

    Args:
        system: What runs on the phone.
        serial: Name to answer to.
    """

    def __init__(self, system: System, serial: str = SERIAL) -> None:
        super().__init__(adbutils.adb, serial)
        self.system = system

    @property
    def sync(self) -> SimSync:
        """Access to the phone's files."""
        return SimSync(self.system.files, self)

    def shell(
        self,
        cmdargs: str | Sequence[str],
        stream: bool = False,
        timeout: float | None = None,
        encoding: str | None = "utf-8",
        rstrip: bool = True,
    ) -> Any:
        """Run a command and return what it printed."""
        if stream:
            raise adbutils.AdbError("the in-process phone offers no shell stream; use the adb face for it")
        output = self._run(_line(cmdargs), timeout).output
        if encoding is None:
            return output
        text = output.decode(encoding, errors="replace")
        return text.rstrip() if rstrip else text

    def _run(self, line: str, timeout: float | None) -> ShellResult:
        return self.system.run(line) if timeout is None else self.system.run(line, limit_s=timeout)

    def _shell_v2(self, cmdargs: str, timeout: float | None = None) -> ShellReturnRaw:
        result = self._run(cmdargs, timeout)
        return ShellReturnRaw(cmdargs, result.code, result.stdout, result.stderr, result.output)

    def open_transport(self, command: str | None = None, timeout: float | None = None) -> Any:  # noqa: ARG002
        """Refuse: there is no adb server behind this device."""
        raise adbutils.AdbError(f"the in-process phone has no adb transport for {command!r}; use the adb face for it")

    def get_state(self) -> str:
        """Return ``device``."""
        return "device"

    def get_serialno(self) -> str:
        """Return the serial number of the phone itself."""
        return self.system.getprop("ro.serialno")

    def get_features(self) -> str:
        """Return the features of the phone's adbd."""
        self._features = set(FEATURES)
        return ",".join(sorted(self._features))

    def framebuffer(self) -> Any:
        """Return the screen as a picture."""
        return self.system.phone.screenshot()


def _line(arguments: str | Sequence[str]) -> str:
    return arguments if isinstance(arguments, str) else list2cmdline(list(arguments))


class _Methods:
    """What ``Device.jsonrpc`` is upstream, made once: there it is a new class at every use."""

    def __init__(self, device: SimDevice) -> None:
        self._device = device

    def __getattr__(self, method: str) -> Callable[..., Any]:
        def call(*arguments: Any, http_timeout: float = 0, **named: Any) -> Any:  # noqa: ARG001 - nothing times out
            return self._device.jsonrpc_call(method, arguments or named)

        return call


class SimDevice(uiautomator2.Device):  # type: ignore[misc]  # uiautomator2 ships no types
    """A uiautomator2 device on a simulated phone, in this process.

    Args:
        phone: The phone.
        serial: Name to answer to.
    """

    def __init__(self, phone: Phone, serial: str = SERIAL) -> None:
        self.phone = phone
        self._rpc = Rpc(phone)
        self._methods = _Methods(self)
        system = System(phone)
        provide_server(system)
        super().__init__(SimAdbDevice(system, serial), port=DEFAULT_SERVER_PORT)
        atexit.unregister(self.stop_uiautomator)  # there is no server to stop; the hook would keep the phone alive

    @property
    def jsonrpc(self) -> _Methods:
        """The server's methods, as attributes."""
        return self._methods

    def start_uiautomator(self) -> None:
        """Do nothing: the server's methods are in this process."""

    def stop_uiautomator(self, wait: bool = True) -> None:
        """Do nothing."""

    def plain_windows(self) -> tuple[Window, ...] | None:
        """Return the windows that a dump would show, as they are, or None where a dump may show something else.

        A reader in this process spares itself the XML: text that is to be hidden or escaped there is not yet here.
        """
        if self.phone.faults:
            return None
        self.phone.events.add("rpc", "dumpWindowHierarchy")
        return self.phone.windows

    def jsonrpc_call(self, method: str, params: Any = None, timeout: float = 10) -> Any:  # noqa: ARG002
        """Call a method of the server; errors become the exceptions that uiautomator2's own transport raises."""
        answer = self._rpc.call(method, params or ())
        if isinstance(answer, RpcError):
            if "uiautomator.UiObjectNotFoundException" in answer.message:
                raise UiObjectNotFoundError(answer.code, answer.message, params)
            if "java.lang.StackOverflowError" in answer.message:
                raise RPCStackOverflowError(f"StackOverflowError: {answer.message}", params, answer.data)
            raise RPCUnknownError(f"Unknown RPC error: {answer.code} {answer.message}", params, answer.data)
        return answer.value

    def _do_dump_hierarchy(self, *arguments: Any, **options: Any) -> str:
        """Dump the windows; an empty dump is tried again twice, after a second of the phone's time, not a real one."""
        dump = uiautomator2.Device._do_dump_hierarchy.__wrapped__  # what upstream's retry decorator holds
        for _ in range(2):
            try:
                return str(dump(self, *arguments, **options))
            except HierarchyEmptyError:
                self.phone.advance(1)
        return str(dump(self, *arguments, **options))

    def sleep(self, seconds: float) -> None:
        """Let virtual time pass."""
        self.phone.advance(seconds)
