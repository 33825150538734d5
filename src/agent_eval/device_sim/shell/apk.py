"""The package name and version in an APK: a zip with a binary AndroidManifest.xml. Reads nothing else of it.

The content comes from a client: sizes are bounded, and what does not read gives None.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

_MOST_MANIFEST = 4 << 20
_MOST_STRINGS = 20_000
_STRINGS, _ELEMENT = 0x0001, 0x0102
"""Chunk types of frameworks/base ResourceTypes.h: string pool, start of an element."""
_TEXT, _DECIMAL, _HEXADECIMAL = 0x03, 0x10, 0x11
_UTF8 = 1 << 8
_PACKAGE = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+")


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an APK says of itself."""

    package: str
    version_code: int = 1
    version_name: str = "1.0"


def read_manifest(content: bytes, known: Iterable[str] = ()) -> Manifest | None:
    """Read what an APK says of itself.

    Args:
        content: The file.
        known: Packages to recognise by their names where the manifest is no binary XML.

    Returns:
        None when it is no APK.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive, archive.open("AndroidManifest.xml") as file:
            manifest = file.read(_MOST_MANIFEST)
    except (zipfile.BadZipFile, KeyError, OSError, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError):
        return None
    try:
        found = _binary(manifest)
    except (struct.error, IndexError, UnicodeDecodeError):
        found = None
    if found is not None:
        return found
    text = manifest.decode("utf-8", "replace") + manifest.decode("utf-16-le", "replace")
    declared = re.search(r'package\s*=\s*"([\w.]{3,200})"', text)
    if declared and _PACKAGE.fullmatch(declared[1]):
        return Manifest(declared[1])
    return next((Manifest(name) for name in known if name in text), None)


def _binary(data: bytes) -> Manifest | None:
    kind, header_size = struct.unpack_from("<HH", data)
    if kind != 0x0003:
        return None
    strings: list[str] = []
    position = header_size
    while position + 8 <= len(data):
        kind, header_size, size = struct.unpack_from("<HHI", data, position)
        if size < 8:
            return None
        if kind == _STRINGS:
            strings = _strings(data[position : position + size])
        elif kind == _ELEMENT:
            attributes = _attributes(data, position + header_size, strings)
            name = attributes.get("package", "")
            if not _PACKAGE.fullmatch(str(name)):
                return None
            code = attributes.get("versionCode", 1)
            return Manifest(
                str(name), code if isinstance(code, int) else 1, str(attributes.get("versionName", "1.0"))[:64]
            )
        position += size
    return None


def _strings(chunk: bytes) -> list[str]:
    header_size = struct.unpack_from("<H", chunk, 2)[0]
    count, _, flags, start = struct.unpack_from("<4I", chunk, 8)
    offsets = struct.unpack_from(f"<{min(count, _MOST_STRINGS)}I", chunk, header_size)
    return [_string(chunk, start + offset, utf8=bool(flags & _UTF8)) for offset in offsets]


def _string(chunk: bytes, position: int, *, utf8: bool) -> str:
    if utf8:
        for _ in range(2):  # characters, then bytes; each in one byte or two
            length = chunk[position]
            position += 1
            if length & 0x80:
                length = (length & 0x7F) << 8 | chunk[position]
                position += 1
        return chunk[position : position + length].decode("utf-8", "replace")
    length = struct.unpack_from("<H", chunk, position)[0]
    position += 2
    if length & 0x8000:
        length = (length & 0x7FFF) << 16 | struct.unpack_from("<H", chunk, position)[0]
        position += 2
    return chunk[position : position + 2 * min(length, 4096)].decode("utf-16-le", "replace")


def _attributes(data: bytes, position: int, strings: list[str]) -> dict[str, int | str]:
    start, size, count = struct.unpack_from("<HHH", data, position + 8)
    out: dict[str, int | str] = {}
    for place in range(min(count, 200)):
        at = position + start + place * max(size, 20)
        name, _, _, kind, value = struct.unpack_from("<IiHxBI", data, at + 4)
        if name < len(strings):
            if kind == _TEXT and value < len(strings):
                out[strings[name]] = strings[value]
            elif kind in (_DECIMAL, _HEXADECIMAL):
                out[strings[name]] = int(value)
    return out
