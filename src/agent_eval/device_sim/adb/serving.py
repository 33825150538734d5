"""Runs adb servers on a loop in a thread of its own, so that a program can drive the phones through their clients."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, TypeVar

from agent_eval.device_sim.adb.server import AdbServer

T = TypeVar("T")


class Serving:
    """The servers of some phones, running while the ``with`` block does.

    Args:
        servers: One per phone, not started.
    """

    def __init__(self, *servers: AdbServer) -> None:
        self.servers = servers
        self.failures: list[BaseException] = []
        """What went wrong inside the phones; each cost the connection on which it happened."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def ports(self) -> tuple[int, ...]:
        """Where the phones listen."""
        return tuple(server.port for server in self.servers)

    def call(self, function: Callable[[], T]) -> T:
        """Run a function where the phones are, while nothing else happens to them, and return its result.

        It is for the owner's side: the phone's time afterwards is taken for the present.
        """
        if self._loop is None or threading.current_thread() is self._thread:
            return function()

        async def act() -> T:
            try:
                return function()
            finally:
                for server in self.servers:
                    server.owner_acted()

        return asyncio.run_coroutine_threadsafe(act(), self._loop).result()

    def __enter__(self) -> Serving:
        loop = asyncio.new_event_loop()
        loop.set_exception_handler(self._failed)
        self._thread = threading.Thread(target=_run, args=(loop,), name="phones", daemon=True)
        self._thread.start()
        self._loop = loop
        started = False
        try:
            for server in self.servers:
                self.run(server.start())
            started = True
        finally:
            if not started:
                self._end()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _end(self) -> None:
        loop, thread = self._loop, self._thread
        assert loop is not None
        assert thread is not None
        for server in self.servers:
            self.run(server.stop())
        self._loop = None
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
        self._thread = None

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run what waits on the loop of the phones, and return its result."""
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _failed(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        problem = context.get("exception")
        self.failures.append(problem if isinstance(problem, BaseException) else RuntimeError(context["message"]))


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()
