"""Where the uiautomator2 server meets the phone it runs on: its shell starts it, its ports lead to it."""

from __future__ import annotations

from agent_eval.device_sim.shell.system import System
from agent_eval.device_sim.u2.http import service
from agent_eval.device_sim.u2.rpc import Rpc

NAME = "uiautomator2"
"""What the shell's ``app_process`` asks for."""


def provide_server(system: System) -> None:
    """Make the server known to a phone, whose shell starts it on a port and ends it."""

    def stop() -> None:
        for port, listener in list(system.ports.items()):
            if listener is opens:
                system.stop_listening(port)

    opens = service(Rpc(system.phone), stop)
    system.provide(NAME, opens)
