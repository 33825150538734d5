"""Tells a running adb server of a phone, which it otherwise looks for only once, when it starts. Knows no phone.

A server asked for ``host:emulator:<port>`` connects to that port of this machine and lists the phone as
``emulator-<port - 1>``; it gives no reply (adb.cpp, handle_host_request).
"""

from __future__ import annotations

import socket

_TIMEOUT_S = 2.0


def message(port: int) -> bytes:
    """Return the request as it is sent: four hexadecimal digits of length, then the request itself."""
    request = f"host:emulator:{port}".encode()
    return f"{len(request):04x}".encode() + request


def serial(port: int) -> str:
    """Return the name by which an adb server lists the announced phone."""
    return f"emulator-{port - 1}"


def announce(port: int, *, server_port: int) -> bool:
    """Tell the adb server of this machine about a phone; tell whether there was one to tell.

    Args:
        port: Where the phone's adbd listens.
        server_port: Where the adb server listens.
    """
    try:
        with socket.create_connection(("127.0.0.1", server_port), _TIMEOUT_S) as server:
            server.sendall(message(port))
            server.shutdown(socket.SHUT_WR)
            while server.recv(4096):
                pass  # the server hangs up once it knows
    except OSError:
        return False
    return True
