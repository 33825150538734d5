"""The phone under attack: a served phone, hostile clients, and what is left of both afterwards.

    python benchmarks/fuzz.py [--seconds 60] [--seed 1] [--only NUMBER]

Conversations of every kind that the phone has (adb packets, shells, file transfer, the uiautomator2 server, the page
that looks inside) run side by side over loopback. Most are valid ones with something wrong in them, some are noise;
some end properly, some in the middle, some stay open to the end, and once there are two hundred at a time. Each is
drawn from the seed and its number alone; which of them meet is up to the machine. ``--only`` holds a single one.

All the while another client behaves well, and how long it waits is measured. Exit status 1 when the phone failed,
leaked a thread, a descriptor or memory, touched this machine's files, showed its secrets, kept anybody waiting for too
long, or does not serve a genuine client afterwards.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import json
import os
import random
import resource
import socket
import struct
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from agent_eval.agent.adb import QuickClient, attach, private_server
from agent_eval.device_sim import Phone
from agent_eval.device_sim.adb.packets import (
    MAX_DATA,
    VERSION,
    Command,
    Packet,
    PacketReader,
    RemoteProtocolError,
    encode,
)
from agent_eval.device_sim.adb.services import SERVICES
from agent_eval.device_sim.serve import ServedPhone
from agent_eval.device_sim.shell.table import COMMANDS
from agent_eval.device_sim.u2.rpc import METHODS
from agent_eval.device_sim.u2.selectors import FIELDS
from agent_eval.types import PhoneSetup

SETUP = PhoneSetup(seed=1)
WORKERS = 24
"""Conversations at a time."""
CROWD = 200
LONGEST_ANSWER_S = 3.0
"""How long the client that behaves well may wait, on a machine that two processes share with others."""
MOST_MEMORY_MB = 1500
"""Growth of this process, attackers included."""


# ----------------------------------------------------------------------------------------------------------------------
# what is counted


@dataclass
class Tally:
    """What happened so far."""

    counts: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    longest_s: float = 0.0
    looks: int = 0
    leaked: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    def read(self, data: bytes, secrets: Sequence[bytes]) -> None:
        """Count an answer, and look for what it must not hold."""
        self.counts["bytes read"] += len(data)
        self.leaked += [f"an answer holds {secret!r}" for secret in secrets if secret in data]


@dataclass(frozen=True)
class Target:
    """Where to attack, and what must not be reached."""

    port: int
    page: str
    """Address of the page that looks inside."""
    den: Path
    """A folder of this machine with a file that nobody may read, and where nobody may write."""
    secrets: tuple[bytes, ...]


# ----------------------------------------------------------------------------------------------------------------------
# what is drawn

NASTY_TEXTS = (
    *("", " ", "\x00", "\n", "\r\n\r\n", "'", '"', "`", "$(", "${", "\\", "%s%n%d", "²", "٣", "\u2028", "\ud7ff", "😀"),
    *("a" * 5000, "(" * 300, "[" * 300, "{" * 300, "../" * 40),
    *("-1", "0", "99999999999999999999", "1e999", "NaN", "0x"),
    *(
        "(a+)+$",
        "(a|a)*b",
        "(.*.*.*)*x",
        "(?:a{1000}){1000}",
        "[a-\\]",
        "\\p{L}*+",
        "(?<=a*)b",
        "(?i)ß",
        "\\1",
        "x{99999}",
    ),
)


def nasty_path(draw: random.Random, target: Target) -> str:
    """Return a path that would like to leave the phone."""
    climb = "../" * draw.randrange(1, 30)
    aim = draw.choice([str(target.den / "owned"), str(target.den / "secret"), "/etc/passwd", "/proc/self/environ"])
    start = draw.choice(["/sdcard/", "/data/local/tmp/", "", "/", "/proc/self/root/", "/proc/1/cwd/", "/dev/fd/", "//"])
    return draw.choice(
        [
            start + climb + aim,
            aim,
            start + aim,
            f"/sdcard/{climb}..{aim}",
            f"/sdcard/./{climb}/./{aim}/",
            "/sdcard\x00" + aim,
            "/sdcard/" + "a/" * draw.randrange(1, 300),
            "/sdcard/" + "n" * draw.randrange(1, 5000),
            "/dev/mem",
            "/proc/self/mem",
            f"/sdcard/{draw.choice(NASTY_TEXTS)}",
            "file://" + aim,
            "~root/" + aim,
        ]
    )


def noise(draw: random.Random, most: int) -> bytes:
    """Return random bytes."""
    return draw.randbytes(draw.randrange(1, most))


def mutated(draw: random.Random, data: bytes) -> bytes:
    """Return bytes with something wrong in them."""
    changed = bytearray(data)
    for _ in range(draw.randrange(1, 4)):
        at = draw.randrange(len(changed) + 1)
        match draw.randrange(7):
            case 0 if changed:
                changed[at % len(changed)] ^= 1 << draw.randrange(8)
            case 1:
                del changed[at:]
            case 2:
                changed[at:at] = noise(draw, 40)
            case 3:
                del changed[at : at + draw.randrange(1, 30)]
            case 4:
                changed[at:at] = changed[at : at + draw.randrange(1, 200)]
            case 5 if len(changed) >= 4:
                place = draw.randrange(len(changed) // 4) * 4
                value = draw.choice(
                    [0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, MAX_DATA, MAX_DATA + 1, draw.getrandbits(32)]
                )
                changed[place : place + 4] = struct.pack("<I", value)
            case _:
                changed += draw.choice(NASTY_TEXTS).encode("utf-8", "replace")
    return bytes(changed)


def word(draw: random.Random, target: Target) -> str:
    """Return one argument for a command."""
    kind = draw.randrange(10)
    if kind == 0:
        return nasty_path(draw, target)
    if kind == 1:
        return draw.choice(NASTY_TEXTS)
    if kind == 2:
        return draw.choice(OPTIONS)
    if kind == 3:
        return str(draw.choice([0, 1, -1, 7, 66, 1000, 1 << 31, 1 << 63, draw.getrandbits(20)]))
    return draw.choice(WORDS)


OPTIONS = (*(f"-{letter}" for letter in "alRnpceifSdtWsvxzk"), "--", "--user", "--help")
_PLAIN_WORDS = """
dump list get put set start stop enable disable window activity battery package wifi global secure system tap swipe
text keyevent motionevent settings/global query insert --uri content://sms content://settings/system --bind --where
content://com.android.contacts/contacts address:s:1 _id=1 com.android.settings com.android.settings/.Settings
android.intent.action.VIEW http://x.invalid/ /sdcard /sdcard/a /data/local/tmp/b /proc/meminfo /dev/zero /dev/urandom
/ . .. * /*/* [a-z]* true echo hi 100 200 300 400 3 4 187 1 2 60 size density 720x1280 320 reset force-stop uninstall
install path clear packages -3 features volume --set 5 post tag hello s/a/b/ s/.*/&&/g a.*b p d 1,3p $0 $x ${x} ${x:-y}
${#x} $((1+2)) `echo` $$ $? !
"""
WORDS = (*_PLAIN_WORDS.split(), "$(echo a)")


def shell_line(draw: random.Random, target: Target, depth: int = 0) -> str:
    """Return a command line, mostly one that parses."""
    name = draw.choice(COMMAND_NAMES)
    line = " ".join([name, *(word(draw, target) for _ in range(draw.randrange(5)))])
    if depth > 3:
        return line
    one, two = word(draw, target), word(draw, target)
    forms = (
        *(line, line, line, line, line, line),
        *(f"{line} > {one}", f"{line} >> /sdcard/log 2>&1", f"{line} < {one}", f"{line} &", f"timeout 1 {line}"),
        *(f"{line} | xargs {name}", f"find /sdcard -exec {name} {{}} \\;", "env " * draw.randrange(1, 300) + line),
        *(f'x=$(yes | head -c 300000); {name} "$x"', f"echo $(({one}*{two}))"),
        mutated(draw, line.encode("utf-8", "replace")).decode("utf-8", "replace"),
    )
    nests: tuple[Callable[[str], str], ...] = (
        *(lambda inner: f"{line} | {inner}", lambda inner: f"{line}; {inner}", lambda inner: f"{line} && {inner}"),
        *(lambda inner: f"({inner})", lambda inner: f"{{ {inner}; }}", lambda inner: f"echo $({inner})"),
        *(lambda inner: f"eval '{inner}'", lambda inner: f'sh -c "{inner}"', lambda inner: f"x={one}; {inner}"),
        *(lambda inner: f"for i in 1 2 3; do {inner}; done", lambda inner: f"while {line}; do {inner}; done"),
        *(lambda inner: f"f() {{ {inner}; f; }}; f", lambda inner: f"cat <<E | {inner}\n{line}\nE"),
    )
    if draw.random() < len(nests) / (len(nests) + len(forms)):
        return draw.choice(nests)(shell_line(draw, target, depth + 1))
    return draw.choice(forms)


COMMAND_NAMES = (*sorted(set(COMMANDS) - {"reboot"}), *("input", "content", "dumpsys", "am", "cmd", "settings") * 3)


def selector(draw: random.Random, depth: int = 0) -> object:
    """Return a selector, or something in its place."""
    if draw.random() < 0.08:
        return draw.choice([None, 7, "name", [], {}, True, 1.5, {"mask": {}}, {"mask": 1 << 70}])
    mask, chosen = 0, dict[str, object]()
    for name in draw.sample(sorted(FIELDS), draw.randrange(1, 4)):
        mask |= FIELDS[name][0]
        chosen[name] = draw.choice(["Settings", "Network & internet", True, 0, -1, 1 << 40, None, [], *NASTY_TEXTS])
    if draw.random() < 0.2:
        mask |= 0x1000000
        chosen["instance"] = draw.choice([0, 1, -1, 1 << 40])
    found: dict[str, object] = {"mask": mask if draw.random() < 0.9 else draw.getrandbits(30), **chosen}
    if depth < 30 and draw.random() < 0.4:
        count = draw.randrange(1, 3)
        found["childOrSibling"] = [draw.choice(["child", "sibling", "other", 5]) for _ in range(count)]
        found["childOrSiblingSelector"] = [selector(draw, depth + 1) for _ in range(count)]
    return found


def rpc_body(draw: random.Random) -> bytes:
    """Return a JSON-RPC request, mostly one that is well formed."""
    method = draw.choice(METHOD_NAMES)
    kinds = draw.choice(METHODS[method]).kinds
    values: list[object] = [value_of(draw, kind) for kind in kinds]
    if draw.random() < 0.1:
        values = [*values[: draw.randrange(len(values) + 1)], draw.choice([None, {}, [[]], "x", 3])]
    call: dict[str, object] = {
        "jsonrpc": "2.0",
        "id": draw.choice([1, "x", None, 1.5, 10**30]),
        "method": method,
        "params": values,
    }
    if draw.random() < 0.05:
        call[draw.choice(["jsonrpc", "id", "method", "params"])] = draw.choice([None, [], {}, 5, "1.0"])
    body = json.dumps(call).encode()
    if draw.random() < 0.05:
        deep = draw.randrange(1, 3000)
        body = body.replace(b'"params": [', b'"params": [' + b"[" * deep + b"]" * deep + b", ")
    if draw.random() < 0.03:
        body = b"[" + body + b"]"
    return mutated(draw, body) if draw.random() < 0.1 else body


METHOD_NAMES = sorted(METHODS)


def value_of(draw: random.Random, kind: str) -> object:
    """Return a value for a parameter, mostly one of its kind."""
    if draw.random() < 0.08:
        return draw.choice([None, True, "x", -1, 1 << 80, 1e300, [], {}, "\ud800"])
    match kind:
        case "int" | "long":
            return draw.choice([0, 1, 5, 100, 640, -1, (1 << 31) - 1, 1 << 31, draw.randrange(1300)])
        case "float":
            return draw.choice([0.0, 0.5, 1.0, -1.0, 1e11, draw.random() * 1300])
        case "bool":
            return draw.random() < 0.5
        case "text":
            return draw.choice(["back", "home", "left", "up", "Settings", "\ud83d", *NASTY_TEXTS])
        case "points":
            return [draw.randrange(-10, 1300) for _ in range(draw.choice([0, 1, 4, 5, 2000]))]
        case "point":
            return {"x": draw.randrange(1300), "y": draw.randrange(1300)}
    return selector(draw)


def http_request(draw: random.Random) -> bytes:
    """Return a request to the uiautomator2 server, mostly a good one."""
    body = b""
    path = draw.choice(
        [
            "/ping",
            "/jsonrpc/0",
            "/screenshot/0?scale=0.2",
            "/stop",
            "/../../etc/passwd",
            "/%00",
            "//x//",
            "/?" + "a=1&" * 50,
        ]
    )
    if draw.random() < 0.7:
        path, body = "/jsonrpc/0", rpc_body(draw)
    if path == "/stop" and draw.random() < 0.8:
        path = "/ping"
    length: object = len(body) if draw.random() < 0.95 else draw.choice([-1, 0, len(body) + 5, 1 << 40, "x", ""])
    head = [f"{draw.choice(['POST', 'GET'])} {path} HTTP/1.1", "Host: localhost:9008", f"Content-Length: {length}"]
    if draw.random() < 0.05:
        head.append(
            draw.choice(
                ["Transfer-Encoding: chunked", "X: " + "y" * 9000, "Expect: 100-continue", "Connection: close", ":"]
            )
        )
    request = "\r\n".join([*head, "", ""]).encode("utf-8", "replace") + body
    return mutated(draw, request) if draw.random() < 0.06 else request


def sync_request(draw: random.Random, target: Target) -> bytes:
    """Return a request of the file transfer, mostly a good one."""
    path = (
        nasty_path(draw, target) if draw.random() < 0.7 else draw.choice(["/sdcard", "/", "/data/local/tmp/f"])
    ).encode("utf-8", "replace")
    name = draw.choice(
        [b"STAT", b"STA2", b"LST2", b"LIST", b"LIS2", b"RECV", b"RCV2", b"SEND", b"SND2", b"QUIT", b"XXXX"]
    )
    if name == b"SEND":
        path += draw.choice([b",33188", b",41471", b"", b",", b",-1", b",99999999999"])
    request = name + struct.pack("<I", len(path) if draw.random() < 0.95 else draw.getrandbits(32)) + path
    if name in (b"SEND", b"SND2"):
        request += struct.pack("<4s2I", b"SND2", 33188, 0) if name == b"SND2" else b""
        for _ in range(draw.randrange(3)):
            content = noise(draw, 3000)
            request += (
                b"DATA" + struct.pack("<I", len(content) if draw.random() < 0.95 else draw.getrandbits(32)) + content
            )
        request += b"DONE" + struct.pack("<I", draw.getrandbits(32))
    if name == b"RCV2":
        request += struct.pack("<4sI", b"RCV2", draw.choice([0, 0, 1]))
    return request


# ----------------------------------------------------------------------------------------------------------------------
# the attackers' side of a connection

HELLO = encode(Packet(Command.CNXN, VERSION, MAX_DATA, b"host::features=shell_v2,cmd\x00"), checksum=True)


class Peer:
    """One socket, with the packets that come back.

    Args:
        reader: Of the socket.
        writer: Of the socket.
        target: What is attacked.
        tally: Where it is counted.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: Target, tally: Tally
    ) -> None:
        self._reader, self._writer = reader, writer
        self._target, self._tally = target, tally
        self._packets = PacketReader()
        self.gone = False

    async def send(self, data: bytes, draw: random.Random) -> None:
        """Send bytes, in one piece or several."""
        pieces = [data]
        if draw.random() < 0.2 and len(data) > 1:
            cuts = sorted(draw.randrange(len(data)) for _ in range(draw.randrange(1, 5)))
            pieces = [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
        try:
            for piece in pieces:
                self._writer.write(piece)
                async with asyncio.timeout(5):
                    await self._writer.drain()
                if len(pieces) > 1:
                    await asyncio.sleep(0)
        except (ConnectionError, TimeoutError):
            self.gone = True

    async def read(self, patience_s: float) -> bytes:
        """Return what comes within a while; nothing once the phone has hung up."""
        try:
            async with asyncio.timeout(patience_s):
                data = await self._reader.read(1 << 18)
        except TimeoutError:
            return b""
        except ConnectionError:
            data = b""
        self.gone = self.gone or not data
        self._tally.read(data, self._target.secrets)
        return data

    async def answer(self, draw: random.Random, patience_s: float = 0.15, rounds: int = 40) -> None:
        """Read packets, and let the phone go on with most of them."""
        for _ in range(rounds):
            data = await self.read(patience_s)
            if not data:
                return
            self._packets.feed(data)
            with contextlib.suppress(RemoteProtocolError):
                while (packet := self._packets.next()) is not None:
                    self._tally.counts["packets read"] += 1
                    if packet.command == Command.CLSE:
                        self._tally.counts["refused or ended"] += 1
                    elif packet.command == Command.OKAY:
                        self._tally.counts["accepted"] += 1
                    elif packet.command == Command.WRTE and draw.random() < 0.95:
                        await self.send(encode(Packet(Command.OKAY, packet.arg1, packet.arg0), checksum=True), draw)

    def leave(self, draw: random.Random) -> None:
        """Go, politely or not."""
        if draw.random() < 0.4:
            linger = self._writer.get_extra_info("socket")
            with contextlib.suppress(OSError):
                linger.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._writer.transport.abort()
        else:
            self._writer.close()


@contextlib.asynccontextmanager
async def connected(target: Target, tally: Tally, draw: random.Random, port: int | None = None) -> AsyncIterator[Peer]:
    """Connect to the phone's adbd, or to another port, and go at the end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port or target.port)
    peer = Peer(reader, writer, target, tally)
    try:
        yield peer
    finally:
        peer.leave(draw)
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(5):
                await writer.wait_closed()


def opened(number: int, destination: str) -> bytes:
    return encode(Packet(Command.OPEN, number, 0, destination.encode("utf-8", "replace") + b"\x00"), checksum=True)


def written(number: int, data: bytes) -> bytes:
    return encode(Packet(Command.WRTE, number, number, data), checksum=True)


# ----------------------------------------------------------------------------------------------------------------------
# conversations

Conversation = Callable[[random.Random, Target, Tally], Awaitable[None]]


async def talk_noise(draw: random.Random, target: Target, tally: Tally) -> None:
    """Random bytes, with or without a greeting before them."""
    async with connected(target, tally, draw) as peer:
        await peer.send((HELLO if draw.random() < 0.5 else b"") + noise(draw, 4000), draw)
        await peer.answer(draw, 0.05, 3)


DESTINATIONS = (
    *sorted(set(SERVICES) - {"reboot"}),
    *("localabstract:x", "host:version", "tcp:9008", "tcp:0", "tcp:99999", "shell,v2,pty:", "jdwp:1", "sync:x"),
    *("reverse:forward:tcp:0;tcp:1", "reverse:forward:tcp:5;localabstract:x", "reverse:list-forward"),
    *("reverse:killforward-all", "track-app", "framebuffer:"),
)


async def talk_packets(draw: random.Random, target: Target, tally: Tally) -> None:
    """Packets in any order with any numbers, some broken."""
    parts = [HELLO]
    for _ in range(draw.randrange(1, 40)):
        command = draw.choice([*Command, Command.OPEN, Command.OPEN, Command.WRTE, Command.OKAY, draw.getrandbits(32)])
        numbers = draw.choice([0, 1, 2, 3, 9, draw.getrandbits(32)]), draw.choice([0, 0, 1, 2, 3, draw.getrandbits(32)])
        data = noise(draw, 200)
        if command == Command.OPEN:
            name = draw.choice(DESTINATIONS)
            data = (name if ":" in name or draw.random() < 0.2 else name + ":").encode() + b"\x00"
        packet = encode(Packet(command, *numbers, data), checksum=draw.random() < 0.8)
        parts.append(mutated(draw, packet) if draw.random() < 0.08 else packet)
        tally.counts["packets sent"] += 1
    async with connected(target, tally, draw) as peer:
        await peer.send(b"".join(parts), draw)
        await peer.answer(draw)


async def talk_shell(draw: random.Random, target: Target, tally: Tally) -> None:
    """Command lines, one stream each."""
    async with connected(target, tally, draw) as peer:
        await peer.send(HELLO, draw)
        for number in range(1, draw.randrange(2, 25)):
            service = draw.choice(["shell", "shell", "exec", "shell,v2", "shell,v2,raw", "shell,v2,TERM=dumb,pty"])
            await peer.send(opened(number, f"{service}:{shell_line(draw, target)}"), draw)
            tally.counts["shell lines"] += 1
            if draw.random() < 0.3:
                typed = noise(draw, 300)
                if service.startswith("shell,v2"):
                    typed = (
                        struct.pack("<BI", draw.choice([0, 0, 3, 4, 5, 9]), draw.choice([len(typed), 0, 1 << 31]))
                        + typed
                    )
                await peer.send(written(number, typed), draw)
            if draw.random() < 0.5:
                await peer.answer(draw, 0.05, 4)
        await peer.answer(draw)


async def talk_terminal(draw: random.Random, target: Target, tally: Tally) -> None:
    """A terminal on which somebody types lines and control characters."""
    async with connected(target, tally, draw) as peer:
        await peer.send(HELLO + opened(1, draw.choice(["shell:", "shell,v2,pty:", "shell,v2,raw:"])), draw)
        for _ in range(draw.randrange(1, 15)):
            line = shell_line(draw, target).encode("utf-8", "replace") + draw.choice(
                [b"\n", b"\r", b"\x03", b"\x04", b"\x15", b"\x7f\n"]
            )
            tally.counts["shell lines"] += 1
            await peer.send(written(1, line), draw)
            await peer.answer(draw, 0.04, 3)


async def talk_sync(draw: random.Random, target: Target, tally: Tally) -> None:
    """File transfer to and from places that are not there."""
    async with connected(target, tally, draw) as peer:
        await peer.send(HELLO, draw)
        for number in range(1, draw.randrange(2, 12)):
            await peer.send(opened(number, "sync:"), draw)
            data = b"".join(sync_request(draw, target) for _ in range(draw.randrange(1, 8)))
            tally.counts["paths"] += 1
            await peer.send(written(number, (mutated(draw, data) if draw.random() < 0.15 else data)[:MAX_DATA]), draw)
            await peer.answer(draw, 0.04, 4)
        await peer.answer(draw)


async def talk_rpc(draw: random.Random, target: Target, tally: Tally) -> None:
    """Calls to the uiautomator2 server, some of them in one breath."""
    async with connected(target, tally, draw) as peer:
        await peer.send(HELLO + opened(1, f"exec:{SERVER_LINE}") + opened(2, "tcp:9008"), draw)
        await peer.answer(draw, 0.05, 3)
        for number in range(2, draw.randrange(3, 25)):
            data = b"".join(http_request(draw) for _ in range(draw.choice([1, 1, 1, 2, 30])))
            tally.counts["RPCs"] += data.count(b"jsonrpc/0")
            await peer.send(written(2, data[:MAX_DATA]), draw)
            await peer.answer(draw, 0.05, 4)
            if draw.random() < 0.2:
                await peer.send(opened(number + 100, "tcp:9008"), draw)


SERVER_LINE = "CLASSPATH=/data/local/tmp/u2.jar app_process / com.wetest.uia2.Main -p 9008"


async def talk_page(draw: random.Random, target: Target, tally: Tally) -> None:
    """Requests to the page that looks inside, by those who know its address and those who do not."""
    address = urlsplit(target.page)
    token = address.path.strip("/") if draw.random() < 0.8 else draw.choice(["x", "..", "%2e%2e", ""])
    async with connected(target, tally, draw, address.port) as peer:
        for _ in range(draw.randrange(1, 10)):
            name = draw.choice(
                [
                    "",
                    "page.js",
                    "state?since=0",
                    "screen.png",
                    "tree.xml",
                    "tap",
                    "swipe",
                    "key",
                    "text",
                    "long_press",
                    "../server.py",
                    "..%2fserver.py",
                    "%00",
                    "state?since=" + draw.choice(NASTY_TEXTS),
                ]
            )
            body = json.dumps(
                {
                    key: draw.choice([0, 5, -1, 1e300, None, "x", [], "back", *NASTY_TEXTS])
                    for key in draw.sample(["x", "y", "x1", "y1", "x2", "y2", "ms", "name", "text"], draw.randrange(9))
                }
            ).encode()
            host = draw.choice([address.netloc] * 6 + ["evil.invalid", "127.0.0.1", "127.0.0.1:1", ""])
            verb = draw.choice(["GET", "POST", "POST", "PUT", "OPTIONS"])
            head = [f"{verb} /{token}/{name} HTTP/1.1", f"Host: {host}", "Content-Type: application/json"]
            head += draw.choice([[], [], ["Origin: http://evil.invalid"]])
            head += [f"Content-Length: {len(body)}", "", ""]
            request = "\r\n".join(head).encode("utf-8", "replace") + body
            tally.counts["requests to the page"] += 1
            await peer.send(mutated(draw, request) if draw.random() < 0.1 else request, draw)
        while not peer.gone and await peer.read(0.1):
            pass


async def talk_flood(draw: random.Random, target: Target, tally: Tally) -> None:
    """Much at once: streams, costly commands, requests, pictures, all without waiting for an answer."""
    match draw.randrange(5):
        case 0:
            data = b"".join(opened(number, "shell:sleep 100") for number in range(1, 700))
        case 1:
            data = b"".join(
                opened(number, "shell:screencap -p /sdcard/p.png; uiautomator dump") for number in range(1, 60)
            )
        case 2:
            data = b"".join(
                opened(n, "framebuffer:") + encode(Packet(Command.CLSE, n, n), checksum=True) for n in range(1, 60)
            )
        case 3:
            picture = b"GET /screenshot/0 HTTP/1.1\r\nHost: x\r\n\r\n"
            data = opened(1, f"exec:{SERVER_LINE}") + opened(2, "tcp:9008") + written(2, picture * 200)
        case _:
            data = opened(1, "shell:for i in $(seq 5000); do dumpsys activity; pm list packages; done > /dev/null")
    async with connected(target, tally, draw) as peer:
        await peer.send(HELLO + data, draw)
        await peer.answer(draw, 0.2, 8)


async def talk_mutated(draw: random.Random, target: Target, tally: Tally) -> None:
    """A good conversation of several packets, cut and bent as bytes."""
    good = (
        HELLO
        + opened(1, "shell,v2,raw:cat")
        + written(1, struct.pack("<BI", 0, 5) + b"hello")
        + written(1, struct.pack("<BI", 4, 0))
    )
    good += (
        opened(2, "sync:")
        + written(2, b"STAT" + struct.pack("<I", 7) + b"/sdcard")
        + opened(3, "tcp:9008")
        + written(3, http_request(draw))
    )
    async with connected(target, tally, draw) as peer:
        await peer.send(mutated(draw, good), draw)
        tally.counts["packets sent"] += 8
        await peer.answer(draw, 0.05, 5)


CONVERSATIONS: tuple[tuple[int, Conversation], ...] = (
    (6, talk_noise),
    (14, talk_packets),
    (22, talk_shell),
    (10, talk_terminal),
    (14, talk_sync),
    (18, talk_rpc),
    (8, talk_page),
    (1, talk_flood),
    (6, talk_mutated),
)
"""How often each is drawn."""


async def converse(seed: int, number: int, target: Target, tally: Tally) -> None:
    """Hold one conversation, which follows from the seed and its number."""
    draw = random.Random(seed * 1_000_003 + number)
    talk = draw.choices([talk for _, talk in CONVERSATIONS], [weight for weight, _ in CONVERSATIONS])[0]
    tally.kinds[talk.__name__.removeprefix("talk_")] += 1
    try:
        await talk(draw, target, tally)
    except (ConnectionError, TimeoutError):
        tally.counts["hung up on"] += 1


# ----------------------------------------------------------------------------------------------------------------------
# those who behave well


async def look_in(target: Target, tally: Tally, done: asyncio.Event) -> None:
    """Be a client that asks for a line now and then, and take the time."""
    number = 0
    while not done.is_set():
        number += 1
        expected = f"still here {number}\n".encode()
        began = time.monotonic()
        heard = await say(target.port, f"shell:echo still here {number}")
        tally.longest_s = max(tally.longest_s, time.monotonic() - began)
        tally.looks += 1
        if heard != expected:
            tally.broken.append(f"the well-behaved client heard {heard!r}, not {expected!r}")
        await asyncio.sleep(0.1)


async def say(port: int, destination: str) -> bytes:
    """Open a service on a connection of its own and return all that it says."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    packets, said = PacketReader(), b""
    try:
        async with asyncio.timeout(60):
            writer.write(HELLO + opened(1, destination))
            while True:
                data = await reader.read(1 << 16)
                if not data:
                    return said
                packets.feed(data)
                while (packet := packets.next()) is not None:
                    if packet.command == Command.WRTE:
                        said += packet.data
                        writer.write(encode(Packet(Command.OKAY, 1, packet.arg0), checksum=True))
                    elif packet.command == Command.CLSE:
                        return said
    except (ConnectionError, TimeoutError) as problem:
        return repr(problem).encode()
    finally:
        writer.close()


async def crowd(target: Target, tally: Tally) -> None:
    """Come two hundred at a time, each with a line; some without a greeting stay on."""
    before = tally.counts["crowd"]
    heard = await asyncio.gather(*(say(target.port, f"shell:echo {number}") for number in range(CROWD)))
    tally.counts["crowd"] = before + sum(answer == f"{number}\n".encode() for number, answer in enumerate(heard))
    tally.broken += [
        f"one of {CROWD} heard {answer!r}" for number, answer in enumerate(heard) if answer != f"{number}\n".encode()
    ][:3]


async def attack(target: Target, tally: Tally, seed: int, seconds: float) -> None:
    """Attack for a while."""
    done, started = asyncio.Event(), time.monotonic()
    looking = asyncio.create_task(look_in(target, tally, done))
    half_open = [await asyncio.open_connection("127.0.0.1", target.port) for _ in range(20)]
    for _, writer in half_open[:10]:
        writer.write(HELLO[:30])
    numbers = iter(range(1 << 30))

    async def work() -> None:
        while time.monotonic() - started < seconds:
            await converse(seed, next(numbers), target, tally)

    workers = [asyncio.create_task(work()) for _ in range(WORKERS)]
    await asyncio.sleep(seconds / 3)
    await crowd(target, tally)
    await asyncio.gather(*workers)
    for _, writer in half_open:
        writer.close()
    done.set()
    await looking


# ----------------------------------------------------------------------------------------------------------------------
# before and after


@dataclass(frozen=True)
class Standing:
    """What this process holds."""

    descriptors: int
    threads: int
    memory_mb: float

    @classmethod
    def now(cls) -> Standing:
        gc.collect()
        resident = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
        return cls(len(list(Path("/proc/self/fd").iterdir())), threading.active_count(), resident / 1e6)


def genuine_client_works(served: ServedPhone) -> str:
    """Drive the phone with the genuine adb and uiautomator2; return what went wrong."""
    import uiautomator2

    with private_server() as adb_port:
        serial = attach(adb_port, served.port)
        adb = QuickClient(adb_port).device(serial)
        if adb.shell("echo hello") != "hello":
            return "adb shell says something else"
        adb.sync.push(b"content" * 100, "/sdcard/after.txt")
        if adb.sync.read_bytes("/sdcard/after.txt") != b"content" * 100:
            return "what was pushed is not what is pulled"
        device = uiautomator2.connect(adb)
        try:
            device.app_start("com.android.settings")
            device(text="Network & internet").click(timeout=20)
        except uiautomator2.BaseException as problem:
            return repr(problem)
        if served.snapshot()["ui/screen"] != "settings/network":
            return f"a tap on Network & internet led to {served.snapshot()['ui/screen']}"
        device.stop_uiautomator()
    return ""


def table(rows: Sequence[tuple[str, object]]) -> str:
    return "\n".join(f"{name:42} {value}" for name, value in rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="hold one conversation by its number")
    options = parser.parse_args()
    tally = Tally()
    os.environ["FUZZ_SECRET"] = "the-environment-of-this-machine"  # noqa: S105 - bait
    with tempfile.TemporaryDirectory(prefix="phone-fuzz-") as den:
        (Path(den) / "secret").write_text("a-file-of-this-machine")
        before_files = sorted(path.name for path in Path(den).iterdir())
        before = Standing.now()
        with ServedPhone(Phone(SETUP)) as served:
            secrets = (b"the-environment-of-this-machine", b"a-file-of-this-machine", os.fsencode(Path.cwd()))
            target = Target(served.port, served.look_inside(), Path(den), secrets)
            if options.only is not None:
                asyncio.run(converse(options.seed, options.only, target, tally))
            else:
                asyncio.run(attack(target, tally, options.seed, options.seconds))
            gone = time.monotonic() + 10
            while served.connections and time.monotonic() < gone:
                time.sleep(0.05)
            held = served.connections
            served.reset(SETUP)
            after_attack = Standing.now()
            trouble = genuine_client_works(served)
            failures = served.failures
        after = Standing.now()
        touched = sorted(path.name for path in Path(den).iterdir()) != before_files
    problems = [*tally.broken, *tally.leaked]
    problems += [f"the phone failed: {failure!r}" for failure in failures]
    problems += [f"a genuine client fails: {trouble}"] if trouble else []
    problems += [f"{held} connections stayed open"] if held else []
    problems += ["a file of this machine was touched"] if touched else []
    if (after.descriptors, after.threads) != (before.descriptors, before.threads):
        problems.append("descriptors or threads leaked")
    if tally.longest_s > LONGEST_ANSWER_S:
        problems.append(
            f"the well-behaved client waited {tally.longest_s:.2f} s; expected at most {LONGEST_ANSWER_S} s"
        )
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    if peak_mb - before.memory_mb > MOST_MEMORY_MB:
        problems.append(f"memory grew by {peak_mb - before.memory_mb:.0f} MB; expected at most {MOST_MEMORY_MB}")
    print(
        table(
            [
                ("conversations", tally.kinds.total()),
                *((f"  {name}", count) for name, count in sorted(tally.kinds.items())),
                *sorted(tally.counts.items()),
                ("looks of the well-behaved client", tally.looks),
                ("its longest wait", f"{tally.longest_s:.2f} s"),
                ("failures inside the phone", len(failures)),
                ("host secrets seen", len(tally.leaked)),
                ("descriptors before, after", f"{before.descriptors}, {after.descriptors}"),
                ("threads before, after", f"{before.threads}, {after.threads}"),
                (
                    "memory before, after, peak",
                    f"{before.memory_mb:.0f}, {after_attack.memory_mb:.0f}, {peak_mb:.0f} MB",
                ),
                ("genuine adb and uiautomator2 afterwards", trouble or "work"),
            ]
        )
    )
    for failure in failures[:5]:
        traceback.print_exception(failure)
    for problem in problems[:20]:
        print(f"PROBLEM: {problem}", file=sys.stderr)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
