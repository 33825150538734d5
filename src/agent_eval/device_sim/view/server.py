"""The page's sockets: bound to this machine, in the caller's loop, so that one thread touches the phone."""

from __future__ import annotations

import asyncio
import contextlib
import secrets

from agent_eval.device_sim.view.handlers import Handlers
from agent_eval.device_sim.view.requests import BadRequest, RequestReader, Response
from agent_eval.device_sim.view.viewable import Viewable

HOST = "127.0.0.1"
MOST_CONNECTIONS = 32
IDLE_S = 60.0
"""Seconds after which a silent connection is closed."""


class ViewServer:
    """A page that is being served; made by ``start_view``.

    Args:
        viewable: The phone.
    """

    def __init__(self, viewable: Viewable) -> None:
        self._viewable = viewable
        self._token = secrets.token_urlsafe(16)
        self._connections: set[asyncio.Task[None]] = set()
        self.port = 0

    @property
    def url(self) -> str:
        """Address of the page, with the token that opens it."""
        return f"http://{HOST}:{self.port}/{self._token}/"

    async def start(self, port: int) -> None:
        """Listen; port 0 takes a free one.

        Raises:
            OSError: the port is taken.
        """
        self._server = await asyncio.start_server(self._connected, HOST, port, limit=1 << 16)
        self.port = int(self._server.sockets[0].getsockname()[1])
        self._handlers = Handlers(self._viewable, self._token, self.port)

    async def close(self) -> None:
        """Stop listening and end every connection."""
        self._server.close()
        for connection in tuple(self._connections):
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            if len(self._connections) <= MOST_CONNECTIONS:
                await self._serve(reader, writer)
        except (ConnectionError, TimeoutError, asyncio.CancelledError):
            writer.transport.abort()  # what was not sent yet is for nobody
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError, TimeoutError):
                async with asyncio.timeout(IDLE_S):
                    await writer.wait_closed()
            self._connections.discard(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests = RequestReader()
        while True:
            async with asyncio.timeout(IDLE_S):
                data = await reader.read(1 << 16)
            if not data:
                return
            try:
                complete = requests.feed(data)
            except BadRequest as bad:
                writer.write(Response(bad.status).encode(keep=False))
                return
            for request in complete:
                keep = request.headers.get("connection", "").lower() != "close"
                await asyncio.sleep(0)  # other connections have their turn between two answers
                writer.write(self._handlers.answer(request).encode(keep=keep))
                async with asyncio.timeout(IDLE_S):
                    await writer.drain()
                if not keep:
                    return


async def start_view(viewable: Viewable, port: int = 0) -> ViewServer:
    """Serve the page for a phone on this machine, in the running loop.

    Raises:
        OSError: the port is taken.
    """
    server = ViewServer(viewable)
    await server.start(port)
    return server
