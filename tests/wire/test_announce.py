from __future__ import annotations

import socket
import threading

from agent_eval.device_sim.adb.announce import announce, message, serial


def test_the_request_has_four_digits_of_length_in_front() -> None:
    assert message(5557) == b"0012host:emulator:5557"
    assert serial(5557) == "emulator-5556"


def test_an_adb_server_that_listens_is_told() -> None:
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                heard.append(connection.recv(100))

        server = threading.Thread(target=serve)
        server.start()
        assert announce(5557, server_port=listener.getsockname()[1])
        server.join()
    assert heard == [message(5557)]


def test_without_an_adb_server_nobody_is_told_and_nothing_fails() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert not announce(5557, server_port=port)
