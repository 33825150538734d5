"""A client of the Model Context Protocol over a server's standard streams: one JSON-RPC message a line."""

from __future__ import annotations

import json
import subprocess
from typing import Any

PROTOCOL = "2025-06-18"


class McpServer:
    """A running MCP server, past its handshake.

    Args:
        process: The server, just started, with pipes for input and output.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._asked = 0
        self.greeting = self.ask(
            "initialize",
            {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "agent-eval", "version": "1"}},
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.used: set[str] = set()

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Ask for something and return the result."""
        self._asked += 1
        self._send({"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params or {}})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == self._asked:  # what comes before it are notifications
                assert "error" not in message, message
                result: dict[str, Any] = message["result"]
                return result
        raise EOFError(f"the server ended with status {self._process.wait()} instead of answering {method}")

    def tools(self) -> list[str]:
        """Return the names of the server's tools."""
        return [tool["name"] for tool in self.ask("tools/list")["tools"]]

    def use(self, tool: str, **arguments: Any) -> Any:
        """Use a tool that must not fail, and return what it says: the value where there is one, else its text."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert not result.get("isError"), (tool, arguments, result["content"])
        self.used.add(tool)
        structured = result.get("structuredContent")
        if structured is not None:
            return structured["result"] if list(structured) == ["result"] else structured
        return "".join(part.get("text", "") for part in result["content"])

    def complaint(self, tool: str, **arguments: Any) -> str:
        """Use a tool that must fail, and return what it says."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert result.get("isError"), (tool, arguments, result)
        return "".join(part.get("text", "") for part in result["content"])

    def close(self) -> None:
        """End the server by ending its input, and close the pipes."""
        self._process.communicate()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
