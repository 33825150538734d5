"""The phone as an in-process ``uiautomator2.Device``: selectors, XPath and gestures stay upstream code.

Only the transport is replaced: JSON-RPC goes to ``Rpc``, shell and sync to ``Shell``. Knows no screens. This is the one
file of the package that imports uiautomator2 and adbutils.
"""

from __future__ import annotations

import atexit
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import adbutils
import uiautomator2
from adbutils._proto import FileInfo, ShellReturnRaw
from adbutils._utils import list2cmdline
from uiautomator2.core import DEFAULT_SERVER_PORT
from uiautomator2.exceptions import RPCUnknownError, UiObjectNotFoundError

from agent_eval.device_sim.phone import Phone
from agent_eval.device_sim.shell.commands import Shell
from agent_eval.device_sim.u2.rpc import Rpc, RpcError

SERIAL = "sim-1"


class SimSync:
    """The part of adbutils' sync that reads and writes files, on the phone's own files."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self._files = files

    def read_bytes(self, path: str) -> bytes:
        """Return the content of a file; AdbError when there is none."""
        if path not in self._files:
            raise adbutils.AdbError(f"{path}: No such file or directory")
        return self._files[path]

    def read_text(self, path: str, encoding: str = "utf-8") -> str:
        """Return the content of a file as text."""
        return self.read_bytes(path).decode(encoding)

    def iter_content(self, path: str) -> Iterator[bytes]:
        """Yield the content of a file in chunks."""
        content = self.read_bytes(path)
        for start in range(0, len(content), 65536):
            yield content[start : start + 65536]

    def push(self, src: Any, dst: str, mode: int = 0o644, check: bool = False) -> int:  # noqa: ARG002
        """Write a file from a path, bytes or a stream; return its size."""
        content: bytes
        if isinstance(src, bytes | bytearray):
            content = bytes(src)
        elif hasattr(src, "read"):
            content = src.read()
        else:
            content = Path(src).read_bytes()
        self._files[dst] = content
        return len(content)

    def pull(self, src: str, dst: str | Path, exist_ok: bool = False) -> int:  # noqa: ARG002
        """Copy a file to this machine; return its size."""
        content = self.read_bytes(src)
        Path(dst).write_bytes(content)
        return len(content)

    def exists(self, path: str) -> bool:
        """Tell whether there is such a file."""
        return path in self._files

    def stat(self, path: str) -> FileInfo:
        """Describe a file; all zeros when it is missing."""
        content = self._files.get(path)
        mode = 0 if content is None else 0o100644
        return FileInfo(mode, len(content or b""), None, path)


class SimAdbDevice(adbutils.AdbDevice):  # type: ignore[misc]  # adbutils ships no types
    """An adb device whose shell and files are the phone's.

    Args:
        shell: The phone's shell.
        serial: Name to answer to.
    """

    def __init__(self, shell: Shell, serial: str = SERIAL) -> None:
        super().__init__(adbutils.adb, serial)
        self._shell = shell

    @property
    def sync(self) -> SimSync:
        """Access to the phone's files."""
        return SimSync(self._shell.files)

    def shell(
        self,
        cmdargs: str | Sequence[str],
        stream: bool = False,
        timeout: float | None = None,  # noqa: ARG002 - nothing here takes time
        encoding: str | None = "utf-8",
        rstrip: bool = True,
    ) -> Any:
        """Run a command and return what it printed."""
        if stream:
            raise adbutils.AdbError("the in-process phone offers no shell stream; use the adb face for it")
        output = self._shell.run(_line(cmdargs)).output
        if encoding is None:
            return output
        text = output.decode(encoding, errors="replace")
        return text.rstrip() if rstrip else text

    def _shell_v2(self, cmdargs: str, timeout: float | None = None) -> ShellReturnRaw:  # noqa: ARG002
        result = self._shell.run(cmdargs)
        return ShellReturnRaw(cmdargs, result.code, result.stdout, result.stderr, result.output)

    def open_transport(self, command: str | None = None, timeout: float | None = None) -> Any:  # noqa: ARG002
        """Refuse: there is no adb server behind this device."""
        raise adbutils.AdbError(f"the in-process phone has no adb transport for {command!r}; use the adb face for it")

    def get_state(self) -> str:
        """Return ``device``."""
        return "device"

    def get_serialno(self) -> str:
        """Return the serial number of the phone itself."""
        return str(self._shell.phone.world["about/serial"])

    def get_features(self) -> str:
        """Return the features of the phone's adbd."""
        self._features = {"shell_v2", "cmd", "stat_v2", "ls_v2"}
        return ",".join(sorted(self._features))

    def framebuffer(self) -> Any:
        """Return the screen as a picture."""
        return self._shell.phone.screenshot()


def _line(arguments: str | Sequence[str]) -> str:
    return arguments if isinstance(arguments, str) else list2cmdline(list(arguments))


class SimDevice(uiautomator2.Device):  # type: ignore[misc]  # uiautomator2 ships no types
    """A uiautomator2 device on a simulated phone, in this process.

    Args:
        phone: The phone.
        serial: Name to answer to.
    """

    def __init__(self, phone: Phone, serial: str = SERIAL) -> None:
        self.phone = phone
        self._rpc = Rpc(phone)
        super().__init__(SimAdbDevice(Shell(phone), serial), port=DEFAULT_SERVER_PORT)
        atexit.unregister(self.stop_uiautomator)  # there is no server to stop; the hook would keep the phone alive

    def start_uiautomator(self) -> None:
        """Do nothing: the server's methods are in this process."""

    def stop_uiautomator(self, wait: bool = True) -> None:
        """Do nothing."""

    def jsonrpc_call(self, method: str, params: Any = None, timeout: float = 10) -> Any:  # noqa: ARG002
        """Call a method of the server; errors become the exceptions that uiautomator2's own transport raises."""
        answer = self._rpc.call(method, params or ())
        if isinstance(answer, RpcError):
            if "uiautomator.UiObjectNotFoundException" in answer.message:
                raise UiObjectNotFoundError(answer.code, answer.message, params)
            raise RPCUnknownError(f"Unknown RPC error: {answer.code} {answer.message}", params, answer.data)
        return answer.value

    def sleep(self, seconds: float) -> None:
        """Let virtual time pass."""
        self.phone.advance(seconds)
