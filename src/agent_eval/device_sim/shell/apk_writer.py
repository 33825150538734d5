"""Writes an APK that holds nothing but its manifest: what ``adb pull`` gets of an installed app. Knows no phone.

The manifest is binary XML as aapt2 writes it (chunks of frameworks/base ResourceTypes.h), so that other people's tools
read the package and its version.
"""

from __future__ import annotations

import io
import struct
import zipfile

from agent_eval.device_sim.shell.apk import Manifest

_XML, _STRINGS, _IDS = 0x0003, 0x0001, 0x0180
_OPEN_NAMESPACE, _CLOSE_NAMESPACE, _OPEN, _CLOSE = 0x0100, 0x0101, 0x0102, 0x0103
_NONE = 0xFFFFFFFF
_TEXT, _DECIMAL = 0x03, 0x10
_ATTRIBUTE_IDS = (0x0101021B, 0x0101021C)
"""Numbers of ``android:versionCode`` and ``android:versionName``, which the first two strings name."""
_LONG_AGO = (2009, 1, 1, 0, 0, 0)


def write_apk(manifest: Manifest) -> bytes:
    """Return an APK; equal manifests give equal bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("AndroidManifest.xml", _LONG_AGO), _manifest(manifest))
    return content.getvalue()


def _manifest(manifest: Manifest) -> bytes:
    strings = (
        "versionCode", "versionName", "android", "http://schemas.android.com/apk/res/android", "package", "manifest",
        manifest.package, manifest.version_name,
    )  # fmt: skip
    code, name, prefix, namespace, package, element, own, version = range(len(strings))
    attributes = (
        struct.pack("<IIIHBBI", namespace, code, _NONE, 8, 0, _DECIMAL, manifest.version_code)
        + struct.pack("<IIIHBBI", namespace, name, version, 8, 0, _TEXT, version)
        + struct.pack("<IIIHBBI", _NONE, package, own, 8, 0, _TEXT, own)
    )
    body = (
        _pool(strings)
        + _chunk(_IDS, struct.pack("<2I", *_ATTRIBUTE_IDS))
        + _node(_OPEN_NAMESPACE, struct.pack("<2I", prefix, namespace))
        + _node(_OPEN, struct.pack("<2I6H", _NONE, element, 20, 20, 3, 0, 0, 0) + attributes)
        + _node(_CLOSE, struct.pack("<2I", _NONE, element))
        + _node(_CLOSE_NAMESPACE, struct.pack("<2I", prefix, namespace))
    )
    return _chunk(_XML, body)


def _chunk(kind: int, body: bytes, head: bytes = b"") -> bytes:
    return struct.pack("<HHI", kind, 8 + len(head), 8 + len(head) + len(body)) + head + body


def _node(kind: int, body: bytes) -> bytes:
    return _chunk(kind, body, struct.pack("<2I", 1, _NONE))  # line 1, no comment


def _pool(strings: tuple[str, ...]) -> bytes:
    offsets, data = [], b""
    for text in strings:
        offsets.append(len(data))
        units = text.encode("utf-16-le")
        data += struct.pack("<H", len(units) // 2) + units + b"\0\0"
    data += bytes(-len(data) % 4)
    start = 28 + 4 * len(strings)
    return _chunk(
        _STRINGS, struct.pack(f"<{len(offsets)}I", *offsets) + data, struct.pack("<5I", len(strings), 0, 0, start, 0)
    )
