"""A model hub on a port of this machine: answers what the client library asks for from the files of a folder."""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
REPOSITORY = "XHToken/Spark-tiny"


@dataclass
class Hub:
    """One repository with one commit, called ``main`` and ``v1``."""

    files: dict[str, bytes]
    gated: bool = False
    fetched: list[str] = field(default_factory=list)
    """Names of the files whose content was asked for, in order."""
    endpoint: str = ""


@contextlib.contextmanager
def serve_hub(folder: Path, *, extra: dict[str, bytes] | None = None, gated: bool = False) -> Iterator[Hub]:
    """Serve the files of a folder, and more."""
    hub = Hub({path.name: path.read_bytes() for path in folder.iterdir()} | (extra or {}), gated)

    class Handler(_Handler):
        served = hub

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    served: ClassVar[Hub]
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def log_message(self, *_args: object) -> None:
        """Keep quiet."""

    def _answer(self, *, body: bool) -> None:
        parts = [unquote(part) for part in urlsplit(self.path).path.strip("/").split("/")]
        match parts:
            case ["api", "models", owner, name, *rest]:
                self._api(f"{owner}/{name}", rest, body=body)
            case [owner, name, "resolve", revision, *path] if f"{owner}/{name}" == REPOSITORY and revision == COMMIT:
                self._file("/".join(path), body=body)
            case _:
                self._refuse(404, "RepoNotFound", body=body)

    def _api(self, repository: str, rest: list[str], *, body: bool) -> None:
        if repository != REPOSITORY:
            self._refuse(404, "RepoNotFound", body=body)
        elif self.served.gated:
            self._refuse(403, "GatedRepo", body=body)
        elif rest[:1] == ["tree"] and rest[1:] == [COMMIT]:
            self._send(json.dumps([self._listed(name) for name in self.served.files]).encode(), body=body)
        elif not rest or (rest[0] == "revision" and rest[1] in ("main", "v1", COMMIT)):
            siblings = [{"rfilename": name} for name in self.served.files]
            self._send(json.dumps({"id": repository, "sha": COMMIT, "siblings": siblings}).encode(), body=body)
        else:
            self._refuse(404, "RevisionNotFound", body=body)

    def _listed(self, name: str) -> dict[str, object]:
        content = self.served.files[name]
        return {"type": "file", "path": name, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}  # noqa: S324

    def _file(self, name: str, *, body: bool) -> None:
        if name not in self.served.files:
            self._refuse(404, "EntryNotFound", body=body)
            return
        content = self.served.files[name]
        if body:
            self.served.fetched.append(name)
        etag = hashlib.sha1(content).hexdigest()  # noqa: S324  an etag, as git names a blob
        self._send(content, {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT}, body=body)

    def _refuse(self, status: int, code: str, *, body: bool) -> None:
        self._send(b"", {"X-Error-Code": code}, status=status, body=body)

    def _send(self, content: bytes, headers: dict[str, str] | None = None, *, status: int = 200, body: bool) -> None:
        self.send_response(status)
        for name, value in ({"Content-Type": "application/json"} | (headers or {})).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if body:
            self.wfile.write(content)
