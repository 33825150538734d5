"""Simulated phones that listen: what ``agent-eval sim`` starts, and what ``run --device tcp`` plays on.

Puts a phone, the system around it, the uiautomator2 server and an adbd together. Knows no sockets and no protocol.
"""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from agent_eval.device_sim.adb import AdbServer, Pace, RealTime, Serving, VirtualTime, announce, serial
from agent_eval.device_sim.phone import Phone
from agent_eval.device_sim.shell.system import System
from agent_eval.device_sim.u2.server import provide_server
from agent_eval.device_sim.view import PhoneView, ViewServer, start_view
from agent_eval.errors import OperatorError
from agent_eval.types import FiredFault, PhoneSetup, Scalar, Snapshot


def system_of(phone: Phone) -> System:
    """Return what runs on a phone, with the uiautomator2 server ready to be started."""
    system = System(phone)
    provide_server(system)
    return system


def _view_of(phone: Phone, server: AdbServer) -> PhoneView:
    return PhoneView(phone, settle=server.arrive, touched=server.settle)


class ServedPhone:
    """A phone on a loop and a port of its own while the ``with`` block lasts; implements ``contracts.PhoneControl``.

    Whatever the owner does happens on the loop that carries the clients' calls, between two of them.

    Args:
        phone: The phone; nobody else touches it while it is served.
        port: Where to listen; 0 takes a free one.
        pace: How its time goes by; by default it is virtual.
    """

    def __init__(self, phone: Phone, port: int = 0, pace: Callable[[Phone], Pace] = VirtualTime) -> None:
        self._phone = phone
        self.system = system_of(phone)
        self._server = AdbServer(self.system, port, pace=pace(phone))
        self._serving = Serving(self._server)
        self._views: list[ViewServer] = []

    @property
    def port(self) -> int:
        """Where the phone listens."""
        return self._serving.ports[0]

    def __enter__(self) -> Self:
        self._serving.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        for view in self._views:
            self._serving.run(view.close())
        self._views.clear()
        self._serving.__exit__(kind, problem, trace)

    def look_inside(self, port: int = 0) -> str:
        """Serve the page that shows the phone, as long as the phone is served; return its address.

        Raises:
            OSError: the port is taken.
        """
        self._views.append(self._serving.run(start_view(_view_of(self._phone, self._server), port)))
        return self._views[-1].url

    @property
    def failures(self) -> tuple[BaseException, ...]:
        """What went wrong inside the phone; each cost the connection on which it happened."""
        return tuple(self._serving.failures)

    @property
    def connections(self) -> int:
        """Clients that are connected."""
        return self._serving.call(lambda: self._server.connections)

    def reset(self, setup: PhoneSetup) -> None:
        """Make the phone a fresh one that shows its launcher."""
        self._serving.call(lambda: self._phone.reset(setup))

    def snapshot(self) -> Snapshot:
        """Return the state as it is now."""
        return self._serving.call(self._phone.snapshot)

    def schedule(self, after_s: float, changes: Mapping[str, Scalar]) -> None:
        """Change persisted paths when virtual time has passed."""
        self._serving.call(lambda: self._phone.schedule(after_s, changes))

    def fired(self) -> tuple[FiredFault, ...]:
        """Return the faults that showed since the last reset."""
        return self._serving.call(self._phone.fired)


@dataclass(frozen=True)
class SimOptions:
    """What a person may have an opinion on; the options of ``agent-eval sim``."""

    setups: tuple[PhoneSetup, ...]
    """One per phone."""
    port: int
    """Where the first phone listens; the others follow, two ports apart as emulators do."""
    realtime: bool
    view: bool
    view_port: int
    adb_server_port: int | None
    """Port of the adb server to be told; None tells nobody."""


def serve(options: SimOptions, tell: Callable[[str], None]) -> Mapping[str, int]:
    """Serve phones until this process is interrupted or terminated.

    Args:
        options: What to serve.
        tell: Told where the phones can be reached, line by line.

    Returns:
        The commands that clients asked for and no phone has, and how often.

    Raises:
        OperatorError: a port is taken, or beyond the last one.
    """
    return asyncio.run(_serve(options, tell))


async def _serve(options: SimOptions, tell: Callable[[str], None]) -> Mapping[str, int]:
    last = options.port + 2 * (len(options.setups) - 1)
    if last > 65535:
        raise OperatorError(
            f"{len(options.setups)} phones from port {options.port} on end at {last}", hint="ports end at 65535"
        )
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    systems: list[System] = []
    servers: list[AdbServer] = []
    views = []
    try:
        for position, setup in enumerate(options.setups):
            phone = Phone(setup)
            pace = RealTime(phone) if options.realtime else VirtualTime(phone)
            systems.append(system_of(phone))
            server = AdbServer(systems[-1], options.port + 2 * position if options.port else 0, pace=pace)
            await server.start()
            servers.append(server)
            tell(f"phone {position + 1}: adb connect 127.0.0.1:{server.port}")
            if options.adb_server_port is not None:
                known = await asyncio.to_thread(announce, server.port, server_port=options.adb_server_port)
                tell(f"         {_announced(known, server.port, options.adb_server_port)}")
            if options.view:
                view_port = options.view_port + position if options.view_port else 0
                try:
                    views.append(await start_view(_view_of(phone, server), view_port))
                except OSError as error:
                    raise OperatorError(
                        f"cannot show a phone on port {view_port}: {error.strerror or error}", hint="pass another port"
                    ) from error
                tell(f"         look inside: {views[-1].url}")
        tell("stop with Ctrl-C")
        await stopped.wait()
    finally:
        for view in views:
            await view.close()
        for server in servers:
            await server.stop()
    unknown: Counter[str] = Counter()
    for system in systems:
        unknown.update(system.unknown)
    return unknown


def _announced(known: bool, port: int, server_port: int) -> str:
    if known:
        return f"the adb server on port {server_port} lists it as {serial(port)}"
    return f"no adb server on port {server_port}: start one with `adb start-server`, then connect"
