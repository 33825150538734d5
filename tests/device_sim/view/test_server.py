from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from agent_eval.device_sim import Phone
from agent_eval.device_sim.view import PhoneView, ViewServer, start_view
from agent_eval.device_sim.view.server import MOST_CONNECTIONS
from agent_eval.types import PhoneSetup


def with_page(test: Callable[[Phone, ViewServer], Awaitable[None]]) -> None:
    async def run() -> None:
        phone = Phone(PhoneSetup(seed=1))
        server = await start_view(PhoneView(phone))
        try:
            await test(phone, server)
        finally:
            await server.close()

    asyncio.run(run())


async def ask(server: ViewServer, *requests: str) -> list[bytes]:
    """Send requests over one connection and return the status lines of the answers."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    answers = []
    try:
        for request in requests:
            writer.write(request.encode())
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            answers.append(head.partition(b"\r\n")[0] + b" " + (await reader.readexactly(length))[:40])
    finally:
        writer.close()
        await writer.wait_closed()
    return answers


def get(server: ViewServer, name: str, more: str = "") -> str:
    parts = urlsplit(server.url)
    return f"GET {parts.path}{name} HTTP/1.1\r\nHost: {parts.netloc}\r\n{more}\r\n"


def post(server: ViewServer, name: str, body: str) -> str:
    parts = urlsplit(server.url)
    return (
        f"POST {parts.path}{name} HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}"
    )


def test_one_connection_carries_many_requests_and_the_phone_follows() -> None:
    async def test(phone: Phone, server: ViewServer) -> None:
        answers = await ask(
            server,
            get(server, ""),
            post(server, "key", '{"name": "recent"}'),
            get(server, "screen.png"),
            get(server, "x"),
        )
        assert [answer.split()[1] for answer in answers] == [b"200", b"200", b"200", b"404"]
        assert phone.front.screen == "launcher/recents"

    with_page(test)


def test_it_listens_on_this_machine_only_and_each_start_has_its_own_token() -> None:
    async def test(phone: Phone, server: ViewServer) -> None:
        other = await start_view(PhoneView(phone))
        try:
            assert urlsplit(server.url).hostname == "127.0.0.1"
            assert urlsplit(server.url).path != urlsplit(other.url).path
            assert len(urlsplit(server.url).path) > 20
            assert (await ask(server, get(server, "").replace(urlsplit(server.url).path, "/guess/")))[0].split()[
                1
            ] == b"404"
        finally:
            await other.close()

    with_page(test)


def test_a_bad_request_is_answered_and_the_connection_closed() -> None:
    async def test(_: Phone, server: ViewServer) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"nonsense\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
        writer.close()
        await writer.wait_closed()

    with_page(test)


def test_a_browser_that_says_close_is_closed() -> None:
    async def test(_: Phone, server: ViewServer) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(get(server, "state", "Connection: close\r\n").encode())
        assert (await reader.read()).startswith(b"HTTP/1.1 200 ")
        writer.close()
        await writer.wait_closed()

    with_page(test)


def test_more_connections_than_allowed_are_closed_and_the_others_go_on() -> None:
    async def test(phone: Phone, server: ViewServer) -> None:
        assert phone.events.last == 0
        held = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(MOST_CONNECTIONS)]
        writer, reader = held[0][1], held[0][0]
        writer.write(get(server, "state").encode())
        await reader.readuntil(b"\r\n\r\n")
        late_reader, late_writer = await asyncio.open_connection("127.0.0.1", server.port)
        with contextlib.suppress(ConnectionError):
            assert await late_reader.read() == b""
        for _, open_writer in [*held, (late_reader, late_writer)]:
            open_writer.close()
            with contextlib.suppress(ConnectionError):
                await open_writer.wait_closed()

    with_page(test)


def test_closing_ends_open_connections_and_frees_the_port() -> None:
    async def run() -> None:
        phone = Phone(PhoneSetup(seed=1))
        server = await start_view(PhoneView(phone))
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(get(server, "state").encode())
        await reader.readuntil(b"\r\n\r\n")
        await server.close()
        await reader.read()
        writer.close()
        await writer.wait_closed()
        again = await start_view(PhoneView(phone), server.port)
        await again.close()

    asyncio.run(run())


def test_a_browser_that_never_reads_does_not_hold_up_the_end() -> None:
    async def test(_: Phone, server: ViewServer) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1)
        for _round in range(300):
            writer.write(get(server, "screen.png").encode())
        await asyncio.sleep(0)
        await reader.readexactly(1)
        await server.close()
        with contextlib.suppress(ConnectionError):
            writer.close()
            await writer.wait_closed()

    with_page(test)


def test_a_phone_in_real_time_catches_up_before_a_look_and_is_told_after_a_touch() -> None:
    calls: list[str] = []
    view = PhoneView(
        Phone(PhoneSetup(seed=1)), settle=lambda: calls.append("settle"), touched=lambda: calls.append("touched")
    )
    view.tap(10, 600)
    assert calls == ["settle", "touched"]
    assert view.version
    assert calls == ["settle", "touched", "settle"]
